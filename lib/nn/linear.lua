-- linear.lua - nn.Linear(in_features, out_features, {bias = true, device =, dtype =}): y = x A^T + b.
-- Input (*, in_features), output (*, out_features); weight (out_features, in_features) and bias
-- (out_features) start uniform in [-k, k], k = 1 / sqrt(in_features).

local torch = require 'torch'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local init = require 'torch.nn.init'
local options_of = require 'torch.options'

local linear = torch.linear

local Linear = Module:extend('Linear')

function Linear:init(in_features, out_features, options)
  options = options_of('Linear', options, { bias = true, device = false, dtype = false })
  local factory = { device = options.device or nil, dtype = options.dtype or nil }
  self.in_features, self.out_features = in_features, out_features
  self.weight = Parameter(torch.empty(out_features, in_features, factory))
  if options.bias then
    self.bias = Parameter(torch.empty(out_features, factory))
  else
    self:register_parameter('bias', nil)
  end
  self:reset_parameters()
end

function Linear:reset_parameters()
  init.kaiming_uniform_(self.weight, { a = math.sqrt(5) })
  if self.bias ~= nil then
    local bound = self.in_features > 0 and 1 / math.sqrt(self.in_features) or 0
    init.uniform_(self.bias, -bound, bound)
  end
end

function Linear:forward(input) return linear(input, self.weight, self.bias) end

function Linear:extra_repr()
  return ('in_features=%d, out_features=%d, bias=%s'):format(self.in_features, self.out_features,
    self.bias ~= nil and 'True' or 'False')
end

return Linear
