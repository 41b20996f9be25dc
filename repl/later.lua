-- later 'name': the module `name`, loaded when something of it is first asked for. For what the first prompt can come
-- without.

return function(name)
  return setmetatable({}, {__index = function(_, key) return require(name)[key] end})
end
