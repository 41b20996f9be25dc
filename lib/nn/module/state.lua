-- state.lua - the state of nn.Module by name: state_dict and load_state_dict, and their hooks.

--[=[ arguments
hook: Function to call; `remove()` of the returned handle removes it.
prefix: Text before each name.
keep_vars: Whether the tensors keep their history instead of being detached.
strict: Whether missing and unexpected names are errors.
assign: Whether the tensors of the table become the module's own, instead of being copied into them.
state: Value that `get_extra_state` returned.
set_extra_state(): Receives the value of `get_extra_state` from a state; define it in your class.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local hook_list = require 'torch.support.hook_list'
local ordered_dict = require 'torch.support.ordered_dict'

local fields_of = class.fields

local function joined(prefix, name) return prefix .. tostring(name) end

-- State of a module other than tensors, if its class has these methods, and its name in a state.
local EXTRA_KEY, base_methods = '_extra_state', {}
local function has_extra(module, method) return module[method] ~= base_methods[method] end

-- ---- hooks --------------------------------------------------------------------------------------

local none = {}
local function entries_of(module, kind)
  local lists = fields_of(module)._state_hooks
  return lists and lists[kind].entries or none
end

local function add(self, kind, fn)
  local fields = fields_of(self)
  fields._state_hooks = fields._state_hooks
    or { save_pre = hook_list(), save = hook_list(), load_pre = hook_list(), load = hook_list() }
  return fields._state_hooks[kind]:add { fn = fn }
end

-- ---- saving -------------------------------------------------------------------------------------

-- Adds the state of a module and its descendants to dict; a module that is registered twice is
-- added twice.
local function collect(module, dict, prefix, keep_vars)
  local fields = fields_of(module)
  for _, hook in ipairs(entries_of(module, 'save_pre')) do hook.fn(module, prefix, keep_vars) end
  for _, kind in ipairs { '_parameters', '_buffers' } do
    for _, name in ipairs(fields[kind]) do
      local tensor = fields[name]
      if tensor ~= nil and not (kind == '_buffers' and fields._transient[name]) then
        local key = joined(prefix, name)
        dict[key] = (keep_vars or not torch.is_tensor(tensor)) and tensor or tensor:detach()
      end
    end
  end
  if has_extra(module, 'get_extra_state') then
    local key = prefix .. EXTRA_KEY
    dict[key] = module:get_extra_state()
  end
  for name, child in module:_named_places() do collect(child, dict, joined(prefix, name) .. '.', keep_vars) end
  for _, hook in ipairs(entries_of(module, 'save')) do hook.fn(module, dict, prefix) end
end

-- ---- loading ------------------------------------------------------------------------------------

local function quoted(keys) return '"' .. table.concat(keys, '", "') .. '"' end

-- The keys of a dict: in its own order if it has one, otherwise sorted.
local function keys_of(dict)
  local keys = {}
  if ordered_dict.is(dict) then return ordered_dict.names(dict) end
  for key in pairs(dict) do
    if type(key) == 'string' then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

-- The tensors of the module: { {key, tensor, fields, name}... }; extra state as {key, nil, module}.
local function places(module, prefix, list)
  local fields = fields_of(module)
  for _, kind in ipairs { '_parameters', '_buffers' } do
    for _, name in ipairs(fields[kind]) do
      if fields[name] ~= nil and not (kind == '_buffers' and fields._transient[name]) then
        list[#list + 1] = { joined(prefix, name), fields[name], fields, name }
      end
    end
  end
  if has_extra(module, 'set_extra_state') then list[#list + 1] = { prefix .. EXTRA_KEY, nil, module } end
  for name, child in module:_named_places() do places(child, joined(prefix, name) .. '.', list) end
  return list
end

local function run_load_hooks(module, dict, prefix)
  for _, hook in ipairs(entries_of(module, 'load_pre')) do hook.fn(module, dict, prefix) end
  if module._before_load then module:_before_load(dict, prefix) end
  for name, child in module:_named_places() do run_load_hooks(child, dict, joined(prefix, name) .. '.') end
end

local function mismatch(key, value, tensor)
  if not torch.is_tensor(value) then
    return ('While copying the parameter named "%s", expected Tensor or Tensor-like object from checkpoint but received %s')
      :format(key, torch.type(value))
  end
  if value.shape ~= tensor.shape and not (tensor.ndim == 0 and value.ndim == 1 and value:size(1) == 1) then
    return ('size mismatch for %s: copying a param with shape %s from checkpoint, the shape in current model is %s.')
      :format(key, tostring(value.shape), tostring(tensor.shape))
  end
end

local function compare(list, dict)
  local missing, unexpected, problems, own = {}, {}, {}, {}
  for _, place in ipairs(list) do
    local key = place[1]
    own[key] = true
    if dict[key] == nil then
      missing[#missing + 1] = key
    elseif place[2] ~= nil then
      problems[#problems + 1] = mismatch(key, dict[key], place[2])
    end
  end
  for _, key in ipairs(keys_of(dict)) do
    if not own[key] then unexpected[#unexpected + 1] = key end
  end
  return missing, unexpected, problems
end

local function shallow_copy(dict)
  local copy = ordered_dict.new()
  for _, key in ipairs(keys_of(dict)) do copy[key] = dict[key] end
  return copy
end

-- Replaces a tensor by another: a parameter stays a parameter.
local function assign(place, value)
  local _, own, fields, name = table.unpack(place)
  if torch._C.is_parameter(own) then
    fields[name] = torch.nn.Parameter(value, { requires_grad = own.requires_grad })
  else
    fields[name] = value
  end
end

local function has_load_hooks(module)
  for _, descendant in ipairs(module:modules()) do
    if #entries_of(descendant, 'load') > 0 then return true end
  end
  return false
end

local function run_after_load(module, missing, unexpected)
  for _, child in module:_named_places() do run_after_load(child, missing, unexpected) end
  for _, hook in ipairs(entries_of(module, 'load')) do hook.fn(module, missing, unexpected) end
end

-- Stores the values of dict in the module's tensors, by copying or assigning.
local function put_values(list, dict, by_assigning)
  for _, place in ipairs(list) do
    local value, own = dict[place[1]], place[2]
    if value ~= nil and own == nil then
      place[3]:set_extra_state(value)
    elseif value ~= nil and by_assigning then
      assign(place, value)
    elseif value ~= nil then
      own:copy_(value:reshape(own.shape))
    end
  end
end

-- Raises an error about the values that do not fit and, unless the lists are nil, about names
-- without counterpart.
local function refuse(module, problems, missing, unexpected)
  local all = {}
  if missing and #missing > 0 then all[1] = ('Missing key(s) in state_dict: %s. '):format(quoted(missing)) end
  if unexpected and #unexpected > 0 then all[#all + 1] = ('Unexpected key(s) in state_dict: %s. '):format(quoted(unexpected)) end
  table.move(problems, 1, #problems, #all + 1, all)
  if #all > 0 then
    fail('%s', ('Error(s) in loading state_dict for %s:\n\t%s'):format(module:_get_name(), table.concat(all, '\n\t')))
  end
end

return function(Module)
  --- A class with state other than tensors has both methods: get_extra_state() returns the value
  --- that state_dict stores under '_extra_state' (any value that torch.save supports),
  --- set_extra_state(value) receives it when a state is loaded.
  function Module:get_extra_state()
    fail('%s has no get_extra_state: its class must define it when its state has more than tensors', torch.type(self))
  end
  function Module:set_extra_state(state)
    fail('%s has no set_extra_state: its class must define it when its state has more than tensors', torch.type(self))
  end
  base_methods.get_extra_state, base_methods.set_extra_state = Module.get_extra_state, Module.set_extra_state

  -- state_dict{prefix = '', keep_vars = false}: an ordered table of tensors by name (detached,
  -- unless keep_vars). pairs() iterates over name, tensor in order; dict[i] is the i-th name, #dict
  -- their number.
  function Module:state_dict(prefix, keep_vars)
    self:_check_finite()
    local dict = ordered_dict.new()
    collect(self, dict, prefix or '', keep_vars or false)
    return dict
  end

  -- load_state_dict(dict, {strict = true, assign = false}) copies values by name, or with assign
  -- replaces the tensors. strict = false ignores names without counterpart. Returns the lists of
  -- missing and of unexpected names. A failure changes nothing, except with post hooks: these may
  -- change the lists, so names are checked after them.
  function Module:load_state_dict(state_dict, strict, assign)
    self:_check_finite()
    local dict = shallow_copy(state_dict)
    run_load_hooks(self, dict, '')
    local list = places(self, '', {})
    local missing, unexpected, problems = compare(list, dict)
    local hooked = has_load_hooks(self)
    strict = strict ~= false
    local early = strict and not hooked
    refuse(self, problems, early and missing or nil, early and unexpected or nil)
    torch.no_grad(put_values, list, dict, assign)
    if hooked then run_after_load(self, missing, unexpected) end
    if strict then refuse(self, {}, missing, unexpected) end
    return missing, unexpected
  end

  -- fn(module, prefix, keep_vars) before the module's state is collected.
  function Module:register_state_dict_pre_hook(hook) return add(self, 'save_pre', hook) end

  -- fn(module, dict, prefix) after the state of the module and its descendants was added to dict.
  function Module:register_state_dict_post_hook(hook) return add(self, 'save', hook) end

  -- fn(module, dict, prefix) before the state is read; it may change dict, which is a copy.
  function Module:register_load_state_dict_pre_hook(hook) return add(self, 'load_pre', hook) end

  -- fn(module, missing, unexpected) after the state was read. It may change both lists, of the
  -- names of the whole state; with strict, names that are left in them are an error.
  function Module:register_load_state_dict_post_hook(hook) return add(self, 'load', hook) end
end
