-- methods.lua - part of ltensor-ffi.lua: fields, methods and operators of tensors.

local shared = ...
local ffi, core, raise, check, op = shared.ffi, shared.core, shared.raise, shared.check, shared.op
local is_tensor, dtype_code, size_of, index = shared.is_tensor, shared.dtype_code, shared.size_of, shared.index
local methods, fields, setters = shared.methods, {}, {}

function fields.shape(t) return size_of(core.lt_tensor_ndim(t._handle), core.lt_tensor_sizes(t._handle)) end
function fields.ndim(t) return core.lt_tensor_ndim(t._handle) end
function fields.dtype(t) return shared.dtype_of[dtype_code(t)] end
function fields.device(t)
  local d = core.lt_tensor_device(t._handle)
  return shared.device_object(d.type, d.index)
end
function fields.is_cuda(t) return core.lt_tensor_device(t._handle).type == 1 end
function fields.is_leaf(t) return core.lt_tensor_is_leaf(t._handle) end
function fields.requires_grad(t) return core.lt_tensor_requires_grad(t._handle) end
function fields.grad(t) return shared.adopt_borrowed(core.lt_tensor_grad(t._handle)) end
function fields.data(t) return op 'detach'(t) end
function fields.real(t) return op 'real'(t) end
function fields.imag(t) return op 'imag'(t) end
function fields.mT(t) return op 'transpose'(t, -2, -1) end
function fields.T(t)
  local order = {}
  for i = 1, t.ndim do order[i] = t.ndim + 1 - i end
  return op 'permute'(t, order)
end

function setters.requires_grad(t, on) check(core.lt_tensor_set_requires_grad(t._handle, on)) end
function setters.grad(t, grad) check(core.lt_tensor_set_grad(t._handle, grad and grad._handle or nil)) end

function methods.dim(t) return t.ndim end
function methods.numel(t) return tonumber(core.lt_tensor_numel(t._handle)) end
methods.nelement = methods.numel
function methods.is_contiguous(t) return core.lt_tensor_is_contiguous(t._handle) end
function methods.stride(t) return setmetatable(size_of(t.ndim, core.lt_tensor_strides(t._handle)), nil) end
function methods.size(t, dim)
  local shape = t.shape
  if not dim then return shape end
  local at = dim < 0 and dim + #shape + 1 or dim
  return shape[at] or raise('Dimension out of range (expected to be in range of [1, %d] or [-%d, -1], but got %d)', #shape, #shape, dim)
end

function methods.requires_grad_(t, on)
  check(core.lt_tensor_set_requires_grad(t._handle, on ~= false))
  return t
end

--- Adds gradients to the leaves: backward(grad, retain_graph, create_graph), or by name.
function methods.backward(t, ...)
  local args = { ... }
  local n, named = shared.names_of(args, select('#', ...))
  named = named or {}
  local grad = n > 0 and args[1] or named.gradient
  local retain, create = args[2] or named.retain_graph, args[3] or named.create_graph
  check(core.lt_backward(t._handle, is_tensor(grad) and grad._handle or nil, retain or create or false, create or false))
end

--- for i, row in x:iter() do ... end
function methods.iter(t)
  local n = #t
  return function(_, i)
    if i < n then return i + 1, t[i + 1] end
  end, nil, 0
end

local known_methods = setmetatable({}, { __index = function(list, name)
  local own = methods[name]
  local method = own and function(t, ...)
    if not is_tensor(t) then raise('a method is called with a colon: x:%s()', name) end
    return own(t, ...)
  end or op(name)
  rawset(list, name, method)
  return method
end })

local function operator(name)
  local f
  return function(a, b)
    f = f or op(name)
    return f(a, b)
  end
end

local meta = {
  __add = operator 'add', __sub = operator 'sub', __mul = operator 'mul', __div = operator 'div', __mod = operator 'remainder', __pow = operator 'pow',
}
function meta.__unm(a) return op 'neg'(a) end
function meta.__eq(a, b) return is_tensor(a) and is_tensor(b) and a._handle == b._handle end
function meta.__lt() raise 'tensors are compared by methods, x:lt(y): <, <=, > and >= return one boolean in Lua' end
meta.__le = meta.__lt
function meta.__concat(a, b) return tostring(a) .. tostring(b) end

meta.__gc = shared.forget

function meta.__len(t)
  if t.ndim == 0 then raise 'len() of a 0-d tensor' end
  return tonumber(core.lt_tensor_sizes(t._handle)[0])
end

function meta.__tostring(t)
  local text = ffi.new 'char *[1]'
  check(core.lt_tensor_to_string(t._handle, text))
  local result = ffi.string(text[0])
  core.lt_string_release(text[0])
  return result
end

function meta.__index(t, key)
  if type(key) ~= 'string' then return index(t, key) end
  if fields[key] then return fields[key](t) end
  local method = known_methods[key]
  if method then return method end
  if not key:find '[%d:]' and key ~= '...' and key ~= 'None' then raise("a Tensor has no field '%s'", key) end
  return index(t, key)
end

function meta.__newindex(t, key, value)
  if setters[key] then return setters[key](t, value) end
  if type(key) == 'string' and not key:find '[%d:.]' then raise(fields[key] and "a Tensor's field '%s' cannot be assigned" or "a Tensor has no field '%s'", key) end
  shared.assign(t, key, value)
end

ffi.metatype(shared.Tensor, meta)
