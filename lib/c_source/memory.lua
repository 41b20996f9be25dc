-- memory.lua - the static memory plan: places of buffers in an arena for each dtype. Buffers whose
-- lifetimes overlap do not share elements.

local places = require 'torch.c_source.places'

local M = {}

local ALIGNMENT = 16 -- elements: fixed, a vector of 64 bytes of floats

local function each_buffer(statement, fn)
  for i = 1, statement.args.n do
    local place = statement.args[i]
    if type(place) == 'table' then fn(place.buffer) end
  end
end

-- The buffer that a buffer was joined with.
local function root(buffer)
  while buffer.same do buffer = buffer.same end
  return buffer
end

-- Sets the first and the last statement of each buffer.
local function mark(statements)
  local list = {}
  for i, statement in ipairs(statements) do
    each_buffer(statement, function(buffer)
      if buffer.kind ~= 'arena' then return end
      if not buffer.first then
        buffer.first, list[#list + 1] = i, buffer
      end
      buffer.last = i
    end)
  end
  return list
end

-- Whether a statement reads other elements of a buffer than the one that it computes: the transposed
-- matrix, a row that is broadcast.
local function reads_elsewhere(statement, buffer)
  for i = 1, statement.args.n do
    local place = statement.args[i]
    if type(place) == 'table' and root(place.buffer) == buffer then
      if place.offset ~= 0 or not places.is_dense(place) or places.numel(place.shape) ~= buffer.numel then return true end
    end
  end
  return false
end

-- Lets a statement that may write to its operand do so where the operand ends there.
local function join(statements)
  for i, statement in ipairs(statements) do
    if statement.in_place then
      local x, y = root(statement.in_place[1].buffer), statement.in_place[2].buffer
      local fits = x.kind == 'arena' and y.kind == 'arena' and x ~= y and x.numel == y.numel and x.dtype == y.dtype and statement.in_place[1].offset == 0
      if fits and x.last == i and y.first == i and not reads_elsewhere(statement, x) then
        y.same, x.last = x, y.last
      end
    end
  end
end

-- The first offset at which a buffer does not overlap the placed ones of its time.
local function offset_of(buffer, placed)
  local busy = {}
  for _, other in ipairs(placed) do
    if other.dtype == buffer.dtype and other.first <= buffer.last and buffer.first <= other.last then busy[#busy + 1] = other end
  end
  table.sort(busy, function(a, b) return a.offset < b.offset end)
  local at = 0
  for _, other in ipairs(busy) do
    if at + buffer.numel <= other.offset then break end
    at = math.max(at, (other.offset + other.numel + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)
  end
  return at
end

--- Plans the statements' buffers: sets their offsets. Returns the elements of each arena by dtype's name.
function M.plan(statements)
  local buffers = mark(statements)
  join(statements)
  local placed, sizes = {}, {}
  table.sort(buffers, function(a, b) return a.numel > b.numel or a.numel == b.numel and a.first < b.first end)
  for _, buffer in ipairs(buffers) do
    if not buffer.same then
      buffer.offset = offset_of(buffer, placed)
      placed[#placed + 1] = buffer
      local name = tostring(buffer.dtype)
      sizes[name] = math.max(sizes[name] or 0, buffer.offset + buffer.numel, 1)
    end
  end
  return sizes
end

--- A place as a pointer in C.
function M.pointer(place)
  local buffer = root(place.buffer)
  local offset = place.offset + (buffer.offset or 0)
  local name = buffer.name or 'arena' .. places.type_of(buffer.dtype).suffix
  return offset > 0 and ('%s + %d'):format(name, offset) or name
end

return M
