-- activation.lua - elementwise layers (nn.ReLU, GELU, ELU, ...) and the normalizing Softmax,
-- LogSoftmax, Softmin. Each calls the function of nn.functional that `op` names, with its settings
-- in order. `inplace` is accepted where PyTorch has it and writes the result into the input.

--[=[ arguments
min_val: Lower bound of the result.
max_val: Upper bound of the result.
alpha: Value that the function approaches for large negative inputs, negated.
beta: Steepness of the function.
Softplus.threshold: Value of beta * input above which the function is linear, for numerical stability.
Threshold.threshold: Values that are not above it are replaced.
value: Value that replaces these elements.
lambd: Elements between -lambd and lambd become zero.
lower: Lower bound of the slope of negative values.
upper: Upper bound of the slope of negative values.
num_parameters: Number of learned slopes: 1, or the number of channels.
init: Slope at the beginning.
dim: Dimension along which the layer works: a position from 1, or a negative one from the end.
ReLU(): max(0, x).
ReLU6(): min(max(0, x), 6).
Sigmoid(): 1 / (1 + exp(-x)).
Tanh(): tanh(x).
Softmax(): exp(x) / sum of exp(x) along a dimension: probabilities that add up to 1.
LogSoftmax(): The logarithm of softmax, computed in a stable way.
Softmin(): Softmax of -x.
SiLU(): x * sigmoid(x), also called Swish.
Mish(): x * tanh(softplus(x)).
LeakyReLU(): x where positive, negative_slope * x elsewhere.
ELU(): x where positive, alpha * (exp(x) - 1) elsewhere.
CELU(): x where positive, alpha * (exp(x / alpha) - 1) elsewhere.
SELU(): ELU with the constants that keep mean 0 and variance 1 from layer to layer.
Softplus(): log(1 + exp(beta * x)) / beta, a smooth ReLU.
LogSigmoid(): log(sigmoid(x)).
Softsign(): x / (1 + |x|).
Tanhshrink(): x - tanh(x).
Softshrink(): x moved towards 0 by lambd, and 0 where |x| is at most lambd.
Hardshrink(): x where |x| is above lambd, otherwise 0.
Hardtanh(): x limited to min_val and max_val.
Hardsigmoid(): relu6(x + 3) / 6.
Hardswish(): x * relu6(x + 3) / 6.
GLU(): The first half of a dimension times the sigmoid of the second half.
]=]

--[=[ examples
ReLU
    nn.ReLU()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([0., 0., 2.])
Sigmoid
    nn.Sigmoid()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([0.1192, 0.5000, 0.8808])
Tanh
    nn.Tanh()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.9640,  0.0000,  0.9640])
GELU
    nn.GELU()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.0455,  0.0000,  1.9545])
SiLU
    nn.SiLU()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.2384,  0.0000,  1.7616])
LeakyReLU
    nn.LeakyReLU()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.0200,  0.0000,  2.0000])
Softplus
    nn.Softplus()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([0.1269, 0.6931, 2.1269])
LogSigmoid
    nn.LogSigmoid()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-2.1269, -0.6931, -0.1269])
Softsign
    nn.Softsign()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.6667,  0.0000,  0.6667])
Tanhshrink
    nn.Tanhshrink()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-1.0360,  0.0000,  1.0360])
ReLU6
    nn.ReLU6()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([0., 0., 2.])
SELU
    nn.SELU()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-1.5202,  0.0000,  2.1014])
Mish
    nn.Mish()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.2525,  0.0000,  1.9440])
Hardswish
    nn.Hardswish()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.3333,  0.0000,  1.6667])
Hardsigmoid
    nn.Hardsigmoid()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([0.1667, 0.5000, 0.8333])
ELU
    nn.ELU()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.8647,  0.0000,  2.0000])
CELU
    nn.CELU()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.8647,  0.0000,  2.0000])
Hardtanh
    nn.Hardtanh()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-1.,  0.,  1.])
Softshrink
    nn.Softshrink()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-1.5000,  0.0000,  1.5000])
Hardshrink
    nn.Hardshrink()(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-2.,  0.,  2.])
Softmax
    nn.Softmax(2)(torch.tensor{ {0.0, 0.0}, {0.0, 1.0} })
    --> tensor([[0.5000, 0.5000],
    -->         [0.2689, 0.7311]])
LogSoftmax
    nn.LogSoftmax(1)(torch.tensor{0.0, 0.0})
    --> tensor([-0.6931, -0.6931])
Softmin
    nn.Softmin(1)(torch.tensor{0.0, 1.0})
    --> tensor([0.7311, 0.2689])
Softmax2d
    nn.Softmax2d()(torch.zeros(1, 2, 1, 1)).shape
    --> torch.Size([1, 2, 1, 1])
GLU
    nn.GLU()(torch.tensor{1.0, 2.0, 0.0, 0.0})
    --> tensor([0.5000, 1.0000])
Threshold
    nn.Threshold(1.0, -7.0)(torch.tensor{0.5, 1.5})
    --> tensor([-7.0000,  1.5000])
RReLU
    nn.RReLU():eval()(torch.tensor{-24.0, 24.0})
    --> tensor([-5.5000, 24.0000])
PReLU
    nn.PReLU()(torch.tensor{-4.0, 4.0}):detach()
    --> tensor([-1.,  4.])
]=]

local torch = require 'torch'
local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local python = require 'torch.nn.python'

local M = {}

-- define(name, op, declaration of the settings): with inplace among them the layer may write over
-- its input.
local function define(name, op, declaration)
  local class = Module:extend(name)
  local read, settings, inplace = declare.reader(name .. declaration), {}, false
  for setting in declaration:gmatch '([%w_]+)=' do
    if setting == 'inplace' then inplace = true else settings[#settings + 1] = setting end
  end
  local in_place = inplace and torch._C.methods[op .. '_']

  function class:init(...)
    local options = read(...)
    for _, setting in ipairs(settings) do self[setting] = options[setting] end
    if inplace then self.inplace = options.inplace end
  end

  function class:forward(input)
    local values = {}
    for i, setting in ipairs(settings) do values[i] = self[setting] end
    return (self.inplace and in_place or F[op])(input, table.unpack(values, 1, #settings))
  end

  function class:extra_repr()
    local parts = {}
    for i, setting in ipairs(settings) do parts[i] = setting .. '=' .. python.repr(self[setting]) end
    if self.inplace then parts[#parts + 1] = 'inplace=True' end
    return table.concat(parts, ', ')
  end

  M[name] = class
  return class
end

-- Activations without settings: forward has no overhead beyond the op.
local function simple(name, op)
  local class = Module:extend(name)
  function class:init() end
  function class:forward(input) return F[op](input) end
  declare.methods(class, 'init(self)')
  M[name] = class
end

simple('Sigmoid', 'sigmoid')
simple('Tanh', 'tanh')
simple('LogSigmoid', 'logsigmoid')
simple('Softsign', 'softsign')
simple('Tanhshrink', 'tanhshrink')

define('ReLU', 'relu', '(boolean inplace=false)')
define('ReLU6', 'relu6', '(boolean inplace=false)')
M.ReLU6.min_val, M.ReLU6.max_val = 0.0, 6.0
define('SELU', 'selu', '(boolean inplace=false)')
define('SiLU', 'silu', '(boolean inplace=false)')
define('Mish', 'mish', '(boolean inplace=false)')
define('Hardswish', 'hardswish', '(boolean inplace=false)')
define('Hardsigmoid', 'hardsigmoid', '(boolean inplace=false)')
define('ELU', 'elu', '(number alpha=1.0, boolean inplace=false)')
define('CELU', 'celu', '(number alpha=1.0, boolean inplace=false)')
define('LeakyReLU', 'leaky_relu', '(number negative_slope=0.01, boolean inplace=false)')
define('Hardtanh', 'hardtanh', '(number min_val=-1.0, number max_val=1.0, boolean inplace=false)')
define('Softplus', 'softplus', '(number beta=1.0, number threshold=20.0)')
define('Softshrink', 'softshrink', '(number lambd=0.5)')
define('Hardshrink', 'hardshrink', '(number lambd=0.5)')
define('GLU', 'glu', '(integer dim=-1)')

for _, class in ipairs { M.Softshrink, M.Hardshrink } do
  class.extra_repr = nil -- define's method: overwriting it would bypass __newindex, which declares methods
  function class:extra_repr() return python.repr(self.lambd) end
end

-- ReLU is used in every network; without settings it is one call.
M.ReLU.forward = nil -- assigning to an existing field bypasses __newindex and its check
function M.ReLU:forward(input)
  if self.inplace then return input:relu_() end
  return torch.relu(input)
end

-- Values up to the threshold are replaced by value: nn.Threshold(threshold, value).
M.Threshold = Module:extend('Threshold')
local read_threshold = declare.reader 'Threshold(number threshold, number value, boolean inplace=false)'
function M.Threshold:init(...)
  local options = read_threshold(...)
  self.threshold, self.value, self.inplace = options.threshold, options.value, options.inplace
end
function M.Threshold:forward(input) return F.threshold(input, self.threshold, self.value, self.inplace) end
function M.Threshold:extra_repr()
  return python.format('threshold=%s, value=%s', self.threshold, self.value) .. (self.inplace and ', inplace=True' or '')
end

-- x times the normal distribution function of x: nn.GELU{approximate = 'none' | 'tanh'}.
M.GELU = Module:extend('GELU')
local read_gelu = declare.reader [[GELU(string approximate='none')]]
function M.GELU:init(...) self.approximate = read_gelu(...).approximate end
function M.GELU:forward(input) return torch.gelu(input, { approximate = self.approximate }) end
function M.GELU:extra_repr() return ("approximate='%s'"):format(self.approximate) end

-- nn.RReLU(lower = 1/8, upper = 1/3): a random slope per element in training, the mean one in
-- evaluation.
M.RReLU = Module:extend('RReLU')
local read_rrelu = declare.reader 'RReLU(number lower=1/8, number upper=1/3, boolean inplace=false)'
function M.RReLU:init(...)
  local options = read_rrelu(...)
  self.lower, self.upper, self.inplace = options.lower, options.upper, options.inplace
end
function M.RReLU:forward(input)
  return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)
end
function M.RReLU:extra_repr()
  return python.format('lower=%s, upper=%s', self.lower, self.upper) .. (self.inplace and ', inplace=True' or '')
end

-- nn.PReLU(num_parameters = 1, init = 0.25): trains the slope of the negative side, one for all or
-- one per channel.
M.PReLU = Module:extend('PReLU')
local read_prelu = declare.reader 'PReLU(integer num_parameters=1, number init=0.25, device? device, dtype? dtype)'
function M.PReLU:init(...)
  local options = read_prelu(...)
  self.num_parameters = options.num_parameters
  self.weight = Parameter(torch.full({ options.num_parameters }, options.init,
    { device = options.device, dtype = options.dtype or torch.get_default_dtype() }))
end
function M.PReLU:forward(input) return F.prelu(input, self.weight) end
function M.PReLU:extra_repr() return 'num_parameters=' .. self.num_parameters end

-- ---- over a dimension ---------------------------------------------------------------------------

local function over_dim(name, op)
  local class = Module:extend(name)
  function class:init(dim) self.dim = dim end
  declare.methods(class, 'init(self, integer dim)')
  function class:forward(input) return F[op](input, self.dim) end
  function class:extra_repr() return 'dim=' .. self.dim end
  M[name] = class
end

over_dim('Softmax', 'softmax')
over_dim('LogSoftmax', 'log_softmax')
over_dim('Softmin', 'softmin')

-- nn.Softmax2d(): over the channels of images (N, C, H, W) or (C, H, W).
M.Softmax2d = Module:extend('Softmax2d')
function M.Softmax2d:init() end
declare.methods(M.Softmax2d, 'init(self)')
function M.Softmax2d:forward(input)
  if input.ndim ~= 4 and input.ndim ~= 3 then
    fail('Softmax2d: expected input to be 3D or 4D, got %dD instead', input.ndim)
  end
  return F.softmax(input, -3)
end

return M
