-- names.lua - qualified names of operations, as PyTorch writes them: for lt_call ("linalg.solve"), and for C
-- (lt_linalg_solve). src/ops/README.md describes the rule. May use only Lua's standard library.

local M = {}

-- Prefixes of the names of operations that are in a module of torch.
local modules = { linalg = true, fft = true, special = true }

-- Functions of a module that are operations of torch by the same name, or by the one after '='.
-- tests/lua/operation_names_spec.lua compares them with the modules.
local shared = {
  linalg = 'inv=inverse det slogdet cholesky matrix_power matmul',
  special = [[
    expit=sigmoid gammainc=igamma gammaincc=igammac gammaln=lgamma multigammaln=mvlgamma psi=digamma digamma erf erfc
    erfinv exp2 expm1 i0 log1p log_softmax logit logsumexp polygamma round sinc softmax xlogy]],
  ['nn.functional'] = [[
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d bilinear celu celu_
    adaptive_max_pool1d_with_indices=adaptive_max_pool1d adaptive_max_pool2d_with_indices=adaptive_max_pool2d
    adaptive_max_pool3d_with_indices=adaptive_max_pool3d channel_shuffle conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d cosine_similarity cross_entropy elu elu_ fold=col2im gelu group_norm hardshrink
    hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ l1_loss layer_norm leaky_relu leaky_relu_ linear
    log_softmax max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
    max_pool3d_with_indices mish mish_ mse_loss nll_loss one_hot pad pairwise_distance pdist pixel_shuffle
    pixel_unshuffle prelu relu relu6 relu6_ relu_ rms_norm rrelu selu selu_ sigmoid silu silu_ softmax softmin
    softplus tanh threshold threshold_ unfold=im2col]],
}

-- The name of a function of the declarations for lt_call. is_nn: it is in torch.nn.functional only.
function M.of_call(name, is_nn)
  if is_nn then return 'nn.functional.' .. name end
  local module, own = name:match '^(%l+)_(.+)$'
  return modules[module] and module .. '.' .. own or name
end

-- The names for C of a qualified name, in the order of preference: without torch.nn.functional, which shares the names
-- of torch; with _nn if torch has another operation of that name.
function M.of_c(qualified)
  local own = qualified:match '^nn%.functional%.(.*)$'
  if own then return { own, own .. '_nn' } end
  return { (qualified:gsub('%.', '_')) }
end

-- The functions of modules that are operations of torch: name of the operation -> list of qualified names.
function M.shared()
  local by_op = {}
  for module, words in pairs(shared) do
    for own, op in words:gsub('%f[%S][%w_]+%f[%s\0]', '%0=%0'):gmatch '([%w_]+)=([%w_]+)' do
      by_op[op] = by_op[op] or {}
      table.insert(by_op[op], module .. '.' .. own)
    end
  end
  for _, list in pairs(by_op) do table.sort(list) end
  return by_op
end

return M
