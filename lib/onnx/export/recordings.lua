-- recordings.lua - the recordings of a module with dynamic sizes that symbols.lua needs: one with the
-- given inputs, and others with inputs of other sizes.

local torch = require 'torch'
local fail = require 'torch.support.fail'

-- Groups dimensions by name: dimensions with one name have one size.
local function by_name(sizes, inputs, caller)
  local list, found = {}, {}
  for _, size in ipairs(sizes) do
    local one = found[size.name]
    local n = inputs[size.position].shape[size.axis]
    if not one then
      one = { name = size.name, input = inputs[size.position].name, axis = size.axis, places = {}, values = { n } }
      found[size.name] = one
      list[#list + 1] = one
    elseif one.values[1] ~= n then
      fail("%s: the dynamic size '%s' is %d in input '%s' and %d in '%s'", caller, size.name, one.values[1], one.input, n, inputs[size.position].name)
    end
    table.insert(one.places, size)
  end
  return list
end

-- The tensor with `n` entries along a dimension: truncated, or repeated cyclically.
local function resized(tensor, dim, n)
  local size = tensor:size(dim)
  return tensor:index_select(dim, torch.arange(n, { dtype = torch.int64, device = tensor.device }) % size + 1)
end

--- The recordings, and the dynamic sizes { name =, input = its name, axis =, places =, values = in the
-- recordings }.
-- @param record  function(tensors): the recording of a call with these inputs; nil: the given ones
-- @param sizes_of  function(inputs of a recording): the dynamic sizes, { { name =, position = of an
--   input, axis = } ... }; sizes of one name are equal
-- @param caller  the function that messages name
return function(record, sizes_of, caller)
  local recordings = { record() }
  local inputs = recordings[1].inputs
  local sizes = by_name(sizes_of(inputs), inputs, caller)
  local function again(changed)
    local tensors_of = {}
    for i, input in ipairs(inputs) do tensors_of[i] = input.tensor end
    for s, size in ipairs(sizes) do
      local n = size.values[1] + (changed[s] or 0)
      table.insert(size.values, n)
      for _, place in ipairs(size.places) do tensors_of[place.position] = resized(tensors_of[place.position], place.axis, n) end
    end
    local recording = record(tensors_of)
    if #recording.calls ~= #recordings[1].calls or #recording.values ~= #recordings[1].values or #recording.outputs ~= #recordings[1].outputs then
      fail('%s: the module does other operations where the sizes of the inputs differ, which a graph cannot; leave the dynamic sizes out', caller)
    end
    recordings[#recordings + 1] = recording
  end
  -- Changes sizes by a few entries: down, since larger inputs may be rejected, unless the size
  -- could become 1, which may broadcast.
  local function by(s, amount) return sizes[s].values[1] >= 4 and -amount or amount end
  local all = {}
  for s = 1, #sizes do
    again { [s] = by(s, 1) }
    all[s] = by(s, 2)
  end
  if #sizes > 0 then again(all) end
  return recordings, sizes
end
