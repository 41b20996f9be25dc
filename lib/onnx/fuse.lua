-- fuse.lua - fuses nodes of a graph (graph.lua) for calls without gradients: a convolution and its
-- batch normalization, a product and its bias, and activations and sums that can overwrite an input
-- without other uses.
--
-- The decision is made in each call: with gradients, the nodes run one after the other, so all
-- parameters are trained as in the file. Folded weights are cached in the node, beside the
-- parameters, until one of these is replaced or changed.

local torch = require 'torch'
local kept = require 'torch.onnx.kept'
local values = require 'torch.onnx.values'

-- Operators that return new memory without aliases.
local makes_new = { Conv = true, Gemm = true, MatMul = true, Add = true, Sub = true, Mul = true, BatchNormalization = true, MaxPool = true, AveragePool = true }

-- Counts the reads of each value; outputs and captured values can be read at any time.
local function count_uses(graph)
  local uses = {}
  local function use(slot) uses[slot] = (uses[slot] or 0) + 1 end
  for _, node in ipairs(graph.nodes) do
    for _, slot in ipairs(node.inputs) do use(slot) end
    for _, body in pairs(node.attributes) do
      if type(body) == 'table' and body.captures then
        for _, capture in ipairs(body.captures) do
          use(capture.outer)
          use(capture.outer)
        end
      end
    end
  end
  for _, output in ipairs(graph.outputs) do
    use(output.slot)
    use(output.slot)
  end
  return uses
end

-- ---- a convolution and its normalization --------------------------------------------------------

-- (W x + b - mean) / sqrt(variance + epsilon) * scale + shift is a convolution again.
local function folded(node, weight, bias, scale, shift, mean, variance)
  local list = { weight, scale, shift, mean, variance, bias }
  if not kept.holds(node, list) then
    local factor = scale / torch.sqrt(variance + (node.norm.attributes.epsilon or 1e-5))
    local shape = { factor:size(1) }
    for d = 2, weight:dim() do shape[d] = 1 end
    node.weight = (weight * factor:view(shape)):detach()
    node.bias = (shift + ((bias or 0) - mean) * factor):detach()
  end
  return node.weight, node.bias
end

local function conv_norm(node, x, weight, bias, scale, shift, mean, variance)
  if kept.records(x, weight, bias, scale, shift, mean, variance) then
    node.seen, node.weight, node.bias = nil, nil, nil
    return node.norm.fn(node.norm, node.conv.fn(node.conv, x, weight, bias), scale, shift, mean, variance)
  end
  return node.conv.fn(node.conv, x, folded(node, weight, bias, scale, shift, mean, variance))
end

-- ---- a product and its bias ---------------------------------------------------------------------

local function product_bias(node, a, b, bias)
  if b:dim() == 2 and a:dim() >= 2 and bias:dim() == 1 and bias:size(1) == b:size(2) and a.dtype.is_floating_point then return torch.linear(a, b:t(), bias) end
  return node.sum.fn(node.sum, node.product.fn(node.product, a, b), bias)
end

-- ---- in-place operators -------------------------------------------------------------------------

-- An operator of one value that calls an in-place method.
local function in_place(method)
  return function(node, x)
    if x.requires_grad or not x.dtype.is_floating_point then return node.plain(node, x) end
    return x[method](x)
  end
end
local unary_in_place = { Relu = in_place 'relu_', Sigmoid = in_place 'sigmoid_', Tanh = in_place 'tanh_' }

local function clip_in_place(node, x, low, high)
  if x.requires_grad then return node.plain(node, x, low, high) end
  return x:clamp_ { min = low and values.number(node, 2, low), max = high and values.number(node, 3, high) }
end

-- Whether a Clip has bounds, and all that it has are numbers of the file.
local function clips_by_numbers(node)
  local low, high = node.inputs[2] or 0, node.inputs[3] or 0
  return node.version >= 11 and (low ~= 0 or high ~= 0) and (low == 0 or node.known[2] ~= nil) and (high == 0 or node.known[3] ~= nil)
end

local function add_in_place(node, a, b)
  if a.dtype == b.dtype and a.shape == b.shape and not kept.records(a, b) then return a:add_(b) end
  return node.plain(node, a, b)
end

-- ---- the pass -----------------------------------------------------------------------------------

-- The only node that reads a node's result, or nil.
local function only_reader(uses, readers, node)
  if #node.outputs ~= 1 or uses[node.outputs[1]] ~= 1 then return nil end
  return readers[node.outputs[1]]
end

local function merged_done(first, second, between)
  local done = {}
  for _, list in ipairs { first.done, second.done } do
    for _, slot in ipairs(list) do
      if slot ~= between then done[#done + 1] = slot end
    end
  end
  return done
end

-- Replaces two nodes by one at the position of the first, where all inputs are available.
local function joined(first, second, inputs, more)
  local node = { op = second.op, domain = '', version = second.version, name = second.name, where = second.where, inputs = inputs, outputs = second.outputs,
    attributes = {}, known = {}, done = merged_done(first, second, first.outputs[1]) }
  for key, value in pairs(more) do node[key] = value end
  return node
end

local function all_constant(constants, node, from)
  for i = from, #node.inputs do
    local slot = node.inputs[i]
    if slot ~= 0 and not constants[slot] then return false end
  end
  return true
end

-- ---- values that are let go where they are used last --------------------------------------------

-- Operators that return a new tensor and keep no reference to their inputs, so that an input
-- without other readers can be released.
local gives_another = {}
for name in ([[Conv Gemm MatMul Add Sub Mul Div BatchNormalization MaxPool AveragePool GlobalAveragePool Relu LeakyRelu PRelu Sigmoid Tanh Erf Sqrt Softmax
  LayerNormalization Reshape Transpose Flatten Concat]]):gmatch '%S+' do gives_another[name] = true end

-- own_done[i]: true if the i-th value that ends at a node is a tensor without other references. A
-- value that is overwritten is the result.
local function mark_let_go(graph, uses)
  local seen, own = {}, {}
  for _, node in ipairs(graph.nodes) do
    local alone = node.domain == '' and not node.derived and #node.outputs == 1 and not node.takes_frame and (gives_another[node.op] or node.is_in_place)
    for i, slot in ipairs(node.inputs) do
      seen[slot] = (seen[slot] or 0) + 1
      if not alone or node.is_in_place and i == 1 then own[slot] = nil end
    end
    node.own_done = {}
    for i, slot in ipairs(node.done) do node.own_done[i] = own[slot] and seen[slot] == uses[slot] or false end
    if alone then own[node.outputs[1]] = true end
  end
end

local function trains(norm) return norm.attributes.training_mode == 1 or norm.version < 7 and norm.attributes.is_test == 0 end

--- Fuses the nodes of a graph without dead nodes.
return function(graph)
  local uses, readers, constants, gone, makers = count_uses(graph), {}, {}, {}, {}
  for _, constant in ipairs(graph.constants) do constants[constant.slot] = true end
  for _, input in ipairs(graph.inputs) do
    if graph.ir_version >= 4 then constants[input.slot] = nil end -- a caller may pass another value
  end
  for _, node in ipairs(graph.nodes) do
    for _, slot in ipairs(node.inputs) do readers[slot] = node end
  end
  local nodes = {}
  for _, node in ipairs(graph.nodes) do
    local reader = not gone[node] and not node.derived and node.domain == '' and only_reader(uses, readers, node)
    local op = reader and reader.domain == '' and reader.op
    if op == 'BatchNormalization' and node.op == 'Conv' and #reader.outputs == 1 and not trains(reader) and reader.inputs[1] == node.outputs[1]
      and all_constant(constants, node, 2) and all_constant(constants, reader, 2) then
      gone[reader] = true
      node = joined(node, reader, { node.inputs[1], node.inputs[2], node.inputs[3] or 0, table.unpack(reader.inputs, 2, 5) },
        { fn = conv_norm, conv = node, norm = reader })
    elseif op == 'Add' and node.op == 'MatMul' and #reader.inputs == 2 then
      local bias = reader.inputs[reader.inputs[1] == node.outputs[1] and 2 or 1]
      if constants[bias] then
        gone[reader] = true
        node = joined(node, reader, { node.inputs[1], node.inputs[2], bias }, { fn = product_bias, product = node, sum = reader })
      end
    end
    if not gone[node] then
      nodes[#nodes + 1] = node
      if #node.outputs == 1 then makers[node.outputs[1]] = node.domain == '' and not node.derived and makes_new[node.op] end
      local first = node.inputs[1]
      if node.domain == '' and not node.derived and makers[first] and uses[first] == 1 then
        local fn = unary_in_place[node.op] or node.op == 'Clip' and clips_by_numbers(node) and clip_in_place
          or node.op == 'Add' and not node.sum and add_in_place
        if fn then
          node.plain, node.fn, node.is_in_place = node.fn, fn, true
          makers[node.outputs[1]] = true
        end
      end
    end
  end
  graph.nodes = nodes
  mark_let_go(graph, uses)
end
