-- Memory formats: where elements lie in what clone, contiguous and to make, and in modules. Strides are PyTorch's.

local torch = require 'torch'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local last, last_3d, in_order = torch.channels_last, torch.channels_last_3d, torch.contiguous_format

local function strides(t) return t:stride() end

describe('a memory format', function()
  local x = torch.arange(120):reshape(2, 3, 4, 5):to(device)

  it('is that of a copy', function()
    local y = x:clone { memory_format = last }
    assert.same({ 60, 1, 15, 3 }, strides(y))
    assert.is_true(torch.equal(x, y))
    assert.same({ 60, 20, 5, 1 }, strides(y:clone { memory_format = in_order }))
    assert.same({ 60, 1, 15, 3 }, strides(y:clone { memory_format = torch.preserve_format }))
    local deep = torch.zeros(2, 3, 4, 5, 6, { device = device }):clone { memory_format = last_3d }
    assert.same({ 360, 1, 90, 18, 3 }, strides(deep))
  end)

  it('is_contiguous accepts a memory format', function()
    local y = x:contiguous { memory_format = last }
    assert.same({ true, false, false, true, false },
      { x:is_contiguous(), x:is_contiguous { memory_format = last }, y:is_contiguous(), y:is_contiguous(last), x:is_contiguous(last_3d) })
    local thin = torch.zeros(2, 1, 4, 5, { device = device })
    assert.is_true(thin:is_contiguous { memory_format = last } and thin:is_contiguous())
  end)

  it('of a tensor that has it already leaves it as it is', function()
    local y = x:to { memory_format = last }
    assert.equal(y:data_ptr(), y:contiguous { memory_format = last }:data_ptr())
    local narrow = torch.zeros(2, 3, 1, 1, { device = device })
    assert.same({ 3, 1, 1, 1 }, strides(narrow:contiguous { memory_format = last }))
  end)

  it('goes with a dtype', function()
    local y = x:to { memory_format = last, dtype = torch.float64 }
    assert.same({ 60, 1, 15, 3 }, strides(y))
    assert.equal(torch.float64, y.dtype)
  end)

  it('has a gradient', function()
    local leaf = torch.ones(2, 3, 4, 5, { device = device, requires_grad = true })
    local y = leaf:to { memory_format = last }
    y:mul(y):sum():backward()
    assert.is_true(torch.equal(leaf.grad, torch.full({ 2, 3, 4, 5 }, 2.0, { device = device })))
  end)

  it('is given to the weights of a module that are images', function()
    local net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Linear(3, 3)):to { memory_format = last, device = device }
    assert.same({ 27, 1, 9, 3 }, strides(net[1].weight))
    assert.same({ 3, 1 }, strides(net[2].weight))
    assert.has_error(function() net:to { memory_format = 'channels_first' } end)
  end)

  it('that is none, or of other tensors, is an error', function()
    local flat = torch.zeros(2, 3, { device = device })
    assert.error_matches(function() flat:contiguous { memory_format = last } end, 'required rank 4 tensor to use channels_last format')
    assert.error_matches(function() flat:clone { memory_format = last_3d } end, 'required rank 5 tensor to use channels_last_3d format')
    assert.error_matches(function() flat:contiguous { memory_format = 'nhwc' } end, "memory_format must be .*, got 'nhwc'")
  end)
end)
