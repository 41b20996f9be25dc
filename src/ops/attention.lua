-- attention.lua - scaled dot product attention in blocks: neither forward nor backward allocates memory of
-- queries x keys (src/core/cpu/nn/attention.c, src/cuda/kernels/nn/attention.cu). Cases without a kernel use a
-- formula.

return {
  { 'scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=nil, float dropout_p=0.0, bool is_causal=false, *, float? scale=nil, bool enable_gqa=false) -> Tensor', random = 'dropout_p > 0',
    variants = 'nn c_out', overlap = 'copied', composite = true,
    doc = 'softmax(query key^T * scale + attn_mask) value, over the last two dimensions; scale is 1 / sqrt(width) when not given. A bool mask is true for keys that are attended to; enable_gqa lets several query heads share one of key and value.' },
  { '_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor? seed, float dropout_p, bool is_causal, float scale) -> (Tensor result, Tensor logsumexp)',
    batch = 'attention', variants = '', grad_fn = 'ScaledDotProductFlashAttentionForCpuBackward0',
    doc = 'Attention of [batch, heads, queries or keys, width], and the logarithms of the sums of the exponentials. key and value may have fewer heads. With a seed, two integers, on a GPU, probabilities are dropped.',
    forward = '_attention_tangent(query, key, value, attn_mask, seed, dropout_p, is_causal, scale, query_t, key_t, value_t)',
    grad = { ['query key value'] =
      '_attention_backward(grad, query, key, value, attn_mask, seed, result, logsumexp, dropout_p, is_causal, scale, needs_query, needs_key, needs_value)' } },
  { '_attention_backward(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor? seed, Tensor result, Tensor logsumexp, float dropout_p, bool is_causal, float scale, bool needs_query, bool needs_key, bool needs_value) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)',
    variants = '', composite = true, reads = true, doc = 'The derivatives of attention.' },
  { '_attention_tangent(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor? seed, float dropout_p, bool is_causal, float scale, Tensor query_t, Tensor key_t, Tensor value_t) -> Tensor',
    variants = '', composite = true, reads = true, doc = 'The tangent of attention.' },

  arguments = [=[
query: Query vectors, of shape (..., L, E).
key: Key vectors, of shape (..., S, E).
value: Value vectors, of shape (..., S, V).
attn_mask: Mask that broadcasts to (..., L, S): bool, true where attention is allowed, or a float tensor that is added to the scores.
scale: Factor of the scores; 1 / sqrt(E) if absent.
enable_gqa: Whether groups of query heads share a head of key and value.
]=],

  examples = [=[
scaled_dot_product_attention
    q, k, v = torch.zeros(1, 1, 2), torch.zeros(1, 2, 2), torch.tensor{ { {1.0, 2.0}, {3.0, 4.0} } }
    nn.functional.scaled_dot_product_attention(q, k, v)
    --> tensor([[[2., 3.]]])
]=],
}
