-- packages.lua - operators that packages of Python define beside PyTorch's, by their qualified names.

local torch = require 'torch'

local M = {}

-- torchvision: the positions of the boxes that are kept.
M['torchvision::nms'] = function(a) return torch.vision.nms(a.dets, a.scores, a.iou_threshold) - 1 end

-- transformers: products of groups of rows with a matrix of each. offs: the end of each group.
M['transformers::grouped_mm_fallback'] = function(a)
  local parts, start, rows = {}, 0, a.input:size(1)
  for i, last in ipairs(a.offs:tolist()) do
    if last > start then parts[#parts + 1] = torch.mm(a.input:narrow(1, start + 1, last - start), a.weight:select(1, i)) end
    start = math.max(start, last)
  end
  if start < rows then parts[#parts + 1] = a.input:new_zeros { rows - start, a.weight:size(3) } end
  if #parts == 0 then return a.input:new_zeros { 0, a.weight:size(3) } end
  return torch.cat(parts, 1)
end

return M
