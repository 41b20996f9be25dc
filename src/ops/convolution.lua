-- convolution.lua - convolutions, their transposes, and im2col. A size of one number applies to all spatial
-- dimensions. convolution and its two derivatives are the parts of a trilinear form in three tensors, so the
-- derivatives of each are the others.

local fn = 'function'
local fn_out = 'function c_out'
local rest = 'Size stride, Size padding, Size dilation, bool transposed, Size output_padding, int groups'
local same = 'stride, padding, dilation, transposed, output_padding, groups'

local list = {
  { 'convolution(Tensor input, Tensor weight, Tensor? bias, ' .. rest .. ') -> Tensor', variants = fn_out, overlap = 'copied', batch = 'convolution',
    doc = 'The convolution of any number of spatial dimensions, which the other convolutions call; transposed: its transpose. Integers are computed exactly, in their dtype.',
    forward = { input = 'convolution(input_t, weight, nil, stride, padding, dilation, transposed, output_padding, groups)', weight = 'convolution(input, weight_t, nil, stride, padding, dilation, transposed, output_padding, groups)',
      bias = '_bias_to_channel_dim(bias_t, sizes_of(weight))' },
    grad = { input = '_convolution_grad_input(grad, weight, sizes_of(input), ' .. same .. ')',
      weight = '_convolution_grad_weight(grad, input, sizes_of(weight), ' .. same .. ')',
      bias = '_convolution_grad_bias(grad)' } },
  { '_int8_convolution(Tensor input, Tensor weight, Size stride, Size dilation, int groups) -> Tensor', batch = 'loop', variants = 'library',
    doc = 'The convolution without padding of uint8 or int8 by int8, its sums exact, in int32: by oneDNN where the processor has instructions for it.' },
  { '_convolution_grad_input(Tensor grad_output, Tensor weight, Size sizes, ' .. rest .. ') -> Tensor', variants = '', batch = 'conv_input',
    doc = 'The derivative of convolution by its input.',
    forward = { grad_output = 'linear', weight = 'linear' }, grad = { grad_output = 'convolution(grad, weight, nil, ' .. same .. ')',
      weight = '_convolution_grad_weight(grad_output, grad, sizes_of(weight), ' .. same .. ')' } },
  { '_convolution_grad_weight(Tensor grad_output, Tensor input, Size sizes, ' .. rest .. ') -> Tensor', variants = '', batch = 'conv_weight',
    doc = 'The derivative of convolution by its weight.',
    forward = { grad_output = 'linear', input = 'linear' }, grad = { grad_output = 'convolution(input, grad, nil, ' .. same .. ')',
      input = '_convolution_grad_input(grad_output, grad, sizes_of(input), ' .. same .. ')' } },
  { '_bias_to_channel_dim(Tensor bias, Size sizes) -> Tensor', variants = '', composite = true,
    doc = 'A number for each channel, to be added to images with windows of the sizes of a weight.' },
  { '_convolution_grad_bias(Tensor grad_output) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The derivative of convolution by its bias: the sum over all but the channels.' },
}

for spatial, shape in ipairs { 'length', 'height, width', 'depth, height, width' } do
  local name = ('conv%dd'):format(spatial)
  local text = ('The convolution of input [batch, channels, %s] (the batch may be left out) with weight '):format(shape)
    .. ('[out_channels, channels / groups, %s]'):format(shape)
  table.insert(list, { name .. '(Tensor input, Tensor weight, Tensor? bias=nil, Size stride=1, Size padding=0, Size dilation=1, int groups=1) -> Tensor',
    variants = fn_out, overlap = 'copied', batch = 'through', composite = true, doc = text .. '.' })
  table.insert(list, { name .. ".padding(Tensor input, Tensor weight, Tensor? bias=nil, Size stride=1, string padding='valid', Size dilation=1, int groups=1) -> Tensor",
    variants = fn_out, overlap = 'copied', batch = 'through', composite = true, doc = text .. ", padded so that the sizes stay ('same') or not at all ('valid')." })
end
for spatial, shape in ipairs { 'length', 'height, width', 'depth, height, width' } do
  table.insert(list, { ('conv_transpose%dd(Tensor input, Tensor weight, Tensor? bias=nil, Size stride=1, Size padding=0, Size output_padding=0, int groups=1, Size dilation=1) -> Tensor')
    :format(spatial), variants = fn_out, overlap = 'copied', batch = 'through', composite = true,
    doc = ('The transpose of a convolution: input [batch, channels, %s] (the batch may be left out), '):format(shape)
      .. ('weight [channels, out_channels / groups, %s].'):format(shape) })
end

table.insert(list, { 'im2col(Tensor input, Size kernel_size, Size dilation=1, Size padding=0, Size stride=1) -> Tensor', variants = fn, batch = 'fold',
  grad_fn = 'Im2ColBackward0', doc = 'The windows of images as columns: [batch, channels * kernel, windows]; floating dtypes and bool. torch.nn.functional.unfold.',
  forward = 'linear', grad = { input = '_col2im(grad, sizes_of(input), kernel_size, dilation, padding, stride)' } })
table.insert(list, { 'col2im(Tensor input, Size output_size, Size kernel_size, Size dilation=1, Size padding=0, Size stride=1) -> Tensor',
  variants = fn, batch = 'fold', grad_fn = 'Col2ImBackward0', doc = 'Columns of windows summed into images. torch.nn.functional.fold.',
  forward = 'linear', grad = { input = 'im2col(grad, kernel_size, dilation, padding, stride)' } })
table.insert(list, { '_col2im(Tensor input, Size sizes, Size kernel_size, Size dilation, Size padding, Size stride) -> Tensor', variants = '',
  composite = true, doc = 'The derivative of im2col.' })

list.arguments = [=[
weight: Kernels, of shape (out_channels, in_channels / groups, ...); for transposed convolutions (in_channels, out_channels / groups, ...).
transposed: Whether the convolution is transposed.
col2im.output_size: Height and width of the image.
]=]

list.examples = [=[
convolution
    x, w = torch.ones(1, 1, 4), torch.ones(1, 1, 2)
    torch.convolution(x, w, nil, 1, 0, 1, false, 0, 1)
    --> tensor([[[2., 2., 2.]]])
conv1d
    x, w = torch.tensor{ { {1.0, 2.0, 3.0, 4.0} } }, torch.tensor{ { {1.0, -1.0} } }
    nn.functional.conv1d(x, w, {padding = 1})
    --> tensor([[[-1., -1., -1., -1.,  4.]]])
conv2d
    x, w = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
    nn.functional.conv2d(x, w)
    --> tensor([[[[4., 4.],
    -->           [4., 4.]]]])
conv3d
    nn.functional.conv3d(torch.ones(2, 3, 8, 8, 8), torch.ones(5, 3, 3, 3, 3), {stride = 2}).shape
    --> torch.Size([2, 5, 3, 3, 3])
conv_transpose1d
    x, w = torch.tensor{ { {1.0, 2.0} } }, torch.ones(1, 1, 2)
    nn.functional.conv_transpose1d(x, w, {stride = 2})
    --> tensor([[[1., 1., 2., 2.]]])
conv_transpose2d
    nn.functional.conv_transpose2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2))
    --> tensor([[[[1., 2., 1.],
    -->           [2., 4., 2.],
    -->           [1., 2., 1.]]]])
conv_transpose3d
    nn.functional.conv_transpose3d(torch.ones(1, 4, 2, 2, 2), torch.ones(4, 3, 2, 2, 2), {stride = 2}).shape
    --> torch.Size([1, 3, 4, 4, 4])
im2col
    x = torch.arange(1, 10):float():reshape(1, 1, 3, 3)
    nn.functional.unfold(x, 2)
    --> tensor([[[1., 2., 4., 5.],
    -->          [2., 3., 5., 6.],
    -->          [4., 5., 7., 8.],
    -->          [5., 6., 8., 9.]]])
col2im
    nn.functional.fold(torch.ones(1, 4, 4), 3, 2)
    --> tensor([[[[1., 2., 1.],
    -->           [2., 4., 2.],
    -->           [1., 2., 1.]]]])
]=]

return list
