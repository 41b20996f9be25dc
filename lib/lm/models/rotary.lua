-- rotary.lua - rotary position embeddings (Su et al., RoFormer, 2021): pairs of elements of queries
-- and keys are rotated by angles that grow with the position.
--
-- A rope is a table: base; dim: the number of elements that are rotated; factor: divisor of the
-- positions (linear scaling), or nil; divisors: tensor [dim / 2] of divisors of the rates, or nil.

local torch = require 'torch'

local M = {}

--- The divisors of the rates of Llama 3.1: 1 for pairs of short wavelengths, `factor` for those of
--- wavelengths beyond the context of the training, and between them an interpolation.
function M.llama3_divisors(base, dim, factor, low, high, context)
  local divisors = {}
  for i = 0, dim // 2 - 1 do
    local turns = context / (2 * math.pi * base ^ (2 * i / dim)) -- within the context
    local smooth = math.max(0, math.min(1, (turns - low) / (high - low)))
    divisors[i + 1] = 1 / ((1 - smooth) / factor + smooth)
  end
  return torch.tensor(divisors, { dtype = torch.float64 })
end

--- The cosines and sines of positions [n] (float64), each [n, dim / 2]: the angle of pair i is
--- position * base ^ (-2 i / dim), divided as the rope requires.
function M.rotations(rope, positions, device)
  local rates = rope.base ^ -(torch.arange(0, rope.dim, 2, { dtype = torch.float64 }) / rope.dim)
  if rope.factor then rates = rates / rope.factor end
  if rope.divisors then rates = rates / rope.divisors end
  local angles = torch.outer(positions, rates)
  return angles:cos():float():to(device), angles:sin():float():to(device)
end

--- Rotates pairs in the first elements of the last dimension of x [..., n, width], as many as cos and
--- sin have: adjacent elements, or, in models that store them so ('halves'), elements of two halves.
function M.rotate(x, cos, sin, halves)
  local dim, width = 2 * cos:size(-1), x:size(-1)
  if dim < width then
    local rotated = M.rotate(x:narrow(-1, 1, dim), cos, sin, halves)
    return torch.cat({ rotated, x:narrow(-1, dim + 1, width - dim) }, -1)
  end
  if halves then
    local a, b = table.unpack(x:chunk(2, -1))
    return torch.cat({ a * cos - b * sin, a * sin + b * cos }, -1):to(x.dtype)
  end
  local pairs_of = x:unflatten(-1, { -1, 2 })
  local a, b = pairs_of:select(-1, 1), pairs_of:select(-1, 2)
  return torch.stack({ a * cos - b * sin, a * sin + b * cos }, -1):flatten(-2):to(x.dtype)
end

return M
