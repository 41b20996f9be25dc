-- operations.lua - part of ltensor-ffi.lua: operations by name. A call selects the first overload that accepts the
-- arguments and calls its C function, which is declared at the first call.

local shared = ...
local ffi, core, raise, is_tensor, is_integer = shared.ffi, shared.core, shared.raise, shared.is_tensor, shared.is_integer
local accepts, class_of, convert = shared.accepts, shared.class_of, shared.convert
local adopt, adopt_borrowed, invoke = shared.adopt, shared.adopt_borrowed, shared.invoke

local op -- (name) -> function, nil

-- ---- overloads ----------------------------------------------------------------------------------

local other_names = { axis = 'dim', keepdims = 'keepdim', input = 'self', x2 = 'other' }

local function parameters_of(text)
  local list = {}
  for star, kind, optional, row, name, default in text:gmatch '(%*?)([%a|%[%]]+)(%??)(%+?):([%w_]+)=?(%S*)' do
    local p = { type = kind, name = name, optional = optional ~= '', row = row ~= '', named_only = star ~= '', has_default = default ~= '', text = default }
    if p.has_default and default ~= 'nil' then
      if kind == 'string' then p.default = default
      elseif kind == 'bool' then p.default = default == 'true'
      else p.default = tonumber(default) end
    end
    list[#list + 1], list[name] = p, p
  end
  return list
end

local lines_of = {} -- name -> lines
for name, line in shared.operations:gmatch '(%S+) ([^\n]+)\n' do
  lines_of[name] = lines_of[name] or {}
  table.insert(lines_of[name], line)
end

local function overload_of(line, in_place)
  local c, flags, parameters, results = line:match '^(%S+) (%S+) (.-) ?> ?(.*)$'
  if in_place and not flags:find 'i' then return nil end
  local o = { c = c, parameters = parameters_of(parameters), results = {}, is_factory = flags:find 'd' ~= nil, has_out = flags:find 'o' ~= nil }
  for kind in results:gmatch '%S+' do o.results[#o.results + 1] = kind end
  if in_place then o.c, o.results = c .. '_', {} end
  return o
end

-- The C function of an overload: declared when it is called first. kind: results, out or nothing.
local function c_function(o, with_out)
  local name, types = with_out and o.c .. '_out' or o.c, {}
  if o[name] then return o[name] end
  for _, p in ipairs(o.parameters) do types[#types + 1] = shared.c_types[p.type .. (p.optional and '?' or '')] end
  for _, kind in ipairs(o.results) do types[#types + 1] = with_out and 'lt_tensor *' or shared.result_types[kind] end
  ffi.cdef(('lt_status %s(%s);'):format(name, table.concat(types, ', ')))
  local ok, f = pcall(function() return core[name] end)
  if not ok then raise('%s(): this build of libltensor does not have the operation', name:sub(4)) end
  o[name] = f
  if not with_out then
    o.boxes = {}
    for i, kind in ipairs(o.results) do
      o.boxes[i] = ffi.new(shared.result_types[kind]:gsub(' ?%*$', '') .. '[1]')
    end
  end
  return f
end

-- A 0-dim tensor that needs no gradient is accepted as a number.
local function as_number(p, v)
  local is_numeric = p.type == 'Scalar' or p.type == 'float' or p.type == 'int' or p.type == 'Dim' or p.type == 'Index'
  if not is_numeric or not is_tensor(v) or core.lt_tensor_ndim(v._handle) > 0 or core.lt_tensor_requires_grad(v._handle) then return v end
  return shared.methods.item(v)
end

local function has_name(o, name)
  return o.parameters[name] ~= nil or name == 'out' and o.has_out or name == 'requires_grad' and o.is_factory
end

local takes_table = { Dims = true, Size = true, ['Tensor[]'] = true, ['IndexTensor[]'] = true, ['Scalar[]'] = true }

local function is_empty_table(v) return type(v) == 'table' and next(v) == nil and not getmetatable(v) end

-- Assigns the values of a call to parameters: a table by number; or nil and the reason.
local function match(o, args, n, named)
  local values, at, list = {}, 1, o.parameters
  for i, p in ipairs(list) do
    local v, where = nil, ''
    if at == n and is_empty_table(args[n]) and not takes_table[p.type] then n = n - 1 end -- a table of no names
    if at <= n and not p.named_only then
      v, where = args[at], (' (position %d)'):format(at)
      at = at + 1
      local in_row = p.row and (p.type == 'Tensor[]' and is_tensor or is_integer)
      if in_row and in_row(v) then -- zeros(2, 3), meshgrid(x, y)
        v = { v }
        while at <= n and in_row(args[at]) do
          v[#v + 1] = args[at]
          at = at + 1
        end
      end
      if named and named[p.name] ~= nil then return nil, (" got multiple values for argument '%s'"):format(p.name) end
    elseif named and named[p.name] ~= nil then
      v = named[p.name]
    elseif not p.has_default then
      return nil, (" missing 1 required argument: '%s'"):format(p.name)
    end
    if v ~= nil then
      v = as_number(p, v)
      if not accepts[p.type][1](v) then
        local hint = at == 2 and i == 1 and p.name == 'self' and ' (a method is called with a colon: x:%s())' or ''
        return nil, (": argument '%s'%s must be %s, not %s%s"):format(p.name, where, accepts[p.type][2], class_of(v), hint)
      end
    elseif not p.optional and not p.has_default then
      return nil, (": argument '%s'%s must be %s, not nil"):format(p.name, where, accepts[p.type][2])
    else
      v = p.default
    end
    values[i] = v
  end
  if at == n and is_empty_table(args[n]) then n = n - 1 end
  while at <= n and args[n] == nil do n = n - 1 end
  if at <= n then return nil, (' takes %d positional argument%s but %d were given'):format(at - 1, at == 2 and '' or 's', n) end
  for name in pairs(named or {}) do
    if not has_name(o, name) then return nil, 'unknown' end
  end
  return values
end

-- Raises an error for a name that no overload has.
local function check_names(short, overloads, named)
  local names, is_known = {}, {}
  for _, o in ipairs(overloads) do
    for _, p in ipairs(o.parameters) do
      if not is_known[p.name] and p.name ~= 'self' then names[#names + 1] = p.name end
      is_known[p.name] = true
    end
    for _, name in ipairs { 'requires_grad', 'out' } do
      if has_name(o, name) and not is_known[name] then names[#names + 1], is_known[name] = name, true end
    end
  end
  for name in pairs(named or {}) do
    if not is_known[name] then raise("%s(): unknown argument '%s' (known: %s)", short, name, table.concat(names, ', ')) end
  end
end

-- Splits a last table with names: zeros(2, {dtype = ...}), cat{x, y, dim = 2}.
local function names_of(args, n)
  local last = args[n]
  if type(last) ~= 'table' or getmetatable(last) then return n, nil end
  local named, list, positions = nil, {}, #last
  for key, v in pairs(last) do
    if type(key) == 'string' then
      named = named or {}
      named[other_names[key] or key] = v
    else
      list[key] = v
    end
  end
  if not named then return n, nil end
  if positions == 0 then return n - 1, named end
  args[n] = list
  return n, named
end

local function signature(o)
  local parts, starred = {}, false
  for _, p in ipairs(o.parameters) do
    if p.named_only and not starred then
      parts[#parts + 1], starred = '*', true
    end
    parts[#parts + 1] = ('%s%s %s%s'):format(p.type, p.optional and '?' or '', p.name, p.has_default and '=' .. p.text or '')
  end
  return '(' .. table.concat(parts, ', ') .. ')'
end

-- ---- calls --------------------------------------------------------------------------------------

local function result_of(kind, cell)
  if kind:find 'Tensor$' and cell[0] == nil then return nil end -- one that the arguments do not request
  if kind == 'Tensor' then return adopt(cell[0]) end
  if kind == 'IndexTensor' then return op 'add'(adopt(cell[0]), 1) end
  if kind == 'bool' then return cell[0] end
  if kind == 'int' then return shared.from_int64(cell[0]) end
  local list = {}
  for i = 1, tonumber(cell[0].n) do list[i] = adopt_borrowed(cell[0].v[i - 1]) end
  core.lt_tensor_list_release(cell)
  return list
end

-- Calls with out=: a tensor, or a list of one for each result.
local function call_out(o, c, n, out)
  local f, list = c_function(o, true), is_tensor(out) and { out } or out
  for i, kind in ipairs(o.results) do
    if type(list) ~= 'table' or not is_tensor(list[i]) then raise("argument 'out' must be %d Tensors", #o.results) end
    c[n + i] = list[i]._handle
    if kind == 'IndexTensor' then list[i] = op 'to'(list[i], 'int64') end
  end
  invoke(f, unpack(c, 1, n + #o.results))
  for i, kind in ipairs(o.results) do
    if kind == 'IndexTensor' then op 'add_'(list[i], 1) end
  end
  return unpack(list, 1, #o.results)
end

local function call(o, values, named)
  local c, keep, n = {}, { values }, #o.parameters
  for i, p in ipairs(o.parameters) do c[i] = convert(p, values[i], keep) end
  if named and named.out then return call_out(o, c, n, named.out) end
  local f = c_function(o)
  for i, cell in ipairs(o.boxes) do
    if o.results[i]:find 'Tensor$' then cell[0] = nil end
    c[n + i] = cell
  end
  invoke(f, unpack(c, 1, n + #o.boxes))
  if #o.results == 0 then return keep[1][1] end -- in place: self
  keep[1] = nil -- the operands were reachable up to here
  if #o.results == 1 and not o.is_factory then return result_of(o.results[1], o.boxes[1]) end
  local results = {}
  for i, kind in ipairs(o.results) do results[#results + 1] = result_of(kind, o.boxes[i]) end
  if o.is_factory and named and named.requires_grad then shared.check(core.lt_tensor_set_requires_grad(results[1]._handle, true)) end
  return unpack(results, 1, #results)
end

--- The C function of the first overload of an operation.
function shared.first_function(name) return c_function(overload_of(lines_of[name][1], false)) end

local known = {}

function op(name)
  if known[name] then return known[name] end
  local lines, in_place = lines_of[name], false
  if not lines and name:sub(-1) == '_' then lines, in_place = lines_of[name:sub(1, -2)], true end
  local overloads = {}
  for _, line in ipairs(lines or {}) do overloads[#overloads + 1] = overload_of(line, in_place) end
  if #overloads == 0 then return nil end
  local short = name:gsub('^nn%.functional%.', '')
  known[name] = function(...)
    local args, reason = { ... }, nil
    local n, named = names_of(args, select('#', ...))
    for _, o in ipairs(overloads) do
      local values
      values, reason = match(o, args, n, named)
      if values then return call(o, values, named) end
    end
    check_names(short, overloads, named)
    if #overloads == 1 then raise('%s()%s', short, (reason:gsub('%%s', short))) end
    local got, texts = {}, {}
    for i = 1, n do got[i] = class_of(args[i]) end
    for key, v in pairs(named or {}) do got[#got + 1] = key .. '=' .. class_of(v) end
    for i, o in ipairs(overloads) do texts[i] = '\n * ' .. signature(o) end
    raise('%s() received an invalid combination of arguments - got (%s), but expected one of:%s', short, table.concat(got, ', '), table.concat(texts))
  end
  return known[name]
end

shared.op, shared.names_of = op, names_of
