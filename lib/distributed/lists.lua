-- lists.lua - operations with a list of tensors, one for each rank: all_gather, gather, scatter,
-- reduce_scatter, all_to_all.

--[=[ arguments
tensor_list: List of tensors, one for each rank, that receive the result.
tensor: Tensor of this rank.
output_tensor_list: List of tensors, one from each rank, that receive the result.
input_tensor_list: List of tensors, one for each rank.
gather_list: List of tensors, one for each rank, on the rank `dst`; nil on the others.
scatter_list: List of tensors, one for each rank, on the rank `src`; nil on the others.
dst: Rank that receives, from 0.
src: Rank that sends, from 0.
output: Tensor that receives the result.
input_list: List of tensors, one for each rank.
op: Reduction, such as `torch.distributed.ReduceOp.SUM`.
]=]

local torch = require 'torch'
local begin = require 'torch.distributed.begin'
local collectives = require 'torch.distributed.collectives'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local groups = require 'torch.distributed.groups'

local M = {}

local function check_list(what, name, list, group, like)
  if not list or #list ~= group:size() then
    fail("%s(): argument '%s' must be a list of %d tensors, one for each rank, got %s", what, name, group:size(), list and #list or 'nil')
  end
  for i, t in ipairs(list) do
    if like then
      begin.check_same_dtype(what, t, like)
      if t:numel() ~= like:numel() then
        fail("%s(): tensor %d of '%s' has %d elements, the rank's own has %d", what, i, name, t:numel(), like:numel())
      end
    end
  end
end

-- One tensor with all of the list, flat.
local function joined(list)
  local flat = {}
  for i, t in ipairs(list) do flat[i] = begin.input(t):reshape(-1) end
  return torch.cat(flat)
end

-- One tensor for the list, and a function that splits it.
local function room_for(list)
  local sizes, all = {}, 0
  for i, t in ipairs(list) do
    sizes[i] = t:numel()
    all = all + sizes[i]
  end
  local host = torch.empty(all, { dtype = list[1].dtype, device = begin.place(list[1]) })
  return host, function()
    local at = 1
    for i, t in ipairs(list) do
      t:detach():copy_(host:narrow(1, at, sizes[i]):view(t.shape))
      at = at + sizes[i]
    end
  end, sizes
end

--- tensor_list[i] becomes the tensor of the i-th rank.
function M.all_gather(a)
  local group = groups._group(a.group)
  if not group then return nil end
  check_list('all_gather', 'tensor_list', a.tensor_list, group, a.tensor)
  local host, divide = room_for(a.tensor_list)
  return (begin.begin('all_gather', group, a.async_op, { input = begin.input(a.tensor), output = host, results = a.tensor_list }, divide))
end

--- On rank `dst` gather_list[i] becomes the tensor of the i-th rank.
function M.gather(a)
  local group = groups._group(a.group)
  if not group then return nil end
  local root = begin.rank_in(group, 'gather', 'dst', a.dst, group:global(0))
  local host, divide
  if root == group:me() then
    check_list('gather', 'gather_list', a.gather_list, group, a.tensor)
    host, divide = room_for(a.gather_list)
  elseif a.gather_list and #a.gather_list > 0 then
    fail 'Argument gather_list must NOT be specified on non-destination ranks.'
  end
  return (begin.begin('gather', group, a.async_op, { input = begin.input(a.tensor), output = host, peer = root, results = a.gather_list },
    divide))
end

--- The tensor of the i-th rank becomes scatter_list[i] of rank `src`.
function M.scatter(a)
  local group = groups._group(a.group)
  if not group then return nil end
  local root = begin.rank_in(group, 'scatter', 'src', a.src, group:global(0))
  local all
  if root == group:me() then
    check_list('scatter', 'scatter_list', a.scatter_list, group, a.tensor)
    all = joined(a.scatter_list)
  elseif a.scatter_list and #a.scatter_list > 0 then
    fail 'Argument scatter_list must NOT be specified on non-source ranks.'
  end
  local host, back = begin.output(a.tensor)
  return (begin.begin('scatter', group, a.async_op, { input = all, output = host, peer = root, result = a.tensor }, back))
end

--- Sums input_list[i] over all ranks and returns the i-th sum to the i-th rank.
function M.reduce_scatter(a)
  local op, group = collectives._reduction('reduce_scatter', a.op), groups._group(a.group)
  if not group then return nil end
  check_list('reduce_scatter', 'input_list', a.input_list, group, a.output)
  local host, back = begin.output(a.output)
  return (begin.begin('reduce_scatter', group, a.async_op, { input = joined(a.input_list), output = host, op = op, result = a.output },
    back))
end

--- output_tensor_list[i] receives the entry for this rank of the i-th rank's input_tensor_list.
function M.all_to_all(a)
  local group = groups._group(a.group)
  if not group then return nil end
  check_list('all_to_all', 'output_tensor_list', a.output_tensor_list, group)
  check_list('all_to_all', 'input_tensor_list', a.input_tensor_list, group)
  local host, divide, got = room_for(a.output_tensor_list)
  local given = {}
  for i, t in ipairs(a.input_tensor_list) do
    begin.check_same_dtype('all_to_all', t, host)
    given[i] = t:numel()
  end
  return (begin.begin('all_to_all', group, a.async_op, { input = joined(a.input_tensor_list), output = host, given = given, got = got,
    results = a.output_tensor_list }, divide))
end

declare.functions(M, [[
  all_gather(tensors tensor_list, Tensor tensor, value? group, boolean? async_op)
  gather(Tensor tensor, tensors? gather_list, integer? dst, value? group, boolean? async_op)
  scatter(Tensor tensor, tensors? scatter_list, integer? src, value? group, boolean? async_op)
  reduce_scatter(Tensor output, tensors input_list, value? op, value? group, boolean? async_op)
  all_to_all(tensors output_tensor_list, tensors input_tensor_list, value? group, boolean? async_op)
]], 'names')

return M
