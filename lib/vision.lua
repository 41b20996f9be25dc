-- vision.lua - torch.vision: operators of torchvision.ops: boxes and their overlap (box_iou and
-- similar, nms), and features of regions (roi_align, roi_pool). The transforms of images are in
-- torch.vision.transforms.
--
-- A box is a row {x1, y1, x2, y2} of coordinates, which are values: 0 is the image's left or upper
-- edge. The results of nms, and the number of the image in the first column of regions, are
-- positions from 1.

--[=[ arguments
boxes: Boxes {x1, y1, x2, y2}, of shape (N, 4).
boxes1: First boxes, of shape (N, 4).
boxes2: Second boxes, of shape (M, 4).
roi_align.boxes: Regions, of shape (K, 5): the position of the image from 1, then the box; or a list of boxes for each image.
roi_pool.boxes: Regions, of shape (K, 5): the position of the image from 1, then the box; or a list of boxes for each image.
scores: Score of each box.
idxs: Class of each box; boxes of different classes do not suppress each other.
iou_threshold: Overlap above which the box of the lower score is removed.
in_fmt: Form of the boxes: `'xyxy'`, `'xywh'` or `'cxcywh'`.
out_fmt: Form of the result: `'xyxy'`, `'xywh'` or `'cxcywh'`.
size: Height and width of the image.
min_size: Smallest width and height.
masks: Masks, of shape (N, H, W).
spatial_scale: Factor from coordinates of the boxes to coordinates of the input.
sampling_ratio: Number of samples in each direction of a cell; -1 chooses it by the size of the box.
aligned: Whether coordinates are shifted by half a pixel.
eps: Small number added to a denominator for numerical stability.
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local copy_causes = require 'torch.autograd.copy_causes'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local vision = { transforms = require 'torch.vision.transforms' }

-- ---- boxes --------------------------------------------------------------------------------------

local function columns(boxes) return table.unpack(torch.unbind(boxes, -1)) end

local function column(boxes, i) return boxes:select(-1, i) end

--- Integers as numbers that their areas fit into.
local function widened(x)
  if x:is_floating_point() then return (x.dtype == torch.float64 or x.dtype == torch.float32) and x or x:float() end
  return x:long()
end

--- The areas of boxes.
function vision.box_area(boxes)
  local b = widened(boxes)
  return (column(b, 3) - column(b, 1)) * (column(b, 4) - column(b, 2))
end

-- The intersection and the union of each pair of boxes.
local function overlaps(a, b)
  local first, second = widened(a):unsqueeze(2), widened(b):unsqueeze(1)
  local low = torch.maximum(first:narrow(-1, 1, 2), second:narrow(-1, 1, 2))
  local high = torch.minimum(first:narrow(-1, 3, 2), second:narrow(-1, 3, 2))
  local size = (high - low):clamp { min = 0 }
  local inner = size:select(-1, 1) * size:select(-1, 2)
  return inner, vision.box_area(a):unsqueeze(2) + vision.box_area(b):unsqueeze(1) - inner
end

--- Intersection over union of every pair of boxes: [n, m].
function vision.box_iou(boxes1, boxes2)
  local inner, outer = overlaps(boxes1, boxes2)
  return inner / outer
end

-- The sides of the smallest boxes around every pair.
local function around(a, b)
  local first, second = widened(a):unsqueeze(2), widened(b):unsqueeze(1)
  local low = torch.minimum(first:narrow(-1, 1, 2), second:narrow(-1, 1, 2))
  local high = torch.maximum(first:narrow(-1, 3, 2), second:narrow(-1, 3, 2))
  return (high - low):clamp { min = 0 }
end

--- box_iou minus the fraction of the smallest enclosing box that neither box covers (Rezatofighi et
--- al. 2019).
function vision.generalized_box_iou(boxes1, boxes2)
  local inner, outer = overlaps(boxes1, boxes2)
  local size = around(boxes1, boxes2)
  local area = size:select(-1, 1) * size:select(-1, 2)
  return inner / outer - (area - outer) / area
end

local function middles(boxes)
  local b = widened(boxes)
  return (column(b, 1) + column(b, 3)) / 2, (column(b, 2) + column(b, 4)) / 2
end

--- box_iou minus the squared ratio of the centres' distance to the diagonal of the enclosing box
-- (Zheng et al. 2020).
function vision.distance_box_iou(boxes1, boxes2, eps)
  local iou, size = vision.box_iou(boxes1, boxes2), around(boxes1, boxes2)
  local diagonal = size:square():sum(-1) + (eps or 1e-7)
  local x1, y1 = middles(boxes1)
  local x2, y2 = middles(boxes2)
  local distance = (x1:unsqueeze(2) - x2:unsqueeze(1)):square() + (y1:unsqueeze(2) - y2:unsqueeze(1)):square()
  return iou - distance / diagonal
end

--- distance_box_iou with an additional penalty for different aspect ratios.
function vision.complete_box_iou(boxes1, boxes2, eps)
  eps = eps or 1e-7
  local iou = vision.box_iou(boxes1, boxes2)
  local function angle(boxes)
    local b = widened(boxes)
    return torch.atan((column(b, 3) - column(b, 1)) / (column(b, 4) - column(b, 2)))
  end
  local v = (angle(boxes1):unsqueeze(2) - angle(boxes2):unsqueeze(1)):square() * (4 / math.pi ^ 2)
  local alpha = (v / (1 - iou + v + eps)):detach()
  return vision.distance_box_iou(boxes1, boxes2, eps) - alpha * v
end

local forms = {
  xyxy = { function(a, b, c, d) return a, b, c, d end, function(a, b, c, d) return a, b, c, d end },
  xywh = { function(x, y, w, h) return x, y, x + w, y + h end, function(a, b, c, d) return a, b, c - a, d - b end },
  cxcywh = { function(x, y, w, h) return x - 0.5 * w, y - 0.5 * h, x + 0.5 * w, y + 0.5 * h end,
    function(a, b, c, d) return (a + c) / 2, (b + d) / 2, c - a, d - b end },
}

--- Converts boxes between formats: 'xyxy', 'xywh' (corner and size), 'cxcywh' (centre and size).
function vision.box_convert(boxes, in_fmt, out_fmt)
  local from, to = forms[in_fmt], forms[out_fmt]
  if not from or not to then
    fail('Unsupported Bounding Box Conversions for given in_fmt %s and out_fmt %s', tostring(in_fmt), tostring(out_fmt))
  end
  return torch.stack({ to[2](from[1](columns(boxes))) }, -1)
end

--- Boxes cut at the edges of an image of that size {height, width}.
function vision.clip_boxes_to_image(boxes, size)
  kinds.check('clip_boxes_to_image', 'size', size, 'integers')
  local height, width = size[1], size[2]
  if #size ~= 2 then fail("clip_boxes_to_image(): argument 'size' must be {height, width}, not %d numbers", #size) end
  local x1, y1, x2, y2 = columns(boxes)
  local function cut(x, most) return x:clamp { min = 0, max = most } end
  return torch.stack({ cut(x1, width), cut(y1, height), cut(x2, width), cut(y2, height) }, -1)
end

--- The positions of boxes with both sides at least min_size.
function vision.remove_small_boxes(boxes, min_size)
  local keep = (column(boxes, 3) - column(boxes, 1)):ge(min_size):logical_and((column(boxes, 4) - column(boxes, 2)):ge(min_size))
  return keep:nonzero():squeeze(2)
end

--- The boxes around masks [n, height, width]; their edges are the outermost pixels' numbers, from
--- 0.
function vision.masks_to_boxes(masks)
  local n, result = masks:size(1), {}
  if n == 0 then return torch.zeros({ 0, 4 }, { device = masks.device }) end
  for i = 1, n do
    local at = masks[i]:ne(0):nonzero() - 1
    local low, high = at:amin(1), at:amax(1)
    result[i] = torch.stack { low[2], low[1], high[2], high[1] }
  end
  return torch.stack(result):float()
end

-- ---- suppression --------------------------------------------------------------------------------

--- Non-maximum suppression: the positions of the remaining boxes, best first, after each box
--- suppresses boxes of lower score that overlap it by more than iou_threshold.
function vision.nms(boxes, scores, iou_threshold)
  if boxes.ndim ~= 2 or boxes:size(2) ~= 4 then
    fail('boxes should be a 2d tensor with 4 elements in dimension 2, got %s', tostring(boxes.shape))
  end
  if scores.ndim ~= 1 or scores:size(1) ~= boxes:size(1) then
    fail('boxes and scores should have same number of elements in dimension 1, got %d and %s', boxes:size(1), tostring(scores.shape))
  end
  local n = boxes:size(1)
  local _, order = torch.sort(scores, { stable = true, dim = 1, descending = true })
  local sorted = boxes:index_select(1, order)
  local hit = vision.box_iou(sorted, sorted):gt(iou_threshold):cpu()
  local gone, kept = torch.zeros(n, { dtype = torch.bool }), {}
  for i = 1, n do
    if not gone[i]:item() then
      kept[#kept + 1] = i
      gone = gone:logical_or(hit[i])
    end
  end
  if #kept == 0 then return order end
  return order:index_select(1, torch.tensor(kept, { device = order.device }))
end

--- nms separately for each class (idxs: the class of each box).
function vision.batched_nms(boxes, scores, idxs, iou_threshold)
  if boxes:numel() == 0 then return torch.empty({ 0 }, { dtype = torch.int64, device = boxes.device }) end
  -- Shifts the boxes of each class, so that boxes of different classes do not overlap.
  local offsets = idxs:to(boxes.dtype) * (boxes:amax() + 1)
  return vision.nms(boxes + offsets:unsqueeze(2), scores, iou_threshold)
end

-- ---- regions ------------------------------------------------------------------------------------

-- The regions as one tensor {image, x1, y1, x2, y2}: from such a tensor, or from a list with the
-- boxes of each image.
local function regions_of(what, boxes, input)
  if type(boxes) == 'table' then
    local rows = {}
    for i, list in ipairs(boxes) do
      rows[i] = torch.cat({ torch.full({ list:size(1), 1 }, i, { dtype = list.dtype, device = list.device }), list }, 2)
    end
    boxes = torch.cat(rows)
  end
  kinds.check(what, 'boxes', boxes, 'Tensor')
  if boxes.ndim ~= 2 or boxes:size(2) ~= 5 then
    fail('The boxes tensor shape is not correct as Tensor[K, 5]: %s', tostring(boxes.shape))
  end
  if input.ndim ~= 4 then fail('%s(): expected an input of 4 dims, got %s', what, tostring(input.shape)) end
  return boxes:to(input.dtype)
end

local function pair(value)
  if type(value) == 'table' then return value[1], value[2] end
  return value, value
end

-- The weight of each of `size` pixels in each of `bins` parts of an interval: [regions, bins,
-- size]. Bilinear interpolation at `samples` points of a part weights pixels by distance; points
-- more than one pixel outside count as 0.
local function weights(start, length, bins, samples, size)
  local like = { dtype = start.dtype, device = start.device }
  local step = (torch.arange(0, bins * samples, like) + 0.5) / samples
  local at = start:unsqueeze(2) + step:unsqueeze(1) * (length / bins):unsqueeze(2)
  local inside = at:ge(-1):logical_and(at:le(size)):to(start.dtype)
  at = at:clamp { min = 0, max = size - 1 }
  local near = (1 - (at:unsqueeze(3) - torch.arange(0, size, like)):abs()):clamp { min = 0 }
  return (near * inside:unsqueeze(3)):reshape(start:size(1), bins, samples, size):mean { dim = 3 }
end

--- roi_align(input, boxes, output_size, {spatial_scale = 1, sampling_ratio = -1, aligned = false}):
--- the features of regions of images [n, channels, height, width], as [regions, channels,
--- output_size...]: the mean of bilinear samples in each part. sampling_ratio: samples per side
--- (-1: the number of pixels of the part);
--- aligned: pixel values are at the pixels' centres.
function vision.roi_align(input, boxes, output_size, options)
  local rois = regions_of('roi_align', boxes, input)
  local rows, cols = pair(output_size)
  local scale, ratio, shift = options.spatial_scale, options.sampling_ratio, options.aligned and 0.5 or 0.0
  local count, height, width = rois:size(1), input:size(3), input:size(4)
  if count == 0 then return input:new_zeros { 0, input:size(2), rows, cols } end
  local x, y = rois:select(2, 2) * scale - shift, rois:select(2, 3) * scale - shift
  local w, h = rois:select(2, 4) * scale - shift - x, rois:select(2, 5) * scale - shift - y
  if not options.aligned then w, h = w:clamp { min = 1 }, h:clamp { min = 1 } end
  local image = rois:select(2, 1):long()
  -- The regions that have equally many samples are computed together.
  local groups, order = {}, {}
  local heights, widths = h:tolist(), w:tolist()
  for i = 1, count do
    local gh = ratio > 0 and ratio or math.max(math.ceil(heights[i] / rows), 1)
    local gw = ratio > 0 and ratio or math.max(math.ceil(widths[i] / cols), 1)
    local key = gh .. 'x' .. gw
    if not groups[key] then
      groups[key] = { gh = gh, gw = gw }
      order[#order + 1] = groups[key]
    end
    table.insert(groups[key], i)
  end
  local parts, places = {}, {}
  for k, group in ipairs(order) do
    local at = torch.tensor(table.move(group, 1, #group, 1, {}), { device = input.device })
    local vertical = weights(y:index_select(1, at), h:index_select(1, at), rows, group.gh, height):unsqueeze(2)
    local horizontal = weights(x:index_select(1, at), w:index_select(1, at), cols, group.gw, width):unsqueeze(2)
    local images = input:index_select(1, image:index_select(1, at))
    parts[k], places[k] = vertical:matmul(images):matmul(horizontal.mT), at
  end
  return torch.cat(parts):index_select(1, torch.argsort(torch.cat(places)))
end

--- roi_pool(input, boxes, output_size, {spatial_scale = 1}): the same with the maximum of each
--- part; edges of parts are rounded outwards, and a part without pixels is 0.
function vision.roi_pool(input, boxes, output_size, scale)
  local rois = regions_of('roi_pool', boxes, input)
  local rows, cols = pair(output_size)
  local height, width, results = input:size(3), input:size(4), {}
  if rois:size(1) == 0 then return input:new_zeros { 0, input:size(2), rows, cols } end
  local function rounded(v) return v >= 0 and math.floor(v + 0.5) or math.ceil(v - 0.5) end
  -- The first pixel of part i, and the one after the last, from 0.
  local function part(i, bins, start, length, size)
    local first, last = math.floor((i - 1) * length / bins) + start, math.ceil(i * length / bins) + start
    return math.min(math.max(first, 0), size), math.min(math.max(last, 0), size)
  end
  for k, roi in ipairs(rois:tolist()) do
    local x1, y1, x2, y2 = rounded(roi[2] * scale), rounded(roi[3] * scale), rounded(roi[4] * scale), rounded(roi[5] * scale)
    local image, cells = input[math.tointeger(roi[1])], {}
    local w, h = math.max(x2 - x1 + 1, 1), math.max(y2 - y1 + 1, 1)
    for i = 1, rows do
      local top, bottom = part(i, rows, y1, h, height)
      for j = 1, cols do
        local left, right = part(j, cols, x1, w, width)
        if bottom <= top or right <= left then
          cells[#cells + 1] = input:new_zeros { input:size(2) }
        else
          cells[#cells + 1] = image:narrow(2, top + 1, bottom - top):narrow(3, left + 1, right - left):reshape(input:size(2), -1):max(2)
        end
      end
    end
    results[k] = torch.stack(cells, 2):reshape(input:size(2), rows, cols)
  end
  return torch.stack(results)
end

declare.functions(vision, [[
  roi_align(Tensor input, any boxes, any output_size, *, number spatial_scale=1.0, integer sampling_ratio=-1, boolean aligned=false)
]], 'options')
declare.functions(vision, 'roi_pool(Tensor input, any boxes, any output_size, *, number spatial_scale=1.0)')

checked.functions(vision, {
  boxes1 = 'Tensor', boxes2 = 'Tensor', ['box_area.boxes'] = 'Tensor', ['box_convert.boxes'] = 'Tensor', ['nms.boxes'] = 'Tensor',
  ['batched_nms.boxes'] = 'Tensor', ['clip_boxes_to_image.boxes'] = 'Tensor', ['remove_small_boxes.boxes'] = 'Tensor', masks = 'Tensor',
  scores = 'Tensor', idxs = 'Tensor', iou_threshold = 'number', min_size = 'number', size = 'integers', output_size = 'sizes', eps = 'number?',
  in_fmt = 'string', out_fmt = 'string', ['roi_align.boxes'] = 'Tensor|table', ['roi_pool.boxes'] = 'Tensor|table', options = 'named?',
})
copy_causes.functions(vision, 'vision.', 'nms batched_nms masks_to_boxes roi_align roi_pool')

return vision
