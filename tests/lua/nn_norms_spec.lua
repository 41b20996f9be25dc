-- nn.utils.weight_norm and spectral_norm, the old functions and the parametrizations: states from PyTorch are read and
-- give its outputs and gradients (tests/files/norms.pt), removing, copies, devices, misuse.

local torch = require 'torch'
local nn = require 'torch.nn'
local fails_with = require 'support.fails_with'
local utils = nn.utils

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local makers = {
  linear = function() return nn.Linear(3, 2) end,
  conv = function() return nn.Conv2d(2, 3, 2) end,
  transposed = function() return nn.ConvTranspose2d(2, 3, 2) end,
}
local norms = { weight_norm = utils.weight_norm, spectral_norm = utils.spectral_norm,
  new_weight_norm = utils.parametrizations.weight_norm, new_spectral_norm = utils.parametrizations.spectral_norm }

local function close(expected, got, what)
  assert.equal(tostring(expected.shape), tostring(got.shape), what)
  assert.is_true(torch.allclose(expected:to(device), got, { rtol = 1e-4, atol = 1e-5 }), what)
end

local function names_of(dict)
  local names = {}
  for name in pairs(dict) do names[#names + 1] = name end
  table.sort(names)
  return names
end

for name, case in pairs(torch.load(here .. '../files/norms.pt')) do
  describe(name .. ' of PyTorch', function()
    it('has the same state, drawn from the same seed', function()
      torch.manual_seed(4)
      local module = norms[case.norm](makers[case.kind]())
      assert.same(names_of(case.drawn), names_of(module:state_dict()))
      for key, value in pairs(module:state_dict()) do
        assert.is_true(torch.allclose(case.drawn[key], value, { rtol = 1e-4, atol = 1e-5 }), key)
      end
    end)

    it('is read, and gives the same outputs and gradients', function()
      local module = norms[case.norm](makers[case.kind]()):to(device)
      module:load_state_dict(case.state)
      local y = module(case.x:to(device))
      close(case.y, y, 'y')
      y:square():sum():backward()
      for key, parameter in module:named_parameters() do close(case.gradients[key], parameter.grad, key) end
      for key, value in pairs(module:state_dict()) do close(case.after[key], value, key) end
      close(case.evaluated, module:eval()(case.x:to(device)), 'evaluated')
    end)
  end)
end

describe('weight_norm and spectral_norm', function()
  local pairs_of = { weight_norm = 'remove_weight_norm', spectral_norm = 'remove_spectral_norm' }

  for name, remove in pairs(pairs_of) do
    it(name .. ' is removed: the weight is a parameter again', function()
      local module = utils[name](makers.conv()):to(device)
      local before = module:eval().weight:clone()
      module(torch.ones(1, 2, 4, 4, { device = device }))
      local y = module(torch.ones(1, 2, 4, 4, { device = device }))
      utils[remove](module)
      assert.same({ 'bias', 'weight' }, { table.unpack(module:state_dict()) })
      assert.equal(torch.Size(before.shape), module.weight.shape)
      close(y:detach(), module(torch.ones(1, 2, 4, 4, { device = device })):detach(), 'y')
      assert.is_true(module.weight.is_leaf and module.weight.requires_grad)
      fails_with("not found in Conv2d", utils[remove], module)
      utils[name](module) -- once more
    end)

    it(name .. ' trains, again and again, and its copies do too', function()
      torch.manual_seed(1)
      local module = utils[name](makers.linear()):to(device)
      local copy = module:deepcopy()
      for _, net in ipairs { module, copy } do
        local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1 })
        local x = torch.randn(8, 3, { device = device })
        local losses = {}
        for i = 1, 5 do
          optimizer:zero_grad()
          local loss = (net(x) - net(-x) - 1):square():mean()
          loss:backward()
          optimizer:step()
          losses[i] = loss:item()
        end
        assert.is_true(losses[5] < losses[1])
      end
    end)

    it(name .. ' refuses a second one, and what is no parameter', function()
      local module = utils[name](makers.linear())
      fails_with(('Cannot register two %s hooks on the same parameter weight'):format(name), utils[name], module)
      fails_with("has no parameter 'other'", utils[name], makers.linear(), 'other')
    end)
  end

  it('take a name and a dimension, as a number or by name', function()
    local module = utils.weight_norm(makers.linear(), 'weight', 2)
    assert.equal(torch.Size { 1, 3 }, module.weight_g.shape)
    module = utils.weight_norm(makers.linear(), { dim = false })
    assert.equal(torch.Size {}, module.weight_g.shape)
    module = utils.weight_norm(nn.LSTM(2, 3), 'weight_hh_l0')
    assert.equal(torch.Size { 12, 1 }, module.weight_hh_l0_g.shape)
    assert.is_true(module(torch.randn(4, 1, 2)).requires_grad)
    module = utils.spectral_norm(makers.linear(), 'weight', 3, 1e-6, 2)
    assert.equal(torch.Size { 3 }, module.weight_u.shape)
    fails_with('none of the 2 dimensions', utils.weight_norm, makers.linear(), 'weight', 3)
    fails_with('Expected n_power_iterations to be positive', utils.spectral_norm, makers.linear(), { n_power_iterations = 0 })
  end)

  it('read the states of older versions', function()
    local x = torch.randn(2, 3, { device = device })
    local old = utils.weight_norm(makers.linear()):to(device)
    local new = utils.parametrizations.weight_norm(makers.linear()):to(device)
    new:load_state_dict(old:state_dict())
    close(old(x):detach(), new(x):detach(), 'weight_norm')
    -- Before PyTorch 1.0 spectral_norm saved the weight, and no weight_v.
    local source = utils.spectral_norm(makers.linear()):to(device)
    for _ = 1, 30 do source(x) end
    local state = source:state_dict()
    state.weight = source.weight:detach()
    state.weight_v = nil
    local target = utils.spectral_norm(makers.linear()):to(device)
    target:load_state_dict { bias = state.bias, weight = state.weight, weight_orig = state.weight_orig, weight_u = state.weight_u }
    close(source:eval()(x):detach(), target:eval()(x):detach(), 'spectral_norm')
  end)
end)
