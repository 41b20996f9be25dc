-- common.lua - helpers of the operators in this folder: dimensions, positions and sizes count from 0
-- in a program and from 1 here.

local torch = require 'torch'

local M = {}

--- A dimension of x.
function M.dim_of(x, dim) return dim < 0 and dim + math.max(x:dim(), 1) + 1 or dim + 1 end

function M.dims_of(x, dims)
  local result = {}
  for i, dim in ipairs(dims) do result[i] = M.dim_of(x, dim) end
  return result
end

function M.descending(dims)
  table.sort(dims, function(a, b) return a > b end)
  return dims
end

--- Positions of elements: negative ones count from the end in both.
function M.positions(index)
  index = index:to(torch.int64)
  return torch.where(index:lt(0), index, index + 1)
end

--- The argument of an operation that is a number or one of each dimension.
function M.listed(x) return type(x) == 'table' and #x > 0 and x or nil end

M.reductions = { [0] = 'none', 'mean', 'sum' }

return M
