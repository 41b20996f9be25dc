-- resolve.lua - the function of a node's operator: one of operators.lua, an operation of ours by its
-- declaration (declared.lua), or a form of one of these.
--
-- PyTorch names forms of an operator by a rule: `add_` writes to its first argument, `add.out` to the
-- argument `out`, `view_copy` returns a copy; `uniform` is `uniform_` of a copy.

local torch = require 'torch'
local declared = require 'torch.export.declared'
local operators = require 'torch.export.operators'

local M = {}

-- Names of the tensors that the `out` forms of operators with several results write to.
local out_names = {}
for name in ('out out0 out1 out2 out3 out4 values indices min max max_values min_indices mantissa exponent hist bin_edges Q R U S V Vh L info LU pivots P LD X M a tau sign '
  .. 'logabsdet eigenvalues eigenvectors eigvals eigvecs solution residuals rank singular_values inverse result'):gmatch '%S+' do out_names[name] = true end

-- Calls with a table of the named arguments; one without a name is under its number. `wants` states for
-- each result whether the program uses it.
local function by_name(fn, arguments, wants)
  local keys = {}
  for i, argument in ipairs(arguments) do keys[i] = argument.name == '' and i or argument.name end
  return function(...)
    local given = { wants = wants }
    for i, argument in ipairs(arguments) do given[keys[i]] = argument.value(...) end
    return fn(given)
  end
end

local function direct(op, arguments, wants)
  if operators.named[op] then
    local count = operators.results[op]
    for i = (count or 0) + 1, count and #wants or 0 do
      if wants[i] then return nil, ('its result %d, which ltensor does not compute'):format(i) end
    end
    return by_name(operators.named[op], arguments, wants)
  end
  return declared.call(op, arguments)
end

local function copied_to(target, value)
  if torch.is_tensor(target) and torch.is_tensor(value) then
    if target:numel() == 0 and value:numel() > 0 then return value end -- an empty `out` takes any shape
    return target:copy_(value)
  end
  return value
end

-- `op_`: the result is written to the first argument.
local function in_place(op, arguments, wants)
  local base = op:match '^(.*[^_])_$'
  local call = base and arguments[1] and direct(base, arguments, wants)
  if not call then return nil end
  return function(...)
    local target = arguments[1].value(...)
    return target:copy_((call(...)))
  end
end

-- `op.out`: the results are written to the last arguments.
local function with_outs(op, arguments, wants)
  local n = #arguments
  while n > 0 and out_names[arguments[n].name] and (arguments[n].kind == 'tensor' or arguments[n].kind == 'tensors') do n = n - 1 end
  if n == #arguments then return nil end
  local call = direct(op, table.move(arguments, 1, n, 1, {}), wants)
  if not call then return nil end
  return function(...)
    local results = table.pack(call(...))
    for i = n + 1, #arguments do
      local k = i - n
      results[k] = copied_to(arguments[i].value(...), results[k])
    end
    return table.unpack(results, 1, results.n)
  end
end

-- `op_copy`: a copy of a view.
local function copy_of_view(op, arguments, wants)
  local base = op:match '^(.+)_copy$'
  local call = base and direct(base, arguments, wants)
  if not call then return nil end
  local function copy(x)
    if torch.is_tensor(x) then return x:clone() end
    local list = {}
    for i, part in ipairs(x) do list[i] = part:clone() end
    return list
  end
  return function(...) return copy((call(...))) end
end

-- `uniform`, `zero`: the in-place form of a copy of the first argument.
local function functional(op, arguments, wants)
  local first = arguments[1]
  if not first or first.kind ~= 'tensor' then return nil end
  local list = table.move(arguments, 1, #arguments, 1, {})
  list[1] = { name = first.name, kind = first.kind, value = function(...) return first.value(...):clone() end }
  return (direct(op .. '_', list, wants))
end

-- `special_erf`: functions of torch.special, with their arguments in PyTorch's order.
local function special(op, arguments)
  local fn = op:find '^special_' and torch.special[op:sub(#'special_' + 1)]
  if not fn then return nil end
  return function(...)
    local list = {}
    for i, argument in ipairs(arguments) do list[i] = argument.value(...) end
    return fn(table.unpack(list, 1, #arguments))
  end
end

--- The function of the values that a node reads; nil and the reason if ltensor lacks it. arguments: a
-- list of { name =, kind =, value = a function of these values }; wants[i]: result i is used.
function M.call(op, arguments, wants)
  local call, reason = direct(op, arguments, wants)
  if call then return call end
  for _, form in ipairs { in_place, with_outs, copy_of_view, functional, special } do
    local found = form(op, arguments, wants)
    if found then return found end
  end
  return nil, reason
end

return M
