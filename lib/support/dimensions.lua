-- dimensions.lua - converts the dimensions that users pass to Lua functions: counted from 1,
-- negative ones from the end.

local fail = require 'torch.support.fail'

local dimensions = {}

-- Converts dim of n dimensions to a position from 1; out of range, raises core's error.
function dimensions.wrap(dim, n)
  if n == 0 then fail('Dimension specified as %d but tensor has no dimensions', dim) end
  if dim == 0 or dim > n or dim < -n then
    fail('Dimension out of range (expected to be in range of [1, %d] or [-%d, -1], but got %d)', n, n, dim)
  end
  return dim < 0 and dim + n + 1 or dim
end

-- Converts a dim or a list of dims, which must be distinct, to a list.
function dimensions.wrap_all(list, n)
  local wrapped, seen = {}, {}
  for i, dim in ipairs(type(list) == 'number' and { list } or list) do
    local d = dimensions.wrap(dim, n)
    if seen[d] then fail('dim %d appears multiple times in the list of dims', d) end
    wrapped[i], seen[d] = d, true
  end
  return wrapped
end

return dimensions
