-- grid_sample's kernels: where they work in blocks and on threads, on what lies anyhow, and where a formula does their work.
-- Values are compared with PyTorch's in tests/reference/sampling.lua, derivatives with differences in gradcheck_spec.

local torch = require 'torch'
local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function rand(...) return torch.rand({ ... }, { device = device }) end

-- Bilinear, zeros outside, corners not aligned: one point after the other.
local function looked_up(image, x, y)
  local rows, columns = #image, #image[1]
  x, y = ((x + 1) * columns - 1) / 2, ((y + 1) * rows - 1) / 2
  local left, up, sum = math.floor(x), math.floor(y), 0
  for row = up, up + 1 do
    for column = left, left + 1 do
      local value = image[row + 1] and image[row + 1][column + 1] or 0
      sum = sum + value * (1 - math.abs(x - column)) * (1 - math.abs(y - row))
    end
  end
  return sum
end

describe('grid_sample', function()
  it('looks up every point, of any number of them', function()
    torch.manual_seed(1)
    for _, n in ipairs { 1, 127, 128, 129, 4097 } do
      local image, grid = rand(1, 1, 5, 7), rand(1, n, 1, 2) * 2.4 - 1.2
      local result, points, rows = F.grid_sample(image, grid):flatten():tolist(), grid:reshape(n, 2):tolist(), image[1][1]:tolist()
      for i, value in ipairs(result) do assert.near(looked_up(rows, points[i][1], points[i][2]), value, 1e-5) end
    end
  end)

  it('grid_sample accepts images and grids of any strides', function()
    torch.manual_seed(2)
    local image, grid = rand(2, 3, 6, 5), rand(2, 4, 9, 2) * 2 - 1
    for _, mode in ipairs { 'bilinear', 'nearest', 'bicubic' } do
      local expected = F.grid_sample(image, grid, mode)
      local turned = image:permute(1, 4, 3, 2):contiguous():permute(1, 4, 3, 2)
      assert.is_true(torch.equal(expected, F.grid_sample(turned, grid, mode)))
      assert.is_true(torch.equal(expected, F.grid_sample(image:to { memory_format = torch.channels_last }, grid, mode)))
      assert.is_true(torch.equal(expected, F.grid_sample(image, grid:permute(4, 2, 3, 1):contiguous():permute(4, 2, 3, 1), mode)))
      local one = image[1][1]:expand(2, 3, 6, 5)
      assert.is_true(torch.equal(F.grid_sample(one:contiguous(), grid, mode), F.grid_sample(one, grid, mode)))
    end
  end)

  it('has the same derivatives by kernels and by the formula that is differentiated again', function()
    torch.manual_seed(3)
    for _, shapes in ipairs { { { 2, 3, 6, 5 }, { 2, 20, 10, 2 } }, { { 2, 3, 3, 4, 5 }, { 2, 3, 10, 5, 3 } } } do
      local image = torch.rand(shapes[1], { dtype = torch.float64, device = device }):requires_grad_()
      local grid = (torch.rand(shapes[2], { dtype = torch.float64, device = device }) * 3 - 1.5):requires_grad_()
      for _, mode in ipairs { 'bilinear', 'nearest' } do
        for _, padding in ipairs { 'zeros', 'border', 'reflection' } do
          local y = F.grid_sample(image, grid, mode, padding)
          local grad = torch.rand_like(y)
          local by_image, by_grid = torch.autograd.grad(y, { image, grid }, grad, { retain_graph = true })
          local again_image, again_grid = torch.autograd.grad(y, { image, grid }, grad, { create_graph = true })
          assert.is_true(torch.allclose(by_image, again_image:detach()))
          assert.is_true(torch.allclose(by_grid, again_grid:detach()))
        end
      end
    end
  end)

  it('gives the same with any number of threads', function()
    torch.manual_seed(4)
    local image, grid = rand(3, 5, 40, 50):requires_grad_(), (rand(3, 90, 100, 2) * 2 - 1):requires_grad_()
    local threads, results = torch.get_num_threads(), {}
    for _, n in ipairs { 1, 2, 5 } do
      torch.set_num_threads(n)
      local y = F.grid_sample(image, grid)
      results[#results + 1] = { y:detach(), torch.autograd.grad(y, { image, grid }, torch.ones_like(y)) }
    end
    torch.set_num_threads(threads)
    for k = 2, 3 do
      for i = 1, 3 do assert.is_true(torch.allclose(results[1][i], results[k][i])) end
    end
  end)

  it('grid_sample differentiates images of any strides', function()
    torch.manual_seed(6)
    local image, grid, grad = rand(2, 3, 6, 5), rand(2, 4, 9, 2) * 2 - 1, rand(2, 3, 4, 9)
    local expected
    for _, lies in ipairs { image, image:permute(1, 4, 3, 2):contiguous():permute(1, 4, 3, 2), image:to { memory_format = torch.channels_last } } do
      local x = lies:detach():requires_grad_()
      local by_image = torch.autograd.grad(F.grid_sample(x, grid), { x }, grad)
      expected = expected or by_image
      assert.is_true(torch.allclose(expected, by_image))
    end
  end)

  it('gives the same of any block of points as of all', function()
    torch.manual_seed(7)
    for _, dtype in ipairs { torch.float32, torch.float64 } do
      local image, grid = rand(1, 2, 9, 11):to(dtype), (rand(1, 1, 200, 2) * 3 - 1.5):to(dtype)
      for _, mode in ipairs { 'bilinear', 'nearest', 'bicubic' } do
        local all = F.grid_sample(image, grid, mode)
        for _, n in ipairs { 1, 3, 4, 7, 8, 9, 15, 16, 17, 63, 64, 65 } do
          local some = F.grid_sample(image, grid[{ {}, {}, { 5, 4 + n } }], mode)
          assert.is_true(some:equal(all[{ {}, {}, {}, { 5, 4 + n } }]), mode)
        end
      end
      image[{ 1, 1, 1, 1 }] = 1 / 0 -- not looked at by points outside
      assert.equal(0, F.grid_sample(image, torch.full({ 1, 1, 20, 2 }, 3, { dtype = dtype, device = device })):abs():sum():item())
    end
  end)

  it('takes more elements along a dimension, and further apart, than 32 bits count', function()
    local image, grid = rand(1, 2, 1, 1):expand(1, 2, 2 ^ 32 | 0, 3), rand(1, 1, 20, 2) * 2 - 1
    for _, mode in ipairs { 'bilinear', 'nearest', 'bicubic' } do
      local near = F.grid_sample(image[{ {}, {}, { 1, 4 } }], grid, mode, 'border')
      assert.is_true(torch.allclose(near, F.grid_sample(image, grid, mode, 'border')), mode)
    end
  end)

  it('computes half types in float', function()
    torch.manual_seed(5)
    local image, grid = rand(1, 2, 4, 4):bfloat16(), (rand(1, 3, 3, 2) * 2 - 1):bfloat16()
    assert.is_true(torch.equal(F.grid_sample(image:float(), grid:float()):bfloat16(), F.grid_sample(image, grid)))
  end)

  it('of nothing is nothing, and has derivatives of zeros', function()
    local image, grid = torch.zeros(2, 0, 3, 3, { device = device }):requires_grad_(), rand(2, 4, 4, 2):requires_grad_()
    local y = F.grid_sample(image, grid)
    assert.same({ 2, 0, 4, 4 }, { table.unpack(y.shape) })
    local _, by_grid = torch.autograd.grad(y, { image, grid }, torch.ones_like(y))
    assert.equal(0, by_grid:abs():sum():item())
    assert.same({ 1, 2, 0, 3 }, { table.unpack(F.grid_sample(rand(1, 2, 3, 3), rand(1, 0, 3, 2)).shape) })
  end)

  it('grid_sample rejects shapes that do not match', function()
    assert.error_matches(function() F.grid_sample(rand(1, 1, 2, 2), rand(1, 1, 1, 2):double()) end, 'same dtype, but input has torch.float32 and grid has torch.float64')
    assert.error_matches(function() F.grid_sample(rand(1, 1, 2, 2):long(), rand(1, 1, 1, 2):long()) end, 'floating dtype')
    assert.error_matches(function() F.grid_sample(rand(1, 1, 0, 2), rand(1, 1, 1, 2)) end, 'dimension 3 being empty')
  end)
end)
