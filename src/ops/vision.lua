-- vision.lua - images and channels: shuffles, resizing, sampling at grid coordinates, which are values between
-- -1 and 1, not positions.

return {
  { 'pixel_shuffle(Tensor self, int upscale_factor) -> Tensor', batch = 'front', variants = 'function',
    doc = 'Channels in groups of upscale_factor^2 become blocks of pixels.', forward = 'linear', grad = { self = 'pixel_unshuffle(grad, upscale_factor)' } },
  { 'pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor', batch = 'front', variants = 'function',
    doc = 'Blocks of pixels become channels: the inverse of pixel_shuffle.', forward = 'linear', grad = { self = 'pixel_shuffle(grad, downscale_factor)' } },
  { 'channel_shuffle(Tensor self, int groups) -> Tensor', variants = 'function', composite = true, grad_fn = 'ChannelShuffleBackward0',
    doc = 'The channels in an order that deals them out from the groups in turn.' },
  { '_resample(Tensor self, Dim dim, Tensor starts, Tensor sources, Tensor weights, Tensor back_starts, Tensor back_sources, Tensor back_weights) -> Tensor',
    batch = 'resampled', variants = 'library', forward = 'linear',
    grad = { self = '_resample(grad, dim, back_starts, back_sources, back_weights, starts, sources, weights)' },
    doc = 'Position o of dim adds up weights[k] times position sources[k] of self, k from starts[o] to before starts[o + 1], all from 0; back_...: the same for the derivative.' },
  { '_resample_planes(Tensor self, Tensor starts, Tensor sources, Tensor weights, Tensor back_starts, Tensor back_sources, Tensor back_weights, Tensor column_starts, Tensor column_sources, Tensor column_weights, Tensor column_back_starts, Tensor column_back_sources, Tensor column_back_weights) -> Tensor',
    batch = 'front', variants = 'library', forward = 'linear',
    grad = { self = '_resample_planes(grad, back_starts, back_sources, back_weights, starts, sources, weights, column_back_starts, column_back_sources, column_back_weights, column_starts, column_sources, column_weights)' },
    doc = '_resample of the last dimension, by the lists named column_..., and then of the one before it, by the others.' },
  { '_grid_sample(Tensor input, Tensor grid, int mode, int padding, bool align_corners) -> Tensor', batch = 'joined', variants = 'library',
    doc = 'grid_sample: mode 0 is bilinear, 1 nearest, 2 bicubic; padding 0 zeros, 1 border, 2 reflection.',
    grad = { ['input grid'] = '_grid_sample_backward(grad, input, grid, mode, padding, align_corners, needs_input, needs_grid)' } },
  { '_grid_sample_backward(Tensor grad_output, Tensor input, Tensor grid, int mode, int padding, bool align_corners, bool needs_input, bool needs_grid) -> (Tensor grad_input, Tensor grad_grid)',
    batch = 'joined', variants = '', composite = true, reads = true, doc = 'The derivatives of _grid_sample.' },
  { "interpolate(Tensor input, Size? size=nil, float? scale_factor=nil, string mode='nearest', bool? align_corners=nil, bool? recompute_scale_factor=nil, bool antialias=false) -> Tensor",
    variants = 'nn', aliases = 'upsample', batch = 'through', composite = true,
    doc = 'Resizes images or other data, of shape (N, C, ...), to a size or by a factor: float tensors, and uint8 images.' },
  { "interpolate.factors(Tensor input, Size? size=nil, Tensor? scale_factor=nil, string mode='nearest', bool? align_corners=nil, bool? recompute_scale_factor=nil, bool antialias=false) -> Tensor",
    variants = 'nn', batch = 'through', composite = true, reads = true,
    doc = 'The same by a factor for each dimension: a tensor of numbers on the host.' },
  { 'upsample_nearest(Tensor input, Size? size=nil, float? scale_factor=nil) -> Tensor', variants = 'nn', batch = 'through', composite = true,
    doc = "`interpolate` with the mode `'nearest'`." },
  { 'upsample_bilinear(Tensor input, Size? size=nil, float? scale_factor=nil) -> Tensor', variants = 'nn', batch = 'through', composite = true,
    doc = "`interpolate` with the mode `'bilinear'` and `align_corners`." },
  { "grid_sample(Tensor input, Tensor grid, string mode='bilinear', string padding_mode='zeros', bool? align_corners=nil) -> Tensor",
    variants = 'nn', batch = 'through', composite = true, doc = 'Samples input [n, channels, ...] at the coordinates in grid [n, ..., 2 or 3]. Half types are computed in float32.' },
  { 'affine_grid(Tensor theta, Size size, bool? align_corners=nil) -> Tensor', variants = 'nn', batch = 'through', composite = true,
    doc = 'The coordinates in the source, for grid_sample, of each pixel of an image or volume of `size` under affine matrices.' },
  { 'bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=nil) -> Tensor', variants = 'function', composite = true,
    doc = 'input1 weight[o] input2, for every output o, plus bias.' },

  arguments = [=[
size: Size of the output: a number, or one for each spatial dimension.
interpolate.mode: Interpolation: `'nearest'`, `'nearest-exact'`, `'linear'`, `'bilinear'`, `'bicubic'`, `'trilinear'`, `'lanczos'` or `'area'`.
grid: Points at which the input is read, of shape (N, H, W, 2) or (N, D, H, W, 3), with coordinates x, y, z from -1 to 1.
grid_sample.mode: Interpolation: `'bilinear'`, `'nearest'` or `'bicubic'`.
padding_mode: Values outside of the input: `'zeros'`, `'border'` or `'reflection'`.
theta: Affine matrices, of shape (N, 2, 3) for images or (N, 3, 4) for volumes.
affine_grid.size: Size of the output, {N, C, H, W} or {N, C, D, H, W}.
bilinear.weight: Weights, of shape (out_features, in1_features, in2_features).
bilinear.bias: Bias, of shape (out_features).
]=],

  examples = [=[
pixel_shuffle
    nn.functional.pixel_shuffle(torch.zeros(1, 8, 2, 2), 2).shape
    --> torch.Size([1, 2, 4, 4])
pixel_unshuffle
    nn.functional.pixel_unshuffle(torch.zeros(1, 2, 4, 4), 2).shape
    --> torch.Size([1, 8, 2, 2])
channel_shuffle
    nn.functional.channel_shuffle(torch.tensor{1.0, 2.0, 3.0, 4.0}:reshape(1, 4, 1), 2):flatten()
    --> tensor([1., 3., 2., 4.])
interpolate
    x = torch.tensor{ { {1.0, 2.0, 4.0} } }
    nn.functional.interpolate(x, {scale_factor = 2, mode = 'linear'})
    --> tensor([[[1.0000, 1.2500, 1.7500, 2.5000, 3.5000, 4.0000]]])
upsample_nearest
    nn.functional.upsample_nearest(torch.tensor{ { { {1.0, 2.0} } } }, {scale_factor = 2})
    --> tensor([[[[1., 1., 2., 2.],
    -->           [1., 1., 2., 2.]]]])
upsample_bilinear
    nn.functional.upsample_bilinear(torch.tensor{ { { {1.0, 2.0} } } }, {size = {1, 3}})
    --> tensor([[[[1.0000, 1.5000, 2.0000]]]])
grid_sample
    x = torch.tensor{ { { {1.0, 3.0}, {5.0, 7.0} } } }
    nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2))
    --> tensor([[[[4.]]]])
affine_grid
    nn.functional.affine_grid(torch.eye(2, 3):unsqueeze(1), {1, 1, 1, 2})
    --> tensor([[[[-0.5000,  0.0000],
    -->           [ 0.5000,  0.0000]]]])
bilinear
    nn.functional.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 2, 3))
    --> tensor([[6.]])
]=],
}
