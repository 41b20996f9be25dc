-- vmap.lua - torch.func.vmap: vectorizes a function of samples over a batch. Core implements
-- operations on tensors with hidden batch dimensions (src/core/ops/batch/); this file handles
-- arguments, results and chunks.

--[=[ arguments
func: Function of one sample.
in_dims: Dimension of the batch in the arguments, from 1, or a table in their form; false for arguments that all samples share.
out_dims: Dimension of the batch in the results, in the same way.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local scope = require 'torch.autograd.scope'
local trees = require 'torch.func.trees'

local C = torch._C
local is_tensor = torch.is_tensor
local M = {}

-- ---- which dimensions ---------------------------------------------------------------------------

local function position(dim, n, message)
  if math.type(dim) ~= 'integer' then fail('%s, got: %s', message, torch.type(dim)) end
  if dim == 0 then fail('vmap: in_dims and out_dims: positions count from 1') end
  if dim > n or dim < -n then
    fail('vmap(f, ...)(<inputs>): Got in_dim=%d for some input, but that input is a Tensor of dimensionality %d so expected in_dim '
      .. 'to satisfy -%d <= in_dim <= %d.', dim, n, n, n)
  end
  return dim > 0 and dim or dim + n + 1
end

-- The dim of each leaf of value, from dims: one for all, or a (partial) table of the same
-- structure. false: none.
local function spread(dims, value, list, what)
  if type(value) ~= 'table' then
    if type(dims) == 'table' then fail('%s', what) end
    list[#list + 1] = { leaf = value, dim = dims or false }
    return
  end
  if type(dims) ~= 'table' then
    for _, leaf in ipairs((trees.flatten(value))) do list[#list + 1] = { leaf = leaf, dim = dims or false } end
    return
  end
  local _, form = trees.flatten(value)
  local known = {}
  for _, entry in ipairs(form) do
    known[entry[1]] = true
    spread(dims[entry[1]], value[entry[1]], list, what)
  end
  for key in pairs(dims) do
    if not known[key] then fail('%s', what) end
  end
end

local function inputs_of(in_dims, arguments)
  if type(in_dims) ~= 'table' and math.type(in_dims) ~= 'integer' then
    fail('vmap(f, in_dims=%s, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple matching the structure of '
      .. 'inputs, got: %s.', tostring(in_dims), torch.type(in_dims))
  end
  if arguments.n == 0 then
    fail('vmap(f)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. '
      .. 'The latter is unsupported.')
  end
  local list, given = {}, {}
  for i = 1, arguments.n do given[i] = arguments[i] == nil and false or arguments[i] end
  spread(in_dims, given, list, 'vmap(f, in_dims, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`.')
  return list
end

-- The size of the dimension that is mapped over; the entries' dims become positions from 1.
local function size_of(list)
  local size, sizes = nil, {}
  for _, entry in ipairs(list) do
    if entry.dim and not is_tensor(entry.leaf) then
      fail('vmap(f, in_dims, ...)(<inputs>): Got in_dim=%s for an input but the input is of type %s. We cannot vmap over non-Tensor '
        .. 'arguments, please use false as the respective in_dim', tostring(entry.dim), torch.type(entry.leaf))
    end
    if entry.dim then
      entry.dim = position(entry.dim, entry.leaf:dim(), 'vmap(f, in_dims, ...)(<inputs>): in_dim must be either an integer dimension or false')
      sizes[#sizes + 1] = entry.leaf:size(entry.dim)
      size = size or sizes[1]
    end
  end
  if not size then fail('vmap: Expected at least one Tensor to vmap over') end
  for _, other in ipairs(sizes) do
    if other ~= size then
      fail('vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [%s] for the mapped dimension',
        table.concat(sizes, ', '))
    end
  end
  return size
end

-- ---- one call -----------------------------------------------------------------------------------

local function hidden(entry, level)
  if not entry.dim then return entry.leaf end
  local front = entry.dim == 1 and entry.leaf or entry.leaf:movedim(entry.dim, 1)
  return C.batch_hide(front, level)
end

local function shown(leaf, dim, level)
  if not dim then
    if is_tensor(leaf) and C.is_batched(leaf, level) then
      fail('vmap(f, ...): `f` can not return a BatchedTensor when out_dim is false')
    end
    return leaf
  end
  if not is_tensor(leaf) then
    fail('vmap(f, ...): `f` must only return Tensors, got type %s. Did you mean to set out_dims to false for this output?', torch.type(leaf))
  end
  local front = C.batch_show(leaf, level)
  local place = position(dim, front:dim(), 'vmap(f, ..., out_dims): `out_dims` must be an int, false or a table of ints')
  return place == 1 and front or front:movedim(1, place)
end

-- The results of f over the entries of `list`, from which `form` creates its arguments: a list of
-- leaves with dims, the structure, and the number of results.
local function run(f, list, form, n, size, options)
  local level
  local _ <close> = scope.open('vmap', function() level = C.batch_enter(size, options.randomness) end, function() C.batch_leave() end)
  local leaves = {}
  for i, entry in ipairs(list) do leaves[i] = hidden(entry, level) end
  local arguments = trees.rebuild(form, leaves)
  for i = 1, n do
    if arguments[i] == false then arguments[i] = nil end
  end
  local results = table.pack(f(table.unpack(arguments, 1, n)))
  local value = trees.of_results(results)
  if value == nil then fail('vmap(f, ...): `f` must only return Tensors, got type nil. Did you mean to set out_dims to false for this output?') end
  local outputs, out_dims = {}, options.out_dims
  if results.n == 1 and is_tensor(value) and type(out_dims) == 'table' and #out_dims == 1 then out_dims = out_dims[1] end
  spread(out_dims, value, outputs,
    'vmap(f, ..., out_dims)(<inputs>): out_dims is not compatible with the structure of `outputs`.')
  local _, output_form = trees.flatten(value)
  for _, output in ipairs(outputs) do output.leaf = shown(output.leaf, output.dim, level) end
  return outputs, output_form, results.n
end

-- ---- chunks -------------------------------------------------------------------------------------

local function part_of(list, first, length)
  local part = {}
  for i, entry in ipairs(list) do
    part[i] = { leaf = entry.dim and entry.leaf:narrow(entry.dim, first, length) or entry.leaf, dim = entry.dim }
  end
  return part
end

local function in_chunks(f, list, form, n, size, options)
  local all, output_form, several
  for first = 1, size, options.chunk_size do
    local length = math.min(options.chunk_size, size - first + 1)
    local outputs
    outputs, output_form, several = run(f, part_of(list, first, length), form, n, length, options)
    all = all or {}
    for i, output in ipairs(outputs) do
      all[i] = all[i] or { pieces = {}, dim = output.dim }
      table.insert(all[i].pieces, output.leaf)
    end
  end
  for _, entry in ipairs(all) do entry.leaf = entry.dim and torch.cat(entry.pieces, entry.dim) or entry.pieces[1] end
  return all, output_form, several
end

--- vmap(f, {in_dims = 1, out_dims = 1, randomness = 'error', chunk_size = nil}): a function that
--- calls f once for all samples of a batch, which is hidden from f. in_dims: the batch dimension of
--- the arguments' tensors (from 1, negative from the end), or a table of them in the form of the
--- arguments, false for arguments that all samples share; out_dims: the batch dimension of the
--- results, in the same way. randomness: random numbers are an error ('error'), 'different' for
--- each sample, or the 'same'. chunk_size: the number of samples per call.
function M.vmap(options)
  local f, randomness, chunk = options.func, options.randomness, options.chunk_size
  if randomness ~= 'error' and randomness ~= 'different' and randomness ~= 'same' then
    fail("Only allowed values for randomness are 'error', 'different', or 'same'. Got %s", tostring(randomness))
  end
  if chunk ~= nil and not (math.type(chunk) == 'integer' and chunk > 0) then
    fail('vmap: chunk_size should be nil or greater than 0. (got %s)', tostring(chunk))
  end
  return function(...)
    local arguments = table.pack(...)
    local list = inputs_of(options.in_dims, arguments)
    local size = size_of(list)
    local given = {}
    for i = 1, arguments.n do given[i] = arguments[i] == nil and false or arguments[i] end
    local _, form = trees.flatten(given)
    local go = chunk and chunk < size and in_chunks or run
    local outputs, output_form, several = go(f, list, form, arguments.n, size, options)
    for i, output in ipairs(outputs) do outputs[i] = output.leaf end
    local value = trees.rebuild(output_form, outputs)
    if several > 1 then return table.unpack(value, 1, several) end
    return value
  end
end

declare.functions(M, "vmap(function func, any in_dims=1, any out_dims=1, any randomness='error', any? chunk_size)", 'names')

return M
