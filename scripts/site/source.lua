-- source.lua - reads the documentation in a Lua file of lib/: the comment at its head, the comments
-- above its functions and classes, and its examples.

local examples = require 'examples'

local M = {}

-- The comment above a line, and the number of its first line.
local function comment_above(lines, number)
  local first = number
  while first > 1 and lines[first - 1]:find '^%s*%-%-' and not lines[first - 1]:find '^%s*%-%- %-%-%-' do first = first - 1 end
  if first == number then return nil end
  local text = {}
  for i = first, number - 1 do text[#text + 1] = lines[i]:gsub('^%s*%-%-+ ?', '') end
  return table.concat(text, '\n'), first
end

-- Methods of classes are documented if their comment begins with three dashes.
local function is_documented_method(class, name, comment) return class:find '^%u' ~= nil and name:byte() ~= 95 and comment:find '^%-%-%-' ~= nil end

-- Returns { lines, head, functions = { {name, arguments, comment}, ... }, examples = { name = lines
-- } }. A method is named Class:name, a constructor Class.
function M.read(path)
  local file = { lines = {}, functions = {}, path = path }
  for line in io.lines(path) do file.lines[#file.lines + 1] = line end
  local last = 1
  while file.lines[last] and file.lines[last]:find '^%-%-' and not file.lines[last]:find '^%-%-%[' do last = last + 1 end
  file.head = comment_above(file.lines, last)
  if file.head then file.head = file.head:gsub('^[%w_]+%.lua %- ', '') end
  for number, line in ipairs(file.lines) do
    local owner, mark, name, arguments = line:match '^function ([%w_]+)([.:])([%w_]+)(%b())'
    local comment, first
    if name then comment, first = comment_above(file.lines, number) end
    local is_method = mark == ':'
    if comment and not (is_method and not is_documented_method(owner, name, file.lines[first])) then
      if is_method then name = name == 'init' and owner or owner .. ':' .. name end
      file.functions[#file.functions + 1] = { name = name, arguments = arguments:sub(2, -2), comment = comment }
    end
  end
  file.examples = examples.of_file(path)
  return file
end

-- The comment above the line that creates the class with extend.
function M.comment_of_class(file, name)
  for number, line in ipairs(file.lines) do
    if line:find(":extend%s*%(?%s*['\"]" .. name .. "['\"]") then return comment_above(file.lines, number) end
  end
  return nil
end

return M
