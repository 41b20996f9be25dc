-- torch.finfo and torch.iinfo: the limits of dtypes, as PyTorch shows them; and memory seen as another dtype.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

describe('the limits of', function()
  it('floating dtypes', function()
    assert.equal('finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38, '
      .. 'tiny=1.17549e-38, dtype=float32)', tostring(torch.finfo(torch.float32)))
    assert.equal('finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, '
      .. 'tiny=6.10352e-05, dtype=float16)', tostring(torch.finfo(torch.float16)))
    assert.equal('finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, smallest_normal=1.17549e-38, '
      .. 'tiny=1.17549e-38, dtype=bfloat16)', tostring(torch.finfo(torch.bfloat16)))
    local double = torch.finfo 'float64'
    assert.equal(1.7976931348623157e308, double.max)
    assert.equal(2.2250738585072014e-308, double.tiny)
    assert.equal(2.0 ^ -52, double.eps)
    assert.equal(64, double.bits)
    assert.equal(torch.float32, torch.finfo().dtype)
    for _, dtype in ipairs { torch.float16, torch.bfloat16, torch.float32, torch.float64 } do
      local max = torch.full({ 1 }, torch.finfo(dtype).max, { dtype = dtype, device = device })
      assert.is_true(torch.isfinite(max):item())
      assert.equal(math.huge, (max * 2):item())
      local one = torch.ones(1, { dtype = dtype, device = device })
      assert.is_true((one + torch.finfo(dtype).eps):gt(one):item())
    end
  end)

  it('integer dtypes', function()
    assert.equal('iinfo(min=0, max=255, dtype=uint8)', tostring(torch.iinfo(torch.uint8)))
    assert.equal(-128, torch.iinfo(torch.int8).min)
    assert.equal(2147483647, torch.iinfo(torch.int32).max)
    assert.equal(math.mininteger, torch.iinfo(torch.int64).min)
    assert.equal(math.maxinteger, torch.iinfo(torch.int64).max)
    assert.equal(torch.iinfo(torch.int16), torch.iinfo 'int16')
  end)

  it('others are refused', function()
    fails_with("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.int32'", torch.finfo, torch.int32)
    fails_with("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.float32'", torch.iinfo, torch.float32)
    fails_with('torch.bool is not supported by torch.iinfo', torch.iinfo, torch.bool)
    fails_with("finfo(): argument 'type' must be a dtype, not a number", torch.finfo, 3)
    fails_with("'iinfo' object has no attribute 'eps'", function() return torch.iinfo(torch.int8).eps end)
    fails_with("attribute 'max' of 'finfo' objects is not writable", function() torch.finfo().max = 1 end)
  end)
end)

describe('memory seen as another dtype', function()
  it('is shared, and its writes are seen', function()
    local x = torch.zeros(3, { device = device })
    x:view(torch.int32):fill_(0x40490fdb)
    assert.same({ 'float32', 3 }, { tostring(x.dtype):sub(7), x:numel() })
    assert(math.abs(x[1]:item() - math.pi) < 1e-6)
    assert.same({ 0xdb, 0x0f, 0x49, 0x40 }, x[{ { 1, 1 } }]:view(torch.uint8):tolist())
  end)

  it('has no gradient, and is noticed by a graph that saved it', function()
    local x = torch.ones(2, { device = device, requires_grad = true })
    assert.is_false(x:view(torch.float64).requires_grad)
    local y = x * 1
    local z = y * y
    y:view(torch.int32):zero_()
    fails_with('modified by an inplace operation', function() z:sum():backward() end)
  end)

  it('cannot be written together with itself', function()
    local x = torch.ones(4, { device = device })
    fails_with('some elements of the input tensor and the written-to tensor refer to a single memory location', function()
      x[{ { 1, 2 } }]:copy_(x:view(torch.float64))
    end)
  end)

  it('needs a dtype', function()
    fails_with('received an invalid combination of arguments', function() torch.ones(2, { device = device }):view(nil) end)
  end)

  it('is of bools only where it was', function()
    local flags = torch.tensor({ true, false }, { device = device })
    fails_with('bools cannot be viewed as another dtype', function() flags:view(torch.uint8) end)
    fails_with('elements cannot be viewed as bools', function() torch.ones(2, { device = device }):view(torch.bool) end)
  end)
end)
