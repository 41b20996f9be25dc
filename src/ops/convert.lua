-- convert.lua - copies, other dtypes and devices. A tensor that already is what is asked for is returned as it is.

local function dtype_op(name, dtype)
  -- The C names carry an overload: lt_int and lt_float make numbers.
  return { name .. '.cast(Tensor self) -> Tensor', variants = 'method', composite = true, sparse = true, doc = 'self:to(torch.' .. dtype .. ').' }
end

return {
  -- ---- copies -----------------------------------------------------------------------------------------------
  { 'detach(Tensor self) -> Tensor', sparse = 'form', forward = 'constant', batch = 'broadcast', reads = false,
    doc = 'The same memory without history: no gradient flows through it.' },
  { 'clone(Tensor self) -> Tensor', batch = 'broadcast', sparse = 'form', doc = 'A copy with memory of its own, whose dimensions lie in the order of self\'s.',
    forward = 'linear', grad = { self = 'grad' } },
  { 'clone.format(Tensor self, *, string memory_format) -> Tensor', batch = 'broadcast', grad_fn = 'CloneBackward0', forward = 'linear', grad = { self = 'grad' },
    doc = 'A copy as of clone, or with `torch.contiguous_format` one whose dimensions lie in order.',
    example = 'x:t():clone({memory_format = torch.contiguous_format})' },
  { 'contiguous(Tensor self) -> Tensor', batch = 'broadcast', variants = 'method', composite = true,
    doc = 'The tensor itself when its elements lie in order, else a copy.' },
  { 'copy_(Tensor self, Tensor src, bool non_blocking=false) -> self', sparse = 'form', overlap = 'elementwise', variants = 'method', grad_fn = 'CopyBackwards',
    doc = 'Copies the elements of `src` (broadcast, converted, from any device) into self.',
    forward = 'linear', grad = { self = 'zeros_like(grad)', src = 'to(grad, device_of(src), dtype_of(src))' } },
  { '_to_copy(Tensor self, Dtype? dtype=nil, Device? device=nil, bool non_blocking=false) -> Tensor', batch = 'broadcast', sparse = 'form', records = true, variants = 'function',
    doc = 'A copy on another device, in another dtype, or both.', grad_fn = 'ToCopyBackward0',
    forward = 'linear', grad = { self = 'to(grad, device_of(self), dtype_of(self))' } },

  -- ---- other dtypes and devices ------------------------------------------------------------------------------
  { 'to(Tensor self, Device? device=nil, Dtype? dtype=nil, bool non_blocking=false, bool copy=false) -> Tensor', batch = 'broadcast', variants = 'method',
    composite = true, sparse = true, doc = 'The tensor on a device, in a dtype, or both; itself when it is so already and copy is false.',
    example = "x:to('cuda:0')" },
  { 'to.dtype(Tensor self, Dtype? dtype, bool non_blocking=false, bool copy=false) -> Tensor', batch = 'broadcast', variants = 'method', composite = true, sparse = true,
    doc = 'The tensor in a dtype; itself when it is so already and copy is false.' },
  { 'to.other(Tensor self, Tensor other, bool non_blocking=false, bool copy=false) -> Tensor', batch = 'loop', variants = 'method', composite = true, sparse = true,
    doc = 'The tensor in the dtype and on the device of another.' },
  { 'cpu(Tensor self) -> Tensor', batch = 'broadcast', variants = 'method', composite = true, sparse = true, doc = 'The tensor in host memory.' },
  { 'cuda(Tensor self, Device? device=nil, bool non_blocking=false) -> Tensor', batch = 'broadcast', variants = 'method', composite = true, sparse = true,
    doc = 'The tensor on a GPU, the current one if none is named.' },
  { 'type_as(Tensor self, Tensor other) -> Tensor', batch = 'loop', variants = 'method', composite = true, sparse = true, doc = 'The tensor in the dtype of another.' },
  dtype_op('bool', 'bool'), dtype_op('byte', 'uint8'), dtype_op('char', 'int8'), dtype_op('short', 'int16'),
  dtype_op('int', 'int32'), dtype_op('long', 'int64'), dtype_op('half', 'float16'), dtype_op('bfloat16', 'bfloat16'),
  dtype_op('float', 'float32'), dtype_op('double', 'float64'),
  dtype_op('chalf', 'complex32'), dtype_op('cfloat', 'complex64'), dtype_op('cdouble', 'complex128'),
}
