-- user_kernel.lua - torch.cuda._compile_kernel: a kernel from CUDA source text.
--
-- Lua cannot see the types of the kernel's parameters, so the kernel's signature is read from the
-- text: it determines the conversion of numbers and whether a pointer is written through.

local torch = require 'torch'
local declare = require('torch.support.arguments').declare
local fail = require 'torch.support.fail'
local C = torch._C

-- ---- types --------------------------------------------------------------------------------------

-- Formats of string.pack by C++ type.
local formats = { float = 'f', double = 'd', bool = 'B' }
local function add_integers(size, names)
  for name in names:gmatch '[^,]+' do
    formats[name] = 'i' .. size
    formats['unsigned ' .. name] = 'I' .. size
  end
end
add_integers(1, 'char') -- 'unsigned char', too
add_integers(2, 'short,short int')
add_integers(4, 'int')
add_integers(8, 'long,long int,long long,long long int')
for size = 0, 3 do
  formats[('int%d_t'):format(8 << size)] = 'i' .. (1 << size)
  formats[('uint%d_t'):format(8 << size)] = 'I' .. (1 << size)
end
for name, format in pairs { ['signed char'] = 'i1', signed = 'i4', ['signed int'] = 'i4', unsigned = 'I4', uint = 'I4', uchar = 'I1', ushort = 'I2',
  ulong = 'I8', size_t = 'I8', ssize_t = 'i8', ptrdiff_t = 'i8', intptr_t = 'i8', uintptr_t = 'I8' } do
  formats[name] = format
end

-- The element of a pointer: bytes, and whether it is a floating-point number.
local halves = { __half = true, half = true, __nv_bfloat16 = true, nv_bfloat16 = true }
local function element_of(type)
  if halves[type] then return 2, true end
  local format = formats[type]
  if not format then return nil end
  return string.packsize(format), format == 'f' or format == 'd'
end

-- ---- the signature ------------------------------------------------------------------------------

local function without_comments(text)
  return (text:gsub('/%*.-%*/', ' '):gsub('//[^\n]*', ' '))
end

-- Splits at the commas that are outside of brackets.
local function parts_of(text)
  local parts, depth, from = {}, 0, 1
  for at, character in text:gmatch '()([(<%[{,}%]>)])' do
    if character == ',' then
      if depth == 0 then
        parts[#parts + 1] = text:sub(from, at - 1)
        from = at + 1
      end
    else
      depth = depth + (character:find '[(<%[{]' and 1 or -1)
    end
  end
  parts[#parts + 1] = text:sub(from)
  for i, part in ipairs(parts) do parts[i] = part:match '^%s*(.-)%s*$' end
  return parts
end

local qualifiers = { const = true, volatile = true, __restrict__ = true, __restrict = true, restrict = true, __grid_constant__ = true, struct = true }

-- { name =, text =, type = without qualifiers, pointer =, written = } of a parameter's declaration.
local function parameter_of(text, values)
  local declaration = text:match '^(.-)%s*=' or text
  local before, name = declaration:gsub('%s*%[.-%]', '*'):match '^(.-)([%a_][%w_]*)%s*%**$'
  if not name or before == '' then before, name = declaration, '?' end
  if declaration:find('[', 1, true) then before = before .. '*' end
  before = before:gsub('[%a_][%w_]*', values)
  local pointee = before:match '^([^*]*)%*'
  local words = {}
  for word in (pointee or before):gsub('std::', ''):gmatch '[^%s]+' do
    if not qualifiers[word] then words[#words + 1] = word end
  end
  return { name = name, text = text, type = table.concat(words, ' '), pointer = pointee ~= nil,
    written = pointee ~= nil and not (' ' .. pointee .. ' '):find '[^%w_]const[^%w_]' }
end

-- The values of the template's parameters, by name.
local function template_values(before, arguments)
  local values = {}
  local list = before:match 'template%s*(%b<>)%s*$'
  if not list then return values end
  local given = arguments and parts_of(arguments:sub(2, -2)) or {}
  for i, part in ipairs(parts_of(list:sub(2, -2))) do
    local name = part:gsub('%s*=.*$', ''):match '([%w_]+)%s*$'
    if name then values[name] = given[i] end
  end
  return values
end

-- The parameters of the kernel, or nil and the names of the kernels in the text.
local function signature_of(source, name)
  local text = without_comments(source)
  local arguments = name:match '%b<>%s*$'
  local plain = name:gsub('%s*%b<>%s*$', ''):match '([%w_]+)%s*$'
  local names = {}
  for before, after in text:gmatch '()__global__()' do
    local head = text:sub(after):match '^([^{;]*)' or ''
    local found, list = head:match '([%a_][%w_]*)%s*(%b())%s*$'
    if found == plain then
      local values, parameters = template_values(text:sub(1, before - 1):gsub('extern%s*"C"%s*$', ''), arguments), {}
      list = list:sub(2, -2)
      if not list:find '%S' or list:find '^%s*void%s*$' then return parameters end
      for i, part in ipairs(parts_of(list)) do parameters[i] = parameter_of(part, values) end
      return parameters
    end
    names[#names + 1] = found
  end
  return nil, names
end

-- ---- arguments ----------------------------------------------------------------------------------

local function shown(i, parameter) return ("argument %d ('%s')"):format(i, parameter.text) end

local function check_tensor(name, i, parameter, tensor, device)
  if not tensor.is_cuda and not tensor:is_pinned() then
    fail('%s(): %s must be a CUDA tensor or a pinned CPU tensor, not one on %s', name, shown(i, parameter), tostring(tensor.device))
  elseif tensor.is_cuda and tensor.device.index ~= device then
    fail('%s(): %s is on %s, but the kernel runs on cuda:%d: all tensors, and the stream, must be on one device', name, shown(i, parameter),
      tostring(tensor.device), device)
  end
  local bytes, floating = element_of(parameter.type)
  local complex = tensor:is_complex()
  local size = complex and tensor:element_size() // 2 or tensor:element_size()
  if bytes and bytes > 1 and (size ~= bytes or (tensor:is_floating_point() or complex) ~= floating) then
    fail('%s(): %s cannot be a tensor of dtype %s: the types of the elements differ; convert it with to(dtype)', name, shown(i, parameter),
      tostring(tensor.dtype):gsub('^torch%.', ''))
  end
end

-- The bytes of a number for a parameter of this type.
local function packed(name, i, parameter, value)
  local format, kind = formats[parameter.type], math.type(value)
  if not format then
    fail("%s(): %s has the type '%s', to which no number is converted; use int, long long, float, double, bool or another number", name,
      shown(i, parameter), parameter.type)
  elseif parameter.type == 'bool' then
    if type(value) ~= 'boolean' then fail('%s(): %s must be true or false, not %s', name, shown(i, parameter), torch.type(value)) end
    return string.char(value and 1 or 0)
  elseif not kind then
    fail('%s(): %s must be a number, not %s', name, shown(i, parameter), torch.type(value))
  elseif format == 'f' or format == 'd' then
    return string.pack(format, value)
  end
  local integer, bits = math.tointeger(value), 8 * string.packsize(format)
  if not integer then fail('%s(): %s must be an integer, got %s', name, shown(i, parameter), value) end
  local signed = format:sub(1, 1) == 'i'
  local low, high = signed and -(1 << bits - 1) or 0, (1 << bits - (signed and 1 or 0)) - 1
  if bits < 64 and (integer < low or integer > high) or not signed and integer < 0 then
    fail("%s(): %s: %d is out of range of '%s'", name, shown(i, parameter), integer, parameter.type)
  end
  return string.pack(format, signed and integer or integer)
end

local function converted(name, parameters, values, device)
  local list = {}
  if #values ~= #parameters then
    fail('%s(): %d arguments were passed in args, the kernel has %d parameters', name, #values, #parameters)
  end
  for i, parameter in ipairs(parameters) do
    local value = values[i]
    if parameter.pointer then
      if not torch.is_tensor(value) then fail('%s(): %s must be a Tensor, not %s', name, shown(i, parameter), torch.type(value)) end
      check_tensor(name, i, parameter, value, device)
    elseif torch.is_tensor(value) then
      fail('%s(): %s must be a number, not a Tensor; pass x:item()', name, shown(i, parameter))
    else
      value = packed(name, i, parameter, value)
    end
    list[i] = { value = value, name = parameter.name, written = parameter.written }
  end
  return list
end

-- Three sizes of a grid or a block.
local function sizes_of(name, title, value)
  local sizes = type(value) == 'table' and value or { value }
  if #sizes > 3 then fail('%s(): %s must have at most 3 sizes, got %d', name, title, #sizes) end
  for i = 1, #sizes do
    if sizes[i] < 1 or sizes[i] > 0x7fffffff then fail('%s(): %s[%d] must be at least 1 and below 2^31, got %d', name, title, i, sizes[i]) end
  end
  return { sizes[1] or 1, sizes[2] or 1, sizes[3] or 1 }
end

-- The GPU on which the arguments are, else the stream's, else the current one.
local function device_of(values, stream)
  for _, value in ipairs(values) do
    if torch.is_tensor(value) and value.is_cuda then return value.device.index end
  end
  return stream and stream.device.index or torch.cuda.current_device()
end

-- ---- compiling ----------------------------------------------------------------------------------

-- The options of the compiler, and the compute capability as a number; 0: the device's.
local function options_of(compute_capability, include_dirs, nvcc_options)
  local options = {}
  for _, folder in ipairs(include_dirs or {}) do options[#options + 1] = '-I' .. folder end
  table.move(nvcc_options or {}, 1, #(nvcc_options or {}), #options + 1, options)
  local digits = compute_capability and tostring(compute_capability):gsub('[^%d]', '') or '0'
  return options, math.tointeger(tonumber(digits)) or 0
end

--- Compiles a kernel from CUDA source text and returns a function that launches it:
-- k {grid = {4, 1, 1}, block = {256, 1, 1}, args = {x, y, n}}.
local function compile_kernel(kernel_source, kernel_name, compute_capability, include_dirs, nvcc_options)
  if not kernel_name:find '^[%w_:<>,%s*]+$' then fail("_compile_kernel(): '%s' is not the name of a kernel", kernel_name) end
  local parameters, names = signature_of(kernel_source, kernel_name)
  if not parameters then
    fail("_compile_kernel(): the source has no kernel '%s': __global__ functions in it: %s", kernel_name,
      #names > 0 and table.concat(names, ', ') or 'none')
  end
  local plain = kernel_name:gsub('%b<>', ''):match '([%w_]+)%s*$'
  local options, capability = options_of(compute_capability, include_dirs, nvcc_options)
  local compiled = {} -- by device
  local function compiled_for(device)
    compiled[device] = compiled[device] or C.compile_user_kernel(device, kernel_source, kernel_name, plain .. '.cu', options, capability)
    return compiled[device]
  end
  compiled_for(torch.cuda.current_device())
  return declare(plain .. '(sizes? grid, sizes? block, list? args, integer shared_mem=0, Stream? stream)', function(grid, block, args, shared_mem, stream)
    local values = args or {}
    local device = device_of(values, stream)
    if stream and stream.device.index ~= device then
      fail('%s(): the stream is on %s, but the tensors are on cuda:%d', plain, tostring(stream.device), device)
    elseif shared_mem < 0 then
      fail('%s(): shared_mem must be a number of bytes, got %d', plain, shared_mem)
    end
    local list = converted(plain, parameters, values, device)
    C.launch_user_kernel(compiled_for(device), sizes_of(plain, 'grid', grid or 1), sizes_of(plain, 'block', block or 1), shared_mem,
      stream and stream.cuda_stream or nil, list)
  end)
end

return compile_kernel
