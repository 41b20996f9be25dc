-- float8.lua - generates the part of an operation's public function that handles one-byte floats
-- (float8_e4m3fn and others), for autograd.lua. They can only be stored, moved and converted.
-- Operations with `float8 = true`, views and composite operations accept them; others reject them
-- as arguments, as outputs, and as the dtype of the result.

local declarations = require 'declarations'

local M = {}

-- For each argument that may be a one-byte float: the C condition that it is, and its dtype.
local function probes(op, form)
  local list = {}
  local function add(condition, dtype) list[#list + 1] = { condition = condition, dtype = dtype } end
  local function tensor(name, optional)
    add(('%slt_dtype_is_float8((lt_dtype)%s->dtype)'):format(optional and name .. ' != NULL && ' or '', name), ('(lt_dtype)%s->dtype'):format(name))
  end
  for _, a in ipairs(op.args) do
    local kind = a.type:gsub('%?$', '')
    if kind == 'Tensor[]' then add(('lt_any_float8(%s)'):format(a.name), ('lt_float8_of(%s)'):format(a.name))
    elseif kind == 'Dtype' then add(('lt_dtype_is_float8(%s)'):format(a.name), a.name)
    elseif kind == 'Tensor' or kind == 'Tensor|Scalar' then tensor(a.name, a.optional) end
  end
  for _, output in ipairs(form == 'OUT' and declarations.out_names(op) or {}) do tensor(output) end
  return list
end

--- The lines of a function that reject one-byte floats; nil if no argument can have one, or all are
--- accepted.
function M.check(op, form)
  if op.float8 or op.view or op.composite then return nil end
  local list = probes(op, form)
  if #list == 0 then return nil end
  local conditions, dtype = {}, list[#list].dtype
  for i, p in ipairs(list) do conditions[i] = #list > 1 and p.condition:find '&&' and '(' .. p.condition .. ')' or p.condition end
  for i = #list - 1, 1, -1 do dtype = ('%s ? %s : %s'):format(list[i].condition, list[i].dtype, dtype) end
  return ('    if (__builtin_expect(%s, 0))\n        return lt_refuse_dtype("%s", %s);'):format(table.concat(conditions, ' || '),
    (op.name:gsub('^_+', '')), dtype)
end

return M
