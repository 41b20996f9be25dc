-- kept.lua - what is computed of parameters alone is kept beside them until one of them is another tensor or has been changed.

local torch = require 'torch'

local M = {}

--- Whether the gradients of any of these are recorded: then nothing made of them is kept.
function M.records(...)
  if not torch.is_grad_enabled() then return false end
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if value ~= nil and value.requires_grad then return true end
  end
  return false
end

--- Whether what `holder` keeps of the tensors in `list` still holds; notes them when it does not.
function M.holds(holder, list)
  local seen = holder.seen
  local same = seen ~= nil and seen.inference == torch.is_inference_mode_enabled() -- its tensors are no use to backward
  for i, tensor in ipairs(list) do
    same = same and seen[i] == tensor and seen.version[i] == torch._C.version_of(tensor) and seen.place[i] == tensor:data_ptr()
  end
  if same then return true end
  seen = table.move(list, 1, #list, 1, { version = {}, place = {}, inference = torch.is_inference_mode_enabled() })
  for i, tensor in ipairs(list) do seen.version[i], seen.place[i] = torch._C.version_of(tensor), tensor:data_ptr() end
  holder.seen = seen
  return false
end

return M
