-- sharding.lua - which tensors are parts of larger ones: a rank's part of a parameter is its elements from one on, in the order in which
-- the parameter's lie. Who makes parts (fully_shard, ZeroRedundancyOptimizer) says so here; who saves them (checkpoint.lua) asks.

local M = {}

local places = setmetatable({}, { __mode = 'k' })

--- part, of one dimension, begins at the element `first` (from 1) of what has that shape. group: the ranks that have the other parts.
function M.set(part, shape, first, group) places[part] = { shape = shape, first = first, group = group } end

--- { shape =, first =, group = } of a part; nil for what is whole.
function M.place(tensor) return places[tensor] end

--- The elements of n that are a rank's (from 0) of so many: the first, and how many. Each rank has as many, but the last ones.
function M.range(n, rank, size)
  local each = (n + size - 1) // size
  local first = math.min(rank * each, n)
  return first + 1, math.min(each, n - first)
end

return M
