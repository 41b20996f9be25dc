-- torch.autocast, torch.amp.GradScaler, torch.utils.checkpoint: on LTENSOR_TEST_DEVICE.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local process = require 'support.process'
local nn, F = torch.nn, torch.nn.functional

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local kind = torch.device(device).type
local low = kind == 'cpu' and torch.bfloat16 or torch.float16
local low_name = tostring(low)

local function dtype_of(t) return tostring(t.dtype) end

local function rand(...) return torch.rand(..., { device = device }) end

describe('autocast', function()
  local a, b
  before_each(function() a, b = rand { 3, 3 }, rand { 3, 3 } end)

  it('computes products in the lower precision, as methods, functions and operators', function()
    local bias = rand { 3 }
    local _ <close> = torch.autocast(kind)
    for _, result in ipairs { a:matmul(b), torch.mm(a, b), F.linear(a, b, bias), torch.addmm(a, a, b),
      torch.einsum('ij,jk->ik', { a, b }) } do
      assert.equal(low_name, dtype_of(result))
    end
    assert.equal(kind == 'cuda' and low_name or 'torch.float32', dtype_of(a:mv(bias))) -- PyTorch's lists differ here
    assert.equal(low_name, dtype_of(F.conv2d(rand { 1, 2, 5, 5 }, rand { 3, 2, 3, 3 })))
    assert.equal('torch.float32', dtype_of(a + b))
  end)

  it('autocast computes losses in float32 for every input dtype', function()
    local _ <close> = torch.autocast(kind)
    local output = a:mm(b)
    local target = torch.tensor({ 1, 2, 3 }, { device = device })
    assert.equal('torch.float32', dtype_of(F.cross_entropy(output, target)))
    assert.equal('torch.float32', dtype_of(F.mse_loss(output, output)))
    if kind == 'cuda' then
      assert.equal('torch.float32', dtype_of(output:softmax(2)))
      assert.equal('torch.float32', dtype_of(output:exp()))
      assert.equal('torch.float32', dtype_of(output:sum()))
    else
      assert.equal(low_name, dtype_of(output:softmax(2)))
    end
  end)

  it('joins in the widest type, also lists and named arguments', function()
    local _ <close> = torch.autocast(kind)
    local half = a:mm(b)
    assert.equal('torch.float32', dtype_of(torch.cat({ half, a }, 1)))
    assert.equal('torch.float32', dtype_of(torch.cat { tensors = { half, a } }))
    assert.equal(low_name, dtype_of(torch.stack { half, half }))
    local list = { half, a }
    torch.cat(list)
    assert.equal(low_name, dtype_of(list[1]))
    assert.equal(low_name, dtype_of(torch.mm(a, { mat2 = b })))
  end)

  -- On a CPU PyTorch makes GRUs and cells alone of operations of which products alone are cast.
  local widest = kind == 'cpu' and 'torch.float32' or low_name
  for name, wanted in pairs { RNN = low_name, LSTM = low_name, GRU = widest, RNNCell = low_name, LSTMCell = widest, GRUCell = widest } do
    it(('gives an nn.%s %s, and gradients of float32'):format(name, wanted), function()
      local net, x = nn[name](3, 3):to(device), rand { 3, 3 }
      local expected = net(x)
      local result = torch.autocast(kind, function() return (net(x)) end)
      assert.equal(wanted, dtype_of(result))
      assert.is_true(torch.allclose(expected, result:float(), { atol = 0.02, rtol = 0.02 }))
      result:float():sum():backward()
      for _, parameter in ipairs(net:parameters()) do assert.equal('torch.float32', dtype_of(parameter.grad)) end
      for _, dtype in ipairs { torch.bfloat16, torch.float64 } do -- input of the layer before, input that is left alone
        local called, err = pcall(torch.autocast, kind, function() return net(x:to(dtype)) end)
        assert.equal(dtype == torch.bfloat16, called, err)
      end
    end)
  end

  it('leaves float64, integers and other devices alone', function()
    local _ <close> = torch.autocast(kind)
    local wide = a:double()
    assert.equal('torch.float64', dtype_of(wide:mm(wide)))
    if kind == 'cuda' then
      local host = torch.rand(2, 2)
      assert.equal('torch.float32', dtype_of(host:mm(host)))
    end
  end)

  it('nests, can be switched off inside, and ends with its scope, also by an error', function()
    assert.is_false(torch.is_autocast_enabled(kind))
    do
      local _ <close> = torch.autocast(kind)
      assert.is_true(torch.is_autocast_enabled(kind))
      do
        local _ <close> = torch.autocast(kind, { enabled = false })
        assert.equal('torch.float32', dtype_of(a:mm(b)))
      end
      torch.autocast(kind, { dtype = torch.bfloat16 }, function()
        assert.equal('torch.bfloat16', dtype_of(a:mm(b)))
      end)
      assert.equal(low_name, dtype_of(a:mm(b)))
    end
    fails_with('stop', torch.autocast, kind, function() error 'stop' end)
    assert.is_false(torch.is_autocast_enabled(kind))
    assert.equal(3, torch.autocast(kind, function(x) return x + 1 end, 2))
  end)

  it('gives parameters their gradients in float32; a weight is cast once', function()
    torch.manual_seed(1)
    local net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)):to(device)
    local x = rand { 5, 4 }
    local plain = net(x)
    plain:square():mean():backward()
    local expected = net[1].weight.grad:clone()
    net:zero_grad()
    do
      local _ <close> = torch.autocast(kind)
      local loss = net(x):square():mean() + net(x):square():mean()
      loss:backward()
    end
    local grad = net[1].weight.grad
    assert.equal('torch.float32', dtype_of(grad))
    local difference = (grad / 2 - expected):abs():max():item()
    assert(difference < 0.02 * expected:abs():max():item() + 1e-3, difference)
    local again = {}
    torch.autocast(kind, function()
      net(x):sum():backward()
      again[1] = true
    end)
    assert.is_true(again[1])
  end)

  it('casts a weight again after it was written in the scope: in place, by an optimizer, and by other memory', function()
    local w = torch.zeros(2, 2, { device = device, requires_grad = true })
    local x = torch.ones(1, 2, { device = device })
    local optimizer = torch.optim.SGD({ w }, { lr = 1.0 })
    local function product() return x:mm(w):flatten():tolist() end
    torch.autocast(kind, function()
      assert.same({ 0, 0 }, product())
      torch.no_grad(function() w:fill_(1) end)
      assert.same({ 2, 2 }, product())
      torch.no_grad(function() w[1]:fill_(3) end)
      assert.same({ 4, 4 }, product())
      w.data = torch.full({ 2, 2 }, 5.0, { device = device })
      assert.same({ 10, 10 }, product())
      w.data = torch.tensor({ { 1.0, 2.0 }, { 3.0, 4.0 } }, { device = device })
      assert.same({ 4, 6 }, product())
      w.data = w.data:t()
      assert.same({ 3, 7 }, product())
      x:mm(w):sum():backward()
      optimizer:step()
      assert.same({ 1, 5 }, product())
    end)
  end)

  it('learns: a loop with a scaler reaches the loss of float32', function()
    torch.manual_seed(2)
    local x = torch.randn(64, 4):to(device)
    local y = x:mv(torch.tensor({ 1.0, -2.0, 0.5, 3.0 }, { device = device }))
    local net = nn.Linear(4, 1):to(device)
    local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1 })
    local scaler = torch.amp.GradScaler(kind, { init_scale = 128 })
    local loss
    for _ = 1, 60 do
      optimizer:zero_grad()
      torch.autocast(kind, function() loss = F.mse_loss(net(x):squeeze(2), y) end)
      scaler:scale(loss):backward()
      scaler:unscale_(optimizer)
      nn.utils.clip_grad_norm_(net:parameters(), 100)
      scaler:step(optimizer)
      scaler:update()
    end
    assert(loss:item() < 0.01, loss:item())
    assert.equal(128, scaler:get_scale())
  end)

  it('autocast raises the errors of PyTorch', function()
    fails_with("unsupported autocast device_type 'tpu'", torch.autocast, 'tpu')
    fails_with("autocast() missing 1 required argument: 'device_type' (a string)", torch.autocast)
  end)

  it('is disabled with a warning for a dtype that it does not support', function()
    local call = ("print(torch.autocast('%s', {dtype = torch.float64, enabled = %%s}, function() return torch.is_autocast_enabled '%s' end))"):format(kind, kind)
    local out, err = process.lua(call:format 'true')
    assert.equal('false\n', out)
    assert.is_truthy(err:find(('In %s autocast, but the target dtype is not supported. Disabling autocast.'):format(kind:upper()), 1, true), err)
    out, err = process.lua(call:format 'false')
    assert.equal('false\n', out)
    assert.equal('', err)
  end)
end)

describe('GradScaler', function()
  local w, optimizer, scaler
  before_each(function()
    w = torch.ones(2, { device = device, requires_grad = true })
    optimizer = torch.optim.SGD({ w }, { lr = 1.0 })
    scaler = torch.amp.GradScaler(kind, { init_scale = 4, growth_interval = 2 })
  end)

  local function step(gradient)
    optimizer:zero_grad()
    scaler:scale((w * gradient):sum()):backward()
    scaler:step(optimizer)
    scaler:update()
  end

  it('divides the gradients before the step, and grows', function()
    step(0.25)
    assert.same({ 0.75, 0.75 }, w:tolist())
    assert.equal(4, scaler:get_scale())
    step(0.25)
    assert.equal(8, scaler:get_scale())
  end)

  it('leaves out a step with inf or nan, and backs off', function()
    step(math.huge)
    assert.same({ 1, 1 }, w:tolist())
    assert.equal(2, scaler:get_scale())
    step(0 / 0)
    assert.equal(1, scaler:get_scale())
    step(0.5)
    assert.same({ 0.5, 0.5 }, w:tolist())
  end)

  it('goes on from its state', function()
    step(1)
    local other = torch.amp.GradScaler(kind)
    other:load_state_dict(scaler:state_dict())
    assert.same(scaler:state_dict(), other:state_dict())
    assert.equal(1, other:state_dict()._growth_tracker)
  end)

  it('is nothing when it is not enabled', function()
    scaler = torch.amp.GradScaler(kind, { enabled = false })
    step(0.5)
    assert.same({ 0.5, 0.5 }, w:tolist())
    assert.equal(1, scaler:get_scale())
    assert.same({}, scaler:state_dict())
  end)

  it('keeps the order of its calls', function()
    fails_with('No inf checks were recorded', scaler.update, scaler)
    fails_with('No inf checks were recorded for this optimizer.', scaler.step, scaler, optimizer)
    scaler = torch.amp.GradScaler(kind)
    scaler:scale(w:sum()):backward()
    scaler:unscale_(optimizer)
    fails_with('unscale_() has already been called', scaler.unscale_, scaler, optimizer)
    scaler:step(optimizer)
    fails_with('step() has already been called', scaler.step, scaler, optimizer)
    fails_with('unscale_() is being called after step().', scaler.unscale_, scaler, optimizer)
  end)
end)

describe('custom_fwd and custom_bwd', function()
  -- A product that notes the dtypes it saw, and whether autocast was on.
  local function product(options)
    local seen, Product = {}, torch.autograd.Function:extend('Product')
    local function note(what, x) seen[what] = { dtype_of(x), torch.is_autocast_enabled(kind), dtype_of(x:mm(x)) } end
    Product.forward = torch.amp.custom_fwd(function(ctx, x, list)
      note('forward', x)
      ctx:save_for_backward(x)
      return x:mm(list[1])
    end, options)
    Product.backward = torch.amp.custom_bwd(function(ctx, g)
      local x = ctx.saved_tensors[1]
      note('backward', x)
      return g:to(x.dtype), nil
    end, { device_type = kind })
    return Product, seen
  end

  it('convert the inputs and leave autocast out', function()
    local Product, seen = product { device_type = kind, cast_inputs = torch.float32 }
    local x = rand({ 2, 2 }):to(low):requires_grad_()
    local y = torch.autocast(kind, function() return Product(x, { x }) end)
    assert.equal('torch.float32', dtype_of(y))
    torch.autocast(kind, function() y:sum():backward() end)
    local plain = { 'torch.float32', false, 'torch.float32' }
    assert.same({ forward = plain, backward = plain }, seen)
  end)

  it('custom_fwd does not change inputs outside of autocast or inputs of float64', function()
    local Product, seen = product { device_type = kind, cast_inputs = torch.float32 }
    local x = rand({ 2, 2 }):to(low):requires_grad_()
    assert.equal(low_name, dtype_of(Product(x, { x })))
    local wide = rand({ 2, 2 }):double():requires_grad_()
    assert.equal('torch.float64', dtype_of(torch.autocast(kind, function() return Product(wide, { wide }) end)))
    assert.same({ 'torch.float64', false, 'torch.float64' }, seen.forward)
  end)

  it('run backward as forward was run', function()
    local Product, seen = product { device_type = kind }
    local x = rand({ 2, 2 }):requires_grad_()
    local y = torch.autocast(kind, { dtype = low }, function() return Product(x, { x }) end)
    y:sum():backward()
    assert.same({ 'torch.float32', true, low_name }, seen.backward)
    y = Product(x, { x })
    torch.autocast(kind, function() y:sum():backward() end)
    assert.same({ 'torch.float32', false, 'torch.float32' }, seen.backward)
  end)

  it('custom_fwd takes its options first and rejects invalid ones', function()
    local seen
    local forward = torch.amp.custom_fwd { device_type = kind, cast_inputs = torch.float32 }(function(_, x) seen = dtype_of(x) end)
    torch.autocast(kind, forward, {}, rand({ 1 }):to(low))
    assert.equal('torch.float32', seen)
    fails_with("custom_fwd(): 'device_type' must be 'cpu' or 'cuda', got 'tpu'", function() torch.amp.custom_fwd(print, { device_type = 'tpu' }) end)
    fails_with('forward of the Function is not one of custom_fwd', function() torch.amp.custom_bwd(print, { device_type = kind })({}) end)
    assert.is_function(torch.cuda.amp.custom_fwd { cast_inputs = torch.float16 })
    assert.is_function(torch.cuda.amp.custom_bwd(print))
  end)
end)

describe('checkpoint', function()
  local checkpoint = torch.utils.checkpoint

  it('runs f in the scopes of context_fn', function()
    local runs, x = {}, rand({ 2 }):requires_grad_()
    local function scope(name) return function(f, ...)
      runs[#runs + 1] = name
      return f(...)
    end end
    local y = checkpoint.checkpoint(torch.sin, x, { context_fn = function() return scope 'first', scope 'second' end })
    y:sum():backward()
    assert.same({ 'first', 'second' }, runs)
    assert.is_true(torch.allclose(x:cos(), x.grad))
    fails_with("missing 1 required argument: 'second result of context_fn' (a function)", function()
      checkpoint.checkpoint(torch.sin, x, { context_fn = function() return print end })
    end)
  end)

  local function net()
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)):to(device)
  end

  local function gradients(run)
    local model = net()
    local x = torch.ones(3, 4, { device = device, requires_grad = true })
    torch.manual_seed(4)
    local loss = run(model, x):sum()
    local after = torch.rand(1):item()
    loss:backward()
    return { loss:item(), after, model[1].weight.grad, model[6].bias.grad, x.grad }
  end

  local function same(a, b)
    for i, value in ipairs(a) do
      if torch.is_tensor(value) then assert.is_true(torch.equal(value, b[i])) else assert.equal(value, b[i]) end
    end
  end

  it('gives the same loss and gradients, dropout and all', function()
    local plain = gradients(function(model, x) return model(x) end)
    same(plain, gradients(function(model, x) return checkpoint.checkpoint(model, x, { use_reentrant = false }) end))
    same(plain, gradients(function(model, x) return checkpoint.checkpoint_sequential(model, 3, x) end))
  end)

  it('checkpoint works under autograd.grad, for inputs and for captured tensors', function()
    local x, w = rand { 3 }:requires_grad_(), rand { 3 }:requires_grad_()
    local function f(a) return (a * w):sin() * w end
    local seen = 0
    w:register_hook(function(grad) seen = seen + 1 return grad end)
    local plain = { torch.autograd.grad(f(x * 2):sum(), { x, w }) }
    for _, run in ipairs {
      function(a) return checkpoint.checkpoint(f, a, { use_reentrant = false }) end,
      function(a) return checkpoint.checkpoint(function(b) return checkpoint.checkpoint(f, b) end, a) end,
    } do
      local got = { torch.autograd.grad(run(x * 2):sum(), { x, w }) }
      for i, want in ipairs(plain) do assert.is_true(torch.equal(want, got[i])) end
      assert.is_nil(x.grad)
      assert.is_nil(w.grad)
    end
    assert.equal(3, seen)
    local constant = rand { 3 }
    local y = checkpoint.checkpoint(f, constant)
    constant:add_(1)
    assert.has_error(function() y:sum():backward() end)
  end)

  it('computes again in backward, and reaches parameters of inputs without gradient', function()
    local model, runs = net(), 0
    local x = torch.ones(3, 4, { device = device })
    local y = checkpoint.checkpoint(function(input) runs = runs + 1 return model(input) end, x)
    assert.is_true(y.requires_grad)
    assert.equal(1, runs)
    y:sum():backward()
    assert.equal(2, runs)
    assert.truthy(model[1].weight.grad)
    torch.no_grad(function() assert.is_false(checkpoint.checkpoint(model, x).requires_grad) end)
  end)

  it('keeps autocast', function()
    local model = net()
    local x = torch.ones(3, 4, { device = device, requires_grad = true })
    local seen = {}
    local y = torch.autocast(kind, function()
      return checkpoint.checkpoint(function(input)
        local out = model(input)
        seen[#seen + 1] = dtype_of(out)
        return out
      end, x)
    end)
    y:sum():backward()
    assert.same({ low_name, low_name }, seen)
  end)
end)
