-- torch.distributed over the MPIs that are installed: 2 to 4 ranks, oversubscribed. What the operations compute is in
-- distributed_spec.lua; here it is that processes do it, and what becomes of them when one does something else.

local torch = require 'torch'
local process = require 'support.process'
local ranks = require 'support.ranks'

local srun = (debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'support/srun' -- stands in for Slurm's

local installed = ranks.installed()
if #installed == 0 then
  describe('#cpu torch.distributed', function()
    pending 'on MPI: neither Open MPI nor MPICH is installed'
  end)
end

describe('#cpu the variables of a launcher', function()
  it('srun sets rank and size for both MPIs', function()
    local slurm = "SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=1 SLURM_STEP_TASKS_PER_NODE='2(x4)' SLURM_LAUNCH_NODE_IPADDR=10.0.0.7"
    for _, own in ipairs { 'PMIX_RANK=3', 'PMI_RANK=3 PMI_SIZE=8' } do
      local output = process.lua([[
        local dist = torch.distributed
        for _, name in ipairs { 'RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'MASTER_ADDR' } do io.write(os.getenv(name), ' ') end
        print(dist.get_node_local_rank())
      ]], '', own .. ' ' .. slurm)
      assert.equal('3 8 1 2 10.0.0.7 1\n', output)
    end
  end)

  for mpi, kind in pairs { openmpi = 'pmix', mpich = 'pmi2' } do
    it('lets them meet where srun --mpi=' .. kind .. ' has started them', function()
      if not table.concat(installed, ' '):find(mpi, 1, true) then return pending(mpi .. ' is not installed') end
      local path = os.tmpname()
      local file = assert(io.open(path, 'w'))
      file:write [[
        local dist = torch.distributed
        dist.init_process_group('mpi', { timeout = 20 })
        local x = torch.tensor { dist.get_rank() + 1 }
        dist.all_reduce(x)
        assert(x:item() == 6 and dist.get_world_size() == 3)
        for name, value in pairs { RANK = dist.get_rank(), LOCAL_RANK = dist.get_rank(), WORLD_SIZE = 3, LOCAL_WORLD_SIZE = 3 } do
          assert(os.getenv(name) == tostring(value), name)
        end
        dist.barrier()
        if dist.get_rank() == 0 then print 'all well' end
      ]]
      file:close()
      local output, errors, status = process.run(('ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 timeout 60 %s --mpi=%s -n 3 %s %s'):format(srun, kind,
        process.quote(process.ltensor), path))
      os.remove(path)
      assert.equal(0, status, errors)
      assert.equal('all well\n', output)
    end)
  end

  it('is an error where srun has started them and they cannot meet', function()
    local output, errors, status = process.run(('timeout 60 %s --mpi=none -n 2 %s -e %s'):format(srun, process.quote(process.ltensor),
      process.quote "io.write(os.getenv 'RANK', ' of ', os.getenv 'WORLD_SIZE', '\\n') torch.distributed.init_process_group('mpi')"))
    assert.not_equal(0, status)
    assert.matches('srun started 2 processes without an interface that connects them', errors, 1, true)
    assert.is_true(output:find('0 of 2', 1, true) and output:find('1 of 2', 1, true) and true)
  end)
end)

for _, mpi in ipairs(installed) do
  describe('#cpu #again torch.distributed on ' .. mpi, function()
    -- Every rank looks at its own results; the first one says that all have.
    local function all_well(n, code, options)
      local output, errors, status = ranks.run(mpi, n, code .. " dist.barrier() if rank == 0 then print 'all well' end", options)
      assert.equal(0, status, errors)
      assert.equal('all well\n', output)
    end

    it('reduces, broadcasts and meets', function()
      all_well(3, [[
        dist.barrier()
        local x = torch.full({ 4 }, rank + 1.0)
        dist.all_reduce(x)
        assert(x:equal(torch.full({ 4 }, 6.0)))
        local y = torch.arange(3) + 10 * rank
        dist.broadcast(y, 2)
        assert(y:equal(torch.tensor { 20, 21, 22 }))
        local row = torch.arange(3000001):remainder(1000):float()
        local large = row * (rank + 1)
        dist.all_reduce(large)
        assert(large:equal(row * 6))
        dist.reduce(large:fill_(rank), 1)
        assert(large:eq(rank == 1 and 3 or rank):all():item())
      ]])
    end)

    it('#rss needs memory beside a tensor only while it reduces, though works are kept', function()
      all_well(2, [[
        local function resident()
          for line in io.lines '/proc/self/status' do
            local kib = line:match '^VmRSS:%s+(%d+)'
            if kib then return tonumber(kib) * 1024 end
          end
        end
        local x, works = torch.zeros(1 << 20), {}
        dist.all_reduce(x)
        local before = resident()
        for i = 1, 40 do
          works[i] = dist.all_reduce(x, { async_op = true })
          works[i]:wait()
        end
        local more = resident() - before
        assert(more < 40 << 20, ('%d MiB'):format(more >> 20))
      ]])
    end)

    it("reduces by MPI's own operations where that is asked for", function()
      all_well(3, [[
        dist.destroy_process_group()
        dist.init_process_group('mpi', { timeout = 20, native_reductions = true })
        local ops = { SUM = 6, PRODUCT = 6, MIN = 1, MAX = 3, BAND = 0, BOR = 3, BXOR = 0 }
        for _, dtype in ipairs { 'uint8', 'int8', 'int16', 'int32', 'int64', 'float32', 'float64', 'bfloat16', 'float16' } do
          for _, op in ipairs { 'SUM', 'AVG', 'PRODUCT', 'MIN', 'MAX', 'BAND', 'BOR', 'BXOR' } do
            local is_float = torch[dtype].is_floating_point
            if op ~= 'AVG' and (not is_float or not op:find '^B') or op == 'AVG' and is_float then
              local x = torch.full({ 70000 }, rank + 1, { dtype = torch[dtype] })
              dist.all_reduce(x, dist.ReduceOp[op])
              assert(x:eq(op == 'AVG' and 2 or ops[op]):all():item(), dtype .. op)
            end
          end
        end
      ]])
    end)

    it('gathers, scatters, exchanges and sends in groups', function()
      all_well(4, [[
        local mine = torch.full({ 2, 3 }, rank + 0.0):t()
        local all = torch.zeros(4 * 3, 2)
        dist.all_gather_into_tensor(all, mine)
        assert(all:equal(torch.arange(4):repeat_interleave(3):float():view(12, 1):expand(12, 2)))
        local part = torch.zeros(5, { dtype = torch.bfloat16 })
        dist.reduce_scatter_tensor(part, torch.arange(20):to(torch.bfloat16))
        assert(part:equal((4 * (torch.arange(5) + 5 * rank)):to(torch.bfloat16)))
        local list = {}
        for i = 1, 4 do list[i] = torch.zeros(2, { dtype = torch.bool }) end
        dist.gather(torch.tensor { rank > 1, false }, rank == 3 and list or nil, 3)
        assert(rank ~= 3 or list[3][1]:item() and not list[2][1]:item())
        local got = torch.zeros(4, { dtype = torch.int64 })
        dist.all_to_all_single(got, torch.arange(4) + 10 * rank)
        assert(got:equal(torch.arange(4) * 10 + rank))
        local first, second = dist.new_group { 0, 1 }, dist.new_group { 2, 3 }
        local pair = rank < 2 and first or second
        local number = torch.tensor { rank }
        dist.all_reduce(number, { group = pair })
        assert(number:item() == (rank < 2 and 1 or 5))
        local partner = rank ~ 1
        local works = dist.batch_isend_irecv {
          dist.P2POp(dist.isend, torch.full({ 3 }, rank), partner), dist.P2POp(dist.irecv, got[{ { 1, 3 } }], partner),
        }
        for _, work in ipairs(works) do work:wait() end
        assert(got[{ { 1, 3 } }]:eq(partner):all():item())
      ]])
    end)

    it('trains with DistributedDataParallel as one process does that adds up the ranks\' batches in their order', function()
      all_well(2, [[
        local function model()
          return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 300), nn.Tanh(), nn.Linear(300, 5))
        end
        torch.manual_seed(1)
        local reference = model()
        torch.manual_seed(1 + rank) -- rank 0's parameters become everyone's
        local net = nn.parallel.DistributedDataParallel(model(), { bucket_cap_mb = 0.02 })
        local x = torch.randn(size, 2, 8, 20, { generator = torch.Generator():manual_seed(7) })
        local function train(net, backward)
          local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1, momentum = 0.9 })
          for step = 1, 3 do
            net:zero_grad()
            backward(net)
            optimizer:step()
          end
        end
        train(net, function(net)
          net:no_sync(function() net(x[rank + 1][1]):pow(2):mean():backward() end)
          net(x[rank + 1][2]):pow(2):mean():backward()
        end)
        train(reference, function(net)
          local sums = {}
          for r = 1, size do
            net:zero_grad()
            for i = 1, 2 do net(x[r][i]):pow(2):mean():backward() end
            for i, p in ipairs(net:parameters()) do sums[i] = sums[i] and sums[i] + p.grad or p.grad:clone() end
          end
          for i, p in ipairs(net:parameters()) do p.grad = sums[i] / size end
        end)
        assert(#net.reducer.buckets == 3, #net.reducer.buckets)
        for i, p in ipairs(net:parameters()) do assert(p:equal(reference:parameters()[i])) end
      ]])
    end)

    it('trains LeNet on 2 and 4 ranks to the bits of one process that adds up the same batches in the order of the ranks', function()
      for _, n in ipairs { 2, 4 } do
        all_well(n, [[
          local function lenet()
            torch.manual_seed(1)
            return nn.Sequential(nn.Conv2d(1, 6, 5, { padding = 2 }), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
              nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
          end
          local steps, batch = 4, 8
          local generator = torch.Generator():manual_seed(2)
          local images = torch.rand(steps, size, batch, 1, 28, 28, { generator = generator })
          local labels = torch.randint(1, 11, { steps, size, batch }, { generator = generator })
          local function trained(net, backward)
            local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1, momentum = 0.9 })
            for step = 1, steps do
              optimizer:zero_grad()
              backward(function(r) nn.functional.cross_entropy(net(images[step][r]), labels[step][r]):backward() end, net)
              optimizer:step()
            end
            return net:parameters()
          end
          local one = trained(lenet(), function(backward, net)
            for r = 1, size do backward(r) end
            for _, p in ipairs(net:parameters()) do p.grad:div_(size) end
          end)
          for _, view in ipairs { false, true } do
            local options = { bucket_cap_mb = 0.05, gradient_as_bucket_view = view }
            local all = trained(nn.parallel.DistributedDataParallel(lenet(), options), function(backward) backward(rank + 1) end)
            for i, p in ipairs(all) do assert(p:equal(one[i]), i) end
          end
        ]])
      end
    end)

    it('names the parameters that had no part in a loss, or looks for them', function()
      all_well(2, [[
        local Two = nn.Module:extend('Two')
        function Two:init() self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2) end
        function Two:forward(x, which) return self[which](x) end
        local net = nn.parallel.DistributedDataParallel(Two())
        local loss = net(torch.ones(1, 2), 'a'):sum()
        local ok, message = pcall(loss.backward, loss)
        assert(not ok and message:find('b.bias, b.weight', 1, true), message)
        net = nn.parallel.DistributedDataParallel(Two(), { find_unused_parameters = true })
        net(torch.ones(1, 2), rank == 0 and 'a' or 'b'):sum():backward()
        assert(net.module.a.weight.grad:eq(0.5):all():item() and net.module.b.weight.grad:eq(0.5):all():item())
        net:zero_grad()
        net(torch.ones(1, 2), 'b'):sum():backward()
        assert(net.module.a.weight.grad == nil and net.module.b.weight.grad:eq(1):all():item())
      ]])
    end)

    it('normalizes over the batches of all ranks, and takes the derivative of that', function()
      all_well(3, [[
        local dtypes = { { torch.float32, 1e-5 }, { torch.float64, 1e-12 }, { torch.bfloat16, 0.04 } }
        for _, shape in ipairs { { 6, 4 }, { 6, 4, 3 }, { 6, 4, 2, 3 } } do
          for _, case in ipairs(dtypes) do
            local dtype, near = case[1], case[2]
            local generator = torch.Generator():manual_seed(5)
            local x = torch.randn(shape, { generator = generator, dtype = torch.float64 }):add_(2):to(dtype)
            local weight = torch.randn(shape, { generator = generator, dtype = torch.float64 }):to(dtype)
            local whole = nn[('BatchNorm%dd'):format(math.max(1, #shape - 2))](4):to(dtype)
            nn.init.uniform_(whole.weight, 0.5, 2, generator)
            local copy = nn[whole:_get_name()](4):to(dtype)
            copy:load_state_dict(whole:state_dict())
            local net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(copy)):to(dtype)
            local from, count = ({ 1, 1, 4 })[rank + 1], ({ 0, 3, 3 })[rank + 1] -- of the first rank: none
            local all = x:clone():requires_grad_()
            local mine = x:narrow(1, from, count):clone():requires_grad_()
            local expected, y = whole(all), net(mine)
            assert(y.dtype == dtype and y:allclose(expected:narrow(1, from, count), { rtol = near, atol = near }));
            (expected * weight):sum():backward();
            (y * weight:narrow(1, from, count)):sum():backward()
            assert(mine.grad:allclose(all.grad:narrow(1, from, count), { rtol = near, atol = near }))
            local layer = net[1]
            assert(nn.SyncBatchNorm:is_instance(layer))
            for _, p in ipairs { 'weight', 'bias' } do
              local sum = layer[p].grad:clone()
              dist.all_reduce(sum)
              assert(sum:allclose(whole[p].grad, { rtol = near, atol = 8 * near }))
            end
            for _, b in ipairs { 'running_mean', 'running_var' } do
              assert(layer[b]:allclose(whole[b], { rtol = near, atol = near }))
            end
            net:eval() whole:eval()
            assert(net(x):allclose(whole(x), { rtol = near, atol = near }))
          end
        end
      ]])
    end)

    it("leaves a loader's workers alone, which are refused", function()
      all_well(2, [[
        local data = torch.utils.data
        local Counted = data.Dataset:extend('Counted')
        function Counted:__len() return 12 end
        function Counted:__getitem(i)
          assert(not pcall(dist.barrier))
          return torch.tensor(i)
        end
        local set, sum = Counted(), torch.tensor(0)
        for x in data.DataLoader(set, { batch_size = 2, num_workers = 2, sampler = data.DistributedSampler(set) }) do sum:add_(x:sum()) end
        dist.all_reduce(sum)
        assert(sum:item() == 78)
        local ok, message = pcall(function()
          function Counted:__getitem(i) dist.barrier() end
          for _ in data.DataLoader(set, { num_workers = 1 }) do end
        end)
        assert(message:find('belongs to the process that began it', 1, true), message)
      ]])
    end)

    local module, plain = (os.getenv 'LTENSOR_BUILD' or 'build') .. '/torch.so', 'lua' .. _VERSION:match '%d.%d'
    if io.open(module) and os.execute(('command -v %s >/dev/null'):format(plain)) then
      it('runs in another interpreter, which closes its modules at the end #plain', function()
        all_well(2, 'local x = torch.ones(3) dist.all_reduce(x) assert(x:sum():item() == 6)',
          { program = plain, environment = ("LUA_CPATH='%s'"):format((module:gsub('torch%.so$', '?.so'))) })
      end)
    end

    local function mismatch(code, environment)
      local _, errors, status = ranks.run(mpi, 2, code, { environment = environment })
      assert.is_true(status ~= 0 and status ~= 124, errors)
      assert.matches('Detected mismatch between collectives on ranks. Rank %d is running collective: ', errors)
      return errors
    end

    it('refuses dtypes and numbers of elements that differ between ranks, naming both', function()
      local errors = mismatch 'dist.all_reduce(rank == 0 and torch.ones(2) or torch.ones(2):double())'
      local first, second = 'Rank 0 is running collective: all_reduce (sequence 1, Float [2], SUM)',
        'Rank 1 is running collective: all_reduce (sequence 1, Double [2], SUM)'
      -- Either rank may find the mismatch first; it names itself first.
      assert.is_truthy(errors:find(first .. ', but ' .. second, 1, true) or errors:find(second .. ', but ' .. first, 1, true), errors)
      mismatch 'dist.all_reduce(torch.ones(rank + 1))'
      mismatch 'dist.broadcast(rank == 0 and torch.ones(4) or torch.ones(2):double(), 0)'
      mismatch 'dist.reduce(rank == 0 and torch.ones(4) or torch.ones(2):double(), 0)'
      mismatch 'local x = rank == 0 and torch.ones(4) or torch.ones(2):double() dist.all_gather({ torch.empty_like(x), torch.empty_like(x) }, x)'
      mismatch 'if rank == 0 then dist.barrier() else dist.all_reduce(torch.ones(2)) end'
    end)

    it('takes shapes that differ where the elements are as many, but in debug mode', function()
      local code = 'dist.all_reduce(rank == 0 and torch.ones(2, 3) or torch.ones(6))'
      all_well(2, code)
      assert.matches('all_reduce (sequence 1, ', mismatch(code, 'TORCH_DISTRIBUTED_DEBUG=DETAIL'), 1, true)
    end)

    it('ends where a rank is killed', function()
      local _, errors, status = ranks.run(mpi, 3, [[
        dist.barrier()
        if rank == 1 then os.execute "kill -9 $PPID" end
        dist.all_reduce(torch.ones(3))
      ]], { timeout = 2 })
      assert.is_true(status ~= 0 and status ~= 124, errors)
    end)

    it('names a rank that is stopped', function()
      local _, errors, status = ranks.run(mpi, 3, [[
        dist.barrier()
        if rank == 1 then os.execute "kill -STOP $PPID" end
        dist.all_reduce(torch.ones(3))
      ]], { timeout = 1 })
      assert.is_true(status ~= 0 and status ~= 124, errors)
      assert.matches('all_reduce (sequence 2, Float [3], SUM) on rank ', errors, 1, true)
      assert.matches('rank 1 does not answer: it has ended, is stopped or cannot be reached', errors, 1, true)
    end)

    local begin = "-e 'torch.distributed.init_process_group()'"
    local engine = ('libltensor_%s.so'):format(mpi)
    local variables = mpi == 'openmpi' and 'OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=%d' or 'PMI_RANK=0 PMI_SIZE=%d'

    -- What a process says that believes to be rank 0 of a launcher of this MPI.
    local function says(size, environment)
      local _, errors, status = process.run(('%s %s timeout -k 5 30 %s %s'):format(variables:format(size), environment or '',
        process.quote(process.ltensor), begin))
      assert.equal(1, status, errors)
      return errors
    end

    it('a missing engine is an error that names the package to install', function()
      local errors = says(1, 'LTENSOR_LIB_DIR=/nonexistent')
      assert.matches(engine .. ' could not be loaded', errors, 1, true)
      assert.matches(('apt-get install lib%s-dev'):format(mpi), errors, 1, true)
    end)

    it('takes no engine that was made for another table', function()
      local folder = os.tmpname()
      os.remove(folder)
      assert(os.execute('mkdir ' .. folder))
      local file = assert(io.open((os.getenv 'LTENSOR_LIB_DIR' or os.getenv 'LTENSOR_BUILD' or 'build') .. '/' .. engine, 'rb'))
      local library = file:read 'a'
      file:close()
      local version = torch.__version__:match '[%d.]+'
      local other, changes = library:gsub(version:gsub('%p', '%%%0') .. '%z', '9.9.9\0')
      assert.equal(1, changes)
      file = assert(io.open(folder .. '/' .. engine, 'wb'))
      file:write(other)
      file:close()
      local errors = says(1, 'LTENSOR_LIB_DIR=' .. folder)
      os.execute('rm -r ' .. folder)
      assert.matches(engine .. ' was built for ltensor 9.9.9', errors, 1, true)
    end)

    if mpi == 'openmpi' then -- MPICH asks the launcher that the variables speak of, and there is none
      it("refuses a world that is not the launcher's", function()
        assert.matches('openmpi reports rank 0 of 1, but the launcher set rank 0 of 2', says(2), 1, true)
      end)
    end

    it('can stop to wait, and wait again', function()
      all_well(2, [[
        local x = torch.ones(2)
        if rank == 0 then
          local work = dist.all_reduce(x, { async_op = true })
          local ok, message = pcall(work.wait, work, 0.1)
          assert(not ok and message:find('has not ended after 0.1 s', 1, true))
          assert(not work:is_completed())
          dist.send(torch.ones(1), 1) -- goes beside
          work:wait()
        else
          dist.recv(torch.ones(1), 0)
          dist.all_reduce(x)
        end
        assert(x:eq(2):all():item())
      ]])
    end)

    it('--nproc starts ranks and sets the variables of torchrun', function()
      local output, errors, status = process.lua([[
        local dist = torch.distributed
        dist.init_process_group 'mpi'
        local names = { 'RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'MASTER_ADDR' }
        for i, name in ipairs(names) do names[i] = os.getenv(name) end
        assert(tonumber(names[1]) == dist.get_rank() and names[1] == names[3])
        dist.barrier()
        if dist.get_rank() == 0 then print(table.concat(names, ' ')) end
      ]], '--nproc 2', 'ASAN_OPTIONS=detect_leaks=0 LTENSOR_MPI=' .. mpi)
      assert.equal(0, status, errors)
      assert.equal('0 2 0 2 127.0.0.1\n', output)
    end)

    it('ends where a rank raises an error', function()
      local _, errors, status = ranks.run(mpi, 3, [[
        dist.barrier()
        if rank == 1 then error 'deliberate' end
        dist.all_reduce(torch.ones(3))
      ]])
      assert.is_true(status ~= 0 and status ~= 124, errors)
      assert.matches('deliberate', errors, 1, true)
      assert.matches('all_reduce (sequence 2, Float [3], SUM) on rank 0: ', errors, 1, true)
      assert.matches('all_reduce (sequence 2, Float [3], SUM) on rank 2: ', errors, 1, true)
      assert.matches('rank 1 has left, with exit status 1', errors, 1, true)
    end)

    it('ends where a rank leaves early, although all is well with it', function()
      local _, errors, status = ranks.run(mpi, 3, [[
        dist.barrier()
        if rank == 2 then os.exit(0, true) end
        dist.all_reduce(torch.ones(3))
      ]])
      assert.is_true(status ~= 0 and status ~= 124, errors)
      assert.matches('all_reduce %(sequence 2, Float %[3%], SUM%) on rank [01]: rank 2 has left, with exit status 0, before it took part', errors)
    end)

    it('a timeout names the silent rank and its last operation', function()
      local _, errors, status = ranks.run(mpi, 2, [[
        dist.barrier()
        if rank == 1 then os.execute 'sleep 4' end
        dist.all_reduce(torch.ones(2, 3, { dtype = torch.bfloat16 }))
      ]], { timeout = 1 })
      assert.is_true(status ~= 0 and status ~= 124, errors)
      assert.matches('all_reduce (sequence 2, BFloat16 [2, 3], SUM) on rank 0: timed out after 1.', errors, 1, true)
      assert.matches('rank 1 is in no operation; before: barrier (sequence 1)', errors, 1, true)
    end)
  end)
end
