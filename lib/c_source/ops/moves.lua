-- moves.lua - operations that only select or rearrange elements. Each one runs here on a stand-in
-- for its input: views become strides, everything else a copy by positions.

local torch = require 'torch'
local elementwise = require 'torch.c_source.ops.elementwise'
local formulas = require 'torch.c_source.ops.formulas'
local places = require 'torch.c_source.places'
local record = require 'torch.onnx.export.record'

local F = torch.nn.functional
local indexing = debug.getmetatable(torch.empty(0)).__index

-- ---- calls on stand-ins -------------------------------------------------------------------------

local function function_of(call)
  if call.op == 'index' then return indexing end
  return call.in_nn and F[call.op] or torch._C.methods[call.op] or torch[call.op] or F[call.op]
end

-- The arguments of a recorded call with tensors instead of values.
local function with_tensors(x, tensor_of)
  if record.is_value(x) then return tensor_of(x) end
  if type(x) ~= 'table' or getmetatable(x) ~= nil then return x end
  local copy = {}
  for key, entry in pairs(x) do copy[key] = with_tensors(entry, tensor_of) end
  return copy
end

-- Calls the operation with a tensor instead of its first argument, and returns a list of results.
local function repeated(b, call, tensor)
  local first = call.args[1]
  local args = with_tensors(call.args, function(value)
    if value == first then return tensor end
    if b:is_constant(value) then return b:tensor_of(value) end
    return torch.empty(value.shape, { dtype = value.dtype }) -- only its shape counts
  end)
  local results = table.pack(torch.no_grad(function() return function_of(call)(table.unpack(args, 1, args.n)) end))
  if type(results[1]) == 'table' then return results[1] end
  return results
end

-- Whether an argument but the first one has elements that vary.
local function reads_others(call)
  local function varies(x)
    if record.is_value(x) then return x ~= call.args[1] and x.varies end
    if type(x) ~= 'table' or getmetatable(x) ~= nil then return false end
    for _, entry in pairs(x) do
      if varies(entry) then return true end
    end
    return false
  end
  return varies(call.args)
end

-- ---- views --------------------------------------------------------------------------------------

local function views(b, _, call)
  local place = b:place(call.args[1])
  for _ = 1, 2 do
    local stand_in, storage = places.stand_in(place)
    local list, all = {}, true
    for i, result in ipairs(repeated(b, call, stand_in)) do
      list[i] = places.of_view(place.buffer, storage, result)
      all = all and list[i] ~= nil
    end
    if all then return table.unpack(list) end
    place = b:dense(place)
  end
  b:fail 'a result that is no view of its input'
end

-- ---- copies by positions ------------------------------------------------------------------------

-- rest: the value of elements that the input does not have.
local function gather(b, call, rest)
  if reads_others(call) then b:fail 'positions that depend on the inputs' end
  local place = b:dense(b:place(call.args[1]))
  local n = places.numel(place.shape)
  local positions = repeated(b, call, torch.arange(1, n + 1, 1, { dtype = torch.float64 }):view(place.shape))
  local type, list = places.type_of(place.dtype), {}
  for i, from in ipairs(positions) do
    local map = b:constant((from - 1):to(torch.int32):contiguous())
    local y = b:new_place(table.move(from.shape, 1, from.ndim, 1, {}), place.dtype)
    local fn = b.parts:instance('gather', 'elements' .. type.suffix, { TYPE_A = type.c, TYPE_Y = type.c })
    if from:numel() > 0 then b:call(fn, from:numel(), map, formulas.literal(rest or 0, type.c), place, y) end
    list[i] = y
  end
  return table.unpack(list)
end

local function by_position(b, _, call) return gather(b, call) end

-- Padding with a constant: the stand-in is padded with 0, which is position -1.
local function pad(b, args, call)
  if args.mode and args.mode ~= 'constant' then return gather(b, call) end
  local value = args.value or 0
  local copy = { op = call.op, in_nn = call.in_nn, args = { n = 2, call.args[1], args.pad or args.padding } }
  return gather(b, copy, value)
end

-- Resizing that repeats elements.
local function interpolate(b, args, call)
  local mode = args.mode or 'nearest'
  if mode ~= 'nearest' and mode ~= 'nearest-exact' then b:fail("mode '%s'; 'nearest' is supported", mode) end
  local factors = args.scale_factor
  if record.is_value(factors) then factors = b:tensor_of(factors):tolist() end
  local named = { size = args.size, scale_factor = factors, mode = mode }
  return gather(b, { op = call.op, in_nn = call.in_nn, args = { n = 2, call.args[1], named } })
end

-- The elements depend on the shape of the input only.
local function fixed(b, _, call)
  local place = b:place(call.args[1])
  return b:constant(repeated(b, call, torch.empty(place.shape, { dtype = place.dtype }))[1])
end

-- ---- operations ---------------------------------------------------------------------------------

local M = { ops = { pad = pad, constant_pad_nd = pad, interpolate = interpolate } }

for name in ([[view reshape view_as reshape_as flatten unflatten squeeze unsqueeze transpose permute t T mT movedim moveaxis swapaxes swapdims narrow select
  expand expand_as broadcast_to chunk split split_with_sizes tensor_split hsplit vsplit dsplit unbind unfold diagonal detach alias ravel atleast_1d atleast_2d
  atleast_3d adjoint matrix_H data]]):gmatch '%S+' do
  M.ops[name] = views
end
for name in ([[repeat flip fliplr flipud roll tile repeat_interleave take take_along_dim gather pixel_shuffle pixel_unshuffle channel_shuffle
  rot90 tril triu diag diag_embed]]):gmatch '%S+' do
  M.ops[name] = by_position
end

for name in ([[zeros_like ones_like full_like new_zeros new_ones new_full zero fill]]):gmatch '%S+' do M.ops[name] = fixed end

--- Ranges of Lua's indexing are views; lists and masks are positions.
function M.ops.index(b, _, call)
  local function has_tensor(x)
    if record.is_value(x) then return true end
    for _, entry in pairs(type(x) == 'table' and getmetatable(x) == nil and x or {}) do
      if has_tensor(entry) then return true end
    end
    return false
  end
  if has_tensor(call.args[2]) then return gather(b, call) end
  return views(b, nil, call)
end

-- The same value.
local function identity(b, args) return b:place(args.self or args.input or args[1]) end
for name in ([[clone contiguous requires_grad_]]):gmatch '%S+' do M.ops[name] = identity end

-- Layers that train otherwise.
for name in ([[dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout]]):gmatch '%S+' do
  M.ops[name] = function(b, args)
    if (args.training or args.train) and args.p ~= 0 then b:fail 'a random mask: export the program in evaluation mode' end
    return identity(b, args)
  end
end

local function convert(b, args, call) return elementwise.cast(b, b:place(args.self), call.results[1].dtype) end
for name in ([[to type type_as float long int bool double]]):gmatch '%S+' do M.ops[name] = convert end

--- Copies each tensor to its part of the result.
function M.ops.cat(b, args, call)
  local shape, dtype = elementwise.shape_of(call), call.results[1].dtype
  local dim = args.dim < 0 and args.dim + #shape + 1 or args.dim
  local y, at = b:new_place(shape, dtype), 0
  for _, value in ipairs(args.tensors) do
    local place = elementwise.cast(b, b:place(value), dtype)
    if #place.shape == #shape then -- PyTorch ignores empty tensors of one dimension
      b:copy(place, { buffer = y.buffer, offset = at * y.strides[dim], shape = place.shape, strides = y.strides, dtype = dtype })
      at = at + place.shape[dim]
    end
  end
  return y
end
M.ops.concat, M.ops.concatenate = M.ops.cat, M.ops.cat

function M.ops.stack(b, args, call)
  local shape, dtype = elementwise.shape_of(call), call.results[1].dtype
  local dim = args.dim < 0 and args.dim + #shape + 1 or args.dim
  local y = b:new_place(shape, dtype)
  local rest = table.move(y.strides, dim + 1, #shape, dim, table.move(y.strides, 1, dim - 1, 1, {}))
  for i, value in ipairs(args.tensors) do
    local place = elementwise.cast(b, b:place(value), dtype)
    b:copy(place, { buffer = y.buffer, offset = (i - 1) * y.strides[dim], shape = place.shape, strides = rest, dtype = dtype })
  end
  return y
end

M.by_position = by_position

return M
