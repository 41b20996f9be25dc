-- data_parallel.lua - nn.DataParallel(module, {device_ids =, output_device =}): splits each batch over the GPUs,
-- runs a copy of the module on each, and joins the outputs on the first. device_ids count from 0, as names do.

local torch = require 'torch'
local Module = require 'torch.nn.module'
local parallel = require 'torch.nn.parallel'
local options_of = require 'torch.options'

local DataParallel = Module:extend('DataParallel')

local function all_ids()
  local ids = {}
  for i = 0, torch.cuda.device_count() - 1 do ids[#ids + 1] = i end
  return ids
end

function DataParallel:init(module, options)
  options = options_of('DataParallel', options, { device_ids = false, output_device = false })
  self.module = module
  self.device_ids = options.device_ids or all_ids()
  self.devices = {}
  for i, id in ipairs(self.device_ids) do
    self.devices[i] = torch.device(math.type(id) == 'integer' and 'cuda:' .. id or id)
  end
  local output = options.output_device or self.devices[1]
  if output then
    self.output_device = torch.device(math.type(output) == 'integer' and 'cuda:' .. output or output)
  end
end

function DataParallel:forward(input)
  if #self.devices == 0 then return self.module(input) end
  local first = self.module:parameters()[1]
  if first and first.device ~= self.devices[1] then
    error(('module must have its parameters and buffers on device %s (device_ids[1]) but found one of them on device: %s')
      :format(tostring(self.devices[1]), tostring(first.device)), 3)
  end
  local inputs = parallel.scatter(input, self.devices)
  if #inputs == 1 then return self.module(inputs[1]) end
  local used = table.move(self.devices, 1, #inputs, 1, {})
  local outputs = parallel.parallel_apply(parallel.replicate(self.module, used), inputs, used)
  return parallel.gather(outputs, self.output_device)
end

return DataParallel
