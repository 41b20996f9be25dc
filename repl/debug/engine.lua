-- The debugger's engine: breakpoints, watches and steps of one program.
--
-- A front end (the prompt's console, the Debug Adapter Protocol, Jupyter) is a table with
-- stop(stop), which returns when the program continues, and optionally poll(), which handles
-- requests while the program runs.
-- The functions run in a coroutine of the hook (repl/system/hook.c). May use repl.debug.frames,
-- repl.debug.sources, repl.debug.watch and the program's repl.hook.

local frames = require 'repl.debug.frames'
local hook = require 'repl.hook'
local later = require 'repl.later'
local sources = require 'repl.debug.sources'
local watch = later 'repl.debug.watch'

local engine = {
  breakpoints = {}, -- {id, path, line, condition, hits, log, count}
  watches = {}, -- {id, expression}
}

-- A live local of the session's cells that the frame's function does not name: its value, and true.
function engine.fallback(name)
  local session = package.loaded['repl.session']
  if session and session.current then return session.current.scope:get(name) end
end

local front -- nil: the console

-- Sets the front end; nil: the console, false: none.
function engine.set_front(new) front = new end

local by_line = {} -- path -> line -> list of breakpoints
local next_id = 0

-- Passes the lines of breakpoints to the hook.
local function update()
  local lines, seen = {}, {}
  by_line = {}
  for _, point in ipairs(engine.breakpoints) do
    local of_path = by_line[point.path] or {}
    by_line[point.path] = of_path
    of_path[point.line] = of_path[point.line] or {}
    table.insert(of_path[point.line], point)
    if not seen[point.line] then lines[#lines + 1] = point.line end
    seen[point.line] = true
  end
  hook.watch(lines, #engine.watches > 0)
end

local function new_id()
  next_id = next_id + 1
  return next_id
end

-- Adds a breakpoint {path, line, condition, hits, log}: the path of repl.debug.sources.
function engine.add(point)
  point.id, point.count = new_id(), 0
  table.insert(engine.breakpoints, point)
  update()
  return point
end

-- Adds a watch: the program stops when the expression is a tensor with nan. Nil: any tensor among
-- the variables of the running function.
function engine.add_watch(expression)
  local added = {id = new_id(), expression = expression}
  table.insert(engine.watches, added)
  update()
  return added
end

-- Removes the breakpoints and watches for which matches(entry) is true; returns their number.
function engine.remove(matches)
  local removed = 0
  for _, list in ipairs {engine.breakpoints, engine.watches} do
    for index = #list, 1, -1 do
      if matches(list[index]) then
        table.remove(list, index)
        removed = removed + 1
      end
    end
  end
  update()
  return removed
end

-- ---- stopping ------------------------------------------------------------------------------

local function matches(source, line)
  local of_path = by_line[sources.path(source)]
  return of_path ~= nil and of_path[line] ~= nil
end

-- Replaces `{expression}` in the message of a logpoint by its value.
local function log_text(frame, text)
  return (text:gsub('%b{}', function(braces)
    local chunk, message = frames.compile(frame, braces:sub(2, -2), engine.fallback)
    local ok, value = pcall(chunk or error, message)
    return ok and require('repl.echo').value(value) or ('{%s}'):format(tostring(value))
  end))
end

-- True if the breakpoint applies to this stop: its condition holds and it was reached often enough.
-- A failing condition stops, with a message.
local function applies(point, frame)
  if point.condition then
    local chunk, message = frames.compile(frame, point.condition, engine.fallback)
    local ok, value = pcall(chunk or error, message)
    if not ok then return true, ('the condition of breakpoint %d failed: %s'):format(point.id, tostring(value)) end
    if not value then return false end
  end
  point.count = point.count + 1
  if point.hits and point.count < point.hits then return false end
  if not point.log then return true end
  print(log_text(frame, point.log))
  return false
end

-- The breakpoints that stop the frame, and a message of a failed condition.
local function stopping_points(frame)
  local of_path = by_line[sources.path(frame.source)]
  local found, said = {}, nil
  for _, point in ipairs(of_path and of_path[frame.line] or {}) do
    local stops, message = applies(point, frame)
    if stops then found[#found + 1] = point end
    said = said or message
  end
  return found, said
end

-- The reason to stop and a description, or nil.
local function reason_of(kind, matched, list)
  local points, message = {}, nil
  if matched then points, message = stopping_points(list[1]) end
  if #points > 0 then return 'breakpoint', message, points end
  if #engine.watches > 0 and (kind == 'line' or kind == 'step') then
    message = watch.found(engine.watches, list[1], engine.fallback)
    if message then return 'watch', message, points end
  end
  if kind == 'call' then return 'breakpoint', nil, points end
  if kind ~= 'line' then return kind, engine.message, points end
end

-- True at the end that repl.cell adds after the last line of a cell or a script.
local function is_added_end(frame)
  local info = debug.getinfo(frame.func, 'S')
  if info.what ~= 'Lua' or info.linedefined ~= 1 or info.lastlinedefined ~= frame.line then return false end
  local text = sources.text(sources.path(frame.source))
  return text ~= nil and frame.line > select(2, text:gsub('\n', '')) + 1
end

-- Called by the hook: inspects the stopped thread, and returns when the program continues.
local function stopped(thread, kind, matched)
  if kind == 'input' then
    if not (front and front.poll) then return end
    front.poll()
    if not engine.wants_pause then return end
    kind = 'pause'
  end
  local list = frames.list(thread)
  if not list[1] or kind == 'step' and is_added_end(list[1]) then return end
  local used = front
  if front == nil then used = require 'repl.debug.console' end
  local reason, message, points = reason_of(kind, matched, list)
  if not reason or not used then return end
  engine.wants_pause = false
  hook.go 'run'
  local _ <close> = setmetatable({}, {__close = function() engine.stop = nil end}) -- also after Ctrl-C
  engine.stop = {thread = thread, frames = list, reason = reason, message = message, breakpoints = points}
  used.stop(engine.stop)
end

hook.handlers(matches, stopped)

-- How the program continues when front.stop returns: 'continue', 'step' into calls, 'next' over
-- calls, 'finish' the function of frame number `number`.
function engine.go(how, number)
  local frame = engine.stop.frames[number or 1]
  if how == 'continue' then return hook.go 'run' end
  hook.go(how == 'step' and 'step' or 'over', frame.thread, frame.level, how == 'finish')
end

-- Stops at the next line of any function.
function engine.stop_at_next_line() hook.go('step', coroutine.running(), 0) end

-- The function `breakpoint` of programs.
function engine.breakpoint() hook.stop 'call' end

-- Stops at an error before its frames end; called by a message handler.
function engine.raised(message)
  engine.message = message
  hook.stop 'exception'
  engine.message = nil
end

return engine
