-- parameter_list.lua - nn.ParameterList{parameter, ...} or nn.ParameterList(parameter, ...): a list
-- of registered parameters. list[1], list['1:2'], #list, append, extend, iter. Tensors become
-- parameters.

--[=[ arguments
value: Parameter, or tensor, to add at the end.
append(): Adds a parameter at the end and returns the list.
iter(): An iterator over the parameters with their positions from 1.
]=]

--[=[ examples
ParameterList
    list = nn.ParameterList{nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(3))}
    #list, list[2].shape
    --> (2, torch.Size([3]))
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'
local kinds = require 'torch.support.argument_kinds'
local Module = require 'torch.nn.module'
local ModuleList = require 'torch.nn.containers.module_list'
local Parameter = require 'torch.nn.parameter'
local slices = require 'torch.nn.containers.slices'

local fields_of = class.fields
local is_parameter = torch._C.is_parameter

local ParameterList = Module:extend('ParameterList')

local function as_parameter(value)
  if not torch.is_tensor(value) then
    fail('ParameterList holds tensors and parameters, got %s', torch.type(value))
  end
  return is_parameter(value) and value or Parameter(value)
end

function ParameterList:init(...)
  local values, n = (...), nil
  if torch.is_tensor(values) or select('#', ...) > 1 then values, n = { ... }, select('#', ...) end
  kinds.check('ParameterList', 'values', values, 'table|userdata?')
  if type(values) == 'table' then kinds.check_list('ParameterList', values, n) end
  for _, value in ipairs(values or {}) do self:append(value) end
end

function ParameterList:append(value)
  self:register_parameter(tostring(#self), as_parameter(value))
  return self
end

-- On a list: appends every parameter of a table. On the class it derives a class, as everywhere.
function ParameterList:extend(values, ...)
  kinds.refuse_surplus('extend', ...)
  if type(self) ~= 'userdata' then return Module.extend(self, values) end
  for _, value in ipairs(values) do self:append(value) end
  return self
end

function ParameterList:__len() return #fields_of(self)._parameters end

local function name_at(self, position)
  local n = #fields_of(self)._parameters
  if position == 0 then fail 'index 0: positions count from 1' end
  local i = position > 0 and position or n + 1 + position
  if i < 1 or i > n then
    if position == n + 1 and class.asked_by_ipairs(1) then return nil end
    fail('index %d is out of range', position)
  end
  return tostring(i - 1)
end

function ParameterList:__getitem(position)
  local name = name_at(self, position)
  return name and fields_of(self)[name]
end

ParameterList.__getslice = ModuleList.__getslice

function ParameterList:__setattr(key, value)
  if slices.is(key) then fail('%s: a slice cannot be assigned to; assign to one position after the other', self.__classname) end
  if math.type(key) ~= 'integer' then return Module.__setattr(self, key, value) end
  fields_of(self)[name_at(self, key)] = as_parameter(value)
end

function ParameterList:iter()
  local i = 0
  return function()
    i = i + 1
    if i <= #self then return i, self[i] end
  end
end
ParameterList.__pairs = ParameterList.iter
ParameterList.__call = for_loops.call_by(for_loops.values, Module.__call) -- for parameter in list do

function ParameterList:extra_repr()
  local lines = {}
  for i, parameter in self:iter() do
    lines[i] = ('  (%d): Parameter containing: [%s of size %s%s]'):format(i - 1, parameter.dtype, table.concat(parameter.shape, 'x'),
      parameter.is_cuda and (' (%s)'):format(parameter.device) or '')
  end
  return table.concat(lines, '\n')
end

function ParameterList:forward(...) fail 'ParameterList should not be called.' end

return ParameterList
