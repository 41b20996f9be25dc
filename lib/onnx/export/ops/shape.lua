-- shape.lua - writes reshaping, slicing, joining and padding in ONNX.

local torch = require 'torch'
local symbols = require 'torch.onnx.export.symbols'

local M = {}

local LAST = math.maxinteger -- above every size

-- ---- the same elements in another shape ---------------------------------------------------------

local function reshaped(g, a, call)
  if a.dtype then g:fail 'elements seen as another dtype' end
  return g:reshape(g:name(a.self), g:shape(call.results[1]))
end
for op in ('reshape view flatten unflatten squeeze unsqueeze ravel reshape_as view_as view_copy squeeze_copy unsqueeze_copy atleast_1d atleast_2d atleast_3d'):gmatch '%S+' do
  M[op] = reshaped
end

local function permuted(g, a, order)
  local perm = {}
  for i, d in ipairs(order) do perm[i] = d - 1 end
  return g:node('Transpose', { g:name(a.self) }, { perm = perm })
end

local function counted(n)
  local list = {}
  for d = 1, n do list[d] = d end
  return list
end

function M.permute(g, a)
  local order = {}
  for i, axis in ipairs(g:axes(a.dims, #a.self.shape)) do order[i] = axis + 1 end
  return permuted(g, a, order)
end

function M.transpose(g, a)
  local rank = #a.self.shape
  local order = counted(rank)
  if rank == 0 then return g:name(a.self) end
  local i, j = g:axis(a.dim0 or a.axis0, rank) + 1, g:axis(a.dim1 or a.axis1, rank) + 1
  order[i], order[j] = order[j], order[i]
  return permuted(g, a, order)
end
M.swapaxes, M.transpose_copy = M.transpose, M.transpose

function M.t(g, a) return #a.self.shape < 2 and g:name(a.self) or permuted(g, a, { 2, 1 }) end
function M.adjoint(g, a) return M.transpose(g, { self = a.self, dim0 = -2, dim1 = -1 }) end

--- x.T
function M.reversed(g, a)
  local order, rank = {}, #a.self.shape
  for d = 1, rank do order[d] = rank + 1 - d end
  return permuted(g, a, order)
end

function M.movedim(g, a)
  local rank = #a.self.shape
  local from, to = g:axes(a.source, rank), g:axes(a.destination, rank)
  local order, taken = {}, {}
  for i, axis in ipairs(to) do
    order[axis + 1] = from[i] + 1
    taken[from[i] + 1] = true
  end
  local d = 1
  for i = 1, rank do
    if not order[i] then
      while taken[d] do d = d + 1 end
      order[i], d = d, d + 1
    end
  end
  return permuted(g, a, order)
end

local function expanded(g, a, call) return g:node('Expand', { g:name(a.self), g:integers(g:shape(call.results[1])) }) end
M.expand, M.expand_as, M.broadcast_to, M.expand_copy = expanded, expanded, expanded, expanded

function M.repeat_(g, a, call)
  local x, repeats, shape = g:name(a.self), a.repeats or a.dims, g:shape(a.self)
  if #repeats > #shape then
    local wide = {}
    for _ = 1, #repeats - #shape do wide[#wide + 1] = 1 end
    x = g:reshape(x, table.move(shape, 1, #shape, #wide + 1, wide))
  end
  local list = {}
  for i = 1, math.max(#repeats, #shape) - #repeats do list[i] = 1 end
  return g:node('Tile', { x, g:integers(table.move(repeats, 1, #repeats, #list + 1, list)) })
end
M['repeat'], M.tile, M.repeat_ = M.repeat_, M.repeat_, nil

-- ---- joins and parts ----------------------------------------------------------------------------

local function all_names(g, list, dtype)
  local names = {}
  for i, value in ipairs(list) do names[i] = g:cast(value, dtype) end
  return names
end

function M.cat(g, a, call)
  local names, dtype = {}, call.results[1].dtype
  for _, value in ipairs(a.tensors) do -- skips PyTorch's legacy empty tensors
    if not (#value.shape == 1 and value.shape[1] == 0) or #call.results[1].shape == 1 then names[#names + 1] = g:cast(value, dtype) end
  end
  return g:node('Concat', names, { axis = g:axis(a.dim, #call.results[1].shape) })
end

function M.stack(g, a, call)
  local axis, names = g:axis(a.dim, #call.results[1].shape), all_names(g, a.tensors, call.results[1].dtype)
  for i, name in ipairs(names) do names[i] = g:node('Unsqueeze', { name, g:list { axis } }) end
  return g:node('Concat', names, { axis = axis })
end

-- Parts along a dimension, as large as the results.
local function parts(g, a, call)
  local axis, sizes = g:axis(a.dim, #a.self.shape), {}
  for i, value in ipairs(call.results) do sizes[i] = g:shape(value)[axis + 1] end
  if #sizes == 1 then return { g:name(a.self) } end
  return { g:node('Split', { g:name(a.self), g:integers(sizes) }, { axis = axis }, #sizes) }
end
for op in ('chunk split split_with_sizes tensor_split unsafe_chunk unsafe_split split_copy'):gmatch '%S+' do M[op] = parts end

function M.unbind(g, a, call)
  local axis, names = g:axis(a.dim, #a.self.shape), {}
  for i in ipairs(call.results) do names[i] = g:node('Gather', { g:name(a.self), g:scalar(i - 1, torch.int64) }, { axis = axis }) end
  return names
end

-- Entries `start` to `stop` (from 0, the last one not included) of an axis.
local function slice(g, x, axis, start, stop, step)
  return g:node('Slice', { x, g:integers { start }, g:integers { stop }, g:list { axis }, step and step ~= 1 and g:list { step } })
end
M.slice_of = slice

function M.narrow(g, a)
  local axis = g:axis(a.dim, #a.self.shape)
  local size = g:shape(a.self)[axis + 1]
  local start = g:map(function(at, n) return at > 0 and at - 1 or at + n end, a.start, size)
  return slice(g, g:name(a.self), axis, start, g:map(function(at, length) return at + length end, start, a.length))
end
M.narrow_copy = M.narrow

function M.select(g, a)
  local axis = g:axis(a.dim, #a.self.shape)
  local index = g:map(function(at) return at > 0 and at - 1 or at end, a.index)
  return g:node('Gather', { g:name(a.self), g:number(index, torch.int64) }, { axis = axis })
end
M.select_copy = M.select

function M.flip(g, a)
  local x = g:name(a.self)
  for _, axis in ipairs(g:axes(a.dims, #a.self.shape)) do x = slice(g, x, axis, -1, math.mininteger, -1) end
  return x
end

function M.roll(g, a)
  local shifts, rank = a.shifts, #a.self.shape
  local x, dims = g:name(a.self), a.dims
  if dims == nil then x, dims, rank = g:reshape(x, { -1 }), { 1 }, 1 end
  for i, axis in ipairs(g:axes(dims, rank)) do
    local shift = g:plain(shifts[i], 'the shift')
    local size = a.dims and g:shape(a.self)[axis + 1] or a.self.tensor:numel()
    if symbols.is_symbol(size) and math.abs(shift) >= size.values[1] then g:fail 'a shift that is larger than a dynamic size' end
    shift = symbols.is_symbol(size) and shift or shift % math.max(size, 1)
    if shift ~= 0 then
      x = g:node('Concat', { slice(g, x, axis, -shift, LAST), slice(g, x, axis, 0, -shift) }, { axis = axis })
    end
  end
  return a.dims and x or g:reshape(x, g:shape(a.self))
end

function M.unfold(g, a)
  local axis = g:axis(a.dimension, #a.self.shape)
  local size = g:plain(g:shape(a.self)[axis + 1], 'the size of the unfolded dimension')
  local n = (size - a.size) // a.step + 1
  local places = (torch.arange(n) * a.step):unsqueeze(2) + torch.arange(a.size)
  local rank, perm = #a.self.shape, {}
  local rows = g:node('Gather', { g:name(a.self), g:constant(places) }, { axis = axis })
  for d = 0, rank do
    if d ~= axis + 1 then perm[#perm + 1] = d end
  end
  perm[#perm + 1] = axis + 1
  return g:node('Transpose', { rows }, { perm = perm })
end

-- ---- padding ------------------------------------------------------------------------------------

local modes = { constant = 'constant', reflect = 'reflect', replicate = 'edge' }

-- Pads each end with elements from the other end.
local function wrapped(g, a, x, rank)
  for i = 1, #a.pad // 2 do
    local before, after, axis = a.pad[2 * i - 1], a.pad[2 * i], rank - i
    if before < 0 or after < 0 then g:fail 'circular padding of a negative width' end
    local list = { x }
    if before > 0 then table.insert(list, 1, slice(g, x, axis, -before, LAST)) end
    if after > 0 then table.insert(list, slice(g, x, axis, 0, after)) end
    if #list > 1 then x = g:node('Concat', list, { axis = axis }) end
  end
  return x
end

-- pad: before and after for the last dimension, then for the one before it, ...
function M.pad(g, a, call)
  local x, rank, dtype = g:name(a.self), #a.self.shape, call.results[1].dtype
  g:plain(a.pad, 'the padding')
  if a.mode == 'circular' then return wrapped(g, a, x, rank) end
  local pads = {}
  for i = 1, 2 * rank do pads[i] = 0 end
  for i = 1, #a.pad // 2 do pads[rank + 1 - i], pads[2 * rank + 1 - i] = a.pad[2 * i - 1], a.pad[2 * i] end
  local mode = modes[a.mode or 'constant'] or g:fail("padding of mode '%s'", a.mode)
  return g:node('Pad', { x, g:list(pads), mode == 'constant' and g:scalar(a.value or 0, dtype) }, { mode = mode })
end
M.constant_pad_nd = M.pad

-- ---- others -------------------------------------------------------------------------------------

local function triangle(upper)
  return function(g, a)
    return g:node('Trilu', { g:name(a.self), g:scalar(g:plain(a.diagonal, 'the diagonal'), torch.int64) }, { upper = upper })
  end
end
M.tril, M.triu = triangle(0), triangle(1)

-- Channels into pixels and back: [n, c r r, h, w] and [n, c, h r, w r].
local function shuffled(g, a, call, split, perm)
  local x = g:reshape(g:name(a.self), split)
  return g:reshape(g:node('Transpose', { x }, { perm = perm }), g:shape(call.results[1]))
end
local function of_images(g, a)
  if #a.self.shape ~= 4 then g:fail('a tensor of %d dimensions, not 4', #a.self.shape) end
  return table.unpack(g:shape(a.self))
end

function M.pixel_shuffle(g, a, call)
  local n, c, h, w = of_images(g, a)
  local r = a.upscale_factor
  return shuffled(g, a, call, { n, c // (r * r), r, r, h, w }, { 0, 1, 4, 2, 5, 3 })
end

function M.pixel_unshuffle(g, a, call)
  local r, n, c, h, w = a.downscale_factor, of_images(g, a)
  local function less(x) return g:map(function(size) return size // r end, x) end
  return shuffled(g, a, call, { n, c, less(h), r, less(w), r }, { 0, 1, 3, 5, 2, 4 })
end

function M.channel_shuffle(g, a, call)
  local shape = g:shape(a.self)
  local split, perm = { shape[1], a.groups, shape[2] // a.groups, table.unpack(shape, 3) }, { 0, 2, 1 }
  for d = 3, #shape do perm[d + 1] = d end
  return shuffled(g, a, call, split, perm)
end

return M
