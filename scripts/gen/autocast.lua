-- autocast.lua - the operations with arguments that torch.autocast casts, by name, as in PyTorch:
-- to the lower precision ('LOWER'), to float32 ('FLOAT32'), or to the widest dtype of the arguments
-- ('WIDEST'). Undeclared names are ignored.
--
-- Our composite operations call others without casting; the ones that multiply matrices are listed
-- themselves.

local M = { cpu = {}, cuda = {} }

local function put(device, policy, names)
  for name in names:gmatch '%S+' do M[device][name] = policy end
end

local lower = [[
  addbmm addmm baddbmm bmm chain_matmul conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d einsum
  gru gru_cell inner linalg_multi_dot linalg_vecdot linear lstm lstm_cell matmul mm multi_head_attention prelu rnn_relu
  rnn_tanh rnn_relu_cell rnn_tanh_cell scaled_dot_product_attention tensordot]]
put('cuda', 'LOWER', lower .. ' addmv addr mv')
put('cpu', 'LOWER', lower)

put('cuda', 'FLOAT32', [[
  acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss cosine_similarity cross_entropy cumprod
  cumsum dist erfinv exp expm1 gaussian_nll_loss group_norm hinge_embedding_loss huber_loss kl_div l1_loss layer_norm
  log log10 log1p log2 log_softmax margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss norm
  normalize pairwise_distance pdist poisson_nll_loss pow prod reciprocal renorm rsqrt sinh smooth_l1_loss
  soft_margin_loss softmax softmin softplus sum tan triplet_margin_loss]])
put('cpu', 'FLOAT32', [[
  adaptive_avg_pool3d avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits cdist cosine_embedding_loss
  cross_entropy ctc_loss hinge_embedding_loss huber_loss kl_div l1_loss linalg_cholesky linalg_cond linalg_det
  linalg_eigh linalg_eigvalsh linalg_inv linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve linalg_svd linalg_svdvals
  inverse cholesky qr svd local_response_norm margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss
  nanquantile nll_loss poisson_nll_loss prod quantile smooth_l1_loss soft_margin_loss trace triplet_margin_loss]])

put('cuda', 'WIDEST', [[
  addcdiv addcmul atan2 bilinear cat cross dot grid_sample index_put scatter_add stack vdot]])
put('cpu', 'WIDEST', 'cat stack index_copy')

return M
