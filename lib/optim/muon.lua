-- muon.lua - optim.Muon(params, {lr = 1e-3, weight_decay = 0.1, momentum = 0.95, nesterov = true,
-- ns_coefficients = {3.4445, -4.775, 2.0315}, eps = 1e-7, ns_steps = 5, adjust_lr_fn =}): for
-- matrices only; the momentum update is nearly orthogonalized by a Newton-Schulz iteration in
-- bfloat16 (K. Jordan 2024).
-- adjust_lr_fn: 'original' (the default), or 'match_rms_adamw', which suits the rates and decay of
-- AdamW.

--[=[ arguments
weight_decay: Factor of the weight decay, which acts on the parameters directly.
momentum: Factor of the momentum.
ns_coefficients: Three coefficients of the Newton-Schulz iteration.
ns_steps: Number of Newton-Schulz iterations.
adjust_lr_fn: Adjustment of the learning rate to the shape of the matrix: `'original'` or `'match_rms_adamw'`.
]=]

--[=[ examples
Muon
    w = torch.eye(2):requires_grad_()
    optimizer = torch.optim.Muon({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([[0.8775, 0.0000],
    -->         [0.0000, 0.8775]])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local Muon = Optimizer:extend('Muon')

local function check(value, what)
  if type(value) ~= 'number' or not (value >= 0) then fail('%s should be >= 0 but is: %s', what, tostring(value)) end
end

function Muon:init(given)
  local params, options = Optimizer._options_of(self, given)
  check(Optimizer.rate(options), 'Learning rate')
  check(options.momentum, 'momentum')
  check(options.weight_decay, 'weight decay')
  kinds.check('Muon', 'ns_steps', options.ns_steps, 'integer')
  if options.ns_steps >= 100 then fail 'Number of steps must be less than 100 for computational efficiency' end
  if options.adjust_lr_fn and options.adjust_lr_fn ~= 'original' and options.adjust_lr_fn ~= 'match_rms_adamw' then
    fail('Adjust learning rate function %s is not supported', tostring(options.adjust_lr_fn))
  end
  Optimizer.init(self, params, options)
  for _, group in ipairs(self.param_groups) do
    for _, parameter in ipairs(group.params) do
      if parameter.ndim ~= 2 then
        fail('Muon only supports 2D parameters whereas we found a parameter with size: %s', tostring(parameter.shape))
      end
    end
  end
end

-- A nearly orthogonal matrix: the singular vectors of x, with singular values around 1.
local function orthogonalized(x, group)
  local a, b, c = table.unpack(group.ns_coefficients)
  local tall = x:size(1) > x:size(2)
  x = x:bfloat16()
  if tall then x = x:t() end
  x = x / x:norm():clamp { min = group.eps }
  for _ = 1, group.ns_steps do
    local gram = x:matmul(x:t())
    local step = torch.addmm(gram, gram, gram, { beta = b, alpha = c })
    x = torch.addmm(x, step, x, { beta = a })
  end
  return tall and x:t() or x
end

function Muon:update(parameter, grad, group, state)
  if state.momentum_buffer == nil then
    self:_refuse_recording(self._FIRST)
    state.momentum_buffer = torch.zeros_like(grad)
  end
  local buffer, rows, columns = state.momentum_buffer, parameter:size(1), parameter:size(2)
  buffer:lerp_(grad, 1 - group.momentum)
  local update = orthogonalized(group.nesterov and grad:lerp(buffer, group.momentum) or buffer, group)
  local ratio = group.adjust_lr_fn == 'match_rms_adamw' and 0.2 * math.sqrt(math.max(rows, columns))
    or math.sqrt(math.max(1, rows / columns))
  parameter:mul_(1 - group.lr * group.weight_decay)
  parameter:add_(update:to(parameter.dtype), { alpha = -group.lr * ratio })
end

Optimizer.declare(Muon, 'number|Tensor lr=0.001, number weight_decay=0.1, number momentum=0.95, boolean nesterov=true, times ns_coefficients={3.4445, -4.775, 2.0315}, number eps=1e-7, integer ns_steps=5, string|boolean adjust_lr_fn=false')

return Muon
