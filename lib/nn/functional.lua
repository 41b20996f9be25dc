-- functional.lua - torch.nn.functional: the functional forms. Those that torch has under the same name, with the
-- same arguments, are torch's own; the others are declared for this module (torch._C.nn).

local torch = require 'torch'
local declare = require 'torch.support.arguments'

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
  pools = 'avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d',
  distances = 'pairwise_distance cosine_similarity normalize pdist',
}

local functional = {}
for _, names in pairs(groups) do
  for name in names:gmatch '%S+' do functional[name] = torch._C.nn[name] or torch[name] end
end
functional.unfold, functional.fold = torch.im2col, torch.col2im

-- Activations that may be done in place: `inplace` is the argument after their own, or comes by name; elu_ and its kin
-- are the same without it.
local function with_inplace(plain, in_place, own)
  return function(input, ...)
    local n = select('#', ...)
    if n == 0 then return plain(input) end
    local arguments = { ... }
    local last, inplace = arguments[n], false
    if type(last) == 'table' and last.inplace ~= nil then
      local named = {}
      for name, value in pairs(last) do named[name] = value end
      inplace, named.inplace = named.inplace, nil
      arguments[n] = next(named) ~= nil and named or nil
      n = arguments[n] and n or n - 1
    elseif n == own + 1 and type(last) == 'boolean' then
      inplace, n = last, n - 1
    end
    return (inplace and in_place or plain)(input, table.unpack(arguments, 1, n))
  end
end

local own_arguments = { relu = 0, relu6 = 0, selu = 0, silu = 0, mish = 0, hardswish = 0, hardsigmoid = 0, elu = 1,
  celu = 1, leaky_relu = 1, hardtanh = 2, threshold = 2 }
for name, own in pairs(own_arguments) do
  local in_place = torch._C.methods[name .. '_']
  functional[name], functional[name .. '_'] = with_inplace(functional[name], in_place, own), in_place
end

-- Max pools: the largest elements, and with return_indices (the last argument, or by name) where they are.
-- `place` is the position that return_indices has among the arguments.
local function max_pool(plain, with_indices, place)
  return function(...)
    local n = select('#', ...)
    local last = n > 0 and select(n, ...)
    if type(last) == 'table' and rawget(last, 'return_indices') ~= nil then
      local arguments, named = { ... }, {}
      for name, value in pairs(last) do
        if name ~= 'return_indices' then named[name] = value end
      end
      arguments[n] = next(named) ~= nil and named or nil
      return (last.return_indices and with_indices or plain)(table.unpack(arguments, 1, arguments[n] and n or n - 1))
    elseif n == place and type(last) == 'boolean' then
      return (last and with_indices or plain)(table.unpack({ ... }, 1, n - 1))
    end
    return plain(...)
  end
end

-- A pool of d dimensions whose output_size may leave some open, to be the input's: {7, false}.
local function open_sizes(pool, d)
  return function(input, size, ...)
    local named = type(size) == 'table' and rawget(size, 'output_size') ~= nil
    local wanted = size
    if named then wanted = size.output_size end
    if type(wanted) ~= 'table' or not torch.is_tensor(input) or input.ndim <= d then return pool(input, size, ...) end
    local list, open = {}, false
    for i = 1, d do
      list[i] = wanted[i]
      if wanted[i] == false or wanted[i] == nil and wanted[d] then list[i], open = input:size(i - d - 1), true end
    end
    if not open then return pool(input, size, ...) end
    return pool(input, named and { output_size = list } or list, ...)
  end
end

for d = 1, 3 do
  local name = ('max_pool%dd'):format(d)
  functional[name] = max_pool(torch[name], torch[name .. '_with_indices'], 7)
  local adaptive, average = open_sizes(torch[('adaptive_max_pool%dd'):format(d)], d), ('adaptive_avg_pool%dd'):format(d)
  functional[average] = open_sizes(torch[average], d)
  functional[('adaptive_max_pool%dd'):format(d)] = max_pool(function(...) return (adaptive(...)) end, adaptive, 3)
  functional[name .. '_with_indices'] = torch[name .. '_with_indices']
  functional[('adaptive_max_pool%dd_with_indices'):format(d)] = adaptive
end

-- Those made of other ops in Lua.
for _, module in ipairs { 'torch.nn.functional.resample', 'torch.nn.functional.sampling', 'torch.nn.functional.fractional',
  'torch.nn.functional.linear_cross_entropy' } do
  for name, fn in pairs(require(module)) do functional[name] = functional[name] or fn end
end

-- What nn.MultiheadAttention does, with the weights as arguments; the layer's file has it.
functional.multi_head_attention_forward = declare.by_name([[
  multi_head_attention_forward(Tensor query, Tensor key, Tensor value, integer? embed_dim_to_check, integer num_heads, Tensor? in_proj_weight,
  Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, boolean? add_zero_attn=false, number? dropout_p=0.0, Tensor out_proj_weight,
  Tensor? out_proj_bias, boolean training=true, Tensor? key_padding_mask, boolean need_weights=true, Tensor? attn_mask,
  boolean use_separate_proj_weight=false, Tensor? q_proj_weight, Tensor? k_proj_weight, Tensor? v_proj_weight, Tensor? static_k,
  Tensor? static_v, boolean average_attn_weights=true, boolean is_causal=false)
]], function(options) return require('torch.nn.layers.attention')._functional(options) end)

return functional
