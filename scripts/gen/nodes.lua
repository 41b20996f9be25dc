-- nodes.lua - generates the node type of an operation with derivatives, which contains the values
-- of its expressions (derivative.lua), and its functions. For autograd.lua.
--   <op>_apply            the derivatives
--   <op>_record           a new node: its edges, its saved arguments
--   <op>_release_saved    frees the saved tensors; <op>_destroy frees the other memory
--   <op>_class            the class of the node; a view has another one for its in-place form
-- May use c_text.lua, declarations.lua, derivative.lua.

local c_text = require 'c_text'
local declarations = require 'declarations'
local derivative = require 'derivative'

local M = {}

local function camel(name)
  local text = name:gsub('^_+', ''):gsub('_+$', ''):gsub('_(%w)', string.upper):gsub('_', ''):gsub('%d%l', string.upper)
  return text:sub(1, 1):upper() .. text:sub(2)
end

local function node_name(op) return op.grad_fn or camel(op.name) .. 'Backward0' end

-- The C expression of the node's class: an op may have another class if an argument is a number.
local function class_text(op)
  local text = ('&%s_class'):format(op.label)
  for _, a in ipairs(op.args) do
    if (op.grad_fn_number or {})[a.name] then
      text = ('%s->flags & LT_FLAG_WRAPPED_NUMBER ? &%s_%s_class : %s'):format(a.name, op.label, a.name, text)
    end
  end
  return text
end

-- ---- contents of a node -------------------------------------------------------------------------

-- The condition under which one of the edges in the set is needed; nil if always.
local function needed(op, field, format)
  local parts = {}
  for i, edge in ipairs(op.derivative.edges) do
    if field.edges[i - 1] then parts[#parts + 1] = format(edge.arg, i - 1) end
  end
  if #parts == #op.derivative.edges then return nil end
  return table.concat(parts, ' || ')
end

local function when(condition, statement)
  return condition and ('if (%s) %s'):format(condition, statement) or statement
end

local function requires(a) return ('lt_requires_grad(%s)'):format(a.name) end

-- The statement, under the condition that an edge of the field requires grad.
function M.save_if_needed(op, field, statement) return when(needed(op, field, requires), statement) end

local function needs(_, i) return ('needs[%d]'):format(i) end

-- Per form of field: its declaration; how it is filled from arguments; how it is freed.
local forms = {}

forms.tensor = {
  declare = function(f) return { ('lt_saved %s;'):format(f.name) } end,
  save = function(f, op)
    local source = f.name == 'self' and op.keeps_original and 'original' or f.arg.name
    return { when(needed(op, f, requires), ('LT_CHECK(lt_save_input(&saved->%s, %s));'):format(f.name, source)) }
  end,
  release = function(f) return ('lt_saved_release(&saved->%s);'):format(f.name) end,
  unpack = function(f, op)
    return when(needed(op, f, needs), ('LT_CHECK(lt_unpack(&saved->%s, node, &%s));'):format(f.name, f.name))
  end,
  unpacked = 'lt_tensor *%s = NULL;', unpacked_release = 'lt_tensor_release(%s);',
}

forms.output = {
  declare = forms.tensor.declare, save = function() return {} end, release = forms.tensor.release,
  unpack = forms.tensor.unpack, unpacked = forms.tensor.unpacked, unpacked_release = forms.tensor.unpacked_release,
}

forms.list = {
  declare = function(f) return { ('lt_saved_list %s;'):format(f.name) } end,
  save = function(f) return { ('LT_CHECK(lt_save_list(&saved->%s, %s));'):format(f.name, f.name) } end,
  release = function(f) return ('lt_saved_list_release(&saved->%s);'):format(f.name) end,
  destroy = function(f) return ('lt_mem_free(saved->%s.v);'):format(f.name) end,
  unpack = function(f, op)
    return when(needed(op, f, needs), ('LT_CHECK(lt_unpack_list(&saved->%s, node, &%s));'):format(f.name, f.name))
  end,
  unpacked = 'lt_tensor_list %s = {0, NULL};', unpacked_release = 'lt_unpacked_release(&%s);',
}

forms.likes = {
  declare = function(f) return { ('int64_t %s_count;'):format(f.arg.name), ('lt_like *%s;'):format(f.name) } end,
  save = function(f)
    return { ('LT_CHECK(lt_like_of_list(&saved->%s, %s));'):format(f.name, f.arg.name),
      ('saved->%s_count = %s->n;'):format(f.arg.name, f.arg.name) }
  end,
  destroy = function(f) return ('lt_mem_free(saved->%s);'):format(f.name) end,
}

local property_sources = {
  sizes = 'lt_dims_from(%s->ndim, %s->sizes)', strides = 'lt_dims_from(%s->ndim, %s->strides)',
  offset = '%s->offset', dtype = '(lt_dtype)%s->dtype', device = '%s->device',
}
for _, property in pairs(derivative.properties) do
  forms[property.form] = {
    declare = function(f) return { property.c_type .. f.name .. ';' } end,
    save = function(f, op)
      local source = property_sources[property.form]:gsub('%%s', f.arg.name)
      local condition = f.arg.optional and f.arg.name .. ' != NULL' or needed(op, f, requires)
      return { when(condition, ('saved->%s = %s;'):format(f.name, source)) }
    end,
  }
end

forms.value = {
  declare = function(f)
    local list = { derivative.value_types[derivative.class(f.arg.type)] .. f.name .. ';' }
    if derivative.has_flag(f.arg) then list[2] = ('bool has_%s;'):format(f.name) end
    return list
  end,
  save = function(f)
    local class = derivative.class(f.arg.type)
    if class == 'string' then return { ('LT_CHECK(lt_save_string(&saved->%s, %s));'):format(f.name, f.name) } end
    if derivative.has_flag(f.arg) then
      return { ('saved->has_%s = %s != NULL;'):format(f.name, f.name),
        ('if (%s != NULL) saved->%s = *%s;'):format(f.name, f.name, f.name) }
    end
    return { ('saved->%s = %s%s;'):format(f.name, class == 'dims' and '*' or '', f.name) }
  end,
  destroy = function(f)
    if derivative.class(f.arg.type) == 'string' then return ('lt_mem_free(saved->%s);'):format(f.name) end
  end,
}

-- Lines of one kind ('declare', 'save', 'release', 'destroy') for all fields.
local function field_lines(op, what)
  local list = {}
  for _, field in ipairs(op.derivative.fields) do
    local make = forms[field.form][what]
    local made = make and make(field, op)
    for _, line in ipairs(type(made) == 'table' and made or { made }) do list[#list + 1] = line end
  end
  return list
end

-- Lines of one kind for the fields that are unpacked, with their names filled in.
local function unpacked_lines(op, what)
  local list = {}
  for _, field in ipairs(op.derivative.fields) do
    local form = forms[field.form]
    if form.unpack then list[#list + 1] = type(form[what]) == 'function' and form[what](field, op) or form[what]:format(field.name) end
  end
  return list
end

-- ---- the node type ------------------------------------------------------------------------------

local function emit_type(text, op)
  text:line('typedef struct %s_node {', op.label)
  text:line('    lt_node node;')
  text:lines(field_lines(op, 'declare'), '    ')
  text:line('} %s_node;\n', op.label)
end

local function emit_apply(text, op)
  local d = op.derivative
  local body = c_text.new()
  body:lines(unpacked_lines(op, 'unpack'), '    ')
  for _, e in ipairs(d.expressions) do
    local asked = {}
    for i, edge in ipairs(e.edges) do asked[i] = ('needs[%d]'):format(edge) end
    if e.list then
      body:lines(e.statements, '    ')
    elseif #e.statements == 1 then
      body:line('    if (%s) %s', table.concat(asked, ' || '), e.statements[1])
    else
      body:line('    if (%s) {', table.concat(asked, ' || '))
      body:lines(e.statements, '        ')
      body:line('    }')
    end
  end
  local made = body:join()
  local checks, uses_saved = made:find('LT_CHECK', 1, true), made:find('saved->', 1, true)
  text:line('static lt_status %s_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results, const bool *needs)\n{',
    op.label)
  text:line(uses_saved and ('    %s_node *saved = (%s_node *)node;'):format(op.label, op.label) or '    (void)node;')
  text:line('    lt_tensor *grad = grads[0];')
  text:lines(unpacked_lines(op, 'unpacked'), '    ')
  if d.temporaries > 0 then
    local names = {}
    for i = 1, d.temporaries do names[i] = ('*t%d = NULL'):format(i) end
    text:line('    lt_tensor %s;', table.concat(names, ', '))
  end
  if checks then text:line('    lt_status status = LT_OK;') end
  text:line('    if (grad == NULL) return LT_OK;')
  text:line(made:sub(1, -2))
  if checks then text:line('done:') end
  for i = 1, d.temporaries do text:line('    lt_tensor_release(t%d);', i) end
  text:lines(unpacked_lines(op, 'unpacked_release'), '    ')
  text:line('    return %s;\n}\n', checks and 'status' or 'LT_OK')
end

-- Generates <op>_<what>(node) if there is something to free; returns the function's name, or other.
local function emit_free(text, op, what, suffix, other)
  local lines = field_lines(op, what)
  if #lines == 0 then return other end
  text:line('static void %s_%s(lt_node *node)\n{', op.label, suffix)
  text:line('    %s_node *saved = (%s_node *)node;', op.label, op.label)
  text:lines(lines, '    ')
  text:line('}\n')
  return ('%s_%s'):format(op.label, suffix)
end

-- Emits the list of fields that own tensors, if there are any; returns its name, or NULL.
local function emit_owned(text, op)
  local kinds, list = { tensor = 'SAVED', output = 'SAVED', list = 'SAVED_LIST' }, {}
  for _, field in ipairs(op.derivative.fields) do
    if kinds[field.form] then
      list[#list + 1] = ('{offsetof(%s_node, %s), LT_OWNED_%s}'):format(op.label, field.name, kinds[field.form])
    end
  end
  if #list == 0 then return 'NULL' end
  text:line('static const lt_owned %s_owned[] = {%s, {0, LT_OWNED_NODE}};\n', op.label, table.concat(list, ', '))
  return op.label .. '_owned'
end

-- The arguments of a record function: the ones with an edge and the saved ones.
function M.recorded_args(op)
  local used, list = {}, {}
  for _, edge in ipairs(op.derivative.edges) do used[edge.arg.name] = true end
  for _, field in ipairs(op.derivative.fields) do
    if field.arg.name then used[field.arg.name] = true end
  end
  for _, a in ipairs(op.args) do
    if used[a.name] then list[#list + 1] = a end
  end
  return list
end

local function emit_record(text, op)
  local edges = op.derivative.edges
  local params = {}
  for i, a in ipairs(M.recorded_args(op)) do params[i] = declarations.c_type(a) .. a.name end
  if op.keeps_original then table.insert(params, 1, 'lt_tensor *original') end
  local list_edge = edges[1].arg.type == 'Tensor[]' and edges[1].arg.name
  text:line('static lt_status %s_record(%s, lt_node **out)\n{', op.label, table.concat(params, ', '))
  text:line('    lt_node *node = NULL;')
  text:line('    lt_status status = LT_OK;')
  text:line('    LT_CHECK(lt_node_new(%s, 1, %s, &node));', class_text(op), list_edge and ('(int)%s->n'):format(list_edge) or #edges)
  local lines = field_lines(op, 'save')
  if #lines > 0 then text:line('    %s_node *saved = (%s_node *)node;', op.label, op.label) end
  if list_edge then
    text:line('    for (int i = 0; i < node->outputs; i++) LT_CHECK(lt_node_connect(node, i, %s->v[i]));', list_edge)
  else
    for i, edge in ipairs(edges) do text:line('    LT_CHECK(lt_node_connect(node, %d, %s));', i - 1, edge.arg.name) end
  end
  text:lines(lines, '    ')
  text:line('    *out = node;\n    node = NULL;')
  text:line('done:\n    lt_node_release(node);\n    return status;\n}\n')
end

-- ---- the class ----------------------------------------------------------------------------------

-- True if the derivative for complex numbers is conj(F(conj(grad))). If F contains only the
-- gradient and real values, that is F(grad).
function M.conjugates(op)
  if op.holomorphic == false then return 'false' end
  for _, field in ipairs(op.derivative.fields) do
    local kind = field.arg and field.arg.type or ''
    local elements = field.form == 'tensor' or field.form == 'output' or field.form == 'list'
    if elements and not kind:match '^IndexTensor' or kind:match '^Scalar' then return 'true' end
  end
  return 'false'
end

-- Whether the derivative reads the gradient exactly once, in an elementwise op, which may then
-- write to its buffer.
local function spends(model, op)
  local reader, places = nil, 0
  for _, e in ipairs(op.derivative.expressions) do
    for _, statement in ipairs(e.statements) do
      for _ in statement:gmatch '%f[%w_]grad%f[^%w_]' do
        reader, places = statement:match 'lt_([%w_]+)%(', places + 1
      end
    end
  end
  local called = model.by_cname[reader]
  return tostring(places == 1 and called ~= nil and called.pointwise ~= nil)
end

-- Emits the node type, its functions and its classes.
function M.emit(model, text, op)
  emit_type(text, op)
  emit_apply(text, op)
  local release = emit_free(text, op, 'release', 'release_saved', 'lt_release_nothing')
  local destroy = emit_free(text, op, 'destroy', 'destroy', 'NULL')
  local owned = emit_owned(text, op)
  local function emit_class(label, name)
    text:line('static const lt_node_class %s_class = {"%s", sizeof(%s_node), %s_apply, %s, %s, %s, %s, %s};\n', label, name,
      op.label, op.label, release, destroy, owned, M.conjugates(op), spends(model, op))
  end
  emit_class(op.label, node_name(op))
  for _, a in ipairs(op.args) do
    local name = (op.grad_fn_number or {})[a.name]
    if name then emit_class(op.label .. '_' .. a.name, name) end
  end
  if op.view and op.variants.inplace then emit_class(op.label .. '_inplace', op.grad_fn_inplace or node_name(op)) end
  emit_record(text, op)
end

return M
