-- functions.lua - functions of torch that are not operations: promotion of dtypes and shapes,
-- legacy tensor constructors, in-place methods as functions.

--[=[ arguments
obj: Value to convert: a tensor, a number or a table of numbers.
typename.obj: Any value.
copy: True to copy always, false to refuse a copy.
from: Dtype of the values.
to: Dtype to which they are converted.
type1: First dtype.
type2: Second dtype.
tensor1: First operand: a tensor, or a number.
tensor2: Second operand: a tensor, or a number.
...: Shapes: numbers, tables or `torch.Size`s.
input: Tensor.
Tensor(): A tensor of the default dtype from sizes, from a table of numbers, or empty; `torch.tensor` and `torch.empty` are the newer ways.
FloatTensor(): A float32 tensor from sizes, from a table of numbers, or empty.
DoubleTensor(): A float64 tensor from sizes, from a table of numbers, or empty.
HalfTensor(): A float16 tensor from sizes, from a table of numbers, or empty.
BFloat16Tensor(): A bfloat16 tensor from sizes, from a table of numbers, or empty.
LongTensor(): An int64 tensor from sizes, from a table of numbers, or empty.
IntTensor(): An int32 tensor from sizes, from a table of numbers, or empty.
ShortTensor(): An int16 tensor from sizes, from a table of numbers, or empty.
CharTensor(): An int8 tensor from sizes, from a table of numbers, or empty.
ByteTensor(): A uint8 tensor from sizes, from a table of numbers, or empty.
BoolTensor(): A bool tensor from sizes, from a table of numbers, or empty.
]=]

local torch = require 'torch'
local arguments = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

-- ---- dtypes and shapes --------------------------------------------------------------------------

--- The result dtype of an operation on tensors of both dtypes.
function torch.promote_types(a, b)
  return torch._C.promote_types(a, b)
end

--- The result dtype of an operation on two tensors or numbers.
function torch.result_type(a, b)
  return torch._C.result_type(a, b)
end

--- Whether a dtype can be converted without changing its kind: complex to complex only, fractions
-- not to integers, only bools to bool.
function torch.can_cast(from, to)
  return torch._C.can_cast(from, to)
end

--- The shape to which shapes broadcast, each a number, a list or a torch.Size.
function torch.broadcast_shapes(...)
  local tensors = {}
  for i = 1, select('#', ...) do
    local shape = select(i, ...)
    if torch.type(shape) ~= 'torch.Size' then kinds.check('broadcast_shapes', 'shapes', shape, 'sizes') end
    tensors[i] = torch.empty({}):expand(type(shape) == 'number' and { shape } or { table.unpack(shape) })
  end
  if #tensors == 0 then return torch.empty({}).shape end
  return torch.broadcast_tensors(tensors)[1].shape
end

--- 'torch.FloatTensor' for a tensor, otherwise the name of the value's type.
function torch.typename(value) return torch.is_tensor(value) and value:type() or torch.type(value) end

--- The value as a tensor: itself, a conversion if dtype or device differ, or a new one from
-- numbers. copy = true: always a copy.
function torch.asarray(value, options)
  local x
  if torch.is_tensor(value) then
    x = value:to { dtype = options.dtype, device = options.device }
    if options.copy == false and not rawequal(x, value) then fail 'asarray(): a copy is needed, but copy is false' end
    if options.copy and rawequal(x, value) then x = value:clone() end
    if not options.requires_grad then x = x:detach() end
  else
    x = torch.tensor(value, { dtype = options.dtype, device = options.device })
  end
  return options.requires_grad and x:requires_grad_() or x
end

-- ---- older constructors -------------------------------------------------------------------------

local OPTIONS = { 'data', 'device', 'requires_grad', 'pin_memory' }

-- Copies the named options of a constructor; returns the entry `data`.
local function read_options(what, names, options)
  for name, value in next, names do
    if name ~= 'device' and name ~= 'requires_grad' and name ~= 'pin_memory' and name ~= 'data' then kinds.refuse_name(what, name, OPTIONS) end
    options[name] = value
  end
  local data = options.data
  options.data = nil
  return data
end

-- Constructor from positional sizes, from a table of numbers, or empty.
local function constructor(what, dtype)
  return function(...)
    local given = table.pack(...)
    local options, n = { dtype = dtype or torch.get_default_dtype() }, given.n
    while n > 0 and given[n] == nil do n = n - 1 end
    if n > 0 and kinds.is_named(given[n]) and next(given[n]) ~= nil then
      local data = read_options(what, given[n], options)
      given[n], n = data, data == nil and n - 1 or n
    end
    local first = given[1]
    local is_size = torch.type(first) == 'Size' or torch.type(first) == 'torch.Size'
    if n > 1 and (is_size or type(first) == 'table' or torch.is_tensor(first)) then
      fail('%s() takes sizes, one table of numbers or one Tensor, but %d values were given', what, n)
    end
    if first == nil and n == 0 then return torch.empty(0, options) end
    if is_size then return torch.empty(first, options) end
    if type(first) == 'table' then
      local list, names = kinds.split_list(first)
      if list then
        read_options(what, names, options)
        first = list
      end
      return torch.tensor(first, options)
    end
    if torch.is_tensor(first) then
      if first.dtype ~= options.dtype then fail('%s(): expected a tensor of %s, got %s', what, tostring(options.dtype), tostring(first.dtype)) end
      return first:detach()
    end
    local sizes = table.move(given, 1, n, 1, {})
    kinds.check(what, 'size', sizes, 'integers')
    return torch.empty(sizes, options)
  end
end

for name, dtype in pairs { FloatTensor = 'float32', DoubleTensor = 'float64', HalfTensor = 'float16', BFloat16Tensor = 'bfloat16', LongTensor = 'int64',
  IntTensor = 'int32', ShortTensor = 'int16', CharTensor = 'int8', ByteTensor = 'uint8', BoolTensor = 'bool' } do
  torch[name] = constructor(name, torch[dtype])
end
torch.Tensor = torch.Tensor or constructor('Tensor')

-- ---- methods as functions -----------------------------------------------------------------------

for name in ('deg2rad_ rad2deg_ gcd_ lcm_ i0_ sinc_ ldexp_ threshold_ put'):gmatch '%S+' do torch[name] = torch[name] or torch._C.methods[name] end
for name in ('no_grad enable_grad set_grad_enabled inference_mode'):gmatch '%S+' do torch.autograd[name] = torch.autograd[name] or torch[name] end

-- As a method, polygamma has its tensor before the order.
function torch._C.methods.polygamma(x, n) return torch.polygamma(n, x) end
--- In place: the derivative of digamma of order n.
function torch._C.methods.polygamma_(x, n) return x:copy_(torch.polygamma(n, x)) end
arguments.metatable_methods(torch._C.methods, 'Tensor', 'polygamma(self, any n) polygamma_(self, any n)', torch.is_tensor)

--- The number of the GPU that a tensor is on, -1 for the CPU.
function torch.get_device(x)
  return x.device.index or -1
end

arguments.functions(torch, [[
  promote_types(dtype type1, dtype type2)
  result_type(Tensor|number|boolean|complex tensor1, Tensor|number|boolean|complex tensor2)
  can_cast(dtype from_, dtype to)
  broadcast_shapes(any ...)
  typename(any? obj)
  get_device(Tensor input)
]])
arguments.functions(torch, [[
  asarray(Tensor|number|boolean|array obj, *, dtype? dtype, device? device, boolean? copy, boolean requires_grad=false)
]], 'options')
