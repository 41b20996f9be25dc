-- loss.lua - losses as modules: nn.CrossEntropyLoss, NLLLoss, MSELoss, L1Loss, BCEWithLogitsLoss. Each takes
-- {reduction = 'mean' | 'sum' | 'none'} and those of its functional form; class targets count from 1.

local torch = require 'torch'
local Module = require 'torch.nn.module'
local options_of = require 'torch.options'

local M = {}

local reductions = { mean = true, sum = true, none = true }

local function define(name, op, defaults, argument_names)
  defaults.reduction = 'mean'
  local class = Module:extend(name)
  function class:init(options)
    options = options_of(name, options, defaults)
    if not reductions[options.reduction] then
      error(('%s is not a valid value for reduction'):format(tostring(options.reduction)), 3)
    end
    for key, value in pairs(options) do
      if key == 'weight' or key == 'pos_weight' then self:register_buffer(key, value or nil) else self[key] = value end
    end
  end
  function class:forward(input, target)
    local arguments = { reduction = self.reduction }
    for _, key in ipairs(argument_names) do
      if self[key] then arguments[key] = self[key] end
    end
    return torch[op](input, target, arguments)
  end
  M[name] = class
end

define('CrossEntropyLoss', 'cross_entropy', { weight = false, ignore_index = -100, label_smoothing = 0.0 },
  { 'weight', 'ignore_index', 'label_smoothing' })
define('NLLLoss', 'nll_loss', { weight = false, ignore_index = -100 }, { 'weight', 'ignore_index' })
define('MSELoss', 'mse_loss', {}, {})
define('L1Loss', 'l1_loss', {}, {})
define('BCEWithLogitsLoss', 'binary_cross_entropy_with_logits', { weight = false, pos_weight = false },
  { 'weight', 'pos_weight' })

return M
