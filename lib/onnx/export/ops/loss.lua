-- loss.lua - losses, written in ONNX.

local M = {}

-- What a loss does with its terms.
local function reduced(g, terms, reduction_name)
  if reduction_name == 'none' then return terms end
  return g:node(reduction_name == 'sum' and 'ReduceSum' or 'ReduceMean', { terms }, { keepdims = 0 })
end

local function weighted(g, a, terms) return a.weight and g:node('Mul', { terms, g:name(a.weight) }) or terms end

local function difference(g, a) return g:node('Sub', { g:name(a.self or a.input), g:name(a.target) }) end

function M.mse_loss(g, a)
  if a.weight then g:fail 'weights of the terms' end
  local d = difference(g, a)
  return reduced(g, g:node('Mul', { d, d }), a.reduction)
end

function M.l1_loss(g, a)
  if a.weight then g:fail 'weights of the terms' end
  return reduced(g, g:node('Abs', { difference(g, a) }), a.reduction)
end

-- 0.5 d^2 * square below `edge`, (|d| - 0.5 edge) * line above.
local function huber(g, a, call, edge, square, line)
  local dtype = call.results[1].dtype
  local function number(x) return g:scalar(x, dtype) end
  local size = g:node('Abs', { difference(g, a) })
  local near = g:node('Mul', { g:node('Mul', { size, size }), number(0.5 * square) })
  local far = g:node('Mul', { g:node('Sub', { size, number(0.5 * edge) }), number(line) })
  return reduced(g, g:node('Where', { g:node('Less', { size, number(edge) }), near, far }), a.reduction)
end
M['nn.smooth_l1_loss'] = function(g, a, call)
  if a.beta == 0 then return M.l1_loss(g, a) end
  return huber(g, a, call, a.beta, 1 / a.beta, 1)
end
M['nn.huber_loss'] = function(g, a, call) return huber(g, a, call, a.delta, 1, a.delta) end

-- target log p + (1 - target) log(1 - p), where neither logarithm is below -100.
M['nn.binary_cross_entropy'] = function(g, a, call)
  local dtype = call.results[1].dtype
  local p, target, one = g:name(a.self), g:name(a.target), g:scalar(1, dtype)
  local function log(x) return g:node('Max', { g:node('Log', { x }), g:scalar(-100, dtype) }) end
  local of_one = g:node('Mul', { target, log(p) })
  local of_zero = g:node('Mul', { g:node('Sub', { one, target }), log(g:node('Sub', { one, p })) })
  return reduced(g, weighted(g, a, g:node('Neg', { g:node('Add', { of_one, of_zero }) })), a.reduction)
end

-- (1 - target) x + (1 + (pos_weight - 1) target) softplus(-x)
function M.binary_cross_entropy_with_logits(g, a, call)
  local dtype = call.results[1].dtype
  local x, target, one = g:name(a.self), g:name(a.target), g:scalar(1, dtype)
  local soft = g:node('Softplus', { g:node('Neg', { x }) })
  if a.pos_weight then
    local more = g:node('Mul', { g:node('Sub', { g:name(a.pos_weight), one }), target })
    soft = g:node('Mul', { soft, g:node('Add', { more, one }) })
  end
  local terms = g:node('Add', { g:node('Mul', { g:node('Sub', { one, target }), x }), soft })
  return reduced(g, weighted(g, a, terms), a.reduction)
end

M['nn.soft_margin_loss'] = function(g, a)
  local product = g:node('Mul', { g:node('Neg', { g:name(a.target) }), g:name(a.self) })
  return reduced(g, g:node('Softplus', { product }), a.reduction)
end

M['nn.margin_ranking_loss'] = function(g, a, call)
  local dtype = call.results[1].dtype
  local product = g:node('Mul', { g:node('Neg', { g:name(a.target) }), g:node('Sub', { g:name(a.input1), g:name(a.input2) }) })
  local terms = g:node('Add', { product, g:scalar(a.margin, dtype) })
  return reduced(g, g:node('Relu', { terms }), a.reduction)
end

local function classes(op)
  return function(g, a)
    if (a.label_smoothing or 0) ~= 0 then g:fail 'label_smoothing' end
    if a.target.dtype.is_floating_point then g:fail 'targets that are probabilities' end
    local target = g:positions(a.target, true)
    local ignored = a.ignore_index > 0 and a.ignore_index - 1 or a.ignore_index
    return g:node(op, { g:name(a.input or a.self), target, a.weight and g:name(a.weight) }, { ignore_index = ignored, reduction = a.reduction })
  end
end
M.cross_entropy, M.nll_loss = classes 'SoftmaxCrossEntropyLoss', classes 'NegativeLogLikelihoodLoss'

return M
