-- forward_ad.lua - torch.autograd.forward_ad: tensors that carry a tangent through a computation.
-- Core implements the operations (src/core/autograd/dual.h).
--
--     local fw = torch.autograd.forward_ad
--     fw.dual_level(function()
--       local x = fw.make_dual(primal, tangent)
--       local value, derivative = fw.unpack_dual(f(x))
--     end)

--[=[ arguments
level: Level of forward mode; the current one if absent.
tensor: Tensor.
tangent: Tangent of the tensor, of the same shape and dtype.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local scope = require 'torch.autograd.scope'

local C = torch._C
local forward_ad = {}

--- Enters a level inside of the active ones; returns its number, from 1.
function forward_ad.enter_dual_level() return C.dual_enter() + 1 end

--- Ends the innermost level: its tangents are dropped. level, if passed, must be its number.
function forward_ad.exit_dual_level(level)
  local depth = C.dual_depth()
  if depth == 0 then fail('Trying to exit a forward AD level but no level is active.') end
  C.dual_leave((level or depth) - 1)
end

--- Opens a level while body(...) runs, and returns its results; without body, returns a guard for
-- `local _ <close>`.
function forward_ad.dual_level(body, ...)
  local level
  return scope.open('dual level', function() level = forward_ad.enter_dual_level() end, function() C.dual_leave(level - 1) end, body, ...)
end

local function check_inexact(what, tensor)
  if not (tensor:is_floating_point() or tensor:is_complex()) then
    fail('Expected %s to be floating point or complex, but got: %s', what, tostring(tensor.dtype))
  end
end

-- The dual tensor at a level, which counts from 0. Under vmap both are batches that show all levels
-- of it.
local function dual_of(primal, tangent, level)
  check_inexact('primal', primal)
  check_inexact('tangent', tangent)
  if primal.shape ~= tangent.shape then
    fail('Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor '
      .. 'is of size %s while the given forward gradient is of size %s.', tostring(primal.shape), tostring(tangent.shape))
  end
  if primal.dtype ~= tangent.dtype or primal.device ~= tangent.device then
    fail('make_dual: the tangent must have the dtype and the device of the primal, %s on %s, but has %s on %s', tostring(primal.dtype),
      tostring(primal.device), tostring(tangent.dtype), tostring(tangent.device))
  end
  if select(2, C.unpack_dual(primal, level)) then
    fail('Making a dual Tensor based on a Tensor that already has a forward gradient at the same level %d is not supported.', level + 1)
  end
  local depth = C.batch_depth()
  if depth == 0 or not (C.is_batched(primal) or C.is_batched(tangent)) then return C.make_dual(primal, tangent, level) end
  local dual = C.make_dual(C.batch_show_below(primal, depth), C.batch_show_below(tangent, depth), level)
  return C.batch_hide_below(dual, depth)
end
forward_ad.__dual_of = dual_of

--- A view of the tensor with a tangent of the same shape, dtype and device, which is propagated to
--- results; {level =}: at another level than the innermost one. In-place writes change both.
function forward_ad.make_dual(tensor, tangent, level)
  level = level or C.dual_depth()
  if level == 0 then
    fail('Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.')
  end
  return dual_of(tensor, tangent, level - 1)
end

--- The tensor without its tangent, and the tangent, or nil if it has none at that level.
function forward_ad.unpack_dual(tensor, level)
  level = level or C.dual_depth()
  if level == 0 then return tensor, nil end
  return C.unpack_dual(tensor, level - 1)
end

declare.functions(forward_ad, [[
  enter_dual_level()
  exit_dual_level(*, integer? level)
  make_dual(Tensor tensor, Tensor tangent, *, integer? level)
  unpack_dual(Tensor tensor, *, integer? level)
]])
declare.functions(forward_ad, 'dual_level()', 'scope')

return { forward_ad = forward_ad }
