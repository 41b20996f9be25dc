-- loss.lua - losses as modules: nn.CrossEntropyLoss, MSELoss, ... Each calls the function of nn.functional of the same
-- meaning; all take {reduction = 'mean' | 'sum' | 'none'} besides the settings of that function. Class targets and
-- ignore_index count from 1. Weights are buffers, so that they move with the module. size_average and reduce, from before
-- there was reduction, are known too.

--[=[ examples
L1Loss
    nn.L1Loss()(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 4.0})
    --> tensor(1.)
MSELoss
    nn.MSELoss()(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 4.0})
    --> tensor(2.)
SmoothL1Loss
    nn.SmoothL1Loss()(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 4.0})
    --> tensor(0.7500)
HuberLoss
    nn.HuberLoss()(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 4.0})
    --> tensor(0.7500)
CrossEntropyLoss
    nn.CrossEntropyLoss()(torch.tensor{ {2.0, 0.0}, {0.0, 2.0} }, torch.tensor{1, 2})
    --> tensor(0.1269)
NLLLoss
    nn.NLLLoss()(torch.tensor{ {-0.5, -1.5}, {-2.0, -0.1} }, torch.tensor{1, 2})
    --> tensor(0.3000)
BCELoss
    nn.BCELoss()(torch.tensor{0.5, 0.9}, torch.tensor{1.0, 1.0})
    --> tensor(0.3993)
BCEWithLogitsLoss
    nn.BCEWithLogitsLoss()(torch.tensor{0.0, 10.0}, torch.tensor{1.0, 1.0})
    --> tensor(0.3466)
KLDivLoss
    nn.KLDivLoss{reduction = 'sum'}(torch.tensor{0.25, 0.75}:log(), torch.tensor{0.5, 0.5})
    --> tensor(0.1438)
PoissonNLLLoss
    nn.PoissonNLLLoss()(torch.tensor{0.0, 1.0}, torch.tensor{1.0, 2.0})
    --> tensor(0.8591)
GaussianNLLLoss
    nn.GaussianNLLLoss()(torch.tensor{0.0}, torch.tensor{2.0}, torch.tensor{1.0})
    --> tensor(2.)
SoftMarginLoss
    nn.SoftMarginLoss()(torch.tensor{2.0, -2.0}, torch.tensor{1.0, -1.0})
    --> tensor(0.1269)
HingeEmbeddingLoss
    nn.HingeEmbeddingLoss()(torch.tensor{0.5, 0.25}, torch.tensor{1.0, -1.0})
    --> tensor(0.6250)
MarginRankingLoss
    nn.MarginRankingLoss()(torch.tensor{1.0}, torch.tensor{3.0}, torch.tensor{1.0})
    --> tensor(2.)
CosineEmbeddingLoss
    nn.CosineEmbeddingLoss()(torch.tensor{ {1.0, 0.0} }, torch.tensor{ {0.0, 1.0} }, torch.tensor{1})
    --> tensor(1.)
TripletMarginLoss
    nn.TripletMarginLoss()(torch.tensor{ {0.0} }, torch.tensor{ {0.5} }, torch.tensor{ {1.0} })
    --> tensor(0.5000)
TripletMarginWithDistanceLoss
    loss = nn.TripletMarginWithDistanceLoss{distance_function = function(a, b) return (a - b):abs():sum(-1) end}
    loss(torch.tensor{ {0.0} }, torch.tensor{ {0.5} }, torch.tensor{ {1.0} })
    --> tensor(0.5000)
MultiMarginLoss
    nn.MultiMarginLoss()(torch.tensor{ {0.1, 0.2, 0.7} }, torch.tensor{3})
    --> tensor(0.3000)
MultiLabelMarginLoss
    nn.MultiLabelMarginLoss()(torch.tensor{ {0.1, 0.2, 0.4, 0.8} }, torch.tensor{ {4, 1, 0, 2} })
    --> tensor(0.8500)
MultiLabelSoftMarginLoss
    nn.MultiLabelSoftMarginLoss()(torch.tensor{ {3.0, -3.0} }, torch.tensor{ {1.0, 0.0} })
    --> tensor(0.0486)
CTCLoss
    scores = torch.zeros(4, 1, 3):log_softmax(3)
    nn.CTCLoss()(scores, torch.tensor{ {2, 3} }, torch.tensor{4}, torch.tensor{2})
    --> tensor(0.8432)
LinearCrossEntropyLoss
    torch.manual_seed(0);
    nn.LinearCrossEntropyLoss(4, 3)(torch.zeros(2, 4), torch.tensor{1, 3}).shape
    --> torch.Size([])
]=]

local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local arguments = require 'torch.nn.arguments'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'

local M = {}

local buffers = { 'weight', 'pos_weight' }

local function reductions_of(name)
  local known = { mean = true, sum = true, none = true, batchmean = name == 'KLDivLoss' or nil }
  return function(reduction)
    if not known[reduction] then fail('%s is not a valid value for reduction', tostring(reduction)) end
  end
end

-- What old programs write instead of reduction: size_average and reduce, true where only the other is given.
local function reduction_of(options)
  local average, reduce = options.size_average, options.reduce
  if average == nil and reduce == nil then return options.reduction end
  if reduce == false then return 'none' end
  return average == false and 'sum' or 'mean'
end

-- define(name, op, the tensors it takes, settings that may be given by position, defaults; false is none)
local function define(name, op, tensors, positional, defaults)
  defaults.reduction = 'mean'
  local check = reductions_of(name)
  local read = arguments(name, '', positional, defaults)
  local class = Module:extend(name)

  function class:init(...)
    local options = read(...)
    options.reduction = reduction_of(options)
    check(options.reduction)
    for _, setting in ipairs(buffers) do
      if defaults[setting] ~= nil then self:register_buffer(setting, options[setting] or nil) end
    end
    for setting in pairs(defaults) do
      if setting ~= 'weight' and setting ~= 'pos_weight' then self[setting] = options[setting] end
    end
  end

  local n = #kinds.words(tensors)

  function class:forward(first, second, third, fourth)
    local named = {}
    for setting, default in pairs(defaults) do
      local value = self[setting]
      if value ~= default then named[setting] = value end
    end
    if n == 2 then return F[op](first, second, named) end
    if n == 3 then return F[op](first, second, third, named) end
    return F[op](first, second, third, fourth, named)
  end
  declare.methods(class, ('forward(self, any %s)'):format(tensors:gsub(' ', ', any ')))

  M[name] = class
end

define('L1Loss', 'l1_loss', 'input target', 'size_average reduce reduction', {})
define('MSELoss', 'mse_loss', 'input target', 'size_average reduce reduction', {})
define('SmoothL1Loss', 'smooth_l1_loss', 'input target', 'size_average reduce reduction beta', { beta = 1.0 })
define('HuberLoss', 'huber_loss', 'input target', 'reduction delta', { delta = 1.0 })
define('CrossEntropyLoss', 'cross_entropy', 'input target', 'weight size_average ignore_index reduce reduction label_smoothing', { weight = false, ignore_index = -100, label_smoothing = 0.0 })
define('NLLLoss', 'nll_loss', 'input target', 'weight size_average ignore_index reduce reduction', { weight = false, ignore_index = -100 })
define('BCELoss', 'binary_cross_entropy', 'input target', 'weight size_average reduce reduction', { weight = false })
define('BCEWithLogitsLoss', 'binary_cross_entropy_with_logits', 'input target', 'weight size_average reduce reduction pos_weight', { weight = false, pos_weight = false })
define('KLDivLoss', 'kl_div', 'input target', 'size_average reduce reduction log_target', { log_target = false })
define('PoissonNLLLoss', 'poisson_nll_loss', 'log_input target', 'log_input full size_average eps reduce reduction', { log_input = true, full = false, eps = 1e-8 })
define('GaussianNLLLoss', 'gaussian_nll_loss', 'input target var', '', { full = false, eps = 1e-6 })
define('SoftMarginLoss', 'soft_margin_loss', 'input target', 'size_average reduce reduction', {})
define('HingeEmbeddingLoss', 'hinge_embedding_loss', 'input target', 'margin size_average reduce reduction', { margin = 1.0 })
define('MarginRankingLoss', 'margin_ranking_loss', 'input1 input2 target', 'margin size_average reduce reduction', { margin = 0.0 })
define('CosineEmbeddingLoss', 'cosine_embedding_loss', 'input1 input2 target', 'margin size_average reduce reduction', { margin = 0.0 })
define('TripletMarginLoss', 'triplet_margin_loss', 'anchor positive negative', 'margin p eps swap size_average reduce reduction',
  { margin = 1.0, p = 2.0, eps = 1e-6, swap = false })
define('MultiMarginLoss', 'multi_margin_loss', 'input target', 'p margin weight size_average reduce reduction', { p = 1, margin = 1.0, weight = false })
define('MultiLabelMarginLoss', 'multilabel_margin_loss', 'input target', 'size_average reduce reduction', {})
define('MultiLabelSoftMarginLoss', 'multilabel_soft_margin_loss', 'input target', 'weight size_average reduce reduction', { weight = false })
define('CTCLoss', 'ctc_loss', 'log_probs targets input_lengths target_lengths', 'blank reduction zero_infinity', { blank = 1, zero_infinity = false })

-- nn.TripletMarginWithDistanceLoss{distance_function =, margin = 1, swap = false}
define('TripletMarginWithDistanceLoss', 'triplet_margin_with_distance_loss', 'anchor positive negative', '',
  { distance_function = false, margin = 1.0, swap = false })

-- ---- with a layer of its own ------------------------------------------------------------------------------------------

-- nn.LinearCrossEntropyLoss(in_features, num_classes, {out_features = {}, bias = false, weight =, reduction = 'mean',
-- ignore_index =, label_smoothing = 0, options =}): cross entropy of what a linear layer makes of the input; the layer is
-- `linear`. options: an nn.LinearCrossEntropyOptions.
M.LinearCrossEntropyLoss = Module:extend('LinearCrossEntropyLoss')
local read_linear = arguments('LinearCrossEntropyLoss', 'in_features num_classes', '',
  { bias = false, reduction = 'mean', label_smoothing = 0.0, out_features = {}, weight = false, ignore_index = false, options = false }, 'device dtype')

function M.LinearCrossEntropyLoss:init(...)
  local o = read_linear(...)
  kinds.check('LinearCrossEntropyLoss', 'num_classes', o.num_classes, 'integer')
  kinds.check('LinearCrossEntropyLoss', 'out_features', o.out_features, 'integers')
  kinds.check('LinearCrossEntropyLoss', 'weight', o.weight or nil, 'Tensor?')
  kinds.check('LinearCrossEntropyLoss', 'ignore_index', o.ignore_index or nil, 'integer?')
  require('torch.nn.layers.linear_cross_entropy_options').check('LinearCrossEntropyLoss', o.options or nil)
  if o.weight and (o.weight.ndim ~= 1 or o.weight:size(1) ~= o.num_classes) then
    fail('expected weight shape to be (%d,), got %s', o.num_classes, tostring(o.weight.shape))
  end
  if o.label_smoothing < 0 or o.label_smoothing > 1 then
    fail('expected label_smoothing to be in range [0, 1], got %s', tostring(o.label_smoothing))
  end
  local outputs = o.num_classes
  for _, size in ipairs(o.out_features) do outputs = outputs * size end
  self:register_buffer('weight', o.weight or nil)
  self.num_classes, self.out_features, self.reduction = o.num_classes, o.out_features, o.reduction
  self.ignore_index, self.label_smoothing, self.options = o.ignore_index or nil, o.label_smoothing, o.options or nil
  self.linear = require('torch.nn.layers.linear').Linear(o.in_features, outputs, { bias = o.bias, device = o.device, dtype = o.dtype })
end

function M.LinearCrossEntropyLoss:forward(input, target)
  local shape = { self.num_classes, table.unpack(self.out_features) }
  local bias = self.linear.bias and self.linear.bias:reshape(shape)
  shape[#shape + 1] = self.linear.in_features
  return F.linear_cross_entropy(input, self.linear.weight:reshape(shape), target, {
    linear_bias = bias, weight = self.weight, reduction = self.reduction, ignore_index = self.ignore_index,
    label_smoothing = self.label_smoothing, options = self.options,
  })
end

return M
