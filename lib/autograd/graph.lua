-- graph.lua - torch.autograd.graph: what the graph keeps for backward in the place of tensors.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'

local C = torch._C
local graph = {}

-- The innermost hooks, for custom Functions, and the message of those that are disabled.
local current, refused

local guard_metatable = { __name = 'guard', __close = function(guard) guard.leave() end }

-- A guard that calls leave; with a body its results.
local function within(what, leave, body, ...)
  local guard = setmetatable({ leave = leave }, guard_metatable)
  if body == nil then return guard end
  local _ <close> = guard
  kinds.check(what, 'body', body, 'function')
  return body(...)
end

--- While body(...) runs, or until the guard that is returned without one ends, pack_hook(tensor) is called for every tensor that is saved
--- for backward, and what it returns, any value but nil, is kept instead. unpack_hook(value) gives a tensor of the same shape, dtype and
--- device back whenever backward needs it. Neither is recorded, and pack_hook must not change its tensor. Of several hooks the innermost are called.
function graph.saved_tensors_hooks(pack_hook, unpack_hook, body, ...)
  kinds.check('saved_tensors_hooks', 'pack_hook', pack_hook, 'function')
  kinds.check('saved_tensors_hooks', 'unpack_hook', unpack_hook, 'function')
  if refused then fail('%s', refused) end
  local outer, before = current, C.set_saved_hooks(pack_hook, unpack_hook)
  current = { pack = pack_hook, unpack = unpack_hook }
  return within('saved_tensors_hooks', function()
    current = outer
    C.restore_saved_hooks(before)
  end, body, ...)
end

--- While body(...) runs, or until the guard ends, saved tensors wait in the host's memory, and go back to their device for backward: less
--- memory of the device for more copies, which the ledger shows. With pin_memory these copies run beside the device's work.
function graph.save_on_cpu(pin_memory, device_type, body, ...)
  if kinds.fits(pin_memory, 'function') then return graph.save_on_cpu(false, 'cuda', pin_memory, device_type, body, ...) end
  if kinds.fits(device_type, 'function') then return graph.save_on_cpu(pin_memory, 'cuda', device_type, body, ...) end
  kinds.check('save_on_cpu', 'pin_memory', pin_memory, 'boolean?')
  local function pack(tensor)
    if not pin_memory then return { tensor.device, tensor:cpu() } end
    local packed = torch.empty(tensor.shape, { dtype = tensor.dtype, pin_memory = tensor.is_cuda })
    packed:copy_(tensor)
    return { tensor.device, packed }
  end
  local function unpack(packed) return packed[2]:to(packed[1], { non_blocking = pin_memory or false }) end
  return graph.saved_tensors_hooks(pack, unpack, body, ...)
end

--- While body(...) runs, or until the guard ends, setting hooks of saved tensors is an error with this message; so it is at once where some are set.
function graph.disable_saved_tensors_hooks(error_message, body, ...)
  kinds.check('disable_saved_tensors_hooks', 'error_message', error_message, 'string')
  if current then fail('%s', error_message) end
  local outer = refused
  refused = error_message
  return within('disable_saved_tensors_hooks', function() refused = outer end, body, ...)
end

--- For custom Functions: the innermost hooks, or nil.
function graph.__hooks() return current end

return { graph = graph }
