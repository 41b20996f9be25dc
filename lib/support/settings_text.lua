-- settings_text.lua - the text of an object that defines none: its class and its settings, as
-- StepLR(step_size=30, gamma=0.1, last_epoch=0) or TensorDataset(4 samples).
--
-- A setting is a field with the name of an argument of the constructor, or a field that the class
-- lists in __settings. Switches and zeros with their default value are left out.

local arguments = require 'torch.support.arguments'
local checked = require 'torch.support.argument_checks'
local class = require 'torch.support.class'
local torch = require 'torch'

local MAX_ENTRIES = 8 -- of a list

-- The arguments of the constructor in order: lists of {name, default}.
local function arguments_of(kind)
  if kind.__settings then
    local listed = {}
    for i, name in ipairs(kind.__settings) do listed[i] = { name } end
    return listed
  end
  local signature = arguments.signature_of(kind)
  local reader = arguments.constructors[kind.__classname]
  if not signature and reader then signature = type(reader) == 'table' and reader or arguments.parse(reader) end
  local found = {}
  for _, argument in ipairs(signature or {}) do found[#found + 1] = { argument.name, argument.default } end
  if signature or type(kind.init) ~= 'function' then return found end
  local init = checked.original(kind.init)
  for i = 2, debug.getinfo(init, 'u').nparams do found[#found + 1] = { (debug.getlocal(init, i)) } end
  return found
end

local function is_object(value)
  local metatable = type(value) == 'userdata' and getmetatable(value)
  return type(metatable) == 'table' and metatable.__class ~= nil
end

local function of_value(value)
  if type(value) == 'string' then return ("'%s'"):format(value) end
  if type(value) == 'number' or type(value) == 'boolean' then return tostring(value) end
  if torch.is_tensor(value) then return ('tensor of size %s'):format(tostring(value.shape):match '%[.*%]') end
  if is_object(value) then
    local kind = getmetatable(value).__class
    return torch.utils.data.Dataset:is_instance(value) and tostring(value) or kind.__classname
  end
  if type(value) ~= 'table' or getmetatable(value) ~= nil or #value == 0 then return nil end
  local parts = {}
  for i = 1, math.min(#value, MAX_ENTRIES) do
    parts[i] = of_value(value[i])
    if not parts[i] then return nil end
  end
  if #value > MAX_ENTRIES then parts[#parts + 1] = '...' end
  return '{' .. table.concat(parts, ', ') .. '}'
end

local function is_usual(value, default) return value == default and (type(value) == 'boolean' or value == 0) or not default and (value == false or value == 0) end

return function(object, kind)
  local fields, parts = class.fields(object), {}
  if kind.__len and torch.utils.data.Dataset:is_instance(object) then
    local ok, length = pcall(kind.__len, object)
    if ok then parts[1] = ('%s sample%s'):format(length, length == 1 and '' or 's') end
  end
  for _, argument in ipairs(arguments_of(kind)) do
    local value = fields[argument[1]]
    local text = value ~= nil and not is_usual(value, argument[2]) and of_value(value)
    if text then parts[#parts + 1] = argument[1] .. '=' .. text end
  end
  if #parts == 0 then return kind.__classname end
  return ('%s(%s)'):format(kind.__classname, table.concat(parts, ', '))
end
