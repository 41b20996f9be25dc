-- autograd.lua - generates each public function of each operation: the implementation with its
-- autograd code. One C file per group, ops_autograd_<group>.c.
--
-- An operation with derivatives gets a node type with <op>_apply and <op>_record (nodes.lua), and
--   lt_<op>             the implementation, then the node if an argument requires grad
--   lt_<op>_            in place: the node first, because arguments are saved before the write
--   lt_<op>_out         rejects arguments that require grad; copied_<op>_out copies new results
--   <op>_dual           the operation on tensors with tangents (forward.lua)
-- Public functions store their result only after success, so the previous value of *out does not
-- matter.
--
-- Usage: lua5.4 scripts/gen/autograd.lua OUT_DIR

package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local batches = require 'batches'
local c_text = require 'c_text'
local declarations = require 'declarations'
local derivative = require 'derivative'
local float8 = require 'float8'
local forward = require 'forward'
local nodes = require 'nodes'
local scalar_forms = require 'scalar_forms'
local sparse = require 'sparse'

-- Names that the emitted functions use themselves.
local reserved = { node = true, saved = true, status = true, results = true, needs = true, grads = true, original = true,
  d = true, any = true, given = true, leaf = true, level = true, made = true, pieces = true, places = true, term = true }

-- ---- arguments and results ----------------------------------------------------------------------

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

-- ---- the functions ------------------------------------------------------------------------------

local function edge_args(op)
  local list = {}
  for i, edge in ipairs(op.derivative.edges) do list[i] = edge.arg end
  return list
end

local function record_call(op, original)
  local list = {}
  for i, a in ipairs(nodes.recorded_args(op)) do list[i] = a.name end
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
      list[#list + 1] = nodes.save_if_needed(op, field, (call:gsub('saved%->', ('((%s_node *)node)->'):format(op.label))))
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
  if form == 'OUT' then reads = true end -- the implementation may write to the given tensor at any step
  if reads == nil then reads = not (op.factory or op.composite or op.view) end
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
  if form == 'OUT' then table.move(declarations.out_names(op), 1, #op.returns, #tensors + 1, tensors) end
  if #tensors > 0 then
    table.insert(lines, 1, ('LT_TRY(lt_materialize_all("%s", %d, (lt_tensor *const[]){%s}));'):format(op.name, #tensors,
      table.concat(tensors, ', ')))
  end
  return #lines > 0 and ('    if (lt_any_deferred()) {\n        %s\n    }'):format(table.concat(lines, '\n        ')) or nil
end

-- The start of a function that runs the operation and writes to outputs. A function with index
-- arguments sets its name, for errors that a GPU reports after the function has returned. form: as
-- in batches.lua.
local function open_function(text, op, name, outputs, form)
  form = form or 'NEW'
  local parameters = form == 'NEW' and declarations.c_prototype(op) or declarations.c_params(op)
  if form == 'OUT' then parameters = declarations.with_out(op, parameters) end
  batches.emit(text, op, name, form, parameters, form == 'NEW' and outputs or {})
  text:line('lt_status lt_%s(%s)\n{', name, declarations.public_prototype(op, form, 'const_'))
  for i, a in ipairs(op.args) do
    if declarations.is_const(op, i, op.inplace_only or form:match '^INPLACE') then
      text:line('    lt_tensor *%s = (lt_tensor *)const_%s;', a.name, a.name)
    end
  end
  text:line('    lt_thread *const here = lt_this_thread();\n    (void)here;')
  if op.name:sub(1, 1) ~= '_' then
    text:line('    LT_PROFILE_CALL(here, "%s");', form:match '^INPLACE' and not op.inplace_only and op.name .. '_' or op.name)
  end
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
  text[#text + 1] = batches.check(op, name, names, form)
  if not (op.records or op.view or op.composite and not op.reads and form ~= 'OUT') then text:line('    LT_EAGERLY();') end
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
      lines[#lines + 1] = ('    if (here->grad_mode && lt_requires_grad(%s)) return lt_refuse_grad_argument("%s", "%s");'):format(
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
  return ('if (here->grad_mode && (%s) && (%s))\n        LT_CHECK(lt_no_derivative("%s", %d, (lt_tensor *const[]){%s}, %d, &node));'):format(
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
  open_function(text, op, op.cname, output_names(op))
  local outputs, tensors = output_names(op), true
  for _, result in ipairs(op.returns) do
    tensors = tensors and derivative.is_tensor(result.type)
  end
  local named = op.composite and op.grad_fn
  if named then text:line('    const uint64_t before = here->last_node;') end
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
  open_function(text, op, op.cname, output_names(op))
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
  text:line('    if (here->grad_mode && %s && lt_dtype_is_inexact((lt_dtype)%s->dtype)) {',
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
  if op.overlap == 'aside' or op.overlap == 'copied' then return list end
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
    text:line('    if (here->grad_mode && lt_requires_grad(self)) LT_TRY(lt_check_inplace(self));')
    text:lines(overlap_checks(op, 'self'), '    ')
    text:line('    LT_TRY(%s);\n    lt_bump_version(self);\n    return LT_OK;\n}\n', inplace_impl(op))
    return
  end
  text:line('    lt_node *node = NULL;\n    lt_status status = LT_OK;')
  text:lines(overlap_checks(op, 'self'), '    ')
  text:line('    ' .. missing)
  text:line('    if (node != NULL || (here->grad_mode && lt_requires_grad(self))) LT_CHECK(lt_check_inplace(self));')
  text:line('    LT_CHECK(%s);\n    lt_bump_version(self);', inplace_impl(op))
  text:line('    if (node != NULL) LT_CHECK(lt_node_attach_inplace(node, self));')
  text:line('done:\n    lt_node_release(node);\n    return status;\n}\n')
end

local function emit_inplace(text, op, name)
  local has_out = #op.returns > 0
  open_function(text, op, name, {}, 'INPLACE')
  local refusal = op.inplace_only and not op.dual and forward.refusal(op, {})
  if refusal then text:line('    ' .. refusal) end
  if not op.inplace_only then forward.emit_inplace(text, op, name) end
  if op.args[1].type == 'Tensor[]' then
    text:line('    for (int64_t i = 0; here->grad_mode && i < self->n; i++)')
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
  text:line('    if (here->grad_mode && %s) {', count > 1 and '(' .. condition .. ')' or condition)
  text:line('        LT_CHECK(lt_check_inplace(self));')
  text:line('        if (lt_dtype_is_inexact((lt_dtype)self->dtype)) {')
  if op.keeps_original then
    text:line('            ' .. nodes.save_if_needed(op, op.keeps_original, 'LT_CHECK(lt_clone(self, &original));'))
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

-- In-place form of a composite op: its result is copied to self. Steps that save self save a copy.
local function emit_inplace_composite(text, op, name)
  open_function(text, op, name, {}, 'INPLACE')
  local condition = any_requires(variable_args(op))
  local list = arg_names(op)
  list[1], list[#list + 1] = 'own', '&result'
  if op.grad_fn then text:line('    const uint64_t before = here->last_node;') end
  text:line('    lt_tensor *result = NULL, *own = self;')
  text:line('    const bool copies = here->grad_mode && (%s);', condition)
  text:line('    if (copies) LT_TRY(lt_clone(self, &own));')
  text:line('    const lt_status status = lt_%s(%s);', op.cname, table.concat(list, ', '))
  text:line('    if (copies) lt_tensor_release(own);\n    LT_TRY(status);')
  text:line('    LT_TRY(lt_store_in_place("%s", result, %s, self));', name, tostring(op.keeps_dtype == true))
  if op.grad_fn then text:line('    lt_name_node(self, before, "%s");', op.grad_fn_inplace or op.grad_fn) end
  text:line('    return LT_OK;\n}\n')
end

-- In-place form of a view (such as t_): self becomes the view; its storage and history stay.
local function emit_inplace_view(text, op, name)
  local arguments = {}
  for i, a in ipairs(op.args) do arguments[i] = a.name end
  open_function(text, op, name, {}, 'INPLACE_VIEW')
  text:line('    lt_tensor *view;')
  text:line('    if (here->grad_mode && lt_requires_grad(self)) LT_TRY(lt_check_inplace(self));')
  text:line('    LT_TRY(lt_%s(%s, &view));', op.cname, table.concat(arguments, ', '))
  text:line('    lt_status status = lt_become_view(self, view, &%s_inplace_class);', op.label)
  text:line('    lt_tensor_release(view);\n    return status;\n}\n')
end

-- The statements that compute new results and copy them to the given tensors.
local function copy_results(text, op)
  local outs, refs, names = declarations.out_names(op), {}, arg_names(op)
  for i = 1, #outs do refs[i] = ('&made[%d]'):format(i - 1) end
  local exact = false -- PyTorch writes positions directly
  for _, result in ipairs(op.returns) do exact = exact or result.type == 'IndexTensor' end
  text:line('    lt_tensor *made[%d] = {NULL}, *given[] = {%s};', #outs, table.concat(outs, ', '))
  text:line('    lt_status status = lt_%s(%s);', op.cname, table.concat(table.move(refs, 1, #refs, #names + 1, names), ', '))
  text:line('    if (status == LT_OK)\n        status = %s("%s", %d, made, &(lt_tensor_list){%d, given});',
    exact and 'lt_store_exact_outs' or 'lt_store_outs', op.name, #outs, #outs)
  text:line('    for (int i = 0; i < %d; i++) lt_tensor_release(made[i]);\n    return status;\n}\n', #outs)
end

-- lt_<op>_out of an operation that always creates its results.
local function emit_copied_out(text, op)
  local check = null_check(op, declarations.out_names(op))
  text:line('lt_status lt_%s_out(%s)\n{', op.cname, declarations.public_prototype(op, 'OUT'))
  if check then text[#text + 1] = check end
  copy_results(text, op)
end

-- The C condition that an argument shares the storage of a given tensor.
local function shares_storage(op)
  local conditions = {}
  for _, output in ipairs(declarations.out_names(op)) do
    for _, a in ipairs(op.args) do
      local is_list = a.type == 'Tensor[]' or a.type == 'IndexTensor[]'
      if is_list or derivative.is_tensor(a.type) then
        conditions[#conditions + 1] = ('lt_shares_storage%s(%s, %s)'):format(is_list and '_with_any' or '', output, a.name)
      end
    end
  end
  return table.concat(conditions, ' || ')
end

-- lt_<op>_out of an operation that writes to the given tensors. With `copied`, results are created
-- first if an argument may overlap them.
local function emit_out(text, op)
  local outs, refs, exact = declarations.out_names(op), {}, ''
  local copied = op.overlap == 'copied'
  if copied then
    text:line('static lt_status copied_%s_out(%s)\n{', op.cname, declarations.with_out(op, declarations.c_params(op)))
    copy_results(text, op)
  end
  open_function(text, op, op.cname .. '_out', outs, 'OUT')
  if copied then
    text:line('    if (%s)\n        return copied_%s_out(%s);', shares_storage(op), op.cname,
      table.concat(table.move(outs, 1, #outs, #op.args + 1, arg_names(op)), ', '))
  end
  for i, output in ipairs(outs) do
    refs[i] = ('&result_%d'):format(i)
    text:line('    lt_tensor *result_%d = %s;', i, output)
    if op.returns[i].type == 'IndexTensor' then exact = ' | LT_ROLE_EXACT' end
  end
  text:line('    ' .. forward.refusal_out(op))
  local requires = {}
  for i, output in ipairs(outs) do requires[i] = ('lt_requires_grad(%s)'):format(output) end
  local of_args = (op.grad or op.composite) and any_requires(op.args) or ''
  if of_args ~= '' then requires[#requires + 1] = of_args end
  text:line('    if (here->grad_mode && (%s)) return lt_refuse_out("%s");', table.concat(requires, ' || '), op.name)
  for i, output in ipairs(outs) do
    text:lines(overlap_checks(op, output), '    ')
    for earlier = 1, i - 1 do text:line('    LT_TRY(lt_refuse_sharing(%s, %s));', output, outs[earlier]) end
  end
  for i, output in ipairs(outs) do
    text:line('    const uint8_t role_%d = %s->role;\n    %s->role |= LT_ROLE_RESIZABLE%s;', i, output, output, exact)
  end
  if op.composite then text:line('    const uint32_t version = lt_version_of(%s);', outs[1]) end
  text:line('    const lt_status status = %s;', call_impl(op, refs))
  for i, output in ipairs(outs) do text:line('    %s->role = role_%d;', output, i) end
  -- The last step of a composite operation may have written to the tensor.
  local written = op.composite and (' && lt_version_of(%s) == version'):format(outs[1]) or ''
  for _, output in ipairs(outs) do text:line('    if (status == LT_OK%s) lt_bump_version(%s);', written, output) end
  text:line('    return status;\n}\n')
end

-- ---- ops ----------------------------------------------------------------------------------------

-- Adds op.derivative (nil if there is none) and op.keeps_original, the field of self if in-place
-- forms must save a copy of it.
local function analyse(model, op)
  if op.composite and op.inplace_only then
    error(op.line .. ': a composite op is not in place alone', 0)
  end
  if op.composite and declarations.writes_out(op) and #op.returns > 1 then
    error(op.line .. ': a composite op that writes to out= has one result', 0)
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

-- The operation by its other names.
local function emit_synonyms(text, op)
  local function call(name, other, parameters, arguments)
    text:line('lt_status lt_%s(%s)\n{\n    return lt_%s(%s);\n}\n', other, parameters, name, table.concat(arguments, ', '))
  end
  for _, other in ipairs(op.synonyms) do
    local c, inputs = declarations.synonym(op, other.c), {}
    for i, a in ipairs(op.args) do inputs[i] = a.name end
    local all = table.move(inputs, 1, #inputs, 1, {})
    for _, result in ipairs(op.returns) do all[#all + 1] = declarations.output_name(result) end
    call(op.cname, c, declarations.public_prototype(op, 'NEW'), all)
    if op.variants.inplace then call(declarations.inplace_name(op), c .. '_', declarations.public_prototype(op, 'INPLACE'), inputs) end
    if declarations.has_out(op) then
      table.move(declarations.out_names(op), 1, #op.returns, #inputs + 1, inputs)
      call(op.cname .. '_out', c .. '_out', declarations.public_prototype(op, 'OUT'), inputs)
    end
  end
end

local function emit_op(model, text, op)
  text:line('/* ---- %s ---- */\n', op.cname)
  if op.derivative then
    nodes.emit(model, text, op)
    forward.emit(text, op, nodes.conjugates(op))
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
    local emit = op.view and emit_inplace_view or op.composite and emit_inplace_composite or emit_inplace
    emit(text, op, declarations.inplace_name(op))
  end
  if declarations.writes_out(op) then
    emit_out(text, op)
  elseif declarations.has_out(op) then
    emit_copied_out(text, op)
  end
  emit_synonyms(text, op)
  scalar_forms.emit(text, op)
end

local function emit_group(model, group)
  local head, text = c_text.new(), c_text.new()
  head:line('/* Generated by scripts/gen/autograd.lua from src/ops/%s.lua. Do not edit. */', group)
  head:line('#include <stddef.h>')
  for _, header in ipairs { 'autograd/autograd.h', 'autograd/forward.h', 'compile/trace.h', 'context/profile.h', 'dtypes/dtype.h', 'dtypes/float8_arguments.h', 'error.h', 'compile/deferred.h', 'memory/alloc.h', 'op_name.h', 'ops/batch/batch.h', 'ops/outs.h', 'ops/shape/backward.h', 'overlap.h', 'sparse.h', 'tensor.h' } do
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
