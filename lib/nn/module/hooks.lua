-- hooks.lua - hooks of nn.Module: functions that are called before and after forward and when gradients
-- pass through a module. Every register_ function returns a handle with :remove().

local torch = require 'torch'
local kinds = require 'torch.support.kinds'
local class = require 'torch.support.class'

local fields_of = class.fields
local is_tensor = torch.is_tensor

-- ---- gradients that pass ------------------------------------------------------------------------------------

-- Identities around a module, whose backward sees its gradients: `gate` is called with them and returns those that
-- go on. Made when first needed, since torch.autograd.Function is loaded then.
local Gate

local function gate_class()
  if Gate then return Gate end
  Gate = torch.autograd.Function:extend('BackwardHookFunction')
  function Gate.forward(ctx, gate, ...)
    ctx.gate = gate
    ctx:set_materialize_grads(false)
    local plain = {}
    for _, value in ipairs { ... } do
      if not value.requires_grad then plain[#plain + 1] = value end
    end
    ctx:mark_non_differentiable(table.unpack(plain))
    return ...
  end
  function Gate.backward(ctx, ...) return nil, ctx.gate(table.pack(...)) end
  return Gate
end

-- values (a packed list) with its tensors passed through a gate; gate gets the list of their gradients.
local function pass(values, gate)
  local places, tensors, any = {}, {}, false
  for i = 1, values.n do
    if is_tensor(values[i]) then
      places[#places + 1], tensors[#tensors + 1] = i, values[i]
      any = any or values[i].requires_grad
    end
  end
  if not any or not torch.is_grad_enabled() then return values, false end
  local results = table.pack(gate_class().apply(function(gradients)
    local full = { n = values.n }
    for k, i in ipairs(places) do full[i] = gradients[k] end
    full = gate(full)
    local passed = {}
    for k, i in ipairs(places) do passed[k] = full[i] end
    return table.unpack(passed, 1, #places)
  end, table.unpack(tensors)))
  local out = table.move(values, 1, values.n, 1, { n = values.n })
  for k, i in ipairs(places) do out[i] = results[k] end
  return out, true
end

-- What a hook returned in place of a list of gradients.
local function replaced(value, gradients)
  if value == nil then return gradients end
  local list = is_tensor(value) and { value } or value
  return table.move(list, 1, gradients.n, 1, { n = gradients.n })
end

-- Calls forward between two gates; the one at the inputs calls the backward hooks.
local function forward_with_gates(self, hooks, inputs, call)
  local output_gradients
  local function at_inputs(gradients)
    for _, hook in ipairs(hooks.backward) do
      gradients = replaced(hook.fn(self, gradients, output_gradients), gradients)
    end
    return gradients
  end
  local passed, has_gate = pass(inputs, at_inputs)
  local outputs = call(passed)
  local function at_outputs(gradients)
    for _, hook in ipairs(hooks.backward_pre) do gradients = replaced(hook.fn(self, gradients), gradients) end
    output_gradients = gradients
    if not has_gate then at_inputs { n = inputs.n } end
    return gradients
  end
  return (pass(outputs, at_outputs))
end

-- ---- the call -------------------------------------------------------------------------------------------------

local function run_pre_hooks(self, hooks, inputs)
  for _, hook in ipairs(hooks) do
    local given = table.pack(hook.fn(self, table.unpack(inputs, 1, inputs.n)))
    if given.n > 0 and given[1] ~= nil then inputs = given end
  end
  return inputs
end

local function run_forward_hooks(self, hooks, inputs, outputs)
  for _, hook in ipairs(hooks) do
    local given = table.pack(hook.fn(self, inputs, table.unpack(outputs, 1, outputs.n)))
    if given.n > 0 and given[1] ~= nil then outputs = given end
  end
  return outputs
end

local function call_with_hooks(self, hooks, ...)
  local inputs = run_pre_hooks(self, hooks.forward_pre, table.pack(...))
  local function forward(given)
    local outputs = table.pack(self:forward(table.unpack(given, 1, given.n)))
    return run_forward_hooks(self, hooks.forward, given, outputs)
  end
  local outputs
  if #hooks.backward + #hooks.backward_pre == 0 then
    outputs = forward(inputs)
  else
    outputs = forward_with_gates(self, hooks, inputs, forward)
  end
  return table.unpack(outputs, 1, outputs.n)
end

-- ---- registering --------------------------------------------------------------------------------------------

local Handle = { __name = 'RemovableHandle' }
Handle.__index = Handle
Handle.__close = function(handle) handle:remove() end

function Handle:remove()
  for i, hook in ipairs(self.list) do
    if hook == self then return table.remove(self.list, i) end
  end
end

local function register(self, kind, fn, options)
  kinds.check_names('register_' .. (kind:find 'backward' and 'full_' or '') .. kind .. '_hook', options, 'prepend')
  local fields = fields_of(self)
  if not fields._hooks then
    fields._hooks = { forward_pre = {}, forward = {}, backward_pre = {}, backward = {} }
  end
  local list = fields._hooks[kind]
  local handle = setmetatable({ fn = fn, list = list }, Handle)
  table.insert(list, options and options.prepend and 1 or #list + 1, handle)
  return handle
end

return function(Module)
  Module.call_with_hooks = call_with_hooks

  -- fn(module, input...) before forward; what it returns replaces the inputs. {prepend = true} puts it first.
  function Module:register_forward_pre_hook(fn, options) return register(self, 'forward_pre', fn, options) end

  -- fn(module, inputs, output...) after forward; what it returns replaces the outputs.
  function Module:register_forward_hook(fn, options) return register(self, 'forward', fn, options) end

  -- fn(module, grad_outputs) before gradients pass the module; what it returns replaces them.
  function Module:register_full_backward_pre_hook(fn, options) return register(self, 'backward_pre', fn, options) end

  -- fn(module, grad_inputs, grad_outputs) when gradients have passed the module; what it returns, a table, replaces
  -- grad_inputs. Both are lists with n; an entry is nil where no gradient is wanted.
  function Module:register_full_backward_hook(fn, options) return register(self, 'backward', fn, options) end
end
