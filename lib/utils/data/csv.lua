-- csv.lua - utils.data.csv.read(path, {...}): reads tables of numbers and strings; also compressed
-- by gzip. columns.lua has the functions that work on the result.
--
-- A column of integers is int64; one of numbers, some with a fraction or missing, is float64;
-- others are a list of strings. Quoted fields may contain separators, line ends and doubled quotes.
-- Options:
--
--   separator (',')   one or several characters; 'blanks': runs of blanks and tabs
--   header (true)     the first line names the columns; false: column_1, column_2, ...; or a list
--                     of names
--   types             {name = type}: 'integer' (int64), 'float' (the default dtype), 'double'
--                     (float64), 'string', or a dtype
--   dtype             of columns that would be float64
--   missing           texts of missing values, {'', 'NA', 'NaN', 'nan'}
--   fill (nan)        the number for missing values
--   comment           a character that starts a comment
--   skip (0)          number of lines to skip at the beginning
--   max_bytes (2^30)  a longer text is an error
--   max_memory        maximum memory in bytes, for a small file that unpacks to a large one;
--                     default 64 times its size, and at least 256 MB
--
-- A malformed table is an error with its line.

--[=[ arguments
path: File.
separator: Characters between fields; `'blanks'` for runs of blanks and tabs.
header: Whether the first line names the columns, or a list of their names.
types: Types of columns by name: `'integer'`, `'float'`, `'double'`, `'string'` or a dtype.
dtype: Dtype of the columns that would be float64.
missing: Texts that stand for missing values.
fill: Number for missing values.
comment: Character that begins a comment.
skip: Number of lines to skip at the beginning.
max_bytes: Number of bytes above which a text is an error.
max_memory: Maximum memory in bytes.
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local ordered_dict = require 'torch.support.ordered_dict'
local whole_file = require 'torch.files.whole_file'

local M = {}

local INTEGER, FLOAT, TEXT = 1, 2, 3 -- as in csv.h

-- The reader's type for an entry of `types`, and the dtype to convert the column to (nil:
-- unchanged).
local function type_of(given)
  if given == 'string' then return TEXT end
  if given == 'integer' then return INTEGER end
  if given == 'float' then return FLOAT, torch.get_default_dtype() end
  local dtype = given == 'double' and torch.float64 or given
  if type(dtype) == 'string' and torch.type(torch[dtype]) == 'dtype' then dtype = torch[dtype] end
  if torch.type(dtype) ~= 'dtype' or dtype.is_complex or dtype == torch.bool then
    fail("csv.read: unknown type '%s'; expected 'integer', 'float', 'double', 'string' or a dtype of integers or floats", tostring(given))
  end
  return dtype.is_floating_point and FLOAT or INTEGER, dtype
end

-- Converts a column to the requested dtype; integers out of its range are an error.
local function converted(column, dtype, path, name)
  if not dtype or not torch.is_tensor(column) or column.dtype == dtype then return column end
  local there = column:to(dtype)
  if not dtype.is_floating_point and not there:to(torch.int64):equal(column) then
    fail("%s: column '%s' has integers that %s does not hold", path, name, tostring(dtype))
  end
  return there
end

local function check(options)
  local separator, comment = options.separator, options.comment
  if separator == '' or separator:find '["\r\n%z]' then fail('csv.read: separator must be one or several characters without quotes and line ends, got %q', separator) end
  if comment and (#comment ~= 1 or comment:find '["\r\n%z]' or comment == separator:sub(1, 1)) then
    fail('csv.read: comment must be one character other than a quote and the separator, got %q', comment)
  end
  for name, least in pairs { skip = 0, max_bytes = 0 } do
    local value = options[name]
    if value < least or value ~= value then fail('csv.read: %s must be at least %d, got %s', name, least, tostring(value)) end
  end
  if type(options.header) ~= 'boolean' and type(options.header) ~= 'table' then
    fail('csv.read: header must be true, false or a list of names, got %s', kinds.described(options.header))
  end
end

-- Reads the columns, with a memory limit by the size of the file.
local function read(path, max_memory, format)
  local _ <close>, size = torch._C.open_file(path)
  return torch._C.within_budget(size, max_memory, torch._C.read_csv, path, format)
end

--- Reads a file: an ordered table of its columns, tensors of numbers and lists of strings.
local function read_table(path, options)
  check(options)
  local asked, dtypes = {}, {}
  for name, given in pairs(options.types) do asked[name], dtypes[name] = type_of(given) end
  local names, columns = read(path, options.max_memory, { separator = options.separator ~= 'blanks' and options.separator, comment = options.comment,
    skip = math.floor(options.skip), max_bytes = math.floor(options.max_bytes), header = options.header, types = asked, missing = options.missing,
    fill = options.fill })
  local dict = ordered_dict.strict { 'column', 'columns' }
  for i, name in ipairs(names) do
    local found = torch.is_tensor(columns[i]) and columns[i].dtype == torch.float64 and (options.dtype or torch.float64)
    dict[name] = converted(columns[i], dtypes[name] or asked[name] == nil and found or nil, path, name)
  end
  return dict
end

M.read = declare.with_options(([[
  csv.read(string path, *, string separator=',', any header=true, table types={}, dtype? dtype,
    table missing={'', 'NA', 'NaN', 'nan'}, any fill=0/0, any? comment, number skip=0, number max_bytes=%d, integer? max_memory)
]]):format(whole_file.MAX_BYTES), read_table)

for name, f in pairs(require 'torch.utils.data.columns') do M[name] = f end

return checked.functions(M)
