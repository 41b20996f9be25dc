-- declared.lua - operators of PyTorch as calls of our operations of the same name: selects the
-- overload with the node's arguments and converts them.
--
-- Our declarations (support/declarations.lua) mark arguments and results that are positions or
-- dimensions: they count from 0 in the program and from 1 here.

local torch = require 'torch'
local declarations = require 'torch.support.declarations'

local unpack = table.unpack
local M = {}

-- Arguments that select the layout or device of results, which we choose.
local ignored = { layout = true, device = true, pin_memory = true, memory_format = true, non_blocking = true, copy = true, implicit = true, cudnn_enabled = true,
  cudnn_enable = true, generator = true, sparse_grad = true, driver = true, compute_mode = true, assume_unique = true }
M.ignored = ignored

local number = { int = true, Dim = true, Index = true, Scalar = true, float = true, ['Tensor|Scalar'] = true, Size = true, Dims = true }
local list = { Size = true, Dims = true, ['int[]'] = true, ['Scalar[]'] = true, ['Tensor|Scalar'] = true }
local kinds = {
  tensor = { Tensor = true, IndexTensor = true, ['Tensor|Scalar'] = true }, tensors = { ['Tensor[]'] = true, ['IndexTensor[]'] = true },
  integer = number, float = { Scalar = true, float = true, ['Tensor|Scalar'] = true }, list = list, bool = { bool = true, Scalar = true, ['Tensor|Scalar'] = true },
  string = { string = true }, dtype = { Dtype = true },
}

-- ---- from 0 to 1 --------------------------------------------------------------------------------

local function place(i) return i < 0 and i or i + 1 end
local function places(x)
  if type(x) == 'number' then return place(x) end
  local result = {}
  for i, value in ipairs(x) do result[i] = place(value) end
  return result
end
local function tensor_places(x)
  x = x:to(torch.int64)
  return torch.where(x:lt(0), x, x + 1)
end

M.from_zero = { Dim = place, Index = place, Dims = places, IndexTensor = tensor_places,
  ['IndexTensor[]'] = function(x)
    local result = {}
    for i, index in ipairs(x) do result[i] = tensor_places(index) end
    return result
  end }

-- ---- overloads ----------------------------------------------------------------------------------

M.synonyms = { train = 'training', size = 'shape', shape = 'size', sizes = 'size' }
local reductions = { [0] = 'none', 'mean', 'sum' }

-- The number of a loss's reduction as its name here.
local function reduced(argument)
  return { kind = 'string', name = argument.name, is_constant = argument.is_constant, value = function(...) return reductions[argument.value(...)] end }
end

-- Assigns arguments to parameters: a list of { parameter's index = argument }; nil if the overload
-- does not fit.
local function match(overload, arguments)
  local at, bound = {}, {}
  for i, parameter in ipairs(overload) do at[parameter.name] = i end
  for k, argument in ipairs(arguments) do
    local i = at[argument.name] or at[M.synonyms[argument.name]]
    local parameter = i and overload[i]
    local same = overload[k]
    if not i and argument.kind == 'tensor' and same and not same.only_named and not bound[k] and kinds.tensor[same.kind] then
      i, parameter = k, same -- a tensor with another name in the same position
    end
    if not parameter then
      if not ignored[argument.name] then return nil end
    elseif not ignored[argument.name] or parameter.kind ~= 'Device' then
      if parameter.name == 'reduction' and parameter.kind == 'string' then argument = reduced(argument) end
      if argument.kind ~= 'none' and not (kinds[argument.kind] and kinds[argument.kind][parameter.kind]) then return nil end
      bound[i] = argument
    end
  end
  for i, parameter in ipairs(overload) do
    if not bound[i] and not parameter.optional then return nil end
  end
  return bound
end

local function function_of(op, in_nn)
  if in_nn then return torch.nn.functional[op] or torch[op] end
  return torch[op] or torch.nn.functional[op] or function(self, ...) return self[op](self, ...) end
end

-- Results as the program has them.
local function to_zero(kinds_of_results, results)
  for i, kind in ipairs(kinds_of_results) do
    if kind == 'IndexTensor' and results[i] ~= nil then results[i] = results[i] - 1 end
  end
  return unpack(results, 1, results.n)
end

-- ---- calls --------------------------------------------------------------------------------------

-- The arguments of a call, in positions as far as there are no gaps, the others by their names in a
-- table at the end; and their number. Each is each(parameter, i), or absent if this is nil.
local function arranged(overload, each)
  local args, named, n, open = {}, nil, 0, true
  for i, parameter in ipairs(overload) do
    local value = each(parameter, i)
    if value ~= nil then
      open = open and n == i - 1 and not parameter.only_named
      if open then
        n = i
        args[n] = value
      else
        named = named or {}
        named[parameter.name] = value
      end
    end
  end
  if named then
    n = n + 1
    args[n] = named
  end
  return args, n
end

local TENSOR = {} -- stands for a tensor that the call reads

-- The call if its first arguments are the tensors that the node reads, in their order, and the others
-- are constant: the constants are arranged once. Otherwise nil.
local function leading(fn, overload, bound)
  local tensors, all = 0, true
  local args, n = arranged(overload, function(parameter, i)
    local argument = bound[i]
    if not argument then return nil end
    if argument.at then
      tensors = tensors + 1
      all = all and not M.from_zero[parameter.kind] and argument.at == tensors
      return TENSOR
    end
    all = all and argument.is_constant
    local value = all and argument.value()
    local shift = M.from_zero[parameter.kind]
    if all and value ~= nil and shift then return shift(value) end
    return value
  end)
  for i = 1, tensors do all = all and args[i] == TENSOR end
  if not all or tensors == 0 or tensors > 3 then return nil end
  local rest, m = table.move(args, tensors + 1, n, 1, {}), n - tensors
  local forms = m == 0 and { function(a) return fn(a) end, function(a, b) return fn(a, b) end, function(a, b, c) return fn(a, b, c) end }
    or { function(a) return fn(a, unpack(rest, 1, m)) end, function(a, b) return fn(a, b, unpack(rest, 1, m)) end,
      function(a, b, c) return fn(a, b, c, unpack(rest, 1, m)) end }
  return forms[tensors]
end

--- A function of a node's arguments, a list of { name =, kind =, value = a function of the values
-- that the node reads, is_constant = it reads none, at = of a tensor: the number of the value that it
-- reads }; nil and a reason if no op accepts them.
function M.call(op, arguments)
  local known = false
  for _, in_nn in ipairs { false, true } do
    for _, overload in ipairs(declarations.overloads(op, in_nn)) do
      known = true
      local bound = match(overload, arguments)
      if bound then
        local fn, shifts = function_of(op, in_nn), false
        for _, kind in ipairs(overload.results) do shifts = shifts or kind == 'IndexTensor' end
        local call = leading(fn, overload, bound) or function(...)
          local values = table.pack(...)
          local args, n = arranged(overload, function(parameter, i)
            local value = bound[i] and bound[i].value(unpack(values, 1, values.n))
            local shift = value ~= nil and M.from_zero[parameter.kind]
            if shift then return shift(value) end
            return value
          end)
          return fn(unpack(args, 1, n))
        end
        if not shifts then return call end
        return function(...) return to_zero(overload.results, table.pack(call(...))) end
      end
    end
  end
  return nil, known and 'arguments that no op of ltensor with this name accepts' or 'an operator that ltensor does not have'
end

return M
