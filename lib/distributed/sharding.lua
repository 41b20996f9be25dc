-- sharding.lua - registers tensors that are shards of larger ones: a rank's shard of a parameter is
-- a range of its elements in order. fully_shard and ZeroRedundancyOptimizer register shards;
-- checkpoint.lua queries them.

local M = {}

local places = setmetatable({}, { __mode = 'k' })

--- part, of one dimension, begins at element `first` (from 1) of a tensor with that shape. group:
-- the ranks with the other parts.
function M.set(part, shape, first, group) places[part] = { shape = shape, first = first, group = group } end

--- { shape =, first =, group = } of a shard; nil for a complete tensor.
function M.place(tensor) return places[tensor] end

--- The elements, of n, that belong to a rank (from 0) of `size`: the first one, and their number.
-- Parts are equal except the last ones.
function M.range(n, rank, size)
  local each = (n + size - 1) // size
  local first = math.min(rank * each, n)
  return first + 1, math.min(each, n - first)
end

return M
