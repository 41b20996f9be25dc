-- vector.lua - transforms of vectors and matrices: Softmax, StickBreaking, LowerCholesky,
-- PositiveDefinite, CorrCholesky, and of parts of a tensor by others: Cat, Stack. Dims count from
-- 1.

--[=[ examples
SoftmaxTransform
    t = torch.distributions.SoftmaxTransform()
    t(torch.zeros(2))
    --> tensor([0.5000, 0.5000])
StickBreakingTransform
    t = torch.distributions.StickBreakingTransform()
    t(torch.zeros(2))
    --> tensor([0.3333, 0.3333, 0.3333])
LowerCholeskyTransform
    t = torch.distributions.LowerCholeskyTransform()
    t(torch.zeros(2, 2))
    --> tensor([[1., 0.],
    -->         [0., 1.]])
PositiveDefiniteTransform
    t = torch.distributions.PositiveDefiniteTransform()
    t(torch.zeros(2, 2))
    --> tensor([[1., 0.],
    -->         [0., 1.]])
CorrCholeskyTransform
    t = torch.distributions.CorrCholeskyTransform()
    t(torch.zeros(3)).shape
    --> torch.Size([3, 3])
CatTransform
    T = torch.distributions
    T.CatTransform({T.ExpTransform(), T.AffineTransform(0.0, 2.0)})(torch.zeros(2))
    --> tensor([1., 0.])
StackTransform
    T = torch.distributions
    T.StackTransform({T.ExpTransform(), T.AffineTransform(0.0, 2.0)})(torch.zeros(2))
    --> tensor([1., 0.])
]=]

local torch = require 'torch'
local constraints = require 'torch.distributions.constraints'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local utils = require 'torch.distributions.utils'
local Transform = require 'torch.distributions.transforms.transform'.Transform

local M = {}

local function derive(name, domain, codomain, bijective)
  local made = Transform:derive(name)
  made:alike()
  made.domain, made.codomain, made.bijective = domain, codomain, bijective or false
  M[name] = made
  return made
end

local function at_least(shape, n)
  if #shape < n then fail 'Too few dimensions on input' end
  return shape
end

-- Pads the last dim of x with one entry at the front or end.
local function pad_front(x, value) return torch.nn.functional.pad(x, { 1, 0 }, { value = value }) end
local function pad_end(x, value) return torch.nn.functional.pad(x, { 0, 1 }, { value = value }) end
local function but_last(x) return x:narrow(-1, 1, x:size(-1) - 1) end

-- ---- to the simplex -----------------------------------------------------------------------------

--- y = exp(x) / sum(exp(x)); not bijective: its inverse is log.
local SoftmaxTransform = derive('SoftmaxTransform', constraints.real_vector, constraints.simplex)
function SoftmaxTransform:_call(x)
  local p = (x - x:amax(-1, true)):exp()
  return p / p:sum(-1, true)
end
function SoftmaxTransform:_inverse(y) return y:log() end
function SoftmaxTransform:forward_shape(shape) return at_least(shape, 1) end
SoftmaxTransform.inverse_shape = SoftmaxTransform.forward_shape

--- From n - 1 real numbers to n that sum to 1: each is a fraction of the rest that the previous
--- ones leave.
local StickBreakingTransform = derive('StickBreakingTransform', constraints.real_vector, constraints.simplex, true)

-- The logarithms of n, n - 1, ..., 1, which make x = 0 the middle of the simplex.
local function log_counts(x, n) return torch.arange(n, 0, -1, utils.like(x)):log() end

function StickBreakingTransform:_call(x)
  local limits = torch.finfo(x.dtype)
  local z = torch.sigmoid(x - log_counts(x, x:size(-1))):clamp { min = limits.tiny, max = 1 - limits.eps }
  return pad_end(z, 1) * pad_front((1 - z):cumprod(-1), 1)
end
function StickBreakingTransform:_inverse(y)
  local cut = but_last(y)
  local rest = (1 - cut:cumsum(-1)):clamp { min = torch.finfo(y.dtype).tiny }
  return cut:log() - rest:log() + log_counts(y, cut:size(-1))
end
function StickBreakingTransform:log_abs_det_jacobian(x, y)
  x = x - log_counts(x, x:size(-1))
  return (-x + torch.nn.functional.logsigmoid(x) + but_last(y):log()):sum(-1)
end
function StickBreakingTransform:forward_shape(shape)
  shape = utils.slice(at_least(shape, 1), 1)
  shape[#shape] = shape[#shape] + 1
  return shape
end
function StickBreakingTransform:inverse_shape(shape)
  shape = utils.slice(at_least(shape, 1), 1)
  shape[#shape] = shape[#shape] - 1
  return shape
end

-- ---- to triangles -------------------------------------------------------------------------------

local matrices = constraints.independent(constraints.real, 2)

local function with_diagonal(x, map) return x:tril(-1) + map(x:diagonal(0, -2, -1)):diag_embed() end
local function cholesky_of(x) return with_diagonal(x, torch.exp) end
local function free_of(y) return with_diagonal(y, torch.log) end

--- Lower triangles with exp of the diagonal.
local LowerCholeskyTransform = derive('LowerCholeskyTransform', matrices, constraints.lower_cholesky)
function LowerCholeskyTransform:_call(x) return cholesky_of(x) end
function LowerCholeskyTransform:_inverse(y) return free_of(y) end

--- x to L L^T, with the lower triangle L of the previous transform.
local PositiveDefiniteTransform = derive('PositiveDefiniteTransform', matrices, constraints.positive_definite)
function PositiveDefiniteTransform:_call(x)
  local factor = cholesky_of(x)
  return factor:matmul(factor.mT)
end
function PositiveDefiniteTransform:_inverse(y) return free_of(torch.linalg.cholesky(y)) end

--- From n (n - 1) / 2 real numbers to the Cholesky factor of an n by n correlation matrix: their
--- tanh are the partial correlations, and the rows have length 1.
local CorrCholeskyTransform = derive('CorrCholeskyTransform', constraints.real_vector, constraints.corr_cholesky, true)
CorrCholeskyTransform.equal = nil

function CorrCholeskyTransform:_call(x)
  local eps = torch.finfo(x.dtype).eps
  local r = utils.vec_to_tril_matrix(x:tanh():clamp { min = -1 + eps, max = 1 - eps }, -1)
  local rest = (1 - r:square()):sqrt():cumprod(-1)
  r = r + torch.eye(r:size(-1), utils.like(r))
  return r * pad_front(but_last(rest), 1)
end

function CorrCholeskyTransform:_inverse(y)
  local rest = pad_front(but_last(1 - (y * y):cumsum(-1)), 1)
  local t = utils.tril_matrix_to_vec(y, -1) / utils.tril_matrix_to_vec(rest, -1):sqrt()
  return (t:log1p() - (-t):log1p()) / 2
end

function CorrCholeskyTransform:log_abs_det_jacobian(x, y)
  local rest = utils.tril_matrix_to_vec(1 - (y * y):cumsum(-1), -2)
  local of_tanh = (x + torch.nn.functional.softplus(-2 * x) - math.log(2)):sum(-1) * -2
  return rest:log():sum(-1) * 0.5 + of_tanh
end

function CorrCholeskyTransform:forward_shape(shape)
  local n = at_least(shape, 1)[#shape]
  local rows = math.floor((0.25 + 2 * n) ^ 0.5 + 1.0)
  if rows * (rows - 1) // 2 ~= n then fail 'Input is not a flattened lower-diagonal number' end
  return utils.append(utils.slice(shape, 1, #shape - 1), { rows, rows })
end
function CorrCholeskyTransform:inverse_shape(shape)
  at_least(shape, 2)
  local rows = shape[#shape]
  if shape[#shape - 1] ~= rows then fail 'Input is not square' end
  return utils.append(utils.slice(shape, 1, #shape - 2), { rows * (rows - 1) // 2 })
end

-- ---- parts --------------------------------------------------------------------------------------

-- A field of every part, in a list.
local function gathered(self, name)
  local list = {}
  for i, part in ipairs(self.transforms) do list[i] = part[name] end
  return list
end

local function all_bijective(self)
  for _, part in ipairs(self.transforms) do
    if not part.bijective then return false end
  end
  return true
end

local function check_dim(self, x, wanted)
  local dim = self.dim
  if dim == 0 or dim < -x.ndim or dim > x.ndim then
    fail('dim %d out of range for tensor with %d dimensions', dim, x.ndim)
  end
  if x:size(dim) ~= wanted then fail('x.size(%d) = %d must equal length %d', dim, x:size(dim), wanted) end
end

-- Calls call(part, piece, second piece) for each part; returns the results.
local function each(self, pieces, call, more)
  local list = {}
  for i, part in ipairs(self.transforms) do list[i] = call(part, pieces[i], more and more[i]) end
  return list
end

local function forward(part, x) return part(x) end
local function backward(part, y) return part.inv(y) end

--- CatTransform({a, b}, dim = 1, lengths): a of the first lengths[1] entries of a dim, b of the
--- next, ...
local CatTransform = Transform:derive('CatTransform', {
  event_dim = function(self)
    local most = 0
    for _, part in ipairs(self.transforms) do most = math.max(most, part.event_dim) end
    return most
  end,
  length = function(self)
    local sum = 0
    for _, n in ipairs(self.lengths) do sum = sum + n end
    return sum
  end,
  bijective = all_bijective,
  domain = function(self) return constraints.cat(gathered(self, 'domain'), self.dim, self.lengths) end,
  codomain = function(self) return constraints.cat(gathered(self, 'codomain'), self.dim, self.lengths) end,
})
M.CatTransform = CatTransform

function CatTransform:init(tseq, dim, lengths, cache_size)
  local list = Transform.check_list('CatTransform', tseq)
  if lengths and #lengths ~= #list then fail('lengths (%d) must match transforms (%d)', #lengths, #list) end
  self:set_cache(cache_size)
  self.transforms, self.dim, self.lengths = Transform.cached_list(list, self.cache_size), dim, {}
  for i = 1, #list do self.lengths[i] = lengths and lengths[i] or 1 end
end
declare.methods(CatTransform, 'init(self, any tseq, integer dim=1, integers? lengths, integer cache_size=0)')
function CatTransform:arguments() return self.transforms, self.dim, self.lengths end

local function split(self, x)
  check_dim(self, x, self.length)
  return torch.split(x, self.lengths, self.dim)
end
function CatTransform:_call(x) return torch.cat(each(self, split(self, x), forward), self.dim) end
function CatTransform:_inverse(y) return torch.cat(each(self, split(self, y), backward), self.dim) end
function CatTransform:log_abs_det_jacobian(x, y)
  local event_dim = self.event_dim
  local terms = each(self, split(self, x), function(part, a, b)
    return utils.sum_rightmost(part:log_abs_det_jacobian(a, b), event_dim - part.event_dim)
  end, split(self, y))
  local dim = (self.dim > 0 and self.dim - x.ndim - 1 or self.dim) + event_dim
  if dim < 0 then return torch.cat(terms, dim) end
  local total = terms[1]
  for i = 2, #terms do total = total + terms[i] end
  return total
end

--- StackTransform({a, b}, dim = 1): a transform for each entry of a dim.
local StackTransform = Transform:derive('StackTransform', {
  bijective = all_bijective,
  domain = function(self) return constraints.stack(gathered(self, 'domain'), self.dim) end,
  codomain = function(self) return constraints.stack(gathered(self, 'codomain'), self.dim) end,
})
M.StackTransform = StackTransform

function StackTransform:init(tseq, dim, cache_size)
  local list = Transform.check_list('StackTransform', tseq)
  self:set_cache(cache_size)
  self.transforms, self.dim = Transform.cached_list(list, self.cache_size), dim
end
declare.methods(StackTransform, 'init(self, any tseq, integer dim=1, integer cache_size=0)')
function StackTransform:arguments() return self.transforms, self.dim end

local function unstack(self, x)
  check_dim(self, x, #self.transforms)
  return torch.unbind(x, self.dim)
end
function StackTransform:_call(x) return torch.stack(each(self, unstack(self, x), forward), self.dim) end
function StackTransform:_inverse(y) return torch.stack(each(self, unstack(self, y), backward), self.dim) end
function StackTransform:log_abs_det_jacobian(x, y)
  return torch.stack(each(self, unstack(self, x), function(part, a, b) return part:log_abs_det_jacobian(a, b) end, unstack(self, y)),
    self.dim)
end

return M
