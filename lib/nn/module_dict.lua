-- module_dict.lua - nn.ModuleDict{name = layer, ...}: named modules, registered. A table has no order, so its
-- names are sorted; {{'name', layer}, ...} keeps the order given. dict.name, dict['name'], keys, #dict.

local class = require 'torch.class'
local Module = require 'torch.nn.module'

local fields_of = class.fields

local ModuleDict = Module:extend('ModuleDict')

function ModuleDict:init(modules)
  modules = modules or {}
  if modules[1] then
    for _, entry in ipairs(modules) do self:add_module(entry[1], entry[2]) end
    return
  end
  local names = {}
  for name in pairs(modules) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do self:add_module(name, modules[name]) end
end

function ModuleDict:__len() return #fields_of(self)._modules end
function ModuleDict:__pairs() return self:named_children() end

function ModuleDict:keys()
  local names = {}
  for name in self:named_children() do names[#names + 1] = name end
  return names
end

return ModuleDict
