-- layers.lua - operators of layers: normalization, dropout, pooling, convolution, padding, resizing,
-- activations, losses, embeddings, attention and recurrent layers.

local torch = require 'torch'
local common = require 'torch.export.ops.common'

local F = torch.nn.functional
local listed = common.listed
local named, results = {}, {}

-- ---- normalization ------------------------------------------------------------------------------

local function trains(a) return a.training == nil or a.training end

-- The mean and 1 / (standard deviation) of x over dimensions, which stay with size 1.
local function statistics(x, dims, eps)
  local variance = x:var(dims, { correction = 0, keepdim = true })
  return x:mean(dims, true), (variance + eps):rsqrt()
end

local function batch_norm(a, mean, variance, training)
  local y = F.batch_norm(a.input, mean, variance, a.weight, a.bias, training, a.momentum or 0.1, a.eps)
  if not training or not (a.wants[2] or a.wants[3]) then
    return y, torch.zeros { 0 }, torch.zeros { 0 }
  end
  local dims = {}
  for d = 1, a.input:dim() do
    if d ~= 2 then dims[#dims + 1] = d end
  end
  local saved_mean, saved_scale = statistics(a.input, dims, a.eps)
  return y, saved_mean:reshape(-1), saved_scale:reshape(-1)
end

function named._native_batch_norm_legit_no_training(a) return batch_norm(a, a.running_mean, a.running_var, false) end
function named._native_batch_norm_legit(a) return batch_norm(a, a.running_mean, a.running_var, trains(a)) end
named.native_batch_norm = named._native_batch_norm_legit
function named._native_batch_norm_legit_functional(a)
  local mean, variance = a.running_mean:detach():clone(), a.running_var:detach():clone()
  local y, saved_mean, saved_scale = batch_norm(a, mean, variance, trains(a))
  return y, saved_mean, saved_scale, mean, variance
end

function named.native_layer_norm(a)
  local y = torch.layer_norm(a.input, a.normalized_shape, a.weight, a.bias, a.eps)
  if not (a.wants[2] or a.wants[3]) then return y end
  local dims, n = {}, a.input:dim()
  for i = 1, #a.normalized_shape do dims[i] = n - #a.normalized_shape + i end
  return y, statistics(a.input, dims, a.eps)
end
function named.native_group_norm(a)
  local y = torch.group_norm(a.input, a.group, a.weight, a.bias, a.eps)
  if not (a.wants[2] or a.wants[3]) then return y end
  local mean, scale = statistics(a.input:reshape { a.N, a.group, -1 }, { 3 }, a.eps)
  return y, mean:squeeze(3), scale:squeeze(3)
end
function named._fused_rms_norm(a)
  local y = torch.rms_norm(a.input, a.normalized_shape, a.weight, a.eps)
  if not a.wants[2] then return y end
  local dims, n = {}, a.input:dim()
  for i = 1, #a.normalized_shape do dims[i] = n - #a.normalized_shape + i end
  return y, (a.input:pow(2):mean(dims, true) + a.eps):rsqrt()
end
function named.instance_norm(a)
  return F.instance_norm(a.input, a.running_mean, a.running_var, a.weight, a.bias, a.use_input_stats, a.momentum, a.eps)
end

-- The norm of each slice of v along a dimension.
local function norm_except(v, dim)
  local rest = {}
  for d = 1, v:dim() do
    if d ~= dim then rest[#rest + 1] = d end
  end
  return #rest > 0 and torch.linalg.vector_norm(v, 2, rest, true) or v:abs()
end
function named._weight_norm(a)
  local dim = a.dim or 0
  local norm = dim == -1 and torch.linalg.vector_norm(a.v) or norm_except(a.v, dim + 1)
  return a.v * (a.g / norm), norm
end
named._weight_norm_interface = named._weight_norm
function named.norm_except_dim(a) return norm_except(a.v, (a.dim or 0) + 1) end

-- ---- dropout ------------------------------------------------------------------------------------

function named.dropout(a) return torch.dropout(a.input or a.self, a.p, a.train) end
function named.feature_dropout(a) return F.dropout2d(a.input or a.self, a.p, a.train) end
function named.alpha_dropout(a) return F.alpha_dropout(a.input or a.self, a.p, a.train) end
function named.feature_alpha_dropout(a) return F.feature_alpha_dropout(a.input or a.self, a.p, a.train) end
-- In evaluation, the in-place forms write nothing.
for _, name in ipairs { 'dropout', 'feature_dropout', 'alpha_dropout', 'feature_alpha_dropout' } do
  local drop = named[name]
  named[name .. '_'] = function(a) return a.train and a.p > 0 and a.self:copy_(drop(a)) or a.self end
end
function named.native_dropout(a)
  if a.train == false or a.p == 0 then return a.input:clone(), torch.ones_like(a.input, { dtype = torch.bool }) end
  local mask = torch.empty_like(a.input):bernoulli_(1 - a.p)
  return a.input * mask * (a.p == 1 and 0 or 1 / (1 - a.p)), mask:to(torch.bool)
end

-- ---- pooling and convolution --------------------------------------------------------------------

local function max_pool(n)
  local pool = F['max_pool' .. n .. 'd']
  return function(a)
    local stride = listed(a.stride) or a.kernel_size
    if not a.wants[2] then return pool(a.self, a.kernel_size, stride, a.padding or 0, a.dilation or 1, a.ceil_mode or false) end
    local y, at = pool(a.self, a.kernel_size, stride, a.padding or 0, a.dilation or 1, a.ceil_mode or false, true)
    return y, at - 1
  end
end
named.max_pool1d_with_indices, named.max_pool2d_with_indices, named.max_pool3d_with_indices = max_pool(1), max_pool(2), max_pool(3)
function named._adaptive_avg_pool2d(a) return F.adaptive_avg_pool2d(a.self, a.output_size) end
function named._adaptive_avg_pool3d(a) return F.adaptive_avg_pool3d(a.self, a.output_size) end
-- The values at their positions in zeros; the positions count over the last `n` dimensions.
local function unpool(n)
  return function(a)
    local x, shape, count = a.self, {}, 1
    for d = 1, x:dim() - n do shape[d] = x:size(d) end
    local flat = table.move(shape, 1, #shape, 1, {})
    for i = 1, n do
      local size = a.output_size[#a.output_size - n + i]
      shape[#shape + 1], count = size, count * size
    end
    local function rows(t) return t:reshape(table.move({ -1 }, 1, 1, #flat + 1, table.move(flat, 1, #flat, 1, {}))) end
    flat[#flat + 1] = count
    local zeros = torch.zeros(flat, { dtype = x.dtype, device = x.device })
    flat[#flat] = nil
    return zeros:scatter(-1, common.positions(rows(a.indices)), rows(x)):view(shape)
  end
end
named.max_unpool2d, named.max_unpool3d = unpool(2), unpool(3)
local function fractional(n)
  return function(a)
    local y, at = F['fractional_max_pool' .. n .. 'd'](a.self, a.kernel_size, { output_size = a.output_size, return_indices = true, _random_samples = a.random_samples })
    return y, at - 1
  end
end
named.fractional_max_pool2d, named.fractional_max_pool3d = fractional(2), fractional(3)

function named.convolution(a)
  local n = a.input:dim() - 2
  if a.transposed then
    return F['conv_transpose' .. n .. 'd'](a.input, a.weight, a.bias, a.stride, a.padding, a.output_padding, a.groups, a.dilation)
  end
  return F['conv' .. n .. 'd'](a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups)
end
named._convolution, named.convolution_overrideable = named.convolution, named.convolution
function named.conv_tbc(a)
  return F.conv1d(a.self:permute(2, 3, 1), a.weight:permute(3, 2, 1), a.bias, 1, a.pad or 0):permute(3, 1, 2)
end
function named.channel_shuffle(a) return F.channel_shuffle(a.self, a.groups) end
named.native_channel_shuffle = named.channel_shuffle

-- ---- padding ------------------------------------------------------------------------------------

local modes = { [0] = 'constant', 'reflect', 'replicate', 'circular' }
local function padded(mode)
  return function(a) return F.pad(a.self, a.padding or a.pad, mode) end
end
for n = 1, 3 do
  named['reflection_pad' .. n .. 'd'], named['replication_pad' .. n .. 'd'] = padded 'reflect', padded 'replicate'
end
named._pad_circular = padded 'circular'
function named._pad_enum(a) return F.pad(a.self, a.pad, modes[a.mode], a.value) end

-- ---- sizes of images ----------------------------------------------------------------------------

local function scales_of(a)
  if a.scale_factors then return a.scale_factors end
  local names = a.scales and { 'scales' } or a.scales_d and { 'scales_d', 'scales_h', 'scales_w' } or { 'scales_h', 'scales_w' }
  local scales = {}
  for i, name in ipairs(names) do scales[i] = a[name] end
  return #scales == #names and scales or nil
end

-- With factors, a size that they do not give is an error of PyTorch's operator, too.
local function resized(mode, antialias)
  return function(a)
    local x, scales = a.input or a.self, scales_of(a)
    return F.interpolate(x, { size = not scales and a.output_size or nil, scale_factor = scales, mode = mode, align_corners = a.align_corners, antialias = antialias })
  end
end
for n, linear in ipairs { 'linear', 'bilinear', 'trilinear' } do
  local suffix = n .. 'd'
  named['upsample_nearest' .. suffix], named['_upsample_nearest_exact' .. suffix] = resized 'nearest', resized 'nearest-exact'
  named['upsample_' .. linear .. suffix] = resized(linear)
end
named.upsample_bicubic2d, named._upsample_bilinear2d_aa, named._upsample_bicubic2d_aa = resized 'bicubic', resized('bilinear', true), resized('bicubic', true)

local samplings, borders = { [0] = 'bilinear', 'nearest', 'bicubic' }, { [0] = 'zeros', 'border', 'reflection' }
function named.grid_sampler(a) return F.grid_sample(a.input, a.grid, samplings[a.interpolation_mode], borders[a.padding_mode], a.align_corners) end
named.grid_sampler_2d, named.grid_sampler_3d = named.grid_sampler, named.grid_sampler
function named.affine_grid_generator(a) return F.affine_grid(a.theta, a.size, a.align_corners) end

-- ---- activations --------------------------------------------------------------------------------

function named._softmax(a) return torch.softmax(a.self, common.dim_of(a.self, a.dim)) end
function named._log_softmax(a) return torch.log_softmax(a.self, common.dim_of(a.self, a.dim)) end
function named._safe_softmax(a)
  local dim = common.dim_of(a.self, a.dim)
  local x = a.dtype and a.self:to(a.dtype) or a.self
  return torch.softmax(x, dim):masked_fill(x:eq(-math.huge):all(dim, true), 0)
end
function named.elu(a)
  local scale, inner = a.scale or 1, a.input_scale or 1
  local x = a.self or a.input
  if scale == 1 and inner == 1 then return F.elu(x, a.alpha or 1) end
  return torch.where(x:gt(0), x * scale, (x:clamp { max = 0 } * inner):expm1() * ((a.alpha or 1) * scale))
end
function named.log_sigmoid(a) return F.logsigmoid(a.self) end
function named.log_sigmoid_forward(a) return F.logsigmoid(a.self), torch.zeros { 0 } end
function named._prelu_kernel(a) return torch.where(a.self:gt(0), a.self, a.self * a.weight) end
local function rrelu(a) return F.rrelu(a.self, a.lower or 1 / 8, a.upper or 1 / 3, a.training or false) end
named.rrelu_with_noise = rrelu
function named.rrelu_with_noise_functional(a) return rrelu(a), a.noise:clone() end

-- ---- losses -------------------------------------------------------------------------------------

local function reduction_of(a) return common.reductions[a.reduction or 1] end
function named.nll_loss_nd(a)
  return torch.nll_loss(a.self, common.positions(a.target), { weight = a.weight, reduction = reduction_of(a), ignore_index = (a.ignore_index or -100) + ((a.ignore_index or -100) >= 0 and 1 or 0) })
end
named.nll_loss, named.nll_loss2d = named.nll_loss_nd, named.nll_loss_nd
function named.nll_loss_forward(a)
  if not a.wants[2] then return named.nll_loss_nd(a) end
  local ignored = a.target:eq(a.ignore_index or -100)
  local weights = a.weight and torch.where(ignored, 0, a.weight[common.positions(torch.where(ignored, 0, a.target))]) or ignored:logical_not():to(a.self.dtype)
  return named.nll_loss_nd(a), weights:sum()
end
named.nll_loss2d_forward = named.nll_loss_forward
function named.cross_entropy_loss(a)
  local options = { weight = a.weight, reduction = reduction_of(a), label_smoothing = a.label_smoothing or 0 }
  if a.target.dtype.is_floating_point then return F.cross_entropy(a.self, a.target, options) end
  local ignored = a.ignore_index or -100
  options.ignore_index = ignored + (ignored >= 0 and 1 or 0)
  return F.cross_entropy(a.self, common.positions(a.target), options)
end
function named.ctc_loss(a)
  local function lengths(x) return torch.is_tensor(x) and x or torch.tensor(x, { dtype = torch.int64 }) end
  return F.ctc_loss(a.log_probs, common.positions(a.targets), lengths(a.input_lengths), lengths(a.target_lengths), (a.blank or 0) + 1, reduction_of(a), a.zero_infinity or false)
end
function named._ctc_loss(a)
  local loss = named.ctc_loss { log_probs = a.log_probs, targets = a.targets, input_lengths = a.input_lengths, target_lengths = a.target_lengths, blank = a.blank, reduction = 0, zero_infinity = a.zero_infinity }
  return loss
end
function named.multilabel_margin_loss(a) return F.multilabel_margin_loss(a.self, common.positions(a.target), { reduction = reduction_of(a) }) end
named.multilabel_margin_loss_forward = named.multilabel_margin_loss
results._ctc_loss, results.multilabel_margin_loss_forward = 1, 1

-- ---- embeddings ---------------------------------------------------------------------------------

-- In ATen, -1 is no row for padding.
function named.embedding(a)
  local padding = a.padding_idx or -1
  return torch.embedding(a.weight, common.positions(a.indices), { padding_idx = padding >= 0 and padding + 1 or nil, scale_grad_by_freq = a.scale_grad_by_freq or false })
end

local bags = { [0] = 'sum', 'mean', 'max' }
function named.embedding_bag(a)
  local padding = a.padding_idx or -1
  local offsets = a.offsets and a.offsets + 1
  return F.embedding_bag(common.positions(a.indices), a.weight, { offsets = offsets, mode = bags[a.mode or 0], scale_grad_by_freq = a.scale_grad_by_freq or false,
    per_sample_weights = a.per_sample_weights, include_last_offset = a.include_last_offset or false, padding_idx = padding >= 0 and padding + 1 or nil })
end
named._embedding_bag, named._embedding_bag_forward_only = named.embedding_bag, named.embedding_bag
results.embedding_bag, results._embedding_bag, results._embedding_bag_forward_only = 1, 1, 1
function named.embedding_renorm_(a)
  local at = common.positions(a.indices:reshape(-1):unique())
  torch.no_grad(function()
    local rows = a.self[at]
    local norms = torch.linalg.vector_norm(rows, a.norm_type, { 2 }, true)
    a.self[at] = torch.where(norms:gt(a.max_norm), rows * (a.max_norm / (norms + 1e-7)), rows)
  end)
  return a.self
end

-- ---- attention ----------------------------------------------------------------------------------

local function attention(a)
  return F.scaled_dot_product_attention(a.query, a.key, a.value, a.attn_mask or a.attn_bias, a.dropout_p or 0, a.is_causal or false, { scale = a.scale, enable_gqa = a.enable_gqa or false })
end
named._scaled_dot_product_flash_attention_for_cpu, named._scaled_dot_product_attention_math = attention, attention
results._scaled_dot_product_flash_attention_for_cpu, results._scaled_dot_product_attention_math = 1, 1

-- ---- recurrent layers ---------------------------------------------------------------------------

-- params: w_ih, w_hh (, b_ih, b_hh) (, w_hr) of each direction of each layer; data and batch_sizes:
-- the rows of a packed sequence. Returns the output and the last states.
local function recurrent_of(cell)
  return function(a)
    local recurrent = require 'torch.nn.functional.recurrent'
    local x, hx, cx = a.data or a.input, a.hx, nil
    if cell == 'lstm' then hx, cx = a.hx[1], a.hx[2] end
    local directions = a.bidirectional and 2 or 1
    local weights = recurrent.by_direction(a.params, a.num_layers * directions)
    local dropout = a.train and a.dropout > 0 and a.dropout or nil
    local is_projected = cell == 'lstm' and cx:size(-1) ~= hx:size(-1)
    if is_projected and not a.has_biases then
      for i, list in ipairs(weights) do weights[i] = { list[1], list[2], nil, nil, list[3] } end
    end
    if a.data then
      return recurrent.layers(x, hx, cx, weights, cell, directions, a.batch_sizes, dropout)
    end
    if a.batch_first then x = x:transpose(1, 2) end
    local length, batch = x:size(1), x:size(2)
    local rows, hn, cn = recurrent.layers(x:reshape(length * batch, x:size(3)), hx, cx, weights, cell, directions, nil, dropout)
    local y = rows:view(length, batch, rows:size(2))
    return a.batch_first and y:transpose(1, 2) or y, hn, cn
  end
end
named.lstm, named.gru = recurrent_of 'lstm', recurrent_of 'gru'
named.rnn_tanh, named.rnn_relu = recurrent_of 'tanh', recurrent_of 'relu'

return { named = named, results = results }
