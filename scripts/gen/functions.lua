-- functions.lua - the functions of the declarations for their callers: the Lua binding
-- (binding.lua) and lt_call (calls.lua). A function is a name with its overloads; an overload is a
-- C function, its arguments, and the handling of its results. `types` maps types of the
-- declarations to C: both callers store argument values in an array v of unions with these fields,
-- and their presence in an array present.

local declarations = require 'declarations'

local M = {}
local MAX_ARGS = 16 -- LT_MAX_ARGS

-- spec: lt_arg_type. value: the expression to pass, %d being the number of the argument, present
-- only if it is optional. number: the next positional argument is a number, so separate numbers
-- cannot precede it.
M.types = {
  ['Tensor'] = { spec = 'TENSOR', value = 'v[%d].tensor' },
  ['Tensor|Scalar'] = { spec = 'TENSOR_OR_SCALAR', value = 'v[%d].tensor', number = true },
  ['IndexTensor'] = { spec = 'INDEX_TENSOR', value = 'v[%d].tensor' },
  ['Tensor[]'] = { spec = 'TENSORS', value = '&v[%d].list' },
  ['IndexTensor[]'] = { spec = 'INDEX_TENSORS', value = '&v[%d].list' },
  ['Scalar[]'] = { spec = 'NUMBERS', value = 'v[%d].tensor' },
  ['Scalar'] = { spec = 'SCALAR', value = 'v[%d].scalar', number = true },
  ['int'] = { spec = 'INT', value = 'v[%d].i', number = true },
  ['float'] = { spec = 'FLOAT', value = 'v[%d].d', number = true },
  ['bool'] = { spec = 'BOOL', value = 'v[%d].b' },
  ['string'] = { spec = 'STRING', value = 'v[%d].s' },
  ['Dim'] = { spec = 'DIM', value = 'v[%d].i', number = true },
  ['Dims'] = { spec = 'DIMS', value = '&v[%d].dims', number = true },
  ['Index'] = { spec = 'INDEX', value = 'v[%d].i', number = true },
  ['Size'] = { spec = 'SIZE', value = '&v[%d].dims', number = true },
  ['Dtype'] = { spec = 'DTYPE', value = 'v[%d].dtype' },
  ['Device'] = { spec = 'DEVICE', value = '&v[%d].device' },
  ['Generator'] = { spec = 'GENERATOR', value = 'v[%d].generator' },
}
-- C values for absent arguments; for other types, C receives a null pointer.
M.absent = { Tensor = 'NULL', IndexTensor = 'NULL', ['Scalar[]'] = 'NULL', Generator = 'NULL', Dtype = 'LT_DTYPE_NONE', string = 'NULL' }

function M.base_of(a) return (a.type:gsub('%?$', '')) end

function M.value_of(a, i)
  local base = M.base_of(a)
  local value = M.types[base].value:format(i)
  if not a.optional or M.absent[base] then return value end
  return ('a->present[%d] ? %s%s : NULL'):format(i, value:sub(1, 1) == '&' and '' or '&', value)
end

-- The arguments of the C call. out: the number of out=; a factory uses its dtype and device by
-- default.
function M.values_of(o, out)
  local list = {}
  for i = 1, o.n_c do
    local base = M.base_of(o.args[i])
    list[i] = M.value_of(o.args[i], i - 1)
    if o.copied_out and o.op.factory and base == 'Dtype' then
      list[i] = ('a->present[%d] && !a->present[%d] ? (lt_dtype)v[%d].tensor->dtype : %s'):format(out, i - 1, out, list[i])
    elseif o.copied_out and o.op.factory and base == 'Device' then
      list[i] = ('a->present[%d] ? &v[%d].device : a->present[%d] ? &v[%d].tensor->device : NULL'):format(i - 1, i - 1, out, out)
    end
  end
  return list
end

-- The tensors of out= for a function that writes to them.
function M.outs_of(o)
  if #o.returns == 1 then return { ('v[%d].tensor'):format(o.out) } end
  local list = {}
  for i = 1, #o.returns do list[i] = ('v[%d].list.v[%d]'):format(o.out, i - 1) end
  return list
end

function M.c_string(text) return text and ('"%s"'):format((text:gsub('[\\"]', '\\%0'))) or 'NULL' end

-- The literal of a declaration as lt_scalar, or as text for strings.
function M.default_of(a, fail)
  local text = a.default
  if not text or text == 'nil' then return nil end
  if a.optional then fail("the default of the optional argument '" .. a.name .. "' must be nil") end
  if text:match("^'.*'$") then return nil, text:sub(2, -2) end
  if text == 'true' or text == 'false' then return ('{LT_SCALAR_BOOL, {.i = %d}, 0}'):format(text == 'true' and 1 or 0), text end
  if math.type(tonumber(text)) == 'integer' then return ('{LT_SCALAR_INT, {.i = %s}, 0}'):format(text), text end
  if tonumber(text) then return ('{LT_SCALAR_FLOAT, {.d = %s}, 0}'):format(text), text end
  fail("cannot read the default of argument '" .. a.name .. "'")
end

-- ---- overloads ----------------------------------------------------------------------------------

-- One way to call a C function: its arguments from Lua and the handling of the results. form: 'new'
-- (boxes for the results), 'inplace' (self is the result). in_c: for lt_call, which also has the
-- out= of C.
function M.overload_of(op, form, in_c)
  local o = { op = op, form = form, args = {}, returns = op.returns, n_c = #op.args }
  for i, a in ipairs(op.args) do
    o.args[i] = a
    if form == 'inplace' and i == 1 and a.type ~= 'Tensor[]' then o.args[1] = setmetatable({ type = 'Tensor' }, { __index = a }) end
  end
  local function fail(message) error(op.line .. ': ' .. message, 0) end
  o.fail = fail
  local function keyword(type_name, name, default)
    o.args[#o.args + 1] = { type = type_name, name = name, default = default, has_default = true, keyword_only = true,
      optional = type_name:sub(-1) == '?' }
    return #o.args - 1
  end
  if form == 'new' and op.factory then
    o.requires_grad = keyword('bool', 'requires_grad', 'false')
    o.pin_memory = keyword('bool', 'pin_memory', 'false')
  end
  local direct = op.variants.out or in_c and op.variants.c_out
  if form == 'new' and (direct or op.variants.copied_out) then
    for _, result in ipairs(op.returns) do
      if not result.type:match '^%a*Tensor$' and not (#op.returns == 1 and result.type == 'Tensor[]') then fail('out= needs Tensors as results') end
    end
    local several = #op.returns > 1 or op.returns[1].type == 'Tensor[]'
    for _, result in ipairs(op.returns) do
      o.exact_outs = o.exact_outs or result.type == 'IndexTensor' and not op.factory -- PyTorch writes them directly
    end
    o.out, o.copied_out = keyword(several and 'Tensor[]?' or 'Tensor?', 'out', 'nil'), not direct
  end
  if #o.args > MAX_ARGS then fail('more than ' .. MAX_ARGS .. ' arguments') end
  o.c_name = 'lt_' .. (form == 'inplace' and not op.inplace_only and declarations.inplace_name(op) or op.cname)
  for _, a in ipairs(o.args) do o.takes_tensors = o.takes_tensors or a.type:match('^Tensor') ~= nil end
  -- Results of factories have no history, and neither have results of operations on indices only.
  o.linked = o.takes_tensors and not op.factory
  o.positions = op.positions
  return o
end

-- The positions of the Tensor|Scalar arguments, at least one of which must be a tensor if no other
-- argument is a tensor. nil: all may be numbers.
local function of_which_one_a_tensor(op)
  local places = {}
  for i, a in ipairs(op.args) do
    if a.type == 'Tensor' or a.type == 'Tensor[]' then return nil end
    if a.type == 'Tensor|Scalar' then places[#places + 1] = i end
  end
  return #places > 1 and not op.plain_numbers and places or nil
end

-- The overloads of an op: if one of several arguments must be a tensor, one overload for each of
-- them.
local function overloads_of(op, form, in_c)
  local places = form == 'new' and of_which_one_a_tensor(op)
  if not places then return { M.overload_of(op, form, in_c) } end
  local list = {}
  for k, place in ipairs(places) do
    local o = M.overload_of(op, form, in_c)
    o.args[place] = setmetatable({ type = 'Tensor', has_default = false }, { __index = function(_, key)
      if key ~= 'default' then return op.args[place][key] end
    end })
    o.several = true
    list[k] = o
  end
  return list
end

-- Lua name -> { name, c, group, overloads, kinds, aliases, operator }, in the order of the
-- declarations. Functions of torch.nn.functional only (is_nn) are separate, because their arguments
-- may differ from torch's. in_c: for lt_call.
function M.functions_of(model, in_c)
  local list, by_name = {}, {}
  local function add(op, name, form, is_function, is_method, aliases, is_library)
    local c = op.variants.nn and 'nn_' .. name or name
    local f = by_name[c]
    if not f then
      f = { name = name, c = c, group = op.group, overloads = {}, aliases = {}, is_nn = op.variants.nn }
      by_name[c] = f
      list[#list + 1] = f
    end
    for _, o in ipairs(overloads_of(op, form, in_c)) do f.overloads[#f.overloads + 1] = o end
    f.is_function, f.is_method = f.is_function or is_function, f.is_method or is_method
    f.is_library = is_library
    for _, alias in ipairs(aliases) do f.aliases[#f.aliases + 1] = alias end
    if form == 'new' then f.operator = f.operator or op.operator end
  end
  for _, op in ipairs(model.ops) do
    if op.chosen and op.variants.library then
      add(op, op.name, op.inplace_only and 'inplace' or 'new', false, false, {}, true)
    elseif op.chosen and op.name:sub(1, 1) ~= '_' and next(op.variants) then
      if op.inplace_only then
        add(op, op.name, 'inplace', op.variants['function'], op.variants.method, op.aliases)
      elseif op.variants['function'] or op.variants.method or op.variants.nn then
        add(op, op.name, 'new', op.variants['function'], op.variants.method, op.aliases)
      end
      if op.variants.inplace then
        local aliases = {}
        for i, alias in ipairs(op.aliases) do aliases[i] = alias .. '_' end
        add(op, op.name .. '_', 'inplace', false, true, aliases)
      end
    end
  end
  return list
end

function M.signature_of(o, name)
  local parts, keyword_only = {}, false
  for _, a in ipairs(o.args) do
    if a.keyword_only and not keyword_only then parts[#parts + 1] = '*' end
    keyword_only = a.keyword_only
    parts[#parts + 1] = ('%s %s%s'):format(a.type, a.name, a.has_default and '=' .. a.default or '')
  end
  return ('%s(%s)'):format(name, table.concat(parts, ', '))
end

return M
