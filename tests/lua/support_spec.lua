-- The helpers of the specs notice what they should: a comparison that never fails tests nothing.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local obligations = dofile(here .. 'support/obligations.lua')
local process = dofile(here .. 'support/process.lua')

local function refuses(what, got, want, exact)
  local ok, message = pcall(reference.compare, got, want, 'it', exact)
  assert.is_false(ok)
  assert.truthy(message:find(what, 1, true), message)
end

describe('reference.compare', function()
  local want = {dtype = 'float32', shape = {2}, data = {1.0, 0/0}}

  it('compare accepts equal values, nan included', function()
    reference.compare(torch.tensor {1.0, 0/0}, want, 'it', true)
    reference.compare(torch.tensor {1.000001, 0/0}, want, 'it')
  end)

  it('refuses another dtype, shape or value', function()
    refuses('dtype float64', torch.tensor({1.0, 0/0}, {dtype = torch.float64}), want)
    refuses('shape [1, 2]', torch.tensor({ {1.0, 0/0} }), want)
    refuses('element 1 is 1.1', torch.tensor {1.1, 0/0}, want)
    refuses('element 2 is', torch.tensor {1.0, 2.0}, want)
    refuses('element 1 is', torch.tensor {0/0, 0/0}, want)
    refuses('element 1 is', torch.tensor {1.000001, 0/0}, want, true)
    refuses('expected a tensor', 3, want)
  end)

  it('compare distinguishes infinities from large numbers', function()
    local infinite = {dtype = 'float32', shape = {1}, data = {1/0}}
    reference.compare(torch.tensor {1/0}, infinite, 'it')
    refuses('element 1 is', torch.tensor {3e38}, infinite)
    refuses('element 1 is', torch.tensor {-1/0}, infinite)
  end)
end)

describe('reference.run', function()
  local one = {dtype = 'int64', shape = {1}, data = {1}}
  local two = {dtype = 'int64', shape = {1}, data = {2}}

  it('accepts a right case and names the call of a wrong one', function()
    reference.run({op = 'add', args = {one, 1}, out = {two}}, 1)
    local ok, message = pcall(reference.run, {op = 'add', args = {one, 1}, out = {one}}, 7)
    assert.is_false(ok)
    assert.truthy(message:find('case 7, add(int64[1]{1}, 1)', 1, true), message)
  end)

  it('refuses a call that should fail and does not, or with another message', function()
    assert.is_false(pcall(reference.run, {op = 'add', args = {one, 1}, error = 'no'}, 1))
    local bad = {op = 'add', args = {one, 'x'}, error = 'another message'}
    assert.is_false(pcall(reference.run, bad, 1))
  end)

  it('checks gradients', function()
    local x = {dtype = 'float64', shape = {2}, data = {1, 2}, grad = true}
    local y = {dtype = 'float64', shape = {2}, data = {3, 6}}
    local case = {op = 'mul', args = {x, 3}, out = {y}, grads = {}}
    case.grads[1] = {dtype = 'float64', shape = {2}, data = {-4.5, 1.5}}
    reference.run(case, 1)
    case.grads[1] = {dtype = 'float64', shape = {2}, data = {3, 3}}
    assert.is_false(pcall(reference.run, case, 1))
  end)
end)

-- An op that is right in its numbers and fails what it owes otherwise, called as a row of the reference.
describe('the obligations of each row', function()
  local plain = { dtype = 'float32', shape = { 2 }, data = { 1, 2 } }
  local names = { 'planted', 'planted_' }

  local function plant(name, f)
    rawset(torch, name, f)
    return { op = name, via = 'f', args = { plain }, out = { plain } }
  end
  after_each(function()
    for _, name in ipairs(names) do rawset(torch, name, nil) end
  end)

  local function fails(words, case)
    local ok, message = pcall(reference.run, case, 1)
    assert.is_false(ok)
    assert.truthy(message:find(words, 1, true), message)
  end

  it('is owed by an op that does it', function()
    reference.run(plant('planted', function(t) return t:clone() end), 1)
    reference.run(plant('planted_', function(t) return t:mul_(1) end), 1)
  end)

  it('that its input is not written to', function()
    fails('tensor 1 of the arguments was written to', plant('planted', function(t)
      t:mul_(1)
      return t:clone()
    end))
  end)

  it('that no input changes, even without a version change', function()
    fails('tensor 1 of the arguments has other values', plant('planted', function(t)
      local result = t:clone()
      t.data = torch.zeros_like(t)
      return result
    end))
  end)

  it('that its input keeps its sizes and strides', function()
    fails('tensor 1 of the arguments lies otherwise', plant('planted', function(t)
      local result = t:clone()
      t.data = t:detach():view(2, 1)
      return result
    end))
  end)

  it('that inputs are unchanged after an error, too', function()
    local case = plant('planted', function(t)
      t:mul_(1)
      error 'refused'
    end)
    case.error, case.out = 'refused', nil
    fails('tensor 1 of the arguments was written to', case)
  end)

  it('that its result has memory of its own', function()
    fails('result 1 shares memory with tensor 1', plant('planted', function(t) return t end))
    fails('result 1 shares memory with tensor 1', plant('planted', function(t) return t:view(2) end))
  end)

  it('that a view is one', function()
    local transpose = torch.t
    finally(function() rawset(torch, 't', transpose) end)
    rawset(torch, 't', function(t) return transpose(t):clone() end)
    fails('result 1 is declared a view', { op = 't', via = 'f', args = { plain }, out = { plain } })
  end)

  it('that a write counts one version', function()
    fails('the version went up by 2', plant('planted_', function(t) return t:mul_(2):div_(2) end))
    fails('the version went up by 0', plant('planted_', function(t) return t end))
  end)

  it('that a gradient has memory of its own', function()
    local function leaf()
      local t = torch.ones(2, { device = reference.device, requires_grad = true })
      t.grad = torch.ones(2, { device = reference.device })
      return t
    end
    local function shares(words, ...)
      local ok, message = pcall(obligations.check_gradients, ...)
      assert.is_false(ok)
      assert.truthy(message:find(words, 1, true), message)
    end
    local a, b = leaf(), leaf()
    obligations.check_gradients({ a, b, a }, { torch.ones(2, { device = reference.device }) })
    shares('gradient 2 shares memory with what backward was given', { a, b }, { b.grad })
    b.grad = a.grad:view(2)
    shares('gradients 1 and 2 share memory', { a, b }, {})
    b.grad = a:detach()
    shares('gradient 2 shares memory with leaf 1', { a, b }, {})
  end)

  it('that nothing is held when all is let go', function()
    local before = obligations.bytes_held()
    local kept = torch.ones(1000, { device = reference.device })
    assert.is_true(obligations.bytes_held() >= before + kept:numel() * 4)
    kept = nil
    assert.equal(before, obligations.bytes_held(before))
  end)
end)

describe('process.run #cpu', function()
  it('gives output, errors and status apart', function()
    local output, message, status = process.run 'echo out; echo err >&2; exit 3'
    assert.same({'out\n', 'err\n', 3}, {output, message, status})
  end)
end)

describe('support.sample #cpu', function()
  -- The cases 1 to 50 that a fresh process chooses.
  local function chosen(environment)
    local output, message, status = process.lua([[
      package.path = os.getenv 'LUA_PATH'
      local cases = {}
      for i = 1, 50 do cases[i] = i end
      print(table.concat(require 'support.sample'(cases), ' '))]], '', environment)
    assert.equal(0, status, message)
    local numbers = {}
    for number in output:gmatch '%d+' do numbers[#numbers + 1] = tonumber(number) end
    return numbers
  end

  it('returns all cases without LTENSOR_TEST_SAMPLE', function()
    assert.equal(50, #chosen 'env -u LTENSOR_TEST_SAMPLE')
  end)

  it('returns the percentage of the cases that LTENSOR_TEST_SAMPLE names, in their order, others for another seed', function()
    local first = chosen 'LTENSOR_TEST_SAMPLE=10 LTENSOR_TEST_SAMPLE_SEED=1'
    local second = chosen 'LTENSOR_TEST_SAMPLE=10 LTENSOR_TEST_SAMPLE_SEED=2'
    assert.equal(5, #first)
    for i = 2, #first do assert.is_true(first[i - 1] < first[i]) end
    assert.are_not.same(first, second)
    assert.same(first, chosen 'LTENSOR_TEST_SAMPLE=10 LTENSOR_TEST_SAMPLE_SEED=1')
  end)

  it('returns at least one case', function() assert.equal(1, #chosen 'LTENSOR_TEST_SAMPLE=0.1') end)
end)
