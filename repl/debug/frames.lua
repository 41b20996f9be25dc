-- Frames of a stopped thread: their variables, and code that runs in them.
--
-- A frame is {thread, level, func, source, line, name, what}, innermost first; the frames of the
-- threads that have resumed the coroutine follow. Frames in C and in the program's own chunks are
-- left out. The stopped thread does not run meanwhile, so levels stay valid. May use repl.errors
-- and the program's repl.hook.

local errors = require 'repl.errors'
local hook = require 'repl.hook'

local frames = {}

local MAX_FRAMES = 1000

-- The frames of the thread and of its callers.
function frames.list(thread)
  local list = {}
  while thread do
    local level = 0
    while #list < MAX_FRAMES do
      local info = debug.getinfo(thread, level, 'Slnfu')
      if not info then break end
      if info.what ~= 'C' and (errors.full or not errors.is_internal(info)) then
        list[#list + 1] = {
          thread = thread, level = level, func = info.func, source = info.source, short = info.short_src,
          line = info.currentline, name = errors.function_name(info), what = info.what,
        }
      end
      level = level + 1
    end
    thread = hook.caller(thread)
  end
  return list
end

local function is_hidden(name) return name:find '^%(' or name:find '^_keep_locals_*$' or name == '_ENV' end

-- The visible variables of a frame by name, and the names in order: {kind, index} of locals and
-- upvalues. The innermost of several variables with one name counts.
local function variables_of(frame)
  local found, names = {}, {}
  local function add(kind, index, name)
    if is_hidden(name) then return end
    if not found[name] then names[#names + 1] = name end
    found[name] = {kind, index}
  end
  for index = 1, 255 do
    local name = debug.getupvalue(frame.func, index)
    if not name then break end
    add('upvalue', index, name)
  end
  for index = 1, 255 do
    local name = debug.getlocal(frame.thread, frame.level, index)
    if not name then break end
    add('local', index, name)
  end
  return found, names
end

local function read(frame, variable)
  if variable[1] == 'upvalue' then return (select(2, debug.getupvalue(frame.func, variable[2]))) end
  return (select(2, debug.getlocal(frame.thread, frame.level, variable[2])))
end

local function write(frame, variable, value)
  if variable[1] == 'upvalue' then
    debug.setupvalue(frame.func, variable[2], value)
  else
    debug.setlocal(frame.thread, frame.level, variable[2], value)
  end
end

-- The variables of a frame, 'local' or 'upvalue', as a list of {name, value}.
function frames.variables(frame, kind)
  local found, names = variables_of(frame)
  local list = {}
  for _, name in ipairs(names) do
    if found[name][1] == kind then list[#list + 1] = {name = name, value = read(frame, found[name])} end
  end
  if kind == 'local' then
    for index = 1, 255 do
      local name, value = debug.getlocal(frame.thread, frame.level, -index)
      if not name then break end
      list[#list + 1] = {name = ('...[%d]'):format(index), value = value}
    end
  end
  return list
end

-- Changes a variable of the frame; false if it has no such variable.
function frames.assign(frame, name, value)
  local variable = variables_of(frame)[name]
  if not variable then return false end
  write(frame, variable, value)
  return true
end

local Scope = {}
Scope.__index = Scope

-- The variables of a frame, then of the session's scope, with the interface that completion uses.
function frames.scope(frame, outer) return setmetatable({frame = frame, outer = outer}, Scope) end

function Scope:get(name)
  local variable = variables_of(self.frame)[name]
  if variable then return read(self.frame, variable), true end
  return self.outer:get(name)
end

function Scope:names()
  local found, names = variables_of(self.frame)
  for _, name in ipairs(self.outer:names()) do
    if not found[name] then names[#names + 1] = name end
  end
  return names
end

-- The globals that a frame uses.
function frames.globals(frame)
  for index = 1, 255 do
    local name, value = debug.getupvalue(frame.func, index)
    if not name then break end
    if name == '_ENV' then return value end
  end
  return _G
end

-- Compiles an expression or statements that read and assign the variables of `frame`, then, if
-- given, fallback(name) -> value, found, then globals. Nil and a message if it is not valid Lua.
function frames.compile(frame, code, fallback)
  local found = variables_of(frame)
  local globals = frames.globals(frame)
  local environment = setmetatable({}, {
    __index = function(_, name)
      if found[name] then return read(frame, found[name]) end
      if fallback then
        local value, known = fallback(name)
        if known then return value end
      end
      return globals[name]
    end,
    __newindex = function(_, name, value)
      if found[name] then write(frame, found[name], value) else globals[name] = value end
    end,
  })
  local chunk = load('return ' .. code, '=(debug)', 't', environment)
  if chunk then return chunk end
  return load(code, '=(debug)', 't', environment)
end

return frames
