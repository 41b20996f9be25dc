-- tools.lua - d2l: helpers of all chapters: stored hyperparameters, devices, timers, accumulators,
-- plain SGD.

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'

local M = {}

-- ---- classes ------------------------------------------------------------------------------------

--- add_to_class(A)('method', function(self, …) … end): adds a method to an existing class.
--- `function A:method(…) … end` does the same; this is the book's spelling.
function M.add_to_class(Class)
  return function(name, method)
    if type(name) ~= 'string' then fail("add_to_class(): the method's name must be a string, not %s", torch.type(name)) end
    Class[name] = method
    return method
  end
end

local function ignored(options)
  local set = {}
  for _, name in ipairs(options and options.ignore or {}) do set[name] = true end
  return set
end

--- Stores the arguments of init as fields of the object and of its table hparams; call it in init.
--- {ignore = {names}}. Also stores the fields of a table of named arguments (a parameter named
--- options).
function M.save_hyperparameters(self, options)
  local ignore, level, kept = ignored(options), 2, {}
  local function keep(name, value)
    if ignore[name] or name == 'self' or name:sub(1, 1) == '_' then return end
    kept[name] = value
    self[name] = value
  end
  for i = 1, debug.getinfo(level, 'u').nparams do
    local name, value = debug.getlocal(level, i)
    if name == 'options' and type(value) == 'table' then
      for key, entry in pairs(value) do keep(key, entry) end
    else
      keep(name, value)
    end
  end
  self.hparams = kept
end

--- Base class that stores the arguments of init in fields of the object: HyperParameters:extend
--- 'B'.
M.HyperParameters = class.Object:extend 'HyperParameters'
M.HyperParameters.save_hyperparameters = M.save_hyperparameters

--- Stores named values in the object's fields, as the constructors of the library's classes do.
function M.keep(object, values)
  local kept = {}
  for name, value in pairs(values) do
    kept[name] = value
    object[name] = value
  end
  object.hparams = kept
end

--- Selects the size of the book's notebooks: small, or full if the environment has D2L_FULL=1.
--- bound: the name of an environment variable with a maximum for full (D2L_EPOCHS, D2L_EXAMPLES).
function M.sized(small, full, bound)
  if os.getenv 'D2L_FULL' ~= '1' then return small end
  local given = bound and os.getenv(bound)
  if not given then return full end
  local greatest = math.tointeger(tonumber(given))
  if not greatest or greatest < 1 then fail("sized(): %s must be a positive integer, not '%s'", bound, given) end
  return math.min(full, greatest)
end

-- ---- devices ------------------------------------------------------------------------------------

--- The CPU.
function M.cpu() return torch.device 'cpu' end

--- The GPU number i, from 0.
function M.gpu(i) return torch.device(('cuda:%d'):format(i or 0)) end

--- The number of GPUs.
function M.num_gpus() return torch.cuda.device_count() end

M.try_gpu, M.try_all_gpus = torch.try_gpu, torch.try_all_gpus

-- ---- clocks and sums ----------------------------------------------------------------------------

--- A stopwatch, started at creation: stop() returns and records the seconds since start(); avg(),
-- sum(), cumsum() of all.
M.Timer = class.Object:extend 'Timer'

function M.Timer:init()
  self.times = {}
  self:start()
end

function M.Timer:start() self.tik = torch.time() end

function M.Timer:stop()
  self.times[#self.times + 1] = torch.time() - self.tik
  return self.times[#self.times]
end

function M.Timer:sum()
  local sum = 0
  for _, seconds in ipairs(self.times) do sum = sum + seconds end
  return sum
end

function M.Timer:avg() return self:sum() / #self.times end

function M.Timer:cumsum()
  local sums, sum = {}, 0
  for i, seconds in ipairs(self.times) do
    sum = sum + seconds
    sums[i] = sum
  end
  return sums
end

--- n sums: add(a, b, …) adds to each, metric[i] is the i-th. Tensors are added on their device.
M.Accumulator = class.Object:extend 'Accumulator'

function M.Accumulator:init(n)
  self.n = n
  self:reset()
end

function M.Accumulator:reset()
  self.data = {}
  for i = 1, self.n do self.data[i] = 0 end
end

function M.Accumulator:add(...)
  if select('#', ...) ~= self.n then fail('add(): expected %d values, one per sum, but got %d', self.n, select('#', ...)) end
  for i = 1, self.n do
    local value = select(i, ...)
    self.data[i] = self.data[i] + (torch.is_tensor(value) and value:detach() or value)
  end
end

function M.Accumulator:__getitem(i)
  local value = self.data[i]
  return torch.is_tensor(value) and value:cpu():item() or value
end

-- ---- the first models ---------------------------------------------------------------------------

--- The number of elements.
function M.size(x) return x:numel() end

--- The number of correct predictions y_hat (scores of each class, or classes) of y.
function M.accuracy(y_hat, y)
  if y_hat:dim() > 1 and y_hat:size(2) > 1 then y_hat = y_hat:argmax(2) end
  return y_hat:to(y.dtype):eq(y):sum():cpu():item()
end

--- A linear model: X w + b.
function M.linreg(X, w, b) return X:matmul(w) + b end

--- Half of the squared difference, element by element.
function M.squared_loss(y_hat, y) return (y_hat - y:reshape(y_hat.shape)):square() / 2 end

--- A step of minibatch gradient descent on a list of parameters; clears their gradients.
function M.sgd(params, lr, batch_size)
  local _ <close> = torch.no_grad()
  for _, param in ipairs(params) do
    param:sub_(param.grad, { alpha = lr / (batch_size or 1) })
    param.grad:zero_()
  end
end

return M
