-- kinds.lua - describes nodes of programs of torch.export for the passes over graphs
-- (onnx/optimize.lua).

local resolve = require 'torch.export.resolve'

local M = {}

-- Operators without other effects than their results, which depend on the arguments alone.
local makes = {}
local function declare(kind, names)
  for name in names:gmatch '%S+' do makes[name] = kind end
end
declare('memory', [[conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d linear matmul mm bmm addmm baddbmm mv dot
  add sub mul div rsub neg abs exp log log1p sqrt rsqrt sin cos tan tanh sigmoid erf pow square reciprocal floor ceil sign clamp clamp_min clamp_max maximum minimum
  where eq ne lt le gt ge logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not masked_fill addcmul addcdiv
  relu relu6 gelu silu elu selu celu leaky_relu hardtanh hardswish hardsigmoid mish softplus prelu glu
  softmax _softmax log_softmax _log_softmax layer_norm native_layer_norm group_norm native_group_norm rms_norm
  max_pool1d max_pool2d max_pool2d_with_indices avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d mean sum amax amin var cumsum
  embedding index_select gather cat stack clone constant_pad_nd scaled_dot_product_attention upsample_nearest2d upsample_bilinear2d pixel_shuffle]])
declare('tensor', [[view _unsafe_view reshape permute transpose t unsqueeze squeeze select slice narrow expand unbind split split_with_sizes chunk unflatten detach]])
declare('value', 'flatten to _to_copy contiguous alias')
declare('number', 'sym_size sym_numel sym_stride sym_storage_offset')

local kinds = { matmul = 'product', mm = 'product', mul = 'multiplication', sigmoid = 'sigmoid' }

-- Activations with in-place forms.
local activations = {}
for name in ('relu relu6 silu elu selu celu leaky_relu hardtanh hardswish hardsigmoid mish sigmoid tanh'):gmatch '%S+' do activations[name] = true end

-- The arguments by their names, if the node reads these tensors, in this order, and the others are
-- constant; else nil.
local function only_reads(node, arguments, names)
  local named, at = {}, 0
  for _, argument in ipairs(arguments) do
    named[argument.name] = argument
    if not argument.at and not argument.is_constant then return nil end
  end
  for _, name in ipairs(names) do
    if named[name] and named[name].at then
      at = at + 1
      if named[name].at ~= at then return nil end
    end
  end
  return at == #node.inputs and named or nil
end

local describers = {}

-- A convolution without a bias gets a second function for the one of a folded norm.
local function convolution(node, op, arguments)
  local named = only_reads(node, arguments, { 'input', 'weight', 'bias' })
  if not named or #node.inputs < 2 or named.transposed and named.transposed.value() then return end
  if #node.inputs == 2 then
    local list = { { name = 'bias', kind = 'tensor', at = 3, value = function(...) return (select(3, ...)) end } }
    for _, argument in ipairs(arguments) do
      if argument.name ~= 'bias' then table.insert(list, argument) end
    end
    local plain, with_bias = node.fn, resolve.call(op, list, { true })
    node.fn = function(_, x, weight, bias)
      if bias then return with_bias(x, weight, bias) end
      return plain(node, x, weight)
    end
  end
  node.kind = 'convolution'
end
for _, name in ipairs { 'conv1d', 'conv2d', 'conv3d', 'convolution' } do describers[name] = convolution end

local function batch_norm(node, _, arguments)
  local named = only_reads(node, arguments, { 'input', 'weight', 'bias', 'running_mean', 'running_var' })
  if not named or not named.running_mean.at or named.training and named.training.value() then return end
  node.makes, node.has_effect = 'memory', nil
  if #node.inputs == 3 and not named.weight.at then
    local plain = node.fn
    node.fn = function(_, x, _, _, mean, variance) return plain(node, x, mean, variance) end
    node.inputs = { node.inputs[1], 0, 0, node.inputs[2], node.inputs[3] }
  end
  if #node.inputs == 5 then node.kind, node.eps = 'batch_norm', named.eps.value() end
end
describers.batch_norm, describers._native_batch_norm_legit_no_training = batch_norm, batch_norm

function describers.add(node, _, arguments)
  local named = only_reads(node, arguments, { 'self', 'other' })
  if named and #node.inputs == 2 and (not named.alpha or named.alpha.value() == 1) then node.kind = 'sum' end
end

-- In evaluation, dropout is the identity.
function describers.dropout(node, _, arguments)
  for _, argument in ipairs(arguments) do
    if argument.name == 'train' and argument.is_constant and not argument.value() then node.makes, node.has_effect = 'value', nil end
  end
end

local function activation(node, op, arguments)
  local call = #node.inputs == 1 and only_reads(node, arguments, { 'self' }) and resolve.call(op .. '_', arguments, { true })
  if not call then return end
  node.in_place = function(_, x)
    if x.requires_grad or not x.dtype.is_floating_point then return node.plain(node, x) end
    return call(x)
  end
end

--- Describes a node of an operator of aten.
function M.describe(node, op, arguments)
  node.makes = makes[op]
  node.writes = op:find '[^_]_$' ~= nil or nil
  node.has_effect = not node.makes or nil
  if not node.spreads then
    while #node.outputs > 1 and node.outputs[#node.outputs] == 0 do table.remove(node.outputs) end
  end
  if (op == 'mul' or op == 'matmul' or op == 'mm') and #node.inputs == 2 or op == 'sigmoid' then node.kind = kinds[op] end
  if describers[op] then describers[op](node, op, arguments) end
  if activations[op] then activation(node, op, arguments) end
end

return M
