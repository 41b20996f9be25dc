-- reverse.lua - torch.func's grad, grad_and_value, vjp and jacrev: derivatives by backward, nested
-- in any order (level.lua).

--[=[ arguments
func: Function to differentiate.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local arguments_of = require 'torch.func.arguments'
local Level = require 'torch.func.level'
local trees = require 'torch.func.trees'

local is_tensor = torch.is_tensor
local M = {}

-- ---- one call of the function, at a level -------------------------------------------------------

-- Calls f with the level's tensors instead of the selected arguments. Returns the results, the
-- level's tensors as a list, and the structure of the selected arguments.
local function call(level, f, arguments, argnums)
  local inputs, form = trees.flatten(arguments_of.chosen(arguments, argnums))
  if #inputs == 0 then fail('Expected at least one Tensor to differentiate by, but the arguments hold none') end
  for i = 1, #inputs do inputs[i] = level:input(inputs[i]) end
  local given = arguments_of.replaced(arguments, argnums, trees.rebuild(form, inputs))
  return table.pack(level:call(f, table.unpack(given, 1, given.n))), inputs, form
end

-- ---- gradients ----------------------------------------------------------------------------------

local GRAD = 'grad_and_value(f)(*args)'

local function grad_and_value(f, options, arguments)
  local level = Level.new()
  local results, inputs, form = call(level, f, arguments, options.argnums)
  local output, aux = arguments_of.with_aux(results, options.has_aux, GRAD)
  if not is_tensor(output) then
    fail('%s: Expected f(*args) to return a Tensor, got %s', GRAD, torch.type(output))
  end
  if output:dim() ~= 0 then
    fail('%s: Expected f(*args) to return a scalar Tensor, got tensor with %d dims. Maybe you wanted to use the vjp or '
      .. 'jacrev APIs instead?', GRAD, output:dim())
  end
  local gradients = trees.rebuild(form, level:gradients({ output }, inputs))
  return level:leave(gradients), level:leave(output), level:leave(aux)
end

--- grad(f, {argnums = 1, has_aux = false}): a function that returns the gradient of f, which
--- returns a one-element tensor, by its first argument (a tensor, or tables of tensors), or by the
--- arguments in argnums: one, or a list, which returns a list. With has_aux, f returns a second
--- value, which is returned after the gradient.
function M.grad(options)
  local f = options.func
  return function(...)
    local gradients, _, aux = grad_and_value(f, options, table.pack(...))
    if options.has_aux then return gradients, aux end
    return gradients
  end
end

--- As grad: the gradient, then the value of f, or with has_aux the list of the value and the
--- additional result.
function M.grad_and_value(options)
  local f = options.func
  return function(...)
    local gradients, value, aux = grad_and_value(f, options, table.pack(...))
    if options.has_aux then return gradients, { value, aux } end
    return gradients, value
  end
end

-- ---- vjp ----------------------------------------------------------------------------------------

-- The tensors among the outputs as a list, and their form.
local function outputs_of(output, what)
  if output == nil then
    fail('%s: Expected f to be a function that has non-empty output (got output = nil)', what)
  end
  local outputs, form = trees.flatten(output)
  if #outputs == 0 then
    fail('%s: Expected f to be a function that has non-empty output (got output = {})', what)
  end
  for _, leaf in ipairs(outputs) do
    if not is_tensor(leaf) then
      fail('%s: expected f(*primals) to return only tensors, got unsupported type %s', what, torch.type(leaf))
    end
  end
  return outputs, form
end
M.outputs_of = outputs_of

-- The arguments of a vjp function, as a list in the order of the outputs.
local function cotangents_of(given, form, outputs)
  local list, own = trees.flatten(trees.of_results(given))
  if not trees.same(own, form) then
    fail('Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. '
      .. 'cotangents: %s, primal output: %s', trees.shown(own), trees.shown(form))
  end
  for i, cotangent in ipairs(list) do
    if not is_tensor(cotangent) then fail('vjp: a cotangent must be a Tensor, got %s', torch.type(cotangent)) end
    if cotangent.shape ~= outputs[i].shape then
      fail('Mismatch in shape: grad_output[%d] has a shape of %s and output[%d] has a shape of %s.', i,
        tostring(cotangent.shape), i, tostring(outputs[i].shape))
    end
  end
  return list
end

-- The value, a function that multiplies the Jacobian from the left and returns a list of gradients,
-- and aux.
local function vjp(f, arguments, argnums, has_aux)
  local level = Level.new()
  local results, inputs, form = call(level, f, arguments, argnums)
  local output, aux = arguments_of.with_aux(results, has_aux, 'vjp(f, *primals)')
  local outputs, output_form = outputs_of(output, 'vjp(f, *primals)')
  for _, tensor in ipairs(outputs) do
    if not tensor:is_floating_point() and not tensor:is_complex() then
      fail('vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype %s',
        tostring(tensor.dtype))
    end
  end
  local function apply(...)
    if select('#', ...) == 0 then fail('vjp: the cotangents are missing') end
    local cotangents = cotangents_of(table.pack(...), output_form, outputs)
    local later = setmetatable({ leaves = level.leaves, outer = torch.is_grad_enabled(), depth = level.depth }, Level)
    return later:leave(trees.rebuild(form, later:gradients(outputs, inputs, cotangents, true)))
  end
  return level:leave(output), apply, level:leave(aux)
end

--- vjp(f, primals..., {has_aux = false}): the value of f (several as a list), and a function from
--- as many cotangents (as arguments or as a list) to the gradient for each primal; with has_aux,
--- also the second value of f.
function M.vjp(f, has_aux, ...)
  local primals = table.pack(...)
  if primals.n == 0 then fail('vjp(f, *primals): expected at least one primal') end
  local all = {}
  for i = 1, primals.n do all[i] = i end
  local output, apply, aux = vjp(f, primals, all, has_aux)
  local function apply_all(...) return table.unpack(apply(...), 1, primals.n) end
  if has_aux then return output, apply_all, aux end
  return output, apply_all
end

-- ---- Jacobians ----------------------------------------------------------------------------------

-- The rows of one output's Jacobian: by input, a list of one gradient per element of the output.
local function jacobian_of(k, outputs, output_form, apply)
  local output, n = outputs[k], outputs[k]:numel()
  local rows, seeds = {}, {}
  for i, other in ipairs(outputs) do seeds[i] = torch.zeros_like(other) end
  for j = 1, n do
    local seed = torch.zeros(n, { dtype = output.dtype, device = output.device })
    seed[j] = 1
    seeds[k] = seed:reshape(output.shape)
    for i, gradient in ipairs((trees.flatten(apply(trees.rebuild(output_form, seeds))))) do
      rows[i] = rows[i] or {}
      rows[i][j] = gradient
    end
  end
  return rows
end

-- The shape of a followed by that of b.
local function joined(a, b)
  local list = table.move(a, 1, #a, 1, {})
  return table.move(b, 1, #b, #list + 1, list)
end

--- jacrev(f, {argnums = 1, has_aux = false}): a function that returns the Jacobian of f with the
--- value's shape followed by the argument's shape. A table as value or arguments gives nested
--- tables.
function M.jacrev(options)
  local f, chunk = options.func, options.chunk_size
  if chunk ~= nil and not (math.type(chunk) == 'integer' and chunk > 0) then
    fail('jacrev: `chunk_size` should be greater than 0.')
  end
  return function(...)
    local arguments = table.pack(...)
    local output, apply, aux = vjp(f, arguments, options.argnums, options.has_aux)
    local outputs, output_form = outputs_of(output, 'jacrev')
    local inputs, input_form = trees.flatten(arguments_of.chosen(arguments, options.argnums))
    local whole = {}
    for k, tensor in ipairs(outputs) do
      local rows, jacobians = jacobian_of(k, outputs, output_form, apply), {}
      for i, input in ipairs(inputs) do
        local shape = joined(tensor.shape, input.shape)
        jacobians[i] = rows[i] and torch.stack(rows[i]):reshape(shape)
          or torch.zeros(shape, { dtype = tensor.dtype, device = tensor.device })
      end
      whole[k] = trees.rebuild(input_form, jacobians)
    end
    local jacobian = trees.rebuild(output_form, whole)
    if options.has_aux then return jacobian, aux end
    return jacobian
  end
end

declare.functions(M, [[
  grad(function func, value argnums=1, boolean has_aux=false)
  grad_and_value(function func, value argnums=1, boolean has_aux=false)
  jacrev(function func, value argnums=1, boolean has_aux=false, value? chunk_size)
]], 'names')
declare.functions(M, 'vjp(function func, any ..., *, boolean has_aux=false)')

return M
