-- Errors of GPUs: positions out of range found by kernels, kernels that fail while they run, calls that fail,
-- waits that Ctrl-C ends. In processes of their own, on simulated GPUs.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local function run(code, environment)
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(code)
  file:close()
  local output, errors, status = process.run(('%s %s --no-copies --sim-gpus 2 %s'):format(environment or '',
    process.quote(process.ltensor), path))
  os.remove(path)
  return output:gsub(path:gsub('%p', '%%%0'), 'script'), errors, status
end

describe('a position out of range', function()
  local cases = {
    gather = { 'torch.gather(x, 2, torch.tensor({{1, 7}, {1, 2}}, {device = "cuda"}))',
      'index 7 is out of bounds for dimension 2 with size 3 in gather' },
    index_select = { 'x:index_select(1, torch.tensor({-4}, {device = "cuda"}))',
      'index -4 is out of bounds for dimension 1 with size 2 in index_select' },
    scatter = { 'x:scatter(2, torch.tensor({{4}}, {device = "cuda"}), 1)',
      'index 4 is out of bounds for dimension 2 with size 3 in scatter' },
    index = { 'x[torch.tensor({9}, {device = "cuda"})]',
      'index 9 is out of bounds for dimension 1 with size 2 in index' },
    zero = { 'x[torch.tensor({0}, {device = "cuda"})]',
      'index 0 is out of bounds for dimension 1 with size 2: positions count from 1 in index' },
    embedding = { 'nn.Embedding(5, 2):cuda()(torch.tensor({3, 6}, {device = "cuda"}))',
      'index 6 is out of bounds for dimension 1 with size 5 in embedding' },
    cross_entropy = { 'nn.CrossEntropyLoss()(x, torch.tensor({1, 4}, {device = "cuda"}))',
      'index 4 is out of bounds for dimension 2 with size 3 in cross_entropy' },
  }
  local LATE = ' (reported asynchronously: an earlier operation on the GPU used it and left the element out; ' ..
    'CUDA_LAUNCH_BLOCKING=1 shows which)'
  for name, case in pairs(cases) do
    local code = ([[
local x = torch.ones(2, 3, {device = 'cuda'})
local ok, message = pcall(function()
  local y = %s
end)
print(ok, message)
print(pcall(torch.cuda.synchronize))
print(pcall(torch.cuda.synchronize))
print(x:sum():item())]]):format(case[1])

    it('in ' .. name .. ' is reported at the next wait, and the process goes on', function()
      local output, errors, status = run(code)
      output = output:gsub('index out of range in self: ', '') -- index_select's words
      assert.equal(0, status, errors)
      assert.equal('true\tnil\nfalse\tscript:6: ' .. case[2] .. LATE .. '\ntrue\n6.0\n', output)
    end)

    it('in ' .. name .. ' is reported by the call when launches block', function()
      local output = run(code, 'CUDA_LAUNCH_BLOCKING=1'):gsub('index out of range in self: ', '')
      assert.equal('false\tscript:3: ' .. case[2] .. '\ntrue\ntrue\n6.0\n', output)
    end)
  end
end)

describe('a kernel that fails while it runs', function()
  local code = [[
local function step()
  local x = torch.ones(4, {device = 'cuda'})
  local y = x + 1
  local z = y:t()
  torch.cuda.synchronize()
end
print(select(2, pcall(step)))
print((pcall(step)))
print(torch.ones(4):sum():item(), torch.ones(4, {device = 'cuda:1'}):sum():item())]]

  it('a failing kernel is reported by the next synchronizing call', function()
    local output, errors, status = run(code, 'LTENSOR_SIM_KERNEL_FAULT=2')
    assert.equal(0, status, errors)
    assert.truthy(output:find('^script:5: CUDA error: an illegal memory access was encountered'), output)
    assert.truthy(output:find('reported asynchronously', 1, true), output)
  end)

  it('is reported by the call that caused it when launches block', function()
    local output = run(code, 'LTENSOR_SIM_KERNEL_FAULT=2 CUDA_LAUNCH_BLOCKING=1')
    assert.truthy(output:find('^script:3: CUDA error: an illegal memory access was encountered'), output)
    assert.is_nil(output:find('reported asynchronously', 1, true))
  end)

  -- CUDA's numbers of the errors after which a context is lost.
  local errors_of_kernels = { [214] = 'uncorrectable ECC error encountered', [700] = 'an illegal memory access was encountered',
    [702] = 'the launch timed out and was terminated', [710] = 'device-side assert triggered', [714] = 'hardware stack error',
    [715] = 'an illegal instruction was encountered', [716] = 'misaligned address',
    [717] = 'operation not supported on global/shared address space', [718] = 'invalid program counter', [719] = 'unspecified launch failure' }
  for number, words in pairs(errors_of_kernels) do
    it(('may have been reported late when it was: %s'):format(words), function()
      local output = run(code, 'LTENSOR_SIM_KERNEL_FAULT=2 LTENSOR_SIM_KERNEL_ERROR=' .. number)
      assert.truthy(output:find('script:5: CUDA error: ' .. words, 1, true), output)
      assert.truthy(output:find('an earlier operation on the GPU may have caused it', 1, true), output)
    end)
  end

  it('leaves the CPU and the other GPUs usable', function()
    assert.truthy(run(code, 'LTENSOR_SIM_KERNEL_FAULT=2'):find '\nfalse\n4.0\t4.0\n$')
  end)
end)

describe('a wait for a GPU #pty', function()
  local pty = (os.getenv 'LTENSOR_BUILD' or 'build') .. '/tests/pty'
  for _, wait in ipairs { 'torch.cuda.synchronize()', 'y:item()', 'event:synchronize()', 'stream:synchronize()', 'y:nonzero()' } do
    it('by ' .. wait .. ' ends with Ctrl-C, before the GPU has done it #again', function()
      local path = os.tmpname()
      local file = assert(io.open(path, 'w'))
      file:write(([[
expect In [1]: 
send x = torch.ones(600, 600, {device = 'cuda'}); y = x; event = torch.cuda.Event(); stream = torch.cuda.current_stream()\r
expect In [2]: 
send for _ = 1, 2000 do y = x:mm(y) end y = y[1][1]; event:record() %s\r
sleep 700
send \x03
expect interrupted
expect In [3]: 
send "still busy: " .. tostring(not stream:query())\r
expect still busy: true
expect In [4]: 
]]):format(wait))
      file:close()
      local _, errors, status = process.run(
        ('env -u LTENSOR_INIT TERM=xterm INPUTRC=/dev/null XDG_STATE_HOME=/nonexistent LTENSOR_SIM_GPUS=1 LTENSOR_COPIES=0 %s %s < %s')
          :format(pty, process.quote(process.ltensor), path))
      os.remove(path)
      assert.equal(0, status, errors)
    end)
  end
end)
