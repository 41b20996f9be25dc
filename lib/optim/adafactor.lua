-- adafactor.lua - optim.Adafactor(params, {lr = 0.01, beta2_decay = -0.8, eps = {nil, 1e-3}, d = 1,
-- weight_decay = 0, maximize = false}): stores the squares of a matrix's gradients as means of rows
-- and columns (N. Shazeer, M. Stern 2018). eps: the divisor is at least eps[1] (nil or false: the
-- dtype's), the step is scaled by at least eps[2]; d: the maximum root mean square of an update.

--[=[ arguments
beta2_decay: Exponent of the decay rate of the running averages.
d: Maximum root mean square of an update.
eps: Two numbers: the minimum of the divisor, and the minimum of the scale of a step.
weight_decay: Factor of the weight decay, which acts on the parameters directly.
]=]

--[=[ examples
Adafactor
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.Adafactor({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.8419, -1.8419])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'

local Adafactor = Optimizer:extend('Adafactor')

local function check(holds, text, value)
  if not holds then fail(text, tostring(value)) end
end

function Adafactor:init(given)
  local params, options = Optimizer._options_of(self, given)
  local eps = options.eps
  local first, second = eps[1] or false, eps[2] == nil and 1e-3 or eps[2]
  check(Optimizer.rate(options) >= 0, 'Learning rate should be >= 0 but is: %s', Optimizer.rate(options))
  check(options.beta2_decay <= 0, 'beta2_decay should be <= 0 but is: %s', options.beta2_decay)
  check(not first or type(first) == 'number' and first >= 0, 'epsilon1 should be >= 0 but is: %s', first)
  check(type(second) == 'number' and second >= 0, 'epsilon2 should be >= 0 but is: %s', second)
  check(options.d >= 1, 'Clipping threshold d should be >= 1 but is: %s', options.d)
  check(options.weight_decay >= 0, 'weight_decay should be >= 0 but is: %s', options.weight_decay)
  options.eps = { first, second }
  Optimizer.init(self, params, options)
end

function Adafactor:new_state(parameter)
  if parameter.ndim < 2 then return { step = 0, variance = torch.zeros_like(parameter):detach() } end
  local rows, columns = { table.unpack(parameter.shape) }, { table.unpack(parameter.shape) }
  rows[#rows], columns[#columns - 1] = 1, 1
  return { step = 0, row_var = parameter:new_zeros(rows), col_var = parameter:new_zeros(columns) }
end

local function mean_square(x, dim) return x:square():sum(dim, true) / x:size(dim) end

-- The root of the mean of the squares.
local function size_of(x) return x:norm():item() / math.sqrt(x:numel()) end

function Adafactor:update(parameter, grad, group, state)
  if parameter.dtype.is_complex then fail 'Adafactor does not support complex parameters' end
  self:_refuse_recording "it reads the sizes of parameters and updates, which a replay would not"
  if group.maximize then grad = -grad end
  state.step = state.step + 1
  local share = state.step ^ group.beta2_decay
  local least = group.eps[1] or torch.finfo(parameter.dtype).eps
  local rate = math.max(group.eps[2], size_of(parameter)) * math.min(group.lr, 1 / math.sqrt(state.step))
  if group.weight_decay ~= 0 then parameter:mul_(1 - group.lr * group.weight_decay) end
  local variance
  if state.row_var ~= nil then
    state.row_var:lerp_(mean_square(grad, -1), share)
    state.col_var:lerp_(mean_square(grad, -2), share)
    variance = state.row_var:matmul(state.col_var) / state.row_var:mean(-2, true):clamp { min = least }
  else
    state.variance:lerp_(grad:square(), share)
    variance = state.variance
  end
  local update = variance:clamp({ min = least * least }):rsqrt() * grad
  parameter:add_(update, { alpha = -rate / math.max(1, size_of(update) / group.d) })
end

Optimizer.declare(Adafactor, 'number|Tensor lr=0.01, number beta2_decay=-0.8, table eps={nil, 0.001}, number d=1.0, number weight_decay=0.0, *, boolean? foreach, boolean maximize=false')

return Adafactor
