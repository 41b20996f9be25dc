-- later 'name': the module `name`, loaded on first access, for modules that the first prompt does
-- not need.

return function(name)
  return setmetatable({}, {__index = function(_, key) return require(name)[key] end})
end
