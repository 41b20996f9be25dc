-- Training over ranks: DistributedDataParallel and its options, in worlds that live in this process. What waits inside of backward
-- (SyncBatchNorm) needs processes: distributed_mpi_spec.lua.

local torch = require 'torch'
local nn = torch.nn
local dist = torch.distributed
local fake = require 'torch.distributed.fake'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local DDP = nn.parallel.DistributedDataParallel
local hooks = dist.algorithms.ddp_comm_hooks.default_hooks

local function run(size, f)
  local results, errors = fake.run(size, f)
  local _, message = next(errors)
  if message then error(message, 0) end
  return results
end

local function generator(seed) return torch.Generator():manual_seed(seed) end

-- The same on every call; parameters of their own size, so that buckets hold more than one.
local function model()
  torch.manual_seed(1)
  return nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 3)):to(device)
end

local function batch(rank, step) return torch.randn(4, 6, { generator = generator(10 * step + rank) }):to(device) end
local function loss_of(net, rank, step) return net(batch(rank, step)):pow(2):mean() end

local function gradients(net)
  local list = {}
  for i, p in ipairs(net:parameters()) do list[i] = p.grad and p.grad:cpu():clone() or false end
  return list
end

-- The gradients that one process has for the mean of the ranks' losses, by summing in their order.
local function expected(size, step, transform)
  local net, sums = model(), {}
  for rank = 0, size - 1 do
    net:zero_grad()
    loss_of(net, rank, step):backward()
    for i, p in ipairs(net:parameters()) do
      local grad = transform and transform(p.grad) or p.grad
      sums[i] = sums[i] and sums[i] + grad or grad:clone()
    end
  end
  for i, sum in ipairs(sums) do sums[i] = (sum / size):cpu() end
  return sums
end

local function same(a, b, what)
  assert.equal(#a, #b)
  for i = 1, #a do assert.is_true(a[i]:equal(b[i]), ('%s: parameter %d'):format(what or '', i)) end
end

local function close(a, b, tolerance)
  for i = 1, #a do assert.is_true(a[i]:allclose(b[i], { rtol = tolerance, atol = tolerance }), 'parameter ' .. i) end
end

-- Two parts of which a loss may use one.
local Two = nn.Module:extend 'Two'
function Two:init() self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2) end
function Two:forward(x, which) return self[which](x) end

local function two()
  torch.manual_seed(3)
  return Two():to(device)
end
local function ones() return torch.ones(1, 2, { device = device }) end

describe('DistributedDataParallel', function()
  for _, options in ipairs { {}, { gradient_as_bucket_view = true }, { static_graph = true }, { static_graph = true, gradient_as_bucket_view = true },
    { find_unused_parameters = true, gradient_as_bucket_view = true } } do
    local names = {}
    for name in pairs(options) do names[#names + 1] = name end
    table.sort(names)
    it('gives the mean of the ranks, bit for bit' .. (#names > 0 and ', with ' .. table.concat(names, ' and ') or ''), function()
      options.bucket_cap_mb = 0.003
      local results = run(3, function(rank)
        local net, all = DDP(model(), options), {}
        for step = 1, 3 do
          net:zero_grad()
          loss_of(net, rank, step):backward()
          all[step] = gradients(net)
        end
        assert.is_true(#net.reducer.buckets > 1)
        if options.gradient_as_bucket_view then
          local bucket = net.reducer.buckets[1]
          assert.equal(bucket.flat:data_ptr(), net.reducer.parameters[bucket.places[1]].grad:data_ptr())
        end
        return all
      end)
      for rank = 0, 2 do
        for step = 1, 3 do same(expected(3, step), results[rank][step], ('rank %d step %d'):format(rank, step)) end
      end
    end)
  end

  it('no_sync accumulates gradients, which the next backward reduces', function()
    for _, view in ipairs { false, true } do
      local results = run(2, function(rank)
        local net = DDP(model(), { gradient_as_bucket_view = view })
        for _ = 1, 2 do -- the second time gradients are there, as views or not
          net:zero_grad { set_to_none = false }
          net:no_sync(function() loss_of(net, rank, 1):backward() end)
          loss_of(net, rank, 2):backward()
        end
        return gradients(net)
      end)
      local first, second = expected(2, 1), expected(2, 2)
      for i, grad in ipairs(results[0]) do assert.is_true(grad:allclose(first[i] + second[i], { rtol = 1e-5, atol = 1e-7 })) end
      same(results[0], results[1])
    end
  end)

  it('DistributedDataParallel copies the buffers of rank 0 to all ranks', function()
    run(2, function(rank)
      local net = DDP(nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)):to(device))
      for step = 1, 2 do net(torch.randn(5, 3, { generator = generator(rank + 2 * step) }):to(device)):sum():backward() end
      net(torch.zeros(5, 3, { device = device })) -- before it, the buffers of rank 0
      local mine = net.module[1].running_mean:clone()
      local first = mine:clone()
      dist.broadcast(first, 0)
      assert.is_true(first:equal(mine))
    end)
  end)

  it('names the parameters that had no part in a loss as backward ends', function()
    run(2, function()
      local net = DDP(two())
      local loss = net(ones(), 'a'):sum()
      assert.error_matches(function() loss:backward() end, 'had no part in the loss on rank %d: b.bias, b.weight. Where that is meant, find_unused')
    end)
  end)

  it('unused parameters are found in each backward, or in the first one of a static graph', function()
    run(2, function(rank)
      for _, options in ipairs { { find_unused_parameters = true }, { static_graph = true } } do
        local net = DDP(two(), options)
        for _ = 1, 2 do
          net:zero_grad()
          net(ones(), rank == 0 and 'a' or 'b'):sum():backward()
          assert.is_true(net.module.a.weight.grad:eq(0.5):all():item() and net.module.b.weight.grad:eq(0.5):all():item())
        end
      end
      local net = DDP(two(), { static_graph = true })
      for _ = 1, 2 do
        net:zero_grad()
        net(ones(), 'b'):sum():backward()
        assert.is_nil(net.module.a.weight.grad)
        assert.is_true(net.module.b.weight.grad:eq(1):all():item())
      end
    end)
  end)

  it('the plan puts neighbours of one dtype into a bucket of at most the given size', function()
    local function sizes(parameters, bytes)
      local list = {}
      for b, bucket in ipairs(require('torch.distributed.reducer').plan(parameters, bytes)) do list[b] = #bucket end
      return list
    end
    local floats, doubles = {}, {}
    for i = 1, 5 do floats[i], doubles[i] = torch.ones(4), torch.ones(4):double() end
    assert.same({ 5 }, sizes(floats, 80))
    assert.same({ 4, 1 }, sizes(floats, 79))
    assert.same({ 1, 1, 1, 1, 1 }, sizes(floats, 15)) -- each is larger than a bucket
    assert.same({ 2, 3, 1 }, sizes({ floats[1], floats[2], doubles[1], doubles[2], doubles[3], floats[3] }, 1000))
    if torch.cuda.is_available() then assert.same({ 1, 2 }, sizes({ floats[1], torch.ones(4, { device = 'cuda' }), torch.ones(4, { device = 'cuda' }) }, 1000)) end
  end)

  it('returns each value of its module, also nil', function()
    local Several = nn.Module:extend 'Several'
    function Several:init() self.layer = nn.Linear(2, 2) end
    function Several:forward(x) return self.layer(x), nil, { x }, 'last', nil end
    run(2, function()
      for _, options in ipairs { {}, { static_graph = true }, { find_unused_parameters = true } } do
        local net, x = DDP(Several():to(device), options), ones()
        for _, sync in ipairs { true, false } do
          net.require_backward_grad_sync = sync
          local values = table.pack(net(x))
          assert.equal(5, values.n)
          assert.same({ x, 'last' }, { values[3][1], values[4] })
          values[1]:sum():backward()
        end
      end
    end)
  end)

  it('DistributedDataParallel releases its module', function()
    run(1, function()
      local net = model()
      local held = setmetatable({ DDP(net) }, { __mode = 'v' })
      loss_of(held[1], 0, 1):backward()
      local first = gradients(net)
      collectgarbage()
      collectgarbage()
      assert.is_nil(held[1])
      for _, p in ipairs(net:parameters()) do p.grad = nil end
      loss_of(net, 0, 1):backward()
      same(first, gradients(net))
    end)
  end)

  it('takes no gradient for a parameter twice, unless the graph is static', function()
    local Inside = torch.autograd.Function:extend 'Inside' -- its layer is run again in a backward of its own
    function Inside.forward(ctx, x, layer)
      ctx:save_for_backward(x)
      ctx.layer = layer
      return layer(x)
    end
    function Inside.backward(ctx, grad)
      local x = ctx.saved_tensors[1]:detach():requires_grad_()
      torch.enable_grad(function() ctx.layer(x):backward(grad) end)
      return x.grad, nil
    end
    local Again = nn.Module:extend 'Again'
    function Again:init() self.layer = nn.Linear(2, 2) end
    function Again:forward(x) return Inside.apply(Inside.apply(x, self.layer), self.layer) end
    local function build()
      torch.manual_seed(4)
      return Again():to(device)
    end
    local function input(rank) return torch.full({ 1, 2 }, rank + 1.0, { device = device }):requires_grad_() end
    run(2, function(rank)
      local net = DDP(build())
      assert.error_matches(function() net(input(rank)):sum():backward() end, "Expected to mark a variable ready only once: parameter 'layer.")
    end)
    local results = run(2, function(rank)
      local net = DDP(build(), { static_graph = true })
      for _ = 1, 2 do
        net:zero_grad()
        net(input(rank)):sum():backward()
      end
      return gradients(net)
    end)
    local sums = {}
    for rank = 0, 1 do
      local net = build()
      net(input(rank)):sum():backward()
      for i, p in ipairs(net:parameters()) do sums[i] = (sums[i] or 0) + p.grad:cpu() / 2 end
    end
    same(sums, results[0])
  end)

  describe('with a communication hook', function()
    local function trained(size, state, hook, options)
      return run(size, function(rank)
        local net = DDP(model(), options or { bucket_cap_mb = 0.003 })
        net:register_comm_hook(state, hook)
        local all = {}
        for step = 1, 2 do
          net:zero_grad()
          loss_of(net, rank, step):backward()
          all[step] = gradients(net)
        end
        return all
      end)
    end

    it('gives the mean as without one', function()
      for _, view in ipairs { false, true } do
        local results = trained(2, nil, hooks.allreduce_hook, { bucket_cap_mb = 0.003, gradient_as_bucket_view = view })
        for step = 1, 2 do same(expected(2, step), results[1][step]) end
      end
    end)

    it('sends gradients as bfloat16 or float16', function()
      for name, dtype in pairs { bf16_compress_hook = torch.bfloat16, fp16_compress_hook = torch.float16 } do
        local results = trained(2, nil, hooks[name])
        for step = 1, 2 do
          -- one rounding as it goes out, sums in float, one at the end
          local wanted = expected(2, step, function(grad) return grad:to(dtype):float() end)
          for i, grad in ipairs(wanted) do wanted[i] = grad:to(dtype):float() end
          same(wanted, results[0][step], name)
        end
        local wrapped = trained(2, nil, hooks[name:gsub('hook', 'wrapper')](hooks.allreduce_hook))
        for step = 1, 2 do same(results[0][step], wrapped[1][step], name) end
      end
    end)

    it('a communication hook receives the buckets in order with their gradients', function()
      local seen = {}
      trained(2, seen, function(state, bucket)
        state[#state + 1] = { bucket:index(), bucket:is_last() }
        local elements = 0
        for i, gradient in ipairs(bucket:gradients()) do
          assert.same({ table.unpack(bucket:parameters()[i].shape) }, { table.unpack(gradient.shape) })
          elements = elements + gradient:numel()
        end
        assert.equal(elements, bucket:buffer():numel())
        local work = dist.all_reduce(bucket:buffer(), { async_op = true })
        return work:get_future():next(function(future) return future:value()[1]:mul_(0) end)
      end)
      assert.same({ 1, false }, seen[1])
      assert.equal(true, seen[#seen][2])
      local zeros = trained(1, nil, function(_, bucket)
        bucket:set_buffer(torch.zeros_like(bucket:buffer()))
        return hooks.allreduce_hook(nil, bucket)
      end)
      for _, grad in ipairs(zeros[0][1]) do assert.equal(0, grad:abs():sum():item()) end
    end)

    it('is one, and returns a Future of as many elements', function()
      run(1, function()
        local net = DDP(model())
        net:register_comm_hook(nil, hooks.allreduce_hook)
        assert.error_matches(function() net:register_comm_hook(nil, hooks.allreduce_hook) end, 'register_comm_hook can only be called once')
        net = DDP(model())
        net:register_comm_hook(nil, function() return 3 end)
        assert.error_matches(function() loss_of(net, 0, 1):backward() end, 'a communication hook must return a Future, got number')
      end)
    end)
  end)

  describe('where ranks have different numbers of batches', function()
    -- rank r has r + 1
    local function train(rank, size, net_options, join_options)
      local net = DDP(model(), net_options)
      local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1 })
      net:join(join_options or {}, function()
        for step = 1, rank + 1 do
          optimizer:zero_grad()
          loss_of(net, rank, step):backward()
          optimizer:step()
        end
      end)
      assert.is_nil(net._join)
      dist.barrier()
      local values = {}
      for i, p in ipairs(net:parameters()) do values[i] = p:detach():cpu() end
      return values, size
    end

    -- One process that divides by the number of all ranks, or of those that have a batch.
    local function alone(size, by_all)
      local net = model()
      local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1 })
      for step = 1, size do
        local sums, n = {}, 0
        for rank = step - 1, size - 1 do
          net:zero_grad()
          loss_of(net, rank, step):backward()
          for i, p in ipairs(net:parameters()) do sums[i] = sums[i] and sums[i] + p.grad or p.grad:clone() end
          n = n + 1
        end
        for i, p in ipairs(net:parameters()) do p.grad = sums[i] / (by_all and size or n) end
        optimizer:step()
      end
      local values = {}
      for i, p in ipairs(net:parameters()) do values[i] = p:detach():cpu() end
      return values
    end

    for _, options in ipairs { {}, { gradient_as_bucket_view = true }, { static_graph = true }, { find_unused_parameters = true } } do
      it('ranks with fewer batches participate until the others finish' .. (next(options) and ', with ' .. next(options) or ''), function()
        options.bucket_cap_mb = 0.003
        for _, by_all in ipairs { true, false } do
          local results = run(3, function(rank, size) return (train(rank, size, options, { divide_by_initial_world_size = by_all })) end)
          local wanted = alone(3, by_all)
          for rank = 0, 2 do close(wanted, results[rank], 1e-6) end
          same(results[0], results[2])
        end
      end)
    end

    it('join supports an optimizer with sharded state', function()
      local results = run(3, function(rank)
        local net = DDP(model(), { bucket_cap_mb = 0.003 })
        local optimizer = dist.optim.ZeroRedundancyOptimizer(net:parameters(), torch.optim.SGD, { lr = 0.1 })
        dist.algorithms.Join({ net, optimizer }, {}, function()
          for step = 1, rank + 1 do
            optimizer:zero_grad()
            loss_of(net, rank, step):backward()
            optimizer:step()
          end
        end)
        local values = {}
        for i, p in ipairs(net:parameters()) do values[i] = p:detach():cpu() end
        return values
      end)
      local wanted = alone(3, true)
      for rank = 0, 2 do close(wanted, results[rank], 1e-6) end
      -- alone it says itself that a rank goes on
      local steps = run(2, function(rank)
        local p = nn.Parameter(torch.zeros(600, { device = device }))
        local optimizer = dist.optim.ZeroRedundancyOptimizer({ p }, torch.optim.SGD, { lr = 1 })
        p.grad = torch.ones(600, { device = device })
        dist.algorithms.Join({ optimizer }, {}, function()
          for _ = 1, rank + 1 do optimizer:step() end
        end)
        return p:detach():cpu()
      end)
      for rank = 0, 1 do assert.is_true(steps[rank]:equal(torch.full({ 600 }, -2.0)), rank) end
    end)

    it('has steps that bring nothing together, and buffers', function()
      run(2, function(rank)
        local net = DDP(nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)):to(device))
        do
          local _ <close> = net:join()
          for step = 1, 2 + 2 * rank do
            local function go() net(torch.randn(5, 3, { generator = generator(rank + step) }):to(device)):sum():backward() end
            if step % 2 == 1 then net:no_sync(go) else go() end
          end
        end
        local mine = net.module[1].running_mean:clone()
        local last = mine:clone()
        dist.broadcast(last, 1)
        assert.is_true(mine:equal(last))
      end)
    end)

    it('can be an error on all instead', function()
      local _, errors = fake.run(2, function(rank, size) train(rank, size, {}, { throw_on_early_termination = true }) end)
      for rank = 0, 1 do assert.matches('Detected at least one rank that exhausted inputs. Throwing across all ranks.', errors[rank], 1, true) end
    end)
  end)
end)
