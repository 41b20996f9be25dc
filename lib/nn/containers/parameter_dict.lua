-- parameter_dict.lua - nn.ParameterDict{name = parameter, ...}: named parameters, registered. A
-- table has no order, so its names are sorted; {{'name', parameter}, ...} keeps the order given.
-- dict.name, dict['name'], keys, values, pairs, #dict, update, pop, clear, contains.

--[=[ arguments
name: Name of the parameter.
key: Name of the parameter.
clear(): Removes all parameters.
contains(): Whether there is a parameter of this name.
keys(): An iterator over the names, in order.
values(): An iterator over the parameters, in order.
]=]

--[=[ examples
ParameterDict
    values = nn.ParameterDict{scale = nn.Parameter(torch.ones(2))}
    values.scale.shape
    --> torch.Size([2])
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'
local kinds = require 'torch.support.argument_kinds'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'

local fields_of = class.fields

local ParameterDict = Module:extend('ParameterDict')

function ParameterDict:init(parameters, ...)
  kinds.refuse_surplus('ParameterDict', ...)
  kinds.check('ParameterDict', 'parameters', parameters, 'table|userdata?')
  self:update(parameters or {})
end

-- Tensors become parameters.
function ParameterDict:__setattr(name, value)
  if torch.is_tensor(value) and not torch._C.is_parameter(value) then value = Parameter(value) end
  return Module.__setattr(self, name, value)
end

-- Adds the entries of a table, a list of pairs or another dict.
function ParameterDict:update(parameters, ...)
  kinds.refuse_surplus('update', ...)
  if type(parameters) == 'table' and parameters[1] ~= nil then
    kinds.check_list(self.__classname, parameters)
    for _, entry in ipairs(parameters) do
      kinds.check('update', 'entry', entry, 'table')
      kinds.check('update', 'name', entry[1], 'string')
      self[entry[1]] = entry[2]
    end
    return
  end
  if type(parameters) == 'userdata' and not Module:is_instance(parameters) then kinds.check('update', 'parameters', parameters, 'table') end
  local names = {}
  for name in pairs(parameters) do names[#names + 1] = name end
  if type(parameters) == 'table' then table.sort(names) end
  for _, name in ipairs(names) do self[name] = parameters[name] end
end

function ParameterDict:__len() return #fields_of(self)._parameters end

function ParameterDict:keys()
  local names = fields_of(self)._parameters
  return table.move(names, 1, #names, 1, {})
end

function ParameterDict:values()
  local values = {}
  for i, name in ipairs(fields_of(self)._parameters) do values[i] = fields_of(self)[name] end
  return for_loops.list(values)
end

function ParameterDict:__pairs()
  local names, i = self:keys(), 0
  return function()
    i = i + 1
    if names[i] then return names[i], fields_of(self)[names[i]] end
  end
end

ParameterDict.__call = for_loops.call_by(for_loops.entries, Module.__call) -- for name, parameter in dict do

function ParameterDict:contains(name)
  return fields_of(self)._registered[name] == '_parameters'
end

-- Removes a parameter and returns it.
function ParameterDict:pop(key)
  if not self:contains(key) then fail("KeyError: '%s'", tostring(key)) end
  local value = self[key]
  self[key] = nil
  return value
end

function ParameterDict:clear()
  for _, name in ipairs(self:keys()) do self[name] = nil end
end

function ParameterDict:extra_repr()
  local lines = {}
  for name, parameter in pairs(self) do
    lines[#lines + 1] = ('  (%s): Parameter containing: [%s of size %s%s]'):format(name, parameter:type(), table.concat(parameter.shape, 'x'),
      parameter.is_cuda and (' (%s)'):format(parameter.device) or '')
  end
  return table.concat(lines, '\n')
end

function ParameterDict:forward(...) fail 'ParameterDict should not be called.' end

return ParameterDict
