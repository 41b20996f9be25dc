-- forward.lua - generates the part of an operation's public function that handles dual tensors, for
-- forward mode (src/core/autograd/forward.h): a function that removes a level from the arguments,
-- runs the operation on the primals, and computes the tangent of the result (the Jacobian-vector
-- product). For autograd.lua.
--
-- The tangent is `forward` of the declaration:
--   'elementwise'   the derivative with the tangent instead of the gradient; default of pointwise
--                   operations
--   'reduced'       the derivative for a gradient of ones, times the tangent, reduced like the
--                   result
--   'linear'        the operation applied to the tangents, zeros for missing ones; default of views
--   'constant'      none
--   'transposed'    the transpose of the derivative, which is linear in the gradient; default of
--                   all others
--   an expression   of the arguments, the result and the tangents <argument>_t, zeros for missing
--                   ones
--   a table         of these by argument: the terms of the arguments with a tangent are summed
-- May use declarations.lua, derivative.lua, expression.lua.

local declarations = require 'declarations'
local derivative = require 'derivative'
local expression = require 'expression'

local M = {}

local MOST = 13 -- LT_DUAL_ARGS

local function is_float_tensor(a)
  return derivative.is_tensor(a.type) and not a.type:match '^IndexTensor'
end

-- ---- expressions of arguments -------------------------------------------------------------------

-- Like the translator of derivatives, but names are parameters and locals of the function.
local Translator = setmetatable({}, { __index = derivative.Translator })
Translator.__index = Translator

local by_pointer = { dims = true, device = true }

function Translator:name(name)
  if name == 'grad' then return { class = 'tensor', c = self.gradient or self:fail 'there is no gradient in forward mode' } end
  for _, result in ipairs(self.op.returns) do
    if name == (result.name or 'result') then
      self.uses_result = true
      return { class = 'tensor', c = name }
    end
  end
  if name == 'result' and self.op.inplace_only then self:fail 'the result of an in-place op is not known' end
  local arg = self:argument_named(name)
  if arg then
    local class = derivative.class(arg.type)
    if class == 'generator' then self:fail 'a generator is not used twice' end
    if class == 'tensor' then return { class = class, c = name } end
    if class == 'list' or by_pointer[class] or derivative.has_flag(arg) then
      return { class = class, c = ('(*%s)'):format(name), has = derivative.has_flag(arg) and name .. ' != NULL' or nil }
    end
    return { class = class, c = name }
  end
  local tangent = name:match '^(.+)_t$'
  local of = tangent and self:argument_named(tangent)
  if of and of.type == 'Tensor[]' then return { class = 'list', c = 'pieces.tangent' } end
  if of then return { class = 'tensor', c = name } end
  local needed = name:match '^needs_(.+)$'
  if needed and self.edge_of[needed] then return { class = 'bool', c = ('needs[%d]'):format(self.edge_of[needed]) } end
  self:fail("unknown name '" .. name .. "'")
end

local properties = {
  sizes = { '%s->ndim', '%s->sizes' }, strides = { '%s->ndim', '%s->strides' },
}

function Translator:property(tree)
  local property = derivative.properties[tree.name]
  local arg = #tree.args == 1 and tree.args[1].kind == 'name' and self:argument_named(tree.args[1].name)
  if not (arg and derivative.is_tensor(arg.type)) then self:fail(tree.name .. ' expects the name of one tensor argument') end
  local name, parts = arg.name, properties[property.form]
  if parts then
    local place = name .. '_' .. property.form
    if not self.places[place] then
      self.places[place] = true
      self.locals[#self.locals + 1] = ('const lt_dims %s = %slt_dims_from(%s, %s)%s;'):format(place,
        arg.optional and name .. ' != NULL ? ' or '', parts[1]:format(name), parts[2]:format(name), arg.optional and ' : (lt_dims){.n = 0}' or '')
    end
    return { class = property.class, c = place }
  end
  local text = ({ offset = '%s->offset', dtype = '(lt_dtype)%s->dtype', device = '%s->device' })[property.form]
  return { class = property.class, c = text:format(name) }
end

local function translator(model, op, state, argument)
  return setmetatable({ model = model, op = op, argument = argument, edges = {}, edge_of = state.edge_of, statements = {}, fields = {},
    temporaries = state.temporaries, locals = state.locals, places = state.places }, Translator)
end

-- Emits statements that store the value of a tree in `target`.
local function evaluate(t, tree, target)
  if tree.kind == 'call' and not derivative.properties[tree.name] then
    t:call(tree, '&' .. target)
  else
    local value = t:value(tree)
    if value.class ~= 'tensor' then t:fail 'no tensor' end
    t:statement('%s = lt_tensor_retain(%s);', target, value.c)
  end
end

-- A call of the op with the arguments of the set `replaced` replaced by their tangents.
local function itself(op, replaced)
  local args = {}
  for i, a in ipairs(op.args) do args[i] = { kind = 'name', name = replaced[a.name] and a.name .. '_t' or a.name } end
  return { kind = 'call', name = op.cname, args = args }
end

local function is_zero(text) return text:match '^zeros_like%b()$' ~= nil end

-- ---- tangents of operations ---------------------------------------------------------------------

local words = { elementwise = true, reduced = true, linear = true, constant = true, transposed = true }

local function kind_of(op)
  if op.forward then return op.forward end
  if op.view then return 'linear' end
  if op.pointwise then return 'elementwise' end
  local constant = true
  for _, text in pairs(op.grad) do constant = constant and is_zero(text) end
  return constant and 'constant' or 'transposed'
end

-- Adds op.dual: { kind =, terms = { { when = names of tangents, statements = } }, locals =,
-- uses_result =, temporaries = }.
function M.analyse(model, op)
  if op.composite or not op.derivative then
    if op.forward and op.forward ~= 'constant' then error(op.line .. ': forward of an op without a derivative can be constant only', 0) end
    return
  end
  local state = { temporaries = 0, locals = {}, places = {}, edge_of = {} }
  local dual = { kind = kind_of(op), terms = {}, args = {} }
  for i, edge in ipairs(op.derivative.edges) do state.edge_of[edge.arg.name] = i - 1 end
  for _, a in ipairs(op.args) do
    if is_float_tensor(a) then dual.args[#dual.args + 1] = a.name end
    if a.type == 'Tensor[]' and state.edge_of[a.name] then dual.list = a.name end
  end
  if #dual.args > MOST then error(op.line .. ': more tensors than LT_DUAL_ARGS', 0) end
  local function finish(t)
    state.temporaries = t.temporaries
    dual.uses_result = dual.uses_result or t.uses_result
  end
  local function term(names, when, make)
    local t = translator(model, op, state, names)
    make(t)
    finish(t)
    dual.terms[#dual.terms + 1] = { when = when, statements = t.statements }
  end
  local function one(name, text)
    if text == 'constant' then return end
    if text == 'linear' then
      term(name, name, function(t) evaluate(t, itself(op, { [name] = true }), 'term') end)
      return
    end
    local own = text
    if text == 'elementwise' or text == 'reduced' then own = op.grad[name] end
    if not own then error(('%s: forward: %s has no derivative'):format(op.line, name), 0) end
    if is_zero(own) then return end
    if text == 'reduced' then
      local first = op.returns[1].name or 'result'
      own = ('_sum_like((%s) * %s_t, %s)'):format(own:gsub('%f[%w_]grad%f[^%w_]', ('ones_like(%s)'):format(first)), name, first)
    end
    term(name, name, function(t)
      t.gradient = text == 'elementwise' and name .. '_t' or nil
      evaluate(t, expression.parse(own, function(message) t:fail(message) end), 'term')
    end)
  end
  local function whole(text)
    term('all', nil, function(t)
      local replaced = {}
      for _, edge in ipairs(op.derivative.edges) do replaced[edge.arg.name] = true end
      local tree = text == 'linear' and itself(op, replaced) or expression.parse(text, function(message) t:fail(message) end)
      if op.inplace_only then
        t:call(tree)
      else
        evaluate(t, tree, 'term')
      end
    end)
  end
  if type(dual.kind) == 'table' then
    for _, edge in ipairs(op.derivative.edges) do
      local text = dual.kind[edge.arg.name]
      if not text then error(('%s: forward has no entry for %s'):format(op.line, edge.arg.name), 0) end
      one(edge.arg.name, text)
    end
    for name in pairs(dual.kind) do
      if not state.edge_of[name] then error(('%s: forward names %s, which has no derivative'):format(op.line, name), 0) end
    end
  elseif dual.kind == 'elementwise' or dual.kind == 'reduced' then
    for _, edge in ipairs(op.derivative.edges) do one(edge.arg.name, dual.kind) end
  elseif dual.kind == 'transposed' then
    if dual.list or op.inplace_only then error(op.line .. ': a list and the output of an in-place op cannot be transposed: write `forward`', 0) end
    local t = translator(model, op, state, 'transposed')
    t.gradient = 'grad'
    dual.transposed = {}
    local done = {}
    for _, edge in ipairs(op.derivative.edges) do
      if not done[edge.names] then
        done[edge.names] = true
        t.statements = {}
        local targets, asked = {}, {}
        for name in edge.names:gmatch '%S+' do
          targets[#targets + 1] = ('results[%d]'):format(state.edge_of[name])
          asked[#asked + 1] = ('needs[%d]'):format(state.edge_of[name])
        end
        local tree = expression.parse(op.grad[edge.names], function(message) t:fail(message) end)
        if #targets == 1 then
          if not is_zero(op.grad[edge.names]) then evaluate(t, tree, targets[1]) end
        else
          for i, target in ipairs(targets) do targets[i] = '&' .. target end
          t:call(tree, table.unpack(targets))
        end
        dual.transposed[#dual.transposed + 1] = { when = table.concat(asked, ' || '), statements = t.statements }
      end
    end
    finish(t)
  elseif dual.kind ~= 'constant' then
    whole(dual.kind)
  end
  dual.locals, dual.temporaries, dual.edge_of = state.locals, state.temporaries, state.edge_of
  op.dual = dual
end

-- ---- the functions ------------------------------------------------------------------------------

local function names_of(op)
  local names = {}
  for i, a in ipairs(op.args) do names[i] = a.name end
  return names
end

local function result_name(result) return result.name or 'result' end

-- The condition that an argument has a tangent; nil if no argument can.
local function any_dual(op)
  local parts = {}
  for _, a in ipairs(op.args) do
    if is_float_tensor(a) then parts[#parts + 1] = ('lt_is_dual(%s)'):format(a.name)
    elseif a.type == 'Tensor[]' then parts[#parts + 1] = ('lt_any_dual(%s)'):format(a.name) end
  end
  return #parts > 0 and table.concat(parts, ' || ') or nil
end

local function open_function(text, op, name, outputs)
  local parameters = declarations.c_params(op)
  for _, result in ipairs(outputs) do parameters = parameters .. (', lt_tensor **out_%s'):format(result_name(result)) end
  text:line('static __attribute__((noinline, cold)) lt_status %s(%s)\n{', name, parameters)
end

local function call_of(prefix, op, outputs, suffix)
  local list = names_of(op)
  for _, output in ipairs(outputs) do list[#list + 1] = output end
  return ('%s%s(%s)'):format(prefix, suffix and op.cname .. suffix or op.cname, table.concat(list, ', '))
end

local function given(text, op)
  text:line('    lt_tensor *const given[] = {%s};', table.concat(op.dual.args, ', '))
end

local function declare_temporaries(text, dual)
  if dual.temporaries == 0 then return end
  local names = {}
  for i = 1, dual.temporaries do names[i] = ('*t%d = NULL'):format(i) end
  text:line('    lt_tensor %s;', table.concat(names, ', '))
end

local function release_temporaries(text, dual)
  for i = 1, dual.temporaries do text:line('    lt_tensor_release(t%d);', i) end
end

-- Whether one of the statements contains a C name.
local function mentions(statements, name)
  for _, statement in ipairs(statements) do
    if statement:find('%f[%w_]' .. name .. '%f[^%w_]') then return true end
  end
  return false
end

local function all_statements(dual)
  local list = table.move(dual.locals, 1, #dual.locals, 1, {})
  for _, part in ipairs { dual.terms, dual.transposed or {} } do
    for _, entry in ipairs(part) do
      for _, statement in ipairs(entry.statements) do list[#list + 1] = statement end
      if entry.when then list[#list + 1] = entry.when .. '_t' end
    end
  end
  return list
end

-- A view: its tangent is the same view of the tangent, at every level.
local function emit_view(text, op)
  local dual = op.dual
  open_function(text, op, op.label .. '_dual', op.returns)
  text:line('    lt_tensor *result = NULL, *self_t = NULL, *term = NULL;')
  declare_temporaries(text, dual)
  text:line('    lt_status status = LT_OK;')
  text:line('    LT_CHECK(%s);', call_of('lt_', op, { '&result' }, '_impl'))
  text:lines(dual.locals, '    ')
  text:line('    for (int level = 0; level < lt_tls.duals; level++) {')
  text:line('        LT_CHECK(lt_tangent_of(self, level, &self_t));')
  text:line('        if (self_t == NULL) continue;')
  text:lines(dual.terms[1].statements, '        ')
  text:line('        lt_tensor_release(self_t);\n        self_t = NULL;')
  text:line('        status = lt_tangent_set_steal(result, level, term);\n        term = NULL;')
  text:line('        if (status != LT_OK) goto done;\n    }')
  text:line('    *out_result = result;\n    result = NULL;')
  text:line('done:')
  release_temporaries(text, dual)
  text:line('    lt_tensor_release(self_t);\n    lt_tensor_release(term);\n    lt_tensor_release(result);\n    return status;\n}\n')
end

-- An op that writes its first argument: updates the tangents at every level, then the elements.
local function emit_written(text, op)
  local dual = op.dual
  open_function(text, op, op.label .. '_dual', {})
  given(text, op)
  local used = all_statements(dual)
  text:line('    for (int level = 0; level < lt_tls.duals; level++) {')
  text:line('        lt_dual d = {0};\n        bool any;')
  text:line('        lt_status status = lt_dual_open_written(&d, level, given, %d, %s, &any);', #dual.args,
    tostring(dual.kind ~= 'constant'))
  text:line('        if (status == LT_OK && any) {')
  if dual.kind == 'constant' then
    text:line('            status = lt_zero_(d.tangent[0]);')
  else
    for i, name in ipairs(dual.args) do
      if mentions(used, name .. '_t') then text:line('            lt_tensor *%s_t = d.tangent[%d];', name, i - 1) end
    end
    local statements = dual.terms[1].statements
    if #statements ~= 1 or #dual.locals > 0 then error(op.line .. ': forward of an in-place op is one call', 0) end
    text:line('            status = %s', (statements[1]:gsub('^LT_CHECK%((.*)%);$', '%1;')))
  end
  text:line('        }\n        lt_dual_close(&d);\n        LT_TRY(status);\n    }')
  text:line('    return %s;\n}\n', call_of('lt_', op, {}, '_impl'))
end

local function emit_terms(text, op)
  local dual = op.dual
  for _, entry in ipairs(dual.terms) do
    local indent = '        '
    if entry.when then
      text:line('        if (%s_t != NULL) {', entry.when)
      indent = '            '
    end
    text:lines(entry.statements, indent)
    text:line('%sLT_CHECK(lt_dual_add(&d, &term));', indent)
    if entry.when then text:line('        }') end
  end
  if not dual.transposed then return end
  text:line('        LT_CHECK(lt_dual_weight(&d, %s, conjugates, &leaf, &grad));', result_name(op.returns[1]))
  for _, entry in ipairs(dual.transposed) do
    if #entry.statements > 0 then
      text:line('        if (%s) {', entry.when)
      text:lines(entry.statements, '            ')
      text:line('        }')
    end
  end
  text:line('        LT_CHECK(lt_dual_transpose(&d, "%s", conjugates, leaf, results, places, %d));', op.name, #op.derivative.edges)
end

local function place_of(dual, name)
  for i, own in ipairs(dual.args) do
    if own == name then return i - 1 end
  end
end

local function emit_transposed_locals(text, op, conjugates)
  local edges, needs, places = op.derivative.edges, {}, {}
  for i, edge in ipairs(edges) do
    places[i] = place_of(op.dual, edge.arg.name)
    needs[i] = ('d.tangent[%d] != NULL'):format(places[i])
  end
  text:line('    static const int places[] = {%s};', table.concat(places, ', '))
  text:line('    const bool conjugates = %s;', conjugates)
  return ('    const bool needs[] = {%s};'):format(table.concat(needs, ', '))
end

local function emit_new(text, op, conjugates)
  local dual = op.dual
  local used, outputs = all_statements(dual), {}
  local first = result_name(op.returns[1])
  open_function(text, op, op.label .. '_dual', op.returns)
  if dual.list then
    text:line('    lt_dual d = {0};\n    lt_dual_pieces pieces = {{0, NULL}, {0, NULL}, 0};')
  else
    text:line('    lt_dual d = {0};')
    given(text, op)
  end
  for i, result in ipairs(op.returns) do
    text:line('    lt_tensor *%s = NULL;', result_name(result))
    outputs[i] = '&' .. result_name(result)
  end
  if #dual.terms > 0 then text:line('    lt_tensor *term = NULL;') end
  if dual.transposed then text:line('    lt_tensor *grad = NULL, *leaf = NULL, *results[%d] = {NULL};', #op.derivative.edges) end
  declare_temporaries(text, dual)
  local needs = dual.transposed and emit_transposed_locals(text, op, conjugates)
  text:line('    lt_status status = LT_OK;')
  if dual.list then
    text:line('    LT_CHECK(lt_dual_open_list(&pieces, %s));', dual.list)
    text:line('    d.level = pieces.level;\n    %s = &pieces.primal;', dual.list)
  else
    text:line('    LT_CHECK(lt_dual_open(&d, given, %d));', #dual.args)
    for i, name in ipairs(dual.args) do
      text:line('    %s = d.primal[%d];', name, i - 1)
      if not dual.edge_of[name] and not op.constant[name] then
        text:line('    if (d.tangent[%d] != NULL) LT_CHECK(lt_refuse_dual_argument("%s", "%s"));', i - 1, op.name, name)
      end
    end
  end
  if dual.uses_result then
    text:line('    LT_CHECK(%s);', call_of('lt_', op, outputs))
  else
    text:line('    LT_CHECK(%s\n                 ? %s\n                 : %s);', any_dual(op), call_of('', setmetatable({ cname = op.label }, { __index = op }),
      outputs, '_dual'), call_of('lt_', op, outputs, '_impl'))
  end
  if dual.kind ~= 'constant' then
    text:line('    if (lt_dtype_is_inexact((lt_dtype)%s->dtype)) {', first)
    if dual.kind == 'linear' or type(dual.kind) == 'string' and not words[dual.kind] then
      if not dual.list then text:line('        LT_CHECK(lt_dual_fill(&d));') end
    end
    for i, name in ipairs(dual.args) do
      if mentions(used, name .. '_t') then text:line('        lt_tensor *%s_t = d.tangent[%d];', name, i - 1) end
    end
    if needs then text:line('    ' .. needs) end
    text:lines(dual.locals, '        ')
    emit_terms(text, op)
    if dual.uses_result then text:line('        LT_CHECK(lt_dual_plain(&%s));', first) end
    text:line('        LT_CHECK(lt_dual_steal(&d, %s));\n    }', first)
  end
  for _, result in ipairs(op.returns) do
    text:line('    *out_%s = %s;\n    %s = NULL;', result_name(result), result_name(result), result_name(result))
  end
  text:line('done:')
  release_temporaries(text, dual)
  if dual.transposed then
    text:line('    for (int i = 0; i < %d; i++) lt_tensor_release(results[i]);', #op.derivative.edges)
    text:line('    lt_tensor_release(grad);\n    lt_tensor_release(leaf);')
  end
  if #dual.terms > 0 then text:line('    lt_tensor_release(term);') end
  for _, result in ipairs(op.returns) do text:line('    lt_tensor_release(%s);', result_name(result)) end
  if dual.list then text:line('    lt_dual_close_list(&pieces);') end
  text:line('    lt_dual_close(&d);\n    return status;\n}\n')
end

--- Generates the code before the functions of an operation with a derivative. conjugates: field of
--- its class, as C text.
function M.emit(text, op, conjugates)
  if op.inplace_only then
    if op.args[1].type ~= 'Tensor[]' then emit_written(text, op) end
  elseif op.view then
    emit_view(text, op)
  else
    open_function(text, op, op.label .. '_dual', op.returns)
    text[#text] = text[#text]:gsub('\n{$', ';') -- it calls itself, for the lower levels
    if op.dual.uses_result then -- or the function itself
      text[#text] = nil
    end
    emit_new(text, op, conjugates)
  end
end

local function duals_open(condition) return ('__builtin_expect(here->duals != 0, 0) && (%s)'):format(condition) end

--- The call of the implementation, or of its replacement for dual arguments.
function M.call(op, impl, outputs)
  local condition = op.dual and op.args[1].type ~= 'Tensor[]' or op.dual and op.dual.list
  condition = condition and any_dual(op)
  if not condition then return impl end
  return ('%s\n                 ? %s\n                 : %s'):format(duals_open(condition),
    call_of('', setmetatable({ cname = op.label }, { __index = op }), outputs, '_dual'), impl)
end

--- Lines at the start of the in-place form of an op with a result: for dual arguments, computes the
--- result with its tangents and stores it in self. name: of the in-place form.
function M.emit_inplace(text, op, name)
  local condition = any_dual(op)
  if not condition then return end
  local arguments = names_of(op)
  if op.keeps_original then arguments[1] = 'before' end
  text:line('    if (%s) {', duals_open(condition))
  text:line('        lt_tensor *made = NULL;')
  if op.keeps_original then text:line('        lt_tensor *before = NULL;\n        LT_TRY(lt_dual_before(self, &before));') end
  text:line('        lt_status replaced = lt_%s(%s, &made);', op.cname, table.concat(arguments, ', '))
  if op.keeps_original then text:line('        lt_tensor_release(before);') end
  text:line('        if (replaced == LT_OK) replaced = lt_replace_with(self, made);')
  text:line('        lt_tensor_release(made);\n        return replaced;\n    }')
end

--- The C condition that result i has a differentiable dtype. All results but the first may be NULL.
function M.is_inexact(name, i)
  return (i > 1 and ('(%s != NULL && %%s)'):format(name) or '%s'):format(('lt_dtype_is_inexact((lt_dtype)%s->dtype)'):format(name))
end

--- The line that rejects dual arguments of an op without a derivative; nil if the result is
--- constant or independent of their elements.
function M.refusal(op, results)
  local condition = not op.factory and op.forward ~= 'constant' and not op.composite and any_dual(op)
  if not condition then return nil end
  local exact = {}
  for i, name in ipairs(results) do exact[i] = M.is_inexact(name, i) end
  if #exact > 0 then condition = ('(%s) && (%s)'):format(condition, table.concat(exact, ' || ')) end
  return ('if (%s) return lt_refuse_dual("%s");'):format(duals_open(condition), op.name)
end

--- The line that rejects dual arguments of an out= form.
function M.refusal_out(op)
  local conditions = { any_dual(op) }
  for _, output in ipairs(declarations.out_names(op)) do conditions[#conditions + 1] = ('lt_is_dual(%s)'):format(output) end
  return ('if (%s) return lt_refuse_dual_out("%s");'):format(duals_open(table.concat(conditions, ' || ')), op.name)
end

return M
