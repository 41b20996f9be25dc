-- guide.lua - the blocks of docs/guide/hosts.md are parts of the tested files of docs/examples/hosts, and each file is shown.
-- Usage: lua5.4 tests/hosts/guide.lua

local FOLDER = 'docs/examples/hosts/'
local function read(path)
  local file <close> = assert(io.open(path))
  return file:read 'a'
end

local texts, shown, wrong = {}, {}, 0
for path in assert(io.popen('find ' .. FOLDER .. ' -type f')):lines() do texts[path] = read(path) end

for language, block in read 'docs/guide/hosts.md':gmatch '\n```(%S+)\n(.-\n)```' do
  if language ~= 'sh' and language ~= 'text' and language ~= 'lua' then -- commands; cells, which run with the guide
    local found = false
    for path, text in pairs(texts) do
      if text:find(block, 1, true) then found, shown[path] = true, true end
    end
    if not found then
      wrong = wrong + 1
      io.stderr:write('docs/guide/hosts.md: this block is in no file of ', FOLDER, ':\n', block)
    end
  end
end
for path in pairs(texts) do
  if not shown[path] then
    wrong = wrong + 1
    io.stderr:write('docs/guide/hosts.md does not show ', path, '\n')
  end
end
assert(next(shown), 'no block was found')
os.exit(wrong == 0)
