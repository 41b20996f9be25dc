-- torch.distributed with the backend nccl, on simulated GPUs: each rank has one, and between them is the simulation's stand-in for NCCL, which
-- checks what it is called with.

local process = require 'support.process'
local ranks = require 'support.ranks'

for i, mpi in ipairs(ranks.installed()) do
  describe(('#cpu %sthe backend nccl, beside '):format(i > 1 and '#again ' or '') .. mpi, function()
    local function run(n, code, environment)
      return ranks.run(mpi, n, [[
        dist.destroy_process_group()
        dist.init_process_group('nccl', { timeout = 20 })
        local gpu = { device = 'cuda' }
        local function on_gpu(t) return t:to 'cuda' end
      ]] .. code, { environment = 'LTENSOR_SIM_GPUS=1 LTENSOR_COPIES=0 ' .. (environment or '') })
    end

    local function all_well(n, code, environment)
      local output, errors, status = run(n, code .. " dist.barrier() if rank == 0 then print 'all well' end", environment)
      assert.equal(0, status, errors)
      assert.equal('all well\n', output)
    end

    it('reduces every dtype that NCCL has, in every way', function()
      all_well(3, [[
        assert(dist.is_nccl_available() and dist.get_backend() == 'nccl')
        local results = { SUM = 6, AVG = 2, PRODUCT = 6, MIN = 1, MAX = 3 }
        for _, dtype in ipairs { 'uint8', 'int8', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64' } do
          for _, op in ipairs { 'SUM', 'AVG', 'PRODUCT', 'MIN', 'MAX' } do
            if op ~= 'AVG' or torch[dtype].is_floating_point then
              local x = torch.full({ 5, 7 }, rank + 1, { dtype = torch[dtype], device = 'cuda' })
              dist.all_reduce(x, dist.ReduceOp[op])
              assert(x:eq(results[op]):all():item(), dtype .. op)
            end
          end
        end
        local truth = on_gpu(torch.tensor { rank == 1, false, true })
        dist.all_reduce(truth)
        assert(truth:cpu():equal(torch.tensor { true, false, true }))
        local wide = torch.zeros(4, 6, gpu)
        local view = wide[{ {}, { 1, -1, 2 } }]
        view:fill_(rank)
        dist.all_reduce(view)
        assert(wide:sum():item() == 3 * 12 and view:eq(3):all():item())
        dist.all_reduce(torch.zeros(0, gpu))
        local host = torch.ones(3) -- beside it, MPI
        dist.all_reduce(host)
        assert(host:eq(3):all():item())
      ]])
    end)

    it('moves tensors in every way', function()
      all_well(3, [[
        local x = torch.full({ 2, 3 }, rank + 0.0, gpu)
        dist.broadcast(x, 2)
        assert(x:eq(2):all():item())
        x:fill_(rank + 1)
        dist.reduce(x, 1)
        assert(x:eq(rank == 1 and 6 or rank + 1):all():item())
        local all = torch.zeros(6, 2, { dtype = torch.int16, device = 'cuda' })
        dist.all_gather_into_tensor(all, torch.full({ 2, 2 }, rank, { dtype = torch.int16, device = 'cuda' }))
        assert(all:cpu():equal(torch.tensor({ 0, 0, 1, 1, 2, 2 }, { dtype = torch.int16 }):view(6, 1):expand(6, 2)))
        local part = torch.zeros(2, gpu)
        dist.reduce_scatter_tensor(part, on_gpu(torch.arange(6):float()))
        assert(part:cpu():equal(3 * (torch.arange(2) + 2 * rank):float()))
        local list = { torch.zeros(2, gpu), torch.zeros(1, 2, gpu), torch.zeros(2, gpu) }
        dist.all_gather(list, torch.full({ 2 }, rank + 0.0, gpu))
        for i = 1, 3 do assert(list[i]:eq(i - 1):all():item()) end
        for i = 1, 3 do list[i] = torch.full({ 2 }, 10.0 * i, gpu) end
        local mine = torch.zeros(2, gpu)
        dist.scatter(mine, rank == 1 and list or nil, 1)
        assert(mine:eq(10 * (rank + 1)):all():item())
        dist.gather(mine + 1, rank == 2 and list or nil, 2)
        assert(rank ~= 2 or list[1]:eq(11):all():item() and list[3]:eq(31):all():item())
        local got = torch.zeros(6, 2, gpu)
        dist.all_to_all_single(got, torch.full({ 3 * (rank + 1), 2 }, rank + 0.0, gpu), { 1, 2, 3 }, { rank + 1, rank + 1, rank + 1 })
        assert(got[{ {}, 1 }]:cpu():equal(torch.tensor { 0, 1, 1, 2, 2, 2 }:float()))
        if rank == 0 then
          dist.send(torch.full({ 3 }, 7.0, gpu), 2)
        elseif rank == 2 then
          local y = torch.zeros(3, gpu)
          dist.recv(y, 0)
          assert(y:eq(7):all():item())
          assert(not pcall(dist.recv, y))
        end
        local pair = dist.new_group { 0, 2 }
        local z = torch.ones(1, gpu)
        if rank ~= 1 then dist.all_reduce(z, { group = pair }) end
        assert(z:item() == (rank == 1 and 1 or 2))
      ]])
    end)

    it('NCCL operations follow the order of streams #again', function()
      for seed = 1, 3 do
        all_well(2, [[
          local x = torch.zeros(1000, gpu)
          for i = 1, 10 do
            x:add_(rank)
            local work = dist.all_reduce(x, { async_op = true, op = dist.ReduceOp.AVG })
            work:wait()
            x:mul_(2)
          end
          local expected = 0.0
          for i = 1, 10 do expected = 2 * (expected + 0.5) end
          assert(x:eq(expected):all():item(), x[1]:item())
          local work = dist.all_reduce(x, { async_op = true })
          assert(work:wait(10) and work:is_completed() and work:is_success())
        ]], 'LTENSOR_SIM_SEED=' .. seed)
      end
    end)

    it('trains as over MPI', function()
      all_well(2, [[
        local function train(wrap)
          torch.manual_seed(1)
          local net = wrap(nn.Sequential(nn.Linear(5, 40), nn.ReLU(), nn.Linear(40, 3)):to 'cuda')
          local optimizer = torch.optim.Adam(net:parameters(), { lr = 0.01 })
          for step = 1, 3 do
            optimizer:zero_grad()
            net(on_gpu(torch.randn(4, 5, { generator = torch.Generator():manual_seed(step + 10 * rank) }))):pow(2):mean():backward()
            optimizer:step()
          end
          return net
        end
        local ddp = train(function(net) return nn.parallel.DistributedDataParallel(net, { bucket_cap_mb = 0.0003 }) end)
        local sharded = train(dist.fsdp.fully_shard)
        local sums = {}
        for i, p in ipairs(ddp:parameters()) do sums[i] = p:detach():cpu():reshape(-1) end
        local all, whole = torch.zeros(2, (torch.cat(sums):numel() + 1) // 2), torch.cat(sums)
        local mine = {}
        for i, p in ipairs(sharded:parameters()) do mine[i] = p:detach():cpu() end
        mine = torch.cat(mine)
        local first = rank * ((whole:numel() + 1) // 2)
        assert(mine:allclose(whole:narrow(1, first + 1, mine:numel()), { rtol = 1e-5, atol = 1e-6 }))
      ]])
    end)

    it('refuses dtypes and reductions that NCCL does not have', function()
      all_well(2, [[
        local function fails(text, f, ...)
          local ok, message = pcall(f, ...)
          assert(not ok and message:find(text, 1, true), message)
        end
        fails('Cannot use ReduceOp.BAND, BOR or BXOR with NCCL', dist.all_reduce, torch.ones(2, { dtype = torch.int32, device = 'cuda' }), dist.ReduceOp.BOR)
        fails('NCCL has no reductions of this dtype', dist.all_reduce, torch.ones(2, { dtype = torch.int16, device = 'cuda' }))
        fails('ReduceOp.AVG needs a floating point dtype', dist.all_reduce, torch.ones(2, { dtype = torch.int32, device = 'cuda' }), dist.ReduceOp.AVG)
      ]])
    end)

    it('an error names the ranks with different dtypes or numbers of elements #again', function()
      local function mismatch(code, ...)
        local _, errors, status = run(2, code)
        assert.is_true(status ~= 0 and status ~= 124, errors)
        assert.matches('Detected mismatch between collectives on ranks. Rank %d is running collective: ', errors)
        for _, text in ipairs { ... } do assert.matches(text, errors, 1, true) end
      end
      local mixed = 'local x = torch.ones(rank == 0 and 4 or 2, { dtype = rank == 0 and torch.float32 or torch.float64, device = "cuda" }) '
      for _, call in ipairs { 'all_reduce(x)', 'broadcast(x, 0)', 'reduce(x, 0)',
        'all_gather_into_tensor(torch.empty(2 * x:numel(), { dtype = x.dtype, device = "cuda" }), x)' } do
        mismatch(mixed .. 'dist.' .. call, 'Float [4]', 'Double [2]')
      end
      mismatch('local work = dist.all_reduce(torch.ones(2 + rank, gpu), { async_op = true }) work:wait(10)', 'Float [2]', 'Float [3]')
    end)

    it('needs a GPU', function()
      local _, errors, status = process.lua("torch.distributed.init_process_group 'nccl'", '--disable-cuda')
      assert.equal(1, status)
      assert.matches('only supported with GPUs', errors, 1, true)
    end)
  end)
end
