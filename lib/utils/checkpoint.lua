-- checkpoint.lua - torch.utils.checkpoint: layers whose intermediate results are not kept for backward but computed
-- again then, which trades time for memory (T. Chen et al. 2016).
--
-- checkpoint(f, x, ...) is f(x, ...); random numbers and autocast are in the second run as they were in the first. A
-- last table {preserve_rng_state = false} leaves the random numbers alone; use_reentrant is taken and means nothing.

local torch = require 'torch'
local fail = require 'torch.fail'

local M = { __names = { checkpoint = true, checkpoint_sequential = true } }

local OPTIONS = { use_reentrant = true, preserve_rng_state = true }

local function is_options(value)
  if type(value) ~= 'table' or next(value) == nil then return false end
  for key in pairs(value) do
    if not OPTIONS[key] then return false end
  end
  return true
end

-- ---- what the second run must find as it was ------------------------------------------------------------------------

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

local restoring = { __close = function(saved) set_random_state(saved.state, saved.devices) end }

local function autocast_modes()
  local modes = {}
  for _, kind in ipairs { 'cpu', 'cuda' } do
    modes[kind] = { enabled = torch.is_autocast_enabled(kind), dtype = torch.get_autocast_dtype(kind) }
  end
  return modes
end

-- ---- the function ---------------------------------------------------------------------------------------------------

local Checkpoint = torch.autograd.Function:extend('CheckpointFunction')

-- The first tensor is there so that the results require a gradient, which parameters inside f may alone do.
function Checkpoint.forward(ctx, _, call, ...)
  local inputs = table.pack(...)
  ctx.call, ctx.inputs = call, inputs
  ctx.devices, ctx.autocast = devices_of(inputs), autocast_modes()
  if call.preserve then ctx.random = random_state(ctx.devices) end
  return call.f(...)
end

local function again(ctx, inputs)
  local cpu, cuda = ctx.autocast.cpu, ctx.autocast.cuda
  local _ <close> = torch.autocast('cpu', cpu)
  local _ <close> = torch.autocast('cuda', cuda)
  return torch.enable_grad(function() return table.pack(ctx.call.f(table.unpack(inputs, 1, inputs.n))) end)
end

function Checkpoint.backward(ctx, ...)
  local grads, inputs = table.pack(...), { n = ctx.inputs.n }
  for i = 1, inputs.n do
    local value = ctx.inputs[i]
    inputs[i] = torch.is_tensor(value) and value:detach():requires_grad_(value.requires_grad) or value
  end
  local outputs
  do
    local saved <close> = ctx.random and setmetatable({ state = random_state(ctx.devices), devices = ctx.devices }, restoring)
      or nil
    if ctx.random then set_random_state(ctx.random, ctx.devices) end
    outputs = again(ctx, inputs)
  end
  local roots, directions = {}, {}
  for i = 1, outputs.n do
    if torch.is_tensor(outputs[i]) and outputs[i].requires_grad and grads[i] ~= nil then
      roots[#roots + 1], directions[#directions + 1] = outputs[i], grads[i]
    end
  end
  if #roots > 0 then torch.autograd.backward(roots, directions) end
  local results = { n = inputs.n }
  for i = 1, inputs.n do
    if torch.is_tensor(inputs[i]) then results[i] = inputs[i].grad end
  end
  return nil, nil, table.unpack(results, 1, results.n)
end

function M.checkpoint(f, ...)
  local arguments, options = table.pack(...), {}
  if is_options(arguments[arguments.n]) then
    options = arguments[arguments.n]
    arguments.n = arguments.n - 1
  end
  if not torch.is_grad_enabled() then return f(table.unpack(arguments, 1, arguments.n)) end
  local call = { f = f, preserve = options.preserve_rng_state ~= false }
  local anchor = torch.empty(0, { requires_grad = true })
  return Checkpoint.apply(anchor, call, table.unpack(arguments, 1, arguments.n))
end

-- A Sequential (or a list of functions) in so many segments, of which all but the last are checkpointed.
function M.checkpoint_sequential(functions, segments, input, options)
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
    input = M.checkpoint(run(first, first + size - 1), input, options or { preserve_rng_state = true })
    first = first + size
  end
  return run(first, #list)(input)
end

return setmetatable(M, { __call = function(_, ...) return M.checkpoint(...) end })
