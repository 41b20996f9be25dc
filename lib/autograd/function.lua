-- function.lua - torch.autograd.Function: operations with a derivative written in Lua.
--
-- forward runs without recording; its outputs then become the results of one node. The node calls a
-- closure that holds the context. Only Lua refers to the closure and the saved values, so a context
-- that holds its own outputs is collected with them. The graph's tokens (src/lua/binding.h) keep
-- closures alive.

--[=[ arguments
name: Name of the class.
fn: Method backward of a custom `torch.autograd.Function`.
Function.forward(): Computes the result; define it in your class. It receives `ctx` and the arguments.
Function.backward(): Computes the gradients of the arguments from the gradients of the results; define it in your class. It receives `ctx` first.
Function.jvp(): Computes the tangents of the results from the tangents of the arguments; define it in your class for forward mode.
]=]

local torch = require 'torch'
local autograd = require 'torch.autograd'
local checked = require 'torch.support.argument_checks'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local C = torch._C
local is_tensor = torch.is_tensor
local current = autograd.__current

-- ---- the context --------------------------------------------------------------------------------

-- Keys of a context, distinct from any key of a user.
local SAVED, FORWARD, DIRTY, PLAIN, MATERIALIZE, NAME = {}, {}, {}, {}, {}, {}

local Context = { __name = 'FunctionCtx' }

local freed_message = 'Trying to backward through the graph a second time (or directly access saved tensors after '
  .. 'they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or '
  .. 'autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you '
  .. 'need to access saved tensors after calling backward.'

local changed_message = 'one of the variables needed for gradient computation has been modified by an inplace '
  .. 'operation: [%s [%s]] is at version %d; expected version %d instead. Hint: the derivative is that of %s; enable '
  .. 'anomaly detection to find the line that called it, with torch.autograd.set_detect_anomaly(true).'

local function check_version(context, tensor, expected)
  if tensor._version == expected then return end
  fail(changed_message, tensor:type(), table.concat(tensor.shape, ', '), tensor._version, expected, context[NAME])
end

-- The saved tensors as a list, each checked against its version when forward ended.
local function unpack_saved(context)
  local forward = rawget(context, FORWARD)
  if forward then return { table.unpack(forward, 1, forward.n) } end
  local saved = rawget(context, SAVED)
  if saved == nil then return {} end
  if saved.freed then fail(freed_message) end
  local list = {}
  for i = 1, saved.n do
    if saved.hooks then
      list[i] = saved[i] ~= nil and torch.no_grad(saved.hooks.unpack, saved[i]) or nil
    else
      if is_tensor(saved[i]) and saved.versions then check_version(context, saved[i], saved.versions[i]) end
      list[i] = saved[i]
    end
  end
  return list
end

local methods = {}

--- Keeps tensors (inputs, outputs or nil) for backward; called once, in forward.
function methods:save_for_backward(...)
  local saved = table.pack(...)
  for i = 1, saved.n do
    if saved[i] ~= nil and not is_tensor(saved[i]) then
      fail('save_for_backward can only save variables, but argument %d is of type %s', i, torch.type(saved[i]))
    end
  end
  rawset(self, SAVED, saved)
end

--- Keeps tensors (inputs, outputs or nil) for jvp, which sees them as saved_tensors; called once,
--- in forward.
function methods:save_for_forward(...) rawset(self, FORWARD, table.pack(...)) end

--- Names the outputs that have no derivative.
function methods:mark_non_differentiable(...) rawset(self, PLAIN, { ... }) end

--- Names the inputs that forward has modified in place; they must be returned.
function methods:mark_dirty(...) rawset(self, DIRTY, { ... }) end

--- Whether backward receives zeros (true, the default) or nil for outputs without a gradient.
function methods:set_materialize_grads(on) rawset(self, MATERIALIZE, on and true or false) end

local function is_context(value) return debug.getmetatable(value) == Context end

for name, method in pairs(methods) do
  methods[name] = function(self, ...)
    if not is_context(self) then checked.refuse_self(name, Context.__name, self) end
    return method(self, ...)
  end
  checked.originals[methods[name]] = method
end

Context.__fields, Context.__methods = { saved_tensors = true }, methods
function Context.__index(self, key)
  if key == 'saved_tensors' then return unpack_saved(self) end
  return methods[key]
end

-- Whether the list holds the tensor: `==` of tensors is identity.
local function holds(list, tensor)
  for i = 1, list and #list or 0 do
    if list[i] == tensor then return true end
  end
  return false
end

-- ---- backward -----------------------------------------------------------------------------------

-- The list that keeps the closures of Functions called while a recorded backward runs. Tensors that
-- are made there are known to core alone until the whole backward ends, so no token of theirs
-- would.
local nested

local nested_metatable = { __close = function(outer) nested = outer.list end }

-- The shapes of the outputs' gradients; false for outputs other than tensors.
local function likes_of(outputs)
  local likes = {}
  for i = 1, outputs.n do
    local output = outputs[i]
    likes[i] = is_tensor(output) and { output.shape, { dtype = output.dtype, device = output.device } }
  end
  return likes
end

local function check_results(name, results, inputs)
  local n, given = #inputs, results.n
  while given > n and results[given] == nil do given = given - 1 end -- nil for arguments that forward did not receive
  if given ~= n then
    fail('function %s returned an incorrect number of gradients (expected %d, got %d)', name, n, given)
  end
  for i = 1, n do
    if results[i] ~= nil and inputs[i] == false then
      fail('function %s returned a gradient different from nil at position %d, but the corresponding forward input '
        .. 'was not a Tensor', name, i)
    elseif results[i] ~= nil and not is_tensor(results[i]) then
      fail('function %s: expected a Tensor or nil as gradient %d, got %s', name, i, torch.type(results[i]))
    end
  end
end

-- The closure that core calls with the list of inputs that need gradients, then a gradient per
-- output.
local function derivative(class, context, is_input, likes)
  local name, own = context[NAME], {}
  return function(needs, ...)
    local gradients = { ... }
    if rawget(context, MATERIALIZE) ~= false then
      for i, like in ipairs(likes) do
        if gradients[i] == nil and like then gradients[i] = torch.zeros(like[1], like[2]) end
      end
    end
    rawset(context, 'needs_input_grad', needs)
    local _ <close> = setmetatable({ list = nested }, nested_metatable)
    nested = own
    local results = table.pack(class.backward(context, table.unpack(gradients, 1, #likes)))
    check_results(name, results, is_input)
    local saved = rawget(context, SAVED)
    if saved and not current.retain then rawset(context, SAVED, { freed = true }) end
    return table.unpack(results, 1, #is_input)
  end
end

-- ---- forward ------------------------------------------------------------------------------------

-- Returns the outputs, and the list of them that core makes results of the node. An output that is
-- an input, was returned before or has a history is replaced by an alias.
local function results_of(context, outputs, tensors)
  local plain, dirty = rawget(context, PLAIN), rawget(context, DIRTY)
  local results, seen = {}, {}
  for i = 1, outputs.n do
    local output = outputs[i]
    results[i] = false
    if is_tensor(output) then
      if not holds(dirty, output) and (holds(tensors, output) or holds(seen, output) or output.requires_grad) then
        outputs[i] = output:detach()
      end
      seen[#seen + 1] = output
      if (output:is_floating_point() or output:is_complex()) and not holds(plain, output) then results[i] = outputs[i] end
    end
  end
  for _, tensor in ipairs(dirty or {}) do
    if not holds(seen, tensor) then
      fail("Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
        .. "modified inplace must all be outputs of the Function.")
    end
  end
  return results
end

local function check_dirty(context)
  for _, tensor in ipairs(rawget(context, DIRTY) or {}) do
    if tensor.requires_grad and tensor.is_leaf then
      fail('a leaf Variable that requires grad is being used in an in-place operation.')
    end
  end
end

-- Hooks of saved tensors (graph.lua) receive the saved values after forward.
local function pack_saved(saved)
  local hooks = rawget(autograd, 'graph') and autograd.graph.__hooks()
  if not hooks then return end
  for i = 1, saved.n do
    if saved[i] ~= nil then saved[i] = torch.no_grad(hooks.pack, saved[i]:detach()) end
  end
  saved.hooks = hooks
end

local function note_versions(saved)
  saved.versions = {}
  for i = 1, saved.n do
    if saved[i] ~= nil then C.check_saved(saved[i]) end
    saved.versions[i] = saved[i] ~= nil and saved[i]._version or false
  end
end

-- Lists of the arguments: tensors or false; whether each requires grad; and whether any does.
local function inputs_of(arguments)
  local inputs, needs, tensors, any = {}, {}, {}, false
  for i = 1, arguments.n do
    local value = arguments[i]
    local tensor = is_tensor(value)
    inputs[i] = tensor and value
    needs[i] = tensor and value.requires_grad
    any = any or needs[i]
    if tensor then tensors[#tensors + 1] = value end
  end
  return inputs, needs, tensors, any
end

local function any_tensor(list)
  for _, value in ipairs(list) do
    if value then return true end
  end
  return false
end

local function record(class, context, inputs, outputs, results)
  local is_input = {}
  for i, input in ipairs(inputs) do is_input[i] = input ~= false end
  local closure = derivative(class, context, is_input, likes_of(outputs))
  C['function'](context[NAME], closure, inputs, results)
  if nested then nested[#nested + 1] = closure end
end

-- Runs forward without recording, and returns its outputs. If the class has setup_context, forward
-- receives no context.
local function run_forward(class, context, arguments)
  local setup = class.setup_context
  if not setup then return table.pack(torch.no_grad(class.forward, context, table.unpack(arguments, 1, arguments.n))) end
  local outputs = table.pack(torch.no_grad(class.forward, table.unpack(arguments, 1, arguments.n)))
  torch.no_grad(setup, context, arguments, outputs.n == 1 and outputs[1] or outputs)
  return outputs
end

-- The highest vmap level of a batched argument; nil without one.
local function level_of(arguments)
  for level = C.batch_depth() - 1, 0, -1 do
    for i = 1, arguments.n do
      if is_tensor(arguments[i]) and C.is_batched(arguments[i], level) then return level end
    end
  end
end

-- Under vmap, the class's own rule is used: vmap(info, in_dims, ...) returns its outputs, then
-- their batch dimensions.
local function apply_batched(class, arguments, level)
  if not class.vmap then
    fail('You tried to vmap over %s, but it does not have vmap support. Please override and implement the vmap method: '
      .. 'vmap(info, in_dims, ...) returns the output, or a table of them, and its out_dims.', class.__classname)
  end
  local given, in_dims, size = { n = arguments.n }, {}, nil
  for i = 1, arguments.n do
    local value = arguments[i]
    in_dims[i] = is_tensor(value) and C.is_batched(value, level) and 1
    given[i] = in_dims[i] and C.batch_show(value, level) or value
    size = size or in_dims[i] and given[i]:size(1)
  end
  local outputs, out_dims = class.vmap({ batch_size = size }, in_dims, table.unpack(given, 1, given.n))
  local one = type(outputs) ~= 'table'
  local list = one and { outputs } or outputs
  for i, output in ipairs(list) do
    local dim = type(out_dims) == 'table' and out_dims[i] or type(out_dims) ~= 'table' and out_dims
    if dim then list[i] = C.batch_hide(dim == 1 and output or output:movedim(dim, 1), level) end
  end
  return table.unpack(list)
end

-- The outputs and the context of a call, with its derivative by backward recorded.
local function apply_plain(class, arguments)
  local inputs, needs, tensors, any = inputs_of(arguments)
  local context = setmetatable({ [NAME] = class.__classname .. 'Backward', needs_input_grad = needs }, Context)
  local outputs = run_forward(class, context, arguments)
  if any and torch.is_grad_enabled() then
    check_dirty(context)
    local saved = rawget(context, SAVED)
    if saved then note_versions(saved) end
    local results = torch.no_grad(results_of, context, outputs, tensors)
    if any_tensor(results) then record(class, context, inputs, outputs, results) end
    if saved then pack_saved(saved) end
  end
  return outputs, context
end

-- ---- forward mode -------------------------------------------------------------------------------

-- Returns the level at which arguments have tangents (nil if none has), the arguments without them,
-- and the tangents (false for an argument without one).
local function without_tangents(class, arguments)
  local level, primals, tangents
  for at = 0, C.dual_depth() - 1 do
    for i = 1, arguments.n do
      local primal, tangent
      if is_tensor(arguments[i]) then primal, tangent = C.unpack_dual(arguments[i], at) end
      if tangent then
        if level and level ~= at then
          fail('%s: a custom autograd.Function in forward mode inside of forward mode is not supported.', class.__classname)
        end
        if not level then level, primals, tangents = at, table.move(arguments, 1, arguments.n, 1, { n = arguments.n }), {} end
        primals[i], tangents[i] = primal, tangent
      end
    end
  end
  return level, primals, tangents
end

-- Calls the class's jvp, which returns a tangent or nil for each output, and makes the outputs
-- dual.
local function push(class, context, outputs, tangents, n, level)
  local own = table.pack(class.jvp(context, table.unpack(tangents, 1, n)))
  if own.n ~= outputs.n then
    fail("Function's jvp returned an invalid number of forward gradients (expected %d but got %d)", outputs.n, own.n)
  end
  for i = 1, outputs.n do
    local output, tangent = outputs[i], own[i]
    if tangent ~= nil and not is_tensor(tangent) then
      fail('jvp of %s: expected a Tensor or nil as tangent %d, got %s', class.__classname, i, torch.type(tangent))
    elseif tangent ~= nil then
      outputs[i] = autograd.forward_ad.__dual_of(output, tangent, level)
    end
  end
end

-- Saved values are dual like the arguments and outputs, so the gradients are dual, too.
local function keep_dual(context, before, after)
  local saved = rawget(context, SAVED)
  for i = 1, saved and saved.n or 0 do
    for k = 1, before.n do
      if saved[i] ~= nil and saved[i] == before[k] then saved[i] = after[k] end
    end
  end
  if saved and saved.versions then note_versions(saved) end
end

local function apply_dual(class, arguments, level, primals, tangents)
  local outputs, context = apply_plain(class, primals)
  local plain = table.move(outputs, 1, outputs.n, 1, { n = outputs.n })
  for _, tensor in ipairs(rawget(context, DIRTY) or {}) do
    if is_tensor(tensor) then fail('%s: mark_dirty is not supported in forward mode.', class.__classname) end
  end
  push(class, context, outputs, tangents, arguments.n, level)
  keep_dual(context, primals, arguments)
  keep_dual(context, plain, outputs)
  rawset(context, FORWARD, nil)
  return outputs
end

local function apply(class, ...)
  local arguments = table.pack(...)
  local level = level_of(arguments)
  if level then return apply_batched(class, arguments, level) end
  local outputs
  local at, primals, tangents = without_tangents(class, arguments)
  if at then
    outputs = apply_dual(class, arguments, at, primals, tangents)
  else
    outputs = apply_plain(class, arguments)
  end
  return table.unpack(outputs, 1, outputs.n)
end

-- ---- classes ------------------------------------------------------------------------------------

--- An operation with a derivative written in Lua: derive a class with torch.autograd.Function:extend
--- 'Name', define forward(ctx, ...) and backward(ctx, ...), then call the class or its apply.
local Function = { __classname = 'Function' }

function Function.forward()
  fail('You must implement the forward function for custom autograd.Function.')
end

function Function.backward()
  fail('You must implement the backward method for your custom autograd.Function to use it with backward().')
end

function Function.jvp()
  fail('You must implement the jvp function for custom autograd.Function to use it with forward mode AD.')
end

-- Stores a field of a class. A method with parameters (self, ctx) was defined with a colon, so that
-- self would be the context.
local function define(class, name, f)
  if type(f) == 'function' and debug.getinfo(f, 'S').what == 'Lua' and debug.getlocal(f, 1) == 'self' then
    local second = debug.getlocal(f, 2)
    if debug.getinfo(f, 'u').nparams > 1 and (second == 'ctx' or second == 'context') then
      fail('%s.%s is defined with a colon, so its first argument is self; write function %s.%s(%s, ...)', class.__classname, tostring(name),
        class.__classname, tostring(name), second)
    end
  end
  rawset(class, name, f)
end

--- A class derived from this one; define its forward(ctx, ...) and backward(ctx, ...), then call
--- the class or its apply.
---
--- - forward(...) and setup_context(ctx, inputs, output): an alternative to forward(ctx, ...)
--- - vmap(info, in_dims, ...), for torch.func.vmap: receives the batches, with info.batch_size, and
---   returns the output, or a table of them, and its out_dims
--- - jvp(ctx, tangents...), for forward mode: called after forward with the tangents of the inputs
---   (nil if there is none); returns one for each output
function Function:extend(name)
  if type(name) ~= 'string' then fail("extend(): the class's name must be a string, not %s", type(name)) end
  local class = { __classname = name, super = self }
  function class.apply(...) return apply(class, ...) end
  return setmetatable(class, {
    __index = self, __newindex = define, __call = apply, __name = 'class',
    __tostring = function() return ("<class '%s'>"):format(name) end,
  })
end

-- ---- derivatives that have none themselves ------------------------------------------------------

local DelayedError = Function:extend('Error')
function DelayedError.forward(_, ...) return ... end
function DelayedError.backward()
  fail('trying to differentiate twice a function that was marked with @once_differentiable')
end

--- backward without a second derivative: it runs without recording.
local function once_differentiable(backward)
  return function(context, ...)
    local results = table.pack(torch.no_grad(backward, context, ...))
    local _, _, _, any = inputs_of(table.pack(...))
    if not (any and torch.is_grad_enabled()) then return table.unpack(results, 1, results.n) end
    for i = 1, results.n do
      if is_tensor(results[i]) then results[i] = results[i]:detach():requires_grad_() end
    end
    return DelayedError.apply(table.unpack(results, 1, results.n))
  end
end

-- level_of and apply_batched: for own operations (lib/library/ops.lua); apply: for recorders, which
-- refuse it.
return { Function = Function, apply = apply, once_differentiable = declare.declare('once_differentiable(function fn)', once_differentiable), level_of = level_of,
  apply_batched = apply_batched }
