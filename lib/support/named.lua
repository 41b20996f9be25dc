-- named.lua - reads the table of named arguments of a function written in Lua: each name with the kind of its value.

local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'

--- The given table, or an empty one, when its names and values are of `known` (name = kind); else raises.
return function(what, given, known)
  if given == nil then given = {} end
  if not kinds.is_named(given) then
    fail('%s(): the named arguments must be a table, got %s', what, kinds.described(given))
  end
  local names = kinds.all_names({}, known)
  kinds.check_names(what, given, names)
  for _, name in ipairs(names) do kinds.check(what, name, given[name], known[name]) end
  return given
end
