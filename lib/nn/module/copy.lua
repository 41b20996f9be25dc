-- copy.lua - module:deepcopy(): a module with its own tensors and the same values. Sharing inside
-- of the module is preserved. Fields are copied, tables with their contents. Of the hooks, only
-- objects (of weight_norm and spectral_norm) are copied, because functions may refer to the
-- original module.

--[=[ arguments
deepcopy(): A copy with parameters and buffers of its own.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local for_loops = require 'torch.support.for_loops'

local fields_of = class.fields

local function copy_tensor(tensor)
  local copy = tensor:detach():clone()
  if torch._C.is_parameter(tensor) then return torch.nn.Parameter(copy, { requires_grad = tensor.requires_grad }) end
  if tensor.requires_grad then copy:requires_grad_() end
  return copy
end

local copy_value

local function copy_fields(from, to, seen)
  for key, value in pairs(from) do
    if key ~= '_hooks' and key ~= '_state_hooks' then rawset(to, key, copy_value(value, seen)) end
  end
end

local function copy_hooks(from, to)
  local hooks = fields_of(from)._hooks
  for _, entry in ipairs(hooks and hooks.forward_pre.entries or {}) do
    if type(entry.fn) == 'table' then to:register_forward_pre_hook(entry.fn) end
  end
end

copy_value = function(value, seen)
  if type(value) ~= 'table' and type(value) ~= 'userdata' then return value end
  if seen[value] ~= nil then return seen[value] end
  local copy = value
  if torch.is_tensor(value) then
    copy = copy_tensor(value)
  elseif type(value) == 'userdata' and seen.Module:is_instance(value) then
    copy = torch._C.new_object(getmetatable(value), {})
    seen[value] = copy
    copy_fields(fields_of(value), fields_of(copy), seen)
    copy_hooks(value, copy)
  elseif for_loops.is_plain(value) then
    copy = {}
    seen[value] = copy
    copy_fields(value, copy, seen)
  end
  seen[value] = copy
  return copy
end

return function(Module)
  function Module:deepcopy() return copy_value(self, { Module = Module }) end
end
