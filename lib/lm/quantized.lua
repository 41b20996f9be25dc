-- quantized.lua - layers with quantized weights (torch.quantized.Tensor). The input gets a gradient,
-- the weights do not.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local QuantizedTensor = require 'torch.quantized.tensor'
local nn = torch.nn

local M = {}

-- A state contains the scheme beside the bytes, which have no meaning without it.
local function with_scheme(class)
  function class:get_extra_state() return { scheme = self.scheme } end

  function class:set_extra_state(state)
    if type(state) ~= 'table' or state.scheme ~= self.scheme then
      fail('load_state_dict(): a weight of the scheme %s does not fit a %s of the scheme %s; quantize the net with that scheme first',
        tostring(type(state) == 'table' and state.scheme), class.__classname, self.scheme)
    end
  end

  --- The weight as a torch.quantized.Tensor, which shares its memory.
  function class:quantized_weight() return QuantizedTensor(self.weight, self.scheme) end
end

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
with_scheme(M.Linear)

M.Embedding = nn.Module:extend 'QuantizedEmbedding'

function M.Embedding:init(weight, scheme)
  self:register_buffer('weight', weight)
  self.scheme = scheme
end

--- Positions from 1, as nn.Embedding.
function M.Embedding:forward(positions) return torch.dequantize_blocks(self.weight[positions], self.scheme) end

function M.Embedding:extra_repr() return ('num_embeddings=%d, scheme=%s'):format(self.weight:size(1), self.scheme) end
with_scheme(M.Embedding)

return M
