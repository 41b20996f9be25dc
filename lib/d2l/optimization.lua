-- optimization.lua - d2l: test problems of the chapter on optimization: paths in the plane, and
-- linear regression.

local torch = require 'torch'
local board = require 'torch.d2l.board'
local tools = require 'torch.d2l.tools'

local nn = torch.nn

local M = {}

--- The path of a trainer from (-5, -2): trainer(x1, x2, s1, s2[, f_grad]) returns the next four.
-- Returns a list of points {x1, x2}.
function M.train_2d(trainer, steps, f_grad)
  local x1, x2, s1, s2 = -5.0, -2.0, 0.0, 0.0
  local results = { { x1, x2 } }
  for _ = 1, steps or 20 do
    x1, x2, s1, s2 = trainer(x1, x2, s1, s2, f_grad)
    results[#results + 1] = { x1, x2 }
  end
  return results
end

--- A figure of such a path: x2 over x1.
function M.show_trace_2d(_, results)
  local x, y = {}, {}
  for i, point in ipairs(results) do x[i], y[i] = point[1], point[2] end
  return board.plot(x, y, { xlabel = 'x1', ylabel = 'x2' })
end

--- Returns a loader of n samples of five features with mean 0 and variance 1, with a noisy linear
--- function of them as target, and the number of features. (The book downloads measurements of
--- airfoil noise.)
function M.get_data_ch11(batch_size, n)
  n = n or 1500
  local X = torch.randn(n, 5)
  local y = X:matmul(torch.tensor { 1., -2, 0.5, 0.3, -0.7 }) * 0.5 + torch.randn(n) * 0.4
  local loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), { batch_size = batch_size or 10, shuffle = true })
  return loader, 5
end

local function mean_loss(net, loss, loader)
  local _ <close> = torch.no_grad()
  local sum, n = 0, 0
  for X, y in loader do
    sum, n = sum + loss(net(X), y):sum():item(), n + #y
  end
  return sum / n
end

--- Trains a linear model by trainer_fn(params, states, hyperparams), which must also zero the
--- gradients. Returns the elapsed times and the losses of the epochs.
function M.train_ch11(trainer_fn, states, hyperparams, data_iter, feature_dim, num_epochs)
  local w = (torch.randn(feature_dim, 1) * 0.01):requires_grad_()
  local b = torch.zeros(1):requires_grad_()
  local function net(X) return tools.linreg(X, w, b) end
  local animator, timer, losses = board.Animator { xlabel = 'epoch', ylabel = 'loss' }, tools.Timer(), {}
  for epoch = 1, num_epochs or 2 do
    timer:start()
    for X, y in data_iter do
      tools.squared_loss(net(X), y):mean():backward()
      trainer_fn({ w, b }, states, hyperparams)
    end
    timer:stop()
    losses[epoch] = mean_loss(net, tools.squared_loss, data_iter)
    animator:add(epoch, { losses[epoch] })
  end
  animator:finish()
  return timer:cumsum(), losses
end

--- The same with an optimizer of torch.optim: trainer_fn is its class, hyperparams its named
--- arguments. Returns the losses of the epochs.
function M.train_concise_ch11(trainer_fn, hyperparams, data_iter, num_epochs)
  local net = nn.Sequential(nn.LazyLinear(1))
  for X in data_iter do -- initializes the lazy layer
    net(X)
    break
  end
  local optimizer = trainer_fn(net:parameters(), hyperparams)
  local losses = {}
  for epoch = 1, num_epochs or 4 do
    for X, y in data_iter do
      optimizer:zero_grad()
      tools.squared_loss(net(X), y):mean():backward()
      optimizer:step()
    end
    losses[epoch] = mean_loss(net, tools.squared_loss, data_iter)
  end
  return losses
end

return M
