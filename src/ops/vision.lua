-- vision.lua - images and channels: shuffles, resizing, sampling at given places. Coordinates of grids are values
-- between -1 and 1, not positions.

return {
  { 'pixel_shuffle(Tensor self, int upscale_factor) -> Tensor', batch = 'front', variants = 'function',
    doc = 'Channels in groups of upscale_factor^2 become blocks of pixels.', forward = 'linear', grad = { self = 'pixel_unshuffle(grad, upscale_factor)' } },
  { 'pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor', batch = 'front', variants = 'function',
    doc = 'Blocks of pixels become channels: the inverse of pixel_shuffle.', forward = 'linear', grad = { self = 'pixel_shuffle(grad, downscale_factor)' } },
  { 'channel_shuffle(Tensor self, int groups) -> Tensor', variants = 'function', composite = true,
    doc = 'The channels in an order that deals them out from the groups in turn.' },
  { 'bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=nil) -> Tensor', variants = 'function', composite = true,
    doc = 'input1 weight[o] input2, for every output o, plus bias.' },
}
