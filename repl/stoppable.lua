-- Versions of Lua's library functions that Ctrl-C can stop, installed while the prompt runs cells.
-- Scripts, and programs that use only the library, keep Lua's.

local torch = require 'torch'

local stoppable = {}

local replaced = {} -- {library, name, Lua's function, ours}

local function replace(library, functions)
  for name, ours in pairs(functions) do
    replaced[#replaced + 1] = {library, name, rawget(library, name), ours}
    rawset(library, name, ours)
  end
end

-- Installs them.
function stoppable.install()
  local loaded = package.loaded
  for name, functions in pairs(torch._C.stoppable()) do
    if type(loaded[name]) == 'table' then replace(loaded[name], functions) end
  end
end

-- Restores Lua's functions; functions that the user has set since then remain.
function stoppable.restore()
  for _, entry in ipairs(replaced) do
    local library, name, original, ours = table.unpack(entry)
    if rawequal(rawget(library, name), ours) then rawset(library, name, original) end
  end
  replaced = {}
end

return stoppable
