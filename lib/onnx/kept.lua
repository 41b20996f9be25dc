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

--- True if the cache of `holder` is valid for these tensors (nil: none); otherwise records them.
function M.holds(holder, ...)
  local seen, n = holder.seen, select('#', ...)
  local same = seen ~= nil and seen.inference == torch.is_inference_mode_enabled() -- backward cannot use inference tensors
  for i = 1, n do
    local tensor = select(i, ...)
    if not same then break end
    same = rawequal(seen[i], tensor) and (tensor == nil or seen.version[i] == torch._C.version_of(tensor) and seen.place[i] == tensor:data_ptr())
  end
  if same then return true end
  seen = { version = {}, place = {}, inference = torch.is_inference_mode_enabled() }
  for i = 1, n do
    local tensor = select(i, ...)
    if tensor ~= nil then seen[i], seen.version[i], seen.place[i] = tensor, torch._C.version_of(tensor), tensor:data_ptr() end
  end
  holder.seen = seen
  return false
end

return M
