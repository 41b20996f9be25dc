-- begin.lua - starts operations. Contiguous tensors that the engine can access (on the host; with
-- nccl on the GPU) are passed as they are, others through a copy that is copied back at the end of
-- the operation.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local here = require 'torch.distributed.state'
local groups = require 'torch.distributed.groups'
local Work = require 'torch.distributed.work'
local traffic = require 'torch.distributed.traffic'

local M = {}

-- The device of an operation on the tensor: its GPU if the backend is nccl, otherwise the host.
function M.place(tensor) return tensor.is_cuda and here.current.backend == 'nccl' and tensor.device or torch.device 'cpu' end

local function as_it_is(tensor) return tensor:is_contiguous() and M.place(tensor) == tensor.device end

--- Prepares a tensor that an engine reads.
function M.input(tensor)
  local t = tensor:detach()
  return as_it_is(t) and t or t:to(M.place(t)):contiguous()
end

--- Prepares a tensor that an engine writes; and a function that copies it to the target, or nil.
function M.output(tensor)
  local t = tensor:detach()
  if as_it_is(t) then return t end
  local host = torch.empty(t.shape, { dtype = t.dtype, device = M.place(t) })
  return host, function() t:copy_(host) end
end

--- Prepares a tensor that an engine reads and writes.
function M.both(tensor)
  local host, back = M.output(tensor)
  if back then host:copy_(tensor:detach()) end
  return host, back
end

function M.check_same_dtype(what, a, b)
  if a.dtype ~= b.dtype then fail('%s(): tensors of one dtype are expected, got %s and %s', what, a.dtype, b.dtype) end
end

--- The number in the group of a rank of the world.
function M.rank_in(group, what, name, rank, otherwise)
  if rank == nil then rank = otherwise end
  if rank == nil then fail("%s(): argument '%s' must be given", what, name) end
  if rank < 0 then fail("%s(): argument '%s' must be a rank, got %d", what, name, rank) end
  return groups.get_group_rank(group, rank)
end

--- Starts an operation; returns its Work if async, otherwise waits. given: input, output, peer,
-- tag, op, splits (given, got), timeout, and the caller's output tensors: result, or results;
-- finish: called at the end.
function M.begin(what, group, async, given, finish)
  local op = given.op
  local tensor = given.output or given.input
  if tensor and tensor.is_cuda then
    local inner = require('torch.distributed.nccl').begin(what, group, given)
    return M.begun(what, group, async, given, finish, inner)
  end
  if what == 'barrier' and here.current.backend == 'nccl' then torch.cuda.synchronize() end
  local inner = group:begin(what, given.input, given.output, given.peer, given.tag, op and op.code, given.given, given.got, nil, given.timeout)
  return M.begun(what, group, async, given, finish, inner)
end

-- inner: the engine's work.
function M.begun(what, group, async, given, finish, inner)
  local work = Work(inner, here.current.world, finish)
  work._group = group
  work._tensors = given.results or { given.result }
  work._entry = traffic.note(what, given, inner)
  if async then return work end
  work:wait()
  return nil, work
end

return M
