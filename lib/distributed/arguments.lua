-- arguments.lua - reads what the functions of torch.distributed are called with: values in the order of PyTorch's, and a last table of
-- names. spec: { 'tensor', 'Tensor', 'op', 'any?', ... }, names and kinds in turn; spec.objects: of the first so many a table is a value.

local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'

-- Whether an empty table in the n-th place holds nothing, rather than no names.
local function is_list(spec, n)
  local kind = spec[2 * n]
  return n <= (spec.objects or 0) or kind ~= nil and (kind:find '^tensors' or kind:find '^integers' or kind:find '^table') ~= nil
end

return function(what, spec, ...)
  local n, given, names = select('#', ...), { ... }, {}
  local values = {}
  for i = 1, #spec, 2 do names[#names + 1] = spec[i] end
  local last = given[n]
  if n > (spec.objects or 0) and type(last) == 'table' and kinds.is_named(last) and (next(last) ~= nil or not is_list(spec, n)) then
    kinds.check_names(what, last, names)
    for name, value in pairs(last) do values[name] = value end
    n = n - 1
  end
  if n > #names then fail('%s(): takes %d arguments, got %d', what, #names, n) end
  for i = 1, n do
    if given[i] ~= nil then
      if values[names[i]] ~= nil then fail("%s(): argument '%s' is given twice", what, names[i]) end
      values[names[i]] = given[i]
    end
  end
  for i = 1, #spec, 2 do kinds.check(what, spec[i], values[spec[i]], spec[i + 1]) end
  return values
end
