-- torch.utils.data: data sets, samplers in PyTorch's order, the DataLoader with and without workers.

local data = torch.utils.data
local fails_with = require 'support.fails_with'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local terminal = dofile(here .. 'support/terminal.lua')

local Numbers = data.Dataset:extend('Numbers')
function Numbers:init(n) self.n = n end
function Numbers:__len() return self.n end
function Numbers:__getitem(i) return i end

local Counter = data.IterableDataset:extend('Counter')
function Counter:init(first, last) self.first, self.last = first, last end
function Counter:__len() return self.last - self.first + 1 end
function Counter:iter()
  local worker = data.get_worker_info()
  local i, step = self.first - 1, 1
  if worker then i, step = self.first + worker.id - worker.num_workers, worker.num_workers end
  return function()
    i = i + step
    if i <= self.last then return i end
  end
end

local function all(iterable)
  local list = {}
  for value in iterable:iter() do list[#list + 1] = torch.is_tensor(value) and value:tolist() or value end
  return list
end

local function seeded(seed)
  local generator = torch.Generator()
  generator:manual_seed(seed)
  return generator
end

-- What PyTorch 2.13 gives for these seeds, with positions from 1.
describe('the order of samples', function()
  it("is PyTorch's for DistributedSampler: a share for each rank", function()
    local function shares(options, n, ranks)
      local list = {}
      for rank = 0, ranks - 1 do
        options.num_replicas, options.rank = ranks, rank
        local sampler = data.DistributedSampler(Numbers(n), options)
        sampler:set_epoch(2)
        list[rank + 1] = all(sampler)
        assert.equal(#list[rank + 1], #sampler)
      end
      return list
    end
    assert.same({ { 9, 6, 1, 4 }, { 8, 7, 5, 9 }, { 2, 10, 3, 8 } }, shares({}, 10, 3))
    assert.same({ { 6, 5, 10, 3 }, { 1, 2, 7, 6 }, { 4, 8, 9, 1 } }, shares({ seed = 5 }, 10, 3))
    assert.same({ { 9, 6, 1 }, { 8, 7, 5 }, { 2, 10, 3 } }, shares({ drop_last = true }, 10, 3))
    assert.same({ { 1, 4, 7, 10 }, { 2, 5, 8, 1 }, { 3, 6, 9, 2 } }, shares({ shuffle = false }, 10, 3))
    assert.same({ { 1 }, { 2 }, { 1 }, { 2 }, { 1 } }, shares({ shuffle = false }, 2, 5))
    local seen = {}
    for _, share in ipairs(shares({ drop_last = true }, 1024, 256)) do
      for _, i in ipairs(share) do seen[i] = (seen[i] or 0) + 1 end
    end
    for i = 1, 1024 do assert.equal(1, seen[i]) end
    fails_with('Invalid rank 3, rank should be in the interval [0, 2]', data.DistributedSampler, Numbers(5), { num_replicas = 3, rank = 3 })
  end)

  it('is PyTorch\'s for RandomSampler', function()
    torch.manual_seed(7)
    assert.same({4, 1, 2, 10, 5, 8, 3, 6, 7, 9}, all(data.RandomSampler(Numbers(10))))
    assert(math.abs(torch.rand(1):item() - 0.6592116951942444) < 1e-7)
    local g = seeded(3)
    assert.same({7, 1, 4, 8, 9, 6, 2, 10, 3, 5}, all(data.RandomSampler(Numbers(10), {generator = g})))
    assert.same({1, 5, 2, 5, 2, 2, 3, 4, 3, 5, 5, 1, 1, 2, 5, 4, 5, 3, 4, 1, 3, 2, 4, 5, 2, 1, 5, 2, 2, 4, 3, 2, 4, 2, 5, 5, 5, 1, 2, 4},
      all(data.RandomSampler(Numbers(5), {replacement = true, num_samples = 40, generator = g})))
    assert.same({2, 1, 4, 5, 3, 1, 2, 3, 5, 4, 4, 2}, all(data.RandomSampler(Numbers(5), {num_samples = 12, generator = g})))
  end)

  it('is PyTorch\'s for shuffled loaders, splits and the other samplers', function()
    local g = seeded(5)
    local loader = data.DataLoader(Numbers(10), {batch_size = 4, shuffle = true, generator = g})
    assert.same({{8, 5, 9, 2}, {3, 4, 7, 6}, {10, 1}}, all(loader))
    assert.same({{3, 2, 7, 4}, {6, 10, 5, 8}, {9, 1}}, all(loader))
    torch.manual_seed(1)
    assert.same({{5, 3, 1, 7}, {9, 8, 10, 2}, {6, 4}}, all(data.DataLoader(Numbers(10), {batch_size = 4, shuffle = true})))
    assert(math.abs(torch.rand(1):item() - 0.029281556606292725) < 1e-7)
    g = seeded(2)
    local a, b, c = data.random_split(Numbers(10), {0.3, 0.3, 0.4}, {generator = g})
    assert.same({{9, 8, 2}, {6, 7, 10}, {1, 5, 3, 4}}, {a.indices, b.indices, c.indices})
    a, b = data.random_split(Numbers(5), {2, 3}, {generator = g})
    assert.same({{2, 4}, {1, 5, 3}}, {a.indices, b.indices})
    local weights = {0.1, 0.9, 0.4, 0.7, 3.0, 0.6}
    assert.same({4, 5, 5, 5, 5}, all(data.WeightedRandomSampler(weights, 5, {generator = g})))
    assert.same({2, 4, 5, 6, 3}, all(data.WeightedRandomSampler(weights, 5, {replacement = false, generator = g})))
    assert.same({10, 40, 20, 30}, all(data.SubsetRandomSampler({10, 20, 30, 40}, {generator = g})))
    assert.same({{9, 6, 1, 5}, {10, 7, 4, 2}, {3, 8}},
      all(data.DataLoader(Numbers(10), {batch_size = 4, shuffle = true, generator = g, num_workers = 2})))
  end)

  it('samplers reject invalid arguments', function()
    fails_with('Sum of input lengths does not equal', data.random_split, Numbers(5), {2, 2})
    fails_with('num_samples should be a positive integer value', data.WeightedRandomSampler, {1.}, 0)
    local _, message = pcall(data.WeightedRandomSampler, torch.ones(8))
    assert.equal("WeightedRandomSampler() missing 1 required argument: 'num_samples'", message:match 'Weighted.*')
    fails_with('batch_size should be a positive integer value', data.DataLoader, Numbers(5), {batch_size = 0})
    fails_with('mutually exclusive with shuffle', data.DataLoader, Numbers(5), {shuffle = true, sampler = data.SequentialSampler(Numbers(5))})
    fails_with('num_workers option should be non-negative', data.DataLoader, Numbers(5), {num_workers = -1})
    fails_with('prefetch_factor', data.DataLoader, Numbers(5), {prefetch_factor = 2})
    fails_with('batch_sampler option is mutually exclusive', data.DataLoader, Numbers(5), {batch_sampler = {}, batch_size = 2})
    fails_with('IterableDataset', data.DataLoader, Counter(1, 2), {shuffle = true})
  end)
end)

-- Whose iterator raises where it is called after its end, and would begin again.
local Strict = data.Sampler:extend('Strict')
function Strict:init(n) self.n = n end
function Strict:__len() return self.n end
function Strict:iter()
  local i = 0
  return function()
    assert(i <= self.n, 'called after its end')
    i = i + 1
    return i <= self.n and i or nil
  end
end

describe('a sampler', function()
  it('a sampler is not called after its end, for every batch size', function()
    for size, batches in pairs { [1] = 5, [2] = 3, [5] = 1, [7] = 1 } do
      assert.equal(batches, #all(data.BatchSampler(Strict(5), size)))
      assert.equal(5 // size, #all(data.BatchSampler(Strict(5), size, true)))
      local seen = {}
      for batch in data.DataLoader(Numbers(5), { batch_size = size, sampler = Strict(5) }) do table.move(batch:tolist(), 1, #batch, #seen + 1, seen) end
      assert.same({ 1, 2, 3, 4, 5 }, seen)
    end
  end)
end)

describe('loops over one loader', function()
  local buffer = torch.zeros(1)
  for name, collate in pairs {
    number = function(samples) return #samples end, text = function() return 'same' end, ['truth value'] = function() return true end,
    falsehood = function() return false, 1 end, tensor = function() return buffer end,
  } do
    it(('may be nested, left early and repeated where each batch is the same %s'):format(name), function()
      local loader = data.DataLoader(Numbers(5), { batch_size = 1, collate_fn = collate })
      local outer, inner, left = 0, 0, 0
      for _ in loader do
        outer = outer + 1
        for _ in loader do inner = inner + 1 end
        for _ in loader do left = left + 1 break end
        local co = coroutine.wrap(function() for _ in loader do coroutine.yield() end end)
        co() co()
        assert(outer <= 5)
      end
      assert.same({ 5, 25, 5 }, { outer, inner, left })
    end)
  end

  it('are for loops: a call by hand is an error', function()
    local loader = data.DataLoader(Numbers(5))
    fails_with('a DataLoader is called by a for loop', function() loader() end)
    fails_with('a DataLoader is called by a for loop', function() loader(nil, 1) end)
  end)
end)

describe('data sets of data sets', function()
  it('are parts and sums', function()
    local subset = data.Subset(Numbers(10), {7, 3, 5})
    assert.equal(3, #subset)
    assert.same({7, 3, 5, 5}, {subset[1], subset[2], subset[3], subset[-1]})
    fails_with('position 4 is not in', function() return subset[4] end)
    local both = data.ConcatDataset {subset, Numbers(0), Numbers(2)}
    assert.equal(5, #both)
    assert.same({{7, 3}, {5, 1}, {2}}, all(data.DataLoader(both, {batch_size = 2})))
    fails_with('position 6 is not in', function() return both[6] end)
    assert.same({{4, 5}, {1}}, all(data.DataLoader(data.ChainDataset {Counter(4, 4), Counter(9, 8), Counter(5, 5), Counter(1, 1)}, {batch_size = 2})))
    assert.equal(3, #data.ChainDataset {Counter(4, 4), Counter(5, 6)})
  end)

  it('stand side by side', function()
    local x, y = torch.arange(6):view(3, 2), torch.arange(3)
    local pairs_of = data.StackDataset(Numbers(3), data.TensorDataset(x))
    assert.equal(3, #pairs_of)
    local seen = {}
    for numbers, rows in data.DataLoader(pairs_of, {batch_size = 2}):iter() do seen[#seen + 1] = {numbers:tolist(), rows:tolist()} end
    assert.same({{{1, 2}, {{0, 1}, {2, 3}}}, {{3}, {{4, 5}}}}, seen)
    local named = data.StackDataset {image = x, both = data.TensorDataset(x, y)}
    local last = named[-1]
    assert.same({{4, 5}, {4, 5}, 2}, {last.image:tolist(), last.both[1]:tolist(), last.both[2]:item()})
    for batch in data.DataLoader(named, {batch_size = 3}):iter() do
      assert.same(x:tolist(), batch.image:tolist())
      assert.same(y:tolist(), batch.both[2]:tolist())
    end
    fails_with('position 4 is not in', function() return named[4] end)
    fails_with('Size mismatch between datasets', data.StackDataset, x, Numbers(2))
    fails_with('At least one dataset should be passed', data.StackDataset)
    fails_with('by name in one table', data.StackDataset, {[7] = x})
  end)

  it('may be parts and sums of tensors and tables, which have samples without being Datasets', function()
    local x = torch.arange(6) * 10
    assert.equal(20, data.Subset(x, {3, 1})[1]:item())
    assert.equal(50, data.ConcatDataset {{7}, x}[7]:item())
    assert.same({{0, 10, 20, 30}, {40, 50}}, all(data.DataLoader(x, {batch_size = 4})))
    assert.same({{30, 10}}, all(data.DataLoader(data.Subset(x, {4, 2}), {batch_size = 2})))
    local few, many = data.random_split(x, {2, 4})
    assert.equal(x:sum():item(), (few[1] + few[2] + many[1] + many[2] + many[3] + many[4]):item())
  end)

  it('slices tensor data sets, and refuses slices of others', function()
    local d = data.TensorDataset(torch.arange(10):view(10, 1), torch.arange(10))
    for _, case in ipairs { { '2:4', { 1, 2, 3 } }, { { 2, 4 }, { 1, 2, 3 } }, { { { 2, 4 } }, { 1, 2, 3 } },
      { torch.tensor { 1, 5 }, { 0, 4 } }, { torch.arange(10):gt(7), { 8, 9 } } } do
      local part = d[case[1]]
      assert.same(case[2], part.tensors[2]:tolist())
      assert.equal(#case[2], #part)
    end
    for _, key in ipairs { '1:2', { 1, 2 }, torch.tensor { 1 } } do
      assert.error_matches(function() return data.Subset(d, { 1, 2 })[key] end,
        'a Subset has no slices: write torch.utils.data.Subset%(dataset, positions%)')
    end
  end)

  it('take whole batches from tensors', function()
    local x, y = torch.arange(12):view(6, 2), torch.arange(6)
    local subset = data.Subset(data.TensorDataset(x, y), {6, 2, 4})
    for a, b in data.DataLoader(subset, {batch_size = 3}):iter() do
      assert.same({{10, 11}, {2, 3}, {6, 7}}, a:tolist())
      assert.same({5, 1, 3}, b:tolist())
    end
    local seen = {}
    for a, b in data.DataLoader(data.Subset(Numbers(6), {6, 2}), {batch_size = 2}):iter() do seen = {a:tolist(), b} end
    assert.same({{6, 2}}, seen)
  end)
end)

describe('default_collate', function()
  local collate = data.default_collate
  it('makes batches of numbers, tensors, strings and tables', function()
    assert.equal(torch.int64, collate({1, 2}).dtype)
    assert.equal(torch.float64, collate({1, 2.5}).dtype)
    assert.equal(torch.bool, collate({true, false}).dtype)
    assert.same({'a', 'b'}, collate {'a', 'b'})
    assert.same({2, 3}, {table.unpack(collate({torch.ones(3), torch.zeros(3)}).shape)})
    local batch = collate {{x = 1, list = {1, 'a'}}, {x = 2, list = {3, 'b'}}}
    assert.same({1, 2}, batch.x:tolist())
    assert.same({1, 3}, batch.list[1]:tolist())
    assert.same({'a', 'b'}, batch.list[2])
  end)
  it('default_collate rejects samples of different types or shapes', function()
    fails_with('should be of equal size', collate, {{1, 2}, {1}})
    fails_with("sample 2 has no 'x'", collate, {{x = 1}, {y = 1}})
    fails_with('found function', collate, {print})
    fails_with('equal size', collate, {torch.ones(2), torch.ones(3)})
  end)
end)

describe('a loader without batches', function()
  it('gives the samples as the dataset has them, in the order of its sampler', function()
    for _, workers in ipairs { 0, 2 } do
      local loader = data.DataLoader(data.TensorDataset(torch.arange(6):view(3, 2), torch.arange(3)), { batch_size = false, num_workers = workers })
      assert.equal(3, #loader)
      local seen = {}
      for x, y in loader do seen[#seen + 1] = { x:tolist(), y:item() } end
      assert.same({ { { 0, 1 }, 0 }, { { 2, 3 }, 1 }, { { 4, 5 }, 2 } }, seen)
    end
  end)

  it('collate_fn receives a list of samples, and a sample of several values is a list', function()
    local received
    local function keep(samples) received = samples return #samples end
    for _ in data.DataLoader({ 'a', false, 'c' }, { batch_size = 3, collate_fn = keep }) do end
    assert.same({ 'a', false, 'c' }, received)
    for _ in data.DataLoader(data.TensorDataset(torch.arange(2), torch.ones(2)), { batch_size = 2, collate_fn = keep }) do end
    assert.same({ 2, 2 }, { #received, #received[1] })
    assert.same({ 1, 1 }, { received[2][1]:item(), received[2][2]:item() })
  end)

  it('calls collate_fn with the sample, and takes streams', function()
    local sum = 0
    local loader = data.DataLoader(data.TensorDataset(torch.arange(4)), { batch_size = false, shuffle = true, collate_fn = function(x) return x + 10 end })
    for x in loader do sum = sum + x:item() end
    assert.equal(46, sum)
    local Stream = data.IterableDataset:extend('Stream')
    function Stream.iter()
      local i = 0
      return function()
        i = i + 1
        if i <= 3 then return i, -i end
      end
    end
    local seen = {}
    for a, b in data.DataLoader(Stream(), { batch_size = false }) do seen[#seen + 1] = { a, b } end
    assert.same({ { 1, -1 }, { 2, -2 }, { 3, -3 } }, seen)
  end)

  it('drops nothing', function()
    fails_with('batch_size = false disables auto-batching and is mutually exclusive with drop_last', data.DataLoader,
      data.TensorDataset(torch.arange(4)), { batch_size = false, drop_last = true })
  end)
end)

describe('the loader', function()
  it('is the cause of its copies', function()
    local out, err, status = process.lua([[
      local data = torch.utils.data
      local x = torch.arange(6):view(3, 2):to 'cuda'
      torch.cuda.reset_copies()
      local sum = 0
      for batch in data.DataLoader(data.TensorDataset(x), {batch_size = 2}):iter() do sum = sum + batch:sum() end
      local n = #torch.cuda.copies 'loader'
      print(sum:item(), n > 0, #torch.cuda.copies 'item', #torch.cuda.copies 'to')
    ]], '--sim-gpus 1')
    assert.equal(0, status, err)
    assert.equal('15\ttrue\t1\t0\n', out)
  end)
end)

describe('workers', function()
  it('give the same batches in the same order', function()
    for _, options in ipairs {{num_workers = 1}, {num_workers = 3, prefetch_factor = 1}, {num_workers = 2, persistent_workers = true}} do
      options.batch_size, options.drop_last = 3, true
      local loader = data.DataLoader(Numbers(11), options)
      for _ = 1, 2 do assert.same({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, all(loader)) end
    end
  end)

  it('give batches as they are ready with in_order = false, each of them once #again', function()
    local Slow = data.Dataset:extend('Slow')
    function Slow:__len() return 8 end
    function Slow:__getitem(i)
      if i == 1 then torch._C.first_worker({}, 1) end -- waits for a second
      return i
    end
    local Stream = data.IterableDataset:extend('Stream')
    function Stream:iter()
      local id, i = data.get_worker_info().id, 0
      return function()
        i = i + 1
        if id == 0 and i == 1 then torch._C.first_worker({}, 1) end
        return i <= 4 and id * 4 + i or nil
      end
    end
    for _, dataset in ipairs { Slow(), Stream() } do
      local orders = {}
      for _, in_order in ipairs { true, false } do
        local order = {}
        for x in data.DataLoader(dataset, { batch_size = false, num_workers = 2, in_order = in_order }):iter() do
          order[#order + 1] = torch.is_tensor(x) and x:item() or x
        end
        orders[in_order] = order
      end
      assert.equal(1, orders[true][1])
      assert.not_equal(1, orders[false][1])
      table.sort(orders[true])
      table.sort(orders[false])
      assert.same({ 1, 2, 3, 4, 5, 6, 7, 8 }, orders[true])
      assert.same({ 1, 2, 3, 4, 5, 6, 7, 8 }, orders[false])
    end
    local late = data.DataLoader(Slow(), { num_workers = 1, in_order = false, timeout = 0.2 })
    assert.error_matches(function() for _ in late:iter() do end end, 'DataLoader timed out after 0.2 seconds', 1, true)
  end)

  it('are forks, and no other multiprocessing_context is accepted', function()
    local function load(options) return function() return data.DataLoader({ 1, 2 }, options) end end
    assert.error_matches(load { multiprocessing_context = 'fork' }, 'multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0', 1, true)
    assert.error_matches(load { num_workers = 1, multiprocessing_context = 'spawn' },
      "multiprocessing_context option should specify a valid start method in ['fork'], but got multiprocessing_context='spawn'", 1, true)
    assert.error_matches(load { num_workers = 1, multiprocessing_context = 3 }, 'multiprocessing_context option should be a string specifying the start method', 1, true)
    assert.equal(2, #load { num_workers = 1, multiprocessing_context = 'fork', pin_memory_device = 'cuda' }())
  end)

  it('share a stream and may be left early', function()
    local loader = data.DataLoader(Counter(1, 10), {batch_size = 2, num_workers = 2, persistent_workers = true})
    local expected = {{1, 3}, {2, 4}, {5, 7}, {6, 8}, {9}, {10}}
    assert.same(expected, all(loader))
    for batch in loader:iter() do
      assert.same({1, 3}, batch:tolist())
      break
    end
    assert.same(expected, all(loader))
  end)

  it('send tables of tensors of every kind', function()
    local Mixed = data.Dataset:extend('Mixed')
    function Mixed:__len() return 2 end
    function Mixed:__getitem(i) return {name = 's' .. i, x = torch.full({2}, i, {dtype = torch.bfloat16}), flag = i == 1}, torch.ones(2, 0) end
    for batch, empty in data.DataLoader(Mixed(), {batch_size = 2, num_workers = 1}):iter() do
      assert.same({'s1', 's2'}, batch.name)
      assert.equal(torch.bfloat16, batch.x.dtype)
      assert.same({{1, 1}, {2, 2}}, batch.x:tolist())
      assert.same({true, false}, batch.flag:tolist())
      assert.same({2, 2, 0}, {table.unpack(empty.shape)})
    end
  end)

  it('have a number, a seed and a first function', function()
    local Who = data.Dataset:extend('Who')
    function Who:__len() return 4 end
    function Who:__getitem(i) return data.get_worker_info().id, _G.set_by_init, torch.rand(1) end
    torch.manual_seed(3)
    local ids, numbers = {}, {}
    for id, set, random in data.DataLoader(Who(), {num_workers = 2, worker_init_fn = function(id) _G.set_by_init = id * 10 end}):iter() do
      ids[#ids + 1], numbers[#numbers + 1] = {id:item(), set:item()}, random:item()
    end
    assert.same({{0, 0}, {1, 10}, {0, 0}, {1, 10}}, ids)
    assert.not_equal(numbers[1], numbers[2])
    assert.is_nil(data.get_worker_info())
  end)

  it('name the sample that failed', function()
    local Bad = Numbers:extend('Bad')
    function Bad:__getitem(i) if i == 5 then error 'rotten' end return i end
    local ok, err = pcall(all, data.DataLoader(Bad(8), {batch_size = 2, num_workers = 2}))
    assert.is_false(ok)
    assert.truthy(err:find 'Caught an error in DataLoader worker process 0, at sample 5%.')
    assert.truthy(err:find('rotten', 1, true) and err:find('stack traceback', 1, true))
  end)

  it('that end or take too long are noticed', function()
    local Odd = Numbers:extend('Odd')
    function Odd:__getitem(i) if i == 3 then os.execute 'kill -9 $PPID' end return i end
    fails_with('exited unexpectedly: killed by signal 9', all, data.DataLoader(Odd(4), {num_workers = 1}))
    function Odd:__getitem(i) if i == 2 then os.execute 'sleep 30' end return i end
    fails_with('DataLoader timed out after 0.2 seconds', all, data.DataLoader(Odd(4), {num_workers = 1, timeout = 0.2}))
  end)

  it('leave no process behind #lua54', function()
    local out, err, status = process.lua [[
      local data = torch.utils.data
      torch.ones(300, 300):matmul(torch.ones(300, 300)) -- threads run
      local D = data.Dataset:extend 'D'
      function D:__len() return 100 end
      function D:__getitem(i) if i == 50 then error 'x' end return torch.ones(1000):mul(i) end
      for i = 1, 5 do
        for x in data.DataLoader(D(), {num_workers = 2, batch_size = 4}):iter() do break end
        pcall(function() for x in data.DataLoader(D(), {num_workers = 2}):iter() do end end)
      end
      local p = io.popen 'ps -o stat=,comm= --ppid $PPID | grep -c ltensor'
      print((p:read 'a'):match '%d+')
    ]]
    assert.equal(0, status, err)
    assert.equal('0\n', out)
  end)

  it('end at Ctrl-C #pty', function()
    local state = terminal.new_folder()
    terminal.follow(state, [[
send D = torch.utils.data.Dataset:extend 'D'; D.__len = function() return 9 end; D.__getitem = function(_, i) os.execute 'sleep 5' return i end\r
expect In [2]: 
send print('be' .. 'gun') for x in torch.utils.data.DataLoader(D(), {num_workers = 2}):iter() do end\r
expect begun
sleep 300
send \x03
within 3000
expect interrupted
expect In [3]: 
send 6 * 7\r
expect Out[3]: 42
]])
    terminal.remove_folder(state)
  end)
end)
