-- scope.lua - the end of a scope that repl/program/close_scopes.lua wrote as a function: returns lt_scope(value, f, ...), which returns
-- f(...) after value's __close. An error in f is raised again after it.

local metatable_of, file_type = debug and debug.getmetatable or getmetatable, io and io.type or function() end -- a sandbox may lack both

local function close_file(file)
  if file_type(file) == 'file' then file:close() end
end

-- A file has no __close in Lua 5.3.
local function closer_of(value)
  local metatable = metatable_of(value)
  return type(metatable) == 'table' and metatable.__close or file_type(value) and close_file
end

-- repl/system/interrupt.c reads the name of the variable lt_close: Ctrl-C lets the call end.
local function finish(lt_close, value, ok, ...)
  if lt_close then lt_close(value, not ok and (...) or nil) end
  if not ok then error((...), 0) end
  return ...
end

return function(value, f, ...)
  local close = value and closer_of(value)
  if value and not close then error('a variable got a non-closable value: a ' .. type(value), 2) end
  return finish(close, value, pcall(f, ...))
end
