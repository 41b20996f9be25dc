-- module.lua - nn.Module: the base class of layers and models.
--
-- Assigning a Parameter, a module or a registered buffer to a field registers it, in the order of
-- first assignment; the field contains it like any other value. The names are stored in three lists
-- beside the fields, with a table that maps each name to its list; names of non-persistent buffers
-- are also in a set. Hooks are in module/hooks.lua, state in module/state.lua.

--[=[ arguments
name: Name of the field.
module: Module to register; nil removes it.
param: Parameter to register; nil reserves the name.
tensor: Tensor to register; nil reserves the name.
persistent: Whether the buffer is part of `state_dict`.
fn: Function that is called with each module.
mode: Whether the module is in training mode; false selects evaluation mode.
dst_type: Dtype of the parameters and buffers.
target: Name of the submodule, parameter or buffer: the names on its path, joined by dots.
set_submodule.module: Module that replaces the submodule.
set_submodule.strict: Whether a missing submodule is an error; otherwise it is added.
prefix: Text before each name.
options: Options of `torch.compile`.
requires_grad: Whether autograd records operations on the parameters.
device: Device of the parameters and buffers: `'cpu'`, `'cuda'`, `'cuda:1'` or a `torch.device`.
add_module(): Registers a module under a name; assigning it to the field does the same.
register_module(): The same as `add_module`.
register_parameter(): Registers a parameter under a name; assigning it to the field does the same.
named_modules(): An iterator over the names and all modules in this one, itself first, with an empty name.
get_parameter(): The parameter of this name, which may contain dots.
get_buffer(): The buffer of this name, which may contain dots.
type(): Converts parameters and buffers to a dtype; returns the module itself.
]=]

--[=[ examples
Module
    Double = nn.Module:extend('Double')
    function Double:forward(x) return x * 2 end
    Double()(torch.tensor{1.0, 2.0})
    --> tensor([2., 4.])
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local kinds = require 'torch.support.argument_kinds'
local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'
local hooks = require 'torch.nn.module.hooks'

local fields_of, plain_forwards = class.fields, checked.plain_forwards
local is_parameter = torch._C.is_parameter

local Module = class.Object:extend('Module')

function Module:__new()
  local fields = fields_of(self)
  fields.training = true
  fields._parameters, fields._buffers, fields._modules = {}, {}, {} -- names, in order
  fields._registered = {} -- the key of the list that a name is in
  fields._transient = {} -- buffers that state_dict omits
end

-- Appends a name to the list `kind`, unless the list contains it.
local function enroll(fields, name, kind)
  local registered = fields._registered
  if registered[name] == kind then return end
  if registered[name] then Module._unregister_name(fields, name) end
  registered[name] = kind
  local list = fields[kind]
  list[#list + 1] = name
end

function Module._unregister_name(fields, name)
  local kind = fields._registered[name]
  if not kind then return end
  fields._registered[name], fields._transient[name] = nil, nil
  local list = fields[kind]
  local i = #list
  while list[i] ~= name do i = i - 1 end
  table.remove(list, i)
end

-- Removes a buffer, which assigning nil does not.
function Module:_unregister(name)
  local fields = fields_of(self)
  Module._unregister_name(fields, name)
  fields[name] = nil
end

-- Removes all modules.
function Module:_clear_modules()
  local fields = fields_of(self)
  local names = fields._modules
  fields._modules = {}
  for _, name in ipairs(names) do fields._registered[name], fields[name] = nil, nil end
end

-- Whether a value is an uninitialized parameter or buffer of a lazy module; set by lazy.lua.
function Module.is_unmade() return false end

local function kind_for(value)
  if is_parameter(value) or Module.is_unmade(value) then return '_parameters' end
  if Module:is_instance(value) then return '_modules' end
end

-- Applies the global registration hooks to a value.
local function through_hooks(self, kind, name, value)
  for _, hook in ipairs(hooks.registration[kind].entries) do
    local given = hook.fn(self, name, value)
    if given ~= nil then value = given end
  end
  return value
end

local expected = { _parameters = { 'parameter', 'nn.Parameter or nil' }, _modules = { 'child module', 'nn.Module or nil' }, _buffers = { 'buffer', 'Tensor or nil' } }

-- Assigning nil removes a parameter or module; a buffer stays registered.
function Module:__setattr(name, value)
  local fields = fields_of(self)
  local kind, present = kind_for(value), fields._registered[name]
  if kind then
    enroll(fields, name, kind)
    value = through_hooks(self, kind, name, value)
  elseif present == '_buffers' and (value == nil or torch.is_tensor(value)) then
    value = through_hooks(self, present, name, value)
  elseif present and value ~= nil then
    fail("cannot assign '%s' as %s '%s' (%s expected)", torch.type(value), expected[present][1], name, expected[present][2])
  elseif present then
    Module._unregister_name(fields, name)
  end
  fields[name] = value
end

local function check_name(self, name, what, kind)
  if type(name) ~= 'string' and math.type(name) ~= 'integer' then
    fail(('%s name should be a string, got %s'):format(what, type(name)))
  end
  if tostring(name):find('.', 1, true) then fail(("%s name can't contain \".\", got: %s"):format(what, name)) end
  if name == '' then fail(('%s name can\'t be empty string ""'):format(what)) end
  local present = fields_of(self)._registered[name]
  if present ~= kind and (present or self[name] ~= nil) then fail("attribute '%s' already exists", name) end
end

local function register(self, kind, name, value)
  enroll(fields_of(self), name, kind)
  fields_of(self)[name] = through_hooks(self, kind, name, value)
end

-- register_buffer(name, tensor, {persistent = true}): a tensor that moves with the module and, if
-- persistent, is part of its state, but is not trained.
function Module:register_buffer(name, tensor, persistent)
  check_name(self, name, 'buffer', '_buffers')
  if tensor ~= nil and not torch.is_tensor(tensor) and not Module.is_unmade(tensor) then
    fail(("cannot assign '%s' to buffer '%s' (Tensor or nil required)"):format(torch.type(tensor), name))
  end
  register(self, '_buffers', name, tensor)
  fields_of(self)._transient[name] = persistent == false or nil
end

function Module:register_parameter(name, param)
  check_name(self, name, 'parameter', '_parameters')
  if param ~= nil and not is_parameter(param) and not Module.is_unmade(param) then
    fail(("cannot assign '%s' object to parameter '%s' (nn.Parameter or nil required)"):format(
      torch.type(param), name))
  end
  register(self, '_parameters', name, param)
end

function Module:add_module(name, module)
  check_name(self, name, 'module', '_modules')
  if module ~= nil and not Module:is_instance(module) then
    fail(('%s is not a Module subclass'):format(torch.type(module)))
  end
  register(self, '_modules', name, module)
end
Module.register_module = Module.add_module

-- ---- calling ------------------------------------------------------------------------------------

-- With hooks, module/hooks.lua calls forward among them.
local function call(self, ...)
  local fields = fields_of(self)
  if fields._hooks or hooks.any_global then return hooks.call(self, fields._hooks, ...) end
  local forward = self.forward
  local plain = plain_forwards[forward]
  if plain and select('#', ...) == 1 and type((...)) ~= 'table' then return plain(self, ...) end
  return forward(self, ...)
end

-- The calls that compile() has compiled, by module. Not a field, so copies and files contain the
-- original module.
local compiled_calls = setmetatable({}, { __mode = 'k' })

function Module:__call(...)
  local compiled = compiled_calls[self]
  if compiled then return compiled(...) end
  return call(self, ...)
end

-- Compiles calls of this module, with its hooks, by torch.compile with the same options.
function Module:compile(options)
  compiled_calls[self] = torch.compile(function(...) return call(self, ...) end, options)
end

function Module:forward(...)
  fail(('Module [%s] is missing the required "forward" function'):format(torch.type(self)))
end

-- ---- walking ------------------------------------------------------------------------------------

-- name, child pairs of all direct children, in order; a child with two names occurs twice.
function Module:_named_places()
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

-- name, child pairs of the direct children, in order, each once.
function Module:named_children()
  local next_place, seen = self:_named_places(), {}
  return function()
    local name, child
    repeat name, child = next_place() until name == nil or not seen[child]
    if name ~= nil then seen[child] = true end
    return name, child
  end
end

-- A list of the direct children.
function Module:children()
  local list = {}
  for _, child in self:named_children() do list[#list + 1] = child end
  return for_loops.list(list)
end

-- seen: false to list a module that is registered twice twice. path: the enclosing modules by name,
-- to detect a module that contains itself.
local function collect_modules(module, prefix, list, seen, path)
  if path[module] then
    fail("%s contains itself: '%s' is %s", module:_get_name(), prefix,
      path[module] == '' and 'the module itself' or ("'%s'"):format(path[module]))
  end
  if seen then
    if seen[module] then return end
    seen[module] = true
  end
  list[#list + 1] = { prefix, module }
  path[module] = prefix
  for name, child in module:_named_places() do
    collect_modules(child, prefix == '' and name or prefix .. '.' .. name, list, seen, path)
  end
  path[module] = nil
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
  return for_loops.list(values)
end

local function module_list(self, prefix, remove_duplicate)
  local list = {}
  collect_modules(self, prefix or '', list, remove_duplicate ~= false and {}, {})
  return list
end

function Module:named_modules(prefix, remove_duplicate)
  return pairs_of(module_list(self, prefix, remove_duplicate))
end

function Module:modules(remove_duplicate) return values_of(module_list(self, '', remove_duplicate)) end

-- Raises an error if the module contains itself; for traversals that do not use module_list.
local function check_finite(self) module_list(self) end
Module._check_finite = check_finite

-- Tensors registered under `kind` in self and its descendants: { {name, tensor, fields, key}... }.
-- Each tensor once, unless remove_duplicate is false.
local function tensor_list(self, kind, prefix, recurse, remove_duplicate)
  local list, seen = {}, {}
  local modules = recurse == false and { { prefix or '', self } } or module_list(self, prefix, remove_duplicate)
  for _, entry in ipairs(modules) do
    local fields = fields_of(entry[2])
    for _, name in ipairs(fields[kind]) do
      local tensor = fields[name]
      if tensor ~= nil and (remove_duplicate == false or not seen[tensor]) then
        seen[tensor] = true
        list[#list + 1] = { entry[1] == '' and tostring(name) or entry[1] .. '.' .. name, tensor, fields, name }
      end
    end
  end
  return list
end
Module.tensor_list = tensor_list

-- name, tensor pairs; the same for buffers.
local function named(kind)
  return function(self, prefix, recurse, remove_duplicate)
    return pairs_of(tensor_list(self, kind, prefix, recurse, remove_duplicate))
  end
end

local function listed(kind)
  return function(self, recurse)
    return values_of(tensor_list(self, kind, '', recurse))
  end
end

Module.named_parameters, Module.parameters = named '_parameters', listed '_parameters'
Module.named_buffers, Module.buffers = named '_buffers', listed '_buffers'

-- The descendant of that path ('encoder.0.linear'); '' is the module itself.
function Module:get_submodule(target)
  local module = self
  for name in target:gmatch '[^.]+' do
    local child = fields_of(module)[name]
    if child == nil then fail('%s has no attribute `%s`', torch.type(module), name) end
    if not Module:is_instance(child) then fail('`%s` is not an nn.Module', name) end
    module = child
  end
  return module
end

--- Replaces the descendant at a path ('encoder.0.linear'). With {strict = true}, it must exist.
function Module:set_submodule(target, module, strict)
  if target == '' then fail 'Cannot set the submodule without a target name!' end
  local path, name = target:match '^(.*)%.([^.]*)$'
  local parent = self:get_submodule(path or '')
  name = name or target
  local present = fields_of(parent)[name]
  if present == nil and strict then
    fail('%s has no attribute `%s`', torch.type(parent), name)
  end
  if present ~= nil and not Module:is_instance(present) then fail('`%s` is not an nn.Module', name) end
  parent:add_module(name, module)
end

local function get_tensor(self, target, kind, what)
  local path, name = target:match '^(.*)%.([^.]*)$'
  local module = self:get_submodule(path or '')
  name = name or target
  local fields = fields_of(module)
  if fields[name] == nil then fail('%s has no attribute `%s`', torch.type(module), name) end
  if fields._registered[name] ~= kind then fail('`%s` is not %s', name, what) end
  return fields[name]
end

function Module:get_parameter(target) return get_tensor(self, target, '_parameters', 'an nn.Parameter') end
function Module:get_buffer(target) return get_tensor(self, target, '_buffers', 'a buffer') end

-- Calls fn on every descendant and then on self.
function Module:apply(fn)
  check_finite(self)
  for _, child in self:named_children() do child:apply(fn) end
  fn(self)
  return self
end

-- ---- modes and gradients ------------------------------------------------------------------------

function Module:train(mode)
  if mode == nil then mode = true end
  if type(mode) ~= 'boolean' then fail('training mode is expected to be boolean') end
  check_finite(self)
  fields_of(self).training = mode
  for _, child in self:named_children() do child:train(mode) end
  return self
end

function Module:eval() return self:train(false) end

function Module:requires_grad_(requires_grad)
  for _, parameter in ipairs(self:parameters()) do parameter.requires_grad = requires_grad ~= false end
  return self
end

-- zero_grad{set_to_none = true}: false keeps the gradients' memory and fills it with zeros.
function Module:zero_grad(set_to_none)
  local keep = set_to_none == false
  for _, parameter in ipairs(self:parameters()) do
    if keep and parameter.grad ~= nil then parameter.grad:detach():zero_() else parameter.grad = nil end
  end
end

-- ---- moving -------------------------------------------------------------------------------------

-- Replaces the values (and gradients) of all parameters and buffers by fn of them; the tensors
-- stay.
local function convert(self, fn)
  for _, entry in ipairs(tensor_list(self, '_parameters')) do
    local parameter = entry[2]
    if Module.is_unmade(parameter) then
      parameter:convert(fn)
    else
      local grad = parameter.grad
      parameter.grad = nil
      parameter.data = fn(parameter.data)
      if grad ~= nil then parameter.grad = fn(grad) end
    end
  end
  for _, entry in ipairs(tensor_list(self, '_buffers', '', true, false)) do
    if Module.is_unmade(entry[2]) then entry[2]:convert(fn) else entry[3][entry[4]] = fn(entry[2]) end
  end
  return self
end

local formats = { [torch.contiguous_format] = true, [torch.preserve_format] = true, [torch.channels_last] = true, [torch.channels_last_3d] = true }

-- to(device, dtype, non_blocking), to(dtype, non_blocking), to(tensor, non_blocking), or names: dtypes
-- apply to floating-point tensors only, memory formats to tensors with four and five dimensions.
local read_to = declare.reader 'Module.to(any? device, any? dtype, boolean? non_blocking, *, any? memory_format)'
function Module:to(...)
  local options = read_to(...)
  local first = torch.type(options.device)
  if first == 'dtype' or first == 'Tensor' then
    if type(options.dtype) == 'boolean' and options.non_blocking == nil then options.non_blocking, options.dtype = options.dtype, nil end
    if options.dtype ~= nil then fail('Module.to(): a dtype or Tensor is followed by non_blocking only, got %s', tostring(options.dtype)) end
    if first == 'dtype' then options.dtype, options.device = options.device, nil
    else options.dtype, options.device = options.device.dtype, options.device.device end
  end
  kinds.check('Module.to', 'dtype', options.dtype, 'dtype?')
  local format = options.memory_format
  if format ~= nil and not formats[format] then
    fail(("Module.to: memory_format must be torch.contiguous_format, torch.preserve_format, torch.channels_last or torch.channels_last_3d, got '%s'"):format(tostring(format)))
  end
  if options.dtype and not options.dtype.is_floating_point then
    fail(('nn.Module.to only accepts floating point dtypes, but got desired dtype=%s'):format(tostring(options.dtype)))
  end
  return convert(self, function(tensor)
    local dtype = options.dtype and tensor:is_floating_point() and options.dtype or tensor.dtype
    local there = tensor:to { device = options.device or tensor.device, dtype = dtype, non_blocking = options.non_blocking }
    local image = there:dim() == 4 or there:dim() == 5
    return format and image and there:contiguous { memory_format = format } or there
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
function Module:type(dst_type) return self:to(dst_type) end

-- Allocates uninitialized memory on a device for all parameters and buffers: to_empty{device =
-- 'cuda'}.
function Module:to_empty(device, recurse)
  if recurse == false then fail 'to_empty(): recurse = false is not supported' end
  return convert(self, function(tensor) return torch.empty_like(tensor, { device = device }) end)
end

-- ---- printing -----------------------------------------------------------------------------------

-- The text between the parentheses of a printed layer without children.
function Module:extra_repr() return '' end

-- The printed name of the class.
function Module:_get_name() return torch.type(self) end

-- A child that is registered twice is printed twice.
function Module:__tostring()
  check_finite(self)
  local extra, name = self:extra_repr(), self:_get_name()
  local lines = {}
  for key, child in self:_named_places() do
    lines[#lines + 1] = ('  (%s): %s'):format(key, (tostring(child):gsub('\n', '\n  ')))
  end
  if #lines == 0 and not extra:find('\n', 1, true) then return ('%s(%s)'):format(name, extra) end
  if extra ~= '' then table.insert(lines, 1, '  ' .. extra:gsub('\n', '\n  ')) end
  return ('%s(\n%s\n)'):format(name, table.concat(lines, '\n'))
end

hooks.install(Module)
require 'torch.nn.module.state' (Module)
require 'torch.nn.module.copy' (Module)

return Module
