-- functional.lua - torch.nn.functional: the functional forms, which are torch's own ops of these names.

local torch = require 'torch'

local names = {
  'relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'leaky_relu', 'softplus', 'softmax', 'log_softmax', 'linear', 'dropout',
  'cross_entropy', 'nll_loss', 'mse_loss', 'l1_loss', 'binary_cross_entropy_with_logits', 'one_hot', 'threshold',
  'pad',
  'conv1d', 'conv2d', 'conv3d', 'conv_transpose1d', 'conv_transpose2d', 'conv_transpose3d',
  'avg_pool1d', 'avg_pool2d', 'avg_pool3d', 'adaptive_avg_pool1d', 'adaptive_avg_pool2d', 'adaptive_avg_pool3d',
  'relu6', 'hardtanh', 'hardsigmoid', 'hardswish', 'elu', 'selu', 'celu', 'mish', 'softmin',
}

local functional = {}
for _, name in ipairs(names) do functional[name] = torch[name] end
functional.unfold, functional.fold = torch.im2col, torch.col2im

-- Max pools: the largest elements, and with return_indices (the last argument, or by name) where they are.
-- `place` is the position that return_indices has among the arguments.
local function max_pool(plain, with_indices, place)
  return function(...)
    local n = select('#', ...)
    local last = n > 0 and select(n, ...)
    if type(last) == 'table' and last.return_indices ~= nil then
      local arguments, named = { ... }, {}
      for name, value in pairs(last) do
        if name ~= 'return_indices' then named[name] = value end
      end
      arguments[n] = next(named) ~= nil and named or nil
      return (last.return_indices and with_indices or plain)(table.unpack(arguments, 1, arguments[n] and n or n - 1))
    elseif n == place and type(last) == 'boolean' then
      return (last and with_indices or plain)(table.unpack({ ... }, 1, n - 1))
    end
    return plain(...)
  end
end

for d = 1, 3 do
  local name = ('max_pool%dd'):format(d)
  functional[name] = max_pool(torch[name], torch[name .. '_with_indices'], 7)
  local adaptive = torch[('adaptive_max_pool%dd'):format(d)]
  functional[('adaptive_max_pool%dd'):format(d)] = max_pool(function(...) return (adaptive(...)) end, adaptive, 3)
end

--- The rows of weight that input names. torch.embedding takes them the other way round.
function functional.embedding(input, weight, ...) return torch.embedding(weight, input, ...) end

return functional
