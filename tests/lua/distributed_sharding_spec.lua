-- ZeRO: what ranks keep a part of alone. ZeroRedundancyOptimizer and the plans of hundreds of ranks, in worlds that live in this process;
-- fully_shard gathers inside of backward and needs processes.

local torch = require 'torch'
local nn = torch.nn
local dist = torch.distributed
local fake = require 'torch.distributed.fake'
local ranks = require 'support.ranks'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local ZeRO = dist.optim.ZeroRedundancyOptimizer

local function run(size, f)
  local results, errors = fake.run(size, f)
  local _, message = next(errors)
  if message then error(message, 0) end
  return results
end

local function model()
  torch.manual_seed(1)
  return nn.Sequential(nn.Linear(6, 50), nn.Tanh(), nn.Linear(50, 30), nn.BatchNorm1d(30), nn.ReLU(), nn.Linear(30, 3)):to(device)
end

local function batch(rank, step)
  return torch.randn(4, 6, { generator = torch.Generator():manual_seed(10 * step + rank) }):to(device)
end

local function train(net, optimizer, first, last, rank)
  for step = first, last do
    optimizer:zero_grad()
    net(batch(rank, step)):pow(2):mean():backward()
    optimizer:step()
  end
  return net
end

local optimizers = {
  SGD = { lr = 0.1, momentum = 0.9 }, Adam = { lr = 0.01 }, AdamW = { lr = 0.01, amsgrad = true }, RMSprop = { lr = 0.01 },
}

-- Bytes of the tensors in an optimizer's state.
local function state_bytes(optimizer)
  local bytes = 0
  for _, state in pairs(optimizer.state) do
    for _, value in pairs(state) do
      if torch.is_tensor(value) then bytes = bytes + value:numel() * value:element_size() end
    end
  end
  return bytes
end

describe('ZeroRedundancyOptimizer', function()
  for name, options in pairs(optimizers) do
    it('steps as ' .. name .. ', with a part of its state on each rank', function()
      for _, size in ipairs { 1, 2, 3 } do
        run(size, function(rank)
          local class = torch.optim[name]
          local plain, shared = nn.parallel.DistributedDataParallel(model()), nn.parallel.DistributedDataParallel(model())
          local whole, part = class(plain:parameters(), options), ZeRO(shared:parameters(), class, options)
          train(plain, whole, 1, 3, rank)
          train(shared, part, 1, 3, rank)
          for i, p in ipairs(plain:parameters()) do assert.is_true(p:equal(shared:parameters()[i]), i) end
          assert.is_true(state_bytes(part.optim) <= state_bytes(whole) * (1 / size + 0.02))
        end)
      end
    end)
  end

  it("is scheduled, has groups and gives the whole state as the class itself does", function()
    local function groups(net)
      return { { params = { net[1] }, lr = 0.1 }, { params = { net[3], net[4], net[6] }, weight_decay = 0.1 } }
    end
    run(3, function(rank)
      local plain, shared = model(), model()
      local whole, part = torch.optim.Adam(groups(plain), { lr = 0.02 }), ZeRO(groups(shared), torch.optim.Adam, { lr = 0.02 })
      local schedulers = { torch.optim.lr_scheduler.StepLR(whole, 1), torch.optim.lr_scheduler.StepLR(part, 1) }
      train(plain, whole, 1, 2, 0)
      train(shared, part, 1, 2, 0)
      for _, scheduler in ipairs(schedulers) do scheduler:step() end
      train(plain, whole, 3, 3, 0)
      train(shared, part, 3, 3, 0)
      for i, p in ipairs(plain:parameters()) do assert.is_true(p:equal(shared:parameters()[i]), i) end
      part:consolidate_state_dict(1)
      if rank ~= 1 then
        assert.error_matches(function() part:state_dict() end, 'has not been consolidated on this rank', 1, true)
        return
      end
      local a, b = whole:state_dict(), part:state_dict()
      for number, state in pairs(a.state) do
        for key, value in pairs(state) do assert.is_true(value:cpu():equal(b.state[number][key]:cpu()), key) end
      end
      assert.near(0.01, b.param_groups[1].lr, 1e-9)
      assert.same(a.param_groups[2].params, b.param_groups[2].params)
    end)
  end)

  it('takes the state of a whole optimizer, and goes on', function()
    local plain = model()
    local whole = torch.optim.Adam(plain:parameters(), { lr = 0.02 })
    train(plain, whole, 1, 2, 0)
    local weights, state = {}, whole:state_dict()
    for i, p in ipairs(plain:parameters()) do weights[i] = p:detach():clone() end
    for _, one in pairs(state.state) do
      for key, value in pairs(one) do one[key] = value:clone() end
    end
    train(plain, whole, 3, 3, 0)
    run(4, function()
      local shared = model()
      for i, p in ipairs(shared:parameters()) do p:detach():copy_(weights[i]) end
      for _, buffer in ipairs { 'running_mean', 'running_var' } do shared[4][buffer]:copy_(plain[4][buffer]) end
      local part = ZeRO(shared:parameters(), torch.optim.Adam, { lr = 0.5 })
      part:load_state_dict(state)
      train(shared, part, 3, 3, 0)
      for i, p in ipairs(plain:parameters()) do assert.is_true(p:equal(shared:parameters()[i]), i) end
    end)
  end)

  it('is saved by some ranks and goes on with others, and as the class itself', function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute('mkdir ' .. folder))
    local path = folder .. '/run.safetensors'
    local results = run(3, function()
      local net = model()
      local part = ZeRO(net:parameters(), torch.optim.Adam, { lr = 0.02 })
      train(net, part, 1, 2, 0)
      dist.checkpoint.save({ model = net, optimizer = part }, path)
      return train(net, part, 3, 4, 0)
    end)
    for _, size in ipairs { 1, 2, 5 } do
      run(size, function()
        local net = model()
        local part = size == 1 and torch.optim.Adam(net:parameters()) or ZeRO(net:parameters(), torch.optim.Adam, { lr = 1 })
        dist.checkpoint.load({ model = net, optimizer = part }, path)
        train(net, part, 3, 4, 0)
        for i, p in ipairs(net:parameters()) do assert.is_true(p:equal(results[0]:parameters()[i]), i) end
      end)
    end
    os.execute('rm -r ' .. folder)
  end)

  it('refuses rules that look at all elements, and options that the class has not', function()
    run(1, function()
      local net = model()
      for _, name in ipairs { 'LBFGS', 'Muon', 'Adafactor' } do
        assert.error_matches(function() ZeRO(net:parameters(), torch.optim[name], {}) end, name .. ' is not supported, because it does not update each element separately', 1, true)
      end
      assert.error_matches(function() ZeRO(net:parameters(), torch.optim.SGD, { rate = 1 }) end, 'rate', 1, true)
    end)
  end)
end)

describe('on 256 ranks', function()
  it('buckets are planned alike, samples are shared out whole, and state is 1/256', function()
    local plans, seen = {}, {}
    local sizes = run(256, function(rank, size)
      torch.manual_seed(rank)
      local net = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 1))
      local plan = {}
      for b, bucket in ipairs(require('torch.distributed.reducer').plan(net:parameters(), 20000)) do plan[b] = #bucket end
      plans[rank] = table.concat(plan, ' ')
      local data = torch.utils.data.TensorDataset(torch.arange(1000))
      for position in torch.utils.data.DistributedSampler(data):iter() do seen[position] = (seen[position] or 0) + 1 end
      local part = ZeRO(net:parameters(), torch.optim.Adam, { lr = 0.1 })
      for _, p in ipairs(net:parameters()) do p.grad = torch.ones_like(p) end
      part:step()
      return state_bytes(part.optim) + size * 0
    end)
    local elements = 2 * (64 * 64 + 64) + 65
    for rank = 0, 255 do
      assert.equal(plans[0], plans[rank])
      assert.is_true(sizes[rank] <= 8 * elements * (1 / 256 + 0.02))
    end
    local twice = 0
    for position = 1, 1000 do twice = twice + seen[position] - 1 end
    assert.equal(24, twice) -- 4 samples each
  end)
end)

for _, mpi in ipairs(ranks.installed()) do
  describe('#cpu #again fully_shard on ' .. mpi, function()
    local function all_well(n, code, options)
      local output, errors, status = ranks.run(mpi, n, [[
        local fully_shard, device = dist.fsdp.fully_shard, torch.try_gpu()
        local Block = nn.Module:extend 'Block'
        function Block:init(width)
          self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
        end
        function Block:forward(x) return x + self.down(self.up(self.norm(x)):relu()) end
        local function model(blocks, width)
          torch.manual_seed(1)
          local net = nn.Sequential(nn.Embedding(11, width))
          for i = 1, blocks do net:append(Block(width)) end
          return net:append(nn.Linear(width, 11)):to(device)
        end
        local function shard(net, options)
          for i = 2, #net - 1 do fully_shard(net[i], options) end
          return fully_shard(net, options)
        end
        local function loss_of(net, r, step)
          local generator = torch.Generator():manual_seed(10 * step + r)
          local x = torch.randint(1, 12, { 4, 9 }, { generator = generator }):to(device)
          return nn.functional.cross_entropy(net(x:narrow(2, 1, 8)):reshape(-1, 11), x:narrow(2, 2, 8):reshape(-1))
        end
        local function same(net, whole, near) -- the parts of net's parameters are those of whole's
          local others = {}
          for name, p in whole:named_parameters() do others[name] = p end
          for name, p in net:named_parameters() do
            local place = require('torch.distributed.sharding').place(p)
            local part = others[name]:detach():reshape(-1):narrow(1, place.first, p:numel())
            assert(p:equal(part) or near and p:allclose(part, { rtol = near, atol = near }), name)
          end
        end
      ]] .. code .. " dist.barrier() if rank == 0 then print 'all well' end", options)
      assert.equal(0, status, errors)
      assert.equal('all well\n', output)
    end

    local training = [[
        for _, reshard in ipairs { true, false } do
          local plain, net = nn.parallel.DistributedDataParallel(model(2, 16)), shard(model(2, 16), { reshard_after_forward = reshard })
          local a, b = torch.optim.Adam(plain:parameters(), { lr = 0.01 }), torch.optim.Adam(net:parameters(), { lr = 0.01 })
          for step = 1, 3 do
            for _, one in ipairs { { plain, a }, { net, b } } do
              one[2]:zero_grad()
              loss_of(one[1], rank, step):backward()
              one[2]:step()
            end
            same(net, plain.module)
          end
          local x = torch.ones(1, 8, { dtype = torch.int64, device = device })
          torch.no_grad(function() assert(net(x):equal(plain(x))) end)
          for _ = 1, 2 do assert(net(x):equal(plain.module(x))) end -- no backward follows
          -- gradients add up over backwards
          for _, one in ipairs { { plain, a }, { net, b } } do
            one[2]:zero_grad()
            loss_of(one[1], rank, 4):backward()
          end
          local before = {}
          for i, p in ipairs(net:parameters()) do before[i] = p.grad:clone() end
          loss_of(net, rank, 4):backward()
          for i, p in ipairs(net:parameters()) do assert(p.grad:allclose(2 * before[i], { rtol = 1e-4, atol = 1e-6 })) end
          -- and are clipped by the norm of all of them
          local norm = torch.nn.utils.clip_grad_norm_(plain:parameters(), 0.1)
          for i, p in ipairs(net:parameters()) do p.grad:copy_(before[i]) end
          assert(dist.fsdp.clip_grad_norm_(net:parameters(), 0.1):allclose(norm, { rtol = 1e-4 }))
        end
    ]]

    it('trains as DistributedDataParallel does, bit for bit, on processors and on simulated GPUs', function()
      all_well(3, training, { environment = 'LTENSOR_SIM_GPUS=0' })
      all_well(2, training, { environment = 'LTENSOR_SIM_GPUS=1 LTENSOR_COPIES=0' })
    end)

    it('keeps a part of the parameters, gradients and state, and memory for a unit or two beside', function()
      all_well(2, [[
        local width = 256
        local function bytes(list) local n = 0 for _, t in ipairs(list) do n = n + t:numel() * t:element_size() end return n end
        local net = shard(model(8, width))
        local all = bytes(model(8, width):parameters())
        local optimizer = torch.optim.Adam(net:parameters(), { lr = 0.01 })
        local function resident()
          collectgarbage() collectgarbage()
          for line in io.lines '/proc/self/status' do
            local kb = line:match 'RssAnon:%s+(%d+)'
            if kb then return tonumber(kb) * 1024 end
          end
        end
        local most = 0
        for i = 2, 9 do net[i]:register_forward_hook(function() most = math.max(most, resident()) end) end
        for step = 1, 2 do
          optimizer:zero_grad()
          loss_of(net, rank, step):backward()
          optimizer:step()
        end
        local start = resident()
        most = 0
        local loss = loss_of(net, rank, 3)
        -- in forward less than half of the parameters lie beside the parts
        assert(most - start < all / 2, 'forward: ' .. (most - start) / all)
        loss:backward()
        local parts, state = {}, {}
        for i, p in ipairs(net:parameters()) do
          parts[#parts + 1] = p
          for _, value in pairs(optimizer.state[p]) do if torch.is_tensor(value) then state[#state + 1] = value end end
        end
        assert(bytes(parts) <= all * (1 / size + 0.02) and bytes(state) <= 2 * all * (1 / size + 0.02))
      ]])
    end)

    it('gathers the next unit while one works, in forward and backward, once the order is known', function()
      all_well(2, [[
        local net = shard(model(3, 16))
        local forward, backward = {}, {}
        local function gathered() return dist.traffic('all_gather_into_tensor').count end
        for i = 2, 4 do
          net[i].up:register_forward_pre_hook(function() forward[i - 1] = gathered() end)
          net[i].norm:register_full_backward_hook(function() backward[i - 1] = gathered() end)
        end
        for step, expected in ipairs { { 2, 3, 4 }, { 3, 4, 4 } } do
          dist.reset_traffic()
          local loss = loss_of(net, rank, step)
          assert(gathered() == 4) -- the model and its blocks, once each
          for i = 1, 3 do assert(forward[i] == expected[i], forward[i]) end
          dist.reset_traffic()
          loss:backward()
          assert(gathered() == 4)
          -- from the last block to the first, each with the one before it
          for i = 1, 3 do assert(backward[i] == ({ 4, 4, 3 })[i], backward[i]) end
        end
      ]])
    end)

    it('runs layers again in backward, shares parameters and freezes some', function()
      all_well(2, [[
        local Tied = nn.Module:extend 'Tied'
        function Tied:init()
          self.table, self.block, self.frozen = nn.Embedding(11, 16), Block(16), nn.Linear(16, 16)
          self.frozen:requires_grad_(false)
          self.head = nn.Linear(16, 11, { bias = false })
          self.head.weight = self.table.weight
        end
        function Tied:forward(x) return self.head(self.frozen(torch.utils.checkpoint(self.block, self.table(x)))) end
        local function build() torch.manual_seed(2) return Tied():to(device) end
        local net, plain = build(), nn.parallel.DistributedDataParallel(build())
        fully_shard(net.block)
        fully_shard(net)
        local a, b = torch.optim.SGD(plain:parameters(), { lr = 0.1 }), torch.optim.SGD(net:parameters(), { lr = 0.1 })
        for step = 1, 3 do
          for _, one in ipairs { { plain, a }, { net, b } } do
            one[2]:zero_grad()
            loss_of(one[1], rank, step):backward()
            one[2]:step()
          end
        end
        same(net, plain.module)
      ]])
    end)

    it('is saved by some ranks and loaded by others', function()
      local folder = os.tmpname()
      os.remove(folder)
      assert(os.execute('mkdir ' .. folder))
      local path = folder .. '/run.safetensors'
      local code = ([[
        local path, net = '%s', shard(model(2, 16))
        local optimizer = torch.optim.Adam(net:parameters(), { lr = 0.01 })
        local function go(net, optimizer, first, last)
          for step = first, last do
            optimizer:zero_grad()
            loss_of(net, 0, step):backward()
            optimizer:step()
          end
        end
      ]]):format(path)
      all_well(3, code .. 'go(net, optimizer, 1, 2) dist.checkpoint.save({ model = net, optimizer = optimizer }, path)')
      all_well(2, code .. [[
        dist.checkpoint.load({ model = net, optimizer = optimizer }, path)
        go(net, optimizer, 3, 4)
        local whole = model(2, 16)
        local plain = torch.optim.Adam(whole:parameters(), { lr = 0.01 })
        go(whole, plain, 1, 4)
        same(net, whole, 1e-5) -- the mean over three ranks of one number is not always that number
      ]])
      os.execute('rm -r ' .. folder)
    end)

    it('set_requires_gradient_sync accumulates gradients locally, and resharding options keep or free memory', function()
      all_well(2, [[
        local function gathered() return dist.traffic('all_gather_into_tensor').count end
        local function reduced() return dist.traffic('reduce_scatter_tensor').count end
        local plain, net = nn.parallel.DistributedDataParallel(model(2, 16)), shard(model(2, 16))
        local function gradients_agree()
          local others = {}
          for name, p in plain.module:named_parameters() do others[name] = p.grad end
          for name, p in net:named_parameters() do
            local place = require('torch.distributed.sharding').place(p)
            assert(p.grad:allclose(others[name]:reshape(-1):narrow(1, place.first, p:numel()), { rtol = 1e-4, atol = 1e-6 }), name)
          end
        end
        local before = reduced()
        for step = 1, 3 do
          net:set_requires_gradient_sync(step == 3)
          loss_of(net, rank, step):backward()
          if step < 3 then
            plain:no_sync(function() loss_of(plain, rank, step):backward() end)
            assert(net[1].weight.grad == nil)
          else
            loss_of(plain, rank, step):backward()
          end
        end
        assert(reduced() - before == 3)
        gradients_agree()
        -- one unit alone
        for _, p in ipairs(net:parameters()) do p.grad = nil end
        plain:zero_grad()
        net:set_requires_gradient_sync(false, { recurse = false })
        before = reduced()
        loss_of(net, rank, 4):backward()
        assert(reduced() - before == 2)
        net:set_requires_gradient_sync(true)
        -- memory that stays is used again, until a step has changed the parts
        net:set_reshard_after_backward(false)
        net:set_reshard_after_forward(false)
        local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1 })
        loss_of(net, rank, 5):backward()
        before = gathered()
        loss_of(net, rank, 6):backward()
        assert(gathered() == before)
        optimizer:step()
        loss_of(net, rank, 7):backward()
        assert(gathered() == before + 3)
        local loss = loss_of(net, rank, 8)
        net:set_reshard_after_forward(true)
        net:set_reshard_after_backward(true)
        before = gathered()
        loss_of(net, rank, 9):backward()
        assert(gathered() == before + 3) -- in backward alone
      ]])
    end)

    it('goes backward over one graph twice', function()
      all_well(2, [[
        local net = shard(model(2, 16))
        for _ = 1, 2 do
          local loss, once = loss_of(net, rank, 1), {}
          for _, p in ipairs(net:parameters()) do p.grad = nil end
          loss:backward { retain_graph = true }
          for i, p in ipairs(net:parameters()) do once[i] = p.grad:clone() end
          loss:backward()
          for i, p in ipairs(net:parameters()) do assert(p.grad:allclose(2 * once[i]), i) end
        end
      ]])
    end)

    local kept = [[
        local net = shard(model(2, 16))
        local weight, view
        net[2].up:register_forward_pre_hook(function(layer) weight, view = layer.weight, layer.weight:detach()[3] end)
        loss_of(net, rank, 1):backward()
        local function refused(what, f, ...)
          local ok, message = pcall(f, ...)
          assert(not ok and message:find("1.up.weight', was freed: fully_shard frees", 1, true), what .. ': ' .. tostring(message))
        end
        for _, t in ipairs { view, weight:detach(), view:narrow(1, 2, 3), weight } do
          refused('read', torch.exp, t)
          refused('second argument', torch.add, torch.ones(1, { device = device }), t)
          refused('list', torch.cat, { t, t })
          refused('out', function() torch.no_grad(torch.add, 1.0, 2.0, { out = t:detach() }) end)
          refused('write', function() t:detach():zero_() end)
          refused('subscript', function() t:detach():reshape(-1)[{ {1, 2} }] = 1 end)
          refused('copy', t.clone, t)
          refused('to the CPU', function() t:detach():to { device = 'cpu', copy = true } end)
          refused('to', function() t:to(torch.float64) end)
          refused('number', function() return t:detach():reshape(-1)[1]:item() end)
          refused('table', t.tolist, t)
          refused('text', tostring, t)
          refused('address', t.data_ptr, t)
          refused('equal', t.equal, t, t)
          refused('DLPack', torch.utils.dlpack.to_dlpack, t:detach())
          refused('NumPy', t.__dlpack__, t:detach(), { max_version = { 1, 0 } })
          if device.type == 'cpu' then refused('bytes', torch._C.tensor_bytes, t:detach():reshape(-1)) end
          refused('all_reduce', function() dist.all_reduce(t:detach()) end)
          refused('reduce', function() dist.reduce(t:detach(), 0) end)
          refused('send', function() dist.send(t:detach(), 1 - rank) end)
          for _, suffix in ipairs { 'safetensors', 'npy', 'pt', 'bin' } do
            local path = ('%s/%d.%s'):format(os.getenv 'TMPDIR' or '/tmp', math.random(0, 0xffffffff), suffix)
            refused(suffix, torch.save, suffix == 'npy' and t:detach() or { t = t:detach() }, path)
            assert(not io.open(path))
          end
          assert(t:numel() == t:detach():reshape(-1):numel() and t:dim() == t:detach():dim() and torch.zeros_like(t):sum():item() == 0)
        end
        assert(net[2].up.weight:numel() < weight:numel())
        -- there again, and gone
        net[2]:unshard()
        assert(rawequal(net[2].up.weight, weight) and view:equal(weight:detach()[3]) and view:abs():sum():item() > 0)
        net[2]:reshard()
        refused('read', torch.exp, view)
        for name, call in pairs { unshard = net[2].unshard, set_requires_gradient_sync = net.set_requires_gradient_sync } do
          local ok, message = pcall(call, nn.Linear(1, 1), true)
          assert(not ok and message:find(name .. '(): expected a module after fully_shard(module), got Linear', 1, true), message)
        end
        local ok, message = pcall(net.set_reshard_after_forward, net, 1)
        assert(not ok and message:find("argument 'on' must be true or false, not a number", 1, true), message)
        collectgarbage() collectgarbage()
    ]]

    it('refuses a view that was kept, wherever it is read or written', function()
      all_well(2, kept, { environment = 'LTENSOR_SIM_GPUS=0' })
      all_well(2, kept, { environment = 'LTENSOR_SIM_GPUS=1 LTENSOR_COPIES=0' })
    end)

    it('a derivative that saved freed parameters is an error', function()
      all_well(2, [[
        local net = nn.Linear(64, 64)
        fully_shard(net)
        local aside
        net.register_forward_hook(net, function(self) aside = nil end)
        local Leak = nn.Module:extend 'Leak'
        function Leak:init() self.layer = nn.Linear(64, 64) end
        function Leak:forward(x) aside = self.layer.weight:pow(2):sum() return self.layer(x) end
        local leak = fully_shard(Leak())
        leak(torch.ones(2, 64))
        local ok, message = pcall(aside.backward, aside)
        assert(not ok and message:find("of parameter 'layer.weight', was freed: fully_shard frees", 1, true), message)
        assert(not pcall(fully_shard, leak))
        -- nor does it take parameters that a step has changed since
        for _, reshard in ipairs { true, false } do
          local net = fully_shard(nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64)), { reshard_after_forward = reshard })
          local loss = net(torch.ones(2, 64)):sum()
          torch.no_grad(function() net[2].weight:add_(1) end)
          local ok, message = pcall(loss.backward, loss)
          assert(not ok and message:find('has been modified by an inplace operation', 1, true), message)
        end
      ]])
    end)
  end)
end
