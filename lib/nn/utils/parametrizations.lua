-- parametrizations.lua - torch.nn.utils.parametrizations: weight_norm (T. Salimans, D. Kingma 2016)
-- and spectral_norm (T. Miyato et al. 2018), orthogonal (M. Lezcano-Casado 2019). Dimensions count
-- from 1.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local Module = require 'torch.nn.module'
local parametrize = require 'torch.nn.utils.parametrize'

local parametrizations = {}

-- The norm over all dimensions except dim, which is kept; of the whole tensor if dim is false (in
-- PyTorch also -1).
local function norm_except(weight, dim)
  if not dim or dim == -1 then return weight:norm() end
  if math.type(dim) ~= 'integer' or dim < 1 or dim > weight.ndim then
    fail('weight_norm: dim (%s) is none of the %d dimensions of the weight', tostring(dim), weight.ndim)
  end
  local shape = {}
  for i = 1, weight.ndim do shape[i] = i == dim and weight:size(i) or 1 end
  return weight:transpose(1, dim):reshape(weight:size(dim), -1):square():sum(2):sqrt():reshape(shape)
end
parametrizations._norm_except = norm_except

local WeightNorm = Module:extend('_WeightNorm')
function WeightNorm:init(dim) self.dim = dim end
function WeightNorm:forward(magnitude, direction) return direction * (magnitude / norm_except(direction, self.dim)) end
function WeightNorm:right_inverse(weight) return norm_except(weight, self.dim), weight end

-- Separates the norm of each entry of dimension dim from its direction; dim = false: the norm of
-- the whole tensor.
function parametrizations.weight_norm(module, name, dim)
  parametrize.register_parametrization(module, name, WeightNorm(dim))
  -- A state of torch.nn.utils.weight_norm is read too.
  module:register_load_state_dict_pre_hook(function(_, dict, prefix)
    local g, v = prefix .. name .. '_g', prefix .. name .. '_v'
    if dict[g] == nil or dict[v] == nil then return end
    for i, old in ipairs { g, v } do
      parametrizations._rename(dict, old, ('%sparametrizations.%s.original%d'):format(prefix, name, i - 1), dict[old])
    end
  end)
  return module
end

--- Renames a value in a state_dict that is being loaded.
function parametrizations._rename(dict, old, new, value)
  dict[old] = nil
  dict[new] = value
end

-- ---- spectral norm ------------------------------------------------------------------------------

local SpectralNorm = Module:extend('_SpectralNorm')

local function unit(x, eps) return x / x:norm():clamp_min(eps) end
parametrizations._unit = unit

-- The weight as a matrix with a row for each entry of dimension dim.
local function matrix_of(weight, dim) return weight:movedim(dim, 1):reshape(weight:size(dim), -1) end
parametrizations._matrix_of = matrix_of

--- The dimension of a module's weight that counts its outputs.
function parametrizations._output_dim(module) return torch.type(module):match 'ConvTranspose' and 2 or 1 end

function SpectralNorm:matrix(weight) return matrix_of(weight, self.dim) end

function SpectralNorm:iterate(matrix, n)
  torch.no_grad(function()
    for _ = 1, n do
      self._u:copy_(unit(matrix:mv(self._v), self.eps))
      self._v:copy_(unit(matrix:t():mv(self._u), self.eps))
    end
  end)
end

function SpectralNorm:init(weight, n_power_iterations, dim, eps)
  self.dim, self.eps, self.n_power_iterations = dim, eps, n_power_iterations
  if self.n_power_iterations <= 0 then
    fail('Expected n_power_iterations to be positive, but got n_power_iterations=%d', self.n_power_iterations)
  end
  if self.dim < 0 then self.dim = weight.ndim + 1 + self.dim end
  if weight.ndim < 2 then return end
  torch.no_grad(function()
    local matrix = self:matrix(weight)
    local like = { dtype = weight.dtype, device = weight.device }
    self:register_buffer('_u', unit(torch.empty(matrix:size(1), like):normal_(0, 1), self.eps))
    self:register_buffer('_v', unit(torch.empty(matrix:size(2), like):normal_(0, 1), self.eps))
    self:iterate(matrix, 15)
  end)
end

function SpectralNorm:forward(weight)
  if weight.ndim == 1 then return unit(weight, self.eps) end
  local matrix = self:matrix(weight)
  if self.training then self:iterate(matrix, self.n_power_iterations) end
  local u, v = self._u:clone(), self._v:clone()
  return weight / torch.dot(u, matrix:mv(v))
end

-- Any weight is accepted unchanged.
function SpectralNorm:right_inverse(value) return value end

-- spectral_norm(module, name = 'weight', {n_power_iterations = 1, eps = 1e-12, dim =}): divides the
-- weight by an estimate of its largest singular value, which every call in training improves. dim
-- is 2 for transposed convolutions, otherwise 1.
function parametrizations.spectral_norm(module, name, n_power_iterations, eps, dim)
  local weight = module[name]
  if not torch.is_tensor(weight) then
    fail("Module '%s' has no parameter or buffer with name '%s'", torch.type(module), name)
  end
  local norm = SpectralNorm(weight, n_power_iterations, dim or parametrizations._output_dim(module), eps)
  return parametrize.register_parametrization(module, name, norm)
end

-- ---- orthogonal ---------------------------------------------------------------------------------

local Orthogonal = Module:extend('_Orthogonal')

local maps = { matrix_exp = true, cayley = true, householder = true }

-- An orthogonal matrix with first columns that span the columns of a: by QR, with a positive
-- diagonal of R.
local function make_orthogonal(a)
  local q, r = torch.linalg.qr(a)
  local sign = r:diagonal(0, -2, -1):sign()
  return q * torch.where(sign:eq(0), 1.0, sign):unsqueeze(-2)
end

local function is_orthogonal(q)
  local eye = torch.eye(q:size(-1), { dtype = q.dtype, device = q.device })
  return (q.mT:matmul(q) - eye):abs():amax():item() <= 10 * q:size(-2) * torch.finfo(q.dtype).eps
end

function Orthogonal:init(weight, map)
  self.shape, self.map = weight.shape, map
  self:register_buffer('base', nil)
end

-- The orthogonal matrix of the reflections with vectors below a's diagonal, times the signs on the
-- diagonal.
local function reflections(x, n, k)
  local a = x:tril(-1)
  local tau = 2 / (1 + (a * a):sum(-2))
  local eye = torch.eye(n, k, { dtype = x.dtype, device = x.device })
  local q = eye:expand(table.unpack(x.shape))
  for i = k, 1, -1 do
    local v = a:narrow(-1, i, 1) + torch.eye(n, { dtype = x.dtype, device = x.device }):narrow(-1, i, 1)
    q = q - tau:narrow(-1, i, 1):unsqueeze(-1) * v:matmul(v.mT:matmul(q))
  end
  return q * x:diagonal(0, -2, -1):detach():trunc():unsqueeze(-2)
end

function Orthogonal:forward(x)
  local n, k = x:size(-2), x:size(-1)
  local transposed = n < k
  if transposed then x, n, k = x.mT, k, n end
  local q
  if self.map == 'householder' then
    q = reflections(x, n, k)
  else
    x = x:tril()
    if n ~= k then
      local batch = { table.unpack(x.shape, 1, x.ndim - 2) }
      batch[#batch + 1], batch[#batch + 2] = n, n - k
      x = torch.cat({ x, x:new_zeros(batch) }, -1)
    end
    local a = x - x.mT
    if self.map == 'matrix_exp' then
      q = torch.matrix_exp(a)
    else
      local eye = torch.eye(n, { dtype = a.dtype, device = a.device })
      q = torch.linalg.solve(eye - 0.5 * a, eye + 0.5 * a)
    end
    if n ~= k then q = q:narrow(-1, 1, k) end
  end
  if self.base ~= nil then q = self.base:matmul(q) end
  return transposed and q.mT or q
end

function Orthogonal:right_inverse(weight)
  if weight.shape ~= self.shape then
    fail('Expected a matrix or batch of matrices of shape %s. Got a tensor of shape %s.', tostring(self.shape), tostring(weight.shape))
  end
  local q, n, k = weight, weight:size(-2), weight:size(-1)
  if n < k then q, n, k = q.mT, k, n end
  if n ~= k then
    local batch = { table.unpack(q.shape, 1, q.ndim - 2) }
    batch[#batch + 1], batch[#batch + 2] = n, n - k
    q = make_orthogonal(torch.cat({ q, torch.randn(batch, { dtype = q.dtype, device = q.device }) }, -1))
  elseif is_orthogonal(q) then
    q = q:clone()
  else
    q = make_orthogonal(q)
  end
  self.base = q:detach()
  return -torch.eye(weight:size(-2), weight:size(-1), { dtype = q.dtype, device = q.device }):expand(table.unpack(weight.shape)):clone()
end

-- orthogonal(module, name = 'weight', {orthogonal_map =}): keeps the weight's rows (or columns, if
-- there are fewer) orthonormal. orthogonal_map: 'matrix_exp' (for square ones), 'cayley' or
-- 'householder' (for others).
function parametrizations.orthogonal(module, name, orthogonal_map, use_trivialization)
  local weight = module[name]
  if not torch.is_tensor(weight) then fail("Module '%s' has no parameter or buffer with name '%s'", torch.type(module), name) end
  if weight.ndim < 2 then
    fail('Expected a matrix or batch of matrices. Got a tensor of %d dimensions.', weight.ndim)
  end
  local map = orthogonal_map or (weight:size(-2) == weight:size(-1) and 'matrix_exp' or 'householder')
  if not maps[map] then
    fail('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: %s', tostring(map))
  end
  if not use_trivialization then fail 'orthogonal(): use_trivialization = false is not supported' end
  return parametrize.register_parametrization(module, name, Orthogonal(weight, map))
end

return declare.functions(parametrizations, [[
  weight_norm(Module module, string name='weight', integer|boolean dim=1)
  spectral_norm(Module module, string name='weight', integer n_power_iterations=1, number eps=1e-12, integer? dim)
  orthogonal(Module module, string name='weight', string? orthogonal_map, *, boolean use_trivialization=true)
]])
