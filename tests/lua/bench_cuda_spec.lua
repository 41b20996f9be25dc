-- The programs of make bench-cuda without a GPU: every measurement runs once on a simulated one, which gives no
-- figures; the report is made of figures that are given here.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local json = require 'dkjson'

local root = here .. '../../'
local ltensor = process.quote(process.ltensor)

local function write(path, text)
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return text
end

describe('bench_cuda.lua #cpu', function()
  it('runs every measurement, and prints no figure in a dry run', function()
    local output, message, status = process.run(ltensor .. ' --sim-gpus 1 --no-copies ' .. root
      .. 'tests/bench/bench_cuda.lua --dry-run=yes')
    assert.equal(0, status, message)
    assert.truthy(output:find('mm bfloat16', 1, true), output)
    assert.is_nil(output:find('\t', 1, true))
    -- PyTorch's side has the same rows.
    local python = read(root .. 'tests/bench/bench_cuda.py')
    for name in output:gmatch '[^\n]+' do
      local words = name:match '^launch: (.*)' or name:match '^mm ([^,]+)' or name:gsub(', %d+ [KMG]iB.*', '')
      assert.truthy(python:find(words, 1, true), name)
    end
  end)

  it('refuses simulated GPUs, saying why', function()
    for _, command in ipairs {ltensor .. ' --sim-gpus 1 tests/bench/bench_cuda.lua', 'sh tests/bench/run_cuda.sh'} do
      local output, message, status = process.run(('cd %s && PYTHON=false BUILD=$(dirname %s) LTENSOR_SIM_GPUS=1 %s')
        :format(root, ltensor, command))
      assert.equal(1, status)
      assert.equal('', output)
      assert.truthy(message:find('No speed is stated for simulated GPUs', 1, true), message)
    end
  end)
end)

describe('the programs of make gpu-report #cpu #again', function()
  local function run(command)
    local output, message, status = process.run(('cd %s && %s --sim-gpus 2 --no-copies %s'):format(root, ltensor, command))
    assert.equal(0, status, message)
    return output
  end

  it('runs the kernels of each folder that is named', function()
    assert.equal('reduce\ncompile\nproducts\n', run 'tests/gpu/kernels.lua reduce compile none products')
  end)

  it('decodes by a tiny model', function() assert.truthy(run('tests/gpu/decode.lua tiny'):find 'a token, bfloat16\tms\t%d') end)
end)

describe('report_cuda.lua #cpu', function()
  local folder

  before_each(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
  after_each(function() process.run('rm -r ' .. folder) end)

  local function report(torch)
    write(folder .. '/about', 'date\t2025-01-02\ndevice\tA GPU (80 GB)\nmemory\t85899345920\ncommit\tabc\nltensor\t1\n'
      .. 'rounds\t3\n' .. (torch and 'pytorch\t2\n' or ''))
    write(folder .. '/ltensor', 'launch: a + b, 2x3\tus\t2\nlaunch: a + b, 2x3\tus\t1\nlaunch: a + b, 2x3\tus\t9\n'
      .. 'copy, 1 GiB\tGB/s\t4000\nadd, 1 GiB\tGB/s\t3700\nmm float32, 4096x4096\tTFLOP/s\t40\n')
    if torch then
      write(folder .. '/torch', 'launch: a + b, 2x3\tus\t3.9\nmm float32, 4096x4096\tTFLOP/s\t41\n')
    end
    write(folder .. '/logging.txt', 'the figures of logging\n')
    local output, message, status = process.run(('%s %stests/bench/report_cuda.lua %s %s'):format(
      ltensor, root, folder, folder))
    assert.equal(0, status, message)
    assert.equal(output, read(folder .. '/2025-01-02-a-gpu-80-gb.md'))
    return output, json.decode(read(folder .. '/2025-01-02-a-gpu-80-gb.json'))
  end

  it('has medians, ratios and goals', function()
    local output, data = report(true)
    assert.truthy(output:find('| launch: a + b, 2x3 | us | 2 | 3.9 | 0.51 |  | at most half of PyTorch\'s | no |', 1, true),
      output)
    assert.truthy(output:find('| add, 1 GiB | GB/s | 3700 |  |  | 92% | 90% of the device\'s copy or more | yes |', 1, true),
      output)
    assert.truthy(output:find('the figures of logging', 1, true))
    assert.equal('A GPU (80 GB)', data.device)
    assert.equal('abc', data.commit)
    assert.equal(2, data.rows[1].ltensor)
    assert.equal(3, #data.rows[1].rounds)
    assert.equal('yes', data.rows[4].holds)
    assert.equal('the figures of logging\n', data.exercises.logging)
  end)

  it('the report lists the comparisons that were not possible', function()
    local output, data = report(false)
    assert.truthy(output:find('no Python with torch', 1, true))
    assert.equal('not measured', data.rows[1].holds)
    assert.is_nil(data.pytorch)
  end)
end)
