-- ffi.lua - generates ltensor-ffi.lua, the binding for LuaJIT, from ltensor.json and the parts in src/ffi. The
-- parts call functions of the library as core.lt_name and models.lt_name; their C declarations, the types that they
-- need, the dtypes and a line for each operation precede the parts.
--
-- A line is: name, C function, flags, parameters > results. Flags: i in place, o with out, d a new tensor of a dtype
-- and a device; - none. A parameter is type:name=default, in Lua's convention (positions from 1), after a * if it can
-- be given by name only; a type ends in ? if nil is accepted, and in + if it accepts several values in a row.
--
-- Usage: lua5.4 scripts/gen/ffi.lua LTENSOR_JSON SONAME OUT PART...

package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local declarations = require 'declarations'
local functions = require 'functions'
local read_json = require 'json_reader'

local function contents(path)
  local file <close> = assert(io.open(path))
  return file:read 'a'
end

local description = read_json(contents(arg[1]))
local soname, out, parts = arg[2], arg[3], {}
for i = 4, #arg do parts[#parts + 1] = contents(arg[i]) end

-- ---- C declarations -----------------------------------------------------------------------------

local by_name = {}
for _, kind in ipairs { 'functions', 'enums', 'structs', 'types' } do
  for _, entry in ipairs(description[kind]) do
    entry.kind = kind
    by_name[entry.name] = entry
  end
end

local declared, texts = {}, {}
local declare

-- A type with a name: 'const lt_dims *' and 'dim' become 'const lt_dims *dim'.
local function declarator(entry)
  for word in entry.type:gmatch 'lt_[%w_]+' do declare(word) end
  if entry.type == 'union' or entry.type == 'struct' then
    local fields = {}
    for i, field in ipairs(entry.fields) do fields[i] = declarator(field) .. ';' end
    return ('%s { %s } %s'):format(entry.type, table.concat(fields, ' '), entry.name)
  end
  local text = entry.type .. (entry.type:find '%*$' and '' or ' ') .. entry.name
  return entry.count and ('%s[%d]'):format(text, entry.count) or text
end

local function list_of(entries)
  local list = {}
  for i, entry in ipairs(entries) do list[i] = declarator(entry) end
  return list
end

local writers = {}

function writers.enums(entry)
  local values = {}
  for i, value in ipairs(entry.values) do values[i] = ('%s = %d'):format(value.name, value.value) end
  return ('typedef enum %s { %s } %s;'):format(entry.name, table.concat(values, ', '), entry.name)
end

function writers.structs(entry)
  if entry.opaque then return ('typedef struct %s %s;'):format(entry.name, entry.name) end
  return ('typedef struct %s { %s; } %s;'):format(entry.name, table.concat(list_of(entry.fields), '; '), entry.name)
end

function writers.functions(entry)
  local parameters = list_of(entry.parameters)
  return declarator { type = entry.result, name = ('%s(%s);'):format(entry.name, #parameters > 0 and table.concat(parameters, ', ') or 'void') }
end

-- Appends the declaration of a name after those of the types in it.
function declare(name)
  if declared[name] then return end
  declared[name] = true
  local entry = by_name[name] or error(('%s is in no public header'):format(name), 0)
  local text = writers[entry.kind](entry) -- declares its types first
  texts[#texts + 1] = text
end

for _, name in ipairs { 'lt_scalar', 'lt_dims', 'lt_device', 'lt_dtype', 'lt_generator', 'lt_tensor_list' } do declare(name) end
for _, text in ipairs(parts) do
  for library, name in text:gmatch '%f[%w](%l+)%.(lt_[%w_]+)' do
    if library == 'core' or library == 'models' then declare(name) end
  end
end

-- ---- operations ---------------------------------------------------------------------------------

local function takes_row(parameters, i)
  local p, after = parameters[i], parameters[i + 1]
  if p.type == 'Tensor[]' then return not after or after.keyword_only end
  if p.keyword_only or (p.type ~= 'Size' and p.type ~= 'Dims') then return false end
  if p.type == 'Dims' and (p.optional or p.default ~= nil) then return false end
  return not after or after.keyword_only or not functions.types[after.type].number
end

local is_position = { Dim = true, Dims = true, Index = true }

-- The default in Lua's convention; the description has the one of C.
local function default_of(p, text)
  if text == 'nil' then return text end
  local value = type(p.default) == 'table' and p.default[1] or p.default
  if is_position[p.type] and value >= 0 then value = value + 1 end
  return tostring(value)
end

local function line(name, form, operation, has)
  local parts, flags, takes = { name, form['function'] }, '', {}
  for base, suffix in pairs { in_place = '_', out = '_out' } do
    assert(not form[base] or form[base] == form['function'] .. suffix, form['function'])
  end
  for i, p in ipairs(operation.parameters) do
    takes[p.name] = true
    local default = has[p.name] and '=' .. default_of(p, has[p.name]) or ''
    parts[#parts + 1] = ('%s%s%s%s:%s%s'):format(p.keyword_only and '*' or '', p.type, p.optional and '?' or '',
      takes_row(operation.parameters, i) and '+' or '', p.name, default)
  end
  if form.in_place then flags = flags .. 'i' end
  if form.out then flags = flags .. 'o' end
  if takes.dtype and takes.device and not takes.copy then flags = flags .. 'd' end
  table.insert(parts, 3, flags == '' and '-' or flags)
  parts[#parts + 1] = '>'
  for _, result in ipairs(operation.results) do parts[#parts + 1] = result.type end
  return table.concat(parts, ' ')
end

-- The text of each default in the signature: null in the description is both nil and absent.
local function defaults_of(operation)
  local has = {}
  for name, text in operation.signature:gmatch '([%w_]+)=([^,)]+)' do has[name] = text end
  return has
end

local lines = {}
for _, operation in ipairs(description.operations) do
  local has = defaults_of(operation)
  lines[#lines + 1] = line(operation.name, operation, operation, has)
  for _, other in ipairs(operation.also or {}) do lines[#lines + 1] = line(other.name, other, operation, has) end
end

local version_number
for _, constant in ipairs(description.constants) do
  if constant.name == 'LT_VERSION_NUMBER' then version_number = constant.value end
end

-- C types of parameters and results by their types in the declarations; an optional one ends in ?.
local c_types, result_types = {}, {}

local function note(types, key, c_type)
  c_type = c_type:gsub('^const lt_tensor %*', 'lt_tensor *') -- in-place operations write to the first one
  assert(not types[key] or types[key] == c_type, key)
  types[key] = c_type
end

for _, operation in ipairs(description.operations) do
  for _, p in ipairs(operation.parameters) do note(c_types, p.type .. (p.optional and '?' or ''), p.c_type) end
  for _, result in ipairs(operation.results) do note(result_types, result.type, result.c_type) end
end

local function table_of(types)
  local parts = {}
  for key, c_type in pairs(types) do parts[#parts + 1] = ("['%s'] = '%s'"):format(key, c_type) end
  table.sort(parts)
  return '{\n  ' .. table.concat(parts, ',\n  ') .. ',\n}\n'
end

-- ---- the file -----------------------------------------------------------------------------------

local dtypes = {}
for _, value in ipairs(by_name.lt_dtype.values) do dtypes[#dtypes + 1] = value.value >= 0 and value.name:sub(4):lower() or nil end

local put = { ([[
-- ltensor-ffi.lua - ltensor %s for LuaJIT: tensors, operations, gradients, optimizers and models of files over
-- libltensor, by LuaJIT's FFI. Generated from ltensor.json and src/ffi/. Names and conventions are those of ltensor's
-- own Lua: positions count from 1, the last table of a call has named arguments.
--
--   local torch = require 'ltensor-ffi'
--   local x = torch.randn(2, 3, {requires_grad = true});
--   (x * x):sum():backward()
--   print(x.grad)

local shared = { version = '%s', version_number = %d, soname = '%s', dtypes = '%s' }
]]):format(description.version, description.version, version_number, soname, table.concat(dtypes, ' ')) }
put[#put + 1] = 'shared.cdef = [[\n' .. table.concat(texts, '\n') .. '\n]]\n'
put[#put + 1] = 'shared.c_types = ' .. table_of(c_types) .. 'shared.result_types = ' .. table_of(result_types)
put[#put + 1] = 'shared.operations = [[\n' .. table.concat(lines, '\n') .. '\n]]\n'
for i, text in ipairs(parts) do
  put[#put + 1] = ('\nlocal function part_%d(...)\n%s\nend\npart_%d(shared)\n'):format(i, text, i)
end
put[#put + 1] = '\nreturn shared.torch\n'
declarations.write(out, table.concat(put))
