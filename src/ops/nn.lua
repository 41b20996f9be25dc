-- nn.lua - dropout and embedding: functions of torch.nn.functional that are no plain
-- elementwise ops. Embedding ids are positions from 1 in Lua.

return {
  -- ---- layers ---------------------------------------------------------------------------------------------------
  { 'dropout(Tensor input, float p=0.5, bool training=true) -> Tensor', batch = 'broadcast', random = 'training && p > 0', variants = 'function', composite = true,
    doc = 'In training zeroes elements with probability p and scales the rest by 1 / (1 - p).' },
  { 'dropout.nn(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', batch = 'broadcast', random = 'training && p > 0', variants = 'nn', composite = true,
    doc = 'In training zeroes elements with probability p and scales the rest by 1 / (1 - p).' },
  { 'dropout1d(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', random = 'training && p > 0', variants = 'nn', composite = true,
    doc = 'dropout of whole channels of input [n, channels, l].' },
  { 'dropout2d(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', random = 'training && p > 0', variants = 'nn', composite = true,
    doc = 'dropout of whole channels of input [n, channels, h, w].' },
  { 'dropout3d(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', random = 'training && p > 0', variants = 'nn', composite = true,
    doc = 'dropout of whole channels of input [n, channels, d, h, w].' },
  { 'alpha_dropout(Tensor input, float p=0.5, bool training=false, bool inplace=false) -> Tensor', batch = 'broadcast', random = 'training && p > 0', variants = 'nn', composite = true,
    doc = 'dropout to the limit of selu, scaled and shifted so that mean and variance stay.' },
  { 'feature_alpha_dropout(Tensor input, float p=0.5, bool training=false, bool inplace=false) -> Tensor', random = 'training && p > 0', variants = 'nn',
    composite = true, doc = 'alpha_dropout of whole channels.' },

  { 'embedding(Tensor weight, IndexTensor indices, Index? padding_idx=nil, bool scale_grad_by_freq=false, bool sparse=false) -> Tensor', float8 = true, batch = 'embedding', positions = true,
    variants = 'function c_out', overlap = 'copied', doc = 'The rows of weight that indices name; that of padding_idx gets no gradient.',
    forward = 'linear', grad = { weight = '_embedding_backward(grad, sizes_of(weight), indices, padding_idx, scale_grad_by_freq, sparse)' } },
  { 'embedding.nn(IndexTensor input, Tensor weight, Index? padding_idx=nil, float? max_norm=nil, float norm_type=2.0, bool scale_grad_by_freq=false, bool sparse=false) -> Tensor', batch = 'through', positions = true,
    variants = 'nn c_out', overlap = 'copied', composite = true,
    doc = 'The rows of weight at the positions in input, after rows with a norm above max_norm were scaled down to it.' },
  { '_embedding_backward(Tensor grad_output, Size sizes, IndexTensor indices, Index? padding_idx, bool scale_grad_by_freq, bool sparse) -> Tensor',
    variants = '', composite = true, doc = 'Zeros with grad_output added to the rows that were looked up; sparse: only these rows, in COO.' },
  { "embedding_bag(IndexTensor input, Tensor weight, IndexTensor? offsets=nil, float? max_norm=nil, float norm_type=2.0, bool scale_grad_by_freq=false, string mode='mean', bool sparse=false, Tensor? per_sample_weights=nil, bool include_last_offset=false, Index? padding_idx=nil) -> Tensor",
    variants = 'nn', composite = true, reads = true,
    doc = "The sum, mean or max of the rows of each bag: a row of input, or the positions from an entry of offsets to the next." },

  arguments = [=[
p: Probability with which an element or channel is zeroed, between 0 and 1.
weight: Table of the embeddings, of shape (num_embeddings, embedding_dim).
indices: Positions from 1 of rows of the table.
input (IndexTensor): Positions from 1 of rows of the table.
sparse: Whether the gradient of the table is a sparse tensor.
embedding_bag.mode: Reduction of a bag: `'sum'`, `'mean'` or `'max'`.
offsets: Position from 1 at which each bag begins in the indices, which are one-dimensional.
]=],

  examples = [=[
dropout
    torch.manual_seed(0);
    kept = nn.functional.dropout(torch.ones(8), 0.5)
    kept:eq(0):logical_or(kept:eq(2)):all()
    --> tensor(True)
    nn.functional.dropout(torch.ones(3), 0.5, false)
    --> tensor([1., 1., 1.])
dropout1d
    x = nn.functional.dropout1d(torch.ones(2, 4, 3))
    x:amax(3):eq(x:amin(3)):all()
    --> tensor(True)
dropout2d
    x = nn.functional.dropout2d(torch.ones(2, 4, 3, 3))
    x:amax{3, 4}:eq(x:amin{3, 4}):all()
    --> tensor(True)
dropout3d
    nn.functional.dropout3d(torch.ones(1, 2, 2, 2, 2), 0.5, false):sum()
    --> tensor(16.)
alpha_dropout
    nn.functional.alpha_dropout(torch.ones(3))
    --> tensor([1., 1., 1.])
feature_alpha_dropout
    nn.functional.feature_alpha_dropout(torch.ones(1, 2, 3), 0.5, true).shape
    --> torch.Size([1, 2, 3])
embedding
    nn.functional.embedding(torch.tensor{1, 3}, torch.tensor{ {1.0, 1.0}, {2.0, 2.0}, {3.0, 3.0} })
    --> tensor([[1., 1.],
    -->         [3., 3.]])
embedding_bag
    weight = torch.tensor{ {1.0, 1.0}, {2.0, 2.0}, {3.0, 3.0} }
    nn.functional.embedding_bag(torch.tensor{ {1, 3}, {2, 2} }, weight, {mode = 'sum'})
    --> tensor([[4., 4.],
    -->         [4., 4.]])
]=],
}
