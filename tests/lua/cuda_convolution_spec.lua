-- Convolutions on a GPU by plans of cuDNN's graphs: which engines they are of, that they are kept, and what does the work where there is no
-- plan. That numbers are right is convolution_spec's and cuda_libraries_spec's.

local torch = require 'torch'
local F = torch.nn.functional

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- On one simulated GPU: what a program prints, and how many calls of the runtime it makes.
local function run(program, environment)
  local output, message, status = process.run(('LTENSOR_SIM_REPORT=1 %s %s --sim-gpus 1 --no-copies -e %s'):format(
    environment or '', process.quote(process.ltensor), process.quote(program)))
  assert.equal(0, status, message)
  return output, tonumber(message:match '(%d+) runtime calls')
end

local forward = 'y = torch.nn.functional.conv2d(x, w)'
local backward = 'torch.autograd.grad(torch.nn.functional.conv2d(x, w), {x, w}, g)'
local old = 'LTENSOR_SIM_CUDNN=80000' -- a version that has no graphs of convolutions

-- Calls of one more round of a body.
local function calls(body, environment)
  local function all(rounds)
    local _, count = run(([[
      local x, w = torch.randn(2, 8, 6, 6):cuda():requires_grad_(), torch.randn(4, 8, 3, 3):cuda():requires_grad_()
      local g, y = torch.randn(2, 4, 4, 4):cuda(), nil
      for n = 1, %d do %s end
      torch.cuda.synchronize()]]):format(rounds, body), environment)
    return count
  end
  return (all(20) - all(10)) / 10
end

-- Convolutions of one number with 1: what tensor cores (TF32) and half types leave of it tells what an engine did to it. Engines that are
-- not deterministic want a workspace. Prints both for each of a convolution's parts.
local engines = [[
local number = (1 + 2^-12) * 2^-30
local function one(x) return torch.full({ 1, 1, 1, 1 }, x, { device = 'cuda', requires_grad = true }) end
local function conv(x, w) return torch.nn.functional.conv2d(x, w) end
local x, w, v = one(1.0), one(1.0), one(number):detach()
local function tell(f)
  torch.cuda.synchronize()
  torch.cuda.reset_peak_memory_stats()
  local before = torch.cuda.memory_allocated()
  local y = f():detach()
  local work = torch.cuda.max_memory_allocated() - before >= 2048
  y = y:item()
  return (y == number and 'exact' or y == 2^-30 and 'tf32' or 'wrong') .. (work and ' by chance' or '')
end
local y, z = conv(x, w), conv(one(number), w)
print(tell(function() return conv(v, w) end))
print(tell(function() return torch.autograd.grad(y, { x }, v)[1] end))
print(tell(function() return torch.autograd.grad(z, { w }, one(1.0):detach())[1] end))
]]

describe('a convolution by cuDNN #cpu', function()
  local tf32, deterministic = 'torch.backends.cudnn.allow_tf32 = false\n', 'torch.use_deterministic_algorithms(true)\n'
  local function each(what) return (what .. '\n'):rep(3) end

  it('is of the best engine that is ready, which does not convert floats to half types', function()
    assert.equal(each 'tf32 by chance', (run(engines)))
  end)
  it('is of no engine with tensor cores where TF32 is not allowed', function()
    assert.equal(each 'exact by chance', (run(tf32 .. engines)))
  end)
  it('a deterministic engine is used in deterministic mode', function()
    assert.equal(each 'tf32', (run(deterministic .. engines)))
    assert.equal(each 'exact', (run(tf32 .. deterministic .. engines)))
  end)
  it('goes by these rules where cuDNN is older than its graphs, too', function()
    assert.equal(each 'tf32 by chance', (run(engines, old)))
    assert.equal(each 'exact by chance', (run(tf32 .. engines, old)))
    assert.equal(each 'exact', (run(tf32 .. deterministic .. engines, old)))
  end)

  -- An execution is two calls, its addresses and itself; one of the older calls is one.
  it('keeps its plan', function()
    assert.equal(calls(forward, old) + 1, calls(forward))
    assert.equal(calls(backward, old) + 3, calls(backward))
  end)
  -- One that is refused at each call instead would ask for memory at each.
  it('the best engine with a workspace that fits into memory is used #again', function()
    local function rounds(memory)
      local function all(n)
        local _, count = run(([[
          local x, w = torch.ones(1, 6, 1024, 1024):cuda(), torch.ones(6, 6, 1, 1):cuda()
          for n = 1, %d do
            torch.nn.functional.conv2d(x, w)
            collectgarbage()
          end
          torch.cuda.synchronize()]]):format(n), 'LTENSOR_SIM_MEMORY=' .. memory)
        return count
      end
      return all(4) - all(2)
    end
    assert.equal(rounds '1G', rounds '60M')
  end)
  it('has the same numbers by a plan, by the older calls and by our own kernels', function()
    local program = [[
      torch.manual_seed(4)
      torch.backends.cudnn.allow_tf32 = false
      local F = torch.nn.functional
      for _, dtype in ipairs { torch.float64, torch.float32 } do
        local x, w = torch.randn(2, 4, 7, 6):to(dtype):cuda(), torch.randn(6, 2, 3, 2):to(dtype):cuda()
        local b = torch.randn(6):to(dtype):cuda()
        local y = F.conv2d(x, w, b, { stride = { 2, 1 }, padding = { 1, 2 }, dilation = { 1, 2 }, groups = 2 })
        print(('%.5g %.5g'):format(y:sum():item(), y:mul(y):sum():item()))
      end]]
    local wanted = run(program, 'LTENSOR_CUDNN=0')
    assert.equal(wanted, (run(program)))
    assert.equal(wanted, (run(program, old)))
  end)
end)

if device == 'cpu' then return end

describe('the bias of a convolution on a GPU', function()
  for _, dtype in ipairs { torch.float64, torch.float32, torch.float16, torch.bfloat16 } do
    for _, channels_last in ipairs { false, true } do
      it(('is added to each channel: %s%s'):format(dtype, channels_last and ', channels last' or ''), function()
        local format = { memory_format = channels_last and torch.channels_last or torch.contiguous_format }
        local x = torch.ones(3, 2, 5, 7, { device = device }):to(dtype):contiguous(format)
        local w, b = torch.ones(3, 2, 1, 1, { device = device }):to(dtype), torch.tensor { 1, 2, 4 }:to(device):to(dtype)
        local y = F.conv2d(x, w, b)
        for channel, wanted in ipairs { 3.0, 4.0, 6.0 } do
          assert.is_true(y:select(2, channel):eq(wanted):all():item(), channel)
        end
      end)
    end
  end
end)
