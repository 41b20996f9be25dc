-- Two ranks exchange tensors of more than 2^31 elements (large_ranks.sh): `1` as the argument takes the MPI's own reductions. Each tensor has
-- an element of its own behind 2^31, so that a piece that is left out or comes twice is seen.

local torch = require 'torch'
local dist = torch.distributed

dist.init_process_group('mpi', { native_reductions = arg[1] == '1', timeout = 600 })
local rank, size = dist.get_rank(), dist.get_world_size()
assert(size == 2, 'two ranks are wanted')
local n = (1 << 31) + 5

-- n elements of `value`, the last one larger by one.
local function filled(value)
  local t = torch.full({ n }, value, { dtype = torch.int8 })
  t[n] = value + 1
  return t
end

local function check(name, t, value, last)
  local body = t:narrow(1, 1, t:numel() - 1)
  assert(body:min():item() == value and body:max():item() == value and t[t:numel()]:item() == last, name)
end

local function try(name, f)
  local start = torch.time()
  f()
  collectgarbage()
  dist.barrier()
  if rank == 0 then print(('  %-24s %6.1f s'):format(name, torch.time() - start)) end
end

try('all_reduce', function()
  local x = filled(rank + 1)
  dist.all_reduce(x)
  check('all_reduce', x, 3, 5)
end)
try('reduce', function()
  local x = filled(rank + 1)
  dist.reduce(x, 1)
  if rank == 1 then check('reduce', x, 3, 5) end
end)
try('broadcast', function()
  local x = rank == 1 and filled(7) or torch.empty(n, { dtype = torch.int8 })
  dist.broadcast(x, 1)
  check('broadcast', x, 7, 8)
end)
try('send and recv', function()
  local x = rank == 0 and filled(9) or torch.empty(n, { dtype = torch.int8 })
  if rank == 0 then dist.send(x, 1) else dist.recv(x, 0) end
  check('recv', x, 9, 10)
end)
try('all_gather_into_tensor', function()
  local all = torch.empty(2 * n, { dtype = torch.int8 })
  dist.all_gather_into_tensor(all, filled(rank))
  check('all_gather', all:narrow(1, 1, n), 0, 1)
  check('all_gather', all:narrow(1, n + 1, n), 1, 2)
end)
try('gather', function()
  local x = filled(rank)
  local list = rank == 0 and { torch.empty(n, { dtype = torch.int8 }), torch.empty(n, { dtype = torch.int8 }) } or nil
  dist.gather(x, list, 0)
  for i, t in ipairs(list or {}) do check('gather', t, i - 1, i) end
end)
try('scatter', function()
  local x = torch.empty(n, { dtype = torch.int8 })
  dist.scatter(x, rank == 0 and { filled(3), filled(4) } or nil, 0)
  check('scatter', x, 3 + rank, 4 + rank)
end)
try('reduce_scatter_tensor', function()
  local both = torch.cat { filled(1), filled(2) }
  local x = torch.empty(n, { dtype = torch.int8 })
  dist.reduce_scatter_tensor(x, both)
  check('reduce_scatter', x, 2 + 2 * rank, 4 + 2 * rank)
end)
try('all_to_all_single', function()
  local given, got = torch.cat { filled(10 * rank), filled(10 * rank + 1) }, torch.empty(2 * n, { dtype = torch.int8 })
  dist.all_to_all_single(got, given)
  for from = 0, 1 do check('all_to_all', got:narrow(1, from * n + 1, n), 10 * from + rank, 10 * from + rank + 1) end
end)
