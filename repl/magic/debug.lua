-- Magics of the debugger. May use repl.debug, repl.echo, repl.cell.

local cell = require 'repl.cell'
local echo = require 'repl.echo'
local later = require 'repl.later'
local engine, places = later 'repl.debug.engine', later 'repl.debug.places'

local magics = {}

-- The calls of the last error: all, or call `number`, or code that runs in it.
local function show_failed(session, number, code)
  if not session.failed then error('no cell has failed', 0) end
  local report = require 'repl.debug.report'
  if code == '' then return report.show(session.failed, number) end
  local values = table.pack(report.evaluate(session.failed, number, code, function(name)
    local value, found = session.scope:get(name)
    if found then return value end
    return session.environment[name]
  end))
  local text = echo.values(values)
  if text then print(text) end
end

magics.debug = {'%debug [n [code]], %debug code',
  'shows the calls of the last error with their locals; runs code in call n; or runs other code step by step',
function(session, arguments, padding)
  local number, code = arguments:match '^(%d+)%s*(.-)%s*$'
  if number or not arguments:find '%S' then return show_failed(session, tonumber(number), code or '') end
  engine.stop_at_next_line()
  return session:run(padding .. arguments, session.count)
end, takes_code = true, optional_code = true}

magics['break'] = {'%break [file:line | cell n:line | function] [if condition]',
  'sets a breakpoint, or lists all; a stopped program reads commands (help lists them)',
function(session, arguments)
  places.command(arguments, function(name)
    local compiled, message = cell.compile(name, '=(break)', session.scope)
    if not compiled then return nil, message end
    return function() return select(2, compiled.run()) end
  end)
end}

magics.watch = {'%watch [expression]', 'stops after the line that puts nan into a tensor: the value of the expression, or any variable',
function(_, arguments) places.watch(arguments) end}

magics.clear = {'%clear [n]', 'removes breakpoint or watch n, or all', function(_, arguments) places.clear(arguments) end}

return magics
