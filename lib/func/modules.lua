-- modules.lua - torch.func's functional_call and stack_module_state: a module as a function of its
-- parameters.

--[=[ arguments
module: Module to call.
parameter_and_buffer_dicts: Tensors by name, which replace the module's; a table, or a list of tables.
args: Argument of the call, or a list of them.
kwargs: Table of named arguments, which is passed last.
tie_weights: Whether tensors that the module has under several names are replaced together.
strict: Whether a missing or unexpected name is an error.
root: Module to change.
models: List of modules of one class.
]=]

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local scope = require 'torch.autograd.scope'

local M = {}

-- ---- replacing parameters -----------------------------------------------------------------------

-- Joins a list of tables of names; a single table is returned as it is.
local function joined(given)
  if type(given) ~= 'table' then
    fail('Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got %s', torch.type(given))
  end
  if type(given[1]) ~= 'table' then return given end
  local all, repeated = {}, {}
  for _, dict in ipairs(given) do
    if type(dict) ~= 'table' then fail('Expected all elements of parameter_and_buffer_dicts to be dictionaries') end
    for name, value in pairs(dict) do
      if all[name] ~= nil then repeated[#repeated + 1] = ("'%s'"):format(name) end
      all[name] = value
    end
  end
  if #repeated > 0 then
    table.sort(repeated)
    fail('[%s] appeared in multiple dictionaries; behavior of functional call is ambiguous', table.concat(repeated, ', '))
  end
  return all
end

-- The slot of every tensor of the module by name, and the groups of names of one tensor.
local function places_of(module, tie)
  local places, first = {}, {}
  for _, kind in ipairs { '_parameters', '_buffers' } do
    for _, entry in ipairs(module:tensor_list(kind, '', true, false)) do
      local name, tensor, fields, key = table.unpack(entry)
      local place = tie and first[tensor] or { places = {}, names = {} }
      first[tensor] = place
      place.places[#place.places + 1] = { fields = fields, key = key }
      place.names[#place.names + 1] = name
      places[name] = place
    end
  end
  return places
end

local function restore(replaced)
  for i = #replaced, 1, -1 do
    local entry = replaced[i]
    entry.fields[entry.key] = entry.value
  end
end

local function check_ties(place, values, name)
  for _, other in ipairs(place.names) do
    if other ~= name and values[other] ~= nil and values[other] ~= values[name] then
      fail("functional_call got multiple values for keys ['%s', '%s'], which are tied. Consider using tie_weights=False", name, other)
    end
  end
end

local function replace(places, values, replaced)
  for name, value in pairs(values) do
    local place = places[name]
    if place then
      check_ties(place, values, name)
      for _, at in ipairs(place.places) do
        replaced[#replaced + 1] = { fields = at.fields, key = at.key, value = at.fields[at.key] }
        at.fields[at.key] = value
      end
    end
  end
end

local function check_strict(places, values)
  local missing, unexpected = {}, {}
  for name in pairs(values) do
    if not places[name] then unexpected[#unexpected + 1] = name end
  end
  for name, place in pairs(places) do
    local given = false
    for _, other in ipairs(place.names) do given = given or values[other] ~= nil end
    if not given then missing[#missing + 1] = name end
  end
  table.sort(missing)
  table.sort(unexpected)
  local parts = {}
  if #unexpected > 0 then parts[1] = ('Unexpected key(s): %s.'):format(table.concat(unexpected, ', ')) end
  if #missing > 0 then parts[#parts + 1] = ('Missing key(s): %s.'):format(table.concat(missing, ', ')) end
  if #parts > 0 then fail('Error(s) in running functional_call: %s', table.concat(parts, ' ')) end
end

-- The named entries of a table, without the list part, in which an OrderedDict has its names.
local function named(dict)
  local values = {}
  for name, value in pairs(dict) do
    if type(name) ~= 'string' then fail('functional_call: a name must be a string, got %s', torch.type(name)) end
    if not torch.is_tensor(value) then
      fail("functional_call: '%s' must be a Tensor, got %s", name, torch.type(value))
    end
    values[name] = value
  end
  return values
end

--- functional_call(module, parameters, args, kwargs, {tie_weights = true, strict = false}): calls
--- module(args...) with the tensors of the table `parameters` instead of its own, which are
--- restored afterwards.
---
--- - parameters: by the names of named_parameters and named_buffers; a list of such tables is
---   joined
--- - args: one argument or a list of them; kwargs: a table of named arguments, which is passed last
--- - tie_weights: replaces a tensor under all of its names in the module
function M.functional_call(module, parameters, args, kwargs, options)
  local values = named(joined(parameters))
  local places = places_of(module, options.tie_weights ~= false)
  if options.strict then check_strict(places, values) end
  local list = type(args) == 'table' and table.move(args, 1, args.n or #args, 1, { n = args.n or #args }) or { args, n = args ~= nil and 1 or 0 }
  if kwargs ~= nil and next(kwargs) ~= nil then
    list.n = list.n + 1
    list[list.n] = kwargs
  end
  local replaced = {}
  local _ <close> = scope.open(module, function() end, function() restore(replaced) end)
  replace(places, values, replaced)
  return module(table.unpack(list, 1, list.n))
end

-- ---- the state of several modules ---------------------------------------------------------------

local function stacked(models, walk)
  local lists, names = {}, {}
  for i, model in ipairs(models) do
    for name, tensor in walk(model) do
      if i == 1 then names[#names + 1] = name end
      lists[name] = lists[name] or {}
      lists[name][i] = tensor
    end
  end
  local result = {}
  for _, name in ipairs(names) do
    local list = lists[name]
    for _, tensor in ipairs(list) do
      if tensor.requires_grad ~= list[1].requires_grad then
        fail('Expected %s from each model to have the same .requires_grad', name)
      end
    end
    result[name] = torch.stack(list):detach()
    if list[1].requires_grad then result[name]:requires_grad_() end
  end
  return result
end

--- Two tables, of the parameters and of the buffers of a list of modules of one class: by name, the
--- modules' tensors stacked along a new first dimension; leaves that require grad if the originals
--- do.
function M.stack_module_state(models)
  kinds.check('stack_module_state', 'models', models, 'table')
  if #models == 0 then fail('stack_module_state: Expected at least one model, got 0.') end
  for i, model in ipairs(models) do
    kinds.check('stack_module_state', ('models[%d]'):format(i), model, 'Module')
    if model.training ~= models[1].training then
      fail('stack_module_state: Expected all models to have the same training/eval mode.')
    end
    if getmetatable(model).__class ~= getmetatable(models[1]).__class then
      fail('stack_module_state: Expected all models to be of the same class.')
    end
  end
  return stacked(models, function(model) return model:named_parameters() end),
    stacked(models, function(model) return model:named_buffers() end)
end

-- ---- statistics of batches ----------------------------------------------------------------------

--- Removes the running statistics from every BatchNorm in the module, so that it normalizes by the
--- batch: vmap cannot write statistics that all samples share. Returns the module.
function M.replace_all_batch_norm_modules_(module)
  kinds.check('replace_all_batch_norm_modules_', 'root', module, 'Module')
  for _, child in ipairs(module:modules()) do
    if torch.type(child):find '^BatchNorm%dd$' then
      child.running_mean, child.running_var, child.num_batches_tracked = nil, nil, nil
      child.track_running_stats = false
    end
  end
  return module
end

local declare = require 'torch.support.arguments'
declare.functions(M, [[
  stack_module_state(any models)
  replace_all_batch_norm_modules_(Module root)
]])

return declare.functions(M, [[
  functional_call(Module module, any parameter_and_buffer_dicts, any? args, named? kwargs, *, boolean tie_weights=true, boolean strict=false)
]], 'options')
