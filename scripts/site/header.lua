-- header.lua - generates the C reference: the sections of the public headers, with comments as text
-- above the declarations.
--
-- Usage: lua5.4 scripts/site/header.lua OUT TITLE HEADERS...

package.path = (arg[0]:match '^(.*)/' or '.') .. '/../gen/?.lua;' .. package.path
local write = require('declarations').write

local out, title = assert(arg[1], 'OUT is missing'), assert(arg[2], 'TITLE is missing')
local page = { '# ' .. title .. '\n' }

-- The text of a comment, without its delimiters and stars.
local function words_of(comment)
  local text = comment:gsub('^%s*/%*+ ?', ''):gsub('%s*%*/%s*$', ''):gsub('\n%s*%* ?', '\n')
  return text
end

-- A comment as Markdown: indented paragraphs are code, markup characters of the rest are escaped.
local function prose(comment)
  local blocks = {}
  for block in (words_of(comment) .. '\n\n'):gmatch '(.-)\n%s*\n' do
    if block:find '^  ' then
      blocks[#blocks + 1] = '```text\n' .. block .. '\n```\n'
    elseif block:find '%S' then
      blocks[#blocks + 1] = block:gsub('[\\%*_<%[%]|#`]', '\\%0'):gsub('^%s+', '') .. '\n'
    end
  end
  return table.concat(blocks, '\n')
end

for i = 3, #arg do
  local file = assert(io.open(arg[i]))
  local text = file:read 'a'
  file:close()
  local name = arg[i]:match '[^/]+$'
  local head, rest = text:match '^(/%*.-%*/)\n(.*)$'
  page[#page + 1] = ('## %s\n\n%s'):format(name, prose(head))
  -- sections: /* ---- title ---- */ or /* ---- title ----\n * text */
  local position = 1
  local function emit(code)
    code = code:gsub('^%s*\n', ''):gsub('%s+$', '')
    if code:find '%S' then page[#page + 1] = '```c\n' .. code .. '\n```\n' end
  end
  while true do
    local first, last, section, more = rest:find('/%* %-%-%-%- ([^\n]-) %-%-%-%-+([^/]-)%*/\n', position)
    emit(rest:sub(position, first and first - 1 or nil))
    if not first then break end
    page[#page + 1] = '### ' .. section:sub(1, 1):upper() .. section:sub(2) .. '\n'
    if more:find '%w' then page[#page + 1] = prose('/*' .. more .. '*/') end
    position = last + 1
  end
end
write(out, table.concat(page, '\n'))
