-- reduce.lua - operations along dimensions: reductions, softmax and normalizations.

local torch = require 'torch'
local elementwise = require 'torch.c_source.ops.elementwise'
local formulas = require 'torch.c_source.ops.formulas'
local places = require 'torch.c_source.places'

local M = { ops = {} }

local function literal(x) return formulas.literal(x, 'float') end

-- The positions of dimensions, from 1; nil means all.
local function dims_of(dims, ndim)
  if type(dims) == 'number' then dims = { dims } end
  local list, is_in = {}, {}
  for i, d in ipairs(dims or {}) do is_in[d < 0 and d + ndim + 1 or d], list[i] = true, d end
  if #list == 0 then
    for d = 1, ndim do is_in[d] = true end
  end
  return is_in
end

-- The place with the dimensions in `is_in` moved to the end, contiguous; the number of elements in
-- them, and the order of dimensions.
local function last(b, place, is_in)
  local order, n = {}, 1
  for _, wanted in ipairs { false, true } do
    for d = 1, #place.shape do
      if (is_in[d] or false) == wanted then order[#order + 1] = d end
    end
  end
  for d in pairs(is_in) do n = n * (place.shape[d] or 1) end
  return b:dense(places.permuted(place, order)), n, order
end

-- ---- reductions ---------------------------------------------------------------------------------

-- start, step (of y and the element a), finish (of y and n), type of the sum.
local kinds = {
  sum = { '0', 'y + a', 'y', 'double' }, mean = { '0', 'y + a', 'y / (double)n', 'double' }, prod = { '1', 'y * a', 'y', 'float' },
  amax = { '-INFINITY', 'a > y || a != a ? a : y', 'y', 'float' }, amin = { 'INFINITY', 'a < y || a != a ? a : y', 'y', 'float' },
  norm = { '0', 'y + (double)a * a', 'sqrt(y)', 'double' }, sum_abs = { '0', 'y + fabsf(a)', 'y', 'double' },
}
local of_integers = { sum = { '0', 'y + a', 'y', 'int64_t' } }
local of_booleans = { any = { '0', 'y || a', 'y', 'int' }, all = { '1', 'y && a', 'y', 'int' } }

local function reduce(b, kind, place, dims, shape, dtype)
  local entry = kinds[kind]
  if of_booleans[kind] then
    entry, place = of_booleans[kind], elementwise.cast(b, place, torch.bool)
  elseif place.dtype ~= torch.float32 then
    entry = dtype == torch.int64 and of_integers[kind] or b:fail('elements of %s', tostring(place.dtype))
    place = elementwise.cast(b, place, torch.int64)
  end
  local rows, n = last(b, place, dims_of(dims, #place.shape))
  local y = b:new_place(shape, dtype)
  local from = places.type_of(rows.dtype)
  local fn = b.parts:instance('reduce', kind .. from.suffix,
    { TYPE_A = from.c, TYPE_Y = places.type_of(dtype).c, TYPE_SUM = entry[4], START = entry[1], FORMULA = entry[2], FINISH = entry[3] })
  b:call(fn, places.numel(shape), n, rows, y)
  return y
end

local function reduction(kind)
  return function(b, args, call) return reduce(b, kind, b:place(args.self or args.input), args.dim, elementwise.shape_of(call), call.results[1].dtype) end
end
for _, kind in ipairs { 'sum', 'mean', 'prod', 'amax', 'amin', 'any', 'all' } do M.ops[kind] = reduction(kind) end

local positions = { argmax = 'a > y', argmin = 'a < y' }
local function position(b, name, place, dim, shape)
  local rows, n = last(b, place, dims_of(dim, #place.shape))
  local type = places.type_of(rows.dtype)
  local y = b:new_place(shape, torch.int64)
  b:call(b.parts:instance('position', name .. type.suffix, { TYPE_A = type.c, FORMULA = positions[name] }), places.numel(shape), n, rows, y)
  return y
end
for name in pairs(positions) do
  M.ops[name] = function(b, args, call) return position(b, name, b:place(args.self), args.dim, elementwise.shape_of(call)) end
end

-- The extreme of all elements, or values and positions along a dimension.
local function extreme(kind, name)
  return function(b, args, call)
    if args.other ~= nil then return elementwise.ops[kind == 'amax' and 'maximum' or 'minimum'](b, args, call) end
    local place, shape = b:place(args.self), elementwise.shape_of(call)
    local y = reduce(b, kind, place, args.dim, shape, call.results[1].dtype)
    if not call.results[2] or not b.used[call.results[2]] then return y end
    return y, position(b, name, place, args.dim, shape)
  end
end
M.ops.max, M.ops.min = extreme('amax', 'argmax'), extreme('amin', 'argmin')

local function norm(b, args, call)
  local p = args.ord or args.p or 2
  if p ~= 2 and p ~= 1 and p ~= 'fro' then b:fail('a norm of order %s', tostring(p)) end
  return reduce(b, p == 1 and 'sum_abs' or 'norm', b:float(b:place(args.self or args.x or args.input)), args.dim, elementwise.shape_of(call), torch.float32)
end
M.ops.norm, M.ops.linalg_vector_norm, M.ops.vector_norm = norm, norm, norm

function M.ops.var(b, args, call)
  local x = b:float(b:place(args.self))
  local rows, n = last(b, x, dims_of(args.dim, #x.shape))
  local y = b:new_place(elementwise.shape_of(call), torch.float32)
  b:call('variance', places.numel(y.shape), n, args.unbiased == false and '0' or literal(args.correction or 1), rows, y)
  return y
end

function M.ops.logsumexp(b, args, call)
  local x = b:float(b:place(args.self))
  local rows, n = last(b, x, dims_of(args.dim, #x.shape))
  local y = b:new_place(elementwise.shape_of(call), torch.float32)
  b:call('log_sums', places.numel(y.shape), n, rows, y)
  return y
end

function M.ops.std(b, args, call) return elementwise.apply(b, 'sqrt', 'sqrtf(a)', M.ops.var(b, args, call), torch.float32) end

function M.ops.cumsum(b, args)
  local x = b:float(b:place(args.self))
  local rows, n, order = last(b, x, dims_of(args.dim, #x.shape))
  local y = b:new_place(rows.shape, torch.float32)
  b:call('cumulative_sum', places.numel(rows.shape) // math.max(n, 1), n, rows, y)
  local back = {}
  for i, d in ipairs(order) do back[d] = i end
  return places.permuted(y, back)
end

-- ---- softmax ------------------------------------------------------------------------------------

local function softmax(name)
  return function(b, args, call)
    local x = elementwise.cast(b, b:place(args.self or args.input), call.results[1].dtype)
    if #x.shape == 0 then x = places.reshaped(x, { 1 }) end
    local rows, n, order = last(b, b:float(x), dims_of(args.dim, #x.shape))
    local y = b:new_place(rows.shape, torch.float32)
    b:call(name, places.numel(rows.shape) // math.max(n, 1), n, rows, y)
    local back = {}
    for i, d in ipairs(order) do back[d] = i end
    return places.permuted(y, back)
  end
end
M.ops.softmax, M.ops.log_softmax = softmax 'softmax', softmax 'log_softmax'

-- ---- normalization ------------------------------------------------------------------------------

function M.ops.layer_norm(b, args)
  local x, n = b:input(args.input), places.numel(args.normalized_shape)
  local y = b:new_place(x.shape, torch.float32)
  b:call('layer_norm', places.numel(x.shape) // n, n, x, b:input(args.weight) or 'NULL', b:input(args.bias) or 'NULL', literal(args.eps), y)
  return y
end

function M.ops.rms_norm(b, args)
  local x, n = b:input(args.input), places.numel(args.normalized_shape)
  local y = b:new_place(x.shape, torch.float32)
  b:call('rms_norm', places.numel(x.shape) // n, n, x, b:input(args.weight) or 'NULL', literal(args.eps or 1.1920928955078125e-07), y)
  return y
end

local function group_norm(b, x, groups, weight, bias, eps)
  local channels = x.shape[2]
  local y = b:new_place(x.shape, torch.float32)
  local n = places.numel(table.move(x.shape, 3, #x.shape, 1, {}))
  b:call('group_norm', ('(const ptrdiff_t[]){%d, %d, %d, %d}'):format(x.shape[1], groups, channels // groups, n), x, b:input(weight) or 'NULL',
    b:input(bias) or 'NULL', literal(eps), y)
  return y
end
function M.ops.group_norm(b, args) return group_norm(b, b:input(args.input), args.num_groups, args.weight, args.bias, args.eps) end

--- A batch or instance norm with constant statistics scales and shifts each channel.
local function fixed_norm(b, args)
  for _, name in ipairs { 'running_mean', 'running_var', 'weight', 'bias' } do
    if args[name] and not b:is_constant(args[name]) then b:fail("'%s' depends on the inputs", name) end
  end
  local variance, mean = b:tensor_of(args.running_var):double(), b:tensor_of(args.running_mean):double()
  local scale = (variance + args.eps):rsqrt()
  if args.weight then scale = scale * b:tensor_of(args.weight):double() end
  local shift = -mean * scale
  if args.bias then shift = shift + b:tensor_of(args.bias):double() end
  local name = args.running_mean.name and args.running_mean.name:gsub('%.?running_mean$', '')
  local x = b:input(args.input)
  local y = b:new_place(x.shape, torch.float32)
  local statement = b:call('scale_channels', x.shape[1], x.shape[2], places.numel(table.move(x.shape, 3, #x.shape, 1, {})), x,
    b:constant(scale:float(), name and name .. '.scale'), b:constant(shift:float(), name and name .. '.shift'), y)
  statement.in_place = { x, y }
  return y
end

function M.ops.batch_norm(b, args)
  if args.training or not args.running_mean then b:fail 'statistics of the batch: export the program in evaluation mode' end
  return fixed_norm(b, args)
end

function M.ops.instance_norm(b, args)
  if args.use_input_stats == false then return fixed_norm(b, args) end
  local x = b:input(args.input)
  return group_norm(b, x, x.shape[2], args.weight, args.bias, args.eps)
end

return M
