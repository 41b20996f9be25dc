-- linear.lua - nn.Linear(in_features, out_features, {bias = true}): y = x A^T + b; and
-- nn.Bilinear(in1_features, in2_features, out_features, {bias = true}): y = x1^T A x2 + b.
--
-- Linear: input (*, in_features), output (*, out_features); weight (out_features, in_features) and
-- bias (out_features) start uniform in [-k, k], k = 1 / sqrt(in_features). Bilinear: weight (out,
-- in1, in2), k = 1 / sqrt(in1_features).

--[=[ arguments
in1_features: Size of the last dimension of the first input.
in2_features: Size of the last dimension of the second input.
reset_parameters(): Draws weights and bias anew.
Linear(): x W' + b: a linear map of the last dimension, with learned weights and bias.
Bilinear(): x1 A x2 + b: a bilinear map of two inputs, with learned weights and bias.
]=]

--[=[ examples
Linear
    nn.Linear(3, 2)(torch.ones(4, 3)).shape
    --> torch.Size([4, 2])
Bilinear
    nn.Bilinear(3, 5, 2)(torch.ones(4, 3), torch.ones(4, 5)).shape
    --> torch.Size([4, 2])
]=]

local torch = require 'torch'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'
local python = require 'torch.nn.python'

local linear = torch.linear

local M = {}

local function make(self, shape, options)
  local factory = { device = options.device, dtype = options.dtype }
  self.weight = Parameter(torch.empty(shape, factory))
  if options.bias then
    self.bias = Parameter(torch.empty(self.out_features, factory))
  else
    self:register_parameter('bias', nil)
  end
  self:reset_parameters()
end

-- ---- Linear -------------------------------------------------------------------------------------

M.Linear = Module:extend('Linear')
local read_linear = declare.reader 'Linear(integer in_features, integer out_features, boolean bias=true, device? device, dtype? dtype)'

function M.Linear:init(...)
  local options = read_linear(...)
  self.in_features, self.out_features = options.in_features, options.out_features
  make(self, { self.out_features, self.in_features }, options)
end

function M.Linear:reset_parameters()
  init.kaiming_uniform_(self.weight, { a = math.sqrt(5) })
  if self.bias ~= nil then
    local fan_in = self.weight:size(2)
    local bound = fan_in > 0 and 1 / math.sqrt(fan_in) or 0
    init.uniform_(self.bias, -bound, bound)
  end
end

function M.Linear:forward(input) return linear(input, self.weight, self.bias) end

function M.Linear:extra_repr()
  return python.format('in_features=%s, out_features=%s, bias=%s', self.in_features, self.out_features, self.bias ~= nil)
end

-- ---- Bilinear -----------------------------------------------------------------------------------

M.Bilinear = Module:extend('Bilinear')
local read_bilinear = declare.reader [[
  Bilinear(integer in1_features, integer in2_features, integer out_features, boolean bias=true,
    device? device, dtype? dtype)]]

function M.Bilinear:init(...)
  local options = read_bilinear(...)
  if options.in1_features <= 0 then fail('in1_features must be > 0, but got %d', options.in1_features) end
  self.in1_features, self.in2_features = options.in1_features, options.in2_features
  self.out_features = options.out_features
  make(self, { self.out_features, self.in1_features, self.in2_features }, options)
end

function M.Bilinear:reset_parameters()
  local bound = 1 / math.sqrt(self.in1_features)
  init.uniform_(self.weight, -bound, bound)
  if self.bias ~= nil then init.uniform_(self.bias, -bound, bound) end
end

function M.Bilinear:forward(input1, input2)
  return torch.nn.functional.bilinear(input1, input2, self.weight, self.bias)
end

function M.Bilinear:extra_repr()
  return python.format('in1_features=%s, in2_features=%s, out_features=%s, bias=%s', self.in1_features, self.in2_features,
    self.out_features, self.bias ~= nil)
end

return M
