-- builder.lua - the statements of a generated program, made of the calls of a recording
-- (onnx/export/record.lua).
--
-- A statement is { fn =, args =, comment = }, a call in C; an argument is text, a number or a place
-- (places.lua), the pointer to its first element. A buffer is { kind = 'arena', 'input', 'output' or
-- 'constant', numel =, dtype =, name = }. Values without inputs are constants, which are computed
-- here; values of dead calls are not computed.

local torch = require 'torch'
local parts = require 'torch.c_source.parts'
local places = require 'torch.c_source.places'
local record = require 'torch.onnx.export.record'

local Builder = {}
Builder.__index = Builder

function Builder.new()
  return setmetatable({ statements = {}, constants = {}, of_value = {}, of_tensor = {}, dense_of = setmetatable({}, { __mode = 'k' }), parts = parts.new() }, Builder)
end

--- Raises an error that names the node and the operator.
function Builder:fail(format, ...)
  local call = self.recorded
  error(('%s: %s'):format(call and ("node '%s' (%s)"):format(call.where, call.operator or call.op) or 'the program', format:format(...)), 0)
end

--- Raises an error unless a value is a tensor of float32, the dtype of layers.
function Builder:float(place)
  if place.dtype ~= torch.float32 then self:fail('elements of %s; the operator supports torch.float32', tostring(place.dtype)) end
  return place
end

-- ---- values -------------------------------------------------------------------------------------

local function buffer(kind, numel, dtype, name) return { kind = kind, numel = numel, dtype = dtype, name = name } end

-- The name of an array from that of a parameter.
local function array_name(self, name)
  local base = ('w_' .. (name or ('constant_%d'):format(#self.constants + 1)):gsub('[^%w]', '_'))
  self.array_names = self.array_names or {}
  local count = (self.array_names[base] or 0) + 1
  self.array_names[base] = count
  return count > 1 and ('%s_%d'):format(base, count) or base
end

--- The place of a tensor of constants. name: of its array.
function Builder:constant(tensor, name)
  local known = self.of_tensor[tensor]
  if known then return known end
  local dtype = tensor.dtype
  if not places.type_of(dtype) then self:fail("constant '%s' has elements of %s", tostring(name), tostring(dtype)) end
  local made = buffer('constant', tensor:numel(), dtype, array_name(self, name))
  made.tensor, made.label = tensor:detach():cpu():contiguous(), name
  self.constants[#self.constants + 1] = made
  local place = places.new(made, table.move(tensor.shape, 1, tensor.ndim, 1, {}), dtype)
  self.of_tensor[tensor] = place
  return place
end

-- Parameters and buffers do not vary; neither do results of these.
function Builder:is_constant(value) return record.is_value(value) and not value.varies end

function Builder:tensor_of(value)
  if value.constant then return value.constant end
  if torch._C.version_of(value.tensor) ~= value.version then self:fail 'a constant that the program changes later' end
  return value.tensor
end

--- The place of a recorded value.
function Builder:place(value)
  if not self.of_value[value] then
    if value.varies then self:fail 'a value that no statement computes' end
    self.of_value[value] = self:constant(self:tensor_of(value), value.name)
  end
  return self.of_value[value]
end

--- A new contiguous place for a result.
function Builder:new_place(shape, dtype)
  if not places.type_of(dtype) then self:fail('elements of %s', tostring(dtype)) end
  return places.new(buffer('arena', places.numel(shape), dtype), shape, dtype)
end

--- The place of n floats that one statement uses.
function Builder:work(n) return self:new_place({ n }, torch.float32) end

-- ---- statements ---------------------------------------------------------------------------------

--- Adds a call of a function of src/c_source, or of an instance of a template.
function Builder:call(fn, ...)
  self.parts:add(fn)
  local statement = { fn = fn, args = table.pack(...), call = self.recorded }
  self.statements[#self.statements + 1] = statement
  return statement
end

--- Copies the elements of a place to another one of the same shape and dtype.
function Builder:copy(from, to)
  if places.numel(from.shape) == 0 then return end
  local type = places.type_of(from.dtype)
  local fn = self.parts:instance('copy', 'elements' .. type.suffix, { TYPE_A = type.c, TYPE_Y = type.c })
  local loop = places.elements(from.shape, { from.strides, to.strides }) or self:fail 'a copy of more than 8 dimensions'
  self:call(fn, loop, from, to)
end

--- The place with contiguous elements; adds a copy if there is none.
function Builder:dense(place)
  if places.is_dense(place) then return place end
  local known = self.dense_of[place]
  if known then return known end
  local result = self:new_place(place.shape, place.dtype)
  self:copy(place, result)
  self.dense_of[place] = result
  return result
end

--- The contiguous place of a value that must have elements of float32; nil for nil.
function Builder:input(value)
  if value == nil then return nil end
  return self:float(self:dense(self:place(value)))
end

return Builder
