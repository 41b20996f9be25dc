-- dlpack.lua - torch.utils.dlpack: exchanges tensors with other libraries in the same process
-- without a copy (https://dmlc.github.io/dlpack/latest/). A capsule is a userdata "dltensor";
-- capsule.used is true after its contents were taken. C programs put NumPy's and PyTorch's arrays
-- into capsules, and take ours out of them (ltensor.h: lt_lua_push_dlpack, lt_lua_take_dlpack).

--[=[ arguments
tensor: Tensor to share.
self: Tensor to share.
stream: Stream of the consumer, which waits for the tensor.
max_version: Highest version of DLPack that the consumer reads.
dl_device: Device of the capsule, as two numbers of DLPack.
copy: True to copy always, false to refuse a copy.
device: Device of the result; that of the object if absent.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local capsule_of = require 'torch.support.capsule'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local C = torch._C

local M = {}

--- A capsule over the tensor's memory, of DLPack before 1.0; `x:__dlpack__{max_version = {1, 0}}`
-- returns one of 1.0. Both sides see each other's changes. A tensor that requires grad is an error:
-- use x:detach().
function M.to_dlpack(tensor)
  return C.to_dlpack(tensor, false)
end

-- Makes the consumer's stream wait for pending writes of the tensor.
local function hand_to(stream, tensor)
  if stream == nil or stream == -1 or not tensor.is_cuda then return end
  if torch.type(stream) ~= 'Stream' then
    fail("__dlpack__(): argument 'stream' must be a torch.cuda.Stream, or -1 for none, not %s", kinds.described(stream))
  end
  C.ready_for(tensor, stream)
end

--- x:__dlpack__{max_version=, stream=, dl_device=, copy=}: returns a capsule to other libraries.
-- max_version is the newest DLPack version of the consumer, for example {1, 0}; stream (a
-- torch.cuda.Stream) waits until the tensor is ready.
local function export(tensor, options)
  local kind, id = C.dlpack_device(tensor)
  local wanted = options.dl_device
  if wanted and (wanted[1] ~= kind or wanted[2] ~= id) then
    fail('__dlpack__(): the tensor is on the device {%d, %d}, not on {%s, %s}', kind, id, wanted[1], wanted[2])
  end
  hand_to(options.stream, tensor)
  if options.copy then tensor = tensor:clone() end
  local version = options.max_version
  return C.to_dlpack(tensor, version ~= nil and (version[1] or 0) >= 1)
end
M.export = declare.with_options('__dlpack__(Tensor self, *, any? stream, integers? max_version, integers? dl_device, boolean? copy)', export)

--- The type and the number of the tensor's device as DLPack counts them: 1, 0 is the CPU; 2 is a
--- GPU.
function M.device_of(tensor) return C.dlpack_device(tensor) end

--- A tensor over the memory of a capsule, of an object with a method `__dlpack__` that returns one,
-- or of a tensor. A capsule can be used once. No operation writes to read-only memory: clone() it,
-- or pass copy = true.
-- @param ext_tensor  the capsule or object
-- @param options  device (of the result), copy (true: its own memory; false: never)
function M.from_dlpack(object, options)
  if torch.is_tensor(object) then object = C.to_dlpack(object, true) end
  local tensor = C.from_dlpack(capsule_of(object, 'dltensor', '__dlpack__', { max_version = { 1, 0 } }))
  local device = options.device and torch.device(options.device)
  if device and tensor.device ~= torch.empty(0, { device = device }).device then
    if options.copy == false then fail('from_dlpack(): the tensor is on %s: it cannot be on %s without a copy', tensor.device, device) end
    return tensor:to(device)
  end
  return options.copy and tensor:clone() or tensor
end

declare.functions(M, 'to_dlpack(Tensor tensor) device_of(Tensor self)')
declare.functions(M, 'from_dlpack(any ext_tensor, *, device? device, boolean? copy)', 'options')

return M
