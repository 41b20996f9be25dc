-- shape.lua - operators that create constants, read sizes, and rearrange elements.

local torch = require 'torch'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'

local ops = {}

function ops.Constant(node)
  local a = node.attributes
  local value = a.value or a.sparse_value
  if value ~= nil then return value end
  if a.value_float then return torch.tensor(a.value_float, { dtype = torch.float32 }) end
  if a.value_int then return torch.tensor(a.value_int, { dtype = torch.int64 }) end
  if a.value_floats then return torch.tensor(a.value_floats, { dtype = torch.float32 }) end
  if a.value_ints then return torch.tensor(a.value_ints, { dtype = torch.int64 }) end
  values.fail((a.value_string or a.value_strings) and 'a constant of strings, which ltensor does not have' or 'a constant without a value')
end

-- The number of elements of a result with the sizes in the i-th input.
local function numel_of(i)
  return function(node, ...)
    local numel = 1.0
    for _, size in ipairs(values.list(node, i, (select(i, ...)))) do numel = numel * size end
    return numel
  end
end

ops.ConstantOfShape = { grows = numel_of(1), fn = function(node, shape)
  local sizes = values.list(node, 1, shape)
  local value = node.attributes.value
  if not value then return torch.zeros(sizes, { device = shape.device }) end
  if value:numel() ~= 1 then values.fail 'its value is not one number' end
  return torch.full(sizes, value:item(), { dtype = value.dtype, device = shape.device })
end }

function ops.Shape(node, x)
  local rank = x:dim()
  local from, to = node.attributes.start or 0, node.attributes['end'] or rank
  from = math.min(math.max(from < 0 and from + rank or from, 0), rank)
  to = math.min(math.max(to < 0 and to + rank or to, 0), rank)
  local sizes = {}
  for i = from + 1, to do sizes[#sizes + 1] = x:size(i) end
  return torch.tensor(sizes, { dtype = torch.int64, device = x.device }) -- on the device of the constants that it is combined with
end

function ops.Size(_, x) return torch.tensor(x:numel(), { dtype = torch.int64, device = x.device }) end

function ops.Reshape(node, x, shape)
  local wanted = node.version < 5 and node.attributes.shape or values.list(node, 2, shape)
  local sizes = {}
  for i, size in ipairs(wanted) do
    if size == 0 and node.attributes.allowzero ~= 1 then
      if i > x:dim() then values.fail('size %d is to be kept of %d dimensions', i, x:dim()) end
      size = x:size(i)
    end
    sizes[i] = size
  end
  return x:reshape(sizes)
end

function ops.Flatten(node, x)
  local sizes = values.sizes(x)
  local axis = values.dim(node.attributes.axis or 1, x:dim() + 1) - 1
  if (node.attributes.axis or 1) < 0 then axis = node.attributes.axis + x:dim() end
  return x:reshape(values.product(sizes, 1, axis), values.product(sizes, axis + 1))
end

function ops.Transpose(node, x)
  local perm, dims = node.attributes.perm, {}
  for i = 1, x:dim() do dims[i] = perm and perm[i] and values.dim(perm[i], x:dim()) or x:dim() + 1 - i end
  return x:permute(dims)
end

local function axes_of(node, axes, i)
  if node.version < 13 then return node.attributes.axes end
  return axes and values.list(node, i, axes)
end

function ops.Squeeze(node, x, axes)
  local list = axes_of(node, axes, 2)
  if not list then return x:squeeze() end
  local dims = values.dims(list, x:dim())
  for _, dim in ipairs(dims) do
    if x:size(dim) ~= 1 then values.fail('dimension %d to squeeze out has the size %d', dim - 1, x:size(dim)) end
  end
  return x:squeeze(dims)
end

function ops.Unsqueeze(node, x, axes)
  local list = axes_of(node, axes, 2)
  if not list then values.fail 'no axes' end
  local dims = values.dims(list, x:dim() + #list)
  table.sort(dims)
  for _, dim in ipairs(dims) do x = x:unsqueeze(dim) end
  return x
end

ops.Expand = { grows = true, fn = function(node, x, shape)
  local wanted, sizes = values.list(node, 2, shape), values.sizes(x)
  local rank = math.max(#wanted, #sizes)
  local result = {}
  for i = 1, rank do
    local a, b = sizes[i - rank + #sizes] or 1, wanted[i - rank + #wanted] or 1
    result[i] = b == 1 and a or b
  end
  return x:expand(result)
end }

ops.Tile = { grows = true, fn = function(node, x, repeats, axis)
  if node.version >= 6 then return x['repeat'](x, values.list(node, 2, repeats)) end
  local times = {}
  for i = 1, x:dim() do times[i] = 1 end
  times[values.number(node, 3, axis) + 1] = values.number(node, 2, repeats)
  return x['repeat'](x, times)
end }

function ops.Concat(node, first, ...) return torch.cat({ first, ... }, values.dim(node.attributes.axis or 1, first:dim())) end

function ops.Split(node, x, split)
  local dim = values.dim(node.attributes.axis or 0, x:dim())
  local sizes = node.version < 13 and node.attributes.split or split and values.list(node, 2, split)
  if not sizes then
    local n, size = #node.outputs, x:size(dim)
    local part = (size + n - 1) // n
    sizes = {}
    for i = 1, n do sizes[i] = math.max(math.min(part, size - part * (i - 1)), 0) end
  end
  if #sizes < #node.outputs then values.fail('%d sizes for %d parts', #sizes, #node.outputs) end
  return table.unpack(x:split(sizes, dim))
end

local function blocks(node, x)
  if x:dim() ~= 4 then values.fail('expected a tensor of 4 dimensions, but got %d', x:dim()) end
  local n = node.attributes.blocksize
  if not n or n < 1 then values.fail 'no blocksize' end
  return n, x:size(1), x:size(2), x:size(3), x:size(4)
end

function ops.DepthToSpace(node, x)
  local k, n, c, h, w = blocks(node, x)
  if node.attributes.mode == 'CRD' then
    return x:reshape(n, c // (k * k), k, k, h, w):permute({ 1, 2, 5, 3, 6, 4 }):reshape(n, c // (k * k), h * k, w * k)
  end
  return x:reshape(n, k, k, c // (k * k), h, w):permute({ 1, 4, 5, 2, 6, 3 }):reshape(n, c // (k * k), h * k, w * k)
end

function ops.SpaceToDepth(node, x)
  local k, n, c, h, w = blocks(node, x)
  local order = node.attributes.mode == 'CRD' and { 1, 2, 4, 6, 3, 5 } or { 1, 4, 6, 2, 3, 5 }
  return x:reshape(n, c, h // k, k, w // k, k):permute(order):reshape(n, c * k * k, h // k, w // k)
end

function ops.EyeLike(node, x)
  local dtype = node.attributes.dtype and tensors.dtype(node.attributes.dtype, 'its dtype') or x.dtype
  local rows, columns, k = x:size(1), x:size(2), node.attributes.k or 0
  local row = torch.arange(rows, { device = x.device }):unsqueeze(2)
  return (torch.arange(columns, { device = x.device }) - row):eq(k):to(dtype)
end

ops.Range = { grows = true, fn = function(node, from, to, step)
  local first, last, by = values.number(node, 1, from), values.number(node, 2, to), values.number(node, 3, step)
  if by == 0 then values.fail 'steps of 0' end
  local n = math.max(math.ceil((last - first) / by), 0)
  return (torch.arange(n, { device = from.device }) * by + first):to(from.dtype)
end }

function ops.Trilu(node, x, k)
  local diagonal = k and values.number(node, 2, k) or 0
  local is_bool = x.dtype == torch.bool
  if is_bool then x = x:to(torch.uint8) end
  local result = node.attributes.upper ~= 0 and x:triu(diagonal) or node.attributes.upper == 0 and x:tril(diagonal)
  return is_bool and result:to(torch.bool) or result
end

return { [''] = ops }
