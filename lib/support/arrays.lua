-- arrays.lua - torch.from_numpy and x:numpy(). Lua has no arrays, so both use tensors on the CPU
-- instead, which share memory as in PyTorch; a table of numbers gets NumPy's dtypes, float64 and
-- int64.

--[=[ arguments
ndarray: Tensor, or table of numbers.
force: Whether a tensor on a GPU, or one with a history, is copied instead of an error.
]=]

local torch = require 'torch'
local arguments = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

--- A tensor over the memory of another (the result of x:numpy()), or a float64, int64 or bool
-- tensor from a table.
function torch.from_numpy(array)
  if torch.is_tensor(array) then
    if array.is_cuda then
      fail('from_numpy: expected a tensor on the CPU, but got one on %s. Use Tensor.cpu() first.', array.device)
    end
    return array:detach()
  end
  if type(array) ~= 'table' then fail('expected a table of numbers or a tensor (got %s)', torch.type(array)) end
  local tensor = torch.tensor(array)
  return tensor:is_floating_point() and torch.tensor(array, { dtype = torch.float64 }) or tensor
end

--- The tensor without history, over the same memory: an error if it requires grad or is on a GPU,
--- unless force is true.
function torch._C.methods.numpy(self, force)
  if force then return self:detach():cpu() end
  if self.is_cuda then
    fail("can't convert %s device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
      self.device)
  end
  if self.requires_grad then
    fail "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
  end
  return self:detach()
end

arguments.functions(torch, 'from_numpy(any ndarray)')
arguments.metatable_methods(torch._C.methods, 'Tensor', 'numpy(self, *, boolean force=false)', torch.is_tensor)
