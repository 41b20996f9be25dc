-- loss.lua - the losses of ai.onnx, and the steps of the optimizers of ai.onnx.preview.training.

local torch = require 'torch'

local values = require 'torch.onnx.values'
local ops, training = {}, {}

-- logits (n, classes, ...), target (n, ...) from 0; ignored entries have weight 0.
local function negative_log_likelihood(node, log_probabilities, target, weight)
  local ignored, n_classes = node.attributes.ignore_index, log_probabilities:size(2)
  target = target:to(torch.int64)
  local counts = ignored and target:ne(ignored) or torch.ones_like(target, { dtype = torch.bool })
  local at = torch.where(counts, values.positions(target, n_classes), torch.ones_like(target))
  local loss = -torch.gather(log_probabilities, 2, at:unsqueeze(2)):squeeze(2)
  local scale = counts:to(loss.dtype)
  if weight then scale = scale * weight:index_select(1, at:reshape(-1)):view(values.sizes(at)) end
  loss = torch.where(counts, loss * scale, torch.zeros_like(loss))
  local reduction = node.attributes.reduction or 'mean'
  if reduction == 'none' then return loss end
  if reduction == 'sum' then return loss:sum() end
  if not weight and not ignored then return loss:mean() end
  return loss:sum() / scale:sum()
end

ops.NegativeLogLikelihoodLoss = negative_log_likelihood

function ops.SoftmaxCrossEntropyLoss(node, scores, target, weight)
  local log_probabilities = torch.log_softmax(scores, 2)
  return negative_log_likelihood(node, log_probabilities, target, weight), log_probabilities
end

-- An optimizer step. Inputs: R, T, all X, all gradients, then all of each state; outputs: all new
-- X, then all of each new state.
local function optimizer(n_states, step)
  return function(node, rate, count, ...)
    local inputs = table.pack(...)
    local n = inputs.n // (2 + n_states)
    local results = {}
    for i = 1, n do
      local states = {}
      for k = 1, n_states do states[k] = inputs[(1 + k) * n + i] end
      local new = { step(node.attributes, rate, count, inputs[i], inputs[n + i], table.unpack(states)) }
      for k = 1, 1 + n_states do results[(k - 1) * n + i] = new[k] end
    end
    return table.unpack(results, 1, n * (1 + n_states))
  end
end

training.Adagrad = optimizer(1, function(a, rate, count, x, grad, squares)
  rate = rate / (1 + count * (a.decay_factor or 0.0))
  grad = grad + x * (a.norm_coefficient or 0.0)
  squares = squares + grad * grad
  return x - rate * grad / (squares:sqrt() + (a.epsilon or 1e-6)), squares
end)

training.Adam = optimizer(2, function(a, rate, count, x, grad, mean, squares)
  local alpha, beta = a.alpha or 0.9, a.beta or 0.999
  grad = grad + x * (a.norm_coefficient or 0.0)
  mean, squares = mean * alpha + grad * (1 - alpha), squares * beta + grad * grad * (1 - beta)
  local t = count:item()
  if t > 0 then rate = rate * (math.sqrt(1 - beta ^ t) / (1 - alpha ^ t)) end
  x = x - rate * mean / (squares:sqrt() + (a.epsilon or 1e-6))
  return x * (1 - (a.norm_coefficient_post or 0.0)), mean, squares
end)

training.Momentum = optimizer(1, function(a, rate, count, x, grad, momentum)
  grad = grad + x * (a.norm_coefficient or 0.0)
  local beta = count:item() > 0 and (a.beta or 1.0) or 1.0
  momentum = momentum * (a.alpha or 1.0) + grad * beta
  if a.mode == 'nesterov' then return x - rate * (grad + momentum * (a.alpha or 1.0)), momentum end
  return x - rate * momentum, momentum
end)

return { [''] = ops, ['ai.onnx.preview.training'] = training }
