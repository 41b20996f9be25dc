-- parameter.lua - nn.Parameter(data, {requires_grad = true}): a tensor that modules register when
-- it is assigned to one of their fields. It shares data's memory and has a history of its own.

--[=[ arguments
data: Tensor that shares its memory with the parameter.
requires_grad: Whether autograd computes a gradient of the parameter.
]=]

local torch = require 'torch'

local function make(data, requires_grad)
  local parameter = torch._C.make_parameter(data:detach())
  parameter.requires_grad = requires_grad
  return parameter
end

return require('torch.support.arguments').declare('Parameter(Tensor data, boolean requires_grad=true)', make)
