-- arguments.lua - maps the arguments of a recorded call to the names of the op's declaration
-- (support/declarations.lua).

local torch = require 'torch'
local declarations = require 'torch.support.declarations'
local kinds = require 'torch.support.argument_kinds'
local record = require 'torch.onnx.export.record'

local M = {}

-- ---- matching -----------------------------------------------------------------------------------

local function is_number(x) return type(x) == 'number' end
local function is_integer(x) return math.type(x) == 'integer' end
local function is_list(x) return type(x) == 'table' and not record.is_value(x) end
local function is_scalar(x) return is_number(x) or type(x) == 'boolean' or torch.type(x) == 'complex' end
local function is_index(x) return record.is_value(x) and not x.tensor.dtype.is_floating_point end
local function either(a, b) return function(x) return a(x) or b(x) end end

local fits = {
  Tensor = record.is_value, IndexTensor = is_index, ['Tensor|Scalar'] = either(record.is_value, is_scalar), Scalar = is_scalar,
  ['Tensor[]'] = is_list, ['IndexTensor[]'] = is_list, ['Scalar[]'] = is_list, Size = either(is_list, is_integer), Dims = either(is_list, is_integer),
  int = is_integer, Dim = is_integer, Index = is_integer, float = is_number, bool = function(x) return type(x) == 'boolean' end,
  string = function(x) return type(x) == 'string' end, Dtype = function(x) return torch.type(x) == 'dtype' end,
  Device = function(x) return torch.type(x) == 'device' or type(x) == 'string' or is_integer(x) end,
  Generator = function(x) return torch.type(x) == 'Generator' end,
}

local function is_named(x)
  if not is_list(x) or getmetatable(x) ~= nil then return false end
  local key = next(x)
  return type(key) == 'string'
end

local aliases = torch._C.argument_aliases()

-- The declared name for a name of a call, which may be an alias; nil if the overload has none.
local function declared_name(overload, name)
  if overload.names[name] then return name end
  for _, parameter in ipairs(overload) do
    for _, alias in ipairs(aliases[parameter.name] or {}) do
      if alias == name then return parameter.name end
    end
  end
  return nil
end

local function match(overload, args)
  local bound, n = { op = overload.name }, args.n
  local named = n > 0 and is_named(args[n]) and args[n] or nil
  if named then n = n - 1 end
  local at = 1
  for i, parameter in ipairs(overload) do
    if at > n or parameter.only_named then break end
    local value = args[at]
    local fit = fits[parameter.kind] or function() return true end
    if value == nil and parameter.optional then
      at = at + 1
    elseif not fit(value) then
      return nil
    elseif (parameter.kind == 'Size' or parameter.kind == 'Dims') and is_integer(value) then
      local following, list = overload[i + 1], {}
      local alone = following and not following.only_named and (following.kind == 'int' or following.kind == 'Size' or following.kind == 'Dims'
        or following.kind == 'Dim' or following.kind == 'Scalar')
      repeat
        list[#list + 1] = args[at]
        at = at + 1
      until at > n or alone or not is_integer(args[at])
      bound[parameter.name] = list
    else
      bound[parameter.name] = value
      at = at + 1
    end
  end
  local twice = at == 2 and n == 2 and args[1] == args[2] -- Lua passes the operand of -x and ~x twice
  if at <= n and not twice then return nil end
  for given, value in pairs(named or {}) do
    local name = declared_name(overload, given)
    if not name then return nil end
    bound[name] = value
  end
  for _, parameter in ipairs(overload) do
    local value = bound[parameter.name]
    if value == nil then
      if not parameter.optional then return nil end
      bound[parameter.name] = parameter.default
    elseif fits[parameter.kind] and not fits[parameter.kind](value) then
      return nil
    elseif (parameter.kind == 'Size' or parameter.kind == 'Dims') and is_integer(value) then
      bound[parameter.name] = { value } -- a named argument may be a single number
    end
  end
  return bound
end

--- Whether an op is declared with an argument of that name.
function M.takes(op, name)
  for _, overload in ipairs(declarations.overloads(op, false)) do
    if overload.names[name] then return true end
  end
  return false
end

local function is_empty(x) return is_list(x) and getmetatable(x) == nil and next(x) == nil end

-- The forms of a call that ends with a list and names: the list is a value, or positional values.
local function forms_of(args)
  local n = args.n
  local list, names = kinds.split_list(args[n])
  if not list then return { args } end
  local forms, value = {}, table.move(args, 1, n - 1, 1, { n = n + 1 })
  value[n], value[n + 1] = list, names
  if not is_list(list[1]) then forms[1] = value end
  local several = table.move(list, 1, #list, n, table.move(args, 1, n - 1, 1, { n = n + #list }))
  several[several.n] = names
  forms[#forms + 1] = several
  return forms
end

-- The arguments of one form of a call by name.
local function bind_form(call, args)
  for _, n in ipairs { args.n, is_empty(args[args.n]) and args.n - 1 or nil } do -- also without a last empty table of names
    for _, overload in ipairs(declarations.overloads(call.op, call.in_nn)) do
      local bound = match(overload, table.move(args, 1, n, 1, { n = n }))
      if bound then return bound, overload end
    end
  end
end

--- The arguments of a call by name, with `op`, the declared name, and the overload; nil if no
--- declaration of the op fits.
function M.bind(call)
  for _, args in ipairs(forms_of(call.args)) do
    local bound, overload = bind_form(call, args)
    if bound then return bound, overload end
  end
end

return M
