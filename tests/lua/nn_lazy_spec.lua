-- nn_lazy_spec.lua - lazy layers, parametrizations, copies, hooks, containers, and the rest of nn.init and nn.utils.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local nn = torch.nn
local device = os.getenv('LTENSOR_TEST_DEVICE') or 'cpu'

describe('lazy layers', function()
  it('lazy layers create their parameters at the first input and become the layer of their name', function()
    local net = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2)):to(device)
    assert.equal('LazyLinear(in_features=0, out_features=4, bias=True)', tostring(net[1]))
    assert.equal('<UninitializedParameter>', tostring(net[1].weight))
    assert.equal(torch.Size { 3, 2 }, net(torch.ones(3, 5, { device = device })).shape)
    assert.equal('Linear(in_features=5, out_features=4, bias=True)', tostring(net[1]))
    local x = torch.ones(3, 5, { device = device })
    assert.is_true(torch.equal(net[1](x), nn.LazyLinear.forward(net[1], x)))
    assert.equal(torch.Size { 2, 4 }, net[3].weight.shape)
    assert.equal(torch.ones(1, { device = device }).device, net[1].weight.device)
    assert.is_true(net[1].weight.requires_grad)
  end)

  it('start as their classes do after the same seed', function()
    torch.manual_seed(3)
    local plain = nn.Linear(5, 4)
    torch.manual_seed(3)
    local lazy = nn.LazyLinear(4)
    lazy(torch.ones(1, 5))
    assert.is_true(torch.equal(plain.weight, lazy.weight))
    assert.is_true(torch.equal(plain.bias, lazy.bias))
  end)

  it('are taken by an optimizer before their first call', function()
    torch.manual_seed(3)
    local plain = nn.Linear(5, 4, { device = device })
    torch.manual_seed(3)
    local lazy = nn.LazyLinear(4):to(device)
    local x = torch.ones(2, 5, { device = device })
    for _, layer in ipairs { plain, lazy } do
      local optimizer = torch.optim.SGD(layer:parameters(), { lr = 0.5, momentum = 0.9 })
      for _ = 1, 2 do
        optimizer:zero_grad()
        layer(x):square():sum():backward()
        optimizer:step()
      end
      assert.is_true(torch.is_tensor(optimizer.param_groups[1].params[1]))
      assert.is_not_nil(optimizer:state_dict().state[0].momentum_buffer)
    end
    assert.is_true(torch.equal(plain.weight, lazy.weight))
    local idle = torch.optim.SGD(nn.LazyLinear(4):parameters(), { lr = 0.5 })
    idle:zero_grad()
    idle:step()
  end)

  it('are there for convolutions and norms', function()
    local net = nn.Sequential(nn.LazyConv2d(4, 3, { padding = 1 }), nn.LazyBatchNorm2d(), nn.LazyConvTranspose2d(2, 2)):to(device)
    assert.equal('<UninitializedBuffer>', tostring(net[2].running_mean))
    assert.equal(torch.Size { 2, 2, 6, 6 }, net(torch.ones(2, 3, 5, 5, { device = device })).shape)
    assert.equal('BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)', tostring(net[2]))
    assert.equal(torch.Size { 4, 3, 3, 3 }, net[1].weight.shape)
  end)

  it('take the shapes of a state that is loaded', function()
    local lazy, plain = nn.LazyLinear(4), nn.Linear(5, 4)
    lazy:load_state_dict(plain:state_dict())
    assert.is_true(torch.equal(plain.weight, lazy.weight))
    assert.equal(torch.Size { 1, 4 }, lazy(torch.ones(1, 5)).shape)
    assert.is_true(torch.equal(plain.weight, lazy.weight))
  end)

  it('lazy layers report uninitialized parameters', function()
    local lazy = nn.LazyLinear(4)
    fails_with("Can't access the shape of an uninitialized parameter", function() return lazy.weight.shape end)
    fails_with('Attempted to use an uninitialized parameter in normal_', function() nn.init.normal_(lazy.weight) end)
  end)
end)

describe('parametrizations', function()
  it('weight_norm has the weight\'s size apart', function()
    torch.manual_seed(1)
    local linear = nn.Linear(2, 3):to(device)
    local before = linear.weight:clone()
    nn.utils.parametrizations.weight_norm(linear)
    assert.same({ 'bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1' },
      { table.unpack(linear:state_dict()) })
    assert.equal(torch.Size { 3, 1 }, linear.parametrizations.weight.original0.shape)
    assert.is_true(torch.allclose(before, linear.weight, { atol = 1e-6 }))
    assert.equal([[
ParametrizedLinear(
  in_features=2, out_features=3, bias=True
  (parametrizations): ModuleDict(
    (weight): ParametrizationList(
      (0): _WeightNorm()
    )
  )
)]], tostring(linear))
    linear(torch.ones(1, 2, { device = device })):sum():backward()
    assert.truthy(linear.parametrizations.weight.original0.grad)
    nn.utils.parametrize.remove_parametrizations(linear, 'weight')
    assert.equal('Linear', torch.type(linear))
    assert.is_true(torch.allclose(before, linear.weight, { atol = 1e-6 }))
  end)

  it('spectral_norm divides by the largest singular value', function()
    torch.manual_seed(1)
    local linear = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3):to(device))
    for _ = 1, 20 do linear(torch.ones(1, 4, { device = device })) end
    local largest = torch.linalg.svdvals(linear.weight:detach():cpu())[1]:item()
    assert.near(1, largest, 1e-3)
    linear(torch.ones(1, 4, { device = device })):sum():backward()
    assert.truthy(linear.parametrizations.weight.original.grad)
  end)

  it('are modules of the user, which may be chained and assigned through', function()
    local Double = nn.Module:extend('Double')
    function Double:forward(x) return x * 2 end
    function Double:right_inverse(x) return x / 2 end
    local linear = nn.Linear(2, 2)
    local before = linear.weight:clone()
    nn.utils.parametrize.register_parametrization(linear, 'weight', Double())
    assert.is_true(torch.equal(before, linear.weight))
    linear.weight = torch.ones(2, 2)
    assert.same({ { 0.5, 0.5 }, { 0.5, 0.5 } }, linear.parametrizations.weight.original:tolist())
    assert.is_true(nn.utils.parametrize.is_parametrized(linear, 'weight'))
    local other = nn.utils.parametrize.register_parametrization(nn.Linear(2, 2), 'weight', Double())
    local original = other.parametrizations.weight.original
    nn.utils.parametrize.remove_parametrizations(other, 'weight', { leave_parametrized = false })
    assert.is_true(rawequal(original, other.weight))
    fails_with("does not have a parameter, a buffer, or a parametrized element with name 'other'",
      nn.utils.parametrize.register_parametrization, linear, 'other', Double())
  end)
end)

describe('hooks', function()
  it('see gradients that pass a module, and may replace them', function()
    local linear = nn.Linear(2, 3):to(device)
    local seen = {}
    linear:register_full_backward_pre_hook(function(_, grad_outputs) seen[#seen + 1] = grad_outputs[1].shape end)
    local handle = linear:register_full_backward_hook(function(_, grad_inputs, grad_outputs)
      seen[#seen + 1] = grad_inputs[1].shape
      seen[#seen + 1] = grad_outputs[1].shape
      return { grad_inputs[1] * 0 }
    end)
    local x = torch.ones(4, 2, { device = device, requires_grad = true })
    linear(x):sum():backward()
    assert.same({ '[4, 3]', '[4, 2]', '[4, 3]' }, { tostring(seen[1]):sub(12, -2), tostring(seen[2]):sub(12, -2), tostring(seen[3]):sub(12, -2) })
    assert.equal(0, x.grad:abs():sum():item())
    assert.truthy(linear.weight.grad)
    handle:remove()
    x.grad = nil
    linear(x):sum():backward()
    assert.is_true(x.grad:abs():sum():item() > 0)
  end)

  it('get no gradient of inputs that want none', function()
    local linear, called = nn.Linear(2, 3), nil
    linear:register_full_backward_hook(function(_, grad_inputs, grad_outputs)
      called = { grad_inputs[1] == nil, grad_outputs[1].shape }
    end)
    linear(torch.ones(1, 2)):sum():backward()
    assert.is_true(called[1])
    assert.equal(torch.Size { 1, 3 }, called[2])
  end)

  it('hooks of the state receive and change the saved and loaded tables', function()
    local linear, log = nn.Linear(1, 1), {}
    linear:register_state_dict_pre_hook(function() log[#log + 1] = 'save' end)
    linear:register_state_dict_post_hook(function(_, dict, prefix) dict[prefix .. 'bias'] = torch.zeros(1) end)
    linear:register_load_state_dict_pre_hook(function(_, dict) dict.weight = torch.ones(1, 1) end)
    linear:register_load_state_dict_post_hook(function(_, missing) log[#log + 1] = #missing end)
    local state = linear:state_dict()
    assert.equal(0, state.bias:item())
    linear:load_state_dict(state)
    assert.equal(1, linear.weight:item())
    assert.same({ 'save', 0 }, log)
  end)
end)

describe('nn.Module', function()
  it('leaves transient buffers out of its state', function()
    local module = nn.Module()
    module:register_buffer('kept', torch.ones(1))
    module:register_buffer('scratch', torch.ones(1), { persistent = false })
    assert.same({ 'kept' }, { table.unpack(module:state_dict()) })
    assert.equal(2, #module:buffers())
  end)

  it('get_submodule and get_parameter find a path', function()
    local net = nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2))
    assert.equal(net[1].weight, net:get_parameter '0.weight')
    assert.equal(net[2].running_mean, net:get_buffer '1.running_mean')
    assert.equal(net[1], net:get_submodule '0')
    fails_with('Sequential has no attribute `3`', net.get_submodule, net, '3.x')
    fails_with('`weight` is not a buffer', net.get_buffer, net, '0.weight')
  end)

  it('named_parameters accepts a prefix and removes duplicates on request', function()
    local linear = nn.Linear(1, 1)
    local net = nn.Sequential(linear, linear)
    local function names(...)
      local list = {}
      for name in net:named_parameters(...) do list[#list + 1] = name end
      return list
    end
    assert.same({ 'net.0.weight', 'net.0.bias' }, names('net'))
    assert.same({ '0.weight', '0.bias', '1.weight', '1.bias' }, names { remove_duplicate = false })
    assert.same({ '0.weight', '0.bias', '1.weight', '1.bias' }, { table.unpack(net:state_dict()) })
  end)

  it('deepcopy of a module preserves sharing', function()
    local linear = nn.Linear(2, 2)
    local net = nn.Sequential(linear, linear)
    local copy = net:deepcopy()
    assert.is_true(copy[1] == copy[2])
    assert.is_false(copy[1] == linear)
    assert.is_true(torch.equal(copy[1].weight, linear.weight))
    assert.is_false(copy[1].weight == linear.weight)
  end)

  it('reports missing and unexpected keys in the order of PyTorch', function()
    local net = nn.Linear(1, 1)
    fails_with('Error(s) in loading state_dict for Linear:\n\tMissing key(s) in state_dict: "weight". '
      .. '\n\tUnexpected key(s) in state_dict: "w". \n\tsize mismatch for bias: copying a param with shape torch.Size([2])',
      net.load_state_dict, net, { w = torch.ones(1), bias = torch.ones(2) })
  end)
end)

describe('containers', function()
  it('of parameters register them', function()
    local list = nn.ParameterList { torch.ones(2), nn.Parameter(torch.zeros(1)) }
    assert.equal(2, #list)
    local dict = nn.ParameterDict { b = torch.ones(1), a = torch.ones(2) }
    assert.same({ 'a', 'b' }, dict:keys())
    assert.equal(2, #dict:parameters())
    assert.equal(dict.a, (dict:pop 'a'))
    assert.is_false(dict:contains 'a')
  end)

  it('of modules can be changed', function()
    local net = nn.Sequential(nn.ReLU(), nn.Tanh())
    net:insert(2, nn.Sigmoid())
    assert.same({ 'ReLU', 'Sigmoid', 'Tanh' }, { torch.type(net[1]), torch.type(net[2]), torch.type(net[3]) })
    assert.equal('Sigmoid', torch.type(net:pop(2)))
    assert.equal(2, #net)
    local list = nn.ModuleList { nn.ReLU(), nn.ReLU(), nn.Tanh() }
    assert.equal('ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)', tostring(list))
  end)
end)

describe('nn.init', function()
  local init = nn.init
  it('makes orthogonal, sparse and dirac weights', function()
    torch.manual_seed(1)
    local q = init.orthogonal_(torch.empty(3, 5), { gain = 2 })
    assert.is_true(torch.allclose(q:mm(q:t()), torch.eye(3) * 4, { atol = 1e-5 }))
    local s = init.sparse_(torch.empty(10, 4), 0.3)
    assert.same({ 3, 3, 3, 3 }, s:eq(0):sum(1):tolist())
    local d = init.dirac_(torch.empty(2, 2, 3))
    local x = torch.randn(1, 2, 5)
    assert.is_true(torch.equal(nn.functional.conv1d(x, d, nil, 1, 1), x))
  end)

  it('nn.init.calculate_gain returns PyTorch\'s gains and rejects unknown names', function()
    assert.near(5 / 3, init.calculate_gain 'tanh', 1e-12)
    assert.near(math.sqrt(2 / 1.04), init.calculate_gain('leaky_relu', 0.2), 1e-12)
    fails_with('Unsupported nonlinearity other', init.calculate_gain, 'other')
    fails_with('Fan in and fan out can not be computed for tensor with fewer than 2 dimensions', init.xavier_normal_, torch.ones(3))
    fails_with("Mode fan not supported, please use one of ['fan_in', 'fan_out']", init.kaiming_normal_, torch.ones(3, 3), { mode = 'fan' })
  end)
end)

describe('nn.utils', function()
  it('clips gradients', function()
    local p = nn.Parameter(torch.zeros(2):to(device))
    p.grad = torch.tensor({ 3.0, 4.0 }, { device = device })
    assert.near(5, nn.utils.clip_grad_norm_({ p }, 1):item(), 1e-6)
    assert.near(1, p.grad:norm():item(), 1e-5)
    nn.utils.clip_grad_value_({ p }, 0.1)
    assert.near(0.1, p.grad:max():item(), 1e-6)
    p.grad:fill_(math.huge)
    fails_with('is non-finite, so it cannot be clipped', nn.utils.clip_grad_norm_, { p }, 1, { error_if_nonfinite = true })
  end)

  it('makes one vector of all parameters and reads it back', function()
    local net = nn.Linear(2, 1)
    local vector = nn.utils.parameters_to_vector(net:parameters())
    assert.equal(torch.Size { 3 }, vector.shape)
    nn.utils.vector_to_parameters(torch.ones(3), net:parameters())
    assert.same({ { 1, 1 } }, net.weight:tolist())
  end)
end)
