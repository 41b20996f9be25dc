-- arguments.lua - selects the differentiated arguments of a function: `argnums`, a position from 1
-- (negative: from the end) or a list of them; and handles the functions' results.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local trees = require 'torch.func.trees'

local M = {}

local function place(number, n)
  if math.type(number) ~= 'integer' then fail('argnum must be int, got: %s', torch.type(number)) end
  if number == 0 then fail('argnums: positions count from 1') end
  if number > n or number < -n then fail('Got argnum=%d, but only %d positional inputs', number, n) end
  return number > 0 and number or number + n + 1
end

--- The positions, as a list, of the n arguments.
function M.positions(argnums, n)
  if type(argnums) ~= 'table' then
    if math.type(argnums) ~= 'integer' then
      fail('argnums must be int or Tuple[int, ...], got: %s', torch.type(argnums))
    end
    return { place(argnums, n) }
  end
  if #argnums == 0 then fail('argnums must be non-empty') end
  local list, seen = {}, {}
  for i, number in ipairs(argnums) do
    list[i] = place(number, n)
    if seen[list[i]] then fail('argnums elements must be unique, got (%s)', table.concat(argnums, ', ')) end
    seen[list[i]] = true
  end
  return list
end

--- The differentiated arguments: one, or a list of several.
function M.chosen(arguments, argnums)
  local list = {}
  for i, at in ipairs(M.positions(argnums, arguments.n)) do list[i] = arguments[at] end
  if type(argnums) == 'table' then return list end
  return list[1]
end

--- Replaces the differentiated arguments.
function M.replaced(arguments, argnums, value)
  local list = table.move(arguments, 1, arguments.n, 1, { n = arguments.n })
  for i, at in ipairs(M.positions(argnums, arguments.n)) do list[at] = type(argnums) == 'table' and value[i] or value end
  return list
end

--- The results of f: its value and, with has_aux, its additional results.
function M.with_aux(results, has_aux, what)
  if not has_aux then return trees.of_results(results) end
  if results.n ~= 2 then
    fail('%s: output of function f should be a tuple: (output, aux) if has_aux is True', what)
  end
  return results[1], results[2]
end

return M
