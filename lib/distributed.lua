-- distributed.lua - torch.distributed: operations between processes, on the MPI whose mpirun has started them, and for GPUs on NCCL.
--
-- Ranks are names and keep their numbers from 0; positions count from 1, as everywhere. A process without a launcher is a world of
-- one. What carries the bytes, when an operation ends and what becomes of one that does not is src/comm's.

local torch = require 'torch'

torch._C.comm_environment()

local M = {}
for _, part in ipairs { 'groups', 'collectives', 'lists', 'messages', 'objects' } do
  for name, value in pairs(require('torch.distributed.' .. part)) do M[name] = value end
end

local traffic = require 'torch.distributed.traffic'
M.traffic, M.reset_traffic, M._take_recorded = traffic.traffic, traffic.reset_traffic, traffic.take_recorded

-- What is built of them is there when it is first named.
local parts = { algorithms = true, checkpoint = true, optim = true, fsdp = true }

M.__names = parts

return setmetatable(M, {
  __index = function(_, name)
    if not parts[name] then return nil end
    local value = require('torch.distributed.' .. name)
    rawset(M, name, value)
    return value
  end,
})
