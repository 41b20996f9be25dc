-- rows.lua - operations on a list of tensors that also accept separate arguments, as Python's star
-- does: torch.meshgrid(a, b), torch.einsum('ij,jk', a, b). Operations that return as many tensors
-- then return separate results.

local torch = require 'torch'
local arguments = require 'torch.support.arguments'

local function is_tensor(value) return torch.is_tensor(value) end

-- Wraps f to accept its list, argument number `place`, also as separate arguments.
local function taking_rows(f, place)
  return function(...)
    if not is_tensor((select(place, ...))) then return f(...) end
    local given, values, list = table.pack(...), {}, {}
    for i = 1, place - 1 do values[i] = given[i] end
    local i = place
    while i <= given.n and is_tensor(given[i]) do
      list[#list + 1] = given[i]
      i = i + 1
    end
    values[place] = list
    table.move(given, i, given.n, place + 1, values)
    local result = f(table.unpack(values, 1, place + given.n - i + 1))
    if is_tensor(result) then return result end
    return table.unpack(result)
  end
end

for _, name in ipairs { 'meshgrid', 'broadcast_tensors', 'cartesian_prod', 'block_diag', 'chain_matmul' } do
  torch[name] = taking_rows(torch[name], 1)
  arguments.ops[torch[name]] = name
end
torch.einsum = taking_rows(torch.einsum, 2)
arguments.ops[torch.einsum] = 'einsum'
