-- Breakpoints by name: the commands `break`, `watch` and `clear` of the prompt and of the console.
-- May use repl.debug.engine, repl.debug.sources.

local engine = require 'repl.debug.engine'
local sources = require 'repl.debug.sources'

local places = {}

local USAGE = 'a breakpoint is file:line, cell N:line, a line of this file or the name of a function'

-- The place of a Lua function: its path and the first line with code.
local function of_function(name, compile)
  local chunk = compile(name)
  local ok, value = pcall(chunk or error)
  if ok and type(value) ~= 'function' then
    local metatable = debug.getmetatable(value)
    value = type(value) == 'table' and value.forward or type(metatable) == 'table' and rawget(metatable, '__call')
  end
  if not ok or type(value) ~= 'function' then error(("'%s': %s"):format(name, USAGE), 0) end
  value = require('torch.support.argument_checks').original(value)
  local info = debug.getinfo(value, 'SL')
  if info.what == 'C' then error(("'%s' is a function in C; only Lua functions have lines"):format(name), 0) end
  local first
  for line in pairs(info.activelines or {}) do
    if (line > info.linedefined or info.lastlinedefined == info.linedefined) and (not first or line < first) then first = line end
  end
  return sources.path(info.source), first or info.linedefined
end

-- The path and line of a place; `frame` is the selected call, or nil.
local function resolve(text, compile, frame)
  local cell, cell_line = text:match '^%(?cell%s+(%d+)%)?:(%d+)$'
  if cell then return ('(cell %d)'):format(cell), tonumber(cell_line) end
  local name, line = text:match '^(.+):(%d+)$'
  if not name and text:find '^%d+$' then
    if not frame then error(("'%s': %s"):format(text, USAGE), 0) end
    return sources.path(frame.source), tonumber(text)
  end
  if not name then return of_function(text:gsub(':', '.'), compile) end
  local path, problem = sources.find(name)
  if not path then error(problem, 0) end
  return path, tonumber(line)
end

local function text_of(point)
  if not point.path then return ('%3d  nan in %s'):format(point.id, point.expression or 'any variable') end
  local condition = point.condition and ' if ' .. point.condition or ''
  return ('%3d  %s:%d%s'):format(point.id, point.path, point.line, condition)
end

local function show_all()
  for _, list in ipairs {engine.breakpoints, engine.watches} do
    for _, point in ipairs(list) do print(text_of(point)) end
  end
  if #engine.breakpoints + #engine.watches == 0 then print 'no breakpoints' end
end

-- `break place [if condition]`; without a place, lists breakpoints and watches. compile(code)
-- returns a chunk that evaluates a name.
function places.command(arguments, compile, frame)
  if arguments == '' then return show_all() end
  local place, condition = arguments:match '^(.-)%s+if%s+(.+)$'
  if condition then
    local ok, message = load('return ' .. condition, '=(condition)', 't')
    if not ok then error(message, 0) end
  end
  local path, line = resolve(place or arguments, compile, frame)
  local text = sources.text(path)
  if text then
    local first = sources.code_line(text, line)
    if not first then error(('%s has no code from line %d on'):format(path, line), 0) end
    line = first
  end
  print(text_of(engine.add {path = path, line = line, condition = condition}))
end

-- `watch [expression]`
function places.watch(expression)
  if expression == '' then expression = nil end
  if expression then
    local ok, message = load('return ' .. expression, '=(watch)', 't')
    if not ok then error(message, 0) end
  end
  print(text_of(engine.add_watch(expression)))
end

-- `clear [number]`
function places.clear(arguments)
  local number = tonumber(arguments)
  if arguments ~= '' and not number then error(("clear takes the number of a breakpoint or nothing, got '%s'"):format(arguments), 0) end
  local removed = engine.remove(function(point) return not number or point.id == number end)
  if number and removed == 0 then error(('no breakpoint has the number %d'):format(number), 0) end
end

return places
