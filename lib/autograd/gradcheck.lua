-- gradcheck.lua - torch.autograd.gradcheck and gradgradcheck: compare derivatives with finite
-- differences.
--
-- Inputs that require grad are changed in place, element by element, and restored. Use float64:
-- central differences of smaller dtypes are inaccurate. Complex numbers are compared by their two
-- parts: the gradient of the real (imaginary) part of an output, which backward returns for the
-- seed 1 (i), contains the derivatives by both parts of an input. Forward mode returns them for the
-- tangent 1 (i).

--[=[ arguments
func: Function of the inputs that returns a tensor or several.
inputs: Arguments of the function: a tensor, or a list of them.
eps: Step of the finite differences.
atol: Absolute tolerance.
rtol: Relative tolerance.
raise_exception: Whether a mismatch is an error; otherwise the result is false.
check_forward_ad: Whether forward mode is checked.
check_backward_ad: Whether backward mode is checked.
grad_outputs: Weights of the outputs; random numbers if absent.
check_fwd_over_rev: Whether forward mode of the gradients is checked.
check_rev_over_rev: Whether backward mode of the gradients is checked.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local autograd = require 'torch.autograd'
local fail = require 'torch.support.fail'
local is_tensor = torch.is_tensor
local forward_ad = autograd.forward_ad

local function list_of(value) return is_tensor(value) and { value } or value end

local function differentiable(values)
  local list = {}
  for _, value in ipairs(values) do
    if is_tensor(value) and value.requires_grad then list[#list + 1] = value end
  end
  return list
end

-- The outputs of fn that could have a derivative.
local function call(fn, inputs)
  local outputs = table.pack(fn(table.unpack(inputs, 1, #inputs)))
  local list = {}
  for i = 1, outputs.n do
    if is_tensor(outputs[i]) and (outputs[i]:is_floating_point() or outputs[i]:is_complex()) then list[#list + 1] = outputs[i] end
  end
  if #list == 0 then fail('gradcheck expects the function to return at least one Tensor of floating point dtype') end
  return list
end

local function parts(tensor) return tensor:is_complex() and torch.view_as_real(tensor) or tensor end

local function elements(tensor) return parts(tensor:detach():cpu()):reshape(-1):tolist() end

-- All positions of a shape in order, as tables for brackets.
local function positions(shape)
  local list = { {} }
  for d = 1, #shape do
    local longer = {}
    for _, head in ipairs(list) do
      for i = 1, shape[d] do
        local position = table.move(head, 1, #head, 1, {})
        position[d] = i
        longer[#longer + 1] = position
      end
    end
    list = longer
  end
  return list
end

local function set(tensor, position, value)
  torch.no_grad(function()
    if #position == 0 then tensor:fill_(value) else tensor[position] = value end
  end)
end

-- Jacobians by central differences: [output][element of input][element of output].
local function numerical(fn, inputs, input, eps)
  local memory, values = parts(input:detach()), elements(input)
  local jacobians = {}
  for k, position in ipairs(positions(memory.shape)) do
    local sides = {}
    for side, step in ipairs { eps, -eps } do
      set(memory, position, values[k] + step)
      for o, output in ipairs(call(fn, inputs)) do
        sides[o] = sides[o] or {}
        sides[o][side] = elements(output)
      end
    end
    set(memory, position, values[k])
    for o, pair in ipairs(sides) do
      local row = {}
      for j = 1, #pair[1] do row[j] = (pair[1][j] - pair[2][j]) / (2 * eps) end
      jacobians[o] = jacobians[o] or {}
      jacobians[o][k] = row
    end
  end
  return jacobians
end

-- Jacobians by backward, for all inputs: [input][element of input][element of output].
local function analytical(output, inputs)
  local n, width = output:numel(), output:is_complex() and 2 or 1
  local jacobians = {}
  for i, input in ipairs(inputs) do
    jacobians[i] = {}
    for k = 1, parts(input):numel() do jacobians[i][k] = {} end
  end
  for j = 1, n * width do
    local gradients = {}
    if output.requires_grad then
      local seed = torch.zeros(n, { dtype = output.dtype })
      parts(seed):view(-1)[j] = 1
      seed = seed:reshape(output.shape):to(output.device)
      gradients = table.pack(autograd.grad(output, inputs, seed, { retain_graph = true, allow_unused = true }))
    end
    for i, input in ipairs(inputs) do
      local gradient = gradients[i]
      if gradient and (gradient.dtype ~= input.dtype or gradient.shape ~= input.shape) then
        fail('Analytical gradient has incorrect type or size: %s %s for an input of %s %s', gradient:type(),
          tostring(gradient.shape), input:type(), tostring(input.shape))
      end
      local column = gradient and elements(gradient)
      for k = 1, #jacobians[i] do jacobians[i][k][j] = column and column[k] or 0.0 end
    end
  end
  return jacobians
end

-- Jacobians by forward mode, of all outputs by input i: [output][element of input][element of
-- output].
local function pushed(fn, inputs, i)
  local input, jacobians = inputs[i], {}
  for k = 1, parts(input):numel() do
    local tangent = torch.zeros(input:numel(), { dtype = input.dtype })
    parts(tangent):view(-1)[k] = 1
    tangent = tangent:reshape(input.shape):to(input.device)
    forward_ad.dual_level(function()
      local given = table.move(inputs, 1, #inputs, 1, {})
      given[i] = forward_ad.make_dual(input, tangent)
      for o, output in ipairs(call(fn, given)) do
        local _, product = forward_ad.unpack_dual(output)
        jacobians[o] = jacobians[o] or {}
        jacobians[o][k] = elements(product or torch.zeros_like(output))
      end
    end)
  end
  return jacobians
end

local function close(a, b, options)
  if a ~= a or b ~= b then return a ~= a and b ~= b end
  return a == b or math.abs(a - b) <= options.atol + options.rtol * math.abs(b)
end

local function equal(found, expected, options)
  for k, row in ipairs(expected) do
    for j, value in ipairs(row) do
      if not close(found[k][j], value, options) then return false end
    end
  end
  return true
end

-- The first mismatch as a message; nil when all Jacobians agree.
local MISMATCH = '%smismatch for output %d with respect to input %d,\nnumerical:%s\nanalytical:%s\n'

local function described(what, o, i, numbers, found)
  return MISMATCH:format(what, o, i, tostring(torch.tensor(numbers, { dtype = torch.float64 })),
    tostring(torch.tensor(found, { dtype = torch.float64 })))
end

local function mismatch(fn, inputs, options)
  local leaves = differentiable(inputs)
  if #leaves == 0 then
    fail('gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.')
  end
  local expected = {}
  for i, leaf in ipairs(leaves) do expected[i] = numerical(fn, inputs, leaf, options.eps) end
  if options.check_forward_ad then
    local n = 0
    for at, input in ipairs(inputs) do
      if is_tensor(input) and input.requires_grad then
        n = n + 1
        for o, found in ipairs(pushed(fn, inputs, at)) do
          local numbers = expected[n][o] or {}
          if not equal(found, numbers, options) then return described('Jacobian computed with forward mode ', o, n, numbers, found) end
        end
      end
    end
  end
  if not options.check_backward_ad then return nil end
  for o, output in ipairs(call(fn, inputs)) do
    local found = analytical(output, leaves)
    for i = 1, #leaves do
      local numbers = expected[i][o] or {}
      if not equal(found[i], numbers, options) then
        return described('Jacobian ', o, i, numbers, found[i])
      end
    end
  end
  return nil
end

-- A sentence about inputs whose precision does not suffice for finite differences; '' if there are
-- none.
local function imprecise_inputs(inputs)
  local found = {}
  for i, input in ipairs(inputs) do
    if is_tensor(input) and input.requires_grad and input.dtype ~= torch.float64 and input.dtype ~= torch.complex128 then
      found[#found + 1] = ('input %d is %s'):format(i, tostring(input.dtype))
    end
  end
  return #found == 0 and '' or ('%s: finite differences need double precision; pass inputs:double()\n'):format(table.concat(found, ', '))
end

--- True if the derivatives of fn(inputs...) agree with finite differences; raises the first
--- mismatch unless raise_exception is false. check_forward_ad: checks forward mode, too;
--- check_backward_ad = false: checks forward mode only.
local function gradcheck(fn, inputs, options)
  local message = mismatch(fn, list_of(inputs), options)
  if message and options.raise_exception then fail('%s%s', message, imprecise_inputs(list_of(inputs))) end
  return message == nil
end

--- gradcheck of the gradients of fn, weighted by grad_outputs (default: random): by backward unless
--- check_rev_over_rev is false, by forward mode with check_fwd_over_rev.
local function gradgradcheck(fn, inputs, grad_outputs, options)
  inputs = list_of(inputs)
  local n, leaves = #inputs, {}
  for i, input in ipairs(inputs) do
    if is_tensor(input) and input.requires_grad then leaves[#leaves + 1] = i end
  end
  local all = table.move(inputs, 1, n, 1, {})
  if grad_outputs == nil then
    grad_outputs = {}
    for i, output in ipairs(differentiable(call(fn, inputs))) do
      grad_outputs[i] = torch.randn(output.shape, { dtype = output.dtype }):to(output.device):requires_grad_()
    end
  end
  for _, gradient in ipairs(list_of(grad_outputs)) do all[#all + 1] = gradient end
  local function gradients(...)
    local values = { ... }
    local wanted = {}
    for i, k in ipairs(leaves) do wanted[i] = values[k] end
    local outputs = differentiable(call(fn, table.move(values, 1, n, 1, {})))
    local results = table.pack(autograd.grad(outputs, wanted, table.move(values, n + 1, #values, 1, {}),
      { create_graph = true, allow_unused = true, materialize_grads = true }))
    return table.unpack(results, 1, results.n)
  end
  return gradcheck(gradients, all, { eps = options.eps, atol = options.atol, rtol = options.rtol, raise_exception = options.raise_exception,
    check_forward_ad = options.check_fwd_over_rev, check_backward_ad = options.check_rev_over_rev })
end

return {
  gradcheck = declare.with_options([[
    gradcheck(function func, Tensor|table inputs, *, number eps=1e-6, number atol=1e-5, number rtol=1e-3, boolean raise_exception=true,
      boolean check_forward_ad=false, boolean check_backward_ad=true)
  ]], gradcheck),
  gradgradcheck = declare.with_options([[
    gradgradcheck(function func, Tensor|table inputs, Tensor|table? grad_outputs, *, number eps=1e-6, number atol=1e-5,
      number rtol=1e-3, boolean raise_exception=true, boolean check_fwd_over_rev=false, boolean check_rev_over_rev=true)
  ]], gradgradcheck),
}
