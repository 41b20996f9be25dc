-- sparse.lua - sparse tensors: construction, components, other layouts (docs/design/sparse.md). The support of
-- ordinary ops for them is the field `sparse` of their declarations. lib/sparse.lua has the public
-- constructors, which take tables.

return {
  -- ---- construction ---------------------------------------------------------------------------------------------
  { 'sparse_coo_tensor(IndexTensor indices, Tensor values, Size size, bool is_coalesced=false) -> Tensor', variants = 'library', composite = true,
    doc = 'A sparse tensor of values [nnz, ...] at the positions in the columns of indices [dimensions, nnz]; values at one position are added. is_coalesced: the caller guarantees that the positions are sorted and distinct.',
    batch = 'loop' },
  { 'sparse_compressed_tensor(IndexTensor compressed_indices, IndexTensor plain_indices, Tensor values, Size size, string layout) -> Tensor', variants = 'library', composite = true,
    doc = "A sparse matrix by rows ('sparse_csr') or columns ('sparse_csc'): values [nnz, ...], the column (row) of each in plain_indices [nnz], and in compressed_indices [rows + 1] where the values of each row (column) begin.",
    batch = 'loop' },
  { '_sparse_coo(IndexTensor indices, Tensor values, Size size, bool coalesced) -> Tensor', variants = '', doc = 'sparse_coo_tensor of valid indices, without checks.',
    grad_fn = 'SparseCooTensorBackward0', batch = 'loop', forward = 'linear', grad = { values = '_sparse_values_at(grad, result)' } },
  { '_sparse_compressed(IndexTensor compressed, IndexTensor plain, Tensor values, Size size, string layout) -> Tensor', variants = '',
    grad_fn = 'SparseCompressedTensorBackward0', batch = 'loop', doc = 'sparse_compressed_tensor of valid indices, without checks.', forward = 'linear', grad = { values = '_sparse_values_at(grad, result)' } },

  -- ---- products ---------------------------------------------------------------------------------------------------
  { '_csr_product(Tensor begins, Tensor columns, Tensor values, Tensor dense) -> Tensor', variants = '', batch = 'loop',
    doc = 'The product of a matrix in CSR with a dense one, by the kernel of the device.', forward = { values = 'linear', dense = 'linear' },
    grad = { values = '_csr_product_backward_values(grad, begins, columns, dense)', dense = '_csr_product_backward_dense(grad, begins, columns, values, sizes_of(dense))' } },
  { '_csr_product_backward_values(Tensor grad_output, Tensor begins, Tensor columns, Tensor dense) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _csr_product by the values.' },
  { '_csr_product_backward_dense(Tensor grad_output, Tensor begins, Tensor columns, Tensor values, Size sizes) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _csr_product by the dense matrix.' },

  { 'sparse_solve(Tensor self, Tensor other) -> Tensor', variants = 'library', composite = true, sparse = true, batch = 'loop',
    doc = 'The solution [n] of the system of equations with the sparse matrix self [n, n] and the right side other [n], of float, double or complex numbers, on the CPU. An error when self is singular.' },
  { '_spsolve(Tensor begins, Tensor plain, Tensor values, Tensor other, bool by_columns) -> Tensor', variants = '', batch = 'loop',
    doc = 'The solution of the system of equations with a matrix in CSR, or CSC, by CXSparse.',
    forward = { values = '_spsolve_tangent(begins, plain, values, values_t, result, by_columns)', other = 'linear' },
    grad = { values = '_spsolve_backward_values(grad, begins, plain, values, result, by_columns)', other = '_spsolve_backward_other(grad, begins, plain, values, by_columns)' } },
  { '_spsolve_backward_other(Tensor grad_output, Tensor begins, Tensor plain, Tensor values, bool by_columns) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _spsolve by the right side.' },
  { '_spsolve_backward_values(Tensor grad_output, Tensor begins, Tensor plain, Tensor values, Tensor result, bool by_columns) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _spsolve by the values.' },
  { '_spsolve_tangent(Tensor begins, Tensor plain, Tensor values, Tensor values_t, Tensor result, bool by_columns) -> Tensor', variants = '', composite = true,
    doc = 'The tangent of _spsolve of one of the values.' },

  -- ---- components -------------------------------------------------------------------------------------------------
  { '_sparse_values(Tensor self) -> Tensor', variants = 'library', sparse = true, grad_fn = 'ValuesBackward0', batch = 'loop', doc = 'The values, whether coalesced or not.',
    forward = 'linear', grad = { self = '_sparse_gradient(self, grad)' } },
  { '_sparse_gradient(Tensor self, Tensor grad_values) -> Tensor', variants = '', composite = true, sparse = true, batch = 'loop',
    doc = 'The gradient of a sparse tensor from the gradients of its values: each position once. Values of one position have equal gradients, because only their sum counts.' },
  { '_sparse_like(Tensor self, Tensor values) -> Tensor', variants = 'library', sparse = true, grad_fn = 'SparseLikeBackward0', batch = 'loop',
    doc = 'A sparse tensor with the positions of self and other values; the dimensions of values after the first are its last dimensions.',
    constant = 'self', forward = { values = '_sparse_like(self, values_t)' }, grad = { values = '_sparse_values_at(grad, self)' } },
  { '_sparse_values_at(Tensor self, Tensor pattern) -> Tensor', variants = '', composite = true, sparse = true, batch = 'loop',
    doc = 'The elements of self, of any layout, at the positions of pattern, in their order.' },
  { 'values(Tensor self) -> Tensor', variants = 'method', composite = true, sparse = true, batch = 'loop', doc = 'The values of a sparse tensor, in the order of its positions; a tensor in COO must be coalesced.' },
  { 'stored_values(Tensor self) -> Tensor', variants = 'library', composite = true, sparse = true, batch = 'loop', doc = 'The values of a sparse tensor, whether it is coalesced or not.' },
  { 'indices(Tensor self) -> IndexTensor', variants = 'method', sparse = true, batch = 'loop', doc = 'The positions of the values of a coalesced sparse tensor in COO, a column for each.' },
  { 'stored_indices(Tensor self) -> IndexTensor', variants = 'library', sparse = true, batch = 'loop', doc = 'The positions of the values of a sparse tensor in COO, whether it is coalesced or not.' },
  { 'crow_indices(Tensor self) -> IndexTensor', variants = 'method', sparse = true, batch = 'loop', doc = 'The position of the first value of each row of a matrix in CSR, and the end of the last row.' },
  { 'col_indices(Tensor self) -> IndexTensor', variants = 'method', sparse = true, batch = 'loop', doc = 'The column of each value of a matrix in CSR.' },
  { 'ccol_indices(Tensor self) -> IndexTensor', variants = 'method', sparse = true, batch = 'loop', doc = 'The position of the first value of each column of a matrix in CSC, and the end of the last column.' },
  { 'row_indices(Tensor self) -> IndexTensor', variants = 'method', sparse = true, batch = 'loop', doc = 'The row of each value of a matrix in CSC.' },
  { 'nnz(Tensor self) -> int', variants = 'library', sparse = true, batch = 'loop', doc = 'The number of values that a sparse tensor stores.' },
  { 'sparse_dim(Tensor self) -> int', variants = 'method', sparse = true, batch = 'loop', doc = 'The number of sparse dimensions; 0 for dense tensors.' },
  { 'dense_dim(Tensor self) -> int', variants = 'method', sparse = true, batch = 'loop', doc = 'The number of dimensions of each value.' },
  { 'is_coalesced(Tensor self) -> bool', sparse = true, batch = 'loop', doc = 'Whether the positions of a sparse tensor in COO are sorted and distinct.' },

  -- ---- other layouts ------------------------------------------------------------------------------------------------
  { 'coalesce(Tensor self) -> Tensor', variants = 'method', composite = true, sparse = true, batch = 'loop', doc = 'A sparse tensor in COO with sorted, distinct positions; values of one position are added.' },
  { 'to_dense(Tensor self, Dtype? dtype=nil, *, bool? masked_grad=nil) -> Tensor', variants = 'method', composite = true, sparse = true, batch = 'loop',
    doc = 'The dense tensor of a sparse one; dense tensors are returned unchanged. The gradient reaches only the stored values, for every masked_grad.' },
  { 'to_sparse_coo(Tensor self, int? sparse_dim=nil) -> Tensor', variants = 'library', composite = true, sparse = true, batch = 'loop',
    doc = 'The tensor in COO: the elements that are not 0, or of a sparse tensor the stored ones. sparse_dim: the number of sparse dimensions; the others belong to the values.' },
  { 'to_sparse_compressed(Tensor self, string layout, int dense_dim=0) -> Tensor', variants = 'library', composite = true, sparse = true, batch = 'loop',
    doc = "A matrix in 'sparse_csr' or 'sparse_csc'; dense_dim: how many of the last dimensions belong to the values." },
  { 'sparse_mask(Tensor self, Tensor mask) -> Tensor', variants = 'method', composite = true, sparse = true, batch = 'loop',
    doc = 'The elements of self, of any layout, at the positions of the sparse tensor mask.' },

  arguments = [=[
mask: Sparse tensor with the positions of the result.
masked_grad: Accepted for compatibility; it has no effect.
]=],

  examples = [=[
values
    torch.eye(2):to_sparse():values()
    --> tensor([1., 1.])
indices
    torch.eye(2):to_sparse():indices()
    --> tensor([[1, 2],
    -->         [1, 2]])
crow_indices
    torch.eye(2):to_sparse_csr():crow_indices()
    --> tensor([1, 2, 3])
col_indices
    torch.eye(2):to_sparse_csr():col_indices()
    --> tensor([1, 2])
ccol_indices
    torch.eye(2):to_sparse_csc():ccol_indices()
    --> tensor([1, 2, 3])
row_indices
    torch.eye(2):to_sparse_csc():row_indices()
    --> tensor([1, 2])
sparse_dim
    torch.eye(2):to_sparse():sparse_dim()
    --> 2
dense_dim
    torch.eye(2):to_sparse():dense_dim()
    --> 0
is_coalesced
    torch.sparse_coo_tensor({ {1, 1} }, {2.0, 3.0}, {2}):is_coalesced()
    --> false
coalesce
    torch.sparse_coo_tensor({ {1, 1} }, {2.0, 3.0}, {2}):coalesce()
    --> tensor(indices=tensor([[1]]),
    -->        values=tensor([5.]),
    -->        size=(2,), nnz=1, layout=torch.sparse_coo)
to_dense
    torch.sparse_coo_tensor({ {1, 3} }, {2.0, 3.0}, {4}):to_dense()
    --> tensor([2., 0., 3., 0.])
sparse_mask
    torch.tensor{ {1.0, 2.0}, {3.0, 4.0} }:sparse_mask(torch.eye(2):to_sparse())
    --> tensor(indices=tensor([[1, 2],
    -->                        [1, 2]]),
    -->        values=tensor([1., 4.]),
    -->        size=(2, 2), nnz=2, layout=torch.sparse_coo)
]=],
}
