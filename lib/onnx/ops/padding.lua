-- padding.lua - pad(node, x, mode, before, after, value): pads or crops x; for Pad and
-- CenterCropPad.

local torch = require 'torch'
local values = require 'torch.onnx.values'

-- The source position, from 1, of element i of a padded dimension of n elements, by mode.
local source = {
  edge = function(i, n) return math.min(math.max(i, 1), n) end,
  wrap = function(i, n) return (i - 1) % n + 1 end,
  reflect = function(i, n)
    if n == 1 then return 1 end
    local period = 2 * (n - 1)
    local at = (i - 1) % period
    return (at < n and at or period - at) + 1
  end,
}

-- The source positions of a padded dimension as a tensor; the node caches it while the sizes stay
-- the same.
local function places_of(node, from, mode, d, n, before, after, device)
  local made = node.padded and node.padded[d]
  if made and made.mode == mode and made.n == n and made.before == before and made.after == after and made.index.device == device then return made.index end
  values.check_list(n + before + after)
  local places = {}
  for i = 1 - before, n + after do places[#places + 1] = from(i, n) end
  made = { mode = mode, n = n, before = before, after = after, index = torch.tensor(places, { dtype = torch.int64, device = device }) }
  node.padded = node.padded or {}
  node.padded[d] = made
  return made.index
end

--- x with `before[d]` and `after[d]` additional elements (removed ones, if negative) at the ends of
-- each dimension.
return function(node, x, mode, before, after, value)
  if mode == 'constant' then
    local amounts = {}
    for d = x:dim(), 1, -1 do amounts[#amounts + 1], amounts[#amounts + 2] = before[d], after[d] end
    return torch.constant_pad_nd(x, amounts, value)
  end
  local from = source[mode] or values.fail("a mode '%s'", mode)
  for d = 1, x:dim() do
    -- Elements that negative numbers cut off are not repeated.
    local cut, cut_after = math.max(-before[d], 0), math.max(-after[d], 0)
    local first, last = math.max(before[d], 0), math.max(after[d], 0)
    if cut + cut_after > x:size(d) then values.fail('%d elements less of a dimension that has %d', cut + cut_after, x:size(d)) end
    if cut + cut_after > 0 then x = x:narrow(d, cut + 1, x:size(d) - cut - cut_after) end
    if first ~= 0 or last ~= 0 then
      local n = x:size(d)
      if n == 0 then values.fail('a dimension without elements cannot be padded by %s', mode) end
      x = x:index_select(d, places_of(node, from, mode, d, n, first, last, x.device))
    end
  end
  return x
end
