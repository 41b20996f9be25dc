-- resample.lua - functions of nn.functional made of other ops: interpolate and upsample. Each is
-- differentiable because the ops are.

--[=[ arguments
size: Size of the output: a number, or one for each spatial dimension.
mode: Interpolation: `'nearest'`, `'nearest-exact'`, `'linear'`, `'bilinear'`, `'bicubic'`, `'trilinear'` or `'area'`.
interpolate(): Resizes images or other data, of shape (N, C, ...), to a size or by a factor.
upsample(): The older name of `interpolate`.
upsample_nearest(): `interpolate` with the mode `'nearest'`.
upsample_bilinear(): `interpolate` with the mode `'bilinear'` and `align_corners`.
]=]

local torch = require 'torch'
local fail = require 'torch.support.fail'
local declare = require 'torch.support.arguments'
local copy_causes = require 'torch.autograd.copy_causes'
local node_names = require 'torch.autograd.node_names'

local M = {}

-- ---- interpolation ------------------------------------------------------------------------------

-- Source positions in float32, except for interpolation of float64, as in PyTorch: truncation to
-- integers depends on it.
local function f32(x) return (string.unpack('f', string.pack('f', x))) end

-- The source elements of output position i (from 0) along a dimension: { {source position from 0,
-- weight}... }, by mode.
local taps = {}

function taps.nearest(i, scale) return { { math.floor(f32(i * scale)), 1.0 } } end
taps['nearest-exact'] = function(i, scale) return { { math.floor(f32((i + 0.5) * scale)), 1.0 } } end

function taps.linear(i, scale, align)
  local at = align and i * scale or math.max((i + 0.5) * scale - 0.5, 0)
  local low = math.floor(at)
  return { { low, 1 - (at - low) }, { low + 1, at - low } }
end

-- Cubic convolution with a = -0.75 (R. Keys 1981).
function taps.cubic(i, scale, align)
  local at = align and i * scale or (i + 0.5) * scale - 0.5
  local low, a = math.floor(at), -0.75
  local t = at - low
  local function near(x) return ((a + 2) * x - (a + 3)) * x * x + 1 end
  local function far(x) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a end
  return { { low - 1, far(t + 1) }, { low, near(t) }, { low + 1, near(1 - t) }, { low + 2, far(2 - t) } }
end

-- Antialiasing: a filter as wide as an output position, with weights normalized to 1. A filter is a
-- function of the distance, and its radius.
local filters = {
  linear = { function(x) return 1 - x end, 1 },
  cubic = { function(x) return x < 1 and (1.5 * x - 2.5) * x * x + 1 or ((2.5 - 0.5 * x) * x - 4) * x + 2 end, 2 },
  lanczos = { function(x)
    if x == 0 then return 1 end
    return 3 * math.sin(math.pi * x) * math.sin(math.pi * x / 3) / (math.pi * x) ^ 2
  end, 3 },
}

local function filtered(filter, reach)
  return function(i, scale, _, n)
    local wide, center, list, sum = math.max(scale, 1), scale * (i + 0.5), {}, 0
    for at = math.max(math.floor(center - reach * wide + 0.5), 0), math.min(math.floor(center + reach * wide + 0.5), n) - 1 do
      local x = math.abs(at - center + 0.5) / wide
      list[#list + 1] = { at, x < reach and filter(x) or 0 }
      sum = sum + list[#list][2]
    end
    for _, tap in ipairs(list) do tap[2] = tap[2] / sum end
    return list
  end
end
for name, filter in pairs(filters) do taps[name .. ' antialias'] = filtered(table.unpack(filter)) end

-- The dtype of the interpolation: half types in float32, and pixels, too, which are rounded to
-- integers at the end.
local function working_dtype(input, kind)
  if kind:find '^nearest' or input.dtype == torch.float32 or input.dtype == torch.float64 then return input.dtype end
  if input.dtype.is_floating_point or input.dtype == torch.uint8 and input.ndim == 4 then return torch.float32 end
  fail('interpolate() with mode %s is not implemented for %s', kind, tostring(input.dtype))
end

-- Rounds the weights to fixed point, as image libraries do, for identical results: with as many
-- fractional bits as an int16 permits. Taps of equal position are merged.
local function in_fixed_point(read, n)
  local largest, bits = 0, 0
  for i, list in ipairs(read) do
    local places, once = {}, {}
    for _, tap in ipairs(list) do
      local place = math.min(math.max(tap[1], 0), n - 1)
      if not places[place] then
        places[place] = { place, 0 }
        once[#once + 1] = places[place]
      end
      places[place][2] = places[place][2] + tap[2]
      largest = math.max(largest, places[place][2])
    end
    read[i] = once
  end
  while bits < 22 and math.floor(0.5 + largest * 2 ^ (bits + 1)) < 2 ^ 15 do bits = bits + 1 end
  for _, list in ipairs(read) do
    for _, tap in ipairs(list) do
      local weight = tap[2] * 2 ^ bits
      tap[2] = (weight < 0 and math.ceil(weight - 0.5) or math.floor(weight + 0.5)) / 2 ^ bits
    end
  end
end

-- Arguments of _resample and _resample_planes: the starts, positions and weights of the taps in
-- compressed rows, for forward, and transposed for backward.
local function lists_of(read, n)
  local starts, places, weights, counts = { 0 }, {}, {}, {}
  for place = 0, n do counts[place] = 0 end
  for i, list in ipairs(read) do
    for _, tap in ipairs(list) do
      local place = math.min(math.max(tap[1], 0), n - 1)
      places[#places + 1], weights[#weights + 1] = place, tap[2]
      counts[place + 1] = counts[place + 1] + 1
    end
    starts[i + 1] = #places
  end
  local back_starts, next_of, back_places, back_weights = {}, {}, {}, {}
  for place = 0, n do
    counts[place] = counts[place] + (counts[place - 1] or 0)
    back_starts[place + 1], next_of[place] = counts[place], counts[place] + 1
  end
  for i = 1, #read do
    for k = starts[i] + 1, starts[i + 1] do
      local at = next_of[places[k]]
      back_places[at], back_weights[at], next_of[places[k]] = i - 1, weights[k], at + 1
    end
  end
  return { starts, places, weights, back_starts, back_places, back_weights }
end

-- Cache of tables, because a network requests the same ones repeatedly: the FEW to 2 * FEW most
-- recent sizes. Large ones are kept until the collector frees them; tables in GPU memory until a
-- collection finds them unused for IDLE seconds.
local FEW, LARGE, IDLE = 16, 2 ^ 16, 0.5
local BYTES_OF_A_POSITION = 1024 -- maximum while its lists are built; 880 measured for cubic
local kept, kept_before, count = {}, {}, 0
local kept_for_now = setmetatable({}, { __mode = 'v' })
local on_gpu = {} -- { tensors, time of the last use }

local function find(key)
  local entry = on_gpu[key]
  return entry and entry[1] or kept[key] or kept_before[key] or kept_for_now[key]
end

-- Registers a finalizer that runs at each collection, while the cache is not empty.
local function watch()
  setmetatable({}, { __gc = function()
    local now = torch.time()
    for key, entry in pairs(on_gpu) do
      if now - entry[2] > IDLE then on_gpu[key] = nil end
    end
    if next(on_gpu) then watch() end
  end })
end

local function keep(key, tensors)
  if tensors[2]:numel() > LARGE then
    kept_for_now[key] = tensors
  elseif tensors[2].is_cuda then
    if not next(on_gpu) then watch() end
    on_gpu[key] = { tensors, torch.time() }
  elseif not kept[key] then
    if count == FEW then kept, kept_before, count = {}, kept, 0 end
    kept[key], count = tensors, count + 1
  end
end

local function lists_along(input, dim, to)
  local n = input:size(dim)
  -- Inference tensors are not saved for backward, so they have lists of their own.
  local key = ('%s %d %d %.17g %s %s %s %s %s'):format(to.kind, n, to.size, to.scale, to.align, to.pixels, input.dtype, input.device,
    torch.is_inference_mode_enabled())
  local tensors = find(key)
  if not tensors then
    local read = {}
    for i = 1, to.size do read[i] = taps[to.kind](i - 1, to.scale, to.align, n) end
    if to.pixels then in_fixed_point(read, n) end
    tensors = lists_of(read, n)
    for i, list in ipairs(tensors) do
      tensors[i] = torch.tensor(list, { dtype = i % 3 == 0 and input.dtype or torch.int64, device = input.device })
    end
  end
  keep(key, tensors)
  return tensors
end

-- True if _resample supports the dtype.
local function is_resampled(input) return input.dtype == torch.float32 or input.dtype == torch.float64 end

-- Resamples one dimension. Other dtypes occur in nearest modes only: selects one position for each
-- result.
local function along(input, dim, to)
  if is_resampled(input) then
    local sum = torch._C._resample(input, dim, table.unpack(lists_along(input, dim, to)))
    return to.pixels and (sum + 0.5):floor():clamp(0, 255) or sum
  end
  local n, positions = input:size(dim), {}
  for i = 1, to.size do positions[i] = math.min(math.max(taps[to.kind](i - 1, to.scale)[1][1], 0), n - 1) + 1 end
  return input:index_select(dim, torch.tensor(positions, { device = input.device }))
end

-- The last two dimensions.
local function planes(input, rows, columns)
  local lists = table.move(lists_along(input, -2, rows), 1, 6, 1, {})
  return torch._C._resample_planes(input, table.unpack(table.move(lists_along(input, -1, columns), 1, 6, 7, lists)))
end

-- The matrices for dimensions 3 and on, last dimension first, which determines the rounding of
-- sums. Nearest modes have none.
local function spatially(input, to)
  local n = #to
  if n > 1 and is_resampled(input) and not to[n].pixels then
    input = planes(input, to[n - 1], to[n])
    n = n - 2
  end
  for i = n, 1, -1 do input = along(input, i + 2, to[i]) end
  return input
end

local kind_of_mode = { nearest = 'nearest', ['nearest-exact'] = 'nearest-exact', linear = 'linear', bilinear = 'linear',
  trilinear = 'linear', bicubic = 'cubic', lanczos = 'lanczos', area = 'area' }
local dims_of_mode = { linear = 1, bilinear = 2, bicubic = 2, trilinear = 3, lanczos = 2 }
local can_antialias = { bilinear = true, bicubic = true, lanczos = true }

local function per_dim(value, n, what)
  if type(value) == 'number' then
    local list = {}
    for i = 1, n do list[i] = value end
    return list
  end
  if #value ~= n then
    fail('Input and output must have the same number of spatial dimensions, but got input with %d spatial dimensions '
      .. 'and %s of %d', n, what, #value)
  end
  return value
end

local function check_mode(input, mode, align)
  if not kind_of_mode[mode] then
    fail("Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: nearest | linear | bilinear | "
      .. "bicubic | trilinear | area | nearest-exact (got %s)", input.ndim, tostring(mode))
  end
  local n = input.ndim - 2
  if n < 1 or n > 3 or (dims_of_mode[mode] or n) ~= n then
    fail('Got %dD input, but %s mode needs %dD input', input.ndim, mode, (dims_of_mode[mode] or 2) + 2)
  end
  if align ~= nil and not dims_of_mode[mode] then
    fail 'align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear'
  end
  return n
end

-- Accepts float tensors, and uint8 images: for these, bilinear and bicubic return PyTorch's exact
-- numbers.
M.interpolate = declare.by_name([[
  interpolate(Tensor input, sizes? size, numbers? scale_factor, any mode='nearest', boolean? align_corners, boolean? recompute_scale_factor,
  boolean antialias=false)
]], function(options)
  local input = options.input
  local n = check_mode(input, options.mode, options.align_corners)
  if options.size ~= nil and options.scale_factor ~= nil then fail 'only one of size or scale_factor should be defined' end
  if options.size == nil and options.scale_factor == nil then fail 'either size or scale_factor should be defined' end
  local factor = options.scale_factor and per_dim(options.scale_factor, n, 'scale_factor')
  local size = options.size and per_dim(options.size, n, 'output size') or {}
  local shape = { input:size(1), input:size(2) }
  for i = 1, n do
    local wanted = size[i] or input:size(i + 2) * factor[i]
    if not (math.abs(wanted) < 2.0 ^ 63) then fail 'value cannot be converted to type int64_t without overflow' end -- nan, too
    size[i] = math.floor(wanted)
    if size[i] < 1 or input:size(i + 2) < 1 then
      fail('Input and output sizes should be greater than 0, but got input (%d) output (%d)', input:size(i + 2), size[i])
    end
    shape[i + 2] = size[i]
  end
  -- For very large sizes, check first that the result and the tables fit in memory.
  local most = math.max(table.unpack(size))
  if most > LARGE then
    torch.empty(shape, { dtype = input.dtype, device = input.device })
    torch.empty(most, BYTES_OF_A_POSITION, { dtype = torch.uint8, device = 'cpu' })
  end
  local kind = kind_of_mode[options.mode]
  if options.antialias then
    if not can_antialias[options.mode] or input.ndim ~= 4 then
      fail 'Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input'
    end
    kind = kind .. ' antialias'
  end
  if options.mode == 'lanczos' then
    if options.align_corners then fail 'Lanczos mode does not support align_corners=True' end
    if not options.antialias then fail 'Lanczos mode requires antialias=True' end
  end
  if kind == 'area' then return torch.nn.functional[('adaptive_avg_pool%dd'):format(n)](input, size) end
  local align, dtype = options.align_corners, input.dtype
  input = input:to(working_dtype(input, kind))
  local per_dimension = {}
  for i = 1, n do
    local from, to = input:size(i + 2), size[i]
    local scale = factor and not options.recompute_scale_factor and 1 / factor[i] or from / to
    if align then scale = to > 1 and (from - 1) / (to - 1) or 0 end
    if kind:find '^nearest' or dtype ~= torch.float64 and dtype ~= torch.uint8 then scale = f32(scale) end
    per_dimension[i] = { size = to, scale = scale, kind = kind, align = align, pixels = dtype == torch.uint8 and input.dtype ~= dtype }
  end
  local mode = options.mode:gsub('%-?(%l+)', function(word) return word:sub(1, 1):upper() .. word:sub(2) end)
  local name = ('Upsample%s%dD%sBackward0'):format(mode, n, options.antialias and 'Aa' or '')
  return node_names.call(name, function() return spatially(input, per_dimension):to(dtype) end)
end)
copy_causes.functions(M, '', 'interpolate')

M.upsample = M.interpolate

-- Names from before interpolate.
for name, align_corners in pairs { nearest = false, bilinear = true } do
  local own = 'upsample_' .. name
  M[own] = declare.declare(own .. '(Tensor input, sizes? size, numbers? scale_factor)', function(input, size, scale_factor)
    return M.interpolate(input, { size = size, scale_factor = scale_factor, mode = name, align_corners = align_corners or nil })
  end)
end

return M
