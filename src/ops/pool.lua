-- pool.lua - maxima and averages over sliding windows of the last dimensions. Indices of maxima are positions
-- in the flattened plane. A size of one number applies to all spatial dimensions.

local fn_out = 'function c_out'

local list = {
  { '_max_pool_backward(Tensor grad_output, IndexTensor indices, Size sizes, int spatial, Size kernel_size, Size? stride, Size padding, Size dilation) -> Tensor',
    batch = 'pooled', variants = '', doc = 'The derivative of the max pools.', forward = 'linear', grad = { grad_output = '_pool_gather(grad, indices, spatial)' } },
  { '_adaptive_max_pool_backward(Tensor grad_output, IndexTensor indices, Size sizes, int spatial) -> Tensor', batch = 'pooled', variants = '',
    doc = 'The derivative of the adaptive max pools.', forward = 'linear', grad = { grad_output = '_pool_gather(grad, indices, spatial)' } },
  { '_pool_gather(Tensor self, IndexTensor indices, int spatial) -> Tensor', variants = '', composite = true,
    doc = 'The elements of planes that indices name.' },
  { '_avg_pool_backward(Tensor grad_output, Size sizes, int spatial, Size kernel_size, Size? stride, Size padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor',
    batch = 'pooled', variants = '', doc = 'The derivative of the average pools.',
    forward = 'linear',
    grad = { grad_output = '_avg_pool(grad, spatial, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)' } },
  { '_avg_pool(Tensor self, int spatial, Size kernel_size, Size? stride, Size padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor',
    variants = '', composite = true, doc = 'The average pool of so many spatial dimensions.' },
  { '_adaptive_avg_pool_backward(Tensor grad_output, Size sizes, int spatial) -> Tensor', batch = 'pooled', variants = '',
    doc = 'The derivative of the adaptive average pools.', forward = 'linear', grad = { grad_output = '_adaptive_avg_pool_like(grad, sizes_of(grad_output), spatial)' } },
  { '_adaptive_avg_pool_like(Tensor self, Size sizes, int spatial) -> Tensor', variants = '', composite = true,
    doc = 'The adaptive average pool with a result of these sizes.' },
}

for spatial, shape in ipairs { 'length', 'height, width', 'depth, height, width' } do
  local d = tostring(spatial)
  local windows = 'Size kernel_size, Size? stride=nil, Size padding=0, Size dilation=1, bool ceil_mode=false'
  local of = (' of self [batch, channels, %s] (the batch may be left out)'):format(shape)
  table.insert(list, { ('max_pool%sd(Tensor self, %s) -> Tensor'):format(d, windows), variants = fn_out, overlap = 'copied', batch = 'fold', composite = true, reads = 'self',
    doc = 'The largest elements of the windows' .. of .. ', of any dtype but bool; stride: the kernel size unless given.' })
  table.insert(list, { ('max_pool%sd_with_indices(Tensor self, %s) -> (Tensor values, IndexTensor indices)'):format(d, windows), variants = fn_out, overlap = 'copied', batch = 'fold', reads = 'self',
    grad_fn = ('MaxPool%sDWithIndicesBackward0'):format(d), doc = 'As max_pool' .. d .. 'd, and where the elements are in their planes.',
    forward = ('_pool_gather(self_t, indices, %s)'):format(d),
    grad = { self = ('_max_pool_backward(grad, indices, sizes_of(self), %s, kernel_size, stride, padding, dilation)'):format(d) } })
  local divisor = spatial > 1
  table.insert(list, { ('avg_pool%sd(Tensor self, Size kernel_size, Size? stride=nil, Size padding=0, bool ceil_mode=false, bool count_include_pad=true%s) -> Tensor')
    :format(d, divisor and ', int? divisor_override=nil' or ''), variants = divisor and 'function out' or fn_out, overlap = 'copied', batch = 'fold', reads = 'self', grad_fn = ('AvgPool%sDBackward0'):format(d),
    doc = 'The means of the windows' .. of .. ', of int64 towards zero; stride: the kernel size unless given.',
    forward = 'linear', grad = { self = ('_avg_pool_backward(grad, sizes_of(self), %s, kernel_size, stride, padding, ceil_mode, count_include_pad, %s)')
      :format(d, divisor and 'divisor_override' or 'nil') } })
  table.insert(list, { ('adaptive_avg_pool%sd(Tensor self, Size output_size) -> Tensor'):format(d), variants = fn_out, overlap = 'copied', batch = 'fold',
    reads = 'self', grad_fn = ('AdaptiveAvgPool%sDBackward0'):format(d), doc = 'The means of output_size windows that cover the planes' .. of .. '.',
    forward = 'linear', grad = { self = ('_adaptive_avg_pool_backward(grad, sizes_of(self), %s)'):format(d) } })
  table.insert(list, { ('adaptive_max_pool%sd(Tensor self, Size output_size) -> (Tensor values, IndexTensor indices)'):format(d), variants = fn_out, overlap = 'copied', batch = 'fold',
    reads = 'self', grad_fn = ('AdaptiveMaxPool%sDBackward0'):format(d),
    doc = 'The largest elements of output_size windows, and their positions in the planes' .. of .. '.',
    forward = ('_pool_gather(self_t, indices, %s)'):format(d),
    grad = { self = ('_adaptive_max_pool_backward(grad, indices, sizes_of(self), %s)'):format(d) } })
  table.insert(list, { ('adaptive_max_pool%sd.nn(Tensor self, Size output_size) -> Tensor'):format(d), variants = 'nn', batch = 'through', composite = true,
    doc = 'The largest elements of output_size windows of the planes' .. of .. '.' })
  table.insert(list, { ('lp_pool%sd(Tensor input, Scalar norm_type, Size kernel_size, Size? stride=nil, bool ceil_mode=false) -> Tensor'):format(d),
    variants = 'nn', batch = 'through', composite = true,
    doc = ('The norms of order norm_type of the windows of input [batch, channels, %s]; stride: the kernel size unless given.'):format(shape) })
  table.insert(list, { ('max_unpool%sd(Tensor input, IndexTensor indices, Size kernel_size, Size? stride=nil, Size padding=0, Size? output_size=nil) -> Tensor'):format(d),
    variants = 'nn', positions = true, batch = 'through', composite = true, grad_fn = ('MaxUnpool%sDBackward0'):format(d),
    doc = ('Puts the maxima of `max_pool%sd` back at their positions in the planes; all other elements are 0.'):format(d) })
  if spatial > 1 then
    local arguments = '(Tensor input, Size kernel_size, Size? output_size=nil, float? output_ratio=nil, Tensor? _random_samples=nil) -> '
    table.insert(list, { ('fractional_max_pool%sd'):format(d) .. arguments .. 'Tensor', variants = 'nn', random = '_random_samples == NULL',
      composite = true, doc = ('The largest elements of windows that begin at random steps, for any output size: output_size, or output_ratio times the sizes of input [batch, channels, %s].'):format(shape) })
    table.insert(list, { ('fractional_max_pool%sd_with_indices'):format(d) .. arguments .. '(Tensor values, IndexTensor indices)', variants = 'nn', random = '_random_samples == NULL',
      composite = true, doc = ('As fractional_max_pool%sd, and where the elements are in their planes.'):format(d) })
  end
end

list.arguments = [=[
indices: Positions of the maxima, as `return_indices` gives them.
output_ratio: Ratio of the output's sizes to the input's, if output_size is absent.
_random_samples: Random numbers in [0, 1) that select the windows, of shape (N, C, dimensions).
stride: Step of the window: a number, or one for each spatial dimension; the size of the window if absent.
]=]

list.examples = [=[
max_pool1d
    nn.functional.max_pool1d(torch.tensor{ { {1.0, 4.0, 2.0, 3.0} } }, 2)
    --> tensor([[[4., 3.]]])
max_pool1d_with_indices
    torch.max_pool1d_with_indices(torch.tensor{ { {1.0, 4.0, 2.0, 3.0} } }, 2)
    --> (tensor([[[4., 3.]]]), tensor([[[2, 4]]]))
avg_pool1d
    nn.functional.avg_pool1d(torch.tensor{ { {1.0, 3.0, 5.0, 7.0} } }, 2)
    --> tensor([[[2., 6.]]])
adaptive_avg_pool1d
    nn.functional.adaptive_avg_pool1d(torch.tensor{ { {1.0, 3.0, 5.0, 7.0} } }, 2)
    --> tensor([[[2., 6.]]])
adaptive_max_pool1d
    torch.adaptive_max_pool1d(torch.tensor{ { {1.0, 3.0, 7.0, 5.0} } }, 2)
    --> (tensor([[[3., 7.]]]), tensor([[[2, 3]]]))
max_pool2d
    nn.functional.max_pool2d(torch.arange(16):float():reshape(1, 1, 4, 4), 2)
    --> tensor([[[[ 5.,  7.],
    -->           [13., 15.]]]])
max_pool2d_with_indices
    local values, positions = torch.max_pool2d_with_indices(torch.arange(16):float():reshape(1, 1, 4, 4), 2)
    positions
    --> tensor([[[[ 6,  8],
    -->           [14, 16]]]])
avg_pool2d
    nn.functional.avg_pool2d(torch.arange(16):float():reshape(1, 1, 4, 4), 2)
    --> tensor([[[[ 2.5000,  4.5000],
    -->           [10.5000, 12.5000]]]])
adaptive_avg_pool2d
    nn.functional.adaptive_avg_pool2d(torch.ones(1, 8, 7, 5), 1).shape
    --> torch.Size([1, 8, 1, 1])
adaptive_max_pool2d
    torch.adaptive_max_pool2d(torch.arange(4):float():reshape(1, 1, 2, 2), 1)
    --> (tensor([[[[3.]]]]), tensor([[[[4]]]]))
max_pool3d
    nn.functional.max_pool3d(torch.ones(1, 2, 4, 4, 4), 2).shape
    --> torch.Size([1, 2, 2, 2, 2])
max_pool3d_with_indices
    torch.max_pool3d_with_indices(torch.arange(8):float():reshape(1, 1, 2, 2, 2), 2)
    --> (tensor([[[[[7.]]]]]), tensor([[[[[8]]]]]))
avg_pool3d
    nn.functional.avg_pool3d(torch.arange(8):float():reshape(1, 1, 2, 2, 2), 2)
    --> tensor([[[[[3.5000]]]]])
adaptive_avg_pool3d
    nn.functional.adaptive_avg_pool3d(torch.ones(1, 2, 4, 4, 4), 2).shape
    --> torch.Size([1, 2, 2, 2, 2])
adaptive_max_pool3d
    torch.adaptive_max_pool3d(torch.arange(8):float():reshape(1, 1, 2, 2, 2), 1)
    --> (tensor([[[[[7.]]]]]), tensor([[[[[8]]]]]))
lp_pool1d
    nn.functional.lp_pool1d(torch.tensor{ { {3.0, 4.0, 6.0, 8.0} } }, 2, 2)
    --> tensor([[[ 5., 10.]]])
lp_pool2d
    nn.functional.lp_pool2d(torch.ones(1, 1, 4, 4), 2, 2)
    --> tensor([[[[2., 2.],
    -->           [2., 2.]]]])
lp_pool3d
    nn.functional.lp_pool3d(torch.ones(1, 1, 2, 2, 2), 1, 2)
    --> tensor([[[[[8.]]]]])
max_unpool1d
    nn.functional.max_unpool1d(torch.tensor{ { {4.0, 3.0} } }, torch.tensor{ { {2, 4} } }, 2)
    --> tensor([[[0., 4., 0., 3.]]])
max_unpool2d
    nn.functional.max_unpool2d(torch.tensor{ { { {5.0} } } }, torch.tensor{ { { {3} } } }, 2)
    --> tensor([[[[0., 0.],
    -->           [5., 0.]]]])
max_unpool3d
    nn.functional.max_unpool3d(torch.ones(1, 1, 1, 1, 1), torch.ones(1, 1, 1, 1, 1):long(), 2).shape
    --> torch.Size([1, 1, 2, 2, 2])
fractional_max_pool2d
    nn.functional.fractional_max_pool2d(torch.ones(1, 1, 5, 5), 2, 3).shape
    --> torch.Size([1, 1, 3, 3])
fractional_max_pool2d_with_indices
    local values, positions = nn.functional.fractional_max_pool2d_with_indices(torch.arange(4):float():reshape(1, 1, 2, 2), 2, 1)
    positions
    --> tensor([[[[4]]]])
fractional_max_pool3d
    nn.functional.fractional_max_pool3d(torch.ones(1, 1, 5, 5, 5), 2, {output_ratio = 0.5}).shape
    --> torch.Size([1, 1, 2, 2, 2])
fractional_max_pool3d_with_indices
    local values, positions = nn.functional.fractional_max_pool3d_with_indices(torch.arange(8):float():reshape(1, 1, 2, 2, 2), 2, 1)
    positions
    --> tensor([[[[[8]]]]])
]=]

return list
