-- quantized.lua - torch.quantized: tensors of quantized weights.

return { Tensor = require 'torch.quantized.tensor' }
