-- multivariate.lua - distributions of vectors and matrices: MultivariateNormal,
-- LowRankMultivariateNormal, Wishart, LKJCholesky.

--[=[ examples
MultivariateNormal
    d = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    d.mean, d:log_prob(torch.zeros(2))
    --> (tensor([0., 0.]), tensor(-1.8379))
LowRankMultivariateNormal
    d = torch.distributions.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2))
    d.mean, d:log_prob(torch.zeros(2))
    --> (tensor([0., 0.]), tensor(-2.3872))
Wishart
    d = torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2))
    d.mean, d:log_prob(torch.eye(2))
    --> (tensor([[3., 0.],
    -->          [0., 3.]]),
    -->  tensor(-3.5310))
LKJCholesky
    d = torch.distributions.LKJCholesky(2)
    d:sample().shape
    --> torch.Size([2, 2])
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local constraints = require 'torch.distributions.constraints'
local Distribution = require 'torch.distributions.distribution'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local utils = require 'torch.distributions.utils'

local linalg = torch.linalg
local like = utils.like

local M = {}

-- ---- matrices -----------------------------------------------------------------------------------

local function times_vector(matrix, vector) return matrix:matmul(vector:unsqueeze(-1)):squeeze(-1) end
local function log_diagonal(triangle) return triangle:diagonal(0, -2, -1):log():sum(-1) end
local function solve_lower(L, b) return linalg.solve_triangular(L, b, { upper = false }) end

-- |L^-1 x|^2 for triangular matrices and vectors with broadcast batches.
local function mahalanobis(L, x) return solve_lower(L, x:unsqueeze(-1)):squeeze(-1):square():sum(-1) end
M.mahalanobis = mahalanobis

-- The sum of the squares of a matrix's elements: the trace of X X^T.
local function squares(matrix) return matrix:square():sum(-1):sum(-1) end

-- The lower triangle L with L L^T = P^-1.
local function triangle_of_precision(P)
  local reversed = linalg.cholesky(P:flip { -2, -1 })
  local inverse = reversed:flip({ -2, -1 }).mT
  return solve_lower(inverse, torch.eye(P:size(-1), like(P)))
end

local function inverse_of(L)
  local inverse = solve_lower(L, torch.eye(L:size(-1), like(L)):expand(L.shape))
  return inverse.mT:matmul(inverse)
end

-- Alternatives to a covariance: by name, the constraint and the triangular factor.
local triangles = {
  covariance_matrix = linalg.cholesky,
  precision_matrix = triangle_of_precision,
  scale_tril = function(L) return L end,
}
local matrix_names = { 'covariance_matrix', 'precision_matrix', 'scale_tril' }

-- The name of the only matrix among the options.
local function given_matrix(options)
  local which
  for _, name in ipairs(matrix_names) do
    if options[name] ~= nil then
      if which then which = nil break end
      which = name
    end
  end
  if not which then fail 'Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.' end
  kinds.check('MultivariateNormal', which, options[which], 'Tensor')
  return which
end

local function matrices_by_name()
  return {
    scale_tril = function(self) return self._triangle:expand(utils.append(self.batch_shape, self:matrix_shape())) end,
    covariance_matrix = function(self)
      return self._triangle:matmul(self._triangle.mT):expand(utils.append(self.batch_shape, self:matrix_shape()))
    end,
    precision_matrix = function(self)
      return inverse_of(self._triangle):expand(utils.append(self.batch_shape, self:matrix_shape()))
    end,
  }
end

-- The name and value of the matrix argument of the constructor.
local function own_matrix(self)
  local fields = class.fields(self)
  return fields._given, self[fields._given]
end

-- ---- MultivariateNormal -------------------------------------------------------------------------

--- MultivariateNormal(loc, covariance_matrix) or {precision_matrix =} or {scale_tril =}, the lower
--- triangle L with covariance L L^T.
local MultivariateNormal = Distribution:derive('MultivariateNormal', {
  mean = function(self) return self.loc end,
  mode = function(self) return self.loc end,
  variance = function(self)
    return self._triangle:square():sum(-1):expand(utils.append(self.batch_shape, self.event_shape))
  end,
  support = function() return constraints.real_vector end,
}, matrices_by_name())
M.MultivariateNormal = MultivariateNormal
MultivariateNormal.has_rsample = true
MultivariateNormal:constrain {
  { 'loc', constraints.real_vector }, { 'covariance_matrix', constraints.positive_definite },
  { 'precision_matrix', constraints.positive_definite }, { 'scale_tril', constraints.lower_cholesky },
}
local read_normal = declare.reader [[
  MultivariateNormal(Tensor loc, Tensor? covariance_matrix, Tensor? precision_matrix, Tensor? scale_tril, boolean? validate_args)]]

function MultivariateNormal:init(...)
  local options = read_normal(...)
  local loc, which = options.loc, given_matrix(options)
  if loc.ndim < 1 then fail 'loc must be at least one-dimensional.' end
  local matrix = options[which]
  if matrix.ndim < 2 then
    fail('%s must be at least two-dimensional, with optional leading batch dimensions',
      which == 'scale_tril' and 'scale_tril matrix' or which)
  end
  local batch = utils.broadcast_shapes(utils.slice(matrix.shape, 1, -3), utils.slice(loc.shape, 1, -2))
  self._given = which
  self[which] = matrix:expand(utils.append(batch, { -1, -1 }))
  self.loc = loc:expand(utils.append(batch, { -1 }))
  self:setup(batch, { loc:size(-1) }, options.validate_args)
  self._triangle = triangles[which](matrix)
end
function MultivariateNormal:matrix_shape() return utils.append(self.event_shape, self.event_shape) end
function MultivariateNormal:expand(...)
  local batch = utils.dims_of(...)
  local which, matrix = own_matrix(self)
  return self:renewed {
    loc = self.loc:expand(utils.append(batch, self.event_shape)), [which] = matrix:expand(utils.append(batch, self:matrix_shape())),
  }
end
function MultivariateNormal:rsample(...)
  local noise = torch.empty(self:extended_shape(...), like(self.loc)):normal_(0, 1)
  return self.loc + times_vector(self._triangle, noise)
end
function MultivariateNormal:log_prob(value)
  self:check_value(value)
  local m = mahalanobis(self._triangle, value - self.loc)
  return -0.5 * (self.event_shape[1] * math.log(2 * math.pi) + m) - log_diagonal(self._triangle)
end
function MultivariateNormal:entropy()
  local h = 0.5 * self.event_shape[1] * (1 + math.log(2 * math.pi)) + log_diagonal(self._triangle)
  return h:expand(self.batch_shape)
end

-- ---- LowRankMultivariateNormal ------------------------------------------------------------------

--- LowRankMultivariateNormal(loc, cov_factor, cov_diag): covariance W W^T + diag(D), without
--- materializing a matrix of that size: by Woodbury's identity and the matrix determinant lemma.
local LowRank = Distribution:derive('LowRankMultivariateNormal', {
  mean = function(self) return self.loc end,
  mode = function(self) return self.loc end,
  support = function() return constraints.real_vector end,
}, {
  variance = function(self) return self.cov_factor:square():sum(-1) + self.cov_diag end,
  covariance_matrix = function(self)
    return self.cov_factor:matmul(self.cov_factor.mT) + torch.diag_embed(self.cov_diag)
  end,
  scale_tril = function(self)
    local root = self.cov_diag:sqrt():unsqueeze(-1)
    local factor = self.cov_factor / root
    return root * linalg.cholesky(factor:matmul(factor.mT) + torch.eye(factor:size(-2), like(factor)))
  end,
  precision_matrix = function(self)
    local a = solve_lower(self._capacitance, self.cov_factor.mT / self.cov_diag:unsqueeze(-2))
    return torch.diag_embed(self.cov_diag:reciprocal()) - a.mT:matmul(a)
  end,
})
M.LowRankMultivariateNormal = LowRank
LowRank.has_rsample = true
LowRank:constrain {
  { 'loc', constraints.real_vector }, { 'cov_factor', constraints.independent(constraints.real, 2) },
  { 'cov_diag', constraints.independent(constraints.positive, 1) },
}
local read_low_rank = declare.reader 'LowRankMultivariateNormal(Tensor loc, Tensor cov_factor, Tensor cov_diag, boolean? validate_args)'

function LowRank:init(...)
  local options = read_low_rank(...)
  local loc, W, D = options.loc, options.cov_factor, options.cov_diag
  if loc.ndim < 1 then fail 'loc must be at least one-dimensional.' end
  local n = loc:size(-1)
  if W.ndim < 2 then fail 'cov_factor must be at least two-dimensional, with optional leading batch dimensions' end
  if W:size(-2) ~= n then fail('cov_factor must be a batch of matrices with shape %d x m', n) end
  if D.ndim < 1 or D:size(-1) ~= n then
    fail('cov_diag must be a batch of vectors with shape %s', utils.size_text { n })
  end
  local ok, batch = pcall(utils.broadcast_shapes, utils.slice(loc.shape, 1, -2), utils.slice(W.shape, 1, -3),
    utils.slice(D.shape, 1, -2))
  if not ok then
    fail('Incompatible batch shapes: loc %s, cov_factor %s, cov_diag %s', tostring(loc.shape), tostring(W.shape), tostring(D.shape))
  end
  self.loc, self.cov_diag = loc:expand(utils.append(batch, { n })), D:expand(utils.append(batch, { n }))
  self.cov_factor = W:expand(utils.append(batch, { n, W:size(-1) }))
  -- The triangle of 1 + W^T D^-1 W, which is as large as the rank.
  self._capacitance = linalg.cholesky((W.mT / D:unsqueeze(-2)):matmul(W) + torch.eye(W:size(-1), like(W)))
  self:setup(batch, { n }, options.validate_args)
end
function LowRank:expand(...)
  local shape = utils.append(utils.dims_of(...), self.event_shape)
  return self:renewed {
    loc = self.loc:expand(shape), cov_diag = self.cov_diag:expand(shape),
    cov_factor = self.cov_factor:expand(utils.append(shape, { self.cov_factor:size(-1) })),
  }
end
function LowRank:rsample(...)
  local shape = self:extended_shape(...)
  local rank = utils.append(utils.slice(shape, 1, -2), { self.cov_factor:size(-1) })
  local of_factor = torch.empty(rank, like(self.loc)):normal_(0, 1)
  local of_diagonal = torch.empty(shape, like(self.loc)):normal_(0, 1)
  return self.loc + times_vector(self.cov_factor, of_factor) + self.cov_diag:sqrt() * of_diagonal
end

-- The logarithm of the covariance's determinant, and x^T covariance^-1 x.
function LowRank:log_determinant() return 2 * log_diagonal(self._capacitance) + self.cov_diag:log():sum(-1) end
function LowRank:distance(x)
  local scaled = times_vector(self.cov_factor.mT / self.cov_diag:unsqueeze(-2), x)
  return (x:square() / self.cov_diag):sum(-1) - mahalanobis(self._capacitance, scaled)
end
function LowRank:log_prob(value)
  self:check_value(value)
  local n = self.event_shape[1]
  return -0.5 * (n * math.log(2 * math.pi) + self:log_determinant() + self:distance(value - self.loc))
end
function LowRank:entropy()
  return (0.5 * (self.event_shape[1] * (1 + math.log(2 * math.pi)) + self:log_determinant())):expand(self.batch_shape)
end

-- ---- their divergences --------------------------------------------------------------------------

local function same_event(p, q, which)
  if not utils.same_dims(p.event_shape, q.event_shape) then
    fail('KL-divergence between two %s with different event shapes cannot be computed', which)
  end
end

-- The logarithm of p's determinant, and the factors of its covariance.
local function determinant_of(p)
  return LowRank:is_instance(p) and p:log_determinant() or 2 * log_diagonal(p._triangle)
end
local function factors_of(p)
  if LowRank:is_instance(p) then return { p.cov_factor, torch.diag_embed(p.cov_diag:sqrt()) } end
  return { p._triangle }
end

-- The trace of q^-1 p, and the distance of the means by q.
local function trace_and_distance(p, q)
  local d, trace = q.loc - p.loc, 0.0
  if not LowRank:is_instance(q) then
    for _, factor in ipairs(factors_of(p)) do trace = trace + squares(solve_lower(q._triangle, factor)) end
    return trace, mahalanobis(q._triangle, d)
  end
  local a = solve_lower(q._capacitance, q.cov_factor.mT / q.cov_diag:unsqueeze(-2))
  local root = q.cov_diag:rsqrt():unsqueeze(-1)
  for _, factor in ipairs(factors_of(p)) do trace = trace + squares(factor * root) - squares(a:matmul(factor)) end
  return trace, q:distance(d)
end

-- kl_divergence of two of these, for kl.lua.
function M.normal_divergence(p, q)
  local both = LowRank:is_instance(p) and LowRank:is_instance(q) and 'Low Rank Multivariate Normals'
    or (LowRank:is_instance(p) or LowRank:is_instance(q)) and '(Low Rank) Multivariate Normals' or 'Multivariate Normals'
  same_event(p, q, both)
  local trace, distance = trace_and_distance(p, q)
  return 0.5 * (determinant_of(q) - determinant_of(p) + trace + distance - p.event_shape[1])
end

-- ---- Wishart ------------------------------------------------------------------------------------

--- Wishart(df, covariance_matrix) or {precision_matrix =} or {scale_tril =}: the sum of df outer
--- products of normal vectors, generalized to fractional df. Drawn by Bartlett's decomposition.
local Wishart = Distribution.ExponentialFamily:derive('Wishart', {
  mean = function(self) return self.df:reshape(utils.append(self.batch_shape, { 1, 1 })) * self.covariance_matrix end,
  mode = function(self)
    local factor = self.df - self.event_shape[1] - 1
    factor = factor:masked_fill(factor:le(0), 0 / 0)
    return factor:reshape(utils.append(self.batch_shape, { 1, 1 })) * self.covariance_matrix
  end,
  variance = function(self)
    local V = self.covariance_matrix
    local diagonal = V:diagonal(0, -2, -1)
    local outer = diagonal:unsqueeze(-1) * diagonal:unsqueeze(-2)
    return self.df:reshape(utils.append(self.batch_shape, { 1, 1 })) * (V:square() + outer)
  end,
  support = function() return constraints.positive_definite end,
  natural_params = function(self)
    return { -self.precision_matrix / 2, (self.df - self.event_shape[1] - 1) / 2 }
  end,
}, matrices_by_name())
M.Wishart = Wishart
Wishart.has_rsample = true
local read_wishart = declare.reader [[
  Wishart(number|Tensor df, Tensor? covariance_matrix, Tensor? precision_matrix, Tensor? scale_tril, boolean? validate_args)]]

function Wishart:init(...)
  local options = read_wishart(...)
  local which = given_matrix(options)
  local matrix, df = options[which], options.df
  if matrix.ndim < 2 then fail 'scale_tril must be at least two-dimensional, with optional leading batch dimensions' end
  local batch, p = utils.slice(matrix.shape, 1, -3), matrix:size(-1)
  if type(df) == 'number' then
    df = torch.tensor(df, like(matrix))
  else
    kinds.check('Wishart', 'df', df, 'number|Tensor')
    batch = utils.broadcast_shapes(batch, df.shape)
  end
  self.df = df:expand(batch)
  if self.df:detach():le(p - 1):any():item() then
    fail('Value of df=%s expected to be greater than ndim - 1 = %d.', tostring(options.df), p - 1)
  end
  self._given = which
  self[which] = matrix:expand(utils.append(batch, { -1, -1 }))
  self.arg_constraints = {
    covariance_matrix = constraints.positive_definite, precision_matrix = constraints.positive_definite,
    scale_tril = constraints.lower_cholesky, df = constraints.greater_than(p - 1),
  }
  self.parameter_names = { 'covariance_matrix', 'precision_matrix', 'scale_tril', 'df' }
  self:setup(batch, { p, p }, options.validate_args)
  self._triangle = triangles[which](matrix)
end
function Wishart:matrix_shape() return self.event_shape end
function Wishart:expand(...)
  local batch = utils.dims_of(...)
  local which, matrix = own_matrix(self)
  return self:renewed { df = self.df:expand(batch), [which] = matrix:expand(utils.append(batch, self.event_shape)) }
end

-- A draw of L A A^T L^T: A has the roots of Chi2 numbers on its diagonal and normal numbers below.
local function bartlett(self, shape)
  local p = self.event_shape[1]
  local df = self.df:unsqueeze(-1) - torch.arange(0, p, like(self._triangle))
  local chi2 = torch.distributions.Chi2(df, { validate_args = false }):rsample(shape):sqrt()
  local noise = chi2:clamp { min = torch.finfo(chi2.dtype).eps }:diag_embed()
  local below = torch.randn(utils.append(shape, self.batch_shape, { p * (p - 1) // 2 }), like(noise))
  if p > 1 then noise = noise + utils.vec_to_tril_matrix(below, -1) end
  local factor = self._triangle:matmul(noise)
  return factor:matmul(factor.mT)
end

function Wishart:rsample(...)
  local shape = utils.dims_of(...)
  -- PyTorch wrongly treats the first draw as singular and draws again, so its numbers for a seed
  -- are the second draw.
  bartlett(self, shape)
  local drawn = bartlett(self, shape)
  for _ = 1, 10 do
    local singular = self.support:check(drawn:detach()):logical_not()
    if not singular:any():item() then break end
    drawn = torch.where(singular:unsqueeze(-1):unsqueeze(-1), bartlett(self, shape), drawn)
  end
  return drawn
end
function Wishart:log_prob(value)
  self:check_value(value)
  local nu, p = self.df, self.event_shape[1]
  local _, log_determinant = linalg.slogdet(value)
  local trace = (inverse_of(self._triangle) * value):sum(-1):sum(-1)
  return -nu * (p * math.log(2) / 2 + log_diagonal(self._triangle)) - utils.mvlgamma(nu / 2, p)
    + (nu - p - 1) / 2 * log_determinant - trace / 2
end
local function mvdigamma(x, p) return torch.digamma(x:unsqueeze(-1) - torch.arange(0, p, like(x)) / 2):sum(-1) end
function Wishart:entropy()
  local nu, p = self.df, self.event_shape[1]
  return (p + 1) * (p * math.log(2) / 2 + log_diagonal(self._triangle)) + utils.mvlgamma(nu / 2, p)
    - (nu - p - 1) / 2 * mvdigamma(nu / 2, p) + nu * p / 2
end
function Wishart:log_normalizer(x, y)
  local p = self.event_shape[1]
  local _, log_determinant = linalg.slogdet(-2 * x)
  local a = y + (p + 1) / 2
  return a * (p * math.log(2) - log_determinant) + utils.mvlgamma(a, p)
end

-- ---- LKJCholesky --------------------------------------------------------------------------------

--- LKJCholesky(dim, concentration = 1): the Cholesky factors of correlation matrices; concentration
--- 1 is uniform over all matrices, a larger one prefers matrices close to the identity
--- (Lewandowski, Kurowicka and Joe, 2009: the onion method).
local LKJCholesky = Distribution:derive('LKJCholesky', { support = function() return constraints.corr_cholesky end })
M.LKJCholesky = LKJCholesky
LKJCholesky:constrain { { 'concentration', constraints.positive } }
local read_lkj = declare.reader 'LKJCholesky(integer dim, number|Tensor concentration=1.0, boolean? validate_args)'

function LKJCholesky:init(...)
  local options = read_lkj(...)
  if options.dim < 2 then
    fail('Expected dim to be an integer greater than or equal to 2. Found dim=%d.', options.dim)
  end
  self.dim, self.concentration = options.dim, utils.broadcast_all(options.concentration)
  self:setup(self.concentration.shape, { self.dim, self.dim }, options.validate_args)
end
function LKJCholesky:expand(...)
  return self:renewed { dim = self.dim, concentration = self.concentration:expand(utils.dims_of(...)) }
end
function LKJCholesky:sample(...)
  local _ <close> = torch.no_grad()
  local n, a = self.dim, self.concentration
  -- The lengths of the rows below the diagonal (empty in the first row) are drawn from Betas.
  local offset = torch.cat({ torch.zeros(1, like(a)), torch.arange(0, n - 1, like(a)) }, 1)
  local beta = torch.distributions.Beta(offset + 0.5, (a + 0.5 * (n - 2)):unsqueeze(-1) - 0.5 * offset, { validate_args = false })
  local lengths = beta:sample(...):unsqueeze(-1)
  local normal = torch.randn(self:extended_shape(...), like(a)):tril(-1)
  local directions = normal / normal:square():sum(-1, true):sqrt()
  local rows = lengths:sqrt() * directions
  rows = rows:masked_fill(torch.arange(1, n + 1, { device = a.device }):eq(1):unsqueeze(-1), 0)
  local rest = (1 - rows:square():sum(-1)):clamp { min = torch.finfo(rows.dtype).tiny }
  return rows + rest:sqrt():diag_embed()
end
function LKJCholesky:log_prob(value)
  self:check_value(value)
  local n, a = self.dim, self.concentration
  local diagonal = value:diagonal(0, -2, -1):narrow(-1, 2, n - 1)
  local order = 2 * (a - 1):unsqueeze(-1) + n - torch.arange(2, n + 1, like(a))
  local alpha = a + 0.5 * (n - 1)
  local normalizer = 0.5 * (n - 1) * math.log(math.pi) + utils.mvlgamma(alpha - 0.5, n - 1) - torch.lgamma(alpha) * (n - 1)
  return (order * diagonal:log()):sum(-1) - normalizer
end

return M
