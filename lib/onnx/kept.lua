-- kept.lua - caches values computed from parameters until one of the parameters is replaced or
-- changed.

local torch = require 'torch'

local M = {}

--- Whether gradients of any of these are recorded: then nothing computed from them is cached.
function M.records(...)
  if not torch.is_grad_enabled() then return false end
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if value ~= nil and value.requires_grad then return true end
  end
  return false
end

--- True if the cache of `holder` is valid for the tensors in `list`; otherwise records them.
function M.holds(holder, list)
  local seen = holder.seen
  local same = seen ~= nil and seen.inference == torch.is_inference_mode_enabled() -- backward cannot use inference tensors
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
