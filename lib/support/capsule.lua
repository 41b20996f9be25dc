-- capsule.lua - requests a capsule over the memory of another library's object, by the method of a
-- common protocol.

--- @param object   a capsule, a userdata of that name; or an object with the method; others are
--   returned unchanged
-- @param name      of the capsules ('dltensor')
-- @param method    the method that returns a capsule ('__dlpack__')
-- @param options   its arguments
return function(object, name, method, options)
  local kind = type(object)
  local metatable = debug.getmetatable(object)
  if kind ~= 'table' and kind ~= 'userdata' or type(metatable) == 'table' and metatable.__name == name then return object end
  local has, give = pcall(function() return object[method] end)
  if has and give ~= nil then return (give(object, options)) end
  return object
end
