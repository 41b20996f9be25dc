-- quantized.lua - layers with quantized weights in the block formats of GGUF files.

local torch = require 'torch'
local nn = torch.nn

local M = {}

M.Linear = nn.Module:extend 'QuantizedLinear'

--- weight: rows of bytes [out, bytes]; scheme: their format (torch.dequantize_blocks); bias: a
--- Parameter, or nil.
function M.Linear:init(weight, scheme, bias)
  self:register_buffer('weight', weight)
  self.scheme, self.bias = scheme, bias
end

-- Without gradients, inputs are rounded to 8 bits for speed.
local rounded = { int8_input = true }

function M.Linear:forward(x)
  local y = torch.linear_blocks(x, self.weight, self.scheme, not torch.is_grad_enabled() and rounded or nil)
  return self.bias and y + self.bias or y
end

function M.Linear:extra_repr() return ('out_features=%d, scheme=%s'):format(self.weight:size(1), self.scheme) end

M.Embedding = nn.Module:extend 'QuantizedEmbedding'

function M.Embedding:init(weight, scheme)
  self:register_buffer('weight', weight)
  self.scheme = scheme
end

--- Positions from 1, as nn.Embedding.
function M.Embedding:forward(positions) return torch.dequantize_blocks(self.weight[positions], self.scheme) end

function M.Embedding:extra_repr() return ('num_embeddings=%d, scheme=%s'):format(self.weight:size(1), self.scheme) end

return M
