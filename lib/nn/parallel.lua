-- parallel.lua - torch.nn.parallel: scatter, gather, replicate, parallel_apply: the parts of DataParallel.
-- Work on different GPUs overlaps because launching it does not wait.

local torch = require 'torch'
local class = require 'torch.class'
local Module = require 'torch.nn.module'

local fields_of = class.fields
local parallel = {}

-- Splits the first dimension over the devices (the last part may be smaller; there may be fewer parts).
function parallel.scatter(input, devices)
  local n = #input
  local size = (n + #devices - 1) // #devices
  local parts = {}
  for i, part in ipairs(input:split(math.max(size, 1), 1)) do parts[i] = part:to(devices[i]) end
  return parts
end

-- Joins tensors of several devices along the first dimension on one.
function parallel.gather(outputs, device)
  local moved = {}
  for i, output in ipairs(outputs) do moved[i] = output:to(device) end
  if moved[1].ndim == 0 then return torch.stack(moved) end
  return torch.cat(moved, 1)
end

local function copy_module(module, device)
  local replica = torch._C.new_object(getmetatable(module), {})
  local from, to = fields_of(module), fields_of(replica)
  for key, value in pairs(from) do to[key] = value end
  for _, kind in ipairs { '_parameters', '_buffers', '_modules' } do
    to[kind] = table.move(from[kind], 1, #from[kind], 1, {})
  end
  for _, kind in ipairs { '_parameters', '_buffers' } do
    for _, name in ipairs(from[kind]) do
      if from[name] ~= nil then to[name] = from[name]:to(device) end
    end
  end
  for _, name in ipairs(from._modules) do
    if from[name] ~= nil then to[name] = copy_module(from[name], device) end
  end
  return replica
end

-- Copies of a module on each device; their gradients flow back to the module's own parameters.
function parallel.replicate(module, devices)
  if not Module:is_instance(module) then
    error(('replicate(): argument 1 must be a Module, not %s'):format(torch.type(module)), 2)
  end
  local replicas = {}
  for i, device in ipairs(devices) do replicas[i] = copy_module(module, device) end
  return replicas
end

-- Calls modules[i](inputs[i]) with devices[i] current; returns the outputs.
function parallel.parallel_apply(modules, inputs, devices)
  local outputs = {}
  for i, input in ipairs(inputs) do
    local device = devices and torch.device(devices[i]) or input.device
    if device.type == 'cuda' then
      torch.cuda.device(device, function() outputs[i] = modules[i](input) end)
    else
      outputs[i] = modules[i](input)
    end
  end
  return outputs
end

return parallel
