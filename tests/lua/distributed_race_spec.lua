-- What the thread that moves bytes and the one that computes do at once, for make test-tsan: works that are asked about while they end,
-- many at a time, in several groups, and a world that fails. Ranks end with 66 where ThreadSanitizer finds a race.

local ranks = require 'support.ranks'

for i, mpi in ipairs(ranks.installed()) do
  describe(('#cpu %sthe two threads of a rank, on '):format(i > 1 and '#again ' or '') .. mpi, function()
    it('share works and records #again', function()
      local output, errors, status = ranks.run(mpi, 2, [[
        local partner, group = 1 - rank, dist.new_group()
        for i = 1, 50 do
          local x, y = torch.ones(10 + 1000 * i), torch.ones(5)
          dist.all_reduce(x)
          local works = {}
          for k = 1, 20 do works[k] = dist.all_reduce(torch.ones(k), { async_op = true, group = k % 2 == 0 and group or nil }) end
          works[21] = dist.isend(y, partner)
          works[22] = dist.irecv(torch.zeros(5), partner)
          for _, work in ipairs(works) do
            while i % 2 == 0 and not work:is_completed() do end
            work:wait()
          end
          dist.broadcast(x, 0)
        end
        local net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(20, 20), nn.Linear(20, 5)), { bucket_cap_mb = 0.0005 })
        for i = 1, 5 do net(torch.randn(3, 20)):sum():backward() end
        assert(dist.traffic().count > 1000)
        dist.barrier()
        if rank == 0 then print 'all well' end
      ]], { seconds = 60 })
      assert.equal(0, status, errors)
      assert.equal('all well\n', output)
    end)

    it('both threads of a rank report the same failure #again', function()
      local _, errors, status = ranks.run(mpi, 2, [[
        dist.barrier()
        local works = {}
        for k = 1, 10 do works[k] = dist.all_reduce(torch.ones(rank == 0 and k or 1), { async_op = true }) end
        for _, work in ipairs(works) do pcall(work.wait, work) end
        error 'deliberate'
      ]], { timeout = 1, seconds = 60 })
      assert.is_true(status ~= 0 and status ~= 66 and status ~= 124, errors)
      assert.is_nil(errors:find('ThreadSanitizer', 1, true), errors)
    end)
  end)
end
