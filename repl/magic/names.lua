-- Magics that list and delete names. May use repl.echo.

local echo = require 'repl.echo'
local width = require 'torch.utils.width'

local magics = {}

-- Globals that were set by the user: they did not exist before the first cell.
local function own_globals(session)
  local names = {}
  for key in next, session.environment do
    if type(key) == 'string' and not session.given_names[key] and not key:find '^_+$' then names[#names + 1] = key end
  end
  table.sort(names)
  return names
end

-- The text on one line, cut to `columns`.
local function one_line(text, columns)
  text = text:gsub('[ \t]*\n[ \t\n]*', ' ')
  if width.of(text) <= columns then return text end
  local cut = utf8.len(text) and utf8.offset(text, columns - 2) or columns - 2
  return text:sub(1, cut - 1) .. '...'
end

-- Prints rows in columns as wide as their widest entries; the last column is cut at the terminal's
-- edge.
local function print_columns(rows, columns)
  local widths = {}
  for _, row in ipairs(rows) do
    for index = 1, #row - 1 do widths[index] = math.min(24, math.max(widths[index] or 0, width.of(row[index]))) end
  end
  for _, row in ipairs(rows) do
    local line = ''
    for index = 1, #row - 1 do
      line = line .. row[index] .. (' '):rep(widths[index] - width.of(row[index]) + 2)
    end
    print((line .. one_line(row[#row], math.max(10, columns - width.of(line)))):match '^(.-)%s*$')
  end
end

magics.who = {'%who', 'lists the locals and globals that cells have made: type, and shape, dtype and device of tensors, or value',
function(session)
  local rows = {}
  local function list(kind, names, get)
    for _, name in ipairs(names) do
      local type_name, text = echo.kind(get(name))
      rows[#rows + 1] = {kind, name, type_name, text}
    end
  end
  list('local', session.scope:names(), function(name) return (session.scope:get(name)) end)
  list('global', own_globals(session), function(name) return rawget(session.environment, name) end)
  print_columns(rows, session.width and session.width() or 79)
end}

magics.whos = {'%whos', 'the same as %who', magics.who[3]}

magics.reset = {'%reset [out]', 'deletes locals, globals of cells and results; `out`: only results',
function(session, what)
  if what == 'out' then
    session:drop_results()
  else
    for _, name in ipairs(own_globals(session)) do rawset(session.environment, name, nil) end
    session:reset()
  end
  collectgarbage()
  collectgarbage()
end}

return magics
