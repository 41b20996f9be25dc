-- Compares what torch.func.vmap makes of a function with the function of one sample after the other: values and gradients, with all
-- tensors batched and with one alone. Functions that vmap must refuse are named as such by who asks, and must be refused.

local torch = require 'torch'

local M = {}

-- What vmap has to refuse, by the kind of the function; what it refuses otherwise is a fault.
local refusals = {
  random = { pattern = 'randomness error mode', always = true },
  ['random or not'] = { pattern = 'randomness error mode', may_pass = true },
  ['in place'] = { pattern = 'in extra_args that has more elements than `self`' }, -- where its first argument is not batched
  ['a constant in place'] = { pattern = 'in extra_args that has more elements than `self`', always = true },
  ['a view in place'] = { pattern = 'changes the sizes of a batched tensor in place', always = true },
}

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
local function compare(f, leaves, batched, what, kind)
  local arguments, dims = {}, {}
  for i, leaf in ipairs(leaves) do
    arguments[i] = batched[i] and torch.stack(samples_of(leaf)) or leaf:detach()
    dims[i] = batched[i] and 1 or false
  end
  local found = table.pack(pcall(torch.func.vmap(f, { in_dims = dims }), table.unpack(arguments)))
  local refusal = kind and refusals[kind]
  if refusal and (refusal.always or refusal.may_pass or not batched[1]) then
    if found[1] and not refusal.may_pass then error(('%s, %s: vmap did not refuse it'):format(what, kind), 0) end
    if not found[1] and tostring(found[2]):find(refusal.pattern) then return end
  end
  if not found[1] then error(('%s: %s'):format(what, found[2]), 0) end
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

-- Gradients of f at the leaves, for two values of each result's gradient: under vmap, and one after the other.
local function check_batched_gradients(f, leaves)
  local inputs, outputs, gradients = {}, {}, {}
  for i, leaf in ipairs(leaves) do inputs[i] = leaf:detach():requires_grad_(true) end
  for _, value in ipairs(tensors_of(f(table.unpack(inputs)))) do
    if value.requires_grad then
      outputs[#outputs + 1] = value
      gradients[#gradients + 1] = torch.stack { torch.ones_like(value), torch.linspace(-1, 1, value:numel(), { dtype = value.dtype, device = value.device }):reshape(value.shape) }
    end
  end
  if #outputs == 0 or #inputs == 0 then return end
  local options = { retain_graph = true, allow_unused = true, materialize_grads = true }
  local function backward(...) return torch.autograd.grad(outputs, inputs, { ... }, options) end
  local found = table.pack(pcall(torch.func.vmap(backward), table.unpack(gradients)))
  if not found[1] then error('vmap of backward: ' .. tostring(found[2]), 0) end
  for s = 1, 2 do
    local one = {}
    for k, gradient in ipairs(gradients) do one[k] = gradient[s] end
    for i, expected in ipairs { backward(table.unpack(one)) } do
      if not close(expected, found[i + 1][s]) then
        error(('vmap of backward, input %d of sample %d: expected %s, found %s'):format(i, s, tostring(expected), tostring(found[i + 1][s])), 0)
      end
    end
  end
end

--- f takes the leaves, which are tensors that require grad. kind: nil, or why vmap refuses f, as `refusals` has it.
function M.check(f, leaves, kind)
  local all, first, positions = {}, { true }, {}
  for i in ipairs(leaves) do all[i], positions[i] = true, i end
  compare(only_tensors(f), leaves, all, 'vmap', kind)
  if #leaves > 1 then
    compare(only_tensors(f), leaves, first, 'vmap over the first', kind)
    compare(only_tensors(f), leaves, { [#leaves] = true }, 'vmap over the last', kind)
  end
  local gradient = torch.func.grad(total(f), { argnums = positions })
  compare(function(...) return table.unpack(gradient(...)) end, leaves, all, 'vmap of the gradient', kind)
  check_batched_gradients(f, leaves)
end

return M
