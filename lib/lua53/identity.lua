-- identity.lua - a text that identifies a table, function, userdata or thread: string.format's %p,
-- which Lua 5.3 does not have.

if _VERSION ~= 'Lua 5.3' then
  return function(value) return ('%p'):format(value) end
end

local numbers, count = setmetatable({}, { __mode = 'k' }), 0

return function(value)
  if not numbers[value] then
    count = count + 1
    numbers[value] = ('object %015d'):format(count)
  end
  return numbers[value]
end
