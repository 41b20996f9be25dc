-- slices.lua - slices of lists of modules and parameters, as for tensors: list['2:4'], list[{2,
-- 4}], both ends included, with an optional step; ends beyond the list are clamped, negative
-- positions count from the end.

local fail = require 'torch.support.fail'

local slices = {}

--- Whether a key is a slice.
function slices.is(key) return type(key) == 'table' or type(key) == 'string' and key:find(':', 1, true) ~= nil end

local function numbers_of(what, key)
  if type(key) == 'string' then
    local first, last, step = key:match '^%s*(%-?%d*)%s*:%s*(%-?%d*)%s*:?%s*(%-?%d*)%s*$'
    if not first then fail("%s: the slice '%s' is not first:last or first:last:step", what, key) end
    return math.tointeger(first), math.tointeger(last), math.tointeger(step)
  end
  for name, value in pairs(key) do
    if math.type(name) ~= 'integer' or name < 1 or name > 3 or math.type(value) ~= 'integer' then
      fail('%s: a slice is a table of integers {first, last} or {first, last, step}', what)
    end
  end
  return key[1], key[2], key[3]
end

local function placed(what, position, n, default)
  if position == nil then return default end
  if position == 0 then fail('%s: index 0: positions count from 1', what) end
  return position > 0 and position or n + 1 + position
end

--- The positions of a slice of a list of n entries.
function slices.positions(what, key, n)
  local first, last, step = numbers_of(what, key)
  step = step or 1
  if step == 0 then fail('%s: slice step cannot be zero', what) end
  first, last = placed(what, first, n, step > 0 and 1 or n), placed(what, last, n, step > 0 and n or 1)
  if step > 0 then first, last = math.max(first, 1), math.min(last, n) else first, last = math.min(first, n), math.max(last, 1) end
  local positions = {}
  for i = first, last, step do positions[#positions + 1] = i end
  return positions
end

return slices
