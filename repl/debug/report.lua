-- %debug: inspects the calls of the last error after they have ended.
--
-- The report of an error keeps the locals of its frames weakly: an error keeps no tensor alive, so
-- a value without another reference may be gone. Frames are numbered from 1, the innermost. May use
-- repl.echo.

local echo = require 'repl.echo'

local calls = {}

local GONE = {} -- stands for a value that has been collected

-- The names of a frame in order of declaration, each once.
local function names_of(frame)
  local seen, names = {}, {}
  for index = #frame.names, 1, -1 do
    local name = frame.names[index]
    if not seen[name] then
      seen[name] = index
      table.insert(names, 1, name)
    end
  end
  return names, seen
end

local function value_in(frame, index)
  local value = frame.values[index]
  if value == nil and not frame.is_nil[index] then return GONE end
  return value
end

local function shown(value)
  if value == GONE then return '<gone>' end
  local kind, text = echo.kind(value)
  if kind == 'tensor' then return ('tensor of size %s'):format(text) end
  local first = text:match '^[^\n]*'
  return first == text and text or first .. ' ...'
end

-- Calls of the report with locals, innermost first.
local function frames_of(report)
  local frames = {}
  for _, frame in ipairs(report.frames) do
    if frame.names then frames[#frames + 1] = frame end
  end
  return frames
end

local function show_frame(number, frame)
  print(('%d  %s:%d: %s'):format(number, frame.source, frame.line, frame.name))
  local names, index_of = names_of(frame)
  for _, name in ipairs(names) do print(('     %s = %s'):format(name, shown(value_in(frame, index_of[name])))) end
end

-- Shows all frames of the report, or frame `number`.
function calls.show(report, number)
  local frames = frames_of(report)
  print(report.message)
  if #frames == 0 then print 'none of your functions was running' end
  if number and not frames[number] then error(('no frame %d'):format(number), 0) end
  for index = #frames, 1, -1 do
    if not number or index == number then show_frame(index, frames[index]) end
  end
end

-- Runs code that reads the locals of frame `number`, then the fields of `fallback`, and returns its
-- values.
function calls.evaluate(report, number, code, fallback)
  local frame = frames_of(report)[number]
  if not frame then error(('no frame %d'):format(number), 0) end
  local _, index_of = names_of(frame)
  local environment = setmetatable({}, {
    __index = function(_, name)
      local index = index_of[name]
      if not index then return fallback(name) end
      local value = value_in(frame, index)
      if value == GONE then error(('%s is gone'):format(name), 2) end
      return value
    end,
  })
  local chunk = load('return ' .. code, '=(debug)', 't', environment)
  local message
  if not chunk then chunk, message = load(code, '=(debug)', 't', environment) end
  if not chunk then error(message, 0) end
  return chunk()
end

-- Adds the locals and upvalues for %debug to a frame of a report. `level` is the frame's level for
-- the caller of this function, or in the coroutine.
function calls.remember(frame, level, func, coroutine)
  local names, values, is_nil = {}, setmetatable({}, {__mode = 'v'}), {}
  local function add(name, value)
    if name:find '^%(' or name:find '^_keep_locals_*$' or name == '_ENV' then return end
    names[#names + 1] = name
    values[#names] = value
    if value == nil then is_nil[#names] = true end
  end
  for index = 1, 255 do
    local name, value = debug.getupvalue(func, index)
    if not name then break end
    add(name, value)
  end
  for index = 1, 255 do
    local name, value
    if coroutine then name, value = debug.getlocal(coroutine, level, index) else name, value = debug.getlocal(level + 1, index) end
    if not name then break end
    add(name, value)
  end
  frame.names, frame.values, frame.is_nil = names, values, is_nil
end

return calls
