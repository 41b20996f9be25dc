-- The scripts of the GPU chapter's exercises: tiny runs on the CPU and on simulated GPUs, their help, their
-- refusals, and that simulated GPUs give no figures of speed.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- With the arguments of a run that takes no time, and what the CPU alone makes the script say.
local SCRIPTS = {
  big_and_small = {'--big 32 --small 2 --big-runs 2 --small-runs 3', 'No GPU took part'},
  parameters = {'--inputs 3 --hidden 4 --outputs 2 --repeats 2', 'No GPU took part'},
  logging = {'--size 8 --steps 5 --repeats 2', 'On the CPU there is nothing to wait for'},
  two_gpus = {'--size 8 --steps 3 --repeats 2', 'Both tasks ran on the CPU'},
}

local function run(name, arguments, options)
  return process.run(('%s %s %sscripts/%s.lua %s'):format(
    process.quote(process.ltensor), options or '--disable-cuda', here .. '../../', name, arguments))
end

for name, script in pairs(SCRIPTS) do
  local arguments, on_cpu = table.unpack(script)

  describe('scripts/' .. name .. '.lua #cpu', function()
    it('the script runs on the CPU and prints its accuracy', function()
      local output, message, status = run(name, '--device cpu ' .. arguments)
      assert.equal(0, status, message)
      assert.equal('', message)
      assert.truthy(output:find('median', 1, true), output)
      assert.truthy(output:find('[%d.]+ [mun]?s'), output)
      assert.truthy(output:find(on_cpu, 1, true), output)
    end)

    it('states no speed of simulated GPUs, and why', function()
      local output, message, status = run(name, arguments, '--sim-gpus 2 --no-copies')
      assert.equal(0, status, message)
      assert.truthy(output:find('not stated', 1, true), output)
      assert.truthy(output:find('No speed is stated for simulated GPUs', 1, true), output)
      for line in output:gmatch '[^\n]+' do
        if line:find('cuda', 1, true) then assert.is_nil(line:find '[%d.]+ [mun]?s%f[%W]', line) end
      end
    end)

    it('explains itself', function()
      local output, _, status = run(name, '--help')
      assert.equal(0, status)
      assert.truthy(output:find('usage: ltensor ' .. name .. '.lua', 1, true), output)
      assert.truthy(output:find('--device D', 1, true), output)
    end)

    it('the script rejects unknown options', function()
      for _, wrong in ipairs {'--sizes 3', '--seed', '--seed x', '--seed=1.5', 'file', '--device cuda:99',
          '--device gpu'} do
        local _, message, status = run(name, wrong, '--sim-gpus 2')
        assert.equal(1, status, wrong)
        assert.equal(name .. ': ', message:sub(1, #name + 2), wrong)
        assert.is_nil(message:find('stack traceback', 1, true), message)
        assert.is_nil(message:find('%.lua:%d+:'), message)
      end
    end)
  end)
end

describe('scripts #cpu', function()
  it('refuse counts below one', function()
    for name, option in pairs {logging = '--steps 0', parameters = '--hidden=-1', two_gpus = '--size 0'} do
      local _, message, status = run(name, option)
      assert.equal(1, status)
      assert.truthy(message:find 'must be at least 1', message)
    end
  end)

  it('two_gpus wants two', function()
    for gpus, words in pairs {[0] = 'there is none', [1] = 'there is one'} do
      local _, message, status = run('two_gpus', '', '--sim-gpus ' .. gpus)
      assert.equal(1, status)
      assert.truthy(message:find(words, 1, true), message)
    end
  end)

  it('logging counts a copy for each step that is read on the host, and one for a log on the device', function()
    local output = run('logging', '--size 8 --steps 7 --repeats 1', '--sim-gpus 1 --no-copies')
    assert.truthy(output:find 'on the host%s+7%s+7%s+28%s', output)
    assert.truthy(output:find 'on the device%s+7%s+1%s+28%s', output)
  end)

  it('parameters writes the requested file with every parameter', function()
    local torch = require 'torch'
    local path = os.tmpname() .. '.safetensors'
    local _, message, status = run('parameters', '--inputs 3 --hidden 4 --outputs 2 --repeats 1 --file ' .. path,
      '--sim-gpus 1 --no-copies')
    assert.equal(0, status, message)
    local saved = torch.load(path, {map_location = 'cpu'})
    os.remove(path)
    assert.same({4, 3}, {saved['0.weight']:size(1), saved['0.weight']:size(2)})
    assert.equal(0.5, saved['0.bias'][1]:item())
  end)
end)
