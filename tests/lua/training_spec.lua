-- The scripts that train: tiny data, their checkpoints, and runs that are killed. What they learn on real data is
-- measured by `make bench`.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local SAMPLES = 48

local function write(path, content)
  local file = assert(io.open(path, 'wb'))
  file:write(content)
  file:close()
end

-- A folder with four idx files of random bytes.
local function data_folder()
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute('mkdir ' .. folder))
  torch.manual_seed(1)
  for _, split in ipairs { 'train', 't10k' } do
    local pixels, labels = {}, {}
    for i, value in ipairs(torch.randint(0, 256, { SAMPLES * 784 }):tolist()) do pixels[i] = string.char(value) end
    for i, value in ipairs(torch.randint(0, 10, { SAMPLES }):tolist()) do labels[i] = string.char(value) end
    write(folder .. '/' .. split .. '-images-idx3-ubyte', ('>I4I4I4I4'):pack(0x803, SAMPLES, 28, 28) .. table.concat(pixels))
    write(folder .. '/' .. split .. '-labels-idx1-ubyte', ('>I4I4'):pack(0x801, SAMPLES) .. table.concat(labels))
  end
  return folder
end

local folder = data_folder()
local function file(name) return folder .. '/' .. name end

local function command(script, arguments, options)
  return ('%s %s %sscripts/%s.lua --data %s %s'):format(process.quote(process.ltensor), options or '--disable-cuda',
    here .. '../../', script, folder, arguments)
end

local function run(script, arguments, options)
  local output, message, status = process.run(command(script, arguments, options))
  assert.equal(0, status, message)
  return output, message
end

local function read(name)
  local input = assert(io.open(file(name)))
  local text = input:read 'a'
  input:close()
  return text
end

describe('a script that trains #cpu', function()
  for _, model in ipairs { 'scratch', 'concise' } do
    it('mlp, ' .. model .. ', learns its few samples, and shows the losses', function()
      local output = run('mlp', ('--model %s --hidden 32 --batch-size 8 --epochs 12 --lr 0.5 --losses %s --plot %s'):format(model,
        file 'losses', file 'plot.svg'))
      local first, last = output:match 'epoch 1  loss ([%d.]+)', output:match 'epoch 12  loss ([%d.]+)'
      assert(tonumber(last) < tonumber(first), output)
      assert.truthy(output:find('mlp: loss by step', 1, true))
      assert.equal(12 * SAMPLES / 8, select(2, read('losses'):gsub('\n', '')))
      assert.truthy(read('plot.svg'):find('<svg', 1, true))
    end)
  end

  it('trains on a simulated GPU', function()
    local output = run('mlp', '--device cuda --hidden 8 --epochs 1', '--sim-gpus 1 --no-copies')
    assert.truthy(output:find('No speed is stated for simulated GPUs', 1, true), output)
  end)

  it('explains itself, and refuses', function()
    local output = run('mlp', '--help')
    assert.truthy(output:find('--checkpoint FILE', 1, true), output)
    for wrong, words in pairs { ['--model neither'] = 'scratch or concise', ['--data /nowhere'] = 'apt-get install' } do
      local _, message, status = process.run(command('mlp', wrong))
      assert.equal(1, status)
      assert.truthy(message:find(words, 1, true), message)
    end
  end)
end)

describe('the scripts that train models #cpu', function()
  it('resnet18, also in bfloat16', function()
    for _, amp in ipairs { 0, 1 } do
      local output = run('resnet18', ('--width 4 --batch-size 16 --epochs 2 --amp %d'):format(amp))
      assert.truthy(output:find 'epoch 2  loss [%d.]+  test acc', output)
    end
  end)

  it('gpt predicts a text better than a bigram table, and generates text', function()
    write(file 'text', ('the sheep that sleeps there these three days needs sweets; '):rep(40))
    local output, message, status = process.run(('%s --disable-cuda %sscripts/gpt.lua --text %s --length 16 --width 32 '
      .. '--layers 1 --epochs 6 --lr 0.01 --sample 10'):format(process.quote(process.ltensor), here .. '../../', file 'text'))
    assert.equal(0, status, message)
    local loss, pairs_loss = output:match 'epoch 6 .- test loss ([%d.]+) %(pairs: ([%d.]+)%)'
    assert(tonumber(loss) < tonumber(pairs_loss), output)
    assert.equal(10, #output:match '([^\n]*)\n$')
  end)

  it('char_rnn learns a text with each cell type, and generates text', function()
    write(file 'text', ('the sheep that sleeps there these three days needs sweets; '):rep(20))
    for _, cell in ipairs { 'GRU', 'LSTM' } do
      local output, message, status = process.run(('%s --disable-cuda %sscripts/char_rnn.lua --text %s --length 16 --hidden 32 '
        .. '--batch-size 8 --epochs 8 --lr 0.02 --cell %s --sample 10'):format(process.quote(process.ltensor), here .. '../../',
        file 'text', cell))
      assert.equal(0, status, message)
      local first, last = output:match 'epoch 1  loss ([%d.]+)', output:match 'epoch 8  loss ([%d.]+)'
      assert(tonumber(last) < tonumber(first) / 2, output)
      assert.equal(10, #output:match '([^\n]*)\n$')
    end
  end)
end)

describe('the losses of a run on a simulated GPU #cpu', function()
  local runs = {
    mlp = '--hidden 32 --batch-size 8 --epochs 2',
    lenet = '--batch-size 8 --epochs 1',
    resnet18 = '--width 4 --batch-size 16 --epochs 1',
    gpt = '--text ' .. file 'text' .. ' --length 16 --width 32 --layers 1 --steps 8 --sample 0',
  }
  for script, arguments in pairs(runs) do
    it('agree with the CPU: ' .. script, function()
      write(file 'text', ('the sheep that sleeps there these three days needs sweets; '):rep(40))
      local losses = {}
      -- Convolutions may be rounded to TF32 unless that is forbidden.
      local gpu = '--sim-gpus 1 --no-copies -e "torch.backends.cudnn.allow_tf32 = false"'
      for device, options in pairs { cpu = '--disable-cuda', cuda = gpu } do
        local data = script == 'gpt' and '' or '--data ' .. folder
        local _, message, status = process.run(('%s %s %sscripts/%s.lua %s %s --device %s --losses %s'):format(
          process.quote(process.ltensor), options, here .. '../../', script, data, arguments, device, file(device)))
        assert.equal(0, status, message)
        losses[device] = {}
        for loss in read(device):gmatch '%S+' do table.insert(losses[device], tonumber(loss)) end
      end
      assert(#losses.cpu >= 3 and #losses.cpu == #losses.cuda)
      for step, loss in ipairs(losses.cpu) do
        assert(math.abs(loss - losses.cuda[step]) < 1e-4 * loss, ('step %d: %s, not %s'):format(step, losses.cuda[step], loss))
      end
    end)
  end

  -- Forward, backward and optimizer, recorded once: the steps after that are replays.
  local graph = [[
        torch.backends.cudnn.allow_tf32 = false
        local nn, F = torch.nn, torch.nn.functional
        local function model()
          torch.manual_seed(3)
          return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5))
        end
        local x, labels = torch.randn(6, 1, 8, 8), torch.tensor { 1, 2, 3, 4, 5, 1 }
        local function steps(device, n, capture)
          local net, x, labels = model():to(device), x:to(device), labels:to(device)
          local optimizer = OPTIMIZER
          local loss
          local function step()
            optimizer:zero_grad { set_to_none = true }
            loss = F.cross_entropy(net(x), labels)
            loss:backward()
            optimizer:step()
          end
          local losses = {}
          local function take() table.insert(losses, loss:item()) end
          if not capture then
            for _ = 1, n do step() take() end
            return losses
          end
          local side = torch.cuda.Stream()
          side:wait_stream(torch.cuda.current_stream())
          torch.cuda.stream(side, function() for _ = 1, 3 do step() take() end end)
          torch.cuda.current_stream():wait_stream(side)
          local graph = torch.cuda.CUDAGraph()
          torch.cuda.graph(graph, step)
          for _ = 4, n do graph:replay() take() end
          return losses
        end
        local expected, replayed = steps('cpu', 8, false), steps('cuda', 8, true)
        for i, loss in ipairs(expected) do
          assert(math.abs(loss - replayed[i]) < 1e-4 * loss, ('step %d: %s, not %s'):format(i, replayed[i], loss))
        end
        assert(expected[8] < expected[1])
        print 'agrees'
  ]]
  for _, optimizer in ipairs {
    'SGD(net:parameters(), { lr = 0.1, momentum = 0.9, weight_decay = 1e-3 })',
    'RMSprop(net:parameters(), { lr = 0.01, momentum = 0.9 })',
    'Adam(net:parameters(), { lr = 0.01, weight_decay = 1e-2, capturable = capture })',
    'AdamW(net:parameters(), { lr = 0.01, amsgrad = true, maximize = true, capturable = capture })',
  } do
    it('agree with the CPU when the step is one graph: ' .. optimizer, function()
      local program = graph:gsub('OPTIMIZER', 'torch.optim.' .. optimizer)
      if optimizer:find 'maximize' then program = program:gsub('assert%(expected%[8%] < expected%[1%]%)', '') end
      local output, message, status = process.run(("%s --sim-gpus 1 --no-copies - <<'END'\n%s\nEND"):format(
        process.quote(process.ltensor), program))
      assert.equal(0, status, message)
      assert.equal('agrees\n', output)
    end)
  end
end)

-- On the real data, where it is installed.
local probe = io.open '/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz'
if probe then
  probe:close()
  describe('lenet on Fashion-MNIST #cpu', function()
    it('has the losses of PyTorch for the same seed, 100 steps long #again', function()
      local expected = dofile(here .. '../reference/training.lua')
      local _, message, status = process.run(('%s --disable-cuda %sscripts/lenet.lua --steps 100 --losses %s'):format(
        process.quote(process.ltensor), here .. '../../', file 'lenet'))
      assert.equal(0, status, message)
      local step = 0
      for loss in read('lenet'):gmatch '%S+' do
        step = step + 1
        assert(math.abs(expected[step] - tonumber(loss)) < 1e-3, ('step %d: %s, not %s'):format(step, loss, expected[step]))
      end
      assert.equal(#expected, step)
    end)
  end)
end

describe('a checkpoint #cpu', function()
  local small = '--hidden 8 --batch-size 8 --lr 0.3 '

  it('lets a run go on with the numbers that it would have had', function()
    run('mlp', small .. '--epochs 6 --losses ' .. file 'whole')
    run('mlp', small .. ('--epochs 6 --steps 13 --save-every 13 --checkpoint %s'):format(file 'c1'))
    local _, message = run('mlp', small .. ('--epochs 6 --checkpoint %s --losses %s'):format(file 'c1', file 'parts'))
    assert.truthy(message:find('goes on from', 1, true), message)
    assert.equal(read 'whole', read 'parts')
  end)

  it('of other options, or damaged, is refused', function()
    run('mlp', small .. '--epochs 1 --checkpoint ' .. file 'c2')
    local _, message, status = process.run(command('mlp', '--hidden 9 --batch-size 8 --lr 0.3 --checkpoint ' .. file 'c2'))
    assert.equal(1, status)
    assert.truthy(message:find('was saved by a run with --hidden 8', 1, true), message)
    local whole = read 'c2'
    write(file 'c2', whole:sub(1, #whole // 2))
    _, message, status = process.run(command('mlp', small .. '--checkpoint ' .. file 'c2'))
    assert.equal(1, status)
    assert.truthy(message:find('^mlp: ', 1), message)
  end)

  it('is whole whenever the run is killed, and the run ends with the same numbers #again', function()
    local seed = os.time()
    math.randomseed(seed)
    local arguments = small .. '--epochs 60 --save-every 1 --checkpoint ' .. file 'c3'
    local before, kills = 0, 0
    for _ = 1, 50 do
      local seconds = 0.02 + 0.08 * math.random()
      local _, _, status = process.run(('timeout -s KILL %.3f %s >/dev/null 2>&1'):format(seconds, command('mlp', arguments)))
      kills = kills + (status == 0 and 0 or 1)
      local input = io.open(file 'c3')
      if input then
        input:close()
        local saved = torch.load(file 'c3') -- a broken one raises
        assert(saved.steps >= before and #saved.losses == saved.steps, 'seed ' .. seed)
        before = saved.steps
      end
    end
    assert(kills > 0)
    run('mlp', arguments .. ' --losses ' .. file 'killed')
    run('mlp', small .. '--epochs 60 --losses ' .. file 'quiet')
    assert.equal(read 'quiet', read 'killed')
  end)
end)

teardown(function() os.execute('rm -r ' .. folder) end)
