-- gradcheck_spec.lua - first and second derivatives of every op that declares one, against finite differences
-- in float64: the function or method, and the in-place form. An op without a case here fails.
--
-- Arguments are described, and made when a case runs: X, P, U and V are tensors that require grad, C, I and M
-- are constants. Values are distinct and lie off the kinks. Ops behind brackets have tests of their own.

local torch = require 'torch'
local pushed = require 'support.pushed'
local transformed = require 'support.transformed'
local sample = require 'support.sample'
local gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck
local device = os.getenv('LTENSOR_TEST_DEVICE') or 'cpu'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local declarations = dofile(root .. 'scripts/gen/declarations.lua').load(root .. 'src/ops')

-- ---- descriptions of arguments --------------------------------------------------------------------------------

local Argument = {}
Argument.__index = Argument

local function numel(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

local made = 0

-- Steps of the golden ratio: spread evenly, never two alike.
local function spread(shape, low, high, requires_grad)
  made = made + 1
  local data = {}
  for i = 1, numel(shape) do data[i] = low + (high - low) * ((i * 0.6180339887 + made * 0.137) % 1.0) end
  return setmetatable({ data = data, shape = shape, requires_grad = requires_grad }, Argument)
end

local function X(...) return spread({ ... }, -2.0, 2.0, true) end
local function P(...) return spread({ ... }, 0.5, 2.0, true) end
local function U(...) return spread({ ... }, -0.9, 0.9, true) end
local function C(...) return spread({ ... }, 0.5, 2.0, false) end
-- Complex numbers, of a last dimension of pairs.
local function Z(...)
  local argument = spread({ ... }, -2.0, 2.0, true)
  argument.complex = true
  return argument
end
local function V(...) return setmetatable({ data = { ... }, shape = { select('#', ...) }, requires_grad = true }, Argument) end
local function I(data, shape) return setmetatable({ data = data, shape = shape or { #data }, dtype = 'int64' }, Argument) end
local function M(data, shape) return setmetatable({ data = data, shape = shape or { #data }, dtype = 'bool' }, Argument) end

function Argument:make()
  local tensor = torch.tensor(self.data, { dtype = torch[self.dtype or 'float64'], device = device }):reshape(self.shape)
  if self.complex then tensor = torch.view_as_complex(tensor) end
  return self.requires_grad and tensor:requires_grad_() or tensor
end

-- ---- the cases: by C name, a list of argument lists -------------------------------------------------------------

local cases = {}

for _, name in ipairs { 'neg', 'abs', 'sign', 'square', 'reciprocal', 'exp', 'exp2', 'expm1', 'sin', 'cos', 'atan', 'sinh',
  'cosh', 'tanh', 'sigmoid', 'erf', 'relu', 'floor', 'ceil', 'round', 'trunc', 'silu', 'clone', 'sum', 'mean', 'max',
  'min', 'zero_', 'gelu' } do
  cases[name] = { { X(2, 3) }, { X() } }
end
for _, name in ipairs { 'log', 'log1p', 'log2', 'log10', 'sqrt', 'rsqrt' } do cases[name] = { { P(2, 3) }, { P() } } end
for _, name in ipairs { 'tan', 'asin', 'acos' } do cases[name] = { { U(2, 3) } } end
table.insert(cases.gelu, { X(4), { approximate = 'tanh' } })

for _, name in ipairs { 'mul', 'div', 'maximum', 'minimum' } do
  cases[name] = { { X(2, 3), P(2, 3) }, { X(2, 3), P(3) }, { X(2, 1), P(3) }, { X(2, 3), P() } }
end
for _, name in ipairs { 'mul', 'div', 'remainder', 'fmod' } do
  cases[name] = cases[name] or {}
  table.insert(cases[name], { X(2, 3), 0.7 })
  if name ~= 'fmod' then table.insert(cases[name], { 0.9, P(2, 3) }) end
end
table.insert(cases.remainder, { X(2, 3), P(2, 3) })
table.insert(cases.fmod, { X(2, 3), P(3) })
cases.div_rounding = { { X(2, 3), P(3), { rounding_mode = 'floor' } }, { X(2, 3), P(2, 3), { rounding_mode = 'trunc' } } }
cases.add = { { X(2, 3), X(2, 3) }, { X(2, 3), X(3), { alpha = 2.5 } }, { X(2, 1), X(3) }, { X(3), 2.0 }, { 2.0, X(3), { alpha = 3 } } }
cases.sub = { { X(2, 3), X(2, 3) }, { X(2, 3), X(3), { alpha = 2.5 } }, { X(2, 1), X(3) }, { X(3), 2.0 }, { 2.0, X(3), { alpha = 3 } } }
cases.pow = { { P(2, 3), P(2, 3) }, { P(2, 3), X(3) }, { X(2, 3), 2 }, { X(3), 3.0 }, { P(3), -1.5 }, { X(3), 1 }, { X(3), 0 }, { 2.0, X(3) } }

cases.floor_divide = { { X(2, 3), P(2, 3) }, { X(2, 3), P(3) }, { X(2, 3), 0.7 } }
cases.heaviside = { { X(2, 3), X(2, 3) }, { C(2, 3), X(3) }, { V(0.5, -0.5, 2.0), X(3) } }
cases.bincount = { { I { 1, 3, 1 }, X(3) } }

cases.complex = { { X(2, 3), X(3) } }
cases.polar = { { P(2, 3), X(2, 3) } }
cases.view_as_real = { { Z(3, 2) } }
cases.view_as_complex = { { X(3, 2) } }
for _, name in ipairs { 'conj_physical', 'angle', 'sgn', 'conj', 'resolve_conj', 'resolve_neg', 'real' } do
  cases[name] = { { Z(2, 3, 2) }, { X(2, 3) } }
end
cases.imag = { { Z(2, 3, 2) } }
for _, name in ipairs { 'neg', 'abs', 'square', 'reciprocal', 'exp', 'exp2', 'expm1', 'log', 'log1p', 'log2', 'log10', 'sqrt', 'rsqrt', 'sin',
  'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'sigmoid', 'sum', 'mean', 'clone' } do
  table.insert(cases[name], { Z(2, 2) })
end
for _, name in ipairs { 'add', 'sub', 'mul', 'div' } do
  cases[name] = cases[name] or {}
  table.insert(cases[name], { Z(2, 2, 2), Z(2, 2) })
  table.insert(cases[name], { Z(2, 2), P(2) })
end

cases.clone_format = { { X(2, 3), { memory_format = torch.contiguous_format } } }
cases.contiguous_format = { { X(2, 3), { memory_format = torch.contiguous_format } } }
cases.to_format = { { X(2, 3), { memory_format = torch.contiguous_format } } }
cases.clamp_min = { { X(2, 3), 0.1 } }
cases.clamp_max = { { X(2, 3), 0.1 } }
cases.clamp_min_tensor = { { X(2, 3), U(3) }, { X(3), U(2, 1) } }
cases.clamp_max_tensor = { { X(2, 3), U(3) }, { X(3), U(2, 1) } }
cases.clamp = { { X(2, 4), -1.0, 1.0 }, { X(4), { min = 0.2 } }, { X(4), { max = 0.2 } } }
cases.where = { { M { true, false, true }, X(2, 3), X(3) }, { M { true, false }, X(2), 1.5 }, { M { true, false }, 1.5, X(2) } }
cases.addcmul = { { X(2, 3), X(2, 3), X(3) }, { X(3), X(3), X(3), { value = 0.5 } } }
cases.addcdiv = { { X(2, 3), X(2, 3), P(3) }, { X(3), X(3), P(3), { value = 0.5 } } }
cases.lerp = { { X(2, 3), X(2, 3), 0.3 }, { X(2, 3), X(3), U(2, 3) } }

for _, name in ipairs { 'asinh', 'frac', 'erfc', 'nan_to_num', 'selu', 'celu', 'elu', 'mish', 'hardtanh', 'hardsigmoid', 'hardswish',
  'relu6' } do
  cases[name] = { { X(2, 3) }, { X() } }
end
for _, name in ipairs { 'lgamma', 'digamma' } do cases[name] = { { P(2, 3) } } end
for _, name in ipairs { 'atanh', 'erfinv' } do cases[name] = { { U(2, 3) } } end
for _, name in ipairs { 'sinc', 'i0', 'special_i0e', 'special_i1', 'special_i1e', 'special_erfcx', 'special_ndtr', 'special_log_ndtr' } do
  cases[name] = { { X(2, 3) }, { X() } }
end
cases.special_entr = { { P(2, 3) } }
cases.special_ndtri = { { V(0.2, 0.45, 0.7) } }
cases.mvlgamma = { { V(2.2, 3.1, 4.5), 3 } }
cases.polygamma = { { 0, P(2, 3) }, { 2, P(3) } }
for _, name in ipairs { 'logaddexp', 'logaddexp2', 'nextafter' } do cases[name] = { { X(2, 3), X(2, 3) }, { X(2, 3), X(3) } } end
cases.special_xlog1py = { { X(2, 3), P(3) }, { X(3), 1.5 }, { 1.5, P(3) } }
for _, name in ipairs { 'igamma', 'igammac' } do cases[name] = { { C(2, 3), P(2, 3) }, { C(3), P(2, 3) } } end
cases.special_zeta = { { 2.5, P(2, 3) } }
cases.acosh = { { V(1.2, 1.7, 2.5) } }
cases.logit = { { V(0.2, 0.45, 0.7) }, { V(0.1, 0.45, 0.7, 0.95), 0.15 } }
for _, name in ipairs { 'atan2', 'hypot', 'fmax', 'fmin' } do cases[name] = { { X(2, 3), P(2, 3) }, { X(2, 3), P(3) } } end
cases.copysign = { { X(2, 3), P(3) }, { X(3), -1.0 } }
cases.xlogy = { { X(2, 3), P(3) }, { X(3), 1.5 }, { 1.5, P(3) } }
table.insert(cases.elu, { X(4), 0.7 })
table.insert(cases.celu, { X(4), 0.7 })
table.insert(cases.hardtanh, { X(4), -0.5, 0.7 })

-- ---- reductions

cases.sum_dim = { { X(2, 3), 1 }, { X(2, 3, 2), { 1, 3 }, true }, { X(2, 3), -1, { keepdim = true } } }
cases.mean_dim = cases.sum_dim
cases.prod = { { X(2, 3) }, { V(1.5, 0.0, 2.0) }, { V(0.0, 1.0, 0.0) } }
cases.prod_dim = { { X(2, 3), 1 }, { X(2, 3), 2, true }, { V(1.5, 0.0, 2.0), 1 }, { V(0.0, 1.0, 0.0), 1 } }
cases.cumsum = { { X(2, 3), 1 }, { X(2, 3), -1 } }
cases.trace = { { X(3, 3) }, { X(2, 3) } }
cases.max_dim = { { X(2, 3), 1 }, { X(2, 3), 2, true } }
cases.min_dim = cases.max_dim
cases.round_decimals = { { X(2, 3), { decimals = 1 } } }
for _, name in ipairs { 'eq_', 'ne_', 'lt_', 'le_', 'gt_', 'ge_', 'logical_and_', 'logical_or_', 'logical_xor_' } do cases[name] = { { X(2, 3), C(2, 3) } } end
cases.logical_not_ = { { X(2, 3) } }
cases.amax = { { X(2, 3) }, { X(2, 3), 1 }, { X(2, 3, 2), { 1, 3 }, true } }
cases.amin = cases.amax
cases.norm = { { X(2, 3) }, { X(2, 3), 1 }, { X(2, 3), 3.0 }, { X(2, 3), 2, 1 }, { X(2, 3), 1.5, 2, true }, { X(2, 3), math.huge, 2 },
  { X(2, 3), 2, { 1, 2 } } }
cases.var = { { X(2, 3) }, { X(2, 3), 1, { correction = 0 } }, { X(2, 3), { 2 }, { keepdim = true } } }
cases.std = cases.var
cases.logsumexp = { { X(2, 3), 1 }, { X(2, 3), { 1, 2 }, true } }
cases.softmax = { { X(2, 3), 1 }, { X(2, 3), -1 }, { X(2, 2, 3), 2 } }
cases.log_softmax = cases.softmax


-- ---- convolutions and pools

cases.convolution = { { X(2, 2, 4), X(3, 2, 3), X(3), 1, 1, 1, false, 0, 1 }, { X(1, 2, 4, 3), X(2, 1, 2, 2), nil, { 2, 1 }, 0, 1, false, 0, 2 },
  { X(2, 2, 2, 2), X(2, 1, 2, 2), X(1), 2, 1, 1, true, 1, 1 }, { X(1, 2, 2, 2, 2), X(2, 1, 2, 2, 2), X(2), 1, 1, 1, true, 0, 2 } }
cases.im2col = { { X(1, 2, 3, 4), { 2, 3 } }, { X(2, 3, 3), 2, { stride = 2, padding = 1 } } }
cases.col2im = { { X(1, 8, 6), { 3, 4 }, 2 }, { X(4, 4), { 3, 3 }, 2, { stride = 2, padding = 1 } } }
for d, shape in ipairs { { 1, 2, 5 }, { 1, 1, 4, 5 }, { 1, 1, 3, 3, 3 } } do
  local x = function() return X(table.unpack(shape)) end
  cases[('max_pool%dd_with_indices'):format(d)] = { { x(), 2 }, { x(), 3, 1, 1 }, { x(), 2, 1, 0, 2 } }
  cases[('avg_pool%dd'):format(d)] = { { x(), 2 }, { x(), 3, 2, 1, true }, { x(), 2, { stride = 1, padding = 1, count_include_pad = false } } }
  cases[('adaptive_avg_pool%dd'):format(d)] = { { x(), 1 }, { x(), 2 } }
  cases[('adaptive_max_pool%dd'):format(d)] = cases[('adaptive_avg_pool%dd'):format(d)]
end
table.insert(cases.avg_pool2d, { X(1, 1, 4, 4), 2, { divisor_override = 3 } })

-- ---- order

cases.sort = { { X(2, 5), 2 }, { X(3, 2), 1, true } }
cases.topk = { { X(2, 5), 2 }, { X(4, 2), 3, 1, false } }
cases.kthvalue = { { X(2, 5), 2 }, { X(4, 2), 3, 1, true } }
cases.median = { { X(2, 3) } }
cases.nanmedian = cases.median
cases.median_dim = { { X(2, 5), 2 }, { X(3, 2), 1, true } }
cases.nanmedian_dim = cases.median_dim
cases.mode = { { X(2, 3), 2 } }
cases.cummax = { { X(2, 5), 2 }, { X(4, 2), 1 } }
cases.cummin = cases.cummax
cases.cumprod = { { X(2, 3), 1 }, { X(2, 3), -1 }, { V(1.5, 0.0, 2.0), 1 }, { V(0.0, 1.0, 0.0), 1 } }
cases.logcumsumexp = { { X(2, 3), 1 }, { X(2, 3), -1 } }

-- ---- matrices

cases.mm = { { X(2, 3), X(3, 4) } }
cases.bmm = { { X(2, 2, 3), X(2, 3, 2) } }
cases.mv = { { X(2, 3), X(3) } }
cases.dot = { { X(3), X(3) } }
cases.addmm = { { X(2, 2), X(2, 3), X(3, 2) }, { X(2), X(2, 3), X(3, 2), { beta = 0.5, alpha = 2.0 } } }
cases.addmv = { { X(2), X(2, 3), X(3) }, { X(2), X(2, 3), X(3), { beta = 0.5, alpha = 2.0 } } }
cases.baddbmm = { { X(2, 2, 2), X(2, 2, 3), X(2, 3, 2) }, { X(2, 2), X(2, 2, 3), X(2, 3, 2), { beta = 0.5, alpha = 2.0 } } }

cases.addr = { { X(2, 3), X(2), X(3) }, { X(3), X(2), X(3), { beta = 0.5, alpha = 2.0 } } }
cases.addbmm = { { X(2, 2), X(2, 2, 3), X(2, 3, 2) }, { X(2), X(2, 2, 3), X(2, 3, 2), { beta = 0.5, alpha = 2.0 } } }
local function R(...) -- a square matrix far from singular
  local argument = X(...)
  local n = select('#', ...)
  local size = select(n, ...)
  for i = 1, #argument.data do
    local row, column = (i - 1) // size % size, (i - 1) % size
    if row == column then argument.data[i] = argument.data[i] + 5 end
  end
  return argument
end
cases.inverse = { { R(2, 2) }, { R(2, 2, 2) } }
cases.det = { { R(3, 3) }, { R(2, 2, 2) } }

-- ---- losses and activations

cases.nll_loss = { { X(3, 4), I { 2, 4, 1 } }, { X(3, 4), I { 2, 4, 1 }, C(4), { reduction = 'sum' } },
  { X(3, 4), I { 2, 4, 1 }, C(4) }, { X(3, 4), I { 2, 4, 1 }, { reduction = 'none' } },
  { X(3, 4), I { 2, 4, 1 }, { ignore_index = 4 } }, { X(2, 3, 2), I({ 1, 2, 3, 1 }, { 2, 2 }) } }
cases.smooth_l1_loss = { { X(2, 3), X(2, 3) }, { X(3), X(3), 'sum', 0.5 }, { X(3), X(3), 'none', 0.0 } }
cases.binary_cross_entropy = { { V(0.2, 0.45, 0.7), V(0.3, 0.6, 0.9) }, { V(0.2, 0.45, 0.7), V(0.3, 0.6, 0.9), C(3), 'sum' } }
cases.soft_margin_loss = { { X(3), I { 1, -1, 1 } }, { X(3), I { 1, -1, 1 }, 'none' } }
cases.binary_cross_entropy_with_logits = { { X(2, 3), P(2, 3) }, { X(2, 3), P(2, 3), C(3), { reduction = 'sum' } },
  { X(2, 3), P(2, 3), { pos_weight = C(3), reduction = 'none' } } }
cases.leaky_relu = { { X(2, 3) }, { X(3), 0.2 } }
cases.threshold = { { X(2, 3), 0.1, 20.0 } }
cases.softplus = { { X(2, 3) }, { X(3), 2.0 } }
cases.logsigmoid = { { X(2, 3) } }
cases.hardshrink = { { X(2, 3) }, { X(4), 0.2 } }
cases.softshrink = cases.hardshrink
cases.glu = { { X(2, 4) }, { X(4, 3), 1 } }
cases.pixel_shuffle = { { X(1, 4, 2, 1), 2 } }
cases.pixel_unshuffle = { { X(2, 2, 4), 2 } }
cases.embedding = { { X(3, 2), I { 1, 3, 1 } }, { X(3, 2), I({ 1, 3, 1, 2 }, { 2, 2 }) } }

-- ---- shapes

cases.view = { { X(2, 3), 3, 2 }, { X(2, 3), -1 } }
cases.permute = { { X(2, 3, 2), { 3, 1, 2 } } }
cases.transpose = { { X(2, 3, 2), 1, -1 } }
cases.t = { { X(2, 3) }, { X(3) } }
cases.squeeze = { { X(2, 1, 3, 1) } }
cases.squeeze_dim = { { X(2, 1, 3), 2 }, { X(2, 3), 1 } }
cases.squeeze_dims = { { X(2, 1, 3, 1), { 2, 4 } }, { X(2, 1), { 1, 2 } } }
cases.swapaxes = { { X(2, 3), 1, 2 }, { X(2, 3, 2), 1, -1 } }
cases.unsqueeze = { { X(2, 3), 2 }, { X(2, 3), -1 } }
cases.expand = { { X(2, 1), 2, 3 }, { X(3), 2, -1 } }
cases.select = { { X(2, 3), 2, 3 }, { X(2, 3), 1, -1 } }
cases.diagonal = { { X(3, 3) }, { X(2, 3), 1 }, { X(2, 3, 2), 0, 1, 3 } }
cases.as_strided = { { X(2, 3), { 2, 2 }, { 1, 2 }, 1 }, { X(2, 3), { 3, 2 }, { 1, 1 } } }
cases.copy_ = { { X(2, 3), X(2, 3) }, { X(2, 3), X(3) } }
cases.cat = { { { X(2, 3), X(1, 3) } }, { { X(2, 3), X(2, 1) }, 2 } }
cases.stack = { { { X(2, 3), X(2, 3) } }, { { X(2), X(2) }, 2 } }
cases.flip = { { X(2, 3), { 1, 2 } }, { X(2, 3), { 2 } } }
cases.tril = { { X(3, 3) }, { X(2, 3), 1 } }
cases.triu = { { X(3, 3) }, { X(2, 3), -1 } }

cases.diag_embed = { { X(3) }, { X(2, 3), 1 }, { X(2, 2), -1, 1, 3 } }
cases.constant_pad_nd = { { X(2, 3), { 1, 2 } }, { X(2, 3), { -1, 1, 0, 2 }, 1.5 } }

-- ---- elements by position

local index23 = I({ 2, 1, 1, 1, 2, 2 }, { 2, 3 })
cases.gather = { { X(2, 3), 1, index23 }, { X(3, 2), 2, I({ 1, 2, 2, 2 }, { 2, 2 }) } }
cases.scatter = { { X(2, 3), 2, I({ 2, 1, 3, 1 }, { 2, 2 }), X(2, 2) } }
cases.scatter_value = { { X(2, 3), 1, I({ 1, 2 }, { 1, 2 }), 1.5 } }
cases.scatter_with = { { P(2, 3), 1, index23, P(2, 3), { reduce = 'add' } }, { P(2, 3), 1, index23, P(2, 3), { reduce = 'multiply' } } }
cases.scatter_value_with = { { X(2, 3), 1, index23, 1.5, { reduce = 'add' } }, { X(2, 3), 1, index23, 1.5, { reduce = 'multiply' } } }
cases.scatter_add = { { X(2, 3), 1, index23, X(2, 3) } }
cases.index_select = { { X(3, 2), 1, I { 1, 3, 1 } }, { X(2, 3), 2, I { 2 } } }
cases.index_add = { { X(3, 2), 1, I { 1, 3, 1 }, X(3, 2) }, { X(2, 3), 2, I { 2, 3 }, X(2, 2), { alpha = 2.5 } } }
cases.index_copy = { { X(3, 2), 1, I { 1, 3 }, X(2, 2) } }
cases.index_fill = { { X(3, 2), 1, I { 1, 3 }, 2.5 } }
cases.index_fill_tensor = { { X(3, 2), 1, I { 1, 3 }, X() }, { X(3, 2), 1, I { 1, 1 }, X() } }
local mask = M({ true, false, false, true, true, false }, { 2, 3 })
cases.masked_fill = { { X(2, 3), mask, 1.5 }, { X(2, 3), M { true, false, true }, 1.5 } }
cases.masked_fill_tensor = { { X(2, 3), mask, X() } }
cases.masked_select = { { X(2, 3), mask } }

cases.fill_diagonal_ = { { X(2, 3), 1.5 }, { X(5, 2), 0.5, true } }
cases.index_put = { { X(3, 2), { I { 3, 1 } }, X(2, 2) }, { X(3, 4), { I { 1, 3, 1 }, I { 4, 2, 4 } }, X(3), true }, { X(2, 3), { mask }, X() } }
cases.put = { { X(2, 3), I { 6, 1 }, X(2) }, { X(2, 3), I({ 2, 3, 2, 5 }, { 2, 2 }), X(2, 2), true } }
cases.masked_scatter = { { X(2, 3), mask, X(4) }, { X(2, 3), M { true, false, true }, X(2, 2) } }
cases.scatter_reduce = {}
for _, reduce in ipairs { 'sum', 'prod', 'mean', 'amax', 'amin' } do
  table.insert(cases.scatter_reduce, { P(2, 3), 1, index23, P(2, 3), reduce })
  table.insert(cases.scatter_reduce, { P(3, 2), 2, I({ 1, 2, 2, 2 }, { 2, 2 }), P(2, 2), reduce, { include_self = false } })
end

-- ---- constants and random numbers in place

cases.bernoulli = { { U(4) } }
cases.bernoulli[1][1].data = { 0.25, 0.5, 0.75, 0.1 }
cases.fill_ = { { X(2, 3), 1.5 } }
cases.fill_tensor = { { X(2, 3), X() } }
cases.uniform_ = { { X(2, 3) } }
cases.normal_ = { { X(2, 3) } }
cases.random_ = { { X(2, 3), 1, 5 } }
cases.bernoulli_p = { { X(2, 3), 1.0 } }
cases.bernoulli_tensor = { { X(2, 3), C(2, 3) } }
cases.bernoulli_tensor[1][2].data = { 0.0, 1.0, 0.0, 1.0, 1.0, 0.0 }
cases.bernoulli_ = { { X(2, 3), 0.4 } }
cases.exponential_ = { { X(2, 3), 1.5 } }
cases.geometric_ = { { X(2, 3), 0.4 } }
cases.cauchy_ = { { X(2, 3) } }
cases.log_normal_ = { { X(2, 3) } }
cases.poisson = { { P(2, 3) } }

-- ---- ops made of other ops, whose derivatives follow from theirs

for _, name in ipairs { 'cpu', 'double_cast', 'contiguous', 'fliplr', 'flipud', 'ravel', 'atleast_1d', 'atleast_2d', 'atleast_3d', 'msort', 'nansum',
  'nanmean', 'rot90', 'diag', 'diagflat', 'unbind' } do
  cases[name] = { { X(2, 3) } }
end
for _, name in ipairs { 'max_other', 'min_other', 'kron', 'type_as', 'to_other' } do cases[name] = { { X(2, 3), X(2, 3) } } end
for _, name in ipairs { 'view_as', 'reshape_as' } do cases[name] = { { X(2, 3), C(3, 2) } } end
for _, name in ipairs { 'hstack', 'vstack', 'dstack', 'block_diag', 'column_stack', 'broadcast_tensors' } do
  cases[name] = { { { X(2, 3), X(2, 3) } } }
end
for _, name in ipairs { 'cartesian_prod', 'meshgrid' } do cases[name] = { { { X(2), X(3) } } } end
cases.to_dtype = { { X(2, 3), torch.float64, { copy = true } } }
cases.reshape = { { X(2, 3), 3, 2 }, { X(2, 3), -1 } }
cases.flatten = { { X(2, 3, 2), 2 } }
cases.unflatten = { { X(2, 6), 2, { 3, 2 } } }
cases.movedim = { { X(2, 3, 2), 1, 3 } }
cases.expand_as = { { X(2, 1), C(2, 3) } }
cases.broadcast_to = { { X(2, 1), { 3, 2, 3 } } }
cases.sum_to_size = { { X(2, 3), 2, 1 } }
cases.unfold = { { X(2, 5), 2, 3, 2 }, { X(2, 5), 2, 3, 1 } }
cases.split = { { X(5, 2), 2 } }
cases.split_sizes = { { X(5, 2), { 2, 3 } } }
cases.chunk = { { X(5, 2), 2 } }
cases.tensor_split = { { X(5, 2), 2 } }
cases.tensor_split_indices = { { X(5, 2), { 2, 4 } } }
cases['repeat'] = { { X(2, 3), 2, 2 } }
cases.tile = { { X(2, 3), { 2 } } }
cases.roll = { { X(2, 3), 1, 2 }, { X(2, 3), 2 }, { X(2, 3, 4), { 1, -3, 2 }, { 1, -1, 2 } } }
cases.repeat_interleave = { { X(2, 3), 2, 1 }, { X(2, 3), 2 } }
cases.repeat_interleave_tensor = { { X(2, 3), I { 3, 1 }, 1 } }
cases.combinations = { { X(3) } }
cases.pad = { { X(1, 2, 3), { 1, 2 }, 'reflect' }, { X(1, 2, 3), { 1, 1 }, 'replicate' }, { X(1, 2, 3), { 2, 1 }, 'circular' }, { X(2, 3), { 1, 1 } } }
cases.take = { { X(2, 3), I { 6, 1, 1 } } }
cases.take_along_dim = { { X(2, 3), index23, 1 } }
cases.vdot = { { X(3), X(3) } }
cases.outer = { { X(2), X(3) } }
cases.inner = { { X(2, 3), X(2, 3) } }
cases.tensordot = { { X(2, 3), X(3, 2), 1 } }
cases.tensordot_dims = { { X(2, 3), X(2, 3), { 1, 2 }, { 1, 2 } } }
cases.einsum = { { 'ij,jk->ik', { X(2, 3), X(3, 2) } }, { 'ii', { X(3, 3) } } }
cases.cross = { { X(2, 3), X(2, 3), 2 } }
cases.cdist = { { X(3, 2), X(2, 2) }, { X(3, 2), X(2, 2), 1.0 }, { X(26, 2), X(2, 2) }, { X(2, 1, 2, 2), X(3, 2, 2), 2.0, 'use_mm_for_euclid_dist' } }
cases._euclidean_dist = { { X(3, 2), X(2, 2) } }
cases.chain_matmul = { { { X(2, 3), X(3, 2), X(2, 2) } } }
cases.linear = { { X(2, 3), X(4, 3), X(4) }, { X(3), X(4, 3) } }
do -- three rows of one block: the scale 0.0625 and 32 signed bytes
  local scale = torch.full({ 3, 1 }, 0.0625, { dtype = torch.float16 }):view(torch.uint8)
  local packed = torch.cat({ scale, torch.arange(96):view(3, 32):to(torch.uint8) }, 2):to(device)
  cases.linear_blocks = { { X(2, 32), packed, 'q8_0' }, { X(32), packed, 'q8_0' } }
end
cases.dropout = { { X(2, 3), 0.5, true }, { X(2, 3), 0.5, false } }
cases.dropout_nn = cases.dropout
cases.dropout1d = { { X(2, 3, 2), 0.5, true } }
cases.dropout3d = { { X(2, 3, 1, 2, 1), 0.5, true } }
cases.embedding_nn = { { I { 1, 3, 1 }, X(3, 2) } }
cases.quantile = { { X(2, 5), 0.4, 2 } }
cases.nanquantile = cases.quantile
cases.clamp_tensors = { { X(2, 3), U(3), P(2, 3) }, { X(2, 3), { min = U(3) } }, { X(2, 3), { max = U(2, 1) } } }
cases.norm_fro = { { X(2, 3), 'fro' } }
for _, name in ipairs { 'fft', 'ifft', 'irfft', 'hfft' } do cases['fft_' .. name] = { { Z(3, 4, 2) }, { Z(3, 4, 2), 6, 1, 'ortho' } } end
for _, name in ipairs { 'rfft', 'ihfft' } do cases['fft_' .. name] = { { X(3, 4) }, { X(3, 4), 5, 1, 'forward' } } end
for _, own in ipairs { '2', 'n' } do
  for _, name in ipairs { 'fft', 'ifft', 'irfft', 'hfft' } do cases['fft_' .. name .. own] = { { Z(3, 4, 2) }, { Z(3, 4, 2), { 2, 5 }, { 2, 1 } } } end
  for _, name in ipairs { 'rfft', 'ihfft' } do cases['fft_' .. name .. own] = { { X(3, 4) }, { X(3, 4), { 2, 5 }, { 2, 1 } } } end
end
cases.lstm = { { X(3, 2, 2), { X(1, 2, 2), X(1, 2, 2) }, { X(8, 2), X(8, 2), X(8), X(8) }, true, 1, 0.0, false, false, false } }
cases.gru = { { X(2, 3, 2), X(2, 2, 2), { X(6, 2), X(6, 2), X(6, 2), X(6, 2) }, false, 1, 0.0, false, true, true } }
for _, name in ipairs { 'rnn_tanh', 'rnn_relu' } do
  cases[name] = { { X(3, 2, 2), X(2, 2, 2), { X(2, 2), X(2, 2), X(2, 2), X(2, 2) }, false, 2, 0.0, false, false, false } }
  cases[name .. '_cell'] = { { X(3, 2), X(3, 2), X(2, 2), X(2, 2), X(2), X(2) } }
end
cases.lstm_cell = { { X(3, 2), { X(3, 2), X(3, 2) }, X(8, 2), X(8, 2), X(8), X(8) } }
cases.recurrent_layer = { { X(6, 8), X(2, 2), X(2, 2), X(8, 2), X(8), 'lstm', true }, { X(6, 6), X(2, 2), nil, X(6, 2), X(6), 'gru', false } }
cases.gru_cell = { { X(3, 2), X(3, 2), X(6, 2), X(6, 2), X(6), X(6) } }
cases.alias_copy, cases.t_copy, cases.squeeze_copy = { { X(2, 3) } }, { { X(2, 3) } }, { { X(2, 1, 3) } }
cases.as_strided_copy, cases.diagonal_copy = { { X(4), { 2 }, { 2 } } }, { { X(3, 3), 1 } }
cases.expand_copy, cases.narrow_copy = { { X(2, 1), { 2, 3 } } }, { { X(4), 1, 2, 2 } }
cases.permute_copy, cases.select_copy = { { X(2, 3), { 2, 1 } } }, { { X(2, 3), 1, 2 } }
cases.squeeze_copy_dims, cases.transpose_copy = { { X(2, 1, 3), { 2 } } }, { { X(2, 3), 1, 2 } }
cases.unfold_copy, cases.unsqueeze_copy, cases.view_copy = { { X(4), 1, 2, 1 } }, { { X(2), 1 } }, { { X(4), { 2, 2 } } }
cases.split_copy = { { X(5), 2 } }
cases.split_with_sizes, cases.unsafe_split_with_sizes = { { X(3), { 1, 2 } } }, { { X(3), { 1, 2 } } }
cases.unsafe_chunk, cases.unsafe_split = { { X(5), 2 } }, { { X(5), 2 } }
for _, name in ipairs { 'hsplit', 'vsplit', 'dsplit' } do
  cases[name], cases[name .. '_indices'] = { { X(2, 2, 2), 2 } }, { { X(2, 3, 2), { 2 } } }
end
cases.select_scatter, cases.diagonal_scatter = { { X(2, 3), X(3), 1, 2 } }, { { X(3, 3), X(3) } }
cases.as_strided_scatter = { { X(4), X(2), { 2 }, { 2 } } }
cases.slice_scatter, cases.index_reduce = { { X(4), X(2), 1, 2, 4, 2 } }, { { P(3, 2), 1, I { 1, 3, 1 }, P(3, 2), 'mean' }, { P(3, 2), 1, I { 2, 3 }, P(2, 2), 'prod' } }
cases.segment_reduce = { { X(4, 2), 'sum', { lengths = I { 1, 3 } } }, { X(4), 'mean', { lengths = I { 2, 2 } } }, { P(4), 'max', { offsets = I { 0, 1, 4 } } } }
cases.unbind_copy, cases.split_with_sizes_copy = { { X(2, 3) } }, { { X(3), { 1, 2 } } }
cases.linalg_householder_product, cases.orgqr = { { X(3, 2), U(2) }, { X(2, 3, 2), U(2, 2) } }, { { X(3, 3), U(2) } }
cases.ormqr = { { X(3, 2), U(2), X(3, 2) }, { X(3, 2), U(2), X(2, 3), false, true } }
cases.linalg_inv_ex, cases.linalg_solve_ex = { { R(2, 2, 2) } }, { { R(3, 3), X(3, 2) } }
cases.cholesky_solve, cases.cholesky_inverse = { { X(3, 2), R(3, 3) }, { X(3, 2), R(3, 3), true } }, { { R(3, 3) } }
cases.triangular_solve = { { X(3, 2), R(3, 3) }, { X(3, 2), R(3, 3), false, true, true } }
cases.linalg_matrix_exp, cases.matrix_exp = { { X(3, 3) } }, { { X(2, 2, 2) } }
cases.linalg_cond, cases.linalg_cond_named = { { R(3, 3) }, { R(3, 3), 1 } }, { { R(3, 3), 'fro' } }
cases.linalg_tensorinv, cases.linalg_tensorsolve = { { R(4, 4), 1 } }, { { R(4, 4), X(4) } }
cases.linalg_vecdot, cases.vander, cases.linalg_vander = { { X(2, 3), X(3) } }, { { X(3) }, { X(3), 4, true } }, { { X(2, 3) } }
cases.linalg_norm, cases.linalg_norm_named = { { X(2, 3) }, { R(2, 2), 1 }, { X(2, 3), 3, 1 } }, { { X(2, 3), 'fro' } }
cases.frobenius_norm, cases.nuclear_norm, cases.nuclear_norm_keepdim = { { X(2, 3), 2 } }, { { R(2, 2) } }, { { R(2, 2), true } }
cases.linalg_diagonal = { { X(2, 3, 3), { offset = 1 } } }
cases.float_power, cases.frexp, cases.ldexp = { { P(2, 3), 2.5 }, { P(3), P(3) } }, { { X(2, 3) } }, { { X(3), I { 1, -2, 3 } } }
cases.positive, cases.deg2rad, cases.rad2deg = { { X(2, 3) } }, { { X(2, 3) } }, { { X(2, 3) } }
cases.rsub, cases.fill = { { X(2, 3), X(3), 0.7 }, { X(3), 2 } }, { { X(2, 3), X() }, { X(3), 2 } }
cases.diff = { { X(2, 4), 2 }, { X(3), 1, 1, X(2), X(1) } }
cases.trapezoid, cases.cumulative_trapezoid = { { X(2, 4) }, { X(2, 4), X(4) } }, { { X(2, 4), { dx = 0.5 } }, { X(3, 2), X(3), { dim = 1 } } }
cases.gradient = { { X(3, 4), { spacing = 0.5 } }, { X(2, 4), { dim = 2, edge_order = 2 } } }
cases.gradient_each, cases.gradient_at = { { X(3, 4), { spacing = { 0.5, 2 } } } }, { { X(2, 4), { dim = 2, spacing = { V(0, 1, 2.5, 4) }, edge_order = 2 } }, { X(3), { spacing = { V(0, 1, 3) } } } }
cases.histogram, cases.histogram_edges = { { C(5), 3, { range = { 0.5, 2 }, weight = P(5) } } }, { { C(5), C(1), { weight = P(5) } } }
cases.cov, cases.corrcoef = { { X(2, 4) } }, { { X(2, 4) } }
for _, name in ipairs { 'std_mean', 'var_mean' } do
  cases[name], cases[name .. '_unbiased'], cases[name .. '_dim'] = { { X(2, 3), 2 } }, { { X(2, 3), false } }, { { X(2, 3), 2, true } }
end
cases.dist, cases.renorm = { { X(2, 3), X(2, 3), 3 } }, { { X(2, 3), 2, 1, 1.5 } }
cases.fft_fftshift, cases.fft_ifftshift = { { X(3, 4) }, { X(5), 1 } }, { { X(3, 4) }, { X(5), 1 } }
local counted = M({ true, false, true, true, true, false }, { 2, 3 })
for name in ('sum prod amax amin mean median logsumexp var std cumsum cumprod softmax softmin'):gmatch '%S+' do
  cases['masked_' .. name] = { { X(2, 3), 2, { mask = counted } } }
end
cases.masked_norm, cases.masked_normalize = { { X(2, 3), 3, 2, { mask = counted } } }, { { X(2, 3), 3, 2, { mask = counted } } }
cases.masked_logaddexp = { { X(2, 3), X(2, 3) } }
cases.linalg_vector_norm = { { X(2, 3), 3, 2 } }
cases.aminmax = { { X(2, 3), { dim = 2 } } }
for _, name in ipairs { 'var', 'std' } do
  cases[name .. '_unbiased'] = { { X(2, 3), false } }
  cases[name .. '_dim'] = { { X(2, 3), 2, true } }
end
cases.softmin = { { X(2, 3), 2 } }
cases.l1_loss = { { X(2, 3), X(2, 3) } }
cases.cross_entropy_prob = { { X(2, 3), P(2, 3) } }
cases.linalg_multi_dot = { { { X(2, 3), X(3, 2), X(2, 2) } } }
cases.linalg_cross = { { X(2, 3), X(2, 3) } }
cases.linalg_svdvals = { { X(3, 2) } }
cases.pinverse = { { X(3, 2) } }
for d = 1, device == 'cpu' and 3 or 1 do -- a simulated GPU takes its time
  local image, window = table.move({ 3, 4, 3 }, 1, d, 3, { 1, 2 }), table.move({ 2, 2, 2 }, 1, d, 3, { 2, 2 })
  cases[('conv%dd'):format(d)] = { { X(table.unpack(image)), X(table.unpack(window)), X(2) } }
  cases[('conv%dd_padding'):format(d)] = { { X(table.unpack(image)), X(table.unpack(window)), X(2), 1, 'same' } }
  cases[('conv_transpose%dd'):format(d)] = { { X(table.unpack(image)), X(table.unpack(window)), X(2), { stride = 2 } } }
  cases[('max_pool%dd'):format(d)] = { { X(table.unpack(image)), 2, 1 } }
end

-- ---- running them -----------------------------------------------------------------------------------------------

-- The arguments made, and those among them that require grad.
local function resolve(value, leaves)
  if type(value) ~= 'table' then return value end
  if getmetatable(value) == Argument then
    local tensor = value:make()
    if value.requires_grad then leaves[#leaves + 1] = tensor end
    return tensor
  end
  local copy = {}
  for i, item in ipairs(value) do copy[i] = resolve(item, leaves) end
  for key, item in pairs(value) do
    if copy[key] == nil then copy[key] = resolve(item, leaves) end
  end
  return copy
end

-- The same arguments with other tensors for the leaves.
local function replace(value, leaves, by)
  for i, leaf in ipairs(leaves) do
    if rawequal(value, leaf) then return by[i] end
  end
  if type(value) ~= 'table' or getmetatable(value) ~= nil then return value end
  local copy = {}
  for key, item in pairs(value) do copy[key] = replace(item, leaves, by) end
  return copy
end

local function check(f, arguments, leaves, kind)
  local function fn(...)
    torch.manual_seed(3)
    return f(table.unpack(replace(arguments, leaves, { ... })))
  end
  assert.is_true(gradcheck(fn, leaves))
  assert.is_true(gradgradcheck(fn, leaves))
  pushed.check(fn, leaves)
  transformed.check(fn, leaves, kind)
end

local function functional(op)
  local f = op.variants.nn and torch._C.nn[op.name] or op.variants['function'] and torch[op.name] or op.variants.library and torch._C[op.name]
    or torch._C.methods[op.name]
  if op.returns[1] and op.returns[1].type == 'Tensor[]' then return function(...) return table.unpack(f(...)) end end
  return f
end

local function inplace(op)
  local method = torch._C.methods[op.inplace_only and op.name or op.name .. '_']
  return function(self, ...)
    local result = self:clone()
    method(result, ...)
    return result
  end
end

local function has_inplace_form(arguments, result)
  local self = arguments[1]
  return torch.is_tensor(self) and self.dtype == torch.float64 and self.shape == result.shape
end

-- Parts of other ops, which Lua does not see: covered by these and their second derivatives.
local function internal(op) return op.name:sub(1, 1) == '_' end

-- Why vmap refuses an op, as support/transformed.lua has it.
local function random_kind(op)
  if op.random then return op.random == true and 'random' or 'random or not' end
  for _, a in ipairs(op.args) do
    if a.type:match '^Generator' then return 'random' end
  end
end

local function kind_in_place(op, self)
  return random_kind(op) or op.view and 'a view in place' or self.requires_grad and 'in place' or 'a constant in place'
end

-- Numbers that are drawn count as constants, as PyTorch's: their differences are not their derivative.
local drawn = { normal_tensors = true }

-- A derivative is the same formula on each device, so that CI checks a sample of them on GPUs, and make check on the CPU.
local chosen, in_sample = sample(declarations.ops), {}
for _, op in ipairs(chosen) do in_sample[op] = true end

describe('the derivative of', function()
  for _, op in ipairs(device == 'cpu' and declarations.ops or chosen) do
    local refused = op.grad and select(2, next(op.grad)):find('_no_derivative', 1, true)
    if (op.grad or cases[op.cname]) and not internal(op) and not refused and not drawn[op.cname] then
      it(op.cname .. ' is right, to the second order' .. (in_sample[op] and '' or ' #again'), function()
        assert(cases[op.cname], 'no case for ' .. op.signature)
        local checked = false
        for _, case in ipairs(cases[op.cname]) do
          local leaves = {}
          local arguments = resolve(case, leaves)
          if op.inplace_only then
            check(inplace(op), arguments, leaves, kind_in_place(op, arguments[1]))
          else
            local f = functional(op)
            assert(f, op.cname .. ' is not bound')
            check(f, arguments, leaves, random_kind(op))
            torch.manual_seed(3)
            if op.variants.inplace and (op.view or has_inplace_form(arguments, (f(table.unpack(arguments))))) then
              check(inplace(op), arguments, leaves, kind_in_place(op, arguments[1]))
              checked = true
            end
          end
        end
        assert(checked or not op.variants.inplace, 'no case in place')
      end)
    end
  end
end)

describe('the cases', function()
  it('name ops that have a derivative', function()
    for name in pairs(cases) do
      local op = declarations.by_cname[name]
      assert(op and (op.grad or op.composite), 'no op with a derivative: ' .. name)
    end
  end)
end)

local checked_below = {} -- the first words of the names

-- Each function gets tensors that require grad, as described. kind: why vmap refuses it, as support/transformed.lua has it.
local function checks(name, described, f, kind)
  checked_below[name:match '^[%w_]+'] = true
  it(name, function()
    local leaves = {}
    local arguments = resolve(described, leaves)
    check(f, arguments, leaves, kind)
  end)
end

describe('the derivative of ops that rest on internal ones:', function()
  checks('to', { X(2, 3) }, function(x) return x:to('cpu', torch.float64, { copy = true }) end)
  checks('reshape with a copy', { X(2, 3) }, function(x) return x:t():reshape(6) end)
  checks('narrow', { X(2, 3) }, function(x) return x:narrow(2, 2, 2) end)
  checks('matmul', { X(2, 2, 3), X(3, 2) }, function(a, b) return a:matmul(b) end)
  checks('cross_entropy', { X(2, 3), I { 1, 3 } }, function(x, target) return torch.nn.functional.cross_entropy(x, target) end)
end)

local F = torch.nn.functional

describe('the derivative of normalization:', function()
  local function layer(...)
    local sizes = { ... }
    return function(x, w, b) return F.layer_norm(x, sizes, w, b) end
  end
  checks('layer_norm', { X(3, 5), X(5), X(5) }, layer(5))
  checks('layer_norm of two dimensions', { X(2, 2, 3), X(2, 3) }, layer(2, 3))
  checks('layer_norm without parameters', { X(3, 5) }, layer(5))
  checks('rms_norm', { X(3, 5), X(5) }, function(x, w) return F.rms_norm(x, 5, w) end)
  checks('group_norm', { X(2, 6, 3), X(6), X(6) }, function(x, w, b) return F.group_norm(x, 3, w, b) end)
  checks('group_norm of a matrix', { X(2, 6), X(6) }, function(x, w) return F.group_norm(x, 2, w) end)
  local function batch(x, w, b) return F.batch_norm(x, nil, nil, w, b, true) end
  checks('batch_norm', { X(4, 3), X(3), X(3) }, batch)
  checks('batch_norm of images', { X(2, 3, 2), X(3), X(3) }, batch)
  checks('batch_norm by given statistics', { X(2, 3, 2), X(3), X(3), C(3), C(3) }, function(x, w, b, mean, var)
    return F.batch_norm(x, mean, var, w, b)
  end)
  checks('instance_norm', { X(2, 3, 4), X(3), X(3) }, function(x, w, b) return F.instance_norm(x, nil, nil, w, b) end)
  checks('local_response_norm', { X(2, 4, 2) }, function(x) return F.local_response_norm(x, 3, 0.5) end)
end)

describe('the derivative of functions for networks:', function()
  local attention = F.scaled_dot_product_attention
  checks('scaled_dot_product_attention', { X(2, 2, 3, 2), X(2, 2, 4, 2), X(2, 2, 4, 3) }, attention)
  checks('attention, causal', { X(1, 2, 4, 2), X(1, 2, 4, 2), X(1, 2, 4, 2) }, function(q, k, v)
    return attention(q, k, v, { is_causal = true })
  end)
  checks('attention by a mask', { X(2, 3, 2), X(2, 2, 2), X(2, 2, 2), M({ true, false, true, true, false, true }, { 3, 2 }) }, attention)
  checks('attention with a mask', { X(2, 3, 2), X(2, 2, 2), X(2, 2, 2), X(3, 2) }, attention)
  checks('attention with shared heads', { X(1, 4, 2, 2), X(1, 2, 3, 2), X(1, 2, 3, 2) }, function(q, k, v)
    return attention(q, k, v, { enable_gqa = true })
  end)
  checks('attention with dropout', { X(2, 3, 2), X(2, 2, 2), X(2, 2, 2) }, function(q, k, v)
    return attention(q, k, v, { dropout_p = 0.4 })
  end, 'random')
  checks('softsign', { X(2, 3) }, F.softsign)
  checks('tanhshrink', { X(2, 3) }, F.tanhshrink)
  checks('prelu', { X(2, 3, 2), X(3) }, F.prelu)
  checks('rrelu', { X(2, 3) }, F.rrelu, 'random')
  checks('bilinear', { X(2, 3), X(2, 2), X(2, 3, 2), X(2) }, F.bilinear)
  checks('channel_shuffle', { X(1, 4, 2) }, function(x) return torch.channel_shuffle(x, 2) end)
  checks('affine_grid', { X(1, 2, 3) }, function(theta) return F.affine_grid(theta, { 1, 1, 2, 3 }, false) end)
  for _, mode in ipairs { 'bilinear', 'bicubic' } do
    for _, padding in ipairs { 'zeros', 'border', 'reflection' } do
      checks(('grid_sample, %s, %s'):format(mode, padding), { X(1, 2, 3, 3), U(1, 2, 2, 2) },
        function(x, grid) return F.grid_sample(x, grid * 2.1, mode, padding) end)
    end
  end
  checks('grid_sample of volumes', { X(1, 2, 2, 3, 2), U(1, 1, 2, 1, 3) }, function(x, grid) return F.grid_sample(x, grid, 'bilinear', 'border') end)
  for _, mode in ipairs { 'nearest', 'bilinear', 'bicubic', 'area' } do
    checks('interpolate, ' .. mode, { X(1, 2, 3, 4) }, function(x) return F.interpolate(x, { size = { 5, 3 }, mode = mode }) end)
  end
  checks('interpolate', { X(1, 2, 3, 4) }, function(x)
    return F.interpolate(x, { scale_factor = { 1.5, 0.6 }, mode = 'bilinear', antialias = true })
  end)
  checks('upsample_nearest', { X(1, 2, 3) }, function(x) return F.upsample_nearest(x, { scale_factor = 2 }) end)
  checks('upsample_bilinear', { X(1, 2, 3, 2) }, function(x) return F.upsample_bilinear(x, { scale_factor = { 2, 1.5 } }) end)
  for n = 1, 3 do
    local function planes(f, size) return f(1, 2, table.unpack({ size, 2, 2 }, 1, n)) end
    local function op(name) return F[('%s%dd'):format(name, n)] end
    checks(('lp_pool%dd'):format(n), { planes(P, 5) }, function(x) return op 'lp_pool'(x, 3, 2, 1) end)
    checks(('max_unpool%dd'):format(n), { planes(X, 2) }, function(x)
      local image = torch.arange(x:numel() * 2 ^ n // 1, { device = device }):float():reshape(1, 2, table.unpack({ 4, 4, 4 }, 1, n))
      local _, places = op 'max_pool'(image, 2, { return_indices = true })
      return op 'max_unpool'(x, places, 2)
    end)
    checks(('adaptive_max_pool%dd'):format(n), { planes(X, 4) }, function(x) return op 'adaptive_max_pool'(x, 2) end)
  end
  for n = 2, 3 do
    local name = ('fractional_max_pool%dd'):format(n)
    local image = X(1, 2, table.unpack({ 5, 3, 3 }, 1, n))
    checks(name, { image }, function(x) return F[name](x, 2, 2) end, 'random')
    checks(name .. '_with_indices', { image }, function(x) return (F[name](x, 2, { output_ratio = 0.7, return_indices = true })) end, 'random')
  end
  local options = { window = torch.hann_window(4, { dtype = torch.float64, device = device }), return_complex = true }
  checks('stft', { X(2, 12) }, function(x) return torch.view_as_real(x:stft(4, options)) end)
  checks('istft', { X(2, 12) }, function(x) return (x:stft(4, options) * 2):istft(4, { window = options.window }) end)
  local ids, offsets = I { 1, 3, 1, 2 }, I { 1, 2 }
  for _, mode in ipairs { 'sum', 'mean', 'max' } do
    checks('embedding_bag, ' .. mode, { ids, X(3, 2), offsets }, function(i, w, o)
      return F.embedding_bag(i, w, o, { mode = mode })
    end)
  end
  checks('embedding_bag with weights', { ids, X(3, 2), offsets, X(4) }, function(i, w, o, each)
    return F.embedding_bag(i, w, o, { mode = 'sum', per_sample_weights = each, padding_idx = 2 })
  end)
  checks('dropout', { X(2, 3) }, F.dropout, 'random')
  checks('dropout1d', { X(3, 4) }, F.dropout1d, 'random')
  checks('dropout2d', { X(2, 3, 2) }, F.dropout2d, 'random')
  checks('dropout3d', { X(3, 2, 1, 2) }, F.dropout3d, 'random')
  checks('embedding', { I({ 1, 3, 1, 2 }, { 2, 2 }), X(3, 2) }, F.embedding)
  checks('alpha_dropout', { X(2, 3) }, function(x) return F.alpha_dropout(x, 0.4, true) end, 'random')
  checks('feature_alpha_dropout', { X(2, 3, 2) }, function(x) return F.feature_alpha_dropout(x, 0.4, true) end, 'random')
  checks('gumbel_softmax', { X(2, 3) }, function(x) return F.gumbel_softmax(x, 0.8) end, 'random')
end)

describe('the derivative of losses:', function()
  checks('masked_log_softmax', { X(2, 3), M({ true, false, true, true, true, false }, { 2, 3 }) }, function(x, mask)
    return torch.masked.log_softmax(x, 2, { mask = mask }):masked_fill(mask:logical_not(), 0)
  end)
  checks('mse_loss', { X(2, 3), X(2, 3) }, F.mse_loss)
  checks('mse_loss with weights', { X(2, 3), X(2, 3), C(2, 3) }, function(x, y, w) return F.mse_loss(x, y, { weight = w }) end)
  checks('huber_loss', { X(2, 3), X(2, 3) }, function(x, y) return F.huber_loss(x, y, { delta = 0.7 }) end)
  checks('kl_div', { X(2, 3), P(2, 3) }, F.kl_div)
  checks('kl_div of logarithms', { X(2, 3), X(2, 3) }, function(x, y) return F.kl_div(x, y, 'batchmean', true) end)
  checks('poisson_nll_loss', { P(2, 3), P(2, 3) }, function(x, y) return F.poisson_nll_loss(x, y, false, true) end)
  checks('gaussian_nll_loss', { X(2, 3), X(2, 3), P(2, 3) }, F.gaussian_nll_loss)
  checks('multilabel_soft_margin_loss', { X(2, 3), U(2, 3) }, F.multilabel_soft_margin_loss)
  checks('hinge_embedding_loss', { X(4), I { 1, -1, -1, 1 } }, F.hinge_embedding_loss)
  checks('margin_ranking_loss', { X(3), X(3), I { 1, -1, 1 } }, F.margin_ranking_loss)
  checks('cosine_embedding_loss', { X(2, 3), X(2, 3), I { 1, -1 } }, F.cosine_embedding_loss)
  checks('triplet_margin_loss', { X(2, 3), X(2, 3), X(2, 3) }, function(a, p, n)
    return F.triplet_margin_loss(a, p, n, { swap = true })
  end)
  checks('multi_margin_loss', { X(2, 3), I { 1, 3 }, C(3) }, function(x, t, w) return F.multi_margin_loss(x, t, 2, 1.5, w) end)
  checks('multilabel_margin_loss', { X(2, 3), I({ 2, -1, 1, 3, 1, -1 }, { 2, 3 }) }, F.multilabel_margin_loss)
  checks('cosine_similarity', { X(2, 3), P(2, 3) }, F.cosine_similarity)
  checks('pairwise_distance', { X(2, 3), P(2, 3) }, F.pairwise_distance)
  checks('normalize', { P(2, 3) }, function(x) return F.normalize(x, 3.0) end)
  checks('pdist', { X(4, 2) }, F.pdist)
  checks('binary_cross_entropy_with_logits', { X(2, 3), U(2, 3), C(3) }, function(x, y, w) return F.binary_cross_entropy_with_logits(x, y, w, 'sum', w) end)
  checks('ctc_loss', { X(5, 2, 4), I({ 2, 2, 3, 4 }, { 2, 2 }) }, function(x, targets)
    return F.ctc_loss(x, targets, torch.tensor { 5, 3 }, torch.tensor { 2, 1 }, { reduction = 'none' })
  end)
end)

describe('the derivative of matrices\' factors:', function()
  local linalg = torch.linalg
  local function positive(x) return x:matmul(x:transpose(-2, -1)) + torch.eye(x.shape[x.ndim], { dtype = x.dtype, device = x.device }) end
  checks('cholesky', { X(3, 3) }, function(x) return torch.cholesky(positive(x)) end)
  checks('cholesky, upper', { X(2, 2, 2) }, function(x) return torch.cholesky(positive(x), true) end)
  checks('lu_factor_ex', { R(3, 3) }, function(x) return (linalg.lu_factor_ex(x)) end)
  checks('lu_factor_ex of a tall matrix', { X(4, 2) }, function(x) return (linalg.lu_factor_ex(x)) end)
  checks('lu_factor_ex of a wide matrix', { X(2, 4) }, function(x) return (linalg.lu_factor_ex(x)) end)
  checks('lu_factor', { R(2, 3, 3) }, function(x) return (linalg.lu_factor(x)) end)
  checks('lu_unpack', { R(3, 3) }, function(x)
    local LU, pivots = linalg.lu_factor_ex(x)
    return select(2, torch.lu_unpack(LU, pivots)), select(3, torch.lu_unpack(LU, pivots))
  end)
  checks('cholesky_ex', { X(3, 3) }, function(x) return (linalg.cholesky_ex(positive(x))) end)
  checks('lu', { R(3, 3) }, function(x) return select(2, linalg.lu(x)), select(3, linalg.lu(x)) end)
  checks('lu_solve', { R(3, 3), X(3, 2) }, function(x, b)
    local LU, pivots = linalg.lu_factor_ex(x)
    return linalg.lu_solve(LU, pivots, b)
  end)
  checks('slogdet', { R(3, 3) }, function(x) return select(2, torch.slogdet(x)) end)
  checks('logdet', { X(2, 2) }, function(x) return torch.logdet(positive(x)) end)
  checks('matrix_power', { R(2, 2) }, function(x) return torch.matrix_power(x, -2) end)
  checks('solve', { R(2, 3, 3), X(3, 2) }, function(a, b) return linalg.solve(a, b) end)
  checks('solve of a vector, from the right', { R(3, 3), X(2, 3) }, function(a, b) return linalg.solve(a, b, { left = false }) end)
  checks('solve_triangular', { R(3, 3), X(3, 2) }, function(a, b) return linalg.solve_triangular(a, b, { upper = true }) end)
  checks('solve_triangular with ones', { R(3, 3), X(3, 2) }, function(a, b)
    return linalg.solve_triangular(a, b, { upper = false, unitriangular = true })
  end)
  checks('qr', { R(3, 3) }, function(x) return linalg.qr(x) end)
  checks('qr of a tall matrix', { X(4, 2) }, function(x) return linalg.qr(x) end)
  checks('qr of a wide matrix', { X(2, 4) }, function(x) return linalg.qr(x) end)
  checks('eigh', { X(3, 3) }, function(x)
    local values, vectors = linalg.eigh(x + x:t())
    return values, vectors * vectors
  end)
  checks('eigvalsh', { X(3, 3) }, function(x) return linalg.eigvalsh(x + x:t()) end)
  checks('eig', { X(3, 3) }, function(x)
    local values, vectors = linalg.eig(torch.diag(torch.tensor({ 1, 3, 7 }, { dtype = x.dtype, device = x.device })) + x * 0.3)
    return torch.real(values), torch.real(vectors * vectors:conj())
  end)
  checks('eigvals', { X(2, 2) }, function(x)
    return torch.view_as_real(linalg.eigvals(x * 0.3 + torch.tensor({ { 0, 2 }, { -1, 0 } }, { dtype = x.dtype, device = x.device })))
  end)
  checks('adjoint', { X(2, 2, 2) }, function(x) return torch.view_as_real(torch.adjoint(torch.view_as_complex(x)):contiguous()) end)
  checks('cdouble', { X(2, 3) }, function(x) return torch.view_as_real(x:cdouble()) end)
  checks('svd', { X(3, 2) }, function(x)
    local u, s, vh = linalg.svd(x, false)
    return u:matmul(vh), s
  end)
  checks('svd of a wide matrix', { X(2, 3) }, function(x)
    local u, s, vh = linalg.svd(x, false)
    return u * u, s, vh * vh
  end)
  checks('pinv', { X(3, 2) }, function(x) return linalg.pinv(x) end)
  checks('pinv of a wide matrix', { X(2, 3) }, function(x) return linalg.pinv(x) end)
  checks('lstsq', { X(4, 2), X(4) }, function(a, b) return (linalg.lstsq(a, b)) end)
  checks('matrix_norm', { X(3, 2) }, function(x) return linalg.matrix_norm(x, 2), linalg.matrix_norm(x, 'nuc'), linalg.matrix_norm(x, 1) end)
end)

describe('the derivative of brackets:', function()
  local function long(...) return torch.tensor({ ... }, { device = device }) end
  checks('a position', { X(3, 2) }, function(x) return x[2] end)
  checks('ranges and positions', { X(3, 4) }, function(x) return x[{ { 1, 3, 2 }, 2 }] end)
  checks('an index tensor with repeats', { X(3, 2) }, function(x) return x[long(1, 3, 1)] end)
  checks('two index tensors', { X(3, 4) }, function(x) return x[{ long(1, 3, 1), long(4, 2, 4) }] end)
  checks('a mask', { X(2, 3) }, function(x) return x[x:gt(0)] end)
  checks('stored at a position', { X(3, 2), X(2) }, function(x, v)
    local y = x:clone()
    y[2] = v
    return y
  end, 'in place')
  checks('stored at index tensors', { X(3, 2), X(2, 2) }, function(x, v)
    local y = x:clone()
    y[long(3, 1)] = v
    return y
  end, 'in place')
  checks('stored at a mask', { X(2, 3), X() }, function(x, v)
    local y = x:clone()
    y[x:gt(0)] = v
    return y
  end, 'in place')
end)

describe('a mismatch of gradcheck', function()
  it('names the inputs that are not of double precision', function()
    local x = torch.tensor({ 1.2, 1.3 }, { device = device, requires_grad = true })
    local ok, message = pcall(gradcheck, function(a) return a ^ 3 end, { x })
    assert.is_false(ok)
    assert.is_truthy(message:find('input 1 is torch.float32: finite differences need double precision; pass inputs:double()', 1, true), message)
    ok, message = pcall(gradcheck, function(a) return a:detach() * a end, { torch.tensor({ 1.2 }, { dtype = torch.float64, requires_grad = true }) })
    assert.is_false(ok)
    assert.is_nil(message:find('double precision', 1, true), message)
  end)
end)

describe('every op made of others', function()
  -- Casts to dtypes without derivatives or with too few digits, a count, comparisons, a hash, LAPACK's LDL, random directions, and the way to a GPU; sparse tensors: sparse_spec.lua.
  local excused = {}
  for name in ([[bool_cast byte_cast char_cast short_cast int_cast long_cast half_cast bfloat16_cast float_cast chalf_cast cfloat_cast cuda detach_copy view_copy_dtype isin signbit isposinf isneginf hash_tensor linalg_ldl_factor linalg_ldl_solve svd_lowrank pca_lowrank
    linalg_matrix_rank isreal sparse_coo_tensor sparse_compressed_tensor values stored_values coalesce to_dense to_sparse_coo to_sparse_compressed sparse_mask sparse_solve]]):gmatch '%S+' do
    excused[name] = true
  end

  local function differentiable(op)
    if not op.composite or internal(op) or not next(op.variants) or not op.returns[1].type:match '^Tensor' then return false end
    for _, a in ipairs(op.args) do
      if a.type:match '^Tensor' then return true end
    end
    return false
  end

  it('has a check of its derivative', function()
    local missing = {}
    for _, op in ipairs(declarations.ops) do
      local short = op.name:gsub('^linalg_', '')
      if differentiable(op) and not (cases[op.cname] or checked_below[op.name] or checked_below[short] or excused[op.cname]) then
        missing[#missing + 1] = op.signature
      end
    end
    assert(#missing == 0 or device ~= 'cpu', ('%d without a check:\n  %s'):format(#missing, table.concat(missing, '\n  ')))
  end)
end)
