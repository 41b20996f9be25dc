-- tensor.lua - torch.quantized.Tensor: the weights of a layer in the block formats of GGUF files, as
-- a value: rows of bytes, and the scheme that decodes them.
--
--   local q = torch.quantized.Tensor.quantize(weight, 'q4_0')
--   print(q.shape, q:nbytes(), (q:dequantize() - weight):abs():max())

--[=[ arguments
packed: Bytes (uint8): rows of whole blocks.
scheme: Block format: `'q4_0'`, `'q8_0'`, `'q4_k'` and others of `torch.dequantize_blocks`.
dtype: Dtype of the floats; float32 if absent.
device: Device of the result.
dim: Dimension; nil: all, as a `torch.Size`.
tensor: Floats, whose rows consist of whole blocks.
dequantize(): The floats that the blocks stand for.
quantize(): A quantized tensor with the nearest blocks: `torch.quantized.Tensor.quantize(tensor, scheme)`.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'

local Tensor = class.Object:extend 'QuantizedTensor'

--- Fields: packed, scheme; shape (of the floats), device, dtype (float32), is_quantized.
function Tensor:init(packed, scheme)
  -- without rows, decoding only checks the arguments and computes the shape
  local none = (packed.ndim > 1 and packed or packed:unsqueeze(1)):narrow(1, 1, 0)
  local shape = table.move(packed.shape, 1, packed.ndim, 1, {})
  local decoded = torch.dequantize_blocks(none, scheme)
  shape[math.max(#shape, 1)] = decoded:size(decoded.ndim)
  self.packed, self.scheme = packed, scheme
  self.shape, self.device, self.dtype, self.is_quantized = torch.Size(shape), packed.device, torch.float32, true
end

function Tensor:dequantize(dtype) return torch.dequantize_blocks(self.packed, self.scheme, { dtype = dtype }) end

--- The size of a dimension, or the shape.
function Tensor:size(dim)
  if dim == nil then return self.shape end
  return self.shape[dim < 0 and #self.shape + 1 + dim or dim]
end

--- The number of dimensions.
function Tensor:dim() return #self.shape end

--- The number of elements.
function Tensor:numel() return self.shape:numel() end

--- The bytes of the blocks.
function Tensor:nbytes() return self.packed:numel() end

--- The same on a device. dequantize(dtype) returns other dtypes.
function Tensor:to(device)
  local packed = self.packed:to(torch.device(device))
  return rawequal(packed, self.packed) and self or Tensor(packed, self.scheme)
end

--- The same in the memory of the host.
function Tensor:cpu() return self:to 'cpu' end

--- The same on a GPU.
function Tensor:cuda(device) return self:to(device or 'cuda') end

--- A copy.
function Tensor:clone() return Tensor(self.packed:clone(), self.scheme) end

--- Whether another quantized tensor has the same scheme and blocks.
function Tensor:equal(other) return Tensor:is_instance(other) and self.scheme == other.scheme and torch.equal(self.packed, other.packed) end

function Tensor:__tostring()
  return ('quantized.%s, scheme=%s)'):format(tostring(self:dequantize()):gsub('%)$', ''), self.scheme)
end

declare.methods(Tensor, [[
  init(self, Tensor packed, string scheme)
  dequantize(self, dtype? dtype)
  size(self, integer? dim)
  to(self, device|string device)
]])

rawset(Tensor, 'quantize', declare.declare('quantize(Tensor tensor, string scheme)', function(tensor, scheme)
  return Tensor(torch.quantize_blocks(tensor:detach(), scheme), scheme)
end))

return Tensor
