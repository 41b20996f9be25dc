-- activation.lua - elementwise layers: nn.ReLU, Sigmoid, Tanh, GELU, SiLU, LeakyReLU, Softplus, and the
-- normalizing Softmax and LogSoftmax over a dimension.

local torch = require 'torch'
local Module = require 'torch.nn.module'

local M = {}

-- A layer without parameters that applies torch.<op>.
local function simple(name, op)
  local class = Module:extend(name)
  function class:forward(input) return torch[op](input) end
  M[name] = class
end

simple('ReLU', 'relu')
simple('Sigmoid', 'sigmoid')
simple('Tanh', 'tanh')
simple('SiLU', 'silu')

local function over_dim(name, op)
  local class = Module:extend(name)
  function class:init(dim)
    if type(dim) == 'table' then dim = dim.dim end
    if math.type(dim) ~= 'integer' then error(name .. '(): the dimension is required, an integer', 3) end
    self.dim = dim
  end
  function class:forward(input) return torch[op](input, self.dim) end
  function class:extra_repr() return 'dim=' .. self.dim end
  M[name] = class
end

over_dim('Softmax', 'softmax')
over_dim('LogSoftmax', 'log_softmax')

-- nn.GELU{approximate = 'none' | 'tanh'}
M.GELU = Module:extend('GELU')
function M.GELU:init(options) self.approximate = options and options.approximate or 'none' end
function M.GELU:forward(input) return torch.gelu(input, { approximate = self.approximate }) end
function M.GELU:extra_repr() return ("approximate='%s'"):format(self.approximate) end

-- nn.LeakyReLU(negative_slope = 0.01)
M.LeakyReLU = Module:extend('LeakyReLU')
function M.LeakyReLU:init(negative_slope)
  if type(negative_slope) == 'table' then negative_slope = negative_slope.negative_slope end
  self.negative_slope = negative_slope or 0.01
end
function M.LeakyReLU:forward(input) return torch.leaky_relu(input, self.negative_slope) end
function M.LeakyReLU:extra_repr() return 'negative_slope=' .. self.negative_slope end

-- nn.Softplus(beta = 1, threshold = 20)
M.Softplus = Module:extend('Softplus')
function M.Softplus:init(beta, threshold)
  if type(beta) == 'table' then beta, threshold = beta.beta, beta.threshold end
  self.beta, self.threshold = beta or 1.0, threshold or 20.0
end
function M.Softplus:forward(input) return torch.softplus(input, self.beta, self.threshold) end
function M.Softplus:extra_repr() return ('beta=%s, threshold=%s'):format(self.beta, self.threshold) end

return M
