-- utils.lua - torch.distributions.utils: shapes, and probabilities as numbers that their logarithms
-- can bear.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local python = require 'torch.nn.python'

local utils = {}

utils.euler_constant = 0.57721566490153286060

-- ---- shapes -------------------------------------------------------------------------------------

--- The sizes in the arguments of a call: numbers, a table or a torch.Size, or {sample_shape = ...}.
function utils.dims_of(...)
  local first = ...
  if first == nil then return {} end
  if type(first) == 'number' then return { ... } end
  if select('#', ...) > 1 and select(2, ...) ~= nil then fail('a shape is numbers or one table of them, but %s follows the table', kinds.described((select(2, ...)))) end
  if type(first) == 'table' and rawget(first, 'sample_shape') then first = first.sample_shape end
  if type(first) ~= 'table' then fail('a shape is numbers or a table of them, not %s', torch.type(first)) end
  local dims = {}
  for i = 1, #first do -- not table.move, which trusts the length that an object reports
    local size = first[i]
    if type(size) ~= 'number' then fail('a shape is numbers or a table of them, and element %d is %s', i, torch.type(size)) end
    dims[i] = size
  end
  return dims
end

--- Concatenates lists to a new one.
function utils.append(...)
  local all = {}
  for _, dims in ipairs { ... } do table.move(dims, 1, #dims, #all + 1, all) end
  return all
end

--- The sizes from first to last, both counted from 1 or, when negative, from the end.
function utils.slice(dims, first, last)
  local n = #dims
  last = last or n
  if last < 0 then last = n + 1 + last end
  return table.move(dims, first, last, 1, {})
end

--- The number of elements of a shape.
function utils.numel(dims)
  local n = 1
  for _, size in ipairs(dims) do n = n * size end
  return n
end

--- The shape that several shapes broadcast to.
function utils.broadcast_shapes(...)
  local views = {}
  for i, dims in ipairs { ... } do views[i] = torch.empty(1):expand(utils.append(dims, { 1 })) end
  if #views == 1 then return utils.slice(views[1].shape, 1, -2) end
  local wide = table.pack(torch.broadcast_tensors(views))
  return utils.slice((type(wide[1]) == 'table' and wide[1][1] or wide[1]).shape, 1, -2)
end

--- Whether two shapes are equal.
function utils.same_dims(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return true
end

--- A shape in the form of torch.Size.
function utils.size_text(dims) return tostring(torch.Size(utils.slice(dims, 1))) end
--- A shape in the form of a tuple.
function utils.tuple_text(dims) return python.repr(utils.slice(dims, 1)) end

--- A tensor as Python's f-strings have it: a single number without dims as that number.
function utils.tensor_text(x)
  return torch.is_tensor(x) and x.ndim == 0 and python.repr(x:item()) or tostring(x)
end

--- x summed over its last n dims.
function utils.sum_rightmost(x, n)
  if n == 0 or not torch.is_tensor(x) then return x end
  return x:reshape(utils.append(utils.slice(x.shape, 1, x.ndim - n), { -1 })):sum(-1)
end

--- Converts numbers and tensors to tensors of one shape; numbers get the first tensor's dtype and
--- device.
function utils.broadcast_all(...)
  local values, n, like = { ... }, select('#', ...), nil
  for i = 1, n do
    if torch.is_tensor(values[i]) then like = like or values[i] end
  end
  for i = 1, n do
    local value = values[i]
    if type(value) == 'number' then
      local dtype = like and like:is_floating_point() and like.dtype or torch.get_default_dtype()
      values[i] = torch.tensor(value, { dtype = dtype, device = like and like.device })
    elseif not torch.is_tensor(value) then
      fail('Input arguments must all be instances of Number or Tensor, got %s', torch.type(value))
    end
  end
  local expanded = table.pack(torch.broadcast_tensors(values))
  if type(expanded[1]) == 'table' then expanded = expanded[1] end
  return table.unpack(expanded, 1, n)
end

--- The dtype and the device of a tensor, as options.
function utils.like(tensor) return { dtype = tensor.dtype, device = tensor.device } end

-- ---- probabilities ------------------------------------------------------------------------------

--- Probabilities moved into (0, 1) by the least that the dtype has.
function utils.clamp_probs(probs)
  local eps = torch.finfo(probs.dtype).eps
  return probs:clamp { min = eps, max = 1 - eps }
end

--- Log odds of probabilities; of the last dim's categories their logarithms, unless {is_binary =
--- true}.
function utils.probs_to_logits(probs, options)
  local p = utils.clamp_probs(probs)
  if options == true or options and options.is_binary then return p:log() - (-p):log1p() end
  return p:log()
end

--- The inverse: probabilities of log odds, or of the last dim's categories.
function utils.logits_to_probs(logits, options)
  if options == true or options and options.is_binary then return torch.sigmoid(logits) end
  return torch.softmax(logits, -1)
end

-- ---- triangles ----------------------------------------------------------------------------------

-- Positions of the elements on and below a diagonal, in the flattened n x n matrix.
local function triangle(n, diagonal, device)
  local at = torch.tril_indices(n, n, diagonal)
  return ((at[1] - 1) * n + at[2]):to(device)
end

--- Vectors of n (n + 1) / 2 numbers as the rows of lower triangular matrices; {diag = -1} leaves
--- the diagonal empty.
function utils.vec_to_tril_matrix(vec, options)
  local diag = type(options) == 'table' and options.diag or options or 0
  local size = vec:size(-1)
  local n = -(1 + 2 * diag - ((1 + 2 * diag) ^ 2 + 8 * size + 4 * math.abs(diag) * (diag + 1)) ^ 0.5) / 2
  local rows = math.tointeger(n // 1)
  if n ~= rows then
    fail('The size of last dimension is %d which cannot be expressed as the lower triangular part of a square D x D matrix.', size)
  end
  local batch = utils.slice(vec.shape, 1, -2)
  local flat = torch.zeros(utils.append(batch, { rows * rows }), utils.like(vec))
  flat = flat:index_copy(-1, triangle(rows, diag, vec.device), vec)
  return flat:reshape(utils.append(batch, { rows, rows }))
end

--- The numbers on and below a diagonal of matrices, row by row.
function utils.tril_matrix_to_vec(matrix, options)
  local diag = type(options) == 'table' and options.diag or options or 0
  local n = matrix:size(-1)
  if diag < -n or diag >= n then fail('diag (%d) provided is outside [%d, %d].', diag, -n, n - 1) end
  local flat = matrix:reshape(utils.append(utils.slice(matrix.shape, 1, -3), { n * n }))
  return flat:index_select(-1, triangle(n, diag, matrix.device))
end

-- The logarithm of the multivariate gamma function of order p.
function utils.mvlgamma(x, p)
  local steps = torch.arange(0, p, utils.like(x)) / 2
  return torch.lgamma(x:unsqueeze(-1) - steps):sum(-1) + p * (p - 1) / 4 * math.log(math.pi)
end

return utils
