-- fuse.lua - fuses nodes of a graph (optimize.lua) for calls without gradients: a convolution and its
-- batch normalization, a product and its bias, a product with the sigmoid of the same value, and
-- activations and sums that can overwrite an input without other uses. Marks the values that are
-- released at their last use.
--
-- The decision is made in each call: with gradients, the nodes run one after the other, so all
-- parameters are trained as in the file. Folded weights are cached in the node, beside the
-- parameters, until one of these is replaced or changed.
--
-- By kind, a node has the operands:
-- - convolution: x, weight, bias (0: none); fn(node, x, weight, bias)
-- - batch_norm: x, scale, shift, mean, variance (0: no scale, no shift); the node's eps
-- - product, sum, multiplication: a, b
-- - sigmoid: x

local torch = require 'torch'
local kept = require 'torch.onnx.kept'

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

-- tuning: products per element of a convolution whose norm is folded. With more, a norm takes less than
-- 1 % of the convolution's time, and a folded weight takes memory: without this limit, calls of a
-- ResNet-18 take 62 instead of 39 MB, and the same time (Zen 4, 2026-11-29)
local MOST_PRODUCTS = 2000

-- Whether folding pays for the weight of a constant.
local function folds(constant)
  local weight = constant.value or constant.fields[constant.key]
  return weight:dim() > 0 and weight:size(1) > 0 and weight:numel() // weight:size(1) <= MOST_PRODUCTS
end

-- (W x + b - mean) / sqrt(variance + eps) * scale + shift is a convolution again.
local function folded(node, weight, bias, scale, shift, mean, variance)
  if not kept.holds(node, weight, mean, variance, bias, scale, shift) then
    local factor = torch.rsqrt(variance + node.norm.eps)
    if scale then factor = factor * scale end
    local shape = { factor:size(1) }
    for d = 2, weight:dim() do shape[d] = 1 end
    node.weight = (weight * factor:view(shape)):detach()
    node.bias = (((bias or 0) - mean) * factor + (shift or 0)):detach()
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

-- ---- elementwise operators ----------------------------------------------------------------------

local function product_bias(node, a, b, bias)
  if b:dim() == 2 and a:dim() >= 2 and bias:dim() == 1 and bias:size(1) == b:size(2) and a.dtype.is_floating_point then return torch.linear(a, b:t(), bias) end
  return node.sum.fn(node.sum, node.product.fn(node.product, a, b), bias)
end

local function silu(node, x)
  if not x.dtype.is_floating_point then return node.multiplication.fn(node.multiplication, x, node.sigmoid.fn(node.sigmoid, x)) end
  return torch.nn.functional.silu(x)
end

local function silu_in_place(node, x)
  if x.requires_grad or not x.dtype.is_floating_point then return node.plain(node, x) end
  return torch.nn.functional.silu(x, true)
end

local function add_in_place(node, a, b)
  if a.dtype == b.dtype and a.shape == b.shape and not kept.records(a, b) then return a:add_(b) end
  return node.plain(node, a, b)
end

-- ---- the pass -----------------------------------------------------------------------------------

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
    attributes = {}, known = {}, done = merged_done(first, second, first.outputs[1]), makes = 'memory' }
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

-- By the kinds of a node and of the only reader of its result: the node that replaces both, or nil.
local joins = {
  ['convolution batch_norm'] = function(conv, norm, constants)
    if norm.inputs[1] ~= conv.outputs[1] or not all_constant(constants, conv, 2) or not all_constant(constants, norm, 2)
      or not folds(constants[conv.inputs[2]]) then return nil end
    return joined(conv, norm, { conv.inputs[1], conv.inputs[2], conv.inputs[3] or 0, table.unpack(norm.inputs, 2, 5) }, { fn = conv_norm, conv = conv, norm = norm })
  end,
  ['product sum'] = function(product, sum, constants)
    local bias = sum.inputs[sum.inputs[1] == product.outputs[1] and 2 or 1]
    if not constants[bias] then return nil end
    return joined(product, sum, { product.inputs[1], product.inputs[2], bias }, { fn = product_bias, product = product, sum = sum })
  end,
  ['sigmoid multiplication'] = function(sigmoid, multiplication)
    local x = multiplication.inputs[multiplication.inputs[1] == sigmoid.outputs[1] and 2 or 1]
    if x ~= sigmoid.inputs[1] then return nil end
    return joined(sigmoid, multiplication, { x }, { fn = silu, in_place = silu_in_place, sigmoid = sigmoid, multiplication = multiplication })
  end,
}

-- The constants of a graph by their slots.
local function constants_of(graph)
  local constants = {}
  for _, constant in ipairs(graph.constants) do constants[constant.slot] = constant end
  for _, input in ipairs(graph.inputs) do
    if (graph.ir_version or 0) >= 4 then constants[input.slot] = nil end -- a caller may pass another value
  end
  return constants
end

-- ---- values that are let go where they are used last --------------------------------------------

-- own_done[i]: true if the i-th value that ends at a node is a tensor without other references. A
-- value that is overwritten is the result.
local function mark_let_go(graph, uses)
  local seen, own = {}, {}
  for _, node in ipairs(graph.nodes) do
    local writes = node.writes or node.is_in_place
    local makes_tensor = not node.derived and (node.makes == 'memory' or node.makes == 'tensor')
    local alone = makes_tensor or node.makes == 'number' or node.derived == 'sizes'
    local first = node.inputs[1]
    local own_first = own[first]
    for i, slot in ipairs(node.inputs) do
      seen[slot] = (seen[slot] or 0) + 1
      if not alone and not node.writes or writes and i == 1 then own[slot] = nil end
    end
    node.own_done = {}
    for i, slot in ipairs(node.done) do node.own_done[i] = own[slot] and seen[slot] == uses[slot] or false end
    if writes then own[node.outputs[1]] = own_first and seen[first] == uses[first]
    elseif makes_tensor then
      for _, slot in ipairs(node.outputs) do own[slot] = true end
    end
  end
end

--- Fuses the nodes of a graph without dead nodes.
return function(graph)
  local uses, readers, constants, gone, makers = count_uses(graph), {}, constants_of(graph), {}, {}
  local epoch, epochs = 0, {} -- nodes between which no value is written in place
  for _, node in ipairs(graph.nodes) do
    for _, slot in ipairs(node.inputs) do readers[slot] = node end
    if node.has_effect then epoch = epoch + 1 end
    epochs[node] = epoch
  end
  local nodes = {}
  for _, node in ipairs(graph.nodes) do
    local result = #node.outputs == 1 and node.outputs[1]
    local reader = not gone[node] and not node.derived and result and uses[result] == 1 and readers[result]
    local join = reader and node.kind and reader.kind and joins[node.kind .. ' ' .. reader.kind]
    local replacement = join and #reader.outputs == 1 and epochs[node] == epochs[reader] and join(node, reader, constants)
    if replacement then
      gone[reader] = true
      if node.kind == 'sigmoid' then uses[node.inputs[1]] = uses[node.inputs[1]] - 1 end
      node = replacement
    end
    if not gone[node] then
      nodes[#nodes + 1] = node
      local first = node.inputs[1]
      local reuses = not node.derived and makers[first] and uses[first] == 1
      if #node.outputs == 1 then makers[node.outputs[1]] = not node.derived and (node.makes == 'memory' or node.writes and reuses) end
      local fn = reuses and (node.in_place or node.kind == 'sum' and add_in_place)
      if fn then node.plain, node.fn, node.is_in_place = node.fn, fn, true end
    end
  end
  graph.nodes = nodes
  mark_let_go(graph, uses)
end
