-- graph.lua - the ONNX graph of a recording: its nodes, initializers and the names of values. The
-- files of ops/ write operations with these methods; a name is the name of a value in the file.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local record = require 'torch.onnx.export.record'
local symbols = require 'torch.onnx.export.symbols'
local tensors = require 'torch.onnx.tensors'
local versions = require 'torch.onnx.export.versions'

local Graph = {}
Graph.__index = Graph

--- recordings: of one module with inputs of different sizes; sizes: the dynamic ones (symbols.lua),
--- { name =, input =, axis =, values = }; opset: the operator set version.
--- dtypes: of values by their names; lists: integers of constants by their names.
local function new(recordings, sizes, opset)
  return setmetatable({ recordings = recordings, sizes = sizes, opset = opset, nodes = {}, initializers = {}, names = {}, known = {}, from_zero = {}, size_names = {},
    dtypes = {}, lists = {}, count = 0 }, Graph)
end

--- Raises an error about the call that is being written.
function Graph:fail(format, ...)
  local call = self.call
  fail("torch.onnx.export: '%s' in %s: %s", call.op, call.where, format:format(...))
end

function Graph:fresh(base)
  repeat
    self.count = self.count + 1
    base = ('%s_%d'):format(base:gsub('_%d+$', ''), self.count)
  until not self.names[base]
  self.names[base] = true
  return base
end

-- ---- constants ----------------------------------------------------------------------------------

--- The name of an initializer with a tensor's elements; small equal ones are shared.
function Graph:constant(tensor, name)
  if not tensors.code(tensor.dtype) then self:fail('elements of %s, which ONNX does not have', tostring(tensor.dtype)) end
  local key
  if not name and tensor:numel() <= 8 and tensor.device.type == 'cpu' then
    key = ('%s %s %s'):format(tostring(tensor.dtype), tostring(tensor.shape), torch._C.tensor_bytes(tensor:detach():contiguous()))
    if self.known[key] then return self.known[key] end
  end
  name = name or self:fresh 'constant'
  self.names[name], self.dtypes[name] = true, tensor.dtype
  if key then self.known[key] = name end
  table.insert(self.initializers, { name = name, tensor = tensor:detach() })
  return name
end

--- A number as a tensor without dimensions.
function Graph:scalar(x, dtype)
  if symbols.is_symbol(x) then return self:number(x, dtype) end
  return self:constant(torch.full({}, x, { dtype = dtype }))
end

--- A list of plain integers.
function Graph:list(numbers)
  local name = self:constant(torch.tensor(numbers, { dtype = torch.int64 }))
  self.lists[name] = numbers
  return name
end

-- ---- nodes --------------------------------------------------------------------------------------

--- Adds a node with `n` outputs (1) and returns their names. An input that is false is absent. For
--- operator sets before 18, it is written as versions.lua says.
function Graph:node(op, inputs, attributes, n)
  local result
  result, inputs, attributes = versions.convert(self, op, inputs, attributes)
  if result then return result end
  local node = { op_type = op, input = {}, output = {}, attributes = attributes or {}, where = self.call and self.call.where }
  for i, name in ipairs(inputs) do node.input[i] = name or '' end
  while node.input[#node.input] == '' do table.remove(node.input) end
  for i = 1, n or 1 do
    node.output[i] = self:fresh(op)
    self.dtypes[node.output[i]] = versions.result_dtype(self, op, node.input, node.attributes, i)
  end
  table.insert(self.nodes, node)
  return table.unpack(node.output)
end

--- The name of a value of the recording, or of a number (of the dtype `like`).
function Graph:name(value, like)
  if not record.is_value(value) then return self:scalar(value, like) end
  if not value.name_in_file then
    if value.kind == 'parameter' or value.kind == 'buffer' then
      value.name_in_file = self:constant(value.tensor, value.name)
    else
      if not value.constant then self:fail('a tensor that was not recorded') end
      for k = 2, #self.recordings do
        if not torch.equal(self.recordings[k].values[value.id].constant, value.constant) then
          self:fail 'a tensor that Lua makes (torch.tensor, ...) depends on the sizes of the inputs'
        end
      end
      value.name_in_file = self:constant(value.constant)
    end
  end
  return value.name_in_file
end

--- The value cast to a dtype.
function Graph:cast(value, dtype)
  local name = self:name(value, dtype)
  if not record.is_value(value) or value.dtype == dtype then return name end
  return self:cast_name(name, dtype)
end

function Graph:cast_name(name, dtype)
  local code = tensors.code(dtype)
  if not code then self:fail('elements of %s, which ONNX does not have', tostring(dtype)) end
  return self:node('Cast', { name }, { to = code })
end

--- The dtype of a computation on two values or numbers.
function Graph:common(a, b)
  local function example(x) return record.is_value(x) and x.tensor or symbols.at(x, 1) end
  return torch.result_type(example(a), example(b))
end

-- ---- sizes --------------------------------------------------------------------------------------

--- Where an argument must be plain: raises when it depends on the sizes of the inputs.
function Graph:plain(x, what)
  if symbols.is_symbol(x) then
    self:fail("%s depends on a dynamic size of the inputs (%s in the recordings), and the operator's attribute cannot", what, table.concat(x.values, ', '))
  end
  if type(x) == 'table' then
    for _, entry in ipairs(x) do self:plain(entry, what) end
  end
  return x
end

--- f of numbers, in every recording.
function Graph:map(f, ...)
  local values, args = {}, table.pack(...)
  for k = 1, #self.recordings do
    local at = {}
    for i = 1, args.n do at[i] = symbols.at(args[i], k) end
    values[k] = f(table.unpack(at, 1, args.n))
  end
  return symbols.number(values)
end

--- The sizes of a value: a list of numbers and symbols.
function Graph:shape(value)
  return symbols.shape(self.recordings, value)
end

-- A dynamic size of an input, as a tensor of one element.
local function input_size(self, s)
  local size = self.sizes[s]
  if not self.size_names[s] then
    local shape = self:node('Shape', { size.input })
    self.size_names[s] = self:node('Gather', { shape, self:list { size.axis - 1 } }, { axis = 0 })
  end
  return self.size_names[s]
end

local function size_name(self, x)
  if not symbols.is_symbol(x) then return self:list { x } end
  local form = symbols.solve(x, self.sizes)
  if not form then
    self:fail('a size, %s in the recordings, is no multiple or fraction of the dynamic sizes of the inputs', table.concat(x.values, ', '))
  end
  local name = input_size(self, form.dims[1])
  for i = 2, #form.dims do name = self:node('Mul', { name, input_size(self, form.dims[i]) }) end
  if form.factor ~= 1 then name = self:node('Mul', { name, self:list { form.factor } }) end
  if form.addend ~= 0 then name = self:node('Add', { name, self:list { form.addend } }) end
  if form.divisor ~= 1 then name = self:node('Div', { name, self:list { form.divisor } }) end
  return name
end

--- A list of sizes as a tensor of integers.
function Graph:integers(list)
  local any = false
  for _, x in ipairs(list) do any = any or symbols.is_symbol(x) end
  if not any then return self:list(list) end
  local parts = {}
  for i, x in ipairs(list) do parts[i] = size_name(self, x) end
  return #parts == 1 and parts[1] or self:node('Concat', parts, { axis = 0 })
end

--- One number without dimensions, of any dtype.
function Graph:number(x, dtype)
  if not symbols.is_symbol(x) then return self:scalar(x, dtype) end
  local name = self:node('Reshape', { size_name(self, x), self:list {} })
  return dtype == torch.int64 and name or self:cast_name(name, dtype)
end

--- Reshapes a value. One dynamic size needs no arithmetic: it is inferred.
function Graph:reshape(name, shape)
  local dynamic, place, zero = 0, nil, false
  for i, size in ipairs(shape) do
    if symbols.is_symbol(size) then dynamic, place = dynamic + 1, i end
    zero = zero or size == 0
  end
  if dynamic == 1 and not zero then
    local list = table.move(shape, 1, #shape, 1, {})
    list[place] = -1
    return self:node('Reshape', { name, self:list(list) })
  end
  return self:node('Reshape', { name, self:integers(shape) }, zero and { allowzero = 1 } or nil)
end

-- ---- dimensions and positions -------------------------------------------------------------------

--- A dimension (from 1, or from the end) as ONNX's, from 0, of a tensor of that many.
function Graph:axis(dim, rank) return dim > 0 and dim - 1 or dim + rank end

function Graph:axes(dims, rank)
  local axes = {}
  for i, dim in ipairs(type(dims) == 'number' and { dims } or dims) do axes[i] = self:axis(dim, rank) end
  return axes
end

--- The name of a tensor of positions, converted from counting from 1 to ONNX's counting from 0.
-- Negative ones do not change.
function Graph:positions(value, may_be_negative)
  local name = self:name(value)
  if not self.from_zero[name] then
    local wide = self:cast(value, torch.int64)
    local one = self:scalar(1, torch.int64)
    local less = self:node('Sub', { wide, one })
    if may_be_negative then
      less = self:node('Where', { self:node('Less', { wide, self:scalar(0, torch.int64) }), wide, less })
    end
    self.from_zero[name] = less
  end
  return self.from_zero[name]
end

--- Converts positions returned by an ONNX operator, from 0, to positions from 1.
function Graph:from_positions(name)
  local more = self:node('Add', { name, self:scalar(1, torch.int64) })
  self.from_zero[more] = name
  return more
end

return { new = new }
