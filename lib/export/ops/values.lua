-- values.lua - operators that make, copy, convert and combine values.

local torch = require 'torch'
local common = require 'torch.export.ops.common'

local dim_of = common.dim_of
local named = {}

-- ---- copies and types ---------------------------------------------------------------------------

local function copied(a) return a.self:clone() end
named.lift_fresh_copy, named.clone, named._lazy_clone = copied, copied, copied
function named.copy(a) return a.src:to(a.self.dtype):expand(a.self.shape):clone() end
function named.to(a)
  local dtype = a.dtype or a.other and a.other.dtype
  return dtype and a.self:to(dtype) or a.self:view(a.self.shape)
end
function named._to_copy(a) return a.dtype and a.self:to(a.dtype) or a.self:clone() end
function named._autocast_to_reduced_precision(a)
  return a.self.dtype == torch.float32 and (a.cpu_enabled and a.self:to(a.cpu_dtype)) or a.self
end
function named._autocast_to_full_precision(a)
  local is_half = a.self.dtype == torch.float16 or a.self.dtype == torch.bfloat16
  return is_half and a.cpu_enabled and a.self:to(torch.float32) or a.self
end

-- ---- new tensors --------------------------------------------------------------------------------

function named.arange(a) return torch.arange(a.start or 0, a['end'], a.step or 1, { dtype = a.dtype }) end
local function number(x) return torch.is_tensor(x) and x:item() or x end
function named.linspace(a) return torch.linspace(number(a.start), number(a['end']), a.steps, { dtype = a.dtype }) end
function named.logspace(a) return torch.logspace(number(a.start), number(a['end']), a.steps, { base = a.base or 10, dtype = a.dtype }) end
function named.scalar_tensor(a) return torch.tensor(a.s, { dtype = a.dtype }) end
function named.empty(a) return torch.zeros(a.size, { dtype = a.dtype }) end
function named.empty_strided(a)
  local last = 1
  for i, size in ipairs(a.size) do last = last + math.max(size - 1, 0) * a.stride[i] end
  return torch.zeros({ last }, { dtype = a.dtype }):as_strided(a.size, a.stride)
end
named.empty_permuted = function(a)
  local size, order = {}, {}
  for i, dim in ipairs(a.physical_layout) do size[i], order[dim + 1] = a.size[dim + 1], i end
  return torch.zeros(size, { dtype = a.dtype }):permute(order)
end
local function new_zeros(a)
  return torch.zeros(a.size or a.self.shape, { dtype = a.dtype or a.self.dtype, device = a.self.device })
end
named.new_empty, named.new_empty_strided, named.empty_like = new_zeros, new_zeros, new_zeros
function named.randperm(a) return (torch.randperm(a.n) - 1):to(a.dtype or torch.int64) end
function named.normal_functional(a) return a.self:clone():normal_(a.mean or 0, a.std or 1) end

-- ---- sums and products --------------------------------------------------------------------------

function named.einsum(a) return torch.einsum(a.equation, table.unpack(a.tensors)) end
function named.cdist(a) return torch.cdist(a.x1, a.x2, a.p or 2) end
named._cdist_forward, named._euclidean_dist = named.cdist, named.cdist
function named._pdist_forward(a) return torch.pdist(a.self, a.p or 2) end
function named._trilinear(a)
  local function widened(x, dims)
    for _, dim in ipairs(dims) do x = x:unsqueeze(dim + 1) end
    return x
  end
  local product = widened(a.i1, a.expand1) * widened(a.i2, a.expand2) * widened(a.i3, a.expand3)
  local dims = {}
  for i, dim in ipairs(a.sumdim) do dims[i] = dim + 1 end
  return #dims > 0 and product:sum(dims) or product
end
function named._addmm_activation(a)
  local y = torch.addmm(a.self, a.mat1, a.mat2, { beta = a.beta or 1, alpha = a.alpha or 1 })
  return a.use_gelu and torch.nn.functional.gelu(y) or torch.relu(y)
end
function named._int_mm(a) return torch.matmul(a.self:to(torch.int32), a.mat2:to(torch.int32)) end

-- ---- unique elements ----------------------------------------------------------------------------

local function unique(a, dim)
  local y, inverse, counts = torch.unique(a.self, true, true, true, dim)
  return y, inverse - 1, counts
end
function named._unique2(a) return unique(a) end
named._unique = named._unique2
function named.unique_dim(a) return unique(a, dim_of(a.self, a.dim)) end

-- ---- Fourier transforms -------------------------------------------------------------------------

-- Without a factor, divided by the root of the number of elements, or by the number.
local forward, inverse = { [0] = 'backward', 'ortho', 'forward' }, { [0] = 'forward', 'ortho', 'backward' }

function named._fft_r2c(a)
  local transform = a.onesided and torch.fft.rfftn or torch.fft.fftn
  return transform(a.self, { dim = common.dims_of(a.self, a.dim), norm = forward[a.normalization] })
end
function named._fft_c2c(a)
  local dims = common.dims_of(a.self, a.dim)
  if a.forward then return torch.fft.fftn(a.self, { dim = dims, norm = forward[a.normalization] }) end
  return torch.fft.ifftn(a.self, { dim = dims, norm = inverse[a.normalization] })
end
function named._fft_c2r(a)
  local dims, sizes = common.dims_of(a.self, a.dim), {}
  for i, dim in ipairs(dims) do sizes[i] = i == #dims and a.last_dim_size or a.self:size(dim) end
  return torch.fft.irfftn(a.self, { s = sizes, dim = dims, norm = inverse[a.normalization] })
end

-- torch.stft of PyTorch pads before it calls the operator, which does not.
function named.stft(a)
  return torch.stft(a.self, a.n_fft, { hop_length = a.hop_length, win_length = a.win_length, window = a.window, center = a.center or false, pad_mode = a.pad_mode,
    normalized = a.normalized or false, onesided = a.onesided, return_complex = a.return_complex })
end

-- ---- linear algebra -----------------------------------------------------------------------------

local L = torch.linalg
function named.linalg_cholesky(a) return L.cholesky(a.self, { upper = a.upper or false }) end
function named.linalg_det(a) return L.det(a.A) end
function named.linalg_slogdet(a)
  local sign, value = torch.slogdet(a.A)
  return sign, value
end
function named.linalg_inv(a) return L.inv(a.A) end
function named.linalg_matmul(a) return torch.matmul(a.self, a.other) end
function named.linalg_matrix_power(a) return L.matrix_power(a.self, a.n) end
named._linalg_det, named._linalg_slogdet, named._linalg_eigvals = named.linalg_det, named.linalg_slogdet, function(a) return L.eigvals(a.self) end
function named._linalg_solve_ex(a) return L.solve(a.A, a.B, { left = a.left ~= false }) end
function named._linalg_svd(a)
  if a.compute_uv == false then return nil, L.svdvals(a.A), nil end
  return L.svd(a.A, a.full_matrices or false)
end
function named._linalg_eigh(a)
  if a.compute_v == false then return L.eigvalsh(a.A, a.UPLO or 'L') end
  return L.eigh(a.A, a.UPLO or 'L')
end

return { named = named }
