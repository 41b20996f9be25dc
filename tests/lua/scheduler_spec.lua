-- torch.optim.lr_scheduler: the rates over 30 steps are PyTorch's (tests/reference/scheduler.lua); saved state, errors.
-- Numbers on the host alone: no device takes part.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local optim = torch.optim
local S = setmetatable({ SWALR = optim.swa_utils.SWALR }, { __index = optim.lr_scheduler })

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local rows = dofile(here .. '../reference/scheduler.lua')
local metrics = table.remove(rows, 1).metrics

local function new_optimizer(kind)
  local function w() return { torch.zeros(1, { requires_grad = true }) } end
  return optim[kind]({ { params = w() }, { params = w(), lr = 0.02 } }, { lr = 0.1 })
end

local function make(row, o)
  if row.name == 'ChainedScheduler' then
    return load('local S, o = ... return S.ChainedScheduler(' .. row.arguments .. ')')(S, o)
  end
  local comma = row.arguments ~= '' and ', ' or ''
  return assert(load(('local S, o = ... return S.%s(o%s%s)'):format(row.name, comma, row.arguments)))(S, o)
end

local function close(expected, got, what)
  assert(math.abs(expected - got) <= 1e-12 * math.max(1, math.abs(expected)),
    ('%s: expected %.17g, got %.17g'):format(what, expected, got))
end

local function step(row, scheduler, t)
  if row.name == 'ReduceLROnPlateau' then
    scheduler:step(metrics[t])
  elseif t < #row.rates[1] then
    scheduler:step()
  end
end

local function momentum_of(group) return group.betas and group.betas[1] or group.momentum end

local function check(row, o, t)
  for i, group in ipairs(o.param_groups) do close(row.rates[i][t], group.lr, ('rate of group %d, step %d'):format(i, t)) end
  close(row.momentum[t], momentum_of(o.param_groups[1]), 'momentum, step ' .. t)
end

describe('lr_scheduler: 30 steps are PyTorch\'s', function()
  for number, row in ipairs(rows) do
    it(('#%d %s(%s)'):format(number, row.name, row.arguments), function()
      local o = new_optimizer(row.optimizer)
      local scheduler = make(row, o)
      for t = 1, #row.rates[1] do
        check(row, o, t)
        step(row, scheduler, t)
      end
    end)

    it(('#%d %s(%s) goes on from its saved state'):format(number, row.name, row.arguments), function()
      local o = new_optimizer(row.optimizer)
      local scheduler = make(row, o)
      for t = 1, 12 do step(row, scheduler, t) end
      local path = os.tmpname()
      torch.save({ scheduler = scheduler:state_dict(), optimizer = o:state_dict() }, path)
      local again = new_optimizer(row.optimizer)
      local other = make(row, again)
      local saved = torch.load(path)
      os.remove(path)
      other:load_state_dict(saved.scheduler)
      again:load_state_dict(saved.optimizer)
      assert.same(scheduler:get_last_lr(), other:get_last_lr())
      for t = 13, #row.rates[1] do
        check(row, again, t)
        step(row, other, t)
      end
    end)
  end
end)

-- Functions, and the classes of inner schedulers, are no state.
local by_function = { LambdaLR = true, MultiplicativeLR = true, SequentialLR = true, ChainedScheduler = true }

describe('lr_scheduler: the loaded state has priority over constructor arguments:', function()
  for number, row in ipairs(rows) do
    for other_number, other_row in ipairs(rows) do
      local alike = other_number ~= number and other_row.name == row.name and other_row.optimizer == row.optimizer
      if alike and not by_function[row.name] then
        it(('#%d %s(%s) goes on in one of (%s)'):format(number, row.name, row.arguments, other_row.arguments), function()
          local o, again = new_optimizer(row.optimizer), new_optimizer(row.optimizer)
          local scheduler, other = make(row, o), make(other_row, again)
          for t = 1, 12 do step(row, scheduler, t) end
          for t = 1, 5 do step(other_row, other, t) end
          other:load_state_dict(scheduler:state_dict())
          again:load_state_dict(o:state_dict())
          for t = 13, #row.rates[1] do
            check(row, again, t)
            step(row, other, t)
          end
        end)
      end
    end
  end
end)

describe('lr_scheduler: a SequentialLR that is resumed', function()
  it('a resumed SequentialLR continues the later schedulers as PyTorch', function()
    for last_epoch, rates in pairs {
      [-1] = { 0.5, 0.5, 1.0, 0.9, 0.81 }, [1] = { 0.5, 0.45, 0.405, 0.3645, 0.32805 }, [4] = { 0.5, 0.45, 0.405, 0.3645, 0.32805 },
    } do
      local o = optim.SGD({ torch.zeros(1, { requires_grad = true }) }, { lr = 1.0 })
      local s = S.SequentialLR(o, { S.ConstantLR(o, 0.5, 20), S.ExponentialLR(o, 0.9) }, { 2 }, { last_epoch = last_epoch })
      for t, rate in ipairs(rates) do
        close(rate, o.param_groups[1].lr, ('last_epoch %d, step %d'):format(last_epoch, t))
        s:step()
      end
    end
  end)
end)

describe('lr_scheduler: a given epoch', function()
  it('takes the closed form', function()
    for _, make_one in ipairs {
      function(o) return S.StepLR(o, 7) end, function(o) return S.MultiStepLR(o, { 3, 8, 8 }) end,
      function(o) return S.LinearLR(o) end, function(o) return S.ConstantLR(o) end,
      function(o) return S.ExponentialLR(o, 0.9) end, function(o) return S.PolynomialLR(o, 9, 2) end,
      function(o) return S.CosineAnnealingLR(o, 10) end, function(o) return S.CosineAnnealingWarmRestarts(o, 4, 2) end,
    } do
      local a, b = new_optimizer 'SGD', new_optimizer 'SGD'
      local one, other = make_one(a), make_one(b)
      for _ = 1, 8 do one:step() end
      other:step(8)
      close(a.param_groups[1].lr, b.param_groups[1].lr, one.__classname)
    end
  end)

  it('of warm restarts may have a fraction', function()
    local o = new_optimizer 'SGD'
    o.param_groups[1].lr = 1.0
    local s, rates = S.CosineAnnealingWarmRestarts(o, 4, 2), {}
    for i = 0, 12, 2 do
      s:step(i + 0.25)
      rates[#rates + 1] = o.param_groups[1].lr
    end
    -- PyTorch's
    for i, expected in ipairs { 0.990392640202, 0.402454838992, 0.997592363336, 0.817196642082, 0.450991429835, 0.113494773319, 0.999397728103 } do
      close(expected, rates[i], ('rate %d'):format(i))
    end
    assert.same({ 12, 16 }, { s.last_epoch, s.T_i })
    assert.equal('integer', math.type(s.T_i))
  end)

  it('resumes where a run was', function()
    local o = new_optimizer 'SGD'
    local s = S.StepLR(o, 2)
    for _ = 1, 4 do s:step() end
    local resumed = S.StepLR(o, 2, { last_epoch = 4 })
    assert.equal(5, resumed.last_epoch)
    close(0.001, o.param_groups[1].lr, 'rate')
  end)
end)

describe('lr_scheduler: a state', function()
  it('a state is copied once, with shared parts and cycles', function()
    local s = S.StepLR(new_optimizer 'SGD', 2)
    local shared = { 1 }
    for _ = 1, 60 do shared = { shared, shared } end -- 2 ^ 60 paths
    shared.itself = shared
    s:load_state_dict { last_epoch = 3, shared = shared }
    assert.equal(3, s.last_epoch)
    assert.is_true(rawequal(s.shared.itself, s.shared) and rawequal(s.shared[1], s.shared[2]))
    assert.is_false(rawequal(s.shared, shared))
    assert.equal(3, s:state_dict().last_epoch)
  end)
end)

describe('lr_scheduler: errors', function()
  it('are PyTorch\'s', function()
    local o = new_optimizer 'SGD'
    fails_with("StepLR(): argument 'optimizer' must be an Optimizer, not a table", S.StepLR, {}, 3)
    fails_with("missing 1 required argument: 'step_size'", S.StepLR, o)
    fails_with("unexpected keyword argument 'gama'", S.StepLR, o, 3, { gama = 1 })
    fails_with('Constant multiplicative factor expected to be between 0 and 1.', S.ConstantLR, o, 2)
    fails_with('Starting multiplicative factor expected', S.LinearLR, o, 0)
    fails_with('Expected positive integer T_0', S.CosineAnnealingWarmRestarts, o, 0)
    fails_with('You must define either total_steps OR', S.OneCycleLR, o, 0.1)
    fails_with('optimizer must support momentum or beta1', S.OneCycleLR, optim.Adagrad({ torch.zeros(1, { requires_grad = true }) }),
      0.1, 10)
    fails_with('Factor should be < 1.0.', S.ReduceLROnPlateau, o, 'min', 1)
    fails_with('mode middle is unknown!', S.ReduceLROnPlateau, o, 'middle')
    fails_with('number of schedulers 1 and the number of milestones to be equal to 1', S.SequentialLR, o, { S.StepLR(o, 1) }, { 2 })
    fails_with("'initial_lr' is not specified in param_groups[1]", S.StepLR, new_optimizer 'SGD', 1, { last_epoch = 3 })
    fails_with('lr_lambda must have the same length as optimizer.param_groups', S.LambdaLR, o, { math.sqrt })
    local s = S.OneCycleLR(o, 0.1, 3)
    fails_with('Tried to step 4 times. The specified number of total steps is 3', function() for _ = 1, 5 do s:step() end end)
  end)
end)
