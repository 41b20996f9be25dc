-- module_dict.lua - nn.ModuleDict{name = layer, ...}: named modules, registered. A table has no
-- order, so its names are sorted; {{'name', layer}, ...} keeps the order given. dict.name,
-- dict['name'], keys, values, pairs, #dict, update, pop, clear, contains. It cannot be called.

--[=[ arguments
name: Name of the module.
key: Name of the module.
contains(): Whether there is a module of this name.
keys(): An iterator over the names, in order.
values(): An iterator over the modules, in order.
]=]

--[=[ examples
ModuleDict
    layers = nn.ModuleDict{first = nn.Linear(2, 3)}
    layers.first
    --> Linear(in_features=2, out_features=3, bias=True)
]=]

local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'
local kinds = require 'torch.support.argument_kinds'
local Module = require 'torch.nn.module'

local fields_of = class.fields

local ModuleDict = Module:extend('ModuleDict')

function ModuleDict:init(modules, ...)
  kinds.refuse_surplus('ModuleDict', ...)
  kinds.check('ModuleDict', 'modules', modules, 'table|userdata?')
  self:update(modules or {})
end

-- Adds the entries of a table, a list of pairs or another dict.
function ModuleDict:update(modules, ...)
  kinds.refuse_surplus('update', ...)
  if type(modules) == 'table' and modules[1] ~= nil then
    kinds.check_list(self.__classname, modules)
    for _, entry in ipairs(modules) do
      kinds.check('update', 'entry', entry, 'table')
      kinds.check('update', 'name', entry[1], 'string')
      self:add_module(entry[1], entry[2])
    end
    return
  end
  if type(modules) == 'userdata' and not Module:is_instance(modules) then kinds.check('update', 'modules', modules, 'table') end
  local names = {}
  for name in pairs(modules) do names[#names + 1] = name end
  if type(modules) == 'table' then table.sort(names) end
  for _, name in ipairs(names) do self:add_module(name, modules[name]) end
end

function ModuleDict:__len() return #fields_of(self)._modules end
function ModuleDict:__pairs() return self:_named_places() end

ModuleDict.__call = for_loops.call_by(for_loops.entries, Module.__call) -- for name, module in dict do

function ModuleDict:keys()
  local names = {}
  for name in self:_named_places() do names[#names + 1] = name end
  return names
end

function ModuleDict:values()
  local values = {}
  for _, module in self:_named_places() do values[#values + 1] = module end
  return for_loops.list(values)
end

function ModuleDict:contains(name) return fields_of(self)._registered[name] == '_modules' end

-- Removes a module and returns it.
function ModuleDict:pop(key)
  if not self:contains(key) then fail("KeyError: '%s'", tostring(key)) end
  local module = self[key]
  self[key] = nil
  return module
end

ModuleDict.clear = Module._clear_modules

function ModuleDict:forward(...)
  fail('Module [%s] is missing the required "forward" function', self:_get_name())
end

return ModuleDict
