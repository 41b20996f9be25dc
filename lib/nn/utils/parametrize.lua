-- parametrize.lua - torch.nn.utils.parametrize: parameters that are computed from others on each
-- read.
--
-- register_parametrization(module, 'weight', P) moves module.weight to
-- module.parametrizations.weight.original; reading module.weight then returns P(original). If P has
-- right_inverse, its result for the weight is stored (several tensors as original0, original1,
-- ...), and assigning module.weight calls it, too. The module's class becomes a derived one, named
-- Parametrized<Class>.

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local Module = require 'torch.nn.module'
local ModuleDict = require 'torch.nn.containers.module_dict'
local ModuleList = require 'torch.nn.containers.module_list'
local Parameter = require 'torch.nn.parameter'

local fields_of = class.fields

local parametrize = {}

-- ---- one parameter ------------------------------------------------------------------------------

local ParametrizationList = ModuleList:extend('ParametrizationList')
parametrize.ParametrizationList = ParametrizationList

local function inverse(list, value)
  for i = #list, 1, -1 do
    if list[i].right_inverse then
      local results = table.pack(list[i]:right_inverse(value))
      if i > 1 or results.n == 1 then value = results[1] else return results end
    end
  end
  return { value, n = 1 }
end

local function keep(list, name, value, like)
  if torch._C.is_parameter(like) then
    list[name] = Parameter(value, { requires_grad = like.requires_grad })
  else
    list:register_buffer(name, value)
  end
end

function ParametrizationList:init(modules, original)
  ModuleList.init(self, modules)
  local values = torch.no_grad(inverse, self, original)
  fields_of(self).count = values.n
  if values.n == 1 then
    keep(self, 'original', values[1], original)
  else
    for i = 1, values.n do keep(self, 'original' .. i - 1, values[i], original) end
  end
end

function ParametrizationList:originals()
  if self.count == 1 then return self.original end
  local list = {}
  for i = 1, self.count do list[i] = self['original' .. i - 1] end
  return table.unpack(list)
end

-- The value of the parameter.
function ParametrizationList:forward()
  local value = self[1](self:originals())
  for i = 2, #self do value = self[i](value) end
  return value
end

function ParametrizationList:assign(value)
  torch.no_grad(function()
    local values = inverse(self, value)
    if self.count == 1 then return self.original:copy_(values[1]) end
    for i = 1, self.count do self['original' .. i - 1]:copy_(values[i]) end
  end)
end

-- ---- modules ------------------------------------------------------------------------------------

-- A class derived from the module's class; its objects compute the parametrized parameters.
local function derive(base)
  local derived = base:extend('Parametrized' .. base.__classname)
  derived.__base = base
  local metatable = class.metatables[derived]
  local index, newindex = metatable.__index, metatable.__newindex
  metatable.__fields = {} -- names of the parametrized parameters, for completion
  local function list_of(self, key)
    local lists = type(key) == 'string' and fields_of(self).parametrizations
    return lists and fields_of(lists)[key]
  end
  metatable.__index = function(self, key)
    local list = fields_of(self)[key] == nil and list_of(self, key)
    if ParametrizationList:is_instance(list) then return list() end
    return index(self, key)
  end
  metatable.__newindex = function(self, key, value)
    local list = list_of(self, key)
    if ParametrizationList:is_instance(list) then return list:assign(value) end
    return newindex(self, key, value)
  end
  return derived
end

function parametrize.is_parametrized(module, name)
  local lists = fields_of(module).parametrizations
  if not ModuleDict:is_instance(lists) then return false end
  if name == nil then return #lists > 0 end
  return lists:contains(name)
end

function parametrize.register_parametrization(module, name, parametrization)
  if parametrize.is_parametrized(module, name) then
    fields_of(module).parametrizations[name]:append(parametrization)
    return module
  end
  local fields = fields_of(module)
  local original = fields[name]
  if not torch.is_tensor(original) then
    fail("Module '%s' does not have a parameter, a buffer, or a parametrized element with name '%s'", torch.type(module), name)
  end
  local list = ParametrizationList({ parametrization }, original)
  Module.__setattr(module, name, nil)
  if not parametrize.is_parametrized(module) then
    module.parametrizations = ModuleDict()
    debug.setmetatable(module, class.metatables[derive(getmetatable(module).__class)])
  end
  fields.parametrizations:add_module(name, list)
  getmetatable(module).__fields[name] = true
  return module
end

-- The parameter becomes its present value, or the original.
function parametrize.remove_parametrizations(module, name, leave_parametrized)
  if not parametrize.is_parametrized(module, name) then
    fail("Module %s does not have a parametrization on %s", torch.type(module), name)
  end
  local lists = fields_of(module).parametrizations
  local list = lists[name]
  local value
  if not leave_parametrized then
    if list.count > 1 then
      fail('Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.')
    end
    value = list.original
  else
    value = torch.no_grad(function() return Parameter(list():detach():clone()) end)
  end
  lists:pop(name)
  getmetatable(module).__fields[name] = nil
  if #lists == 0 then
    module.parametrizations = nil
    debug.setmetatable(module, class.metatables[getmetatable(module).__class.__base])
  end
  module[name] = value
  return module
end

return declare.functions(parametrize, [[
  is_parametrized(Module module, string? tensor_name)
  register_parametrization(Module module, string tensor_name, function parametrization, *, boolean unsafe=false)
  remove_parametrizations(Module module, string tensor_name, boolean leave_parametrized=true)
]])
