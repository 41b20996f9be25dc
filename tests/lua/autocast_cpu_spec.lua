-- Which dtype ops give under torch.autocast('cpu'), of float32 and of bfloat16 arguments: what PyTorch 2.13 gives, op by op.

local torch = require 'torch'

local F = torch.nn.functional

-- A row a result: f32 and bf16 arguments' results, then the ops.
local rows = {
  { 'bfloat16', 'bfloat16', 'matmul mm bmm addmm addbmm baddbmm multi_dot einsum inner tensordot linear conv1d conv2d '
    .. 'conv3d conv_transpose2d sdpa prelu' },
  { 'float32', 'bfloat16', 'mv dot addmv addr outer layer_norm group_norm batch_norm instance_norm rms_norm normalize softmax '
    .. 'log_softmax softmin gelu silu relu softplus sigmoid exp log pow sum mean cumsum cumprod norm var std logsumexp '
    .. 'median cosine_similarity pairwise_distance avg_pool1d avg_pool2d max_pool2d interpolate gaussian_nll_loss' },
  { 'float32', 'float32', 'prod_dim cdist trace quantile nanquantile mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy '
    .. 'nll_loss bce bce_logits kl_div poisson_nll_loss soft_margin_loss hinge_embedding_loss margin_ranking_loss '
    .. 'cosine_embedding_loss triplet_margin_loss multi_margin_loss multilabel_margin_loss avg_pool3d adaptive_avg_pool3d '
    .. 'local_response_norm inv qr svdvals eigvalsh solve cholesky lstsq cat stack index_copy addcdiv '
    .. 'addcmul atan2' },
}

local function rand(...) return torch.rand(...) end

-- f(cast): cast gives an argument its dtype.
local calls = {
  matmul = function(c) return c(rand(3, 3)):matmul(c(rand(3, 3))) end, mm = function(c) return torch.mm(c(rand(3, 3)), c(rand(3, 3))) end,
  bmm = function(c) return torch.bmm(c(rand(2, 3, 3)), c(rand(2, 3, 3))) end,
  addmm = function(c) return torch.addmm(c(rand(3, 3)), c(rand(3, 3)), c(rand(3, 3))) end,
  addbmm = function(c) return torch.addbmm(c(rand(3, 3)), c(rand(2, 3, 3)), c(rand(2, 3, 3))) end,
  baddbmm = function(c) return torch.baddbmm(c(rand(2, 3, 3)), c(rand(2, 3, 3)), c(rand(2, 3, 3))) end,
  multi_dot = function(c) return torch.linalg.multi_dot { c(rand(3, 3)), c(rand(3, 3)) } end,
  einsum = function(c) return torch.einsum('ij,jk->ik', c(rand(3, 3)), c(rand(3, 3))) end,
  inner = function(c) return torch.inner(c(rand(3, 3)), c(rand(3, 3))) end,
  tensordot = function(c) return torch.tensordot(c(rand(3, 3)), c(rand(3, 3)), 1) end,
  linear = function(c) return F.linear(c(rand(3, 3)), c(rand(3, 3))) end,
  conv1d = function(c) return F.conv1d(c(rand(1, 2, 5)), c(rand(3, 2, 3))) end,
  conv2d = function(c) return F.conv2d(c(rand(1, 2, 4, 4)), c(rand(3, 2, 3, 3))) end,
  conv3d = function(c) return F.conv3d(c(rand(1, 2, 4, 4, 4)), c(rand(3, 2, 3, 3, 3))) end,
  conv_transpose2d = function(c) return F.conv_transpose2d(c(rand(1, 2, 4, 4)), c(rand(2, 3, 3, 3))) end,
  sdpa = function(c) return F.scaled_dot_product_attention(c(rand(2, 3, 3)), c(rand(2, 3, 3)), c(rand(2, 3, 3))) end,
  prelu = function(c) return F.prelu(c(rand(3, 3)), c(rand(1))) end,
  mv = function(c) return torch.mv(c(rand(3, 3)), c(rand(3))) end, dot = function(c) return torch.dot(c(rand(3)), c(rand(3))) end,
  addmv = function(c) return torch.addmv(c(rand(3)), c(rand(3, 3)), c(rand(3))) end,
  addr = function(c) return torch.addr(c(rand(3, 3)), c(rand(3)), c(rand(3))) end,
  outer = function(c) return torch.outer(c(rand(3)), c(rand(3))) end,
  layer_norm = function(c) return F.layer_norm(c(rand(3, 3)), { 3 }) end,
  group_norm = function(c) return F.group_norm(c(rand(1, 2, 4, 4)), 1) end,
  batch_norm = function(c) return F.batch_norm(c(rand(1, 2, 4, 4)), torch.zeros(2), torch.ones(2)) end,
  instance_norm = function(c) return F.instance_norm(c(rand(1, 2, 4, 4))) end,
  rms_norm = function(c) return F.rms_norm(c(rand(3, 3)), { 3 }) end,
  pow = function(c) return c(rand(3)) ^ 2 end, cumsum = function(c) return c(rand(3)):cumsum(1) end,
  cumprod = function(c) return c(rand(3)):cumprod(1) end,
  logsumexp = function(c) return c(rand(3)):logsumexp(1) end, prod_dim = function(c) return c(rand(3, 3)):prod(1) end,
  cdist = function(c) return torch.cdist(c(rand(3, 3)), c(rand(3, 3))) end, trace = function(c) return torch.trace(c(rand(3, 3))) end,
  quantile = function(c) return torch.quantile(c(rand(3)), 0.5) end, nanquantile = function(c) return torch.nanquantile(c(rand(3)), 0.5) end,
  cross_entropy = function(c) return F.cross_entropy(c(rand(3, 3)), torch.tensor { 1, 2, 3 }) end,
  nll_loss = function(c) return F.nll_loss(c(rand(3, 3)), torch.tensor { 1, 2, 3 }) end,
  bce = function(c) return F.binary_cross_entropy(c(rand(3)), c(rand(3))) end,
  bce_logits = function(c) return F.binary_cross_entropy_with_logits(c(rand(3)), c(rand(3))) end,
  gaussian_nll_loss = function(c) return F.gaussian_nll_loss(c(rand(3, 3)), c(rand(3, 3)), c(rand(3, 3))) end,
  margin_ranking_loss = function(c) return F.margin_ranking_loss(c(rand(3)), c(rand(3)), c(rand(3))) end,
  cosine_embedding_loss = function(c) return F.cosine_embedding_loss(c(rand(3, 3)), c(rand(3, 3)), c(rand(3))) end,
  triplet_margin_loss = function(c) return F.triplet_margin_loss(c(rand(3, 3)), c(rand(3, 3)), c(rand(3, 3))) end,
  multi_margin_loss = function(c) return F.multi_margin_loss(c(rand(3, 3)), torch.tensor { 1, 2, 3 }) end,
  multilabel_margin_loss = function(c) return F.multilabel_margin_loss(c(rand(1, 3)), torch.tensor { { 1, 0, 1 } }) end,
  avg_pool1d = function(c) return F.avg_pool1d(c(rand(1, 2, 4)), 2) end, avg_pool2d = function(c) return F.avg_pool2d(c(rand(1, 2, 4, 4)), 2) end,
  avg_pool3d = function(c) return F.avg_pool3d(c(rand(1, 2, 4, 4, 4)), 2) end, max_pool2d = function(c) return F.max_pool2d(c(rand(1, 2, 4, 4)), 2) end,
  adaptive_avg_pool3d = function(c) return F.adaptive_avg_pool3d(c(rand(1, 2, 4, 4, 4)), 2) end,
  interpolate = function(c) return F.interpolate(c(rand(1, 2, 4, 4)), { scale_factor = 2, mode = 'bilinear' }) end,
  local_response_norm = function(c) return F.local_response_norm(c(rand(1, 2, 4, 4)), 2) end,
  inv = function(c) return torch.linalg.inv(c(torch.eye(3))) end,
  qr = function(c) return (torch.linalg.qr(c(rand(3, 3)))) end, svdvals = function(c) return torch.linalg.svdvals(c(rand(3, 3))) end,
  eigvalsh = function(c) return torch.linalg.eigvalsh(c(torch.eye(3))) end,
  solve = function(c) return torch.linalg.solve(c(torch.eye(3)), c(rand(3, 3))) end,
  cholesky = function(c) return torch.linalg.cholesky(c(torch.eye(3))) end,
  lstsq = function(c) return (torch.linalg.lstsq(c(torch.eye(3)), c(rand(3, 3)))) end,
  cat = function(c) return torch.cat { c(rand(3)), rand(3) } end, stack = function(c) return torch.stack { c(rand(3)), rand(3) } end,
  index_copy = function(c) return c(rand(3, 3)):index_copy(1, torch.tensor { 1 }, rand(1, 3)) end,
  addcdiv = function(c) return torch.addcdiv(c(rand(3)), rand(3), rand(3)) end,
  addcmul = function(c) return torch.addcmul(c(rand(3)), rand(3), rand(3)) end,
  atan2 = function(c) return torch.atan2(c(rand(3)), rand(3)) end,
}
for name in ([[softmax log_softmax softmin]]):gmatch '%S+' do calls[name] = function(c) return F[name](c(rand(3, 3)), 1) end end
for name in ([[normalize gelu silu relu softplus]]):gmatch '%S+' do calls[name] = function(c) return F[name](c(rand(3, 3))) end end
for name in ([[sigmoid exp log sum mean norm var std median]]):gmatch '%S+' do calls[name] = function(c) return torch[name](c(rand(3, 3))) end end
for name in ([[mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss soft_margin_loss hinge_embedding_loss
  cosine_similarity pairwise_distance]]):gmatch '%S+' do
  calls[name] = function(c) return F[name](c(rand(3, 3)), c(rand(3, 3))) end
end

describe('autocast of the CPU #cpu', function()
  for _, row in ipairs(rows) do
    for name in row[3]:gmatch '%S+' do
      it(('gives %s of %s and %s'):format(name, row[1], row[2]), function()
        for i, dtype in ipairs { torch.float32, torch.bfloat16 } do
          local result = torch.autocast('cpu', function() return calls[name](function(x) return x:to(dtype) end) end)
          assert.equal('torch.' .. row[i], tostring(result.dtype))
        end
      end)
    end
  end

  it('gives layer_norm with weights of float32 the dtype of its input', function()
    local norm, x = torch.nn.LayerNorm(3), rand(2, 3)
    torch.autocast('cpu', function()
      assert.equal('torch.bfloat16', tostring(norm(x:bfloat16()).dtype))
      assert.equal('torch.float32', tostring(norm(x).dtype))
    end)
  end)
end)
