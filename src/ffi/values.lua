-- values.lua - part of ltensor-ffi.lua: tensors of numbers and tables, and back; x[key] and x[key] = value.

local shared = ...
local ffi, core, torch, raise, check, op = shared.ffi, shared.core, shared.torch, shared.raise, shared.check, shared.op
local dtype_of, to_dtype, dtype_code, class_of = shared.dtype_of, shared.to_dtype, shared.dtype_code, shared.class_of
local is_tensor, is_integer, is_scalar, from_int64 = shared.is_tensor, shared.is_integer, shared.is_scalar, shared.from_int64
local methods = {}

-- ---- Lua values to tensors and back -------------------------------------------------------------

-- C types of elements; dtypes without one are converted.
local element_types = {
  float32 = 'float', float64 = 'double', int64 = 'int64_t', int32 = 'int32_t', int16 = 'int16_t', int8 = 'int8_t', uint8 = 'uint8_t', bool = 'bool',
}

local function fail_data(v, dim) raise('tensor(): expected numbers, booleans or nested tables of them at dim %d, but got a %s', dim, class_of(v)) end

-- The sizes of a nested table, and whether it has booleans or int64_t only.
local function measure(data)
  local sizes, v = {}, data
  while type(v) == 'table' do
    sizes[#sizes + 1] = #v
    v = v[1]
  end
  return sizes, v
end

-- is_whole: the name of an integer dtype.
local function store(data, dim, sizes, p, at, cast, is_whole)
  if dim > #sizes then
    if is_tensor(data) then data = data:item() end
    if not is_scalar(data) then fail_data(data, dim) end
    p[at] = cast(data)
    if is_whole and tonumber(p[at]) ~= math.floor(tonumber(data)) and tonumber(p[at]) ~= math.ceil(tonumber(data)) then
      raise('value cannot be converted to type %s without overflow', is_whole)
    end
    return at + 1
  end
  if type(data) ~= 'table' then fail_data(data, dim) end
  if #data ~= sizes[dim] then raise('expected sequence of length %d at dim %d (got %d)', sizes[dim], dim, #data) end
  for i = 1, #data do at = store(data[i], dim + 1, sizes, p, at, cast, is_whole) end
  return at
end

local function to_bool(v) return type(v) == 'boolean' and v or type(v) ~= 'boolean' and v ~= 0 end
local function to_number(v) return type(v) == 'boolean' and (v and 1 or 0) or v end

--- A tensor of a number, a boolean or nested tables. Numbers become the default dtype, int64_t become int64, booleans
--- bool; pass another dtype by name.
function torch.tensor(data, options)
  if type(data) == 'table' and not getmetatable(data) then
    local args = { data }
    local n, named = shared.names_of(args, 1)
    if named then
      if options then raise 'tensor() got two tables with options; put all of them in one' end
      data, options = n == 1 and args[1] or named.data, named
    end
  end
  options = options or {}
  for name in pairs(options) do
    if name ~= 'data' and name ~= 'dtype' and name ~= 'device' and name ~= 'requires_grad' then
      raise("tensor(): unknown argument '%s' (known: data, dtype, device, requires_grad)", tostring(name))
    end
  end
  local t
  if is_tensor(data) then
    t = op 'clone'(op 'detach'(data))
  else
    local sizes, first = measure(data)
    local kind = type(first) == 'boolean' and torch.bool or ffi.istype('int64_t', first) and torch.int64 or dtype_of[tonumber(core.lt_get_default_dtype())]
    local wanted = options.dtype and to_dtype(options.dtype) or kind
    local stored = element_types[wanted.name] and wanted or wanted == kind and torch.float32 or torch.float64
    local c_sizes = ffi.new('int64_t[?]', math.max(#sizes, 1), sizes)
    t = shared.new_tensor(core.lt_tensor_new, stored.code, shared.to_device('cpu').c, #sizes, c_sizes)
    local p = ffi.cast(element_types[stored.name] .. ' *', core.lt_tensor_data(t._handle))
    store(data, 1, sizes, p, 0, stored == torch.bool and to_bool or to_number, stored.name:find 'int' and stored.name)
    if stored ~= wanted then t = op 'to'(t, wanted) end
  end
  if options.dtype or options.device then t = op 'to'(t, { dtype = options.dtype, device = options.device }) end
  if options.requires_grad then t:requires_grad_() end
  return t
end

--- A vector of the bytes of a string, for example of an image or of a request: frombuffer(text, {dtype = torch.uint8}).
function torch.frombuffer(text, options)
  options = options or {}
  local dtype = options.dtype and to_dtype(options.dtype) or torch.get_default_dtype()
  local offset, size = options.offset or 0, dtype.itemsize
  local count = options.count or math.floor((#text - offset) / size)
  if count * size + offset > #text then raise('frombuffer(): %d elements from byte %d need %d bytes, but the string has %d', count, offset, count * size + offset, #text) end
  local t = shared.new_tensor(core.lt_tensor_new, dtype.code, shared.to_device('cpu').c, 1, ffi.new('int64_t[1]', count))
  check(core.lt_tensor_copy_from(t._handle, ffi.cast('const char *', text) + offset, count * size))
  return t
end

function methods.item(self)
  local s = ffi.new 'lt_scalar'
  check(core.lt_tensor_item(self._handle, s))
  if s.kind == ffi.C.LT_SCALAR_BOOL then return s.v.i ~= 0 end
  if s.kind == ffi.C.LT_SCALAR_INT then return from_int64(s.v.i) end
  if s.kind == ffi.C.LT_SCALAR_COMPLEX then raise 'item() of a complex tensor: LuaJIT has no complex numbers; call torch.view_as_real(x) first' end
  return s.v.d
end

--- Nested tables of numbers; one number for a 0-dim tensor.
function methods.tolist(self)
  local n, dtype = self.ndim, dtype_of[dtype_code(self)]
  local kind = element_types[dtype.name]
  local t = op 'contiguous'(op 'to'(op 'detach'(self), { device = 'cpu', dtype = not kind and torch.float32 or nil }))
  local p, shape = ffi.cast((kind or 'float') .. ' *', core.lt_tensor_data(t._handle)), self.shape
  local at = 0
  local function level(dim)
    if dim > n then
      at = at + 1
      return dtype == torch.int64 and from_int64(p[at - 1]) or p[at - 1]
    end
    local list = {}
    for i = 1, shape[dim] do list[i] = level(dim + 1) end
    return list
  end
  return level(1)
end
methods.totable = methods.tolist

-- ---- indexing -----------------------------------------------------------------------------------

torch.newaxis = setmetatable({}, { __tostring = function() return 'torch.newaxis' end })

local ALL = {}

-- '2:4, :' as a list of subscripts.
local function parse_key(text)
  local list = {}
  for part in (text .. ','):gmatch '%s*([^,]-)%s*,' do
    local from, to, step = part:match '^(%-?%d*)%s*:%s*(%-?%d*)%s*:?%s*(%d*)$'
    if part == '...' or part:find '^%-?%d+$' then list[#list + 1] = tonumber(part) or part
    elseif part == 'None' or part == 'newaxis' then list[#list + 1] = torch.newaxis
    elseif from then list[#list + 1] = (from .. to .. step == '') and ALL or { tonumber(from) or 1, tonumber(to) or -1, tonumber(step) }
    elseif part ~= '' or #list == 0 then
      raise("invalid index '%s': expected positions, slices from:to:step (both ends included), '...' and None, separated by commas", text)
    end
  end
  return list
end

local function subscripts_of(key)
  if type(key) == 'string' then return parse_key(key) end
  if type(key) ~= 'table' or key == torch.newaxis or type(key[1]) == 'boolean' then return { key } end
  return key
end

local function is_mask(t) return dtype_code(t) == torch.bool.code or dtype_code(t) == torch.uint8.code end

local function apply_slice(t, dim, s)
  local size = t.shape[dim]
  local from, to, step = s[1] or 1, s[2] or -1, s[3] or 1
  if step < 1 then raise 'slice step must be positive' end
  if from == 0 or to == 0 and from > 1 then raise 'index 0: positions count from 1' end
  if #s == 1 then raise('a slice is {from, to}: {%d} lacks its end', from) end
  if from < 0 then from = math.max(from + size + 1, 1) end
  if to < 0 then to = to + size + 1 end
  from, to = math.min(from, size + 1), math.min(to, size)
  if from == 1 and to == size and step == 1 then return t end
  if to < from then return size == 0 and t or op 'narrow'(t, dim, 1, 0) end
  t = op 'narrow'(t, dim, from, to - from + 1)
  return step == 1 and t or op 'select'(op 'unfold'(t, dim, 1, step), -1, 1)
end

-- The view of numbers and slices, and the index tensors in the list { dim, tensor }.
local function apply_key(t, key)
  local list, taken = subscripts_of(key), 0
  for i, s in ipairs(list) do
    if type(s) == 'table' and (type(s[1]) == 'table' or type(s[1]) == 'boolean') then
      s = torch.tensor(s, { dtype = type(measure(s) and select(2, measure(s))) == 'boolean' and torch.bool or torch.int64 })
      list[i] = s
    end
    if is_tensor(s) and s.ndim == 0 and not is_mask(s) then list[i] = s:item() end
    if s ~= torch.newaxis and s ~= '...' then taken = taken + (is_tensor(s) and is_mask(s) and s.ndim or 1) end
  end
  if taken > t.ndim then raise('too many indices for tensor of dimension %d', t.ndim) end
  local dim, rest, tensors = 1, t.ndim - taken, {}
  for _, s in ipairs(list) do
    if s == '...' then
      dim = dim + rest
    elseif s == torch.newaxis then
      t, dim = op 'unsqueeze'(t, dim), dim + 1
    elseif is_integer(s) then
      if s == 0 then raise 'index 0: positions count from 1' end
      local size = t.shape[dim]
      if s > size or s < -size then raise('index %d is out of bounds for dimension %d with size %d', tonumber(s), dim, size) end
      t = op 'select'(t, dim, s)
    elseif is_tensor(s) then
      tensors[#tensors + 1] = { dim, s }
      dim = dim + (is_mask(s) and s.ndim or 1)
    elseif type(s) == 'table' then
      t, dim = apply_slice(t, dim, s), dim + 1
    elseif type(s) == 'number' then
      raise('an index must be an integer, got %g', s)
    else
      raise("an index is an integer, a slice {from, to}, {}, a tensor, torch.newaxis or '...', got a %s", class_of(s))
    end
  end
  return t, tensors
end

-- The part of a view at several index tensors, which are broadcast. Their dimensions come first unless they are
-- neighbours, as in PyTorch.
local function pick(view, tensors)
  local lists, dims, first = {}, {}, tensors[1][1]
  for _, pair in ipairs(tensors) do
    local parts = is_mask(pair[2]) and op 'unbind'(op 'nonzero'(pair[2]), 2) or { pair[2] }
    for i, part in ipairs(parts) do lists[#lists + 1], dims[#dims + 1] = part, pair[1] + i - 1 end
  end
  if dims[#dims] - first >= #dims then
    local order = {}
    for i = 1, #dims do order[i] = i end
    view, first = op 'movedim'(view, dims, order), 1
  end
  lists = op 'broadcast_tensors'(lists)
  local result, ones = op 'index_select'(view, first, op 'flatten'(lists[1])), {}
  for i = 2, #lists do -- the entries of each row along the next dimension, which is then dropped
    local shape = result.shape
    for d = 1, #shape do ones[d] = 1 end
    ones[first], shape[first + 1] = shape[first], 1
    result = op 'squeeze'(op 'gather'(result, first + 1, op 'expand'(op 'view'(op 'flatten'(lists[i]), { unpack(ones, 1, #shape) }), shape)), first + 1)
  end
  local shape = result.shape
  table.remove(shape, first)
  for i = #lists[1].shape, 1, -1 do table.insert(shape, first, lists[1].shape[i]) end
  return op 'reshape'(result, shape)
end

local select_row

local function index(t, key)
  local rows = type(key) == 'number' and core.lt_tensor_ndim(t._handle) > 0 and core.lt_tensor_sizes(t._handle)[0]
  if rows and key >= 1 and key <= rows and key % 1 == 0 then
    select_row = select_row or shared.first_function 'select'
    return shared.new_tensor(select_row, t._handle, 0, key - 1)
  end
  local view, tensors = apply_key(t, key)
  if #tensors == 0 then return view == t and op 'alias_copy'(t) or view end
  return pick(view, tensors)
end

local function assign(t, key, value)
  local view, tensors = apply_key(t, key)
  if #tensors == 0 then
    if is_tensor(value) then op 'copy_'(view, value) else op 'fill_'(view, value) end
    return
  end
  if not is_tensor(value) then value = op 'full'({}, value, { dtype = t.dtype, device = t.device }) end
  local list = {}
  for _, pair in ipairs(tensors) do
    while #list < pair[1] - 1 do list[#list + 1] = false end
    list[#list + 1] = is_mask(pair[2]) and op 'to'(pair[2], torch.bool) or pair[2]
  end
  op 'index_put_'(view, list, value)
end

shared.methods, shared.index, shared.assign = methods, index, assign
