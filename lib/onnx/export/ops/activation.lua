-- activation.lua - writes activations, softmaxes and dropouts (the identity in an exported model)
-- in ONNX.

local torch = require 'torch'

local M = {}

-- write(g, x, number, a, dtype) with x the input and number(n) a constant of its dtype.
local function activation(write)
  return function(g, a, call)
    local dtype = call.results[1].dtype
    return write(g, g:cast(a.self or a.input, dtype), function(n) return g:scalar(n, dtype) end, a, dtype)
  end
end
local function plain(name, attributes)
  return activation(function(g, x, _, a) return g:node(name, { x }, attributes and attributes(a)) end)
end

M.elu = plain('Elu', function(a) return { alpha = a.alpha + 0.0 } end)
M.celu = plain('Celu', function(a) return { alpha = a.alpha + 0.0 } end)
M.selu, M.mish, M.hardswish = plain 'Selu', plain 'Mish', plain 'HardSwish'
M.leaky_relu = plain('LeakyRelu', function(a) return { alpha = a.negative_slope + 0.0 } end)
M.hardsigmoid = plain('HardSigmoid', function() return { alpha = 1 / 6, beta = 0.5 } end)
M['nn.softsign'], M['nn.logsigmoid'] = plain 'Softsign', activation(function(g, x) return g:node('Neg', { g:node('Softplus', { g:node('Neg', { x }) }) }) end)
-- Not by Shrink, which makes 0 of nan.
M['nn.softshrink'] = activation(function(g, x, number, a) return g:node('Sub', { x, g:node('Clip', { x, number(-a.lambd), number(a.lambd) }) }) end)
M.hardshrink = activation(function(g, x, number, a)
  return g:node('Where', { g:node('LessOrEqual', { g:node('Abs', { x }), number(a.lambd) }), number(0), x })
end)
M.hardtanh = activation(function(g, x, number, a) return g:node('Clip', { x, number(a.min_val), number(a.max_val) }) end)
M.relu6 = activation(function(g, x, number) return g:node('Clip', { x, number(0), number(6) }) end)
M['nn.tanhshrink'] = activation(function(g, x) return g:node('Sub', { x, g:node('Tanh', { x }) }) end)
M.silu = activation(function(g, x) return g:node('Mul', { x, g:node('Sigmoid', { x }) }) end)
M['nn.rrelu'] = activation(function(g, x, _, a)
  if a.training then g:fail 'it draws random numbers' end
  return g:node('LeakyRelu', { x }, { alpha = (a.lower + a.upper) / 2 })
end)
M.rrelu = M['nn.rrelu']

M.gelu = activation(function(g, x, number, a)
  local inner
  if a.approximate == 'tanh' then
    local cube = g:node('Mul', { g:node('Mul', { x, x }), x })
    local sum = g:node('Add', { x, g:node('Mul', { cube, number(0.044715) }) })
    inner = g:node('Tanh', { g:node('Mul', { sum, number(math.sqrt(2 / math.pi)) }) })
  else
    inner = g:node('Erf', { g:node('Div', { x, number(math.sqrt(2)) }) })
  end
  return g:node('Mul', { g:node('Mul', { x, g:node('Add', { inner, number(1) }) }), number(0.5) })
end)

-- From the threshold on it is x itself; from 20 on that is the same in single precision.
M.softplus = activation(function(g, x, number, a, dtype)
  local scaled = a.beta == 1 and x or g:node('Mul', { x, number(a.beta) })
  local y = g:node('Softplus', { scaled })
  if a.beta ~= 1 then y = g:node('Div', { y, number(a.beta) }) end
  if a.threshold >= 20 and dtype ~= torch.float64 then return y end
  return g:node('Where', { g:node('Greater', { scaled, number(a.threshold) }), x, y })
end)

M.threshold = activation(function(g, x, number, a)
  return g:node('Where', { g:node('LessOrEqual', { x, number(a.threshold) }), number(a.value), x })
end)

-- A slope per channel, the second dimension.
function M.prelu(g, a)
  local slope, rank = g:name(a.weight), #a.self.shape
  if a.weight.tensor:numel() > 1 and rank > 2 then
    local shape = { a.weight.tensor:numel() }
    for _ = 3, rank do shape[#shape + 1] = 1 end
    slope = g:reshape(slope, shape)
  end
  return g:node('PRelu', { g:name(a.self), slope })
end

M['nn.glu'] = function(g, a)
  local rank = #a.self.shape
  local axis = g:axis(a.dim, rank)
  local half = g:map(function(n) return n // 2 end, g:shape(a.self)[axis + 1])
  local x, gate = g:node('Split', { g:name(a.self), g:integers { half, half } }, { axis = axis }, 2)
  return g:node('Mul', { x, g:node('Sigmoid', { gate }) })
end

-- ---- softmaxes ----------------------------------------------------------------------------------

local function softmax(name, negated)
  return function(g, a, call)
    local x = g:cast(a.self, call.results[1].dtype)
    if negated then x = g:node('Neg', { x }) end
    if #a.self.shape == 0 then return g:reshape(g:node(name, { g:reshape(x, { 1 }) }, { axis = 0 }), {}) end
    return g:node(name, { x }, { axis = g:axis(a.dim, #a.self.shape) })
  end
end
M.softmax, M.log_softmax, M.softmin = softmax 'Softmax', softmax 'LogSoftmax', softmax('Softmax', true)

-- ---- dropouts -----------------------------------------------------------------------------------

local function dropout(g, a)
  if a.training and a.p ~= 0 then g:fail 'it draws random numbers: the module must be one that does not in eval mode' end
  return g:name(a.input)
end
M.dropout = dropout
for name in ('dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout'):gmatch '%S+' do M['nn.' .. name] = dropout end

return M
