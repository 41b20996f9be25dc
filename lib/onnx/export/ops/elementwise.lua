-- elementwise.lua - exports arithmetic, comparisons, functions of one element and dtype
-- conversions.
--
-- ONNX does not promote dtypes: inputs are cast to the dtype in which ltensor computes.

local torch = require 'torch'

local M = {}

local function result_dtype(call) return call.results[1].dtype end

-- ---- functions of one element -------------------------------------------------------------------

for op, name in pairs { abs = 'Abs', acos = 'Acos', acosh = 'Acosh', asin = 'Asin', asinh = 'Asinh', atan = 'Atan', atanh = 'Atanh', ceil = 'Ceil', cos = 'Cos',
  cosh = 'Cosh', erf = 'Erf', exp = 'Exp', floor = 'Floor', log = 'Log', neg = 'Neg', reciprocal = 'Reciprocal', sign = 'Sign', sigmoid = 'Sigmoid',
  sin = 'Sin', sinh = 'Sinh', sqrt = 'Sqrt', tan = 'Tan', tanh = 'Tanh', relu = 'Relu' } do
  M[op] = function(g, a, call) return g:node(name, { g:cast(a.self, result_dtype(call)) }) end
end

-- The sign of nan is 0; ONNX's is nan.
local sign = M.sign
function M.sign(g, a, call)
  local dtype, y = result_dtype(call), sign(g, a, call)
  if not dtype.is_floating_point then return y end
  return g:node('Where', { g:node('IsNaN', { g:cast(a.self, dtype) }), g:scalar(0, dtype), y })
end
M.sgn = M.sign

-- Functions that consist of a few nodes: f(graph, x, number); number(n) is a constant of the dtype.
local composed = {
  rsqrt = function(g, x) return g:node('Reciprocal', { g:node('Sqrt', { x }) }) end,
  square = function(g, x) return g:node('Mul', { x, x }) end,
  exp2 = function(g, x, number) return g:node('Pow', { number(2), x }) end,
  expm1 = function(g, x, number) return g:node('Sub', { g:node('Exp', { x }), number(1) }) end,
  log1p = function(g, x, number) return g:node('Log', { g:node('Add', { x, number(1) }) }) end,
  log2 = function(g, x, number) return g:node('Div', { g:node('Log', { x }), number(math.log(2)) }) end,
  log10 = function(g, x, number) return g:node('Div', { g:node('Log', { x }), number(math.log(10)) }) end,
  erfc = function(g, x, number) return g:node('Sub', { number(1), g:node('Erf', { x }) }) end,
  trunc = function(g, x) return g:node('Mul', { g:node('Sign', { x }), g:node('Floor', { g:node('Abs', { x }) }) }) end,
  deg2rad = function(g, x, number) return g:node('Mul', { x, number(math.pi / 180) }) end,
  rad2deg = function(g, x, number) return g:node('Mul', { x, number(180 / math.pi) }) end,
}
function composed.frac(g, x) return g:node('Sub', { x, composed.trunc(g, x) }) end
for op, write in pairs(composed) do
  M[op] = function(g, a, call)
    local dtype = result_dtype(call)
    return write(g, g:cast(a.self, dtype), function(n) return g:scalar(n, dtype) end)
  end
end

function M.round(g, a, call)
  local x = g:cast(a.self, result_dtype(call))
  if not a.decimals or a.decimals == 0 then return g:node('Round', { x }) end
  local scale = g:scalar(10.0 ^ a.decimals, result_dtype(call))
  return g:node('Div', { g:node('Round', { g:node('Mul', { x, scale }) }), scale })
end

function M.isnan(g, a) return g:node('IsNaN', { g:name(a.self) }) end
function M.isinf(g, a) return g:node('IsInf', { g:name(a.self) }) end
function M.isfinite(g, a)
  local x = g:name(a.self)
  return g:node('Not', { g:node('Or', { g:node('IsNaN', { x }), g:node('IsInf', { x }) }) })
end

-- ---- arithmetic ---------------------------------------------------------------------------------

local function operands(g, a, dtype) return g:cast(a.self, dtype), g:cast(a.other, dtype) end

-- Computes self op (other * alpha).
local function scaled(name, if_bool)
  return function(g, a, call)
    local dtype = result_dtype(call)
    local x, y = operands(g, a, dtype)
    if dtype == torch.bool then return g:node(if_bool, { x, y }) end
    if (a.alpha or 1) ~= 1 then y = g:node('Mul', { y, g:scalar(a.alpha, dtype) }) end
    return g:node(name, { x, y })
  end
end
M.add, M.sub, M.mul = scaled('Add', 'Or'), scaled('Sub', 'Xor'), scaled('Mul', 'And')
function M.rsub(g, a, call) return M.sub(g, { self = a.other, other = a.self, alpha = a.alpha }, call) end

function M.div(g, a, call)
  local dtype = result_dtype(call)
  local x, y = operands(g, a, dtype)
  if a.rounding_mode == 'floor' then return M.floor_divide(g, a, call) end
  local quotient = g:node('Div', { x, y })
  if a.rounding_mode == 'trunc' and dtype.is_floating_point then return composed.trunc(g, quotient) end
  return quotient
end

function M.floor_divide(g, a, call)
  local dtype = result_dtype(call)
  local x, y = operands(g, a, dtype)
  if dtype.is_floating_point then return g:node('Floor', { g:node('Div', { x, y }) }) end
  return g:node('Div', { g:node('Sub', { x, g:node('Mod', { x, y }) }), y })
end

function M.remainder(g, a, call)
  local dtype = result_dtype(call)
  local x, y = operands(g, a, dtype)
  if not dtype.is_floating_point then return g:node('Mod', { x, y }) end
  return g:node('Sub', { x, g:node('Mul', { y, g:node('Floor', { g:node('Div', { x, y }) }) }) })
end

function M.fmod(g, a, call)
  local x, y = operands(g, a, result_dtype(call))
  return g:node('Mod', { x, y }, { fmod = 1 })
end

function M.pow(g, a, call)
  local dtype = result_dtype(call)
  local x = g:cast(a.self, dtype)
  if a.exponent == 2 then return g:node('Mul', { x, x }) end
  return g:node('Pow', { x, g:cast(a.exponent, dtype) })
end

local function extreme(name)
  return function(g, a, call) return g:node(name, { operands(g, a, result_dtype(call)) }) end
end
M.maximum, M.minimum = extreme 'Max', extreme 'Min'

function M.hypot(g, a, call)
  local x, y = operands(g, a, result_dtype(call))
  return g:node('Sqrt', { g:node('Add', { g:node('Mul', { x, x }), g:node('Mul', { y, y }) }) })
end

-- self + value * (tensor1 op tensor2)
local function with_product(name)
  return function(g, a, call)
    local dtype = result_dtype(call)
    local product = g:node(name, { g:cast(a.tensor1, dtype), g:cast(a.tensor2, dtype) })
    if a.value ~= 1 then product = g:node('Mul', { product, g:scalar(a.value, dtype) }) end
    return g:node('Add', { g:cast(a.self, dtype), product })
  end
end
M.addcmul, M.addcdiv = with_product 'Mul', with_product 'Div'

function M.lerp(g, a, call)
  local dtype = result_dtype(call)
  local from = g:cast(a.self, dtype)
  local way = g:node('Sub', { g:cast(a['end'], dtype), from })
  return g:node('Add', { from, g:node('Mul', { way, g:cast(a.weight, dtype) }) })
end

--- Clamps between two bounds, which may be nil.
local function clip(g, x, low, high, dtype)
  if low ~= nil then x = g:node('Max', { x, g:cast(low, dtype) }) end
  if high ~= nil then x = g:node('Min', { x, g:cast(high, dtype) }) end
  return x
end
function M.clamp(g, a, call) return clip(g, g:cast(a.self, result_dtype(call)), a.min, a.max, result_dtype(call)) end
M.clamp_min, M.clamp_max = M.clamp, M.clamp

-- ---- comparisons and logic ----------------------------------------------------------------------

local function comparison(name, negated)
  return function(g, a)
    local dtype = g:common(a.self, a.other)
    if dtype == torch.bool and name ~= 'Equal' then dtype = torch.int32 end
    local result = g:node(name, { operands(g, a, dtype) })
    return negated and g:node('Not', { result }) or result
  end
end
M.eq, M.ne, M.lt, M.le, M.gt, M.ge = comparison 'Equal', comparison('Equal', true), comparison 'Less', comparison 'LessOrEqual', comparison 'Greater',
  comparison 'GreaterOrEqual'

for op, name in pairs { logical_and = 'And', logical_or = 'Or', logical_xor = 'Xor' } do
  M[op] = function(g, a) return g:node(name, { operands(g, a, torch.bool) }) end
end
function M.logical_not(g, a) return g:node('Not', { g:cast(a.self, torch.bool) }) end

for op, names in pairs { bitwise_and = { 'And', 'BitwiseAnd' }, bitwise_or = { 'Or', 'BitwiseOr' }, bitwise_xor = { 'Xor', 'BitwiseXor' } } do
  M[op] = function(g, a, call)
    local dtype = result_dtype(call)
    return g:node(names[dtype == torch.bool and 1 or 2], { operands(g, a, dtype) })
  end
end
function M.bitwise_not(g, a, call)
  return g:node(result_dtype(call) == torch.bool and 'Not' or 'BitwiseNot', { g:name(a.self) })
end

function M.where(g, a, call)
  local dtype = result_dtype(call)
  return g:node('Where', { g:cast(a.condition, torch.bool), operands(g, a, dtype) })
end
function M.where_method(g, a, call) return M.where(g, { condition = a[2], self = a[1], other = a[3] }, call) end

function M.masked_fill(g, a, call)
  local dtype = result_dtype(call)
  local value = g:cast(a.value, dtype)
  return g:node('Where', { g:cast(a.mask, torch.bool), value, g:cast(a.self, dtype) })
end

-- ---- conversions --------------------------------------------------------------------------------

local function converted(g, a, call) return g:cast(a.self, result_dtype(call)) end
for op in ([[to float double half bfloat16 long int short char byte bool type_as contiguous clone detach alias_copy cpu cuda positive real
  resolve_conj resolve_neg detach_copy]]):gmatch '%S+' do
  M[op] = converted
end

--- copy_: the source, expanded to self's shape and converted to its dtype.
function M.copy(g, a, call)
  return g:node('Expand', { g:cast(a.src, result_dtype(call)), g:integers(g:shape(call.results[1])) })
end


return M
