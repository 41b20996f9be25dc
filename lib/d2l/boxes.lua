-- boxes.lua - d2l: anchor boxes: generating them, matching them with true boxes, and selecting
-- predictions.
--
-- Boxes are rows {x1, y1, x2, y2}; anchors are fractions of the image's width and height. Classes
-- count from 1. In targets, the background is class 1 and class c of an object is c + 1, as
-- cross_entropy expects. An unmatched box has number 0, and a removed box has class 0.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local vision = torch.vision

local M = {}

--- {x1, y1, x2, y2} as {middle x, middle y, width, height}, and back.
function M.box_corner_to_center(boxes) return vision.box_convert(boxes, 'xyxy', 'cxcywh') end
function M.box_center_to_corner(boxes) return vision.box_convert(boxes, 'cxcywh', 'xyxy') end

--- Intersection over union of every pair of boxes.
function M.box_iou(boxes1, boxes2) return vision.box_iou(boxes1, boxes2) end

--- Anchors at every pixel of a feature map (n, c, height, width): of all sizes with the first
--- ratio, and of the first size with the other ratios. Returns (1, height * width * (#sizes +
--- #ratios - 1), 4).
function M.multibox_prior(data, sizes, ratios)
  local height, width = data:size(-2), data:size(-1)
  local like = { device = data.device, dtype = torch.float32 }
  local y = (torch.arange(0, height, like) + 0.5) / height
  local x = (torch.arange(0, width, like) + 0.5) / width
  local shift_y, shift_x = torch.meshgrid(y, x, { indexing = 'ij' })
  local w, h = {}, {}
  local function add(size, ratio)
    w[#w + 1], h[#h + 1] = size * math.sqrt(ratio) * height / width / 2, size / math.sqrt(ratio) / 2
  end
  for _, size in ipairs(sizes) do add(size, ratios[1]) end
  for i = 2, #ratios do add(sizes[1], ratios[i]) end
  w, h = torch.tensor(w, like), torch.tensor(h, like)
  local around = torch.stack({ -w, -h, w, h }, 2)
  local middles = torch.stack({ shift_x, shift_y, shift_x, shift_y }, 3):reshape(-1, 1, 4)
  return (middles + around):reshape(1, -1, 4)
end

--- The true box assigned to each anchor, as a position, or 0: each true box is assigned to its best
--- anchor, then the other anchors to the box that they overlap most, if by at least iou_threshold.
function M.assign_anchor_to_bbox(ground_truth, anchors, iou_threshold)
  local overlaps = vision.box_iou(anchors, ground_truth)
  local most, at = overlaps:max(2)
  local map = torch.where(most:ge(iou_threshold or 0.5), at, torch.zeros_like(at))
  local left = overlaps:clone()
  for _ = 1, math.min(#ground_truth, #anchors) do
    local best = left:argmax():item() - 1
    local anchor, box = best // #ground_truth + 1, best % #ground_truth + 1
    map[anchor] = box
    left[{ {}, box }] = -1
    left[anchor] = -1
  end
  return map
end

--- The offsets of boxes from their anchors, scaled to about unit variance.
function M.offset_boxes(anchors, assigned_bb, eps)
  local a, b = M.box_corner_to_center(anchors), M.box_corner_to_center(assigned_bb)
  local xy = 10 * (b:narrow(2, 1, 2) - a:narrow(2, 1, 2)) / a:narrow(2, 3, 2)
  local wh = 5 * torch.log((eps or 1e-6) + b:narrow(2, 3, 2) / a:narrow(2, 3, 2))
  return torch.cat({ xy, wh }, 2)
end

--- The boxes at these offsets from their anchors.
function M.offset_inverse(anchors, offset_preds)
  local a = M.box_corner_to_center(anchors)
  local xy = offset_preds:narrow(2, 1, 2) * a:narrow(2, 3, 2) / 10 + a:narrow(2, 1, 2)
  local wh = torch.exp(offset_preds:narrow(2, 3, 2) / 5) * a:narrow(2, 3, 2)
  return M.box_center_to_corner(torch.cat({ xy, wh }, 2))
end

--- Targets of a detector: anchors (1, n, 4) and labels (batch, objects, 5), rows {class, box} with
--- class 0 for no object. Returns offsets and masks (batch, n * 4), and classes (batch, n): 1 is
--- the background, c + 1 class c.
function M.multibox_target(anchors, labels)
  local n = anchors:size(2)
  anchors = anchors:squeeze(1)
  local offsets, masks, classes = {}, {}, {}
  for i = 1, #labels do
    local rows = labels[i]
    rows = rows:index_select(1, rows:select(2, 1):gt(0):nonzero():squeeze(2))
    local class_of = torch.ones(n, { dtype = torch.int64, device = anchors.device })
    local assigned = torch.zeros(n, 4, { device = anchors.device })
    local mask = torch.zeros(n, 4, { device = anchors.device })
    if #rows > 0 then
      local map = M.assign_anchor_to_bbox(rows:narrow(2, 2, 4), anchors)
      local places = map:gt(0):nonzero():squeeze(2)
      local numbers = map:index_select(1, places)
      mask:index_fill_(1, places, 1)
      class_of:index_copy_(1, places, rows:select(2, 1):long():index_select(1, numbers) + 1)
      assigned:index_copy_(1, places, rows:narrow(2, 2, 4):index_select(1, numbers))
    end
    offsets[i], masks[i], classes[i] = (M.offset_boxes(anchors, assigned) * mask):reshape(-1), mask:reshape(-1), class_of
  end
  return torch.stack(offsets), torch.stack(masks), torch.stack(classes)
end

--- Non-maximum suppression: the positions of the remaining boxes, best first, after each box
-- suppresses boxes of lower score that overlap it by more than iou_threshold.
function M.nms(boxes, scores, iou_threshold) return vision.nms(boxes, scores, iou_threshold) end

--- Detections: cls_probs (batch, classes with the background first, n), offset_preds (batch, n *
--- 4), anchors (1, n, 4). Returns (batch, n, 6), rows {class, confidence, box}, best first; class
--- 0: the background, or a box that a better one suppresses.
function M.multibox_detection(cls_probs, offset_preds, anchors, nms_threshold, pos_threshold)
  nms_threshold, pos_threshold = nms_threshold or 0.5, pos_threshold or 0.009999999
  if cls_probs:dim() ~= 3 then fail('multibox_detection(): cls_probs has three dimensions, not %d', cls_probs:dim()) end
  anchors = anchors:squeeze(1)
  local n, found = #anchors, {}
  for i = 1, #cls_probs do
    local conf, class = cls_probs[i]:narrow(1, 2, cls_probs:size(2) - 1):max(1)
    local boxes = M.offset_inverse(anchors, offset_preds[i]:reshape(-1, 4))
    local keep = M.nms(boxes, conf, nms_threshold)
    local is_kept = torch.zeros(n, { dtype = torch.bool, device = conf.device }):index_fill_(1, keep, true)
    local rest = is_kept:logical_not():nonzero():squeeze(2)
    class = torch.where(is_kept, class, torch.zeros_like(class))
    -- A box below the threshold becomes background with the complementary confidence.
    local below = conf:lt(pos_threshold)
    class = torch.where(below, torch.zeros_like(class), class)
    conf = torch.where(below, 1 - conf, conf)
    local order = torch.cat { keep, rest }
    found[i] = torch.cat({ class:float():unsqueeze(2), conf:unsqueeze(2), boxes }, 2):index_select(1, order)
  end
  return torch.stack(found)
end

--- A figure: an image (3, height, width) with the outlines of boxes {x1, y1, x2, y2} in pixels, in
--- six colours.
function M.show_bboxes(image, bboxes)
  local colours = { { 0, 0, 1 }, { 0, 1, 0 }, { 1, 0, 0 }, { 1, 0, 1 }, { 0, 1, 1 }, { 1, 1, 0 } }
  local picture = (image:is_floating_point() and image or image:float() / 255):clone()
  local height, width = picture:size(2), picture:size(3)
  for i, box in ipairs(torch.is_tensor(bboxes) and bboxes:tolist() or bboxes) do
    local function at(value, most) return math.min(math.max(math.floor(value + 0.5) + 1, 1), most) end
    local left, top, right, bottom = at(box[1], width), at(box[2], height), at(box[3], width), at(box[4], height)
    local colour = torch.tensor(colours[(i - 1) % #colours + 1], { dtype = torch.float32 }):reshape(3, 1)
    for _, row in ipairs { top, bottom } do picture[{ {}, row, { left, right } }] = colour end
    for _, column in ipairs { left, right } do picture[{ {}, { top, bottom }, column }] = colour end
  end
  return torch.utils.plot.image(picture)
end

return M
