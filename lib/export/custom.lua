-- custom.lua - operators of other namespaces than ATen's: operations that the program defined by
-- torch.library or loaded from a plugin (torch.ops), otherwise the ones of ops/packages.lua. Numbers
-- reach them as they are in the file: dimensions and positions count from 0.

local torch = require 'torch'
local packages = require 'torch.export.ops.packages'

local M = {}

local UNDEFINED = 'an operator that ltensor does not have; define it by torch.library.custom_op before you load the program'

-- The node's arguments by position and by name, in the order of the operation's arguments; nil and the
-- reason if it has no such argument.
local function bind(declared, arguments)
  local at, bound = {}, {}
  for i, parameter in ipairs(declared) do at[parameter.name] = i end
  for k, argument in ipairs(arguments) do
    local i = argument.name == '' and k or at[argument.name]
    if not declared[i] then return nil, ("its argument '%s' is none of the operation that you defined"):format(argument.name == '' and k or argument.name) end
    bound[i] = argument
  end
  return bound
end

local function by_name(fn, arguments)
  return function(...)
    local given = {}
    for _, argument in ipairs(arguments) do given[argument.name] = argument.value(...) end
    return fn(given)
  end
end

--- The function of a node of the operator `target`, torch.ops.NAMESPACE.NAME.OVERLOAD; nil and the
-- reason if it is not defined here.
function M.call(target, arguments)
  local space, name, overload = target:match '^torch%.ops%.([%w_]+)%.([%w_]+)%.([%w_]+)$'
  local qualname = space and ('%s::%s'):format(space, name)
  if not qualname or overload ~= 'default' then return nil, UNDEFINED end
  if not torch._C.own_list()[qualname] then
    if packages[qualname] then return by_name(packages[qualname], arguments) end
    return nil, UNDEFINED
  end
  local declared = torch._C.own_arguments(qualname)
  local bound, reason = bind(declared, arguments)
  if not bound then return nil, reason end
  local fn = torch.ops[space][name]
  return function(...)
    local given, named, n = {}, nil, 0
    for i, parameter in ipairs(declared) do
      local value = bound[i] and bound[i].value(...)
      if value ~= nil and n == i - 1 and not parameter.named_only then
        n, given[i] = i, value
      elseif value ~= nil then
        named = named or {}
        named[parameter.name] = value
      end
    end
    if named then
      n = n + 1
      given[n] = named
    end
    return fn(table.unpack(given, 1, n))
  end
end

return M
