-- functional.lua - torch.nn.functional: the functional forms, which are torch's own ops of these names.

local torch = require 'torch'

local names = {
  'relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'leaky_relu', 'softplus', 'softmax', 'log_softmax', 'linear', 'dropout',
  'cross_entropy', 'nll_loss', 'mse_loss', 'l1_loss', 'binary_cross_entropy_with_logits', 'one_hot', 'embedding', 'threshold',
  'pad',
  'relu6', 'hardtanh', 'hardsigmoid', 'hardswish', 'elu', 'selu', 'celu', 'mish', 'softmin',
}

local functional = {}
for _, name in ipairs(names) do functional[name] = torch[name] end
return functional
