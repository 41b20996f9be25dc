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

  arguments = [=[
src: Tensor to copy; it broadcasts to the shape of self.
copy: Whether a new tensor is returned even if nothing changes.
to.other: Tensor with the dtype and device of the result.
type_as.other: Tensor with the dtype of the result.
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
]=],
}
