-- parameters_of.lua - converts the arguments that PyTorch calls parameters (of optimizers,
-- clip_grad_norm_ and similar) to tensors.
--
-- A tensor, a module (its parameters), a nested list of either, or an iterator such as
-- net:named_parameters(). A parameter that several modules share occurs once; one that is listed
-- twice occurs twice, and the caller raises the error. Other values stay in the list, and the
-- caller names them.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local no_holes = require 'torch.support.no_holes'

local MAX_DEPTH = 100

local function is_module(value)
  return type(value) == 'userdata' and require('torch.nn.module'):is_instance(value)
end

local function add(list, value, seen, depth)
  if is_module(value) then
    for _, parameter in ipairs(value:parameters()) do
      if not seen[parameter] then
        seen[parameter] = true
        list[#list + 1] = parameter
      end
    end
  elseif type(value) == 'table' then
    if depth == MAX_DEPTH then fail 'a list of parameters is nested too deeply, or contains itself' end
    no_holes('a list of parameters', value)
    for _, entry in ipairs(value) do add(list, entry, seen, depth + 1) end
  elseif type(value) == 'function' then
    for name, entry in value do
      local found = torch.is_tensor(name) and name or entry
      if not (torch.is_tensor(found) or is_module(found)) then -- not an iterator of parameters: it may be endless
        list[#list + 1] = found == nil and name or found
        return
      end
      add(list, found, seen, depth + 1)
    end
  else
    if torch.is_tensor(value) then seen[value] = true end
    list[#list + 1] = value
  end
end

return function(value)
  local list = {}
  add(list, value, {}, 0)
  return list
end
