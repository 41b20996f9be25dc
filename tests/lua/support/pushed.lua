-- Forward mode beside finite differences: the derivative of a function along a tangent, and of its gradient (forward over
-- reverse), for tangents of one input at a time and of all.

local torch = require 'torch'

local M = {}

local function tensors_of(...)
  local list = {}
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if torch.is_tensor(value) and (value:is_floating_point() or value:is_complex()) then list[#list + 1] = value end
  end
  return list
end

local function parts(tensor) return tensor:is_complex() and torch.view_as_real(tensor:resolve_conj()) or tensor end

-- A direction: numbers between -1 and 1 that are the same in every run.
local function direction(leaf, salt)
  local real = torch.arange(1, leaf:numel() + 1, { dtype = torch.float64 }):mul(0.7548776662):add(salt * 0.317):frac():mul(2):sub(1)
  if leaf:is_complex() then real = torch.complex(real, real:flip(1):mul(-0.5) + 0.25) end
  return real:reshape(leaf.shape):to(leaf.device)
end

local function moved(leaves, tangents, step)
  local list = {}
  for i, leaf in ipairs(leaves) do list[i] = leaf:detach() + tangents[i] * step end
  return list
end

local function difference(f, leaves, tangents)
  local step = 1e-6
  local above = tensors_of(f(table.unpack(moved(leaves, tangents, step))))
  local below = tensors_of(f(table.unpack(moved(leaves, tangents, -step))))
  for i, tensor in ipairs(above) do above[i] = (tensor:detach() - below[i]:detach()) / (2 * step) end
  return above
end

-- The products by forward mode; zeros where the output does not depend on the inputs.
local function products(f, leaves, tangents)
  local ad = torch.autograd.forward_ad
  return ad.dual_level(function()
    local duals = {}
    for i, leaf in ipairs(leaves) do duals[i] = ad.make_dual(leaf:detach(), tangents[i]) end
    local list = tensors_of(f(table.unpack(duals)))
    for i, output in ipairs(list) do
      local primal, tangent = ad.unpack_dual(output)
      if tangent and (tangent.shape ~= primal.shape or tangent.dtype ~= primal.dtype or tangent.device ~= primal.device) then
        error(('the tangent of %s is %s'):format(tostring(primal), tostring(tangent)), 0)
      end
      list[i] = tangent or torch.zeros_like(primal)
    end
    return list
  end)
end

local function compare(what, f, leaves, tangents)
  local expected, found = difference(f, leaves, tangents), products(f, leaves, tangents)
  for i, tensor in ipairs(expected) do
    if not torch.allclose(parts(found[i]), parts(tensor), { rtol = 1e-3, atol = 1e-5, equal_nan = true }) then
      error(('%s, output %d: by differences %s, by forward mode %s'):format(what, i, tostring(tensor), tostring(found[i])), 0)
    end
  end
end

local function gradient_of(f)
  return function(...)
    local inputs = {}
    for i, input in ipairs { ... } do inputs[i] = torch._C.dual_detach(input, true):requires_grad_() end
    local sum
    for k, output in ipairs(tensors_of(f(table.unpack(inputs)))) do
      if output.requires_grad then
        output = parts(output)
        local term = (output * direction(output, k):to(output.dtype)):sum()
        sum = sum and sum + term or term
      end
    end
    if not sum then return end
    return torch.autograd.grad(sum, inputs, { allow_unused = true, materialize_grads = true })
  end
end

--- f takes the leaves, which are float64 or complex128.
function M.check(f, leaves)
  local all, first = {}, {}
  for i, leaf in ipairs(leaves) do
    all[i] = direction(leaf, i)
    first[i] = i == 1 and all[i] or torch.zeros_like(leaf)
  end
  compare('forward mode', f, leaves, all)
  if #leaves > 1 then compare('forward mode of the first', f, leaves, first) end
  compare('forward over reverse', gradient_of(f), leaves, all)
end

return M
