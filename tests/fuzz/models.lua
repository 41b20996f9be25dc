-- models.lua - small ONNX models, whose damaged copies files.lua reads and runs: a list of their bytes.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local onnx = dofile(here .. '../lua/support/onnx.lua')

local FLOAT, INT64, BOOL = 1, 7, 9
local function node(op, inputs, outputs, attributes) return { op, inputs, outputs, attributes = attributes or {} } end
local function floats(...) return torch.arange(torch.zeros(...):numel(), { dtype = torch.float32 }):view(...) / 10 end
local function integers(...) return torch.tensor({ ... }, { dtype = torch.int64 }) end

local network = onnx.model { inputs = { { 'x', FLOAT, { 'n', 2, 8, 8 } } }, outputs = { 'y' },
  initializers = { { 'w', floats(3, 2, 3, 3) }, { 'b', floats(3) }, { 'v', torch.ones(3) }, { 'fc', floats(5, 48) }, { 'shape', integers(0, -1) } },
  nodes = { node('Conv', { 'x', 'w', 'b' }, { 'c' }, { pads = { 1, 1, 1, 1 }, strides = { 1, 1 }, dilations = { 1, 1 }, group = 1 }),
    node('BatchNormalization', { 'c', 'v', 'b', 'b', 'v' }, { 'n' }, { epsilon = 1e-5 }), node('Relu', { 'n' }, { 'r' }),
    node('MaxPool', { 'r' }, { 'p' }, { kernel_shape = { 2, 2 }, strides = { 2, 2 }, ceil_mode = 1 }), node('Reshape', { 'p', 'shape' }, { 'f' }),
    node('Gemm', { 'f', 'fc' }, { 'g' }, { transB = 1, alpha = 0.5 }), node('Softmax', { 'g' }, { 'y' }, { axis = -1 }) } }

local shapes = onnx.model { inputs = { { 'x', FLOAT, { 3, 4 } } }, outputs = { 'y', 'z', 'k', 'r' },
  initializers = { { 'i', integers(0, -1) }, { 'from', integers(0, 1) }, { 'to', integers(2, 100) }, { 'by', integers(1, 2) }, { 'pads', integers(1, 0, 0, 1) },
    { 'three', integers(2) }, { 'sizes', integers(2, 3, 4) }, { 'new', integers(6, 5) } },
  nodes = { node('Gather', { 'x', 'i' }, { 'a' }, { axis = 1 }), node('Slice', { 'x', 'from', 'to', '', 'by' }, { 'b' }), node('Pad', { 'a', 'pads' }, { 'y' }),
    node('Concat', { 'a', 'a' }, { 'e' }, { axis = 0 }), node('Transpose', { 'b' }, { 't' }, { perm = { 1, 0 } }), node('Expand', { 'x', 'sizes' }, { 'z' }),
    node('TopK', { 'x', 'three' }, { 'top', 'k' }, { axis = 1, largest = 0 }), node('Resize', { 'x', '', '', 'new' }, { 'r' }, { mode = 'linear' }) } }

local control = onnx.model { inputs = { { 'n', INT64 }, { 'c', BOOL }, { 'x', FLOAT, { 2 } } }, outputs = { 'last', 'all', 'picked', 'sums' },
  imports = { mine = 1 },
  functions = { { name = 'Twice', domain = 'mine', inputs = { 'a' }, outputs = { 'r' }, attributes = { 'keep' },
    nodes = { node('ReduceSum', { 'a' }, { 's' }, { keepdims = onnx.ref 'keep' }), node('Add', { 's', 's' }, { 'r' }) } } },
  nodes = { node('Loop', { 'n', 'c', 'x' }, { 'last', 'all' }, { body = onnx.graph { inputs = { { 'i', INT64 }, { 'go', BOOL }, { 'v', FLOAT } },
      nodes = { node('Add', { 'v', 'x' }, { 'w' }), node('Identity', { 'go' }, { 'on' }), node('Neg', { 'w' }, { 'o' }) }, outputs = { 'on', 'w', 'o' } } }),
    node('If', { 'c' }, { 'picked' }, { then_branch = onnx.graph { nodes = { node('Exp', { 'x' }, { 't' }) }, outputs = { 't' } },
      else_branch = onnx.graph { nodes = { { 'Twice', { 'x' }, { 'e' }, domain = 'mine', keep = 0 } }, outputs = { 'e' } } }),
    node('Scan', { 'x', 'all' }, { 'sum', 'sums' }, { num_scan_inputs = 1, body = onnx.graph { inputs = { { 'p', FLOAT }, { 'q', FLOAT } },
      nodes = { node('Add', { 'p', 'q' }, { 's' }), node('Identity', { 's' }, { 'u' }) }, outputs = { 's', 'u' } } }) } }

local recurrent = onnx.model { inputs = { { 'x', FLOAT, { 3, 1, 2 } } }, outputs = { 'y', 'h', 'q' },
  initializers = { { 'w', floats(1, 8, 2) }, { 'r', floats(1, 8, 2) }, { 'b', floats(1, 16) }, { 's', torch.tensor(0.1) }, { 'z', torch.tensor(3, { dtype = torch.uint8 }) } },
  nodes = { node('LSTM', { 'x', 'w', 'r', 'b' }, { 'y', 'h' }, { hidden_size = 2, direction = 'forward', activations = { 'Sigmoid', 'Tanh', 'Tanh' } }),
    node('QuantizeLinear', { 'h', 's', 'z' }, { 'q' }, { axis = 0 }) } }

local function microsoft(op, inputs, outputs, attributes) return { op, inputs, outputs, domain = 'com.microsoft', attributes = attributes } end
local function bytes(...) return (torch.zeros(...):to(torch.uint8) + 3) end
local quantized = onnx.model { inputs = { { 'x', 2, { 1, 6, 6, 2 } } }, outputs = { 'g', 'm', 'v' }, imports = { ['com.microsoft'] = 1, ['ai.onnx.ml'] = 3 },
  initializers = { { 's', torch.tensor(0.5) }, { 'z', torch.tensor(3, { dtype = torch.uint8 }) }, { 'w', bytes(3, 2, 3, 3) }, { 'fc', bytes(4, 6) }, { 'q', bytes(3, 4) } },
  nodes = { microsoft('QLinearConv', { 'x', 's', 'z', 'w', 's', 'z', 's', 'z' }, { 'c' }, { channels_last = 1, pads = { 1, 1, 1, 1 } }),
    microsoft('QLinearGlobalAveragePool', { 'c', 's', 'z', 's', 'z' }, { 'p' }, { channels_last = 1 }),
    microsoft('QLinearConcat', { 's', 'z', 'p', 's', 'z', 'p', 's', 'z' }, { 'j' }, { axis = -1 }), { 'Flatten', { 'j' }, { 'f' } },
    microsoft('QGemm', { 'f', 's', 'z', 'fc', 's', 'z', '', 's', 'z' }, { 'g' }, { transB = 1 }), { 'MatMulInteger', { 'q', 'fc', 'z' }, { 'm' } },
    { 'Cast', { 'g' }, { 'k' }, to = 1 }, { 'SVMRegressor', { 'k' }, { 'v' }, domain = 'ai.onnx.ml', attributes = { kernel_type = 'RBF', kernel_params = { 0.5, 0.0, 3.0 },
      n_supports = 2, support_vectors = { 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0 }, coefficients = { 2.0, -1.0 }, rho = { 0.25 } } } } }

return { network, shapes, control, recurrent, quantized }
