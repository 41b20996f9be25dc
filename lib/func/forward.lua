-- forward.lua - torch.func's jvp, jacfwd, hessian and linearize: Jacobian-vector products by
-- forward mode (src/core/autograd/dual.h).
--
-- linearize calls f once and then multiplies with any number of tangents by double backward: it
-- records the gradient by a cotangent; the gradient of that by the cotangent, weighted with a
-- tangent, is the product.

--[=[ arguments
func: Function to differentiate.
primals: Arguments of the function: a list.
tangents: Tangents of the arguments: a list of the same form.
strict: Whether it is an error if the result does not depend on an argument.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local arguments_of = require 'torch.func.arguments'
local Level = require 'torch.func.level'
local outputs_of = require('torch.func.reverse').outputs_of
local scope = require 'torch.autograd.scope'
local trees = require 'torch.func.trees'

local M = {}
local JVP = 'jvp(f, primals, tangents)'
local C = torch._C
local dual_of = torch.autograd.forward_ad.__dual_of

-- ---- products -----------------------------------------------------------------------------------

-- Evaluates f for linearize: returns the value, a function from the tangents' leaves to the
-- product, and the structure of the primals.
local function prepare(f, primals)
  local level = Level.new()
  local inputs, form = trees.flatten(primals)
  if #inputs == 0 then fail('%s: Expected primals to contain at least one Tensor.', JVP) end
  for i = 1, #inputs do inputs[i] = level:input(inputs[i]) end
  local given = trees.rebuild(form, inputs)
  local output = trees.of_results(table.pack(level:call(f, table.unpack(given))))
  local outputs, output_form = outputs_of(output, JVP)
  local weights, roots, cotangents = {}, {}, {}
  for i, tensor in ipairs(outputs) do
    if tensor.requires_grad then
      weights[i] = level:leaf(torch.zeros_like(tensor))
      roots[#roots + 1], cotangents[#cotangents + 1] = tensor, weights[i]
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
  return level:leave(output), apply, form
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

-- The primal and the tangent of a dual output; zeros if it has no tangent.
local function parts_of(output, level, strict)
  local primal, tangent = C.unpack_dual(output, level)
  if not tangent and strict then
    fail('jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True.')
  end
  return primal, tangent or torch.zeros_like(primal)
end

-- Calls f with dual tensors: `form` converts the list of primals, with a tangent each, to
-- arguments. Returns value, product, aux.
local function push(f, form, primals, tangents, options)
  local level
  local _ <close> = scope.open('dual level', function() level = C.dual_enter() end, function() C.dual_leave(level) end)
  local duals = {}
  for i, primal in ipairs(primals) do duals[i] = dual_of(primal, tangents[i], level) end
  local output, aux = arguments_of.with_aux(table.pack(f(table.unpack(trees.rebuild(form, duals)))), options.has_aux, JVP)
  local outputs, output_form = outputs_of(output, JVP)
  local products = {}
  for i, tensor in ipairs(outputs) do outputs[i], products[i] = parts_of(tensor, level, options.strict) end
  aux = aux ~= nil and trees.map(function(leaf) return torch.is_tensor(leaf) and (C.unpack_dual(leaf, level)) or leaf end, aux) or aux
  return trees.rebuild(output_form, outputs), trees.rebuild(output_form, products), aux
end

--- jvp(f, primals, tangents, {strict = false, has_aux = false}): the value of f for the list of
--- arguments, and its derivative in the direction of the tangents, a list of the same structure;
--- with has_aux, also the second value of f.
function M.jvp(f, primals, tangents, options)
  if type(primals) ~= 'table' then
    fail('%s: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).', JVP)
  end
  kinds.check('jvp', 'tangents', tangents, 'table')
  local leaves, form = trees.flatten(primals)
  if #leaves == 0 then fail('%s: Expected primals to contain at least one Tensor.', JVP) end
  local list = tangents_of(tangents, form, primals)
  local output, product, aux = push(f, form, leaves, list, options)
  if options.has_aux then return output, product, aux end
  return output, product
end

--- linearize(f, primals...): the value of f, and a function from tangents, one for each primal, to
--- the directional derivative. f is called once.
function M.linearize(f, ...)
  local primals = { ... }
  local output, apply, form = prepare(f, primals)
  return output, function(...) return apply(tangents_of({ ... }, form, primals)) end
end

-- ---- matrices -----------------------------------------------------------------------------------

-- The unit tangents of all elements of the inputs, a row each: a batch for every input.
local function unit_tangents(inputs)
  local n, units, first = 0, {}, 1
  for _, input in ipairs(inputs) do n = n + input:numel() end
  for i, input in ipairs(inputs) do
    local size = input:numel()
    local rows = torch.zeros(n, size, { dtype = input.dtype, device = input.device })
    if size > 0 then rows:narrow(1, first, size):diagonal():fill_(1) end
    units[i] = rows:reshape { n, table.unpack(input.shape) }
    first = first + size
  end
  return units, n
end

-- The rows of `columns`, products with the unit tangents of an input, as the Jacobian of the output
-- by it.
local function jacobian_of(columns, output, input)
  local shape = table.move(output, 1, #output, 1, {})
  table.move(input.shape, 1, #input.shape, #shape + 1, shape)
  return columns:movedim(1, -1):reshape(shape)
end

-- The products of f with all unit tangents, a batch for every output; the form of f's value; aux.
local function products_of(f, form, inputs, options)
  local units, n = unit_tangents(inputs)
  local own = { has_aux = options.has_aux }
  if n == 0 then
    local output, _, aux = push(f, form, inputs, units, own)
    local products, output_form = trees.flatten(output)
    for i, tensor in ipairs(products) do
      products[i] = torch.zeros({ 0, table.unpack(tensor.shape) }, { dtype = tensor.dtype, device = tensor.device })
    end
    return products, output_form, aux
  end
  local output_form, aux, n_outputs
  -- vmap sees the tensors of aux as additional results; aux keeps their positions.
  local function one(...)
    local _, product, besides = push(f, form, inputs, { ... }, own)
    local results
    results, output_form = trees.flatten(product)
    n_outputs = #results
    if besides ~= nil then
      aux = trees.map(function(leaf)
        if not torch.is_tensor(leaf) then return leaf end
        results[#results + 1] = leaf
        local at = #results
        return function(all) return all[at][1] end
      end, besides)
    end
    return results
  end
  local results = torch.func.vmap(one, { chunk_size = options.chunk_size, randomness = options.randomness })(table.unpack(units))
  if aux ~= nil then aux = trees.map(function(leaf) return type(leaf) == 'function' and leaf(results) or leaf end, aux) end
  return table.move(results, 1, n_outputs, 1, {}), output_form, aux
end

--- jacfwd(f, {argnums = 1, has_aux = false, chunk_size = nil, randomness = 'error'}): as jacrev, by
--- columns: the products with a tangent for each element of the argument, chunk_size at a time, by
--- vmap.
function M.jacfwd(options)
  local f = options.func
  return function(...)
    local arguments = table.pack(...)
    local chosen = arguments_of.chosen(arguments, options.argnums)
    local function partial(value)
      local given = arguments_of.replaced(arguments, options.argnums, value)
      return f(table.unpack(given, 1, given.n))
    end
    local inputs, form = trees.flatten { chosen }
    local _, input_form = trees.flatten(chosen)
    local products, output_form, aux = products_of(partial, form, inputs, options)
    local jacobians = {}
    for k, product in ipairs(products) do
      local list, first = {}, 1
      local output = { table.unpack(product.shape, 2) }
      for i, input in ipairs(inputs) do
        list[i] = jacobian_of(product:narrow(1, first, input:numel()), output, input)
        first = first + input:numel()
      end
      jacobians[k] = trees.rebuild(input_form, list)
    end
    local jacobian = trees.rebuild(output_form, jacobians)
    if options.has_aux then return jacobian, aux end
    return jacobian
  end
end

--- hessian(f, {argnums = 1}): a function that returns the second derivatives of f:
--- jacfwd(jacrev(f)).
function M.hessian(f, argnums)
  local jacrev = require('torch.func.reverse').jacrev
  return M.jacfwd(jacrev(f, { argnums = argnums }), { argnums = argnums })
end

declare.functions(M, 'jvp(function func, any primals, any tangents, *, boolean strict=false, boolean has_aux=false)', 'options')
declare.functions(M, "jacfwd(function func, value argnums=1, boolean has_aux=false, value? chunk_size, string randomness='error')", 'names')
declare.functions(M, 'linearize(function func, any ...) hessian(function func, value argnums=1)')

return M
