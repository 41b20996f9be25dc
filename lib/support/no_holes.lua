-- no_holes.lua - refuses lists with a nil among their values, which ipairs and # would cut short.

local fail = require 'torch.support.fail'

--- Raises an error if a value of the list is nil. what: the list, for the message; n: the number of values, if it is known.
return function(what, list, n)
  local last = n or 0
  for key in next, list do
    if math.type(key) == 'integer' and key > last then last = key end
  end
  for i = 1, last do
    if list[i] == nil then fail('%s: value %d of %d is nil; check the name that it is read from', what, i, last) end
  end
end
