-- fuse.lua - nodes of a graph (graph.lua) that are one when no gradient is asked for: a convolution and the batch normalization of its result, a
-- product and the bias that is added to it; activations and sums that are done in the memory of what goes in, which nobody else uses.
--
-- What is fused is decided when a call runs: with gradients it is the nodes one after the other, so that all parameters are trained as the
-- file has them. Folded weights are kept with the node, beside the parameters, until one of these is another tensor or has been changed.

local torch = require 'torch'

-- Operators whose result is new memory, which no other value shares.
local makes_new = { Conv = true, Gemm = true, MatMul = true, Add = true, Sub = true, Mul = true, BatchNormalization = true, MaxPool = true, AveragePool = true }

-- How often each value is read; outputs and what bodies capture can be read at any time.
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

local function any_recorded(...)
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if value ~= nil and value.requires_grad then return true end
  end
  return false
end

local function records(...) return torch.is_grad_enabled() and any_recorded(...) end

-- ---- a convolution and its normalization ----------------------------------------------------------------------------------

-- Whether what was kept for these tensors still holds; notes them when it does not.
local function is_kept(node, list)
  local seen = node.seen
  local same = seen ~= nil
  for i, tensor in ipairs(list) do
    same = same and seen[i] == tensor and seen.version[i] == tensor._version and seen.place[i] == tensor:data_ptr()
  end
  if same then return true end
  seen = table.move(list, 1, #list, 1, { version = {}, place = {} })
  for i, tensor in ipairs(list) do seen.version[i], seen.place[i] = tensor._version, tensor:data_ptr() end
  node.seen = seen
  return false
end

-- (W x + b - mean) / sqrt(variance + epsilon) * scale + shift is a convolution again.
local function folded(node, weight, bias, scale, shift, mean, variance)
  local list = { weight, scale, shift, mean, variance, bias }
  if not is_kept(node, list) then
    local factor = scale / torch.sqrt(variance + (node.norm.attributes.epsilon or 1e-5))
    local shape = { factor:size(1) }
    for d = 2, weight:dim() do shape[d] = 1 end
    node.weight = (weight * factor:view(shape)):detach()
    node.bias = (shift + ((bias or 0) - mean) * factor):detach()
  end
  return node.weight, node.bias
end

local function conv_norm(node, x, weight, bias, scale, shift, mean, variance)
  if records(x, weight, bias, scale, shift, mean, variance) then
    node.seen, node.weight, node.bias = nil, nil, nil
    return node.norm.fn(node.norm, node.conv.fn(node.conv, x, weight, bias), scale, shift, mean, variance)
  end
  return node.conv.fn(node.conv, x, folded(node, weight, bias, scale, shift, mean, variance))
end

-- ---- a product and its bias -------------------------------------------------------------------------------------------------

local function product_bias(node, a, b, bias)
  if b:dim() == 2 and a:dim() >= 2 and bias:dim() == 1 and bias:size(1) == b:size(2) and a.dtype.is_floating_point then return torch.linear(a, b:t(), bias) end
  return node.sum.fn(node.sum, node.product.fn(node.product, a, b), bias)
end

-- ---- in the memory of what goes in ------------------------------------------------------------------------------------------

local function relu_in_place(_, x)
  if x.requires_grad then return torch.relu(x) end
  return x:relu_()
end

local function add_in_place(node, a, b)
  if a.dtype == b.dtype and a.shape == b.shape and not records(a, b) then return a:add_(b) end
  return node.plain(node, a, b)
end

-- ---- the pass -----------------------------------------------------------------------------------------------------------------

-- The node that alone reads a node's result.
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

-- One node in the place of the first, whose inputs are all there already, for two.
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

local function trains(norm) return norm.attributes.training_mode == 1 or norm.version < 7 and norm.attributes.is_test == 0 end

--- Fuses nodes of a graph whose unused ones are gone.
return function(graph)
  local uses, readers, constants, gone, makers = count_uses(graph), {}, {}, {}, {}
  for _, constant in ipairs(graph.constants) do constants[constant.slot] = true end
  for _, input in ipairs(graph.inputs) do
    if graph.ir_version >= 4 then constants[input.slot] = nil end -- a caller may give another
  end
  for _, node in ipairs(graph.nodes) do
    for _, slot in ipairs(node.inputs) do readers[slot] = node end
  end
  local nodes = {}
  for _, node in ipairs(graph.nodes) do
    local reader = not gone[node] and node.domain == '' and only_reader(uses, readers, node)
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
      if #node.outputs == 1 then makers[node.outputs[1]] = node.domain == '' and makes_new[node.op] end
      local first = node.inputs[1]
      if node.domain == '' and makers[first] and uses[first] == 1 then
        if node.op == 'Relu' then
          node.fn = relu_in_place
          makers[node.outputs[1]] = true
        elseif node.op == 'Add' and not node.sum then
          node.plain, node.fn = node.fn, add_in_place
        end
      end
    end
  end
  graph.nodes = nodes
end
