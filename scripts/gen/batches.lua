-- batches.lua - generates the part of an operation's public function that handles batched arguments
-- (src/core/ops/batch/batch.h), for autograd.lua: a table of its arguments, a function that calls
-- it with them, and one that packs them.
--
-- The rule is `batch` of the declaration; otherwise it is derived: operations that broadcast;
-- operations along the dimensions of a Dim; one sample at a time. `batch = 'through'`, the rule of
-- composite operations, generates nothing, because the implementation only calls other operations.

local declarations = require 'declarations'
local shared = require 'functions'

local M = {}

local rules = { broadcast = true, dims = true, new_dim = true, expand = true, permute = true, front = true, whole = true,
  fold = true, joined = true, matmul = true, nll = true, loss = true, index_select = true, by_index = true, embedding = true, scaled_rows = true, batch_norm = true, strided = true, turn = true, squeeze = true, linear = true, addmm = true, convolution = true,
  attention = true, group_norm = true, by_tensors = true, trace = true, filled = true, masked_fill = true, index_fill = true, searched = true, addbmm = true, addr = true,
  conv_input = true, conv_weight = true, pooled = true, nll_backward = true, resampled = true, loop = true }

local function base_of(a) return (a.type:gsub('%?$', '')) end
local function is_tensor(a) return base_of(a):match '^Tensor' ~= nil or base_of(a):match '^IndexTensor' ~= nil end
local function is_list(a) return a.type:match 'Tensor%[%]$' ~= nil end

-- Sizes that are the complete sizes of the result or of an argument.
local whole_sizes = { size = true, sizes = true, shape = true }

local function follows(op)
  local dims, sizes, only_numbers = false, true, true
  for _, a in ipairs(op.args) do
    local base = base_of(a)
    dims = dims or base == 'Dim' or base == 'Dims' or (a.type == 'int' and a.name == 'dim')
    sizes = sizes and (base ~= 'Size' or whole_sizes[a.name] == true) and base ~= 'IndexTensor[]'
    only_numbers = only_numbers and base ~= 'Size' and not is_list(a) and base ~= 'IndexTensor' and base ~= 'Generator'
  end
  if op.pointwise then return 'broadcast' end
  if dims and sizes and not op.name:match '^_?index' and not op.name:match '^roll' and not op.name:match '_interleave' then return 'dims' end
  if not dims and op.overlap == 'elementwise' and only_numbers then return 'broadcast' end
end

function M.rule_of(op)
  if op.batch and op.batch ~= 'through' and not rules[op.batch] then
    error(("%s: batch = '%s' is no rule"):format(op.line, op.batch), 0)
  end
  return op.batch or follows(op)
end

-- True if an argument can be batched, or if the operation draws random numbers. With out=, a
-- composite operation writes to the memory of the given tensor, so it must refuse batched arguments itself.
local function concerns(op, form)
  if form ~= 'OUT' and op.batch == 'through' or form ~= 'OUT' and op.composite and not M.is_random(op) and not M.rule_of(op) then return false end
  if M.is_random(op) then return true end
  for _, a in ipairs(op.args) do
    if is_tensor(a) then return true end
  end
  return false
end

function M.is_random(op)
  for _, a in ipairs(op.args) do
    if base_of(a) == 'Generator' then return true end
  end
  return op.random ~= nil
end

-- Reductions for which an empty list of dims means no dims; for others it means all.
local keeps_all = { any = true, all = true }

-- An int argument dim of a library-internal op, 0-based, is a DIM, too.
local function kind_of(a, op)
  if a.type == 'int' and a.name == 'dim' then return 'DIM' end
  local base = base_of(a)
  if is_tensor(a) then return is_list(a) and 'LIST' or 'TENSOR' end
  if base == 'Dims' and op.group == 'reduce' and not keeps_all[op.name] then return 'REDUCED_DIMS' end
  return ({ Dim = 'DIM', Dims = 'DIMS', Size = 'SIZE' })[base] or 'VALUE'
end

-- The statement that stores an argument in its slot.
local function packed(a, i)
  local base = base_of(a)
  local field = shared.types[base].value:format(i):gsub('^&', '')
  if is_tensor(a) and not is_list(a) then return ('c.%s = %s;'):format(field, a.name) end
  local pointer = declarations.c_type(a):sub(-1) == '*' and base ~= 'string' and base ~= 'Generator'
  if not a.optional or shared.absent[base] then
    return ('c.%s = %s%s; c.present[%d] = true;'):format(field, pointer and '*' or '', a.name, i)
  end
  return ('if (%s != NULL) { c.%s = *%s; c.present[%d] = true; }'):format(a.name, field, a.name, i)
end

local result_fields = { ['Tensor'] = 'tensor', ['IndexTensor'] = 'tensor', ['Tensor[]'] = 'list', bool = 'b', Scalar = 'scalar', int = 'i' }

--- Generates the code before a function, once for each form ('NEW', 'INPLACE', 'OUT',
--- 'INPLACE_VIEW'). outputs: the C names of its results.
function M.emit(text, op, name, form, parameters, outputs)
  if not concerns(op, form) then return end
  local n = #op.args
  if n > 18 then error(op.line .. ': more arguments than LT_BATCH_ARGS', 0) end
  local label, given, tensors, gives_list = name, {}, true, false
  text:line('static const lt_batch_arg batch_args_%s[] = {', label)
  for i, a in ipairs(op.args) do
    text:line('    {"%s", LT_BATCH_%s},', a.name, kind_of(a, op))
    given[i] = shared.value_of(a, i - 1)
  end
  text:line('};')
  local results = form == 'NEW' and op.returns or {}
  if #results > 5 then error(op.line .. ': more results than LT_BATCH_RESULTS', 0) end
  for i, result in ipairs(results) do
    tensors = tensors and result_fields[result.type] ~= nil and (result.type:match 'Tensor' ~= nil)
    gives_list = gives_list or result.type == 'Tensor[]'
    given[#given + 1] = ('&a->r[%d].%s'):format(i - 1, result_fields[result.type])
  end
  local written = form == 'OUT' and declarations.out_names(op) or {}
  for _ = 1, #written do given[#given + 1] = 'NULL' end
  text:line('static lt_status batch_run_%s(lt_batch_call *a)\n{', label)
  text:line('    lt_batch_slot *v = a->v;\n    (void)v;')
  text:line('    return lt_%s(%s);\n}', name, table.concat(given, ', '))
  local rule = M.rule_of(op)
  -- In place, self is written: a rule that creates a new tensor applies, and its result is copied.
  local result = 'NULL'
  if form ~= 'NEW' and rule ~= 'broadcast' and rule ~= 'dims' and rule ~= 'by_tensors' and rule ~= 'filled' then
    local replaced = form == 'INPLACE' and rule and rule ~= 'loop' and not op.inplace_only and not op.composite
    if replaced then result = '&batch_' .. op.cname end
    rule = replaced and 'replaced' or nil
  end
  text:line('static const lt_batch_op batch_%s = {"%s", LT_BATCH_%s, %s, %d, %d, %s, %s, batch_args_%s, batch_run_%s, %s, %s};', label,
    form == 'NEW' and op.name or op.name:gsub('_$', '') .. '_', form, tostring(M.is_random(op)), n, #results, tostring(tensors),
    tostring(gives_list), label, label, rule and rule ~= 'loop' and 'lt_batch_' .. rule or 'NULL', result)
  text:line('static __attribute__((noinline, cold)) lt_status batched_%s(%s)\n{', label, parameters)
  text:line('    lt_batch_call c = {.op = &batch_%s};', label)
  for i, a in ipairs(op.args) do text:line('    %s', packed(a, i - 1)) end
  for _, output in ipairs(written) do text:line('    (void)%s;', output) end
  text:line('    LT_TRY(lt_batch_do(&c));')
  for i, output in ipairs(outputs) do
    text:line('    *%s = c.r[%d].%s;', output, i - 1, result_fields[results[i].type])
  end
  text:line('    return LT_OK;\n}\n')
end

--- The lines of the function that test for batched arguments. names: of its parameters, in order.
function M.check(op, name, names, form)
  if not concerns(op, form) then return nil end
  local conditions = {}
  for _, a in ipairs(op.args) do
    if is_list(a) then conditions[#conditions + 1] = ('lt_any_batched(%s)'):format(a.name)
    elseif is_tensor(a) then conditions[#conditions + 1] = ('lt_is_batched(%s)'):format(a.name) end
  end
  local also = not M.is_random(op) and (' && (%s)'):format(table.concat(conditions, ' || ')) or ''
  if type(op.random) == 'string' then
    if not op.composite then error(op.line .. ': random of an op that is not composite can be true only', 0) end
    also = (' && (%s)'):format(op.random)
  end
  return ('    if (__builtin_expect(here->batches != 0, 0)%s)\n        return batched_%s(%s);'):format(also, name, table.concat(names, ', '))
end

return M
