-- names.lua - checks the names in the documentation: each file, folder and C name between backticks
-- exists.
--
-- Usage: lua5.4 scripts/site/names.lua BUILD
-- BUILD: the folder of a build, for generated sources
--
-- A file is a path that begins with a folder of the repository, or a name with the extension of a
-- source file and optional parent folders (`reduce/reduce.c`); `*` and `{a,b}` are patterns. A C
-- name begins with lt_ or LT_ and occurs in a source; `lt_sim_*` needs one name with this prefix.
-- Fenced blocks are not checked, nor file names that occur in a page's blocks.

package.path = (arg[0]:match '^(.*)/' or '.') .. '/../?.lua;' .. package.path
local source_files = require 'source_files'
local read, lines_of = source_files.read, source_files.lines_of

local build = assert(arg[1], 'usage: lua5.4 scripts/site/names.lua BUILD')

local ROOTS = { src = true, lib = true, docs = true, tests = true, scripts = true, repl = true, include = true, packaging = true, mk = true }
local ENDINGS = { c = true, h = true, cu = true, cuh = true, inc = true, cpp = true, lua = true, sh = true, py = true, mk = true }

-- Files of users.
local OTHERS = { ['hubconf.lua'] = true, ['lib/lua/5.4/torch.so'] = true }

-- Every path of the repository and its folders, generated files included, and all their suffixes:
-- 'src/core/iter.c', 'core/iter.c', 'iter.c'.
local find_generated = ("; find %s/gen -name '*.[ch]' -o -name '*.hpp'; ls %s/ltensor-ffi.lua"):format(build, build)
local paths, c_names = {}, {}
for _, path in ipairs(lines_of('git ls-files' .. find_generated)) do
  repeat
    local rest = path
    while rest do
      paths[rest] = true
      rest = rest:match '^[^/]+/(.+)$'
    end
    path = path:match '^(.+)/[^/]+$'
  until not path
end
for _, path in ipairs(lines_of("git ls-files '*.c' '*.h' '*.hpp' '*.cu' '*.cuh' '*.cpp' '*.inc' '*.lua' '*.py' mk tests" .. find_generated)) do
  for name in read(path):gmatch '%f[%w_][lL][tT]_[%w_]+' do c_names[name] = true end
end

local function matches(known, pattern)
  pattern = '^' .. pattern:gsub('[%-%.%+%[%]%(%)%$%^%%%?]', '%%%0'):gsub('%*+', '.*') .. '$'
  for name in pairs(known) do
    if name:find(pattern) then return true end
  end
  return false
end

local function exists(known, name)
  local before, options, after = name:match '^(.-){([^}]*)}(.*)$'
  if before then
    for option in (options .. ','):gmatch '([^,]*),' do
      if not exists(known, before .. option .. after) then return false end
    end
    return true
  end
  if name:find '*' then return matches(known, name) end
  return known[name] ~= nil
end

local wrong, checked = 0, 0
local function check(page, number, known, kind, name)
  checked = checked + 1
  if exists(known, name) then return end
  wrong = wrong + 1
  print(('%s:%d: `%s`: the repository has no such %s'):format(page, number, name, kind))
end

local function check_span(page, number, span, shown)
  for name in span:gmatch '%f[%w_][lL][tT]_[%w_%*]+' do
    if not name:find '_$' then check(page, number, c_names, 'C name', name) end
  end
  local path = span:match '^([%w_%-%./%*{},]+)$'
  if not path or shown[path] or OTHERS[path] then return end
  path = path:gsub('/$', '')
  local ending = path:match '%.(%w+)$'
  if path:find '/' and ROOTS[path:match '^[^/]+'] or ENDINGS[ending or ''] and not path:find '^[%*{%./]' then
    check(page, number, paths, 'file', path)
  end
end

for _, page in ipairs(lines_of "git ls-files '*.md'") do
  local spans, shown, fence, number = {}, {}, nil, 0
  for line in (read(page) .. '\n'):gmatch '([^\n]*)\n' do
    number = number + 1
    local ticks = line:match '^%s*(```+)'
    if ticks and not fence then
      fence = ticks
    elseif ticks and #ticks >= #fence then
      fence = nil
    elseif fence then
      for name in line:gmatch '[%w_%-%./]+%.%w+' do
        shown[name], shown[name:match '[^/]+$'] = true, true
      end
    else
      for span in line:gmatch '`([^`]+)`' do spans[#spans + 1] = { span, number } end
    end
  end
  for _, span in ipairs(spans) do check_span(page, span[2], span[1], shown) end
end
print(('%d names in the documentation: %d passed, %d failed'):format(checked, checked - wrong, wrong))
os.exit(wrong == 0)
