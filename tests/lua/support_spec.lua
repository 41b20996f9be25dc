-- The helpers of the specs notice what they should: a comparison that never fails tests nothing.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local process = dofile(here .. 'support/process.lua')

local function refuses(what, got, want, exact)
  local ok, message = pcall(reference.compare, got, want, 'it', exact)
  assert.is_false(ok)
  assert.truthy(message:find(what, 1, true), message)
end

describe('reference.compare', function()
  local want = {dtype = 'float32', shape = {2}, data = {1.0, 0/0}}

  it('accepts what is equal, nan included', function()
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

  it('tells infinities from large numbers', function()
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

describe('process.run #cpu', function()
  it('gives output, errors and status apart', function()
    local output, message, status = process.run 'echo out; echo err >&2; exit 3'
    assert.same({'out\n', 'err\n', 3}, {output, message, status})
  end)
end)
