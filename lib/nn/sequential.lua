-- sequential.lua - nn.Sequential(layer, ...): the output of each layer is the input of the next. A table
-- {{'name', layer}, ...} names them. net[1] is the first layer, net[-1] the last; state_dict keys and the
-- printed form count from 0, as PyTorch's do.

local class = require 'torch.class'
local Module = require 'torch.nn.module'

local fields_of = class.fields

local Sequential = Module:extend('Sequential')

function Sequential:init(...)
  local first = ...
  if type(first) == 'table' and select('#', ...) == 1 then
    for i, entry in ipairs(first) do
      if type(entry) ~= 'table' then
        error(("Sequential(): entry %d of the table must be {'name', layer}, got %s"):format(i, type(entry)), 3)
      end
      self:add_module(entry[1], entry[2])
    end
    return
  end
  for i = 1, select('#', ...) do self:append((select(i, ...))) end
end

function Sequential:append(layer)
  self:add_module(tostring(#fields_of(self)._modules), layer)
  return self
end

function Sequential:__len() return #fields_of(self)._modules end

local function name_at(self, position)
  local names = fields_of(self)._modules
  if math.type(position) ~= 'integer' then return nil end
  if position == 0 then error('index 0: positions count from 1', 4) end
  local name = names[position > 0 and position or #names + 1 + position]
  if name == nil then
    error(('index %d is out of range for a %s of %d layers'):format(position, self.__classname, #names), 4)
  end
  return name
end

function Sequential:__getitem(position) return fields_of(self)[name_at(self, position)] end

function Sequential:__setattr(key, value)
  local name = math.type(key) == 'integer' and name_at(self, key)
  if not name then return Module.__setattr(self, key, value) end
  self:add_module(name, value)
end

function Sequential:iter()
  local i = 0
  return function()
    i = i + 1
    if i <= #self then return i, self[i] end
  end
end
Sequential.__pairs = function(self) return self:iter() end

function Sequential:forward(input)
  local fields = fields_of(self)
  for _, name in ipairs(fields._modules) do input = fields[name](input) end
  return input
end

return Sequential
