-- program_steps.lua - the steps of which programs.lua makes random programs. A step is what it says of itself, `text`, and `run(at, compile)`: at gives
-- the tensor of a number, compile a function that does the same compiled where the whole program is. It returns a new tensor or nil.

local torch = require 'torch'
local F = torch.nn.functional

local M = {}

local random = math.random
local function pick(list) return list[random(#list)] end

local unary = { 'neg', 'abs', 'exp', 'tanh', 'sigmoid', 'relu', 'sin', 'sqrt', 'square', 'sign', 'floor', 'erf', 'log1p', 'reciprocal' }
local activations = { 'gelu', 'silu', 'softplus', 'hardswish', 'elu', 'leaky_relu', 'logsigmoid', 'mish', 'relu6', 'hardtanh', 'tanhshrink' }
local binary = { 'add', 'sub', 'mul', 'div', 'maximum', 'minimum', 'pow', 'lt', 'eq', 'ge', 'atan2' }
local in_place = { 'add_', 'mul_', 'sub_', 'tanh_', 'neg_', 'clamp_', 'sigmoid_', 'relu_', 'exp_', 'copy_', 'zero_', 'fill_' }
local dtypes = { torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool }
local numbers = { 2, 3, -1, 0.5, 0, 1.25 }
local of_two = { add_ = true, mul_ = true, sub_ = true, copy_ = true }

local kinds = {} -- of steps: text and function
local with_gradients = {}
local function kind(list, weight, make)
  for _ = 1, weight do list[#list + 1] = make end
end

-- ---- values ----------------------------------------------------------------------------------------------------------

kind(kinds, 4, function()
  local a, name = random(99), pick(unary)
  return ('%s(%d)'):format(name, a), function(at) return at(a)[name](at(a)) end
end)

kind(kinds, 2, function()
  local a, name = random(99), pick(activations)
  return ('F.%s(%d)'):format(name, a), function(at) return F[name](at(a)) end
end)

kind(kinds, 4, function()
  local a, b, name = random(99), random(99), pick(binary)
  return ('%s(%d, %d)'):format(name, a, b), function(at) return at(a)[name](at(a), at(b)) end
end)

kind(kinds, 2, function()
  local a, name, number = random(99), pick { 'add', 'sub', 'mul', 'div', 'pow' }, pick(numbers)
  if random() < 0.3 then return ('%g - %d'):format(number, a), function(at) return number - at(a) end end
  return ('%s(%d, number %g)'):format(name, a, number), function(at) return at(a)[name](at(a), number) end
end)

kind(kinds, 1, function()
  local a, b, c = random(99), random(99), random(99)
  return ('where(%d > 0, %d, %d)'):format(a, b, c), function(at) return torch.where(at(a):gt(0), at(b), at(c)) end
end)

kind(kinds, 1, function()
  local a, low = random(99), random() - 0.5
  return ('clamp(%d, %g)'):format(a, low), function(at) return at(a):clamp { min = low, max = low + 0.75 } end
end)

kind(kinds, 1, function()
  local a, dtype = random(99), pick(dtypes)
  return ('%d to %s'):format(a, dtype), function(at) return at(a):to(dtype) end
end)

-- What takes a tensor whole or line by line.
kind(kinds, 2, function()
  local a, name, whole = random(99), pick { 'sum', 'mean', 'amax', 'cumsum', 'softmax', 'var' }, random() < 0.4
  return ('%s(%d%s)'):format(name, a, whole and ', whole' or ''), function(at)
    local t = at(a):float()
    if name == 'cumsum' or name == 'softmax' then return t[name](t, 1) end
    if whole and name ~= 'amax' then return t[name](t) end
    return t[name](t, 1, { keepdim = true })
  end
end)

kind(kinds, 2, function()
  local a, name, scaled = random(99), pick { 'softmax', 'log_softmax', 'layer_norm', 'rms_norm', 'group_norm', 'batch_norm' }, random() < 0.5
  return ('%s(%d)'):format(name, a), function(at)
    local t = at(a)
    if name == 'softmax' or name == 'log_softmax' then return t[name](t, -1) end
    local width = t.shape[t.ndim]
    if name == 'group_norm' then return F.group_norm(t, t.shape[2] % 2 == 0 and 2 or 1) end
    if name == 'batch_norm' then return F.batch_norm(t, nil, nil, { training = true }) end
    return F[name](t, width, { weight = scaled and torch.linspace(0.5, 2, width):to(t) or nil })
  end
end)

kind(kinds, 1, function()
  local a, b, name = random(99), random(99), pick { 'mse_loss', 'smooth_l1_loss', 'l1_loss', 'binary_cross_entropy_with_logits' }
  local reduction = pick { 'none', 'mean', 'sum' }
  return ('%s(%d, %d, %s)'):format(name, a, b, reduction), function(at) return F[name](at(a), at(b):detach(), { reduction = reduction }) end
end)

kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('%d times %d turned'):format(a, b), function(at) return at(a):matmul(at(b):t()) end
end)

-- ---- views and writes --------------------------------------------------------------------------------------------------

local views = {
  { 'transpose', function(t) return t:transpose(-1, 1) end },
  { 'narrow', function(t) return t:narrow(1, 1, 1) end },
  { 'reshape', function(t) return t:reshape(-1) end },
  { 'unsqueeze', function(t) return t:unsqueeze(1) end },
  { 'detach', function(t) return t:detach() end },
  { 'flip', function(t) return t:flip(1) end },
  { 'every other', function(t) return t[{ { 1, -1, 2 } }] end },
  { 'contiguous', function(t) return t:contiguous() end },
  { 'clone', function(t) return t:clone() end },
  { 'expand', function(t) return t:unsqueeze(1):expand(2, table.unpack(t.shape, 1, t.ndim)) end },
  { 'half', function(t) return (t:chunk(2, -1)[2]) end },
  { 'diagonal', function(t) return t:diagonal() end },
  { 'cat', function(t) return torch.cat({ t, t * 2 }, 1) end },
  { 'rolled', function(t) return t:roll(1, 1) end },
}

kind(kinds, 3, function()
  local a, view = random(99), pick(views)
  return ('%s of %d'):format(view[1], a), function(at) return view[2](at(a)) end
end)

-- The tensor, or where it does not go with t its first element.
local function fitting(other, t)
  return pcall(other.expand, other, t.shape) and other or other:flatten():narrow(1, 1, 1)
end

local function write(t, name, other)
  if of_two[name] then t[name](t, fitting(other, t))
  elseif name == 'clamp_' then t:clamp_ { min = -0.5 }
  elseif name == 'fill_' then t:fill_(0.25)
  else t[name](t) end
end

kind(kinds, 2, function()
  local a, b, name = random(99), random(99), pick(in_place)
  return ('%s(%d, %d)'):format(name, a, b), function(at) write(at(a), name, at(b)) end
end)

-- Through a view, which is kept or not.
kind(kinds, 2, function()
  local a, b, name, view, keep = random(99), random(99), pick(in_place), pick(views), random() < 0.5
  return ('%s(%s of %d, %d)'):format(name, view[1], a, b), function(at)
    local seen = view[2](at(a))
    write(seen, name, at(b))
    return keep and seen or nil
  end
end)

kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('%d[1] = mean of %d'):format(a, b), function(at)
    at(a)[1] = at(b):float():mean():item()
  end
end)

kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('%d[%d > 0] = 2'):format(a, b), function(at)
    at(a)[fitting(at(b), at(a)):expand(at(a).shape):gt(0)] = 2
  end
end)

kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('masked_fill_(%d, %d < 0)'):format(a, b), function(at) at(a):masked_fill_(at(b):lt(0), 0.5) end
end)

kind(kinds, 1, function()
  local a, b, name = random(99), random(99), pick { 'relu', 'leaky_relu', 'elu', 'silu', 'hardswish' }
  return ('F.%s in place of %d + %d'):format(name, a, b), function(at) return F[name](at(a) + at(b), { inplace = true }) end
end)

kind(kinds, 1, function()
  local a, b, name = random(99), random(99), pick { 'add', 'mul', 'exp', 'tanh' }
  return ('%s(%d) with out of %d'):format(name, a, b), function(at)
    local x, y = at(a):detach(), at(b):detach()
    local out = torch.empty_like(x + y)
    if name == 'exp' or name == 'tanh' then return torch[name](x + y, { out = out }) end
    return torch[name](x, y, { out = out })
  end
end)

-- ---- chance, decisions, loops -------------------------------------------------------------------------------------------

kind(kinds, 1, function()
  local a = random(99)
  return ('rand + %d'):format(a), function(at) return torch.rand(at(a).shape, { device = at(a).device }) + at(a) end
end)

kind(kinds, 1, function()
  local a, name = random(99), pick { 'randn_like', 'rand_like', 'bernoulli', 'dropout', 'rrelu', 'normal_', 'uniform_', 'permuted', 'gumbel' }
  return ('%s of %d'):format(name, a), function(at)
    local t = at(a)
    if name == 'bernoulli' then return t:sigmoid():bernoulli() * t end
    if name == 'dropout' then return F.dropout(t, 0.4, true) end
    if name == 'rrelu' then return F.rrelu(t, { training = true }) end
    if name == 'normal_' or name == 'uniform_' then
      t[name](t)
      return nil
    end
    if name == 'permuted' then return t[torch.randperm(t.shape[1], { device = t.device })] end
    if name == 'gumbel' then return F.gumbel_softmax(t) end
    return torch[name](t) * t
  end
end)

-- The program looks at a value and goes on by it.
kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('%d twice where %d sums above 0'):format(b, a), function(at)
    if at(a):float():sum():item() > 0 then return at(b) * 2 end
    return at(b) - 1
  end
end)

kind(kinds, 1, function()
  local a, times = random(99), random(1, 12)
  return ('%d sines of %d'):format(times, a), function(at)
    local t = at(a)
    for i = 1, times do t = (t * i):sin() + t * 0.5 end
    return t
  end
end)

kind(kinds, 1, function()
  local a = random(99)
  return ('%d halved until it is small'):format(a), function(at)
    local t, turns = at(a):float(), 0
    while turns < 6 and t:abs():amax():item() > 1 do t, turns = t / 2 + 0.01, turns + 1 end
    return t
  end
end)

kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('a function compiled within, of %d and %d'):format(a, b), function(at, compile)
    return compile(function(x, y) return (x * 2 + y):tanh() * x end)(at(a), at(b))
  end
end)

kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('a coroutine of %d and %d'):format(a, b), function(at)
    local turn = coroutine.wrap(function(x)
      local y = coroutine.yield(x * 3)
      return y - x
    end)
    return turn(at(a)) * turn(at(b))
  end
end)

kind(kinds, 1, function()
  local a, b = random(99), random(99)
  return ('an error after %d * %d'):format(a, b), function(at)
    local product = at(a) * at(b)
    error(('sizes %s'):format(product.shape), 0)
  end
end)

kind(kinds, 1, function()
  return 'collectgarbage', function() collectgarbage() end
end)

-- ---- gradients ------------------------------------------------------------------------------------------------------------

local function total(t) return t:double():sum() end

-- From the tensor of a number on the first that requires a gradient.
local function differentiable(at, number)
  for i = number, number + 30 do
    if at(i).requires_grad then return at(i) end
  end
  error('nothing requires a gradient', 0)
end

kind(with_gradients, 2, function()
  local a, b, name = random(99), random(99), pick(in_place)
  return ('%s(%d, %d) without gradients'):format(name, a, b), function(at)
    torch.no_grad(function() write(at(a), name, at(b)) end)
  end
end)

kind(with_gradients, 2, function()
  local a, retain = random(99), random() < 0.8
  return ('backward of %d'):format(a), function(at) total(differentiable(at, a)):backward(nil, { retain_graph = retain }) end
end)

kind(with_gradients, 2, function()
  local a, b, more = random(99), random(99), random() < 0.6
  return ('gradient of a product with %d by %d%s'):format(a, b, more and ', to be differentiated' or ''), function(at)
    local x = differentiable(at, b)
    local g = torch.autograd.grad({ total((x * at(a)):sigmoid() * x) }, { x }, { create_graph = more })
    return torch.is_tensor(g) and g or g[1]
  end
end)

kind(with_gradients, 1, function()
  local a, factor = random(99), pick(numbers)
  return ('hook of %d times %g'):format(a, factor), function(at)
    local y = differentiable(at, a) * 1
    y:register_hook(function(grad) return grad * factor end)
    return y
  end
end)

kind(with_gradients, 1, function()
  local a, b = random(99), random(99)
  return ('saved tensors of %d and %d kept as copies'):format(a, b), function(at)
    return torch.autograd.graph.saved_tensors_hooks(function(t) return t:clone() end, function(t) return t end,
      function() return (at(a) * at(b)):sigmoid() * at(a) end)
  end
end)

kind(with_gradients, 1, function()
  local a, b = random(99), random(99)
  return ('checkpoint of %d and %d'):format(a, b), function(at)
    return torch.utils.checkpoint.checkpoint(function(x, y) return F.gelu(x * y) + x:exp() end, at(a), at(b))
  end
end)

kind(with_gradients, 1, function()
  local a, b = random(99), random(99)
  return ('what %d saves, written'):format(a), function(at)
    local x = differentiable(at, a) * 1
    local y = x:tanh() * x
    x:add_(fitting(at(b), x))
    return y
  end
end)

--- A step by chance. gradients: those that need some are among them.
function M.random(gradients)
  local text, run = pick(gradients and random() < 0.25 and with_gradients or kinds)()
  return { text = text, run = run }
end

return M
