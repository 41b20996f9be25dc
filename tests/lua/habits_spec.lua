-- habits_spec.lua - habits of Python that Lua accepts and that would be silent mistakes: fields of tuples, loops over loaders,
-- constructors of other names, tensors as numbers, colons instead of dots.

local torch = require 'torch'
local nn, data = torch.nn, torch.utils.data

local function message(f, ...)
  local ok, text = pcall(f, ...)
  assert.is_false(ok)
  return text
end

describe('a call with several results as the last argument #cpu', function()
  local x = torch.rand(2, 3)

  it('is an error with the remedy if it passes too many arguments', function()
    for title, call in pairs {
      ['eq() takes 2 positional arguments but 3 were given'] = function() return x:eq(x:sort(2)) end, -- in C
      ['matrix_rank() takes at most 3 positional arguments but 5 were given: A, tol, hermitian, atol, rtol, out'] = function() return torch.linalg.matrix_rank(x, 1, false, x:sort(2)) end, -- declared in Lua
      ['ReLU.forward() takes at most 1 positional argument but 2 were given: input'] = function() return nn.ReLU()(x:sort(2)) end,
    } do
      assert.matches(title .. '; put a last argument that is a call with several results in parentheses: f(x, (y:sort()))', message(call), 1, true)
    end
    assert.same({ 2, 3 }, { table.unpack(x:eq((x:sort(2))).shape) })
    assert.not_matches('parentheses', message(x.eq, x, x, 3), 1, true)
  end)
end)

describe('the state of an LSTM #cpu', function()
  it('is one table, as the error for two tensors says', function()
    local h = torch.zeros(1, 1, 3)
    assert.matches('forward() takes at most 2 positional arguments but 3 were given: input, hx; the state of an LSTM is one table, {h, c}',
      message(nn.LSTM(2, 3), torch.zeros(4, 1, 2), h, h), 1, true)
    assert.matches('LSTMCell.forward() takes at most 2 positional arguments but 3 were given: input, hx; the state is one table, {h, c}',
      message(nn.LSTMCell(2, 3), torch.zeros(1, 2), h[1], h[1]), 1, true)
  end)
end)

describe('a field of a tuple #cpu', function()
  it('.values and .indices of a strided tensor are errors with the line to write', function()
    local x = torch.ones(2, 3)
    for _, name in ipairs { 'values', 'indices' } do
      local text = message(function() return x:max(2)[name] end)
      assert.matches(name .. ' expected sparse tensor layout but got Strided; ', text, 1, true)
      assert.matches('local values, indices = x:max(dim)', text, 1, true)
    end
    assert.matches('got Strided', message(function() return x:topk(2).indices end))
    assert.equal(2, #torch.sparse_coo_tensor(torch.tensor { { 1, 2 } }, torch.ones(2)):coalesce():values())
  end)

  it('of another result names the function that returns several', function()
    local A = torch.eye(2)
    assert.matches("a Tensor has no field 'Q'; a function with several results returns all: local Q, R = torch.linalg.qr(A)",
      message(function() return torch.linalg.qr(A).Q end), 1, true)
    assert.matches('local eigenvalues, eigenvectors =', message(function() return torch.linalg.eigh(A).eigenvalues end), 1, true)
    assert.matches('local sign, logabsdet =', message(function() return torch.linalg.slogdet(A).logabsdet end), 1, true)
  end)
end)

describe('a tensor of one element #cpu', function()
  it('is written as its number by .. and string.format', function()
    local loss = torch.tensor(1.5, { requires_grad = true })
    assert.equal('loss 1.5', 'loss ' .. loss)
    assert.equal('3 samples', torch.tensor { 3 } .. ' samples')
    assert.equal('12', torch.tensor(1) .. torch.tensor(2))
    assert.equal('1.50 3 1e+00', ('%.2f %d %.0e'):format(loss, torch.tensor(3), torch.tensor(true)))
    assert.equal('%tensor([1., 1.])  2', ('%%%s%3d'):format(torch.ones(2), torch.tensor(2)))
  end)

  it('is a number for tonumber and the functions of math', function()
    assert.equal(1, math.floor(torch.tensor(1.5)))
    local floor = math.floor
    torch._C.accept_tensors()
    assert.equal(floor, math.floor) -- replaced once
    assert.equal(3, math.max(torch.tensor(2), 3))
    assert.equal(2.0, math.sqrt(torch.tensor { { 4 } }))
    assert.equal(2.5, tonumber(torch.tensor(2.5)))
    assert.is_nil(tonumber(torch.ones(2)))
    assert.equal('1.0 0.5', ('%.1f %.1f'):format(math.modf(torch.tensor(1.5))))
  end)

  it('is needed: several elements are an error that states the shape', function()
    local x = torch.ones(2)
    assert.matches('attempt to concatenate a Tensor with shape %[2%]; only a tensor of one element has a number: write tostring%(x%)', message(function() return 'a' .. x end))
    assert.matches('format%(%): argument 3 must be a number, not a Tensor with shape %[2%]; %%s shows all elements', message(string.format, '%d %d', 1, x))
    assert.matches('floor%(%): argument 1 must be a number, not a Tensor with shape %[2%]', message(math.floor, x))
    assert.matches('attempt to concatenate a nil value', message(function() return torch.ones(1) .. nil end))
  end)

  it('leaves the messages of other values as they are', function()
    assert.matches("bad argument #1 to 'floor' %(number expected, got string%)", message(function() return math.floor('x') + 1 end))
    assert.matches("bad argument #2 to 'format' %(number has no integer representation%)", message(function() return ('x'):rep(1) .. string.format('%d', 1.5) end))
  end)

  if torch.cuda.is_available() then
    it('on a GPU is read by a copy that is recorded', function()
      local x = torch.ones(1):cuda()
      torch.cuda.reset_copies()
      assert.equal('1.0', ('%.1f'):format(x))
      assert.equal('item', torch.cuda.copies()[1].cause)
    end)
  end
end)

describe('a module called with a colon #cpu', function()
  it('names the dot', function()
    assert.matches('a function of a module is called with a dot: torch.ones()', message(function() local x = torch:ones(2) return x end), 1, true)
    assert.matches('called with a dot: torch.nn.Linear()', message(function() local x = nn:Linear(2, 3) return x end), 1, true)
    assert.matches('called with a dot', message(function() local x = nn.functional:relu(torch.ones(2)) return x end), 1, true)
    local text = message(function() local x = torch:exp(torch.ones(2)) return x end)
    assert.matches('called with a dot: torch.exp()', text, 1, true)
    assert.is_nil(text:find 'with a colon')
  end)

  it('is not suspected in other mistakes', function()
    local x = torch.ones(2)
    assert.is_nil(message(function() return x:sum('a') end):find 'with a dot')
    assert.is_nil(message(function() return torch.ones({}, {}, 1) end):find 'with a dot')
  end)
end)

describe('a loop #cpu', function()
  local set = data.TensorDataset(torch.arange(5), torch.arange(5) * 10)
  local loader = data.DataLoader(set, { batch_size = 2 })

  local function entries(iterate, object)
    local list = {}
    for i, entry in iterate(object) do
      list[i] = type(entry) == 'table' and { torch.is_tensor(entry[1]) and entry[1]:tolist() or entry[1], torch.is_tensor(entry[2]) and entry[2]:tolist() or entry[2] } or entry
    end
    return list
  end

  for name, iterate in pairs { ipairs = ipairs, pairs = pairs } do
    it('by ' .. name .. ' over a loader counts the batches, lists of their tensors', function()
      assert.same({ { { 0, 1 }, { 0, 10 } }, { { 2, 3 }, { 20, 30 } }, { { 4 }, { 40 } } }, entries(iterate, loader))
    end)

    it('by ' .. name .. ' over a data set counts its samples', function()
      assert.same({ { 0, 0 }, { 1, 10 }, { 2, 20 }, { 3, 30 }, { 4, 40 } }, entries(iterate, set))
      assert.same({}, entries(iterate, data.TensorDataset(torch.empty(0))))
      local Squares = data.Dataset:extend('Squares')
      function Squares.__len() return 3 end
      function Squares:__getitem(i) return i * i end
      assert.same({ 1, 4, 9 }, entries(iterate, Squares()))
    end)

    it('by ' .. name .. ' over an iterable data set and samplers counts their entries', function()
      local Pairs = data.IterableDataset:extend('Pairs')
      function Pairs:iter()
        local i = 0
        return function()
          i = i + 1
          if i <= 2 then return i, -i end
        end
      end
      assert.same({ { 1, -1 }, { 2, -2 } }, entries(iterate, Pairs()))
      assert.same({ { { 1, 2 }, { -1, -2 } } }, entries(iterate, data.DataLoader(Pairs(), { batch_size = 2 })))
      assert.same({ 1, 2, 3, 4, 5 }, entries(iterate, loader.sampler))
      assert.same({ { 1, 2 }, { 3, 4 }, { 5 } }, entries(iterate, loader.batch_sampler))
    end)
  end

  it('over a data set or sampler itself gives the values of each entry', function()
    local sum = 0
    for x, y in set do sum = sum + x:item() + y:item() end
    assert.equal(110, sum)
    for position in data.SequentialSampler(set) do sum = sum + position end
    assert.equal(125, sum)
  end)

  it('by ipairs may be nested, left and repeated', function()
    local n = 0
    for _ in ipairs(loader) do
      for _ in ipairs(loader) do
        for _ in ipairs { 1, 2 } do n = n + 1 end
      end
      for i in ipairs(set) do if i == 2 then break end end
    end
    assert.equal(18, n)
  end)

  it('reads a position of a loader as an error with the loops', function()
    assert.matches('a DataLoader has no positions: write for x in object do, or for i, x in ipairs(object) do', message(function() return loader[1] end), 1, true)
    assert.matches('a BatchSampler has no positions', message(function() return loader.batch_sampler[2] end))
    assert.equal(0, set[1]:item())
    assert.matches("Sampler has no method 'iter'", message(function() return data.Sampler():iter() end))
  end)

  it('over net:parameters() and other lists of a module gives its values', function()
    local net, n = nn.Sequential(nn.Linear(2, 3), nn.ReLU()), 0
    for p in net:parameters() do
      for _ in net:parameters() do n = n + p:numel() end
    end
    assert.equal(18, n)
    local names = {}
    for child in net:children() do names[#names + 1] = torch.type(child) end
    for module in net:modules() do names[#names + 1] = torch.type(module) end
    for module in nn.ModuleDict { a = nn.Tanh() }:values() do names[#names + 1] = torch.type(module) end
    assert.same({ 'Linear', 'ReLU', 'Sequential', 'Linear', 'ReLU', 'Tanh' }, names)
    local entries = {}
    for layer in nn.ModuleList { nn.Tanh() } do entries[#entries + 1] = torch.type(layer) end
    for p in nn.ParameterList { torch.ones(3) } do entries[#entries + 1] = p:numel() end
    for name, module in nn.ModuleDict { a = nn.ReLU() } do entries[#entries + 1] = name .. torch.type(module) end
    for name, p in nn.ParameterDict { b = torch.ones(2) } do entries[#entries + 1] = name .. p:numel() end
    for name, p in nn.Linear(2, 1):state_dict() do entries[#entries + 1] = name .. p:numel() end
    assert.same({ 'Tanh', 3, 'aReLU', 'b2', 'weight2', 'bias1' }, entries)
    assert.matches('missing the required "forward" function', message(function() return (nn.ModuleList()(torch.ones(1))) end))
    assert.matches('for i, layer in ipairs(net) do', message(function() for _ in net do break end end), 1, true)
    assert.matches('for epoch in epochs do', message(function() for _ in ipairs(torch.utils.epochs { total = 1, quiet = true }) do break end end), 1, true)
    assert.matches('a table is called by a for loop only', message(function() return net:parameters()() end))
    local path = os.tmpname()
    for _, suffix in ipairs { '.pt', '.safetensors' } do
      torch.save(net:parameters(), path .. suffix)
      assert.equal(2, #torch.load(path .. suffix))
      os.remove(path .. suffix)
    end
    os.remove(path)
  end)
end)

describe('a class #cpu', function()
  it('without init refuses arguments', function()
    local Net = nn.Module:extend('Net')
    assert.equal('Net', torch.type(Net()))
    assert.matches('Net() takes no arguments but 2 were given, because it has no method init: define function Net:init(...)', message(function() return Net(1, nil) end), 1, true)
    assert.matches('Set() takes no arguments but 1 was given', message(function() return (data.Dataset:extend('Set')(1)) end), 1, true)
  end)

  for _, name in ipairs { '__init', '__init__' } do
    it('with a constructor named ' .. name .. ' names init', function()
      local Net = nn.Linear:extend('Net')
      Net[name] = function() end
      assert.matches(('Net:%s is not called: the constructor of a class is its method init: define function Net:init(...)'):format(name),
        message(function() return (Net(2, 3)) end), 1, true)
      local Derived = Net:extend('Derived')
      function Derived:init() self.own = true end
      assert.is_true(Derived().own)
    end)
  end

  it('may call the constructor of its parent, also that of Module', function()
    local Net = nn.Module:extend('Net')
    function Net:init(n)
      nn.Module.init(self)
      Net.super.init(self)
      self.layer = nn.Linear(n, 1)
    end
    assert.equal(2, #Net(3):parameters())
    assert.matches('takes no arguments but 1 was given', message(function() return (nn.Module.init(Net(3), 3)) end), 1, true)
  end)
end)

describe('a list with a nil #cpu', function()
  it('is refused by containers, optimizers and data sets', function()
    local a, b = nn.ReLU(), nn.Tanh()
    assert.matches('Sequential(): value 2 of 3 is nil', message(function() return (nn.Sequential(a, nil, b)) end), 1, true)
    assert.matches('Sequential(): value 2 of 2 is nil', message(function() return (nn.Sequential(a, nil)) end), 1, true)
    assert.matches('Sequential(): value 2 of 3 is nil', message(function() return (nn.Sequential { a, nil, b }) end), 1, true)
    assert.matches('ModuleList(): value 1 of 2 is nil', message(function() return (nn.ModuleList(nil, b)) end), 1, true)
    assert.matches('ModuleList(): value 2 of 3 is nil', message(function() return (nn.ModuleList { a, nil, b }) end), 1, true)
    assert.matches('ParameterList(): value 2 of 3 is nil', message(function() return (nn.ParameterList(torch.ones(1), nil, torch.ones(1))) end), 1, true)
    assert.matches('TensorDataset(): value 2 of 3 is nil', message(function() return (data.TensorDataset(torch.ones(1), nil, torch.ones(1))) end), 1, true)
    local w = torch.ones(1, { requires_grad = true })
    assert.matches('a list of parameters: value 2 of 3 is nil', message(function() return (torch.optim.SGD({ w, nil, w }, { lr = 1 })) end), 1, true)
    assert.equal(0, #nn.ModuleList())
    assert.equal(0, #nn.Sequential())
  end)
end)

describe('hooks #cpu', function()
  it('receive the inputs as one list, before and after forward', function()
    local net, seen = nn.Bilinear(1, 1, 1), {}
    net:register_forward_pre_hook(function(_, inputs) seen.pre = inputs end)
    net:register_forward_hook(function(_, inputs, output) seen.post, seen.output = inputs, output end)
    local a, b = torch.ones(1), torch.zeros(1)
    net(a, b)
    for _, kind in ipairs { 'pre', 'post' } do assert.same({ 2, true, true }, { seen[kind].n, seen[kind][1] == a, seen[kind][2] == b }) end
    assert.is_true(torch.is_tensor(seen.output))
  end)

  it('replace the inputs by a list, by one value or by several', function()
    local Add = nn.Module:extend('Add')
    function Add.forward(_, ...) return select('#', ...), ... end
    local net = Add()
    local function with(hook)
      local _ <close> = net:register_forward_pre_hook(hook)
      return { net(1, 2) }
    end
    assert.same({ 2, 10, 20 }, with(function(_, inputs) return { inputs[1] * 10, inputs[2] * 10 } end))
    assert.same({ 2, 5, 2 }, with(function(_, inputs)
      inputs[1] = 5
      return inputs
    end))
    assert.same({ 1, 7 }, with(function() return 7 end))
    assert.same({ 2, 8, 9 }, with(function() return 8, 9 end))
    assert.same({ 2, 1, 2 }, with(function() end))
  end)
end)

describe('collate_fn #cpu', function()
  it('receives a plain list of samples, each a value or a list of values', function()
    local received
    local function collate(samples)
      received = samples
      return #samples
    end
    for n in data.DataLoader({ 5, 6 }, { batch_size = 2, collate_fn = collate }) do assert.equal(2, n) end
    assert.same({ 5, 6 }, received)
    local set = data.TensorDataset(torch.arange(2), torch.arange(2) * 10)
    for n in data.DataLoader(set, { batch_size = 2, collate_fn = collate }) do assert.equal(2, n) end
    assert.same({ 2, 1, 10 }, { #received[2], received[2][1]:item(), received[2][2]:item() })
    assert.is_nil(received[1].n)
  end)
end)
