-- autograd.lua - torch.autograd: grad modes, backward and grad, hooks; Function and gradcheck are
-- loaded from their own files on first use.
--
-- A scope (no_grad, detect_anomaly, ...) called without a function returns a guard for
-- `local _ <close>`; with a function, calls it and returns its results. Both restore the previous
-- state, also after an error.

--[=[ arguments
tensors: Tensors to differentiate: one, or a list.
grad_tensors: Gradients of these tensors; ones if they have one element.
gradient: Gradient of the tensor; a one if it has one element.
inputs: Leaves that receive gradients; all if absent.
grad.inputs: Tensors by which to differentiate: one, or a list.
outputs: Tensors to differentiate: one, or a list.
grad_outputs: Gradients of the outputs; ones if they have one element.
grad_variables: The former name of `grad_tensors`.
only_inputs: Accepted for older programs: true, gradients are computed for the inputs alone.
allow_unused: Whether inputs that the outputs do not depend on are allowed; their gradient is nil. By default the value of `materialize_grads`.
is_grads_batched: Whether the first dimension of `grad_outputs` is a batch, for each entry of which the gradients are computed.
materialize_grads: Whether the gradient of an input without influence is zeros instead of nil.
check_nan: Whether a NaN in a gradient is an error.
mode: Whether the mode is on.
register_hook.hook: Function `hook(grad)`, called with the gradient of the tensor; a result replaces it.
register_post_accumulate_grad_hook.hook: Function `hook(tensor)`, called after the gradient was accumulated in `grad`.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local kinds = require 'torch.support.argument_kinds'
local fail = require 'torch.support.fail'
local scope = require 'torch.autograd.scope'
local C = torch._C
local is_tensor = torch.is_tensor
local methods = C.methods

local autograd = {}

-- ---- scopes -------------------------------------------------------------------------------------

-- set(mode) returns the previous mode. key: the same for scopes that change the same mode, which
-- may end in any order (scope.lua).
local function within(key, set, mode, ...)
  local previous
  return scope.open(key, function() previous = set(mode) end, function() set(previous) end, ...)
end

local function setting(set, mode, ...)
  local previous = set(mode)
  return scope.open_lasting(function() set(previous) end, ...)
end

--- No gradients are recorded in the scope.
function torch.no_grad(body, ...) return within('grad', C.set_grad_enabled, false, body, ...) end

--- Gradients are recorded in the scope, also inside of no_grad.
function torch.enable_grad(body, ...) return within('grad', C.set_grad_enabled, true, body, ...) end

--- Sets at once whether gradients are recorded; the guard restores it.
function torch.set_grad_enabled(mode, body, ...)
  return setting(C.set_grad_enabled, mode, body, ...)
end

-- All pairs of modes, created in advance: restoring them at the end of a scope must not allocate,
-- because a collection could end a dropped scope meanwhile.
local function both(inference, grad) return { inference = inference, grad = grad } end
local MODES = { [true] = { [true] = both(true, true), [false] = both(true, false) }, [false] = { [true] = both(false, true), [false] = both(false, false) } }

-- Sets both modes and returns the previous ones.
local function set_inference(modes) return MODES[C.set_inference_mode(modes.inference)][C.set_grad_enabled(modes.grad)] end

local ON, OFF = MODES[true][false], MODES[false][true]

--- Records no gradients in the scope. New tensors are inference tensors: outside of the scope they
--- cannot be written in place or saved for backward. inference_mode(false) is the opposite, in any
--- enclosing scope.
function torch.inference_mode(mode, ...) return within('grad', set_inference, mode and ON or OFF, ...) end

declare.functions(torch, 'no_grad() enable_grad() set_grad_enabled(boolean mode) inference_mode(boolean mode=true)', 'scope')

local function refuse_unchecked(what, check_nan)
  if not check_nan then fail('%s(): check_nan = false is not supported: anomaly mode always checks for nan', what) end
end

--- Sets at once whether backward checks for nan and names the lines of the forward ops; the guard
--- restores it.
function autograd.set_detect_anomaly(mode, check_nan, body, ...)
  refuse_unchecked('set_detect_anomaly', check_nan)
  return setting(C.set_anomaly, mode, body, ...)
end

--- The same for a scope.
function autograd.detect_anomaly(check_nan, body, ...)
  refuse_unchecked('detect_anomaly', check_nan)
  return within('anomaly', C.set_anomaly, true, body, ...)
end

declare.functions(autograd, 'set_detect_anomaly(boolean mode, boolean check_nan=true) detect_anomaly(boolean check_nan=true)', 'scope')

-- ---- backward -----------------------------------------------------------------------------------

-- The options of the running backward: a custom Function's backward reads them to decide if its
-- saved values are needed again. Restored by __close, because hooks may call backward.
local current = { retain = true }
autograd.__current = current
-- Functions to call after the outermost backward, a list; nil if there are none.
local due
local depth = 0

-- For the library only: calls f() after the running backward, unless it ends in an error. Unlike a
-- hook, f may wait for other ranks (lib/distributed/fake.lua lets them continue).
function autograd.__at_end(f)
  due = due or {}
  due[#due + 1] = f
end

local outer_metatable = { __close = function(outer, failure)
  current.retain = outer[1]
  depth = depth - 1
  if failure ~= nil and depth == 0 then due = nil end
end }

local function run_inside(retain, ...)
  local _ <close> = setmetatable({ current.retain }, outer_metatable)
  current.retain = retain
  depth = depth + 1
  return C.backward(...)
end

local function run(retain, ...)
  local results = run_inside(retain, ...)
  local list = due
  if list and depth == 0 then
    due = nil
    for _, f in ipairs(list) do f() end
  end
  return results
end

-- The tensor that a GradientEdge (graph.lua) represents; other values are returned unchanged.
local function without_edge(value)
  if type(value) ~= 'userdata' or torch.type(value) ~= 'GradientEdge' then return value end
  return autograd.graph.__tensor_of(value)
end

-- Converts a single tensor or GradientEdge, the argument `what` of an operation, to a list.
local function list_of(op, what, value)
  value = without_edge(value)
  if is_tensor(value) then return { value } end
  if type(value) ~= 'table' then
    fail('%s must be a Tensor or a table of Tensors, got %s', what, torch.type(value))
  end
  kinds.check_list(op, value)
  local list = {}
  for i, entry in ipairs(value) do list[i] = without_edge(entry) end
  return list
end

-- A list of gradients for n outputs; false for missing ones.
local function gradients_of(outputs, given)
  local gradients, n = {}, #outputs
  if given ~= nil then
    if is_tensor(given) then given = { given } end
    if type(given) ~= 'table' then fail('grad_tensors must be a Tensor or a table of Tensors, got %s', torch.type(given)) end
    for i in pairs(given) do
      if math.type(i) == 'integer' and i > n or #given > n then
        fail('got %d tensors and %d gradients', n, math.max(#given, i))
      end
    end
  end
  for i = 1, n do gradients[i] = given and given[i] or false end
  return gradients
end

local function backward(tensors, gradients, retain, create, inputs)
  if inputs ~= nil then
    inputs = list_of('backward', 'inputs', inputs)
    if #inputs == 0 then fail("'inputs' argument to backward() cannot be empty.") end
  end
  if retain == nil then retain = create end
  run(retain, tensors, gradients_of(tensors, gradients), retain, create, inputs, true, true)
end

--- Adds the gradients of tensors (each weighted by its grad_tensor) to the leaves' grad. Entries
-- may be GradientEdges. grad_variables: the former name of grad_tensors.
autograd.backward = function(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
  if grad_variables ~= nil then
    if grad_tensors ~= nil then fail('backward(): grad_variables is the former name of grad_tensors; pass one of them') end
    grad_tensors = grad_variables
  end
  backward(list_of('backward', 'tensors', tensors), grad_tensors, retain_graph, create_graph, inputs)
end

-- grad for each entry of the first dimension of grad_outputs, the results stacked.
local function grad_of_batch(outputs, inputs, grad_outputs, options)
  local given = is_tensor(grad_outputs) and { grad_outputs } or grad_outputs
  kinds.check('grad', 'grad_outputs', given, 'tensors')
  local n, each = given[1].ndim > 0 and given[1]:size(1) or 0, {}
  for name, value in pairs(options) do each[name] = value end
  each.outputs, each.inputs, each.is_grads_batched, each.grad_outputs = nil, nil, nil, nil
  local lists, count = {}, 0
  for i = 1, n do
    local entry = {}
    for k, tensor in ipairs(given) do
      if tensor.ndim == 0 or tensor:size(1) ~= n then
        fail('grad(): with is_grads_batched, grad_outputs need a first dimension of one size, got %d and %s', n, tostring(tensor.shape))
      end
      entry[k] = tensor:select(1, i)
    end
    if i < n then each.retain_graph = true else each.retain_graph = options.retain_graph end
    local results = table.pack(autograd.grad(outputs, inputs, entry, each))
    count = results.n
    for k = 1, count do
      lists[k] = lists[k] or {}
      lists[k][i] = results[k]
    end
  end
  if n == 0 then fail 'grad(): with is_grads_batched, grad_outputs need a first dimension that is not empty' end
  local stacked = {}
  for k = 1, count do stacked[k] = #lists[k] > 0 and torch.stack(lists[k]) or nil end
  return table.unpack(stacked, 1, count)
end

--- The gradients of outputs by inputs, one result each: nil for unused ones if allow_unused. A
--- GradientEdge may represent a tensor. With is_grads_batched, grad_outputs have an additional
--- first dimension, and so have the results: one gradient for each entry.
autograd.grad = function(options)
  local outputs, inputs, grad_outputs = options.outputs, options.inputs, options.grad_outputs
  if not options.only_inputs then fail('grad(): only_inputs = false is not supported; call backward() to accumulate gradients in the other leaves') end
  if options.is_grads_batched then return grad_of_batch(outputs, inputs, grad_outputs, options) end
  outputs, inputs = list_of('grad', 'outputs', outputs), list_of('grad', 'inputs', inputs)
  if #inputs == 0 then fail('grad requires non-empty inputs.') end
  local create, allow, materialize = options.create_graph, options.allow_unused, options.materialize_grads
  local retain = options.retain_graph
  if retain == nil then retain = create end
  if materialize and allow == false then
    fail('Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.')
  end
  local results = run(retain, outputs, gradients_of(outputs, grad_outputs), retain, create, inputs, false,
    allow or materialize or false)
  for i = 1, #inputs do
    if not results[i] then
      results[i] = nil
      if materialize then results[i] = torch.zeros_like(inputs[i]) end
    end
  end
  return table.unpack(results, 1, #inputs)
end

declare.functions(autograd, [[
  backward(any tensors, value|list? grad_tensors, boolean? retain_graph, boolean create_graph=false, value|list? grad_variables,
    any? inputs)
]])
autograd.grad = declare.declare([[
  grad(any outputs, any inputs, value|list? grad_outputs, boolean? retain_graph, boolean create_graph=false, boolean only_inputs=true,
    boolean? allow_unused, boolean is_grads_batched=false, boolean materialize_grads=false)
]], autograd.grad, 'names')

-- ---- methods of tensors -------------------------------------------------------------------------

--- x:backward(gradient, {retain_graph =, create_graph =, inputs =}); gradient is optional for a
--- single element.
function methods.backward(self, gradient, retain_graph, create_graph, inputs)
  backward({ self }, gradient, retain_graph, create_graph, inputs)
end
declare.metatable_methods(methods, 'Tensor', 'backward(self, value|list? gradient, boolean? retain_graph, boolean create_graph=false, any? inputs)', is_tensor)

-- Refers to its tensor weakly, so that a handle does not keep it alive.
local Handle = { __name = 'RemovableHandle', __mode = 'v' }
Handle.__index = Handle

--- Removes the hook; further calls have no effect.
function Handle:remove()
  if self.tensor then C.remove_hook(self.tensor, self.hook, self.closure) end
  self.tensor = nil
end

--- Calls hook(grad) with each gradient of the tensor; a result other than nil replaces the
--- gradient.
function methods.register_hook(self, hook)
  local id, closure = C.register_hook(self, hook)
  return setmetatable({ tensor = self, hook = id, closure = closure }, Handle)
end

--- Calls hook(tensor) when backward has added to the tensor's .grad. The tensor is a leaf.
function methods.register_post_accumulate_grad_hook(self, hook)
  local id, closure = C.register_post_hook(self, hook)
  return setmetatable({ tensor = self, hook = id, closure = closure }, Handle)
end

declare.metatable_methods(methods, 'Tensor', 'register_hook(self, function hook) register_post_accumulate_grad_hook(self, function hook)', is_tensor)

-- ---- hooks of nodes -----------------------------------------------------------------------------

-- The closure in the graph refers to the handle only, so clearing `hook` removes the hook.
local NodeHandle = { __name = 'RemovableHandle' }
NodeHandle.__index = NodeHandle

--- Removes the hook; further calls have no effect.
function NodeHandle:remove() self.hook = nil end

-- The values that a hook returned as replacements, with their number.
local function replaced(given, values)
  if given == nil then return values end
  local list = is_tensor(given) and { given } or given
  kinds.check('a hook of a node', 'its result', list, 'table')
  local n = list.n or #list
  if n ~= values.n then fail('hook has returned an incorrect number of values (got %d, but expected %d)', n, values.n) end
  return list
end

local function register_node_hook(node, hook, before)
  local handle, inputs, outputs = setmetatable({ hook = hook }, NodeHandle)
  inputs, outputs = C.register_node_hook(node, function(...)
    local n = before and inputs or outputs
    local given, all = handle.hook, table.pack(...)
    local values = table.move(all, 1, n, 1, { n = n })
    if given then
      if before then
        values = replaced(given(values), values)
      else
        values = replaced(given(values, table.move(all, n + 1, n + inputs, 1, { n = inputs })), values)
      end
    end
    return table.unpack(values, 1, n)
  end, before)
  return handle
end

--- node:register_hook(fn): calls fn(grad_inputs, grad_outputs), lists with n, after backward has
--- run the node. A returned list replaces grad_inputs, the gradients that the node passes on.
--- Entries without a gradient are nil. Returns a handle.
function C.node_methods.register_hook(node, hook)
  return register_node_hook(node, hook, false)
end

--- node:register_prehook(fn): fn(grad_outputs) before backward runs the node; a list that it
--- returns replaces them.
function C.node_methods.register_prehook(node, hook)
  return register_node_hook(node, hook, true)
end
declare.functions(C.node_methods, 'register_hook(any self, function fn) register_prehook(any self, function fn)')

-- ---- the rest, when it is named -----------------------------------------------------------------

local where = { Function = 'function', once_differentiable = 'function', gradcheck = 'gradcheck', gradgradcheck = 'gradcheck',
  functional = 'functional', forward_ad = 'forward_ad', graph = 'graph' }
autograd.__names = where

return setmetatable(autograd, {
  __index = function(_, name)
    local file = where[name]
    if not file then return nil end
    local value = require('torch.autograd.' .. file)[name]
    rawset(autograd, name, value)
    return value
  end,
})
