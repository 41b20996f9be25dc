-- products.lua - matrix products, linear layers and attention.

local torch = require 'torch'
local elementwise = require 'torch.c_source.ops.elementwise'
local places = require 'torch.c_source.places'

local M = { ops = {} }

-- ---- linear layers ------------------------------------------------------------------------------

--- weight[out][in] as [in][out], a constant if it is one.
local function transposed_weight(b, value)
  if b:is_constant(value) then
    local tensor = b:tensor_of(value)
    b.transposed = b.transposed or {}
    b.transposed[tensor] = b.transposed[tensor] or tensor:detach():t():contiguous()
    return b:float(b:constant(b.transposed[tensor], value.name))
  end
  return b:dense(places.permuted(b:float(b:place(value)), { 2, 1 }))
end
M.transposed_weight = transposed_weight

--- x weight^T + bias of a place and two values.
function M.linear(b, x, weight, bias)
  if #weight.shape ~= 2 then b:fail('a weight of %d dimensions', #weight.shape) end
  local out, width = weight.shape[1], weight.shape[2]
  local shape = table.move(x.shape, 1, #x.shape, 1, {})
  shape[#shape] = out
  local y = b:new_place(shape, torch.float32)
  b:call('linear', places.numel(x.shape) // math.max(width, 1), width, out, x, transposed_weight(b, weight), b:input(bias) or 'NULL', y)
  return y
end

function M.ops.linear(b, args) return M.linear(b, b:input(args.input), args.weight, args.bias) end

-- ---- products -----------------------------------------------------------------------------------

local function range(shape, from, to) return table.move(shape, from, to, 1, {}) end

-- The place with its leading dimensions broadcast to `batch` and contiguous matrices; the distance
-- of its matrices is 0 if it has one.
local function matrices(b, place, batch)
  local n = #place.shape
  local shape = range(place.shape, n - 1, n)
  if places.numel(range(place.shape, 1, n - 2)) == 1 then
    local one = { buffer = place.buffer, offset = place.offset, shape = shape, strides = range(place.strides, n - 1, n), dtype = place.dtype }
    return b:dense(one), 0
  end
  local full = table.move(shape, 1, 2, #batch + 1, range(batch, 1, #batch))
  local wide = { buffer = place.buffer, offset = place.offset, shape = full, strides = places.broadcast(place, full), dtype = place.dtype }
  return b:dense(wide), shape[1] * shape[2]
end

-- y = x z of places with at least two dimensions, to the shape of the result.
local function product(b, x, z, shape)
  local n = #x.shape > #z.shape and #x.shape or #z.shape
  local batch = {}
  for i = 1, n - 2 do
    local p, q = x.shape[#x.shape - n + i] or 1, z.shape[#z.shape - n + i] or 1
    batch[i] = p == 1 and q or p
  end
  local m, k, columns = x.shape[#x.shape - 1], x.shape[#x.shape], z.shape[#z.shape]
  local a, step_a = matrices(b, b:float(x), batch)
  local c, step_c = matrices(b, b:float(z), batch)
  local count = places.numel(batch)
  if step_c == 0 and count > 1 and step_a > 0 then m, count = m * count, 1 end -- one matrix of all rows
  local y = b:new_place(shape, torch.float32)
  b:call('matrix_products', ('&(struct products){%d, %d, %d, %d, %d, %d}'):format(count, m, columns, k, step_a, step_c), a, c, y)
  return y
end

-- A place of one dimension as a matrix.
local function as_matrix(place, is_column)
  local n, stride = place.shape[1], place.strides[1]
  return { buffer = place.buffer, offset = place.offset, dtype = place.dtype, shape = is_column and { n, 1 } or { 1, n }, strides = is_column and { stride, 0 } or { 0, stride } }
end

local function matmul(b, args, call)
  local x, z = b:place(args.self or args.input), b:place(args.other or args.mat2 or args.vec or args.tensor)
  if #x.shape == 1 then x = as_matrix(x, false) end
  if #z.shape == 1 then z = as_matrix(z, true) end
  return product(b, x, z, elementwise.shape_of(call))
end
for _, name in ipairs { 'matmul', 'mm', 'bmm', 'mv', 'dot' } do M.ops[name] = matmul end

function M.ops.outer(b, args, call)
  local x, z, dtype = as_matrix(b:place(args.self), true), as_matrix(b:place(args.vec2 or args.other), false), call.results[1].dtype
  return elementwise.combine(b, 'mul', 'a * b', { x, z }, { dtype, dtype }, elementwise.shape_of(call), dtype)
end

-- ---- sums of products ---------------------------------------------------------------------------

-- The place with the labels of its dimensions in the order of a string; labels that it lacks have size 1.
local function ordered(place, labels, wanted)
  local result = { buffer = place.buffer, offset = place.offset, dtype = place.dtype, shape = {}, strides = {} }
  for i = 1, #wanted do
    local d = labels:find(wanted:sub(i, i), 1, true)
    result.shape[i], result.strides[i] = d and place.shape[d] or 1, d and place.strides[d] or 0
  end
  return result
end

-- The place with runs of `sizes` dimensions as one each.
local function grouped(b, place, sizes)
  local dense, shape, at = b:dense(place), {}, 1
  for k, n in ipairs(sizes) do
    shape[k] = 1
    for d = at, at + n - 1 do shape[k] = shape[k] * place.shape[d] end
    at = at + n
  end
  return places.reshaped(dense, shape)
end

--- einsum of two operands without repeated labels in one of them, as one product of matrices.
function M.ops.einsum(b, args, call)
  local left, right, result = args.equation:gsub(' ', ''):match '^(%a+),(%a+)%->(%a*)$'
  local values = args.operands or args.tensors
  if not left or #values ~= 2 then b:fail("the equation '%s'; products of two operands are supported", args.equation) end
  local batch, rows, columns, inner = '', '', '', ''
  for label in left:gmatch '.' do
    if select(2, left:gsub(label, '')) > 1 then b:fail("the equation '%s' with a repeated label", args.equation) end
    local in_right, in_result = right:find(label, 1, true), result:find(label, 1, true)
    if in_right and in_result then batch = batch .. label
    elseif in_result then rows = rows .. label
    elseif in_right then inner = inner .. label
    else b:fail("the equation '%s' with a sum over one operand", args.equation) end
  end
  for label in right:gmatch '.' do
    if select(2, right:gsub(label, '')) > 1 or not left:find(label, 1, true) and not result:find(label, 1, true) then
      b:fail("the equation '%s' with a repeated label or a sum over one operand", args.equation)
    end
    if not left:find(label, 1, true) then columns = columns .. label end
  end
  local x, z = b:float(b:place(values[1])), b:float(b:place(values[2]))
  local a = grouped(b, ordered(x, left, batch .. rows .. inner), { #batch, #rows, #inner })
  local c = grouped(b, ordered(z, right, batch .. inner .. columns), { #batch, #inner, #columns })
  local y = product(b, a, c, { a.shape[1], a.shape[2], c.shape[3] })
  local made, shape = batch .. rows .. columns, {}
  for i = 1, #made do
    local d = result:find(made:sub(i, i), 1, true)
    shape[i] = call.results[1].shape[d]
  end
  return ordered(places.reshaped(y, shape), made, result)
end

local function add_product(first, second)
  return function(b, args, call)
    if args.alpha ~= 1 or args.beta ~= 1 then b:fail 'factors other than 1' end
    local shape = elementwise.shape_of(call)
    local x, z = b:place(args[first]), b:place(args[second])
    if #z.shape == 1 then z = as_matrix(z, true) end
    local y = product(b, x, z, shape)
    return elementwise.combine(b, 'add', 'a + b', { y, b:float(b:place(args.self)) }, { torch.float32, torch.float32 }, shape, torch.float32)
  end
end
M.ops.addmm, M.ops.baddbmm, M.ops.addmv = add_product('mat1', 'mat2'), add_product('batch1', 'batch2'), add_product('mat', 'vec')

-- ---- attention ----------------------------------------------------------------------------------

-- The mask as numbers that are added, for each matrix of scores; a mask of booleans selects.
local function mask_of(b, value, shape)
  if value == nil then return 'NULL' end
  local place = b:place(value)
  if place.dtype == torch.bool then
    local none, all = elementwise.operand(b, -math.huge, torch.float32), elementwise.operand(b, 0, torch.float32)
    place = elementwise.combine(b, 'mask', 'a ? b : c', { place, all, none }, { torch.bool, torch.float32, torch.float32 }, place.shape, torch.float32)
  end
  return b:dense { buffer = b:float(place).buffer, offset = place.offset, shape = shape, strides = places.broadcast(place, shape), dtype = place.dtype }
end

-- Repeats each head of a place to `heads`; contiguous.
local function with_heads(b, place, heads)
  local n = #place.shape
  local own = place.shape[n - 2]
  if own == heads then return b:dense(place) end
  local shape, strides = range(place.shape, 1, n), range(place.strides, 1, n)
  table.insert(shape, n - 1, heads // own)
  table.insert(strides, n - 1, 0)
  local wide = b:dense { buffer = place.buffer, offset = place.offset, shape = shape, strides = strides, dtype = place.dtype }
  local full = range(place.shape, 1, n)
  full[n - 2] = heads
  return places.reshaped(wide, full)
end

function M.ops.scaled_dot_product_attention(b, args, call)
  local query, key, value = b:float(b:place(args.query)), b:float(b:place(args.key)), b:float(b:place(args.value))
  if (args.dropout_p or 0) ~= 0 then b:fail 'dropout: export the program in evaluation mode' end
  local n = #query.shape
  if args.enable_gqa and n > 2 then key, value = with_heads(b, key, query.shape[n - 2]), with_heads(b, value, query.shape[n - 2]) end
  local shape = elementwise.shape_of(call)
  local batch, length, size = range(shape, 1, n - 2), query.shape[n - 1], query.shape[n]
  local sources, width = key.shape[#key.shape - 1], shape[n]
  local function full(place)
    local wanted = table.move(place.shape, #place.shape - 1, #place.shape, #batch + 1, range(batch, 1, #batch))
    return b:dense { buffer = place.buffer, offset = place.offset, shape = wanted, strides = places.broadcast(place, wanted), dtype = place.dtype }
  end
  local scale = args.scale or 1 / math.sqrt(size)
  local mask = mask_of(b, args.attn_mask, table.move({ length, sources }, 1, 2, #batch + 1, range(batch, 1, #batch)))
  local y = b:new_place(shape, torch.float32)
  local sizes = ('&(struct attention_sizes){%d, %d, %d, %d, %d, %.9gf, %d}'):format(places.numel(batch), length, sources, size, width, scale + 0.0, args.is_causal and 1 or 0)
  b:call('attention', (sizes:gsub(', (%d+)f,', ', %1.0f,')), full(query), full(key), full(value), mask, b:work(sources * (size + length)), y)
  return y
end

return M
