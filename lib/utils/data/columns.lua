-- columns.lua - works on the columns that utils.data.csv.read returns: csv.select, fillna,
-- get_dummies and to_tensor, with the meaning of pandas' functions of these names.
--
-- A table of columns is ordered by name; a column is a 1-D tensor, or a list of texts. Missing
-- numbers are nan. Missing texts are one of the texts `missing`, as the file has them. Each function
-- returns a new table and leaves the given one as it is.

--[=[ arguments
columns: Table of columns, as `csv.read` returns it.
names: List of names of columns.
value: Number for missing numbers; `'mean'`, `'median'` or `'mode'` of each column; or a table of these, or of texts, by the names of columns.
missing: Texts that stand for missing values in columns of texts.
get_dummies.names: List of the columns to replace; all columns of texts if absent.
dummy_na: Whether missing values have a column of their own.
drop_first: Whether the column of the first value is left out.
get_dummies.dtype: Dtype of the new columns.
to_tensor.names: List of the columns in the tensor, in order; all if absent.
to_tensor.dtype: Dtype of the tensor; the default dtype if absent.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local ordered_dict = require 'torch.support.ordered_dict'

local M = {}
local TITLES = { 'column', 'columns' } -- ordered_dict.absent

-- The names of a table of columns; a plain table has no order, so its names are sorted.
local function names_of(columns)
  if ordered_dict.is(columns) then return ordered_dict.names(columns) end
  local names = {}
  for name in pairs(columns) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end

-- The column of a name.
local function column_of(what, columns, name)
  local column = type(name) == 'string' and rawget(columns, name)
  if not column then
    fail('%s(): %s', what, ordered_dict.absent(names_of(columns), tostring(name), TITLES))
  end
  if not torch.is_tensor(column) and type(column) ~= 'table' then
    fail("%s(): column '%s' must be a tensor or a list of texts, not %s", what, name, kinds.described(column))
  end
  if torch.is_tensor(column) and column.ndim ~= 1 then fail("%s(): column '%s' must have 1 dimension, got shape %s", what, name, tostring(column.shape)) end
  return column
end

local function set_of(list)
  local set = {}
  for _, entry in ipairs(list) do set[entry] = true end
  return set
end

--- The columns of these names, in this order.
function M.select(columns, names)
  local result = ordered_dict.strict(TITLES)
  for _, name in ipairs(names) do result[name] = column_of('select', columns, name) end
  return result
end

-- ---- missing values -----------------------------------------------------------------------------

-- The most frequent of the texts or numbers that are not missing; of several the first in order.
local function most_frequent(values)
  local counts, best = {}, nil
  for _, value in ipairs(values) do counts[value] = (counts[value] or 0) + 1 end
  for value, count in pairs(counts) do
    if not best or count > counts[best] or count == counts[best] and value < best then best = value end
  end
  return best
end

local STATISTICS = {
  mean = function(present) return present:double():mean():item() end,
  median = function(present) return torch.quantile(present:double(), 0.5):item() end,
  mode = function(present) return most_frequent(present:tolist()) end,
}

local function filled_numbers(name, column, value)
  if not column:is_floating_point() then return column end
  local gaps = column:isnan()
  if not gaps:any():item() then return column end
  if type(value) == 'string' then
    if not STATISTICS[value] then fail("fillna(): column '%s' has numbers; fill it with a number, 'mean', 'median' or 'mode', not '%s'", name, value) end
    local present = column:masked_select(~gaps)
    if present:numel() == 0 then fail("fillna(): column '%s' has no values, so it has no %s; fill it with a number", name, value) end
    value = STATISTICS[value](present)
  end
  return column:masked_fill(gaps, value)
end

local function filled_texts(name, column, value, missing)
  if type(value) ~= 'string' then fail("fillna(): column '%s' has texts; fill it with a text or 'mode', not %s", name, kinds.described(value)) end
  if value == 'mode' then
    local present = {}
    for _, text in ipairs(column) do
      if not missing[text] then present[#present + 1] = text end
    end
    if #present == 0 then fail("fillna(): column '%s' has no values, so it has no mode; fill it with a text", name) end
    value = most_frequent(present)
  end
  local result = {}
  for i, text in ipairs(column) do result[i] = missing[text] and value or text end
  return result
end

--- Fills missing values. A number, 'mean' or 'median' fills the columns of numbers; 'mode', the most
--- frequent value, fills all; a table by names fills the columns that it names.
function M.fillna(columns, value, options)
  local missing, result = set_of(options.missing), ordered_dict.strict(TITLES)
  local by_name = type(value) == 'table' and value or nil
  for name in pairs(by_name or {}) do column_of('fillna', columns, name) end
  if type(value) == 'string' and not STATISTICS[value] then fail("fillna(): value must be a number, 'mean', 'median', 'mode' or a table by names, got '%s'", value) end
  for _, name in ipairs(names_of(columns)) do
    local column, given = column_of('fillna', columns, name), value
    if by_name then given = by_name[name] end
    if given == nil then result[name] = column
    elseif torch.is_tensor(column) then result[name] = filled_numbers(name, column, given)
    elseif by_name or given == 'mode' then result[name] = filled_texts(name, column, given, missing)
    else result[name] = column end
  end
  return result
end

-- ---- one-hot columns ----------------------------------------------------------------------------

-- The values of a column as a list of numbers, booleans or texts; false where they are missing.
local function values_of(column, missing)
  local values = {}
  for i, value in ipairs(torch.is_tensor(column) and column:tolist() or column) do
    if type(value) == 'string' and missing[value] or value ~= value then value = false
    elseif type(value) == 'boolean' then value = value and 'True' or 'False' end
    values[i] = value
  end
  return values
end

-- The different values in order, and their indices by value.
local function categories_of(values)
  local list, index = {}, {}
  for _, value in ipairs(values) do
    if value and not index[value] then
      index[value] = true
      list[#list + 1] = value
    end
  end
  table.sort(list)
  for i, value in ipairs(list) do index[value] = i end
  return list, index
end

-- The device of the columns of numbers: the CPU, as csv.read creates them, unless the caller moved
-- them.
local function device_of(columns)
  for _, name in ipairs(names_of(columns)) do
    if torch.is_tensor(columns[name]) then return columns[name].device end
  end
  return torch.device 'cpu'
end

--- Replaces columns by one column for each of their values, which is true where the column has the
--- value: column_value. dummy_na adds column_nan for missing values. The new columns follow the
--- others.
function M.get_dummies(columns, names, options)
  local encoded, result = {}, ordered_dict.strict(TITLES)
  if names then
    for _, name in ipairs(names) do column_of('get_dummies', columns, name) end
    encoded = set_of(names)
  end
  local all = names_of(columns)
  for _, name in ipairs(all) do
    local column = column_of('get_dummies', columns, name)
    if not names and not torch.is_tensor(column) then encoded[name] = true end
    if not encoded[name] then result[name] = column end
  end
  local missing, dtype, device = set_of(options.missing), options.dtype or torch.bool, device_of(columns)
  for _, name in ipairs(names or all) do
    if encoded[name] then
      local values = values_of(columns[name], missing)
      local list, index = categories_of(values)
      if options.dummy_na then list[#list + 1] = 'nan' end
      local marks = {}
      for i, value in ipairs(values) do marks[i] = value and index[value] or options.dummy_na and #list or 0 end
      local at = torch.tensor(marks, { dtype = torch.int64, device = device })
      for k = options.drop_first and 2 or 1, #list do
        local title = ('%s_%s'):format(name, tostring(list[k]))
        if rawget(result, title) ~= nil then fail("get_dummies(): two columns would be called '%s'; rename the column '%s'", title, name) end
        result[title] = at:eq(k):to(dtype)
      end
    end
  end
  return result
end

--- A tensor of shape (rows, columns) with the numbers of the columns.
function M.to_tensor(columns, names, options)
  local list, rows, first = {}, nil, nil
  for i, name in ipairs(names or names_of(columns)) do
    local column = column_of('to_tensor', columns, name)
    if not torch.is_tensor(column) then fail("to_tensor(): column '%s' has texts; call get_dummies() first, or name the columns", name) end
    rows, first = rows or column:size(1), first or name
    if column:size(1) ~= rows then fail("to_tensor(): column '%s' has %d rows and column '%s' has %d", name, column:size(1), first, rows) end
    list[i] = column:to(options.dtype or torch.get_default_dtype())
  end
  if #list == 0 then fail 'to_tensor(): the table has no columns' end
  return torch.stack(list, 2)
end

declare.functions(M, [[
  fillna(table columns, number|string|table value, *, table missing={'', 'NA', 'NaN', 'nan'})
  get_dummies(table columns, list? names, *, boolean dummy_na=false, boolean drop_first=false, dtype? dtype, table missing={'', 'NA', 'NaN', 'nan'})
  to_tensor(table columns, list? names, *, dtype? dtype)
]], 'options')
declare.functions(M, 'select(table columns, list names)')

return M
