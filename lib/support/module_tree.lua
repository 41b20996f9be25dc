-- module_tree.lua - creates modules from the names of tensors: 'encoder.0.weight' is in modules
-- `encoder` and `0`, as in the program that wrote it.

local class = require 'torch.support.class'
local nn = require 'torch.nn'

local M = {}

-- The module in which a name's last part is unused, and that part.
local function free_place(model, Part, name)
  local at = model
  for part in name:gmatch '([^.]*)%.' do
    local child = part ~= '' and class.fields(at)[part]
    if part == '' or child and not nn.Module:is_instance(child) or not child and at[part] ~= nil then return nil end
    if not child then
      child = Part()
      at:add_module(part, child)
    end
    at = child
  end
  local last = name:match '[^.]*$'
  if last == '' or last:sub(1, 1) == '_' or at[last] ~= nil then return nil end
  return at, last
end

--- The module and the field for a tensor with this name. If that is impossible (the name of a
-- method, or of both a module and a tensor), dots are replaced. Part: the class of the modules
-- created on the path.
function M.place(model, Part, name)
  local at, key = free_place(model, Part, name)
  if at then return at, key end
  local flat = 'value_' .. name:gsub('%.', '_')
  key = flat
  local n = 1
  while model[key] ~= nil do
    n = n + 1
    key = ('%s_%d'):format(flat, n)
  end
  return model, key
end

return M
