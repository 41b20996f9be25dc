-- Two ranks with a GPU each exchange tensors through NCCL: ltensor --nproc 2 tests/gpu/nccl.lua

local torch = require 'torch'
local dist = torch.distributed

dist.init_process_group('nccl', { timeout = 20 })
local rank, size = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device('cuda:' .. rank % torch.cuda.device_count())
local gpu = { device = 'cuda' }

for _, dtype in ipairs { 'int64', 'float16', 'bfloat16', 'float32', 'float64' } do
  local x = torch.full({ 1000, 7 }, rank + 1, { dtype = torch[dtype], device = 'cuda' })
  dist.all_reduce(x)
  assert(x:eq(size * (size + 1) / 2):all():item(), dtype)
end
local x = torch.full({ 1 << 20 }, rank + 0.0, gpu)
dist.broadcast(x, size - 1)
assert(x:eq(size - 1):all():item())
local all = torch.zeros(size, 3, gpu)
dist.all_gather_into_tensor(all, torch.full({ 1, 3 }, rank + 0.0, gpu))
assert(all:sum():item() == 3 * size * (size - 1) / 2)
dist.barrier()
if rank == 0 then print 'NCCL: passed' end
