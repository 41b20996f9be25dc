-- slices.lua - functions of positions: as many results as there are dimensions, and a fill value.

local torch = require 'torch'
local fail = require 'torch.support.fail'

local both = 'function method'

local function unravel_index(indices, shape)
  if type(shape) == 'number' then shape = { shape } end
  if indices.dtype.is_floating_point or indices.dtype == torch.bool then
    fail("unravel_index() expected 'indices' to be integer dtype, but got %s", tostring(indices.dtype))
  end
  local rest, list = indices:to(torch.int64) - 1, {}
  for d = #shape, 1, -1 do
    if shape[d] < 0 then fail("'shape' cannot have negative values, but got (%s)", table.concat(shape, ', ')) end
    list[d] = rest % shape[d] + 1
    rest = rest // shape[d]
  end
  return table.unpack(list)
end

local function nonzero_static(self, size, fill_value)
  if size < 0 then fail('nonzero_static: \'size\' must be an non-negative integer') end
  local found = self:nonzero()
  local n = found:size(1)
  if n >= size then return found:narrow(1, 1, size):clone() end
  local rest = torch.full({ size - n, found:size(2) }, fill_value, { dtype = torch.int64, device = self.device })
  return torch.cat({ found, rest }, 1)
end

return {
  { 'unravel_index(IndexTensor indices, Size shape) -> IndexTensor', variants = 'function', run = unravel_index,
    doc = 'Converts positions in the flattened tensor of this shape to positions along each dimension.' },
  { 'nonzero_static(Tensor self, *, int size, Index fill_value=-1) -> IndexTensor', variants = both, run = nonzero_static,
    doc = 'The first `size` rows of nonzero, filled up with rows of fill_value.' },

  arguments = [=[
unravel_index.indices: Positions of elements, counted from 1 in row-major order.
unravel_index.shape: Shape of the tensor that the positions belong to.
nonzero_static.size: Number of rows of the result.
fill_value: Value of the rows that are left over.
]=],

  examples = [=[
unravel_index
    torch.unravel_index(torch.tensor{1, 4}, {2, 3})
    --> (tensor([1, 2]), tensor([1, 1]))
nonzero_static
    torch.tensor{0, 5, 6}:nonzero_static{size = 3}
    --> tensor([[ 2],
    -->         [ 3],
    -->         [-1]])
]=],
}
