-- examples.lua - reads the examples of declarations and classes.
--
-- A declaration file has them in one text, the field `examples` of its list: a name on its own
-- line, then the indented lines of its example. The expected output follows in lines that begin
-- with '-->', so that an example is valid Lua:
--
--   sum
--       torch.tensor{1, 2}:sum()
--       --> tensor(3)
--
-- A file of classes has the same text in a long comment below its first, which begins with the word
-- examples. tests/lua/examples_spec.lua runs each example and compares. May use only Lua's standard
-- library.

local M = {}

-- name -> the unindented lines of its example. where: the source of the text, for errors.
function M.read(text, where)
  local found, name, lines = {}, nil, nil
  local function finish()
    if name then found[name] = table.concat(lines, '\n') end
  end
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do
    if line:find '^%S+$' then
      finish()
      name, lines = line, {}
      if found[name] then error(('%s: two examples of %s'):format(where, name), 0) end
    elseif line:find '^    ' and name then
      lines[#lines + 1] = line:sub(5)
    elseif line:find '%S' then
      error(("%s: '%s' is neither a name nor a line of an example"):format(where, line), 0)
    end
  end
  finish()
  return found
end

-- The same for the long comment of a file of classes.
function M.of_file(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return M.read(text:match '\n%-%-%[=%[ examples\n(.-)\n%]=%]\n' or '', path)
end

-- Splits an example into notebook cells: { source, output }, both as lines; output is nil if the
-- example has none.
function M.cells(example)
  local cells, source, output = {}, {}, nil
  local function finish()
    if #source > 0 then cells[#cells + 1] = { source = table.concat(source, '\n'), output = output and table.concat(output, '\n') } end
    source, output = {}, nil
  end
  for line in (example .. '\n'):gmatch '([^\n]*)\n' do
    local shown = line:match '^%-%-> ?(.*)$'
    if shown then
      output = output or {}
      output[#output + 1] = shown
    else
      if output then finish() end
      source[#source + 1] = line
    end
  end
  finish()
  return cells
end

-- The example as notebook cells with their output.
function M.markdown(example)
  local blocks = {}
  for _, cell in ipairs(M.cells(example)) do
    blocks[#blocks + 1] = '```lua\n' .. cell.source .. '\n```\n'
    if cell.output then blocks[#blocks + 1] = '```text\n' .. cell.output .. '\n```\n' end
  end
  return table.concat(blocks, '\n')
end

return M
