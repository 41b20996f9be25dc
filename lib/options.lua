-- options.lua - reads the table of named arguments of a constructor written in Lua: fills in the defaults
-- and refuses names that do not exist, listing those that do. `false` as a default may stand for "none".

return function(what, given, defaults)
  local options = {}
  for name, value in pairs(defaults) do options[name] = value end
  if given == nil then return options end
  if type(given) ~= 'table' then
    error(('%s(): the named arguments must be a table, got %s'):format(what, type(given)), 3)
  end
  for name, value in pairs(given) do
    if defaults[name] == nil then
      local known = {}
      for key in pairs(defaults) do known[#known + 1] = key end
      table.sort(known)
      error(("%s() got an unexpected keyword argument '%s'; it takes %s"):format(what, tostring(name),
        table.concat(known, ', ')), 3)
    end
    options[name] = value
  end
  return options
end
