-- sampling.lua - functions of nn.functional: affine_grid and grid_sample, which interpolate an
-- image between its pixels, and triplet_margin_with_distance_loss. Coordinates of grids are values
-- from -1 to 1, x first, as in PyTorch, not positions.

--[=[ arguments
theta: Affine matrices, of shape (N, 2, 3) for images or (N, 3, 4) for volumes.
size: Size of the output, {N, C, H, W} or {N, C, D, H, W}.
grid: Places at which the input is read, of shape (N, H, W, 2) or (N, D, H, W, 3), with coordinates x, y, z from -1 to 1.
mode: Interpolation: `'bilinear'`, `'nearest'` or `'bicubic'`.
padding_mode: Values outside of the input: `'zeros'`, `'border'` or `'reflection'`.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local node_names = require 'torch.autograd.node_names'

local M = {}

-- ---- grids --------------------------------------------------------------------------------------

-- The coordinates of n pixels; align: the outermost centres are -1 and 1.
local function coordinates(n, align, like)
  if n == 1 then return torch.zeros(1, { dtype = like.dtype, device = like.device }) end
  local line = torch.linspace(-1, 1, n, { dtype = like.dtype, device = like.device })
  return align and line or line * ((n - 1) / n)
end

--- The source coordinates of each pixel of an image of `size` under theta [n, 2, 3], or [n, 3, 4]
--- for volumes.
function M.affine_grid(theta, size, align_corners)
  local spatial = #size - 2
  if spatial ~= 2 and spatial ~= 3 then
    fail('affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size %s.', tostring(torch.Size(size)))
  end
  if theta.ndim ~= 3 or theta:size(2) ~= spatial or theta:size(3) ~= spatial + 1 then
    fail('Expected a batch of %dD affine matrices of shape Nx%dx%d for size %s. Got %s.', spatial, spatial, spatial + 1,
      tostring(torch.Size(size)), tostring(theta.shape))
  end
  local n, pixels, columns, result_size = size[1], 1, {}, { size[1] }
  for d = 1, spatial do
    pixels = pixels * size[d + 2]
    result_size[d + 1] = size[d + 2]
  end
  for d = 1, spatial do -- x is along the last dimension
    local shape = {}
    for k = 1, spatial do shape[k] = k == spatial + 1 - d and size[k + 2] or 1 end
    local full = table.move(size, 3, #size, 1, {})
    columns[d] = coordinates(size[#size + 1 - d], align_corners, theta):reshape(shape):expand(full):reshape(pixels)
  end
  columns[spatial + 1] = torch.ones(pixels, { dtype = theta.dtype, device = theta.device })
  local base = torch.stack(columns, 2):unsqueeze(1):expand(n, pixels, spatial + 1)
  result_size[#result_size + 1] = spatial
  return base:bmm(theta:transpose(2, 3)):reshape(result_size)
end

-- ---- sampling -----------------------------------------------------------------------------------

local modes = { bilinear = 0, nearest = 1, bicubic = 2 }
local paddings = { zeros = 0, border = 1, reflection = 2 }

local function check(input, grid, mode, padding_mode)
  if not modes[mode] then
    fail("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '%s'", tostring(mode))
  end
  if not paddings[padding_mode] then
    fail("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '%s'", tostring(padding_mode))
  end
  if input.dtype ~= grid.dtype then
    fail('grid_sampler(): expected input and grid to have same dtype, but input has %s and grid has %s', tostring(input.dtype), tostring(grid.dtype))
  end
  if not input:is_floating_point() then
    fail("grid_sampler(): expected input of a floating dtype, but got %s", tostring(input.dtype))
  end
  if (input.ndim ~= 4 and input.ndim ~= 5) or input.ndim ~= grid.ndim then
    fail('grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes %s and grid with sizes %s',
      tostring(input.shape):match '%b[]', tostring(grid.shape):match '%b[]')
  end
  if input:size(1) ~= grid:size(1) then
    fail('grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s',
      tostring(input.shape):match '%b[]', tostring(grid.shape):match '%b[]')
  end
  if grid:size(-1) ~= input.ndim - 2 then
    fail('grid_sampler(): expected grid to have size %d in last dimension, but got grid with sizes %s', input.ndim - 2,
      tostring(grid.shape):match '%b[]')
  end
  if mode == 'bicubic' and input.ndim == 5 then fail 'grid_sampler(): bicubic interpolation only supports 4D input' end
end

--- Samples input [n, channels, ...] at the coordinates in grid [n, ..., 2 or 3]. mode,
-- padding_mode, align: as in grid_sample. Half types are computed in float32 and rounded once.
function M.grid_sample(input, grid, mode, padding_mode, align)
  check(input, grid, mode, padding_mode)
  local half = input.dtype == torch.float16 or input.dtype == torch.bfloat16
  local name = ('GridSampler%dDBackward0'):format(input.ndim - 2)
  if half then
    return node_names.call(name, torch._C._grid_sample, input:float(), grid:float(), modes[mode], paddings[padding_mode], align):to(input.dtype)
  end
  return node_names.call(name, torch._C._grid_sample, input, grid, modes[mode], paddings[padding_mode], align)
end

-- ---- losses -------------------------------------------------------------------------------------

--- max(0, d(anchor, positive) - d(anchor, negative) + margin): {distance_function, margin = 1,
--- swap, reduction}.
function M.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function, margin, swap, reduction)
  if reduction ~= 'mean' and reduction ~= 'sum' and reduction ~= 'none' then
    fail('%s is not a valid value for reduction', tostring(reduction))
  end
  if margin <= 0 then fail('margin must be greater than 0, got %s', tostring(margin)) end
  if anchor.ndim ~= positive.ndim or anchor.ndim ~= negative.ndim then
    fail('The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor %dD, positive %dD, and negative %dD inputs',
      anchor.ndim, positive.ndim, negative.ndim)
  end
  local distance = distance_function or torch.pairwise_distance
  local close, apart = distance(anchor, positive), distance(anchor, negative)
  if swap then apart = torch.minimum(apart, distance(positive, negative)) end
  local loss = (close - apart + margin):clamp_min(0)
  return reduction == 'none' and loss or loss[reduction](loss)
end

return declare.functions(M, [[
  affine_grid(Tensor theta, integers size, boolean? align_corners=false)
  grid_sample(Tensor input, Tensor grid, any mode='bilinear', any padding_mode='zeros', boolean? align_corners=false)
  triplet_margin_with_distance_loss(Tensor anchor, Tensor positive, Tensor negative, *, function? distance_function, number margin=1.0,
    boolean swap=false, any reduction='mean')
]])
