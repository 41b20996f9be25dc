-- argument_forms.lua - forms of arguments that PyTorch accepts and declarations of ops cannot
-- express. The wrapped ops read named arguments.

local torch = require 'torch'
local arguments = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

-- Applies f to several tensors: arguments (then there are several results) or a table.
local function for_each(name, f)
  return function(...)
    local first = ...
    if select('#', ...) == 1 and type(first) == 'table' and torch.is_tensor(first[1]) then
      kinds.check_list(name, first)
      local results = {}
      for i, tensor in ipairs(first) do results[i] = f(tensor) end
      return results
    end
    if select('#', ...) < 2 then return f(...) end
    local results = { ... }
    for i = 1, select('#', ...) do results[i] = f(results[i]) end
    return table.unpack(results, 1, select('#', ...))
  end
end

for _, name in ipairs { 'atleast_1d', 'atleast_2d', 'atleast_3d' } do
  torch[name] = for_each(name, torch[name])
  arguments.ops[torch[name]] = name
end

-- tensordot(a, b, {{1, 2}, {2, 1}}): the dimensions of both, in two lists or as the two rows of a
-- tensor.
local tensordot = torch.tensordot

function torch.tensordot(...)
  local a, b, dims = ...
  local names = select('#', ...) == 1 and kinds.is_named(a) and a or type(dims) == 'table' and dims.dims ~= nil and dims or nil
  local pair = dims
  if names then pair = names.dims end
  if torch.is_tensor(pair) and pair.ndim == 2 then pair = pair:tolist() end
  if type(pair) ~= 'table' or type(pair[1]) ~= 'table' then return tensordot(...) end
  if not names then return tensordot(a, b, pair[1], pair[2] or {}, select(4, ...)) end
  local options = { dims_self = pair[1], dims_other = pair[2] or {} }
  for name, value in pairs(names) do
    if name ~= 'dims' then options[name] = value end
  end
  if names == a then return tensordot(options) end
  return tensordot(a, b, options)
end

-- split and tensor_split with more parts than a declaration permits, and tensor_split at the
-- positions in a tensor.
local MOST = 16
local split, tensor_split = torch.split, torch.tensor_split

-- Splits at any number of positions: MOST - 1 at a time, each time from the last position on.
local function cut(x, positions, dim)
  if #positions == 0 then return tensor_split(x, 1, dim or 1) end
  local parts = {}
  for first = 1, #positions, MOST - 1 do
    local last = math.min(first + MOST - 2, #positions)
    local some = tensor_split(x, table.move(positions, math.max(first - 1, 1), last, 1, {}), dim or 1)
    table.move(some, first > 1 and 2 or 1, last < #positions and #some - 1 or #some, #parts + 1, parts)
  end
  return parts
end

local function dim_of(given) return type(given) == 'table' and given.dim or given end

function torch.split(x, ...)
  local sizes, dim = ...
  if type(sizes) ~= 'table' or #sizes <= MOST then return split(x, ...) end
  dim = dim_of(dim) or 1
  local positions, total = {}, 0
  for i, size in ipairs(sizes) do
    if math.type(size) ~= 'integer' then return split(x, ...) end
    if size < 0 then fail('split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=[%s]', table.concat(sizes, ', ')) end
    total = total + size
    positions[i] = total + 1
  end
  if total ~= x:size(dim) then
    fail("split_with_sizes expects split_sizes to sum exactly to %d (input tensor's size at dimension %d), but got split_sizes=[%s]",
      x:size(dim), dim, table.concat(sizes, ', '))
  end
  positions[#positions] = nil
  return cut(x, positions, dim)
end

function torch.tensor_split(x, ...)
  local positions, dim = ...
  if torch.is_tensor(positions) and positions.ndim > 0 then
    if positions.ndim > 1 then
      fail('tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with %d dims', positions.ndim)
    elseif positions.dtype ~= torch.int64 then
      fail('tensor_split expected tensor_indices_or_sections to have dtype of long, but got %s', tostring(positions.dtype))
    end
    return cut(x, positions:tolist(), dim_of(dim))
  end
  if type(positions) ~= 'table' or #positions <= MOST then return tensor_split(x, ...) end
  return cut(x, positions, dim_of(dim))
end
torch._C.methods.split, torch._C.methods.tensor_split = torch.split, torch.tensor_split
for _, name in ipairs { 'tensordot', 'split', 'tensor_split' } do arguments.ops[torch[name]] = name end

-- In-place methods that are also functions of torch: torch.relu_(x).
local in_place = [[abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_ atanh_ ceil_ celu_
  clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ index_put_ log10_
  log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ reciprocal_ relu_ round_ rsqrt_ selu_ sigmoid_ sin_ sinh_ sqrt_ square_ tan_
  tanh_ trunc_ xlogy_ zero_]]
for name in in_place:gmatch '%S+' do torch[name] = torch[name] or torch._C.methods[name] end
