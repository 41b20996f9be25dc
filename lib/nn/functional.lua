-- functional.lua - torch.nn.functional: the functional forms. Functions that torch has with the
-- same name and arguments are torch's; the others are declared for this module (torch._C.nn).

--[=[ arguments
query: Query vectors, of shape (L, N, E).
key: Key vectors, of shape (S, N, E).
value: Value vectors, of shape (S, N, E).
in_proj_weight: Weights of the projections of query, key and value, one below the other.
in_proj_bias: Bias of these projections.
q_proj_weight: Weights of the projection of the query, with `use_separate_proj_weight`.
k_proj_weight: Weights of the projection of the key, with `use_separate_proj_weight`.
v_proj_weight: Weights of the projection of the value, with `use_separate_proj_weight`.
use_separate_proj_weight: Whether the three projections have weights of their own.
out_proj_weight: Weights of the output projection.
out_proj_bias: Bias of the output projection.
bias_k: Learned vector that is appended to the keys.
bias_v: Learned vector that is appended to the values.
static_k: Keys to use instead of projected ones.
static_v: Values to use instead of projected ones.
embed_dim_to_check: Size of the model's vectors; it must be that of the query.
adaptive_max_pool1d_with_indices(): `adaptive_max_pool1d` with `return_indices = true`.
adaptive_max_pool2d_with_indices(): `adaptive_max_pool2d` with `return_indices = true`.
adaptive_max_pool3d_with_indices(): `adaptive_max_pool3d` with `return_indices = true`.
multi_head_attention_forward(): The attention of `nn.MultiheadAttention`, as a function of its parameters: the output and, with `need_weights`, the weights.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local groups = {
  activations = [[relu sigmoid tanh gelu silu leaky_relu softplus softmax log_softmax softmin threshold relu6 hardtanh
    hardsigmoid hardswish elu selu celu mish logsigmoid softsign tanhshrink hardshrink softshrink prelu rrelu glu gumbel_softmax]],
  layers = 'linear bilinear embedding embedding_bag one_hot pad pixel_shuffle pixel_unshuffle channel_shuffle',
  dropouts = 'dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout',
  attention = 'scaled_dot_product_attention',
  normalization = 'layer_norm rms_norm group_norm batch_norm instance_norm local_response_norm',
  losses = [[cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits
    kl_div poisson_nll_loss gaussian_nll_loss soft_margin_loss multilabel_soft_margin_loss hinge_embedding_loss
    margin_ranking_loss cosine_embedding_loss triplet_margin_loss multi_margin_loss multilabel_margin_loss]],
  convolutions = 'conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d',
  pools = [[avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d lp_pool1d lp_pool2d
    lp_pool3d max_unpool1d max_unpool2d max_unpool3d]],
  images = 'affine_grid grid_sample',
  distances = 'pairwise_distance cosine_similarity normalize pdist',
}

local functional = {}
for _, names in pairs(groups) do
  for name in names:gmatch '%S+' do functional[name] = torch._C.nn[name] or torch[name] end
end
functional.unfold, functional.fold = torch.im2col, torch.col2im

-- Activations with an argument inplace. own: declarations of their n other arguments.
local function with_inplace(name, own, n)
  local plain, in_place = functional[name], torch._C.methods[name .. '_']
  local calls = {
    [0] = function(input, inplace) return (inplace and in_place or plain)(input) end,
    function(input, first, inplace) return (inplace and in_place or plain)(input, first) end,
    function(input, first, second, inplace) return (inplace and in_place or plain)(input, first, second) end,
  }
  functional[name] = declare.declare(('%s(input, %sboolean inplace=false)'):format(name, own), calls[n])
  functional[name .. '_'] = in_place
end

for name in ('relu relu6 selu silu mish hardswish hardsigmoid'):gmatch '%S+' do with_inplace(name, '', 0) end
with_inplace('elu', 'alpha=1.0, ', 1)
with_inplace('celu', 'alpha=1.0, ', 1)
with_inplace('leaky_relu', 'negative_slope=0.01, ', 1)
with_inplace('hardtanh', 'min_val=-1.0, max_val=1.0, ', 2)
with_inplace('threshold', 'threshold, value, ', 2)

-- Max pools: the maxima, and with return_indices their positions.
local function max_pool(name, plain, with_indices)
  local text = '%s(input, kernel_size, stride=nil, padding=0, dilation=1, ceil_mode=false, boolean return_indices=false)'
  functional[name] = declare.declare(text:format(name), function(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return (return_indices and with_indices or plain)(input, kernel_size, stride, padding, dilation, ceil_mode)
  end)
  functional[name .. '_with_indices'] = declare.declare(text:format(name .. '_with_indices'), function(input, kernel_size, stride, padding, dilation, ceil_mode)
    return with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
  end)
end

-- A pool over d dimensions; open entries of output_size ({7, false}) are replaced by the input's
-- sizes.
local function open_sizes(pool, d)
  return function(input, wanted)
    if type(wanted) ~= 'table' or not torch.is_tensor(input) or input.ndim <= d then return pool(input, wanted) end
    local list, open = {}, false
    for i = 1, d do
      list[i] = wanted[i]
      if wanted[i] == false or wanted[i] == nil and wanted[d] then list[i], open = input:size(i - d - 1), true end
    end
    return pool(input, open and list or wanted)
  end
end

for d = 1, 3 do
  local name = ('max_pool%dd'):format(d)
  max_pool(name, torch[name], torch[name .. '_with_indices'])
  local average, adaptive = ('adaptive_avg_pool%dd'):format(d), ('adaptive_max_pool%dd'):format(d)
  functional[average] = declare.declare(average .. '(input, output_size)', open_sizes(torch[average], d))
  local one, both = open_sizes(torch._C.nn[adaptive], d), open_sizes(torch[adaptive], d)
  functional[adaptive] = declare.declare(adaptive .. '(input, output_size, boolean return_indices=false)', function(input, output_size, return_indices)
    return (return_indices and both or one)(input, output_size)
  end)
  functional[adaptive .. '_with_indices'] = declare.declare(adaptive .. '_with_indices(input, output_size, boolean return_indices=false)', both)
end

-- Max pools with windows at random steps: the maxima, and with return_indices their positions. A
-- table of ratios is one for each dimension.
for d = 2, 3 do
  local name = ('fractional_max_pool%dd'):format(d)
  local plain, with_indices = torch._C.nn[name], torch._C.nn[name .. '_with_indices']
  local function define(own, always)
    local text = own .. '(Tensor input, any kernel_size, any? output_size, any? output_ratio, boolean return_indices=false, Tensor? _random_samples)'
    functional[own] = declare.declare(text, function(input, kernel_size, output_size, output_ratio, return_indices, samples)
      if output_size == nil and type(output_ratio) == 'table' then
        if #output_ratio ~= d then fail('%s: output_ratio must either be a single number, or a list of %d', name, d) end
        output_size = {}
        for i, ratio in ipairs(output_ratio) do output_size[i] = math.floor(input:size(i - d - 1) * ratio) end
        output_ratio = nil
      end
      return ((always or return_indices) and with_indices or plain)(input, kernel_size, output_size, output_ratio, samples)
    end)
  end
  define(name, false)
  define(name .. '_with_indices', true)
end

-- A table of factors is one for each dimension.
for name, rest in pairs {
  interpolate = [[, any mode='nearest', boolean? align_corners, boolean? recompute_scale_factor, boolean antialias=false]],
  upsample_nearest = '', upsample_bilinear = '',
} do
  local plain = torch._C.nn[name]
  functional[name] = declare.declare(name .. '(Tensor input, sizes? size, numbers? scale_factor' .. rest .. ')', function(input, size, factor, ...)
    if type(factor) ~= 'table' then return plain(input, size, factor, ...) end
    local factors = torch.tensor(factor, { dtype = torch.float64, device = 'cpu' })
    if name == 'interpolate' then return plain(input, size, factors, ...) end
    return torch._C.nn.interpolate(input, size, factors, name:match '[^_]+$', name == 'upsample_bilinear' or nil)
  end)
end
functional.upsample = functional.interpolate

-- Lengths are tensors, tables or, of one sequence, numbers.
local ctc_loss = torch._C.nn.ctc_loss
local function lengths_of(lengths)
  if torch.is_tensor(lengths) then return lengths end
  return torch.tensor(type(lengths) == 'table' and lengths or { lengths }, { dtype = torch.int64, device = 'cpu' })
end
functional.ctc_loss = declare.declare([[
  ctc_loss(Tensor log_probs, Tensor targets, Tensor|table|integer input_lengths, Tensor|table|integer target_lengths, integer blank=1,
    any reduction='mean', boolean zero_infinity=false)
]], function(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
  return ctc_loss(log_probs, targets, lengths_of(input_lengths), lengths_of(target_lengths), blank, reduction, zero_infinity)
end)

require('torch.nn.functional.losses').install(functional)

-- Functions composed of other operations in Lua.
for _, module in ipairs { 'torch.nn.functional.triplet', 'torch.nn.functional.linear_cross_entropy' } do
  for name, fn in pairs(require(module)) do functional[name] = functional[name] or fn end
end

-- nn.MultiheadAttention with the weights as arguments; implemented in the layer's file.
functional.multi_head_attention_forward = declare.by_name([[
  multi_head_attention_forward(Tensor query, Tensor key, Tensor value, integer? embed_dim_to_check, integer num_heads, Tensor? in_proj_weight,
  Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, boolean? add_zero_attn=false, number? dropout_p=0.0, Tensor out_proj_weight,
  Tensor? out_proj_bias, boolean training=true, Tensor? key_padding_mask, boolean need_weights=true, Tensor? attn_mask,
  boolean use_separate_proj_weight=false, Tensor? q_proj_weight, Tensor? k_proj_weight, Tensor? v_proj_weight, Tensor? static_k,
  Tensor? static_v, boolean average_attn_weights=true, boolean is_causal=false)
]], function(options) return require('torch.nn.layers.attention')._functional(options) end)

return functional
