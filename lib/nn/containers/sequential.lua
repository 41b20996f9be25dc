-- sequential.lua - nn.Sequential(layer, ...) or nn.Sequential{layer, ...}: the output of each layer
-- is the input of the next.
--
-- An entry {'name', layer} names the layer; a list of layers becomes a nested Sequential. net[1] is
-- the first layer, net[-1] the last, net['2:3'] and net[{2, 3}] a Sequential of two of them;
-- state_dict keys and the printed form count from 0, as in PyTorch.

--[=[ arguments
module: Module to add.
index: Position from 1 of the new module; negative from the end.
key: Position from 1 of the module; negative from the end.
append(): Adds a module at the end and returns the container.
iter(): An iterator over the modules with their positions from 1.
]=]

--[=[ examples
Sequential
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    #net, net[2], net(torch.zeros(5, 3)).shape
    --> (3, ReLU(), torch.Size([5, 2]))
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local no_holes = require 'torch.support.no_holes'
local Module = require 'torch.nn.module'
local slices = require 'torch.nn.containers.slices'

local fields_of = class.fields

local Sequential = Module:extend('Sequential')

function Sequential:init(...)
  local layers, n = { ... }, select('#', ...)
  if type(layers[1]) == 'table' and n == 1 and type(layers[1][1]) ~= 'string' then layers, n = layers[1], nil end
  no_holes('Sequential()', layers, n)
  local raw = rawlen(layers)
  local key = next(layers, raw > 0 and raw or nil)
  if key ~= nil then
    fail("Sequential(): the names of a table have no order: pass {{'%s', layer}, ...} to name layers in order", tostring(key))
  end
  for _, entry in ipairs(layers) do
    if type(entry) == 'table' and type(entry[1]) == 'string' then
      self:add_module(entry[1], entry[2])
    else
      self:append(type(entry) == 'table' and Sequential(entry) or entry)
    end
  end
end

function Sequential:append(module)
  if not Module:is_instance(module) then fail('%s is not a Module subclass', torch.type(module)) end
  self:add_module(tostring(#fields_of(self)._modules), module)
  return self
end

-- On an object: appends every layer of a table or of another Sequential. On the class: derives a
-- class.
function Sequential:extend(layers, ...)
  kinds.refuse_surplus('extend', ...)
  if type(self) ~= 'userdata' then return Module.extend(self, layers) end
  for i = 1, #layers do self:append(layers[i]) end
  return self
end

local function layers_of(self)
  local layers, fields = {}, fields_of(self)
  for i, name in ipairs(fields._modules) do layers[i] = fields[name] end
  return layers
end

-- Registers all layers again, under the names 0, 1, 2, ...
local function renumber(self, layers)
  self:_clear_modules()
  for _, layer in ipairs(layers) do self:append(layer) end
end

-- Inserts a layer before a position.
function Sequential:insert(index, module)
  local layers = layers_of(self)
  if math.type(index) ~= 'integer' or index < 1 or index > #layers + 1 then
    fail('insert(): position %s is out of range [1, %d]', tostring(index), #layers + 1)
  end
  if not Module:is_instance(module) then fail('%s is not a Module subclass', torch.type(module)) end
  table.insert(layers, index, module)
  renumber(self, layers)
  return self
end

-- Removes the layer at a position (default: the last) and returns it.
function Sequential:pop(key)
  local layers = layers_of(self)
  kinds.check('pop', 'key', key, 'integer?')
  key = key or -1
  local i = key < 0 and #layers + 1 + key or key
  if not layers[i] then fail('pop(): position %s is out of range', tostring(key)) end
  local layer = table.remove(layers, i)
  renumber(self, layers)
  return layer
end

function Sequential:__len() return #fields_of(self)._modules end

local function name_at(self, position)
  local names = fields_of(self)._modules
  if math.type(position) ~= 'integer' then return nil end
  if position == 0 then fail 'index 0: positions count from 1' end
  local name = names[position > 0 and position or #names + 1 + position]
  if name == nil then
    if position == #names + 1 and class.asked_by_ipairs(1) then return nil end
    fail('index %d is out of range for a %s of %d layers', position, self.__classname, #names)
  end
  return name
end

function Sequential:__getitem(position)
  local name = name_at(self, position)
  return name and fields_of(self)[name]
end

-- A Sequential with the layers of a slice, under the names that they have.
function Sequential:__getslice(key)
  local slice, names = getmetatable(self).__class(), fields_of(self)._modules
  for _, i in ipairs(slices.positions(self.__classname, key, #names)) do slice:add_module(names[i], self[i]) end
  return slice
end

function Sequential:__setattr(key, value)
  if slices.is(key) then fail('%s: a slice cannot be assigned to; assign to one position after the other', self.__classname) end
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
  if input == nil then fail "Sequential() missing 1 required argument: 'input' (for i, layer in ipairs(net) do iterates over the layers)" end
  local fields = fields_of(self)
  for _, name in ipairs(fields._modules) do input = fields[name](input) end
  return input
end

return Sequential
