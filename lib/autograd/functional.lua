-- functional.lua - torch.autograd.functional: products with Jacobians and Hessians of a function of
-- tensors, and the complete matrices.
--
-- inputs is a tensor or a list of tensors, and results have the same form; a function with several
-- results has a list as output. jvp is forward mode; hvp, and strict jvp, apply backward twice: the
-- first gradient is linear in its weights. With create_graph, the results are differentiable by the
-- inputs; strict makes independence of an input an error instead of zeros.

--[=[ arguments
func: Function of the inputs that returns a tensor or several.
inputs: Arguments of the function: a tensor, or a list of them.
v: Vector of the product, of the form of the inputs or outputs; it may be absent if that is one element.
strict: Whether it is an error if the result does not depend on an input; otherwise the derivative is zero.
vectorize: True is needed for forward mode, which computes all columns at once by vmap; it has no effect in reverse mode.
strategy: Mode: `'reverse-mode'`, or with `vectorize` `'forward-mode'`.
outer_jacobian_strategy: Mode of the outer derivative: `'reverse-mode'`, or with `vectorize` `'forward-mode'`.
]=]

local torch = require 'torch'
local autograd = require 'torch.autograd'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local trees = require 'torch.func.trees'

local is_tensor = torch.is_tensor
local functional = {}

-- ---- arguments ----------------------------------------------------------------------------------

-- Converts a tensor or list to a list; also returns whether it was a list.
local function as_list(value, what, name)
  if is_tensor(value) then return { value }, false end
  if type(value) ~= 'table' then
    fail('The %s given to %s must be either a Tensor or a tuple of Tensors but the given %s has type %s.', what, name, what,
      torch.type(value))
  end
  for i, entry in ipairs(value) do
    if not is_tensor(entry) then
      fail('The %s given to %s must be either a Tensor or a tuple of Tensors but the value at index %d has type %s.', what, name,
        i, torch.type(entry))
    end
  end
  return value, true
end

local function in_form(list, is_list)
  if is_list then return list end
  return list[1]
end

-- The tensors to differentiate by: views if the result needs a history, otherwise leaves.
local function prepared(inputs, create_graph)
  local list = {}
  for i, input in ipairs(inputs) do
    list[i] = create_graph and input.requires_grad and input:view_as(input) or input:detach():requires_grad_()
  end
  return list
end

local function finished(list, create_graph)
  if create_graph then return list end
  local plain = {}
  for i, tensor in ipairs(list) do plain[i] = tensor:detach() end
  return plain
end

local function check_vector(v, others, is_list)
  if #v ~= #others then
    if is_list then fail('v is a tuple of invalid length: should be %d but got %d.', #others, #v) end
    fail('The given v should contain a single Tensor.')
  end
  for i, other in ipairs(others) do
    if v[i].shape ~= other.shape then
      fail('%sv has invalid size: should be %s but got %s.', is_list and ('Entry %d in '):format(i) or '', tostring(other.shape),
        tostring(v[i].shape))
    end
  end
end

-- The vector v as a list of detached tensors; nil means ones if the only other tensor has one
-- element.
local function vector_of(v, name, others, is_list, message)
  if v == nil then
    if #others ~= 1 or others[1]:numel() ~= 1 then fail('%s', message) end
    return { torch.ones_like(others[1]) }
  end
  local list = as_list(v, 'v', name)
  check_vector(list, others, is_list)
  return list
end

local no_output_vector = 'The vector v can only be None if the user-provided function returns a single Tensor with a single element.'
local no_input_vector = 'The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.'

-- ---- gradients ----------------------------------------------------------------------------------

-- Gradients as a list with holes, n entries: by outputs that have a history.
local function gradients_of(outputs, inputs, weights, create_graph)
  local roots, seeds = {}, weights and {}
  for i, output in ipairs(outputs) do
    if output.requires_grad then
      roots[#roots + 1] = output
      if seeds then seeds[#roots] = weights[i] end
    end
  end
  if #roots == 0 then return {} end
  return table.pack(autograd.grad(roots, inputs, seeds, { create_graph = create_graph, retain_graph = true, allow_unused = true }))
end

-- Messages of strict mode about inputs that an output does not depend on.
local independent = {
  output = 'The output of the user-provided function is independent of input %d. This is not allowed in strict mode.',
  gradient = 'The gradient with respect to the input is independent of entry %d in the grad_outputs when using the double '
    .. 'backward trick to compute forward mode gradients. This is not allowed in strict mode.',
  jacobian = 'The jacobian of the user-provided function is independent of input %d. This is not allowed in strict mode.',
  hessian = 'The hessian of the user-provided function is independent of entry %d in the grad_jacobian. This is not allowed in '
    .. 'strict mode as it prevents from using the double backward trick to replace forward mode AD.',
  graph = 'The jacobian of the user-provided function is independent of input %d. This is not allowed in strict mode when '
    .. 'create_graph=True.',
  second = 'The hessian of the user-provided function is independent of input %d. This is not allowed in strict mode when '
    .. 'create_graph=True.',
  output_itself = 'Output %d of the user-provided function does not require gradients. The outputs must be computed in a '
    .. 'differentiable manner from the input when running in strict mode.',
  first = 'The gradient with respect to input %d is independent of the inputs of the user-provided function. This is not '
    .. 'allowed in strict mode.',
  slope = 'While computing the hessian, found that the jacobian of the user-provided function with respect to input %d is '
    .. 'independent of the input. This is not allowed in strict mode. You should ensure that your function is twice '
    .. 'differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example).',
}

-- The gradients, with zeros for missing ones.
local function filled(gradients, like, strict, missing, create_graph, constant)
  local list = {}
  for i, tensor in ipairs(like) do
    if strict and not gradients[i] then fail(independent[missing], i) end
    list[i] = gradients[i] or torch.zeros_like(tensor)
    if strict and create_graph and not list[i].requires_grad then fail(independent[constant], i) end
  end
  return list
end

local function check_history(tensors, strict, message)
  for i, tensor in ipairs(tensors) do
    if strict and not tensor.requires_grad then fail(independent[message], i) end
  end
end

-- The results of func for prepared inputs.
local function outputs_of(func, inputs, name, strict)
  local value = trees.of_results(table.pack(func(table.unpack(inputs))))
  local outputs, is_list = as_list(value, 'outputs of the user-provided function', name)
  check_history(outputs, strict, 'output_itself')
  return outputs, is_list
end

-- Calls the function, which must return a single number.
local function number_of(func, inputs, name, strict)
  local outputs, is_list = outputs_of(func, inputs, name, strict)
  if is_list or #outputs ~= 1 then fail('The function given to %s should return a single Tensor', name) end
  if outputs[1]:numel() ~= 1 then
    fail('The Tensor returned by the function given to %s should contain a single element', name)
  end
  return outputs
end

-- Records gradients as the enclosing scope does, and always if a graph is requested.
local function recording(create_graph, f, ...) return torch.set_grad_enabled(create_graph or torch.is_grad_enabled(), f, ...) end

-- ---- products -----------------------------------------------------------------------------------

--- vjp(func, inputs, v, {create_graph = false, strict = false}): the value of func, and v times its
--- Jacobian.
function functional.vjp(o)
  local func = o.func
  return torch.enable_grad(function()
    local given, is_list = as_list(o.inputs, 'inputs', 'vjp')
    local inputs = prepared(given, o.create_graph)
    local outputs, several = outputs_of(func, inputs, 'vjp', o.strict)
    local v = vector_of(o.v, 'vjp', outputs, several, no_output_vector)
    local gradients = recording(o.create_graph, gradients_of, outputs, inputs, v, o.create_graph)
    local product = filled(gradients, inputs, o.strict, 'output', o.create_graph, 'graph')
    return in_form(finished(outputs, o.create_graph), several), in_form(finished(product, o.create_graph), is_list)
  end)
end

-- The inputs for forward mode, and func as a function that returns a list; several() is true if it
-- returned one.
local function for_forward(func, given, name, create_graph)
  local inputs, is_list = {}, false
  for i, input in ipairs(given) do inputs[i] = create_graph and input or input:detach() end
  local function f(...)
    local outputs
    outputs, is_list = outputs_of(func, { ... }, name)
    return outputs
  end
  return inputs, f, function() return is_list end
end

--- jvp(func, inputs, v, {create_graph = false, strict = false}): the value of func, and its
--- Jacobian times v.
function functional.jvp(o)
  local func = o.func
  return torch.enable_grad(function()
    local given = as_list(o.inputs, 'inputs', 'jvp')
    local v = vector_of(o.v, 'jvp', given, type(o.inputs) == 'table', no_input_vector)
    if not o.strict then
      local inputs, f, several = for_forward(func, given, 'jvp', o.create_graph)
      local outputs, product = torch.func.jvp(f, inputs, v)
      return in_form(finished(outputs, o.create_graph), several()), in_form(finished(product, o.create_graph), several())
    end
    local inputs = prepared(given, o.create_graph)
    local outputs, several = outputs_of(func, inputs, 'jvp', o.strict)
    local weights = {}
    for i, output in ipairs(outputs) do weights[i] = torch.zeros_like(output):requires_grad_() end
    local first = filled(gradients_of(outputs, inputs, weights, true), inputs)
    check_history(first, o.strict, 'first')
    local gradients = gradients_of(first, weights, v, o.create_graph)
    local product = filled(gradients, outputs, o.strict, 'gradient', o.create_graph, 'graph')
    return in_form(finished(outputs, o.create_graph), several), in_form(finished(product, o.create_graph), several)
  end)
end

-- The value of func, a number, and multiply(its gradient, inputs, v, options) of its second
-- derivatives.
local function second_order(name, multiply, o)
  local func = o.func
  return torch.enable_grad(function()
    local given, is_list = as_list(o.inputs, 'inputs', name)
    local inputs = prepared(given, o.create_graph)
    local v = vector_of(o.v, name, given, is_list, no_input_vector)
    local outputs = number_of(func, inputs, name, o.strict)
    local slope = filled(gradients_of(outputs, inputs, nil, true), inputs, o.strict, 'output')
    check_history(slope, o.strict, 'slope')
    local product = multiply(slope, inputs, v, o)
    return finished(outputs, o.create_graph)[1], in_form(finished(product, o.create_graph), is_list)
  end)
end

local function vector_times(slope, inputs, v, o)
  return filled(gradients_of(slope, inputs, v, o.create_graph), inputs, o.strict, 'jacobian', o.create_graph, 'second')
end

local function times_vector(slope, inputs, v, o)
  local weights = {}
  for i, input in ipairs(inputs) do weights[i] = torch.zeros_like(input):requires_grad_() end
  local second = filled(gradients_of(slope, inputs, weights, true), inputs, o.strict, 'jacobian')
  check_history(second, o.strict, 'first')
  return filled(gradients_of(second, weights, v, o.create_graph), inputs, o.strict, 'hessian', o.create_graph, 'second')
end

--- vhp(func, inputs, v, {create_graph = false, strict = false}): the value of func, a number, and v
--- times its Hessian.
function functional.vhp(o) return second_order('vhp', vector_times, o) end

--- hvp(func, inputs, v, {create_graph = false, strict = false}): the value of func, a number, and
--- its Hessian times v. If second derivatives are continuous, vhp is equal and faster.
function functional.hvp(o) return second_order('hvp', times_vector, o) end

-- ---- whole matrices -----------------------------------------------------------------------------

-- The Jacobian of one output by every input.
local function rows_of(output, k, inputs, o)
  local n, rows = output:numel(), {}
  local flat = output:reshape(-1)
  for i in ipairs(inputs) do rows[i] = {} end
  for j = 1, n do
    local gradients = gradients_of({ flat[j] }, inputs, nil, o.create_graph)
    for i, input in ipairs(inputs) do
      if o.strict and not gradients[i] then
        fail('Output %d of the user-provided function is independent of input %d. This is not allowed in strict mode.', k, i)
      end
      rows[i][j] = gradients[i] or torch.zeros_like(input)
      if o.strict and o.create_graph and not rows[i][j].requires_grad then
        fail('The jacobian of the user-provided function is independent of input %d. This is not allowed in strict mode when '
          .. 'create_graph=True.', i)
      end
    end
  end
  for i, input in ipairs(inputs) do
    local shape = table.move(output.shape, 1, #output.shape, 1, {})
    table.move(input.shape, 1, #input.shape, #shape + 1, shape)
    rows[i] = n > 0 and torch.stack(rows[i]):reshape(shape)
      or torch.zeros(shape, { dtype = output.dtype, device = output.device })
  end
  return rows
end

-- The Jacobian by forward mode.
local function columns_of(func, given)
  local list, is_list = as_list(given, 'inputs', 'jacobian')
  local inputs, f, several = for_forward(func, list, 'jacobian')
  local positions = {}
  for i in ipairs(inputs) do positions[i] = i end
  local jacobian = torch.func.jacfwd(f, { argnums = positions, randomness = 'same' })(table.unpack(inputs))
  for k, row in ipairs(jacobian) do jacobian[k] = in_form(finished(row), is_list) end
  return in_form(jacobian, several())
end

--- jacobian(func, inputs, {create_graph = false, strict = false, vectorize = false, strategy =
--- 'reverse-mode'}): the Jacobian, with the output's shape followed by the input's; for lists of
--- inputs or outputs, lists of Jacobians, outputs outermost. 'reverse-mode': row by row, by
--- backward, for every vectorize; 'forward-mode', with vectorize = true: all columns at once, by
--- forward mode under vmap.
function functional.jacobian(o)
  local func, strategy = o.func, o.strategy
  if strategy ~= 'forward-mode' and strategy ~= 'reverse-mode' then
    fail('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, '
      .. '"forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".')
  end
  if strategy == 'forward-mode' then
    if o.create_graph then
      fail('torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together '
        .. '(yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.')
    elseif o.strict then
      fail('torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). '
        .. 'Please either set `strict=False` or `strategy="reverse-mode"`.')
    elseif not o.vectorize then
      fail('Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for `vectorize=True`.')
    end
    return columns_of(func, o.inputs)
  elseif o.strict and o.vectorize then
    fail('torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either '
      .. 'set `strict=False` or `vectorize=False`.')
  end
  return torch.enable_grad(function()
    local given, is_list = as_list(o.inputs, 'inputs', 'jacobian')
    local inputs = prepared(given, o.create_graph)
    local outputs, several = outputs_of(func, inputs, 'jacobian', o.strict)
    local jacobian = {}
    for k, output in ipairs(outputs) do
      jacobian[k] = in_form(finished(rows_of(output, k, inputs, o), o.create_graph), is_list)
    end
    return in_form(jacobian, several)
  end)
end

--- hessian(func, inputs, {create_graph = false, strict = false, vectorize = false,
--- outer_jacobian_strategy = 'reverse-mode'}): the second derivatives of func, which returns a
--- single number. The shape is the input's shape twice; for a list of inputs, a list of lists.
--- 'forward-mode', which requires vectorize = true, computes forward mode over backward.
function functional.hessian(o)
  local func = o.func
  local given, is_list = as_list(o.inputs, 'inputs', 'hessian')
  local function slope(...)
    local inputs = { ... }
    local outputs = number_of(func, inputs, 'hessian', o.strict)
    local gradients = filled(gradients_of({ outputs[1]:reshape {} }, inputs, nil, true), inputs, o.strict, 'output')
    check_history(gradients, o.strict, 'slope')
    return table.unpack(gradients)
  end
  local options = { create_graph = o.create_graph, strict = o.strict }
  if o.outer_jacobian_strategy == 'forward-mode' then
    local positions = {}
    for i in ipairs(given) do positions[i] = i end
    local function value(...) return number_of(func, { ... }, 'hessian')[1]:reshape {} end
    local gradient = torch.func.grad(value, { argnums = positions })
    function slope(...) return table.unpack(gradient(...)) end
    options.vectorize, options.strategy = o.vectorize, 'forward-mode'
  end
  local result = functional.jacobian(slope, given, options)
  if is_list then
    if #given == 1 then return { result } end
    return result
  end
  return result[1]
end

declare.functions(functional, [[
  vjp(function func, Tensor|table inputs, value? v, boolean create_graph=false, boolean strict=false)
  jvp(function func, Tensor|table inputs, value? v, boolean create_graph=false, boolean strict=false)
  vhp(function func, Tensor|table inputs, value? v, boolean create_graph=false, boolean strict=false)
  hvp(function func, Tensor|table inputs, value? v, boolean create_graph=false, boolean strict=false)
  jacobian(function func, Tensor|table inputs, boolean create_graph=false, boolean strict=false, boolean vectorize=false,
    string strategy='reverse-mode')
  hessian(function func, Tensor|table inputs, boolean create_graph=false, boolean strict=false, boolean vectorize=false,
    string outer_jacobian_strategy='reverse-mode')
]], 'names')

return { functional = functional }
