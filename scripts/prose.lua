-- prose.lua - measures the language of comments, documents and test titles, and fails above
-- ceilings: `make lint`.
--
--   lua5.4 scripts/prose.lua [--list WORD]    WORD: the name of a rate; prints every occurrence
--
-- Rates are per 1,000 words. The rate "what" counts noun clauses only, not the questions "what is
-- this" and "what if". Code in documents does not count.

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local source_files = require 'source_files'

-- Ceilings of the rates.
local ceilings = {
  comments = { what = 1.0, who = 0.3, lies = 0.1, those = 0.4 },
  documents = { what = 1.0, who = 0.3, lies = 0.1, those = 0.4 },
  titles = { what = 1.5, who = 0.5 },
}
-- Minimum rates of documents.
local floors = { you = 7, imperatives = 2 }

local words = {
  what = { 'what', 'whatever' },
  who = { 'who', 'whoever', 'whom', 'somebody', 'someone', 'nobody', 'whose' },
  lies = { 'lies', 'lie', 'lay', 'lying' },
  those = { 'those' },
  you = { 'you', 'your' },
}
local rate_of = {}
for rate, list in pairs(words) do
  for _, word in ipairs(list) do rate_of[word] = rate end
end

local imperatives = {}
for word in ('Use Run See Note Call Set Install Build Create Add Make To Pass Write Start Open Load Save Type Read ' ..
  'Choose Check Put'):gmatch '%a+' do
  imperatives[word] = true
end

-- A file that git lists and that was deleted is empty.
local function read(path)
  local exists, text = pcall(source_files.read, path)
  return exists and text or ''
end

-- ---- texts ------------------------------------------------------------------------------------

local function comments_of_lua(text)
  local parts = {}
  for line in text:gmatch '[^\n]+' do
    if not line:find '^%s*%-%-%[' then parts[#parts + 1] = line:match '^%s*%-%-%s?(.*)$' end
  end
  for opening, body in text:gmatch '%-%-%[=*%[( ?%w*)(.-)%]=*%]' do
    if opening ~= ' examples' then parts[#parts + 1] = opening .. body end
  end
  return parts
end

local function comments_of_c(text)
  local parts = {}
  for body in text:gmatch '/%*(.-)%*/' do parts[#parts + 1] = body end
  for body in text:gsub('/%*.-%*/', ''):gmatch '//([^\n]*)' do parts[#parts + 1] = body end
  return parts
end

local function comments_of_shell(text)
  local parts = {}
  for line in text:gmatch '[^\n]+' do
    if not line:find '^%s*#!' then parts[#parts + 1] = line:match '^%s*#%s?(.*)$' end
  end
  return parts
end

local readers = {
  lua = comments_of_lua, sh = comments_of_shell, mk = comments_of_shell, py = comments_of_shell, c = comments_of_c,
  h = comments_of_c, inc = comments_of_c, cu = comments_of_c, cuh = comments_of_c, cpp = comments_of_c,
}

local function comments_of(path)
  local reader = path:find 'Makefile$' and comments_of_shell or readers[path:match '%.(%w+)$']
  return reader and reader(read(path)) or {}
end

-- The text without fenced and indented code, code spans and tables.
local function prose_of(path)
  local text = read(path):gsub('```.-```', ''):gsub('`[^`]*`', 'X')
  local kept = {}
  for line in (text .. '\n'):gmatch '(.-)\n' do
    if not line:find '^|' and not line:find '^    ' and not line:find '^\t' then kept[#kept + 1] = line end
  end
  return { table.concat(kept, '\n') }
end

local function titles_of(path)
  local parts = {}
  for quote, rest in read(path):gmatch '%f[%w]it%s*%(?%s*(["\'])([^\n]*)' do
    parts[#parts + 1] = rest:match('^[^' .. quote .. ']+')
  end
  for quote, rest in read(path):gmatch '%f[%w]describe%s*%(?%s*(["\'])([^\n]*)' do
    parts[#parts + 1] = rest:match('^[^' .. quote .. ']+')
  end
  return parts
end

local function kind_of(path)
  if path:find '^src/.*%.md$' then return 'documents', prose_of end
  if path:find '^src/' or path:find '^lib/' or path:find '^repl/' or path:find '^scripts/' or path:find '^include/' or
    path:find '^packaging/' or path:find '^Makefile' then
    return 'comments', comments_of
  end
  if path:find '^tests/.*_spec%.lua$' then return 'titles', titles_of end
  for _, folder in ipairs { '^docs/guide/.*%.md$', '^docs/design/.*%.md$', '^docs/book/.*%.md$', '^README%.md$',
    '^CONTRIBUTING%.md$', '^tests/README%.md$', '^SECURITY%.md$', '^CHANGELOG%.md$' } do
    if path:find(folder) then return 'documents', prose_of end
  end
end

-- ---- counting ---------------------------------------------------------------------------------

local listed = arg[1] == '--list' and arg[2]
local counts = { comments = { words = 0 }, documents = { words = 0 }, titles = { words = 0 } }

local function is_noun_clause(text, position)
  local next_words = text:sub(position, position + 12)
  return not (next_words:find '^%s*is this' or next_words:find '^%s*if%f[%W]' or next_words:find '^%s*%?')
end

local function count(kind, path, text)
  local counted = counts[kind]
  for word, position in text:gmatch "([%a']+)()" do
    counted.words = counted.words + 1
    local rate = rate_of[word:lower()]
    if rate and (rate ~= 'what' or is_noun_clause(text, position)) then
      counted[rate] = (counted[rate] or 0) + 1
      if rate == listed then
        local from = math.max(1, position - 60)
        print(('%s: %s'):format(path, (text:sub(from, position + 40):gsub('%s+', ' '))))
      end
    end
  end
  local begins = '\n' .. text
  for word in begins:gmatch '[.\n:] ?(%u%l+) ' do
    if imperatives[word] then counted.imperatives = (counted.imperatives or 0) + 1 end
  end
end

for _, path in ipairs(source_files.lines_of 'git ls-files') do
  local kind, texts_of = kind_of(path)
  if kind then
    for _, text in ipairs(texts_of(path)) do count(kind, path, text) end
  end
end

local function rate(kind, name) return 1000 * (counts[kind][name] or 0) / math.max(1, counts[kind].words) end

local failed = false
for _, kind in ipairs { 'comments', 'documents', 'titles' } do
  local parts = {}
  for _, name in ipairs { 'what', 'who', 'lies', 'those', 'you', 'imperatives' } do
    local value = rate(kind, name)
    parts[#parts + 1] = ('%s %.2f'):format(name, value)
    local ceiling, floor = ceilings[kind][name], kind == 'documents' and floors[name]
    if ceiling and value > ceiling or floor and value < floor then
      failed = true
      io.stderr:write(('prose: "%s" occurs %.2f times in 1,000 words of %s; the limit is %s. List the places: lua5.4 ' ..
        'scripts/prose.lua --list %s\n'):format(name, value, kind, ceiling or floor, name))
    end
  end
  if not listed then print(('%-10s %7d words: %s'):format(kind, counts[kind].words, table.concat(parts, ', '))) end
end
os.exit(not failed or listed ~= nil and listed ~= false)
