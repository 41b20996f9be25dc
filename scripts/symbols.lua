-- symbols.lua - writes the exports of a library: OUT.map, a version script for the shared library,
-- and OUT.keep, the symbols that stay global in the static one (objcopy --keep-global-symbols).
--
-- Functions marked LT_API or LT_INLINE in its headers are public. Each has the symbol version in which it first
-- appeared, found in the headers of earlier versions in tests/abi; new functions get VERSION.
-- Functions that another of our libraries uses in addition get the version
-- LTENSOR_PRIVATE_<version>, so that only libraries of one build work together.
--
-- Usage: lua5.4 scripts/symbols.lua VERSION OUT HEADER... [-- OBJECT USER...]
--   OBJECT defines the functions, USER is an object of the other library

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local source_files = require 'source_files'

local version, out = arg[1], arg[2]
local headers, objects = {}, nil
for i = 3, #arg do
  if arg[i] == '--' then objects = {} else table.insert(objects or headers, arg[i]) end
end

local function functions_of(path)
  local text = ('\n' .. source_files.read(path)):gsub('/%*.-%*/', '')
  local names = {}
  for mark, declaration in text:gmatch '\n(LT_%u+) ([^;{]*)' do
    if mark == 'LT_API' or mark == 'LT_INLINE' then
      names[#names + 1] = declaration:match '([%w_]+)%s*%(' or error(path .. ': no function in: ' .. declaration, 0)
    end
  end
  return names
end

-- The set of global symbols that an object defines or leaves undefined, by nm's option.
local function symbols(object, option)
  local found = {}
  for _, line in ipairs(source_files.lines_of(("nm -g %s -P '%s'"):format(option, object))) do found[line:match '^%S+'] = true end
  return found
end

local function in_order(a, b)
  local major_a, minor_a = a:match '(%d+)%.(%d+)'
  local major_b, minor_b = b:match '(%d+)%.(%d+)'
  if major_a ~= major_b then return tonumber(major_a) < tonumber(major_b) end
  return tonumber(minor_a) < tonumber(minor_b)
end

-- First version of each function, from the headers of earlier versions.
local since, versions = {}, {}
for _, folder in ipairs(source_files.lines_of 'ls -d tests/abi/[0-9]*/ 2>/dev/null || :') do versions[#versions + 1] = folder:match '([%d.]+)/$' end
table.sort(versions, in_order)
for _, earlier in ipairs(versions) do
  for _, header in ipairs(headers) do
    local kept = ('tests/abi/%s/%s'):format(earlier, header:match '[^/]+$')
    local there = io.open(kept)
    if there then
      there:close()
      for _, name in ipairs(functions_of(kept)) do since[name] = since[name] or earlier end
    end
  end
end

local current = version:match '^%d+%.%d+'
local nodes, keep, known = {}, {}, {}
for _, header in ipairs(headers) do
  for _, name in ipairs(functions_of(header)) do
    local node = since[name] or current
    nodes[node] = nodes[node] or {}
    table.insert(nodes[node], name)
    table.insert(keep, name)
    known[name] = true
  end
end

local private = {}
if objects then
  local defined = symbols(objects[1], '--defined-only')
  for i = 2, #objects do
    for name in pairs(symbols(objects[i], '-u')) do
      if defined[name] and not known[name] then
        known[name] = true
        table.insert(private, name)
        table.insert(keep, name)
      end
    end
  end
end

-- The version script: each version inherits from the previous one.
local text, order, previous = {}, {}, nil
for node in pairs(nodes) do order[#order + 1] = node end
table.sort(order, in_order)
local function put_node(name, names, ends)
  table.sort(names)
  text[#text + 1] = ('%s {\n  global:\n    %s;\n%s}%s;\n'):format(name, table.concat(names, ';\n    '), ends,
    previous and ' ' .. previous or '')
end
for i, node in ipairs(order) do
  put_node('LTENSOR_' .. node, nodes[node], i == 1 and '  local:\n    *;\n' or '')
  previous = 'LTENSOR_' .. node
end
if #private > 0 then put_node('LTENSOR_PRIVATE_' .. version, private, '') end
table.sort(keep)

local function write(path, content)
  local file <close> = assert(io.open(path, 'w'))
  assert(file:write(content))
end
write(out .. '.map', table.concat(text))
write(out .. '.keep', table.concat(keep, '\n') .. '\n')
