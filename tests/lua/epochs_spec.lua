-- torch.utils.epochs: averages over the examples of an epoch, without a copy in its steps; its row, its line, and where they go.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local terminal = dofile(here .. 'support/terminal.lua')

local devices = { 'cpu', torch.cuda.device_count() > 0 and 'cuda' or nil }

local function quiet(options)
  options.quiet = true
  return torch.utils.epochs(options)
end

describe('torch.utils.epochs', function()
  for _, device in ipairs(devices) do
    it('weights batches by their examples on ' .. device, function()
      local epochs, seen = quiet { total = 2 }, {}
      for epoch in epochs do
        seen[#seen + 1] = epoch
        epochs:update(30, { loss = torch.tensor(1.0, { device = device, requires_grad = true }), plain = 1, hit = torch.tensor({ true }, { device = device }) })
        epochs:update(10, { loss = torch.tensor(5.0, { device = device }), plain = 5, hit = torch.tensor({ false }, { device = device }) })
        epochs:update(2)
        epochs:set { lr = 0.1, kind = 'x', val_loss = torch.tensor(3, { device = device }) }
      end
      assert.same({ 1, 2 }, seen)
      local row = epochs.rows[2]
      assert.equal(2, #epochs.rows)
      assert.equal(2.0, row.loss)
      assert.equal(2.0, row.plain)
      assert.equal(0.75, row.hit)
      assert.equal(3.0, row.val_loss)
      assert.equal('x', row.kind)
      assert.equal(42, epochs.examples)
      assert.equal('epoch loss hit plain kind lr val_loss', table.concat(row, ' ', 1, 7))
      assert.is_true(row.memory > 0)
    end)
  end

  it('keeps no graph of a step', function()
    local epochs, graphs = quiet { total = 1 }, setmetatable({}, { __mode = 'k' })
    local Node = torch.autograd.Function:extend 'Node'
    function Node.forward(ctx, x) graphs[ctx] = true return x * 2 end
    function Node.backward(_, gradient) return gradient end
    for _ in epochs do
      for _ = 1, 3 do epochs:update(1, { loss = Node.apply(torch.ones(1, { requires_grad = true })) }) end
      collectgarbage()
      collectgarbage()
      assert.is_nil(next(graphs))
    end
  end)

  it('counts examples a second', function()
    local epochs = quiet { total = 1 }
    for _ in epochs do
      local start = torch._C.clock()
      repeat until torch._C.clock() - start > 0.02
      epochs:update(100, {})
    end
    local row = epochs.rows[1]
    assert.is_true(row.seconds > 0.02)
    assert.is_true(math.abs(row.examples_per_second * row.seconds - 100) < 1e-9)
  end)

  if torch.cuda.device_count() > 0 then
    it('neither copies nor waits in a step, and reads an epoch in one copy', function()
      local x = torch.ones(4, { device = 'cuda' })
      torch.cuda.reset_copies()
      local epochs = quiet { total = 1, device = 'cuda' }
      for _ in epochs do
        torch.cuda.set_sync_debug_mode 'error'
        for _ = 1, 5 do epochs:update(4, { loss = x:mean(), accuracy = x:sum(), top = x:max() }) end
        epochs:set { val_loss = x:mean() }
        torch.cuda.set_sync_debug_mode 'default'
        assert.equal(0, torch.cuda.copies().count)
      end
      local ledger = torch.cuda.copies()
      assert.equal(1, ledger.count)
      assert.equal(4 * 8, ledger.bytes)
      assert.is_false(ledger[1].implicit)
      local row = epochs.rows[1]
      assert.equal(0, row.copies)
      assert.equal(1, row.loss)
      assert.equal(torch.cuda.max_memory_allocated 'cuda', row.memory)
      if torch.cuda.is_simulated() then assert.is_nil(row.seconds or row.examples_per_second) end
    end)

    it('epochs reports the copies of the epoch, also after the ledger was cleared', function()
      local epochs = quiet { total = 2 }
      local x = torch.ones(4, { device = 'cuda' })
      for epoch in epochs do
        if epoch == 2 then torch.cuda.reset_copies() end
        for _ = 1, 3 do x:cpu() end
        epochs:update(1, { loss = x:mean() })
      end
      for _, row in ipairs(epochs.rows) do
        assert.equal(3, row.copies)
        assert.equal(3 * 16, row.copied_bytes)
      end
    end)
  end

  it('gives its rows to loggers, writers and functions', function()
    local base = os.tmpname()
    local rows = {}
    local log <close> = torch.utils.log.CSVLogger(base)
    local writer <close> = torch.utils.tensorboard.SummaryWriter(base .. '.tb')
    local added = {}
    local recorder = torch.utils.tensorboard.SummaryWriter.add_scalar
    local epochs = quiet { first = 4, total = 5, log = { log, writer, function(row) rows[#rows + 1] = row end } }
    torch.utils.tensorboard.SummaryWriter.add_scalar = function(self, name, value, step)
      added[#added + 1] = name .. ' ' .. step
      return recorder(self, name, value, step)
    end
    for _ in epochs do epochs:update(2, { loss = 0.5 }) end
    torch.utils.tensorboard.SummaryWriter.add_scalar = recorder
    local read = torch.utils.data.csv.read(base)
    assert.same({ 4, 5 }, read.epoch:tolist())
    assert.same({ 0.5, 0.5 }, read.loss:tolist())
    assert.equal(rows[2], epochs.rows[2])
    assert.equal('loss 4', added[1])
    os.execute('rm -r ' .. base .. '.tb ' .. base)
  end)

  it('ends an epoch early, so that the loop can look at its row', function()
    local epochs, count = quiet {}, 0
    for epoch in epochs do
      epochs:update(1, { loss = 1 / epoch })
      local row = epochs:finish()
      count = count + 1
      assert.equal(row, epochs:finish())
      if row.loss < 0.3 then break end
    end
    assert.equal(4, count)
    assert.equal(4, #epochs.rows)
  end)

  it('prints one line for each epoch', function()
    local out, err, status = process.lua([[
      local epochs = torch.utils.epochs {total = 2}
      for _ in epochs do
        for _ in torch.utils.progress(3, {leave = false}) do epochs:update(10, {loss = 0.123456, accuracy = 0/0}) end
      end]], '--disable-cuda')
    assert.equal(0, status, err)
    assert.equal('', err)
    local lines = {}
    for line in out:gmatch '[^\n]+' do lines[#lines + 1] = line end
    assert.equal(2, #lines)
    assert.is_truthy(lines[2]:find '^epoch 2/2  loss 0%.1235  accuracy nan  [%d.]+ s  %d+ examples/s  [%d.]+ MiB  0 copies$')
  end)

  it('draws its averages in one place on a terminal, with the line above #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send epochs = torch.utils.epochs {total = 3, log = torch.utils.plot.live {pause = 0}}; for i in epochs do for _ in torch.utils.progress(2, {leave = false}) do epochs:update(1, {loss = 1 / i, accuracy = i}) end end\r
expect epoch 1/3  loss 1
expect epoch 2/3  loss 0.5
expect epoch 3/3  loss 0.3333
expect In [2]: 
]], 'PTY_COLUMNS=110')
    terminal.remove_folder(folder)
  end)

  it('epochs rejects values that it cannot average, log or count', function()
    local epochs = quiet { total = 1 }
    fails_with('update(): no epoch runs', epochs.update, epochs, 1, { loss = 1 })
    fails_with('set(): no epoch runs', epochs.set, epochs, {})
    epochs()
    fails_with("update(): argument 'self' must be an Epochs, not a number (a method is called with a colon: epochs:update())", epochs.update, 1, { loss = 1 })
    fails_with("argument 'n' must be a number of examples, not a table", epochs.update, epochs, { loss = 1 })
    fails_with("argument 'n' must be a number of examples", epochs.update, epochs, -1)
    fails_with("'loss' must have one element, not the shape torch.Size([2])", epochs.update, epochs, 2, { loss = torch.zeros(2) })
    fails_with("'loss' must be a number or a tensor of one element, not 'x'", epochs.update, epochs, 2, { loss = 'x' })
    fails_with("'seconds' is computed by torch.utils.epochs", epochs.update, epochs, 2, { seconds = 1 })
    fails_with("'memory' is computed by torch.utils.epochs", epochs.set, epochs, { memory = 1 })
    fails_with("'best' must be a number, a string, true or false", epochs.set, epochs, { best = {} })
    fails_with('must hold loggers, SummaryWriters', torch.utils.epochs, { log = { 3 } })
    fails_with("argument 'log' must be a list of loggers, not a number", torch.utils.epochs, { log = 3 })
    fails_with("argument 'total' must be an integer", torch.utils.epochs, { total = 1.5 })
    fails_with('totl', torch.utils.epochs, { totl = 3 })
  end)
end)
