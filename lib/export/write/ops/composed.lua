-- composed.lua - writes functions that ATen composes of other operators.

local M = {}

-- An operator of a value; the result has its dtype, and the given shape or its own.
local function step(g, target, arguments, like, shape)
  local result = g:made(like, nil, shape)
  g:call_operator(target, arguments, { result })
  return result
end

-- ---- activations --------------------------------------------------------------------------------

function M.softsign(g, a, call)
  local x = a.self or a.input
  local size = step(g, 'add.Scalar', { self = step(g, 'abs.default', { self = x }, x), other = 1 }, x)
  g:call_operator('div.Tensor', { self = x, other = size }, { call.results[1] })
end

function M.tanhshrink(g, a, call)
  local x = a.self or a.input
  g:call_operator('sub.Tensor', { self = x, other = step(g, 'tanh.default', { self = x }, x) }, { call.results[1] })
end

function M.softmin(g, a, call)
  local x = a.self or a.input
  local dim = a.dim or (#x.shape == 0 or #x.shape == 1 or #x.shape == 3) and 1 or 2
  g:call_operator('softmax.int', { self = step(g, 'neg.default', { self = x }, x), dim = dim > 0 and dim - 1 or dim, dtype = a.dtype }, { call.results[1] })
end

-- ---- norms of slices ----------------------------------------------------------------------------

function M.normalize(g, a, call)
  local x = a.input or a.self
  local dims, shape = {}, g:shape(x)
  for i, dim in ipairs(type(a.dim) == 'table' and a.dim or { a.dim }) do
    dims[i] = dim > 0 and dim - 1 or dim
    shape[dims[i] < 0 and #shape + 1 + dims[i] or dims[i] + 1] = 1
  end
  local norm = step(g, 'linalg_vector_norm.default', { self = x, ord = a.p, dim = dims, keepdim = true }, x, shape)
  local bounded = step(g, 'clamp_min.default', { self = norm, min = a.eps }, norm)
  g:call_operator('div.Tensor', { self = x, other = bounded }, { call.results[1] })
end

-- x / (k + alpha * mean of the squares of `size` neighbouring channels) ^ beta.
function M.local_response_norm(g, a, call)
  local x = a.input or a.self
  local shape = g:shape(x)
  local wide = { shape[1], 1, shape[2], 1, 1 }
  wide[4] = shape[3] or 1
  for d = 4, #shape do wide[5] = wide[5] * shape[d] end
  local padded = table.move(wide, 1, 5, 1, {})
  padded[3] = wide[3] + a.size - 1
  local square = step(g, 'mul.Tensor', { self = x, other = x }, x)
  square = step(g, 'reshape.default', { self = square, shape = wide }, x, wide)
  square = step(g, 'constant_pad_nd.default', { self = square, pad = { 0, 0, 0, 0, a.size // 2, (a.size - 1) // 2 } }, x, padded)
  local mean = step(g, 'avg_pool3d.default', { self = square, kernel_size = { a.size, 1, 1 }, stride = { 1, 1, 1 } }, x, wide)
  mean = step(g, 'reshape.default', { self = mean, shape = shape }, x)
  mean = step(g, 'add.Scalar', { self = step(g, 'mul.Scalar', { self = mean, other = a.alpha }, x), other = a.k }, x)
  g:call_operator('div.Tensor', { self = x, other = step(g, 'pow.Tensor_Scalar', { self = mean, exponent = a.beta }, x) }, { call.results[1] })
end

-- ---- losses, pooling ----------------------------------------------------------------------------

function M.kl_div(g, a, call)
  if a.reduction ~= 'batchmean' then return false end
  local x = a.input or a.self
  local sum = step(g, 'kl_div.default', { self = x, target = a.target, reduction = 2, log_target = a.log_target }, call.results[1])
  local batch = g:shape(x)[1]
  if type(batch) ~= 'number' then g:fail "reduction 'batchmean' of a dynamic batch; use 'sum'" end
  g:call_operator('div.Scalar', { self = sum, other = batch }, { call.results[1] })
end

-- Stores the loss of elements, or their mean or sum, as the result of the call.
local function reduce(g, a, call, target, arguments)
  local y = call.results[1]
  if a.reduction == 'none' then return g:call_operator(target, arguments, { y }) end
  local like = arguments.self
  g:call_operator(a.reduction .. '.default', { self = step(g, target, arguments, like) }, { y })
end

-- The logarithm of the variance and the squared error divided by it; the variance is at least eps, but
-- its gradient is not cut.
function M.gaussian_nll_loss(g, a, call)
  local x, var = a.input, a.var
  if type(var) == 'number' then g:fail 'a variance that is a number; pass a tensor' end
  for d, size in ipairs(x.shape) do
    if #var.shape ~= #x.shape or var.shape[d] ~= size or a.target.shape[d] ~= size then g:fail 'a target or a variance of another shape than the input; expand it' end
  end
  var = step(g, 'clone.default', { self = var }, var)
  g:call_operator('clamp_min_.default', { self = step(g, 'detach.default', { self = var }, var), min = a.eps }, { g:made(var) })
  local distance = step(g, 'sub.Tensor', { self = x, other = a.target }, x)
  local square = step(g, 'div.Tensor', { self = step(g, 'square.default', { self = distance }, x), other = var }, x)
  local sum = step(g, 'add.Tensor', { self = step(g, 'log.default', { self = var }, x), other = square }, x)
  if a.full then sum = step(g, 'add.Scalar', { self = sum, other = math.log(2 * math.pi) }, x) end
  reduce(g, a, call, 'mul.Scalar', { self = sum, other = 0.5 })
end

function M.multilabel_soft_margin_loss(g, a, call)
  local x, y = a.input, a.target
  local function log_sigmoid(value) return step(g, 'log_sigmoid.default', { self = value }, x) end
  local hits = step(g, 'mul.Tensor', { self = y, other = log_sigmoid(x) }, x)
  local misses = step(g, 'mul.Tensor', { self = step(g, 'rsub.Scalar', { self = y, other = 1 }, y), other = log_sigmoid(step(g, 'neg.default', { self = x }, x)) }, x)
  local sum = step(g, 'neg.default', { self = step(g, 'add.Tensor', { self = hits, other = misses }, x) }, x)
  if a.weight then sum = step(g, 'mul.Tensor', { self = sum, other = a.weight }, x) end
  local shape = g:shape(x)
  table.remove(shape)
  if a.reduction == 'none' then return g:call_operator('mean.dim', { self = sum, dim = { -1 } }, { call.results[1] }) end
  local rows = step(g, 'mean.dim', { self = sum, dim = { -1 } }, x, shape)
  g:call_operator(a.reduction .. '.default', { self = rows }, { call.results[1] })
end

-- The norm of the elements of a window, without the sign of their sum.
local function lp_pool(n)
  return function(g, a, call)
    local x, y, p = a.input or a.self, call.results[1], a.norm_type
    local kernel, stride, count = {}, {}, 1
    for i = 1, n do
      kernel[i] = #a.kernel_size == 1 and a.kernel_size[1] or a.kernel_size[i]
      stride[i] = a.stride and (#a.stride == 1 and a.stride[1] or a.stride[i]) or kernel[i]
      count = count * kernel[i]
    end
    local mean = step(g, ('avg_pool%dd.default'):format(n), { self = step(g, 'pow.Tensor_Scalar', { self = x, exponent = p }, x), kernel_size = kernel, stride = stride,
      ceil_mode = a.ceil_mode }, x, g:shape(y))
    local size = step(g, 'relu.default', { self = step(g, 'abs.default', { self = mean }, mean) }, mean)
    size = step(g, 'mul.Tensor', { self = step(g, 'sign.default', { self = mean }, mean), other = size }, mean)
    g:call_operator('pow.Tensor_Scalar', { self = step(g, 'mul.Scalar', { self = size, other = count }, mean), exponent = 1 / p }, { y })
  end
end
M.lp_pool1d, M.lp_pool2d, M.lp_pool3d = lp_pool(1), lp_pool(2), lp_pool(3)

-- A number of each of three dimensions.
local function three(x)
  local list = type(x) == 'table' and x or { x }
  return #list == 1 and { list[1], list[1], list[1] } or list
end

-- The values at their positions in zeros of the result's shape.
local function unpool(n)
  return function(g, a, call)
    local y, x = call.results[1], a.input or a.self
    local size, indices = {}, { json = { as_tensor = { name = g:positions(a.indices) } } }
    local shape = g:shape(y)
    for i = 1, n do size[i] = shape[#shape - n + i] end
    local arguments = { self = x, indices = indices, output_size = size }
    if n == 3 then arguments.stride, arguments.padding = three(a.stride or a.kernel_size), three(a.padding) end
    g:call_operator(('max_unpool%dd.default'):format(n), arguments, { y })
  end
end
M.max_unpool2d, M.max_unpool3d = unpool(2), unpool(3)

for name, write in pairs(M) do M['nn.' .. name] = write end

return M
