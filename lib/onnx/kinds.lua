-- kinds.lua - describes nodes of ONNX for the passes over graphs (optimize.lua).

local values = require 'torch.onnx.values'

local M = {}

local makes, kinds = {}, { Conv = 'convolution', MatMul = 'product', Add = 'sum', Mul = 'multiplication', Sigmoid = 'sigmoid', Transpose = 'transposition' }
for name in ([[Conv Gemm MatMul Add Sub Mul Div BatchNormalization MaxPool AveragePool GlobalAveragePool Relu LeakyRelu PRelu Sigmoid Tanh Erf Sqrt Softmax
  LayerNormalization]]):gmatch '%S+' do makes[name] = 'memory' end
for name in ('Reshape Transpose Flatten Concat Split'):gmatch '%S+' do makes[name] = 'tensor' end

-- An operator of one value that calls an in-place method.
local function in_place(method)
  return function(node, x)
    if x.requires_grad or not x.dtype.is_floating_point then return node.plain(node, x) end
    return x[method](x)
  end
end
local methods = { Relu = in_place 'relu_', Sigmoid = in_place 'sigmoid_', Tanh = in_place 'tanh_' }

local function clip_in_place(node, x, low, high)
  if x.requires_grad then return node.plain(node, x, low, high) end
  return x:clamp_ { min = low and values.number(node, 2, low), max = high and values.number(node, 3, high) }
end

-- Whether a Clip has bounds, and all that it has are numbers of the file.
local function clips_by_numbers(node)
  local low, high = node.inputs[2] or 0, node.inputs[3] or 0
  return node.version >= 11 and (low ~= 0 or high ~= 0) and (low == 0 or node.known[2] ~= nil) and (high == 0 or node.known[3] ~= nil)
end

local function trains(norm) return norm.attributes.training_mode == 1 or norm.version < 7 and norm.attributes.is_test == 0 end

function M.describe(node)
  local op = node.op
  if node.domain ~= '' then return end
  node.makes, node.kind = makes[op], kinds[op]
  node.in_place = methods[op]
  if op == 'Clip' and clips_by_numbers(node) then node.makes, node.in_place = 'memory', clip_in_place end
  if op == 'BatchNormalization' and #node.outputs == 1 and not trains(node) then node.kind, node.eps = 'batch_norm', node.attributes.epsilon or 1e-5 end
end

return M
