-- graph.lua - the graph of a program of torch.export in the making: its nodes as tables in the form of
-- PyTorch's JSON, and the names and descriptions of its values.
--
-- Values are the ones of the recording (onnx/export/record.lua), and the ones that writers of
-- operations (operators.lua) make between them. Positions count from 1 in the recording and from 0 in
-- ATen: a result that is positions has a second name, in `zero_name`, for the tensor that ATen makes.

local torch = require 'torch'
local archives = require 'torch.export.archive'
local fail = require 'torch.support.fail'
local json = require 'torch.files.json_text'
local record = require 'torch.onnx.export.record'
local schemas = require 'torch.export.write.schemas'
local symbols = require 'torch.onnx.export.symbols'

local Graph = {}
Graph.__index = Graph

local POSITIONAL, KEYWORD, STRIDED = 1, 2, 7 -- fixed: PyTorch's ArgumentKind and Layout

local codes = {}
for code, dtype in pairs(archives.dtypes) do codes[dtype] = code end

--- recordings: of one module with inputs of different sizes; sizes: the dynamic ones (symbols.lua),
-- { name =, values = }.
local function new(recordings, sizes)
  return setmetatable({ recordings = recordings, sizes = sizes, nodes = {}, values = {}, size_names = {}, sym_ints = {}, names = {}, constants = {}, numbers = {} }, Graph)
end

--- Raises an error about the call that is being written.
function Graph:fail(format, ...)
  local call = self.call
  fail("torch.export.export: '%s' in %s: %s", call.op, call.where, format:format(...))
end

-- ---- names and descriptions ---------------------------------------------------------------------

-- Names that Python or PyTorch uses.
local reserved = {}
for name in ([[False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not
  or pass raise return try while with yield abs all any bool bytes complex dict divmod filter float getattr hash hex id input int iter len list map max min next
  object oct open ord pow print range repr round set slice sorted str sum super tuple type vars zip self torch device inf nan]]):gmatch '%S+' do reserved[name] = true end

--- An unused name: the given one, or with a number.
function Graph:fresh(base)
  base = base:gsub('[^%w_]', '_')
  local name, n = base, self.numbers[base] or 0
  while self.names[name] or reserved[name] do
    n = n + 1
    name = ('%s_%d'):format(base, n)
  end
  self.numbers[base], self.names[name] = n, true
  return name
end

local function solved(self, size)
  local form = symbols.solve(size, self.sizes)
  if form then return form end
  self:fail('a size, %s in the recordings, is no multiple or fraction of the dynamic sizes of the inputs; leave dynamic_shapes out', table.concat(size.values, ', '))
end

-- A size that varies as a sympy expression.
local function expression(self, size)
  local form = solved(self, size)
  local factors = {}
  for i, s in ipairs(form.dims) do factors[i] = ("Symbol('%s', positive=True, integer=True)"):format(self.sizes[s].symbol) end
  if form.factor ~= 1 then table.insert(factors, 1, ('Integer(%d)'):format(form.factor)) end
  local text = #factors == 1 and factors[1] or ('Mul(%s)'):format(table.concat(factors, ', '))
  if form.addend ~= 0 then text = ('Add(%s, Integer(%d))'):format(text, form.addend) end
  if form.divisor ~= 1 then text = ('FloorDiv(%s, Integer(%d))'):format(text, form.divisor) end
  return { as_expr = { expr_str = text, hint = { as_int = size.values[1] } } }
end

function Graph:size_meta(size)
  if symbols.is_symbol(size) then return expression(self, size) end
  return { as_int = size }
end

--- The sizes of a value: a list of numbers and symbols.
function Graph:shape(value)
  if value.is_made then return value.shape end
  return symbols.shape(self.recordings, value)
end

local function contiguous(shape)
  local strides, step = {}, 1
  for d = #shape, 1, -1 do
    strides[d] = step
    step = step * shape[d]
  end
  return strides
end

-- The strides of a value; of a tensor that an in-place operation has reshaped since, the ones of a
-- contiguous tensor.
local function strides_of(self, value)
  local shape = self:shape(value)
  local tensor = not value.is_made and value.tensor
  if not tensor or tensor.layout ~= torch.strided or table.concat(tensor.shape, ' ') ~= table.concat(value.shape, ' ') then return contiguous(shape) end
  local strides = {}
  for d = 1, #shape do
    local values = {}
    for k, recording in ipairs(self.recordings) do values[k] = recording.values[value.id].tensor:stride(d) end
    strides[d] = symbols.number(values)
  end
  return strides
end

local function device_of(device) return { type = device.type, index = device.type == 'cpu' and json.null or device.index or 0 } end

--- The description of a value.
function Graph:meta(value)
  local sizes, strides = json.list {}, json.list {}
  for d, size in ipairs(self:shape(value)) do sizes[d] = self:size_meta(size) end
  for d, stride in ipairs(strides_of(self, value)) do strides[d] = self:size_meta(stride) end
  local code = codes[value.dtype] or self:fail('elements of %s, which PyTorch does not have', tostring(value.dtype))
  local device = value.tensor and value.tensor.device or torch.device 'cpu'
  return { dtype = code, sizes = sizes, strides = strides, requires_grad = value.kind == 'parameter' and value.tensor.requires_grad, device = device_of(device),
    storage_offset = { as_int = 0 }, layout = STRIDED }
end

--- Names and describes a value.
function Graph:define(value, base)
  local name = self:fresh(base)
  self.values[name] = self:meta(value)
  return name
end

--- A value between the ones of the recording, with the dtype and shape of `like` unless they are
--- given.
function Graph:made(like, dtype, shape)
  return setmetatable({ is_made = true, dtype = dtype or like.dtype, shape = shape or self:shape(like), varies = like.varies, tensor = like.tensor, kind = 'made' },
    record.Value)
end

-- The elements of a constant, which must not depend on the sizes of the inputs.
local function constant_of(self, value)
  if not value.constant then self:fail 'a tensor that was not recorded' end
  for k = 2, #self.recordings do
    if not torch.equal(self.recordings[k].values[value.id].constant, value.constant) then
      self:fail 'a tensor that Lua makes (torch.tensor, ...) depends on the sizes of the inputs'
    end
  end
  return value.constant
end

--- A value with the elements of a tensor.
function Graph:constant_value(tensor)
  local value = setmetatable({ is_made = true, dtype = tensor.dtype, shape = table.move(tensor.shape, 1, tensor.ndim, 1, {}), tensor = tensor, kind = 'constant' }, record.Value)
  local target = ('lifted_tensor_%d'):format(#self.constants)
  value.name_in_graph = self:define(value, 'c_' .. target)
  table.insert(self.constants, { name = value.name_in_graph, target = target, tensor = tensor })
  return value
end

function Graph:constant(tensor) return self:constant_value(tensor).name_in_graph end

-- In a scope of no_grad, an operand that may require grad is detached.
local function detached(self, value, name)
  local may_need = value.varies and value.dtype.is_floating_point or value.tensor and value.tensor.requires_grad
  if not self.call or not self.call.no_grad or self.call.op == 'detach' or not may_need then return name end
  value.detached = value.detached or self:node('detach.default', { { name = 'self', arg = { as_tensor = { name = name } } } }, { self:made(value) })
  return value.detached
end

--- The name of a value.
function Graph:name(value)
  if not value.name_in_graph then
    if value.zero_name then -- positions, from 1 as in the module
      value.name_in_graph = self:node('add.Scalar', { { name = 'self', arg = { as_tensor = { name = value.zero_name } } }, { name = 'other', arg = { as_int = 1 } } },
        { self:made(value) })
    else
      value.name_in_graph = self:constant(constant_of(self, value))
      if torch._C.version_of(value.tensor) ~= value.version then -- the call writes to it: each run has its own copy
        self:call_operator('lift_fresh_copy.default', { self = value }, { value })
      end
    end
  end
  return detached(self, value, value.name_in_graph)
end

--- The name of a tensor of positions, which count from 0. may_be_negative: negative ones count from
--- the end in both.
function Graph:positions(value, may_be_negative)
  if value.zero_name then return value.zero_name end
  if value.kind == 'constant' and not value.name_in_graph then
    local positions = constant_of(self, value):to(torch.int64)
    value.zero_name = self:constant(torch.where(positions:lt(0), positions, positions - 1))
    return value.zero_name
  end
  local int64 = self:made(value, torch.int64)
  local wide = value
  if value.dtype ~= torch.int64 then
    wide = self:made(value, torch.int64)
    self:call_operator('to.dtype', { self = value, dtype = torch.int64 }, { wide })
  end
  local less = self:made(int64)
  self:call_operator('sub.Scalar', { self = wide, other = 1 }, { less })
  if may_be_negative then
    local negative, both = self:made(value, torch.bool), self:made(int64)
    self:call_operator('lt.Scalar', { self = wide, other = 0 }, { negative })
    self:call_operator('where.self', { condition = negative, self = wide, other = less }, { both })
    less = both
  else
    value.zero_name = less.name_in_graph
  end
  return less.name_in_graph
end

-- ---- arguments ----------------------------------------------------------------------------------

local special = { [math.huge] = 'Infinity', [-math.huge] = '-Infinity' }
local function float(x)
  if x ~= x then return 'NaN' end
  return special[x] or x + 0.0
end

-- A node of a function of sizes, with the number that it computes in the recordings.
local function add_size_node(self, target, base, inputs, value)
  local name, arguments = self:fresh(base), json.list {}
  for i, input in ipairs(inputs) do arguments[i] = { name = input[1], arg = input[2], kind = POSITIONAL } end
  table.insert(self.nodes, { target = target, name = name, inputs = arguments, outputs = { { as_sym_int = { as_name = name } } }, metadata = {},
    is_hop_single_tensor_return = json.null })
  self.sym_ints[name] = self:size_meta(value)
  return name
end

local function size_argument(name) return { '', { as_sym_int = { as_name = name } } } end

-- The name and the number of a dynamic size of an input.
local function input_size(self, size)
  local number = symbols.number(size.values)
  if not size.node_name then
    local place = size.places[1]
    local input = { as_tensor = { name = self.recordings[1].inputs[place.position].name_in_graph } }
    size.node_name = add_size_node(self, 'torch.ops.aten.sym_size.int', 'sym_size_int', { { 'self', input }, { 'dim', { as_int = place.axis - 1 } } }, number)
  end
  return size.node_name, number
end

-- The name of a number that depends on the sizes of the inputs.
function Graph:size_name(size)
  local key = table.concat(size.values, ' ')
  if self.size_names[key] then return self.size_names[key] end
  local form, name, number = solved(self, size), nil, nil
  for _, s in ipairs(form.dims) do
    local other, factor = input_size(self, self.sizes[s])
    if name then
      number = number * factor
      name = add_size_node(self, '_operator.mul', 'mul', { size_argument(name), size_argument(other) }, number)
    else
      name, number = other, factor
    end
  end
  local function step(op, by, result)
    number = result
    name = add_size_node(self, '_operator.' .. op, op, { size_argument(name), { '', { as_int = by } } }, number)
  end
  if form.factor ~= 1 then step('mul', form.factor, number * form.factor) end
  if form.addend ~= 0 then step('add', form.addend, number + form.addend) end
  if form.divisor ~= 1 then step('floordiv', form.divisor, number // form.divisor) end
  self.size_names[key] = name
  return name
end

local converters = {
  Scalar = function(self, x)
    if symbols.is_symbol(x) then return { as_sym_int = { as_name = self:size_name(x) } } end
    if type(x) == 'boolean' then return { as_bool = x } end
    if math.type(x) == 'integer' then return { as_int = x } end
    if type(x) == 'number' then return { as_float = float(x) } end
    return { as_complex = { real = float(x.real), imag = float(x.imag) } }
  end,
  int = function(self, x)
    if symbols.is_symbol(x) then return { as_sym_int = { as_name = self:size_name(x) } } end
    return { as_int = x }
  end,
  float = function(_, x) return { as_float = float(x) } end,
  bool = function(_, x) return { as_bool = x } end,
  str = function(_, x) return { as_string = x } end,
  ScalarType = function(self, x) return { as_scalar_type = codes[x] or self:fail('elements of %s, which PyTorch does not have', tostring(x)) } end,
  Device = function(_, x) return { as_device = device_of(torch.device(x)) } end,
}
function converters.Tensor(self, x)
  if record.is_value(x) then return { as_tensor = { name = self:name(x) } } end
  return converters.Scalar(self, x)
end

local function each(self, list, f)
  local result = json.list {}
  for i, x in ipairs(list) do result[i] = f(self, x) end
  return result
end

local lists = {
  Tensor = function(self, list) return { as_tensors = each(self, list, function(_, x) return { name = self:name(x) } end) } end,
  int = function(self, list)
    if not symbols.any(list) then return { as_ints = each(self, list, function(_, x) return x end) } end
    return { as_sym_ints = each(self, list, function(_, x)
      if symbols.is_symbol(x) then return { as_name = self:size_name(x) } end
      return { as_int = x }
    end) }
  end,
  float = function(self, list) return { as_floats = each(self, list, function(_, x) return float(x) end) } end,
  bool = function(self, list) return { as_bools = each(self, list, function(_, x) return x end) } end,
}
-- A list of numbers is a list of integers or of floats.
function lists.Scalar(self, list)
  local all_integers = true
  for _, x in ipairs(list) do all_integers = all_integers and math.type(x) == 'integer' end
  return (all_integers and lists.int or lists.float)(self, list)
end

--- A list of tensors, false for absent ones.
function Graph:optional_tensors(list)
  return { as_optional_tensors = each(self, list, function(_, x)
    if not x then return { as_none = true } end
    return { as_tensor = { name = type(x) == 'string' and x or self:name(x) } }
  end) }
end

--- The JSON of an argument in the form of a parameter (schemas.lua).
function Graph:argument(parameter, value)
  local convert = (parameter.is_list and lists or converters)[parameter.kind]
  local may_vary = parameter.kind == 'int' or parameter.kind == 'Scalar' or parameter.kind == 'Tensor'
  if not may_vary and symbols.any(value) then self:fail('%s depends on a dynamic size of the inputs', parameter.name) end
  return convert(self, value)
end

-- ---- nodes --------------------------------------------------------------------------------------

--- Adds a node. arguments: { { name =, arg = JSON } }, in the order of the overload; one after an omitted
-- one is named. results: values, which get the names of the node's outputs, or `false` for one that
-- the recording does not have. Returns the names.
function Graph:node(target, arguments, results)
  local overload = schemas.find(target)
  local inputs, by_name, is_open = json.list {}, {}, true
  for _, argument in ipairs(arguments) do by_name[argument.name] = argument.arg end
  for _, parameter in ipairs(overload) do
    local arg = by_name[parameter.name]
    if arg == nil and not parameter.has_default then arg = { as_none = true } end
    is_open = is_open and arg ~= nil and not parameter.only_named
    if arg then table.insert(inputs, { name = parameter.name, arg = arg, kind = is_open and POSITIONAL or KEYWORD }) end
  end
  local name = self:fresh(overload.name)
  local outputs, names = json.list {}, {}
  for i, value in ipairs(results) do
    names[i] = i == 1 and overload.results == 1 and name or self:fresh 'getitem'
    self.values[names[i]] = self:meta(value or self:made(results[1]))
  end
  if overload.results == 'list' then
    local list = json.list {}
    for i, one in ipairs(names) do list[i] = { name = one } end
    outputs[1] = { as_tensors = list }
  else
    for i, one in ipairs(names) do outputs[i] = { as_tensor = { name = one } } end
  end
  table.insert(self.nodes, { target = 'torch.ops.aten.' .. target, name = name, inputs = inputs, outputs = outputs, metadata = {}, is_hop_single_tensor_return = json.null })
  return table.unpack(names)
end

--- Adds a node of the overload 'name.overload' with these arguments by its names: values, numbers, ...;
-- positions and dimensions count from 0. A table { json = } is an argument in its final form. The
-- names of results are stored in them.
function Graph:call_operator(target, arguments, results)
  local list = {}
  for _, parameter in ipairs(schemas.find(target)) do
    local value = arguments[parameter.name]
    if value ~= nil then
      local is_final = type(value) == 'table' and not record.is_value(value) and value.json
      list[#list + 1] = { name = parameter.name, arg = is_final or self:argument(parameter, value) }
    end
  end
  local names = { self:node(target, list, results) }
  for i, value in ipairs(results) do
    if value then value.name_in_graph = names[i] end
  end
end

return { new = new, codes = codes }
