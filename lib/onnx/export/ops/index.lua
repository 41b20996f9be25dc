-- index.lua - writes indexing by positions, and x[...], in ONNX. Positions count from 1 in
-- programs, from 0 in ONNX.

local torch = require 'torch'
local convolution = require 'torch.onnx.export.ops.convolution'
local index_text = require 'torch.onnx.export.index_text'
local record = require 'torch.onnx.export.record'
local shape = require 'torch.onnx.export.ops.shape'
local tensors = require 'torch.onnx.tensors'

local M = {}

-- ---- positions in tensors -----------------------------------------------------------------------

function M.embedding(g, a)
  if a.max_norm then g:fail 'rows that are made shorter (max_norm)' end
  return g:node('Gather', { g:name(a.weight), g:positions(a.indices or a.input) }, { axis = 0 })
end
M['nn.embedding'] = M.embedding

-- A (bags, entries) matrix of 1 and 0: whether an entry belongs to a bag, which starts at the entry
-- or before while the next bag does not.
local function members(g, a, dtype)
  local places = g:node('Range', { g:scalar(0, torch.int64), g:node('Size', { g:name(a.input) }), g:scalar(1, torch.int64) })
  local starts = g:node('Unsqueeze', { g:positions(a.offsets), g:list { 1 } })
  local started = g:node('Cast', { g:node('GreaterOrEqual', { places, starts }) }, { to = tensors.code(dtype) })
  local next_started = g:node('Slice', { started, g:list { 1 }, g:list { math.maxinteger }, g:list { 0 } })
  return g:node('Sub', { started, g:node('Pad', { next_started, g:list { 0, 0, 1, 0 }, g:scalar(0, dtype) }) })
end

function M.embedding_bag(g, a, call)
  if a.max_norm then g:fail 'rows that are made shorter (max_norm)' end
  if a.padding_idx then g:fail 'entries that are left out (padding_idx)' end
  if a.include_last_offset then g:fail 'offsets with the end of the last bag (include_last_offset)' end
  local dtype, mode = call.results[1].dtype, a.mode or 'mean'
  local rows = g:node('Gather', { g:name(a.weight), g:positions(a.input) }, { axis = 0 })
  if a.per_sample_weights then rows = g:node('Mul', { rows, g:node('Unsqueeze', { g:name(a.per_sample_weights), g:list { -1 } }) }) end
  local reduced = ({ sum = 'ReduceSum', mean = 'ReduceMean', max = 'ReduceMax' })[mode]
  if not a.offsets then return g:node(reduced, { rows, g:list { 1 } }, { keepdims = 0 }) end
  local member = members(g, a, dtype)
  if mode ~= 'max' then
    local sums = g:node('MatMul', { member, rows })
    if mode == 'sum' then return sums end
    return g:node('Div', { sums, g:node('Max', { g:node('ReduceSum', { member, g:list { 1 } }, { keepdims = 1 }), g:scalar(1, dtype) }) })
  end
  -- The result for an empty bag is 0.
  local inside = g:node('Cast', { g:node('Unsqueeze', { member, g:list { 2 } }) }, { to = tensors.code(torch.bool) })
  local largest = g:node('ReduceMax', { g:node('Where', { inside, rows, g:scalar(-math.huge, dtype) }), g:list { 1 } }, { keepdims = 0 })
  return g:node('Where', { g:node('IsInf', { largest }), g:scalar(0, dtype), largest })
end
M['nn.embedding_bag'] = M.embedding_bag

function M.index_select(g, a)
  return g:node('Gather', { g:name(a.self), g:positions(a.index) }, { axis = g:axis(a.dim, #a.self.shape) })
end

-- The arguments of interpolate for dimension d alone, the other ones of size 1.
local function along(a, n, d, size)
  local function list(value)
    local ones = {}
    for i = 1, n do ones[i] = i == d and value or 1 end
    return ones
  end
  local factor = a.scale_factor
  if record.is_value(factor) then factor = factor.tensor:tolist()[d] end
  return { size = a.size and list(size), scale_factor = factor and list(factor), mode = a.mode, align_corners = a.align_corners,
    recompute_scale_factor = a.recompute_scale_factor, antialias = a.antialias }
end

-- Each dimension by a product with the matrix of weights, or by a choice of elements.
M['nn.interpolate'] = function(g, a, call)
  local shape, result, dtype = g:shape(a.input), g:shape(call.results[1]), call.results[1].dtype
  local n = #shape - 2
  if a.mode == 'area' then return convolution[('adaptive_avg_pool%dd'):format(n)](g, { self = a.input }, call) end
  local nearest = a.mode:find '^nearest' ~= nil
  if dtype == torch.uint8 and not nearest then g:fail 'an image of uint8; convert it to float32' end
  local working = (nearest or dtype == torch.float64) and dtype or torch.float32
  local name = g:cast(a.input, working)
  for d = n, 1, -1 do
    local from, to = g:plain(shape[d + 2], 'a size'), g:plain(result[d + 2], 'a size')
    local options = along(a, n, d, to)
    local sizes = { 1, nearest and 1 or from }
    for i = 1, n do sizes[i + 2] = i == d and from or 1 end
    if nearest then
      local chosen = torch.nn.functional.interpolate(torch.arange(from):double():reshape(sizes), options):flatten():long()
      name = g:node('Gather', { name, g:constant(chosen) }, { axis = d + 1 })
    else
      local identity = torch.eye(from, { dtype = working }):reshape(sizes)
      local matrix = torch.nn.functional.interpolate(identity, options):reshape(from, to)
      local perm = {}
      for i = 0, n + 1 do perm[i + 1] = i == n + 1 and d + 1 or i == d + 1 and n + 1 or i end
      local function turned(it) return d == n and it or g:node('Transpose', { it }, { perm = perm }) end
      name = turned(g:node('MatMul', { turned(name), g:constant(matrix) }))
    end
  end
  return g:cast_name(name, dtype)
end
M['nn.upsample'] = M['nn.interpolate']
M['nn.upsample_nearest'] = function(g, a, call)
  a.mode = 'nearest'
  return M['nn.interpolate'](g, a, call)
end
M['nn.upsample_bilinear'] = function(g, a, call)
  a.mode, a.align_corners = 'bilinear', true
  return M['nn.interpolate'](g, a, call)
end

local NEWER_NAMES = { bilinear = 'linear', bicubic = 'cubic' } -- since version 20, which also supports volumes

M['nn.grid_sample'] = function(g, a)
  if #a.input.shape > 4 and g.opset < 20 then g:fail('a volume, which opset_version %d does not have; from 20 on it does', g.opset) end
  return g:node('GridSample', { g:name(a.input), g:name(a.grid) },
    { mode = g.opset >= 20 and NEWER_NAMES[a.mode] or a.mode, padding_mode = a.padding_mode, align_corners = a.align_corners and 1 or 0 })
end

-- The coordinates of the pixels, with a one, times the transposed matrices.
M['nn.affine_grid'] = function(g, a, call)
  local result, dtype = g:shape(call.results[1]), call.results[1].dtype
  local n = #result - 2
  local sizes = g:plain(table.move(a.size, 1, #a.size, 1, {}), 'a size')
  sizes[1] = 1
  local identity = torch.eye(n, n + 1, { dtype = dtype }):unsqueeze(1)
  local grid = torch.nn.functional.affine_grid(identity, sizes, a.align_corners):reshape(-1, n)
  local base = torch.cat({ grid, torch.ones(grid:size(1), 1, { dtype = dtype }) }, 2)
  return g:reshape(g:node('MatMul', { g:constant(base), g:node('Transpose', { g:name(a.theta) }, { perm = { 0, 2, 1 } }) }), result)
end

function M.gather(g, a)
  return g:node('GatherElements', { g:name(a.self), g:positions(a.index) }, { axis = g:axis(a.dim, #a.self.shape) })
end

function M.take_along_dim(g, a)
  if a.dim == nil then g:fail 'no dim' end
  return M.gather(g, { self = a.self, dim = a.dim, index = a.indices })
end

function M.scatter(g, a, call)
  if a.reduce then g:fail("the reduction '%s'", a.reduce) end
  local dtype = call.results[1].dtype
  local places = g:positions(a.index)
  local source = a.src and g:cast(a.src, dtype) or g:node('Expand', { g:scalar(a.value, dtype), g:integers(g:shape(a.index)) })
  return g:node('ScatterElements', { g:name(a.self), places, source }, { axis = g:axis(a.dim, #a.self.shape) })
end

function M.scatter_add(g, a)
  return g:node('ScatterElements', { g:name(a.self), g:positions(a.index), g:name(a.src) }, { axis = g:axis(a.dim, #a.self.shape), reduction = 'add' })
end

-- The number of classes is the size of the recorded result.
function M.one_hot(g, a, call)
  if a.num_classes < 0 then g:fail 'num_classes depends on the values; pass the number of classes' end
  local n = call.results[1].shape[#call.results[1].shape]
  return g:node('OneHot', { g:positions(a.self), g:scalar(n, torch.int64), g:list { 0, 1 } }, { axis = -1 })
end

-- ---- x[...] -------------------------------------------------------------------------------------

local fields = { T = 'reversed', mT = 'adjoint', H = 'reversed', mH = 'adjoint' }

-- Converts bounds from 1 with both ends included to ONNX's bounds from 0 without the last.
local function bounds(g, entry)
  local first = g:map(function(at) return at > 0 and at - 1 or at end, entry[1] or 1)
  local last = g:map(function(at) return at == -1 and math.maxinteger or at < 0 and at + 1 or at end, entry[2] or -1)
  return first, last, entry[3]
end

-- The entries of an index, one for each dimension.
local function entries_of(g, key)
  if type(key) == 'string' then
    return index_text(key, function(text) g:fail("the index '%s'", text) end)
  end
  if type(key) ~= 'table' or record.is_value(key) then return { key } end
  if getmetatable(key) ~= nil and #key == 0 then return { key } end -- a symbol
  return key
end

function M.index(g, a, call)
  local key = a[2]
  if fields[key] then return shape[fields[key]](g, { self = a[1] }) end
  if key == 'data' then return g:name(a[1]) end
  local x, axis, entries, tensors = g:name(a[1]), 0, entries_of(g, key), 0
  local consumed = 0
  for _, entry in ipairs(entries) do
    if entry ~= 'None' and entry ~= '...' and entry ~= torch.newaxis then consumed = consumed + 1 end
  end
  for _, entry in ipairs(entries) do
    if entry == '...' then
      axis = axis + #a[1].shape - consumed
    elseif entry == 'None' or entry == torch.newaxis then
      x, axis = g:node('Unsqueeze', { x, g:list { axis } }), axis + 1
    elseif record.is_value(entry) then
      tensors = tensors + 1
      if tensors > 1 then g:fail 'several index tensors' end
      if entry.dtype == torch.bool then g:fail 'a mask is not supported, because the size of the result depends on values' end
      x, axis = g:node('Gather', { x, g:positions(entry, true) }, { axis = axis }), axis + #entry.shape
    elseif type(entry) == 'table' and (entry.is_slice or getmetatable(entry) == nil) then
      if next(entry) ~= nil then
        local first, last, step = bounds(g, entry)
        x = shape.slice_of(g, x, axis, first, last, step)
      end
      axis = axis + 1
    elseif math.type(entry) == 'integer' or type(entry) == 'table' then
      local at = g:map(function(i) return i > 0 and i - 1 or i end, entry)
      x = g:node('Gather', { x, g:number(at, torch.int64) }, { axis = axis })
    else
      g:fail('an index of type %s', torch.type(entry))
    end
  end
  return x
end

return M
