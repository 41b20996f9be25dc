-- cast.lua - changes of the elements' type.

local torch = require 'torch'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'

local ops = {}

local function to_of(node)
  local dtype = tensors.dtypes[node.attributes.to]
  if not dtype then
    local ok, message = pcall(tensors.dtype, node.attributes.to, "attribute 'to'")
    return not ok and (message:gsub('^%S*:%d+: ', '')) or nil
  end
end

ops.Cast = { check = to_of, fn = function(node, x) return x:to(tensors.dtypes[node.attributes.to]) end }

function ops.CastLike(_, x, like) return x:to(like.dtype) end

ops.BitCast = { check = to_of, fn = function(node, x)
  local dtype = tensors.dtypes[node.attributes.to]
  if dtype.itemsize ~= x.dtype.itemsize then values.fail('elements of %s have not the size of %s', tostring(dtype), tostring(x.dtype)) end
  if dtype == torch.bool then return x:ne(0) end -- bytes other than 0 and 1 become true
  if x.dtype == torch.bool then return x:to(torch.uint8):view(dtype) end
  return x:contiguous():view(dtype)
end }

return { [''] = ops }
