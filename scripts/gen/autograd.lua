-- autograd.lua - generates each public function of each operation: the implementation with its
-- autograd code. One C file per group, ops_autograd_<group>.c.
--
-- An operation with derivatives gets a node type that contains the values of its expressions
-- (derivative.lua), and
--   <op>_apply          the derivatives
--   <op>_record         a new node: its edges, its saved arguments
--   lt_<op>             the implementation, then the node if an argument requires grad
--   lt_<op>_            in place: the node first, because arguments are saved before the write
--   lt_<op>_out         rejects arguments that require grad
--   <op>_dual           the operation on tensors with tangents (forward.lua)
-- Public functions store their result only after success, so the previous value of *out does not
-- matter.
--
-- Usage: lua5.4 scripts/gen/autograd.lua OUT_DIR

package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local batches = require 'batches'
local declarations = require 'declarations'
local derivative = require 'derivative'
local forward = require 'forward'
local float8 = require 'float8'
local sparse = require 'sparse'

-- Names that the emitted functions use themselves.
local reserved = { node = true, saved = true, status = true, results = true, needs = true, grads = true, original = true,
  d = true, any = true, given = true, leaf = true, level = true, made = true, pieces = true, places = true, term = true }

-- ---- text ---------------------------------------------------------------------------------------

local Text = {}
Text.__index = Text

local function new_text() return setmetatable({}, Text) end
function Text:line(format, ...) self[#self + 1] = select('#', ...) > 0 and format:format(...) or format end
function Text:lines(list, indent) for _, line in ipairs(list) do self[#self + 1] = (indent or '') .. line end end
function Text:join() return table.concat(self, '\n') .. '\n' end

local function arg_names(op)
  local names = {}
  for i, a in ipairs(op.args) do names[i] = a.name end
  return names
end

-- The name of the local that holds a result.
local function result_name(result) return result.name or 'result' end

local function call_impl(op, outputs)
  local list = arg_names(op)
  for _, output in ipairs(outputs) do list[#list + 1] = output end
  return ('lt_%s_impl(%s)'):format(op.cname, table.concat(list, ', '))
end

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

local function any_requires(args)
  local parts = {}
  for _, a in ipairs(args) do
    if a.type == 'Tensor[]' then parts[#parts + 1] = ('lt_any_requires_grad(%s)'):format(a.name)
    elseif derivative.is_tensor(a.type) and a.type ~= 'IndexTensor' then
      parts[#parts + 1] = ('lt_requires_grad(%s)'):format(a.name)
    end
  end
  return table.concat(parts, ' || '), #parts
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
  local body = new_text()
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
local function recorded_args(op)
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
  for i, a in ipairs(recorded_args(op)) do params[i] = declarations.c_type(a) .. a.name end
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

-- ---- the functions ------------------------------------------------------------------------------

local function edge_args(op)
  local list = {}
  for i, edge in ipairs(op.derivative.edges) do list[i] = edge.arg end
  return list
end

local function record_call(op, original)
  local list = {}
  for i, a in ipairs(recorded_args(op)) do list[i] = a.name end
  if op.keeps_original then table.insert(list, 1, original) end
  list[#list + 1] = '&node'
  return ('LT_CHECK(%s_record(%s));'):format(op.label, table.concat(list, ', '))
end

-- Saves results into the node; name maps a result's number to the C text of its tensor.
local function output_saves(op, name)
  local list = {}
  for _, field in ipairs(op.derivative.fields) do
    if field.form == 'output' then
      local tensor = name(field.arg.output)
      local slot = field.arg.output - 1
      -- The other results have no gradient and are saved like inputs.
      local differentiable = field.arg.output == 1
      local call = differentiable and ('LT_CHECK(lt_save_output(&saved->%s, %s, %d));'):format(field.name, tensor, slot)
        or ('LT_CHECK(lt_save_input(&saved->%s, %s));'):format(field.name, tensor)
      list[#list + 1] = when(needed(op, field, requires), (call:gsub('saved%->', ('((%s_node *)node)->'):format(op.label))))
    end
  end
  return list
end

-- Checks required pointers and outputs for NULL, which a host may pass by mistake. One condition,
-- because it is evaluated in each call; the failing one is identified afterwards. Internal
-- operations have no check.
local function null_check(op, outputs)
  if op.name:sub(1, 1) == '_' then return nil end
  local conditions, which = {}, 'NULL'
  local function add(name, condition) table.insert(conditions, 1, { name = name, text = condition or name .. ' == NULL' }) end
  for _, a in ipairs(op.args) do
    if a.type == 'Tensor[]' then
      add(a.name, ('%s == NULL || lt_list_has_null(%s)'):format(a.name, a.name))
    elseif not a.optional and declarations.c_type(a):sub(-1) == '*' then
      add(a.name)
    end
  end
  for _, output in ipairs(outputs) do add(output) end
  local all = {}
  for i, c in ipairs(conditions) do
    table.insert(all, 1, c.text)
    which = i == 1 and ('"%s"'):format(c.name) or ('%s ? "%s" : %s'):format(c.text, c.name, which)
  end
  return #all > 0 and ('    if (__builtin_expect(%s, 0))\n        return lt_null_argument("%s", %s);'):format(
    table.concat(all, ' || '), op.name, which) or nil
end

-- Range checks of values that a host may pass by mistake: more than LT_MAX_DIMS dimensions, an
-- invalid dtype.
local function range_checks(op)
  local checks = {}
  if op.name:sub(1, 1) == '_' then return checks end
  for _, a in ipairs(op.args) do
    local kind, name = a.type:gsub('%?', ''), a.name
    if kind == 'Dims' or kind == 'Size' then
      checks[#checks + 1] = ([[
    if (__builtin_expect(%s(unsigned)%s->n > LT_MAX_DIMS, 0))
        return lt_error(LT_ERR_TYPE, "%s(): argument '%s' has %%d entries, at most %%d are possible", %s->n, LT_MAX_DIMS);]]):format(
        a.optional and name .. ' != NULL && ' or '', name, op.name, name, name)
    elseif kind == 'Dtype' then
      checks[#checks + 1] = ([[
    if (__builtin_expect((unsigned)%s + 1 > LT_DTYPE_COUNT, 0))
        return lt_error(LT_ERR_TYPE, "%s(): argument '%s': unknown dtype %%d", (int)%s);]]):format(name, op.name, name, name)
    end
  end
  return checks
end

-- Lines that materialize deferred arguments (compile/deferred.h). By default, views, factories and
-- composite ops need none: they read only the geometry, or call ops that materialize. The field
-- `reads` of a declaration overrides this.
local function materialize_lines(op, form)
  if op.records and form == 'NEW' then return nil end -- the implementation materializes, unless it records the op
  local reads = op.reads
  if reads == nil then reads = not (op.factory or op.composite or op.view and form ~= 'OUT') end
  if not reads then return nil end
  local tensors, lines = {}, {}
  for _, a in ipairs(op.args) do
    if a.type == 'Tensor[]' or a.type == 'IndexTensor[]' then
      lines[#lines + 1] = ('LT_TRY(lt_materialize_all("%s", %s->n, %s->v));'):format(op.name, a.name, a.name)
    elseif a.name == reads then
      lines[#lines + 1] = ('LT_TRY(lt_trace_keep_deferred("%s", %s));'):format(op.name, a.name)
    elseif derivative.is_tensor(a.type) then
      tensors[#tensors + 1] = a.name
    end
  end
  if form == 'OUT' then tensors[#tensors + 1] = 'out' end
  if #tensors > 0 then
    table.insert(lines, 1, ('LT_TRY(lt_materialize_all("%s", %d, (lt_tensor *const[]){%s}));'):format(op.name, #tensors,
      table.concat(tensors, ', ')))
  end
  return #lines > 0 and ('    if (lt_any_deferred()) {\n        %s\n    }'):format(table.concat(lines, '\n        ')) or nil
end

-- The start of a function that runs the operation and writes to outputs. A function with index
-- arguments sets its name, for errors that a GPU reports after the function has returned. form: as
-- in batches.lua.
local function open_function(text, op, name, parameters, outputs, form)
  form = form or 'NEW'
  batches.emit(text, op, name, form, parameters, form == 'NEW' and outputs or {})
  text:line('lt_status lt_%s(%s)\n{', name, parameters)
  local indexes = false
  for _, a in ipairs(op.args) do
    indexes = indexes or a.type == 'IndexTensor' or a.name == 'indices'
  end
  if indexes then text:line('    LT_OP_NAME("%s");', (op.name:gsub('^_+', ''))) end
  local check = null_check(op, outputs)
  if check then text[#text + 1] = check end
  for _, range in ipairs(range_checks(op)) do text[#text + 1] = range end
  local names = arg_names(op)
  for _, output in ipairs(outputs) do names[#names + 1] = output end
  text[#text + 1] = float8.check(op, form)
  text[#text + 1] = sparse.check(op, form, outputs)
  text[#text + 1] = batches.check(op, name, names)
  if not (op.records or op.view or op.composite and not op.reads) then text:line('    LT_EAGERLY();') end
  text[#text + 1] = materialize_lines(op, form)
end

local function output_names(op)
  local names = {}
  for i, result in ipairs(op.returns) do names[i] = declarations.output_name(result) end
  return names
end

-- Tensors with elements that may require grad, except the ones declared constant.
local function variable_args(op)
  local list = {}
  for _, a in ipairs(op.args) do
    if derivative.is_tensor(a.type) and not a.type:match '^IndexTensor' and not op.constant[a.name] then list[#list + 1] = a end
  end
  return list
end

-- Lines that reject arguments that require grad but have no derivative, if other arguments have
-- one: otherwise they would silently be treated as constants.
local function refused_arguments(op)
  local edges, lines = {}, {}
  for _, edge in ipairs(op.derivative.edges) do edges[edge.arg.name] = true end
  for _, a in ipairs(variable_args(op)) do
    if not edges[a.name] then
      lines[#lines + 1] = ('    if (lt_grad_mode_on() && lt_requires_grad(%s)) return lt_refuse_grad_argument("%s", "%s");'):format(
        a.name, (op.name:gsub('^_+', '')), a.name)
    end
  end
  return lines
end

-- The statement that creates an error node for an op without any derivative if an argument requires
-- grad; nil if the result is exact, piecewise constant, or independent of the elements. written: C
-- names of the results.
local function missing_derivative(op, written)
  local exact = op.pointwise == 'compare' or op.pointwise == 'integral' or op.forward == 'constant'
  if exact or op.factory or op.view or op.composite then return nil end
  local args, names, inexact = variable_args(op), {}, {}
  for i, a in ipairs(args) do names[i] = a.name end
  for i, name in ipairs(written) do inexact[i] = forward.is_inexact(name, i) end
  if #names == 0 or #inexact == 0 then return nil end
  return ('if (lt_grad_mode_on() && (%s) && (%s))\n        LT_CHECK(lt_no_derivative("%s", %d, (lt_tensor *const[]){%s}, %d, &node));'):format(
    any_requires(args), table.concat(inexact, ' || '), (op.name:gsub('^_+', '')), #names, table.concat(names, ', '), #written)
end

-- lt_<op> of an op without a derivative. missing: the statement of missing_derivative.
local function emit_underived(text, op, outputs, made, missing)
  local refs = {}
  text:line('    lt_node *node = NULL;')
  for i, name in ipairs(made) do
    text:line('    lt_tensor *%s = NULL;', name)
    refs[i] = '&' .. name
  end
  text:line('    lt_status status = LT_OK;')
  text:line('    LT_CHECK(%s);', call_impl(op, refs))
  local refusal = forward.refusal(op, made)
  if refusal then text:line('    ' .. refusal:gsub('return (.*);$', 'LT_CHECK(%1);')) end
  text:line('    ' .. missing)
  for i, name in ipairs(made) do
    text:line('    if (node != NULL && %s) LT_CHECK(lt_node_attach(node, %d, %s));', forward.is_inexact(name, i), i - 1, name)
  end
  for i, name in ipairs(made) do text:line('    *%s = %s;\n    %s = NULL;', outputs[i], name, name) end
  text:line('done:\n    lt_node_release(node);')
  for _, name in ipairs(made) do text:line('    lt_tensor_release(%s);', name) end
  text:line('    return status;\n}\n')
end

-- lt_<op> without a node, except the node of an operation without a derivative.
local function emit_plain(text, op)
  open_function(text, op, op.cname, declarations.c_prototype(op), output_names(op))
  local outputs, tensors = output_names(op), true
  for _, result in ipairs(op.returns) do
    tensors = tensors and derivative.is_tensor(result.type)
  end
  local named = op.composite and op.grad_fn
  if named then text:line('    const uint64_t before = lt_tls.last_node;') end
  if not tensors and named then
    text:line('    LT_TRY(%s);', call_impl(op, outputs))
    text:line('    for (int64_t i = 0; i < %s->n; i++) lt_name_node(%s->v[i], before, "%s");', outputs[1], outputs[1], op.grad_fn)
    text:line('    return LT_OK;\n}\n')
    return
  end
  if not tensors then
    text:line('    return %s;\n}\n', call_impl(op, outputs))
    return
  end
  local made = {}
  for i, result in ipairs(op.returns) do made[i] = 'new_' .. result_name(result) end
  local missing = missing_derivative(op, made)
  if missing then
    emit_underived(text, op, outputs, made, missing)
    return
  end
  -- Results are named new_<result>, because an argument may be called result.
  local refs = {}
  for i, result in ipairs(op.returns) do
    text:line('    lt_tensor *new_%s = NULL;', result_name(result))
    refs[i] = '&new_' .. result_name(result)
  end
  text:line('    LT_TRY(%s);', call_impl(op, refs))
  local refusal = forward.refusal(op, made)
  if refusal then
    local releases = {}
    for i, name in ipairs(made) do releases[i] = ('lt_tensor_release(%s); '):format(name) end
    text:line('    ' .. refusal:gsub('return (.*)$', function(rest) return ('{ %sreturn %s }'):format(table.concat(releases), rest) end))
  end
  if op.view then text:line('    lt_record_view(self, new_result);') end
  for i, result in ipairs(op.returns) do
    if named then text:line('    lt_name_node(new_%s, before, "%s");', result_name(result), op.grad_fn) end
    text:line('    *%s = new_%s;', outputs[i], result_name(result))
  end
  text:line('    return LT_OK;\n}\n')
end

local function emit_differentiable(text, op)
  local condition, count = any_requires(edge_args(op))
  local first = result_name(op.returns[1])
  open_function(text, op, op.cname, declarations.c_prototype(op), output_names(op))
  text:lines(refused_arguments(op))
  text:line('    lt_node *node = NULL;')
  local refs = {}
  for i, result in ipairs(op.returns) do
    text:line('    lt_tensor *%s = NULL;', result_name(result))
    refs[i] = '&' .. result_name(result)
  end
  text:line('    lt_status status = LT_OK;')
  text:line('    LT_CHECK(%s);', forward.call(op, call_impl(op, refs), refs))
  if op.view then text:line('    lt_record_view(self, %s);', first) end
  text:line('    if (lt_grad_mode_on() && %s && lt_dtype_is_inexact((lt_dtype)%s->dtype)) {',
    count > 1 and '(' .. condition .. ')' or condition, first)
  text:line('        ' .. record_call(op, 'self'))
  text:lines(output_saves(op, function(i) return result_name(op.returns[i]) end), '        ')
  text:line('        LT_CHECK(lt_node_attach(node, 0, %s));\n    }', first)
  for _, result in ipairs(op.returns) do
    text:line('    *%s = %s;\n    %s = NULL;', declarations.output_name(result), result_name(result), result_name(result))
  end
  text:line('done:\n    lt_node_release(node);')
  for _, result in ipairs(op.returns) do text:line('    lt_tensor_release(%s);', result_name(result)) end
  text:line('    return status;\n}\n')
end

-- Checks that `written` is writable: not read-only and, depending on op.overlap, without internal
-- overlap and without overlap with the arguments. In place, self is written.
local function overlap_checks(op, written)
  local list = { ('LT_TRY(lt_prepare_write(%s));'):format(written) }
  if op.overlap ~= 'one value' then list[2] = ('LT_TRY(lt_refuse_overlap(%s));'):format(written) end
  if op.overlap == 'aside' then return list end
  local check = op.overlap == 'elementwise' and 'lt_refuse_partial_overlap' or 'lt_refuse_sharing'
  for _, a in ipairs(op.args) do
    local is_list = a.type == 'Tensor[]' or a.type == 'IndexTensor[]'
    if a.name ~= written and (is_list or derivative.is_tensor(a.type)) then
      list[#list + 1] = ('LT_TRY(%s%s(%s, %s));'):format(check, is_list and '_list' or '', written, a.name)
    end
  end
  return list
end

-- The call of the implementation on self: in-place forms of ops with a result pass self as the
-- output.
local function inplace_impl(op) return call_impl(op, #op.returns > 0 and { '&out' } or {}) end

local function emit_inplace_underived(text, op)
  local missing = missing_derivative(op, { 'self' })
  if not missing then
    text:line('    if (lt_grad_mode_on() && lt_requires_grad(self)) LT_TRY(lt_check_inplace(self));')
    text:lines(overlap_checks(op, 'self'), '    ')
    text:line('    LT_TRY(%s);\n    lt_bump_version(self);\n    return LT_OK;\n}\n', inplace_impl(op))
    return
  end
  text:line('    lt_node *node = NULL;\n    lt_status status = LT_OK;')
  text:lines(overlap_checks(op, 'self'), '    ')
  text:line('    ' .. missing)
  text:line('    if (node != NULL || (lt_grad_mode_on() && lt_requires_grad(self))) LT_CHECK(lt_check_inplace(self));')
  text:line('    LT_CHECK(%s);\n    lt_bump_version(self);', inplace_impl(op))
  text:line('    if (node != NULL) LT_CHECK(lt_node_attach_inplace(node, self));')
  text:line('done:\n    lt_node_release(node);\n    return status;\n}\n')
end

local function emit_inplace(text, op, name)
  local has_out = #op.returns > 0
  open_function(text, op, name, declarations.c_params(op), {}, 'INPLACE')
  local refusal = op.inplace_only and not op.dual and forward.refusal(op, {})
  if refusal then text:line('    ' .. refusal) end
  if not op.inplace_only then forward.emit_inplace(text, op, name) end
  if op.args[1].type == 'Tensor[]' then
    text:line('    for (int64_t i = 0; lt_grad_mode_on() && i < self->n; i++)')
    text:line('        if (lt_requires_grad(self->v[i])) LT_TRY(lt_check_inplace(self->v[i]));')
    text:line('    for (int64_t i = 0; i < self->n; i++) {\n        LT_TRY(lt_prepare_write(self->v[i]));')
    text:line('        LT_TRY(lt_refuse_overlap(self->v[i]));\n    }')
    text:line('    LT_TRY(%s);\n    for (int64_t i = 0; i < self->n; i++) lt_bump_version(self->v[i]);', inplace_impl(op))
    text:line('    return LT_OK;\n}\n')
    return
  end
  if has_out then text:line('    lt_tensor *out = self;') end
  if not op.derivative then
    emit_inplace_underived(text, op)
    return
  end
  text:lines(refused_arguments(op))
  local condition, count = any_requires(edge_args(op))
  text:line('    lt_node *node = NULL;')
  if op.keeps_original then text:line('    lt_tensor *original = NULL;') end
  text:line('    lt_status status = LT_OK;')
  text:lines(overlap_checks(op, 'self'), '    ')
  text:line('    if (lt_grad_mode_on() && %s) {', count > 1 and '(' .. condition .. ')' or condition)
  text:line('        LT_CHECK(lt_check_inplace(self));')
  text:line('        if (lt_dtype_is_inexact((lt_dtype)self->dtype)) {')
  if op.keeps_original then
    text:line('            ' .. when(needed(op, op.keeps_original, requires), 'LT_CHECK(lt_clone(self, &original));'))
  end
  text:line('            %s\n        }\n    }', record_call(op, 'original'))
  local impl = inplace_impl(op)
  text:line('    LT_CHECK(%s);\n    lt_bump_version(self);', op.inplace_only and forward.call(op, impl, {}) or impl)
  local saves = output_saves(op, function() return 'self' end)
  if #saves > 0 then
    text:line('    if (node != NULL) {')
    text:lines(saves, '        ')
    text:line('    }')
  end
  text:line('    if (node != NULL) LT_CHECK(lt_node_attach_inplace(node, self));')
  text:line('done:\n    lt_node_release(node);')
  if op.keeps_original then text:line('    lt_tensor_release(original);') end
  text:line('    return status;\n}\n')
end

-- In-place form of a view (such as t_): self becomes the view; its storage and history stay.
local function emit_inplace_view(text, op, name)
  local arguments = {}
  for i, a in ipairs(op.args) do arguments[i] = a.name end
  open_function(text, op, name, declarations.c_params(op), {}, 'INPLACE_VIEW')
  text:line('    lt_tensor *view;')
  text:line('    if (lt_grad_mode_on() && lt_requires_grad(self)) LT_TRY(lt_check_inplace(self));')
  text:line('    LT_TRY(lt_%s(%s, &view));', op.cname, table.concat(arguments, ', '))
  text:line('    lt_status status = lt_become_view(self, view, &%s_inplace_class);', op.label)
  text:line('    lt_tensor_release(view);\n    return status;\n}\n')
end

local function emit_out(text, op)
  local condition = any_requires(op.args)
  if not op.grad then condition = '' end
  open_function(text, op, op.cname .. '_out', declarations.c_params(op) .. ', lt_tensor *out', { 'out' }, 'OUT')
  text:line('    lt_tensor *result = out;')
  text:line('    ' .. forward.refusal_out(op))
  text:line('    if (lt_grad_mode_on() && (lt_requires_grad(out)%s)) return lt_refuse_out("%s");',
    condition ~= '' and ' || ' .. condition or '', op.name)
  text:lines(overlap_checks(op, 'out'), '    ')
  text:line('    const uint8_t role = out->role;\n    out->role |= LT_ROLE_RESIZABLE;')
  text:line('    const lt_status status = %s;\n    out->role = role;', call_impl(op, { '&result' }))
  text:line('    if (status == LT_OK) lt_bump_version(out);\n    return status;\n}\n')
end

-- ---- ops ----------------------------------------------------------------------------------------

-- Adds op.derivative (nil if there is none) and op.keeps_original, the field of self if in-place
-- forms must save a copy of it.
local function analyse(model, op)
  if op.composite and (op.inplace_only or op.variants.inplace or op.variants.out) then
    error(op.line .. ': a composite op has no in-place and no out form', 0)
  end
  if not op.grad or op.composite then return end
  for _, a in ipairs(op.args) do
    local clash = reserved[a.name] or a.name == 'grad' or a.name:match('^t%d+$')
    for _, result in ipairs(op.returns) do clash = clash or result_name(result) == a.name end
    if clash then error(("%s: argument '%s' has a name that the emitted code uses"):format(op.line, a.name), 0) end
  end
  local internal = op.name:sub(1, 1) == '_'
  for i, result in ipairs(op.returns) do
    local constant = result.type == 'IndexTensor' or (internal and result.type == 'Tensor')
    if i == 1 and result.type ~= 'Tensor' or i > 1 and not constant then
      error(op.line .. ': a differentiable op returns a Tensor and after it only IndexTensors', 0)
    end
  end
  op.derivative = derivative.translate(model, op)
  op.label = op.cname:gsub('^_+', '') -- names that begin with an underscore are the compiler's
  if (op.inplace_only or op.variants.inplace) and not op.view then
    local own = op.derivative.fields.self
    op.keeps_original = own and own.form == 'tensor' and own or nil
  end
end

-- True if the derivative for complex numbers is conj(F(conj(grad))). If F contains only the
-- gradient and real values, that is F(grad).
local function conjugates(op)
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

local function emit_op(model, text, op)
  text:line('/* ---- %s ---- */\n', op.cname)
  if op.derivative then
    emit_type(text, op)
    emit_apply(text, op)
    local release = emit_free(text, op, 'release', 'release_saved', 'lt_release_nothing')
    local destroy = emit_free(text, op, 'destroy', 'destroy', 'NULL')
    local owned = emit_owned(text, op)
    local function emit_class(label, name)
      text:line('static const lt_node_class %s_class = {"%s", sizeof(%s_node), %s_apply, %s, %s, %s, %s, %s};\n', label, name,
        op.label, op.label, release, destroy, owned, conjugates(op), spends(model, op))
    end
    emit_class(op.label, node_name(op))
    for _, a in ipairs(op.args) do
      local name = (op.grad_fn_number or {})[a.name]
      if name then emit_class(op.label .. '_' .. a.name, name) end
    end
    if op.view and op.variants.inplace then emit_class(op.label .. '_inplace', op.grad_fn_inplace or node_name(op)) end
    emit_record(text, op)
    forward.emit(text, op, conjugates(op))
  end
  sparse.emit(text, op)
  if op.inplace_only then
    emit_inplace(text, op, op.cname)
  elseif op.derivative then
    emit_differentiable(text, op)
  else
    emit_plain(text, op)
  end
  if op.variants.inplace then
    local emit = op.view and emit_inplace_view or emit_inplace
    emit(text, op, declarations.inplace_name(op))
  end
  if op.variants.out then emit_out(text, op) end
end

local function emit_group(model, group)
  local head, text = new_text(), new_text()
  head:line('/* Generated by scripts/gen/autograd.lua from src/ops/%s.lua. Do not edit. */', group)
  head:line('#include <stddef.h>')
  for _, header in ipairs { 'autograd/autograd.h', 'autograd/forward.h', 'compile/trace.h', 'dtypes/dtype.h', 'dtypes/float8_arguments.h', 'error.h', 'compile/deferred.h', 'memory/alloc.h', 'op_name.h', 'ops/batch/batch.h', 'ops/shape/backward.h', 'overlap.h', 'sparse.h', 'tensor.h' } do
    head:line('#include "%s"', header)
  end
  for _, op in ipairs(model.ops) do
    if op.group == group then emit_op(model, text, op) end
  end
  local body = text:join()
  return head:join() .. declarations.op_includes(model, body) .. '\n' .. body
end

local dir = assert(arg[1], 'usage: autograd.lua OUT_DIR')
local model = declarations.load()
for _, op in ipairs(model.ops) do analyse(model, op) end
for _, op in ipairs(model.ops) do forward.analyse(model, op) end
for _, group in ipairs(model.groups) do
  declarations.write(('%s/ops_autograd_%s.c'):format(dir, group), emit_group(model, group))
end
