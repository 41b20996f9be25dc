-- Loops over everything that makes or keeps tensors: thirty kinds of work, called in turn. lifetime_spec.lua runs a few
-- thousand of each; make soak a million, and watches the process's memory.

local torch = require 'torch'

local M = {}

local nn, F = torch.nn, torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function random(...) return torch.rand({ ... }, { device = device }) end
local function leaf(...) return torch.rand({ ... }, { device = device, requires_grad = true }) end

local Square = torch.autograd.Function:extend 'Square'
function Square.forward(ctx, x)
  ctx:save_for_backward(x)
  return x * x
end
function Square.backward(ctx, grad) return grad * 2 * ctx.saved_tensors[1] end

local SavesOutput = torch.autograd.Function:extend 'SavesOutput'
function SavesOutput.forward(ctx, x)
  local y = x:exp()
  ctx:save_for_backward(y)
  ctx.output = y
  return y
end
function SavesOutput.backward(ctx, grad) return grad * ctx.saved_tensors[1] end

local net, data, target = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)):to(device), random(3, 4), random(3, 2)
local optimizer = torch.optim.Adam(net:parameters())
local kept = leaf(8)
local at = torch.tensor({ 1, 3, 3 }, { device = device })

--- What is done, by name.
M.kinds = {
  arithmetic = function() return random(8) * 2 + random(8) / 3 end,
  ['in place'] = function() return random(8):add_(1):mul_(2):clamp_(0, 2) end,
  views = function() return random(4, 4):t():narrow(1, 2, 2):unsqueeze(1):expand(3, 2, 4) end,
  ['copies of views'] = function() return random(4, 4):t():contiguous():reshape(2, 8):clone() end,
  indexing = function() return random(4, 4)[{ { 1, 2 } }][at:narrow(1, 1, 1)] end,
  assignment = function() local x = random(4, 4) x[at] = 1 x[x:gt(0.5)] = 0 return x end,
  reductions = function() return random(4, 4):sum(1), random(4, 4):max(2) end,
  sorting = function() return random(16):sort(), random(16):topk(3) end,
  products = function() return random(4, 4):matmul(random(4, 4)), torch.einsum('ij,jk->ik', random(2, 3), random(3, 2)) end,
  joining = function() return torch.cat({ random(2), random(3) }), torch.stack({ random(2), random(2) }):unbind(1) end,
  scattering = function() return torch.zeros(4, { device = device }):index_add_(1, at, random(3)) end,
  conversions = function() return random(4):to(torch.float64):to(torch.int32):tolist(), random(2):sum():item() end,
  factories = function() return torch.arange(5), torch.eye(3), torch.full({ 2, 2 }, 7), torch.tensor { { 1, 2 }, { 3, 4 } } end,
  errors = function() return pcall(function() return random(2) + random(3) end) end,
  printing = function() return tostring(torch.ones(3)) end,
  backward = function() local x = leaf(8) ;(x * x):sum():backward() return x.grad end,
  ['gradients added up'] = function() ;(kept * 2):sum():backward() end,
  ['autograd.grad'] = function() local x = leaf(8) return torch.autograd.grad((x:sin() * x):sum(), { x }) end,
  ['second derivatives'] = function()
    local x = leaf(8)
    local grad = torch.autograd.grad((x ^ 3):sum(), { x }, { create_graph = true })
    return torch.autograd.grad(grad:sum(), { x })
  end,
  create_graph = function() local x = leaf(8) ; (x ^ 3):sum():backward { create_graph = true } end,
  ['graphs that are dropped'] = function() local x = leaf(8) for _ = 1, 5 do x = (x * 2):tanh() end return x end,
  ['writes to views'] = function() local x = leaf(8) local y = x * 1 y:narrow(1, 1, 3):mul_(2) y:sum():backward() end,
  hooks = function()
    local x = leaf(8)
    local y = x * 2
    y:register_hook(function(grad) return grad + y:detach() end)
    local handle = x:register_hook(function(grad) return grad * 2 end)
    y:sum():backward()
    handle:remove()
  end,
  ['retained gradients'] = function() local x = leaf(8) local y = x * 2 y:retain_grad() y:sum():backward() return y.grad end,
  Functions = function() local x = leaf(8) Square.apply(x):sum():backward() end,
  ['Functions that keep their output'] = function() SavesOutput.apply(leaf(8)) end,
  ['a gradient that leads to its tensor'] = function() local x = leaf(8) x.grad = x * 1 end,
  callbacks = function()
    local handle = net:register_forward_hook(function(_, _, output) return output * 2 end)
    net(data)
    handle:remove()
    return net:apply(function(module) return module end)
  end,
  training = function()
    optimizer:zero_grad()
    F.mse_loss(net(data), target):backward()
    optimizer:step()
  end,
  modules = function() local layer = nn.Linear(3, 3) return layer:state_dict(), layer:parameters() end,
  checkpoints = function()
    local x = leaf(3, 4)
    torch.utils.checkpoint.checkpoint(net, x):sum():backward()
    net:zero_grad()
  end,
  autocast = function() return torch.autocast('cpu', function() return random(4, 4):matmul(random(4, 4)) end) end,
}

M.names = {}
for name in pairs(M.kinds) do M.names[#M.names + 1] = name end
table.sort(M.names)

--- Does so many operations of every kind, in turn.
function M.run(count)
  for _ = 1, count do
    for _, name in ipairs(M.names) do M.kinds[name]() end
  end
end

return M
