-- performance.lua - d2l: timing, and data-parallel training.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local board = require 'torch.d2l.board'
local tools = require 'torch.d2l.tools'

local nn = torch.nn

local M = {}

--- Prints the duration of a block when it ends: do local _ <close> = d2l.Benchmark 'forward' … end
function M.Benchmark(description)
  local timer = tools.Timer()
  return setmetatable({}, { __name = 'd2l.Benchmark', __close = function()
    print(('%s: %.4f sec'):format(description or 'Done', timer:stop()))
  end })
end

--- Splits X and y over the devices: two lists.
function M.split_batch(X, y, devices)
  if #X ~= #y then fail('split_batch(): X has %d samples and y has %d', #X, #y) end
  return nn.parallel.scatter(X, devices), nn.parallel.scatter(y, devices)
end

local function to_device(value, device)
  if torch.is_tensor(value) then return value:to(device) end
  local moved = {}
  for i, entry in ipairs(value) do moved[i] = to_device(entry, device) end
  return moved
end

local function device_of(net) return net:parameters()[1].device end

--- The accuracy of net on the samples of a loader.
function M.evaluate_accuracy_gpu(net, data_iter, device)
  net:eval()
  device = device or device_of(net)
  local metric = tools.Accumulator(2)
  local _ <close> = torch.no_grad()
  for X, y in data_iter do
    metric:add(tools.accuracy(net(to_device(X, device)), to_device(y, device)), y:numel())
  end
  return metric[1] / metric[2]
end

--- The mean of loss(net(X), y) over a loader.
function M.evaluate_loss(net, data_iter, loss)
  local metric = tools.Accumulator(2)
  for X, y in data_iter do
    local l = loss(net(X), y)
    metric:add(l:sum(), l:numel())
  end
  return metric[1] / metric[2]
end

--- Shrinks the gradient of a module, or of an object with a list `params`, so that its norm is at
--- most theta.
function M.grad_clipping(net, theta)
  local params = nn.Module:is_instance(net) and net:parameters() or net.params
  return torch.nn.utils.clip_grad_norm_(params, theta)
end

--- A training step on a batch: net on devices[1] (or DataParallel over all). Returns the sum of the
-- losses and the number of correct predictions.
function M.train_batch_ch13(net, X, y, loss, trainer, devices)
  X, y = to_device(X, devices[1]), to_device(y, devices[1])
  net:train()
  trainer:zero_grad()
  local pred = net(X)
  local l = loss(pred, y)
  l:sum():backward()
  trainer:step()
  return l:sum():detach(), tools.accuracy(pred, y)
end

--- Trains net on devices (default: all GPUs); loss returns a number for each sample (reduction =
--- 'none'). Prints the last loss and the accuracies, and returns the mean loss, the training and
--- test accuracy, and the animator.
function M.train_ch13(net, train_iter, test_iter, loss, trainer, num_epochs, devices)
  devices = devices or torch.try_all_gpus()
  local animator = board.Animator { xlabel = 'epoch', xlim = { 1, math.max(num_epochs, 2) }, ylim = { 0, 1 }, legend = { 'train loss', 'train acc', 'test acc' } }
  if #devices > 1 then net = nn.DataParallel(net, { device_ids = devices }) end
  net = net:to(devices[1])
  local mean, train_accuracy, test_accuracy
  for epoch = 1, num_epochs do
    local metric = tools.Accumulator(4)
    for X, y in train_iter do
      local l, hits = M.train_batch_ch13(net, X, y, loss, trainer, devices)
      metric:add(l, hits, #y, y:numel())
    end
    mean, train_accuracy = metric[1] / metric[3], metric[2] / metric[4]
    test_accuracy = M.evaluate_accuracy_gpu(net, test_iter, devices[1])
    animator:add(epoch, { mean, train_accuracy, test_accuracy })
  end
  animator:finish()
  print(('loss %.3f, train acc %.3f, test acc %.3f'):format(mean, train_accuracy, test_accuracy))
  return mean, train_accuracy, test_accuracy, animator
end

return M
