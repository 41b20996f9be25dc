-- adaptive.lua - nn.AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs, {div_value = 4,
-- head_bias = false}): a softmax over many classes of very different frequency, the most frequent
-- first (E. Grave et al. 2017).
--
-- The head scores the first cutoffs[1] classes and one entry for each cluster; cluster i has the
-- classes up to cutoffs[i + 1], the last one the rest, and scores them from in_features /
-- div_value^i numbers. Called with input (n, in_features) and target (n), classes from 1, it
-- returns the log-probabilities of the targets (n) and the mean loss; without a batch, input
-- (in_features) and a target of no dimensions.

--[=[ arguments
n_classes: Number of classes.
cutoffs: Ends of the clusters of classes, ascending; the most frequent classes come first.
div_value: Factor by which the size of each further cluster's projection shrinks.
head_bias: Whether the layer of the first cluster has a bias.
target: Class of each sample, from 1.
reset_parameters(): Draws all weights anew.
]=]

--[=[ examples
AdaptiveLogSoftmaxWithLoss
    head = nn.AdaptiveLogSoftmaxWithLoss(8, 20, {5, 10})
    output, loss = head(torch.zeros(3, 8), torch.tensor{1, 7, 20})
    output.shape, loss.shape
    --> (torch.Size([3]), torch.Size([]))
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local Module = require 'torch.nn.module'
local ModuleList = require 'torch.nn.containers.module_list'
local Sequential = require 'torch.nn.containers.sequential'
local Linear = require('torch.nn.layers.linear').Linear
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local Adaptive = Module:extend('AdaptiveLogSoftmaxWithLoss')
local read = declare.reader [[
  AdaptiveLogSoftmaxWithLoss(integer in_features, integer n_classes, integers cutoffs, number div_value=4.0,
    boolean head_bias=false, device? device, dtype? dtype)]]

local function check_cutoffs(cutoffs, classes)
  if #cutoffs == 0 then fail 'cutoffs should be a sequence of length larger than 0' end
  local before = 0
  for _, cutoff in ipairs(cutoffs) do
    if not math.tointeger(cutoff) or cutoff <= before or cutoff > classes - 1 then
      fail('cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is '
        .. 'between 1 and n_classes-1')
    end
    before = cutoff
  end
end

function Adaptive:init(...)
  local options = read(...)
  check_cutoffs(options.cutoffs, options.n_classes)
  self.in_features, self.n_classes = options.in_features, options.n_classes
  self.div_value, self.head_bias = options.div_value, options.head_bias
  self.cutoffs = table.move(options.cutoffs, 1, #options.cutoffs, 1, {})
  self.shortlist_size, self.n_clusters = self.cutoffs[1], #self.cutoffs
  self.cutoffs[#self.cutoffs + 1] = self.n_classes
  self.head_size = self.shortlist_size + self.n_clusters
  local function linear(from, to, bias)
    return Linear(from, to, { bias = bias, device = options.device, dtype = options.dtype })
  end
  self.head = linear(self.in_features, self.head_size, self.head_bias)
  self.tail = ModuleList()
  for i = 1, self.n_clusters do
    local hidden = math.tointeger(self.in_features // self.div_value ^ i)
    self.tail:append(Sequential(linear(self.in_features, hidden, false), linear(hidden, self.cutoffs[i + 1] - self.cutoffs[i], false)))
  end
end

function Adaptive:reset_parameters()
  self.head:reset_parameters()
  for i = 1, self.n_clusters do
    for k = 1, 2 do self.tail[i][k]:reset_parameters() end
  end
end

local function check(input, target)
  if target.ndim > 1 then fail '0D or 1D target tensor expected, multi-target not supported' end
  if target.ndim == 1 and input:size(1) ~= target:size(1) then
    fail 'Input and target should have the same size in the batch dimension.'
  end
  if target.ndim == 0 and input.ndim ~= 1 then
    fail('0D target tensor expects 1D input tensors, but found inputs with size %s', tostring(input.shape))
  end
end

function Adaptive:forward(input, target)
  checked.input(self, input)
  checked.input(self, target, 'target')
  check(input, target)
  local batched = target.ndim == 1
  if not batched then input, target = input:unsqueeze(1), target:unsqueeze(1) end
  local head = self.head(input):log_softmax(2)
  local output, found = head:new_zeros(target.shape), 0
  for i = 0, self.n_clusters do
    local low = i > 0 and self.cutoffs[i] or 0
    local rows = target:gt(low):logical_and(target:le(self.cutoffs[i + 1])):nonzero():squeeze(2)
    if #rows > 0 then
      local classes = (target:index_select(1, rows) - low):unsqueeze(2)
      local scores = head:index_select(1, rows)
      local log_probability
      if i == 0 then
        log_probability = scores:gather(2, classes)
      else
        local within = self.tail[i](input:index_select(1, rows)):log_softmax(2):gather(2, classes)
        log_probability = within + scores:narrow(2, self.shortlist_size + i, 1)
      end
      output = output:index_copy(1, rows, log_probability:squeeze(2))
      found = found + #rows
    end
  end
  if found ~= #target then
    fail('Target values should be in [1, %d], but values in range [%d, %d] were found. ', self.n_classes,
      target:min():item(), target:max():item())
  end
  local loss = (-output):mean()
  return batched and output or output:squeeze(1), loss
end

--- The log-probabilities of all classes, (n, n_classes).
function Adaptive:log_prob(input)
  local head = self.head(input):log_softmax(2)
  local parts = { head:narrow(2, 1, self.shortlist_size) }
  for i = 1, self.n_clusters do
    parts[i + 1] = self.tail[i](input):log_softmax(2) + head:narrow(2, self.shortlist_size + i, 1)
  end
  return torch.cat(parts, 2)
end

--- The most likely class, (n). If the head prefers one of its own classes, that is the result.
function Adaptive:predict(input)
  local best = self.head(input):argmax(2)
  return torch.where(best:le(self.shortlist_size), best, self:log_prob(input):argmax(2))
end

return { AdaptiveLogSoftmaxWithLoss = Adaptive }
