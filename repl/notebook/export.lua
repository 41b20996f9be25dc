-- %export: the session as a notebook in Markdown or Jupyter's format, with its outputs.
--
-- The session stores the output, values and errors of its cells. May use repl.input and the modules
-- of repl.notebook.

local plain = require 'repl.notebook.plain'

local export = {}

-- The cells to export, without %export cells: {number, source, printed, value, message, traceback}.
local function cells_of(session)
  local cells = {}
  for number = 1, session.count - 1 do
    local shown = session.shown[number] or {}
    if not session.inputs[number]:find '^%s*%%export' then
      cells[#cells + 1] = {
        number = number, source = session.inputs[number], printed = plain.text(shown.printed or ''),
        value = shown.value and plain.text(shown.value), message = shown.message and plain.text(shown.message),
        traceback = shown.traceback,
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

-- Writes the session to `path`; the suffix selects the format.
function export.write(session, path)
  local make = path:find '%.ipynb$' and as_jupyter or path:find '%.md$' and as_markdown
  if not make then error('the name of a notebook ends in .md or .ipynb', 0) end
  require('torch.files.outside').write_file(path, make(cells_of(session)))
end

return export
