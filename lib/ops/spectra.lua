-- spectra.lua - short-time Fourier transforms of the windows of a signal, and their inverse.

local torch = require 'torch'
local fail = require 'torch.support.fail'

-- The window, by default ones, padded with zeros on both sides to n_fft.
local function full_window(what, x, n_fft, length, window)
  if window and (window.ndim ~= 1 or window:size(1) ~= length) then
    fail('%s(): expected a 1D window tensor of size equal to win_length=%d, but got window with size %s', what, length, tostring(window.shape))
  end
  local plain = { dtype = x.dtype.is_complex and torch.real(x).dtype or x.dtype, device = x.device }
  window = window or torch.ones(length, plain)
  if length == n_fft then return window end
  local left = (n_fft - length) // 2
  return torch.nn.functional.pad(window, { left, n_fft - length - left })
end

local function stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)
  local hop, length = hop_length or n_fft // 4, win_length or n_fft
  local is_complex = self.dtype.is_complex or window ~= nil and window.dtype.is_complex
  if return_complex == nil then
    if not is_complex then fail('stft requires the return_complex parameter be given for real inputs; pass {return_complex = true}') end
    return_complex = true
  end
  if self.ndim ~= 1 and self.ndim ~= 2 then fail('stft: expected a 1D or 2D tensor, but got a %dD tensor', self.ndim) end
  local x = self.ndim == 1 and self:unsqueeze(1) or self
  if center then
    local pad = n_fft // 2
    x = torch.nn.functional.pad(x:unsqueeze(1), { pad, pad }, { mode = pad_mode }):squeeze(1)
  end
  local n = x:size(2)
  if n_fft <= 0 or n_fft > n then fail('stft: expected 0 < n_fft < %d, but got n_fft=%d', n, n_fft) end
  if hop <= 0 then fail('stft: expected hop_length > 0, but got hop_length=%d', hop) end
  if length <= 0 or length > n_fft then fail('stft: expected 0 < win_length <= n_fft, but got win_length=%d', length) end
  window = full_window('stft', x, n_fft, length, window)
  if onesided == nil then onesided = not is_complex end
  if onesided and is_complex then fail('Cannot have onesided output if window or input is complex') end
  local windows = x:unfold(2, n_fft, hop) * window
  local options = { dim = -1, norm = normalized and 'ortho' or nil }
  local result = (onesided and torch.fft.rfft or torch.fft.fft)(windows, options):transpose(2, 3)
  if self.ndim == 1 then result = result:squeeze(1) end
  return return_complex and result or torch.view_as_real(result)
end

local function istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
  local hop, width = hop_length or n_fft // 4, win_length or n_fft
  if not self.dtype.is_complex then
    fail('istft requires a complex-valued input tensor matching the output from stft with {return_complex = true}.')
  end
  if self.ndim ~= 2 and self.ndim ~= 3 then fail('istft: expected a tensor with 2 or 3 dimensions, but got %d', self.ndim) end
  local x = (self.ndim == 2 and self:unsqueeze(1) or self):transpose(2, 3)
  if onesided == nil then onesided = x:size(3) ~= n_fft end
  local expected = onesided and n_fft // 2 + 1 or n_fft
  if x:size(3) ~= expected then
    fail('istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when onesided = true, but got %d', x:size(3))
  end
  if hop <= 0 or hop > width then fail('istft: expected 0 < hop_length <= win_length') end
  if width <= 0 or width > n_fft then fail('istft: expected 0 < win_length <= n_fft') end
  if return_complex and onesided then fail('Cannot have onesided output if window or input is complex') end
  window = full_window('istft', torch.real(x), n_fft, width, window)
  local options = { dim = -1, n = n_fft, norm = normalized and 'ortho' or nil }
  local parts
  if return_complex then
    parts = torch.fft.ifft(x, options)
  else -- of a real signal: the other half is redundant
    parts = torch.fft.irfft(onesided and x or x:narrow(3, 1, n_fft // 2 + 1), options)
  end
  local frames = parts:size(2)
  local total = n_fft + hop * (frames - 1)
  -- Overlap-add of the windows, and of the squares of the window function.
  local places = (torch.arange(frames, { device = x.device }) * hop):unsqueeze(2) + torch.arange(1, n_fft + 1, { device = x.device })
  places = places:reshape(-1)
  local zeros = torch.zeros(parts:size(1), total, { dtype = parts.dtype, device = x.device })
  local y = zeros:index_add(2, places, (parts * window):reshape(parts:size(1), -1))
  local envelope = torch.zeros(total, { dtype = window.dtype, device = x.device }):index_add(1, places, (window * window):expand(frames, n_fft):reshape(-1))
  local first = center and n_fft // 2 or 0
  local last = length and first + length or center and total - n_fft // 2 or total
  local stop = math.min(last, total)
  y, envelope = y:narrow(2, first + 1, stop - first), envelope:narrow(1, first + 1, stop - first)
  if envelope:detach():abs():min():item() <= 1e-11 then
    fail('istft: window overlap add min: 1: the windows do not cover every sample; use a smaller hop_length')
  end
  y = y / envelope
  if last > total then y = torch.nn.functional.pad(y, { 0, last - total }) end
  return self.ndim == 2 and y:squeeze(1) or y
end

return {
  { 'stft(Tensor self, int n_fft, int? hop_length=nil, int? win_length=nil, Tensor? window=nil, bool center=true, string pad_mode=\'reflect\', ' ..
    'bool normalized=false, bool? onesided=nil, bool? return_complex=nil) -> Tensor', variants = 'function method', run = stft,
    doc = 'Transforms of windows of a signal, hop_length (n_fft / 4) apart: [..., frequencies, frames]. return_complex must be true for real signals.' },
  { 'istft(Tensor self, int n_fft, int? hop_length=nil, int? win_length=nil, Tensor? window=nil, bool center=true, ' ..
    'bool normalized=false, bool? onesided=nil, int? length=nil, bool return_complex=false) -> Tensor', variants = 'function method', run = istft,
    doc = 'The signal with the given transforms: the inverse of stft.' },

  arguments = [=[
n_fft: Number of elements of each transform.
hop_length: Distance of neighbouring windows in elements; n_fft / 4 if absent.
win_length: Number of elements of the window; n_fft if absent.
window: Window by which the elements are multiplied; ones if absent.
stft.center: Whether the signal is padded so that each window is centered at its position.
istft.center: Whether the signal was padded so that each window was centered at its position.
pad_mode: Values of this padding, as in `torch.nn.functional.pad`.
normalized: Whether the transforms are divided by sqrt(n_fft).
onesided: Whether only the frequencies up to the half are stored; true for real signals if absent.
istft.length: Number of elements of the signal; the whole signal if absent.
stft.return_complex: Whether the result is complex; it must be true for real signals.
istft.return_complex: Whether the signal is complex.
]=],

  examples = [=[
stft
    torch.ones(8):stft(4, {hop_length = 4, window = torch.ones(4), return_complex = true})
    --> tensor([[4.+0.j, 4.+0.j, 4.+0.j],
    -->         [0.+0.j, 0.+0.j, 0.+0.j],
    -->         [0.+0.j, 0.+0.j, 0.+0.j]])
istft
    x = torch.arange(8):float()
    spectrum = x:stft(4, {window = torch.ones(4), return_complex = true})
    torch.allclose(spectrum:istft(4, {window = torch.ones(4)}), x, {atol = 1e-5})
    --> true
]=],
}
