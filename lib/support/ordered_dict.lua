-- ordered_dict.lua - tables that keep the insertion order of names, as Python's OrderedDict:
-- state_dict(), tables from torch.load, columns of a CSV file, rows of a log.
--
-- Invariant: the table itself contains exactly the values by name, so next(), rawget() and C code
-- see its content. The order is stored separately and synchronized on each use, because a removal
-- (dict[name] = nil) triggers no metamethod, and rawset() bypasses __newindex. A name that was
-- added by rawset() is appended.
--
-- pairs(dict) iterates over a snapshot of the names, #dict is their number, and dict[i] is the i-th
-- name for an integer i. Reading dict[1], dict[2], ... in turn, as ipairs does, iterates over the
-- names at the time of dict[1]. A dict with tensors, such as a state dict, is printed as a table of
-- names and sizes, one without them as Python prints it.

local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'
local python = require 'torch.nn.python'
local torch = require 'torch'
local width = require 'torch.utils.width'

local ordered_dict = {}

local metatable = { __name = 'OrderedDict' }

-- The order of each dict: `names` (1..n; a name that was removed and added again is at its last
-- index), `index` by name, `n`, the `n` at which to drop removed names; for an iteration by
-- position its list, the next position and the last.
local orders = setmetatable({}, { __mode = 'k' })

local ranks = { number = 1, string = 2 }
local function before(a, b)
  local rank_a, rank_b = ranks[type(a)] or 3, ranks[type(b)] or 3
  if rank_a ~= rank_b then return rank_a < rank_b end
  if rank_a == 3 then return tostring(a) < tostring(b) end
  return a < b
end

local function put(order, name)
  order.n = order.n + 1
  order.names[order.n], order.index[name] = name, order.n
end

local function order_of(dict)
  local order = orders[dict]
  if not order then
    order = { names = {}, index = {}, n = 0, limit = 64 }
    orders[dict] = order
  end
  return order
end

-- A new list without the names that are gone: a walk keeps the list it began with.
local function compact(dict, order)
  local names, index, n = order.names, order.index, order.n
  order.names, order.index, order.n = {}, {}, 0
  for i = 1, n do
    local name = names[i]
    if index[name] == i and rawget(dict, name) ~= nil then put(order, name) end
  end
end

local function add_unknown(dict, order)
  local unknown = {}
  for name in next, dict do
    if not order.index[name] then unknown[#unknown + 1] = name end
  end
  table.sort(unknown, before)
  for _, name in ipairs(unknown) do put(order, name) end
end

-- Synchronizes the order with the content, and returns it.
local function settled(dict)
  local order = order_of(dict)
  local names, index, present, count = order.names, order.index, 0, 0
  for i = 1, order.n do
    local name = names[i]
    if index[name] == i and rawget(dict, name) ~= nil then present = present + 1 end
  end
  if present < order.n then compact(dict, order) end
  for _ in next, dict do count = count + 1 end
  if count > present then add_unknown(dict, order) end
  return order
end

local function name_at(dict, position)
  local order = order_of(dict)
  if position ~= 1 and position == order.walk_next and position <= order.walk_last then
    local name = order.walk[position]
    if rawget(dict, name) ~= nil then
      order.walk_next = position + 1
      return name
    end
  end
  settled(dict)
  order.walk, order.walk_next, order.walk_last = order.names, position + 1, order.n
  return order.names[position]
end

function metatable.__index(dict, key)
  if math.type(key) == 'integer' then return name_at(dict, key) end
  local refused = order_of(dict).refused
  if refused and refused[key] then fail('%s', refused[key]) end
  local titles = order_of(dict).strict
  if titles and type(key) == 'string' then fail('%s', ordered_dict.absent(ordered_dict.names(dict), key, titles)) end
end

-- Called only for a name that is absent: new, or added again after it was removed.
function metatable.__newindex(dict, name, value)
  if type(name) ~= 'string' then
    fail("an OrderedDict has strings as keys, not %s: dict['name'] = value adds an entry, dict['name'] = nil removes one, "
      .. 'dict[1] is the first name and is only read', tostring(name))
  end
  if value == nil then return end
  local order = order_of(dict)
  if order.n >= order.limit then
    settled(dict)
    order.limit = 2 * order.n + 64
  end
  put(order, name)
  rawset(dict, name, value)
end

function metatable.__len(dict) return settled(dict).n end

function metatable.__pairs(dict)
  local order = settled(dict)
  local names, n, i = order.names, order.n, 0
  return function()
    while i < n do
      i = i + 1
      local value = rawget(dict, names[i])
      if value ~= nil then return names[i], value end
    end
  end
end

metatable.__call = for_loops.call_by(for_loops.entries) -- for name, value in dict do

-- As Python prints it.
local function shown(value)
  if type(value) == 'table' and getmetatable(value) == nil then
    if type(value[1]) == 'string' then return ('list of %d string%s'):format(#value, #value == 1 and '' or 's') end
    return tostring(value)
  end
  return python.repr(value)
end

-- The entries as {name, text, type}, the type for tensors only; nil if no value is a tensor or a
-- dict of tensors.
local function rows_of(dict)
  local rows, tensors = {}, false
  for name, value in pairs(dict) do
    local row = { name }
    if torch.is_tensor(value) then
      local device = tostring(value.device)
      row[2], row[3] = tostring(value.shape):match '%[.*%]', tostring(value.dtype) .. (device ~= 'cpu' and '  ' .. device or '')
      tensors = true
    else
      row[2] = shown(value):match '^[^\n]*'
      tensors = tensors or row[2]:find '^OrderedDict with ' ~= nil
    end
    rows[#rows + 1] = row
  end
  return tensors and rows or nil
end

local function padded(text, columns) return text .. (' '):rep(columns - width.of(text)) end

-- A table of the rows. Its lines are at most linewidth of set_printoptions wide: a longer name is on
-- a line of its own.
local function table_of(rows)
  local sizes, types, names = 0, 0, 0
  for _, row in ipairs(rows) do
    if row[3] then sizes, types = math.max(sizes, #row[2]), math.max(types, #row[3]) end
  end
  local room = math.max(8, torch.get_printoptions().linewidth - sizes - types - 6)
  for _, row in ipairs(rows) do
    if width.of(row[1]) <= room then names = math.max(names, width.of(row[1])) end
  end
  local lines = { ('OrderedDict with %d entr%s:'):format(#rows, #rows == 1 and 'y' or 'ies') }
  for _, row in ipairs(rows) do
    local name = '  ' .. row[1]
    if width.of(row[1]) > room then
      lines[#lines + 1] = name
      name = ''
    end
    lines[#lines + 1] = padded(name, names + 4) .. (row[3] and padded(row[2], sizes) .. '  ' .. row[3] or row[2])
  end
  return table.concat(lines, '\n')
end

function metatable.__tostring(dict)
  local rows = rows_of(dict)
  if rows then return table_of(rows) end
  local entries = {}
  for name, value in pairs(dict) do
    entries[#entries + 1] = ('(%s, %s)'):format(python.repr(name), shown(value))
  end
  return ('OrderedDict(%s)'):format(#entries > 0 and '[' .. table.concat(entries, ', ') .. ']' or '')
end

--- A new dict; entries, unless nil, are a list of {name, value}.
function ordered_dict.new(entries)
  local dict = setmetatable({}, metatable)
  for _, entry in ipairs(entries or {}) do dict[entry[1]] = entry[2] end
  return dict
end

--- Makes reading dict[name] an error while the entry is absent: for an entry that could not be
--- read.
function ordered_dict.refuse(dict, name, message)
  local order = order_of(dict)
  order.refused = order.refused or {}
  order.refused[name] = message
end

--- The message about a name that is not among the names. titles: the words for an entry, one and
--- several.
function ordered_dict.absent(names, name, titles)
  local near = torch._C.nearest_name(name, names)
  return ("no %s is called '%s'; %s"):format(titles[1], name, near and ("did you mean '%s'?"):format(near)
    or #names > 0 and ('the %s are %s'):format(titles[2], table.concat(names, ', ')) or ('the table has no %s'):format(titles[2]))
end

--- A new dict of which reading an absent name is an error. titles: as for absent.
function ordered_dict.strict(titles)
  local dict = ordered_dict.new()
  order_of(dict).strict = titles
  return dict
end

function ordered_dict.is(value) return getmetatable(value) == metatable end

--- A list of the names, in order.
function ordered_dict.names(dict)
  local order = settled(dict)
  return table.move(order.names, 1, order.n, 1, {})
end

return ordered_dict
