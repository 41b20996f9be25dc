-- outs.lua - out= of functions in Lua: copies results to the given tensors, by the rules of
-- src/core/ops/outs.h.

local torch = require 'torch'
local declare = require 'torch.support.arguments'

local C = torch._C
local outs = {}

--- Copies the results, tensors or one table of tensors, to `out`, a tensor or a table with one for
-- each; returns the tensors of `out`.
function outs.store(name, out, ...)
  if type(...) == 'table' then return outs.store(name, out, table.unpack((...))) end
  if torch.is_tensor(out) then
    C.store_outs(name, { out }, ...)
    return out
  end
  C.store_outs(name, out, ...)
  return table.unpack(out)
end

--- Wraps f to read the declared arguments, of which the last is `out`: a tensor, or a table with
-- one tensor for each result.
function outs.declare(text, f)
  local signature = declare.parse(text)
  local n = #signature
  return declare.declare(signature, function(...)
    local out = select(n, ...)
    if out == nil then return f(...) end
    return outs.store(signature.name, out, f(...))
  end)
end

return outs
