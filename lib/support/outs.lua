-- outs.lua - out= of functions in Lua: what they return is copied to the tensors given, by the rules of src/core/ops/outs.h.

local torch = require 'torch'
local kinds = require 'torch.support.kinds'

local C = torch._C
local outs = {}

--- Copies the results, tensors or one table of them, to `out`, a tensor or a table with one for each; returns those of `out`.
function outs.store(name, out, ...)
  if type(...) == 'table' then return outs.store(name, out, table.unpack((...))) end
  if torch.is_tensor(out) then
    C.store_outs(name, { out }, ...)
    return out
  end
  C.store_outs(name, out, ...)
  return table.unpack(out)
end

--- f, whose last table of names may have out = a tensor, or a table of one tensor for each result.
function outs.taking(name, f)
  return function(...)
    local n = select('#', ...)
    local last = n > 0 and select(n, ...) or nil
    local out = type(last) == 'table' and kinds.is_named(last) and last.out
    if not out then return f(...) end
    if type(out) ~= 'table' then kinds.check(name, 'out', out, 'Tensor') end
    local given, named = table.pack(...), {}
    for key, value in pairs(last) do
      if key ~= 'out' then named[key] = value end
    end
    if next(named) == nil then n = n - 1 end
    given[n] = next(named) ~= nil and named or given[n]
    return outs.store(name, out, f(table.unpack(given, 1, n)))
  end
end

return outs
