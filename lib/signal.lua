-- signal.lua - torch.signal.windows: window functions, also under torch's own names
-- (torch.hann_window).

--[=[ arguments
M: Number of elements of the window.
sym: Whether the window is symmetric; otherwise it is one period of a periodic function.
center: Center of the window, for windows that are not symmetric; the middle if absent.
tau: Decay length of the window.
std: Standard deviation of the window.
a: List of the coefficients.
alpha: Constant term of the window.
beta: Shape of the window: the larger it is, the narrower.
blackman(): A sum of cosines with the coefficients 0.42, 0.5 and 0.08.
hamming(): A raised cosine, 0.54 - 0.46 cos(x), which does not reach 0 at its ends.
hann(): A raised cosine, (1 - cos(x)) / 2, which is 0 at its ends.
nuttall(): A sum of four cosines with low side lobes.
]=]

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local windows = {}

-- Reads the named arguments of every window; sym is true by default.
local function read(what, M, options, own)
  local dtype = options.dtype or torch.get_default_dtype()
  if M < 0 then fail('%s requires non-negative window length, got M=%d', what, M) end
  if dtype ~= torch.float32 and dtype ~= torch.float64 then
    fail('%s expects float32 or float64 dtypes, got: %s', what, tostring(dtype))
  end
  return options, { dtype = dtype, device = options.device }, options.sym ~= false
end

-- A window of M values f(k, n): k is the tensor of indices from 0, n the length of a period.
local function make(M, how, sym, requires_grad, f)
  if M == 0 then return torch.empty(0, how) end
  if M == 1 then return torch.ones(1, how) end
  local w = f(torch.arange(0, M, { dtype = how.dtype, device = how.device }), sym and M - 1 or M)
  return requires_grad and w:requires_grad_() or w
end

-- A sum of cosines with coefficients a: a[1] - a[2] cos(x) + a[3] cos(2 x) - ...
local function cosines(what, M, options, own, a)
  local read_options, how, sym = read(what, M, options, own)
  return make(M, how, sym, read_options.requires_grad, function(k, n)
    local w = a[1]
    for i = 2, #a do w = w + (i % 2 == 0 and -a[i] or a[i]) * torch.cos(k * (2 * math.pi * (i - 1) / n)) end
    return w
  end)
end

--- Bartlett's window: a triangle, 0 at both ends.
function windows.bartlett(M, options)
  local given, how, sym = read('bartlett', M, options)
  return make(M, how, sym, given.requires_grad, function(k, n) return 1 - (k * (2 / n) - 1):abs() end)
end

--- A sum of cosines with the coefficients in a list a.
function windows.general_cosine(M, options)
  local a = (options or {}).a
  kinds.check('general_cosine', 'a', a, 'times')
  if #a == 0 then fail 'Coefficients cannot be empty' end
  return cosines('general_cosine', M, options, 'a', a)
end

--- alpha - (1 - alpha) cos(x); alpha = 0.54.
function windows.general_hamming(M, options)
  local alpha = (options or {}).alpha or 0.54
  return cosines('general_hamming', M, options, 'alpha', { alpha, 1 - alpha })
end

function windows.hamming(M, options) return cosines('hamming', M, options, nil, { 0.54, 0.46 }) end
function windows.hann(M, options) return cosines('hann', M, options, nil, { 0.5, 0.5 }) end
function windows.blackman(M, options) return cosines('blackman', M, options, nil, { 0.42, 0.5, 0.08 }) end
function windows.nuttall(M, options) return cosines('nuttall', M, options, nil, { 0.3635819, 0.4891775, 0.1365995, 0.0106411 }) end

--- Half a period of a sine.
function windows.cosine(M, options)
  local given, how, sym = read('cosine', M, options)
  return make(M, how, sym, given.requires_grad, function(k, n) return torch.sin((k + 0.5) * (math.pi / (n + 1))) end)
end

--- exp(-|k - center| / tau); center (default: the middle) is accepted only if sym is false.
function windows.exponential(M, options)
  local given, how, sym = read('exponential', M, options, 'center tau')
  local tau = given.tau or 1.0
  if tau <= 0 then fail('Tau must be positive, got: %s instead.', tostring(tau)) end
  if sym and given.center then fail 'Center must be None for symmetric windows' end
  return make(M, how, sym, given.requires_grad, function(k, n) return torch.exp((k - (given.center or n / 2)):abs() * (-1 / tau)) end)
end

--- A bell of standard deviation std.
function windows.gaussian(M, options)
  local given, how, sym = read('gaussian', M, options, 'std')
  local std = given.std or 1.0
  if std <= 0 then fail('Standard deviation must be positive, got: %s instead.', tostring(std)) end
  return make(M, how, sym, given.requires_grad, function(k, n) return torch.exp(-((k - n / 2) * (1 / (std * math.sqrt(2)))):square()) end)
end

--- Kaiser's window with parameter beta, by the Bessel function I0.
function windows.kaiser(M, options)
  local given, how, sym = read('kaiser', M, options, 'beta')
  local beta = given.beta or 12.0
  if beta < 0 then fail('beta must be non-negative, got: %s instead.', tostring(beta)) end
  return make(M, how, sym, given.requires_grad, function(k, n)
    return torch.i0((1 - (k * (2 / n) - 1):square()):clamp { min = 0 }:sqrt() * beta) / torch.i0(torch.tensor(beta, how))
  end)
end

require('torch.support.arguments').functions(windows, [[
  bartlett(integer M, *, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  general_cosine(integer M, *, any a, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  general_hamming(integer M, *, number alpha=0.54, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  hamming(integer M, *, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  hann(integer M, *, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  blackman(integer M, *, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  nuttall(integer M, *, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  cosine(integer M, *, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  exponential(integer M, *, number? center, number tau=1.0, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  gaussian(integer M, *, number std=1.0, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
  kaiser(integer M, *, number beta=12.0, boolean sym=true, dtype? dtype, device? device, boolean requires_grad=false)
]], 'options')

return { windows = windows }
