-- nn_modules_spec.lua - every layer of torch.nn against PyTorch: initial values for a seed, printed form, names of the
-- state, results, gradients of parameters and inputs, buffers.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local fails_with = require 'support.fails_with'
local modules = dofile(here .. 'support/modules.lua')

describe('PyTorch\'s layers', function()
  for number, case in ipairs(modules.load 'modules') do
    it(modules.name(case, number), function() modules.run(case) end)
  end
end)

describe('functions made of other ops', function()
  local torch = require 'torch'
  local nn, F = torch.nn, torch.nn.functional
  it('have derivatives: interpolate, lp_pool, ctc_loss', function()
    torch.manual_seed(4)
    local x = torch.rand(2, 2, 4, { dtype = torch.float64 }):to(modules.device):requires_grad_()
    local function linear(t) return F.interpolate(t, { size = 7, mode = 'linear' }) end
    local function smoothed(t)
      return F.interpolate(t:unsqueeze(1), { size = { 2, 3 }, mode = 'bicubic', antialias = true })
    end
    local function pooled(t) return F.lp_pool1d(t, 2, 2) end
    local function ctc(t)
      return F.ctc_loss(t:log_softmax(3), torch.tensor { { 2, 3 }, { 4, 4 } }, { 2, 2 }, { 1, 2 }, { zero_infinity = true })
    end
    for _, fn in ipairs { linear, smoothed, pooled, ctc } do
      assert.is_true(torch.autograd.gradcheck(fn, { x }))
      assert.is_true(torch.autograd.gradgradcheck(fn, { x }))
    end
  end)

  it('predict: AdaptiveLogSoftmaxWithLoss has probabilities, and picks the likeliest class', function()
    torch.manual_seed(3)
    local net = nn.AdaptiveLogSoftmaxWithLoss(6, 12, { 3, 7 }, { div_value = 2 }):to(modules.device)
    local x = torch.randn(9, 6):to(modules.device)
    local all = net:log_prob(x)
    assert.is_true(torch.allclose(all:exp():sum(2), torch.ones(9):to(modules.device), { atol = 1e-5 }))
    local target = torch.arange(1, 10):to(modules.device)
    local picked, loss = net(x, target)
    assert.is_true(torch.allclose(picked, all:gather(2, target:unsqueeze(2)):squeeze(2), { atol = 1e-5 }))
    assert.is_true(math.abs(loss:item() + picked:mean():item()) < 1e-6)
    local predicted, likeliest = net:predict(x), all:argmax(2)
    local within = net.head(x):argmax(2):le(3)
    assert.is_true(torch.equal(predicted, torch.where(within, predicted, likeliest)))
    assert.is_true(predicted[within]:le(3):all():item())
    fails_with('Target values should be in [1, 12], but values in range [1, 13] were found.', net, x[{ { 1, 2 } }],
      torch.tensor({ 1, 13 }, { device = modules.device }))
    fails_with('same size in the batch dimension', net, x, target[{ { 1, 2 } }])
    fails_with('cutoffs should be a sequence of unique', nn.AdaptiveLogSoftmaxWithLoss, 6, 12, { 7, 3 })
  end)

  it('ctc_loss without an alignment is infinity, or zero with zero_infinity', function()
    local log_probs = torch.zeros(1, 1, 3):log_softmax(3)
    local function loss(options) return F.ctc_loss(log_probs, torch.tensor { { 2, 2 } }, { 1 }, { 2 }, options):item() end
    assert.equal(math.huge, loss())
    assert.equal(0, loss { zero_infinity = true })
  end)

  it('an infinite ctc_loss has a gradient of nan, and of 0 with zero_infinity, beside finite ones that keep theirs', function()
    torch.manual_seed(2)
    local scores = torch.randn(4, 2, 5)
    local function gradient(options, lengths)
      local x = scores:clone():requires_grad_()
      options.reduction = 'sum'
      F.ctc_loss(x:log_softmax(3), torch.tensor { { 2, 2 }, { 3, 4 } }, lengths, { 2, 2 }, options):backward()
      return x.grad
    end
    local finite = gradient({}, { 4, 4 })
    local infinite = gradient({}, { 2, 4 }) -- the equal labels need a blank between them
    assert.is_true(infinite['1:2, 1']:isnan():all():item())
    assert.is_true(infinite['3:4, 1']:eq(0):all():item())
    assert.is_true(torch.equal(infinite[':, 2'], finite[':, 2']))
    local zero = gradient({ zero_infinity = true }, { 2, 4 })
    assert.is_true(zero[':, 1']:eq(0):all():item())
    assert.is_true(torch.equal(zero[':, 2'], finite[':, 2']))
  end)

  it('functions of other ops reject invalid arguments', function()
    local x = torch.ones(1, 1, 4, 4)
    fails_with('either size or scale_factor should be defined', F.interpolate, x)
    fails_with('only one of size or scale_factor should be defined', F.interpolate, x, { size = 2, scale_factor = 2 })
    fails_with('align_corners option can only be set with the interpolating modes', F.interpolate, x,
      { size = 2, align_corners = true })
    fails_with('Got 4D input, but trilinear mode needs 5D input', F.interpolate, x, { size = 2, mode = 'trilinear' })
    fails_with('Expected shape of indices to be same as that of the input tensor', F.max_unpool2d, x, torch.ones(1, 1, 2, 2):long(), 2)
    fails_with('target_lengths must be of size batch_size', F.ctc_loss, torch.ones(2, 1, 3), torch.tensor { { 2 } }, { 2 }, {})
  end)
end)
