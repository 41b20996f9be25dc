-- licences.lua - compares the table of docs/licences.md with the libraries that ltensor uses, for
-- `make lint`: the names "lib*.so*" and LT_SHARED_NAME() in the sources, the options -l of the
-- Makefile's parts, and the libraries that the files of the build need (the argument, a folder; readelf). A library without a row is an
-- error, and so is a row whose library is not used.

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local source_files = require 'source_files'

local DOCUMENT = 'docs/licences.md'
local build = arg[1]
local used = {} -- library -> where it was found first

local function found(library, where)
  if not library:find '^libltensor' then used[library] = used[library] or where end
end

for _, path in ipairs(source_files.c_files('src repl include', 'lua')) do
  for name in source_files.read(path):gmatch '["\'](lib[%w_+-]+)%.so[%w.%%]*["\']' do found(name, path) end
  for name in source_files.read(path):gmatch 'LT_SHARED_NAME%("([%w_+-]+)"' do found('lib' .. name, path) end
end

for _, path in ipairs(source_files.lines_of "ls mk/*.mk | grep -v 'mk/tests\\.mk'") do
  local text = source_files.read(path):gsub('%f[^\n%z]%s*#[^\n]*', '')
  for name in text:gmatch '%f[%S]%-l([%w_.+-]+)' do found('lib' .. name, path) end
  for names in text:gmatch '%$%(if %$%(LIBEDIT%),([^)]*)%)' do
    for name in names:gmatch '%-l(%w+)' do found('lib' .. name, path) end
  end
end

for _, path in ipairs(source_files.lines_of(("find '%s' -maxdepth 1 -name '*.so' -o -maxdepth 1 -name ltensor -type f"):format(build))) do
  for _, line in ipairs(source_files.lines_of(("readelf -d '%s'"):format(path))) do
    local name = line:match 'NEEDED.*%[([^%]]+)%.so'
    if name then found(name, path) end
  end
end

local rows, faults = {}, 0
local function fault(format, ...)
  io.stderr:write('licences: ', format:format(...), '\n')
  faults = faults + 1
end

for line in source_files.read(DOCUMENT):gmatch '[^\n]+' do
  local title, files, tested, licence, how = line:match '^| ([^|]+) | ([^|]+) | ([^|]+) | ([^|]+) | ([^|]+) |'
  for name in (files or ''):gmatch '`([^`]+)`' do
    rows[name] = title
    if tested:match '^%s*$' or licence:match '^%s*$' or how:match '^%s*$' then fault('%s: the row of %s has an empty cell', DOCUMENT, title) end
  end
end

-- Used on other machines or by other options of the build.
local elsewhere = { 'ld%-linux', 'liblua5%.[35]', 'libgomp', 'libgcc_s', 'libstdc%+%+', 'libc$', 'libcuda$', 'libpthread', 'libdl' }
local function is_elsewhere(name)
  for _, pattern in ipairs(elsewhere) do
    if name:find('^' .. pattern) then return true end
  end
  return false
end

local n = 0
for name, where in pairs(used) do
  n = n + 1
  if not rows[name] then fault('%s uses %s, which has no row in %s: add its version, licence and use', where, name, DOCUMENT) end
end
for name, title in pairs(rows) do
  if not used[name] and not is_elsewhere(name) then fault('%s: %s (%s) is used by no source, makefile or file of %s', DOCUMENT, name, title, build) end
end
if n < 20 then fault('found only %d libraries', n) end
print(('licences: %d libraries'):format(n))
os.exit(faults == 0)
