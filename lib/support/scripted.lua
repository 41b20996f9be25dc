-- scripted.lua - operations written in Lua: lib/ops/*.lua contain declarations in the form of
-- src/ops, each with its function, `run`. This module reads the arguments of a call by the
-- declaration, as the binding does for operations in C: positional ones, then a last table of named
-- ones; the first overload that accepts the arguments is called. A file is loaded when one of its
-- operations is first called.

local torch = require 'torch'
local arguments = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local copy_causes = require 'torch.autograd.copy_causes'
local outs = require 'torch.support.outs'
local is_tensor = torch.is_tensor

local scripted = {}

-- ---- kinds of arguments -------------------------------------------------------------------------

local function is_number(v) return type(v) == 'number' or type(v) == 'boolean' end
local function is_integer(v) return math.type(v) == 'integer' end

local function is_size(v)
  if torch.type(v) == 'torch.Size' or torch.type(v) == 'Size' then return true end
  if type(v) ~= 'table' then return false end
  for i = 1, #v do
    if not is_integer(v[i]) then return false end
  end
  return next(v) == nil or kinds.is_list(v)
end

local function is_dims(v) return is_integer(v) or is_size(v) end

local function is_list(v)
  if type(v) ~= 'table' or not kinds.is_list(v) then return false end
  for i = 1, #v do
    if not is_tensor(v[i]) then return false end
  end
  return true
end

local fits = {
  Tensor = is_tensor, IndexTensor = is_tensor, Scalar = is_number, int = is_integer, bool = function(v) return type(v) == 'boolean' end,
  float = function(v) return type(v) == 'number' end, string = function(v) return type(v) == 'string' end, Dim = is_integer,
  Index = is_integer, Dims = is_dims, Size = is_dims, ['Tensor[]'] = is_list,
  ['Scalar[]'] = function(v) return kinds.fits(v, 'times') end,
  ['Tensor|Scalar'] = function(v) return is_tensor(v) or is_number(v) or torch.type(v) == 'complex' end,
  Dtype = function(v) return kinds.fits(v, 'dtype') end, Device = function(v) return kinds.fits(v, 'device') end,
  Generator = function(v) return kinds.fits(v, 'Generator') end,
}

local words = {
  Tensor = 'a Tensor', IndexTensor = 'a Tensor', Scalar = 'a number', int = 'an integer', bool = 'true or false', float = 'a number',
  string = 'a string', Dim = 'an integer', Index = 'an integer', Dims = 'an integer or a table of integers',
  Size = 'an integer or a table of integers', ['Tensor[]'] = 'a table of Tensors', ['Scalar[]'] = 'a table of numbers', ['Tensor|Scalar'] = 'a Tensor or a number',
  Dtype = 'a dtype', Device = 'a device', Generator = 'a Generator',
}

-- ---- signatures ---------------------------------------------------------------------------------

local function default_of(text)
  if text == nil or text == 'nil' then return nil end
  return load('return ' .. text)()
end

-- 'f(Tensor self, *, int n=1) -> Tensor' as { name =, positional = n, {name =, kind =, optional =,
-- default =}, ... }.
local function parse(signature)
  local name, list_of_arguments = signature:match '^([%w_]+)[%w_%.]*(%b())'
  local list, named = { name = name, names = {} }, false
  for part in list_of_arguments:sub(2, -2):gmatch '[^,]+' do
    local kind, argument, default = part:match '^%s*(%S+)%s+([%w_]+)=?(.-)%s*$'
    if not kind then
      named, list.positional = true, #list
    else
      local a = { name = argument, kind = kind:gsub('%?$', ''), nullable = kind:sub(-1) == '?', default = default_of(default ~= '' and default or nil) }
      a.optional = a.nullable or default ~= ''
      list[#list + 1], list.names[#list.names + 1] = a, argument
      list.is_factory = list.is_factory or a.kind == 'Device'
    end
  end
  if not named then list.positional = #list end
  list.index = arguments.index_of(list)
  return list
end

-- If the positional values from i on are one argument (the sizes of a shape, the tensors of a
-- list), returns them as a list.
local function row_of(a, values, n, i)
  if a.kind == 'Tensor[]' then
    if not is_tensor(values[i]) then return nil end
    return table.move(values, i, n, 1, {})
  end
  if n <= i or not is_integer(values[i]) then return nil end
  return table.move(values, i, n, 1, {})
end

local function check_position(op, a, value)
  if value == 0 and (a.kind == 'Dim' or a.kind == 'Dims') then fail('%s(): %s 0: positions count from 1', op, a.name) end
  if type(value) == 'table' and a.kind == 'Dims' then
    for _, dim in ipairs(value) do check_position(op, a, dim) end
  end
end

local TABLES = { ['Tensor[]'] = true, ['Scalar[]'] = true, Dims = true, Size = true }

-- Splits the last value, a list with names, into both: the list is the value of an argument that
-- takes a table, else its entries are positional values. As args.c does for operations in C.
local function split(signatures, given)
  local n = given.n
  local list, names = kinds.split_list(given[n])
  if not list then return given end
  local is_data = false
  for _, signature in ipairs(signatures) do
    is_data = is_data or n <= signature.positional and TABLES[signature[n].kind] and type(list[1]) ~= 'table'
  end
  local values = table.move(given, 1, n - 1, 1, { n = n })
  if is_data and names.n == #list and next(names, next(names)) == nil then -- the n of table.pack
    values[n] = list
    return values
  end
  if is_data then values[n] = list else table.move(list, 1, #list, n, values) end
  values.n = is_data and n + 1 or n + #list
  values[values.n] = names
  return values
end

-- The arguments in the order of the signature, or nil and the mismatch.
local function read(signature, values, n)
  local named = n > 0 and kinds.is_named(values[n]) and next(values[n]) ~= nil and values[n] or nil
  local out, given = {}, named and n - 1 or n
  local last = signature[signature.positional]
  if given >= signature.positional and last and (last.kind == 'Tensor[]' or last.kind == 'Size' or last.kind == 'Dims') then
    local row = row_of(last, values, given, signature.positional)
    if row then values, given = table.move(values, 1, signature.positional - 1, 1, { [signature.positional] = row }), signature.positional end
  end
  if given > signature.positional then
    return nil, ('%s() takes at most %d positional argument%s but %d were given%s'):format(signature.name, signature.positional,
      signature.positional == 1 and '' or 's', given, kinds.surplus_hint(values[given]))
  end
  local by_name = {}
  for name, value in next, named or {} do
    local i = signature.index[name]
    if not i then return nil, nil, name end
    if i <= given or by_name[i] ~= nil then return nil, ("%s() got multiple values for argument '%s'"):format(signature.name, name) end
    by_name[i] = value
  end
  for i, a in ipairs(signature) do
    local value = by_name[i]
    if i <= given then value = values[i] end
    if value == nil then
      if not a.optional then
        return nil, ("%s() missing 1 required argument: '%s' (%s)"):format(signature.name, a.name, words[a.kind])
      end
      value = a.default
    elseif not fits[a.kind](value) then
      return nil, ("%s(): argument '%s' must be %s, not %s"):format(signature.name, a.name, words[a.kind], kinds.described(value))
    end
    if a.kind == 'Scalar' and type(value) == 'boolean' then value = value and 1 or 0 end
    check_position(signature.name, a, value)
    out[i] = value
  end
  return out
end

-- A factory uses the dtype and device of out= unless the call has others.
local function as_out(signature, values)
  local out = values[signature.out]
  for i, a in ipairs(signature) do
    if values[i] == nil and (a.kind == 'Dtype' or a.kind == 'Device') then values[i] = a.kind == 'Dtype' and out.dtype or out.device end
  end
end

--- Returns a function that calls the first overload { signature, run = f } that accepts its
--- arguments.
function scripted.caller(overloads)
  local signatures = {}
  for i, entry in ipairs(overloads) do
    local signature = parse(entry[1])
    if (' ' .. (entry.variants or '') .. ' '):find(' copied_out ', 1, true) then
      signature.out = #signature + 1
      local result = entry[1]:match '%->%s*(.-)%s*$'
      local several = result:sub(1, 1) == '(' or result == 'Tensor[]'
      signature[signature.out] = { name = 'out', kind = several and 'Tensor[]' or 'Tensor', nullable = true, optional = true }
      signature.index.out = signature.out
    end
    signatures[i] = signature
  end
  return function(...)
    local message, unknown
    local given = split(signatures, table.pack(...))
    for i, signature in ipairs(signatures) do
      local values, why, name = read(signature, given, given.n)
      if values and signature.out and values[signature.out] then
        if signature.is_factory then as_out(signature, values) end
        return outs.store(signature.name, values[signature.out], overloads[i].run(table.unpack(values, 1, signature.out - 1)))
      end
      if values then return overloads[i].run(table.unpack(values, 1, #signature)) end
      message, unknown = message or why, unknown or name
    end
    if not message then kinds.refuse_name(signatures[1].name, unknown, signatures[1].names) end
    fail('%s', message)
  end
end

-- ---- names --------------------------------------------------------------------------------------

-- For in-place variants: the result is written to self and must be convertible to its dtype.
function scripted.same_kind(self, result)
  if not torch.can_cast(result.dtype, self.dtype) then
    fail("result type %s can't be cast to the desired output type %s", tostring(result.dtype), tostring(self.dtype))
  end
  return result
end

-- The functions of a file by name, aliases among them.
local function load_file(file)
  local overloads, functions = {}, {}
  for _, entry in ipairs(require('torch.ops.' .. file)) do
    local name = entry[1]:match '^[%w_]+'
    entry.run = copy_causes.wrap(name, entry.run)
    overloads[name] = overloads[name] or {}
    table.insert(overloads[name], entry)
  end
  for name, list in pairs(overloads) do
    functions[name] = scripted.caller(list)
    if (' ' .. (list[1].variants or '') .. ' '):find(' inplace ', 1, true) then
      local call = functions[name]
      functions[name .. '_'] = function(self, ...)
        kinds.check(name .. '_', 'self', self, 'Tensor')
        return self:copy_(scripted.same_kind(self, call(self, ...)))
      end
    end
    for alias in (list[1].aliases or ''):gmatch '%S+' do
      functions[alias], functions[alias .. '_'] = functions[name], functions[name .. '_']
    end
  end
  return functions
end

local loaded = {}

--- Adds the functions of the generated list to torch and to the methods of tensors.
function scripted.install()
  for file, names in pairs(require 'torch.ops_scripted') do
    for name, where in pairs(names) do
      local function call(...)
        loaded[file] = loaded[file] or load_file(file)
        return loaded[file][name](...)
      end
      arguments.ops[call] = name
      if where:find('f', 1, true) then torch[name] = call end
      if where:find('m', 1, true) then torch._C.methods[name] = call end
    end
  end
end

return scripted
