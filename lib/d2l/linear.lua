-- linear.lua - d2l: linear regression and softmax regression, and synthetic linear data.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local data = require 'torch.d2l.data'
local models = require 'torch.d2l.models'
local tools = require 'torch.d2l.tools'

local nn = torch.nn

local M = {}

local read_data = declare.reader [[
  d2l.SyntheticRegressionData(any w, any b, number noise=0.01, integer num_train=1000, integer num_val=1000,
    integer batch_size=32)]]

--- SyntheticRegressionData {w = tensor, b = number, noise = 0.01, num_train = 1000, num_val = 1000,
--- batch_size = 32}: X of standard normal numbers (num_train + num_val, #w), and y = X w + b +
--- noise, a column.
M.SyntheticRegressionData = data.DataModule:extend 'd2l.SyntheticRegressionData'

function M.SyntheticRegressionData:init(...)
  tools.keep(self, read_data(...))
  if not torch.is_tensor(self.w) then fail('SyntheticRegressionData(): w must be a Tensor, not %s', torch.type(self.w)) end
  local n = self.num_train + self.num_val
  self.X = torch.randn(n, #self.w)
  self.y = self.X:matmul(self.w:reshape(-1, 1)) + self.b + torch.randn(n, 1) * self.noise
end

function M.SyntheticRegressionData:get_dataloader(train)
  local first, n = train and 1 or self.num_train + 1, train and self.num_train or self.num_val
  return self:get_tensorloader({ self.X, self.y }, train, { first, first + n - 1 })
end

--- SGD(params, lr): gradient descent on a list of parameters, with the methods step() and
--- zero_grad() of an optimizer.
M.SGD = tools.HyperParameters:extend 'd2l.SGD'

function M.SGD:init(params, lr) self.params, self.lr = params, lr end

function M.SGD:step()
  local _ <close> = torch.no_grad()
  for _, param in ipairs(self.params) do param:sub_(param.grad, { alpha = self.lr }) end
end

function M.SGD:zero_grad()
  for _, param in ipairs(self.params) do
    if param.grad then param.grad:zero_() end
  end
end

local read_scratch = declare.reader 'd2l.LinearRegressionScratch(integer num_inputs, number|Tensor lr, number sigma=0.01)'

--- LinearRegressionScratch(num_inputs, lr, sigma = 0.01): a weight (num_inputs, 1) of small normal
--- numbers and a bias.
M.LinearRegressionScratch = models.Module:extend 'd2l.LinearRegressionScratch'

function M.LinearRegressionScratch:init(...)
  tools.keep(self, read_scratch(...))
  self.w = nn.Parameter(torch.randn(self.num_inputs, 1) * self.sigma)
  self.b = nn.Parameter(torch.zeros(1))
end

function M.LinearRegressionScratch:forward(X) return X:matmul(self.w) + self.b end
function M.LinearRegressionScratch:loss(y_hat, y) return ((y_hat - y):square() / 2):mean() end
function M.LinearRegressionScratch:configure_optimizers() return M.SGD(self:parameters(), self.lr) end

local read_rate = declare.reader 'd2l.LinearRegression(number|Tensor lr)'

--- LinearRegression {lr =}: the same with a lazy linear layer.
M.LinearRegression = models.Module:extend 'd2l.LinearRegression'

function M.LinearRegression:init(...)
  tools.keep(self, read_rate(...))
  self.net = nn.LazyLinear(1)
end

function M.LinearRegression:loss(y_hat, y) return nn.functional.mse_loss(y_hat, y) end

--- The weight and the bias.
function M.LinearRegression:get_w_b() return self.net.weight.data, self.net.bias.data end

local read_classes = declare.reader 'd2l.SoftmaxRegression(integer num_outputs, number|Tensor lr)'

--- SoftmaxRegression {num_outputs =, lr =}: class scores by one linear layer on the pixels.
M.SoftmaxRegression = models.Classifier:extend 'd2l.SoftmaxRegression'

function M.SoftmaxRegression:init(...)
  tools.keep(self, read_classes(...))
  self.net = nn.Sequential(nn.Flatten(), nn.LazyLinear(self.num_outputs))
end

return M
