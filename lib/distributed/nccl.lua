-- nccl.lua - operations on GPU tensors by NCCL. Each runs on its own stream after the work of the
-- current stream; waiting for it makes the current stream wait, and the program only until all
-- ranks have started it. NCCL reduces in its own order. Groups are created with their first
-- operation; their ids are exchanged by MPI.
--
-- NCCL does not compare the calls of the ranks: different dtypes yield garbage, different sizes a
-- hang. MPI compares them on the host, at the same time as NCCL computes.

local torch = require 'torch'
local fail = require 'torch.support.fail'

local C = torch._C

local M = {}

-- As comm.h counts them.
local KINDS = {}
for i, names in ipairs { 'barrier', 'broadcast', 'all_reduce', 'reduce', 'all_gather all_gather_into_tensor', 'reduce_scatter reduce_scatter_tensor',
  'gather', 'scatter', 'all_to_all all_to_all_single', 'send isend', 'recv irecv' } do
  for name in names:gmatch '%S+' do KINDS[name] = i - 1 end
end

--- Raises an error if there is no GPU or no NCCL.
function M.check()
  if not torch.cuda.is_available() then fail "ProcessGroupNCCL is only supported with GPUs, no GPUs found!" end
  C.device_id()
end

-- NCCL communicators of a group with one GPU per rank, by group and GPU.
local joined = setmetatable({}, { __mode = 'k' })
local streams = {}

local function group_on(group, device)
  local by_device = joined[group]
  if not by_device then
    by_device = {}
    joined[group] = by_device
  end
  local key = tostring(device)
  if not by_device[key] then
    local list = { group:me() == 0 and C.device_id() or false }
    require('torch.distributed.objects').broadcast_object_list(list, group:global(0), group)
    local _ <close> = torch.cuda.device(device)
    by_device[key] = C.device_join(list[1], group:me(), group:size())
  end
  return by_device[key]
end

local function stream_on(device)
  local key = tostring(device)
  streams[key] = streams[key] or torch.cuda.Stream { device = device }
  return streams[key]
end

-- The interface of an operation for Work.
local Inner = {}
Inner.__index = Inner

-- Ended, well or not, and why not.
function Inner:ended()
  if self.comparison then
    local compared, same, message = self.comparison:ended()
    if not compared or not same then return compared, same, message end
  end
  local done = self.event:query()
  local well, message = pcall(self.group.look, self.group) -- after the query: a failure precedes the end of the event
  if not well then return true, false, message end
  if not done then return false end
  if self.times_[2] == 0 then self.times_[2] = C.clock() end
  return true, true
end

-- seconds = 0: the program waits for the comparison only, and the current stream for the end;
-- otherwise the program waits for the end, at most this long.
function Inner:wait(seconds)
  local limit = seconds > 0 and C.clock() + seconds
  if self.comparison then
    local same, reason = self.comparison:wait(seconds)
    if not same then return false, reason end
  end
  local well, message = pcall(self.group.look, self.group)
  if not well then return false, message end
  torch.cuda.current_stream(self.device):wait_event(self.event)
  while limit do
    local ended, fine, reason = self:ended()
    if ended then return fine, reason end
    if C.clock() > limit then return false, ('wait(): %s has not ended after %.3g s'):format(self.name, seconds) end
  end
  return true
end

function Inner:from() return self.peer end
function Inner:times() return self.times_[1], self.times_[2] end

--- Enqueues an operation on the stream of its GPU. given: see begin.lua.
function M.begin(name, group, given)
  local tensor = given.output or given.input
  local device, op = tensor.device, given.op
  if op and op.name == 'AVG' and not tensor:is_floating_point() then
    fail('ReduceOp.AVG needs a floating point dtype, got %s', tensor.dtype)
  end
  local kind = KINDS[name]
  if kind == KINDS.recv and (given.peer or -1) < 0 then fail('%s(): with nccl, src must be given', name) end
  local peers = group_on(group, device)
  local comparison
  if kind ~= KINDS.send and kind ~= KINDS.recv then
    comparison = group:begin(name, given.input, given.output, given.peer, nil, op and op.code, nil, nil, nil, given.timeout, true)
  end
  local stream = stream_on(device)
  local _ <close> = torch.cuda.device(device)
  stream:wait_stream(torch.cuda.current_stream(device))
  local begun = C.clock()
  peers:begin(kind, given.input, given.output, given.peer, op and op.code, given.given, given.got, stream.cuda_stream)
  for _, t in pairs { given.input or false, given.output or false } do
    if t then t:record_stream(stream) end
  end
  return setmetatable({ group = peers, device = device, name = name, event = stream:record_event(), times_ = { begun, 0 },
    peer = given.peer or -1, comparison = comparison }, Inner)
end

return M
