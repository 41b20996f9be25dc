-- Chains of elementwise ops and of a reduction, a softmax or a norm at their end, as they stand and compiled. For each line that comes in, the name of a
-- chain, a line of the milliseconds of the first compiled call (of the first such line), the best of some others and the best of as many eager ones.
-- beside.py has the same chains.
--
--   ltensor chains.lua [ELEMENTS] [CALLS]        DEVICE: where they run (cpu)

local torch = require 'torch'
local F = torch.nn.functional

local elements = tonumber(arg[1] or 4000000)
local rounds = tonumber(arg[2] or 15)
local device = torch.device(os.getenv 'DEVICE' or 'cpu')
local on_gpu = device.type == 'cuda'

torch.set_default_device(device)
torch.manual_seed(1)
local x, y = torch.randn(elements), torch.randn(elements)
local rows, more = torch.randn(elements // 1000, 1000), torch.randn(elements // 1000, 1000)
local bias, half = torch.randn(1000), x:bfloat16()

local chains = {
  ['gelu by tanh'] = function() return 0.5 * x * (1 + torch.tanh(0.798 * (x + 0.045 * x ^ 3))) end,
  ['gelu by erf'] = function() return 0.5 * x * (1 + torch.erf(x * 0.70710678)) end,
  ['swish'] = function() return torch.sigmoid(x * 2) * x end,
  ['relu of a line'] = function() return torch.relu(x * 1.5 + 0.5) end,
  ['three sums'] = function() return x + y + x * y end,
  ['clamped'] = function() return (x * 2 - y):clamp(-1, 1) end,
  ['mish'] = function() return x * torch.tanh(torch.log1p(torch.exp(x))) end,
  ['chosen'] = function() return torch.where(x:gt(0), x * 2, y * 3) end,
  ['length'] = function() return torch.sqrt(x * x + y * y) end,
  ['polynomial'] = function() return ((x * 0.1 + 0.2) * x + 0.3) * x + 0.4 end,
  ['bias and relu of rows'] = function() return torch.relu(rows + bias) end,
  ['exponential'] = function() return torch.exp(-x * x) end,
  ['bfloat16'] = function() return half * 2 + 1 end,
  ['mean of squares'] = function() return ((x - 0.5) ^ 2):mean() end,
  ['sum of gelu'] = function() return (0.5 * x * (1 + torch.tanh(0.798 * (x + 0.045 * x ^ 3)))):sum() end,
  ['sum of exponentials'] = function() return torch.exp(x - 1):sum() end,
  ['largest distance'] = function() return (x - y):abs():amax() end,
  ['norm of a difference'] = function() return (x - y):norm() end,
  ['sums of rows'] = function() return (rows * 2 + 1):abs():sum(2) end,
  ['logsumexp of rows'] = function() return (rows * 0.5):logsumexp(2) end,
  ['masked softmax of rows'] = function() return (rows * 0.125 + bias):softmax(-1) end,
  ['log_softmax of rows'] = function() return (rows * 0.5):log_softmax(-1) end,
  ['layer_norm of a sum'] = function() return F.layer_norm(rows + more, 1000) end,
  ['rms_norm of a sum'] = function() return F.rms_norm(rows + more, 1000, { weight = bias }) end,
}

-- Of a call; on a GPU of one among several that wait in its queue, as those of a program do.
local function milliseconds(f, calls)
  if on_gpu then torch.cuda.synchronize() end
  local start = torch.time()
  for _ = 1, calls do f() end
  if on_gpu then torch.cuda.synchronize() end
  return (torch.time() - start) * 1e3 / calls
end

-- One function after the other, as in beside.py: each finds in the caches what its own calls leave there.
local function best(f)
  local least = math.huge
  for _ = 1, rounds do least = math.min(least, milliseconds(f, on_gpu and 20 or 1)) end
  return least
end

local compiled, first = {}, {}
for name in io.lines() do
  local eager = chains[name]
  if not compiled[name] then
    compiled[name] = torch.compile(eager)
    first[name] = milliseconds(compiled[name], 1)
  end
  print(('%.4f\t%.4f\t%.4f'):format(first[name], best(compiled[name]), best(eager)))
  io.stdout:flush()
end
