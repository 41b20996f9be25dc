-- elementwise.lua - element-wise operations: loops with a formula (formulas.lua), with broadcasting.

local torch = require 'torch'
local formulas = require 'torch.c_source.ops.formulas'
local places = require 'torch.c_source.places'
local record = require 'torch.onnx.export.record'

local M = {}

-- ---- one operand --------------------------------------------------------------------------------

local function formula_of(entry, args, c_type)
  if type(entry) == 'function' then return entry(args, c_type) end
  return entry
end

-- y = formula of a.
local function apply(b, name, formula, a, dtype)
  a = b:dense(a)
  local from, to = places.type_of(a.dtype), places.type_of(dtype)
  local y = b:new_place(a.shape, dtype)
  local fn = b.parts:instance('apply', name, { TYPE_A = from.c, TYPE_Y = to.c, FORMULA = formula })
  if places.numel(a.shape) > 0 then b:call(fn, places.numel(a.shape), a, y).in_place = { a, y } end
  return y
end

--- The place with its elements converted to a dtype.
function M.cast(b, place, dtype)
  if place.dtype == dtype then return place end
  local to = places.type_of(dtype) or b:fail('elements of %s', tostring(dtype))
  return apply(b, 'convert' .. (to.suffix == '' and '_float' or to.suffix), dtype == torch.bool and 'a != 0' or ('(%s)a'):format(to.c), place, dtype)
end

local function result_dtype(call) return call.results[1].dtype end

local function unary(name, entry, is_float)
  return function(b, args, call)
    local dtype = result_dtype(call)
    local a = b:place(args.self or args.input)
    if is_float then
      if dtype ~= torch.bool then a = M.cast(b, a, torch.float32) end
      b:float(a)
      if dtype ~= torch.bool and dtype ~= torch.float32 then b:fail('a result of %s', tostring(dtype)) end
    end
    return apply(b, name, formula_of(entry, args, places.type_of(a.dtype).c), a, dtype)
  end
end

-- ---- several operands ---------------------------------------------------------------------------

-- The type and text or place of an operand, which may be a number.
local function operand(b, x, dtype)
  if record.is_value(x) then return b:place(x) end
  local c = (places.type_of(dtype) or b:fail('elements of %s', tostring(dtype))).c
  return { literal = ('(const %s[]){%s}'):format(c, formulas.literal(x, c)), shape = {}, strides = {}, dtype = dtype }
end

local templates = { [2] = 'combine', [3] = 'select' }

-- y = formula of the operands with broadcasting, computed in the dtypes `work` of each operand.
local function combine(b, name, formula, operands, work, shape, dtype)
  local values, strides, args = {}, {}, {}
  local type_of_y = places.type_of(dtype) or b:fail('a result of %s', tostring(dtype))
  values.FORMULA, values.TYPE_Y = formula, type_of_y.c
  local suffix = type_of_y.suffix
  for i, place in ipairs(operands) do
    local letter, computed = ('ABC'):sub(i, i), places.type_of(work[i])
    if not computed then b:fail('elements of %s', tostring(work[i])) end
    values['TYPE_' .. letter], values['WORK_' .. letter] = places.type_of(place.dtype).c, computed.c
    strides[i], args[i] = places.broadcast(place, shape), place.literal or place
    if suffix == '' or dtype == torch.bool then suffix = computed.suffix end
  end
  local y = b:new_place(shape, dtype)
  if places.numel(shape) == 0 then return y end
  local fn = b.parts:instance(templates[#operands], name .. suffix, values)
  local loop = places.elements(shape, strides) or b:fail 'more than 8 dimensions that do not merge'
  args[#args + 1] = y
  local statement = b:call(fn, loop, table.unpack(args))
  for _, place in ipairs(operands) do
    if not place.literal and place.dtype == dtype and places.is_dense(place) and places.numel(place.shape) == places.numel(shape) then
      statement.in_place = statement.in_place or { place, y }
    end
  end
  return y
end

local function shape_of(call) return table.move(call.results[1].shape, 1, #call.results[1].shape, 1, {}) end

local function same(dtype, n)
  local list = {}
  for i = 1, n do list[i] = dtype end
  return list
end

-- The dtype in which two operands are compared: the one of their sum.
local function common_dtype(x, y)
  local function sample(value) return record.is_value(value) and torch.empty(#value.shape == 0 and {} or { 0 }, { dtype = value.dtype }) or value end
  if not record.is_value(x) then return torch.result_type(sample(y), x) end
  return torch.result_type(sample(x), sample(y))
end

local function binary(name, entry, kind)
  return function(b, args, call)
    local x, y = args.self, args.other
    if x == nil then x = args.input end
    if y == nil then y = args.exponent or args.weight end
    local dtype = result_dtype(call)
    local work = kind == 'compare' and common_dtype(x, y) or dtype
    if kind == 'float' and work == torch.int64 then
      entry = formulas.binary_int64[name] or b:fail 'integers'
    elseif kind == 'float' and work ~= torch.float32 then
      b:fail('a result of %s', tostring(work))
    end
    local formula = formula_of(entry, args, places.type_of(work) and places.type_of(work).c)
    return combine(b, name, formula, { operand(b, x, work), operand(b, y, work) }, same(work, 2), shape_of(call), dtype)
  end
end

-- The weight of prelu is one per channel.
local function prelu(b, args, call)
  local x, weight = b:place(args.self or args.input), b:place(args.weight)
  if places.numel(weight.shape) > 1 then
    local shape = { places.numel(weight.shape) }
    for d = 3, #x.shape do shape[d - 1] = 1 end
    weight = places.reshaped(b:dense(weight), shape)
  end
  return combine(b, 'prelu', formulas.binary_float.prelu, { b:float(x), b:float(weight) }, same(torch.float32, 2), shape_of(call), torch.float32)
end

-- ---- operations ---------------------------------------------------------------------------------

M.ops = { prelu = prelu }

for name, entry in pairs(formulas.unary_any) do M.ops[name] = unary(name, entry, false) end
for name, entry in pairs(formulas.unary_float) do M.ops[name] = unary(name, entry, true) end
for name, entry in pairs(formulas.binary_any) do M.ops[name] = binary(name, entry, 'any') end
for name, entry in pairs(formulas.binary_float) do M.ops[name] = M.ops[name] or binary(name, entry, 'float') end
for name, entry in pairs(formulas.compare) do M.ops[name] = binary(name, entry, 'compare') end

function M.ops.bitwise_not(b, args, call)
  local a = b:place(args.self)
  return apply(b, 'bitwise_not', a.dtype == torch.bool and '!a' or '~a', a, result_dtype(call))
end

M.ops['where'] = function(b, args, call)
  if args.self == nil then b:fail 'positions of a mask' end
  local dtype = result_dtype(call)
  return combine(b, 'where', formulas.ternary.where, { b:place(args.condition), operand(b, args.self, dtype), operand(b, args.other, dtype) },
    { torch.bool, dtype, dtype }, shape_of(call), dtype)
end

function M.ops.masked_fill(b, args, call)
  local dtype = result_dtype(call)
  return combine(b, 'masked_fill', formulas.ternary.masked_fill, { b:place(args.self), b:place(args.mask), operand(b, args.value, dtype) },
    { dtype, torch.bool, dtype }, shape_of(call), dtype)
end

local function ternary(name, second, third)
  return function(b, args, call)
    local list = { operand(b, args.self, torch.float32), operand(b, args[second], torch.float32), operand(b, args[third], torch.float32) }
    for _, place in ipairs(list) do b:float(place) end
    return combine(b, name, formula_of(formulas.ternary[name], args, 'float'), list, same(torch.float32, 3), shape_of(call), torch.float32)
  end
end
M.ops.lerp = ternary('lerp', 'end', 'weight')
M.ops.addcmul, M.ops.addcdiv = ternary('addcmul', 'tensor1', 'tensor2'), ternary('addcdiv', 'tensor1', 'tensor2')

--- Limits: numbers or tensors, each optional.
function M.ops.clamp(b, args, call)
  local dtype, shape = result_dtype(call), shape_of(call)
  local y = M.cast(b, b:place(args.self), dtype)
  for _, limit in ipairs { { args.min, 'maximum' }, { args.max, 'minimum' } } do
    if limit[1] ~= nil then
      local formula = formulas.binary_any[limit[2]](args, places.type_of(dtype).c)
      y = combine(b, limit[2], formula, { y, operand(b, limit[1], dtype) }, same(dtype, 2), shape, dtype)
    end
  end
  return y
end
M.ops.clip, M.ops.clamp_min, M.ops.clamp_max = M.ops.clamp, M.ops.clamp, M.ops.clamp

M.apply, M.combine, M.shape_of, M.operand = apply, combine, shape_of, operand

return M
