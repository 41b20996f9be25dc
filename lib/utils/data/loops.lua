-- loops.lua - the for loops over data sets, samplers and loaders: `for x, y in loader do`, and
-- `for i, batch in ipairs(loader) do`, also with pairs.
--
-- ipairs and pairs count the entries; an entry of several values is a list of them, as PyTorch's
-- tuple.

local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'

local M = {}

local ipairs_next = (ipairs {})

-- The control variable of a counted loop and an entry: its value, or a list of its values.
local function counted(i, ...)
  if (...) == nil then return nil end
  if select('#', ...) == 1 then return i, (...) end
  return i, { ... }
end

local function count(next_entry)
  return function(_, i) return counted((i or 0) + 1, next_entry()) end
end

-- An entry by its position: only ipairs reads one, the first. The loop then calls an iterator,
-- because the entries of an object that only has iter() have no positions.
local function entry_of_loop(object, position)
  local is_loop = position == 1 and class.asked_by_ipairs(0)
  local next_entry = is_loop and object:iter()
  if not next_entry or not for_loops.replace_called(4, ipairs_next, object, count(next_entry)) then
    fail(('a %s has no positions: write for x in object do, or for i, x in ipairs(object) do'):format(object.__classname))
  end
  return select(2, counted(1, next_entry()))
end

--- Adds the loops to a class with iter(), which returns an iterator over the entries.
function M.install(derived)
  derived.__call = for_loops.call_by(function(object) return (object:iter()) end)
  derived.__getfirst, derived.__getitem = entry_of_loop, entry_of_loop
  function derived.__pairs(object) return count(object:iter()) end
end

-- An iterator over the samples of a data set with positions.
local function samples(dataset)
  local i, n = 0, #dataset
  return function()
    i = i + 1
    if i <= n then return dataset:__getitem(i) end
  end
end

--- Adds the loops to a class with __getitem and __len.
function M.install_by_position(derived)
  derived.__call = for_loops.call_by(samples)
  function derived.__pairs(object) return count(samples(object)) end
  function derived.__getfirst(object)
    local next_entry = class.asked_by_ipairs(0) and samples(object)
    if not next_entry or not for_loops.replace_called(4, ipairs_next, object, count(next_entry)) then return object:__getitem(1) end
    return select(2, counted(1, next_entry()))
  end
end

return M
