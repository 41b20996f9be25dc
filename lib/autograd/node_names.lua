-- node_names.lua - PyTorch's names of nodes (x.grad_fn) for composite operations: printed tensors,
-- errors and profiles name the called operation. Names of operations in C are in their declarations
-- (grad_fn).

local C = require 'torch'._C

local node_names = {}

-- Node names by op of lib/ops, or by overload.
local names = {
  frexp = 'FrexpBackward0', ldexp = 'LdexpBackward0', deg2rad = 'Deg2RadBackward0', rad2deg = 'Rad2DegBackward0', rsub = 'RsubBackward0',
  std_mean = 'StdMeanBackward0', var_mean = 'VarMeanBackward0', dist = 'DistBackward0', renorm = 'RenormBackward0',
  slice_scatter = 'SliceScatterBackward0', index_reduce = 'IndexReduceBackward0', unbind_copy = 'UnbindBackward0_copy',
  split_with_sizes_copy = 'SplitWithSizesBackward0_copy',
  linalg_lu_factor = 'LinalgLuFactorExBackward0', linalg_lu_factor_ex = 'LinalgLuFactorExBackward0',
  lu = 'LinalgLuFactorExBackward0', linalg_lu_solve = 'LinalgLuSolveBackward0', lu_solve = 'LinalgLuSolveBackward0',
  cholesky_solve = 'CholeskySolveBackward0', cholesky_inverse = 'CholeskyInverseBackward0', triangular_solve = 'TriangularSolveBackward0',
  linalg_householder_product = 'LinalgHouseholderProductBackward0', orgqr = 'LinalgHouseholderProductBackward0', ormqr = 'OrmqrBackward0',
  linalg_matrix_exp = 'LinalgMatrixExpBackward0', matrix_exp = 'LinalgMatrixExpBackward0', linalg_solve_ex = 'LinalgSolveExBackward0',
}

local function named(name, before, first, ...)
  if type(first) == 'table' then
    C.name_nodes(name, before, table.unpack(first))
  else
    C.name_nodes(name, before, first, ...)
  end
  return first, ...
end

--- Calls f(...), and names the nodes that it creates for its results.
function node_names.call(name, f, ...) return named(name, C.last_node(), f(...)) end

--- f with nodes named after an overload of the operation; f itself if PyTorch's nodes have the
--- names of the operations in f.
function node_names.wrap(overload, op, f)
  local name = names[overload] or names[op]
  if not name then return f end
  return function(...) return named(name, C.last_node(), f(...)) end
end

return node_names
