-- options.lua - the options of a command of the program: reads them from its arguments, and writes
-- the text of its --help.
--
-- An option is {name, argument, text, kind}: without an argument it is true or false. kind: 'text'
-- (the default), 'texts' (a list, one for each time that the option is given), 'integer', 'number'.
-- May use repl.errors.

local errors = require 'repl.errors'

local options = {}

local readers = {
  text = function(value) return value end,
  texts = function(value, before)
    local list = before or {}
    list[#list + 1] = value
    return list
  end,
  integer = function(value) return math.tointeger(tonumber(value)) or error('needs an integer', 0) end,
  number = function(value) return tonumber(value) or error('needs a number', 0) end,
}

local function find(declared, name)
  local names = {}
  for i, option in ipairs(declared) do
    if option[1] == name then return option end
    names[i] = option[1]
  end
  local near = errors.nearest(name, names)
  error('unrecognized option' .. (near and (", did you mean '%s'?"):format(near) or ''), 0)
end

-- Reads the option at list[i] into values. Returns the index of its last word.
local function read_option(declared, list, i, values)
  local name, value = list[i]:match '^(%-%-[^=]*)=(.*)$'
  local option = find(declared, name or list[i])
  local key = option[1]:sub(3):gsub('-', '_')
  if not option[2] then
    if value then error('takes no value', 0) end
    values[key] = true
    return i
  end
  if not value then
    i = i + 1
    value = list[i] or error('needs a value', 0)
  end
  values[key] = readers[option[4] or 'text'](value, values[key])
  return i
end

--- The values by name (with _ for -) and the other arguments. An error is a text: the argument, and
--- the reason.
function options.read(declared, list)
  local values, others, i = {}, {}, 1
  while i <= #list do
    local word = list[i]
    if word == '--' then
      table.move(list, i + 1, #list, #others + 1, others)
      break
    elseif word:sub(1, 1) == '-' and word ~= '-' then
      local ok, result = pcall(read_option, declared, list, i, values)
      if not ok then error(("'%s': %s"):format(word, result), 0) end
      i = result
    else
      others[#others + 1] = word
    end
    i = i + 1
  end
  return values, others
end

--- The lines of --help that list the options.
function options.describe(declared)
  local lines = {}
  for i, option in ipairs(declared) do
    local head = option[1] .. (option[2] and ' ' .. option[2] or '')
    lines[i] = ('  %-24s%s'):format(head, option[3])
  end
  return table.concat(lines, '\n') .. '\n'
end

return options
