-- parts.lua - operators that read or write parts of tensors: slices, positions, views.

local torch = require 'torch'
local common = require 'torch.export.ops.common'

local dim_of, positions = common.dim_of, common.positions
local named = {}

-- ---- slices -------------------------------------------------------------------------------------

-- The part of x from `start` to before `last` of a dimension, every `step` elements.
local function sliced(x, dim, start, last, step)
  local size = x:size(dim)
  local function bound(i) return math.max(0, math.min(i < 0 and i + size or i, size)) end
  local first, stop = bound(start or 0), bound(last or size)
  local y = x:narrow(dim, first + 1, math.max(stop - first, 0))
  if step == 1 then return y end
  local index = {}
  for d = 1, dim do index[d] = d == dim and { 1, -1, step } or {} end
  return y[index]
end

function named.slice(a) return sliced(a.self, dim_of(a.self, a.dim or 0), a.start, a['end'], a.step or 1) end
function named.slice_scatter(a)
  local y = a.self:clone()
  sliced(y, dim_of(y, a.dim or 0), a.start, a['end'], a.step or 1):copy_(a.src)
  return y
end

-- ---- positions ----------------------------------------------------------------------------------

-- x[i, :, j]: tensors of positions, absent ones for whole dimensions.
local function index_of(a)
  local index, last = {}, 0
  for i = 1, a.self:dim() do
    local at = a.indices[i]
    if at then
      index[i], last = at.dtype == torch.bool and at or at.dtype == torch.uint8 and at:to(torch.bool) or positions(at), i
    else
      index[i] = {}
    end
  end
  return table.move(index, 1, last, 1, {})
end

-- The tensors of positions with one dimension for each that they index: masks as positions.
local function expanded(a)
  local indices = {}
  for i = 1, a.self:dim() do
    local at = a.indices[i]
    if at and (at.dtype == torch.bool or at.dtype == torch.uint8) then
      for _, part in ipairs { at:to(torch.bool):nonzero { as_tuple = true } } do indices[#indices + 1] = part - 1 end
    else
      indices[#indices + 1] = at or false
    end
  end
  return indices
end

-- Adds the values at the positions, equal ones as often as they occur.
local function accumulated(a)
  local indices, x = expanded(a), a.self
  local order, known, dims = {}, {}, x:dim()
  for d = 1, dims do
    if indices[d] then order[#order + 1], known[#known + 1] = d, indices[d] end
  end
  if #order == 0 then return x + a.values end
  local is_block = order[#order] - order[1] + 1 == #order
  local rest = {}
  for d = 1, dims do
    if not indices[d] then rest[#rest + 1] = d end
  end
  known = { torch.broadcast_tensors(table.unpack(known)) }
  local flat, count = nil, 1
  for i, d in ipairs(order) do
    local at = known[i]:to(torch.int64)
    at = torch.where(at:lt(0), at + x:size(d), at)
    flat = flat and flat * x:size(d) + at or at
    count = count * x:size(d)
  end
  local places = table.move(rest, 1, #rest, #order + 1, table.move(order, 1, #order, 1, {}))
  local moved = x:permute(places)
  local kept = {}
  for i, d in ipairs(rest) do kept[i] = x:size(d) end
  local rows = moved:reshape { count, table.unpack(kept) }
  -- The values have the dimensions of the positions at the place of the first of them, or in front.
  local front, shape, before = flat:dim(), {}, 0
  if is_block then before = order[1] - 1 end
  for i = 1, before do shape[i] = x:size(i) end
  for _, size in ipairs(flat.shape) do shape[#shape + 1] = size end
  for i = before + 1, #kept do shape[#shape + 1] = kept[i] end
  local values, back = a.values:to(x.dtype):expand(shape), {}
  for i = 1, front do back[i] = before + i end
  for i = 1, before do back[#back + 1] = i end
  for i = before + front + 1, #shape do back[#back + 1] = i end
  if #shape > 0 then values = values:permute(back) end
  rows = rows:index_add(1, flat:reshape(-1) + 1, values:reshape { flat:numel(), table.unpack(kept) })
  local inverse = {}
  for i, d in ipairs(places) do inverse[d] = i end
  return rows:view(moved.shape):permute(inverse)
end

function named.index(a) return a.self[index_of(a)] end
function named.index_put(a)
  if a.accumulate then return accumulated(a) end
  local y = a.self:clone()
  y[index_of(a)] = a.values:to(y.dtype)
  return y
end
function named.index_put_(a)
  if a.accumulate then return a.self:copy_(accumulated(a)) end
  a.self[index_of(a)] = a.values:to(a.self.dtype)
  return a.self
end
named._unsafe_index, named._unsafe_index_put, named._index_put_impl_ = named.index, named.index_put, named.index_put_

-- The positions with each of a masked element as 0.
local function masked_indices(a)
  local indices = {}
  for i = 1, a.self:dim() do
    local at = a.indices[i]
    if at then
      at = torch.where(at:lt(0), at + a.self:size(i), at):clamp { min = 0, max = a.self:size(i) - 1 }
      indices[i] = at
    end
  end
  return indices
end
function named._unsafe_masked_index(a)
  local values = named.index { self = a.self, indices = masked_indices(a) }
  return torch.where(a.mask, values, torch.full({}, a.fill, { dtype = values.dtype, device = values.device }))
end
function named._unsafe_masked_index_put_accumulate(a)
  local values = torch.where(a.mask, a.values, torch.zeros({}, { dtype = a.values.dtype, device = a.values.device }))
  return accumulated { self = a.self, indices = masked_indices(a), values = values }
end

named['where'] = function(a)
  if not a.self then
    local list = {}
    for i, part in ipairs(a.condition:nonzero({ as_tuple = true })) do list[i] = part - 1 end
    return list
  end
  return torch.where(a.condition, a.self, a.other)
end
function named.nonzero_numpy(a) return named.where { condition = a.self } end

-- ---- views --------------------------------------------------------------------------------------

-- Some results of PyTorch's kernels have another memory layout than ours, so a view there may be
-- impossible here.
function named.view(a) return a.dtype and a.self:view(a.dtype) or a.self:reshape(a.size) end
named._unsafe_view, named._reshape_alias = named.view, named.view
function named.alias(a) return a.self:view(a.self.shape) end
named.lift_fresh, named.lift, named.data = named.alias, named.alias, function(a) return a.self:detach() end
function named.detach(a) return a.self:detach() end
named.detach_ = named.detach
function named.contiguous(a) return a.self:contiguous() end
function named.numpy_T(a)
  local dims = {}
  for i = 1, a.self:dim() do dims[i] = a.self:dim() + 1 - i end
  return a.self:permute(dims)
end
function named.squeeze(a)
  local dim = a.dim
  if dim == nil then return a.self:squeeze() end
  for _, d in ipairs(type(dim) == 'table' and common.descending(common.dims_of(a.self, dim)) or { dim_of(a.self, dim) }) do
    if a.self:dim() > 0 then a.self = a.self:squeeze(d) end
  end
  return a.self
end
function named.unfold(a) return a.self:unfold(dim_of(a.self, a.dimension), a.size, a.step) end
function named.mT(a) return a.self:transpose(-2, -1) end
function named.mH(a) return a.self:transpose(-2, -1):conj() end
named.matrix_H = named.mH
function named._conj(a) return a.self:conj() end
named._conj_physical = named._conj
function named._neg_view(a) return -a.self end
named.split = function(a)
  local dim = dim_of(a.self, a.dim or 0)
  return a.self:split(a.split_size or a.split_sizes, dim)
end
named.split_with_sizes, named.unsafe_split, named.unsafe_split_with_sizes = named.split, named.split, named.split
named.tensor_split = function(a)
  local at = a.sections or a.indices or a.tensor_indices_or_sections
  if torch.is_tensor(at) then at = at:dim() == 0 and at:item() or at:tolist() end
  local dim = dim_of(a.self, a.dim or 0)
  if type(at) == 'number' then return torch.tensor_split(a.self, at, dim) end
  local parts, before = {}, 0
  local size = a.self:size(dim)
  for i = 1, #at + 1 do
    parts[i] = sliced(a.self, dim, before, at[i] or size, 1)
    before = at[i]
  end
  return parts
end
local function each(fn)
  return function(a)
    if not a.tensors then return fn(a.self) end
    local list = {}
    for i, x in ipairs(a.tensors) do list[i] = fn(x) end
    return list
  end
end
named.atleast_1d, named.atleast_2d, named.atleast_3d = each(torch.atleast_1d), each(torch.atleast_2d), each(torch.atleast_3d)

return { named = named }
