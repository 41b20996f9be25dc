-- torch.distributed over the MPIs that are installed: 2 to 4 ranks, oversubscribed. What the operations compute is in
-- distributed_spec.lua; here it is that processes do it, and what becomes of them when one does something else.

local ranks = require 'support.ranks'

-- The lines of the ranks' output, sorted.
local function lines(text)
  local list = {}
  for line in text:gmatch '[^\n]+' do list[#list + 1] = line end
  table.sort(list)
  return list
end

local installed = ranks.installed()
if #installed == 0 then
  describe('#cpu torch.distributed', function()
    pending 'on MPI: neither Open MPI nor MPICH is installed'
  end)
end

for _, mpi in ipairs(installed) do
  describe('#cpu torch.distributed on ' .. mpi, function()
    it('reduces, broadcasts and meets', function()
      local output, errors, status = ranks.run(mpi, 3, [[
        dist.barrier()
        local x = torch.full({ 4 }, rank + 1.0)
        dist.all_reduce(x)
        local y = torch.arange(3) + 10 * rank
        dist.broadcast(y, 2)
        local large = torch.arange(3000001):remainder(1000):float() * (rank + 1)
        dist.all_reduce(large)
        local right = large:equal(torch.arange(3000001):remainder(1000):float() * 6)
        print(('%d of %d: %s %s %s'):format(rank, size, table.concat(x:tolist(), ' '), table.concat(y:tolist(), ' '), right))
        dist.destroy_process_group()
      ]])
      assert.equal(0, status, errors)
      assert.same({ '0 of 3: 6.0 6.0 6.0 6.0 20 21 22 true', '1 of 3: 6.0 6.0 6.0 6.0 20 21 22 true',
        '2 of 3: 6.0 6.0 6.0 6.0 20 21 22 true' }, lines(output))
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

    it('names a rank that is silent, and what it did last', function()
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
