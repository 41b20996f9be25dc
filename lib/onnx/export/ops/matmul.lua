-- matmul.lua - products of matrices, attention, written in ONNX.

local torch = require 'torch'

local M = {}

local function product(g, a) return g:node('MatMul', { g:name(a.self), g:name(a.other or a.mat2 or a.vec or a.tensor) }) end
M.matmul, M.mm, M.bmm, M.mv, M.dot = product, product, product, product, product

function M.linear(g, a)
  local x, weight = g:name(a.input), g:name(a.weight)
  if #a.input.shape == 2 then return g:node('Gemm', { x, weight, a.bias and g:name(a.bias) }, { transB = 1 }) end
  if #a.weight.shape == 2 then weight = g:node('Transpose', { weight }, { perm = { 1, 0 } }) end
  local y = g:node('MatMul', { x, weight })
  return a.bias and g:node('Add', { y, g:name(a.bias) }) or y
end

-- beta * self + alpha * (first second)
local function added(first, second)
  return function(g, a, call)
    local dtype = call.results[1].dtype
    local function times(name, factor) return factor == 1 and name or g:node('Mul', { name, g:scalar(factor, dtype) }) end
    local y = times(g:node('MatMul', { g:name(a[first]), g:name(a[second]) }), a.alpha)
    return a.beta == 0 and y or g:node('Add', { times(g:name(a.self), a.beta), y })
  end
end
M.addmm, M.baddbmm, M.addmv = added('mat1', 'mat2'), added('batch1', 'batch2'), added('mat', 'vec')

function M.outer(g, a)
  return g:node('Mul', { g:node('Unsqueeze', { g:name(a.self), g:list { 1 } }), g:node('Unsqueeze', { g:name(a.vec2), g:list { 0 } }) })
end

function M.einsum(g, a)
  local names = {}
  for i, value in ipairs(a.operands) do names[i] = g:name(value) end
  return g:node('Einsum', names, { equation = a.equation })
end

function M.bilinear(g, a)
  local y = g:node('Einsum', { g:name(a.input1), g:name(a.weight), g:name(a.input2) }, { equation = '...i,oij,...j->...o' })
  return a.bias and g:node('Add', { y, g:name(a.bias) }) or y
end

-- softmax(query key^T scale + mask) value, over the last two dimensions.
M['nn.scaled_dot_product_attention'] = function(g, a, call)
  local dtype, rank = call.results[1].dtype, #a.query.shape
  if a.dropout_p ~= 0 then g:fail 'dropout' end
  if a.enable_gqa then g:fail 'enable_gqa' end
  local perm = {}
  for d = 0, rank - 1 do perm[d + 1] = d end
  perm[rank - 1], perm[rank] = perm[rank], perm[rank - 1]
  local query = g:shape(a.query)
  local scale = a.scale or 1 / math.sqrt(g:plain(query[rank], 'the width of the heads'))
  local q = g:node('Mul', { g:name(a.query), g:scalar(scale, dtype) })
  local scores = g:node('MatMul', { q, g:node('Transpose', { g:name(a.key) }, { perm = perm }) })
  if a.is_causal then
    local sizes = g:integers { query[rank - 1], g:shape(a.key)[rank - 1] }
    local minus = g:node('Expand', { g:scalar(-math.huge, dtype), sizes })
    scores = g:node('Add', { scores, g:node('Trilu', { minus, g:scalar(1, torch.int64) }, { upper = 1 }) })
  elseif a.attn_mask and a.attn_mask.dtype == torch.bool then
    scores = g:node('Where', { g:name(a.attn_mask), scores, g:scalar(-math.huge, dtype) })
  elseif a.attn_mask then
    scores = g:node('Add', { scores, g:cast(a.attn_mask, dtype) })
  end
  local weights = g:node('Softmax', { scores }, { axis = -1 })
  if a.attn_mask then -- a query without permitted keys gets 0; softmax alone would return nan
    local best = g:node('ReduceMax', { scores, g:list { -1 } }, { keepdims = 1 })
    weights = g:node('Where', { g:node('Equal', { best, g:scalar(-math.huge, dtype) }), g:scalar(0, dtype), weights })
  end
  return g:node('MatMul', { weights, g:name(a.value) })
end

return M
