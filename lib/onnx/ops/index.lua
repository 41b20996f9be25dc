-- index.lua - operators that read or write elements at positions in a tensor. Positions count from
-- 0 in ONNX.

local torch = require 'torch'
local values = require 'torch.onnx.values'

local ops = {}
local positions = values.positions

-- Constant positions, converted to count from 1; cached per device.
local function places(node, i, index, size)
  if not node.known[i] then return positions(index, size) end
  local cache = node.places
  if not cache or cache.size ~= size or cache.index.device ~= index.device then
    cache = { size = size, index = positions(index, size) }
    node.places = cache
  end
  return cache.index
end

function ops.Gather(node, x, index)
  local dim = values.dim(node.attributes.axis or 0, x:dim())
  if node.known[2] and index:dim() == 0 then
    local at, size = values.number(node, 2, index), x:size(dim)
    if at >= -size and at < size then return x:select(dim, at < 0 and at + size + 1 or at + 1) end
  end
  local at = places(node, 2, index, x:size(dim))
  local sizes, result = values.sizes(x), {}
  for i = 1, dim - 1 do result[#result + 1] = sizes[i] end
  for i = 1, at:dim() do result[#result + 1] = at:size(i) end
  for i = dim + 1, #sizes do result[#result + 1] = sizes[i] end
  return x:index_select(dim, at:reshape(-1)):view(result)
end

function ops.GatherElements(node, x, index)
  local dim = values.dim(node.attributes.axis or 0, x:dim())
  return torch.gather(x, dim, places(node, 2, index, x:size(dim)))
end

-- Converts rows of positions to positions, from 1, in the flattened dimensions from + 1 ... of
-- `sizes`.
local function flat_places(index, sizes, from)
  local flat
  for d = 1, index:size(-1) do
    local size = sizes[from + d]
    local part = index:select(-1, d):to(torch.int64)
    part = torch.where(part:lt(0), part + size, part)
    if part:numel() > 0 and (part:min():item() < 0 or part:max():item() >= size) then values.fail('a position out of the %d of dimension %d', size, from + d - 1) end
    flat = flat and flat * size + part or part
  end
  return flat and flat + 1
end

function ops.GatherND(node, x, index)
  local batch, rank = node.attributes.batch_dims or 0, index:size(-1)
  local sizes, batches = values.sizes(x), values.product(values.sizes(x), 1, batch)
  if batch + rank > #sizes or rank == 0 then values.fail('rows of %d positions for %d dimensions', rank, #sizes) end
  local result = values.sizes(index)
  result[#result] = nil
  for i = batch + rank + 1, #sizes do result[#result + 1] = sizes[i] end
  local inner = values.product(sizes, batch + 1, batch + rank)
  local rest = values.product(sizes, batch + rank + 1)
  local flat = flat_places(index, sizes, batch):reshape(batches, -1)
  if batches > 1 then flat = flat + (torch.arange(batches, { device = x.device }) * inner):unsqueeze(2) end
  return x:reshape(batches * inner, rest):index_select(1, flat:reshape(-1)):view(result)
end

local combine = {
  add = function(a, b) return a + b end,
  mul = function(a, b) return a * b end,
  max = torch.maximum, min = torch.minimum,
}

-- Combines rows of x (a matrix) at positions `at`, which may repeat, with as many new rows by a
-- reduction.
local function put_rows(x, at, rows, reduction)
  if reduction == 'none' then return x:index_copy(1, at, rows) end
  if reduction == 'add' then return x:index_add(1, at, rows) end
  local fn = combine[reduction] or values.fail("a reduction '%s'", reduction)
  -- Partitions the rows into rounds: round n has the n-th row for every position, so positions are
  -- unique in a round.
  local order = {}
  for i, place in ipairs(at:tolist()) do
    order[place] = (order[place] or 0) + 1
    local round = order[place]
    order[-round] = order[-round] or {}
    table.insert(order[-round], i)
  end
  local round = 1
  while order[-round] do
    local chosen = torch.tensor(order[-round], { device = x.device })
    local targets = at:index_select(1, chosen)
    x = x:index_copy(1, targets, fn(x:index_select(1, targets), rows:index_select(1, chosen)))
    round = round + 1
  end
  return x
end

function ops.ScatterND(node, x, index, updates)
  local sizes, rank = values.sizes(x), index:size(-1)
  if rank > #sizes or rank == 0 then values.fail('rows of %d positions for %d dimensions', rank, #sizes) end
  if index:numel() == 0 then return x end
  local inner, rest = values.product(sizes, 1, rank), values.product(sizes, rank + 1)
  local flat = flat_places(index, sizes, 0):reshape(-1)
  return put_rows(x:reshape(inner, rest), flat, updates:reshape(-1, rest), node.attributes.reduction or 'none'):view(sizes)
end

function ops.ScatterElements(node, x, index, updates)
  local dim = values.dim(node.attributes.axis or 0, x:dim())
  local reduction, at = node.attributes.reduction or 'none', places(node, 2, index, x:size(dim))
  if reduction == 'none' then return x:scatter(dim, at, updates) end
  if reduction == 'add' then return x:scatter_add(dim, at, updates) end
  -- Treats elements as rows of one: their positions in the flattened tensor.
  local sizes, flat, stride = values.sizes(x), torch.ones_like(at), 1
  for d = #sizes, 1, -1 do
    local along
    if d == dim then
      along = at - 1
    else
      local shape = {}
      for i = 1, #sizes do shape[i] = i == d and at:size(d) or 1 end
      along = torch.arange(at:size(d), { device = x.device }):view(shape)
    end
    flat = flat + along * stride
    stride = stride * sizes[d]
  end
  return put_rows(x:reshape(-1, 1), flat:reshape(-1), updates:reshape(-1, 1), reduction):view(sizes)
end
ops.Scatter = ops.ScatterElements

-- Updates a cache of keys or values: writes entries along a dimension, in mode 'circular' as a ring
-- buffer.
function ops.TensorScatter(node, past, update, from)
  local dim = values.dim(node.attributes.axis or -2, past:dim())
  local n, size, batches = update:size(dim), past:size(dim), past:size(1)
  local starts = from and values.list(node, 3, from)
  local rows = {}
  for b = 1, batches do
    local places_of = {}
    for i = 1, n do
      local place = (starts and starts[b] or 0) + i - 1
      if node.attributes.mode == 'circular' then place = place % size end
      if place < 0 or place >= size then values.fail('index %d is out of range for size %d', place, size) end
      places_of[i] = place + 1
    end
    rows[b] = past:select(1, b):index_copy(dim - 1, torch.tensor(places_of, { device = past.device }), update:select(1, b))
  end
  return torch.stack(rows, 1)
end

ops.OneHot = { grows = true, fn = function(node, index, depth, pair)
  local n = math.tointeger(values.number(node, 2, depth))
  local axis = node.attributes.axis or -1
  local dim = values.dim(axis, index:dim() + 1)
  local shape = {}
  for i = 1, index:dim() + 1 do shape[i] = i == dim and n or 1 end
  local at = index:to(torch.int64):unsqueeze(dim)
  at = torch.where(at:lt(0), at + n, at)
  local hot = at:eq(torch.arange(n, { device = index.device }):view(shape))
  return torch.where(hot, pair[2], pair[1])
end }

return { [''] = ops }
