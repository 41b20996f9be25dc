-- log.lua - torch.utils.log: logs metrics of a run, one row at a time, to files that other programs
-- read.
--
--   local log <close> = torch.utils.log.CSVLogger 'run.csv'        epoch,loss
--   log:log {epoch = 1, loss = 0.25}                               1,0.25
--   local log <close> = torch.utils.log.JSONLogger 'run.jsonl'     {"epoch": 1, "loss": 0.25}
--
-- Each row is written immediately, so a killed program keeps its rows. With {append = true} an
-- existing file is continued, and an incomplete last row is removed first; otherwise the file is
-- overwritten. Columns have the order of an ordered table, otherwise `epoch` and `step` come first
-- and the others are sorted. Values are numbers, strings, booleans and tensors of one element. In
-- CSV, nan and infinity are nan, inf and -inf; JSON has no such numbers, so they are the strings
-- "NaN", "Infinity" and "-Infinity".

--[=[ arguments
path: File.
append: Whether an existing file is continued instead of overwritten.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local csv_rows = require 'torch.utils.csv_rows'
local fail = require 'torch.support.fail'
local json_string = require 'torch.files.json_string'
local kinds = require 'torch.support.argument_kinds'
local outside = require 'torch.files.outside'
local plain_number = require 'torch.files.plain_number'
local ordered_dict = require 'torch.support.ordered_dict'
local whole_file = require 'torch.files.whole_file'

local M = {}

local ABSENT = 2 -- ENOENT

-- ---- values -------------------------------------------------------------------------------------

-- Digits that convert back to the same number.
local function digits(value)
  if math.type(value) == 'integer' then return ('%d'):format(value) end
  local text = plain_number('%.15g', value)
  if tonumber(text) ~= value then text = plain_number('%.17g', value) end
  return text:find '[.e]' and text or text .. '.0'
end

-- A number as text; nan and infinity by their names in the list.
local function number_text(value, names)
  if value ~= value then return names[1] end
  if value == math.huge then return names[2] end
  if value == -math.huge then return names[3] end
  return digits(value)
end

local function value_of(name, value)
  if torch.is_tensor(value) then
    if value:numel() ~= 1 then fail("log(): '%s' must have one element, not the shape %s", name, tostring(value.shape)) end
    value = value:item()
  end
  local kind = type(value)
  if kind ~= 'number' and kind ~= 'string' and kind ~= 'boolean' then
    fail("log(): '%s' must be a number, a string, true or false, or a tensor of one element, not %s", name, kinds.described(value))
  end
  return value
end

-- ---- rows ---------------------------------------------------------------------------------------

local rank = { epoch = 1, step = 2 }

local function comes_before(a, b)
  local of_a, of_b = rank[a] or 3, rank[b] or 3
  if of_a ~= of_b then return of_a < of_b end
  return a < b
end

-- The names of a row, in the order of its columns.
local function names_of(row)
  if type(row) ~= 'table' then fail('log(): a row must be a table of values by name, not %s', kinds.described(row)) end
  if ordered_dict.is(row) then return ordered_dict.names(row) end
  local names = {}
  for name in next, row do
    if type(name) ~= 'string' then fail('log(): a column must have a name, not %s', tostring(name)) end
    names[#names + 1] = name
  end
  table.sort(names, comes_before)
  return names
end

-- ---- base class of loggers ----------------------------------------------------------------------

local Logger = class.Object:extend 'Logger'

-- The rows of an existing file, without an incomplete last one.
local function whole_rows(path)
  local file, message, code = outside.open(path, 'rb')
  if not file then
    if code == ABSENT then return '' end
    fail('%s', message)
  end
  file:close()
  local text = whole_file.read(path)
  local rows = text:match '^.*\n' or ''
  if #rows < #text then
    local output <close> = torch._C.create_file(path)
    output:write(rows)
    output:commit()
  end
  return rows
end

function Logger:init(path, append)
  self.path = path
  self:_begin(append and whole_rows(path) or '')
  self:_open(append and 'ab' or 'wb')
end

function Logger:_open(mode)
  local file, message = outside.open(self.path, mode)
  if not file then fail('%s: %s', self.__classname, message) end
  self._file = file
end

function Logger:_write(text)
  local file = self._file
  local ok, problem = file:write(text)
  if ok then ok, problem = file:flush() end
  if not ok then fail('%s: %s', self.path, problem) end
end

--- Writes a row: a table of values by name.
function Logger:log(row)
  if not self._file then fail('log(): %s is closed', self.path) end
  local names, values = names_of(row), {}
  if #names == 0 then fail 'log(): the row has no values' end
  for i, name in ipairs(names) do values[i] = value_of(name, row[name]) end
  self:_log(names, values)
end

--- Closes the file; also called for a <close> variable.
function Logger:close()
  local file = self._file
  self._file = nil
  local ok, problem = true, nil
  if file then ok, problem = file:close() end
  if not ok then fail('%s: %s', self.path, problem) end
end

-- ---- CSV ----------------------------------------------------------------------------------------

--- CSVLogger(path, {append = false}): a file with the columns' names in its first line. A new
-- column is added at the end: the file is replaced atomically by one with that column, empty in
-- earlier rows.
local CSVLogger = Logger:extend 'CSVLogger'
M.CSVLogger = CSVLogger

local NAMES_IN_CSV = { 'nan', 'inf', '-inf' }

local function cell(value)
  if value == nil then return '' end
  local text = type(value) == 'number' and number_text(value, NAMES_IN_CSV) or tostring(value)
  return text:find '[,"\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

-- A CSV line with this number of columns.
local function csv_line(values, columns)
  local cells = {}
  for i = 1, columns do cells[i] = cell(values[i]) end
  return table.concat(cells, ',') .. '\n'
end

function CSVLogger:_begin(text)
  local rows = csv_rows(text, ',', self.path)
  self._columns = rows[1] and table.move(rows[1], 1, #rows[1], 1, {}) or {}
  for _, row in ipairs(rows) do
    if #row ~= #self._columns then fail('%s:%d: got %d fields, expected %d', self.path, row.line, #row, #self._columns) end
  end
end

-- Rewrites the file with the current columns.
function CSVLogger:_widen()
  self._file:close()
  local rows, lines = csv_rows(whole_file.read(self.path), ',', self.path), {}
  rows[1] = self._columns
  for i, row in ipairs(rows) do lines[i] = csv_line(row, #self._columns) end
  local output <close> = torch._C.create_file(self.path)
  output:write(table.concat(lines))
  output:commit()
  self:_open 'ab'
end

function CSVLogger:_log(names, values)
  local columns, at, row = self._columns, {}, {}
  for i, name in ipairs(columns) do at[name] = i end
  local before = #columns
  for i, name in ipairs(names) do
    if not at[name] then
      columns[#columns + 1] = name
      at[name] = #columns
    end
    row[at[name]] = values[i]
  end
  if before == 0 then
    self:_write(csv_line(columns, #columns))
  elseif #columns > before then
    self:_widen()
  end
  self:_write(csv_line(row, #columns))
end

-- ---- JSON ---------------------------------------------------------------------------------------

--- JSONLogger(path, {append = false}): JSON Lines, an object on each line.
local JSONLogger = Logger:extend 'JSONLogger'
M.JSONLogger = JSONLogger

local NAMES_IN_JSON = { '"NaN"', '"Infinity"', '"-Infinity"' }

local function json_text(value)
  if type(value) == 'number' then return number_text(value, NAMES_IN_JSON) end
  return type(value) == 'string' and json_string(value) or tostring(value)
end

function JSONLogger:_begin() end -- JSON Lines have no header

function JSONLogger:_log(names, values)
  local members = {}
  for i, name in ipairs(names) do
    members[i] = json_string(name) .. ': ' .. json_text(values[i])
  end
  self:_write('{' .. table.concat(members, ', ') .. '}\n')
end

for _, logger in pairs(M) do
  class.metatables[logger].__close = function(self) self:close() end
  declare.methods(logger, 'init(self, string path, *, boolean append=false)')
end

return M
