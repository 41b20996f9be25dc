-- Compares what torch.func.vmap makes of a function with the function of one sample after the other: values and gradients, with all
-- tensors batched and with one alone. What cannot be mapped over says so in words that `refused` lists.

local torch = require 'torch'

local M = {}

local refused = { 'randomness error mode', 'data%-dependent control flow', 'vmap over calling .item', 'lists of different lengths',
  'expects each tensor to be equal size', 'in extra_args that has more elements than `self`',
  'changes the sizes of a batched tensor in place' }

local function is_refusal(message)
  for _, words in ipairs(refused) do
    if tostring(message):find(words) then return true end
  end
  return false
end

-- A second sample near the first, on the same side of every kink.
local function samples_of(leaf)
  local plain = leaf:detach()
  return { plain, plain * 1.0625 }
end

local function tensors_of(...)
  local list = {}
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if torch.is_tensor(value) then list[#list + 1] = value end
  end
  return list
end

local function only_tensors(f)
  return function(...) return table.unpack(tensors_of(f(...))) end
end

local function close(a, b)
  return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, { rtol = 1e-8, atol = 1e-10, equal_nan = true })
end

-- vmap of f with the leaves in `batched` as pairs of samples, and the same sample by sample.
local function compare(f, leaves, batched, what)
  local arguments, dims = {}, {}
  for i, leaf in ipairs(leaves) do
    arguments[i] = batched[i] and torch.stack(samples_of(leaf)) or leaf:detach()
    dims[i] = batched[i] and 1 or false
  end
  local found = table.pack(pcall(torch.func.vmap(f, { in_dims = dims }), table.unpack(arguments)))
  if not found[1] then
    if is_refusal(found[2]) then return end
    error(('%s: %s'):format(what, found[2]), 0)
  end
  for s = 1, 2 do
    local one = {}
    for i, leaf in ipairs(leaves) do one[i] = batched[i] and samples_of(leaf)[s] or leaf:detach() end
    local expected = table.pack(f(table.unpack(one)))
    for k = 1, expected.n do
      if not close(expected[k], found[k + 1][s]) then
        error(('%s, result %d of sample %d: expected %s, found %s'):format(what, k, s, tostring(expected[k]), tostring(found[k + 1][s])), 0)
      end
    end
  end
end

local function total(f)
  return function(...)
    local sum = 0
    for _, value in ipairs(tensors_of(f(...))) do
      if value:is_complex() then value = torch.view_as_real(value:resolve_conj()) end
      if value:is_floating_point() then sum = sum + (value * value):sum() end
    end
    return sum
  end
end

--- f takes the leaves, which are tensors that require grad.
function M.check(f, leaves)
  local all, first, positions = {}, { true }, {}
  for i in ipairs(leaves) do all[i], positions[i] = true, i end
  compare(only_tensors(f), leaves, all, 'vmap')
  if #leaves > 1 then
    compare(only_tensors(f), leaves, first, 'vmap over the first')
    compare(only_tensors(f), leaves, { [#leaves] = true }, 'vmap over the last')
  end
  local gradient = torch.func.grad(total(f), { argnums = positions })
  compare(function(...) return table.unpack(gradient(...)) end, leaves, all, 'vmap of the gradient')
end

return M
