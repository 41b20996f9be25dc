-- module_list.lua - nn.ModuleList{layer, ...} or nn.ModuleList(layer, ...): a list of registered
-- modules. list[1], list['1:2'], #list, append, insert, pop, extend, iter. It cannot be called.

--[=[ examples
ModuleList
    layers = nn.ModuleList{nn.Linear(2, 3), nn.ReLU()}
    #layers, layers[2]
    --> (2, ReLU())
]=]

local class = require 'torch.support.class'
local for_loops = require 'torch.support.for_loops'
local kinds = require 'torch.support.argument_kinds'
local Module = require 'torch.nn.module'
local Sequential = require 'torch.nn.containers.sequential'
local slices = require 'torch.nn.containers.slices'

local fields_of = class.fields

local ModuleList = Module:extend('ModuleList')

function ModuleList:init(...)
  local modules, n = (...), select('#', ...)
  if n == 0 or n == 1 and modules == nil then return end
  if n > 1 or ModuleList.is_layer(modules) then modules = { ... } else n = nil end
  kinds.check(self.__classname, 'modules', modules, 'table|userdata')
  if type(modules) == 'table' then kinds.check_list(self.__classname, modules, n) end
  for _, module in ipairs(modules) do self:append(module) end
end

-- Whether a value is an entry of a list, and not itself a list of layers.
function ModuleList.is_layer(value)
  return Module:is_instance(value) and not Sequential:is_instance(value) and not ModuleList:is_instance(value)
end

for _, name in ipairs { 'append', 'extend', 'insert', 'pop', 'iter', '__len', '__getitem', '__setattr', '__pairs' } do
  ModuleList[name] = Sequential[name]
end

ModuleList.__call = for_loops.call_by(for_loops.values, Module.__call) -- for layer in list do

-- A list of the modules of a slice, renumbered.
function ModuleList:__getslice(key)
  local slice = getmetatable(self).__class()
  for _, i in ipairs(slices.positions(self.__classname, key, #self)) do slice:append(self[i]) end
  return slice
end

-- Consecutive modules with equal text are printed once, with their number.
function ModuleList:__tostring()
  local names, lines = fields_of(self)._modules, {}
  local i = 1
  while i <= #names do
    local text, last = tostring(self[i]), i
    while last < #names and tostring(self[last + 1]) == text do last = last + 1 end
    local place = last == i and names[i] or ('%s-%s'):format(names[i], names[last])
    local times = last == i and '' or ('%d x '):format(last - i + 1)
    lines[#lines + 1] = ('  (%s): %s%s'):format(place, times, (text:gsub('\n', '\n  ')))
    i = last + 1
  end
  if #lines == 0 then return self:_get_name() .. '()' end
  return ('%s(\n%s\n)'):format(self:_get_name(), table.concat(lines, '\n'))
end

return ModuleList
