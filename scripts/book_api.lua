-- book_api.lua - lists the names of the book's API by group, each as present or missing.
--
-- Usage: build/ltensor scripts/book_api.lua [-m]      -m lists missing names only
--
-- A missing name in a group of the tensor library (operations, methods and functional forms) sets
-- exit status 1; the other groups (layers, training, data, distributions) are only listed.

local torch = require 'torch'

local function words(text)
  local list = {}
  for word in text:gmatch '%S+' do list[#list + 1] = word end
  return list
end

local function part(parent, name)
  local ok, value = pcall(function() return parent[name] end)
  if ok then return value end
end

local tensor = torch.ones(2, 2)
local nn = part(torch, 'nn')

-- { title, the table that is searched, the names, whether they belong to the tensor library }
local groups = {
  { 'torch: tensors and their making', torch, [[
    tensor zeros ones full eye arange linspace logspace empty empty_strided empty_like zeros_like ones_like full_like from_numpy
    is_tensor numel save load set_printoptions is_grad_enabled no_grad enable_grad set_grad_enabled inference_mode
    float16 float32 float64 bfloat16 half float double uint8 int8 int16 int32 int64 short int long bool device Size
    get_default_dtype set_default_dtype is_floating_point]], true },
  { 'torch: random numbers', torch, [[
    manual_seed seed initial_seed Generator get_rng_state set_rng_state rand rand_like randn randn_like randint randint_like randperm
    normal bernoulli multinomial poisson]], true },
  { 'torch: elementwise', torch, [[
    abs sign neg negative reciprocal sqrt rsqrt square pow exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh
    asinh acosh atanh sigmoid logit erf erfc erfinv lgamma digamma floor ceil round trunc frac fmod remainder floor_divide
    true_divide maximum minimum fmax fmin clamp clip lerp addcmul addcdiv hypot copysign heaviside nan_to_num isnan isinf isfinite
    isclose allclose equal eq ne lt le gt ge logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor
    bitwise_not bitwise_left_shift bitwise_right_shift where masked_fill masked_scatter relu add sub mul div absolute]], true },
  { 'torch: reductions and orders', torch, [[
    sum mean prod std var norm max min amax amin aminmax argmax argmin any all logsumexp cumsum cumprod cummax
    cummin logcumsumexp nansum nanmean median nanmedian mode kthvalue quantile nanquantile topk sort argsort msort unique
    unique_consecutive count_nonzero bincount histc softmax log_softmax trace]], true },
  { 'torch: shapes', torch, [[
    reshape flatten unflatten permute movedim moveaxis swapaxes swapdims transpose t squeeze unsqueeze broadcast_to
    broadcast_tensors tile repeat_interleave cat concat stack hstack vstack dstack chunk split tensor_split narrow select unbind
    flip roll rot90 diagonal diag diag_embed diagflat tril triu tril_indices triu_indices as_strided meshgrid cartesian_prod
    combinations block_diag ravel fliplr flipud atleast_1d atleast_2d atleast_3d column_stack row_stack clone detach]], true },
  { 'torch: positions', torch, [[
    gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_put masked_select take
    take_along_dim nonzero argwhere searchsorted bucketize]], true },
  { 'torch: products', torch, [[
    dot mv mm bmm matmul addmm addmv addr baddbmm addbmm outer ger inner tensordot kron einsum cross cdist chain_matmul vdot
    matrix_power inverse det slogdet logdet cholesky qr svd pinverse]], true },
  { 'torch.linalg', part(torch, 'linalg'), [[
    inv solve det slogdet cholesky qr svd svdvals eigh eigvalsh lstsq pinv matrix_norm vector_norm norm matrix_power matrix_rank
    multi_dot cross solve_triangular]], true },
  { 'Tensor: methods', tensor, [[
    reshape view view_as reshape_as flatten unflatten permute movedim swapaxes transpose t squeeze unsqueeze expand expand_as broadcast_to
    repeat tile repeat_interleave chunk split tensor_split narrow select unbind flip roll rot90 diagonal diag diag_embed tril
    triu unfold as_strided sum_to_size contiguous is_contiguous clone detach size stride dim numel element_size storage_offset
    item tolist to cpu cuda type float double half bfloat16 int long short bool abs sign sqrt square pow exp log sin cos tanh sigmoid relu clamp
    floor ceil round sum mean std var max min argmax argmin argsort sort topk norm cumsum cumprod prod any all dot mv mm bmm matmul
    nonzero unique gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_put put masked_select
    masked_fill masked_scatter take take_along_dim new_empty new_zeros new_ones new_full new_tensor backward requires_grad_ retain_grad
    register_hook detach_ fill_diagonal_ data_ptr]], true },
  { 'Tensor: in place', tensor, [[
    add_ sub_ mul_ div_ pow_ abs_ neg_ sqrt_ square_ exp_ log_ sin_ cos_ tanh_ sigmoid_ relu_ clamp_ floor_ ceil_ round_ trunc_
    reciprocal_ rsqrt_ fill_ zero_ copy_ masked_fill_ masked_scatter_ index_fill_ index_add_ index_copy_ index_put_ put_ scatter_
    scatter_add_ scatter_reduce_ addmm_ addcmul_ addcdiv_ lerp_ tril_ triu_ uniform_ normal_ random_ bernoulli_ exponential_
    geometric_ cauchy_ log_normal_ squeeze_ unsqueeze_ transpose_ t_]], true },
  { 'nn.functional', nn and part(nn, 'functional'), [[
    relu relu6 leaky_relu elu selu celu gelu silu mish softplus hardtanh hardswish hardsigmoid sigmoid tanh softmax log_softmax softmin
    threshold logsigmoid softsign tanhshrink prelu glu linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d max_pool1d
    max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool1d adaptive_max_pool2d unfold fold
    interpolate grid_sample pixel_shuffle batch_norm layer_norm group_norm instance_norm rms_norm dropout dropout1d dropout2d
    alpha_dropout embedding embedding_bag one_hot scaled_dot_product_attention cross_entropy nll_loss mse_loss l1_loss
    smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div hinge_embedding_loss
    margin_ranking_loss cosine_embedding_loss triplet_margin_loss poisson_nll_loss gaussian_nll_loss normalize cosine_similarity
    pairwise_distance pad]], true },
  { 'torch.distributions', part(torch, 'distributions'), 'Normal Uniform Bernoulli Categorical Multinomial Gamma' },
  { 'nn', nn, [[
    Module Sequential ModuleList ModuleDict Parameter Linear Flatten ReLU Sigmoid Tanh GELU Dropout Embedding Conv1d Conv2d
    ConvTranspose2d MaxPool2d AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d BatchNorm1d BatchNorm2d LayerNorm
    RNN GRU LSTM MultiheadAttention CrossEntropyLoss MSELoss L1Loss BCEWithLogitsLoss NLLLoss DataParallel]] },
  { 'nn.parallel', nn and part(nn, 'parallel'), 'scatter gather replicate parallel_apply' },
  { 'nn.init', nn and part(nn, 'init'), [[
    xavier_uniform_ xavier_normal_ normal_ uniform_ zeros_ ones_ constant_ kaiming_uniform_ kaiming_normal_]] },
  { 'Module: methods', nn and nn.Linear(1, 1), [[
    add_module apply children modules eval train parameters named_parameters buffers state_dict load_state_dict zero_grad to cuda cpu half
    double requires_grad_ register_buffer forward register_forward_hook]] },
  { 'torch.optim', part(torch, 'optim'), 'SGD Adam AdamW Adagrad Adadelta RMSprop lr_scheduler' },
  { 'optim.lr_scheduler', torch.optim and part(torch.optim, 'lr_scheduler'), 'StepLR MultiStepLR CosineAnnealingLR LambdaLR' },
  { 'nn.utils', nn and part(nn, 'utils'), 'clip_grad_norm_ clip_grad_value_' },
  { 'torch.utils.data', torch.utils and part(torch.utils, 'data'), [[
    Dataset TensorDataset DataLoader random_split Sampler SequentialSampler RandomSampler BatchSampler]] },
}

local only_missing = arg and arg[1] == '-m'
local failed, total, there = false, 0, 0
for _, group in ipairs(groups) do
  local title, place, names, required = table.unpack(group, 1, 4)
  local missing, list = 0, words(names)
  local lines = {}
  for _, name in ipairs(list) do
    local present = place ~= nil and part(place, name) ~= nil
    if not present then missing = missing + 1 end
    if not present or not only_missing then lines[#lines + 1] = ('  %-36s %s'):format(name, present and 'present' or 'missing') end
  end
  total, there = total + #list, there + #list - missing
  if required and missing > 0 then failed = true end
  print(('%s: %d of %d'):format(title, #list - missing, #list))
  for _, line in ipairs(lines) do print(line) end
end
print(('%d of %d names present'):format(there, total))
if failed then os.exit(1, true) end
