-- optimizer.lua - optim.Optimizer: parameter groups, their options, and the state kept per
-- parameter.
--
-- A derived class sets its defaults in init and defines one of two methods, which step() calls with
-- autograd off:
--
--   update(parameter, grad, group, state)   for every parameter that has a gradient
--   update_batch(batch, group)              for lists of them (fused steps of torch._C):
--                                           batch.params, batch.grads, and a list for every name
--                                           in columns(group); batch.step
--
-- Sparse gradients are passed to update_sparse(parameter, grad, group, state), one by one; without
-- that method they are an error.
--
-- state is a table kept for the parameter. For update_batch it is made by new_state(parameter,
-- group) and has its number of steps in `step`: parameters with equal numbers (key(state), to be
-- exact) are one batch.

--[=[ arguments
defaults: Options that groups have by default.
param_group: Group `{params = {...}, lr = ...}` with options of its own.
hook: Function to call; `remove()` of the returned handle removes it.
register_step_post_hook(): Registers a function `hook(optimizer)` that is called after each step.
register_state_dict_post_hook(): Registers a function `hook(optimizer, state_dict)` that is called after `state_dict`; a result replaces the state.
register_load_state_dict_pre_hook(): Registers a function `hook(optimizer, state_dict)` that is called before `load_state_dict`; a result replaces the state.
register_load_state_dict_post_hook(): Registers a function `hook(optimizer)` that is called after `load_state_dict`.
]=]

--[=[ examples
Optimizer
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.SGD({ {params = {w}, lr = 0.5} }, {lr = 0.1})
    optimizer.param_groups[1].lr
    --> 0.5
]=]

local torch = require 'torch'
local kinds = require 'torch.support.argument_kinds'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local hook_list = require 'torch.support.hook_list'
local declare = require 'torch.support.arguments'
local parameters_of = require 'torch.nn.parameters_of'

local Optimizer = class.Object:extend('Optimizer')

-- Rounds such a number as the float32 tensor would.
function Optimizer.rounded(value) return (string.unpack('f', string.pack('f', value))) end

-- State that is a number here, but a float32 tensor in PyTorch's files.
local NUMBERS = { step = true, mu_product = true, eta = true, mu = true }

-- Why a step cannot be captured.
Optimizer._FIRST = 'the first step creates the state of the parameters, and a replay would create it again: call step() once before'
local COUNTS = "it counts its steps in the host's memory, and replays would repeat this one"
local CAPTURABLE = ' (make it with capturable = true)'

-- Whether the value is an uninitialized parameter of a lazy layer.
local function is_unmade(parameter) return type(parameter) == 'userdata' and require('torch.nn.module').is_unmade(parameter) end

local function check_parameter(parameter, position)
  if is_unmade(parameter) then return end
  if not torch.is_tensor(parameter) then
    fail('optimizer can only optimize Tensors, but parameter %d is a %s', position, torch.type(parameter))
  end
  if not parameter.is_leaf then fail("can't optimize a non-leaf Tensor") end
end

-- params: tensors, modules, nested lists of them (parameters_of.lua), or a list of groups {params =
-- {...}, lr = ...} with the same params. defaults: the options.
function Optimizer:init(params, defaults)
  if torch.is_tensor(params) then
    fail('params argument given to the optimizer should be a table of Tensors or groups, but got a Tensor')
  end
  local groups = type(params) == 'table' and type(params[1]) == 'table' and params[1].params ~= nil
  if not groups then
    params = parameters_of(params)
    if #params == 0 then fail('optimizer got an empty parameter list') end
    params = { { params = params } }
  end
  self.defaults, self.param_groups, self.state = defaults, {}, {}
  for _, group in ipairs(params) do self:add_param_group(group) end
end
declare.methods(Optimizer, 'init(self, parameters params, table defaults)')

-- PyTorch's options for the implementation of a step. Ours is one call for all parameters:
-- `foreach` and `fused` are accepted and have no effect; the other two are supported by classes
-- with an option of that name.
local WAYS = { foreach = true, fused = true, capturable = false, differentiable = false }

local function read_ways(self, options)
  for name, harmless in pairs(WAYS) do
    if name ~= 'capturable' or not self.has_capturable then
      if options[name] and not harmless then fail('%s(): %s = true is not supported', self.__classname, name) end
      options[name] = nil
    end
  end
end

-- The learning rate of a group is a number or a Tensor with one element, which its owner may change
-- between steps: it is read when a step needs it, and written in place.
function Optimizer.rate(group) return torch.is_tensor(group.lr) and group.lr:item() or group.lr end

function Optimizer.set_rate(group, rate)
  if torch.is_tensor(group.lr) then group.lr:fill_(rate) else group.lr = rate end
end

-- How many numbers are in options that are lists.
local LENGTHS = { betas = 2, etas = 2, step_sizes = 2, ns_coefficients = 3 }

-- The group as a step reads it, its rate a number.
local function with_rate(group)
  return torch.is_tensor(group.lr) and setmetatable({ lr = group.lr:item() }, { __index = group }) or group
end

-- Declares the arguments of a class's constructor after the parameters; its init receives them by
-- name, in one table.
function Optimizer.declare(made, arguments)
  declare.named(made, ('init(self, parameters params, %s)'):format(arguments))
end

-- Splits the named arguments of a constructor into the parameters and the options.
function Optimizer._options_of(self, given)
  local what, options = self.__classname, {}
  for name, value in pairs(given) do options[name] = value end
  options.params = nil
  read_ways(self, options)
  if torch.is_tensor(options.lr) and options.lr:numel() ~= 1 then
    fail('%s(): Tensor lr must be 1-element, got %s', what, tostring(options.lr.shape))
  end
  for name, n in pairs(LENGTHS) do
    if options[name] and #options[name] ~= n then fail("%s(): argument '%s' must be a list of %d numbers, got %d", what, name, n, #options[name]) end
  end
  return given.params, options
end

-- Rejects negative values of options: {lr = 'learning rate', eps = 'epsilon value', ...}.
function Optimizer.check_not_negative(options, names)
  for name, text in pairs(names) do
    local value = name == 'lr' and Optimizer.rate(options) or options[name]
    if type(value) ~= 'number' or not (value >= 0) then fail('Invalid %s: %s', text, tostring(value)) end
  end
end

function Optimizer.check_betas(options)
  local betas = options.betas
  for i = 1, 2 do
    local beta = type(betas) == 'table' and betas[i]
    if type(beta) ~= 'number' or beta < 0 or beta >= 1 then
      fail('Invalid beta parameter at index %d: %s', i, tostring(beta))
    end
  end
end

function Optimizer:add_param_group(param_group)
  local group = param_group
  if type(group) ~= 'table' then fail('param_group must be a table, but got %s', torch.type(group)) end
  local added, seen = {}, {}
  for name, value in pairs(self.defaults) do added[name] = value end
  for name, value in pairs(group) do
    if name ~= 'params' and self.defaults[name] == nil and name ~= 'initial_lr' and name ~= 'name' then
      fail("parameter group has an option '%s' that %s does not have", tostring(name), self.__classname)
    end
    added[name] = value
  end
  if added.params == nil then fail("parameter group has no 'params'") end
  added.params = parameters_of(added.params)
  for _, other in ipairs(self.param_groups) do
    for _, parameter in ipairs(other.params) do seen[parameter] = other end
  end
  for i, parameter in ipairs(added.params) do
    check_parameter(parameter, i)
    if seen[parameter] == added then fail('optimizer contains a parameter group with duplicate parameters') end
    if seen[parameter] then fail('some parameters appear in more than one parameter group') end
    seen[parameter] = added
    self._lazy = self._lazy or is_unmade(parameter)
  end
  self.param_groups[#self.param_groups + 1] = added
end

-- Replaces placeholders by the parameters that lazy layers have created since.
local function take_made(self)
  if not self._lazy then return end
  self._lazy = false
  for _, group in ipairs(self.param_groups) do
    for i, parameter in ipairs(group.params) do
      if is_unmade(parameter) then
        if parameter.made then
          group.params[i] = parameter.made
          self.state[parameter.made], self.state[parameter] = self.state[parameter], nil
        else
          self._lazy = true
        end
      end
    end
  end
end

-- Clears the gradients: they become nil, or zeros with {set_to_none = false}.
function Optimizer:zero_grad(set_to_none)
  local keep = set_to_none == false
  take_made(self)
  for _, group in ipairs(self.param_groups) do
    for _, parameter in ipairs(group.params) do
      if not keep then
        parameter.grad = nil
      elseif parameter.grad ~= nil then
        parameter.grad:detach_()
        parameter.grad:zero_()
      end
    end
  end
end

-- ---- steps --------------------------------------------------------------------------------------

local function without_grad(f, ...)
  local previous = torch.is_grad_enabled()
  torch._C.set_grad_enabled(false)
  local ok, message = pcall(f, ...)
  torch._C.set_grad_enabled(previous)
  if not ok then error(message, 0) end
  return message
end

local no_hooks = {}
local function hooks_of(self, list) return self[list] and self[list].entries or no_hooks end

-- One update. closure, if present, computes the loss (with autograd on) and is called first.
function Optimizer:step(closure)
  for _, hook in ipairs(hooks_of(self, '_step_pre_hooks')) do hook.fn(self) end
  local loss = closure and torch.enable_grad(closure) or nil
  take_made(self)
  without_grad(self._update_all, self)
  self._step_count = (self._step_count or 0) + 1
  for _, hook in ipairs(hooks_of(self, '_step_post_hooks')) do hook.fn(self) end
  return loss
end

local function add_hook(self, list, hook)
  self[list] = self[list] or hook_list()
  return self[list]:add { fn = hook }
end

-- hook(optimizer), before and after every step. remove() of the result removes it.
function Optimizer:register_step_pre_hook(hook) return add_hook(self, '_step_pre_hooks', hook) end
function Optimizer:register_step_post_hook(hook) return add_hook(self, '_step_post_hooks', hook) end

function Optimizer:columns() return {} end
function Optimizer:key(state) return type(state.step) == 'number' and state.step or 0 end

-- A replay of a recorded graph would repeat the numbers of the recorded step and recreate its
-- state.
function Optimizer:_refuse_recording(why)
  if torch.cuda.is_current_stream_capturing() then
    fail('Attempting CUDA graph capture of step() for an instance of %s: %s', self.__classname, why)
  end
end

-- Whether the step depends on the number of previous steps.
function Optimizer:_counts(batch) return type(batch.states[1].step) == 'number' end

-- The state of a parameter, created on first use.
function Optimizer:state_of(parameter, group)
  local state = self.state[parameter]
  if not state or next(state) == nil then
    if self.new_state then self:_refuse_recording(self._FIRST) end
    state = self.new_state and self:new_state(parameter, group) or {}
    self.state[parameter] = state
  end
  return state
end

-- The step of a parameter with a sparse gradient.
local function update_sparse(self, parameter, grad, group)
  if not self.update_sparse then
    fail('%s does not support sparse gradients, please consider SparseAdam instead', self.__classname)
  end
  local state = self:state_of(parameter, group)
  if type(state.step) == 'number' then
    self:_refuse_recording(COUNTS)
    state.step = state.step + 1
  end
  self:update_sparse(parameter, grad, group, state)
end

-- Complex parameters are updated as pairs of real numbers, as in PyTorch: updates use real views of
-- them and of their state.
local function as_real(value) return value.dtype.is_complex and torch.view_as_real(value) or value end

local function real_state(state, parameter)
  local shape = parameter.shape
  return setmetatable({}, {
    __index = function(_, name)
      local value = state[name]
      return torch.is_tensor(value) and as_real(value) or value
    end,
    __newindex = function(_, name, value)
      if torch.is_tensor(value) and value.shape == shape then value = torch.view_as_complex(value) end
      state[name] = value
    end,
  })
end

local function real_parts(parameter, grad, state)
  if not parameter.dtype.is_complex then return parameter, grad, state end
  local real = torch.view_as_real(parameter)
  return real, torch.view_as_real(grad:resolve_conj()), real_state(state, real)
end

--- State with an initial number, for complex parameters in both parts.
function Optimizer.full_like(parameter, value)
  return torch.full_like(parameter, parameter.dtype.is_complex and torch.complex(value, value) or value)
end

local function batches_of(self, group)
  local batches, by_key, columns = {}, {}, self:columns(group)
  for _, parameter in ipairs(group.params) do
    local grad = parameter.grad
    if grad ~= nil and grad.layout ~= torch.strided then
      update_sparse(self, parameter, grad, group)
    elseif grad ~= nil then
      local state = self:state_of(parameter, group)
      local key = self:key(state)
      local batch = by_key[key]
      if not batch then
        batch = { params = {}, grads = {}, states = {}, step = type(state.step) == 'number' and state.step + 1 or 0 }
        for _, name in ipairs(columns) do batch[name] = {} end
        by_key[key] = batch
        batches[#batches + 1] = batch
      end
      local n = #batch.params + 1
      parameter, grad, state = real_parts(parameter, grad, state)
      batch.params[n], batch.grads[n], batch.states[n] = parameter, grad, state
      for _, name in ipairs(columns) do batch[name][n] = state[name] end
    end
  end
  return batches
end

function Optimizer:_update_all()
  for _, group in ipairs(self.param_groups) do
    group = with_rate(group)
    if self.update_batch then
      for _, batch in ipairs(batches_of(self, group)) do
        if self:_counts(batch) then self:_refuse_recording(self.defaults.capturable == false and COUNTS .. CAPTURABLE or COUNTS) end
        self:update_batch(batch, group)
        for _, state in ipairs(batch.states) do
          if type(state.step) == 'number' then state.step = batch.step end
        end
      end
    else
      for _, parameter in ipairs(group.params) do
        local grad = parameter.grad
        if grad ~= nil and grad.layout ~= torch.strided then
          update_sparse(self, parameter, grad, group)
        elseif grad ~= nil then
          self:update(parameter, grad, group, self:state_of(parameter, group))
        end
      end
    end
  end
end

-- ---- printing, saving ---------------------------------------------------------------------------

local function shown(value)
  if type(value) ~= 'table' then return tostring(value) end
  local parts = {}
  for i, entry in ipairs(value) do parts[i] = tostring(entry) end
  return '(' .. table.concat(parts, ', ') .. ')'
end

function Optimizer:__tostring()
  local lines = {}
  for i, group in ipairs(self.param_groups) do
    lines[#lines + 1] = ('Parameter Group %d'):format(i - 1)
    local names = {}
    for name in pairs(group) do
      if name ~= 'params' then names[#names + 1] = name end
    end
    table.sort(names)
    for _, name in ipairs(names) do lines[#lines + 1] = ('    %s: %s'):format(name, shown(group[name])) end
  end
  return ('%s (\n%s\n)'):format(self.__classname, table.concat(lines, '\n'))
end

local function packed_state(state)
  local packed = {}
  for name, value in pairs(state) do
    if NUMBERS[name] and type(value) == 'number' then value = torch.tensor(value, { dtype = torch.float32 }) end
    packed[name] = value
  end
  return packed
end

local function collect(self)
  local dict, number = { state = {}, param_groups = {} }, 0
  for _, group in ipairs(self.param_groups) do
    local packed = {}
    for name, value in pairs(group) do packed[name] = value end
    packed.params = {}
    for _, parameter in ipairs(group.params) do
      packed.params[#packed.params + 1] = number
      local state = self.state[parameter]
      if state and next(state) ~= nil then dict.state[number] = packed_state(state) end
      number = number + 1
    end
    dict.param_groups[#dict.param_groups + 1] = packed
  end
  return dict
end

-- {state = {[i] = {...}}, param_groups = {{..., params = {i, ...}}}}: parameters by their number,
-- from 0 as in PyTorch's files. Tensors are shared, not copied.
function Optimizer:state_dict()
  for _, hook in ipairs(hooks_of(self, '_state_dict_pre_hooks')) do hook.fn(self) end
  local dict = collect(self)
  for _, hook in ipairs(hooks_of(self, '_state_dict_post_hooks')) do dict = hook.fn(self, dict) or dict end
  return dict
end

--- hook(optimizer) is called before the state is collected; hook(optimizer, dict) after, and its
--- result replaces the state; the same before a state is loaded; hook(optimizer) after. remove() of
--- the result removes it.
function Optimizer:register_state_dict_pre_hook(hook) return add_hook(self, '_state_dict_pre_hooks', hook) end
function Optimizer:register_state_dict_post_hook(hook) return add_hook(self, '_state_dict_post_hooks', hook) end
function Optimizer:register_load_state_dict_pre_hook(hook) return add_hook(self, '_load_pre_hooks', hook) end
function Optimizer:register_load_state_dict_post_hook(hook) return add_hook(self, '_load_post_hooks', hook) end

-- Converts a saved value for the state of a parameter: tensors to its device, floating-point ones
-- to its dtype, unless the optimizer's class has keeps_dtypes.
local function unpacked(self, name, value, parameter, group)
  if type(value) == 'table' then
    local copy = {}
    for key, entry in pairs(value) do copy[key] = unpacked(self, key, entry, parameter, group) end
    return copy
  end
  if not torch.is_tensor(value) then return value end
  if NUMBERS[name] then return group.capturable and value:detach():to(parameter.device):clone() or value:item() end
  local follows = not self.keeps_dtypes and value.dtype.is_floating_point and parameter.dtype.is_floating_point
  local dtype = follows and parameter.dtype or value.dtype
  return value:detach():to { device = parameter.device, dtype = dtype }:clone()
end

function Optimizer:load_state_dict(state_dict)
  local dict = state_dict
  for _, hook in ipairs(hooks_of(self, '_load_pre_hooks')) do dict = hook.fn(self, dict) or dict end
  kinds.check('load_state_dict', 'dict.param_groups', dict.param_groups, 'table')
  kinds.check('load_state_dict', 'dict.state', dict.state, 'table')
  if #dict.param_groups ~= #self.param_groups then
    fail('loaded state dict has a different number of parameter groups')
  end
  for i, group in ipairs(self.param_groups) do
    kinds.check('load_state_dict', ('dict.param_groups[%d]'):format(i), dict.param_groups[i], 'table')
    kinds.check('load_state_dict', ('dict.param_groups[%d].params'):format(i), dict.param_groups[i].params, 'table')
    if #dict.param_groups[i].params ~= #group.params then
      fail("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
    end
  end
  self.state = {}
  for i, group in ipairs(self.param_groups) do
    local packed = dict.param_groups[i]
    for name, value in pairs(packed) do
      if name ~= 'params' then
        group[name] = torch.is_tensor(value) and value:detach():clone() or unpacked(self, name, value, group.params[1], group)
      end
    end
    for j, parameter in ipairs(group.params) do
      local saved = dict.state[packed.params[j]]
      if saved then self.state[parameter] = unpacked(self, nil, saved, parameter, group) end
    end
  end
  for _, hook in ipairs(hooks_of(self, '_load_post_hooks')) do hook.fn(self) end
end

return Optimizer
