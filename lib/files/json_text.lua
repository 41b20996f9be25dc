-- json_text.lua - encodes Lua values as JSON.
--
-- A table with an element 1, or marked by list(), is an array; any other one is an object, with its
-- names in order. `null` is JSON's null. JSON has no infinities and nan: they are errors.

local plain_number = require 'torch.files.plain_number'
local quoted = require 'torch.files.json_string'

local M = {}

local List = {}
M.null = setmetatable({}, { __name = 'null' })

--- Marks a table as an array, also without elements.
function M.list(x) return setmetatable(x, List) end

local append

local function append_array(parts, x)
  parts[#parts + 1] = '['
  for i, value in ipairs(x) do
    if i > 1 then parts[#parts + 1] = ', ' end
    append(parts, value)
  end
  parts[#parts + 1] = ']'
end

local function append_object(parts, x)
  local names = {}
  for name in pairs(x) do names[#names + 1] = name end
  table.sort(names)
  parts[#parts + 1] = '{'
  for i, name in ipairs(names) do
    parts[#parts + 1] = (i > 1 and ', ' or '') .. quoted(name) .. ': '
    append(parts, x[name])
  end
  parts[#parts + 1] = '}'
end

local function number_text(x)
  if math.type(x) == 'integer' then return ('%d'):format(x) end
  if x ~= x or x == math.huge or x == -math.huge then error(('JSON has no number %s'):format(x)) end
  local text = plain_number('%.17g', x)
  return text:find '[.e]' and text or text .. '.0'
end

function append(parts, x)
  if type(x) == 'string' then parts[#parts + 1] = quoted(x)
  elseif type(x) == 'number' then parts[#parts + 1] = number_text(x)
  elseif type(x) == 'boolean' then parts[#parts + 1] = tostring(x)
  elseif x == M.null then parts[#parts + 1] = 'null'
  elseif getmetatable(x) == List or x[1] ~= nil then append_array(parts, x)
  else append_object(parts, x) end
end

--- The JSON of a value.
function M.encode(x)
  local parts = {}
  append(parts, x)
  return table.concat(parts)
end

return M
