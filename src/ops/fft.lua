-- fft.lua - torch.fft, stft and windows: Fourier transforms, composed of three over given dimensions. normalization: 0
-- none, 1 divides by the square root of the number of elements, 2 by the number.

-- norm, of all: 'backward' (the default: the inverse transform divides by the number of elements),
-- 'ortho' (both divide by its square root), 'forward' (the forward transform divides by the number).
local function line(name, doc)
  return { 'fft_' .. name .. '(Tensor input, int? n=nil, Dim dim=-1, string? norm=nil) -> Tensor',
    variants = 'function copied_out', composite = true, doc = doc }
end
local function shape(name, doc)
  return { 'fft_' .. name .. '(Tensor input, Size? s=nil, Dims? dim=nil, string? norm=nil) -> Tensor',
    variants = 'function copied_out', composite = true, doc = doc }
end

local function window(name, own, doc)
  return { name .. '_window(int window_length, bool periodic=true, ' .. own .. '*, Dtype? dtype=nil, Device? device=nil) -> Tensor',
    variants = 'function', factory = true, doc = doc }
end

return {
  line('fft', 'The transform of complex or real numbers: the sum of x[j] exp(-2 pi i j k / n).'),
  line('ifft', 'The inverse of fft.'),
  line('rfft', 'The first n // 2 + 1 results of the transform of real numbers; the others are their complex conjugates.'),
  line('irfft', 'The inverse of rfft: n real numbers, by default 2 (size - 1).'),
  line('hfft', 'The frequencies of a Hermitian-symmetric signal, of which input is one half: n real numbers.'),
  line('ihfft', 'The inverse of hfft.'),
  shape('fft2', 'The transform over two dimensions, by default the last two.'),
  shape('ifft2', 'The inverse of fft2.'),
  shape('rfft2', 'fft2 of real numbers: the last dimension has the frequencies from 0 to the half.'),
  shape('irfft2', 'The inverse of rfft2.'),
  shape('hfft2', 'The real transform, over two dimensions, of a signal that is Hermitian in the last one.'),
  shape('ihfft2', 'The inverse of hfft2.'),
  shape('fftn', 'The transform over the dimensions dim; without dim over the last dimensions, one for each size in s; without s over all.'),
  shape('ifftn', 'The inverse of fftn.'),
  shape('rfftn', 'fftn of real numbers: the last dimension has the frequencies from 0 to the half.'),
  shape('irfftn', 'The inverse of rfftn.'),
  shape('hfftn', 'The real transform, over several dimensions, of a signal that is Hermitian in the last one.'),
  shape('ihfftn', 'The inverse of hfftn.'),
  { 'fft_fftfreq(int n, float d=1.0, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function copied_out', factory = true, composite = true,
    doc = 'The n frequencies of the result of fft: {0, 1, ..., then the negative ones} / (n d).' },
  { 'fft_rfftfreq(int n, float d=1.0, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function copied_out', factory = true, composite = true,
    doc = 'The n // 2 + 1 frequencies of the result of rfft: {0, 1, ...} / (n d).' },
  { 'fft_fftshift(Tensor input, Dims? dim=nil) -> Tensor', variants = 'function', composite = true, doc = 'The results of fft with frequency 0 in the middle.' },
  { 'fft_ifftshift(Tensor input, Dims? dim=nil) -> Tensor', variants = 'function', composite = true, doc = 'The inverse of fftshift.' },

  -- ---- three transforms ----------------------------------------------------------------------------------------
  { '_fft_c2c(Tensor self, Dims dim, int normalization, bool forward) -> Tensor', variants = 'library', grad_fn = 'FftC2CBackward0',
    doc = 'The transform of complex numbers over the dimensions.', forward = 'linear', grad = { self = '_fft_c2c_backward(grad, dim, normalization, forward)' } },
  { '_fft_c2c_backward(Tensor grad_output, Dims dim, int normalization, bool forward) -> Tensor', variants = '', composite = true,
    doc = 'The transform the other way.' },
  { '_fft_r2c(Tensor self, Dims dim, int normalization, bool onesided) -> Tensor', variants = 'library', grad_fn = 'FftR2CBackward0',
    doc = 'The transform of real numbers over the dimensions; onesided: of the last one the first half.',
    forward = 'linear', grad = { self = '_fft_r2c_backward(grad, sizes_of(self), dim, normalization, onesided)' } },
  { '_fft_r2c_backward(Tensor grad_output, Size sizes, Dims dim, int normalization, bool onesided) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _fft_r2c: the real part of the inverse transform of grad_output.' },
  { '_fft_c2r(Tensor self, Dims dim, int normalization, int last_dim_size) -> Tensor', variants = 'library', grad_fn = 'FftC2RBackward0',
    doc = 'The inverse transform of half of a symmetric one, which is real and has last_dim_size elements in the last dimension.',
    forward = 'linear', grad = { self = '_fft_c2r_backward(grad, dim, normalization)' } },
  { '_fft_c2r_backward(Tensor grad_output, Dims dim, int normalization) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _fft_c2r: the transform of grad_output, with elements doubled that represent two elements.' },

  -- ---- short-time transforms and windows ----------------------------------------------------------------------
  { "stft(Tensor self, int n_fft, int? hop_length=nil, int? win_length=nil, Tensor? window=nil, bool center=true, string pad_mode='reflect', bool normalized=false, bool? onesided=nil, bool? return_complex=nil) -> Tensor",
    batch = 'through', composite = true,
    doc = 'Transforms of windows of a signal, hop_length (n_fft / 4) apart: [..., frequencies, frames]. return_complex must be true for real signals.' },
  { 'istft(Tensor self, int n_fft, int? hop_length=nil, int? win_length=nil, Tensor? window=nil, bool center=true, bool normalized=false, bool? onesided=nil, int? length=nil, bool return_complex=false) -> Tensor',
    batch = 'through', composite = true, doc = 'The signal with the given transforms: the inverse of stft.' },
  window('bartlett', '', 'A triangle that begins and ends at 0.'),
  window('blackman', '', "Blackman's window of three cosines."),
  window('hann', '', 'Half of 1 - cos(x).'),
  window('hamming', 'float alpha=0.54, float beta=0.46, ', 'alpha - beta cos(x).'),
  window('kaiser', 'float beta=12.0, ', "Kaiser's window of shape beta."),

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
window_length: Number of elements of the window.
periodic: Whether the window is one period of a periodic function; otherwise it is symmetric.
alpha: Constant term of the window.
hamming_window.beta: Factor of the cosine.
kaiser_window.beta: Shape of the window: the larger it is, the narrower.
n: Number of elements of the transform: a shorter input is padded with zeros, a longer one is cut; that of the input if absent.
fft_irfft.n: Number of elements of the result; 2 (m - 1) for m elements of the input if absent.
fft_hfft.n: Number of elements of the result; 2 (m - 1) for m elements of the input if absent.
s: Number of elements along each dimension, -1 for the input's; the input's sizes if absent.
dim: Dimension, or dimensions, of the transform: positions from 1, or negative ones from the end.
norm: Normalization: `'backward'` divides the inverse transform by the number of elements, `'ortho'` both by its root, `'forward'` the forward one.
d: Distance of neighbouring samples.
]=],
  examples = [=[
fft_fft
    torch.fft.fft(torch.tensor{1.0, 2.0, 3.0, 4.0})
    --> tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
fft_ifft
    torch.fft.ifft(torch.fft.fft(torch.tensor{1.0, 2.0}))
    --> tensor([1.+0.j, 2.+0.j])
fft_rfft
    torch.fft.rfft(torch.tensor{1.0, 2.0, 3.0, 4.0})
    --> tensor([10.+0.j, -2.+2.j, -2.+0.j])
fft_irfft
    torch.fft.irfft(torch.fft.rfft(torch.tensor{1.0, 2.0, 3.0, 4.0}))
    --> tensor([1., 2., 3., 4.])
fft_hfft
    torch.fft.hfft(torch.tensor{1.0, 2.0, 1.0})
    --> tensor([ 6.,  0., -2.,  0.])
fft_ihfft
    torch.fft.ihfft(torch.tensor{1.0, 2.0, 3.0, 4.0})
    --> tensor([ 2.5000-0.0000j, -0.5000-0.5000j, -0.5000-0.0000j])
fft_fft2
    torch.fft.fft2(torch.ones(2, 2))
    --> tensor([[4.+0.j, 0.+0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_ifft2
    torch.fft.ifft2(torch.ones(2, 2))
    --> tensor([[1.+0.j, 0.+0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_rfft2
    torch.fft.rfft2(torch.ones(2, 2))
    --> tensor([[4.+0.j, 0.+0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_irfft2
    torch.fft.irfft2(torch.fft.rfft2(torch.ones(2, 2)))
    --> tensor([[1., 1.],
    -->         [1., 1.]])
fft_hfft2
    torch.fft.hfft2(torch.ones(2, 2))
    --> tensor([[4., 0.],
    -->         [0., 0.]])
fft_ihfft2
    torch.fft.ihfft2(torch.ones(2, 2))
    --> tensor([[1.-0.j, 0.-0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_fftn
    torch.fft.fftn(torch.ones(2, 2), {dim = 1})
    --> tensor([[2.+0.j, 2.+0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_ifftn
    torch.fft.ifftn(torch.ones(2, 2))
    --> tensor([[1.+0.j, 0.+0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_rfftn
    torch.fft.rfftn(torch.ones(2, 2), {norm = 'ortho'})
    --> tensor([[2.+0.j, 0.+0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_irfftn
    torch.fft.irfftn(torch.ones(2, 2))
    --> tensor([[1., 0.],
    -->         [0., 0.]])
fft_hfftn
    torch.fft.hfftn(torch.ones(2, 2))
    --> tensor([[4., 0.],
    -->         [0., 0.]])
fft_ihfftn
    torch.fft.ihfftn(torch.ones(2, 2))
    --> tensor([[1.-0.j, 0.-0.j],
    -->         [0.+0.j, 0.+0.j]])
fft_fftfreq
    torch.fft.fftfreq(4)
    --> tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
fft_rfftfreq
    torch.fft.rfftfreq(4)
    --> tensor([0.0000, 0.2500, 0.5000])
fft_fftshift
    torch.fft.fftshift(torch.fft.fftfreq(4))
    --> tensor([-0.5000, -0.2500,  0.0000,  0.2500])
fft_ifftshift
    torch.fft.ifftshift(torch.tensor{-2, -1, 0, 1})
    --> tensor([ 0,  1, -2, -1])
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
