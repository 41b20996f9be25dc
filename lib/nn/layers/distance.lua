-- distance.lua - distances and similarities of pairs of vectors: nn.CosineSimilarity(dim = 2, eps =
-- 1e-8) and nn.PairwiseDistance(p = 2, eps = 1e-6, {keepdim = false}).

--[=[ arguments
x1: First tensor.
x2: Second tensor, which broadcasts with the first one.
p: Order p of the norm.
dim: Dimension along which the vectors are stored: a position from 1, or a negative one from the end.
CosineSimilarity(): The cosine of the angle between vectors.
PairwiseDistance(): The p-norm of the difference of vectors.
CosineSimilarity.eps: Smallest denominator.
PairwiseDistance.eps: Small number added to the differences, for numerical stability.
]=]

--[=[ examples
PairwiseDistance
    nn.PairwiseDistance()(torch.tensor{ {0.0, 0.0} }, torch.tensor{ {3.0, 4.0} })
    --> tensor([5.0000])
CosineSimilarity
    nn.CosineSimilarity()(torch.tensor{ {1.0, 0.0} }, torch.tensor{ {1.0, 1.0} })
    --> tensor([0.7071])
]=]

local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local declare = require 'torch.support.arguments'

local M = {}

M.CosineSimilarity = Module:extend('CosineSimilarity')
local read_cosine = declare.reader 'CosineSimilarity(integer dim=2, number eps=1e-8)'
function M.CosineSimilarity:init(...)
  local options = read_cosine(...)
  self.dim, self.eps = options.dim, options.eps
end
function M.CosineSimilarity:forward(x1, x2) return F.cosine_similarity(x1, x2, self.dim, self.eps) end

M.PairwiseDistance = Module:extend('PairwiseDistance')
local read_pairwise = declare.reader 'PairwiseDistance(number p=2.0, number eps=1e-6, boolean keepdim=false)'
function M.PairwiseDistance:init(...)
  local options = read_pairwise(...)
  self.norm, self.eps, self.keepdim = options.p, options.eps, options.keepdim
end
function M.PairwiseDistance:forward(x1, x2) return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim) end

return M
