-- Which GPUs a process sees: CUDA_VISIBLE_DEVICES and --disable-cuda, also for simulated GPUs; and settings that hold
-- without one.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local function run(environment, options, code)
  local output, errors, status = process.run(('%s %s --no-copies %s -e %s'):format(environment,
    process.quote(process.ltensor), options, process.quote(code)))
  assert.equal(0, status, errors)
  return output
end

describe('CUDA_VISIBLE_DEVICES', function()
  for value, count in pairs { ['0'] = 1, ['1'] = 1, ['1,0'] = 2, [''] = 0, ['-1'] = 0, ['2,0'] = 0, ['1,7,0'] = 1, ['0,0'] = 1 } do
    it(('%q leaves %d of two'):format(value, count), function()
      assert.equal(('%d\n'):format(count), run(("CUDA_VISIBLE_DEVICES='%s'"):format(value), '--sim-gpus 2',
        'print(torch.cuda.device_count())'))
    end)
  end

  it('visible GPUs are numbered from 0', function()
    assert.equal('cuda:0\tfalse\n', run('CUDA_VISIBLE_DEVICES=1', '--sim-gpus 2',
      "print(torch.ones(1, {device = 'cuda'}).device, (pcall(torch.ones, 1, {device = 'cuda:1'})))"))
  end)

  it('an empty CUDA_VISIBLE_DEVICES is named in the error of a GPU request', function()
    local output = run("CUDA_VISIBLE_DEVICES=''", '--sim-gpus 1',
      "print(torch.cuda.is_available(), select(2, pcall(torch.ones, 1, {device = 'cuda'})))")
    assert.truthy(output:find('^false\t.*no CUDA GPUs are available: .*CUDA_VISIBLE_DEVICES'), output)
  end)
end)

describe('--disable-cuda', function()
  it('hides GPUs of both kinds', function()
    for _, options in ipairs { '--disable-cuda', '--disable-cuda --sim-gpus 2', '--sim-gpus 2 --disable-cuda' } do
      assert.equal('false\t0\tcpu\t3.0\n', run('', options,
        'print(torch.cuda.is_available(), torch.cuda.device_count(), try_gpu(), torch.ones(3):sum():item())'))
    end
  end)

  it('--disable-cuda is named in the error of a GPU request', function()
    for _, call in ipairs { "torch.ones(1):cuda()", "torch.ones(1, {device = 'cuda'})", 'torch.cuda.current_device()' } do
      local output = run('', '--disable-cuda', ('print(select(2, pcall(function() return %s end)))'):format(call))
      assert.truthy(output:find('disabled by --disable-cuda', 1, true), output)
    end
    local output = run('LTENSOR_DISABLE_CUDA=1', '', "print(pcall(torch.ones, 1, {device = 'cuda'}))")
    assert.truthy(output:find('disabled by LTENSOR_DISABLE_CUDA', 1, true), output)
  end)
end)

describe('torch.backends', function()
  local matmul = torch.backends.cuda.matmul
  after_each(function() matmul.allow_tf32 = false end)

  it('has TF32 off at first', function()
    assert.is_false(matmul.allow_tf32)
    assert.equal('highest', torch.get_float32_matmul_precision())
  end)

  it('takes the setting by either name', function()
    matmul.allow_tf32 = true
    assert.is_true(matmul.allow_tf32)
    assert.equal('high', torch.get_float32_matmul_precision())
    torch.set_float32_matmul_precision 'highest'
    assert.is_false(matmul.allow_tf32)
    torch.set_float32_matmul_precision 'medium'
    assert.is_true(matmul.allow_tf32)
    assert.equal('medium', torch.get_float32_matmul_precision())
  end)

  if torch.cuda.is_available() and torch.cuda.is_simulated() then
    it('rounds the factors on a simulated GPU as on a real one', function()
      local x = torch.full({1, 1}, 1 + 2 ^ -12, {device = 'cuda'})
      assert.equal((1 + 2 ^ -12) * (1 + 2 ^ -12), x:to('double'):mm(x:to('double')):item())
      assert.is_true(x:mm(x):item() > 1)
      matmul.allow_tf32 = true
      assert.equal(1, x:mm(x):item())
      assert.equal(1.5, torch.full({1, 1}, 1.5, {device = 'cuda'}):mm(torch.ones(1, 1, {device = 'cuda'})):item())
    end)
  end

  it('has TF32 of convolutions on at first, apart from that of products', function()
    local cudnn = torch.backends.cudnn
    assert.equal('true\tfalse\n', run('', '', [[print(torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32)]]))
    cudnn.allow_tf32 = true
    torch.set_float32_matmul_precision 'highest'
    assert.is_true(cudnn.allow_tf32)
    cudnn.allow_tf32 = false
    torch.set_float32_matmul_precision 'high'
    assert.is_false(cudnn.allow_tf32)
    assert.is_false(pcall(function() cudnn.allow_tf32 = 'yes' end))
    assert.is_true(cudnn.enabled)
    assert.is_false(pcall(function() cudnn.enabled = 1 end))
    assert.is_false(pcall(function() cudnn.benchmarks = true end))
  end)

  it('torch.backends rejects unknown settings', function()
    assert.is_false(pcall(function() matmul.allow_tf23 = true end))
    assert.is_false(pcall(function() return matmul.allow_tf23 end))
    assert.is_false(pcall(function() matmul.allow_tf32 = 1 end))
    assert.is_false(pcall(torch.set_float32_matmul_precision, 'low'))
  end)

  if torch.cuda.is_available() then
    it('keeps products right', function()
      matmul.allow_tf32 = true
      local a = torch.ones(8, 8, { device = 'cuda' })
      assert.equal(512, a:mm(a):sum():item())
    end)
  end
end)
