-- triplet.lua - nn.functional.triplet_margin_with_distance_loss, which calls a function of Lua.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local M = {}

--- max(0, d(anchor, positive) - d(anchor, negative) + margin): {distance_function, margin = 1,
--- swap, reduction}.
function M.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function, margin, swap, reduction)
  if reduction ~= 'mean' and reduction ~= 'sum' and reduction ~= 'none' then
    fail('%s is not a valid value for reduction', tostring(reduction))
  end
  if margin <= 0 then fail('margin must be greater than 0, got %s', tostring(margin)) end
  if anchor.ndim ~= positive.ndim or anchor.ndim ~= negative.ndim then
    fail('The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor %dD, positive %dD, and negative %dD inputs',
      anchor.ndim, positive.ndim, negative.ndim)
  end
  local distance = distance_function or torch.pairwise_distance
  local close, apart = distance(anchor, positive), distance(anchor, negative)
  if swap then apart = torch.minimum(apart, distance(positive, negative)) end
  local loss = (close - apart + margin):clamp_min(0)
  return reduction == 'none' and loss or loss[reduction](loss)
end

return declare.functions(M, [[
  triplet_margin_with_distance_loss(Tensor anchor, Tensor positive, Tensor negative, *, function? distance_function, number margin=1.0,
    boolean swap=false, any reduction='mean')
]])
