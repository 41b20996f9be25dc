-- fft.lua - Fourier transforms over dimensions, on which torch.fft (lib/fft.lua) is based. normalization: 0
-- none, 1 divides by the square root of the number of elements, 2 by the number.

return {
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
}
