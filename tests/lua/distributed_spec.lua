-- torch.distributed: what the operations compute, for every dtype, layout and number of ranks, in worlds that live in this process
-- (torch.distributed.fake). distributed_mpi_spec.lua has the processes.

local torch = require 'torch'
local dist = torch.distributed
local fake = require 'torch.distributed.fake'

local dtypes = { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64' }
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- What f returns on each rank, from 0; an error of any rank is an error.
local function run(size, f, timeout)
  local results, errors = fake.run(size, f, timeout)
  local _, message = next(errors)
  if message then error(message, 0) end
  return results
end

-- The same numbers on every call: those of one rank.
local function numbers(rank, shape, dtype)
  local generator = torch.Generator()
  generator:manual_seed(100 + rank)
  return torch.randint(0, dtype == 'bool' and 2 or 7, shape, { generator = generator }):to(torch[dtype])
end

-- The same values in a tensor that is laid out otherwise, and the tensor that the gaps belong to.
local layouts = {
  contiguous = function(t) return t:clone() end,
  transposed = function(t) return t:transpose(1, 2):contiguous():transpose(1, 2) end,
  gaps = function(t)
    local wide = torch.full({ t:size(1), 2 * t:size(2) }, 1, { dtype = t.dtype, device = t.device })
    local view = wide[{ {}, { 1, -1, 2 } }]
    view:copy_(t)
    return view
  end,
}

local function elementwise(op, list)
  local wide = {}
  for i, t in ipairs(list) do wide[i] = t.dtype == torch.bool and t:to(torch.int64) or t:is_floating_point() and t:double() or t end
  local result = wide[1]
  for i = 2, #wide do
    local t = wide[i]
    if op == 'SUM' or op == 'AVG' then result = result + t
    elseif op == 'PRODUCT' then result = result * t
    elseif op == 'MIN' then result = torch.minimum(result, t)
    elseif op == 'MAX' then result = torch.maximum(result, t)
    elseif op == 'BAND' then result = result & t
    elseif op == 'BOR' then result = result | t
    else result = result:bitwise_xor(t) end
  end
  if op == 'AVG' then result = result / #list end
  return result:to(list[1].dtype)
end

local function inputs_of(size, shape, dtype)
  local list = {}
  for rank = 0, size - 1 do list[rank + 1] = numbers(rank, shape, dtype) end
  return list
end

describe('torch.distributed', function()
  describe('all_reduce', function()
    for _, dtype in ipairs(dtypes) do
      it('reduces ' .. dtype .. ' of any layout, in every way, on 1 to 4 ranks', function()
        local is_float = torch[dtype].is_floating_point
        for size = 1, 4 do
          for _, op in ipairs { 'SUM', 'AVG', 'PRODUCT', 'MIN', 'MAX', 'BAND', 'BOR', 'BXOR' } do
            local fits = op:find '^B' and not is_float or op == 'AVG' and is_float or not op:find '^B' and op ~= 'AVG'
            if fits then
              local expected = elementwise(op, inputs_of(size, { 3, 5 }, dtype))
              for name, lay in pairs(layouts) do
                run(size, function(rank)
                  local x = lay(numbers(rank, { 3, 5 }, dtype):to(device))
                  dist.all_reduce(x, dist.ReduceOp[op])
                  assert.is_true(x:cpu():equal(expected), ('%s %s %s on %d ranks'):format(op, dtype, name, size))
                end)
              end
            end
          end
        end
      end)
    end

    it('sums complex numbers, and has no other way to reduce them', function()
      for _, dtype in ipairs { 'complex64', 'complex128' } do
        run(3, function(rank)
          local function number(real, imaginary) return torch.complex(torch.tensor { real, -real }, torch.tensor { imaginary, 1.0 }):to(torch[dtype]):to(device) end
          local x, mean = number(rank + 1.0, 2.0), number(rank + 0.0, 6.0)
          dist.all_reduce(x)
          assert.is_true(x:cpu():equal(torch.complex(torch.tensor { 6.0, -6.0 }, torch.tensor { 6.0, 3.0 }):to(torch[dtype])), dtype)
          dist.all_reduce(mean, dist.ReduceOp.AVG)
          assert.is_true(mean:cpu():equal(number(1.0, 6.0):cpu()), dtype)
          assert.error_matches(function() dist.all_reduce(x, dist.ReduceOp.MAX) end, 'ReduceOp.MAX needs a real dtype', 1, true)
        end)
      end
    end)

    it('reduces unsigned integers, which wrap', function()
      for _, dtype in ipairs { 'uint16', 'uint32', 'uint64' } do
        run(2, function(rank)
          local function pair(a, b) return torch.tensor({ a, b }, { dtype = torch[dtype], device = device }) end
          for op, expected in pairs { SUM = pair(-3, 6), PRODUCT = pair(2, 8), MIN = pair(-2, 2), MAX = pair(-1, 4), BAND = pair(-2, 0), BXOR = pair(1, 6) } do
            local x = rank == 0 and pair(-1, 2) or pair(-2, 4)
            dist.all_reduce(x, dist.ReduceOp[op])
            assert.is_true(x:equal(expected), dtype .. ' ' .. op)
          end
        end)
      end
    end)

    it('gives the same bits for few elements and for many, in the order of the ranks', function()
      local n = 50001 -- chunks are exchanged
      local generator = torch.Generator()
      generator:manual_seed(3)
      local all = torch.randn(4, n, { generator = generator })
      local expected = ((all[1] + all[2]) + all[3]) + all[4]
      run(4, function(rank)
        local many = all[rank + 1]:clone()
        dist.all_reduce(many)
        assert.is_true(many:equal(expected))
        local few = all[rank + 1][{ { 100, 109 } }]:clone()
        dist.all_reduce(few)
        assert.is_true(few:equal(expected[{ { 100, 109 } }]))
      end)
    end)

    it('goes by segments where there is much', function()
      local n = 5000000
      run(2, function(rank)
        local x = torch.arange(n, { dtype = torch.int64 }) * (rank + 1)
        dist.all_reduce(x)
        assert.is_true(x:equal(torch.arange(n) * 3))
        x = torch.arange(n, { dtype = torch.int64 }) * (rank + 1)
        dist.reduce(x, 1)
        assert.is_true(x:equal(torch.arange(n) * (rank == 1 and 3 or 1)))
        local half = torch.zeros(n // 2, { dtype = torch.int64 })
        dist.reduce_scatter_tensor(half, torch.arange(n) * (rank + 1))
        assert.is_true(half:equal((torch.arange(n // 2) + rank * n // 2) * 3))
      end)
    end)

    it('sums half types in float', function()
      run(4, function(rank)
        local x = torch.tensor({ rank == 0 and 2048 or 1 }, { dtype = torch.float16 }) -- 2048 + 1 is 2048 in float16
        dist.all_reduce(x)
        assert.equal(2052, x:item()) -- 2051 to the nearest even
      end)
    end)

    it('keeps nan in MIN and MAX', function()
      run(2, function(rank)
        local x = torch.tensor { rank == 0 and 0 / 0 or 1, rank == 1 and 0 / 0 or 1 }
        dist.all_reduce(x, { op = dist.ReduceOp.MIN })
        assert.is_true(x:isnan():all():item())
      end)
    end)

    it('all_reduce rejects operations that the dtype does not support', function()
      run(1, function()
        assert.error_matches(function() dist.all_reduce(torch.ones(2, { dtype = torch.int64 }), dist.ReduceOp.AVG) end,
          'ReduceOp.AVG needs a floating point dtype, got Long', 1, true)
        assert.error_matches(function() dist.all_reduce(torch.ones(2), dist.ReduceOp.BXOR) end,
          'ReduceOp.BXOR needs an integer dtype or bool, got Float', 1, true)
        assert.error_matches(function() dist.all_reduce(torch.ones(2), 'sum') end, 'must be a ReduceOp', 1, true)
      end)
    end)

    it('has nothing to do for empty tensors', function()
      run(3, function()
        local x = torch.zeros(0, 4, { device = device })
        dist.all_reduce(x)
        assert.same({ 0, 4 }, { x:size(1), x:size(2) })
      end)
    end)
  end)

  it('broadcasts, reduces to one rank and gathers in every layout', function()
    for name, lay in pairs(layouts) do
      for size = 1, 4 do
        local inputs = inputs_of(size, { 2, 3 }, 'float32')
        run(size, function(rank)
          local root = size - 1
          local x = lay(inputs[rank + 1]:to(device))
          dist.reduce(x, root)
          local expected = rank == root and elementwise('SUM', inputs) or inputs[rank + 1]
          assert.is_true(x:cpu():equal(expected), name)
          x = lay(inputs[rank + 1]:to(device))
          dist.broadcast(x, root)
          assert.is_true(x:cpu():equal(inputs[root + 1]), name)
          x = lay(inputs[rank + 1]:to(device))
          local all = lay(torch.zeros(size * 2, 3, { device = device }))
          dist.all_gather_into_tensor(all, x)
          assert.is_true(all:cpu():equal(torch.cat(inputs)), name)
        end)
      end
    end
  end)

  it('reduces and scatters', function()
    for size = 1, 4 do
      local inputs = inputs_of(size, { size * 3, 2 }, 'int32')
      local expected = elementwise('MAX', inputs):chunk(size)
      run(size, function(rank)
        local out = torch.zeros(3, 2, { dtype = torch.int32 })
        dist.reduce_scatter_tensor(out, inputs[rank + 1], dist.ReduceOp.MAX)
        assert.is_true(out:equal(expected[rank + 1]))
        out:zero_()
        dist.reduce_scatter(out, inputs[rank + 1]:chunk(size), dist.ReduceOp.MAX)
        assert.is_true(out:equal(expected[rank + 1]))
      end)
    end
  end)

  it('gathers and scatters lists', function()
    run(3, function(rank)
      local list = { torch.zeros(2), torch.zeros(1, 2), torch.zeros(2) }
      dist.all_gather(list, torch.tensor { rank, 10.0 * rank })
      assert.same({ { 0, 0 }, { { 1, 10 } }, { 2, 20 } }, { list[1]:tolist(), list[2]:tolist(), list[3]:tolist() })
      local mine = torch.zeros(2)
      dist.scatter(mine, rank == 1 and list or nil, 1)
      assert.same({ rank, 10 * rank }, mine:tolist())
      local got = rank == 2 and { torch.zeros(2), torch.zeros(2), torch.zeros(2) } or nil
      dist.gather(mine + 1, got, 2)
      if got then assert.same({ 3, 21 }, got[3]:tolist()) end
    end)
  end)

  it('exchanges equal and unequal parts', function()
    run(3, function(rank)
      local x, y = torch.arange(6) + 10 * rank, torch.zeros(6, { dtype = torch.int64 })
      dist.all_to_all_single(y, x)
      local expected = {}
      for from = 0, 2 do
        for i = 0, 1 do expected[#expected + 1] = 10 * from + 2 * rank + i end
      end
      assert.same(expected, y:tolist())
      -- rank r gives r + 1 rows to each
      local given = torch.full({ 3 * (rank + 1), 2 }, rank)
      local got = torch.full({ 6, 2 }, -1)
      dist.all_to_all_single(got, given, { 1, 2, 3 }, { rank + 1, rank + 1, rank + 1 })
      assert.same({ 0, 1, 1, 2, 2, 2 }, got[{ {}, 1 }]:tolist())
      local out = { torch.zeros(1), torch.zeros(1), torch.zeros(1) }
      dist.all_to_all(out, { torch.tensor { rank + 0.1 }, torch.tensor { rank + 0.2 }, torch.tensor { rank + 0.3 } })
      assert.near(2 + (rank + 1) / 10, out[3]:item(), 1e-6)
    end)
  end)

  it('sends and receives, in order, with tags and from whomever', function()
    run(3, function(rank)
      if rank == 0 then
        dist.send(torch.tensor { 1, 2 }, 1)
        dist.send(torch.tensor { 3, 4 }, 1)
        dist.send(torch.tensor { 5, 6 }, 1, { tag = 7 })
        local x = torch.zeros(1)
        assert.equal(2, dist.recv(x))
        assert.equal(9, x:item())
      elseif rank == 1 then
        local x, y = torch.zeros(2, { dtype = torch.int64 }), torch.zeros(2, 2, { dtype = torch.int64 })
        dist.recv(x, 0, nil, 7)
        assert.same({ 5, 6 }, x:tolist())
        local first, second = dist.irecv(y[{ {}, 1 }], 0), dist.irecv(y[{ {}, 2 }], 0)
        second:wait()
        first:wait()
        assert.same({ { 1, 3 }, { 2, 4 } }, y:tolist())
      else
        dist.isend(torch.tensor { 9.0 }, 0):wait()
      end
    end)
  end)

  it('takes objects that are no tensors', function()
    run(3, function(rank)
      local list = {}
      dist.all_gather_object(list, { rank = rank, text = ('x'):rep(rank), tensor = torch.arange(rank, { device = device }) })
      assert.equal('xx', list[3].text)
      assert.same({ 0, 1 }, list[3].tensor:tolist())
      assert.equal(1, list[2].rank)
      local objects = rank == 1 and { 'a', { 1, 2 }, true } or { 0, 0, 0 }
      dist.broadcast_object_list(objects, 1)
      assert.same({ 'a', { 1, 2 }, true }, objects)
      local mine = {}
      dist.scatter_object_list(mine, rank == 2 and { 'zero', 'one', 'two' } or nil, 2)
      assert.equal(({ 'zero', 'one', 'two' })[rank + 1], mine[1])
      local got = rank == 0 and {} or nil
      dist.gather_object(rank * 2, got)
      assert.same(rank == 0 and { 0, 2, 4 } or nil, got)
      assert.error_matches(function() dist.broadcast_object_list({ print }, rank) end, 'function', 1, true)
    end)
  end)

  it('gives a Work for async_op', function()
    run(2, function(rank)
      local x = torch.ones(2, 2):t()
      local work = dist.all_reduce(x, { async_op = true })
      if rank == 0 then
        while not work:is_completed() do end
      else
        assert.is_true(work:wait(5))
      end
      assert.is_true(work:is_success())
      assert.same({ { 2, 2 }, { 2, 2 } }, x:tolist())
      assert.is_nil(dist.barrier())
      dist.all_reduce(x, {}) -- names of which none is given
      assert.equal(16, x:sum():item())
      work = dist.broadcast(x, { src = 0, async_op = true })
      local half = work:get_future():next(function(future) return future:value()[1] / 2 end)
      assert.equal(8, half:wait():sum():item())
      assert.is_true(half:done())
    end)
  end)

  it('has groups with numbers of their own', function()
    run(4, function(rank)
      local odd = dist.new_group { 3, 1 }
      local all = dist.new_group()
      local member = rank % 2 == 1
      assert.equal(member and (rank - 1) / 2 or -1, dist.get_rank(odd))
      assert.equal(member and 2 or -1, dist.get_world_size(odd))
      local x = torch.tensor { rank }
      dist.all_reduce(x, { group = odd })
      assert.equal(member and 4 or rank, x:item())
      if member then
        assert.same({ 1, 3 }, dist.get_process_group_ranks(odd))
        assert.equal(1, dist.get_group_rank(odd, 3))
        assert.equal(3, dist.get_global_rank(odd, 1))
        dist.broadcast(x:fill_(rank), 3, odd)
        assert.equal(3, x:item())
      else
        assert.equal(dist.GroupMember.NON_GROUP_MEMBER, odd)
      end
      dist.all_reduce(x, { group = all })
    end)
  end)

  it('works with hundreds of ranks', function()
    local results = run(256, function(rank, size)
      local x = torch.arange(1000) + rank
      dist.all_reduce(x)
      return x:equal(torch.arange(1000) * size + size * (size - 1) // 2)
    end)
    for rank = 0, 255 do assert.is_true(results[rank]) end
  end)

  it('traffic lists transfers by operation and line', function()
    run(3, function(rank)
      dist.reset_traffic()
      local x, all = torch.ones(100), torch.zeros(300)
      for _ = 1, 4 do dist.all_reduce(x) end
      dist.all_gather_into_tensor(all, torch.ones(100))
      local work = dist.broadcast(x, { src = 0, async_op = true })
      local ledger = dist.traffic()
      assert.same({ 3, 6, 4 * 400 + 1200 + 400 }, { #ledger, ledger.count, ledger.bytes })
      assert.equal('all_reduce', ledger[1].cause)
      assert.matches('distributed_spec.lua:%d+$', ledger[1].origin)
      assert.is_true(ledger[1].seconds > 0)
      assert.equal(0, ledger[3].seconds) -- not waited for yet
      work:wait()
      assert.is_true(dist.traffic('broadcast').seconds > 0)
      assert.equal(1, dist.traffic('all_gather_into_tensor').count)
      assert.matches('all_reduce +4 +1.6 KiB +%d+%.%d+ ms  .*distributed_spec', tostring(ledger))
      dist.reset_traffic()
      assert.equal(0, dist.traffic().count)
    end)
  end)

  it('the profiler shows all_reduce beside computing ops', function()
    run(2, function(rank)
      if rank == 1 then return dist.all_reduce(torch.ones(1000)) end
      local prof = torch.profiler.profile(function()
        local work = dist.all_reduce(torch.ones(1000), { async_op = true })
        torch.ones(10):sum()
        work:wait()
      end)
      local events = prof:events()
      local last = events[#events]
      assert.same({ 'dist.all_reduce', 'communication', 4000 }, { last.name, last.kind, last.copied })
      assert.is_true(last.start >= 0 and last.time > 0)
      local path = os.tmpname()
      prof:export_chrome_trace(path)
      local text = io.open(path):read 'a'
      os.remove(path)
      assert.matches('"cat":"communication","name":"dist.all_reduce","pid":"ranks"', text, 1, true)
    end)
  end)

  describe('that goes wrong', function()
    local function errors_of(size, f, timeout)
      local _, errors = fake.run(size, f, timeout or 0.2)
      return errors
    end

    it('an error names the rank that called another operation, and that operation', function()
      local errors = errors_of(3, function(rank)
        dist.barrier()
        if rank == 2 then dist.broadcast(torch.ones(2), 0) else dist.all_reduce(torch.ones(4)) end
      end)
      for rank = 0, 2 do
        assert.matches('Detected mismatch between collectives on ranks', errors[rank], 1, true)
        assert.matches('broadcast (sequence 2, Float [2], root 0)', errors[rank], 1, true)
        assert.matches('all_reduce (sequence 2, Float [4], SUM)', errors[rank], 1, true)
      end
    end)

    it('an error names the ranks with different dtypes, and both dtypes', function()
      local errors = errors_of(2, function(rank) dist.all_reduce(rank == 0 and torch.ones(4) or torch.ones(4):double()) end)
      for rank = 0, 1 do
        assert.matches('Detected mismatch between collectives on ranks', errors[rank], 1, true)
        assert.matches('all_reduce (sequence 1, Float [4], SUM)', errors[rank], 1, true)
        assert.matches('all_reduce (sequence 1, Double [4], SUM)', errors[rank], 1, true)
      end
    end)

    it('names another group', function()
      local errors = errors_of(2, function(rank)
        local one, two = dist.new_group(), dist.new_group()
        dist.barrier(rank == 0 and one or two)
      end)
      for rank = 0, 1 do
        assert.matches('barrier (sequence 1, group 1)', errors[rank], 1, true)
        assert.matches('barrier (sequence 1, group 2)', errors[rank], 1, true)
      end
    end)

    it('names another shape', function()
      local errors = errors_of(2, function(rank) dist.all_reduce(torch.ones(rank == 0 and 4 or 5)) end)
      for rank = 0, 1 do
        assert.matches('all_reduce (sequence 1, Float [4], SUM)', errors[rank], 1, true)
        assert.matches('all_reduce (sequence 1, Float [5], SUM)', errors[rank], 1, true)
      end
    end)

    it('later operations fail with the same message', function()
      local errors = errors_of(2, function(rank)
        if rank == 1 then return end
        assert.is_false(pcall(dist.barrier))
        dist.all_reduce(torch.ones(1))
      end)
      assert.matches('all_reduce (sequence 2, Float [1], SUM) on rank 0: barrier (sequence 1) on rank 0: timed out', errors[0], 1, true)
    end)

    it('a message that is larger than its buffer is an error', function()
      local errors = errors_of(2, function(rank)
        if rank == 0 then dist.send(torch.ones(3), 1) else dist.recv(torch.zeros(2), 0) end
      end)
      assert.matches('recv: rank 0 has sent 12 bytes where 8 were expected', errors[1], 1, true)
    end)

    it('refuses arguments before anything is sent', function()
      run(2, function()
        local function fails(text, f, ...) assert.error_matches(f, text, 1, true, ...) end
        fails('output tensor size must be equal', function() dist.all_gather_into_tensor(torch.ones(3), torch.ones(1)) end)
        fails('input tensor must be the same size', function() dist.reduce_scatter_tensor(torch.ones(3), torch.ones(3)) end)
        fails('tensors of one dtype', function() dist.all_gather_into_tensor(torch.ones(2), torch.ones(1):long()) end)
        fails('Global rank 5 is not part of group', function() dist.broadcast(torch.ones(1), 5) end)
        fails("argument 'src' must be given", function() dist.broadcast(torch.ones(1)) end)
        fails('does not divide equally', function() dist.all_to_all_single(torch.ones(3), torch.ones(3)) end)
        fails("Split sizes doesn't match", function() dist.all_to_all_single(torch.ones(3), torch.ones(3), { 1, 2 }, { 1, 1 }) end)
        fails("tensor' must be a Tensor", function() dist.all_reduce(3) end)
        fails("unexpected keyword argument 'asynch'", function() dist.all_reduce(torch.ones(1), { asynch = true }) end)
      end)
    end)
  end)

  it('is not there before init_process_group', function()
    assert.is_false(dist.is_initialized())
    assert.is_true(dist.is_available())
    assert.error_matches(function() dist.get_rank() end, 'Default process group has not been initialized', 1, true)
    assert.error_matches(function() dist.all_reduce(torch.ones(1)) end, 'Default process group has not been initialized', 1, true)
    assert.error_matches(function() dist.init_process_group 'carrier pigeons' end, "unknown backend 'carrier pigeons'", 1, true)
  end)
end)
