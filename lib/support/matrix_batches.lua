-- matrix_batches.lua - checks, blocks and triangular solves of batches of matrices (…, m, n), for
-- operations of linear algebra written in Lua.

local torch = require 'torch'
local fail = require 'torch.support.fail'

local M = {}

function M.check_matrix(what, A)
  if A.ndim < 2 then fail('%s: The input tensor A must have at least 2 dimensions.', what) end
end

function M.check_square(what, A)
  M.check_matrix(what, A)
  if A:size(-1) ~= A:size(-2) then
    fail('%s: A must be batches of square matrices, but they are %d by %d matrices', what, A:size(-2), A:size(-1))
  end
end

local KINDS = { [torch.float32] = true, [torch.float64] = true, [torch.complex64] = true, [torch.complex128] = true }

function M.check_kind(what, A)
  if not (A.dtype.is_floating_point or A.dtype.is_complex) then fail('%s: Expected a floating point or complex tensor as input. Got %s', what, tostring(A.dtype)) end
  if not KINDS[A.dtype] then fail('%s: Low precision dtypes not supported. Got %s', what, tostring(A.dtype)) end
end

-- Options of a factory: x's dtype and device, and more ones.
function M.like(x, more)
  local options = { dtype = x.dtype, device = x.device }
  for name, value in pairs(more or {}) do options[name] = value end
  return options
end

-- The sizes of the batch.
function M.batch_of(A) return table.move(A.shape, 1, A.ndim - 2, 1, {}) end

-- A copy of a list with more values at its end.
function M.appended(list, ...) return table.move({ ... }, 1, select('#', ...), #list + 1, table.move(list, 1, #list, 1, {})) end

function M.eye_like(A, n) return torch.eye(n, n, M.like(A)) end

-- Rows or columns first .. last, which may be none.
function M.rows(A, first, last) return A:narrow(-2, first, math.max(last - first + 1, 0)) end
function M.columns(A, first, last) return A:narrow(-1, first, math.max(last - first + 1, 0)) end

function M.triangular(A, B, upper, left, unit)
  return torch.linalg.solve_triangular(A, B, { upper = upper, left = left ~= false, unitriangular = unit or false })
end

return M
