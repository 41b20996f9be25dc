-- Features of autograd in pairs: programs of random steps, of which each has a twin that computes the same without the
-- feature (no in-place writes, views, hooks, second runs ...). Values and gradients of both agree, or the program is
-- refused in PyTorch's words because a value that a derivative needs was written over. LTENSOR_TEST_SEED=n repeats a run.

local torch = require 'torch'

local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local seed = tonumber(os.getenv 'LTENSOR_TEST_SEED' or os.time())
local other = torch.cuda.device_count() > 1 and (device == 'cuda:1' and 'cuda:0' or 'cuda:1') or device

local function mask(y, rows)
  local m = torch.zeros_like(y)
  m:narrow(1, 1, rows):fill_(1)
  return m
end

local Square = torch.autograd.Function:extend 'Square'
function Square.forward(ctx, x)
  ctx:save_for_backward(x)
  return x * x
end
function Square.backward(ctx, grad) return grad * 2 * ctx.saved_tensors[1] end

-- Each: the step with its feature, and its twin; y is what the program has so far, w a leaf, both 4 by 3. A twin may
-- give besides what is added to the loss: nothing, whose gradient is something.
local steps = {
  { 'mul_', function(y, w) return y:mul_(w) end, function(y, w) return y * w end },
  { 'add_ of itself', function(y) return y:add_(y) end, function(y) return y * 2 end },
  { 'a write to rows', function(y, w) y:narrow(1, 1, 2):mul_(w:narrow(1, 2, 2)) return y end,
    function(y, w) return y * torch.cat { w:narrow(1, 2, 2), torch.ones_like(w):narrow(1, 1, 2) } end },
  { 'a write to a transposed view', function(y, w) y:t():narrow(2, 1, 2):add_(w:t():narrow(2, 1, 2)) return y end,
    function(y, w) return y + w * mask(y, 2) end },
  { 'an assignment', function(y, w) y[1] = w[2] return y end,
    function(y, w) return y * (1 - mask(y, 1)) + w[2] * mask(y, 1) end },
  { 'a masked fill', function(y) return y:masked_fill_(mask(y, 1):bool(), 0.5) end,
    function(y) return y * (1 - mask(y, 1)) + mask(y, 1) * 0.5 end },
  { 'a hook', function(y) y = y + 0 y:register_hook(function(g) return g * 2 end) return y end,
    function(y) return y * 2 - y:detach() end },
  { 'two hooks, one removed', function(y)
    y = y + 0
    local handle = y:register_hook(function(g) return g * 100 end)
    y:register_hook(function(g) return g + 1 end)
    handle:remove()
    return y
  end, function(y) return y + 0, function(x) return (x - x:detach()):sum() end end },
  { 'retain_grad', function(y) y:retain_grad() return y end, function(y) return y end },
  { 'a view of no_grad', function(y) local v = torch.no_grad(function() return y:narrow(1, 1, 4) end) return y + v:detach() end,
    function(y) return y + y:detach() end },
  { 'a checkpoint', function(y, w) return torch.utils.checkpoint.checkpoint(function(a) return (a * w):sin() end, y) end,
    function(y, w) return (y * w):sin() end },
  { 'a checkpoint in a checkpoint', function(y, w)
    local checkpoint = torch.utils.checkpoint.checkpoint
    return checkpoint(function(a) return checkpoint(function(b) return b * w + b end, a:cos()) * w end, y)
  end, function(y, w) return (y:cos() * w + y:cos()) * w end },
  { 'a Function', function(y) return Square.apply(y) end, function(y) return y * y end },
  { 'an activation in place', function(y) return F.leaky_relu(y, { negative_slope = 0.3, inplace = true }) end,
    function(y) return F.leaky_relu(y, 0.3) end },
  { 'elu in place', function(y) return F.elu(y, 0.7, true) end, function(y) return F.elu(y, 0.7) end },
  { 'out of order in memory', function(y) return y:t():contiguous():t() end, function(y) return y + 0 end },
  { 'expanded', function(y, w) return y + w:select(1, 1):expand(4, 3) end, function(y, w) return y + w[1] end },
  { 'cut and joined', function(y) return torch.cat(y:split(2), 1) end, function(y) return y + 0 end },
  { 'another device', function(y) return y:to(other):mul(2):to(device) end, function(y) return y * 2 end },
  { 'a deep copy of its values', function(y) return y + torch.tensor(y:detach():tolist(), { dtype = y.dtype, device = device }) end,
    function(y) return y + y:detach() end },
  { 'plain sums', function(y, w) return y + w end, function(y, w) return y + w end },
  { 'plain products', function(y, w) return y * w end, function(y, w) return y * w end },
  { 'a curve', function(y) return y:sin() end, function(y) return y:sin() end },
}
local function run(program, form)
  torch.manual_seed(program.seed)
  local x = torch.randn(4, 3, { dtype = torch.float64 }):to(device):requires_grad_()
  local w = torch.randn(4, 3, { dtype = torch.float64 }):to(device):requires_grad_()
  local y, extra = x * 1.25, nil
  for _, number in ipairs(program) do
    local result, more = steps[number][form](y, w)
    if more then extra = (extra or 0) + more(result) end
    y = result
  end
  local loss = (y * torch.arange(12, { dtype = torch.float64, device = device }):reshape(4, 3)):sum()
  if extra then loss = loss + extra end
  loss:backward()
  return { loss:detach(), x.grad, w.grad or torch.zeros_like(w) }
end

local function describe_program(program)
  local names = {}
  for i, number in ipairs(program) do names[i] = steps[number][1] end
  return ('LTENSOR_TEST_SEED=%d, seed %d: %s'):format(seed, program.seed, table.concat(names, ' | '))
end

local function check(program)
  local ok, got = pcall(run, program, 2)
  if not ok then
    assert(tostring(got):find('modified by an inplace operation', 1, true), describe_program(program) .. '\n' .. tostring(got))
    return false
  end
  local want = run(program, 3)
  for i, value in ipairs(want) do
    if not torch.allclose(value, got[i], { rtol = 1e-8, atol = 1e-8, equal_nan = true }) then
      error(('%s\n%s %s\nexpected %s'):format(describe_program(program), i == 1 and 'loss' or 'gradient', got[i], value), 0)
    end
  end
  return true
end

describe('features in pairs', function()
  it('each pair of features agrees with a program without them', function()
    local compared = 0
    for first = 1, #steps do
      for second = 1, #steps do
        if check { first, second, seed = seed + first * 100 + second } then compared = compared + 1 end
      end
    end
    assert(compared > #steps * #steps // 2, compared .. ' programs of pairs were not refused')
  end)

  it('agree in random programs', function()
    math.randomseed(seed)
    local compared = 0
    for i = 1, 300 do
      local program = { seed = seed + i }
      for k = 1, math.random(3, 7) do program[k] = math.random(#steps) end
      if check(program) then compared = compared + 1 end
    end
    assert(compared > 60, compared .. ' random programs were not refused, LTENSOR_TEST_SEED=' .. seed)
  end)
end)
