-- Parses Markdown notebooks: finds the cells and their stored outputs.
--
-- A `lua` block is a cell; blocks with the info strings `text` or `copies` after it, separated only
-- by blank lines, are its stored outputs. Everything else is prose and is kept unchanged. Depends
-- on nothing.

local markdown = {}

-- Parses an info string such as `text gpus=1 error`.
local function info_of(words)
  local info = {kind = words:match '^%S*' or ''}
  info.gpus = math.tointeger(tonumber(words:match '%f[%S]gpus=(%d+)%f[%s\0]'))
  info.ranks = math.tointeger(tonumber(words:match '%f[%S]ranks=(%d+)%f[%s\0]'))
  info.error = words:find '%f[%S]error%f[%s\0]' ~= nil
  return info
end

-- Splits text into lines, without their ends.
function markdown.lines(text)
  local lines = {}
  for line in (text:gsub('\r\n', '\n') .. '\n'):gmatch '([^\n]*)\n' do lines[#lines + 1] = line end
  if lines[#lines] == '' then lines[#lines] = nil end
  return lines
end

-- The notebook in `text`: {lines, cells}. A cell is {first, last, source, outputs}: the lines of
-- its fences, its Lua source, and its outputs {first, last, kind, gpus, ranks, error, lines}.
function markdown.parse(text)
  local lines = markdown.lines(text)
  local cells, current, index = {}, nil, 1
  while index <= #lines do
    local indent, fence, words = lines[index]:match '^( ? ? ?)(```+)%s*([^`]*)$'
    if not fence then
      if lines[index]:find '%S' then current = nil end
      index = index + 1
    else
      local first, content = index, {}
      index = index + 1
      while index <= #lines do
        local closing = lines[index]:match '^ ? ? ?(```+)%s*$'
        if closing and #closing >= #fence then break end
        content[#content + 1] = lines[index]:gsub('^' .. indent, '', 1)
        index = index + 1
      end
      local info = info_of(words)
      if info.kind == 'lua' then
        current = {first = first, last = index, source = table.concat(content, '\n'), outputs = {}}
        cells[#cells + 1] = current
      elseif current and (info.kind == 'text' or info.kind == 'copies') then
        info.first, info.last, info.lines = first, index, content
        current.outputs[#current.outputs + 1] = info
      else
        current = nil
      end
      index = index + 1
    end
  end
  return {lines = lines, cells = cells}
end

-- The number of processes that run the notebook.
markdown.ranks = 1

-- The stored output of a cell for this number of GPUs: one stored for it, otherwise one for any
-- number. Outputs for a different number of processes are ignored.
function markdown.output(cell, kind, gpus)
  local general
  for _, output in ipairs(cell.outputs) do
    if output.kind == kind and (output.ranks or markdown.ranks) == markdown.ranks then
      if output.gpus == gpus then return output end
      if not output.gpus then general = general or output end
    end
  end
  return general
end

-- A fence longer than any in the lines.
function markdown.fence(lines)
  local fence = '```'
  for _, line in ipairs(lines) do
    local found = line:match '^ ? ? ?(```+)'
    if found and #found >= #fence then fence = found .. '`' end
  end
  return fence
end

return markdown
