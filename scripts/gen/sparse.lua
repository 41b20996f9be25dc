-- sparse.lua - generates the part of an operation's public function that handles sparse arguments
-- (src/core/sparse.h), for autograd.lua. It tests one word of each tensor; the field `sparse` of
-- the declaration selects the action:
--   nil        the operation has no sparse implementation: an error
--   'values'   the operation applies to the values; the result has the pattern of self
--   'form'     lt_<name>_sparse of src/core/ops/sparse implements it;
--              'form inplace': and lt_<name>__sparse in place
--   true       the implementation accepts sparse tensors: no test
-- In place and with out=, the result replaces the components of the written tensor.

local declarations = require 'declarations'

local M = {}

local function base_of(a) return (a.type:gsub('%?$', '')) end
local function is_tensor(a) return base_of(a):match '^Tensor' ~= nil or base_of(a):match '^IndexTensor' ~= nil end
local function is_list(a) return a.type:match 'Tensor%[%]$' ~= nil end

-- The C condition that any argument is sparse; nil if no argument can be.
local function condition(op, form)
  local flags, others = {}, {}
  for _, a in ipairs(op.args) do
    if is_list(a) then others[#others + 1] = ('lt_any_sparse(%s)'):format(a.name)
    elseif is_tensor(a) and a.optional then others[#others + 1] = ('lt_is_sparse(%s)'):format(a.name)
    elseif is_tensor(a) then flags[#flags + 1] = a.name .. '->flags' end
  end
  for _, output in ipairs(form == 'OUT' and declarations.out_names(op) or {}) do flags[#flags + 1] = output .. '->flags' end
  if #flags > 0 then table.insert(others, 1, ('((%s) & LT_FLAG_SPARSE)'):format(table.concat(flags, ' | '))) end
  return #others > 0 and table.concat(others, ' || ') or nil
end

local function arguments(op, first)
  local names = {}
  for i, a in ipairs(op.args) do names[i] = i == 1 and first or a.name end
  return names
end

-- The name of the function that creates a new result; nil if there is none.
local function source_of(op)
  if not op.sparse then return nil end
  if op.sparse == 'values' then return 'sparse_' .. op.cname end
  return op.sparse:find '^form' and ('lt_%s_sparse'):format(op.cname) or nil
end

-- Applies the operation to the values of self, as a separate tensor.
local function emit_values(text, op)
  local given = arguments(op, 'values')
  given[#given + 1] = '&result'
  text:line('static __attribute__((noinline, cold)) lt_status sparse_%s(%s)\n{', op.cname, declarations.c_prototype(op))
  text:line('    lt_tensor *pattern = NULL, *values = NULL, *result = NULL;')
  text:line('    lt_status status = lt_sparse_open(self, &pattern, &values);')
  text:line('    if (status == LT_OK) status = lt_%s(%s);', op.cname, table.concat(given, ', '))
  text:line('    return lt_sparse_close(status, pattern, values, result, out);\n}\n')
end

--- Generates the function that applies the op to the values, before the op's public functions.
function M.emit(text, op)
  if op.sparse == 'values' then emit_values(text, op) end
end

--- The lines of a function that test for sparse arguments. form: 'NEW', 'INPLACE', 'INPLACE_VIEW',
--- 'OUT'.
--- outputs: names of the output parameters.
function M.check(op, form, outputs)
  if op.sparse == true then return nil end
  local asked, source = condition(op, form), source_of(op)
  if not asked then return nil end
  local statement
  local names = arguments(op, op.args[1] and op.args[1].name)
  if form == 'INPLACE' and op.sparse == 'form inplace' then
    statement = ('return lt_%s_sparse(%s);'):format(declarations.inplace_name(op), table.concat(names, ', '))
  elseif source and (form == 'NEW' or op.inplace_only) then
    for _, output in ipairs(outputs) do names[#names + 1] = output end
    statement = ('return %s(%s);'):format(source, table.concat(names, ', '))
  elseif source and (form == 'INPLACE' or form == 'OUT') then
    local written = form == 'OUT' and 'out' or 'self'
    names[#names + 1] = '&sparse_result'
    statement = ('{\n        lt_tensor *sparse_result = NULL;\n        LT_TRY(%s(%s));\n        return lt_sparse_store_steal("%s", %s, sparse_result);\n    }'):format(
      source, table.concat(names, ', '), op.name, written)
  else
    statement = ('return lt_refuse_sparse("%s");'):format((op.name:gsub('^_+', '')))
  end
  return ('    if (__builtin_expect(%s, 0)) %s'):format(asked, statement)
end

return M
