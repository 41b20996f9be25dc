-- convert.lua - copies and conversions of dtype and device. A conversion to the present dtype and device
-- returns the tensor itself.

local function dtype_op(name, dtype)
  -- The C names carry an overload: lt_scalar_from_int and lt_scalar_from_float make numbers.
  return { name .. '.cast(Tensor self) -> Tensor', variants = 'method', composite = true, sparse = true, doc = 'self:to(torch.' .. dtype .. ').' }
end

return {
  -- ---- copies -----------------------------------------------------------------------------------------------
  { 'detach(Tensor self) -> Tensor', float8 = true, sparse = 'form', forward = 'constant', batch = 'broadcast', reads = false,
    doc = 'The same memory without history: no gradient flows through it.' },
  { '_without_derivative(Tensor self, Tensor source) -> Tensor', variants = 'library', batch = 'loop',
    doc = 'A copy of self, a function of source that has no derivative: where source requires grad, so does the copy, and backward is an error.' },
  { 'clone(Tensor self) -> Tensor', float8 = true, batch = 'broadcast', sparse = 'form', doc = 'A copy with separate memory, with its dimensions stored in the order of self.',
    forward = 'linear', grad = { self = 'grad' } },
  { 'clone.format(Tensor self, *, string memory_format) -> Tensor', float8 = true, batch = 'broadcast', grad_fn = 'CloneBackward0', forward = 'linear', grad = { self = 'grad' },
    doc = 'A copy in a memory format: `torch.preserve_format` (as clone), `torch.contiguous_format` (row-major), or, for images [batch, channels, height, width], `torch.channels_last`, with the channels innermost in memory (`torch.channels_last_3d`: images with a depth). Convolutions on a GPU read such images without a copy. Raises an error for other numbers of dimensions.' },
  { 'contiguous(Tensor self) -> Tensor', batch = 'broadcast', variants = 'method', composite = true,
    doc = 'The tensor itself if it is contiguous, else a contiguous copy.' },
  { 'contiguous.format(Tensor self, *, string memory_format) -> Tensor', batch = 'broadcast', variants = 'method', composite = true,
    doc = 'The tensor itself if it has the memory format, else a copy in that format, as of clone.' },
  { 'copy_(Tensor self, Tensor src, bool non_blocking=false) -> self', float8 = true, sparse = 'form', overlap = 'elementwise', variants = 'method', grad_fn = 'CopyBackwards',
    doc = 'Copies the elements of `src` (broadcast, converted, from any device) into self.',
    forward = 'linear', grad = { self = 'zeros_like(grad)', src = 'to(grad, device_of(src), dtype_of(src))' } },
  { '_to_copy(Tensor self, Dtype? dtype=nil, Device? device=nil, bool non_blocking=false) -> Tensor', float8 = true, batch = 'broadcast', sparse = 'form', records = true, variants = 'function',
    doc = 'A copy on another device, in another dtype, or both.', grad_fn = 'ToCopyBackward0',
    forward = 'linear', grad = { self = 'to(grad, device_of(self), dtype_of(self))' } },

  -- ---- other dtypes and devices ------------------------------------------------------------------------------
  { 'to(Tensor self, Device? device=nil, Dtype? dtype=nil, bool non_blocking=false, bool copy=false) -> Tensor', batch = 'broadcast', variants = 'method',
    composite = true, sparse = true, doc = 'The tensor on a device, in a dtype, or both; itself when it is so already and copy is false.' },
  { 'to.dtype(Tensor self, Dtype? dtype, bool non_blocking=false, bool copy=false) -> Tensor', batch = 'broadcast', variants = 'method', composite = true, sparse = true,
    doc = 'The tensor in a dtype; itself when it is so already and copy is false.' },
  { 'to.other(Tensor self, Tensor other, bool non_blocking=false, bool copy=false) -> Tensor', batch = 'through', variants = 'method', composite = true, sparse = true,
    doc = 'The tensor in the dtype and on the device of another.' },
  { 'to.format(Tensor self, *, string memory_format, Device? device=nil, Dtype? dtype=nil, bool non_blocking=false, bool copy=false) -> Tensor', batch = 'broadcast', variants = 'method',
    composite = true, doc = 'The same in a memory format, as of contiguous.' },
  { 'cpu(Tensor self) -> Tensor', batch = 'broadcast', variants = 'method', composite = true, sparse = true, doc = 'The tensor in host memory.' },
  { 'cuda(Tensor self, Device? device=nil, bool non_blocking=false) -> Tensor', batch = 'broadcast', variants = 'method', composite = true, sparse = true,
    doc = 'The tensor on a GPU, the current one if none is named.' },
  { 'type_as(Tensor self, Tensor other) -> Tensor', batch = 'through', variants = 'method', composite = true, sparse = true, doc = 'The tensor in the dtype of another.' },
  dtype_op('bool', 'bool'), dtype_op('byte', 'uint8'), dtype_op('char', 'int8'), dtype_op('short', 'int16'),
  dtype_op('int', 'int32'), dtype_op('long', 'int64'), dtype_op('half', 'float16'), dtype_op('bfloat16', 'bfloat16'),
  dtype_op('float', 'float32'), dtype_op('double', 'float64'),
  dtype_op('chalf', 'complex32'), dtype_op('cfloat', 'complex64'), dtype_op('cdouble', 'complex128'),

  -- ---- quantized weights ---------------------------------------------------------------------------------------
  { 'dequantize_blocks(Tensor self, string scheme, *, Dtype? dtype=nil) -> Tensor', batch = 'front', variants = 'function', forward = 'constant',
    doc = 'The floats of quantized weights: rows of bytes (uint8) in the blocks of a GGUF file. `scheme` is the format: `\'q4_0\'`, `q4_1`, `q5_0`, `q5_1`, `q8_0`, `iq4_nl` (blocks of 32 elements), `q2_k`, `q3_k`, `q4_k`, `q5_k` or `q6_k` (256). The default dtype is float32.' },
  { 'quantize_blocks(Tensor self, string scheme) -> Tensor', batch = 'front', variants = 'function',
    doc = 'Quantized weights of floats: rows of bytes (uint8) for `dequantize_blocks`. `scheme` is `\'q4_0\'`, `q4_1`, `q5_0`, `q5_1`, `q8_0` (blocks of 32 elements) or `q4_k` (256); the rows consist of whole blocks. A block with infinite numbers or NaN becomes one of NaN. On the CPU.' },
  { 'linear_blocks(Tensor input, Tensor weight, string scheme, *, bool int8_input=false) -> Tensor', batch = 'loop', variants = 'function', forward = 'linear', constant = 'weight',
    doc = 'linear with quantized weights: input times the transpose of `dequantize_blocks(weight, scheme)`, [out, in], without that matrix in memory. The input has floats, and gets a gradient. With `int8_input`, CPUs with AVX2 first round each 32 elements of an input that is not float64 to 255 values, multiples of their largest magnitude / 127, as llama.cpp does: 3 to 7 times as fast for one row; the result differs by 0.5 % of its norm. On a GPU, an input of a half type with more than eight rows is multiplied by weights that are rounded to its dtype.',
    grad = { input = '_linear_blocks_backward(grad, weight, scheme)' } },
  { '_linear_blocks_backward(Tensor grad_output, Tensor weight, string scheme) -> Tensor', batch = 'loop', variants = '', forward = 'linear', constant = 'weight',
    doc = 'The gradient of linear_blocks for its input.', grad = { grad_output = 'linear_blocks(grad, weight, scheme)' } },

  -- ---- views as copies ----------------------------------------------------------------------------------------
  { 'alias_copy(Tensor self) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'AliasBackward0_copy',
    doc = 'A copy.' },
  { 'as_strided_copy(Tensor self, Size size, Size stride, int? storage_offset=nil) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'AsStridedBackward0_copy',
    doc = 'as_strided as a copy.' },
  { 'diagonal_copy(Tensor self, int offset=0, Dim dim1=1, Dim dim2=2) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'DiagonalBackward0_copy',
    doc = 'diagonal as a copy.' },
  { 'expand_copy(Tensor self, Size size) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'ExpandBackward0_copy',
    doc = 'expand as a copy.' },
  { 'narrow_copy(Tensor self, Dim dim, Index start, int length) -> Tensor', variants = 'function method copied_out', composite = true, grad_fn = 'NarrowCopyBackward0',
    doc = 'narrow as a copy.' },
  { 'permute_copy(Tensor self, Dims dims) -> Tensor', variants = 'function copied_out', batch = 'through', composite = true, grad_fn = 'PermuteBackward0_copy',
    doc = 'permute as a copy.' },
  { 'select_copy(Tensor self, Dim dim, Index index) -> Tensor', variants = 'function', composite = true, grad_fn = 'SelectBackward0_copy',
    doc = 'select as a copy.' },
  { 'squeeze_copy(Tensor self) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'SqueezeBackward0_copy',
    doc = 'squeeze as a copy.' },
  { 'squeeze_copy.dims(Tensor self, Dims dim) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'SqueezeBackward1_copy',
    doc = 'squeeze of some dimensions as a copy.' },
  { 't_copy(Tensor self) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'TBackward0_copy',
    doc = 't as a copy.' },
  { 'transpose_copy(Tensor self, Dim dim0, Dim dim1) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'TransposeBackward0_copy',
    doc = 'transpose as a copy.' },
  { 'unfold_copy(Tensor self, Dim dimension, int size, int step) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'UnfoldBackward0_copy',
    doc = 'unfold as a copy.' },
  { 'unsqueeze_copy(Tensor self, Dim dim) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'UnsqueezeBackward0_copy',
    doc = 'unsqueeze as a copy.' },
  { 'view_copy(Tensor self, Size size) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'ViewBackward0_copy',
    doc = 'view as a copy.' },
  { 'view_copy.dtype(Tensor self, Dtype dtype) -> Tensor', variants = 'function copied_out', composite = true, grad_fn = 'ViewBackward0_copy',
    doc = 'view in another dtype as a copy.' },
  { 'detach_copy(Tensor self) -> Tensor', variants = 'function', composite = true,
    doc = 'detach as a copy.' },
  { 'split_copy(Tensor self, int split_size, Dim dim=1) -> Tensor[]', variants = 'function', composite = true, grad_fn = 'SplitBackward0_copy',
    doc = 'split as copies.' },

  { 'unbind_copy(Tensor self, Dim dim=1) -> Tensor[]', variants = 'function copied_out', batch = 'through', composite = true, grad_fn = 'UnbindBackward0_copy', doc = 'unbind as copies.' },
  { 'split_with_sizes_copy(Tensor self, Size split_sizes, Dim dim=1) -> Tensor[]', variants = 'function copied_out', batch = 'through', composite = true,
    grad_fn = 'SplitWithSizesBackward0_copy', doc = 'split_with_sizes as copies.' },

  arguments = [=[
split_with_sizes_copy.split_sizes: Number of entries of each part.
unfold_copy.size: Number of entries of a window.
unfold_copy.step: Distance between the beginnings of neighbouring windows.
permute_copy.dims: New order of the dimensions, each a position from 1.
transpose_copy.dim0: First of the two dimensions, from 1.
transpose_copy.dim1: Second of the two dimensions, from 1.
unsqueeze_copy.dim: Position of the new dimension, from 1; negative from the end.
select_copy.index: Position of the entry, from 1; negative from the end.
narrow_copy.start: First position of the range, from 1; negative from the end.
narrow_copy.length: Number of entries of the range.
diagonal_copy.offset: Diagonal: 0 is the main one, positive ones are above it.
as_strided_copy.stride: Distance in elements between neighbours along each dimension.
as_strided_copy.storage_offset: Elements of the storage before the first one; that of self if absent.
unfold_copy.dimension: Dimension along which the windows are taken, from 1.
split_copy.split_size: Number of entries of each part; the last one may have fewer.
src: Tensor to copy; it broadcasts to the shape of self.
copy: Whether a new tensor is returned even if nothing changes.
to.other: Tensor with the dtype and device of the result.
type_as.other: Tensor with the dtype of the result.
scheme: Name of the block format of the quantized weights.
linear_blocks.int8_input: Whether the input may be rounded to 8 bits, for speed.
linear_blocks.weight: Quantized weights (uint8): a row of blocks for each output, [out, bytes].
]=],

  examples = [=[
detach
    x = torch.ones(2, {requires_grad = true})
    y = x * 2
    y.requires_grad, y:detach().requires_grad
    --> (true, false)
clone
    x = torch.zeros(2)
    x:clone():fill_(7); x
    --> tensor([0., 0.])
contiguous
    x = torch.arange(6):reshape(2, 3):t()
    x:is_contiguous(), x:contiguous():is_contiguous()
    --> (false, true)
copy_
    torch.zeros(2, 2):copy_(torch.tensor{1, 2})
    --> tensor([[1., 2.],
    -->         [1., 2.]])
to
    torch.tensor{1, 2}:to(torch.float64)
    --> tensor([1., 2.], dtype=torch.float64)
    torch.ones(2):to(try_gpu()):to('cpu')
    --> tensor([1., 1.])
cpu
    torch.ones(2, {device = try_gpu()}):cpu()
    --> tensor([1., 1.])
cuda
    x = torch.ones(2)
    if torch.cuda.is_available() then x = x:cuda() end
    x.is_cuda == torch.cuda.is_available()
    --> true
type_as
    torch.tensor{1, 2}:type_as(torch.tensor{0.5})
    --> tensor([1., 2.])
dequantize_blocks
    -- q8_0: a scale (float16) and 32 signed bytes
    row = torch.cat{torch.tensor{0.5}:half():view(torch.uint8), torch.arange(32):to(torch.uint8)}
    torch.dequantize_blocks(row, 'q8_0')[{ {1, 4} }]
    --> tensor([0.0000, 0.5000, 1.0000, 1.5000])
quantize_blocks
    row = torch.quantize_blocks(torch.linspace(-1, 1, 32), 'q8_0')
    torch.dequantize_blocks(row, 'q8_0')[{ {1, 4} }]
    --> tensor([-0.9999, -0.9370, -0.8740, -0.8031])
linear_blocks
    row = torch.cat{torch.tensor{0.5}:half():view(torch.uint8), torch.arange(32):to(torch.uint8)}
    torch.linear_blocks(torch.ones(32), row:unsqueeze(1), 'q8_0')
    --> tensor([248.])
bool
    torch.tensor{0, 1, 2}:bool()
    --> tensor([False,  True,  True])
byte
    torch.tensor{1.7, 255.0}:byte()
    --> tensor([  1, 255], dtype=torch.uint8)
char
    torch.tensor{1.7, -2.0}:char()
    --> tensor([ 1, -2], dtype=torch.int8)
short
    torch.tensor{1.7, -2.0}:short()
    --> tensor([ 1, -2], dtype=torch.int16)
int
    torch.tensor{1.7, -2.0}:int()
    --> tensor([ 1, -2], dtype=torch.int32)
long
    torch.tensor{1.7, -2.0}:long()
    --> tensor([ 1, -2])
half
    torch.tensor{1, 2}:half()
    --> tensor([1., 2.], dtype=torch.float16)
bfloat16
    torch.tensor{1, 2}:bfloat16()
    --> tensor([1., 2.], dtype=torch.bfloat16)
float
    torch.tensor{1, 2}:float()
    --> tensor([1., 2.])
double
    torch.tensor{1, 2}:double()
    --> tensor([1., 2.], dtype=torch.float64)
chalf
    torch.tensor{1, 2}:chalf()
    --> tensor([1.+0.j, 2.+0.j], dtype=torch.complex32)
cfloat
    torch.tensor{1, 2}:cfloat()
    --> tensor([1.+0.j, 2.+0.j])
cdouble
    torch.tensor{1, 2}:cdouble()
    --> tensor([1.+0.j, 2.+0.j], dtype=torch.complex128)
alias_copy
    torch.alias_copy(torch.tensor{1, 2})
    --> tensor([1, 2])
as_strided_copy
    torch.as_strided_copy(torch.arange(4), {2}, {2})
    --> tensor([0, 2])
diagonal_copy
    torch.diagonal_copy(torch.tensor{ {1, 2}, {3, 4} })
    --> tensor([1, 4])
expand_copy
    torch.expand_copy(torch.tensor{ {1}, {2} }, 2, 2)
    --> tensor([[1, 1],
    -->         [2, 2]])
narrow_copy
    torch.tensor{10, 20, 30}:narrow_copy(1, 2, 2)
    --> tensor([20, 30])
permute_copy
    torch.permute_copy(torch.zeros(2, 3, 4), {3, 1, 2}).shape
    --> torch.Size([4, 2, 3])
select_copy
    torch.select_copy(torch.tensor{ {1, 2}, {3, 4} }, 1, 2)
    --> tensor([3, 4])
squeeze_copy
    torch.squeeze_copy(torch.zeros(1, 2, 1)).shape
    --> torch.Size([2])
t_copy
    torch.t_copy(torch.tensor{ {1, 2}, {3, 4} })
    --> tensor([[1, 3],
    -->         [2, 4]])
transpose_copy
    torch.transpose_copy(torch.tensor{ {1, 2}, {3, 4} }, 1, 2)
    --> tensor([[1, 3],
    -->         [2, 4]])
unfold_copy
    torch.unfold_copy(torch.arange(4), 1, 2, 2)
    --> tensor([[0, 1],
    -->         [2, 3]])
unsqueeze_copy
    torch.unsqueeze_copy(torch.tensor{1, 2}, 1)
    --> tensor([[1, 2]])
view_copy
    torch.view_copy(torch.arange(4), 2, 2)
    --> tensor([[0, 1],
    -->         [2, 3]])
detach_copy
    torch.detach_copy(torch.ones(2, {requires_grad = true}))
    --> tensor([1., 1.])
split_copy
    torch.split_copy(torch.arange(4), 2)
    --> {tensor([0, 1]), tensor([2, 3])}
unbind_copy
    torch.unbind_copy(torch.tensor{ {1, 2}, {3, 4} })
    --> {tensor([1, 2]), tensor([3, 4])}
split_with_sizes_copy
    torch.split_with_sizes_copy(torch.arange(4), {1, 3})
    --> {tensor([0]), tensor([1, 2, 3])}
]=],
}
