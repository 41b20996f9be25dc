-- Converts Jupyter notebooks (nbformat 4) to the data of repl.notebook.markdown: cells with their
-- stored outputs, so that the same code runs, checks and writes both formats.
--
-- Printed text is a `stream`, a value an `execute_result` (text/plain), an error an `error`. Other
-- outputs (images, HTML) are not checked. Unknown data are preserved. May use repl.notebook.json
-- and repl.notebook.markdown.

local json = require 'repl.notebook.json'
local markdown = require 'repl.notebook.markdown'

local ipynb = {}

-- Text is stored as a string or as a list of lines with their newlines.
local function text_of(stored)
  if type(stored) == 'string' then return stored end
  return type(stored) == 'table' and table.concat(stored) or ''
end

local function stored_text(text)
  local lines = {}
  for line in text:gmatch '[^\n]*\n?' do
    if line ~= '' then lines[#lines + 1] = line end
  end
  return lines
end

-- The stored outputs in the form of markdown.parse: a single one of kind 'text', or none.
local function outputs_of(stored)
  local text, is_error
  for _, output in ipairs(type(stored) == 'table' and stored or {}) do
    local kind = output.output_type
    if kind == 'stream' and output.name ~= 'stderr' then
      text = (text or '') .. text_of(output.text)
    elseif kind == 'execute_result' or kind == 'display_data' then
      local data = type(output.data) == 'table' and output.data['text/plain']
      if data then text = (text or '') .. text_of(data) .. '\n' end
    elseif kind == 'error' then
      text, is_error = text_of(output.evalue), true
    end
  end
  return text and {{kind = 'text', lines = markdown.lines(text), error = is_error or false}} or {}
end

-- The notebook in `text`: {lines, cells, document}. `lines` is the notebook as Markdown without its
-- outputs; a cell is {first, last, source, outputs, stored}, `stored` its object in `document`.
function ipynb.parse(text)
  local document = json.decode(text)
  if type(document.cells) ~= 'table' then error('no notebook of Jupyter: it has no cells', 0) end
  local lines, cells = {}, {}
  local function add(more) table.move(more, 1, #more, #lines + 1, lines) end
  for _, stored in ipairs(document.cells) do
    local source = text_of(stored.source)
    local content = markdown.lines(source)
    if #lines > 0 then add {''} end
    if stored.cell_type == 'code' then
      local fence = markdown.fence(content)
      local first = #lines + 1
      add {fence .. 'lua'}
      add(content)
      add {fence}
      cells[#cells + 1] = {first = first, last = #lines, source = source, stored = stored, outputs = outputs_of(stored.outputs)}
    else
      add(content)
    end
  end
  return {lines = lines, cells = cells, document = document}
end

local function stream(text)
  return json.object {{'name', 'stdout'}, {'output_type', 'stream'}, {'text', stored_text(text)}}
end

-- The outputs of a cell with the text `printed` and the value `value` (nil: none), or with the
-- error `message` and the lines `traceback`.
function ipynb.outputs(number, printed, value, message, traceback)
  local outputs = {}
  if printed ~= '' then outputs[1] = stream(printed) end
  if value then
    outputs[#outputs + 1] = json.object {
      {'data', json.object {{'text/plain', stored_text(value)}}}, {'execution_count', number},
      {'metadata', json.object()}, {'output_type', 'execute_result'},
    }
  end
  if message then
    outputs[#outputs + 1] = json.object {
      {'ename', 'Error'}, {'evalue', message}, {'output_type', 'error'}, {'traceback', traceback},
    }
  end
  return outputs
end

-- A new document with code cells {number, source, outputs}.
function ipynb.document(cells)
  local stored = {}
  for index, cell in ipairs(cells) do
    stored[index] = json.object {
      {'cell_type', 'code'}, {'execution_count', cell.number}, {'id', ('cell-%d'):format(index)},
      {'metadata', json.object()}, {'outputs', cell.outputs}, {'source', stored_text(cell.source)},
    }
  end
  return json.object {
    {'cells', stored},
    {'metadata', json.object {
      {'kernelspec', json.object {{'display_name', 'ltensor'}, {'language', 'lua'}, {'name', 'ltensor'}}},
      {'language_info', json.object {{'file_extension', '.lua'}, {'name', 'lua'}, {'version', '5.4'}}},
    }},
    {'nbformat', 4}, {'nbformat_minor', 5},
  }
end

ipynb.encode = json.encode

return ipynb
