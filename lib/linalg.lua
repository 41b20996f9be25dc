-- linalg.lua - torch.linalg: the ops called linalg_..., and those that torch has under the same name.

local torch = require 'torch'

local linalg = {
  inv = torch.inverse, det = torch.det, slogdet = torch.slogdet, cholesky = torch.cholesky,
  matrix_power = torch.matrix_power, diagonal = torch.diagonal, matmul = torch.matmul,
}
for name, value in pairs(torch) do
  local own = type(name) == 'string' and name:match '^linalg_(.+)$'
  if own then linalg[own] = value end
end

--- The norm of vectors or of matrices: of all elements as one vector when neither an order nor dimensions are
--- given, of matrices over two dimensions, else of vectors.
function linalg.norm(x, ord, dim, keepdim, options)
  for i, value in ipairs { ord or false, dim or false, keepdim or false } do
    -- a last table of names, where it may stand: { dim = ... } is not a list of dimensions
    if type(value) == 'table' and #value == 0 and next(value) ~= nil then
      options = value
      if i == 1 then ord, dim, keepdim = nil, nil, nil elseif i == 2 then dim, keepdim = nil, nil else keepdim = nil end
      break
    end
  end
  options = options or {}
  if ord == nil then ord = options.ord end
  if dim == nil then dim = options.dim end
  if keepdim == nil then keepdim = options.keepdim end
  local named = { keepdim = keepdim or false, dtype = options.dtype }
  local dims = type(dim) == 'number' and 1 or dim and #dim or nil
  if type(ord) == 'string' or (ord ~= nil and (dims == 2 or (dims == nil and x.ndim == 2))) then
    named.dim = dim
    return linalg.matrix_norm(x, ord, named)
  end
  if dim == nil and ord == nil and not named.keepdim then
    return torch.norm(x:flatten(), 2, { dtype = named.dtype })
  end
  named.dim = dim
  return torch.norm(x, ord or 2, named)
end

return linalg
