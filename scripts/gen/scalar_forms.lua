-- scalar_forms.lua - C functions that take a number for the last `Tensor|Scalar` of an operation,
-- after the first argument: lt_mul_scalar(x, number, &out), lt_mul_scalar_, lt_mul_scalar_out. For
-- headers.lua and autograd.lua.

local declarations = require 'declarations'

local M = {}

-- The operation with a Scalar in place of the tensor, and that argument's name; nil without one.
local function with_scalar(op)
  if op.name:sub(1, 1) == '_' then return nil end
  local at
  for i = 2, #op.args do
    if op.args[i].type == 'Tensor|Scalar' then at = i end
  end
  if not at then return nil end
  local args = table.move(op.args, 1, #op.args, 1, {})
  args[at] = setmetatable({ type = 'Scalar' }, { __index = args[at] })
  return setmetatable({ args = args }, { __index = op }), args[at].name
end

-- For each form of the operation: { its C name, the one with a number, parameters, arguments }.
local function forms(op)
  local scalar, number = with_scalar(op)
  if not scalar then return {} end
  local base = op.inplace_only and op.cname:gsub('_$', '') or op.cname
  local inputs, list = {}, {}
  for i, a in ipairs(op.args) do inputs[i] = a.name == number and 'number' or a.name end
  local function add(name, suffix, form, outputs)
    local arguments = table.move(inputs, 1, #inputs, 1, {})
    list[#list + 1] = { name = name, own = ('%s_scalar%s'):format(base, suffix), number = number,
      parameters = declarations.public_prototype(scalar, form), arguments = table.move(outputs, 1, #outputs, #arguments + 1, arguments) }
  end
  local outputs = {}
  for i, result in ipairs(op.returns) do outputs[i] = declarations.output_name(result) end
  if op.inplace_only then
    add(op.cname, '_', 'INPLACE', {})
  else
    add(op.cname, '', 'NEW', outputs)
  end
  if op.variants.inplace then add(declarations.inplace_name(op), '_', 'INPLACE', {}) end
  if declarations.has_out(op) then add(op.cname .. '_out', '_out', 'OUT', declarations.out_names(op)) end
  return list
end

-- The C names of the forms: { ['function'], in_place, out, parameter: the argument that is a number };
-- nil without one.
function M.names(op)
  local scalar, number = with_scalar(op)
  if not scalar then return nil end
  local base = 'lt_' .. (op.inplace_only and op.cname:gsub('_$', '') or op.cname) .. '_scalar'
  return { ['function'] = op.inplace_only and base .. '_' or base, in_place = op.variants.inplace and base .. '_' or nil,
    out = declarations.has_out(op) and base .. '_out' or nil, parameter = number }
end

-- The prototypes, for ltensor_ops.h.
function M.prototypes(op)
  local out = {}
  for i, form in ipairs(forms(op)) do out[i] = ('LT_API lt_status lt_%s(%s);\n'):format(form.own, form.parameters) end
  return table.concat(out)
end

-- Emits the functions.
function M.emit(text, op)
  for _, form in ipairs(forms(op)) do
    text:line('lt_status lt_%s(%s)\n{', form.own, form.parameters)
    text:line('    lt_tensor *number = NULL;')
    text:line('    LT_TRY(lt_tensor_from_scalar(%s, &number));', form.number)
    text:line('    const lt_status status = lt_%s(%s);', form.name, table.concat(form.arguments, ', '))
    text:line('    lt_tensor_release(number);\n    return status;\n}\n')
  end
end

return M
