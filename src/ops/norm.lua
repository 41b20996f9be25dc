-- norm.lua - normalization: layer_norm, group_norm, rms_norm, batch_norm and functions based on them. Each
-- family has one forward and one backward kernel (src/core/cpu/nn/norm.c, src/cuda/kernels/nn/norm.cu); second
-- derivatives are formulas.
--
-- _layer_norm and _group_norm treat their input as dense rows with one mean and one deviation each. Row r uses
-- the parameters of group r % groups, one entry per `run` elements.

return {
  { 'layer_norm(Tensor input, Size normalized_shape, Tensor? weight=nil, Tensor? bias=nil, float eps=1e-05) -> Tensor', batch = 'scaled_rows',
    variants = 'function c_out', overlap = 'copied', composite = true,
    doc = 'input without its mean and over its deviation (of the last dimensions, normalized_shape), times weight plus bias.' },
  { '_layer_norm(Tensor input, Tensor? weight, Tensor? bias, int length, float eps) -> (Tensor result, Tensor mean, Tensor rstd)',
    variants = '', reads = 'input', doc = 'layer_norm with the means and the reciprocal deviations of the rows.', grad_fn = 'NativeLayerNormBackward0',
    forward = '_layer_norm_tangent(input, weight, length, eps, input_t, weight_t, bias_t)',
    grad = { ['input weight bias'] =
      '_layer_norm_backward(grad, input, weight, mean, rstd, length, eps, needs_input, needs_weight, needs_bias)' } },
  { '_layer_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor? mean, Tensor rstd, int length, float eps, bool needs_input, bool needs_weight, bool needs_bias) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)',
    variants = '', composite = true, reads = 'grad_output', doc = 'The derivatives of layer_norm; of rms_norm without a mean.' },
  { '_layer_norm_tangent(Tensor input, Tensor? weight, int length, float eps, Tensor input_t, Tensor? weight_t, Tensor? bias_t) -> Tensor',
    variants = '', composite = true, doc = 'The tangent of layer_norm.' },

  { 'rms_norm(Tensor input, Size normalized_shape, Tensor? weight=nil, float? eps=nil) -> Tensor', batch = 'scaled_rows', variants = 'function c_out', overlap = 'copied',
    composite = true, doc = 'input over the root of its mean square (of the last dimensions, normalized_shape), times weight.' },
  { '_rms_norm(Tensor input, Tensor? weight, int length, float eps) -> (Tensor result, Tensor rstd)', variants = '', reads = 'input',
    doc = 'rms_norm with the reciprocal roots of the rows.', grad_fn = 'FusedRmsNormBackward0',
    forward = '_rms_norm_tangent(input, weight, length, eps, input_t, weight_t)',
    grad = { ['input weight'] = '_rms_norm_backward(grad, input, weight, rstd, length, eps, needs_input, needs_weight)' } },
  { '_rms_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor rstd, int length, float eps, bool needs_input, bool needs_weight) -> (Tensor grad_input, Tensor grad_weight)',
    variants = '', composite = true, reads = 'grad_output', doc = 'The derivatives of rms_norm.' },
  { '_rms_norm_tangent(Tensor input, Tensor? weight, int length, float eps, Tensor input_t, Tensor? weight_t) -> Tensor',
    variants = '', composite = true, doc = 'The tangent of rms_norm.' },

  { 'group_norm(Tensor input, int num_groups, Tensor? weight=nil, Tensor? bias=nil, float eps=1e-05) -> Tensor',
    variants = 'function c_out', overlap = 'copied', composite = true,
    doc = 'The channels of input [n, channels, ...] in groups, each normalized over its elements; weight and bias per channel.' },
  { '_group_norm(Tensor input, Tensor? weight, Tensor? bias, int groups, float eps) -> (Tensor result, Tensor mean, Tensor rstd)', batch = 'group_norm',
    variants = '', reads = 'input', doc = 'group_norm with the means and the reciprocal deviations of the groups.', grad_fn = 'NativeGroupNormBackward0',
    forward = '_group_norm_tangent(input, weight, groups, eps, input_t, weight_t, bias_t)',
    grad = { ['input weight bias'] =
      '_group_norm_backward(grad, input, weight, mean, rstd, groups, eps, needs_input, needs_weight, needs_bias)' } },
  { '_group_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor mean, Tensor rstd, int groups, float eps, bool needs_input, bool needs_weight, bool needs_bias) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)',
    variants = '', composite = true, reads = 'grad_output', doc = 'The derivatives of group_norm.' },
  { '_group_norm_tangent(Tensor input, Tensor? weight, int groups, float eps, Tensor input_t, Tensor? weight_t, Tensor? bias_t) -> Tensor',
    variants = '', composite = true, doc = 'The tangent of group_norm.' },

  { 'batch_norm(Tensor input, Tensor? running_mean=nil, Tensor? running_var=nil, Tensor? weight=nil, Tensor? bias=nil, bool training=false, float momentum=0.1, float eps=1e-05) -> Tensor',
    variants = 'nn c_out', overlap = 'copied', composite = true, writes = 'running_mean running_var',
    doc = 'Each channel of input [n, channels, ...] normalized over all other dimensions: in training by its mean and deviation, which also update running_mean and running_var; else by running_mean and running_var.' },
  { '_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor result, Tensor mean, Tensor rstd)', batch = 'batch_norm',
    variants = '', doc = 'batch_norm with the means and the reciprocal deviations used.', grad_fn = 'NativeBatchNormBackward0',
    forward = '_batch_norm_tangent(input, weight, mean, rstd, training, eps, input_t, weight_t, bias_t)',
    grad = { ['input weight bias'] =
      '_batch_norm_backward(grad, input, weight, mean, rstd, training, eps, needs_input, needs_weight, needs_bias)' } },
  { '_batch_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor mean, Tensor rstd, bool training, float eps, bool needs_input, bool needs_weight, bool needs_bias) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)',
    variants = '', composite = true, reads = true, doc = 'The derivatives of batch_norm.' },
  { '_batch_norm_tangent(Tensor input, Tensor? weight, Tensor mean, Tensor rstd, bool training, float eps, Tensor input_t, Tensor? weight_t, Tensor? bias_t) -> Tensor',
    variants = '', composite = true, doc = 'The tangent of batch_norm.' },
  { 'instance_norm(Tensor input, Tensor? running_mean=nil, Tensor? running_var=nil, Tensor? weight=nil, Tensor? bias=nil, bool use_input_stats=true, float momentum=0.1, float eps=1e-05) -> Tensor',
    variants = 'nn', composite = true, reads = true, writes = 'running_mean running_var', doc = 'Each channel of each entry of input [n, channels, ...] normalized by itself.' },
  { 'local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor', variants = 'nn',
    composite = true, doc = 'input over (k + alpha * mean square of `size` neighbouring channels) ^ beta.' },

  arguments = [=[
weight: Scale of each element or channel.
bias: Shift of each element or channel.
num_groups: Number of groups into which the channels are divided.
use_input_stats: Whether the statistics of the input are used instead of the running ones.
local_response_norm.size: Number of neighbouring channels.
local_response_norm.alpha: Factor of the mean square.
local_response_norm.beta: Exponent of the denominator.
local_response_norm.k: Number that is added to the mean square.
]=],

  examples = [=[
layer_norm
    nn.functional.layer_norm(torch.tensor{ {1.0, 2.0, 3.0} }, 3)
    --> tensor([[-1.2247,  0.0000,  1.2247]])
rms_norm
    nn.functional.rms_norm(torch.tensor{ {3.0, 4.0} }, 2)
    --> tensor([[0.8485, 1.1314]])
group_norm
    nn.functional.group_norm(torch.tensor{ { {1.0, 3.0}, {10.0, 30.0} } }, 2)
    --> tensor([[[-1.0000,  1.0000],
    -->          [-1.0000,  1.0000]]])
batch_norm
    nn.functional.batch_norm(torch.tensor{ {1.0}, {3.0} }, {training = true})
    --> tensor([[-1.0000],
    -->         [ 1.0000]])
instance_norm
    nn.functional.instance_norm(torch.tensor{ { {1.0, 3.0}, {10.0, 30.0} } })
    --> tensor([[[-1.0000,  1.0000],
    -->          [-1.0000,  1.0000]]])
local_response_norm
    nn.functional.local_response_norm(torch.ones(1, 3, 2), 2, {alpha = 1.0})
    --> tensor([[[0.7378, 0.7378],
    -->          [0.5946, 0.5946],
    -->          [0.5946, 0.5946]]])
]=],
}
