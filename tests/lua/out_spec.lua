-- out_spec.lua - out=: what it does by PyTorch's rules, for ops whose kernels write it and for those whose results are copied to it; which ops
-- take it stands in src/ops and lib/ops. Values with a strided, an empty and an aliased out= are reference_spec's, of every op that takes one.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local process = require 'support.process'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function tensor(values, dtype) return torch.tensor(values, { dtype = dtype, device = device }) end
local function empty(dtype) return torch.empty(0, { dtype = dtype, device = device }) end

local x, y = tensor { 3.0, 1.0, 2.0 }, tensor { 1.0, 1.0, 1.0 }

-- An op of each kind: elementwise, with a kernel that makes its memory, composite, in Lua, of torch.fft, of torch.linalg.
local kinds = {
  add = function(out) return torch.add(x, y, { out = out }) end,
  softmax = function(out) return torch.softmax(x, 1, { out = out }) end,
  hstack = function(out) return torch.hstack({ x, y }, { out = out }) end,
  diff = function(out) return torch.diff(x, { n = 1, out = out }) end,
  ['fft.irfft'] = function(out) return torch.fft.irfft(x, { n = 4, out = out }) end,
  ['linalg.norm'] = function(out) return torch.linalg.norm(x, { ord = 2, out = out }) end,
}

describe('out=', function()
  for name, call in pairs(kinds) do
    local want = call()

    it('is the result of ' .. name .. ', resized where it is empty', function()
      local out = empty()
      assert.is_true(rawequal(out, call(out)))
      assert.same(want:tolist(), out:tolist())
      assert.same({ table.unpack(want.shape) }, { table.unpack(out.shape) })
      assert.is_true(out._version > 0)
    end)

    it('has another dtype, of a kind that can hold the result: ' .. name, function()
      assert.same(want:tolist(), call(empty(torch.float64)):tolist())
      fails_with("result type Float can't be cast to the desired output type Long", call, empty(torch.int64))
    end)

    it('is refused on another device, with a gradient and where its elements share memory: ' .. name, function()
      if device ~= 'cpu' then fails_with('Expected out tensor to have device', call, torch.empty(0)) end
      local wanted = torch.zeros_like(want):requires_grad_()
      fails_with("don't support automatic differentiation", call, wanted)
      assert.truthy(rawequal(wanted, torch.no_grad(call, wanted)))
      if want.ndim == 0 then return end
      local shared = torch.zeros(1, { device = device }):expand(want:size(1))
      fails_with('more than one element of the written-to tensor', call, shared)
    end)
  end

  it('refuses arguments that require grad, where the op has a derivative', function()
    local wanted = x:clone():requires_grad_()
    fails_with("softmax(): functions with out=... arguments don't support automatic differentiation", torch.softmax, wanted, 1, { out = empty() })
    assert.same({ 1 }, torch.argmax(wanted, { out = empty(torch.int64), keepdim = true }):tolist())
  end)

  it('is one tensor for each of several results', function()
    local values, indices = empty(), empty(torch.int64)
    local a, b = torch.sort(x, { out = { values, indices } })
    assert.is_true(rawequal(a, values) and rawequal(b, indices))
    assert.same({ { 1, 2, 3 }, { 2, 3, 1 } }, { values:tolist(), indices:tolist() })
    fails_with('sort(): expected 2 tensors in out=, one for each result, but got 1', torch.sort, x, { out = { values } })
    fails_with('frexp(): expected 2 tensors in out=', torch.frexp, x, { out = { values } })
    local memory = torch.zeros(3, { device = device })
    fails_with('refer to a single memory location', torch.frexp, x, { out = { memory, memory } })
    assert.same({ 0, 0, 0 }, memory:tolist())
    local parts = { torch.unbind_copy(torch.eye(2, { device = device }), { out = { empty(), empty() } }) }
    assert.same({ { 1, 0 }, { 0, 1 } }, { parts[1]:tolist(), parts[2]:tolist() })
  end)

  it('out may be an argument if the op copies its results', function()
    local square = torch.arange(4, { dtype = torch.float32, device = device }):reshape(2, 2)
    torch.stack({ square[1], square[2] }, 2, { out = square })
    assert.same({ { 0, 2 }, { 1, 3 } }, square:tolist())
    local line = tensor { 3.0, 1.0, 2.0 }
    torch.cat({ line[{ { 2, 3 } }], line[{ { 1, 1 } }] }, { out = line })
    assert.same({ 1, 2, 3 }, line:tolist())
  end)

  it('gives factories its dtype and device', function()
    local out = empty(torch.int16)
    assert.same({ 1, 1 }, torch.ones(2, { out = out }):tolist())
    assert.equal(torch.int16, out.dtype)
    assert.same({ 0, 1, 2 }, torch.arange(3, { out = empty(torch.float64) }):tolist())
    assert.same({ 2 }, { table.unpack(torch.randn(2, { out = empty() }).shape) })
  end)

  it('warns where it is resized and had elements', function()
    local _, said = process.lua 'torch.cat({ torch.ones(2), torch.ones(1) }, { out = torch.ones(2) })'
    assert.truthy(said:find('An output with one or more elements was resized since it had shape [2], which does not match the required output shape [3]', 1, true))
  end)

  it('has the dtypes of the results where positions are among them', function()
    local x, expected = tensor { 3.0, 1.0, 2.0 }, 'Expected out tensor to have dtype torch%.'
    local function refused(dtype, f, ...)
      local ok, message = pcall(f, ...)
      assert.is_false(ok)
      assert.matches(expected .. dtype .. ', but got torch%.float64 instead', message)
    end
    local wide = empty(torch.float64)
    refused('int64', torch.argmax, x, { out = wide })
    refused('int64', torch.multinomial, x, 2, { out = wide })
    refused('int64', torch.nonzero, x, { out = wide })
    refused('int32', torch.bucketize, x, x, { out_int32 = true, out = wide })
    refused('int64', torch.sort, x, { out = { empty(), wide } })
    refused('float32', torch.topk, x, 2, { out = { wide, empty(torch.int64) } })
    assert.same({ 1, 2 }, torch.sort(torch.randperm(2, { out = wide })):tolist()) -- a factory's is converted
  end)
end)
