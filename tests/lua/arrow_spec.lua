-- torch.to_arrow, torch.from_arrow and x:__arrow_c_array__: columns that libraries in one process pass each other. What is
-- in them is tested in tests/core/arrow_import_test.c and arrow_export_test.c, what other libraries do with them in tests/interop.

local torch = require 'torch'
local fails_with = require 'support.fails_with'

local DEVICE = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

describe('Arrow', function()
  it('shares memory, for reading', function()
    local x = torch.arange(1, 7)
    local y = torch.from_arrow(torch.to_arrow(x))
    assert.equal(x:data_ptr(), y:data_ptr())
    x[1] = 100
    assert.same({ 100, 2, 3, 4, 5, 6 }, y:tolist())
    fails_with('has read-only memory', y.add_, y, 1)
    assert.same({ 101, 3, 4, 5, 6, 7 }, y:clone():add_(1):tolist())
  end)

  it('takes tensors, and objects that have the method', function()
    local x = torch.tensor { 1.5, 2.5 }
    assert.same({ 1.5, 2.5 }, torch.from_arrow(x):tolist())
    local object = { __arrow_c_array__ = function() return x:__arrow_c_array__() end }
    assert.equal(x:data_ptr(), torch.from_arrow(object):data_ptr())
    fails_with('raised', torch.from_arrow, { __arrow_c_array__ = function() error 'raised' end })
    fails_with('a capsule of Arrow is expected, not a nil', torch.from_arrow, { __arrow_c_array__ = function() end })
    fails_with('a capsule of Arrow is expected, not a dltensor', torch.from_arrow, torch.to_dlpack(x))
    fails_with('a capsule of Arrow is expected, not a number', torch.from_arrow, 3)
    fails_with("missing 1 required argument: 'tensor'", torch.to_arrow, {})
  end)

  it('an imported Arrow array lives as long as its tensor', function()
    local capsule = torch.to_arrow(torch.arange(1, 7))
    collectgarbage()
    collectgarbage()
    assert.equal(21, torch.from_arrow(capsule):sum():item())
  end)

  it('gives capsules that are taken once', function()
    local capsule = torch.to_arrow(torch.arange(3))
    assert.equal('<capsule object "arrow_array">', tostring(capsule))
    assert.is_false(capsule.used)
    torch.from_arrow(capsule)
    assert.is_true(capsule.used)
    assert.equal('<capsule object "used_arrow_array">', tostring(capsule))
    fails_with('the capsule of Arrow was used before', torch.from_arrow, capsule)
  end)

  it('Arrow supports every dtype except bfloat16', function()
    for _, name in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64' } do
      local x = torch.tensor({ 1, 0, 1 }, { dtype = torch[name] })
      local y = torch.from_arrow(x)
      assert.equal(torch[name], y.dtype)
      assert.is_true(torch.equal(x, y))
    end
    fails_with('Arrow has no format for bfloat16', torch.to_arrow, torch.ones(2, { dtype = torch.bfloat16 }))
  end)

  it('copies bools and strided tensors', function()
    local x = torch.arange(6):view(2, 3)
    local column = torch.from_arrow(x.T[2])
    assert.same({ 1, 4 }, column:tolist())
    x:zero_()
    assert.same({ 1, 4 }, column:tolist())
    assert.same({ false, true, true }, torch.from_arrow(torch.tensor { false, true, true }):logical_or_(torch.tensor(false)):tolist())
    assert.same({}, torch.from_arrow(torch.empty(0)):tolist())
  end)

  it('an Arrow object that is not a column is an error', function()
    fails_with('a column has 1 dimension, but the tensor has 2', torch.to_arrow, torch.ones(2, 3))
    fails_with('a column has 1 dimension, but the tensor has 0', torch.to_arrow, torch.tensor(1))
    local weight = torch.ones(3, { requires_grad = true })
    fails_with("Can't export tensors that require gradient, use tensor.detach()", torch.to_arrow, weight)
    assert.equal(3, torch.from_arrow(weight:detach()):sum():item())
  end)

  if DEVICE ~= 'cpu' then
    it('refuses memory of a GPU', function()
      local x = torch.ones(3, { device = DEVICE })
      fails_with('expected a tensor on the CPU, but got one on ' .. tostring(x.device), torch.to_arrow, x)
      assert.equal(3, torch.from_arrow(x:cpu()):sum():item())
    end)
  end
end)
