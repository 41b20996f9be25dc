-- loss.lua - losses, written in ONNX.

local M = {}

-- Applies the reduction of a loss to its terms.
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

-- With d = |input - target|: 0.5 d^2 * square below `edge`, (d - 0.5 edge) * line above.
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

-- target log p + (1 - target) log(1 - p), with both logarithms clamped to at least -100.
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
  local x, target, one = g:name(a.self or a.input), g:name(a.target), g:scalar(1, dtype)
  local soft = g:node('Softplus', { g:node('Neg', { x }) })
  if a.pos_weight then
    local more = g:node('Mul', { g:node('Sub', { g:name(a.pos_weight), one }), target })
    soft = g:node('Mul', { soft, g:node('Add', { more, one }) })
  end
  local terms = g:node('Add', { g:node('Mul', { g:node('Sub', { one, target }), x }), soft })
  return reduced(g, weighted(g, a, terms), a.reduction)
end
M['nn.binary_cross_entropy_with_logits'] = M.binary_cross_entropy_with_logits

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

-- t log t, and 0 for t = 0.
local function entropy(g, target, dtype)
  local zero = g:scalar(0, dtype)
  return g:node('Where', { g:node('Greater', { target, zero }), g:node('Mul', { target, g:node('Log', { target }) }), zero })
end

M['nn.kl_div'] = function(g, a, call)
  local x, target, dtype = g:name(a.input), g:name(a.target), call.results[1].dtype
  local terms
  if a.log_target then terms = g:node('Mul', { g:node('Exp', { target }), g:node('Sub', { target, x }) })
  else terms = g:node('Sub', { entropy(g, target, dtype), g:node('Mul', { target, x }) }) end
  if a.reduction ~= 'batchmean' then return reduced(g, terms, a.reduction) end
  return g:node('Div', { reduced(g, terms, 'sum'), g:number(g:shape(a.input)[1], dtype) })
end

-- exp(x) - t x, or x - t log(x); full: adds Stirling's formula for log(t!) if t > 1.
M['nn.poisson_nll_loss'] = function(g, a, call)
  local x, target, dtype = g:name(a.input), g:name(a.target), call.results[1].dtype
  local function number(value) return g:scalar(value, dtype) end
  local rate, log = x, x
  if a.log_input then rate = g:node('Exp', { x }) else log = g:node('Log', { g:node('Add', { x, number(a.eps) }) }) end
  local terms = g:node('Sub', { rate, g:node('Mul', { target, log }) })
  if a.full then
    local rest = g:node('Mul', { g:node('Log', { g:node('Mul', { target, number(2 * math.pi) }) }), number(0.5) })
    local stirling = g:node('Add', { g:node('Sub', { entropy(g, target, dtype), target }), rest })
    terms = g:node('Add', { terms, g:node('Where', { g:node('Greater', { target, number(1) }), stirling, number(0) }) })
  end
  return reduced(g, terms, a.reduction)
end

-- (log(var) + (x - t)^2 / var) / 2
M['nn.gaussian_nll_loss'] = function(g, a, call)
  local dtype = call.results[1].dtype
  local var, d = g:node('Max', { g:name(a.var, dtype), g:scalar(a.eps, dtype) }), difference(g, a)
  local both = g:node('Add', { g:node('Log', { var }), g:node('Div', { g:node('Mul', { d, d }), var }) })
  local terms = g:node('Mul', { both, g:scalar(0.5, dtype) })
  if a.full then terms = g:node('Add', { terms, g:scalar(0.5 * math.log(2 * math.pi), dtype) }) end
  return reduced(g, terms, a.reduction)
end

-- One of two values by a target of 1 and -1.
local function by_sign(g, target, of_one, of_other, dtype)
  return g:node('Where', { g:node('Greater', { g:cast(target, dtype), g:scalar(0, dtype) }), of_one, of_other })
end

M['nn.hinge_embedding_loss'] = function(g, a, call)
  local x, dtype = g:name(a.input), call.results[1].dtype
  return reduced(g, by_sign(g, a.target, x, g:node('Relu', { g:node('Sub', { g:scalar(a.margin, dtype), x }) }), dtype), a.reduction)
end

M['nn.cosine_embedding_loss'] = function(g, a, call)
  local x, y, dtype = g:name(a.input1), g:name(a.input2), call.results[1].dtype
  local function sum(p, q) return g:node('ReduceSum', { g:node('Mul', { p, q }), g:list { -1 } }, { keepdims = 0 }) end
  local function size(p) return g:node('Add', { sum(p, p), g:scalar(1e-12, dtype) }) end
  local cosine = g:node('Div', { sum(x, y), g:node('Sqrt', { g:node('Mul', { size(x), size(y) }) }) })
  local apart = g:node('Relu', { g:node('Sub', { cosine, g:scalar(a.margin, dtype) }) })
  return reduced(g, by_sign(g, a.target, g:node('Sub', { g:scalar(1, dtype), cosine }), apart, dtype), a.reduction)
end

M['nn.multilabel_soft_margin_loss'] = function(g, a, call)
  local x, target, dtype = g:name(a.input), g:name(a.target), call.results[1].dtype
  local of_one = g:node('Mul', { target, g:node('Softplus', { g:node('Neg', { x }) }) })
  local of_zero = g:node('Mul', { g:node('Sub', { g:scalar(1, dtype), target }), g:node('Softplus', { x }) })
  local terms = weighted(g, a, g:node('Add', { of_one, of_zero }))
  return reduced(g, g:node('ReduceMean', { terms, g:list { -1 } }, { keepdims = 0 }), a.reduction)
end

-- With probabilities as targets, along the dimension of the classes.
local function of_probabilities(g, a)
  local x, rank = g:name(a.input or a.self), #g:shape(a.input or a.self)
  local axis = rank > 1 and 1 or 0
  local terms = g:node('Mul', { g:node('LogSoftmax', { x }, { axis = axis }), g:name(a.target) })
  if a.weight then
    local wide = { -1 }
    for d = 2, rank - axis do wide[d] = 1 end
    terms = g:node('Mul', { terms, g:node('Reshape', { g:name(a.weight), g:list(wide) }) })
  end
  local losses = g:node('Neg', { g:node('ReduceSum', { terms, g:list { axis } }, { keepdims = 0 }) })
  return reduced(g, losses, a.reduction)
end

local function classes(op)
  return function(g, a)
    if (a.label_smoothing or 0) ~= 0 then g:fail 'label_smoothing' end
    if a.target.dtype.is_floating_point then return of_probabilities(g, a) end
    local target = g:positions(a.target, true)
    local ignored = a.ignore_index > 0 and a.ignore_index - 1 or a.ignore_index
    return g:node(op, { g:name(a.input or a.self), target, a.weight and g:name(a.weight) }, { ignore_index = ignored, reduction = a.reduction })
  end
end
M.cross_entropy, M.nll_loss = classes 'SoftmaxCrossEntropyLoss', classes 'NegativeLogLikelihoodLoss'

return M
