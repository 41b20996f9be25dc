-- scripts/distributed.lua: a run over ranks that are killed and started again goes on from its last whole checkpoint, with as many ranks or
-- with others, and has the losses that it would have had.

local process = require 'support.process'
local ranks = require 'support.ranks'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local script = here .. '../../scripts/distributed.lua'
local installed = ranks.installed()
if #installed == 0 then return end

describe('#cpu scripts/distributed.lua', function()
  local folder
  local function file(name) return folder .. '/' .. name end
  local function write(name, text)
    local out = assert(io.open(file(name), 'w'))
    out:write(text)
    out:close()
  end

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute('mkdir ' .. folder))
    write('text', ('the sheep that sleeps there these three days needs sweets; '):rep(30))
  end)
  after_each(function() os.execute('rm -r ' .. folder) end)

  local function run(options, arguments, program)
    return process.run(('LTENSOR_MPI=%s OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 timeout -k 5 60 %s --disable-cuda %s %s --model gpt --text %s '
      .. '--length 8 --width 16 --layers 1 --batch-size 12 --timeout 10 %s'):format(installed[1], process.quote(process.ltensor), options,
      program or script, file 'text', arguments))
  end

  local function losses(name)
    local list = {}
    for line in io.lines(file(name)) do list[#list + 1] = tonumber(line) end
    return list
  end

  local function close(a, b)
    assert.equal(#a, #b)
    for i = 1, #a do assert.near(a[i], b[i], 1e-4, 'step ' .. i) end
  end

  it('the losses equal the losses of one rank, for every number of ranks', function()
    for n = 1, 3 do
      local output, errors, status = run('--nproc ' .. n, ('--epochs 2 --losses %s'):format(file('losses' .. n)))
      assert.equal(0, status, errors)
      assert.matches('epoch 2  loss %d', output)
    end
    local one = losses 'losses1'
    assert.is_true(one[#one] < 0.8 * one[1])
    close(one, losses 'losses2')
    close(one, losses 'losses3')
  end)

  it('goes on from the last whole checkpoint when a rank is killed and all are started again #again', function()
    local output, errors, status = run('--nproc 2', ('--epochs 2 --losses %s'):format(file 'losses'))
    assert.equal(0, status, errors)
    -- rank 1 dies once, as the third checkpoint is being written
    write('dies.lua', ([[
      local torch = require 'torch'
      local dist, saves = torch.distributed, 0
      local save = dist.checkpoint.save
      function dist.checkpoint.save(...)
        saves = saves + 1
        if saves == 3 and os.getenv 'TORCHELASTIC_RESTART_COUNT' == '0' and dist.get_rank() == 1 then os.execute 'kill -9 $PPID' end
        return save(...)
      end
      dofile '%s'
    ]]):format(script))
    local arguments = ('--epochs 2 --checkpoint %s --save-every 3 --losses %s'):format(file 'run.safetensors', file 'again')
    output, errors, status = run('--nproc 2 --max-restarts 2', arguments, file 'dies.lua')
    assert.equal(0, status, errors)
    assert.matches('the ranks have ended with exit status %d+ and are started again %(1 of 2%)', errors)
    assert.matches('goes on from .-/run.safetensors, epoch 1, step 6, on 2 ranks', output)
    assert.same(losses 'losses', losses 'again')
  end)

  it('goes on with another number of ranks #again', function()
    local _, errors, status = run('--nproc 1', ('--epochs 2 --losses %s'):format(file 'losses'))
    assert.equal(0, status, errors)
    local checkpoint = ('--epochs 2 --checkpoint %s --save-every 5'):format(file 'run.safetensors')
    _, errors, status = run('--nproc 3', checkpoint .. ' --steps 5')
    assert.equal(0, status, errors)
    local output
    output, errors, status = run('--nproc 2', ('%s --losses %s'):format(checkpoint, file 'others'))
    assert.equal(0, status, errors)
    assert.matches('epoch 1, step 5, on 2 ranks', output, 1, true)
    close(losses 'losses', losses 'others')
  end)

  it('keeps parts alone, and goes on another way with others #again', function()
    local _, errors, status = run('--nproc 1', ('--epochs 2 --losses %s'):format(file 'losses'))
    assert.equal(0, status, errors)
    local checkpoint = ('--epochs 2 --checkpoint %s --losses %s'):format(file 'run.safetensors', file 'others')
    for _, leg in ipairs { '--nproc 3,--parallel fully_shard --steps 5 --save-every 5', '--nproc 2,--parallel zero --steps 15 --save-every 15',
      '--nproc 2,--parallel fully_shard' } do
      local n, way = leg:match '(.*),(.*)'
      errors, status = select(2, run(n, checkpoint .. ' ' .. way))
      assert.equal(0, status, errors)
    end
    close(losses 'losses', losses 'others')
  end)

  it('ends where it fails, if it is not to be started again #again', function()
    write('fails.lua', "error 'deliberate'")
    local _, errors, status = run('--nproc 2 --max-restarts 1', '', file 'fails.lua')
    assert.is_true(status ~= 0 and status ~= 124)
    assert.equal(1, select(2, errors:gsub('are started again', '')))
    _, errors, status = process.run(('%s --max-restarts 2 %s'):format(process.quote(process.ltensor), file 'fails.lua'))
    assert.equal(1, status)
    assert.matches("'--max-restarts': only with --nproc", errors, 1, true)
  end)
end)
