-- arguments_reader_spec.lua - torch.support.arguments, which reads the arguments of functions that are written in Lua.

local torch = require 'torch'
local declare = require 'torch.support.arguments'

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

local function has(text, message) assert(message:find(text, 1, true), message) end

describe('a declared function', function()
  local f = declare.declare("f(Tensor x, number a=1.5, string? b, *, boolean c=false)", function(...) return table.pack(...) end)
  local x = torch.ones(1)

  it('gets all values in the declared order, with their defaults, whether they stand in a row or by name', function()
    assert.same({ x, 1.5, nil, false, n = 4 }, f(x))
    assert.same({ x, 2, 'text', false, n = 4 }, f(x, 2, 'text'))
    assert.same({ x, 1.5, 'text', false, n = 4 }, f(x, nil, 'text'))
    assert.same({ x, 2, nil, true, n = 4 }, f(x, 2, { c = true }))
    assert.same({ x, 2, 'text', true, n = 4 }, f { x = x, a = 2, b = 'text', c = true })
    assert.same({ x, 1.5, nil, false, n = 4 }, f(x, {}))
    assert.same({ x, 1.5, nil, false, n = 4 }, f(x, nil, nil, nil))
  end)

  it('refuses missing, surplus, unknown, repeated and wrong arguments by name', function()
    has("f() missing 1 required argument: 'x' (a Tensor)", failure(f))
    has("f() missing 1 required argument: 'x' (a Tensor)", failure(f, { a = 1 }))
    has('f() takes at most 3 positional arguments but 4 were given: x, a, b, c', failure(f, x, 1, 'b', true))
    has("f() got an unexpected keyword argument 'zebra'; it accepts x, a, b, c", failure(f, x, { zebra = 1 }))
    has("f() got multiple values for argument 'a'", failure(f, x, 1, { a = 2 }))
    has("f(): argument 'a' must be a number, not 'two'", failure(f, x, 'two'))
    has("f(): argument 'c' must be true or false, not a number", failure(f, x, { c = 1 }))
    has("f(): argument 'x' must be a Tensor, not a number", failure(f, 1))
  end)

  it('takes a table for a value where its argument is a table, unless all names in it are declared', function()
    local g = declare.declare('g(table data, any? more)', function(data, more) return { data = data, more = more } end)
    local data, named = { width = 2 }, { data = { 1 }, more = 3 }
    assert.equal(data, g(data).data)
    assert.same({ data = { 1 }, more = 3 }, g(named))
    assert.same({ data = {}, more = { width = 2 } }, g({}, data))
    assert.same({ 0, 2 }, { table.unpack(torch.nn.functional.elu(torch.tensor { 0.0, 2.0 }, {}):tolist()) })
    assert.same({ data = { 1 }, more = 4 }, g({ 1 }, { more = 4 }))
  end)

  it("NumPy's names of arguments are accepted, and '...' accepts further arguments", function()
    local named = declare.declare('f(Tensor input, integer? dim, boolean keepdim=false, Tensor? other)', function(...) return table.pack(...) end)
    assert.same({ x, 2, true, x, n = 4 }, named { x1 = x, axis = 2, keepdims = true, x2 = x })
    local rest = declare.declare('f(integer first, ..., boolean flag=true)', function(...) return table.pack(...) end)
    assert.same({ 1, true, n = 2 }, rest(1))
    assert.same({ 1, true, 'a', 'b', n = 4 }, rest(1, 'a', 'b'))
    assert.same({ 1, false, 'a', n = 3 }, rest(1, 'a', { flag = false }))
  end)
end)

describe('a declared scope', function()
  local scopes = declare.functions({ open = function(...) return table.pack(...) end }, 'open(string kind, integer level=1)', 'scope')

  it('passes the function of the caller and its arguments on behind its own', function()
    local function body() end
    assert.same({ 'a', 1, n = 2 }, scopes.open 'a')
    assert.same({ 'a', 1, body, n = 3 }, scopes.open('a', body))
    assert.same({ 'a', 3, body, 'x', { level = 2 }, n = 5 }, scopes.open('a', 3, body, 'x', { level = 2 }))
    assert.same({ 'a', 2, body, nil, n = 4 }, scopes.open('a', { level = 2 }, body, nil))
    assert.same({ 'b', 4, body, n = 3 }, scopes.open({ kind = 'b', level = 4 }, body))
    has("open() got an unexpected keyword argument 'depth'; it accepts kind, level", failure(scopes.open, 'a', { depth = 2 }, body))
    has("open() missing 1 required argument: 'kind' (a string)", failure(scopes.open, body))
  end)
end)

describe('a declared reader', function()
  local read = declare.reader [[f(sizes size, integer? dim, number|none momentum=0.1, *, string mode='a, b')]]

  it('gives the arguments by name, from a row, a table of names and a table of both', function()
    assert.same({ size = 2, momentum = 0.1, mode = 'a, b' }, read(2))
    assert.same({ size = { 2, 3 }, dim = 1, momentum = 0.1, mode = 'c' }, read({ 2, 3 }, 1, { mode = 'c' }))
    assert.same({ size = 2, dim = 5, momentum = 0.1, mode = 'a, b' }, read { 2, dim = 5 })
    has("f() got an unexpected keyword argument 'dims'", failure(read, { 2, dims = 5 }))
  end)

  it('takes false for an absent value, and as a value where the kind has it', function()
    assert.is_nil(read(2, false).dim)
    assert.is_false(read(2, 1, false).momentum)
    has("f(): argument 'mode' must be a string, not false", failure(read, 2, { mode = false }))
  end)
end)

describe('values for a function of the caller', function()
  local f = declare.declare('f(function func, any ..., *, boolean strict=false)', function(...) return table.pack(...) end)

  it('may end with a table, which is read as names when all of them have names only', function()
    assert.same({ print, false, { x = 1 }, n = 3 }, f(print, { x = 1 }))
    assert.same({ print, true, 1, n = 3 }, f(print, 1, { strict = true }))
    assert.same({ print, false, { func = 1 }, n = 3 }, f(print, { func = 1 }))
    has("unexpected keyword argument 'strit'", failure(f, print, { strit = true }))
  end)
end)

describe('required arguments by name', function()
  it('are taken by functions and methods that are written in Lua', function()
    local nn, x = torch.nn, torch.ones(2, 2)
    local p = nn.Parameter(x)
    local optimizer = torch.optim.SGD({ p }, 0.1)
    local scheduler = torch.optim.lr_scheduler.StepLR { optimizer = optimizer, step_size = 1 }
    local data = torch.utils.data.TensorDataset(x)
    nn.utils.clip_grad_norm_({ parameters = { p }, max_norm = 1 })
    nn.utils.prune.l1_unstructured { module = nn.Linear(2, 2), name = 'weight', amount = 1 }
    torch.optim.lr_scheduler.ChainedScheduler { schedulers = { scheduler }, optimizer = optimizer }
    optimizer:step()
    scheduler:step { epoch = 2 }
    assert.equal(2, scheduler.last_epoch)
    assert.equal(3.0, nn.init.constant_({ tensor = torch.ones(1), val = 3.0 }):item())
    assert.equal(1, #torch.utils.data.random_split { dataset = data, lengths = { 1, 1 } })
    assert.same({ { 1, 0 }, { 0, 1 } }, torch.linalg.solve({ A = torch.eye(2), B = torch.eye(2) }):tolist())
    assert.equal(2, torch.linalg.matrix_rank({ A = torch.eye(2) }):item())
    assert.equal(2.0, torch.func.grad { func = function(v) return v:square():sum() end }(torch.ones(1)):item())
    assert.equal(2, torch.fft.fft({ input = x, dim = 1 }):size(1))
    assert.equal(1, torch.distributions.Normal({ loc = 0.0, scale = 1.0 }):sample({ sample_shape = { 1 } }):numel())
  end)
end)

describe('the forward of a layer', function()
  local nn, x = torch.nn, torch.ones(1, 2)

  it('refuses surplus inputs and unknown names', function()
    for title, layer in pairs { Linear = nn.Linear(2, 2), ReLU = nn.ReLU(), LayerNorm = nn.LayerNorm(2), Sequential = nn.Sequential(nn.ReLU()) } do
      has(title .. '.forward() takes at most 1 positional argument but 2 were given: input', failure(layer, x, x))
      has(title .. ".forward() got an unexpected keyword argument 'other'; it accepts input", failure(layer, x, { other = x }))
    end
    has("CrossEntropyLoss.forward() got an unexpected keyword argument 'weight'; it accepts input, target", failure(nn.CrossEntropyLoss(), x, x, { weight = x }))
    has('MSELoss.forward() takes at most 2 positional arguments but 3 were given: input, target', failure(nn.MSELoss(), x, x, x))
    has("MSELoss.forward() missing 1 required argument: 'target'", failure(nn.MSELoss(), x))
  end)

  it('takes its arguments by name', function()
    assert.same({ { 1, 1 } }, nn.ReLU() { input = x }:tolist())
    assert.equal(0, nn.MSELoss()(x, { target = x }):item())
    assert.equal(0, nn.MSELoss() { target = x, input = x }:item())
    local lstm, steps = nn.LSTM(2, 3), torch.ones(4, 1, 2)
    local state = { torch.zeros(1, 1, 3), torch.zeros(1, 1, 3) }
    assert.equal(torch.Size { 4, 1, 3 }, (lstm(steps, { hx = state })).shape)
    local attention = nn.MultiheadAttention(2, 1)
    local _, weights = attention { query = steps, key = steps, value = steps, need_weights = false }
    assert.is_nil(weights)
    _, weights = attention(steps, steps, steps, nil, true, nil, false) -- PyTorch's order
    assert.equal(torch.Size { 1, 1, 4, 4 }, weights.shape)
  end)

  it('of a user receives its arguments unchanged', function()
    local Own = nn.Module:extend('Own')
    function Own:forward(...) self.given = select('#', ...) return ... end
    local own = Own()
    local a, b = own(x, { other = 1 })
    assert.same({ x, { other = 1 }, 2 }, { a, b, own.given })
  end)
end)
