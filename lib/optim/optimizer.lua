-- optimizer.lua - optim.Optimizer: parameter groups, their options, and the state kept per parameter.
--
-- A derived class sets its defaults in init and defines update(parameter, grad, group, state), which step()
-- calls for every parameter that has a gradient, with autograd off. state is a table kept for the parameter.

local torch = require 'torch'
local class = require 'torch.class'

local Optimizer = class.Object:extend('Optimizer')

local function check_parameter(parameter, position)
  if not torch.is_tensor(parameter) then
    error(('optimizer can only optimize Tensors, but parameter %d is a %s'):format(position, torch.type(parameter)), 5)
  end
  if not parameter.is_leaf then error("can't optimize a non-leaf Tensor", 5) end
end

-- params: a list of tensors, or a list of groups {params = {...}, lr = ...}. defaults: the options.
function Optimizer:init(params, defaults)
  if torch.is_tensor(params) then
    error('params argument given to the optimizer should be a table of Tensors or groups, but got a Tensor', 4)
  end
  if type(params) ~= 'table' or #params == 0 then error('optimizer got an empty parameter list', 4) end
  self.defaults, self.param_groups, self.state = defaults, {}, {}
  if type(params[1]) ~= 'table' then params = { { params = params } } end
  for _, group in ipairs(params) do self:add_param_group(group) end
end

function Optimizer:add_param_group(group)
  local added = {}
  for name, value in pairs(self.defaults) do added[name] = value end
  for name, value in pairs(group) do added[name] = value end
  if torch.is_tensor(added.params) then added.params = { added.params } end
  for i, parameter in ipairs(added.params) do check_parameter(parameter, i) end
  self.param_groups[#self.param_groups + 1] = added
end

-- Clears the gradients: they become nil, or zeros with {set_to_none = false}.
function Optimizer:zero_grad(options)
  local keep = type(options) == 'table' and options.set_to_none == false
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

-- One update. closure, if given, computes the loss anew (with autograd on) and is called first.
function Optimizer:step(closure)
  local loss = closure and closure() or nil
  local previous = torch.is_grad_enabled()
  torch._C.set_grad_enabled(false)
  local ok, message = pcall(self._update_all, self)
  torch._C.set_grad_enabled(previous)
  if not ok then error(message, 0) end
  return loss
end

function Optimizer:_update_all()
  for _, group in ipairs(self.param_groups) do
    for _, parameter in ipairs(group.params) do
      local grad = parameter.grad
      if grad ~= nil then
        local state = self.state[parameter]
        if not state then
          state = {}
          self.state[parameter] = state
        end
        self:update(parameter, grad, group, state)
      end
    end
  end
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
    for _, name in ipairs(names) do lines[#lines + 1] = ('    %s: %s'):format(name, tostring(group[name])) end
  end
  return ('%s (\n%s\n)'):format(self.__classname, table.concat(lines, '\n'))
end

-- {state = {[i] = {...}}, param_groups = {{..., params = {i, ...}}}}: parameters by their number, from 0 as
-- in PyTorch's files. Tensors are shared, not copied.
function Optimizer:state_dict()
  local dict, number = { state = {}, param_groups = {} }, 0
  for _, group in ipairs(self.param_groups) do
    local packed = {}
    for name, value in pairs(group) do packed[name] = value end
    packed.params = {}
    for _, parameter in ipairs(group.params) do
      packed.params[#packed.params + 1] = number
      local state = self.state[parameter]
      if state and next(state) ~= nil then dict.state[number] = state end
      number = number + 1
    end
    dict.param_groups[#dict.param_groups + 1] = packed
  end
  return dict
end

function Optimizer:load_state_dict(dict)
  if #dict.param_groups ~= #self.param_groups then
    error('loaded state dict has a different number of parameter groups', 2)
  end
  for i, group in ipairs(self.param_groups) do
    if #dict.param_groups[i].params ~= #group.params then
      error("loaded state dict contains a parameter group that doesn't match the size of optimizer's group", 2)
    end
  end
  self.state = {}
  for i, group in ipairs(self.param_groups) do
    local packed = dict.param_groups[i]
    for name, value in pairs(packed) do
      if name ~= 'params' then group[name] = value end
    end
    for j, parameter in ipairs(group.params) do
      local state = {}
      for name, value in pairs(dict.state[packed.params[j]] or {}) do
        state[name] = torch.is_tensor(value) and value:to(parameter.device):clone() or value
      end
      self.state[parameter] = state
    end
  end
end

return Optimizer
