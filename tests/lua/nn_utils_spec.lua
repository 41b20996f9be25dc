-- nn_utils_spec.lua - torch.nn.utils: pruning, layers fused with their normalization, orthogonal weights, skip_init; the
-- state that modules keep besides tensors; averages of models (torch.optim.swa_utils).

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local nn = torch.nn
local prune, utils, swa = nn.utils.prune, nn.utils, torch.optim.swa_utils
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function linear(weight)
  local layer = nn.Linear(#weight[1], #weight, { device = device })
  torch.no_grad(function() layer.weight:copy_(torch.tensor(weight)) end)
  return layer
end

local function close(a, b, tolerance)
  assert(torch.allclose(a, b, { rtol = tolerance or 1e-5, atol = tolerance or 1e-6 }), ('differ by %g'):format((a - b):abs():max():item()))
end

describe('prune', function()
  it('sets the smallest elements to zero, in every forward', function()
    local layer = linear { { 1, -2, 3 }, { -4, 5, -6 } }
    prune.l1_unstructured(layer, 'weight', 2)
    assert.same({ { 0, 0, 3 }, { -4, 5, -6 } }, layer.weight:tolist())
    assert.same({ { 0, 0, 1 }, { 1, 1, 1 } }, layer.weight_mask:tolist())
    local names = {}
    for name in layer:named_parameters() do names[#names + 1] = name end
    assert.same({ 'bias', 'weight_orig' }, names)
    assert.is_true(prune.is_pruned(nn.Sequential(layer)))
    torch.no_grad(function() layer.weight_orig:fill_(1) end)
    layer(torch.ones(1, 3, { device = device })):sum():backward()
    assert.same({ { 0, 0, 1 }, { 1, 1, 1 } }, layer.weight:tolist())
    assert.same({ { 0, 0, 1 }, { 1, 1, 1 } }, layer.weight_orig.grad:tolist())
    prune.l1_unstructured(layer, 'weight', 0.5, torch.tensor({ { 9, 9, 4 }, { 3, 2, 1 } }, { device = device }):float())
    assert.same({ { 0, 0, 1 }, { 1, 0, 0 } }, layer.weight_mask:tolist())
    prune.remove(layer, 'weight')
    assert.same({ { 0, 0, 1 }, { 1, 0, 0 } }, layer.weight:tolist())
    assert.is_true(torch._C.is_parameter(layer.weight))
    assert.is_false(prune.is_pruned(layer))
    assert.is_nil(layer.weight_mask)
  end)

  it('takes whole channels, dims from 1', function()
    local layer = linear { { 1, -2, 3 }, { -4, 5, -6 } }
    prune.ln_structured(layer, 'weight', 1, 2, 2)
    assert.same({ { 0, 1, 1 }, { 0, 1, 1 } }, layer.weight_mask:tolist())
    prune.ln_structured(layer, 'weight', 0.5, 1, 1)
    assert.same({ { 0, 0, 0 }, { 0, 1, 1 } }, layer.weight_mask:tolist())
    local random = linear { { 1, 2, 3 }, { 4, 5, 6 } }
    prune.random_structured(random, 'weight', 1, 1)
    assert.equal(3, random.weight_mask:sum():item())
  end)

  it('prunes several layers together, by a mask, and at random', function()
    local a, b = linear { { 1, -2 } }, linear { { 3, 0.5 } }
    prune.global_unstructured({ { a, 'weight' }, { b, 'weight' } }, prune.L1Unstructured, { amount = 2 })
    assert.same({ { 0, -2 } }, a.weight:tolist())
    assert.same({ { 3, 0 } }, b.weight:tolist())
    local c = linear { { 1, 2, 3, 4 } }
    prune.custom_from_mask(c, 'weight', torch.tensor({ { 1, 0, 0, 1 } }, { device = device }))
    assert.same({ { 1, 0, 0, 4 } }, c.weight:tolist())
    local d = prune.random_unstructured(linear { { 1, 2, 3, 4 } }, 'weight', 0.5)
    assert.equal(2, d.weight_mask:sum():item())
    assert.same({ { 1, 2 } }, prune.identity(linear { { 1, 2 } }, 'weight').weight:tolist())
    local copy = a:deepcopy()
    torch.no_grad(function() copy.weight_orig:fill_(7) end)
    copy(torch.ones(1, 2, { device = device }))
    assert.same({ { 0, 7 } }, copy.weight:tolist())
  end)

  it('prune raises the errors of PyTorch', function()
    local layer = linear { { 1, 2 } }
    fails_with('amount=1.5 should either be a float in the range [0, 1] or a non-negative integer', prune.l1_unstructured, layer, 'weight', 1.5)
    fails_with('amount=7 should be smaller than the number of parameters to prune=2', prune.l1_unstructured, layer, 'weight', 7)
    fails_with("Parameter 'weight' of module Linear has to be pruned before pruning can be removed", prune.remove, layer, 'weight')
    fails_with('Structured pruning can only be applied to multidimensional tensors.', prune.random_structured, layer, 'bias', 1)
  end)
end)

describe('fused layers', function()
  local function normalized(bn)
    torch.no_grad(function()
      bn.running_mean:uniform_(-1, 1)
      bn.running_var:uniform_(0.5, 2)
      bn.weight:uniform_(0.5, 2)
      bn.bias:uniform_(-1, 1)
    end)
    return bn:to(device):double():eval()
  end

  it('fused layers give the result of layer and normalization', function()
    torch.manual_seed(3)
    local x = torch.randn(2, 3, 5, 5, { device = device, dtype = torch.float64 })
    local conv, bn = nn.Conv2d(3, 4, 3, { bias = false }):to(device):double():eval(), normalized(nn.BatchNorm2d(4))
    close(bn(conv(x)), utils.fuse_conv_bn_eval(conv, bn)(x), 1e-10)
    local transposed = nn.ConvTranspose2d(3, 4, 3):to(device):double():eval()
    close(bn(transposed(x)), utils.fuse_conv_bn_eval(transposed, bn, true)(x), 1e-10)
    local layer, norm = nn.Linear(5, 4):to(device):double():eval(), normalized(nn.BatchNorm1d(4))
    close(norm(layer(x[{ 1, 1 }])), utils.fuse_linear_bn_eval(layer, norm)(x[{ 1, 1 }]), 1e-10)
    fails_with('Fusion only for eval!', utils.fuse_conv_bn_eval, nn.Conv2d(3, 4, 3), bn)
  end)
end)

describe('parametrizations.orthogonal', function()
  for _, case in ipairs { { 3, 3, 'matrix_exp' }, { 3, 3, 'cayley' }, { 4, 2, 'householder' }, { 2, 4, 'householder' }, { 4, 2, 'cayley' } } do
    it(('keeps a %d by %d weight orthonormal (%s)'):format(table.unpack(case)), function()
      torch.manual_seed(1)
      local layer = utils.parametrizations.orthogonal(nn.Linear(case[2], case[1], { device = device }), { orthogonal_map = case[3] })
      local function check()
        local q = layer.weight
        if q:size(1) < q:size(2) then q = q.mT end
        close(q.mT:matmul(q), torch.eye(q:size(2), { device = device }), 1e-5)
      end
      check()
      local optimizer = torch.optim.SGD(layer, { lr = 0.1 })
      for _ = 1, 3 do
        optimizer:zero_grad()
        layer(torch.ones(2, case[2], { device = device })):square():sum():backward()
        assert.is_true(layer.parametrizations.weight.original.grad:ne(0):any():item())
        optimizer:step()
        check()
      end
    end)
  end
  it('begins with an orthogonal weight as it is', function()
    local layer = linear { { 0, 1 }, { -1, 0 } }
    utils.parametrizations.orthogonal(layer)
    close(layer.weight, torch.tensor({ { 0.0, 1.0 }, { -1.0, 0.0 } }, { device = device }), 1e-6)
  end)
end)

describe('modules', function()
  it('keep state besides tensors', function()
    local Counter = nn.Module:extend('Counter')
    function Counter:init() self.count = 0 end
    function Counter:get_extra_state() return { count = self.count } end
    function Counter:set_extra_state(state) self.count = state.count end
    local a, b = nn.Sequential(Counter(), nn.Linear(1, 1)), nn.Sequential(Counter(), nn.Linear(1, 1))
    a[1].count = 5
    local state = a:state_dict()
    assert.same({ '0._extra_state', '1.weight', '1.bias' }, { table.unpack(state) })
    b:load_state_dict(state)
    assert.equal(5, b[1].count)
    fails_with('Unexpected key(s) in state_dict: "0._extra_state"', function()
      nn.Sequential(nn.Identity(), nn.Linear(1, 1)):load_state_dict(state)
    end)
    state['0._extra_state'] = nil
    fails_with('Missing key(s) in state_dict: "0._extra_state"', function() b:load_state_dict(state) end)
  end)

  it('put another in the place of a descendant', function()
    local net = nn.Sequential(nn.Sequential(nn.Linear(1, 2), nn.ReLU()))
    net:set_submodule('0.1', nn.Tanh())
    assert.equal('Tanh', torch.type(net[1][2]))
    fails_with('Sequential has no attribute `7`', function() net:set_submodule('0.7', nn.Tanh(), { strict = true }) end)
    fails_with('Cannot set the submodule without a target name!', function() net:set_submodule('', nn.Tanh()) end)
  end)

  it('are made without their first values', function()
    local layer = utils.skip_init(nn.Linear, 3, 4, { bias = false, device = device })
    assert.equal(torch.Size { 4, 3 }, layer.weight.shape)
    assert.equal(torch.device(device).type, layer.weight.device.type)
    assert.is_nil(layer.bias)
    fails_with('Expected a Module', utils.skip_init, 3)
  end)
end)

describe('swa_utils', function()
  it('average parameters', function()
    local net = nn.Linear(1, 1, { device = device })
    local mean, recent = swa.AveragedModel(net), swa.AveragedModel(net, { avg_fn = swa.get_ema_avg_fn(0.5) })
    for i = 1, 3 do
      torch.no_grad(function() net.weight:fill_(i) end)
      mean:update_parameters(net)
      recent:update_parameters(net)
    end
    assert.near(2, mean.module.weight:item(), 1e-6)
    assert.near(2.25, recent.module.weight:item(), 1e-6)
    assert.equal(3, mean.n_averaged:item())
    fails_with('Invalid decay value 2 provided. Please provide a value in [0,1] range.', swa.get_ema_avg_fn, 2)
  end)

  it('make the statistics of normalizations anew', function()
    local net = nn.Sequential(nn.BatchNorm1d(1)):to(device)
    local batches = {}
    for i = 1, 4 do batches[i] = torch.full({ 2, 1 }, i, { device = device }):float() end
    swa.update_bn(batches, net)
    assert.near(2.5, net[1].running_mean:item(), 1e-6)
    assert.equal(0.1, net[1].momentum)
    fails_with("anneal_strategy must be one of 'cos' or 'linear', instead got x", swa.SWALR, torch.optim.SGD(net, { lr = 1 }), 0.1,
      { anneal_strategy = 'x' })
  end)

  it('optimizers of swa_utils save and load their state', function()
    local net = nn.Linear(1, 1, { device = device })
    local optimizer, seen = torch.optim.Adafactor(net), {}
    optimizer:register_state_dict_post_hook(function(_, dict) dict.note = 'kept' end)
    optimizer:register_load_state_dict_pre_hook(function(_, dict) seen[1] = dict.note end)
    optimizer:load_state_dict(optimizer:state_dict())
    assert.same({ 'kept' }, seen)
    fails_with('Muon only supports 2D parameters whereas we found a parameter with size: torch.Size([1])', torch.optim.Muon, net)
    fails_with('Learning rate should be >= 0 but is: -1', torch.optim.Adafactor, net, { lr = -1 })
  end)
end)
