-- schemas.lua - the overload of ATen for a call of one of our operations: parses overloads.lua, and
-- assigns the arguments of the call to the parameters of an overload.
--
-- This is the inverse of declared.lua: arguments match by name, tensors also by position. An overload
-- is { name =, overload =, results = 1, a number or 'list', parameters { kind =, is_list =, size = n of
-- int[n], optional = true if it may be absent, default =, has_default =, name =, only_named = } }.

local torch = require 'torch'
local declared = require 'torch.export.declared'
local record = require 'torch.onnx.export.record'
local symbols = require 'torch.onnx.export.symbols'

local M = {}

-- ---- the table ----------------------------------------------------------------------------------

local words = { None = false, True = true, False = false }

local function default_of(text)
  if text == 'None' then return nil end
  if words[text] ~= nil then return words[text] end
  if text:sub(1, 1) == '[' then
    local list = {}
    for number in text:gmatch '[-%d.]+' do list[#list + 1] = math.tointeger(tonumber(number)) or tonumber(number) end
    return list
  end
  return text:match '^"(.*)"$' or math.tointeger(text) or tonumber(text)
end

local function parsed_parameter(text, only_named)
  local form, name, default = text:match '^(%S+) ([%w_]+)=?(.*)$'
  local kind, brackets, size = form:match '^(%a+)%??(%[(%d*)%])'
  kind = kind or form:match '^%a+'
  return { kind = kind, is_list = brackets ~= nil, size = tonumber(size), optional = form:sub(-1) == '?', may_skip = form:find('?[', 1, true) ~= nil, name = name,
    has_default = default ~= '', default = default_of(default), only_named = only_named }
end

local function parsed_overload(text)
  local name, overload, inside, results = text:match '^([%w_]+)%.([%w_]+)%((.*)%)(%S*)$'
  local entry, only_named = { name = name, overload = overload, results = results == '[]' and 'list' or tonumber(results) or 1 }, false
  -- Commas within brackets do not separate parameters.
  for part in (inside:gsub('%b[]', function(list) return (list:gsub(', ', ' ')) end) .. ', '):gmatch '(.-), ' do
    if part == '*' then only_named = true
    elseif part ~= '' then entry[#entry + 1] = parsed_parameter(part, only_named) end
  end
  return entry
end

local texts, parsed

-- The texts of the overloads by name.
local function all_texts()
  if texts then return texts end
  texts, parsed = {}, {}
  for text in require('torch.export.write.overloads'):gmatch '%s*([^;\n]+)' do
    local name = text:match '^([%w_]+)%.'
    texts[name] = texts[name] or {}
    table.insert(texts[name], text)
  end
  return texts
end

--- The overloads of an operator, possibly none: `op_` has the ones of `op` that write to their first
--- argument.
function M.overloads(name)
  local by_name = all_texts()
  if parsed[name] then return parsed[name] end
  local list, plain = {}, name:match '^(.*[^_])_$'
  for _, text in ipairs(by_name[name] or {}) do list[#list + 1] = parsed_overload(text) end
  for _, text in ipairs(plain and by_name[plain] or {}) do
    local entry = parsed_overload(text)
    entry.name = name
    if entry.results == 1 and entry[1] and entry[1].kind == 'Tensor' then list[#list + 1] = entry end
  end
  parsed[name] = list
  return list
end

--- The overload 'name.overload'.
function M.find(target)
  local name, overload = target:match '^([%w_]+)%.([%w_]+)$'
  for _, entry in ipairs(M.overloads(name)) do
    if entry.overload == overload then return entry end
  end
  error(('overloads.lua has no %s'):format(target))
end

--- The names of all operators in the table.
function M.names()
  local names = {}
  for name in pairs(all_texts()) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- ---- matching -----------------------------------------------------------------------------------

local reductions = { none = 0, mean = 1, sum = 2 }

local function is_list(x) return type(x) == 'table' and not record.is_value(x) and getmetatable(x) == nil end

--- Whether x is a number, also one that depends on the sizes of the inputs, or a boolean.
function M.is_scalar(x) return type(x) == 'number' or type(x) == 'boolean' or torch.type(x) == 'complex' or symbols.is_symbol(x) end

local single = {
  Tensor = function(x) return record.is_value(x) end,
  Scalar = M.is_scalar,
  int = function(x) return math.type(x) == 'integer' or reductions[x] ~= nil or symbols.is_symbol(x) end,
  float = function(x) return type(x) == 'number' end,
  bool = function(x) return type(x) == 'boolean' end,
  str = function(x) return type(x) == 'string' end,
  ScalarType = function(x) return torch.type(x) == 'dtype' end,
  Device = function(x) return torch.type(x) == 'device' or type(x) == 'string' end,
}

-- The value in the form of the parameter; nil if it does not fit. A number may stand for a list of
-- equal numbers, a list of one number for the number. numbers: also for a tensor.
local function fitted(parameter, value, numbers)
  local fits = single[parameter.kind]
  if numbers and parameter.kind == 'Tensor' and not parameter.is_list and M.is_scalar(value) then return value end
  if not fits then return nil end
  if parameter.is_list then
    local list = is_list(value) and value or { value }
    for _, entry in ipairs(list) do
      if not fits(entry) or reductions[entry] then return nil end
    end
    if #list == 1 and (parameter.size or 1) > 1 then
      local all = {}
      for i = 1, parameter.size do all[i] = list[1] end
      return all
    end
    return list
  end
  if is_list(value) and #value == 1 and parameter.kind == 'int' then value = value[1] end
  if not fits(value) then return nil end
  if parameter.kind == 'int' and type(value) == 'string' then return parameter.name == 'reduction' and reductions[value] or nil end
  return value
end

local function same(a, b)
  if is_list(a) and is_list(b) then
    if #a ~= #b then return false end
    for i, x in ipairs(a) do
      if x ~= b[i] then return false end
    end
    return true
  end
  return a == b
end

local tensor_kinds = { Tensor = true, IndexTensor = true, ['Tensor|Scalar'] = true, ['Tensor[]'] = true, ['IndexTensor[]'] = true }

-- Our parameter for each parameter of the overload.
local function pairs_of(overload, ours)
  local at, found, taken = {}, {}, {}
  for i, parameter in ipairs(ours) do at[parameter.name] = i end
  for k, parameter in ipairs(overload) do
    local i = at[parameter.name] or at[declared.synonyms[parameter.name]]
    if i then found[k], taken[i] = ours[i], true end
  end
  for k, parameter in ipairs(overload) do
    local same_place = ours[k]
    if not found[k] and parameter.kind == 'Tensor' and same_place and not taken[k] and not same_place.only_named and tensor_kinds[same_place.kind] then
      found[k], taken[k] = same_place, true
    end
  end
  return found, taken
end

--- The arguments of a call for an overload: { { parameter =, value =, ours = our parameter } }; nil if
--- it does not fit. ours: our declaration; bound: the arguments by its names; numbers: a number may be
--- an operand in place of a tensor.
function M.match(overload, ours, bound, numbers)
  local found, taken = pairs_of(overload, ours)
  local list = {}
  for k, parameter in ipairs(overload) do
    local value = found[k] and bound[found[k].name]
    if parameter.name == 'cudnn_enabled' and not parameter.has_default then value = false end
    if value == nil then
      if not parameter.has_default and not parameter.optional then return nil end
    else
      value = fitted(parameter, value, numbers)
      if value == nil then return nil end
      list[#list + 1] = { parameter = parameter, value = value, ours = found[k] }
    end
  end
  for i, parameter in ipairs(ours) do
    local value = bound[parameter.name]
    if not taken[i] and value ~= nil and not same(value, parameter.default) and not declared.ignored[parameter.name] then return nil end
  end
  return list
end

M.same = same

return M
