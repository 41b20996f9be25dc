-- matmul.lua - matrix products and functions of one matrix.

local torch = require 'torch'

local ops = {}

function ops.MatMul(_, a, b)
  if a.dtype.is_floating_point then return torch.matmul(a, b) end
  return torch.matmul(a, b):to(a.dtype)
end

function ops.Gemm(node, a, b, c)
  local alpha, beta = node.attributes.alpha or 1.0, node.attributes.beta or 1.0
  if node.attributes.transA == 1 then a = a:t() end
  if alpha == 1.0 and beta == 1.0 and node.attributes.transB == 1 and c and c:dim() == 1 and c:size(1) == b:size(1)
    and a.dtype.is_floating_point then
    return torch.linear(a, b, c)
  end
  if node.attributes.transB == 1 then b = b:t() end
  local product = torch.matmul(a, b)
  if alpha ~= 1.0 then product = product * alpha end
  if not c then return product end
  if beta ~= 1.0 then c = c * beta end
  return (product + c):to(a.dtype)
end

function ops.Einsum(node, ...)
  local equation = (node.attributes.equation or ''):gsub('%s', '')
  return torch.einsum(equation, { ... })
end

function ops.Det(_, x) return torch.det(x) end

return { [''] = ops }
