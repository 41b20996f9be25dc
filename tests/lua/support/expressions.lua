-- expressions.lua - random calls of declared ops, each made for two devices at once: the same numbers, dtypes,
-- strides. What an argument may be follows from its type in the declaration, so that new ops join by themselves.
--
-- A made value is { host, device }: two tensors, or twice the same number, string, ... Calls that the CPU refuses
-- are part of the game: the other device has to refuse them too.

local torch = require 'torch'

local M = {}

local random = math.random

local function chance(p) return random() < p end
local function pick(list) return list[random(#list)] end

-- ---- tensors ---------------------------------------------------------------------------------------------------------

local DTYPES = { 'float32', 'float32', 'float32', 'float64', 'float64', 'float16', 'bfloat16', 'int64', 'int32', 'int16', 'int8', 'uint8',
  'bool' }

local function is_float(dtype) return dtype:find 'float' ~= nil end

local function number_of(dtype)
  if dtype == 'bool' then return chance(0.5) end
  if is_float(dtype) then return random() * 4 - 1.5 end
  return dtype == 'uint8' and random(0, 6) or random(-4, 6)
end

-- Each gives a base of another shape and the way back to the shape wanted.
local layouts = {
  function(shape) return shape, function(t) return t end end,
  function(shape)
    if #shape < 2 then return shape, function(t) return t end end
    local turned = table.move(shape, 1, #shape, 1, {})
    turned[#shape - 1], turned[#shape] = shape[#shape], shape[#shape - 1]
    return turned, function(t) return t:transpose(-1, -2) end
  end,
  function(shape)
    if #shape == 0 then return shape, function(t) return t end end
    local wide = table.move(shape, 1, #shape, 1, {})
    wide[#shape] = 2 * shape[#shape]
    return wide, function(t)
      local at = {}
      for d = 1, #shape do at[d] = {} end
      at[#shape] = shape[#shape] > 0 and { 1, -1, 2 } or {}
      return t[at]
    end
  end,
  function(shape)
    if #shape == 0 then return shape, function(t) return t end end
    local longer = table.move(shape, 1, #shape, 1, {})
    longer[1] = shape[1] + 1
    return longer, function(t) return t:narrow(1, 2, shape[1]) end
  end,
  function(shape) -- a dimension repeated without copying
    if #shape == 0 or shape[1] == 0 then return shape, function(t) return t end end
    local one = table.move(shape, 1, #shape, 1, {})
    one[1] = 1
    return one, function(t) return t:expand(shape) end
  end,
}

local function filled(shape, dtype, next_number)
  local n, data = 1, {}
  for _, size in ipairs(shape) do n = n * size end
  for i = 1, n do data[i] = next_number(dtype) end
  return torch.tensor(data, { dtype = torch[dtype] }):reshape(shape)
end

local function pair(ctx, shape, dtype, next_number, plain)
  local base_shape, view = (plain and layouts[1] or pick(layouts))(shape)
  local base = filled(base_shape, dtype, next_number or number_of)
  ctx.dtypes[is_float(dtype) and dtype or 'float32'] = true -- in which integers are computed where they must
  return { view(base), view(base:to(ctx.device)), tensor = true }
end

local function random_shape(ctx)
  local shape = {}
  for i = 1, pick(ctx.ndims) do shape[i] = chance(0.04) and 0 or pick(ctx.sizes) end
  return shape
end

-- A shape that broadcasts with the base's, most of the time.
local function related_shape(ctx)
  local shape = {}
  if chance(0.4) then return random_shape(ctx) end
  for i = chance(0.2) and random(#ctx.shape + 1) or 1, #ctx.shape do shape[#shape + 1] = chance(0.15) and 1 or ctx.shape[i] end
  return shape
end

-- ---- arguments ---------------------------------------------------------------------------------------------------------

local function twice(value) return { value, value } end

local words = {
  reduction = { 'mean', 'sum', 'none' }, approximate = { 'none', 'tanh' }, rounding_mode = { 'trunc', 'floor' },
  reduce = { 'sum', 'prod', 'mean', 'amax', 'amin' }, mode = { 'constant', 'reflect', 'replicate', 'circular', 'nearest', 'bilinear', 'mean', 'sum', 'max', 'zeros' },
  interpolation = { 'linear', 'lower', 'higher', 'midpoint', 'nearest' }, side = { 'left', 'right' }, indexing = { 'ij', 'xy' },
  p = { 'fro' }, equation = { 'ij->ji', 'ij,jk', 'i,i', 'ij,kj->ik', 'bij,bjk->bik', 'ii', 'i,j' },
  padding_mode = { 'zeros', 'border', 'reflection' }, padding = { 'same', 'valid' },
}

local makers = {}

-- Where numbers stand in a line without order depends on the search.
local in_order = { sorted_sequence = true, boundaries = true }

function makers.Tensor(ctx, a)
  local dtype = chance(0.85) and ctx.dtype or pick(DTYPES)
  if a.name == 'mask' or a.name == 'condition' then dtype = chance(0.9) and 'bool' or dtype end
  if a.name == 'self' or a.name == 'input' then dtype = ctx.dtype end
  local value = pair(ctx, (a.name == 'self' or a.name == 'input') and ctx.shape or related_shape(ctx), dtype)
  if in_order[a.name] and value[1]:dim() > 0 then return { value[1]:sort(), value[1]:sort():to(ctx.device), tensor = true } end
  return value
end

-- Positions that exist along most dimensions; in an order without repeats, since of several writers any may win.
function makers.IndexTensor(ctx, a)
  if a and a.name == 'sorter' then return nil end -- the sequence is in order
  local largest = math.huge
  for _, size in ipairs(ctx.shape) do largest = math.min(largest, math.max(size, 1)) end
  if largest == math.huge then largest = 1 end
  if chance(0.6) then
    local order = {}
    for i = 1, largest do table.insert(order, random(i), i) end
    local index = torch.tensor(order, { dtype = torch.int64 })
    if chance(0.5) and #ctx.shape > 0 then -- of the dimensions of self, the positions along one of them
      local shape = {}
      for d = 1, #ctx.shape do shape[d] = 1 end
      shape[ctx.dim and ctx.dim > 0 and ctx.dim <= #shape and ctx.dim or 1] = largest
      index = index:reshape(shape)
    end
    return { index, index:to(ctx.device), tensor = true }
  end
  if ctx.op.overwrites then return makers.IndexTensor(ctx) end
  return pair(ctx, related_shape(ctx), 'int64', function() return random(largest) end)
end

makers['Tensor|Scalar'] = function(ctx, a)
  if a.name ~= 'self' and chance(0.3) then return makers.Scalar(ctx) end
  return makers.Tensor(ctx, a)
end

makers['Tensor[]'] = function(ctx)
  local host, device = {}, {}
  for i = 1, random(3) do
    local made = pair(ctx, chance(0.8) and ctx.shape or related_shape(ctx), ctx.dtype)
    host[i], device[i] = made[1], made[2]
  end
  return { host, device }
end

makers['Scalar[]'] = function(ctx, a)
  if a.name == 'range' then return twice(pick { { 0, 1 }, { -0.5, 2 }, { 1, 1 }, { 2, 0 } }) end
  local list = {}
  for i = 1, random(3) do list[i] = pick { 1, 2, 0.5 } end
  for d = 1, chance(0.7) and #ctx.shape or 0 do list[d] = list[d] or 1.5 end
  return twice(list)
end

makers['IndexTensor[]'] = function(ctx)
  local made = makers.IndexTensor(ctx)
  return { { made[1] }, { made[2] } }
end

function makers.Scalar() return twice(pick { 0, 1, 2, 3, -1, 0.5, 2.5, -1.5 }) end
function makers.int(ctx, a)
  return twice(pick(a.name == 'groups' and { 1, 1, 1, 2 } or { 0, 1, 2, 3, 2, 1, -1 }))
end
function makers.float(_, a)
  return twice(a.name == 'dropout_p' and 0.0 or pick { 0.0, 0.25, 0.5, 1.0, 2.0, 1e-3 }) -- dropout draws numbers of its own
end
function makers.bool() return twice(chance(0.5)) end
function makers.string(_, a) return words[a.name] and twice(pick(words[a.name])) end

function makers.Dim(ctx)
  local n = #ctx.shape
  ctx.dim = chance(0.03) and n + 2 or n == 0 and 1 or random(n)
  return twice(chance(0.3) and n > 0 and ctx.dim <= n and ctx.dim - n - 1 or ctx.dim)
end

function makers.Dims(ctx)
  local list = {}
  for d = 1, #ctx.shape do
    if chance(0.5) then table.insert(list, random(#list + 1), chance(0.3) and d - #ctx.shape - 1 or d) end
  end
  if #list == 0 then return makers.Dim(ctx) end
  return twice(list)
end

function makers.Index(ctx)
  local size = ctx.shape[ctx.dim or 1] or 1
  return twice(size > 0 and random(size) or 1)
end

-- A small number, a few, the shape itself, in another order, or with -1.
function makers.Size(ctx, a)
  if a.name:find 'kernel' or a.name == 'stride' or a.name == 'padding' or a.name == 'dilation' then
    return twice(pick { 1, 1, 2, a.name == 'padding' and 0 or 3 })
  end
  local shape = table.move(ctx.shape, 1, #ctx.shape, 1, {})
  local way = random(5)
  if way == 1 then
    for i = #shape, 2, -1 do
      local j = random(i)
      shape[i], shape[j] = shape[j], shape[i]
    end
  elseif way == 2 then
    shape = { -1 }
  elseif way == 3 then
    table.insert(shape, 1, random(3))
  elseif way == 4 then
    for i = 1, #shape do shape[i] = random(2) end
  end
  return twice(shape)
end

function makers.Dtype(ctx)
  local dtype = pick { 'float32', 'float64', 'int64' }
  ctx.dtypes[dtype] = true
  return twice(torch[dtype])
end

function makers.Device() return nil end
function makers.Generator() return nil end

-- ---- calls -----------------------------------------------------------------------------------------------------------------

-- Whether two devices may give different results: random numbers, memory as it is, an order that is not defined. Where max_unpool has a
-- position twice, any of the values may win.
local function is_free(op)
  for _, a in ipairs(op.args) do
    if a.type == 'Generator?' then return true end
  end
  return op.name:find '^empty' or op.name:find '^resize_' or op.name:find '^new_empty' or op.name:find '^rand' or op.name:find 'dropout' or op.name:find '^gumbel' or op.name:find '^rrelu' or op.name:find '^max_unpool' or op.name == 'cpu' or op.name == 'cuda'
end

local overwriting = { scatter = true, index_copy = true, put = true, index_put = true }

--- The ops of a group that are called: what people see and what both devices must agree on.
function M.ops_of(model, group)
  local list = {}
  for _, op in ipairs(model.ops) do
    if op.group == group and op.name:sub(1, 1) ~= '_' and next(op.variants) and not is_free(op) then
      op.overwrites = overwriting[op.name]
      list[#list + 1] = op
    end
  end
  return list
end

local function callee(op)
  if op.variants.nn then return torch._C.nn[op.name] end
  if op.variants['function'] then return torch[op.name] end
  return torch._C.methods[op.name] or torch._C[op.name] -- the last: what the library's own Lua calls
end

local describe
function describe(value)
  if torch.is_tensor(value) and value.layout ~= torch.strided then
    return ('%s of %s'):format(tostring(value.layout), describe(value:to_dense()))
  elseif torch.is_tensor(value) then
    local strides = { value:stride() }
    if type(strides[1]) == 'table' then strides = strides[1] end
    return ('%s[%s] strides {%s}%s'):format(tostring(value.dtype):gsub('torch%.', ''), table.concat(value.shape, ', '), table.concat(strides, ', '),
      value:numel() <= 12 and ' ' .. tostring(value:detach():flatten()):gsub('%s+', ' ') or '')
  elseif type(value) == 'table' then
    local parts = {}
    for i, item in ipairs(value) do parts[i] = describe(item) end
    for key, item in pairs(value) do
      if type(key) == 'string' then parts[#parts + 1] = key .. ' = ' .. describe(item) end
    end
    return '{' .. table.concat(parts, ', ') .. '}'
  end
  return tostring(value)
end

--- A random call of op: { op, host = arguments, device = arguments, dtypes = set of them, text, positional = how many stand
-- before the table of the named ones, named = those }. self: a made value to
-- start from.
function M.call_of(op, device, self)
  local conv = op.group:find 'conv' or op.group:find 'pool'
  local square = op.group == 'matmul' or op.group == 'linalg'
  local ctx = {
    op = op, device = device, dtypes = {}, dtype = (conv or square) and pick { 'float32', 'float64' } or pick(DTYPES),
    ndims = conv and { 3, 4, 4, 5 } or square and { 1, 2, 2, 3 } or { 0, 1, 2, 2, 3, 3, 4 },
    sizes = square and { 2, 2, 3 } or conv and { 2, 2, 3, 4 } or { 1, 2, 3, 4, 5 },
  }
  ctx.shape = random_shape(ctx)
  if self then
    ctx.shape = table.move(self[1].shape, 1, self[1].ndim, 1, {})
    ctx.dtype = tostring(self[1].dtype):gsub('torch%.', '')
    ctx.dtypes[ctx.dtype] = true
  end
  local call = { op = op, host = {}, device = {}, first = nil, dtypes = ctx.dtypes }
  local named_host, named_device = {}, {}
  local by_name = false
  for i, a in ipairs(op.args) do
    local made
    if i == 1 and self and a.type:match '^Tensor' and a.type ~= 'Tensor[]' and not in_order[a.name] then
      made = self
    elseif not a.has_default or chance(0.35) then
      made = makers[(a.type:gsub('%?$', ''))](ctx, a)
      if not made and not a.has_default then return nil end
    end
    by_name = by_name or made == nil or a.keyword_only
    if made and made.tensor and i == 1 then call.first = made end
    if made and by_name then
      named_host[a.name], named_device[a.name] = made[1], made[2]
    elseif made then
      call.host[i], call.device[i] = made[1], made[2]
    end
  end
  if op.factory then named_device.device = device end
  call.text = op.name .. describe(call.host) .. describe(named_host)
  call.named, call.positional = named_host, #call.host
  if next(named_host) then call.host[#call.host + 1] = named_host end
  if next(named_device) then call.device[#call.device + 1] = named_device end
  call.f = callee(op)
  return call
end

return M
