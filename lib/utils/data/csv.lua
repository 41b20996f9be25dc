-- csv.lua - utils.data.csv.read(path, {...}): tables of numbers and words, as spreadsheets write them.
--
-- Fields are parted by `separator` (','); quoted ones may hold separators, line ends and doubled quotes. Options:
-- header (true: the first line names the columns; false; or a list of names), types ({name = 'float' | 'integer' |
-- 'string'}; else found from the values), missing (texts that stand for nothing, {'', 'NA', 'NaN', 'nan'}), fill (the
-- number put for them; nan, which makes a column float), max_bytes (2^30: a longer file is an error).
-- A file that is no table is an error with its line.

local torch = require 'torch'
local checked = require 'torch.support.checked'
local csv_rows = require 'torch.support.csv_rows'
local fail = require 'torch.support.fail'
local options_of = require 'torch.support.options'
local ordered_dict = require 'torch.support.ordered_dict'
local whole_file = require 'torch.files.whole_file'

local M = {}

-- As other programs write what has no digits.
local INFINITE = { inf = math.huge, ['+inf'] = math.huge, ['-inf'] = -math.huge }

local function number_of(value) return tonumber(value) or INFINITE[value:lower()] end

local function kind_of(values, missing)
  local kind = 'integer'
  for _, value in ipairs(values) do
    if not missing[value] then
      local number = number_of(value)
      if not number or value:find '^%s*[+-]?0[xX]' then return 'string' end
      if math.type(number) == 'float' then kind = 'float' end
    elseif kind == 'integer' then
      kind = 'float'
    end
  end
  return kind
end

local function column_of(values, kind, missing, fill, where)
  if kind == 'string' then return values end
  local numbers = {}
  for i, value in ipairs(values) do
    local number = missing[value] and fill or number_of(value)
    if kind == 'integer' and number then number = math.tointeger(number) end
    if not number then fail('%s: %q is no %s', where(i), value, kind == 'integer' and 'integer' or 'number') end
    numbers[i] = number
  end
  return torch.tensor(numbers, { dtype = kind == 'integer' and torch.int64 or torch.get_default_dtype() })
end

--- Reads a file: an ordered table of its columns, tensors of numbers and lists of strings.
function M.read(path, options)
  options = options_of('csv.read', options, { separator = ',', header = true, types = {}, missing = { '', 'NA', 'NaN', 'nan' },
    fill = 0 / 0, max_bytes = whole_file.MAX_BYTES })
  local text = whole_file.read(path, options.max_bytes)
  local rows = csv_rows(text, options.separator, path)
  local names = options.header
  if names == true then
    names = table.remove(rows, 1) or {}
  elseif not names then
    names = {}
    for i = 1, #(rows[1] or {}) do names[i] = 'column_' .. i end
  end
  local missing = {}
  for _, word in ipairs(options.missing) do missing[word] = true end
  for _, row in ipairs(rows) do
    if #row ~= #names then fail('%s:%d: %d fields, %d wanted', path, row.line, #row, #names) end
  end
  local dict = ordered_dict.new()
  for c, name in ipairs(names) do
    if rawget(dict, name) ~= nil then fail("%s: two columns are called '%s'", path, name) end
    local values = {}
    for i, row in ipairs(rows) do values[i] = row[c] end
    local kind = options.types[name] or kind_of(values, missing)
    if kind ~= 'integer' and kind ~= 'float' and kind ~= 'string' then fail("csv.read: there is no type '%s'", tostring(kind)) end
    dict[name] = column_of(values, kind, missing, options.fill, function(i)
      return ("%s:%d: column '%s'"):format(path, rows[i].line, name)
    end)
  end
  return dict
end

return checked.functions(M)
