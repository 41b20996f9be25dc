-- loss.lua - losses as modules: nn.CrossEntropyLoss, MSELoss, ... Each calls the corresponding
-- function of nn.functional; all have {reduction = 'mean' | 'sum' | 'none'} besides the settings of
-- that function. Class targets and ignore_index count from 1. Weights are buffers, so that they
-- move with the module. The deprecated size_average and reduce are accepted.

--[=[ arguments
size_average: Deprecated: false selects the reduction `'sum'`. Use `reduction`.
reduce: Deprecated: false selects the reduction `'none'`. Use `reduction`.
weight: Weight of each class or element; it broadcasts to the loss.
CrossEntropyLoss.weight: Weight of each class.
NLLLoss.weight: Weight of each class.
MultiMarginLoss.weight: Weight of each class.
LinearCrossEntropyLoss.weight: Weight of each class.
MultiLabelSoftMarginLoss.weight: Weight of each class.
beta: Difference at which the loss changes from quadratic to linear.
delta: Difference at which the loss changes from quadratic to linear.
p: Order p of the norm.
MultiMarginLoss.p: Exponent of the loss, 1 or 2.
CrossEntropyLoss:forward.target: Class of each sample, from 1, or the probabilities of the classes.
NLLLoss:forward.target: Class of each sample, from 1.
MultiMarginLoss:forward.target: Class of each sample, from 1.
MultiLabelMarginLoss:forward.target: Classes of each sample, from 1; the first 0 ends them.
SoftMarginLoss:forward.target: Labels 1 or -1, of the shape of the input.
HingeEmbeddingLoss:forward.target: Labels 1 or -1, of the shape of the input.
MarginRankingLoss:forward.target: 1 where the first input shall rank higher, -1 where the second one shall.
CosineEmbeddingLoss:forward.target: 1 for similar pairs, -1 for dissimilar ones.
var: Variance of each expected value.
num_classes: Number of classes.
options: Options of the computation in parts: an `nn.LinearCrossEntropyOptions`.
L1Loss(): The absolute difference.
MSELoss(): The squared difference.
SmoothL1Loss(): The squared difference up to beta, the absolute one above it.
HuberLoss(): The squared difference up to delta, delta times the absolute one above it.
CrossEntropyLoss(): The cross entropy of logits and classes: log softmax, then `NLLLoss`.
NLLLoss(): The negative logarithm of the probability of the target class.
BCELoss(): The cross entropy of probabilities and targets between 0 and 1.
BCEWithLogitsLoss(): The cross entropy of logits and targets between 0 and 1, computed in a stable way.
KLDivLoss(): The Kullback-Leibler divergence of target probabilities from log probabilities.
PoissonNLLLoss(): The negative log likelihood of counts under a Poisson distribution.
GaussianNLLLoss(): The negative log likelihood under a normal distribution.
SoftMarginLoss(): log(1 + exp(-target * input)).
HingeEmbeddingLoss(): The input for similar pairs, max(0, margin - input) for dissimilar ones.
MarginRankingLoss(): max(0, -target * (input1 - input2) + margin).
CosineEmbeddingLoss(): 1 - cosine for similar pairs, max(0, cosine - margin) for dissimilar ones.
TripletMarginLoss(): max(0, distance of anchor and positive - distance of anchor and negative + margin).
TripletMarginWithDistanceLoss(): The triplet loss with your own distance.
MultiMarginLoss(): The hinge loss of one class among several.
MultiLabelMarginLoss(): The hinge loss of several classes.
MultiLabelSoftMarginLoss(): The mean over the classes of the cross entropy of logits.
CTCLoss(): Connectionist temporal classification: the negative log likelihood of a target sequence, over all alignments.
PoissonNLLLoss.eps: Small number added to the argument of the logarithm.
GaussianNLLLoss.eps: Smallest variance.
TripletMarginLoss.eps: Small number added to the differences, for numerical stability.
]=]

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
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local losses = require 'torch.nn.functional.losses'

local M = {}

local buffers = { 'weight', 'pos_weight' }

local function reductions_of(name)
  local known = { mean = true, sum = true, none = true, batchmean = name == 'KLDivLoss' or nil }
  return function(reduction)
    if not known[reduction] then fail('%s is not a valid value for reduction', tostring(reduction)) end
  end
end

-- op: the function of nn.functional; tensors: its tensor arguments; declaration: of the settings
local function define(name, op, tensors, declaration)
  local signature = declare.parse(name .. declaration)
  local read, check = declare.reader(signature), reductions_of(name)
  local class, defaults = Module:extend(name), {}
  local _, n = tensors:gsub('%S+', '')
  for _, a in ipairs(signature) do defaults[a.name] = a.default ~= nil and a.default end
  defaults.size_average, defaults.reduce = nil, nil

  function class:init(...)
    local options = read(...)
    options.reduction = losses.reduction_of(options)
    check(options.reduction)
    for _, setting in ipairs(buffers) do
      if defaults[setting] ~= nil then self:register_buffer(setting, options[setting] or nil) end
    end
    for setting in pairs(defaults) do
      if setting ~= 'weight' and setting ~= 'pos_weight' then self[setting] = options[setting] end
    end
  end

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

define('L1Loss', 'l1_loss', 'input target', [[(boolean? size_average, boolean? reduce, string reduction='mean')]])
define('MSELoss', 'mse_loss', 'input target', [[(boolean? size_average, boolean? reduce, string reduction='mean')]])
define('SmoothL1Loss', 'smooth_l1_loss', 'input target', [[(boolean? size_average, boolean? reduce, string reduction='mean', number beta=1.0)]])
define('HuberLoss', 'huber_loss', 'input target', [[(string reduction='mean', number delta=1.0)]])
define('CrossEntropyLoss', 'cross_entropy', 'input target', [[
  (Tensor? weight, boolean? size_average, integer ignore_index=-100, boolean? reduce, string reduction='mean', number label_smoothing=0.0)]])
define('NLLLoss', 'nll_loss', 'input target', [[
  (Tensor? weight, boolean? size_average, integer ignore_index=-100, boolean? reduce, string reduction='mean')]])
define('BCELoss', 'binary_cross_entropy', 'input target', [[(Tensor? weight, boolean? size_average, boolean? reduce, string reduction='mean')]])
define('BCEWithLogitsLoss', 'binary_cross_entropy_with_logits', 'input target', [[
  (Tensor? weight, boolean? size_average, boolean? reduce, string reduction='mean', Tensor? pos_weight)]])
define('KLDivLoss', 'kl_div', 'input target', [[(boolean? size_average, boolean? reduce, string reduction='mean', boolean log_target=false)]])
define('PoissonNLLLoss', 'poisson_nll_loss', 'log_input target', [[
  (boolean log_input=true, boolean full=false, boolean? size_average, number eps=1e-8, boolean? reduce, string reduction='mean')]])
define('GaussianNLLLoss', 'gaussian_nll_loss', 'input target var', [[(*, boolean full=false, number eps=1e-6, string reduction='mean')]])
define('SoftMarginLoss', 'soft_margin_loss', 'input target', [[(boolean? size_average, boolean? reduce, string reduction='mean')]])
define('HingeEmbeddingLoss', 'hinge_embedding_loss', 'input target', [[
  (number margin=1.0, boolean? size_average, boolean? reduce, string reduction='mean')]])
define('MarginRankingLoss', 'margin_ranking_loss', 'input1 input2 target', [[
  (number margin=0.0, boolean? size_average, boolean? reduce, string reduction='mean')]])
define('CosineEmbeddingLoss', 'cosine_embedding_loss', 'input1 input2 target', [[
  (number margin=0.0, boolean? size_average, boolean? reduce, string reduction='mean')]])
define('TripletMarginLoss', 'triplet_margin_loss', 'anchor positive negative', [[
  (number margin=1.0, number p=2.0, number eps=1e-6, boolean swap=false, boolean? size_average, boolean? reduce, string reduction='mean')]])
define('MultiMarginLoss', 'multi_margin_loss', 'input target', [[
  (number p=1, number margin=1.0, Tensor? weight, boolean? size_average, boolean? reduce, string reduction='mean')]])
define('MultiLabelMarginLoss', 'multilabel_margin_loss', 'input target', [[(boolean? size_average, boolean? reduce, string reduction='mean')]])
define('MultiLabelSoftMarginLoss', 'multilabel_soft_margin_loss', 'input target', [[
  (Tensor? weight, boolean? size_average, boolean? reduce, string reduction='mean')]])
define('CTCLoss', 'ctc_loss', 'log_probs targets input_lengths target_lengths', [[(integer blank=1, string reduction='mean', boolean zero_infinity=false)]])

-- nn.TripletMarginWithDistanceLoss{distance_function =, margin = 1, swap = false}
define('TripletMarginWithDistanceLoss', 'triplet_margin_with_distance_loss', 'anchor positive negative', [[
  (*, function? distance_function, number margin=1.0, boolean swap=false, string reduction='mean')]])

-- ---- with a layer of its own --------------------------------------------------------------------

-- nn.LinearCrossEntropyLoss(in_features, num_classes, {out_features = {}, bias = false, weight =,
-- reduction = 'mean', ignore_index =, label_smoothing = 0, options =}): the cross entropy of a
-- linear layer's output; the layer is `linear`. options: an nn.LinearCrossEntropyOptions.
M.LinearCrossEntropyLoss = Module:extend('LinearCrossEntropyLoss')
local read_linear = declare.reader [[
  LinearCrossEntropyLoss(integer in_features, integer num_classes, *, integers out_features={}, boolean bias=false,
    Tensor? weight, string reduction='mean', integer? ignore_index, number label_smoothing=0.0, any? options,
    device? device, dtype? dtype)]]

function M.LinearCrossEntropyLoss:init(...)
  local o = read_linear(...)
  require('torch.nn.layers.linear_cross_entropy_options').check('LinearCrossEntropyLoss', o.options)
  if o.weight and (o.weight.ndim ~= 1 or o.weight:size(1) ~= o.num_classes) then
    fail('expected weight shape to be (%d,), got %s', o.num_classes, tostring(o.weight.shape))
  end
  if o.label_smoothing < 0 or o.label_smoothing > 1 then
    fail('expected label_smoothing to be in range [0, 1], got %s', tostring(o.label_smoothing))
  end
  local outputs = o.num_classes
  for _, size in ipairs(o.out_features) do outputs = outputs * size end
  self:register_buffer('weight', o.weight)
  self.num_classes, self.out_features, self.reduction = o.num_classes, o.out_features, o.reduction
  self.ignore_index, self.label_smoothing, self.options = o.ignore_index, o.label_smoothing, o.options
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
