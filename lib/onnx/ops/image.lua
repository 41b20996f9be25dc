-- image.lua - operators on pictures: their files, grids, regions, boxes. Sizes are resize.lua's.

local torch = require 'torch'
local decode_image = require('torch.utils.data.image').decode_image
local values = require 'torch.onnx.values'

local F = require 'torch.nn.functional'
local ops = {}

local modes = { linear = 'bilinear', cubic = 'bicubic' } -- names since version 20

function ops.GridSample(node, x, grid)
  local a = node.attributes
  local mode = a.mode or 'bilinear'
  return F.grid_sample(x, grid, { mode = modes[mode] or mode, padding_mode = a.padding_mode or 'zeros', align_corners = a.align_corners == 1 })
end

ops.AffineGrid = { grows = true, fn = function(node, theta, size)
  return F.affine_grid(theta, values.list(node, 2, size), node.attributes.align_corners == 1)
end }

-- Linear interpolation: for each coordinate in a dimension of n elements, the two neighbouring
-- positions and their weights, 0 for coordinates outside.
local function around(coordinates, n, like)
  local places, weights = { {}, {} }, { {}, {} }
  for i, at in ipairs(coordinates) do
    local is_outside = at < -1 or at > n
    at = math.min(math.max(at, 0), n - 1)
    local low = math.floor(at)
    local high = math.min(low + 1, n - 1)
    places[1][i], places[2][i] = low + 1, high + 1
    weights[1][i], weights[2][i] = is_outside and 0 or 1 - (at - low), is_outside and 0 or at - low
  end
  for k = 1, 2 do
    places[k] = torch.tensor(places[k], { device = like.device })
    weights[k] = torch.tensor(weights[k], { dtype = like.dtype, device = like.device })
  end
  return places, weights
end

ops.RoiAlign = { grows = true, fn = function(node, x, regions, batches)
  local a = node.attributes
  local rows, columns, ratio, scale = a.output_height or 1, a.output_width or 1, a.sampling_ratio or 0, a.spatial_scale or 1.0
  local is_half = node.version >= 16 and (a.coordinate_transformation_mode or 'half_pixel') == 'half_pixel'
  local by_max = a.mode == 'max'
  local which, results = batches:tolist(), {}
  for r, region in ipairs(regions:tolist()) do
    local image = x:select(1, which[r] + 1)
    local shift = is_half and 0.5 or 0
    local x1, y1, x2, y2 = region[1] * scale - shift, region[2] * scale - shift, region[3] * scale - shift, region[4] * scale - shift
    local width, height = x2 - x1, y2 - y1
    if not is_half then width, height = math.max(width, 1), math.max(height, 1) end
    local function samples(from, extent, bins)
      local n = ratio > 0 and ratio or math.max(math.ceil(extent / bins), 0) -- none for an empty region
      local coordinates = {}
      for bin = 0, bins - 1 do
        for s = 0, n - 1 do coordinates[#coordinates + 1] = from + (bin + (s + 0.5) / n) * extent / bins end
      end
      return coordinates, n
    end
    local ys, per_row = samples(y1, height, rows)
    local xs, per_column = samples(x1, width, columns)
    if #ys == 0 or #xs == 0 then
      results[r] = torch.zeros({ x:size(2), rows, columns }, { dtype = x.dtype, device = x.device })
      goto next_region
    end
    local row_at, row_weight = around(ys, x:size(3), x)
    local column_at, column_weight = around(xs, x:size(4), x)
    local value
    for i = 1, 2 do
      for k = 1, 2 do
        local part = image:index_select(2, row_at[i]):index_select(3, column_at[k]) * row_weight[i]:unsqueeze(2) * column_weight[k]
        -- The largest is that of the four parts, as the operator has it.
        if not value then value = part elseif by_max then value = torch.maximum(value, part) else value = value + part end
      end
    end
    value = value:reshape(x:size(2), rows, per_row, columns, per_column)
    results[r] = by_max and value:amax({ 3, 5 }) or value:mean({ 3, 5 })
    ::next_region::
  end
  if #results == 0 then return torch.empty({ 0, x:size(2), rows, columns }, { dtype = x.dtype, device = x.device }) end
  return torch.stack(results, 1)
end }

-- ---- boxes --------------------------------------------------------------------------------------

-- The sorted corners and the area of a box, { y1, x1, y2, x2, area }.
local function corners(box, by_center)
  local y1, x1, y2, x2 = box[1], box[2], box[3], box[4]
  if by_center then
    local cx, cy, w, h = box[1], box[2], box[3], box[4]
    y1, x1, y2, x2 = cy - h / 2, cx - w / 2, cy + h / 2, cx + w / 2
  end
  y1, y2, x1, x2 = math.min(y1, y2), math.max(y1, y2), math.min(x1, x2), math.max(x1, x2)
  return { y1, x1, y2, x2, (y2 - y1) * (x2 - x1) }
end

local function overlap(a, b)
  local height, width = math.min(a[3], b[3]) - math.max(a[1], b[1]), math.min(a[4], b[4]) - math.max(a[2], b[2])
  if height <= 0 or width <= 0 or a[5] <= 0 or b[5] <= 0 then return 0 end
  return height * width / (a[5] + b[5] - height * width)
end

function ops.NonMaxSuppression(node, boxes, scores, most, most_overlap, least_score)
  local limit = most and values.number(node, 3, most) or 0
  local threshold = most_overlap and values.number(node, 4, most_overlap) or 0
  local least = least_score and values.number(node, 5, least_score)
  local by_center = node.attributes.center_point_box == 1
  local box_lists, score_lists, chosen = boxes:tolist(), scores:tolist(), {}
  for b, box_list in ipairs(box_lists) do
    local shapes = {}
    for i, box in ipairs(box_list) do shapes[i] = corners(box, by_center) end
    for c, class_scores in ipairs(score_lists[b]) do
      local order, kept = {}, {}
      for i, score in ipairs(class_scores) do
        if not least or score > least then order[#order + 1] = i end
      end
      table.sort(order, function(i, k)
        if class_scores[i] ~= class_scores[k] then return class_scores[i] > class_scores[k] end
        return i < k
      end)
      for _, i in ipairs(order) do
        if #kept >= limit then break end
        local is_free = true
        for _, k in ipairs(kept) do
          if overlap(shapes[i], shapes[k]) > threshold then
            is_free = false
            break
          end
        end
        if is_free then
          kept[#kept + 1] = i
          chosen[#chosen + 1] = { b - 1, c - 1, i - 1 }
        end
      end
    end
  end
  if #chosen == 0 then return torch.empty({ 0, 3 }, { dtype = torch.int64 }) end
  return torch.tensor(chosen, { dtype = torch.int64, device = boxes.device })
end

-- ---- pictures -----------------------------------------------------------------------------------

-- The bytes of a tensor of them.
local function text_of(bytes)
  local list, pieces = bytes:reshape(-1):tolist(), {}
  for i = 1, #list, 4096 do pieces[#pieces + 1] = string.char(table.unpack(list, i, math.min(i + 4095, #list))) end
  return table.concat(pieces)
end

local known_forms = { RGB = true, BGR = true, Grayscale = true }

-- Decodes a PNG or JPEG file. Gray is the luma of the colours, by the weights of ITU-R BT.601 in
-- 65536ths.
function ops.ImageDecoder(node, stream)
  local form = node.attributes.pixel_format or 'RGB'
  if not known_forms[form] then values.fail("a pixel_format '%s'", form) end
  if stream.dtype ~= torch.uint8 then values.fail('a file of %s, not of uint8', tostring(stream.dtype)) end
  local image = decode_image(text_of(stream), 'rgb')
  if form == 'BGR' then image = image:flip(1)
  elseif form == 'Grayscale' then
    local wide = image:to(torch.int32)
    image = ((wide:narrow(1, 1, 1) * 19595 + wide:narrow(1, 2, 1) * 38470 + wide:narrow(1, 3, 1) * 7471 + 32768) >> 16):to(torch.uint8)
  end
  return image:permute { 2, 3, 1 }:contiguous()
end

return { [''] = ops }
