-- forward.lua - torch.func's jvp, jacfwd, hessian and linearize: the Jacobian from its other side.
--
-- A product with a tangent is made of two backward passes: the gradient is linear in the cotangent, so its own gradient by
-- the cotangent, weighted with the tangent, is the product. It works for all that can be differentiated twice.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'
local arguments_of = require 'torch.func.arguments'
local Level = require 'torch.func.level'
local outputs_of = require('torch.func.reverse').outputs_of
local trees = require 'torch.func.trees'

local M = {}
local JVP = 'jvp(f, primals, tangents)'

-- ---- products ---------------------------------------------------------------------------------------------------------

-- f at the primals, ready to be multiplied: value, function of the tangents' leaves, aux.
local function prepare(f, primals, has_aux, strict)
  local level = Level.new()
  local inputs, form = trees.flatten(primals)
  if #inputs == 0 then fail('%s: Expected primals to contain at least one Tensor.', JVP) end
  for i = 1, #inputs do inputs[i] = level:input(inputs[i]) end
  local given = trees.rebuild(form, inputs)
  local output, aux = arguments_of.with_aux(table.pack(level:call(f, table.unpack(given))), has_aux, JVP)
  local outputs, output_form = outputs_of(output, JVP)
  local weights, roots, cotangents = {}, {}, {}
  for i, tensor in ipairs(outputs) do
    if tensor.requires_grad then
      weights[i] = level:leaf(torch.zeros_like(tensor))
      roots[#roots + 1], cotangents[#cotangents + 1] = tensor, weights[i]
    elseif strict then
      fail('jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True.')
    end
  end
  local slopes = level:call(level.gradients, level, roots, inputs, cotangents, true, true)
  local function apply(tangents)
    local products = level:call(level.gradients, level, slopes, cotangents, tangents, true)
    local list, at = {}, 0
    for i, tensor in ipairs(outputs) do
      if weights[i] then at = at + 1 end
      list[i] = weights[i] and products[at] or torch.zeros_like(tensor)
    end
    return level:leave(trees.rebuild(output_form, list))
  end
  return level:leave(output), apply, level:leave(aux), form
end

local function tangents_of(tangents, form, primals)
  local list, own = trees.flatten(tangents)
  if not trees.same(own, form) then
    fail('%s: Expected primals and tangents to have the same structure. Got primals with structure %s and tangents with '
      .. 'structure %s', JVP, trees.shown(form), trees.shown(own))
  end
  for i, primal in ipairs((trees.flatten(primals))) do
    if not torch.is_tensor(list[i]) then fail('%s: Expected tangents to only contain Tensors, got %s', JVP, torch.type(list[i])) end
    if list[i].shape ~= primal.shape then
      fail('Expected tangent to have the same shape as primal, but got %s and %s', tostring(list[i].shape), tostring(primal.shape))
    end
  end
  return list
end

--- jvp(f, primals, tangents, {strict = false, has_aux = false}): the value of f at the list of its arguments, and its derivative
--- in the direction of the tangents, a list of the same form; with has_aux the second value of f too.
function M.jvp(f, primals, tangents, options)
  kinds.check('jvp', 'func', f, 'function')
  kinds.check_names('jvp', options, 'strict has_aux')
  options = options or {}
  if type(primals) ~= 'table' then
    fail('%s: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).', JVP)
  end
  kinds.check('jvp', 'tangents', tangents, 'table')
  local _, form = trees.flatten(primals)
  local list = tangents_of(tangents, form, primals)
  local output, apply, aux = prepare(f, primals, options.has_aux, options.strict)
  if options.has_aux then return output, apply(list), aux end
  return output, apply(list)
end

--- linearize(f, primals...): the value of f, and a function that takes a tangent for each primal and gives the derivative in that
--- direction. f is called once.
function M.linearize(f, ...)
  kinds.check('linearize', 'func', f, 'function')
  local primals = { ... }
  local output, apply, _, form = prepare(f, primals)
  return output, function(...) return apply(tangents_of({ ... }, form, primals)) end
end

-- ---- matrices -----------------------------------------------------------------------------------------------------------

-- One output's Jacobian by one input: columns are a list of its products with the unit tangents.
local function jacobian_of(columns, k, output, input)
  local shape = table.move(output.shape, 1, #output.shape, 1, {})
  local n = #shape
  table.move(input.shape, 1, #input.shape, n + 1, shape)
  if #columns == 0 then return torch.zeros(shape, { dtype = output.dtype, device = output.device }) end
  local list = {}
  for j, column in ipairs(columns) do list[j] = column[k] end
  return torch.stack(list, -1):reshape(shape)
end

-- The products with the unit tangents of input i: lists of the outputs' leaves.
local function columns_of(apply, inputs, i)
  local columns, tangents = {}, {}
  for at, input in ipairs(inputs) do tangents[at] = torch.zeros_like(input) end
  local input, n = inputs[i], inputs[i]:numel()
  for j = 1, n do
    local unit = torch.zeros(n, { dtype = input.dtype, device = input.device })
    unit[j] = 1
    tangents[i] = unit:reshape(input.shape)
    columns[j] = trees.flatten(apply(tangents))
  end
  return columns
end

--- jacfwd(f, {argnums = 1, has_aux = false}): as jacrev, by columns: a product for every element of the argument.
function M.jacfwd(f, ...)
  kinds.check('jacfwd', 'func', f, 'function')
  local options = arguments_of.options('jacfwd', { 'argnums', 'has_aux', 'chunk_size', 'randomness' },
    { argnums = 1, has_aux = false }, ...)
  return function(...)
    local arguments = table.pack(...)
    local chosen = arguments_of.chosen(arguments, options.argnums)
    local function partial(value)
      local given = arguments_of.replaced(arguments, options.argnums, value)
      return f(table.unpack(given, 1, given.n))
    end
    local output, apply, aux = prepare(partial, { chosen }, options.has_aux)
    local inputs, input_form = trees.flatten(chosen)
    local outputs, output_form = trees.flatten(output)
    local columns, jacobians = {}, {}
    for i in ipairs(inputs) do columns[i] = columns_of(apply, inputs, i) end
    for k, tensor in ipairs(outputs) do
      local list = {}
      for i, input in ipairs(inputs) do list[i] = jacobian_of(columns[i], k, tensor, input) end
      jacobians[k] = trees.rebuild(input_form, list)
    end
    local jacobian = trees.rebuild(output_form, jacobians)
    if options.has_aux then return jacobian, aux end
    return jacobian
  end
end

--- hessian(f, {argnums = 1}): a function that gives the second derivatives of f: jacfwd(jacrev(f)).
function M.hessian(f, ...)
  local options = arguments_of.options('hessian', { 'argnums' }, { argnums = 1 }, ...)
  local jacrev = require('torch.func.reverse').jacrev
  return M.jacfwd(jacrev(f, { argnums = options.argnums }), { argnums = options.argnums })
end

return M
