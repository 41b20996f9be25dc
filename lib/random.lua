-- random.lua - torch.random: the generator of the CPU, and a scope that restores all generators.

--[=[ arguments
devices: GPUs with generators to restore; all if absent.
enabled: Whether the scope has an effect.
]=]

local torch = require 'torch'
local scope = require 'torch.autograd.scope'
local declare = require 'torch.support.arguments'

local random = { manual_seed = torch.manual_seed, seed = torch.seed, initial_seed = torch.initial_seed, get_rng_state = torch.get_rng_state,
  set_rng_state = torch.set_rng_state }

--- A scope that restores the generators of the CPU and of the GPUs at its end: local _ <close> =
--- torch.random.fork_rng{devices = {'cuda:0'}}, or with a function as the last argument. devices:
--- the GPUs, by default all; enabled = false: no effect.
function random.fork_rng(devices, enabled, body, ...)
  local state, states = nil, {}
  local function keep()
    if not enabled then return end
    state = torch.get_rng_state()
    if devices == nil then
      devices = {}
      for i = 0, torch.cuda.device_count() - 1 do devices[i + 1] = 'cuda:' .. i end
    end
    for _, device in ipairs(devices) do states[device] = torch.cuda.get_rng_state(device) end
  end
  return scope.open('generators', keep, function()
    if state then torch.set_rng_state(state) end
    for device, of_device in pairs(states) do torch.cuda.set_rng_state(of_device, device) end
  end, body, ...)
end
declare.functions(random, 'fork_rng(table? devices, boolean enabled=true)', 'scope')

return random
