-- Every elementwise function of floating-point numbers: how it is called with one, two or three tensors.
-- For ours.lua and for tests/lua/elementwise_spec.lua. A function that the declarations have and that is missing here
-- fails the spec.

local torch = require 'torch'
local F = torch.nn.functional

local M = {}

local function add(arity, names, get)
  for name in names:gmatch '%S+' do
    local f = get(name)
    M[name] = { arity = arity, call = function(a, b, c)
      if arity == 1 then return f(a) elseif arity == 2 then return f(a, b) else return f(a, b, c) end
    end }
  end
end

local function of_torch(name) return torch[name] end
local function of_functional(name) return F[name] end

add(1, [[neg abs sign square reciprocal exp exp2 expm1 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh
  tanh sigmoid erf relu floor ceil round trunc asinh acosh atanh erfc erfinv lgamma digamma logit frac nan_to_num]], of_torch)
add(1, 'relu6 hardtanh hardsigmoid hardswish elu selu celu leaky_relu gelu silu mish softplus logsigmoid softsign tanhshrink hardshrink softshrink',
  of_functional)
add(2, [[add sub mul div pow remainder fmod floor_divide maximum minimum fmax fmin atan2 hypot xlogy copysign heaviside
  eq ne lt le gt ge logical_and logical_or logical_xor]], of_torch)
add(1, 'logical_not isnan isinf isfinite', of_torch)
add(3, 'addcmul addcdiv lerp', of_torch)

-- Numbers among the arguments.
local function unary(name, f) M[name] = { arity = 1, call = f } end
unary('gelu_tanh', function(x) return F.gelu(x, { approximate = 'tanh' }) end)
unary('clamp', function(x) return x:clamp(-1.5, 2.25) end)
unary('clamp_min', function(x) return x:clamp_min(-1.5) end)
unary('clamp_max', function(x) return x:clamp_max(2.25) end)
unary('threshold', function(x) return F.threshold(x, 0.5, 7) end)
for exponent, name in pairs { [2] = '2', [3] = '3', [0.5] = 'half', [-0.5] = 'minus_half', [-1] = 'minus_1', [-2] = 'minus_2', [2.5] = '2_5' } do
  unary('pow_' .. name, function(x) return x ^ exponent end)
end
M.where = { arity = 2, call = function(a, b) return torch.where(a:gt(b), a, b) end }

-- Gradients of the curves: with respect to the input, for an upstream gradient of 1.5.
local function gradient(f)
  return function(x)
    local leaf = x:detach():clone():requires_grad_()
    local y = f(leaf)
    y:backward(torch.full_like(y, 1.5))
    return leaf.grad
  end
end
for name in ('tanh sigmoid relu digamma'):gmatch '%S+' do unary(name .. '_gradient', gradient(torch[name])) end
for name in ('relu6 hardtanh hardsigmoid hardswish elu selu celu leaky_relu gelu silu mish softplus logsigmoid hardshrink softshrink'):gmatch '%S+' do
  unary(name .. '_gradient', gradient(F[name]))
end
unary('gelu_tanh_gradient', gradient(function(x) return F.gelu(x, { approximate = 'tanh' }) end))

return M
