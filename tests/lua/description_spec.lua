-- description_spec.lua - ltensor.json, the description of the C interface for generators of bindings: it has every
-- function of the headers, with the prototypes of the headers, and the values of the library.

local json = require 'dkjson'
local build = os.getenv 'LTENSOR_BUILD' or 'build'

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read 'a'
end

local description = assert(json.decode(read(build .. '/gen/ltensor.json'), 1, json.null))

local function by_name(list)
  local found = {}
  for _, entry in ipairs(list) do found[entry.name] = entry end
  return found
end

-- The names of the functions that a header declares.
local function functions_of(path)
  local text, names = ('\n' .. read(path)):gsub('/%*.-%*/', ''):gsub('\n#[^\n]*', '\n'), {}
  for mark, declared in text:gmatch '\n(LT_%u+) ([^;{]*)' do
    if mark == 'LT_API' or mark == 'LT_INLINE' then names[#names + 1] = declared:match '([%w_]+)%s*%(' end
  end
  return names
end

-- The C functions of the operations, each with the operation and its form.
local function each_operation(body)
  for _, op in ipairs(description.operations) do
    local forms = { op, op.with_number }
    for _, names in ipairs(table.move(op.also or {}, 1, #(op.also or {}), #forms + 1, forms)) do
      for _, form in ipairs { 'function', 'in_place', 'out' } do
        if names[form] then body(names[form], op, form, names.parameter) end
      end
    end
  end
end

describe('ltensor.json', function()
  it('has the version of the library', function()
    assert.equal(torch.__version__, description.version)
    assert.equal(description.version, by_name(description.constants).LT_VERSION.value)
  end)

  it('names every function of the headers, and no other', function()
    local described, missing = {}, {}
    for _, f in ipairs(description.functions) do described[f.name] = true end
    each_operation(function(name) described[name] = true end)
    local pipe <close> = assert(io.popen('ls include/*.h'))
    for path in pipe:lines() do
      for _, name in ipairs(functions_of(path)) do
        if not described[name] then missing[#missing + 1] = name end
        described[name] = nil
      end
    end
    for _, name in ipairs(functions_of(build .. '/gen/ltensor_ops.h')) do
      if not described[name] then missing[#missing + 1] = name end
      described[name] = nil
    end
    assert.same({}, missing)
    assert.is_nil(next(described))
  end)

  it('has the prototypes of ltensor_ops.h', function()
    local header, wrong, count = read(build .. '/gen/ltensor_ops.h'), {}, 0
    local function joined(c_type, name) return c_type .. (c_type:find '%*$' and '' or ' ') .. name end
    each_operation(function(name, op, form, number)
      local parts = {}
      for i, p in ipairs(op.parameters) do
        local c_type = form == 'in_place' and i == 1 and p.c_type:gsub('^const ', '') or p.c_type
        parts[i] = p.name == number and 'lt_scalar ' .. number or joined(c_type, p.name)
      end
      for _, result in ipairs(form ~= 'in_place' and op.results or {}) do
        parts[#parts + 1] = joined(form == 'out' and result.c_type:gsub('%*$', '') or result.c_type, result.name)
      end
      local prototype = ('lt_status %s(%s);'):format(name, table.concat(parts, ', '))
      count = count + 1
      if not header:find(prototype, 1, true) then wrong[#wrong + 1] = prototype end
    end)
    assert.same({}, wrong)
    assert.is_true(count > 1000)
  end)

  it('has the defaults of C: indices count from 0', function()
    local ops = by_name(description.operations)
    assert.equal(0, ops.stack.parameters[2].default)
    assert.equal(-1, ops.topk.parameters[3].default)
    assert.same({ 1 }, ops.conv2d.parameters[4].default)
    assert.equal(json.null, ops.linear.parameters[3].default)
    assert.is_nil(ops.linear.parameters[2].default)
    assert.is_true(ops.topk.parameters[4].default)
    assert.same({ 'values', 'indices' }, { ops.topk.results[1].name:sub(5), ops.topk.results[2].name:sub(5) })
    assert.is_true(by_name(ops['nn.functional.batch_norm'].parameters).running_mean.written)
  end)

  it('has enums with their values, and structs with their fields', function()
    local values, dims = by_name(by_name(description.enums).lt_dtype.values), by_name(description.structs).lt_dims
    assert.same({ -1, 0, 1 }, { values.LT_DTYPE_NONE.value, values.LT_BOOL.value, values.LT_UINT8.value })
    assert.same({ 'n', 'v', 16 }, { dims.fields[1].name, dims.fields[2].name, dims.fields[2].count })
    local kinds = by_name(by_name(description.structs).lt_scalar.fields).v
    assert.same({ 'union', 'int64_t', 'double' }, { kinds.type, kinds.fields[1].type, kinds.fields[2].type })
    assert.is_true(by_name(description.structs).lt_tensor.opaque)
  end)

  it('describes functions with their comments', function()
    local f = by_name(description.functions)
    assert.matches('^Message of the last failure on this thread%. Borrowed until the next', f.lt_error_message.doc)
    assert.same({ 'ltensor_lua', 'ltensor_lua.h' }, { f.luaopen_torch.library, f.luaopen_torch.header })
    assert.is_true(f.lt_value_none.inline)
    assert.same({ 'const char *', 'lt_value' }, { f.lt_value_string.parameters[1].type, f.lt_value_string.result })
  end)
end)
