-- %autoreload: reloads changed modules in place.
--
-- A module is watched if its file is found as `require` finds it. The new result of a file is
-- copied into the table that it returned before, so that all references to that table use the new
-- functions. May use repl.system.

local system = require 'repl.system'

local library = package.loaded.package -- the user's copy: its path may have changed

local reload = {}

-- Records the modification times of new modules; returns the names of modules that have changed
-- since the last call.
local function look(watched)
  local names = {}
  for name in pairs(package.loaded) do
    if type(name) == 'string' and not package.preload[name] then
      local known = watched[name]
      local path = known and known.path or package.searchpath(name, library.path)
      local modified = path and system.modified(path)
      if known and modified and modified ~= known.modified then names[#names + 1] = name end
      if modified then watched[name] = {path = path, modified = modified} end
    end
  end
  table.sort(names)
  return names
end

-- Starts watching the loaded modules.
function reload.watch()
  local watched = {}
  look(watched)
  return watched
end

-- Reloads the modules that have changed since the last call; returns their names. A module that
-- fails to load raises an error and stays unchanged.
function reload.changed(watched)
  local names = look(watched)
  for _, name in ipairs(names) do
    local path = watched[name].path
    local chunk, message = loadfile(path)
    if not chunk then error(message, 0) end
    local old, new = package.loaded[name], chunk(name, path)
    if type(old) == 'table' and type(new) == 'table' then
      for key, value in next, new do rawset(old, key, value) end
    elseif new ~= nil then
      package.loaded[name] = new
    end
  end
  return names
end

return reload
