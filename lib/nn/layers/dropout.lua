-- dropout.lua - nn.Dropout(p = 0.5): in training zeroes elements with probability p and scales the
-- rest by
-- 1 / (1 - p); in evaluation returns its input. Dropout1d, 2d, 3d zero whole channels; AlphaDropout
-- and FeatureAlphaDropout keep mean and variance of inputs that come from SELU.

--[=[ arguments
p: Probability with which an element or channel is zeroed, between 0 and 1.
Dropout(): Zeroes random elements in training and scales the others up.
Dropout1d(): Zeroes random channels of sequences in training and scales the others up.
Dropout2d(): Zeroes random channels of images in training and scales the others up.
Dropout3d(): Zeroes random channels of volumes in training and scales the others up.
AlphaDropout(): Dropout that keeps mean and variance, for SELU networks.
FeatureAlphaDropout(): `AlphaDropout` of whole channels.
]=]

--[=[ examples
Dropout
    nn.Dropout(0.5):eval()(torch.ones(3))
    --> tensor([1., 1., 1.])
Dropout1d
    nn.Dropout1d(0.5)(torch.ones(2, 4, 3)).shape
    --> torch.Size([2, 4, 3])
Dropout2d
    nn.Dropout2d(0.5)(torch.ones(2, 4, 3, 3)).shape
    --> torch.Size([2, 4, 3, 3])
Dropout3d
    nn.Dropout3d(0.5)(torch.ones(2, 4, 3, 3, 3)).shape
    --> torch.Size([2, 4, 3, 3, 3])
AlphaDropout
    nn.AlphaDropout(0.2):eval()(torch.ones(3))
    --> tensor([1., 1., 1.])
FeatureAlphaDropout
    nn.FeatureAlphaDropout(0.2)(torch.ones(2, 4, 3)).shape
    --> torch.Size([2, 4, 3])
]=]

local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local python = require 'torch.nn.python'

local M = {}

local function define(name, op)
  local read = declare.reader(name .. '(number p=0.5, boolean inplace=false)')
  local class = Module:extend(name)
  function class:init(...)
    local options = read(...)
    if type(options.p) ~= 'number' or options.p < 0 or options.p > 1 then
      fail('dropout probability has to be between 0 and 1, but got %s', tostring(options.p))
    end
    self.p, self.inplace = options.p, options.inplace
  end
  function class:forward(input)
    return F[op](input, self.p, self.training, self.inplace)
  end
  function class:extra_repr() return python.format('p=%s, inplace=%s', self.p, self.inplace) end
  M[name] = class
end

define('Dropout', 'dropout')
define('Dropout1d', 'dropout1d')
define('Dropout2d', 'dropout2d')
define('Dropout3d', 'dropout3d')
define('AlphaDropout', 'alpha_dropout')
define('FeatureAlphaDropout', 'feature_alpha_dropout')

return M
