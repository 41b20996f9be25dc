-- fft.lua - torch.fft: Fourier transforms along dimensions. Arguments after the tensor are
-- positional or named in a last table: torch.fft.fft(x, 8), torch.fft.fft(x, {n = 8, dim = 1, norm
-- = 'ortho'}). Dimensions count from 1, negative ones from the end.
--
-- out: a tensor that receives the result (not for shifts). norm: 'backward' (the default: the
-- inverse transform divides by the number of elements), 'ortho' (both divide by its square root),
-- 'forward' (the forward transform divides by the number).

--[=[ arguments
n: Number of elements of the transform: a shorter input is padded with zeros, a longer one is cut; that of the input if absent.
irfft.n: Number of elements of the result; 2 (m - 1) for m elements of the input if absent.
hfft.n: Number of elements of the result; 2 (m - 1) for m elements of the input if absent.
fftfreq.n: Number of elements of the transform.
rfftfreq.n: Number of elements of the transform.
s: Number of elements along each dimension; the input's sizes if absent.
dim: Dimension, or dimensions, of the transform: positions from 1, or negative ones from the end.
norm: Normalization: `'backward'` divides the inverse transform by the number of elements, `'ortho'` both by its root, `'forward'` the forward one.
d: Distance of neighbouring samples.
fft2(): The Fourier transform along two dimensions.
fftn(): The Fourier transform along several dimensions.
ifft2(): The inverse of `fft2`.
ifftn(): The inverse of `fftn`.
rfft2(): `fft2` of real numbers: the last dimension has the frequencies from 0 to the half.
rfftn(): `fftn` of real numbers: the last dimension has the frequencies from 0 to the half.
irfft2(): The inverse of `rfft2`.
irfftn(): The inverse of `rfftn`.
hfft2(): The real Fourier transform, along two dimensions, of a signal that is Hermitian in the last one.
hfftn(): The real Fourier transform, along several dimensions, of a signal that is Hermitian in the last one.
ihfft2(): The inverse of `hfft2`.
ihfftn(): The inverse of `hfftn`.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local dimensions = require 'torch.support.dimensions'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local outs = require 'torch.support.outs'

local C = torch._C
local fft = {}

-- ---- arguments ----------------------------------------------------------------------------------

-- 0: none, 1: divide by the square root of the number of elements, 2: by the number.
local function normalization(norm, forward)
  if norm == nil or norm == 'backward' then return forward and 0 or 2 end
  if norm == 'ortho' then return 1 end
  if norm == 'forward' then return forward and 2 or 0 end
  fail('Invalid normalization mode: "%s"', tostring(norm))
end

local function promoted(x, complex)
  local dtype = x.dtype
  if not dtype.is_floating_point and not dtype.is_complex then
    x = x:to(torch.get_default_dtype())
  elseif dtype == torch.float16 or dtype == torch.bfloat16 or dtype == torch.complex32 then
    fail('Unsupported dtype %s', x:type():match '%.(%a+)Tensor$' or tostring(dtype))
  end
  if complex and not x.dtype.is_complex then x = x:to(x.dtype == torch.float64 and torch.complex128 or torch.complex64) end
  return x
end

local function wrapped(x, dim)
  if math.type(dim) ~= 'integer' then fail("argument 'dim' must be int, not %s", kinds.described(dim)) end
  return dimensions.wrap(dim, x.ndim)
end

-- x with n elements along d: truncated, or padded with zeros.
local function resized(x, d, n)
  local size = x:size(d)
  if n == size then return x end
  if n < size then return x:narrow(d, 1, n) end
  local shape = table.move(x.shape, 1, x.ndim, 1, {})
  shape[d] = n - size
  return torch.cat({ x, torch.zeros(shape, { dtype = x.dtype, device = x.device }) }, d)
end

local function check_points(n)
  if n < 1 then fail('Invalid number of data points (%d) specified', n) end
  return n
end

-- The dimensions (from 1) and the requested sizes.
local function shape_of(x, s, dim, last_is_half)
  local dims, sizes, seen = {}, {}, {}
  if type(s) == 'number' then s = { s } end
  if type(dim) == 'number' then dim = { dim } end
  if dim then
    if s and #s ~= #dim then fail('When given, dim and shape arguments must have the same length') end
    for i, d in ipairs(dim) do dims[i] = wrapped(x, d) end
  else
    local n = s and #s or x.ndim
    if n > x.ndim then fail('Got shape with %d values but input tensor only has %d dimensions.', n, x.ndim) end
    for i = 1, n do dims[i] = x.ndim - n + i end
  end
  for i, d in ipairs(dims) do
    if seen[d] then fail('FFT dims must be unique') end
    seen[d] = true
    local size = s and s[i] or -1
    if size == -1 then size = x:size(d) end
    sizes[i] = i == #dims and last_is_half and (s == nil or s[i] == -1) and 2 * (x:size(d) - 1) or size
    check_points(sizes[i])
  end
  return dims, sizes
end

local function all_resized(x, dims, sizes)
  for i, d in ipairs(dims) do x = resized(x, d, sizes[i]) end
  return x
end

-- ---- one dimension ------------------------------------------------------------------------------

local function complex_line(_, x, forward, n, dim, norm)
  x = promoted(x)
  local d, code = wrapped(x, dim), normalization(norm, forward)
  x = resized(x, d, check_points(n or x:size(d)))
  if x.dtype.is_complex then return C._fft_c2c(x, { d }, code, forward) end
  local result = C._fft_r2c(x, { d }, code, false)
  return forward and result or result:conj()
end

local function to_half(what, x, forward, n, dim, norm)
  if x.dtype.is_complex then fail('%s expects a real input tensor, but got %s', what, x:type():match '%.?(%a+)Tensor$') end
  x = promoted(x)
  local d = wrapped(x, dim)
  x = resized(x, d, check_points(n or x:size(d)))
  local result = C._fft_r2c(x, { d }, normalization(norm, forward), true)
  return forward and result or result:conj()
end

local function from_half(_, x, forward, n, dim, norm)
  x = promoted(x, true)
  local d = wrapped(x, dim)
  n = check_points(n or 2 * (x:size(d) - 1))
  x = resized(x, d, n // 2 + 1)
  return C._fft_c2r(forward and x:conj() or x, { d }, normalization(norm, forward), n)
end

--- The transform of complex or real numbers: sum of x[j] exp(-2 pi i j k / n).
function fft.fft(x, n, dim, norm) return complex_line('fft', x, true, n, dim, norm) end
--- Its inverse.
function fft.ifft(x, n, dim, norm) return complex_line('ifft', x, false, n, dim, norm) end
--- The first n // 2 + 1 results of the transform of real numbers; the others are their complex
--- conjugates.
function fft.rfft(x, n, dim, norm) return to_half('rfft', x, true, n, dim, norm) end
--- The inverse of rfft: n real numbers, by default 2 (size - 1).
function fft.irfft(x, n, dim, norm) return from_half('irfft', x, false, n, dim, norm) end
--- The frequencies of rfft.
function fft.hfft(x, n, dim, norm) return from_half('hfft', x, true, n, dim, norm) end
--- The inverse of hfft.
function fft.ihfft(x, n, dim, norm) return to_half('ihfft', x, false, n, dim, norm) end

for _, name in ipairs { 'fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft' } do
  fft[name] = outs.declare(name .. '(Tensor input, integer? n, integer dim=-1, string? norm, *, Tensor? out)', fft[name])
end

-- ---- several dimensions -------------------------------------------------------------------------

local function complex_shape(_, x, forward, s, dim, norm)
  x = promoted(x, true)
  local dims, sizes = shape_of(x, s, dim)
  return C._fft_c2c(all_resized(x, dims, sizes), dims, normalization(norm, forward), forward)
end

local function real_shape(what, x, forward, s, dim, norm)
  if x.dtype.is_complex then fail('%s expects a real-valued input tensor, but got %s', what, x:type():match '%.?(%a+)Tensor$') end
  x = promoted(x)
  local dims, sizes = shape_of(x, s, dim)
  if #dims == 0 then fail('%s must transform at least one axis', what) end
  x = all_resized(x, dims, sizes)
  local code = normalization(norm, forward)
  if forward then return C._fft_r2c(x, dims, code, true) end
  local half = C._fft_r2c(x, { dims[#dims] }, code, true):conj()
  if #dims == 1 then return half end
  return C._fft_c2c(half, table.move(dims, 1, #dims - 1, 1, {}), code, false)
end

local function half_shape(what, x, forward, s, dim, norm)
  x = promoted(x, true)
  local dims, sizes = shape_of(x, s, dim, true)
  if #dims == 0 then fail('%s must transform at least one axis', what) end
  local last, n = dims[#dims], sizes[#sizes]
  sizes[#sizes] = n // 2 + 1
  x = all_resized(x, dims, sizes)
  local code = normalization(norm, forward)
  if not forward then return C._fft_c2r(x, dims, code, n) end
  if #dims > 1 then x = C._fft_c2c(x, table.move(dims, 1, #dims - 1, 1, {}), code, true) end
  return C._fft_c2r(x:conj(), { last }, code, n)
end

local kinds_of = {
  fftn = { complex_shape, true, 'The transform over the dimensions dim; without dim over the last dimensions, one for each size in s; without s over all. s: sizes to cut or pad to.' },
  ifftn = { complex_shape, false, 'The inverse of fftn.' },
  rfftn = { real_shape, true, 'The transform of real numbers over dimensions, half of it along the last.' },
  irfftn = { half_shape, false, 'The inverse of rfftn.' },
  hfftn = { half_shape, true, 'The real transform of a Hermitian-symmetric input, stored as one half along the last dimension.' },
  ihfftn = { real_shape, false, 'The inverse of hfftn.' },
}
for name, kind in pairs(kinds_of) do
  local run, forward = kind[1], kind[2]
  -- Over the last two dimensions by default, and over all.
  for own, dims in pairs { [name:gsub('n$', '2')] = 'dim={-2, -1}', [name] = '' } do
    local dim = dims == '' and 'sizes? dim' or 'sizes ' .. dims
    fft[own] = outs.declare(('%s(Tensor input, sizes? s, %s, string? norm, *, Tensor? out)'):format(own, dim), function(x, ...)
      return run(own, x, forward, ...)
    end)
  end
end

-- ---- frequencies --------------------------------------------------------------------------------

local function frequencies(n, d, options, numbers)
  local out = options.out
  if out then options.dtype, options.device = options.dtype or out.dtype, options.device or out.device end
  local result = numbers(n, { dtype = options.dtype or torch.get_default_dtype(), device = options.device }) * (1 / (n * d))
  if out then return outs.store('fftfreq', out, result) end
  return options.requires_grad and result:requires_grad_() or result
end

--- The n frequencies of the result of fft for a sample spacing d: {0, 1, ..., then the negative
--- ones} / (n d).
function fft.fftfreq(n, d, options)
  return frequencies(n, d, options, function(count, how)
    return torch.cat { torch.arange(0, (count + 1) // 2, how), torch.arange(-(count // 2), 0, how) }
  end)
end

--- The n // 2 + 1 frequencies of the result of rfft.
function fft.rfftfreq(n, d, options)
  return frequencies(n, d, options, function(count, how) return torch.arange(0, count // 2 + 1, how) end)
end

declare.functions(fft, [[
  fftfreq(integer n, number d=1.0, *, Tensor? out, dtype? dtype, device? device, boolean requires_grad=false)
  rfftfreq(integer n, number d=1.0, *, Tensor? out, dtype? dtype, device? device, boolean requires_grad=false)
]], 'options')

local function shifted(x, dim, share)
  local dims, shifts = {}, {}
  if type(dim) == 'number' then dim = { dim } end
  for i = 1, dim and #dim or x.ndim do
    dims[i] = dim and wrapped(x, dim[i]) or i
    shifts[i] = share(x:size(dims[i]))
  end
  return #dims > 0 and x:roll(shifts, dims) or x:clone()
end

--- The results with frequency 0 in the middle.
function fft.fftshift(x, dim) return shifted(x, dim, function(n) return n // 2 end) end
--- The inverse of fftshift.
function fft.ifftshift(x, dim) return shifted(x, dim, function(n) return (n + 1) // 2 end) end

declare.functions(fft, 'fftshift(Tensor input, sizes? dim) ifftshift(Tensor input, sizes? dim)')

return fft
