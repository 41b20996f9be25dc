-- %export: the session as a notebook, Markdown or Jupyter's, with what its cells have shown.
--
-- At the prompt `print` and `io.write` also note down what they write, for the cell that runs. Cells
-- that are commands are exported without outputs. May use repl.notebook.ipynb, repl.notebook.markdown and repl.input,
-- which it loads when it writes: every session takes notes, few are exported.

local export = {}

local MAX_NOTED = 64 << 10 -- bytes of a cell's output

-- Puts versions of print and io.write that take notes into the session's environment; returns a
-- function that puts the old ones back.
function export.take_notes(session)
  local noted, size, last
  function session.begin_notes() noted, size, last = {}, 0, '' end
  function session.end_notes() return table.concat(noted) end
  function session.inside_line() return last ~= '' and last:sub(-1) ~= '\n' end
  session.begin_notes()
  local function note(text)
    if size < MAX_NOTED then noted[#noted + 1] = text:sub(1, MAX_NOTED - size) end
    size = size + #text
    if text ~= '' then last = text:sub(-1) end
  end

  local stdout = io.stdout
  local library = rawget(session.environment, 'io')
  local old_print, old_write = rawget(session.environment, 'print'), rawget(library, 'write')
  rawset(session.environment, 'print', function(...)
    local texts = table.pack(...)
    for index = 1, texts.n do texts[index] = tostring(texts[index]) end
    local text = table.concat(texts, '\t') .. '\n'
    note(text)
    stdout:write(text)
    stdout:flush()
  end)
  local write, output = io.write, io.output
  rawset(library, 'write', function(...)
    if output() == stdout then
      for _, part in ipairs {...} do
        if type(part) == 'string' or type(part) == 'number' then note(tostring(part)) end
      end
    end
    return write(...)
  end)
  return function()
    rawset(session.environment, 'print', old_print)
    rawset(library, 'write', old_write)
  end
end

-- The cells to export: {number, source, printed, value, message, traceback}.
local function cells_of(session)
  local input = require 'repl.input'
  local cells = {}
  for number = 1, session.count - 1 do
    local shown = session.shown[number] or {}
    local is_command = input.is_command(session.inputs[number])
    if not (is_command and session.inputs[number]:find '^%s*%%export') then
      cells[#cells + 1] = {
        number = number, source = session.inputs[number], printed = not is_command and shown.printed or '',
        value = shown.value, message = shown.message, traceback = shown.traceback,
      }
    end
  end
  return cells
end

local function block(parts, info, text)
  local markdown = require 'repl.notebook.markdown'
  local lines = markdown.lines(text)
  local fence = markdown.fence(lines)
  parts[#parts + 1] = fence .. info
  table.move(lines, 1, #lines, #parts + 1, parts)
  parts[#parts + 1] = fence
end

local function as_markdown(cells)
  local parts = {}
  for _, cell in ipairs(cells) do
    if #parts > 0 then parts[#parts + 1] = '' end
    block(parts, 'lua', cell.source)
    local text = cell.printed .. (cell.value and cell.value .. '\n' or '')
    if cell.message then
      block(parts, 'text error', cell.message)
    elseif text ~= '' then
      block(parts, 'text', text)
    end
  end
  return table.concat(parts, '\n') .. '\n'
end

local function as_jupyter(cells)
  local ipynb = require 'repl.notebook.ipynb'
  local stored = {}
  for index, cell in ipairs(cells) do
    stored[index] = {
      number = cell.number, source = cell.source,
      outputs = ipynb.outputs(cell.number, cell.printed, cell.value, cell.message, cell.traceback),
    }
  end
  return ipynb.encode(ipynb.document(stored))
end

-- Writes the session to `path`; its ending says which kind.
function export.write(session, path)
  local make = path:find '%.ipynb$' and as_jupyter or path:find '%.md$' and as_markdown
  if not make then error('the name of a notebook ends in .md or .ipynb', 0) end
  local file, message = io.open(path, 'w')
  if not file then error(message, 0) end
  assert(file:write(make(cells_of(session))))
  assert(file:close())
end

return export
