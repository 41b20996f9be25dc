-- nn_spec.lua - modules as their users know them: registration, state, moving, printing, hooks.

local torch = require 'torch'
local nn = torch.nn
local device = os.getenv('LTENSOR_TEST_DEVICE') or 'cpu'

local Net = nn.Module:extend('Net')
function Net:init(hidden)
  self.first = nn.Linear(3, hidden)
  self.act = nn.ReLU()
  self.last = nn.Linear(hidden, 2)
  self:register_buffer('seen', torch.zeros(1))
end
function Net:forward(x)
  self.seen = self.seen + 1
  return self.last(self.act(self.first(x)))
end

describe('nn.Module', function()
  it('registers parameters and modules in the order of assignment', function()
    local names = {}
    for name in Net(4):named_parameters() do names[#names + 1] = name end
    assert.same({ 'first.weight', 'first.bias', 'last.weight', 'last.bias' }, names)
  end)

  it('is a userdata that prints as a tree', function()
    local net = Net(4)
    assert.equal('userdata', type(net))
    assert.equal('Net', torch.type(net))
    assert.equal([[
Net(
  (first): Linear(in_features=3, out_features=4, bias=True)
  (act): ReLU()
  (last): Linear(in_features=4, out_features=2, bias=True)
)]], tostring(net))
  end)

  it('runs forward, and keeps its buffers up to date', function()
    local net = Net(4):to(device)
    assert.equal(torch.Size { 5, 2 }, net(torch.ones(5, 3, { device = device })).shape)
    assert.equal(1, net.seen:item())
  end)

  it('moves all parameters and buffers, in place', function()
    local net = Net(4)
    local weight = net.first.weight
    net:to(device):double()
    assert.equal(torch.float64, weight.dtype)
    assert.equal(torch.ones(1, { device = device }).device, net.seen.device) -- 'cuda' is the current GPU
    assert.is_true(weight.is_leaf)
    assert.is_true(weight.requires_grad)
  end)

  it('switches all descendants between training and evaluation', function()
    local net = Net(4):eval()
    assert.is_false(net.first.training)
    assert.is_true(net:train().last.training)
  end)

  it('gives its state by name and takes it back', function()
    local a, b = Net(4), Net(4)
    local missing, unexpected = b:load_state_dict(a:state_dict())
    assert.same({ {}, {} }, { missing, unexpected })
    assert.is_true(torch.equal(a.first.weight, b.first.weight))
  end)

  it('load_state_dict reports differences and changes nothing', function()
    local net = Net(4)
    local before = net.first.weight:clone()
    local state = Net(5):state_dict()
    local ok, message = pcall(net.load_state_dict, net, state)
    assert.is_false(ok)
    assert.truthy(message:find('size mismatch for first.weight: copying a param with shape torch.Size([5, 3]) from checkpoint, '
      .. 'the shape in current model is torch.Size([4, 3]).', 1, true))
    assert.is_true(torch.equal(before, net.first.weight))
  end)

  it('names missing and unexpected keys, or returns them when not strict', function()
    local net = Net(4)
    local ok, message = pcall(net.load_state_dict, net, { other = torch.ones(1) })
    assert.is_false(ok)
    assert.truthy(message:find('Unexpected key(s) in state_dict: "other".', 1, true))
    assert.truthy(message:find('Missing key(s) in state_dict: "', 1, true))
    local missing, unexpected = net:load_state_dict({ other = torch.ones(1) }, { strict = false })
    assert.same({ 5, { 'other' } }, { #missing, unexpected })
  end)

  it('applies a function to every descendant, children first', function()
    local kinds = {}
    Net(4):apply(function(m) kinds[#kinds + 1] = torch.type(m) end)
    assert.same({ 'Linear', 'ReLU', 'Linear', 'Net' }, kinds)
  end)

  it('runs hooks before and after forward, and removes them', function()
    local linear = nn.Linear(2, 2)
    local handle = linear:register_forward_hook(function(_, _, output) return output * 0 end)
    local pre = linear:register_forward_pre_hook(function(_, inputs) return inputs[1] + 1 end)
    assert.equal(0, linear(torch.ones(1, 2)):abs():sum():item())
    handle:remove()
    pre:remove()
    assert.is_true(torch.equal(linear(torch.zeros(1, 2))[1], linear.bias))
  end)

  it('refuses a plain tensor where a parameter is registered', function()
    local linear = nn.Linear(2, 2)
    assert.has_error(function() linear.weight = torch.ones(2, 2) end)
  end)

  it('clears gradients', function()
    local net = Net(4)
    net(torch.ones(1, 3)):sum():backward()
    assert.truthy(net.first.weight.grad)
    net:zero_grad()
    assert.is_nil(net.first.weight.grad)
  end)
end)

describe('nn.Sequential', function()
  it('counts layers from 1 and prints and names them from 0', function()
    local net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    assert.equal('Linear', torch.type(net[1]))
    assert.equal('ReLU', torch.type(net[-1]))
    assert.equal(2, #net)
    assert.same({ '0.weight', '0.bias' }, { table.unpack(net:state_dict()) })
    assert.has_error(function() return net[3] end)
    assert.has_error(function() return net[0] end)
  end)

  it('flattens images for a linear layer', function()
    local net = nn.Sequential(nn.Flatten(), nn.Linear(6, 2)):to(device)
    assert.equal(torch.Size { 4, 2 }, net(torch.ones(4, 2, 3, { device = device })).shape)
  end)
end)

describe('initial values', function()
  it('are PyTorch\'s for the same seed', function()
    torch.manual_seed(0)
    local linear = nn.Linear(2, 1)
    assert.is_true(torch.allclose(linear.weight, torch.tensor { { -0.0052940, 0.3793229 } }, { atol = 1e-6 }))
    assert.is_true(torch.allclose(linear.bias, torch.tensor { -0.5819808 }, { atol = 1e-6 }))
  end)
end)

describe('optim.SGD', function()
  local function trained(options, steps)
    local w = torch.tensor({ 1.0, -2.0 }, { device = device, requires_grad = true })
    local optimizer = torch.optim.SGD({ w }, options)
    for _ = 1, steps do
      optimizer:zero_grad();
      (w * w):sum():backward()
      optimizer:step()
    end
    return w:tolist()
  end

  it('follows the gradient', function()
    assert.near(0.8 ^ 3, trained({ lr = 0.1 }, 3)[1], 1e-6)
  end)

  it('has momentum, nesterov and weight decay as PyTorch defines them', function()
    -- values from PyTorch: SGD([w], ...) on (w * w).sum(), three steps
    local w = trained({ lr = 0.1, momentum = 0.9 }, 3)
    assert.near(0.062, w[1], 1e-6)
    assert.near(-0.124, w[2], 1e-6)
    w = trained({ lr = 0.1, momentum = 0.9, nesterov = true, weight_decay = 0.01 }, 2)
    assert.near(0.2192376, w[1], 1e-5)
  end)

  it('SGD rejects values that are not parameters and unknown options', function()
    assert.has_error(function() torch.optim.SGD({}, { lr = 0.1 }) end)
    assert.has_error(function() torch.optim.SGD({ 1 }, { lr = 0.1 }) end)
    local ok, message = pcall(torch.optim.SGD, { torch.ones(1) }, { learning_rate = 1 })
    assert.is_false(ok)
    assert.truthy(message:find("unexpected keyword argument 'learning_rate'", 1, true))
  end)
end)

describe('utils.data', function()
  local data = torch.utils.data

  it('walks a data set in batches', function()
    local loader = data.DataLoader { dataset = data.TensorDataset(torch.arange(5), torch.ones(5, 2)), batch_size = 2 }
    local seen = {}
    for x, y in loader:iter() do
      seen[#seen + 1] = x:tolist()
      assert.equal(#x, #y)
    end
    assert.same({ { 0, 1 }, { 2, 3 }, { 4 } }, seen)
    assert.equal(3, #loader)
  end)

  it('collates the samples of a user-defined dataset', function()
    local Squares = data.Dataset:extend('Squares')
    function Squares:__len() return 4 end
    function Squares:__getitem(i) return torch.tensor { i, i * i }, i end
    local X, y
    for a, b in data.DataLoader(Squares(), { batch_size = 4 }):iter() do X, y = a, b end
    assert.same({ { 1, 1 }, { 2, 4 }, { 3, 9 }, { 4, 16 } }, X:tolist())
    assert.same({ 1, 2, 3, 4 }, y:tolist())
  end)

  it('shuffles without losing any sample', function()
    local seen = {}
    for x in data.DataLoader(data.TensorDataset(torch.arange(10)), { batch_size = 3, shuffle = true }):iter() do
      for _, v in ipairs(x:tolist()) do seen[#seen + 1] = v end
    end
    table.sort(seen)
    assert.same({ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, seen)
  end)
end)
