-- layers.lua - convolution, pooling, embedding and recurrent layers.

local torch = require 'torch'
local elementwise = require 'torch.c_source.ops.elementwise'
local moves = require 'torch.c_source.ops.moves'
local places = require 'torch.c_source.places'
local products = require 'torch.c_source.ops.products'

local M = { ops = {} }

-- ---- windows ------------------------------------------------------------------------------------

-- A pair (height, width) of a number or a list; layers of one dimension have a height of `one`.
local function pair(x, n, one)
  if type(x) ~= 'table' then x = { x } end
  local width = x[n] or x[1]
  return { n == 2 and x[1] or one, width }
end

-- x as images [batch][channels][height][width]: a layer of n dimensions may have no batch.
local function images(x, n)
  local shape = table.move(x.shape, 1, #x.shape, 1, {})
  if #shape == n + 1 then table.insert(shape, 1, 1) end
  if n == 1 then table.insert(shape, 3, 1) end
  return shape
end

-- The struct windows of fields by name.
local function windows(fields)
  local function two(list) return ('{%d, %d}'):format(list[1], list[2]) end
  return ('&(struct windows){%d, %d, %d, %d, %d, %d, %d, %d, %s, %s, %s, %s, %d}'):format(fields.batch, fields.groups, fields.channels, fields.out, fields.height,
    fields.width, fields.rows, fields.columns, two(fields.kernel), two(fields.stride), two(fields.padding), two(fields.dilation), fields.strip)
end

local function described(args, n, shape, result)
  return { batch = shape[1], groups = args.groups or 1, channels = shape[2] // (args.groups or 1), height = shape[3], width = shape[4],
    rows = n == 2 and result[#result - 1] or 1, columns = result[#result], stride = pair(args.stride, n, 1),
    dilation = pair(args.dilation or 1, n, 1), strip = 1 }
end

-- ---- convolution --------------------------------------------------------------------------------

local STRIP = 256 -- tuning: columns of a product at a time: a strip of 64 input channels with kernels of 3 x 3 has 0.6 MB, in L2

-- The padding 'same' of a convolution with stride 1, at the front; more at the end needs no number.
local function padding_of(args, fields, n)
  if args.padding == 'valid' then return { 0, 0 } end
  if args.padding ~= 'same' then return pair(args.padding, n, 0) end
  local list = {}
  for d = 1, 2 do list[d] = fields.dilation[d] * (fields.kernel[d] - 1) // 2 end
  return list
end

local function convolution(n)
  return function(b, args, call)
    local x, weight, result = b:input(args.input), b:input(args.weight), elementwise.shape_of(call)
    local fields = described(args, n, images(x, n), result)
    fields.out = weight.shape[1] // fields.groups
    fields.kernel = pair(table.move(weight.shape, 3, #weight.shape, 1, {}), n, 1)
    fields.padding = padding_of(args, fields, n)
    fields.strip = math.max(1, math.min(fields.rows, STRIP // math.max(fields.columns, 1)))
    local is_point = true
    for d = 1, 2 do is_point = is_point and fields.kernel[d] == 1 and fields.stride[d] == 1 and fields.padding[d] == 0 end
    local k = fields.channels * fields.kernel[1] * fields.kernel[2]
    local y = b:new_place(result, torch.float32)
    b:call('convolution', windows(fields), x, weight, b:input(args.bias) or 'NULL', is_point and 'NULL' or b:work(k * fields.strip * fields.columns), y)
    return y
  end
end
M.ops.conv1d, M.ops.conv2d = convolution(1), convolution(2)

local function transposed(n)
  return function(b, args, call)
    local x, weight, result = b:input(args.input), b:input(args.weight), elementwise.shape_of(call)
    local fields = described(args, n, images(x, n), result)
    fields.out = weight.shape[2]
    fields.kernel = pair(table.move(weight.shape, 3, #weight.shape, 1, {}), n, 1)
    fields.padding = pair(args.padding, n, 0)
    local y = b:new_place(result, torch.float32)
    b:call('transposed_convolution', windows(fields), x, weight, b:input(args.bias) or 'NULL', y)
    return y
  end
end
M.ops.conv_transpose1d, M.ops.conv_transpose2d = transposed(1), transposed(2)

-- ---- pooling ------------------------------------------------------------------------------------

-- The images are the channels of all inputs.
local function pooled(b, args, call, n)
  local x, result = b:input(args.self or args.input), elementwise.shape_of(call)
  local shape = images(x, n)
  local fields = described({ stride = args.stride and (type(args.stride) ~= 'table' or #args.stride > 0) and args.stride or args.kernel_size, dilation = args.dilation },
    n, { shape[1] * shape[2], 1, shape[3], shape[4] }, result)
  fields.out, fields.kernel, fields.padding = 1, pair(args.kernel_size, n, 1), pair(args.padding or 0, n, 0)
  return x, windows(fields), b:new_place(result, torch.float32)
end

local function max_pool(n)
  return function(b, args, call)
    if call.results[2] and b.used[call.results[2]] then b:fail 'the positions of the maxima' end
    local x, fields, y = pooled(b, args, call, n)
    b:call('max_pool', fields, x, y)
    return y
  end
end

local function avg_pool(n)
  return function(b, args, call)
    local x, fields, y = pooled(b, args, call, n)
    b:call('avg_pool', fields, args.count_include_pad == false and 0 or 1, args.divisor_override or 0, x, y)
    return y
  end
end

local function adaptive_pool(fn, n)
  return function(b, args, call)
    if call.results[2] and b.used[call.results[2]] then b:fail 'the positions of the maxima' end
    local x, result = b:input(args.self or args.input), elementwise.shape_of(call)
    local shape = images(x, n)
    local y = b:new_place(result, torch.float32)
    b:call(fn, shape[1] * shape[2], shape[3], shape[4], n == 2 and result[#result - 1] or 1, result[#result], x, y)
    return y
  end
end

for n = 1, 2 do
  M.ops[('max_pool%dd'):format(n)], M.ops[('avg_pool%dd'):format(n)] = max_pool(n), avg_pool(n)
  M.ops[('adaptive_avg_pool%dd'):format(n)], M.ops[('adaptive_max_pool%dd'):format(n)] = adaptive_pool('adaptive_avg_pool', n), adaptive_pool('adaptive_max_pool', n)
end

-- ---- embedding ----------------------------------------------------------------------------------

-- The rows of a place at positions, which count from 1.
local function rows_at(b, place, value, shape)
  local source, positions = b:float(b:dense(place)), b:dense(elementwise.cast(b, b:place(value), torch.int64))
  local y = b:new_place(shape, torch.float32)
  local rows = source.shape[1]
  b:call('embedding', places.numel(positions.shape), rows, places.numel(source.shape) // math.max(rows, 1), positions, source, y).is_checked = true
  return y
end

function M.ops.embedding(b, args, call) return rows_at(b, b:place(args.weight), args.indices or args.input, elementwise.shape_of(call)) end

--- Positions that depend on the inputs; other ones are copied by moves.lua.
function M.ops.index_select(b, args, call)
  if b:is_constant(args.index) then return moves.by_position(b, args, call) end
  local shape = elementwise.shape_of(call)
  local dim = args.dim < 0 and args.dim + #shape + 1 or args.dim
  local order, back, first = { dim }, {}, { shape[dim] }
  for d = 1, #shape do
    if d ~= dim then order[#order + 1], first[#first + 1] = d, shape[d] end
  end
  for i, d in ipairs(order) do back[d] = i end
  return places.permuted(rows_at(b, places.permuted(b:place(args.self), order), args.index, first), back)
end

-- ---- recurrent layers ---------------------------------------------------------------------------

local gates_of = { lstm = 4, gru = 3, tanh = 1, relu = 1 }
local functions = { lstm = 'lstm', gru = 'gru', tanh = 'tanh_layer', relu = 'relu_layer' }

-- The steps of a layer with x, the gates of its inputs, and the states h and c. Returns the output
-- and the last states.
local function layer(b, cell, x, h, c, weights, is_reversed)
  local batch, hidden = h.shape[1], h.shape[2]
  local size = batch * hidden
  local rows = x.shape[1]
  local states = c and 2 or 1
  local state, y = b:new_place({ states, batch, hidden }, torch.float32), b:new_place({ rows, hidden }, torch.float32)
  local function part(i) return places.new(state.buffer, { batch, hidden }, torch.float32, i * size) end
  b:copy(b:float(h), part(0))
  if c then b:copy(b:float(c), part(1)) end
  b:call(functions[cell], ('&(struct recurrence){%d, %d, %d, %d}'):format(rows // math.max(batch, 1), batch, hidden, is_reversed and 1 or 0), x,
    products.transposed_weight(b, weights[1]), b:input(weights[2]) or 'NULL', b:work(size * gates_of[cell]), y, state)
  return y, part(0), c and part(1) or nil
end

--- One direction of a layer: the arguments are those of torch._C.recurrent_layer.
function M.ops.recurrent_layer(b, args)
  local gates, hx, cx, weight, bias, cell, is_reversed, sizes = table.unpack(args, 1, 8)
  if sizes ~= nil then b:fail 'sequences of different lengths' end
  if not gates_of[cell] then b:fail("a cell '%s'", tostring(cell)) end
  return layer(b, cell, b:input(gates), b:place(hx), cell == 'lstm' and b:place(cx) or nil, { weight, bias }, is_reversed)
end

-- A cell is a layer of one step.
local function one_step(cell)
  return function(b, args)
    local hx = cell == 'lstm' and args.hx or { args.hx }
    local x = products.linear(b, b:input(args.input), args.w_ih, args.b_ih)
    local _, h, c = layer(b, cell, x, b:place(hx[1]), hx[2] and b:place(hx[2]), { args.w_hh, args.b_hh }, false)
    return h, c
  end
end
M.ops.lstm_cell, M.ops.gru_cell, M.ops.rnn_tanh_cell, M.ops.rnn_relu_cell = one_step 'lstm', one_step 'gru', one_step 'tanh', one_step 'relu'

return M
