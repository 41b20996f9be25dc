-- collectives.lua - collective operations on one tensor per rank: all_reduce, broadcast, reduce,
-- barrier, all_gather_into_tensor, reduce_scatter_tensor, all_to_all_single. Each rank calls the
-- same ones in the same order. Each returns nil when it is complete, or a Work immediately with
-- async_op = true. Reductions follow the order of the ranks, so all ranks, engines and message
-- sizes give the same bits.

--[=[ arguments
tensor: Tensor that is sent or received, of the same shape and dtype on all ranks.
op: Reduction, such as `torch.distributed.ReduceOp.SUM`.
src: Rank that sends, from 0.
dst: Rank that receives, from 0.
output: Tensor that receives the result.
input: Tensor that is sent.
output_tensor: Tensor that receives the tensors of all ranks, one after the other.
input_tensor: Tensor that this rank sends.
output_split_sizes: Number of entries from each rank; equal parts if absent.
input_split_sizes: Number of entries for each rank; equal parts if absent.
timeout: Seconds after which a rank that is missing is an error.
]=]

local begin = require 'torch.distributed.begin'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local groups = require 'torch.distributed.groups'

local M = {}

-- ---- ReduceOp ----

local op_meta = { __name = 'ReduceOp', __tostring = function(self) return 'ReduceOp.' .. self.name end }
local ReduceOp = {}
for code, name in ipairs { 'SUM', 'AVG', 'PRODUCT', 'MIN', 'MAX', 'BAND', 'BOR', 'BXOR' } do
  ReduceOp[name] = setmetatable({ code = code - 1, name = name }, op_meta)
end
M.ReduceOp = ReduceOp

local function reduction(what, op)
  if op == nil then return ReduceOp.SUM end
  if getmetatable(op) ~= op_meta then fail("%s(): argument 'op' must be a ReduceOp (SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR)", what) end
  return op
end
M._reduction = reduction

-- ---- operations ----

--- Returns when all ranks of the group have called it.
function M.barrier(a)
  local group = groups._group(a.group)
  if not group then return nil end
  return (begin.begin('barrier', group, a.async_op, {}))
end

--- As barrier, with its own timeout (seconds): the error lists the missing ranks.
function M.monitored_barrier(a)
  local group = groups._group(a.group)
  if group then begin.begin('barrier', group, false, { timeout = a.timeout }) end
end

--- Replaces the tensors of all ranks by their sum, or the reduction `op`.
function M.all_reduce(a)
  local op, group = reduction('all_reduce', a.op), groups._group(a.group)
  if not group then return nil end
  local host, back = begin.both(a.tensor)
  return (begin.begin('all_reduce', group, a.async_op, { input = host, output = host, op = op, result = a.tensor }, back))
end

--- The tensors of all ranks become that of rank `src`.
function M.broadcast(a)
  local group = groups._group(a.group)
  if not group then return nil end
  local root = begin.rank_in(group, 'broadcast', 'src', a.src)
  local host, back = begin[root == group:me() and 'both' or 'output'](a.tensor)
  return (begin.begin('broadcast', group, a.async_op, { output = host, peer = root, result = a.tensor },
    root ~= group:me() and back or nil))
end

--- As all_reduce, but only rank `dst` gets the result; tensors of other ranks do not change.
function M.reduce(a)
  local op, group = reduction('reduce', a.op), groups._group(a.group)
  if not group then return nil end
  local root = begin.rank_in(group, 'reduce', 'dst', a.dst)
  if root ~= group:me() then
    return (begin.begin('reduce', group, a.async_op, { input = begin.input(a.tensor), peer = root, op = op, result = a.tensor }))
  end
  local host, back = begin.both(a.tensor)
  return (begin.begin('reduce', group, a.async_op, { input = host, output = host, peer = root, op = op, result = a.tensor }, back))
end

--- The tensors of all ranks one after another, in every rank's output_tensor: concatenated or
--- stacked.
function M.all_gather_into_tensor(a)
  local group = groups._group(a.group)
  if not group then return nil end
  begin.check_same_dtype('all_gather_into_tensor', a.output_tensor, a.input_tensor)
  if a.output_tensor:numel() ~= group:size() * a.input_tensor:numel() then
    fail('output tensor size must be equal to world_size times input tensor size')
  end
  local host, back = begin.output(a.output_tensor)
  return (begin.begin('all_gather_into_tensor', group, a.async_op,
    { input = begin.input(a.input_tensor), output = host, result = a.output_tensor }, back))
end

--- Sums the inputs of all ranks and returns the n-th part to the n-th rank.
function M.reduce_scatter_tensor(a)
  local op, group = reduction('reduce_scatter_tensor', a.op), groups._group(a.group)
  if not group then return nil end
  begin.check_same_dtype('reduce_scatter_tensor', a.output, a.input)
  if a.input:numel() ~= group:size() * a.output:numel() then
    fail('input tensor must be the same size as output size times world size')
  end
  local host, back = begin.output(a.output)
  return (begin.begin('reduce_scatter_tensor', group, a.async_op,
    { input = begin.input(a.input), output = host, op = op, result = a.output }, back))
end

-- Elements for each rank, of rows for each.
local function splits(what, group, tensor, rows)
  local first = tensor:dim() > 0 and tensor:size(1) or 1
  if rows == nil or #rows == 0 then
    if first % group:size() ~= 0 then fail "Tensor's dim 1 does not divide equally across group size" end
    return nil
  end
  if #rows ~= group:size() then fail('%s(): Number of tensor splits not equal to group size', what) end
  local elements, sum = {}, 0
  for i, n in ipairs(rows) do
    if n < 0 then fail('%s(): split sizes are not negative, got %d', what, n) end
    sum = sum + n
    elements[i] = first == 0 and 0 or n * (tensor:numel() // first)
  end
  if sum ~= first then fail "Split sizes doesn't match total dim 1 size" end
  return elements
end

-- The split sizes for the engine: `elements`, by default equal parts.
local function all_splits(tensor, elements, n)
  if elements then return elements end
  local even = {}
  for i = 1, n do even[i] = tensor:numel() // n end
  return even
end

--- Sends the n-th part of each rank's input to the n-th rank. Sizes of the parts along the first
-- dimension are equal by default.
function M.all_to_all_single(a)
  local what = 'all_to_all_single'
  local group = groups._group(a.group)
  if not group then return nil end
  begin.check_same_dtype(what, a.output, a.input)
  local n = group:size()
  local got = all_splits(a.output, splits(what, group, a.output, a.output_split_sizes), n)
  local given = all_splits(a.input, splits(what, group, a.input, a.input_split_sizes), n)
  local host, back = begin.output(a.output)
  return (begin.begin(what, group, a.async_op,
    { input = begin.input(a.input), output = host, given = given, got = got, result = a.output }, back))
end

declare.functions(M, [[
  barrier(value? group, boolean? async_op)
  monitored_barrier(value? group, number? timeout)
  all_reduce(Tensor tensor, value? op, value? group, boolean? async_op)
  broadcast(Tensor tensor, integer? src, value? group, boolean? async_op)
  reduce(Tensor tensor, integer? dst, value? op, value? group, boolean? async_op)
  all_gather_into_tensor(Tensor output_tensor, Tensor input_tensor, value? group, boolean? async_op)
  reduce_scatter_tensor(Tensor output, Tensor input, value? op, value? group, boolean? async_op)
  all_to_all_single(Tensor output, Tensor input, integers? output_split_sizes, integers? input_split_sizes, value? group, boolean? async_op)
]], 'names')

return M
