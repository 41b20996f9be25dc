-- select.lua - operators that select parts of a tensor or pad it.

local torch = require 'torch'
local pad = require 'torch.onnx.ops.padding'
local values = require 'torch.onnx.values'

local ops = {}
local MOST = 1 << 62

-- Positions first, first + step, … before last, from 0, clamped as in ONNX.
local function slice(x, dim, first, last, step)
  local size = x:size(dim)
  if step == 0 then values.fail 'steps of 0' end
  if first < 0 then first = first + size end
  if last < 0 and last > -MOST then last = last + size end
  if step > 0 then
    first, last = math.min(math.max(first, 0), size), math.min(math.max(last, 0), size)
  else -- flips the dimension
    x = x:flip(dim)
    first, last = math.min(math.max(first, -1), size - 1), math.min(math.max(last, -1), size - 1)
    first, last, step = size - 1 - first, size - 1 - last, -step
  end
  local n = last > first and (last - first + step - 1) // step or 0
  if n == 0 then return x:narrow(dim, 1, 0) end
  if step == 1 then return n == size and x or x:narrow(dim, first + 1, n) end
  local index = {}
  for d = 1, x:dim() do index[d] = d == dim and { first + 1, first + (n - 1) * step + 1, step } or {} end
  return x[index]
end

function ops.Slice(node, x, from, to, axes, by)
  local firsts, lasts, dims, steps
  if node.version < 10 then
    firsts, lasts, dims = node.attributes.starts, node.attributes.ends, node.attributes.axes
  else
    firsts, lasts = values.list(node, 2, from), values.list(node, 3, to)
    dims, steps = axes and values.list(node, 4, axes), by and values.list(node, 5, by)
  end
  for i, first in ipairs(firsts) do
    x = slice(x, values.dim(dims and dims[i] or i - 1, x:dim()), first, lasts[i], steps and steps[i] or 1)
  end
  return x
end

-- ---- padding ------------------------------------------------------------------------------------

ops.Pad = { grows = true, fn = function(node, x, pads, constant, axes)
  local amounts, value
  if node.version < 11 then
    amounts, value = node.attributes.pads or node.attributes.paddings, node.attributes.value or 0
  else
    amounts, value = values.list(node, 2, pads), constant and constant:numel() > 0 and values.number(node, 3, constant) or 0
  end
  local dims = axes and values.dims(values.list(node, 4, axes), x:dim())
  local before, after = {}, {}
  for d = 1, x:dim() do before[d], after[d] = 0, 0 end
  local n = #amounts // 2
  for i = 1, n do
    local d = dims and dims[i] or i
    if not before[d] then values.fail('%d paddings for %d dimensions', #amounts, x:dim()) end
    before[d], after[d] = amounts[i], amounts[n + i]
  end
  return pad(node, x, node.attributes.mode or 'constant', before, after, value)
end }

function ops.CenterCropPad(node, x, shape)
  local wanted = values.list(node, 2, shape)
  local dims = node.attributes.axes and values.dims(node.attributes.axes, x:dim())
  for i, size in ipairs(wanted) do
    local d = dims and dims[i] or i
    local have = x:size(d)
    if size < have then
      x = x:narrow(d, (have - size) // 2 + 1, size)
    elseif size > have then
      local before, after = {}, {}
      for k = 1, x:dim() do before[k], after[k] = 0, 0 end
      before[d] = (size - have) // 2
      after[d] = size - have - before[d]
      x = pad(node, x, 'constant', before, after, 0)
    end
  end
  return x
end

-- ---- by condition -------------------------------------------------------------------------------

function ops.NonZero(_, x)
  if x:dim() == 0 then x = x:reshape(1) end
  return (torch.nonzero(x) - 1):t():contiguous()
end

function ops.Compress(node, x, condition)
  local axis = node.attributes.axis
  local dim = axis and values.dim(axis, x:dim()) or 1
  if not axis then x = x:reshape(-1) end
  return x:index_select(dim, torch.nonzero(condition):reshape(-1))
end

-- The first lengths[b] elements of each batch in the opposite order.
function ops.ReverseSequence(node, x, lengths)
  local batch, time = values.dim(node.attributes.batch_axis or 1, x:dim()), values.dim(node.attributes.time_axis or 0, x:dim())
  local parts = {}
  for b, n in ipairs(values.list(node, 2, lengths)) do
    local part, d = x:select(batch, b), time > batch and time - 1 or time
    parts[b] = torch.cat({ part:narrow(d, 1, n):flip(d), part:narrow(d, n + 1, part:size(d) - n) }, d)
  end
  return torch.stack(parts, batch)
end

return { [''] = ops }
