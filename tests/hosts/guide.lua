-- guide.lua - the blocks of docs/guide/hosts.md, and of the section about servers in docs/guide/language-models.md, are parts of the
-- tested files of docs/examples/hosts, and each file is shown.
-- Usage: lua5.4 tests/hosts/guide.lua

local FOLDER = 'docs/examples/hosts/'
local function read(path)
  local file <close> = assert(io.open(path))
  return file:read 'a'
end

local texts, shown, wrong = {}, {}, 0
for path in assert(io.popen('find ' .. FOLDER .. ' -type f')):lines() do texts[path] = read(path) end

local function check(page, text)
  for language, block in text:gmatch '\n```(%S+)\n(.-\n)```' do
    if language ~= 'sh' and language ~= 'text' and language ~= 'lua' then -- commands; cells, which run with the guide
      local found = false
      for path, example in pairs(texts) do
        if example:find(block, 1, true) then found, shown[path] = true, true end
      end
      if not found then
        wrong = wrong + 1
        io.stderr:write(page, ': this block is in no file of ', FOLDER, ':\n', block)
      end
    end
  end
end
check('docs/guide/hosts.md', read 'docs/guide/hosts.md')
check('docs/guide/language-models.md', (read('docs/guide/language-models.md'):match '\n## Answer requests of a web server\n(.-)\n## '))

for path in pairs(texts) do
  if not shown[path] then
    wrong = wrong + 1
    io.stderr:write('the guide does not show ', path, '\n')
  end
end
assert(next(shown), 'no block was found')
os.exit(wrong == 0)
