-- getters.lua - classes with computed fields: getters are computed on each read, lazies once, with
-- gradients, and then stored as fields. Derived classes inherit getters.

local torch = require 'torch'
local class = require 'torch.support.class'
local fields_of = class.fields

--- Adds getters to the class root: derive(name, getters, lazies) and extend(name) return derived
-- classes with getters.
return function(root)
  root.getters, root.lazies = {}, {}

  function root:derive(name, getters, lazies)
    local derived = class.Object.extend(self, name)
    derived.getters = setmetatable(getters or {}, { __index = self.getters })
    derived.lazies = setmetatable(lazies or {}, { __index = self.lazies })
    getters, lazies = derived.getters, derived.lazies
    local metatable = class.metatables[derived]
    local index = metatable.__index
    metatable.__fields = { getters, lazies }
    metatable.__index = function(object, key)
      local fields = fields_of(object)
      local own = fields[key]
      if own ~= nil then return own end
      local getter, lazy = rawget(getters, key), lazies[key]
      if not getter and not lazy then getter = getters[key] end
      if getter then return getter(object) end
      if not lazy then return index(object, key) end
      local _ <close> = torch.enable_grad()
      local value = lazy(object)
      fields[key] = value
      return value
    end
    return derived
  end

  function root:extend(name) return self:derive(name) end
end
