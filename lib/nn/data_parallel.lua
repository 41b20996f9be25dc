-- data_parallel.lua - nn.DataParallel(module, {device_ids =, output_device =, dim =}): splits each
-- batch over the GPUs, runs a copy of the module on each, and joins the outputs on one. device_ids
-- count from 0, as names do.

--[=[ arguments
module: Module that runs on several GPUs.
device_ids: GPUs; all if absent.
output_device: GPU of the results; the first one if absent.
dim: Dimension of the batch, from 1.
]=]

--[=[ examples
DataParallel
    net = nn.DataParallel(nn.Linear(3, 2):to(try_gpu()))
    net(torch.ones(4, 3, {device = try_gpu()})).shape
    --> torch.Size([4, 2])
]=]

local torch = require 'torch'
local Module = require 'torch.nn.module'
local declare = require 'torch.support.arguments'
local Sequential = require 'torch.nn.containers.sequential'
local parallel = require 'torch.nn.parallel'
local fail = require 'torch.support.fail'

local DataParallel = Module:extend('DataParallel')

local function all_ids()
  local ids = {}
  for i = 0, torch.cuda.device_count() - 1 do ids[#ids + 1] = i end
  return ids
end

--- module: also a list of layers, as in Sequential. device_ids: the GPUs to use, by default all;
-- without a GPU the module runs on its device. output_device: by default the first of them. dim:
-- the batch dimension to split, by default 1.
function DataParallel:init(module, device_ids, output_device, dim)
  self.module = type(module) == 'table' and Sequential(module) or module
  self.dim = dim
  self.device_ids = device_ids or all_ids()
  self.devices = parallel.devices(self.device_ids)
  for _, device in ipairs(self.devices) do torch.cuda.get_device_properties(device) end -- raises an error if it does not exist
  local output = output_device or self.devices[1]
  if output then self.output_device = parallel.devices({ output })[1] end
end
declare.methods(DataParallel, 'init(self, any module, list? device_ids, device? output_device, integer dim=1)')

-- Raises an error unless the module, the source of the copies, is on the first device.
local function check_place(self)
  local first = self.devices[1]
  for _, list in ipairs { self.module:parameters(), self.module:buffers() } do
    for _, tensor in ipairs(list) do
      if tensor.device ~= first then
        fail('module must have its parameters and buffers on device %s (device_ids[1]) but found one of them on device: %s',
          tostring(first), tostring(tensor.device))
      end
    end
  end
end

local function results_of(output)
  if type(output) == 'table' and math.type(rawget(output, 'n')) == 'integer' then return table.unpack(output, 1, output.n) end
  return output
end

function DataParallel:forward(...)
  if #self.devices == 0 then return self.module(...) end
  check_place(self)
  local inputs = parallel.scatter(table.pack(...), self.devices, self.dim)
  if #self.devices == 1 or #inputs == 1 then return self.module(table.unpack(inputs[1], 1, inputs[1].n)) end
  local used = table.move(self.devices, 1, #inputs, 1, {})
  local outputs = parallel.parallel_apply(parallel.replicate(self.module, used), inputs, used)
  return results_of(parallel.gather(outputs, self.output_device, self.dim))
end

return DataParallel
