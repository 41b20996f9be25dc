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

--- The rotations of positions [n] (float64), for rotate(): the angle of pair i is position * base ^
--- (-2 i / dim), divided as the rope requires. Complex numbers [n, dim / 2] for pairs of adjacent
--- elements; for pairs in two halves, cosines [n, dim], and sines of the same shape, negative in the
--- first half.
function M.rotations(rope, positions, device, halves)
  local rates = rope.base ^ -(torch.arange(0, rope.dim, 2, { dtype = torch.float64 }) / rope.dim)
  if rope.factor then rates = rates / rope.factor end
  if rope.divisors then rates = rates / rope.divisors end
  local angles = torch.outer(positions, rates)
  local cos, sin = angles:cos():float(), angles:sin():float()
  if not halves then return torch.complex(cos, sin):to(device) end
  return torch.cat({ cos, cos }, -1):to(device), torch.cat({ -sin, sin }, -1):to(device)
end

--- Rotates pairs in the first elements of the last dimension of x [..., n, width], as many as the
--- rotations have: adjacent elements, or, in models that store them so ('halves'), elements of two
--- halves.
function M.rotate(x, cos, sin, halves)
  local dim, width = cos:size(-1) * (halves and 1 or 2), x:size(-1)
  if dim < width then
    local rotated = M.rotate(x:narrow(-1, 1, dim), cos, sin, halves)
    return torch.cat({ rotated, x:narrow(-1, dim + 1, width - dim) }, -1)
  end
  local wide = x.dtype == torch.float64 and x or x:float()
  if halves then return torch.addcmul(wide * cos, wide:roll(dim // 2, -1), sin):to(x.dtype) end
  local turned = torch.view_as_complex(wide:unflatten(-1, { -1, 2 })) * cos
  return torch.view_as_real(turned):flatten(-2):to(x.dtype)
end

return M
