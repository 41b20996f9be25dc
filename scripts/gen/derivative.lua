-- derivative.lua - converts the derivative of an operation to C statements and determines the
-- values to save.
--
-- Each call of an expression becomes one C call into a temporary; the statements use LT_CHECK and
-- store the gradient in results[i]. Names in an expression become fields of the node:
--   tensor   lt_saved           an argument        output   lt_saved     a result
--   list     lt_saved_list      Tensor[] argument  likes    lt_like *    its shapes
--   sizes, strides, offset, dtype, device          one property of an argument, which is not saved
--   value    a copy of any other argument, with a flag has_<name> if it is optional
-- The emitter (autograd.lua) declares, fills and frees the fields. May use expression.lua.

local expression = require 'expression'

local M = {}

local tensor_types = { ['Tensor'] = true, ['Tensor|Scalar'] = true, ['IndexTensor'] = true }

-- The class of a type, ignoring whether it is optional.
local classes = {
  ['Tensor'] = 'tensor', ['Tensor|Scalar'] = 'tensor', ['IndexTensor'] = 'tensor', ['Tensor[]'] = 'list', ['IndexTensor[]'] = 'list',
  Scalar = 'scalar', int = 'integer', Dim = 'integer', Index = 'integer', float = 'float', bool = 'bool',
  string = 'string', Dims = 'dims', Size = 'dims', Dtype = 'dtype', Device = 'device', Generator = 'generator',
}

-- The C type of a saved copy.
M.value_types = {
  scalar = 'lt_scalar ', integer = 'int64_t ', float = 'double ', bool = 'bool ', string = 'char *',
  dims = 'lt_dims ', dtype = 'lt_dtype ', device = 'lt_device ',
}

-- sizes_of(self) and similar: the saved value, its type, and the C type of the field.
M.properties = {
  sizes_of = { form = 'sizes', class = 'dims', c_type = 'lt_dims ' },
  strides_of = { form = 'strides', class = 'dims', c_type = 'lt_dims ' },
  offset_of = { form = 'offset', class = 'integer', c_type = 'int64_t ' },
  dtype_of = { form = 'dtype', class = 'dtype', c_type = 'lt_dtype ' },
  device_of = { form = 'device', class = 'device', c_type = 'lt_device ' },
}

-- Derivatives of a Tensor[] argument, by src/core/ops/shape/backward.h: lt_<name>(grad, count,
-- likes, dim, results, needs).
local list_helpers = { cat_backward = true, stack_backward = true }

function M.base(type_name) return (type_name:gsub('%?$', '')) end
function M.class(type_name) return classes[M.base(type_name)] end
function M.is_tensor(type_name) return tensor_types[M.base(type_name)] == true end

-- Whether a saved copy needs a has_ flag: absent strings are NULL and absent dtypes have a value of
-- their own.
function M.has_flag(arg)
  local class = M.class(arg.type)
  return arg.optional and class ~= 'string' and class ~= 'dtype'
end

local function c_number(text, as_scalar)
  local integer = text:match('^%-?%d+$') ~= nil
  if as_scalar then return (integer and 'lt_scalar_from_int(%s)' or 'lt_scalar_from_float(%s)'):format(text) end
  return text
end

-- ---- values to parameters -----------------------------------------------------------------------

-- A value is { class =, c =, has = } with the C text of a variable (and of its flag), or for
-- literals
-- { class = 'number' | 'nil' | 'bool' | 'string', literal = text }.

local Translator = {}
Translator.__index = Translator
M.Translator = Translator -- for forward.lua

function Translator:fail(message) error(('%s: derivative of %s: %s'):format(self.op.line, self.argument, message), 0) end

function Translator:temporary()
  self.temporaries = self.temporaries + 1
  return 't' .. self.temporaries
end

function Translator:statement(format, ...)
  self.statements[#self.statements + 1] = format:format(...)
end

local scalar_makers = { integer = 'lt_scalar_from_int', float = 'lt_scalar_from_float', bool = 'lt_scalar_from_bool' }

-- C text of a value as lt_scalar, or nil.
local function as_scalar(value)
  if value.class == 'number' then return c_number(value.literal, true) end
  if value.class == 'scalar' then return value.c end
  local maker = scalar_makers[value.class]
  return maker and ('%s(%s)'):format(maker, value.c or value.literal)
end

function Translator:tensor(value)
  if value.class == 'tensor' then return value.c end
  local scalar = not value.has and as_scalar(value)
  if not scalar then return nil end
  local name = self:temporary()
  self:statement('LT_CHECK(lt_tensor_from_scalar(%s, &%s));', scalar, name)
  return name
end

local function address(value)
  if value.has then return ('%s ? &%s : NULL'):format(value.has, value.c) end
  return '&' .. value.c
end

-- C text of a parameter that is passed by value.
local function plain(value, class)
  if value.has then return nil end
  if class == 'scalar' then return as_scalar(value) end
  if value.class == class then return value.c or value.literal end
  if value.class == 'number' and (class == 'integer' or class == 'float') then return value.literal end
  return nil
end

local by_address = { integer = 'int64_t', float = 'double', scalar = 'lt_scalar', bool = 'bool' }

local function pointer(value, class)
  if value.class == class and value.c then return address(value) end
  if class == 'dims' then
    local only = plain(value, 'integer')
    return only and ('&(lt_dims){.n = 1, .v = {%s}}'):format(only)
  end
  local text = by_address[class] and plain(value, class)
  return text and ('&(%s){%s}'):format(by_address[class], text)
end

local nothing = { dtype = 'LT_DTYPE_NONE' }

-- C text of value as an argument of the declared type.
function Translator:convert(value, param, where)
  local class, optional = M.class(param.type), param.optional
  local text
  if value.class == 'nil' then
    text = (optional or nil) and (nothing[class] or 'NULL')
  elseif class == 'tensor' then
    text = self:tensor(value)
  elseif class == 'list' then
    text = value.class == 'list' and '&' .. value.c
  elseif class == 'dims' or class == 'device' or (optional and by_address[class]) then
    text = pointer(value, class)
  else
    text = plain(value, class)
  end
  if not text then self:fail(('%s cannot be given for %s'):format(value.class, where)) end
  return text
end

-- The value of a declared default; dimensions and positions are 1-based in declarations.
local function default_value(param)
  local text = param.default
  if text == 'nil' then return { class = 'nil' } end
  if text == 'true' or text == 'false' then return { class = 'bool', literal = text } end
  if text:match("^'") then return { class = 'string', literal = '"' .. text:sub(2, -2) .. '"' } end
  local number = tonumber(text)
  local base = M.base(param.type)
  if (base == 'Dim' or base == 'Dims' or base == 'Index') and number > 0 then text = tostring(number - 1) end
  return { class = 'number', literal = text }
end

-- ---- names --------------------------------------------------------------------------------------

function Translator:field(name, form, arg)
  local field = self.fields[name]
  if not field then
    field = { name = name, form = form, arg = arg, edges = {} }
    self.fields[name] = field
    table.insert(self.fields, field)
  end
  for _, edge in ipairs(self.edges) do field.edges[edge] = true end
end

function Translator:argument_named(name)
  for _, arg in ipairs(self.op.args) do
    if arg.name == name then return arg end
  end
end

function Translator:name(name)
  local first = self.op.returns[1]
  if name == 'grad' or (first and first.name and name == 'grad_' .. first.name) then
    return { class = 'tensor', c = 'grad' }
  end
  local arg = self:argument_named(name)
  if arg then
    local class = M.class(arg.type)
    if class == 'tensor' or class == 'list' then
      self:field(name, class, arg)
      return { class = class, c = name }
    end
    if class == 'generator' then self:fail('a generator is not saved') end
    self:field(name, 'value', arg)
    return { class = class, c = 'saved->' .. name, has = M.has_flag(arg) and 'saved->has_' .. name or nil }
  end
  local needed = name:match('^needs_(.+)$')
  if needed and self.edge_of[needed] then return { class = 'bool', c = ('needs[%d]'):format(self.edge_of[needed]) } end
  if name == 'result' and self.op.inplace_only then
    self:field('result', 'output', { output = 1 })
    return { class = 'tensor', c = 'result' }
  end
  for i, result in ipairs(self.op.returns) do
    if name == (result.name or 'result') then
      self:field(name, 'output', { output = i })
      return { class = 'tensor', c = name }
    end
  end
  self:fail("unknown name '" .. name .. "'")
end

function Translator:property(tree)
  local property = M.properties[tree.name]
  local arg = #tree.args == 1 and tree.args[1].kind == 'name' and self:argument_named(tree.args[1].name)
  if not (arg and M.is_tensor(arg.type)) then self:fail(tree.name .. ' expects the name of one tensor argument') end
  local name = arg.name .. '_' .. property.form
  self:field(name, property.form, arg)
  return { class = property.class, c = 'saved->' .. name }
end

-- ---- calls --------------------------------------------------------------------------------------

function Translator:value(tree)
  if tree.kind == 'number' then return { class = 'number', literal = tree.text } end
  if tree.kind == 'constant' then
    if tree.value == 'nil' then return { class = 'nil' } end
    if tree.value:match("^'") then return { class = 'string', literal = '"' .. tree.value:sub(2, -2) .. '"' } end
    return { class = 'bool', literal = tree.value }
  end
  if tree.kind == 'name' then return self:name(tree.name) end
  if M.properties[tree.name] then return self:property(tree) end
  local name = self:temporary()
  self:call(tree, '&' .. name)
  return { class = 'tensor', c = name }
end

-- Calls a declared op; its results go to the C texts given.
function Translator:call(tree, ...)
  local targets = { ... }
  local op = self.model.by_cname[tree.name]
  if not op then self:fail("no op is called '" .. tree.name .. "'") end
  local fits = #op.returns == #targets
  for _, result in ipairs(op.returns) do fits = fits and M.is_tensor(result.type) end
  if not fits then self:fail(('%s does not return %d tensors'):format(tree.name, #targets)) end
  if #tree.args > #op.args then self:fail('too many arguments for ' .. tree.name) end
  local list = {}
  for i, param in ipairs(op.args) do
    local where = ("argument '%s' of %s"):format(param.name, tree.name)
    local value
    if tree.args[i] then
      value = self:value(tree.args[i])
    elseif param.has_default then
      value = default_value(param)
    else
      self:fail(where .. ' is missing')
    end
    list[i] = self:convert(value, param, where)
  end
  table.move(targets, 1, #targets, #list + 1, list)
  self:statement('LT_CHECK(lt_%s(%s));', tree.name, table.concat(list, ', '))
end

-- cat_backward(grad, likes_of(tensors), dim)
function Translator:list_call(tree)
  local likes = tree.args and tree.args[2]
  if not list_helpers[tree.name] or #tree.args ~= 3 or likes.name ~= 'likes_of' or #likes.args ~= 1 then
    self:fail('the derivative of a Tensor[] must be helper(grad, likes_of(argument), dim)')
  end
  local arg = self:argument_named(likes.args[1].name)
  if not (arg and arg.type == 'Tensor[]') then self:fail('likes_of expects the name of a Tensor[] argument') end
  self:field(arg.name .. '_likes', 'likes', arg)
  local grad = self:convert(self:value(tree.args[1]), { type = 'Tensor' }, 'grad')
  local dim = self:convert(self:value(tree.args[3]), { type = 'Dim' }, 'dim')
  self:statement('LT_CHECK(lt_%s(%s, saved->%s_count, saved->%s_likes, %s, results, needs));', tree.name, grad,
    arg.name, arg.name, dim)
end

-- The arguments with a derivative, in order, and a map from their names to the numbers of their
-- edges.
local function edges_of(op)
  local wanted, edges, numbers = {}, {}, {}
  for names in pairs(op.grad) do
    for name in names:gmatch('%S+') do wanted[name] = names end
  end
  for _, arg in ipairs(op.args) do
    if wanted[arg.name] then
      numbers[arg.name] = #edges
      edges[#edges + 1] = { arg = arg, names = wanted[arg.name] }
    end
  end
  return edges, numbers
end

-- Translates one expression of op.grad. Its key names one argument, or several if one call returns
-- all their gradients.
local function translate_one(model, op, names, edges, edge_of, fields, temporaries)
  local t = setmetatable({ model = model, op = op, argument = names, edges = {}, edge_of = edge_of,
    statements = {}, fields = fields, temporaries = temporaries }, Translator)
  local targets = {}
  for name in names:gmatch('%S+') do
    t.edges[#t.edges + 1] = edge_of[name]
    targets[#targets + 1] = ('&results[%d]'):format(edge_of[name])
  end
  local tree = expression.parse(op.grad[names], function(message) t:fail(message) end)
  local list = edges[t.edges[1] + 1].arg.type == 'Tensor[]'
  if list then
    if #edges > 1 then t:fail('a Tensor[] must be the only differentiable argument') end
    t:list_call(tree)
  elseif tree.kind == 'call' and not M.properties[tree.name] then
    t:call(tree, table.unpack(targets))
  else
    local value = t:value(tree)
    if value.class ~= 'tensor' or #targets > 1 then t:fail('no tensor for each') end
    t:statement('results[%d] = lt_tensor_retain(%s);', t.edges[1], value.c)
  end
  return { edges = t.edges, list = list, statements = t.statements }, t.temporaries
end

-- The derivatives of an op: { edges = { {arg =}... }, expressions = { {edges = numbers, list =
-- whether of a Tensor[], statements = {...} }... }, fields = { {name=, form=, arg=, edges = set of
-- the edges that need it}... }, temporaries = n }. Edges count from 0.
function M.translate(model, op)
  local edges, edge_of = edges_of(op)
  local fields, expressions, temporaries, done = {}, {}, 0, {}
  for _, edge in ipairs(edges) do
    if not done[edge.names] then
      done[edge.names] = true
      expressions[#expressions + 1], temporaries = translate_one(model, op, edge.names, edges, edge_of, fields, temporaries)
    end
  end
  return { edges = edges, expressions = expressions, fields = fields, temporaries = temporaries }
end

return M
