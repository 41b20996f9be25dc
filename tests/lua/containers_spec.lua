-- Lists of layers and parameters, loops over them, and the places where either stands for parameters.

local torch = require 'torch'
local nn, optim, data = torch.nn, torch.optim, torch.utils.data

local function count(f, ...)
  local n = 0
  for _ in f(...) do n = n + 1 end
  return n
end

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

local function names(module)
  local list = {}
  for name in module:named_children() do list[#list + 1] = name end
  return list
end

-- A dict of modules and one of parameters hold their entries alike.
local dicts = {
  ModuleDict = { new = nn.ModuleDict, entry = function(n) return nn.Linear(n, 1) end, size = function(entry) return entry.in_features end },
  ParameterDict = { new = nn.ParameterDict, entry = function(n) return nn.Parameter(torch.ones(n)) end, size = function(entry) return #entry end },
}
for name, kind in pairs(dicts) do
  describe(name, function()
    local entry, size = kind.entry, kind.size

    it('keeps the order of pairs, and sorts the names of a table', function()
      assert.same({ 'b', 'a' }, kind.new({ { 'b', entry(1) }, { 'a', entry(2) } }):keys())
      assert.same({ 'a', 'b', 'c' }, kind.new({ c = entry(1), a = entry(2), b = entry(3) }):keys())
      assert.equal(0, #kind.new())
    end)

    it('replaces entries where they are and adds others behind', function()
      local dict = kind.new { { 'b', entry(1) }, { 'a', entry(2) } }
      dict:update { { 'c', entry(3) }, { 'b', entry(4) } }
      dict:update(kind.new { d = entry(5), a = entry(6) })
      assert.same({ 'b', 'a', 'c', 'd' }, dict:keys())
      local sizes, seen = {}, {}
      for i, value in ipairs(dict:values()) do sizes[i] = size(value) end
      assert.same({ 4, 6, 3, 5 }, sizes)
      for key, value in pairs(dict) do seen[#seen + 1] = key .. size(value) end
      assert.same({ 'b4', 'a6', 'c3', 'd5' }, seen)
      assert.equal(4, #dict)
    end)

    it('gives and forgets entries by name', function()
      local dict = kind.new { a = entry(1), b = entry(2), c = entry(3) }
      assert.is_true(dict:contains 'b')
      assert.equal(2, size(dict:pop 'b'))
      assert.is_false(dict:contains 'b')
      assert.is_false(dict:contains 'training')
      assert.same({ 'a', 'c' }, dict:keys())
      assert.truthy(failure(dict.pop, dict, 'b'):find("KeyError: 'b'", 1, true))
      assert.equal(3, size(dict.c))
      dict:clear()
      assert.same({}, dict:keys())
      assert.equal(0, #dict)
    end)

    it('rejects a key that is neither a position nor a name', function()
      assert.truthy(failure(kind.new, { { 1, entry(1) } }):find("argument 'name' must be a string, not a number", 1, true))
      assert.truthy(failure(kind.new, { 'a', 'b' }):find("argument 'entry' must be a table, not 'a'", 1, true))
      assert.truthy(failure(kind.new, 3):find("argument '" .. (name == 'ModuleDict' and 'modules' or 'parameters') .. "' must be", 1, true))
      assert.truthy(failure(kind.new, torch.ones(2)):find('must be a table', 1, true))
    end)
  end)
end

-- A list of modules and one of parameters are read and written by positions alike.
local lists = {
  ModuleList = { new = nn.ModuleList, entry = function(n) return nn.Linear(n, 1) end, size = function(entry) return entry.in_features end },
  ParameterList = { new = nn.ParameterList, entry = function(n) return nn.Parameter(torch.ones(n)) end, size = function(entry) return #entry end },
}
for name, kind in pairs(lists) do
  it(name .. ' gives and replaces entries by positions, from either end', function()
    local entry, size = kind.entry, kind.size
    local list = kind.new { entry(1), entry(2) }
    list:append(entry(3)):extend { entry(4), entry(5) }
    assert.same({ 5, 1, 5, 5, 1 }, { #list, size(list[1]), size(list[5]), size(list[-1]), size(list[-5]) })
    list[2], list[-2] = entry(20), entry(40)
    local sizes = {}
    for i, value in pairs(list) do sizes[i] = size(value) end
    assert.same({ 1, 20, 3, 40, 5 }, sizes)
    for position, words in pairs { [0] = 'positions count from 1', [6] = 'index 6 is out of range', [-6] = 'index -6 is out of range' } do
      assert.truthy(failure(function() return list[position] end):find(words, 1, true))
      assert.truthy(failure(function() list[position] = entry(1) end):find(words, 1, true))
    end
    assert.equal(5, #list)
  end)
end

describe('Sequential', function()
  it('takes layers in a row or in a table, with names where they are given', function()
    assert.equal(tostring(nn.Sequential(nn.Linear(2, 3), nn.ReLU())), tostring(nn.Sequential { nn.Linear(2, 3), nn.ReLU() }))
    assert.same({ '0', 'act', '2' }, names(nn.Sequential { nn.Linear(2, 3), { 'act', nn.ReLU() }, nn.Tanh() }))
    assert.same({ 'a', 'b' }, names(nn.Sequential { { 'a', nn.ReLU() }, { 'b', nn.Tanh() } }))
    assert.same({ 'a', 'b' }, names(nn.Sequential({ 'a', nn.ReLU() }, { 'b', nn.Tanh() })))
    assert.same({}, names(nn.Sequential {}))
  end)

  it('makes a Sequential of a list of layers in it', function()
    local net = nn.Sequential { { nn.Linear(2, 3), nn.ReLU() }, nn.Linear(3, 1) }
    assert.equal('Sequential', torch.type(net[1]))
    assert.same({ 4, 1 }, { table.unpack(net(torch.ones(4, 2)).shape) })
  end)

  it('Sequential rejects a table with names and entries that are not modules', function()
    assert.truthy(failure(nn.Sequential, { act = nn.ReLU() }):find("{{'act', layer}, ...}", 1, true))
    assert.truthy(failure(nn.Sequential, { nn.ReLU(), act = nn.ReLU() }):find("{{'act', layer}, ...}", 1, true))
    assert.truthy(failure(nn.Sequential, 1):find 'must be a Module, not a number')
    assert.truthy(failure(nn.Sequential, { nn.ReLU(), 'tanh' }):find "must be a Module, not 'tanh'")
  end)
end)

describe('ModuleList and ParameterList', function()
  it('take their entries in a row or in a table', function()
    local layers = nn.ModuleList(nn.ReLU(), nn.Tanh())
    assert.equal(2, #layers)
    assert.equal(2, #nn.ModuleList(layers))
    assert.equal(2, #nn.ModuleList(nn.Sequential { nn.ReLU(), nn.Tanh() }))
    assert.equal(1, #nn.ModuleList(nn.ReLU()))
    assert.equal(0, #nn.ModuleList())
    assert.equal(2, #nn.ParameterList(torch.ones(2), torch.ones(1)))
    assert.equal(2, #nn.ParameterList(nn.ParameterList { torch.ones(2), torch.ones(1) }))
  end)
end)

describe('ipairs', function()
  it('ends behind the last entry, where a read is an error', function()
    local layers = { nn.ReLU(), nn.Tanh(), nn.ReLU() }
    for _, list in ipairs { nn.Sequential(layers), nn.ModuleList(layers), torch.ones(3, 2), torch.arange(3),
      nn.ParameterList { torch.ones(1), torch.ones(1), torch.ones(1) } } do
      assert.equal(3, count(ipairs, list))
      assert.equal(3, count(pairs, list))
      assert.truthy(failure(function() return list[4] end):find 'out of ')
      assert.truthy(failure(function() for i in ipairs { 1 } do local _ = list[i + 3] end end):find 'out of ')
    end
    assert.equal(0, count(ipairs, torch.zeros(0, 3)))
    assert.equal(0, count(ipairs, nn.Sequential()))
    assert.truthy(failure(count, ipairs, torch.tensor(1)):find 'too many indices')
  end)
end)

describe('parameters', function()
  local function net() return nn.Sequential { nn.Linear(2, 2), nn.Linear(2, 1) } end
  local function params(given) return #optim.SGD(given, { lr = 0.1 }).param_groups[1].params end

  it('parameters come from a module, a list of modules and tensors, or an iterator', function()
    local one = net()
    assert.equal(4, params(one))
    assert.equal(4, params(one:parameters()))
    assert.equal(4, params(one:named_parameters()))
    assert.equal(7, params { one, { nn.Linear(1, 1), { torch.ones(1, { requires_grad = true }) } } })
    assert.equal(2, params(nn.ParameterList(torch.ones(2), torch.ones(1))))
    local groups = optim.SGD({ { params = one }, { params = { net() }, lr = 0.2 } }, { lr = 0.1 }).param_groups
    assert.same({ 4, 4 }, { #groups[1].params, #groups[2].params })
  end)

  it('shared parameters occur once; duplicates in a list and values that are not tensors are errors', function()
    local shared = nn.Linear(2, 2)
    assert.equal(2, params { nn.Sequential { shared }, nn.Sequential { shared } })
    assert.truthy(failure(params, { shared.weight, shared.weight }):find 'duplicate parameters')
    assert.truthy(failure(params, { shared, 'x' }):find 'parameter 3 is a string')
    assert.truthy(failure(params, nn.ReLU()):find 'empty parameter list')
    local cycle = {}
    cycle[1] = cycle
    assert.truthy(failure(params, cycle):find 'contains itself')
  end)

  it('are clipped the same way however they are given', function()
    local one = net()
    one(torch.ones(1, 2)):sum():backward()
    local norm = nn.utils.clip_grad_norm_(one:parameters(), 1e9):item()
    assert.equal(norm, nn.utils.clip_grad_norm_({ { one[1] }, one[2] }, 0.5):item())
    assert.near(0.5, nn.utils.clip_grad_norm_(one, 1e9):item(), 1e-5)
    nn.utils.clip_grad_value_(one, 0.01)
    for _, parameter in ipairs(one:parameters()) do assert.is_true(parameter.grad:abs():max():item() <= 0.01) end
    assert.equal(9, #nn.utils.parameters_to_vector(one))
    nn.utils.vector_to_parameters(torch.zeros(9), one)
    assert.equal(0, one[1].weight:abs():sum():item())
    assert.equal('Sequential', torch.type(nn.DataParallel({ nn.Linear(2, 2), nn.ReLU() }, { device_ids = {} }).module))
  end)
end)

describe('lists and dicts of parameters', function()
  it('are printed as by PyTorch', function()
    local one = nn.ParameterList { torch.ones(2) }
    assert.equal('ParameterList(  (0): Parameter containing: [torch.float32 of size 2])', tostring(one))
    assert.equal('ParameterList()', tostring(nn.ParameterList()))
    assert.equal([[
ParameterList(
    (0): Parameter containing: [torch.float32 of size 2]
    (1): Parameter containing: [torch.float64 of size 2x3]
)]], tostring(nn.ParameterList { torch.ones(2), torch.ones(2, 3, { dtype = torch.float64 }) }))
    assert.equal([[
ParameterDict(
    (a): Parameter containing: [torch.FloatTensor of size 2]
    (b): Parameter containing: [torch.FloatTensor of size ]
)]], tostring(nn.ParameterDict { a = torch.ones(2), b = torch.ones({}) }))
    assert.equal([[
Sequential(
  (0): ParameterList(  (0): Parameter containing: [torch.float32 of size 2])
)]], tostring(nn.Sequential(one)))
    if torch.cuda.is_available() then
      assert.equal('ParameterList(  (0): Parameter containing: [torch.float32 of size 2 (cuda:0)])', tostring(nn.ParameterList { torch.ones(2) }:cuda(0)))
      assert.equal('ParameterDict(  (a): Parameter containing: [torch.cuda.FloatTensor of size 2 (cuda:0)])', tostring(nn.ParameterDict { a = torch.ones(2) }:cuda(0)))
    end
  end)
end)

describe('a loader', function()
  local function loader(options)
    return data.DataLoader(data.TensorDataset(torch.arange(6), torch.arange(6) * 10), options or { batch_size = 2 })
  end

  it('a for loop iterates over a loader', function()
    local batches = {}
    for x, y in loader() do batches[#batches + 1] = { x:tolist(), y:tolist() } end
    assert.same({ { { 0, 1 }, { 0, 10 } }, { { 2, 3 }, { 20, 30 } }, { { 4, 5 }, { 40, 50 } } }, batches)
  end)

  it('may be looped over again, inside of itself, and after a loop that was left', function()
    local one, n = loader(), 0
    for _ in one do
      for _ in one do n = n + 1 end
    end
    assert.equal(9, n)
    for _ in one do break end
    for _ in one do n = n + 1 end
    assert.equal(12, n)
  end)

  it('may give batches that are numbers', function()
    local sum = 0
    for size in loader { batch_size = 4, collate_fn = function(batch) return #batch end } do sum = sum + size end
    assert.equal(6, sum)
  end)

  it('forgets a loop that was left', function()
    local one, seen = loader(), setmetatable({}, { __mode = 'k' })
    local iter = one.iter
    function one:iter()
      local next_batch = iter(self)
      seen[next_batch] = true
      return next_batch
    end
    for _ in one do break end
    assert.truthy(next(seen))
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(seen))
    assert.truthy(failure(one, nil, 5):find 'called by a for loop')
  end)
end)

describe('pairs', function()
  it('shows nothing private', function()
    local net = nn.Linear(2, 2)
    local optimizer = optim.Adam(net)
    net(torch.ones(1, 2)):sum():backward()
    optimizer:step()
    for _, object in ipairs { net, optimizer, optim.lr_scheduler.StepLR(optimizer, 2) } do
      for key in pairs(object) do assert.is_nil(key:find '^_', key) end
    end
    local fields = {}
    for key in pairs(optimizer) do fields[#fields + 1] = key end
    table.sort(fields)
    assert.same({ 'defaults', 'param_groups', 'state' }, fields)
  end)
end)

describe('slices', function()
  it('of a Sequential keep the names, of lists they count anew', function()
    local net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    assert.same({ '1', '2' }, names(net['2:3']))
    assert.equal(net[2], net['2:3'][1])
    assert.same({ '0', '1' }, names(net[{ 1, 2 }]))
    local list = nn.ModuleList(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert.same({ '0', '1' }, names(list['2:']))
    assert.equal(list[3], list['2:'][2])
    local parameters = nn.ParameterList(torch.ones(1), torch.ones(2), torch.ones(3))
    assert.equal(parameters[3], parameters['::2'][2])
    assert.equal('ParameterList', torch.type(parameters[{ 2, 3 }]))
  end)

  it('have ends that are clamped or left out, negative positions and steps', function()
    local list = nn.ModuleList()
    for _ = 1, 5 do list:append(nn.Identity()) end
    local function positions(key)
      local found = {}
      for i, module in list[key]:iter() do
        for k = 1, #list do
          if list[k] == module then found[i] = k end
        end
      end
      return table.concat(found, ' ')
    end
    for key, wanted in pairs { [':'] = '1 2 3 4 5', ['2:4'] = '2 3 4', ['-2:'] = '4 5', [':-2'] = '1 2 3 4', ['1:5:2'] = '1 3 5', ['::-1'] = '5 4 3 2 1',
      ['4:9'] = '4 5', ['-9:2'] = '1 2', ['4:2'] = '', ['7:9'] = '' } do
      assert.equal(wanted, positions(key), key)
    end
    assert.equal('1 2 3 4 5', positions {})
    assert.equal('2 4', positions { 2, 5, 2 })
  end)

  it('that are wrong, or assigned to, are refused', function()
    local net = nn.Sequential(nn.ReLU())
    assert.truthy(failure(function() return net['0:1'] end):find('Sequential: index 0: positions count from 1', 1, true))
    assert.truthy(failure(function() return net['a:1'] end):find("the slice 'a:1' is not first:last", 1, true))
    assert.truthy(failure(function() return net['1:2:0'] end):find('slice step cannot be zero', 1, true))
    assert.truthy(failure(function() return net[{ 'a' }] end):find('table of integers', 1, true))
    for _, list in ipairs { net, nn.ModuleList(nn.ReLU()), nn.ParameterList(torch.ones(1)) } do
      assert.truthy(failure(function() list['1:1'] = list[1] end):find('a slice cannot be assigned to', 1, true))
    end
    assert.is_nil(nn.ReLU()['1:2'])
  end)
end)

describe('places of a module', function()
  it('that hold one module are walked once by named_children and children, and printed, saved and run twice', function()
    local shared = nn.Linear(1, 1)
    local net = nn.Sequential(shared, nn.ReLU(), shared)
    assert.same({ '0', '1' }, names(net))
    assert.equal(2, #net:children())
    assert.equal(4, #net:state_dict())
    assert.equal(2, select(2, tostring(net):gsub('Linear', '')))
    net:insert(1, nn.Tanh())
    assert.equal(4, #net)
    assert.equal(shared, net:pop(-1))
    local dict = nn.ModuleDict { a = shared, b = shared }
    assert.same({ 'a', 'b' }, dict:keys())
    assert.equal(2, #dict:values())
  end)

  it('are not taken by another kind of value', function()
    local module = nn.Linear(1, 1)
    module:register_buffer('count', nil)
    module.child, module.plain = nn.ReLU(), 3
    local values = { parameter = nn.Parameter(torch.ones(1)), buffer = torch.ones(1), module = nn.ReLU() }
    local methods = { parameter = 'register_parameter', buffer = 'register_buffer', module = 'add_module' }
    for kind, name in pairs { parameter = 'weight', buffer = 'count', module = 'child', none = 'plain', method = 'forward' } do
      for wanted, method in pairs(methods) do
        if kind ~= wanted then
          assert.truthy(failure(module[method], module, name, values[wanted]):find(("attribute '%s' already exists"):format(name), 1, true))
        end
      end
    end
    for name, message in pairs { weight = "parameter 'weight' (nn.Parameter or nil expected)", child = "child module 'child' (nn.Module or nil expected)",
      count = "buffer 'count' (Tensor or nil expected)" } do
      assert.truthy(failure(function() module[name] = 'text' end):find("cannot assign 'string' as " .. message, 1, true))
    end
    module.child = nil
    module.child = 'free again'
    module.weight = nn.Tanh()
    assert.same({ 'weight' }, names(module))
    assert.equal(1, #module:parameters())
  end)

  it('cost the same however many there are', function()
    local function instructions(n)
      local count = 0
      local list = nn.ModuleList()
      debug.sethook(function() count = count + 1 end, '', 100)
      for _ = 1, n do list:append(nn.Identity()) end
      list:insert(1, nn.Identity())
      debug.sethook()
      return count / n
    end
    assert.is_true(instructions(2000) < 2 * instructions(200))
  end)
end)
