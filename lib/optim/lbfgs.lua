-- lbfgs.lua - optim.LBFGS(params, {lr = 1, max_iter = 20, max_eval = max_iter * 5 // 4,
-- tolerance_grad = 1e-7, tolerance_change = 1e-9, history_size = 100, line_search_fn = nil |
-- 'strong_wolfe'}): the quasi-Newton method of limited memory (J. Nocedal 1980), with the line
-- search of M. Schmidt's minFunc (2005).
--
-- step(closure) needs the closure, which clears the gradients, computes the loss, calls backward
-- and returns the loss. All parameters, of one group, are handled as one vector.

--[=[ arguments
max_iter: Maximum number of iterations of a step.
max_eval: Maximum number of evaluations of the closure in a step; 1.25 times `max_iter` if absent.
tolerance_grad: Largest gradient element at which a step ends.
tolerance_change: A step ends if the loss or the parameters change by less, or if the slope along the direction is less.
history_size: Number of past updates that approximate the Hessian.
line_search_fn: Line search: `'strong_wolfe'`, or nil for none.
]=]

--[=[ examples
LBFGS
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.LBFGS({w})
    optimizer:step(function()
      optimizer:zero_grad()
      local loss = w:square():sum()
      loss:backward()
      return loss
    end);
    w:square():sum():item() < 1e-6
    --> true
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local strong_wolfe = require 'torch.optim.strong_wolfe'

local LBFGS = Optimizer:extend('LBFGS')

function LBFGS:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options, { lr = 'learning rate' })
  options.max_eval = options.max_eval or options.max_iter * 5 // 4
  if options.line_search_fn and options.line_search_fn ~= 'strong_wolfe' then
    fail "only 'strong_wolfe' is supported"
  end
  Optimizer.init(self, params, options)
  if #self.param_groups ~= 1 then fail "LBFGS doesn't support per-parameter options (parameter groups)" end
end

-- ---- the parameters as one vector ---------------------------------------------------------------

-- Views complex numbers as pairs of real ones.
local function as_real(t) return t.dtype.is_complex and torch.view_as_real(t:resolve_conj()) or t end

local function gather_gradient(params)
  local parts = {}
  for i, parameter in ipairs(params) do
    local grad = parameter.grad
    parts[i] = as_real(grad == nil and torch.zeros_like(parameter) or grad):reshape(-1)
  end
  return torch.cat(parts, 1)
end

local function move(params, t, direction)
  local first = 1
  for _, parameter in ipairs(params) do
    parameter = as_real(parameter)
    local n = parameter:numel()
    parameter:add_(direction:narrow(1, first, n):view_as(parameter), { alpha = t })
    first = first + n
  end
end

local function largest(vector) return vector:abs():max():item() end

-- ---- the direction ------------------------------------------------------------------------------

-- Stores the curvature of the last step: y, the change of the gradient over the step s.
local function remember(state, gradient, history_size)
  local y, s = gradient:sub(state.prev_flat_grad), state.d:mul(state.t)
  local curvature = y:dot(s):item()
  if curvature <= 1e-10 then return end
  local old = state.old_stps
  if #old == history_size then
    for _, list in ipairs { state.old_dirs, state.old_stps, state.ro } do table.remove(list, 1) end
  end
  table.insert(state.old_dirs, y)
  table.insert(state.old_stps, s)
  table.insert(state.ro, 1 / curvature)
  state.H_diag = curvature / y:dot(y):item()
end

-- The two loops of the method: minus the inverse Hessian times the gradient.
local function direction_of(state, gradient)
  local q, al = gradient:neg(), {}
  for i = #state.old_dirs, 1, -1 do
    al[i] = state.old_stps[i]:dot(q):item() * state.ro[i]
    q:add_(state.old_dirs[i], { alpha = -al[i] })
  end
  q:mul_(state.H_diag)
  for i = 1, #state.old_dirs do
    local be = state.old_dirs[i]:dot(q):item() * state.ro[i]
    q:add_(state.old_stps[i], { alpha = al[i] - be })
  end
  return q
end

-- ---- a step -------------------------------------------------------------------------------------

-- left: the maximum number of evaluations.
local function search(params, state, group, closure, loss, gradient, slope, left)
  local start = {}
  for i, parameter in ipairs(params) do start[i] = parameter:clone() end
  local function at(t, direction)
    move(params, t, direction)
    local value, found = closure():item(), gather_gradient(params)
    for i, parameter in ipairs(params) do parameter:copy_(start[i]) end
    return value, found
  end
  return strong_wolfe(at, state.t, state.d, loss, gradient, slope, { tolerance_change = group.tolerance_change, most = left })
end

local function iterate(self, closure)
  local group, params = self.param_groups[1], self.param_groups[1].params
  local state = self:state_of(params[1], group)
  state.func_evals, state.n_iter = state.func_evals or 0, state.n_iter or 0
  local first_loss = closure()
  local loss, gradient = first_loss:item(), gather_gradient(params)
  local evaluations, n = 1, 0
  state.func_evals = state.func_evals + 1
  if largest(gradient) <= group.tolerance_grad then return first_loss end
  while n < group.max_iter do
    n = n + 1
    state.n_iter = state.n_iter + 1
    if state.n_iter == 1 then
      state.d, state.old_dirs, state.old_stps, state.ro, state.H_diag = gradient:neg(), {}, {}, {}, 1
    else
      remember(state, gradient, group.history_size)
      state.d = direction_of(state, gradient)
    end
    state.prev_flat_grad, state.prev_loss = gradient:clone(), loss
    state.t = Optimizer.rate(group) * (state.n_iter == 1 and math.min(1, 1 / gradient:abs():sum():item()) or 1)
    local slope = gradient:dot(state.d):item()
    if slope > -group.tolerance_change then break end
    local evaluated = 0
    if group.line_search_fn then
      loss, gradient, state.t, evaluated = search(params, state, group, closure, loss, gradient, slope,
        group.max_eval - evaluations)
      move(params, state.t, state.d)
    else
      move(params, state.t, state.d)
      if n ~= group.max_iter then
        loss, gradient, evaluated = closure():item(), gather_gradient(params), 1
      end
    end
    evaluations = evaluations + evaluated
    state.func_evals = state.func_evals + evaluated
    if n == group.max_iter or evaluations >= group.max_eval or largest(gradient) <= group.tolerance_grad
      or largest(state.d) * math.abs(state.t) <= group.tolerance_change
      or math.abs(loss - state.prev_loss) < group.tolerance_change then
      break
    end
  end
  return first_loss
end

function LBFGS:step(closure)
  if type(closure) ~= 'function' then fail 'LBFGS: step() needs a closure that computes the loss anew' end
  local _ <close> = torch.no_grad()
  return iterate(self, function()
    local loss = torch.enable_grad(closure)
    if not torch.is_tensor(loss) then fail("step(): the closure must return the loss, a Tensor, not %s", torch.type(loss)) end
    return loss
  end)
end

Optimizer.declare(LBFGS, 'number|Tensor lr=1, integer max_iter=20, integer|boolean max_eval=false, number tolerance_grad=1e-7, number tolerance_change=1e-9, integer history_size=100, string|boolean line_search_fn=false')

return LBFGS
