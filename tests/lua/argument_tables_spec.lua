-- argument_tables_spec.lua - tables that hold a list and names: the list is the data or the positional values of the call, the names are
-- options, and a name that the function does not know is an error.

local torch = require 'torch'
local nn = torch.nn

local function refuses(text, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok, 'no error')
  assert(tostring(message):find(text, 1, true), message)
end

describe('a table of numbers with names', function()
  it('is the data and the options of torch.tensor', function()
    assert.equal('tensor([1., 2.], requires_grad=True)', tostring(torch.tensor { 1.0, 2.0, requires_grad = true }))
    assert.equal('tensor([1., 2.], dtype=torch.float64)', tostring(torch.tensor { 1, 2, dtype = torch.float64, device = 'cpu' }))
    assert.equal('tensor([1., 2.], dtype=torch.float64)', tostring(torch.tensor { data = { 1, 2 }, dtype = torch.float64 }))
    assert.equal('tensor(3., dtype=torch.float64)', tostring(torch.tensor { data = 3, dtype = torch.float64 }))
    assert.same({ { 1, 2 }, { 3, 4 } }, torch.tensor({ { 1, 2 }, { 3, 4 }, dtype = torch.int8 }):tolist())
    assert.same({ 2, 3 }, torch.tensor(table.pack(2, 3)):tolist())
  end)

  it('is read alike by as_tensor, new_tensor, asarray and the older constructors', function()
    local x = torch.ones(1)
    for name, make in pairs {
      as_tensor = torch.as_tensor, asarray = torch.asarray, new_tensor = function(data) return x:new_tensor(data) end,
    } do
      assert.equal(torch.float64, make({ 1, 2, dtype = torch.float64 }).dtype, name)
      refuses(name .. '()', make, { 1, 2, dtyp = torch.float64 })
    end
    assert.same({ 1, 2 }, torch.as_tensor({ data = { 1, 2 } }):tolist())
    assert.same({ 1, 2 }, torch.asarray({ obj = { 1, 2 } }):tolist())
    assert.is_true(torch.Tensor({ 1, 2, requires_grad = true }).requires_grad)
    assert.is_true(torch.DoubleTensor({ data = { 1, 2 }, requires_grad = true }).requires_grad)
    assert.same({ 2, 3 }, { table.unpack(torch.FloatTensor(2, 3, { device = 'cpu' }).shape) })
    refuses("FloatTensor() got an unexpected keyword argument 'dtype'", torch.FloatTensor, { 1, 2, dtype = torch.int32 })
    refuses("Tensor() got an unexpected keyword argument 'requires_gard'; did you mean 'requires_grad'?", torch.Tensor, { 1, 2, requires_gard = true })
    refuses('FloatTensor() takes sizes, one table of numbers or one Tensor, but 2 values were given', torch.FloatTensor, { 1 }, 2)
  end)

  it('is refused where it has an unknown name, no data, or names in an inner list', function()
    refuses("tensor(): unknown or invalid argument 'devise' (known: data, dtype, device, requires_grad, pin_memory)", torch.tensor, { 1, devise = 'cpu' })
    refuses("tensor() missing 1 required argument: 'data'", torch.tensor, { dtype = torch.float64 })
    refuses("tensor(): the list at dim 2 has the name 'dtype'", torch.tensor, { { 1, dtype = torch.int8 } })
    refuses('tensor() got two tables with options', torch.tensor, { 1, dtype = torch.int8 }, { device = 'cpu' })
    refuses('tensor() takes data and a table of options but 3 values were given', torch.tensor, { 1 }, {}, 2)
    refuses('tensor(): a list has an entry 5 but a nil at 3', torch.tensor, { 1, 2, [5] = 1 })
    refuses("Size() takes a list of integers, but it also has the key 'device'", torch.Size, { 2, 3, device = 'cpu' })
  end)
end)

describe('a list with names in the last table of a call of an operation', function()
  local x = torch.arange(6.0):reshape(2, 3)

  it('is the value of an argument that takes a table', function()
    assert.same({ { 0, 1, 2, 0, 1, 2 }, { 3, 4, 5, 3, 4, 5 } }, torch.cat({ x, x, dim = 2 }):tolist())
    assert.equal(torch.int64, torch.zeros({ 2, 3, dtype = torch.int64 }).dtype)
    assert.same({ { 3, 5, 7 } }, x:sum({ 1, keepdim = true }):tolist())
    assert.equal(torch.int32, x:new_zeros({ 2, 3, dtype = torch.int32 }).dtype)
    assert.equal(2, #torch.meshgrid { torch.ones(2), torch.ones(3), indexing = 'xy' })
    assert.same({ 0, 0 }, torch.zeros(table.pack(2)):tolist())
  end)

  it('is positional values otherwise', function()
    assert.equal(torch.int32, torch.arange({ 0, 3, dtype = torch.int32 }).dtype)
    assert.same({ { 1, 1 } }, torch.full({ { 1, 2 }, 1, dtype = torch.int32 }):tolist())
    assert.equal(torch.float64, x:softmax({ 1, dtype = torch.float64 }).dtype)
    assert.equal(torch.float64, x:to({ 'cpu', dtype = torch.float64 }).dtype)
    assert.same({ 0, 1 }, torch.linspace({ 0, 1, steps = 2 }):tolist())
  end)

  it('is refused where a name is unknown or where it is not the last table', function()
    refuses("zeros(): unknown argument 'dtyp'", torch.zeros, { 2, dtyp = torch.int8 })
    refuses("zeros(): argument 'size' (position 1) must be table of ints, but has the name 'dtype'", torch.zeros, { 2, dtype = torch.int8 }, { device = 'cpu' })
    refuses("stack(): argument 'tensors' (position 1) must be table of Tensors, but has the name 'dimm'", torch.stack, { x, x, dimm = 1 }, { dim = 1 })
    refuses("cartesian_prod(): unknown argument 'dim'", torch.cartesian_prod, { torch.ones(2), torch.ones(2), dim = 1 })
    refuses("atleast_1d() takes a list without names, but it has the name 'dim'", torch.atleast_1d, { x, x, dim = 1 })
  end)
end)

describe('a call with a list and names, or with other names,', function()
  it('is exported to ONNX as it is computed', function()
    local Model = nn.Module:extend 'Model'
    function Model:forward(x) return torch.cat { x, x * 2, dim = 2 } + nn.functional.softmax({ x, dim = 1 }):sum({ axis = 1, keepdims = true }):mean() end
    local path, x = os.tmpname(), torch.ones(2, 3)
    torch.onnx.export(Model(), x, path)
    local loaded = torch.onnx.load(path)
    os.remove(path)
    assert.is_true(torch.equal(Model()(x), loaded(x)))
  end)
end)

describe('a list with names in the last table of a call of the library', function()
  it('is the value of an argument that only the whole list fits', function()
    local padded = nn.utils.rnn.pad_sequence { torch.ones(2), torch.ones(1), batch_first = true }
    assert.same({ { 1, 1 }, { 1, 0 } }, padded:tolist())
    local w, v = torch.ones(2, { requires_grad = true }), torch.ones(3, { requires_grad = true })
    assert.equal(0.5, torch.optim.SGD({ w, v, lr = 0.5 }).param_groups[1].lr)
    assert.equal(2, #torch.optim.SGD({ w, v, lr = 0.5 }).param_groups[1].params)
    assert.equal(4, #torch.optim.Adam({ nn.Linear(1, 1), nn.Linear(1, 1), lr = 0.5 }).param_groups[1].params)
    assert.equal(0.9, torch.optim.SGD({ { w, v }, 0.5, momentum = 0.9 }).param_groups[1].momentum)
  end)

  it('is positional values of constructors and methods', function()
    local net = nn.Linear { 3, 2, bias = false }
    assert.is_nil(net.bias)
    net:register_buffer { 'scale', torch.ones(1), persistent = false }
    assert.is_nil(net:state_dict().scale)
  end)

  it('is refused where a name is unknown', function()
    local w = torch.ones(2, { requires_grad = true })
    refuses("SGD() got an unexpected keyword argument 'learning_rate'", torch.optim.SGD, { w, learning_rate = 0.1 })
    refuses("SGD(): argument 'params' must be", torch.optim.SGD, { w, lr = 0.1 }, 0.1)
    refuses("ModuleList() takes a list without names, but it has the name 'head'", nn.ModuleList, { nn.ReLU(), head = nn.ReLU() })
    refuses("ModuleDict() takes a list without names, but it has the name 'head'", nn.ModuleDict, { { 'a', nn.ReLU() }, head = nn.ReLU() })
    refuses("ParameterList() takes a list without names, but it has the name 'w'", nn.ParameterList, { torch.ones(1), w = torch.ones(1) })
    refuses('ModuleList(): value 2 of 3 is nil', nn.ModuleList, { nn.ReLU(), nil, nn.ReLU() })
    refuses("ConcatDataset() got an unexpected keyword argument 'name'", torch.utils.data.ConcatDataset, { torch.utils.data.TensorDataset(w), name = 1 })
    refuses("grad() takes a list without names, but it has the name 'create_graph'", torch.autograd.grad, w:sum(), { w, create_graph = true }, w)
  end)
end)

describe("PyTorch's positional arguments and other names of arguments", function()
  local x = torch.arange(6.0):reshape(2, 3)

  it('are accepted by grad and backward', function()
    local w = torch.tensor { 1.0, 2.0, requires_grad = true }
    local g = torch.autograd.grad((w * w):sum(), w, nil, nil, true)
    assert.is_true(g.requires_grad)
    assert.is_nil(torch.autograd.grad((w * w):sum(), { w, torch.ones(1, { requires_grad = true }) }, nil, true, false, true, true, false, false).grad_fn)
    torch.autograd.backward({ w * w }, nil, nil, nil, torch.ones(2), { w })
    assert.same({ 2, 4 }, w.grad:tolist())
    refuses('only_inputs = false is not supported', torch.autograd.grad, w:sum(), w, { only_inputs = false })
  end)

  it('are accepted by operations', function()
    assert.equal(torch.float64, torch.norm(x, 2, 1, false, torch.float64).dtype)
    assert.same({ 1, 1 }, { table.unpack(torch.nuclear_norm(x, true).shape) })
    assert.same({ -1 }, torch.rsub(torch.ones(1), torch.ones(1), 2):tolist())
    assert.same({ 1, 1 }, torch.binomial(torch.ones(2), torch.ones(2), torch.Generator()):tolist())
    assert.equal(100, (x:histogram()):numel())
    assert.equal(torch.float64, nn.Linear(3, 2):to('cpu', torch.float64, true).weight.dtype)
    assert.equal(torch.float64, nn.Linear(3, 2):to(torch.float64, true).weight.dtype)
    refuses('Module.to() takes at most 3 positional arguments but 4 were given', nn.ReLU().to, nn.ReLU(), 'cpu', torch.float64, true, 1)
  end)

  it('are accepted in place of the declared names', function()
    assert.equal(2, #torch.split { tensor = x, split_size_or_sections = 1 })
    assert.equal(2, #torch.tensor_split { input = x, sections = 2 })
    assert.equal(55, torch.tensordot({ a = x, b = x, dims = 2 }):item())
    assert.equal(55, torch.tensordot({ a = x, b = x, dims = { { 1, 2 }, { 1, 2 } } }):item())
    assert.same({ true, false }, torch.isin({ elements = torch.tensor { 1, 2 }, test_element = 1 }):tolist())
    assert.same({ { 1, 0 }, { 0, 1 } }, torch.cholesky_inverse({ input = torch.eye(2) }):tolist())
    assert.same({ 2, 2 }, torch.ones(2):copy_({ other = torch.full({ 2 }, 2.0) }):tolist())
    assert.equal(torch.float32, torch.result_type { tensor = x, other = 1 })
    assert.same({ { 3 }, { 12 } }, torch.sum({ x = x, axis = 2, keepdims = true }):tolist())
    assert.same({ 3, 4, 5 }, torch.flip({ x = x, axis = 1 })[1]:tolist())
    assert.equal(2, select('#', torch.nonzero { input = x, as_tuple = true }))
    assert.same({ { 1, 2 } }, torch.nonzero({ x = torch.tensor { { 0, 1 } }, as_tuple = false }):tolist())
    refuses("nonzero() got an unexpected keyword argument 'as_tupel'", function() return torch.nonzero { input = x, as_tuple = true, as_tupel = 1 } end)
  end)

  it('are accepted by losses, with and without the positions of size_average and reduce', function()
    local F, target = nn.functional, torch.tensor { 1, 2 }
    local sum = F.cross_entropy(x, target, { reduction = 'sum' }):item()
    assert.equal(sum, F.cross_entropy(x, target, nil, nil, -100, nil, 'sum'):item())
    assert.equal(sum, F.cross_entropy(x, target, nil, -100, 'sum'):item())
    assert.equal(sum, F.cross_entropy(x, target, nil, false):item())
    assert.equal(6, F.mse_loss(x, x + 1, nil, nil, 'sum'):item())
    assert.equal(6, F.mse_loss(x, x + 1, 'sum'):item())
    assert.equal(12, F.mse_loss(x, x + 1, nil, nil, 'sum', torch.full({ 2, 3 }, 2.0)):item())
    assert.equal(6, F.mse_loss({ input = x, target = x + 1, size_average = false }):item())
    local y, ones = torch.sigmoid(x), torch.ones(2, 3)
    assert.equal(F.binary_cross_entropy(y, ones, nil, 'sum'):item(), F.binary_cross_entropy(y, ones, nil, nil, nil, 'sum'):item())
    assert.equal(F.binary_cross_entropy_with_logits(x, ones, nil, 'sum', torch.ones(3)):item(),
      F.binary_cross_entropy_with_logits(x, ones, nil, nil, nil, 'sum', torch.ones(3)):item())
    assert.equal(2, F.triplet_margin_loss(x, x, x, 1.0, 2, 1e-6, false, nil, nil, 'sum'):item())
    refuses('mse_loss() takes at most 6 positional arguments but 7 were given', F.mse_loss, x, x, nil, nil, 'sum', ones, 3)
    refuses("mse_loss() got multiple values for argument 'reduction'", F.mse_loss, x, x, nil, nil, 'sum', { reduction = 'sum' })
    refuses("mse_loss() missing 2 required arguments: 'self', 'target'", F.mse_loss)
  end)

  it('are positions of meshgrid without a table', function()
    local a, b = torch.meshgrid(torch.tensor { 1, 2 }, torch.tensor { 3, 4, 5 }, { indexing = 'xy' })
    assert.same({ { 1, 2 }, { 1, 2 }, { 1, 2 } }, a:tolist())
    assert.same({ { 3, 3 }, { 4, 4 }, { 5, 5 } }, b:tolist())
  end)
end)

describe('functions in C that read their arguments by hand', function()
  local x = torch.arange(6.0):reshape(2, 3)

  it('accept their arguments by name', function()
    assert.equal(3, x:size { dim = 2 })
    assert.equal(1, x:stride { dim = 2 })
    assert.equal(6, torch.numel { input = x })
    assert.is_false(torch.ones(1):requires_grad_({ requires_grad = false }).requires_grad)
    assert.equal(torch.float64, x:type({ dtype = torch.float64 }).dtype)
    assert.is_false(x:is_contiguous { memory_format = 'channels_last' })
    assert.equal(torch.device('cpu'), torch.Generator({ device = 'cpu' }).device)
    assert.equal(7, torch.Generator():manual_seed({ seed = 7 }):initial_seed())
    assert.equal(torch.device 'cpu', torch.device { type = 'cpu' })
  end)

  it('are declared where a host has removed the library debug #native', function()
    local code = "debug = nil; local torch = require 'torch'; io.write(torch.ones(2):size { dim = 1 }, torch.Generator():manual_seed { seed = 7 }:initial_seed())"
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write(code)
    file:close()
    local pipe = assert(io.popen(('LUA_CPATH="%s/?.so;;" lua%s %s 2>&1'):format(os.getenv 'LTENSOR_BUILD' or 'build', _VERSION:match '%d.%d', path)))
    local text = pipe:read 'a'
    pipe:close()
    os.remove(path)
    assert.equal('27', text)
  end)

  it('refuse surplus and unknown arguments', function()
    refuses('size() takes at most 1 positional argument but 2 were given: dim', x.size, x, 1, 2)
    refuses("size() got an unexpected keyword argument 'dims'; did you mean 'dim'?", x.size, x, { dims = 1 })
    refuses('numel() takes no arguments but 1 was given', x.numel, x, 3)
    refuses('item() takes no arguments but 1 was given', torch.ones(1).item, torch.ones(1), 3)
    refuses('is_tensor() takes at most 1 positional argument but 2 were given: obj', torch.is_tensor, x, 3)
    refuses('manual_seed() takes at most 1 positional argument but 2 were given: seed', torch.manual_seed, 1, 2)
    refuses("type() got an unexpected keyword argument 'non_blockin'; did you mean 'non_blocking'?", x.type, x, torch.float64, { non_blockin = true })
    refuses('is_available() takes no arguments but 1 was given', torch.cuda.is_available, 1)
    refuses("set_printoptions() got an unexpected keyword argument 'precison'", torch.set_printoptions, { precison = 3 })
    refuses('Size() takes one table of integers, but 2 values were given', torch.Size, { 1 }, 2)
    refuses('seed() takes no arguments but 1 was given', torch.Generator().seed, torch.Generator(), 1)
  end)

  it('refuse surplus arguments of containers and distributions', function()
    local normal = torch.distributions.Normal(0, 1)
    refuses('a shape is numbers or one table of them, but a number follows the table', normal.sample, normal, { 2 }, 3)
    refuses('ModuleDict() takes 1 argument but 2 were given', nn.ModuleDict, { a = nn.ReLU() }, 3)
    local list = nn.ModuleList { nn.ReLU() }
    refuses('extend() takes 1 argument but 2 were given', list.extend, list, { nn.ReLU() }, 3)
    assert.equal('Identity()', tostring(nn.Identity(54, { unused = 0.1 }))) -- as in PyTorch
  end)
end)

describe('every public function of fixed arguments', function()
  local arguments = require 'torch.support.arguments'
  local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'

  it('refuses a surplus argument before it runs', function()
    local tried, wrong = 0, {}
    local surplus = coroutine.create(print) -- a value of no kind
    for _, entry in ipairs(dofile(here .. 'support/public_functions.lua')()) do
      local signature = type(entry.value) == 'function' and arguments.signature_of(entry.value)
      if signature and not signature.rest then
        local given = {}
        for i = 1, signature.positional + 1 do given[i] = surplus end
        local ok, message = pcall(entry.value, table.unpack(given))
        tried = tried + 1
        if ok or not (tostring(message):find('were given', 1, true) or tostring(message):find('was given', 1, true) or tostring(message):find("'self' must be", 1, true)
          or tostring(message):find('must be a table, not thread', 1, true)) then
          wrong[#wrong + 1] = entry.name .. ': ' .. tostring(message)
        end
      end
    end
    assert(#wrong == 0, table.concat(wrong, '\n'))
    assert(tried > 900, tried)
  end)
end)
