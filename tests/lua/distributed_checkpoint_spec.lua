-- torch.distributed.checkpoint: what some ranks save is what any number of ranks loads. Worlds live in this process.

local torch = require 'torch'
local nn = torch.nn
local dist = torch.distributed
local fake = require 'torch.distributed.fake'
local sharding = require 'torch.distributed.sharding'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function run(size, f)
  local results, errors = fake.run(size, f)
  local _, message = next(errors)
  if message then error(message, 0) end
  return results
end

local folder

-- The files in the folder, sorted.
local function files()
  local pipe = assert(io.popen('ls ' .. folder))
  local names = {}
  for name in pipe:lines() do names[#names + 1] = name end
  pipe:close()
  return names
end

local function model(seed)
  torch.manual_seed(seed)
  return nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Linear(7, 3)):to(device)
end

local function adam(net) return torch.optim.Adam(net:parameters(), { lr = 0.1 }) end

local function step(net, optimizer, n)
  local generator = torch.Generator():manual_seed(n)
  optimizer:zero_grad()
  net(torch.randn(4, 5, { generator = generator }):to(device)):pow(2):sum():backward()
  optimizer:step()
end

local function same_state(a, b)
  for _, key in ipairs(a) do assert.is_true(a[key]:equal(b[key]), key) end
end

describe('torch.distributed.checkpoint', function()
  local path
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute('mkdir ' .. folder))
    path = folder .. '/run.safetensors'
  end)
  after_each(function() os.execute('rm -r ' .. folder) end)

  it('is loaded by more and by fewer ranks than have saved it, and training goes on to the same bits', function()
    local net = model(1)
    local optimizer = adam(net)
    for n = 1, 3 do step(net, optimizer, n) end
    local scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    scheduler:step()
    run(3, function(rank)
      dist.checkpoint.save({ model = net, optimizer = optimizer, scheduler = scheduler, epoch = 4, list = { 'a', torch.arange(3), { true } } },
        { checkpoint_id = path })
      assert.equal(0, rank - dist.get_rank())
    end)
    assert.same({ 'run.1.rank-0-of-3.safetensors', 'run.1.rank-1-of-3.safetensors', 'run.1.rank-2-of-3.safetensors', 'run.safetensors' }, files())
    step(net, optimizer, 4)
    for _, size in ipairs { 1, 2, 5 } do
      run(size, function()
        local other = model(2)
        local again = adam(other)
        local steps = torch.optim.lr_scheduler.StepLR(again, 2)
        local rest = dist.checkpoint.load({ model = other, optimizer = again, scheduler = steps }, path)
        assert.equal(4, rest.epoch)
        assert.equal('a', rest.list[1])
        assert.same({ 0, 1, 2 }, rest.list[2]:tolist())
        assert.is_true(rest.list[3][1])
        assert.equal(1, steps.last_epoch)
        step(other, again, 4)
        same_state(net:state_dict(), other:state_dict())
      end)
    end
  end)

  it('replicated values are divided between the files of all ranks', function()
    run(4, function() dist.checkpoint.save({ model = nn.Linear(64, 64), more = { torch.zeros(4096), torch.zeros(4096), torch.zeros(4096) } }, path) end)
    for r = 0, 3 do
      local bytes = 0
      for _, tensor in pairs(torch.load(('%s/run.1.rank-%d-of-4.safetensors'):format(folder, r))) do
        if torch.is_tensor(tensor) then bytes = bytes + tensor:numel() * 4 end
      end
      assert.is_true(bytes >= 4096 * 4 and bytes <= 4096 * 4 + 64 * 4, bytes)
    end
  end)

  it('puts parts together and takes them apart for any number of ranks', function()
    local whole = torch.arange(35):reshape(5, 7):float()
    local function part(rank, size)
      local first, n = sharding.range(35, rank, size)
      local piece = whole:view(-1):narrow(1, first, n):clone()
      sharding.set(piece, { 5, 7 }, first)
      return piece
    end
    for _, size in ipairs { 1, 3, 4, 40 } do
      run(size, function(rank) dist.checkpoint.save({ x = part(rank, size) }, path) end)
      for _, others in ipairs { 1, 2, 5, 36 } do
        run(others, function(rank)
          local mine = part(rank, others)
          local expected = mine:clone()
          dist.checkpoint.load({ x = mine:zero_() }, path)
          assert.is_true(mine:equal(expected))
        end)
      end
      assert.is_true(dist.checkpoint.load({}, path).x:equal(whole))
    end
  end)

  it('leaves the checkpoint before whole until the next one is, and nothing of it afterwards', function()
    run(2, function() dist.checkpoint.save({ x = torch.ones(3), epoch = 1 }, path) end)
    local before = files()
    local _, errors = fake.run(2, function(rank) -- one rank's file cannot be written
      dist.checkpoint.save({ x = torch.zeros(3), f = rank == 1 and print or nil }, path)
    end)
    for rank = 0, 1 do assert.matches('checkpoint: rank 1: ', errors[rank], 1, true) end
    local rest = dist.checkpoint.load({}, path)
    assert.equal(1, rest.epoch)
    assert.same({ 1, 1, 1 }, rest.x:tolist())
    run(3, function() dist.checkpoint.save({ x = torch.zeros(3), epoch = 2 }, path) end)
    for _, name in ipairs(before) do
      if name ~= 'run.safetensors' then assert.is_nil(io.open(folder .. '/' .. name)) end
    end
    assert.equal(2, dist.checkpoint.load({}, path).epoch)
  end)

  it('load reports missing values and different shapes', function()
    run(2, function() dist.checkpoint.save({ model = nn.Linear(2, 3) }, path) end)
    local function fails(text, state, where)
      assert.error_matches(function() dist.checkpoint.load(state, where or path) end, text, 1, true)
    end
    fails('has no tensor model.0.weight', { model = nn.Sequential(nn.Linear(2, 3)) })
    fails('model.weight has the shape [3, 2], and here it has [3, 4]', { model = nn.Linear(4, 3) })
    local net = nn.Linear(2, 3)
    fails('has no optimizer optimizer', { model = net, optimizer = adam(net) })
    torch.save({ 1 }, folder .. '/other')
    fails('is not an index of a distributed checkpoint', {}, folder .. '/other')
    os.remove(folder .. '/run.1.rank-1-of-2.safetensors')
    fails('run.1.rank-1-of-2.safetensors', { model = nn.Linear(2, 3) })
  end)

  it('works with hundreds of ranks', function()
    local x = torch.arange(1000)
    run(256, function(rank)
      local first, n = sharding.range(1000, rank, 256)
      local piece = x:narrow(1, first, n):clone()
      sharding.set(piece, { 1000 }, first)
      dist.checkpoint.save({ x = piece }, path)
    end)
    run(3, function(rank)
      local first, n = sharding.range(1000, rank, 3)
      local piece = torch.zeros(n, { dtype = torch.int64 })
      sharding.set(piece, { 1000 }, first)
      dist.checkpoint.load({ x = piece }, path)
      assert.is_true(piece:equal(x:narrow(1, first, n)))
    end)
  end)
end)
