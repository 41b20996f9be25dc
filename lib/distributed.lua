-- distributed.lua - torch.distributed: operations between processes, on the MPI that started them
-- with mpirun, and for GPUs on NCCL.
--
-- Ranks are names and count from 0; positions count from 1. A process without a launcher is a world
-- of one rank. src/comm transfers the bytes, and handles timeouts and failures.

local torch = require 'torch'

torch._C.comm_environment()

local M = {}
for _, part in ipairs { 'groups', 'collectives', 'lists', 'messages', 'objects' } do
  for name, value in pairs(require('torch.distributed.' .. part)) do M[name] = value end
end

local traffic = require 'torch.distributed.traffic'
M.traffic, M.reset_traffic, M._take_recorded = traffic.traffic, traffic.reset_traffic, traffic.take_recorded

-- Modules built on the operations, loaded on first use.
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
