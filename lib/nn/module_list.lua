-- module_list.lua - nn.ModuleList{layer, ...}: a list whose modules are registered. list[1], #list, append,
-- insert, extend, iter. It cannot be called.

local class = require 'torch.class'
local Module = require 'torch.nn.module'
local Sequential = require 'torch.nn.sequential'

local fields_of = class.fields

local ModuleList = Module:extend('ModuleList')

function ModuleList:init(modules)
  for _, module in ipairs(modules or {}) do self:append(module) end
end

ModuleList.append = Sequential.append
ModuleList.__len = Sequential.__len
ModuleList.__getitem = Sequential.__getitem
ModuleList.__setattr = Sequential.__setattr
ModuleList.iter = Sequential.iter
ModuleList.__pairs = Sequential.__pairs

-- On a list: appends every module of a table. On the class it derives a class, as everywhere.
function ModuleList:extend(modules)
  if type(self) ~= 'userdata' then return Module.extend(self, modules) end
  for _, module in ipairs(modules) do self:append(module) end
  return self
end

-- Puts module before the one at position.
function ModuleList:insert(position, module)
  local fields = fields_of(self)
  local n = #fields._modules
  if math.type(position) ~= 'integer' or position < 1 or position > n + 1 then
    error(('insert(): position %s is out of range [1, %d]'):format(tostring(position), n + 1), 2)
  end
  for i = n, position, -1 do self:add_module(tostring(i), fields[tostring(i - 1)]) end
  self:add_module(tostring(position - 1), module)
end

return ModuleList
