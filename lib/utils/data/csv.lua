-- csv.lua - utils.data.csv.read(path, {...}): tables of numbers and words, as spreadsheets write them.
--
-- Fields are parted by `separator` (','); quoted ones may hold separators, line ends and doubled quotes. Options:
-- header (true: the first line names the columns; false; or a list of names), types ({name = 'float' | 'integer' |
-- 'string'}; else found from the values), missing (texts that stand for nothing, {'', 'NA', 'NaN', 'nan'}), fill (the
-- number put for them; nan, which makes a column float), max_bytes (2^30: a longer file is an error).
-- A file that is no table is an error with its line.

local torch = require 'torch'
local checked = require 'torch.support.checked'
local fail = require 'torch.support.fail'
local options_of = require 'torch.support.options'
local ordered_dict = require 'torch.support.ordered_dict'
local whole_file = require 'torch.files.whole_file'

local M = {}

-- The fields of all lines: lists, each with its line number.
local function split(text, separator, path)
  local rows, row, at, line = {}, {}, 1, 1
  row.line = 1
  local stops = '[' .. (separator:gsub('%W', '%%%0')) .. '\r\n]'
  if text:sub(1, 3) == '\xEF\xBB\xBF' then at = 4 end -- a byte order mark
  local function finish_row()
    if not (#row == 1 and row[1] == '') then rows[#rows + 1] = row end
    row = { line = line }
  end
  while at <= #text + 1 do
    local field
    if text:sub(at, at) == '"' then
      local start, stop = at + 1, at + 1
      while true do
        stop = text:find('"', stop, true)
        if not stop then fail('%s:%d: a quoted field does not end', path, row.line) end
        if text:sub(stop + 1, stop + 1) ~= '"' then break end
        stop = stop + 2
      end
      field = text:sub(start, stop - 1)
      local _, lines = field:gsub('\n', '')
      line = line + lines
      field = field:gsub('""', '"')
      at = stop + 1
      if at <= #text and not text:find('^' .. stops, at) then fail('%s:%d: text behind a quoted field', path, line) end
    else
      local stop = text:find(stops, at) or #text + 1
      field = text:sub(at, stop - 1)
      at = stop
    end
    row[#row + 1] = field
    local char = text:sub(at, at)
    if char == separator then
      at = at + 1
    else
      if char == '\r' and text:sub(at + 1, at + 1) == '\n' then at = at + 1 end
      at = at + 1
      line = line + 1
      finish_row()
    end
  end
  return rows
end

local function kind_of(values, missing)
  local kind = 'integer'
  for _, value in ipairs(values) do
    if not missing[value] then
      local number = tonumber(value)
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
    local number = missing[value] and fill or tonumber(value)
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
  local rows = split(text, options.separator, path)
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
  local dict = setmetatable({}, ordered_dict)
  for c, name in ipairs(names) do
    if rawget(dict, name) ~= nil then fail("%s: two columns are called '%s'", path, name) end
    local values = {}
    for i, row in ipairs(rows) do values[i] = row[c] end
    local kind = options.types[name] or kind_of(values, missing)
    if kind ~= 'integer' and kind ~= 'float' and kind ~= 'string' then fail("csv.read: there is no type '%s'", tostring(kind)) end
    rawset(dict, c, name)
    rawset(dict, name, column_of(values, kind, missing, options.fill, function(i)
      return ("%s:%d: column '%s'"):format(path, rows[i].line, name)
    end))
  end
  return dict
end

return checked.functions(M)
