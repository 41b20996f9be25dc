-- The debugger at the prompt: shows where the program has stopped, and reads commands.
--
-- May use repl.debug.*, repl.echo, repl.errors, repl.wrapped and the program's repl.interrupt.

local echo = require 'repl.echo'
local engine = require 'repl.debug.engine'
local errors = require 'repl.errors'
local frames = require 'repl.debug.frames'
local interrupt = require 'repl.interrupt'
local places = require 'repl.debug.places'
local sources = require 'repl.debug.sources'
local variables = require 'repl.debug.variables'
local wrapped = require 'repl.wrapped'

local PROMPT = 'debug> '
local OTHERWISE = 'Anything else is Lua that runs in the selected call. An empty line repeats the last command.'
local LINES_AROUND = 5

local console = {}

-- A line, false after Ctrl-C, or nil at the end of input. On a terminal, the prompt's line editor
-- reads it, and completes the variables of the frame.
local function read(frame)
  local session = package.loaded['repl.session']
  local current = session and session.current
  if current and current.read_command then
    local _ <close> = setmetatable({}, {__close = function() current.inspected = nil end}) -- also after Ctrl-C
    current.inspected = frames.scope(frame, current.scope)
    local line = current.read_command(PROMPT)
    return line
  end
  io.write(PROMPT)
  io.flush()
  return io.read 'l'
end

-- ---- showing -------------------------------------------------------------------------------

local function printable(text) return require('torch')._C.printable(text) end

local function place_of(frame) return printable(('%s:%d: %s'):format(frame.short, frame.line, frame.name)) end

-- Prints the lines around the frame's line.
local function list(frame, around)
  local text = sources.text(sources.path(frame.source)) or sources.text(frame.source:sub(2))
  if not text then return end
  local number = 0
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do
    number = number + 1
    if math.abs(number - frame.line) <= around and (line ~= '' or number < frame.line + around) then
      print(printable(('%s%5d  %s'):format(number == frame.line and '->' or '  ', number, line)))
    end
  end
end

local function show_variables(frame)
  for _, kind in ipairs {'upvalue', 'local'} do
    for _, variable in ipairs(frames.variables(frame, kind)) do
      print(printable(('     %s = %s'):format(variable.name, (variables.text(variable.value)))))
    end
  end
end

local titles = {exception = 'error', step = nil, pause = 'paused', watch = 'watch'}

local function announce(stop)
  local title = titles[stop.reason]
  if stop.breakpoints[1] then title = ('breakpoint %d'):format(stop.breakpoints[1].id) end
  if title then io.write(title, ', ') end
  print(place_of(stop.frames[1]))
  if stop.message then print(printable(stop.message)) end
  list(stop.frames[1], 1)
end

-- ---- commands ------------------------------------------------------------------------------

-- The state of the console at a stop: {stop, at (the number of the selected frame)}.
local function frame_of(state) return state.stop.frames[state.at] end

-- Runs code in the selected frame and shows its values; errors are shown, too.
local function evaluate(state, code)
  local chunk, message = frames.compile(frame_of(state), code, engine.fallback)
  if not chunk then print(printable(message)) return end
  local outcome = table.pack(interrupt.call(function() return echo.values(table.pack(chunk())) end, errors.capture))
  if outcome[2] then error('interrupted', 0) end -- Ctrl-C ends the cell
  if outcome[1] then
    if outcome[3] then print(outcome[3]) end
  else
    local report = outcome[3]
    print(printable(type(report) == 'table' and report.message or tostring(report)))
  end
end

local function select_frame(state, number)
  if number < 1 then print 'this is the innermost call' return end
  if number > #state.stop.frames then print 'this is the outermost call' return end
  state.at = number
  print(place_of(frame_of(state)))
  list(frame_of(state), 1)
end

-- Runs a command that may refuse its arguments; shows its error.
local function try(run, ...)
  local ok, message = pcall(run, ...)
  if not ok then print(printable(tostring(message))) end
end

-- Commands that continue return true.
local commands, order = {}, {}

local function command(names, description, run)
  for name in names:gmatch '%S+' do commands[name] = run end
  order[#order + 1] = {names, description}
end

command('step s', 'run to the next line, also in a called function', function(state)
  engine.go('step', state.at)
  return true
end)
command('next n', 'run to the next line of this function', function(state)
  engine.go('next', state.at)
  return true
end)
command('finish f', 'run until this function returns', function(state)
  engine.go('finish', state.at)
  return true
end)
command('continue cont c', 'run to the next breakpoint', function()
  engine.go 'continue'
  return true
end)
command('up u', 'select the caller', function(state) select_frame(state, state.at + 1) end)
command('down d', 'select the called function', function(state) select_frame(state, state.at - 1) end)
command('where w bt', 'show all calls, the innermost last', function(state)
  for index = #state.stop.frames, 1, -1 do
    print((index == state.at and '-> ' or '   ') .. place_of(state.stop.frames[index]))
  end
end)
command('locals', 'show the variables of the function', function(state) show_variables(frame_of(state)) end)
command('list l', 'show the source', function(state) list(frame_of(state), LINES_AROUND) end)
command('break b', 'b [line | file:line | function] [if condition]: set a breakpoint, or list all',
function(state, arguments)
  try(places.command, arguments, function(name) return frames.compile(frame_of(state), name, engine.fallback) end, frame_of(state))
end)
command('watch', 'watch [expression]: stop when the tensor, or any variable, has nan', function(_, arguments)
  try(places.watch, arguments)
end)
command('clear', 'clear [number]: remove a breakpoint or watch, or all', function(_, arguments) try(places.clear, arguments) end)
command('p print', 'p code: run Lua in the selected call, also if it begins like a command', evaluate)
command('quit q', 'end the cell or the program', function() error('ended at the debugger', 0) end)
command('help h ?', 'show this list', function()
  local rows = {}
  for index, entry in ipairs(order) do rows[index] = {entry[1]:gsub(' ', ', '), entry[2]} end
  for _, line in ipairs(wrapped.rows(rows, '  ')) do print(line) end
  for _, line in ipairs(wrapped.lines(OTHERWISE, '')) do print(line) end
end)

-- Runs a line; true if the program continues.
local function run(state, line)
  local name, arguments = line:match '^%s*([%a?]+)%s*(.-)%s*$'
  local known = name and commands[name]
  -- `n = 1`, `s.x`, `next(t)` and `list[1]` are Lua
  if known and not arguments:find '^[=.:%[(,{"\']' then return known(state, arguments) end
  evaluate(state, line)
end

local repeated = {}
for name in ('step s next n finish f up u down d'):gmatch '%S+' do repeated[name] = true end

-- The stop of repl.debug.engine.
function console.stop(stop)
  local state = {stop = stop, at = 1}
  announce(stop)
  while true do
    local line = read(frame_of(state))
    if line == nil then -- the end of input
      print()
      engine.remove(function() return true end)
      return
    end
    if line and not line:find '%S' then line = console.last or '' end
    if line and line:find '%S' then
      console.last = repeated[line:match '^%s*(.-)%s*$'] and line or nil
      if run(state, line) then return end
    end
  end
end

return console
