-- windows.lua - window functions under torch's own names, periodic by default (torch.signal.windows
-- has more).

local torch = require 'torch'

local function windows() return torch.signal.windows end

local function options(periodic, dtype, device, requires_grad, own)
  local all = { sym = not periodic, dtype = dtype, device = device, requires_grad = requires_grad or nil }
  for name, value in pairs(own or {}) do all[name] = value end
  return all
end

local common = '*, Dtype? dtype=nil, Device? device=nil, bool requires_grad=false) -> Tensor'
local head = '_window(int window_length, bool periodic=true, '

local function plain(name, doc)
  return { name .. head .. common, variants = 'function', doc = doc, run = function(n, periodic, dtype, device, requires_grad)
    return windows()[name](n, options(periodic, dtype, device, requires_grad))
  end }
end

return {
  plain('bartlett', 'A triangle that begins and ends at 0.'),
  plain('blackman', "Blackman's window of three cosines."),
  plain('hann', 'Half of 1 - cos(x).'),
  { 'hamming' .. head .. 'float alpha=0.54, float beta=0.46, ' .. common, variants = 'function', doc = 'alpha - beta cos(x).',
    run = function(n, periodic, alpha, beta, dtype, device, requires_grad)
      return windows().general_cosine(n, options(periodic, dtype, device, requires_grad, { a = { alpha, beta } }))
    end },
  { 'kaiser' .. head .. 'float beta=12.0, ' .. common, variants = 'function', doc = "Kaiser's window of shape beta.",
    run = function(n, periodic, beta, dtype, device, requires_grad)
      return windows().kaiser(n, options(periodic, dtype, device, requires_grad, { beta = beta }))
    end },

  arguments = [=[
window_length: Number of elements of the window.
periodic: Whether the window is one period of a periodic function; otherwise it is symmetric.
alpha: Constant term of the window.
hamming_window.beta: Factor of the cosine.
kaiser_window.beta: Shape of the window: the larger it is, the narrower.
]=],

  examples = [=[
bartlett_window
    torch.bartlett_window(4)
    --> tensor([0.0000, 0.5000, 1.0000, 0.5000])
blackman_window
    torch.blackman_window(4)['2:4']
    --> tensor([0.3400, 1.0000, 0.3400])
hann_window
    torch.hann_window(4)
    --> tensor([0.0000, 0.5000, 1.0000, 0.5000])
hamming_window
    torch.hamming_window(4)
    --> tensor([0.0800, 0.5400, 1.0000, 0.5400])
kaiser_window
    torch.kaiser_window(4)
    --> tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01])
]=],
}
