-- module.lua - nn.Module: what every layer and model derives from.
--
-- Assigning a Parameter, a module or a registered buffer to a field registers it, in the order of first
-- assignment; the field holds it like any other. The names are kept in three lists beside the fields.

local torch = require 'torch'
local ordered_dict = require 'torch.ordered_dict'
local class = require 'torch.class'

local fields_of = class.fields
local is_parameter = torch._C.is_parameter

local Module = class.Object:extend('Module')

function Module:__new()
  local fields = fields_of(self)
  fields.training = true
  fields._parameters, fields._buffers, fields._modules = {}, {}, {} -- names, in order
end

local function index_of(list, name)
  for i, entry in ipairs(list) do
    if entry == name then return i end
  end
end

local function unregister(fields, name)
  for _, list in ipairs { fields._parameters, fields._buffers, fields._modules } do
    local i = index_of(list, name)
    if i then table.remove(list, i) end
  end
end

local function registry_for(fields, value)
  if is_parameter(value) then return fields._parameters end
  if Module:is_instance(value) then return fields._modules end
end

function Module:__setattr(name, value)
  local fields = fields_of(self)
  local registry = registry_for(fields, value)
  if registry then
    if not index_of(registry, name) then
      unregister(fields, name)
      registry[#registry + 1] = name
    end
  elseif value ~= nil and index_of(fields._parameters, name) then
    error(("cannot assign '%s' as parameter '%s' (nn.Parameter or nil expected)"):format(torch.type(value), name), 3)
  elseif not (torch.is_tensor(value) and index_of(fields._buffers, name)) then
    unregister(fields, name)
  end
  fields[name] = value
end

local function check_name(self, name, what)
  if type(name) ~= 'string' and math.type(name) ~= 'integer' then
    error(('%s name should be a string, got %s'):format(what, type(name)), 3)
  end
  if tostring(name):find('.', 1, true) then error(("%s name can't contain \".\", got: %s"):format(what, name), 3) end
  if name == '' then error(('%s name can\'t be empty string ""'):format(what), 3) end
end

function Module:register_buffer(name, tensor)
  check_name(self, name, 'buffer')
  if tensor ~= nil and not torch.is_tensor(tensor) then
    error(("cannot assign '%s' to buffer '%s' (Tensor or nil required)"):format(torch.type(tensor), name), 2)
  end
  local fields = fields_of(self)
  unregister(fields, name)
  fields._buffers[#fields._buffers + 1] = name
  fields[name] = tensor
end

function Module:register_parameter(name, parameter)
  check_name(self, name, 'parameter')
  local fields = fields_of(self)
  if parameter ~= nil and not is_parameter(parameter) then
    error(("cannot assign '%s' object to parameter '%s' (nn.Parameter or nil required)"):format(
      torch.type(parameter), name), 2)
  end
  unregister(fields, name)
  fields._parameters[#fields._parameters + 1] = name
  fields[name] = parameter
end

function Module:add_module(name, module)
  check_name(self, name, 'module')
  if module ~= nil and not Module:is_instance(module) then
    error(('%s is not a Module subclass'):format(torch.type(module)), 2)
  end
  local fields = fields_of(self)
  if not index_of(fields._modules, name) then
    unregister(fields, name)
    fields._modules[#fields._modules + 1] = name
  end
  fields[name] = module
end
Module.register_module = Module.add_module

-- ---- calling ------------------------------------------------------------------------------------------

local function run_pre_hooks(self, hooks, ...)
  local inputs = table.pack(...)
  for _, hook in ipairs(hooks) do
    local replaced = table.pack(hook.fn(self, table.unpack(inputs, 1, inputs.n)))
    if replaced.n > 0 and replaced[1] ~= nil then inputs = replaced end
  end
  return table.unpack(inputs, 1, inputs.n)
end

local function run_hooks(self, hooks, inputs, ...)
  local outputs = table.pack(...)
  for _, hook in ipairs(hooks) do
    local replaced = hook.fn(self, inputs, table.unpack(outputs, 1, outputs.n))
    if replaced ~= nil then outputs = table.pack(replaced) end
  end
  return table.unpack(outputs, 1, outputs.n)
end

function Module:__call(...)
  local fields = fields_of(self)
  local before, after = fields._forward_pre_hooks, fields._forward_hooks
  if not before and not after then return self:forward(...) end
  if not before then return run_hooks(self, after, table.pack(...), self:forward(...)) end
  local inputs = table.pack(run_pre_hooks(self, before, ...))
  if not after then return self:forward(table.unpack(inputs, 1, inputs.n)) end
  return run_hooks(self, after, inputs, self:forward(table.unpack(inputs, 1, inputs.n)))
end

function Module:forward()
  error(('Module [%s] is missing the required "forward" function'):format(torch.type(self)), 2)
end

local function add_hook(self, list_name, fn)
  local fields = fields_of(self)
  local hooks = fields[list_name] or {}
  local hook = { fn = fn }
  fields[list_name] = hooks
  hooks[#hooks + 1] = hook
  function hook:remove()
    for i, entry in ipairs(hooks) do
      if entry == self then return table.remove(hooks, i) end
    end
  end
  return hook
end

-- fn(module, input...) before forward; what it returns replaces the inputs. Returns a handle with :remove().
function Module:register_forward_pre_hook(fn) return add_hook(self, '_forward_pre_hooks', fn) end

-- fn(module, inputs, output...) after forward; what it returns replaces the output.
function Module:register_forward_hook(fn) return add_hook(self, '_forward_hooks', fn) end

-- ---- walking --------------------------------------------------------------------------------------------

-- name, child pairs of the direct children, in order.
function Module:named_children()
  local fields, i = fields_of(self), 0
  return function()
    local name
    repeat
      i = i + 1
      name = fields._modules[i]
    until name == nil or fields[name] ~= nil
    if name ~= nil then return tostring(name), fields[name] end
  end
end

-- A list of the direct children.
function Module:children()
  local list = {}
  for _, child in self:named_children() do list[#list + 1] = child end
  return list
end

local function collect_modules(module, prefix, list, seen)
  if seen[module] then return end
  seen[module] = true
  list[#list + 1] = { prefix, module }
  for name, child in module:named_children() do
    collect_modules(child, prefix == '' and name or prefix .. '.' .. name, list, seen)
  end
end

local function pairs_of(list)
  local i = 0
  return function()
    i = i + 1
    if list[i] then return list[i][1], list[i][2] end
  end
end

local function values_of(list)
  local values = {}
  for i, entry in ipairs(list) do values[i] = entry[2] end
  return values
end

local function module_list(self, prefix)
  local list = {}
  collect_modules(self, prefix or '', list, {})
  return list
end

function Module:named_modules(prefix) return pairs_of(module_list(self, prefix)) end
function Module:modules() return values_of(module_list(self)) end

-- Tensors registered under `kind` in self and its descendants: { {name, tensor}... }, each tensor once.
local function tensor_list(self, kind, prefix, recurse)
  local list, seen = {}, {}
  local modules = recurse == false and { { prefix or '', self } } or module_list(self, prefix)
  for _, entry in ipairs(modules) do
    local fields = fields_of(entry[2])
    for _, name in ipairs(fields[kind]) do
      local tensor = fields[name]
      if tensor ~= nil and not seen[tensor] then
        seen[tensor] = true
        list[#list + 1] = { entry[1] == '' and tostring(name) or entry[1] .. '.' .. name, tensor, fields, name }
      end
    end
  end
  return list
end

function Module:named_parameters(prefix, recurse) return pairs_of(tensor_list(self, '_parameters', prefix, recurse)) end
function Module:parameters(recurse) return values_of(tensor_list(self, '_parameters', '', recurse)) end
function Module:named_buffers(prefix, recurse) return pairs_of(tensor_list(self, '_buffers', prefix, recurse)) end
function Module:buffers(recurse) return values_of(tensor_list(self, '_buffers', '', recurse)) end

-- Calls fn on every descendant and then on self.
function Module:apply(fn)
  for _, child in self:named_children() do child:apply(fn) end
  fn(self)
  return self
end

-- ---- modes and gradients ----------------------------------------------------------------------------

function Module:train(mode)
  if mode == nil then mode = true end
  if type(mode) ~= 'boolean' then error('training mode is expected to be boolean', 2) end
  for _, module in ipairs(self:modules()) do fields_of(module).training = mode end
  return self
end

function Module:eval() return self:train(false) end

function Module:requires_grad_(on)
  for _, parameter in ipairs(self:parameters()) do parameter:requires_grad_(on == nil or on) end
  return self
end

function Module:zero_grad() for _, parameter in ipairs(self:parameters()) do parameter.grad = nil end end

-- ---- moving ---------------------------------------------------------------------------------------------

-- Replaces the values (and gradients) of all parameters and buffers by fn of them; the tensors stay.
local function convert(self, fn)
  for _, entry in ipairs(tensor_list(self, '_parameters')) do
    local parameter = entry[2]
    local grad = parameter.grad
    parameter.grad = nil
    parameter.data = fn(parameter.data)
    if grad ~= nil then parameter.grad = fn(grad) end
  end
  for _, entry in ipairs(tensor_list(self, '_buffers')) do entry[3][entry[4]] = fn(entry[2]) end
  return self
end

-- to(device), to(dtype), to{device =, dtype =, non_blocking =}: dtypes apply to floating-point tensors only.
function Module:to(...)
  local options = {}
  for _, value in ipairs { ... } do
    local kind = torch.type(value)
    if kind == 'table' then
      for key, option in pairs(value) do options[key] = option end
    elseif kind == 'dtype' then options.dtype = value
    elseif kind == 'Tensor' then options.dtype, options.device = value.dtype, value.device
    else options.device = value end
  end
  for key in pairs(options) do
    if key ~= 'device' and key ~= 'dtype' and key ~= 'non_blocking' then
      error(("Module.to(): unknown argument '%s'; it takes device, dtype, non_blocking"):format(tostring(key)), 2)
    end
  end
  if options.dtype and not options.dtype.is_floating_point then
    error(('nn.Module.to only accepts floating point dtypes, but got desired dtype=%s'):format(tostring(options.dtype)), 2)
  end
  return convert(self, function(tensor)
    local dtype = options.dtype and tensor:is_floating_point() and options.dtype or tensor.dtype
    return tensor:to { device = options.device or tensor.device, dtype = dtype, non_blocking = options.non_blocking or false }
  end)
end

function Module:cuda(device)
  device = torch.device(device == nil and 'cuda' or math.type(device) == 'integer' and 'cuda:' .. device or device)
  return self:to(device)
end

function Module:cpu() return self:to(torch.device('cpu')) end
function Module:float() return self:to(torch.float32) end
function Module:double() return self:to(torch.float64) end
function Module:half() return self:to(torch.float16) end
function Module:bfloat16() return self:to(torch.bfloat16) end
function Module:type(dtype) return self:to(dtype) end

-- ---- state ------------------------------------------------------------------------------------------------

-- Names to tensors (detached), in order: the table holds the names at 1..#dict and the tensors by name;
-- pairs() walks name, tensor.
function Module:state_dict()
  local dict = setmetatable({}, ordered_dict)
  for _, entry in ipairs(module_list(self)) do
    local fields = fields_of(entry[2])
    for _, kind in ipairs { '_parameters', '_buffers' } do
      for _, name in ipairs(fields[kind]) do
        if fields[name] ~= nil then
          local key = entry[1] == '' and tostring(name) or entry[1] .. '.' .. name
          dict[#dict + 1] = key
          dict[key] = fields[name]:detach()
        end
      end
    end
  end
  return dict
end

local function check_keys(own, dict, strict)
  local missing, unexpected, problems = {}, {}, {}
  for key in pairs(own) do
    if dict[key] == nil then missing[#missing + 1] = key end
  end
  for key in pairs(dict) do
    if type(key) == 'string' and own[key] == nil then unexpected[#unexpected + 1] = key end
  end
  table.sort(unexpected)
  if strict and #unexpected > 0 then
    problems[#problems + 1] = 'Unexpected key(s) in state_dict: "' .. table.concat(unexpected, '", "') .. '".'
  end
  if strict and #missing > 0 then
    problems[#problems + 1] = 'Missing key(s) in state_dict: "' .. table.concat(missing, '", "') .. '".'
  end
  return missing, unexpected, problems
end

-- Copies values in by name. load_state_dict(dict, {strict = false}) ignores what does not match by name.
-- Returns the lists of missing and unexpected names. Nothing is changed when it fails.
function Module:load_state_dict(dict, options)
  local strict = not (options and options.strict == false)
  local own = self:state_dict()
  local missing, unexpected, problems = check_keys(own, dict, strict)
  for key, tensor in pairs(own) do
    local value = dict[key]
    if value ~= nil and value.shape ~= tensor.shape then
      problems[#problems + 1] = ('size mismatch for %s: copying a param with shape %s from checkpoint, the shape in current model is %s.')
        :format(key, tostring(value.shape), tostring(tensor.shape))
    end
  end
  if #problems > 0 then
    error(('Error(s) in loading state_dict for %s:\n\t%s'):format(torch.type(self), table.concat(problems, '\n\t')), 2)
  end
  torch.no_grad(function()
    for key, tensor in pairs(own) do
      if dict[key] ~= nil then tensor:copy_(dict[key]) end
    end
  end)
  return missing, unexpected
end

-- ---- printing -------------------------------------------------------------------------------------------

-- What stands between the parentheses of a layer without children.
function Module:extra_repr() return '' end

function Module:__tostring()
  local extra = self:extra_repr()
  local lines = {}
  for name, child in self:named_children() do
    lines[#lines + 1] = ('  (%s): %s'):format(name, (tostring(child):gsub('\n', '\n  ')))
  end
  if #lines == 0 then return ('%s(%s)'):format(torch.type(self), extra) end
  if extra ~= '' then table.insert(lines, 1, '  ' .. extra) end
  return ('%s(\n%s\n)'):format(torch.type(self), table.concat(lines, '\n'))
end

return Module
