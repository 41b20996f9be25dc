-- assemble.lua - assembles the pages of the documentation site: the pages of docs/, with our
-- Markdown converted to that of MkDocs, the references, and mkdocs.yml with the list of pages.
--
-- Usage: lua5.4 scripts/site/assemble.lua REFERENCE_DIR OUT_DIR FILES...
-- FILES: of docs/, to be copied
--
-- REFERENCE_DIR already has the reference pages (ops, classes, C headers) and their order. Writes
-- OUT_DIR/pages/** and OUT_DIR/mkdocs.yml.

local here = arg[0]:match '^(.*)/' or '.'
package.path = here .. '/../?.lua;' .. package.path
local read = require('source_files').read

local reference, out = assert(arg[1], 'REFERENCE_DIR is missing'), assert(arg[2], 'OUT_DIR is missing')

local function write(path, text)
  os.execute(("mkdir -p '%s'"):format(path:match '^(.*)/'))
  local file = assert(io.open(path, 'wb'))
  assert(file:write(text))
  assert(file:close())
end

-- Converts the info string of a block to a title: 'text gpus=1' is the output of a cell with one
-- GPU.
local function fence(ticks, info)
  local language, rest = info:match '^(%S+)%s*(.*)$'
  if language == 'copies' then return ticks .. 'text title="hidden copies"' end
  if rest == '' or language == nil then return ticks .. info end
  local parts = {}
  local gpus, ranks = rest:match 'gpus=(%d+)', rest:match 'ranks=(%d+)'
  if gpus then parts[#parts + 1] = gpus == '0' and 'without a GPU' or gpus == '1' and 'with 1 GPU' or ('with %s GPUs'):format(gpus) end
  if ranks then parts[#parts + 1] = ranks == '1' and 'with 1 rank' or ('with %s ranks'):format(ranks) end
  if rest:find 'error' then parts[#parts + 1] = 'raises an error' end
  return #parts > 0 and ('%s%s title="%s"'):format(ticks, language, table.concat(parts, ', ')) or ticks .. language
end

-- Code with a bar in a table row: MkDocs would show the backslash of `a \| b`, so it is written as
-- HTML.
local function row(line)
  return (line:gsub('`([^`]*\\|[^`]*)`', function(code)
    return '<code>' .. code:gsub('&', '&amp;'):gsub('<', '&lt;'):gsub('\\|', '&#124;') .. '</code>'
  end))
end

-- Inserts an empty line between a paragraph and a list or table below it, and redirects links to
-- the header.
local function markdown(text)
  local lines, open, before = {}, nil, ''
  for source in (text:gsub('\n$', '') .. '\n'):gmatch '([^\n]*)\n' do
    local line = source
    local ticks, info = line:match '^(```+)(.*)$'
    if ticks and not open then
      open = ticks
      line = fence(ticks, info)
    elseif ticks and info == '' and #ticks >= #open then
      open = nil
    elseif not open then
      local item = line:find '^%s*[-*] ' or line:find '^%s*%d+%. '
      if (item or line:find '^|') and before:find '%S' and not before:find '^%s*[-*] ' and not before:find '^%s*%d+%. ' and not before:find '^%s'
        and not before:find '^|' then
        lines[#lines + 1] = ''
      end
      if line:find '^|' then line = row(line) end
      line = line:gsub('%]%(%.%./%.%./include/ltensor%.h%)', '](../reference/c.md)')
    end
    lines[#lines + 1] = line
    before = line
  end
  return table.concat(lines, '\n') .. '\n'
end

local results, book = {}, {}
for i = 3, #arg do
  local inside = assert(arg[i]:match '^docs/(.*)$', arg[i])
  local text = read(arg[i])
  write(out .. '/pages/' .. inside, inside:find '%.md$' and markdown(text) or text)
  if inside:find '^book/%d.*%.md$' then book[#book + 1] = ('      - %s'):format(inside) end
  local result = inside:match '^results/(.*)%.md$'
  if result and result ~= 'README' then results[#results + 1] = ('      - results/%s.md'):format(result) end
end

local pages = {}
for line in io.lines(reference .. '/order') do
  local indent, name = line:match '^(%s*)(.*)$'
  if name:find '%.md$' then
    write(('%s/pages/reference/%s'):format(out, name), markdown(read(reference .. '/' .. name)))
    if name ~= 'README.md' then pages[#pages + 1] = ('      %s- reference/%s'):format(indent, name) end
  else
    pages[#pages + 1] = ('      %s- %s'):format(indent, name)
  end
end

local config = read(here .. '/mkdocs.yml')
config = config:gsub('REFERENCE\n', function() return table.concat(pages, '\n') .. '\n' end)
config = config:gsub('BOOK\n', function() return table.concat(book, '\n') .. '\n' end)
config = config:gsub('RESULTS\n', function() return table.concat(results, '\n') .. '\n' end)
write(out .. '/mkdocs.yml', config)
