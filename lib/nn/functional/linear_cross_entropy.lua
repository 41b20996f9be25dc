-- linear_cross_entropy.lua - nn.functional.linear_cross_entropy: the cross entropy of a linear
-- layer's output, as a whole or in chunks of the batch, with the logits of one chunk in memory.

--[=[ arguments
linear_weight: Weights of the linear layer, of shape (classes, in_features).
linear_bias: Bias of the linear layer, of shape (classes).
weight: Weight of each class.
options: Options of the computation in parts: an `nn.LinearCrossEntropyOptions`.
target: Class of each sample, from 1, or the probabilities of the classes.
linear_cross_entropy(): The cross entropy of a linear layer's output, without the whole matrix of logits in memory.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local M = {}

-- Casts half types to float, in which losses are summed.
local function widened(x)
  return x and (x.dtype == torch.float16 or x.dtype == torch.bfloat16) and x:float() or x
end

-- The loss in chunks of `size` rows, one after the other; backward recomputes each chunk's logits.
local function in_pieces(input, weight, target, bias, size, loss)
  local checkpoint = require('torch.utils.checkpoint').checkpoint
  local function piece(x, w, b, at) return torch.nn.functional.cross_entropy(widened(torch.linear(x, w, b)), at, loss) end
  local total, rows = nil, {}
  for from = 1, input:size(1), size do
    local n = math.min(size, input:size(1) - from + 1)
    local at = target:narrow(1, from, n)
    local x = input:narrow(1, from, n)
    local part
    if bias then
      part = checkpoint(function(a, w, b) return piece(a, w, b, at) end, x, weight, bias, { preserve_rng_state = false })
    else
      part = checkpoint(function(a, w) return piece(a, w, nil, at) end, x, weight, { preserve_rng_state = false })
    end
    if loss.reduction == 'none' then
      rows[#rows + 1] = part
    else
      total = total and total + part or part
    end
  end
  return total or torch.cat(rows, 1)
end

-- The divisor of a mean: the number of valid targets, or their weights.
local function weight_of(target, loss)
  local counts = loss.ignore_index and target:ne(loss.ignore_index) or torch.ones_like(target, { dtype = torch.bool })
  if not loss.weight then return counts:sum() end
  return torch.where(counts, loss.weight:index_select(1, torch.where(counts, target, 1)), 0):sum()
end

local function chunked(input, weight, target, bias, size, loss)
  local mean = loss.reduction == 'mean'
  loss.weight, loss.reduction = widened(loss.weight), mean and 'sum' or loss.reduction
  local result = in_pieces(input, weight, target, bias, size, loss)
  if mean then result = result / weight_of(target, loss) end
  return result:to(input.dtype)
end

--- linear_cross_entropy(input, linear_weight, target, {linear_bias =, weight =, reduction = 'mean',
--- ignore_index =, label_smoothing = 0, options =}): cross_entropy of linear(input, linear_weight,
--- linear_bias). linear_weight is [classes, in], or [classes, d1, ..., in] for several losses per
--- input. options, an nn.LinearCrossEntropyOptions, computes in chunks of the batch, except for
--- inputs without a batch, weights of more dimensions and probabilities as targets.
M.linear_cross_entropy = declare.by_name([[
  linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? linear_bias, Tensor? weight, any reduction='mean',
  integer? ignore_index, number label_smoothing=0.0, any? options)
]], function(options)
  local input, linear_weight, target = options.input, options.linear_weight, options.target
  if input.ndim < 1 or input.ndim > 2 then fail('expected input with dimensionality 1 or 2, got %d', input.ndim) end
  if linear_weight.ndim < 2 then
    fail('expected linear_weight with dimensionality at least 2, got %d', linear_weight.ndim)
  end
  local features = input:size(-1)
  if linear_weight:size(-1) ~= features then
    fail('expected equal input and linear_weight last dimensions (in_features), got %d and %d, respectively', features,
      linear_weight:size(-1))
  end
  local out = { table.unpack(linear_weight.shape, 1, linear_weight.ndim - 1) }
  local bias = options.linear_bias
  if bias ~= nil and bias.shape ~= torch.Size(out) then
    fail('expected linear_bias shape %s, got %s', tostring(torch.Size(out)), tostring(bias.shape))
  end
  if #out > 1 and input.ndim == 1 then
    fail('K-dimensional loss defined by linear_weight shape %s requires batched input, (N, %d), got unbatched input with shape %s',
      tostring(linear_weight.shape), features, tostring(input.shape))
  end
  local named = { weight = options.weight, reduction = options.reduction, ignore_index = options.ignore_index, label_smoothing = options.label_smoothing }
  if options.options ~= nil then
    require('torch.nn.layers.linear_cross_entropy_options').check('linear_cross_entropy', options.options)
    if input.ndim == 2 and #out == 1 and target.ndim == 1 and not target.dtype.is_floating_point and input:size(1) > 0 then
      return chunked(input, linear_weight, target, bias, options.options:rows(input, out[1]), named)
    end
  end
  local logits = torch.linear(input, linear_weight:reshape(-1, features), bias and bias:reshape(-1))
  if input.ndim == 2 then table.insert(out, 1, input:size(1)) end
  logits = logits:reshape(out)
  if target.shape == logits.shape and options.ignore_index ~= nil then
    fail 'ignore_index cannot be specified when target contains probabilities'
  end
  return torch.nn.functional.cross_entropy(logits, target, named)
end)

return M
