-- torch.optim: every optimizer step by step against PyTorch's (tests/reference/optim.lua), parameter groups, saved
-- state, errors. Runs on LTENSOR_TEST_DEVICE.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local optim = torch.optim

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local device = reference.device

local TOLERANCE = { float32 = 2e-5, float64 = 1e-11 }

local function close(expected, got, tolerance, what)
  local error_ = math.abs(expected - got)
  assert(error_ <= tolerance * math.max(1, math.abs(expected)),
    ('%s: expected %.17g, got %.17g'):format(what, expected, got))
end

local function flat(t)
  return t:detach():cpu():to(torch.float64):reshape(-1):tolist()
end

local function leaf(t) return t:detach():clone():requires_grad_() end

local rows = reference.load 'optim'
local inputs = table.remove(rows, 1)

-- The parameters at the start, and what sets their gradients for a step.
local function problem(dtype)
  local params, waves = {}, {}
  for i, start in ipairs(inputs.starts) do
    params[i] = leaf(reference.tensor(start):to(dtype))
    waves[i] = {}
    for k, wave in ipairs(inputs.waves[i]) do waves[i][k] = reference.tensor(wave):to(dtype) end
  end
  return params, function(t)
    for i, p in ipairs(params) do
      local swing, speed, phase = table.unpack(waves[i])
      p.grad = swing * torch.sin(speed * t + phase) + p:detach() / 3
    end
  end
end

local function sum_of(params)
  local total = 0
  for _, p in ipairs(params) do total = total + p:detach():to(torch.float64):sum():item() end
  return total
end

describe('optim: 50 steps are PyTorch\'s', function()
  for number, row in ipairs(rows) do
    if row.sums then
      it(('#%d %s %s'):format(number, row.name, row.dtype), function()
        local params, set_gradients = problem(torch[row.dtype])
        for i = #row.last + 1, #params do params[i] = nil end -- Muon takes matrices alone
        local optimizer = optim[row.name](params, row.options)
        -- Muon's iteration is in bfloat16, which is rounded where an optimizer's sums are made.
        local tolerance = row.name == 'Muon' and 2e-3 or TOLERANCE[row.dtype]
        for t, sum in ipairs(row.sums) do
          set_gradients(t)
          optimizer:step()
          close(sum, sum_of(params), tolerance, 'sum after step ' .. t)
        end
        for i, p in ipairs(params) do
          for k, value in ipairs(flat(p)) do close(row.last[i][k], value, tolerance, 'parameter ' .. i) end
        end
      end)
    else
      it(('#%d LBFGS'):format(number), function()
        local x = leaf(torch.tensor({ -1.2, 1.0 }, { dtype = torch.float64, device = device }))
        local y = leaf(torch.tensor({ 0.5 }, { dtype = torch.float64, device = device }))
        local optimizer = optim.LBFGS({ x, y }, row.options)
        local function closure()
          optimizer:zero_grad()
          local loss = (1 - x[1]) ^ 2 + 100 * (x[2] - x[1] ^ 2) ^ 2 + (y[1] - x[1]) ^ 2
          loss:backward()
          return loss
        end
        for i, loss in ipairs(row.losses) do close(loss, optimizer:step(closure):item(), 1e-7, 'loss ' .. i) end
        for k, value in ipairs(flat(x)) do close(row.last[1][k], value, 1e-5, 'x') end
      end)
    end
  end
end)

describe('optim: any parameters', function()
  it('half types, transposed parameters and empty ones', function()
    for _, dtype in ipairs { torch.bfloat16, torch.float16, torch.float32 } do
      local plain = leaf(torch.full({ 6, 700 }, 0.5, { dtype = dtype, device = device }))
      local turned = leaf(torch.full({ 700, 6 }, 0.5, { dtype = dtype, device = device }):t())
      local mixed = leaf(torch.full({ 6, 700 }, 0.5, { dtype = dtype, device = device }))
      local empty = leaf(torch.zeros(0, 3, { dtype = dtype, device = device }))
      turned = turned:detach():t():contiguous():t():requires_grad_()
      local optimizer = optim.Adam({ empty, plain, turned, mixed }, { lr = 0.125 })
      for _ = 1, 3 do
        plain.grad, empty.grad = torch.ones_like(plain), torch.zeros_like(empty)
        turned.grad = torch.ones(700, 6, { dtype = dtype, device = device }):t()
        mixed.grad = torch.ones(700, 6, { dtype = dtype, device = device }):t()
        optimizer:step()
      end
      assert.is_false(turned:is_contiguous())
      for _, p in ipairs { plain, turned, mixed } do
        local values = p:detach():cpu():to(torch.float32)
        close(0.125, values:min():item(), 0.01, 'least')
        close(0.125, values:max():item(), 0.01, 'greatest')
      end
    end
  end)

  it('large ones, shared by threads, and many of them', function()
    local params = {}
    for i = 1, 120 do params[i] = leaf(torch.zeros(i % 7 * 3000 + 1, { device = device })) end
    local optimizer = optim.SGD(params, { lr = 0.5, momentum = 0.9 })
    for _ = 1, 2 do
      for _, p in ipairs(params) do p.grad = torch.ones_like(p) end
      optimizer:step()
    end
    for _, p in ipairs(params) do
      close(-0.5 - 0.95, p:detach():min():item(), 1e-6, 'least')
      close(-0.5 - 0.95, p:detach():max():item(), 1e-6, 'greatest')
    end
  end)

  it('parameters without a gradient stay unchanged and are updated once they have one', function()
    local a, b = leaf(torch.ones(2, { device = device })), leaf(torch.ones(2, { device = device }))
    local optimizer = optim.Adam({ a, b }, { lr = 0.1 })
    a.grad = torch.ones_like(a)
    optimizer:step()
    assert.same({ 1, 1 }, b:tolist())
    b.grad = torch.ones_like(b)
    optimizer:step()
    close(0.8, a[1]:item(), 1e-5, 'a')
    close(0.9, b[1]:item(), 1e-5, 'b')
    assert.equal(2, optimizer.state[a].step)
    assert.equal(1, optimizer.state[b].step)
  end)

  it('a step makes an older graph stale', function()
    local w = leaf(torch.ones(2, { device = device }))
    local loss = (w * w):sum()
    w.grad = torch.ones_like(w)
    optim.SGD({ w }, { lr = 0.1 }):step()
    local ok, message = pcall(loss.backward, loss)
    assert.is_false(ok)
    assert(message:find('modified by an inplace operation', 1, true), message)
  end)
end)

describe('optim: complex parameters', function()
  local options = { SGD = { momentum = 0.9, weight_decay = 0.1 }, Adagrad = { initial_accumulator_value = 0.5 }, LBFGS = { line_search_fn = 'strong_wolfe' },
    Adam = { amsgrad = true } }

  for _, name in ipairs { 'SGD', 'Adam', 'AdamW', 'Adagrad', 'Adadelta', 'RMSprop', 'Rprop', 'NAdam', 'RAdam', 'Adamax', 'ASGD', 'LBFGS' } do
    it(name .. ' moves them as pairs of real numbers, with complex state', function()
      local function run(dtype)
        local start = torch.tensor({ { 1.0, 2.0 }, { -0.5, 0.25 }, { 3.0, -1.0 } }, { dtype = torch.float64, device = device })
        local p = leaf(dtype.is_complex and torch.view_as_complex(start) or start)
        local given = { lr = 0.1 }
        for key, value in pairs(options[name] or {}) do given[key] = value end
        local optimizer = optim[name]({ p }, given)
        local function closure()
          optimizer:zero_grad()
          local real = dtype.is_complex and torch.view_as_real(p) or p
          local loss = ((real - 0.3) ^ 2 * torch.tensor({ 1.0, 3.0 }, { dtype = torch.float64, device = device })):sum()
          loss:backward()
          return loss
        end
        for _ = 1, 4 do
          if name ~= 'LBFGS' then closure() end
          optimizer:step(name == 'LBFGS' and closure or nil)
        end
        return p, optimizer
      end
      local complex, optimizer = run(torch.complex128)
      local real = run(torch.float64)
      assert.equal(torch.complex128, complex.dtype)
      local expected = flat(real)
      for i, got in ipairs(flat(torch.view_as_real(complex:detach()))) do close(expected[i], got, 1e-12, name) end
      local other = optim[name]({ leaf(complex) }, { lr = 0.1 })
      other:load_state_dict(optimizer:state_dict())
      for key, value in pairs(optimizer.state[complex]) do
        if torch.is_tensor(value) and value.shape == complex.shape then assert.equal(torch.complex128, value.dtype, key) end
      end
    end)
  end

  it('Adafactor refuses', function()
    local p = leaf(torch.ones(2, { dtype = torch.complex64, device = device }))
    p.grad = torch.ones_like(p)
    fails_with('Adafactor does not support complex parameters', function() optim.Adafactor({ p }):step() end)
  end)
end)

describe('optim: groups and state', function()
  local function net()
    torch.manual_seed(3)
    local model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)):to(device)
    return model
  end

  local function train(model, optimizer, steps)
    local x = torch.ones(2, 3, { device = device })
    local loss
    for _ = 1, steps do
      optimizer:zero_grad()
      loss = model(x):square():mean()
      loss:backward()
      optimizer:step()
    end
    return loss:item()
  end

  it('groups have their own options', function()
    local model = net()
    local before = model[1].weight:detach():clone()
    local optimizer = optim.SGD({ { params = model[1]:parameters(), lr = 0 }, { params = { model[2].weight } } }, { lr = 0.1 })
    optimizer:add_param_group { params = model[2].bias, lr = 0.2 }
    train(model, optimizer, 2)
    assert.is_true(torch.equal(before, model[1].weight:detach()))
    assert.equal(3, #optimizer.param_groups)
    assert.equal(0.2, optimizer.param_groups[3].lr)
  end)

  for _, name in ipairs { 'SGD', 'Adam', 'NAdam', 'Adagrad', 'ASGD', 'RMSprop', 'Rprop' } do
    it('saved and loaded, ' .. name .. ' goes on with the same numbers', function()
      local options = name == 'SGD' and { lr = 0.05, momentum = 0.9 } or { lr = 0.05 }
      local model = net()
      local optimizer = optim[name](model:parameters(), options)
      train(model, optimizer, 3)
      local path = os.tmpname()
      torch.save({ net = model:state_dict(), optimizer = optimizer:state_dict() }, path)
      local expected = train(model, optimizer, 3)
      local again = net()
      local other = optim[name](again:parameters(), { lr = 0.9 })
      local saved = torch.load(path)
      os.remove(path)
      again:load_state_dict(saved.net)
      other:load_state_dict(saved.optimizer)
      assert.equal(0.05, other.param_groups[1].lr)
      assert.equal(expected, train(again, other, 3))
    end)
  end

  -- Of each class, what each row's optimizer had after five steps, loaded into one that was made with the next row's options and has
  -- done two steps: both go on alike.
  local by_class = {}
  for _, row in ipairs(rows) do
    if row.sums and row.dtype == 'float64' then
      by_class[row.name] = by_class[row.name] or {}
      table.insert(by_class[row.name], row)
    end
  end
  for name, alike in pairs(by_class) do
    it('the loaded state decides, not the options that a ' .. name .. ' was made with', function()
      for i, row in ipairs(alike) do
        local other_row = alike[i % #alike + 1]
        local params, set_gradients = problem(torch.float64)
        local others, set_others = problem(torch.float64)
        for k = #row.last + 1, #params do params[k], others[k] = nil, nil end
        local optimizer, other = optim[name](params, row.options), optim[name](others, other_row.options)
        for t = 1, 5 do
          set_gradients(t)
          optimizer:step()
        end
        for t = 1, 2 do
          set_others(t)
          other:step()
        end
        other:load_state_dict(optimizer:state_dict())
        torch.no_grad(function() for k, p in ipairs(params) do others[k]:copy_(p) end end)
        for t = 6, 9 do
          set_gradients(t)
          set_others(t)
          optimizer:step()
          other:step()
          for k, p in ipairs(params) do
            assert(torch.equal(p, others[k]), ('options %d loaded into those of %d, step %d, parameter %d'):format(i, i % #alike + 1, t, k))
          end
        end
      end
    end)
  end

  it('the state has PyTorch\'s form', function()
    local model = net()
    local optimizer = optim.Adam(model:parameters())
    train(model, optimizer, 2)
    local dict = optimizer:state_dict()
    assert.same({ 0, 1, 2, 3 }, dict.param_groups[1].params)
    assert.equal(2.0, dict.state[0].step:item())
    assert.equal('torch.float32', tostring(dict.state[0].step.dtype))
    assert.equal('torch.Size([4, 3])', tostring(dict.state[0].exp_avg.shape))
  end)

  it('zero_grad takes the gradients away or zeroes them', function()
    local model = net()
    local optimizer = optim.SGD(model:parameters())
    train(model, optimizer, 1)
    optimizer:zero_grad { set_to_none = false }
    assert.equal(0, model[1].weight.grad:abs():sum():item())
    optimizer:zero_grad()
    assert.is_nil(model[1].weight.grad)
  end)

  it('a closure runs with gradients on, hooks before and after', function()
    local w = leaf(torch.ones(1, { device = device }))
    local optimizer = optim.SGD({ w }, { lr = 0.5 })
    local order = {}
    local hook = optimizer:register_step_pre_hook(function() order[#order + 1] = 'before' end)
    optimizer:register_step_post_hook(function() order[#order + 1] = 'after' end)
    local function closure()
      optimizer:zero_grad()
      local loss = (w * w):sum()
      loss:backward()
      return loss
    end
    local _ <close> = torch.no_grad()
    assert.equal(1, optimizer:step(closure):item())
    hook:remove()
    optimizer:step()
    assert.same({ 'before', 'after', 'after' }, order)
  end)
end)

describe('optim: errors', function()
  local function w() return torch.ones(1, { requires_grad = true, device = device }) end

  it('reads a rate that is a Tensor at each step, and schedulers write into it', function()
    for _, name in ipairs { 'SGD', 'Adam', 'LBFGS', 'Rprop', 'Adafactor', 'SparseAdam' } do
      local number, tensor = torch.ones(3, { requires_grad = true }), torch.ones(3, { requires_grad = true })
      local rate = torch.tensor(0.5)
      local with_number, with_tensor = optim[name]({ number }, { lr = 0.5 }), optim[name]({ tensor }, { lr = rate })
      local function step(optimizer, w)
        optimizer:step(function()
          optimizer:zero_grad()
          local loss = w:square():sum()
          loss:backward()
          if name == 'SparseAdam' then w.grad = w.grad:to_sparse() end
          return loss
        end)
      end
      local schedulers = { optim.lr_scheduler.StepLR(with_number, 1, 0.5), optim.lr_scheduler.StepLR(with_tensor, 1, 0.5) }
      for i = 1, 3 do
        step(with_number, number)
        step(with_tensor, tensor)
        for _, scheduler in ipairs(schedulers) do scheduler:step() end
        if i == 2 then
          rate:fill_(0.25)
          with_number.param_groups[1].lr = 0.25
        end
        assert.is_true(torch.equal(number, tensor), name)
      end
      assert.is_true(with_tensor.param_groups[1].lr == rate)
      assert.equal(0.125, schedulers[2]:get_last_lr()[1])
      assert.equal(0.125, with_tensor:state_dict().param_groups[1].lr:item())
      fails_with('Tensor lr must be 1-element, got torch.Size([2])', optim[name], { tensor }, { lr = torch.ones(2) })
      fails_with(name == 'Adafactor' and 'Learning rate should be >= 0' or 'nvalid learning rate: -1', optim[name], { tensor },
        { lr = torch.tensor(-1.0) })
    end
  end)

  it('are PyTorch\'s', function()
    fails_with('optimizer got an empty parameter list', optim.SGD, {})
    fails_with('Invalid learning rate: -1', optim.SGD, { w() }, { lr = -1 })
    fails_with('Invalid momentum value: -0.5', optim.SGD, { w() }, { momentum = -0.5 })
    fails_with('Nesterov momentum requires a momentum and zero dampening', optim.SGD, { w() }, { nesterov = true })
    fails_with('Invalid beta parameter at index 2: 1.5', optim.Adam, { w() }, { betas = { 0.9, 1.5 } })
    fails_with('Invalid epsilon value: -1', optim.Adam, { w() }, { eps = -1 })
    fails_with("can't optimize a non-leaf Tensor", optim.SGD, { w() * 2 })
    fails_with('optimizer can only optimize Tensors, but parameter 1 is a number', optim.SGD, function() return 1 end)
    fails_with('optimizer can only optimize Tensors, but parameter 1 is a string', optim.SGD, { 'w' })
    local p = w()
    fails_with('some parameters appear in more than one parameter group', optim.SGD, { { params = { p } }, { params = { p } } })
    fails_with('duplicate parameters', optim.SGD, { p, p })
    fails_with("an option 'rate' that SGD does not have", optim.SGD, { { params = { p }, rate = 1 } })
    fails_with('loaded state dict has a different number of parameter groups', function()
      optim.SGD({ p }):load_state_dict { state = {}, param_groups = {} }
    end)
    fails_with("doesn't match the size of optimizer's group", function()
      optim.SGD({ p }):load_state_dict { state = {}, param_groups = { { params = { 0, 1 } } } }
    end)
    fails_with("load_state_dict(): argument 'state_dict' must be a table, not true", function() optim.SGD({ p }):load_state_dict(true) end)
    fails_with("argument 'dict.param_groups[1]' must be a table, not a number", function()
      optim.SGD({ p }):load_state_dict { state = {}, param_groups = { 5 } }
    end)
    fails_with("missing 1 required argument: 'dict.param_groups[1].params'", function()
      optim.SGD({ p }):load_state_dict { state = {}, param_groups = { {} } }
    end)
    fails_with('needs a closure', function() optim.LBFGS({ p }):step() end)
  end)

  it('of state that does not fit', function()
    local p = w()
    local optimizer = optim.Adam({ p })
    p.grad = torch.ones_like(p)
    optimizer:step()
    optimizer.state[p].exp_avg = torch.zeros(3, { device = device })
    fails_with('parameter 1 has shape [1], but its gradient or state has shape [3]', optimizer.step, optimizer)
    optimizer.state[p].exp_avg = torch.zeros(1, { device = device, dtype = torch.float64 })
    fails_with('parameter 1 has dtype float32, but its gradient or state has dtype float64', optimizer.step, optimizer)
  end)
end)

describe('an optimizer of the user', function()
  local Heavy = optim.Optimizer:extend 'Heavy'
  function Heavy:init(params, options) optim.Optimizer.init(self, params, { lr = options.lr }) end
  function Heavy.update(_, parameter, grad, group, state)
    state.speed = (state.speed or 0) * 0.5 + grad
    state.steps = (state.steps or 0) + 1
    parameter:add_(state.speed, { alpha = -group.lr })
  end

  it('has update() called for each parameter with a gradient, with its group and a state that is kept', function()
    local function leaf(x) return torch.tensor({ x }, { device = device, requires_grad = true }) end
    local a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    local optimizer = Heavy({ { params = { a } }, { params = { b, c }, lr = 10 } }, { lr = 1 })
    a.grad, b.grad = torch.ones_like(a), torch.ones_like(b)
    optimizer:step()
    optimizer:step()
    assert.same({ -1.5, -24, 1 }, { a:item(), b:item(), c:item() })
    assert.equal(2, optimizer.state[a].steps)
    assert.is_true(a.requires_grad and a.is_leaf)
  end)
end)
