-- effects.lua - higher-order operators that call one operator: with a token that orders effects
-- (with_effects), or without writing to its arguments (auto_functionalized), which the operators of
-- PyTorch's inference IR may not.
--
-- By name: fn(call, arguments, wants) -> function of the values that the node reads; nil and the reason
-- if there is none. call(target, arguments, wants) is the function of the operator.

local M = {}

-- The target of the operator in an argument.
local function target_of(argument)
  if not argument or argument.kind ~= 'operator' then return nil, 'arguments without an operator' end
  return argument.value()
end

--- The token is the first result.
function M.with_effects(call, arguments, wants)
  local target, problem = target_of(arguments[2])
  if not target then return nil, problem end
  local inner, reason = call(target, table.move(arguments, 3, #arguments, 1, {}), table.move(wants, 2, #wants, 1, {}))
  if not inner then return nil, ('%s: %s'):format(target, reason) end
  return function(...) return false, inner(...) end
end

-- The part of a copied base that an argument is; of(name): the argument `_x_name`.
local function part_of(base, of)
  if of 'slice_dim' then
    local size, dim = base:size(of 'slice_dim' + 1), of 'slice_dim' + 1
    local first, last = of 'slice_start' or 0, math.min(of 'slice_end' or size, size)
    return base:narrow(dim, first + 1, math.max(last - first, 0))
  end
  if of 'size' then return base:as_strided(of 'size', of 'stride', of 'storage_offset') end
  return base
end

-- The operator's arguments; bases: the name of each written argument -> its arguments by name.
local function divide(arguments)
  local plain, named = {}, {}
  for _, argument in ipairs(arguments) do named[argument.name] = argument end
  local written = {}
  for _, argument in ipairs(arguments) do
    local name = argument.name:match '^_(.*)_base_index$'
    if name then written[#written + 1] = name
    elseif argument.name:sub(1, 1) ~= '_' then plain[#plain + 1] = argument end
  end
  return plain, written, named
end

--- The results of the operator, then the copies of `_all_bases` that it wrote to.
function M.auto_functionalized_v2(call, arguments, wants)
  local target, problem = target_of(arguments[1])
  if not target then return nil, problem end
  local plain, written, named = divide(table.move(arguments, 2, #arguments, 1, {}))
  local all_bases = named._all_bases
  if not all_bases or all_bases.kind ~= 'tensors' then return nil, 'arguments without _all_bases' end
  for _, name in ipairs(written) do
    plain[#plain + 1] = { name = name, kind = 'tensor', value = function(...)
      local values = table.pack(...) -- the last one is the list of copies
      local function of(key)
        local argument = named[('_%s_%s'):format(name, key)]
        if argument then return argument.value(table.unpack(values, 1, values.n)) end
      end
      local index = of 'base_index'
      return index and part_of(values[values.n][index + 1], of)
    end }
  end
  local inner, reason = call(target, plain, wants)
  if not inner then return nil, ('%s: %s'):format(target, reason) end
  return function(...)
    local copies, values = {}, table.pack(...)
    for i, base in ipairs(all_bases.value(...)) do copies[i] = base:clone() end
    values[values.n + 1] = copies
    local results = table.pack(inner(table.unpack(values, 1, values.n + 1)))
    table.move(copies, 1, #copies, results.n + 1, results)
    return table.unpack(results, 1, results.n + #copies)
  end
end

return M
