-- sandbox.lua - the globals of an untrusted script (lt_script): computation only, without access to
-- other resources or ways around the limits. sandbox(print, is_stopping) -> the table of globals
--
-- A hook that raises an error at each instruction stops the script. Lua disables hooks in three
-- places, which scripts therefore cannot use: finalizers (setmetatable rejects __gc), message
-- handlers while the script is stopping (xpcall), and closing a coroutine that the hook has ended
-- (close and wrap do not close it). Metatables that the script did not create are hidden, and
-- libraries are accessible through read-only tables.

local torch = require 'torch'

local error, getmetatable, next, rawget, select, setmetatable, type, xpcall =
  error, getmetatable, next, rawget, select, setmetatable, type, xpcall
local create, resume, status = coroutine.create, coroutine.resume, coroutine.status
local close = coroutine.close or function() end -- Lua 5.3 has no variables to close

-- A view of a library. Libraries in it are views, too; classes and values are unchanged.
local function view_of(library, name, hidden, views)
  if views[library] then return views[library] end
  local view = {}
  views[library] = view
  local function shown(key)
    if hidden and hidden[key] then return nil end
    local value = library[key]
    if type(value) ~= 'table' or rawget(value, '__classname') then return value end
    local metatable = getmetatable(value)
    if metatable and (type(metatable) ~= 'table' or metatable.__call) then return value end
    return view_of(value, ('%s.%s'):format(name, key), hidden, views)
  end
  return setmetatable(view, {
    __index = function(_, key) return shown(key) end,
    __newindex = function(_, key) error(("%s is read-only: '%s' cannot be set"):format(name, key), 2) end,
    __pairs = function()
      return function(_, key)
        repeat key = next(library, key) until not (hidden and hidden[key])
        if key ~= nil then return key, shown(key) end
      end
    end,
    __metatable = false,
  })
end

local function copy(library, names)
  local made = {}
  for name in names:gmatch '%S+' do made[name] = library[name] end
  return made
end

return function(print, is_stopping)
  local globals = copy(_G, 'assert error ipairs next pairs pcall rawequal rawget rawlen rawset select tonumber tostring type _VERSION')
  local views, own = {}, setmetatable({}, { __mode = 'k' })

  -- ---- libraries --------------------------------------------------------------------------------

  local libraries = {
    math = copy(math, 'abs acos asin atan ceil cos deg exp floor fmod huge log max maxinteger min mininteger modf pi rad random ' ..
      'randomseed sin sqrt tan tointeger type ult'),
    string = copy(string, 'byte char find format gmatch gsub len lower match pack packsize rep reverse sub unpack upper'),
    table = copy(table, 'concat insert move pack remove sort unpack'),
    utf8 = copy(utf8, 'char charpattern codepoint codes len offset'),
    os = copy(os, 'clock date difftime time'),
  }

  -- ---- coroutines -------------------------------------------------------------------------------

  local ended = setmetatable({}, { __mode = 'k' }) -- coroutines ended by the hook: hooks stay disabled in them
  local function remember(co, ok, ...)
    if not ok and is_stopping() then ended[co] = true end
    return ok, ...
  end
  local function close_unless_ended(co)
    if ended[co] then error('a coroutine that was stopped cannot be closed', 3) end
    return close(co)
  end
  local function unwrap(co, ok, ...)
    if ok then return ... end
    if not ended[co] and status(co) == 'dead' then close(co) end
    error((...), 0)
  end
  libraries.coroutine = copy(coroutine, 'create isyieldable running status yield')
  function libraries.coroutine.resume(co, ...) return remember(co, resume(co, ...)) end
  libraries.coroutine.close = coroutine.close and function(co) return close_unless_ended(co) end
  function libraries.coroutine.wrap(f)
    local co = create(f)
    return function(...) return unwrap(co, remember(co, resume(co, ...))) end
  end

  -- ---- functions --------------------------------------------------------------------------------

  function globals.setmetatable(t, metatable)
    if type(metatable) == 'table' and rawget(metatable, '__gc') ~= nil then error('a script cannot have finalizers (__gc)', 2) end
    setmetatable(t, metatable)
    if metatable ~= nil then own[metatable] = true end
    return t
  end

  function globals.getmetatable(value)
    local metatable = getmetatable(value)
    if type(metatable) == 'table' and not own[metatable] then return false end
    return metatable
  end

  function globals.xpcall(f, handler, ...)
    if type(handler) ~= 'function' then return xpcall(f, handler, ...) end
    return xpcall(f, function(...)
      if is_stopping() then return ... end
      return handler(...)
    end, ...)
  end

  local load = load
  function globals.load(chunk, name, _, ...)
    return load(chunk, name, 't', select('#', ...) > 0 and (...) or globals)
  end

  globals.print = print
  for name, library in pairs(libraries) do globals[name] = view_of(library, name, nil, views) end
  -- hub runs programs from files; memory_trim and threads affect all contexts
  globals.torch = view_of(torch, 'torch', { _C = true, hub = true, memory_trim = true, threads = true }, views)
  globals._G = globals

  function globals.require(name)
    if views[libraries[name]] or name == 'torch' then return views[libraries[name] or torch] end
    if type(name) == 'string' and name:find '^torch%.' then
      local found = globals.torch
      for part in name:sub(7):gmatch '[^.]+' do found = type(found) == 'table' and found[part] or nil end
      if found then return found end
    end
    error(("module '%s' is not available to an untrusted script"):format(globals.tostring(name)), 2)
  end

  getmetatable('').__index, getmetatable('').__metatable = libraries.string, false
  return globals
end
