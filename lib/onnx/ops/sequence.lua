-- sequence.lua - lists of tensors, and optional values. A sequence is an immutable Lua list.

local torch = require 'torch'
local run = require 'torch.onnx.run'
local values = require 'torch.onnx.values'

local ops = {}
local NONE = values.NONE

function ops.SequenceConstruct(_, ...) return { ... } end
function ops.SequenceEmpty() return {} end
function ops.SequenceLength(_, list) return torch.tensor(#list, { dtype = torch.int64 }) end

-- The position of an entry, from 1; n: the length, most: the largest valid position.
local function place(node, i, position, n, most)
  local at = values.number(node, i, position)
  if at < 0 then at = at + n end
  if at < 0 or at >= most then values.fail('entry %d of a sequence of %d', at, n) end
  return at + 1
end

function ops.SequenceAt(node, list, position) return list[place(node, 2, position, #list, #list)] end

function ops.SequenceInsert(node, list, value, position)
  local result = table.move(list, 1, #list, 1, {})
  table.insert(result, position and place(node, 3, position, #list, #list + 1) or #list + 1, value)
  return result
end

function ops.SequenceErase(node, list, position)
  local result = table.move(list, 1, #list, 1, {})
  table.remove(result, position and place(node, 2, position, #list, #list) or #list)
  return result
end

function ops.ConcatFromSequence(node, list)
  if #list == 0 then values.fail 'a sequence without entries' end
  local is_new = node.attributes.new_axis == 1
  local dim = values.dim(node.attributes.axis or 0, list[1]:dim() + (is_new and 1 or 0))
  return is_new and torch.stack(list, dim) or torch.cat(list, dim)
end

function ops.SplitToSequence(node, x, split)
  local dim = values.dim(node.attributes.axis or 0, x:dim())
  if not split then
    local parts = x:split(1, dim)
    if node.attributes.keepdims == 0 then
      for i, part in ipairs(parts) do parts[i] = part:squeeze(dim) end
    end
    return parts
  end
  local sizes = values.list(node, 2, split)
  if split:dim() > 0 then return x:split(sizes, dim) end
  if sizes[1] < 1 then values.fail('parts of %d', sizes[1]) end
  return x:split(sizes[1], dim)
end

ops.SequenceMap = { takes_frame = true, fn = function(node, frame, list, ...)
  local body, outputs = node.attributes.body, {}
  for k = 1, #body.outputs do outputs[k] = {} end
  for i, value in ipairs(list) do
    local more = table.pack(...)
    for k = 1, more.n do
      if type(more[k]) == 'table' then more[k] = more[k][i] end
    end
    local results = table.pack(run.body(body, frame, value, table.unpack(more, 1, more.n)))
    for k = 1, #body.outputs do outputs[k][i] = results[k] end
  end
  return table.unpack(outputs)
end }

-- ---- optional values ----------------------------------------------------------------------------

function ops.Optional(_, value)
  if value == nil then return NONE end
  return value
end

function ops.OptionalHasElement(_, value) return torch.tensor(value ~= nil and value ~= NONE) end

function ops.OptionalGetElement(_, value)
  if value == nil or value == NONE then values.fail 'its value is absent' end
  return value
end

return { [''] = ops }
