-- messages.lua - point-to-point messages: send, recv, isend, irecv, batch_isend_irecv. Messages
-- between two ranks with one tag arrive in the order of sending.

--[=[ arguments
tensor: Tensor that is sent, or that receives the message.
dst: Rank that receives, from 0.
src: Rank that sends, from 0; any if absent.
tag: Number that distinguishes messages; 0 if absent.
p2p_op_list: List of `P2POp`s.
op: Function: `torch.distributed.isend` or `torch.distributed.irecv`.
peer: Rank of the other side, from 0.
irecv(): Receives a tensor without waiting: returns a `Work`.
]=]

local begin = require 'torch.distributed.begin'
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local groups = require 'torch.distributed.groups'

local M = {}

local function check_tag(what, tag)
  if tag and (tag < 0 or tag > 32767) then fail("%s(): argument 'tag' must be from 0 to 32767, got %d", what, tag) end
  return tag or 0
end

local function send(what, async, a)
  local group = groups._group(a.group)
  if not group then return nil end
  local peer = begin.rank_in(group, what, 'dst', a.dst)
  if peer == group:me() then fail 'Invalid destination rank: destination rank should not be the same as the rank of the current process.' end
  return (begin.begin(what, group, async, { input = begin.input(a.tensor), peer = peer, tag = check_tag(what, a.tag), result = a.tensor }))
end

local function receive(what, async, a)
  local group = groups._group(a.group)
  if not group then return nil end
  local peer = a.src and begin.rank_in(group, what, 'src', a.src) or -1
  if peer == group:me() then fail 'Invalid source rank: source rank should not be the same as the rank of the current process.' end
  local host, back = begin.output(a.tensor)
  local work, ended = begin.begin(what, group, async, { output = host, peer = peer, tag = check_tag(what, a.tag), result = a.tensor }, back)
  return work or ended:source_rank()
end

--- Sends a tensor to rank `dst`; returns when the tensor may be changed again.
function M.send(a) send('send', false, a) end

--- Receives a tensor from rank `src` or, without it, from any rank; returns the sender.
function M.recv(a) return receive('recv', false, a) end

--- The same without waiting; each returns a Work.
function M.isend(a) return send('isend', true, a) end
function M.irecv(a) return receive('irecv', true, a) end

declare.functions(M, [[
  send(Tensor tensor, integer dst, value? group, integer? tag)
  recv(Tensor tensor, integer? src, value? group, integer? tag)
  isend(Tensor tensor, integer dst, value? group, integer? tag)
  irecv(Tensor tensor, integer? src, value? group, integer? tag)
]], 'names')

-- P2POp(op, tensor, peer, group, tag): one of the messages of batch_isend_irecv; op is isend or
-- irecv.
M.P2POp = class.Object:extend('P2POp')
function M.P2POp:init(op, tensor, peer, group, tag)
  if op ~= M.isend and op ~= M.irecv then fail 'Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or ``torch.distributed.irecv``.' end
  self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag
end
declare.methods(M.P2POp, 'init(self, any op, any tensor, value? peer, value? group, value? tag)')

--- Starts all messages of a list of P2POp; returns a list of Work.
function M.batch_isend_irecv(list)
  local works = {}
  for i, p in ipairs(list) do
    if not M.P2POp:is_instance(p) then fail 'Invalid ``p2p_op_list``. Each op is expected to be of type ``torch.distributed.P2POp``.' end
    works[i] = p.op(p.tensor, p.peer, p.group, p.tag)
  end
  return works
end

declare.functions(M, 'batch_isend_irecv(table p2p_op_list)')

return M
