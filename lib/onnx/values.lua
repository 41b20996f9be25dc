-- values.lua - helpers for inputs of operators: integers, dimensions, absent optionals.

local torch = require 'torch'

local M = {}

--- An empty optional value.
M.NONE = setmetatable({}, { __name = 'none', __tostring = function() return 'none' end })

--- Raises an error of a node; run.lua adds the node to the message.
function M.fail(format, ...) error(select('#', ...) > 0 and format:format(...) or format, 0) end

--- The numbers of a tensor as a list. Cached if the i-th input of a node is constant, or derived
-- (derived.lua) until it changes.
function M.list(node, i, tensor)
  local lists = node.lists
  if not lists then
    lists = { of = {}, version = {} }
    node.lists = lists
  end
  local known = node.known[i]
  if lists[i] and (known or rawequal(lists.of[i], tensor) and lists.version[i] == torch._C.version_of(tensor)) then return lists[i] end
  local flat = (known or tensor):reshape(-1):tolist()
  if known then lists[i] = flat
  elseif node.derived_inputs and node.derived_inputs[i] == 'derived' then lists[i], lists.of[i], lists.version[i] = flat, tensor, torch._C.version_of(tensor) end
  return flat
end

local MAX_LIST = 1 << 24

--- Raises an error if an operator would create an unreasonably long list: a damaged file could
--- exhaust memory.
function M.check_list(n)
  if n > MAX_LIST then M.fail('a list of %.0f numbers, more than %d', n, MAX_LIST) end
end

--- The number in a one-element tensor.
function M.number(node, i, tensor)
  if tensor:numel() ~= 1 then M.fail('its input %d must be one number, not a tensor of shape [%s]', i, table.concat(tensor.shape, ', ')) end
  return M.list(node, i, tensor)[1]
end

--- Converts a dimension of ONNX (from 0, or negative from the end) to ours, from 1.
function M.dim(axis, rank)
  if axis < -rank or axis >= rank then M.fail('axis %d of a tensor of %d dimensions', axis, rank) end
  return axis < 0 and axis + rank + 1 or axis + 1
end

--- A list of dimensions.
function M.dims(axes, rank)
  local dims = {}
  for i, axis in ipairs(axes) do dims[i] = M.dim(axis, rank) end
  return dims
end

--- The sizes of a tensor as a plain list.
function M.sizes(tensor)
  local sizes = {}
  for i = 1, tensor:dim() do sizes[i] = tensor:size(i) end
  return sizes
end

--- Converts positions of ONNX (from 0, negative ones from the end of `size` elements) to ours, from
--- 1.
function M.positions(index, size)
  index = index:to(torch.int64)
  return torch.where(index:lt(0), index + (size + 1), index + 1)
end

--- The product of the entries from ... to of a list.
function M.product(list, from, to)
  local product = 1
  for i = from or 1, to or #list do product = product * list[i] end
  return product
end

return M
