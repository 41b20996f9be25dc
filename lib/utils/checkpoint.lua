-- checkpoint.lua - torch.utils.checkpoint: recomputes intermediate results of layers in backward
-- instead of storing them, which trades time for memory (T. Chen et al. 2016).
--
-- checkpoint(f, x, ...) is f(x, ...); the second run uses the random numbers and autocast state of
-- the first. A last table {preserve_rng_state = false} does not restore the random numbers;
-- context_fn returns two functions that call their argument, f in the first and second run, with
-- the following arguments (scopes such as torch.no_grad have that form); use_reentrant is accepted
-- and has no effect: backward, backward with inputs and autograd.grad all work. f runs on copies of
-- its arguments without history; other leaves that it uses (mostly parameters) are arguments of the
-- node, too, so their gradients are computed as usual.

--[=[ arguments
function: Function; its intermediate results are computed again in backward.
functions: Modules or functions to call one after the other: a list or `nn.Sequential`.
segments: Number of parts, each of which is recomputed as a whole.
use_reentrant: Accepted for compatibility; it has no effect.
preserve_rng_state: Whether the second run draws the random numbers of the first one.
context_fn: Function that returns two scopes, for the first and the second run.
...: Arguments of the function.
checkpoint(): Calls a function and computes its intermediate results again in backward instead of storing them.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local C = torch._C

local M = { __names = { checkpoint = true, checkpoint_sequential = true } }

-- ---- state restored for the second run ----------------------------------------------------------

local function devices_of(values)
  local devices = {}
  for i = 1, values.n do
    if torch.is_tensor(values[i]) and values[i].is_cuda then devices[tostring(values[i].device)] = values[i].device end
  end
  return devices
end

local function random_state(devices)
  local state = { cpu = torch.get_rng_state(), cuda = {} }
  for name, device in pairs(devices) do state.cuda[name] = torch.cuda.get_rng_state(device) end
  return state
end

local function set_random_state(state, devices)
  torch.set_rng_state(state.cpu)
  for name, device in pairs(devices) do torch.cuda.set_rng_state(state.cuda[name], device) end
end

local function autocast_modes()
  local modes = {}
  for _, kind in ipairs { 'cpu', 'cuda' } do
    modes[kind] = { enabled = torch.is_autocast_enabled(kind), dtype = torch.get_autocast_dtype(kind) }
  end
  return modes
end

-- ---- the function -------------------------------------------------------------------------------

local Checkpoint = torch.autograd.Function:extend('CheckpointFunction')

-- Returns the arguments with detached tensors, and the list of the tensors that require grad.
local function cut(arguments)
  local fresh, leaves = { n = arguments.n }, {}
  for i = 1, arguments.n do
    local value = arguments[i]
    fresh[i] = value
    if torch.is_tensor(value) then
      fresh[i] = value:detach():requires_grad_(value.requires_grad)
      if value.requires_grad then leaves[#leaves + 1] = fresh[i] end
    end
  end
  return fresh, leaves
end

-- The tensors of a list that require grad.
local function with_history(values)
  local list = {}
  for i = 1, values.n do
    if torch.is_tensor(values[i]) and values[i].requires_grad then list[#list + 1] = values[i] end
  end
  return list
end

-- The leaves that the results depend on besides the arguments.
local function reached(outputs, arguments)
  local list = {}
  for _, leaf in ipairs(C.graph_leaves(outputs)) do
    local own = false
    for _, argument in ipairs(arguments) do own = own or argument == leaf end
    if not own then list[#list + 1] = leaf end
  end
  return list
end

-- forward(call, arguments ..., leaves ...): the results of the first run of f.
function Checkpoint.forward(ctx, call)
  ctx.call = call
  local outputs, plain, tensors = call.outputs, {}, {}
  call.outputs = nil
  for i = 1, outputs.n do
    local output = outputs[i]
    if torch.is_tensor(output) then
      outputs[i] = output:detach()
      if not output.requires_grad then plain[#plain + 1] = outputs[i] end
    end
  end
  for i = 1, call.arguments.n do
    if torch.is_tensor(call.arguments[i]) then tensors[#tensors + 1] = call.arguments[i] end
  end
  ctx:save_for_backward(table.unpack(tensors))
  ctx:mark_non_differentiable(table.unpack(plain))
  ctx:set_materialize_grads(false)
  return table.unpack(outputs, 1, outputs.n)
end

local function again(call, arguments)
  local cpu, cuda = call.autocast.cpu, call.autocast.cuda
  local _ <close> = torch.autocast('cpu', cpu)
  local _ <close> = torch.autocast('cuda', cuda)
  local devices = {}
  for _, device in pairs(call.devices) do devices[#devices + 1] = device end
  local _ <close> = torch.random.fork_rng { devices = devices, enabled = call.random ~= nil }
  if call.random then set_random_state(call.random, call.devices) end
  return torch.enable_grad(function() return table.pack(call.second(call.f, table.unpack(arguments, 1, arguments.n))) end)
end

function Checkpoint.backward(ctx, ...)
  local call, grads, _ = ctx.call, table.pack(...), ctx.saved_tensors -- raises an error if one was changed in place
  if torch.is_grad_enabled() then
    fail 'checkpoint: create_graph is not supported, because recomputed values have no second derivative'
  end
  local arguments, inputs = cut(call.arguments)
  local outputs = again(call, arguments)
  for _, leaf in ipairs(call.leaves) do inputs[#inputs + 1] = leaf end
  local roots, directions = {}, {}
  for i = 1, outputs.n do
    if torch.is_tensor(outputs[i]) and outputs[i].requires_grad and grads[i] ~= nil then
      roots[#roots + 1], directions[#directions + 1] = outputs[i], grads[i]
    end
  end
  local found = #roots > 0 and C.backward(roots, directions, true, false, inputs, false, true, true) or {}
  local results, at = { n = arguments.n + #call.leaves }, 0
  for i = 1, results.n do
    local value = arguments[i]
    if i > arguments.n or torch.is_tensor(value) and value.requires_grad then
      at = at + 1
      results[i] = found[at] or nil
    end
  end
  return nil, table.unpack(results, 1, results.n)
end

local function plain(f, ...) return f(...) end

-- The scopes of the two runs.
local function contexts_of(context_fn)
  if context_fn == nil then return plain, plain end
  local first, second = context_fn()
  kinds.check('checkpoint', 'first result of context_fn', first, 'function')
  kinds.check('checkpoint', 'second result of context_fn', second, 'function')
  return first, second
end

function M.checkpoint(f, _, preserve_rng_state, context_fn, ...)
  local arguments = table.pack(...)
  local first, second = contexts_of(context_fn)
  if not torch.is_grad_enabled() then return first(f, table.unpack(arguments, 1, arguments.n)) end
  local call = { f = f, second = second, arguments = arguments, devices = devices_of(arguments), autocast = autocast_modes() }
  if preserve_rng_state then call.random = random_state(call.devices) end
  local fresh, own = cut(arguments)
  local outputs = table.pack(first(f, table.unpack(fresh, 1, fresh.n)))
  local histories = with_history(outputs)
  if #histories == 0 then return table.unpack(outputs, 1, outputs.n) end
  call.outputs, call.leaves = outputs, reached(histories, own)
  local inputs = table.move(call.leaves, 1, #call.leaves, arguments.n + 1, table.move(arguments, 1, arguments.n, 1, {}))
  return Checkpoint.apply(call, table.unpack(inputs, 1, arguments.n + #call.leaves))
end

-- Splits a Sequential (or a list of functions) into this number of segments, of which all but the
-- last are checkpointed.
function M.checkpoint_sequential(functions, segments, input, _, preserve_rng_state)
  local list = {}
  for i = 1, #functions do list[i] = functions[i] end
  if segments < 1 or segments > #list then fail('checkpoint_sequential: %d segments of %d functions', segments, #list) end
  local function run(first, last)
    return function(x)
      for i = first, last do x = list[i](x) end
      return x
    end
  end
  local size, first = #list // segments, 1
  for _ = 1, segments - 1 do
    input = M.checkpoint(run(first, first + size - 1), input, { preserve_rng_state = preserve_rng_state })
    first = first + size
  end
  return run(first, #list)(input)
end

declare.functions(M, 'checkpoint(function function, any ..., *, boolean? use_reentrant, boolean preserve_rng_state=true, function? context_fn)')
declare.functions(M, [[
  checkpoint_sequential(any functions, integer segments, any input, boolean? use_reentrant, boolean preserve_rng_state=true)
]])

return setmetatable(M, { __call = function(_, ...) return M.checkpoint(...) end })
