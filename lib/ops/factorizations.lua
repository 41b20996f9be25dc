-- factorizations.lua - torch.lu, the older form of torch.linalg.lu_factor.

local torch = require 'torch'

local function lu(A, pivot, get_infos)
  local LU, pivots, info = torch.linalg_lu_factor_ex(A, { pivot = pivot })
  if get_infos then return LU, pivots, info end
  return LU, pivots
end

return {
  { 'lu(Tensor A, bool pivot=true, bool get_infos=false) -> (Tensor LU, Tensor pivots, Tensor infos)', variants = 'function method copied_out', run = lu,
    doc = 'The factors of lu_factor and the pivots, with get_infos also the info.' },

  arguments = [=[
A: Matrix, or a batch of matrices.
pivot: Whether rows are exchanged, for numerical stability.
get_infos: Whether `infos` is returned, too: 0, or the position of a zero pivot.
]=],

  examples = [=[
lu
    local LU, pivots = torch.lu(torch.tensor{ {1.0, 2.0}, {4.0, 4.0} })
    LU, pivots
    --> (tensor([[4.0000, 4.0000],
    -->          [0.2500, 1.0000]]),
    -->  tensor([2, 2], dtype=torch.int32))
]=],
}
