-- convert.lua - other dtypes and devices. A tensor that already is what is asked for is returned as it is.

local function dtype_op(name, dtype)
  -- The C names carry an overload: lt_int and lt_float make numbers.
  return { name .. '.cast(Tensor self) -> Tensor', variants = 'method', composite = true, doc = 'self:to(torch.' .. dtype .. ').' }
end

return {
  { 'to(Tensor self, Device? device=nil, Dtype? dtype=nil, bool non_blocking=false, bool copy=false) -> Tensor', variants = 'method',
    composite = true, doc = 'The tensor on a device, in a dtype, or both; itself when it is so already and copy is false.',
    example = "x:to('cuda:0')" },
  { 'to.dtype(Tensor self, Dtype? dtype, bool non_blocking=false, bool copy=false) -> Tensor', variants = 'method', composite = true,
    doc = 'The tensor in a dtype; itself when it is so already and copy is false.' },
  { 'to.other(Tensor self, Tensor other, bool non_blocking=false, bool copy=false) -> Tensor', variants = 'method', composite = true,
    doc = 'The tensor in the dtype and on the device of another.' },
  { 'cpu(Tensor self) -> Tensor', variants = 'method', composite = true, doc = 'The tensor in host memory.' },
  { 'cuda(Tensor self, Device? device=nil, bool non_blocking=false) -> Tensor', variants = 'method', composite = true,
    doc = 'The tensor on a GPU, the current one if none is named.' },
  { 'type_as(Tensor self, Tensor other) -> Tensor', variants = 'method', composite = true, doc = 'The tensor in the dtype of another.' },
  dtype_op('bool', 'bool'), dtype_op('byte', 'uint8'), dtype_op('char', 'int8'), dtype_op('short', 'int16'),
  dtype_op('int', 'int32'), dtype_op('long', 'int64'), dtype_op('half', 'float16'), dtype_op('bfloat16', 'bfloat16'),
  dtype_op('float', 'float32'), dtype_op('double', 'float64'),
}
