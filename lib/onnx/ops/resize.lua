-- resize.lua - Resize and Upsample, one dimension at a time: each result is a weighted sum of a few
-- elements, with weights by its coordinate in the input.

local torch = require 'torch'
local values = require 'torch.onnx.values'

local ops = {}

-- The coordinate of the i-th of `out` results (i from 0) in n elements; for region (from, to, as
-- fractions of n): tf_crop_and_resize.
local coordinate = {
  half_pixel = function(i, scale) return (i + 0.5) / scale - 0.5 end,
  pytorch_half_pixel = function(i, scale, n) return scale * n == 1 and -0.5 or (i + 0.5) / scale - 0.5 end,
  asymmetric = function(i, scale) return i / scale end,
  align_corners = function(i, scale, n) return scale * n == 1 and 0 or i * (n - 1) / (scale * n - 1) end,
  half_pixel_symmetric = function(i, scale, n, out)
    return n / 2 * (1 - out / (scale * n)) + (i + 0.5) / scale - 0.5
  end,
  tf_crop_and_resize = function(i, _, n, out, from, to)
    if out == 1 then return 0.5 * (from + to) * (n - 1) end
    return from * (n - 1) + i * (to - from) * (n - 1) / (out - 1)
  end,
  tf_half_pixel_for_nn = function(i, scale) return (i + 0.5) / scale end,
}

-- True if the upper element is nearest, for a coordinate `ratio` (0 < ratio <= 1) above the lower
-- one.
local nearest = {
  round_prefer_floor = function(ratio) return ratio > 0.5 end,
  round_prefer_ceil = function(ratio) return ratio >= 0.5 end,
  floor = function(ratio) return ratio == 1 end,
  ceil = function() return true end,
}

-- Interpolation kernels: the weight of an element by its distance, and the radius.
local function linear(distance) return math.max(1 - math.abs(distance), 0) end

local function cubic(a)
  return function(distance) -- Keys 1981
    local d = math.abs(distance)
    if d <= 1 then return ((a + 2) * d - (a + 3)) * d * d + 1 end
    if d < 2 then return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a end
    return 0
  end
end

-- Lists of positions (from 1) and weights by tap, for the results of one dimension; { outside =
-- list } for results outside of the input.
local function taps_of(plan, n, out, scale, from, to)
  local reach = plan.mode == 'nearest' and 0 or plan.mode == 'linear' and 1 or 2
  local shrink = plan.antialias and scale < 1 and scale or 1
  local first = plan.mode == 'nearest' and 0 or math.floor(-reach / shrink) + 1
  local count = plan.mode == 'nearest' and 1 or 2 - 2 * first
  values.check_list(out * count)
  local places, weights, outside = {}, {}, {}
  for k = 1, count do places[k], weights[k] = {}, {} end
  for i = 1, out do
    local at = plan.coordinate(i - 1, scale, n, out, from, to)
    outside[i] = plan.crops and (at < 0 or at > n - 1)
    local base = math.ceil(at) - 1
    local ratio, total = at - base, 0
    for k = 1, count do
      local place = base + first + k - 1
      local weight
      if plan.mode == 'nearest' then
        place, weight = base + (plan.nearest(ratio) and 1 or 0), 1
      else
        weight = plan.kernel((first + k - 1 - ratio) * shrink)
        if plan.exclude and (place < 0 or place >= n) then weight = 0 end
      end
      places[k][i], weights[k][i] = math.min(math.max(place, 0), n - 1) + 1, weight
      total = total + weight
    end
    if total ~= 0 then
      for k = 1, count do weights[k][i] = weights[k][i] / total end
    end
  end
  return places, weights, outside
end

local function resize_dim(plan, x, dim, out, scale, from, to)
  local key = ('%d %d %d'):format(dim, x:size(dim), out)
  local taps = plan.cache[key]
  if not taps or taps.device ~= x.device or taps.scale ~= scale or taps.from ~= from or taps.to ~= to then
    local places, weights, outside = taps_of(plan, x:size(dim), out, scale, from, to)
    local shape = {}
    for d = 1, x:dim() do shape[d] = d == dim and out or 1 end
    taps = { device = x.device, scale = scale, from = from, to = to, places = {}, weights = {} }
    for k = 1, #places do
      taps.places[k] = torch.tensor(places[k], { dtype = torch.int64, device = x.device })
      taps.weights[k] = torch.tensor(weights[k], { dtype = torch.float64, device = x.device }):view(shape)
    end
    if plan.crops then taps.outside = torch.tensor(outside, { device = x.device }):view(shape) end
    plan.cache[key] = taps
  end
  local y
  for k, places in ipairs(taps.places) do
    local part = x:index_select(dim, places)
    if plan.mode ~= 'nearest' then part = part * taps.weights[k]:to(x.dtype) end
    y = y and y + part or part
  end
  if taps.outside then y = y:masked_fill(taps.outside, plan.extrapolation) end
  return y
end

local function new_plan(node)
  local a = node.attributes
  local mode = (a.mode or 'nearest'):gsub('^bi', ''):gsub('^tri', '')
  local how = node.version < 11 and 'asymmetric' or a.coordinate_transformation_mode or 'half_pixel'
  local a_cubic = a.cubic_coeff_a or -0.75
  return { cache = {}, mode = mode, kernel = mode == 'linear' and linear or mode == 'cubic' and cubic(a_cubic) or mode ~= 'nearest' and values.fail("a mode '%s'", mode),
    coordinate = coordinate[how] or values.fail("a coordinate_transformation_mode '%s'", how), crops = how == 'tf_crop_and_resize',
    nearest = nearest[node.version < 11 and 'floor' or a.nearest_mode or 'round_prefer_floor'] or values.fail("a nearest_mode '%s'", a.nearest_mode),
    antialias = a.antialias == 1, exclude = a.exclude_outside == 1, extrapolation = a.extrapolation_value or 0.0 }
end

local round = function(x) return math.floor(x + 0.5) end

-- The requested sizes, and the scales that follow.
local function sizes_by_policy(policy, x, dims, sizes)
  local wanted, scales, common = {}, {}, nil
  for i, dim in ipairs(dims) do
    local scale = sizes[i] / x:size(dim)
    scales[i], wanted[i] = scale, sizes[i]
    if policy == 'not_larger' then common = math.min(common or scale, scale) elseif policy == 'not_smaller' then common = math.max(common or scale, scale) end
  end
  if common then
    for i, dim in ipairs(dims) do scales[i], wanted[i] = common, round(common * x:size(dim)) end
  end
  return wanted, scales
end

local function resize(node, x, scales, sizes, roi)
  local a = node.attributes
  local plan = node.plan
  if not plan then
    plan = new_plan(node)
    node.plan = plan
  end
  local dims = a.axes and values.dims(a.axes, x:dim())
  if not dims then
    dims = {}
    for d = 1, x:dim() do dims[d] = d end
  end
  local wanted
  if sizes then
    wanted, scales = sizes_by_policy(a.keep_aspect_ratio_policy, x, dims, sizes)
  else
    wanted = {}
    for i, dim in ipairs(dims) do wanted[i] = math.floor(x:size(dim) * (scales[i] or values.fail('%d scales for %d dimensions', #scales, #dims))) end
  end
  local dtype = x.dtype
  local is_computed = plan.mode ~= 'nearest' and not dtype.is_floating_point
  if is_computed then x = x:to(torch.float32) end
  for i, dim in ipairs(dims) do
    local from, to = roi and roi[i] or 0, roi and roi[#dims + i] or 1
    if wanted[i] ~= x:size(dim) or scales[i] ~= 1 or plan.crops and (from ~= 0 or to ~= 1) then
      x = resize_dim(plan, x, dim, wanted[i], scales[i], from, to)
    end
  end
  return is_computed and x:round():to(dtype) or x
end

ops.Resize = { grows = true, fn = function(node, x, roi, scales, sizes)
  if node.version < 11 then return resize(node, x, values.list(node, 2, roi)) end
  local has_sizes = sizes and sizes:numel() > 0
  if not has_sizes and not (scales and scales:numel() > 0) then values.fail 'neither scales nor sizes' end
  return resize(node, x, not has_sizes and values.list(node, 3, scales) or nil, has_sizes and values.list(node, 4, sizes) or nil,
    roi and roi:numel() > 0 and values.list(node, 2, roi) or nil)
end }

ops.Upsample = { grows = true, fn = function(node, x, scales)
  return resize(node, x, node.version < 9 and node.attributes.scales or values.list(node, 2, scales))
end }

return { [''] = ops }
