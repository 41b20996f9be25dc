-- links.lua - checks the links of the site: the target page and anchor of each internal link exist,
-- and no page loads a resource from another host.
--
-- Usage: lua5.4 scripts/site/links.lua HTML_DIR

package.path = (arg[0]:match '^(.*)/' or '.') .. '/../?.lua;' .. package.path
local source_files = require 'source_files'

local root = assert(arg[1], 'HTML_DIR is missing')

local pages, files = {}, {}
for _, path in ipairs(source_files.lines_of(("find '%s' -type f"):format(root))) do
  files[path:sub(#root + 2)] = true
  if path:find '%.html$' then
    local text = source_files.read(path)
    local ids = {}
    for id in text:gmatch ' id="([^"]+)"' do ids[id] = true end
    for id in text:gmatch ' id=([^%s">]+)' do ids[id] = true end
    pages[path:sub(#root + 2)] = { text = text, ids = ids }
  end
end

-- 'guide/../index.html' -> 'index.html'
local function plain(path)
  local parts = {}
  for part in path:gmatch '[^/]+' do
    if part == '..' then table.remove(parts) elseif part ~= '.' then parts[#parts + 1] = part end
  end
  return table.concat(parts, '/')
end

local wrong, checked = 0, 0
local function report(page, link, why)
  wrong = wrong + 1
  print(('%s: %s: %s'):format(page, link, why))
end

local function check(name, link)
  if link:find '^data:' or link:find '^mailto:' or link == '' then return end
  if link:find '^https?:' or link:find '^//' then return end
  checked = checked + 1
  link = link:gsub('&amp;', '&')
  local path, place = link:match '^([^#?]*)%??[^#]*#?(.*)$'
  local target = path == '' and name or plain((name:match '^(.*/)' or '') .. path)
  if target == '' or path:find '/$' or path == '.' then target = plain(target .. '/index.html') end
  if not files[target] then return report(name, link, 'there is no such page') end
  place = place:gsub('%%(%x%x)', function(digits) return string.char(tonumber(digits, 16)) end)
  if place ~= '' and not place:find '^__' and pages[target] and not pages[target].ids[place] then report(name, link, 'there is no such place on the page') end
end

for name, page in pairs(pages) do
  if name ~= '404.html' then
    for link in page.text:gmatch '<a [^>]-href="([^"]*)"' do check(name, link) end
    for tag in page.text:gmatch '<%a+ [^>]*>' do
      if tag:find '^<script' or tag:find '^<img' or tag:find '^<link' or tag:find '^<iframe' then
        local link = tag:match ' src="([^"]*)"' or (tag:find '^<link' and tag:find 'stylesheet' and tag:match ' href="([^"]*)"')
        if link and (link:find '^https?:' or link:find '^//') then report(name, link, 'the page needs what is on another machine') elseif link then check(name, link) end
      end
    end
  end
end
local count = 0
for _ in pairs(pages) do count = count + 1 end
print(('%d links on %d pages: %d passed, %d failed'):format(checked, count, checked - wrong, wrong))
os.exit(wrong == 0)
