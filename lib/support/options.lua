-- options.lua - reads the table of named arguments of a constructor written in Lua: fills in the defaults, and refuses
-- names that do not exist, listing those that do, and values of another kind. `false` as a default may stand for "none".

local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'

return function(what, given, defaults)
  local options = {}
  for name, value in pairs(defaults) do options[name] = value end
  if given == nil then return options end
  if type(given) ~= 'table' then
    fail('%s(): the named arguments must be a table, got %s', what, kinds.described(given))
  end
  for name, value in pairs(given) do
    if defaults[name] == nil then kinds.refuse_name(what, name, kinds.all_names({}, defaults)) end
    options[name] = value
  end
  kinds.check_named(what, options, defaults)
  return options
end
