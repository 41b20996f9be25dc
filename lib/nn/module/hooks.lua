-- hooks.lua - hooks of nn.Module: functions that are called before and after forward and when
-- gradients pass through a module. Every register_ function returns a handle with :remove().
--
-- A module's own hooks are lists in its field _hooks, which is absent while it has none; global
-- ones, for all modules, are called before them.

--[=[ arguments
register_forward_pre_hook.hook: Function `hook(module, args)`, called before forward with the list of arguments; a returned list replaces it, another result is the only argument.
register_forward_hook.hook: Function `hook(module, args, output)`, called after forward; a result replaces the output.
register_full_backward_pre_hook.hook: Function `hook(module, grad_output)`, called before the gradients are computed; a result replaces `grad_output`.
register_full_backward_hook.hook: Function `hook(module, grad_input, grad_output)`, called after the gradients are computed; a result replaces `grad_input`.
register_module_forward_pre_hook.hook: Function `hook(module, args)`, called before every forward with the list of arguments; a returned list replaces it, another result is the only argument.
register_module_forward_hook.hook: Function `hook(module, args, output)`, called after every forward; a result replaces the output.
register_module_full_backward_pre_hook.hook: Function `hook(module, grad_output)`, called before the gradients of any module are computed.
register_module_full_backward_hook.hook: Function `hook(module, grad_input, grad_output)`, called after the gradients of any module are computed.
register_module_buffer_registration_hook.hook: Function `hook(module, name, buffer)`, called when a buffer is registered; a result replaces it.
register_module_parameter_registration_hook.hook: Function `hook(module, name, parameter)`, called when a parameter is registered; a result replaces it.
register_module_module_registration_hook.hook: Function `hook(module, name, submodule)`, called when a submodule is registered; a result replaces it.
register_module_forward_pre_hook(): Registers a function that is called before the forward of every module.
register_module_forward_hook(): Registers a function that is called after the forward of every module.
register_module_full_backward_pre_hook(): Registers a function that is called before the gradients of any module are computed.
register_module_full_backward_hook(): Registers a function that is called after the gradients of any module are computed.
register_module_buffer_registration_hook(): Registers a function that is called when a module registers a buffer.
register_module_parameter_registration_hook(): Registers a function that is called when a module registers a parameter.
register_module_module_registration_hook(): Registers a function that is called when a module registers a submodule.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local hook_list = require 'torch.support.hook_list'
local kinds = require 'torch.support.argument_kinds'

local fields_of = class.fields
local is_tensor = torch.is_tensor

local hooks = {}

-- Lists of hooks by kind; changed(whether there are any) is called after every change.
local function new_lists(changed)
  local lists = {}
  local function look()
    changed(#lists.forward_pre.entries + #lists.forward.entries + #lists.backward_pre.entries + #lists.backward.entries > 0)
  end
  for _, kind in ipairs { 'forward_pre', 'forward', 'backward_pre', 'backward' } do lists[kind] = hook_list(look) end
  return lists
end

local global = new_lists(function(any) hooks.any_global = any end)
local none = {}

-- The entries of one kind for a module with the lists `own` (nil: none).
local function entries_of(own, kind)
  local shared, entries = global[kind].entries, own and own[kind].entries or none
  if #shared == 0 then return entries end
  return table.move(entries, 1, #entries, #shared + 1, table.move(shared, 1, #shared, 1, {}))
end

-- ---- gradients that pass ------------------------------------------------------------------------

-- Identity functions around a module. Their backward calls `gate` with the gradients and returns
-- its replacements. Created on first use, which loads torch.autograd.Function.
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

-- values (a packed list) with its tensors passed through a gate; gate gets the list of their
-- gradients.
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

-- The result of a hook as a list of gradients.
local function replaced(value, gradients)
  if value == nil then return gradients end
  local list = is_tensor(value) and { value } or value
  return table.move(list, 1, gradients.n, 1, { n = gradients.n })
end

-- Calls forward between two gates; the one at the inputs calls the backward hooks.
local function forward_with_gates(self, backward, backward_pre, inputs, call)
  local output_gradients
  local function at_inputs(gradients)
    for _, hook in ipairs(backward) do
      gradients = replaced(hook.fn(self, gradients, output_gradients), gradients)
    end
    return gradients
  end
  local passed, has_gate = pass(inputs, at_inputs)
  local outputs = call(passed)
  local function at_outputs(gradients)
    for _, hook in ipairs(backward_pre) do gradients = replaced(hook.fn(self, gradients), gradients) end
    output_gradients = gradients
    if not has_gate then at_inputs { n = inputs.n } end
    return gradients
  end
  return (pass(outputs, at_outputs))
end

-- ---- the call -----------------------------------------------------------------------------------

-- Splits packed inputs into a list of positional ones and the table of named ones (empty without
-- any); and joins them again.
local function apart(inputs)
  local last = inputs[inputs.n]
  if inputs.n == 0 or not kinds.is_named(last) then return inputs, {} end
  return table.move(inputs, 1, inputs.n - 1, 1, { n = inputs.n - 1 }), last
end
local function together(arguments, named)
  local n = arguments.n or #arguments
  local inputs = table.move(arguments, 1, n, 1, { n = n })
  if next(named) == nil then return inputs end
  inputs.n = n + 1
  inputs[n + 1] = named
  return inputs
end

local function run_pre_hook(self, hook, inputs)
  if not hook.with_kwargs then
    local given = table.pack(hook.fn(self, inputs))
    if given[1] == nil then return inputs end
    return given.n == 1 and type(given[1]) == 'table' and together(given[1], {}) or given
  end
  local arguments, named = hook.fn(self, apart(inputs))
  if arguments == nil then return inputs end
  if type(arguments) ~= 'table' or type(named) ~= 'table' then
    fail('forward pre-hook must return nil or two tables, new_args and new_kwargs, but got a %s and a %s', torch.type(arguments), torch.type(named))
  end
  return together(arguments, named)
end

local function run_forward_hook(self, hook, inputs, outputs)
  local given
  if hook.with_kwargs then
    local arguments, named = apart(inputs)
    given = table.pack(hook.fn(self, arguments, named, table.unpack(outputs, 1, outputs.n)))
  else
    given = table.pack(hook.fn(self, inputs, table.unpack(outputs, 1, outputs.n)))
  end
  return given[1] ~= nil and given or outputs
end

-- state: updated with the inputs and outputs, and the hooks that were already called.
local function run(self, own, state)
  local backward, backward_pre = entries_of(own, 'backward'), entries_of(own, 'backward_pre')
  for _, hook in ipairs(entries_of(own, 'forward_pre')) do state.inputs = run_pre_hook(self, hook, state.inputs) end
  local function forward(inputs)
    state.inputs = inputs
    state.outputs = table.pack(self:forward(table.unpack(inputs, 1, inputs.n)))
    for _, hook in ipairs(entries_of(own, 'forward')) do
      state.called[hook] = true
      state.outputs = run_forward_hook(self, hook, inputs, state.outputs)
    end
    return state.outputs
  end
  if #backward + #backward_pre == 0 then return forward(state.inputs) end
  return forward_with_gates(self, backward, backward_pre, state.inputs, forward)
end

-- After an error, calls the always_call hooks that were not called. Their errors become warnings,
-- because the first error is raised.
local function run_always_called(self, own, state)
  for _, hook in ipairs(entries_of(own, 'forward')) do
    if hook.always_call and not state.called[hook] then
      local ok, result = pcall(run_forward_hook, self, hook, state.inputs, state.outputs)
      if ok then
        state.outputs = result
      else
        torch._C.log_warning('module forward hook with always_call = true raised an exception that was silenced as another error was raised in forward: '
          .. tostring(result))
      end
    end
  end
end

-- forward(...) of a module with its own and the global hooks.
function hooks.call(self, own, ...)
  local state, always = { inputs = table.pack(...), outputs = { n = 0 }, called = {} }, false
  for _, hook in ipairs(entries_of(own, 'forward')) do always = always or hook.always_call end
  if not always then
    local outputs = run(self, own, state)
    return table.unpack(outputs, 1, outputs.n)
  end
  local ok, outputs = pcall(run, self, own, state)
  if not ok then
    run_always_called(self, own, state)
    error(outputs, 0)
  end
  return table.unpack(outputs, 1, outputs.n)
end

-- ---- registering --------------------------------------------------------------------------------

local function add(list, fn, options)
  return list:add({ fn = fn, with_kwargs = options.with_kwargs, always_call = options.always_call }, options.prepend)
end

local function register(self, kind, fn, options)
  local fields = fields_of(self)
  local own = fields._hooks
  if not own then
    own = new_lists(function(any)
      if not any then fields._hooks = nil end
    end)
  end
  local handle = add(own[kind], fn, options)
  fields._hooks = own
  return handle
end

-- Global hooks, by the names of PyTorch's functions:
-- nn.modules.module.register_module_forward_hook(fn, {...}).
hooks.registering = {}
for name, kind in pairs { forward_pre = 'forward_pre', forward = 'forward', full_backward_pre = 'backward_pre', full_backward = 'backward' } do
  local what = ('register_module_%s_hook'):format(name)
  local more = kind == 'forward' and ', *, boolean with_kwargs=false, boolean always_call=false' or ''
  hooks.registering[what] = declare.declare(('%s(function hook%s)'):format(what, more), function(hook, with_kwargs, always_call)
    return add(global[kind], hook, { with_kwargs = with_kwargs, always_call = always_call })
  end)
end

-- Global registration hooks, by the list of module.lua in which a value is registered: fn(module,
-- name, value); its result replaces the value.
hooks.registration = {}
for kind, name in pairs { _parameters = 'parameter', _buffers = 'buffer', _modules = 'module' } do
  local list, what = hook_list(), ('register_module_%s_registration_hook'):format(name)
  hooks.registration[kind] = list
  hooks.registering[what] = declare.declare(what .. '(function hook)', function(hook) return add(list, hook, {}) end)
end

function hooks.install(Module)
  -- fn(module, inputs) before forward. inputs is a list with n, as in all hooks; a returned list, or
  -- values, replace the inputs. {prepend = true} puts it first; {with_kwargs = true}: fn(module,
  -- inputs, named), with the table of named arguments at the end of the call (empty without one);
  -- two returned tables replace both.
  function Module:register_forward_pre_hook(hook, prepend, with_kwargs)
    return register(self, 'forward_pre', hook, { prepend = prepend, with_kwargs = with_kwargs })
  end

  -- fn(module, inputs, output...) after forward: inputs is a list with n, the results of forward
  -- follow; results of fn replace the outputs.
  -- {with_kwargs = true}: fn(module, inputs, named, output...). {always_call = true}: also called,
  -- without outputs, when forward or a hook raises an error.
  function Module:register_forward_hook(hook, prepend, with_kwargs, always_call)
    return register(self, 'forward', hook, { prepend = prepend, with_kwargs = with_kwargs, always_call = always_call })
  end

  -- fn(module, grad_outputs) before gradients pass the module; its result replaces them.
  function Module:register_full_backward_pre_hook(hook, prepend)
    return register(self, 'backward_pre', hook, { prepend = prepend })
  end

  -- fn(module, grad_inputs, grad_outputs) after gradients have passed the module; a returned table
  -- replaces grad_inputs. Both are lists with n; an entry is nil if that gradient is not needed.
  function Module:register_full_backward_hook(hook, prepend)
    return register(self, 'backward', hook, { prepend = prepend })
  end
end

return hooks
