-- for_loops.lua - generic for loops over objects themselves: `for p in net:parameters() do`.
--
-- A for loop calls the value after `in`, and an object has no state for each loop. At the first
-- call, the object therefore replaces itself in the loop by an iterator. So loops over one object
-- may be nested and left.

local fail = require 'torch.support.fail'

local M = {}

local getlocal, setlocal = debug.getlocal, debug.setlocal

--- Replaces the function that the innermost for loop of a frame calls, with the given state (nil:
--- any), by another one. A for loop stores the function in its first variable "(for state)" and the
--- state in the second. level: as for debug.getlocal in the caller. True if there is such a loop.
function M.replace_called(level, called, state, other)
  local found, previous
  local slot = 1
  while true do
    local name, value = getlocal(level + 1, slot)
    if name == nil then break end
    if name == '(for state)' then
      if rawequal(value, called) and state == nil then found = slot end
      if rawequal(value, state) and rawequal(previous, called) then found = slot - 1 end
    end
    previous = value
    slot = slot + 1
  end
  if found then setlocal(level + 1, found, other) end
  return found ~= nil
end

local function refuse(object) fail('a %s is called by a for loop only: for x in object do', require('torch').type(object)) end

--- A function for __call: the first call of a for loop over an object. iterator_of(object) returns
--- the iterator for the rest of the loop. otherwise (nil: an error) handles all other calls.
function M.call_by(iterator_of, otherwise)
  otherwise = otherwise or refuse
  return function(object, state, previous, ...)
    if state ~= nil or previous ~= nil then return otherwise(object, state, previous, ...) end
    local next_entry = iterator_of(object)
    if not M.replace_called(2, object, nil, next_entry) then return otherwise(object, state, previous, ...) end
    return next_entry()
  end
end

--- Iterators for call_by, of objects whose pairs() needs no state: names and values, or values alone.
function M.entries(object) return (pairs(object)) end
function M.values(object)
  local step = pairs(object)
  return function()
    local _, value = step()
    return value
  end
end

local list_metatable = {
  __call = M.call_by(function(list)
    local i = 0
    return function()
      i = i + 1
      return list[i]
    end
  end),
}

--- The list, over whose values a for loop can iterate also without ipairs.
function M.list(values) return setmetatable(values, list_metatable) end

--- Whether a value is a table without a metatable, or such a list.
function M.is_plain(value)
  if type(value) ~= 'table' then return false end
  local metatable = getmetatable(value)
  return metatable == nil or metatable == list_metatable
end

return M
