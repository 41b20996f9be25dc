-- gguf_writer.lua - torch.lm.gguf.save(path, {metadata =, tensors =}): writes GGUF files, version 3.
-- The file appears complete or not at all. Tensors are converted one after the other.

--[=[ arguments
path: File to write.
metadata: Values by key: booleans, numbers, texts and lists of them.
types: Types of values by key, such as `'uint64'` or `'[float32]'`; without one, integers are uint32 or int32 if they fit, floats float32.
tensors: Tensors and `torch.quantized.Tensor`s by name.
dtype: Dtype or scheme of the tensors in the file, or a function of name and tensor that returns it; nil: as they are. A dtype or scheme is used for tensors of two or more dimensions; others are float32.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local kinds = require 'torch.lm.gguf_types'
local ordered_dict = require 'torch.support.ordered_dict'
local QuantizedTensor = require 'torch.quantized.tensor'
local shown = require 'torch.support.printable_format'

local C = torch._C

local function fail(format, ...) C.raise('torch.lm.gguf.save: ' .. shown(format, ...)) end

local number_of_value, number_of_tensor = {}, {}
for number, kind in pairs(kinds.values) do number_of_value[kind[1]] = number end
for number, kind in pairs(kinds.tensors) do number_of_tensor[kind[1]] = number end

-- ---- metadata -----------------------------------------------------------------------------------

local function fits(value, low, high) return math.type(value) == 'integer' and value >= low and value <= high end

-- The type of a list: the one of all its values.
local function type_of_list(key, list, type_of)
  local seen, small = {}, true
  for _, value in ipairs(list) do
    seen[math.type(value) or type(value)] = true
    small = small and (math.type(value) ~= 'integer' or fits(value, -1 << 31, (1 << 31) - 1))
  end
  if seen.float then seen.integer = nil end
  if next(seen, next(seen)) then fail("the list '%s' has values of several types", key) end
  if seen.float then return '[float32]' end
  if next(seen) == nil or seen.integer then return small and '[int32]' or '[int64]' end
  return '[' .. type_of(key, list[1]) .. ']'
end

local function type_of(key, value)
  if type(value) == 'boolean' then return 'bool' end
  if type(value) == 'string' then return 'string' end
  if math.type(value) == 'float' then return 'float32' end
  if type(value) == 'table' then return type_of_list(key, value, type_of) end
  if math.type(value) ~= 'integer' then fail("the value of '%s' is a %s, expected a boolean, a number, a text or a list of them", key, torch.type(value)) end
  return fits(value, 0, (1 << 32) - 1) and 'uint32' or fits(value, -1 << 31, 0) and 'int32' or 'int64'
end

local function refuse(key, value, kind)
  fail("the value of '%s' has the type %s, which does not hold %s; pass another one in types", key, kind,
    type(value) == 'number' and tostring(value) or 'a ' .. torch.type(value))
end

local function number_text(key, value, kind, format)
  local ok, text = pcall(string.pack, format, value)
  if not ok or kind == 'float32' and (string.unpack(format, text)) - value ~= 0 and math.abs((string.unpack(format, text))) == math.huge then
    refuse(key, value, kind)
  end
  return text
end

-- Appends the bytes of a value.
local function put_value(parts, key, value, kind)
  local of = type(kind) == 'string' and kind:match '^%[(.*)%]$'
  local number = number_of_value[of and of:find '^%[' and 'array' or of or kind]
  if not number or (of or kind) == 'array' then fail("the type of '%s' is %s, expected for example 'uint32', 'string' or '[float32]'", key, tostring(kind)) end
  if of then
    if type(value) ~= 'table' then refuse(key, value, kind) end
    parts[#parts + 1] = string.pack('<I4I8', number, #value)
    for _, element in ipairs(value) do put_value(parts, key, element, of) end
  elseif kind == 'string' then
    if type(value) ~= 'string' then refuse(key, value, kind) end
    parts[#parts + 1] = string.pack('<s8', value)
  elseif kind == 'bool' then
    if type(value) ~= 'boolean' then refuse(key, value, kind) end
    parts[#parts + 1] = value and '\1' or '\0'
  else
    if type(value) ~= 'number' then refuse(key, value, kind) end
    parts[#parts + 1] = number_text(key, value, kind, kinds.values[number][2])
  end
end

local function put_metadata(parts, metadata, types)
  local keys = {}
  for key in pairs(metadata) do
    if type(key) ~= 'string' then fail('a key of metadata is a %s, expected a text', torch.type(key)) end
    keys[#keys + 1] = key
  end
  -- sorted, the general keys first, as tools list them
  table.sort(keys, function(a, b)
    local first, second = a:find '^general%.' ~= nil, b:find '^general%.' ~= nil
    if first ~= second then return first end
    return a < b
  end)
  for _, key in ipairs(keys) do
    local kind = types[key] or type_of(key, metadata[key])
    parts[#parts + 1] = string.pack('<s8I4', key, number_of_value[type(kind) == 'string' and kind:find '^%[' and 'array' or kind] or 0)
    put_value(parts, key, metadata[key], kind)
  end
  return #keys
end

-- ---- tensors ------------------------------------------------------------------------------------

-- The type of a tensor in the file: a dtype or a scheme.
local function type_in_file(name, tensor, dtype)
  local packed = QuantizedTensor:is_instance(tensor)
  if not packed and not torch.is_tensor(tensor) then fail("'%s' is a %s, expected a Tensor or a torch.quantized.Tensor", name, torch.type(tensor)) end
  local own = packed and tensor.scheme or tensor.dtype
  local wanted = dtype
  if type(dtype) == 'function' then wanted = dtype(name, tensor)
  elseif dtype and #tensor.shape < 2 then wanted = own.is_floating_point and torch.float32 or own end
  wanted = wanted or own
  local number = number_of_tensor[wanted]
  if not number then fail("tensor '%s' has the type %s, which GGUF files do not have", name, tostring(wanted)) end
  return wanted, number
end

local function describe(name, tensor, dtype)
  local wanted, number = type_in_file(name, tensor, dtype)
  local shape, kind = tensor.shape, kinds.tensors[number]
  if #shape > kinds.MAX_DIMS then fail("tensor '%s' has %d dimensions, at most %d are possible", name, #shape, kinds.MAX_DIMS) end
  local row, numel = #shape > 0 and shape[#shape] or 1, 1
  for i = 1, #shape do numel = numel * shape[i] end
  if row % kind[2] ~= 0 then
    fail("tensor '%s' has rows of %d elements, which is no multiple of a block of %s, %d; pass a function as dtype that returns another type for it",
      name, row, tostring(wanted), kind[2])
  end
  return { name = name, tensor = tensor, shape = shape, type = wanted, number = number, bytes = numel // kind[2] * kind[3] }
end

-- The tensor in its type.
local function converted(entry)
  local tensor, wanted = entry.tensor, entry.type
  if QuantizedTensor:is_instance(tensor) then
    if tensor.scheme == wanted then return tensor.packed end
    tensor = tensor:dequantize()
  end
  tensor = tensor:detach()
  return type(wanted) == 'string' and torch.quantize_blocks(tensor:cpu(), wanted) or tensor:to(wanted)
end

local function names_of(tensors)
  if ordered_dict.is(tensors) then return ordered_dict.names(tensors) end
  local names = {}
  for name in pairs(tensors) do
    if type(name) ~= 'string' then fail('a name of a tensor is a %s, expected a text', torch.type(name)) end
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local function padding(n, alignment) return ('\0'):rep(-n % alignment) end

--- Writes a GGUF file. tensors: a table or an OrderedDict such as a state_dict; its order is kept.
--- To convert a file: `file = torch.lm.gguf(path)`, then
--- `save(other, {metadata = file.metadata, types = file.types, tensors = file:tensors(), dtype = 'q8_0'})`.
local function save(path, options)
  local alignment = kinds.alignment(options.metadata) or fail('general.alignment is %s, expected a multiple of 8', tostring(options.metadata['general.alignment']))
  local parts, entries, offset = { '' }, {}, 0
  local values = put_metadata(parts, options.metadata, options.types or {})
  for i, name in ipairs(names_of(options.tensors)) do
    local entry = describe(name, options.tensors[name], options.dtype)
    entries[i] = entry
    parts[#parts + 1] = string.pack('<s8I4', name, #entry.shape)
    for d = #entry.shape, 1, -1 do parts[#parts + 1] = string.pack('<I8', entry.shape[d]) end
    parts[#parts + 1] = string.pack('<I4I8', entry.number, offset)
    offset = offset + entry.bytes + -entry.bytes % alignment
  end
  parts[1] = string.pack('<c4I4I8I8', 'GGUF', 3, #entries, values)
  local header = table.concat(parts)
  local file <close> = C.create_file(path)
  file:write(header .. padding(#header, alignment))
  for _, entry in ipairs(entries) do
    file:write(C.saved_form(converted(entry)))
    file:write(padding(entry.bytes, alignment))
  end
  file:commit()
end

return declare.with_options('save(string path, *, table metadata, table tensors, table? types, any? dtype)', save)
