-- argument_forms.lua - forms of arguments that PyTorch takes and the declarations of ops have no word for.

local torch = require 'torch'

-- Several tensors, in a row (then so are the results) or in a table, each handed to f.
local function for_each(f)
  return function(...)
    local first = ...
    if select('#', ...) == 1 and type(first) == 'table' and torch.is_tensor(first[1]) then
      local results = {}
      for i, tensor in ipairs(first) do results[i] = f(tensor) end
      return results
    end
    if select('#', ...) < 2 then return f(...) end
    local results = { ... }
    for i = 1, select('#', ...) do results[i] = f(results[i]) end
    return table.unpack(results, 1, select('#', ...))
  end
end

for _, name in ipairs { 'atleast_1d', 'atleast_2d', 'atleast_3d' } do torch[name] = for_each(torch[name]) end

-- tensordot(a, b, {{1, 2}, {2, 1}}): the dimensions of both, in two lists or as the two rows of a tensor.
local tensordot = torch.tensordot

function torch.tensordot(a, b, dims, ...)
  local options = type(dims) == 'table' and dims.dims ~= nil and dims or nil
  local pair = options and options.dims or dims
  if torch.is_tensor(pair) and pair.ndim == 2 then pair = pair:tolist() end
  if type(pair) ~= 'table' or type(pair[1]) ~= 'table' then return tensordot(a, b, dims, ...) end
  return tensordot(a, b, pair[1], pair[2] or {}, ...)
end

-- Methods in place that are functions of torch, too: torch.relu_(x).
local in_place = [[abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_ atanh_ ceil_ celu_
  clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ index_put_ log10_
  log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ reciprocal_ relu_ round_ rsqrt_ selu_ sigmoid_ sin_ sinh_ sqrt_ square_ tan_
  tanh_ trunc_ xlogy_ zero_]]
for name in in_place:gmatch '%S+' do torch[name] = torch[name] or torch._C.methods[name] end
