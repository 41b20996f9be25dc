-- ordered_dict_spec.lua - tables that keep the order of their names: state_dict() and tables from torch.load stay
-- consistent whatever is added, removed or renamed.

local torch = require 'torch'
local nn = torch.nn
local ordered_dict = require 'torch.support.ordered_dict'

local function new(text)
  local dict = ordered_dict.new()
  for name in text:gmatch '%S+' do dict[name] = name:upper() end
  return dict
end

-- The names in order, seen by every way to walk, which must agree.
local function names(dict)
  local by_pairs, by_ipairs, by_position, raw = {}, {}, {}, 0
  for name, value in pairs(dict) do
    by_pairs[#by_pairs + 1] = name
    assert.equal(value, dict[name])
  end
  for i, name in ipairs(dict) do by_ipairs[i] = name end
  for i = #dict, 1, -1 do by_position[i] = dict[i] end
  for _ in next, dict do raw = raw + 1 end
  local text = table.concat(by_pairs, ' ')
  assert.equal(text, table.concat(by_ipairs, ' '))
  assert.equal(text, table.concat(by_position, ' '))
  assert.equal(text, table.concat(ordered_dict.names(dict), ' '))
  assert.equal(raw, #dict)
  assert.is_nil(dict[#dict + 1])
  return text
end

describe('an OrderedDict #cpu', function()
  it('has an added name at its end and keeps the place of a changed value', function()
    local dict = new 'b a'
    dict.c, dict.b = 1, 2
    assert.equal('b a c', names(dict))
    assert.equal(2, dict.b)
  end)

  it('no longer has a removed name, and has it at its end when it is added again', function()
    local dict = new 'a b c'
    dict.a = nil
    assert.equal('b c', names(dict))
    dict.a, dict.b = 1, nil
    assert.equal('c a', names(dict))
    dict.c, dict.a, dict.missing = nil, nil, nil
    assert.equal('', names(dict))
  end)

  it('a walk sees the entries that existed when it began, while the body renames keys', function()
    for _, walk in ipairs { 'pairs', 'ipairs' } do
      local dict, visits = new 'm.a m.b x m.c', 0
      local function rename(name)
        visits = visits + 1
        local new_name = name:gsub('^m%.', '')
        dict[new_name], dict[name] = dict[name], new_name == name and dict[name] or nil
      end
      if walk == 'pairs' then
        for name in pairs(dict) do rename(name) end
      else
        for _, name in ipairs(dict) do rename(name) end
      end
      assert.equal(4, visits)
      assert.equal('x a b c', names(dict))
      assert.equal('M.C', dict.c)
    end
  end)

  it('can be emptied while it is walked', function()
    local dict = new 'a b c'
    for name in pairs(dict) do dict[name] = nil end
    assert.equal('', names(dict))
    dict = new 'a b c'
    for _, name in ipairs(dict) do dict[name] = nil end
    assert.equal('', names(dict))
  end)

  it('reads positions after a removal as the list that is left', function()
    local dict = new 'a b c d'
    assert.equal('c', dict[3])
    dict.a = nil
    assert.equal('d', dict[3])
    assert.is_nil(dict[4])
    assert.is_nil(dict[0])
    assert.is_nil(dict[-1])
  end)

  it('has names that rawset has put into it, sorted, at its end', function()
    local dict = new 'z'
    rawset(dict, 'b', 1)
    rawset(dict, 'a', 2)
    assert.equal('z a b', names(dict))
    rawset(dict, 'z', nil)
    assert.equal('a b', names(dict))
    assert.equal('b c', names(setmetatable({ c = 1, b = 2 }, getmetatable(dict))))
  end)

  it('refuses to be changed by position, as table.insert and table.remove do', function()
    local dict = new 'a b'
    local message = "has strings as keys, not 1.*dict%['name'%] = nil removes one"
    assert.error_matches(function() dict[1] = 'c' end, message)
    assert.error_matches(function() table.remove(dict, 1) end, message)
    assert.error_matches(function() table.insert(dict, 'c') end, 'not 3')
    assert.error_matches(function() table.sort(dict, function(a, b) return a > b end) end, 'strings as keys')
    assert.equal('a b', names(dict))
    assert.equal('a, b', table.concat(dict, ', '))
  end)

  it('agrees with a list of pairs after 2,000 random changes', function()
    local seed = os.time()
    local draw = 0
    local function random(n)
      draw = (draw * 1103515245 + 12345 + seed) % 0x80000000
      return draw // 65536 % n + 1
    end
    local dict, wanted = ordered_dict.new(), {}
    for step = 1, 2000 do
      local name = 'n' .. random(40)
      local at
      for i, known in ipairs(wanted) do
        if known == name then at = i end
      end
      if random(3) == 1 then
        dict[name] = nil
        if at then table.remove(wanted, at) end
      else
        dict[name] = step
        if not at then wanted[#wanted + 1] = name end
      end
      if step % 50 == 0 then assert.equal(table.concat(wanted, ' '), names(dict), 'seed ' .. seed) end
    end
  end)

  it('does not keep the names that come and go', function()
    local dict = new 'a'
    collectgarbage()
    local before = collectgarbage 'count'
    for i = 1, 20000 do
      dict['name' .. i] = 1
      dict['name' .. i] = nil
    end
    collectgarbage()
    assert.is_true(collectgarbage 'count' - before < 100)
    assert.equal('a', names(dict))
  end)

  it('prints as in Python without tensors', function()
    local dict = ordered_dict.new { { 'a', 1 }, { 'b', true }, { 'c', 1.0 }, { 'd', 'x' } }
    assert.equal("OrderedDict([('a', 1), ('b', True), ('c', 1.0), ('d', 'x')])", tostring(dict))
    assert.equal('OrderedDict()', tostring(ordered_dict.new()))
  end)

  it('with tensors prints as a table of names and sizes', function()
    local net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    assert.equal(table.concat({
      'OrderedDict with 7 entries:',
      '  0.weight               [2, 3]  torch.float32',
      '  0.bias                 [2]     torch.float32',
      '  1.weight               [2]     torch.float32',
      '  1.bias                 [2]     torch.float32',
      '  1.running_mean         [2]     torch.float32',
      '  1.running_var          [2]     torch.float32',
      '  1.num_batches_tracked  []      torch.int64',
    }, '\n'), tostring(net:state_dict()))
    local layer = ordered_dict.new { { 'encoder.layers.0.self_attn.in_proj_weight', torch.ones(24, 8) }, { 'bias', torch.ones(2) } }
    local linewidth = torch.get_printoptions().linewidth
    torch.set_printoptions { linewidth = 60 }
    assert.equal('OrderedDict with 2 entries:\n  encoder.layers.0.self_attn.in_proj_weight\n        [24, 8]  torch.float32\n  bias  [2]      torch.float32',
      tostring(layer))
    torch.set_printoptions { linewidth = linewidth }
    local checkpoint = ordered_dict.new { { 'epoch', 3 }, { 'model', nn.Linear(1, 1):state_dict() }, { 'name', 'x' } }
    assert.equal("OrderedDict with 3 entries:\n  epoch  3\n  model  OrderedDict with 2 entries:\n  name   'x'", tostring(checkpoint))
  end)

  it('is saved and loaded as it was changed, in every format', function()
    for _, suffix in ipairs { '.pt', '.safetensors', '.npz' } do
      local dict = nn.Linear(2, 1):state_dict()
      dict.extra, dict.weight = torch.ones(1), nil
      local path = os.tmpname() .. suffix
      torch.save(dict, path)
      local loaded = torch.load(path)
      os.remove(path)
      assert.equal('bias extra', names(loaded))
      loaded.bias, loaded.renamed = nil, loaded.bias
      assert.equal('extra renamed', names(loaded))
    end
  end)

  it('of a module with renamed keys is loaded strictly', function()
    local inner = nn.Linear(2, 1)
    local dict = nn.Sequential(inner):state_dict()
    for name, tensor in pairs(dict) do
      dict[name:gsub('^0%.', '')], dict[name] = tensor, nil
    end
    assert.same({}, (inner:load_state_dict(dict)))
    dict.extra = torch.ones(1)
    assert.error_matches(function() inner:load_state_dict(dict) end, 'Unexpected key%(s%) in state_dict: "extra"')
    dict.extra, dict.bias = nil, nil
    assert.error_matches(function() inner:load_state_dict(dict) end, 'Missing key%(s%) in state_dict: "bias"')
  end)

  it('keeps its order in inputs that are scattered and outputs that are gathered', function()
    local dict = ordered_dict.new { { 'z', torch.ones(2) }, { 'a', torch.zeros(2) } }
    local parts = nn.parallel.scatter(dict, { 'cpu', 'cpu' })
    assert.equal('z a', names(parts[2]))
    assert.equal('z a', names(nn.parallel.gather(parts, 'cpu')))
  end)
end)
