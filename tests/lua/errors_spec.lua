-- errors_spec.lua - mistakes are told: by an error where PyTorch has one, at the line of the caller, in words that name
-- what was written, what was expected, and what was perhaps meant.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- The message of the error that the code, with x = ones(2, 3), ends in, without its place, which must be line 1 of the code.
local function message_of(code)
  local chunk = assert(load('local torch, x, net, opt = ...; ' .. code, '=(code)'))
  local x, net = torch.ones(2, 3, { device = device }), torch.nn.Linear(3, 2):to(device)
  local ok, message = pcall(chunk, torch, x, net, torch.optim.SGD(net:parameters(), { lr = 0.1 }))
  assert(not ok, code .. ' raised nothing')
  local text = message:match '^%(code%):1: (.*)'
  assert(text, code .. ' says, without its place: ' .. message)
  return text
end

local function says(code, part)
  local text = message_of(code)
  assert(text:find(part, 1, true), ('%s says: %s'):format(code, text))
end

describe('a field that a value does not have', function()
  it('raises and names the nearest', function()
    says('local y = x.shpae', "a Tensor has no field 'shpae'; did you mean 'shape'?")
    says('x:reshpae(6)', "did you mean 'reshape'?")
    says('x.requries_grad = true', "did you mean 'requires_grad'?")
    says('local y = x.nothing_alike_at_all', "a Tensor has no field 'nothing_alike_at_all'")
    says('local y = x.dtype.is_floting_point', "did you mean 'is_floating_point'?")
    says('local y = x.device.tpye', "did you mean 'type'?")
    says('local y = x.shape.nummel', "did you mean 'numel'?")
  end)

  it('is nil in a module', function() assert.is_nil(torch.nn.Linear(2, 3).nothing) end)
  it('is nil where a device has no number', function() assert.is_nil(torch.device('cpu').index) end)
end)

describe('a size', function()
  it('is counted from the end too', function()
    local shape = torch.ones(2, 3, 4).shape
    assert.equal(4, shape[-1])
    assert.equal(2, shape[-3])
  end)

  it('a size rejects unknown fields', function()
    says('local n = x.shape[0]', 'dim 0: positions count from 1')
    says('local n = x.shape[3]', 'dim 3 is out of range for a size of 2 dimensions')
    says('local n = x.shape[-3]', 'dim -3 is out of range for a size of 2 dimensions')
  end)

  it('ends for ipairs and unpack', function()
    local n = 0
    for _ in ipairs(torch.ones(2, 3).shape) do n = n + 1 end
    assert.equal(2, n)
    assert.same({ 2, 3 }, { table.unpack(torch.ones(2, 3).shape) })
  end)
end)

describe('a nil', function()
  it('among the numbers of a shape is refused', function()
    says('x:reshape(-1, nil)', "reshape(): argument 'shape' (position 2) must be table of ints, but number 2 is nil")
    says('torch.zeros(2, nil)', 'but number 2 is nil')
    says('x:permute(2, nil)', 'but number 2 is nil')
    says('x:reshape{2, nil, 3}', #{ 2, nil, 3 } == 3 and 'found element of type nil at pos 2' or 'a list has an entry 3 but a nil at 2')
    says('x:reshape{2, [3] = 3}', 'a list has an entry 3 but a nil at 2')
    says('local y = x[nil]', 'index is nil')
  end)

  it('for an argument that may be absent means that it is', function()
    assert.equal(6, torch.ones(2, 3):sum(nil):item())
    assert.equal(6, torch.ones(2, 3):sum(nil, nil):item())
  end)
end)

describe('a method with a dot', function()
  it('a tensor method that is called with a dot is an error that suggests a colon', function()
    says('x.sum()', 'a method is called with a colon: x:sum()')
    says('x.reshape(6)', 'a method is called with a colon: x:reshape()')
    says("x.to('cpu')", 'a method is called with a colon: x:to()')
    says('x.item()', 'a method is called with a colon: x:item()')
    says('x.size()', 'a method is called with a colon: x:size()')
  end)
end)

describe('a comparison', function()
  it('names the method to write', function()
    says('return (x > 1)', 'x:gt(1)')
    says('return (x < 1)', 'x:lt(1)')
    says('return (x >= 2.5)', 'x:ge(2.5)')
    says('return (1 >= x)', 'x:le(1)')
    says('return (x <= x)', 'x:le(y)')
  end)
end)

describe('the name of a dtype', function()
  it('stands for the dtype', function()
    local x = torch.ones(2, { device = device })
    assert.equal(torch.float64, x:to('float64').dtype)
    assert.equal(torch.float64, x:to(device, 'torch.float64').dtype)
    assert.equal(torch.int64, torch.zeros(2, { dtype = 'int64' }).dtype)
    assert.equal(torch.bool, torch.tensor({ 1 }, { dtype = 'bool' }).dtype)
    says("x:to('flaot64')", "Invalid device string: 'flaot64'")
  end)
end)

describe('a 0 among positions', function()
  it('position 0 is an error: positions count from 1', function()
    for _, code in ipairs {
      'torch.bincount(torch.tensor({0, 1}):to(x.device))', 'x:gather(1, torch.zeros(1, 3):long():to(x.device))',
      'x:index_select(1, torch.tensor({0}):to(x.device))', 'torch.nn.functional.embedding(torch.tensor({0}):to(x.device), x)',
      'local y = x[torch.tensor({0}):to(x.device)]', 'x:take(torch.tensor({0}):to(x.device))',
      'x:scatter(1, torch.zeros(1, 3):long():to(x.device), 1.0)', 'x:index_add(1, torch.tensor({0}):to(x.device), x[{{1, 1}}])',
      'torch.distributions.Categorical(x):log_prob(torch.tensor({0}):to(x.device))', 'x:select(1, 0)', 'x:narrow(1, 0, 1)', 'x:sum(0)',
      'torch.nn.functional.multi_margin_loss(x, torch.tensor({0, 1}):to(x.device))', 'x:index_fill(1, torch.tensor({0}):to(x.device), 1.0)',
      'torch.nn.functional.cross_entropy(x, torch.tensor({0, 1}):to(x.device))', 'torch.nn.functional.one_hot(torch.tensor({0, 1}):to(x.device))',
      'torch.nn.functional.nll_loss(x, torch.tensor({0, 1}):to(x.device))', 'net:state_dict(); local y = torch.nn.Sequential(net)[0]',
      'torch.nn.functional.embedding_bag(torch.tensor({{0}}):to(x.device), x)', 'x:index_copy(1, torch.tensor({0}):to(x.device), x[{{1, 1}}])',
      'torch.take_along_dim(x, torch.zeros(1, 3):long():to(x.device), 1)',
    } do
      local text = message_of(code .. "; if x.is_cuda then torch.cuda.synchronize(x.device) end")
      assert(text:find 'count from 1', code .. ' says: ' .. text)
    end
  end)
end)

describe('arguments that fit no form of an op', function()
  it('are listed beside the forms', function()
    says("x:sum('a')", 'sum() received an invalid combination of arguments - got (Tensor, string), but expected one of:')
    says("torch.nn.functional.conv2d(x, 'a', 'b')", 'conv2d() received an invalid combination of arguments - got (Tensor, string, string)')
    says('x:sum{dim = {}, no_name = 1}', "sum(): unknown argument 'no_name'")
  end)
end)

describe('dtypes that an op does not take', function()
  it('are named', function()
    says('x:bool():trace()', [["trace" not implemented for 'Bool']])
    says('x:bool():median()', [["median_cpu" not implemented for 'Bool']])
    says('x:bool():median(1)', [["median_out" not implemented for 'Bool']])
    says('x:bool():nanmedian(1)', [["median_out" not implemented for 'Bool']])
  end)

  it('are not mixed in a product', function()
    local two = 'local a, b = torch.ones(1, 2, 3), torch.ones(1, 3, 2); '
    says(two .. 'torch.addbmm(torch.ones(2, 2), a:double(), b)', 'mat1 and mat2 must have the same dtype, but got Double and Float')
    says(two .. 'torch.addbmm(torch.ones(2, 2):double(), a, b)', 'self and mat2 must have the same dtype, but got Double and Float')
  end)
end)

describe('a misspelt name among the named arguments', function()
  it('a misspelled argument of a method is an error that suggests the nearest name', function()
    for _, code in ipairs { 'opt:zero_grad{set_to_non = true}', 'net:zero_grad{set_to_non = true}' } do
      says(code, "zero_grad() got an unexpected keyword argument 'set_to_non'; did you mean 'set_to_none'?")
    end
    says('net:state_dict{prefx = "a"}', "did you mean 'prefix'?")
    says('net:load_state_dict(net:state_dict(), {stritc = false})', "did you mean 'strict'?")
    says('torch.nn.utils.rnn.pad_sequence({x, x}, {batch_frist = true})', "did you mean 'batch_first'?")
    says('net:zero_grad{something = true}', "unexpected keyword argument 'something'; it accepts set_to_none")
  end)

  it('all functions report misspelled arguments with the same message', function()
    for code, message in pairs {
      ['torch.nn.Linear(2, 3, {bais = true})'] = "Linear() got an unexpected keyword argument 'bais'; did you mean 'bias'?",
      ['torch.nn.Linear(2, 3, {foo = 1})'] = "Linear() got an unexpected keyword argument 'foo'; it accepts in_features, out_features, bias, device, dtype",
      ['torch.optim.SGD(net:parameters(), {momntum = 1})'] = "SGD() got an unexpected keyword argument 'momntum'; did you mean 'momentum'?",
      ['torch.optim.SGD(net:parameters(), 0.1, {lr = 0.1})'] = "SGD() got multiple values for argument 'lr'",
      ['torch.optim.lr_scheduler.StepLR(opt, {step_siz = 1})'] = "StepLR() got an unexpected keyword argument 'step_siz'; did you mean 'step_size'?",
      ['torch.optim.lr_scheduler.StepLR(opt, 1, {step_size = 1})'] = "StepLR() got multiple values for argument 'step_size'",
      ['torch.nn.init.uniform_(x, {c = 1})'] = "uniform_() got an unexpected keyword argument 'c'; it accepts tensor, a, b, generator",
      ['torch.nn.init.uniform_(x, 1, 2, nil, 4)'] = 'uniform_() takes at most 4 positional arguments but 5 were given: tensor, a, b, generator',
      ['torch.nn.TransformerEncoderLayer(4, 2)(x, {src_masc = x})'] = "did you mean 'src_mask'?",
      ['net:to{devic = "cpu"}'] = "Module.to() got an unexpected keyword argument 'devic'; did you mean 'device'?",
      ['torch.load("x", {map_locatio = "cpu"})'] = "torch.load() got an unexpected keyword argument 'map_locatio'; did you mean 'map_location'?",
      ['torch.autograd.grad(x, x, {retain_grap = true})'] = "grad() got an unexpected keyword argument 'retain_grap'; did you mean 'retain_graph'?",
      ['torch.set_printoptions{precisio = 3}'] = "set_printoptions() got an unexpected keyword argument 'precisio'; did you mean 'precision'?",
      ['torch.set_printoptions{[5] = 3}'] = "set_printoptions(): argument 'precision' must be a number, not a table",
      ['torch.utils.data.DataLoader({1, 2}, {batch_siz = 1})'] = "DataLoader() got an unexpected keyword argument 'batch_siz'; did you mean 'batch_size'?",
    } do
      says(code, message)
    end
  end)

  it('leaves right ones alone', function()
    local net = torch.nn.Linear(3, 2):to(device)
    net:zero_grad { set_to_none = false }
    net:zero_grad(false)
    net:load_state_dict(net:state_dict { keep_vars = true }, { strict = true })
  end)
end)

describe('a module or an optimizer', function()
  it('a module or optimizer method called with a dot is an error that suggests a colon', function()
    says('net.train()', "train(): argument 'self' must be a Module, not nil (a method is called with a colon: module:train())")
    says('net.parameters()', 'a method is called with a colon')
    says('opt.step()', "step(): argument 'self' must be an Optimizer, not nil (a method is called with a colon: optimizer:step())")
    says('opt.zero_grad()', 'a method is called with a colon')
    says('x.backward()', "backward(): argument 'self' must be a Tensor, not nil (a method is called with a colon: x:backward())")
    says('net.forward(x)', 'a method is called with a colon: net:forward()')
  end)

  it('names the argument that is wrong', function()
    says("torch.nn.Linear('a', 2)", "Linear(): argument 'in_features' must be an integer, not 'a'")
    says("torch.nn.Conv2d(1, 2, 'x')", "argument 'kernel_size' must be an integer or a table of integers, not 'x'")
    says('torch.nn.init.normal_(5)', "normal_(): argument 'tensor' must be a Tensor")
    says("torch.nn.utils.clip_grad_norm_(net, 'a')", "clip_grad_norm_(): argument 'max_norm' must be a number, not 'a'")
    says("torch.optim.SGD(net:parameters(), {lr = 'fast'})", "SGD(): argument 'lr' must be a number or a Tensor, not 'fast'")
    says('torch.optim.lr_scheduler.StepLR(net, 1)', "StepLR(): argument 'optimizer' must be an Optimizer, not a Linear")
  end)
end)

describe('a layer', function()
  it('a layer method called with a dot is an error that suggests a colon', function()
    for name in pairs(torch.nn.__names) do
      local class = torch.nn[name]
      if type(class) == 'table' and class.forward and class ~= torch.nn.Module then
        local ok, message = pcall(class.forward)
        assert(not ok and message:find("forward(): argument 'self' must be ", 1, true), name .. ': ' .. tostring(message))
      end
    end
    says('net.forward(x)', "forward(): argument 'self' must be a Linear, not a Tensor (a method is called with a colon: net:forward())")
  end)

  it('refuses each argument of a wrong kind by its name', function()
    local wrong, tried = coroutine.create(print), 0
    local layer = torch.nn.TransformerEncoderLayer(4, 2)
    local required = { cutoffs = { 1 }, encoder_layer = layer, decoder_layer = layer, module = layer }
    -- What takes a table of modules, and what is made by its heirs alone.
    local left_out = { DataParallel = true, ModuleDict = true, ModuleList = true, ParameterDict = true, ParameterList = true, RNNBase = true }
    for _, row in ipairs(dofile(here .. '../reference/signatures.lua')) do
      for _, argument in ipairs(row.kind == 'nn' and torch.nn[row.name] and not left_out[row.name] and row.arguments or {}) do
        local options = {}
        for _, other in ipairs(row.arguments) do
          if not other.optional then options[other[1]] = required[other[1]] or 2 end
        end
        options[argument[1]] = wrong
        local ok, message = pcall(torch.nn[row.name], options)
        local name = row.name .. '.' .. argument[1]
        assert(not ok, name .. ' takes a thread')
        local named = message:find("'" .. argument[1] .. "'", 1, true) or argument[1]:find '_layer$' and message:find("'layer'", 1, true)
        assert(named or argument[1] == 'dim' and message:find 'the dimension is required', name .. ': ' .. message)
        tried = tried + 1
      end
    end
    assert(tried > 400, tried)
  end)

  it('takes values and names from one table, and drops none', function()
    local nn = torch.nn
    assert.equal('MaxPool2d(kernel_size=2, stride=2, padding=1, dilation=1, ceil_mode=False)', tostring(nn.MaxPool2d { 2, padding = 1 }))
    assert.equal('Linear(in_features=2, out_features=3, bias=False)', tostring(nn.Linear { 2, 3, bias = false }))
    says('torch.nn.MaxPool2d {2, pading = 1}', "MaxPool2d() got an unexpected keyword argument 'pading'")
    says('torch.nn.Conv2d(1, 2, {3, padding = 1})', "argument 'kernel_size' must be an integer or a table of integers")
  end)
end)

describe('a name that a function does not take', function()
  it('an unknown argument is an error that suggests the nearest name', function()
    for call, names in pairs {
      ['torch.nn.utils.weight_norm(net, {nmae = "weight"})'] = 'nmae name',
      ['torch.nn.utils.weight_norm(net, "weight", {dmi = 1})'] = 'dmi dim',
      ['torch.nn.utils.spectral_norm(net, {n_power_iteration = 3})'] = 'n_power_iteration n_power_iterations',
      ['torch.nn.utils.parametrizations.weight_norm(net, "weight", {dmi = 1})'] = 'dmi dim',
      ['torch.nn.utils.parametrizations.spectral_norm(net, {nmae = "weight"})'] = 'nmae name',
      ['torch.nn.utils.parametrize.remove_parametrizations(net, "weight", {leave_parametrised = true})'] =
        'leave_parametrised leave_parametrized',
      ['torch.nn.utils.clip_grad_norm_(net, 1, {norm_typ = 1})'] = 'norm_typ norm_type',
      ['torch.nn.utils.get_total_norm({x}, {norm_typ = 1})'] = 'norm_typ norm_type',
      ['torch.nn.utils.rnn.pack_sequence({x}, {enforce_sort = false})'] = 'enforce_sort enforce_sorted',
      ['torch.nn.utils.rnn.unpad_sequence(x, torch.tensor {2}, {batch_frst = true})'] = 'batch_frst batch_first',
      ['torch.utils.checkpoint(torch.sin, x, {use_rentrant = false})'] = 'use_rentrant use_reentrant',
      ['net:register_forward_hook(print, {prepent = true})'] = 'prepent prepend',
      ['net:named_parameters {recuse = true}'] = 'recuse recurse',
      ['net:buffers {recuse = true}'] = 'recuse recurse',
      ['net:named_modules {prefx = "a"}'] = 'prefx prefix',
      ['torch.linalg.matrix_rank(x, {rtl = 2})'] = 'rtl rtol',
    } do
      local wrong, meant = names:match '(%S+) (%S+)'
      says(call, ("got an unexpected keyword argument '%s'; did you mean '%s'?"):format(wrong, meant))
    end
  end)
end)
