-- torch.from_dlpack, torch.to_dlpack and x:__dlpack__: capsules that libraries in one process pass each other. What other
-- libraries do with them is in tests/interop.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local dlpack = torch.utils.dlpack

local DEVICE = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function numbers(...) return torch.arange(1, 7, { dtype = torch.float32, device = DEVICE }):view(...) end

describe('DLPack', function()
  it('shares memory', function()
    local x = numbers(2, 3)
    local y = torch.from_dlpack(torch.to_dlpack(x))
    assert.equal(x.device, y.device)
    y:mul_(10)
    assert.equal(60, x[2][3]:item())
    local column = torch.from_dlpack(x.T[2])
    column:zero_()
    assert.same({ { 10, 0, 30 }, { 40, 0, 60 } }, x:tolist())
    assert.same(x.T:stride(), torch.from_dlpack(x.T):stride())
    assert.equal(dlpack.from_dlpack(dlpack.to_dlpack(x)):data_ptr(), x:data_ptr())
  end)

  it('DLPack keeps the imported memory alive', function()
    local capsule = torch.to_dlpack(numbers(2, 3))
    collectgarbage()
    collectgarbage()
    assert.equal(21, torch.from_dlpack(capsule):sum():item())
  end)

  it('DLPack supports every dtype', function()
    for _, name in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64' } do
      local x = torch.ones(2, 2, { dtype = torch[name], device = DEVICE })
      local y = torch.from_dlpack(x:__dlpack__())
      assert.equal(torch[name], y.dtype)
      assert.is_true(torch.equal(x, y))
    end
    assert.equal(0, torch.from_dlpack(torch.empty(0, 3, { device = DEVICE })):numel())
    assert.same({}, torch.from_dlpack(torch.tensor(5, { device = DEVICE })):tolist() and {})
    assert.equal(5, torch.from_dlpack(torch.tensor(5, { device = DEVICE })):item())
  end)

  it('gives capsules that are taken once', function()
    local capsule = torch.to_dlpack(numbers(6))
    assert.equal('<capsule object "dltensor">', tostring(capsule))
    assert.is_false(capsule.used)
    torch.from_dlpack(capsule)
    assert.is_true(capsule.used)
    assert.equal('<capsule object "used_dltensor">', tostring(capsule))
    fails_with('from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once', torch.from_dlpack, capsule)
    fails_with('from_dlpack received an invalid capsule', torch.from_dlpack, 3)
    fails_with("from_dlpack() missing 1 required argument: 'ext_tensor'", torch.from_dlpack)
    fails_with('from_dlpack received an invalid capsule', torch.from_dlpack, {})
    fails_with("argument 'tensor' must be a Tensor", torch.to_dlpack, 3)
  end)

  it('a DLPack capsule has the requested version', function()
    local x = numbers(6)
    assert.is_false(x:__dlpack__().versioned)
    assert.is_false(x:__dlpack__({ max_version = { 0, 8 } }).versioned)
    local capsule = x:__dlpack__ { max_version = { 1, 0 } }
    assert.is_true(capsule.versioned)
    assert.equal('<capsule object "dltensor_versioned">', tostring(capsule))
    assert.equal(21, torch.from_dlpack(capsule):sum():item())
  end)

  it('takes objects that have the method', function()
    local x, asked = numbers(6), nil
    local object = {
      __dlpack__ = function(_, options)
        asked = options.max_version
        return x:__dlpack__(options)
      end,
    }
    assert.equal(x:data_ptr(), torch.from_dlpack(object):data_ptr())
    assert.same({ 1, 0 }, asked)
    fails_with('raised', torch.from_dlpack, { __dlpack__ = function() error 'raised' end })
    fails_with('invalid capsule', torch.from_dlpack, { __dlpack__ = function() return nil end })
  end)

  it('DLPack copies if copy is true', function()
    local x = numbers(6)
    torch.from_dlpack(x, { copy = true }):zero_()
    torch.from_dlpack(x:__dlpack__ { copy = true }):zero_()
    assert.equal(21, x:sum():item())
    assert.equal(torch.device 'cpu', torch.from_dlpack(x, { device = 'cpu' }).device)
    fails_with("unexpected keyword argument 'cop'", torch.from_dlpack, x, { cop = true })
    fails_with("argument 'copy' must be true or false", torch.from_dlpack, x, { copy = 1 })
  end)

  it('refuses gradients', function()
    local x = numbers(6):requires_grad_()
    fails_with("Can't export tensors that require gradient, use tensor.detach()", torch.to_dlpack, x)
    fails_with("Can't export tensors that require gradient", torch.from_dlpack, x)
    assert.equal(21, torch.from_dlpack(x:detach()):sum():item())
  end)

  it('names devices by DLPack\'s numbers #cpu', function()
    assert.same({ 1, 0 }, { numbers(6):__dlpack_device__() })
    assert.equal(21, torch.from_dlpack(numbers(6):__dlpack__ { dl_device = { 1, 0 } }):sum():item())
    fails_with('the tensor is on the device {1, 0}, not on {2, 0}', numbers(6).__dlpack__, numbers(6), { dl_device = { 2, 0 } })
  end)

  if DEVICE ~= 'cpu' then
    it('lends memory of a GPU when a stream may have it', function()
      local x = numbers(6)
      local kind, id = x:__dlpack_device__()
      assert.equal(torch.cuda.is_simulated() and 12 or 2, kind)
      assert.equal(x:get_device(), id)
      local stream = torch.cuda.Stream { device = x.device }
      local y = torch.from_dlpack(x:add_(1):__dlpack__ { stream = stream })
      torch.cuda.stream(stream, function() y:mul_(2) end)
      stream:synchronize()
      assert.equal(54, x:sum():item())
      if torch.cuda.device_count() > 1 then
        local other = torch.cuda.Stream { device = (x:get_device() + 1) % torch.cuda.device_count() }
        fails_with('the stream and the tensor are on different devices', x.__dlpack__, x, { stream = other })
      end
      fails_with("argument 'stream' must be a torch.cuda.Stream", x.__dlpack__, x, { stream = 77 })
      if not torch.cuda.is_simulated() then return end
      assert.equal(54, torch.from_dlpack(x, { device = 'cpu' }):sum():item())
      fails_with('without a copy', torch.from_dlpack, x, { device = 'cpu', copy = false })
    end)
  end
end)
