-- pool.lua - extremes and averages of windows that slide over the last dimensions. Indices of extremes are positions
-- in their plane, all its dimensions taken as one. Sizes of one number stand for all spatial dimensions.

local fn = 'function'

local list = {
  { '_max_pool_backward(Tensor grad_output, IndexTensor indices, Size sizes, int spatial, Size kernel_size, Size? stride, Size padding, Size dilation) -> Tensor',
    variants = '', doc = 'The derivative of the max pools.', forward = 'linear', grad = { grad_output = '_pool_gather(grad, indices, spatial)' } },
  { '_adaptive_max_pool_backward(Tensor grad_output, IndexTensor indices, Size sizes, int spatial) -> Tensor', variants = '',
    doc = 'The derivative of the adaptive max pools.', forward = 'linear', grad = { grad_output = '_pool_gather(grad, indices, spatial)' } },
  { '_pool_gather(Tensor self, IndexTensor indices, int spatial) -> Tensor', variants = '', composite = true,
    doc = 'The elements of planes that indices name.' },
  { '_avg_pool_backward(Tensor grad_output, Size sizes, int spatial, Size kernel_size, Size? stride, Size padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor',
    variants = '', doc = 'The derivative of the average pools.',
    forward = 'linear',
    grad = { grad_output = '_avg_pool(grad, spatial, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)' } },
  { '_avg_pool(Tensor self, int spatial, Size kernel_size, Size? stride, Size padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor',
    variants = '', composite = true, doc = 'The average pool of so many spatial dimensions.' },
  { '_adaptive_avg_pool_backward(Tensor grad_output, Size sizes, int spatial) -> Tensor', variants = '',
    doc = 'The derivative of the adaptive average pools.', forward = 'linear', grad = { grad_output = '_adaptive_avg_pool_like(grad, sizes_of(grad_output), spatial)' } },
  { '_adaptive_avg_pool_like(Tensor self, Size sizes, int spatial) -> Tensor', variants = '', composite = true,
    doc = 'The adaptive average pool whose result has these sizes.' },
}

for spatial, shape in ipairs { 'length', 'height, width', 'depth, height, width' } do
  local d = tostring(spatial)
  local windows = 'Size kernel_size, Size? stride=nil, Size padding=0, Size dilation=1, bool ceil_mode=false'
  local of = (' of self [batch, channels, %s] (the batch may be left out)'):format(shape)
  table.insert(list, { ('max_pool%sd(Tensor self, %s) -> Tensor'):format(d, windows), variants = fn, batch = 'fold', composite = true, reads = true,
    doc = 'The largest elements of the windows' .. of .. ', of any dtype but bool; stride: the kernel size unless given.',
    example = ('torch.nn.functional.max_pool%sd(x, 2)'):format(d) })
  table.insert(list, { ('max_pool%sd_with_indices(Tensor self, %s) -> (Tensor values, IndexTensor indices)'):format(d, windows), variants = fn, batch = 'fold',
    grad_fn = ('MaxPool%sDWithIndicesBackward0'):format(d), doc = 'As max_pool' .. d .. 'd, and where the elements are in their planes.',
    forward = ('_pool_gather(self_t, indices, %s)'):format(d),
    grad = { self = ('_max_pool_backward(grad, indices, sizes_of(self), %s, kernel_size, stride, padding, dilation)'):format(d) } })
  local divisor = spatial > 1
  table.insert(list, { ('avg_pool%sd(Tensor self, Size kernel_size, Size? stride=nil, Size padding=0, bool ceil_mode=false, bool count_include_pad=true%s) -> Tensor')
    :format(d, divisor and ', int? divisor_override=nil' or ''), variants = fn, batch = 'fold', grad_fn = ('AvgPool%sDBackward0'):format(d),
    doc = 'The means of the windows' .. of .. ', of int64 towards zero; stride: the kernel size unless given.',
    forward = 'linear', grad = { self = ('_avg_pool_backward(grad, sizes_of(self), %s, kernel_size, stride, padding, ceil_mode, count_include_pad, %s)')
      :format(d, divisor and 'divisor_override' or 'nil') } })
  table.insert(list, { ('adaptive_avg_pool%sd(Tensor self, Size output_size) -> Tensor'):format(d), variants = fn, batch = 'fold',
    grad_fn = ('AdaptiveAvgPool%sDBackward0'):format(d), doc = 'The means of as many windows as output_size says, which cover the planes' .. of .. '.',
    forward = 'linear', grad = { self = ('_adaptive_avg_pool_backward(grad, sizes_of(self), %s)'):format(d) } })
  table.insert(list, { ('adaptive_max_pool%sd(Tensor self, Size output_size) -> (Tensor values, IndexTensor indices)'):format(d), variants = fn, batch = 'fold',
    grad_fn = ('AdaptiveMaxPool%sDBackward0'):format(d),
    doc = 'The largest elements of as many windows as output_size says, and where they are in their planes' .. of .. '.',
    forward = ('_pool_gather(self_t, indices, %s)'):format(d),
    grad = { self = ('_adaptive_max_pool_backward(grad, indices, sizes_of(self), %s)'):format(d) } })
end

return list
