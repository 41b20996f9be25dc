-- microsoft.lua - operators of com.microsoft that onnxruntime's optimizer writes: fusions of
-- several operators of ai.onnx.

local torch = require 'torch'
local integers = require 'torch.onnx.ops.integers'
local quantize = require('torch.onnx.ops.quantize')['']
local values = require 'torch.onnx.values'
local windows = require 'torch.onnx.ops.windows'

local F = require 'torch.nn.functional'
local ops = {}

-- ---- a layer and the function after it ----------------------------------------------------------

local activations = {
  Relu = function() return torch.relu end,
  Tanh = function() return torch.tanh end,
  Sigmoid = function() return torch.sigmoid end,
  LeakyRelu = function(p) return function(x) return torch.leaky_relu(x, p[1] or 0.01) end end,
  Clip = function(p) return function(x) return torch.clamp(x, { min = p[1], max = p[2] }) end end,
  HardSigmoid = function(p) return function(x) return torch.clamp(x * (p[1] or 0.2) + (p[2] or 0.5), { min = 0, max = 1 }) end end,
}

local function activated(name, parameters, x)
  if not name or name == '' then return x end
  local make = activations[name] or values.fail("an activation '%s'", name)
  return make(parameters or {})(x)
end

function ops.FusedConv(node, x, weight, bias, addend)
  local y = windows.convolve(node, x, weight, bias)
  if addend then y = y + addend end
  return activated(node.attributes.activation, node.attributes.activation_params, y)
end

function ops.FusedGemm(node, a, b, c)
  local at = node.attributes
  if at.transA == 1 then a = a:t() end
  if at.transB == 1 then b = b:t() end
  local y = torch.matmul(a, b) * (at.alpha or 1.0)
  if c then y = y + c * (at.beta or 1.0) end
  return activated(at.activation, { at.activation_alpha, at.activation_beta }, y)
end

function ops.FusedMatMul(node, a, b)
  local at = node.attributes
  -- The rows first, the batches after them: (rows, batches, columns).
  if at.transBatchA == 1 then a = a:movedim(1, -2) end
  if at.transBatchB == 1 then b = b:movedim(1, -2) end
  if at.transA == 1 and a:dim() > 1 then a = a:transpose(-1, -2) end
  if at.transB == 1 and b:dim() > 1 then b = b:transpose(-1, -2) end
  local product, alpha = torch.matmul(a, b), at.alpha or 1.0
  return alpha == 1.0 and product or product * alpha
end
ops.TransposeMatMul = ops.FusedMatMul

function ops.Gelu(_, x) return F.gelu(x) end
function ops.BiasGelu(_, x, bias) return F.gelu(x + bias) end
function ops.FastGelu(_, x, bias) return F.gelu(bias and x + bias or x, { approximate = 'tanh' }) end
function ops.QuickGelu(node, x) return x * torch.sigmoid(x * (node.attributes.alpha or 1.702)) end

function ops.BiasSoftmax(node, x, bias)
  local dim = values.dim(node.attributes.axis or 1, x:dim())
  if node.attributes.is_inner_broadcast == 0 then
    -- The bias repeats over the batches before the axis, rows of each in turn.
    local sizes = values.sizes(bias)
    while #sizes < x:dim() do table.insert(sizes, 1, 1) end
    bias = bias:view(sizes)
  end
  return torch.softmax((x + bias):flatten(dim), -1):view(values.sizes(x))
end

-- The sum of two layers' results (and a bias), normalized; the sum is the fourth output.
function ops.SkipLayerNormalization(node, x, skip, scale, bias, addend)
  local sum = x + skip
  if addend then sum = sum + addend end
  return torch.layer_norm(sum, { sum:size(-1) }, scale, bias, node.attributes.epsilon or 1e-5), nil, nil, sum
end

function ops.SkipSimplifiedLayerNormalization(node, x, skip, scale, addend)
  local sum = x + skip
  if addend then sum = sum + addend end
  return torch.rms_norm(sum, { sum:size(-1) }, scale, node.attributes.epsilon or 1e-5), nil, nil, sum
end

function ops.EmbedLayerNormalization(node, ids, segments, words, places, segment_rows, scale, bias, mask, positions)
  local function rows(table_of, index) return F.embedding(values.positions(index, table_of:size(1)), table_of) end
  local at = positions or torch.arange(ids:size(2), { device = ids.device }):unsqueeze(1)
  local sum = rows(words, ids) + rows(places, at)
  if segments and segment_rows then sum = sum + rows(segment_rows, segments) end
  local y = torch.layer_norm(sum, { sum:size(-1) }, scale, bias, node.attributes.epsilon or 1e-12)
  return y, mask and mask:sum(2, { dtype = torch.int32 }) or torch.zeros(ids:size(1), { dtype = torch.int32, device = ids.device }), sum
end

-- ---- attention ----------------------------------------------------------------------------------

local function heads_of(x, heads) return x:reshape(x:size(1), x:size(2), heads, -1):transpose(2, 3) end

-- The bias that a mask of 0 and 1, or of sequence lengths, adds to the scores (batch, heads,
-- queries, keys).
local function mask_bias(node, mask, n_keys, dtype)
  local keep
  if mask:dim() == 1 then keep = torch.arange(n_keys, { device = mask.device }):lt(mask:view(-1, 1)):unsqueeze(2):unsqueeze(2)
  elseif mask:dim() == 2 then keep = mask:ne(0):unsqueeze(2):unsqueeze(2)
  else keep = mask:ne(0):unsqueeze(2) end
  return keep:logical_not():to(dtype) * (node.attributes.mask_filter_value or -10000.0)
end

local function attend(node, query, key, value, bias)
  local n_query, n_key = query:size(3), key:size(3)
  local scale = node.attributes.scale
  if not scale or scale == 0 then scale = 1 / math.sqrt(query:size(4)) end
  local scores = torch.matmul(query, key:transpose(3, 4)) * scale
  if bias then scores = scores + bias end
  if node.attributes.unidirectional == 1 then
    local ahead = torch.ones(n_query, n_key, { dtype = torch.bool, device = query.device }):to(torch.uint8):triu(n_key - n_query + 1):to(torch.bool)
    scores = scores:masked_fill(ahead, -math.huge)
  end
  local y = torch.matmul(torch.softmax(scores, -1), value)
  return y:transpose(2, 3):reshape(y:size(1), n_query, -1)
end

local function heads_number(node) return node.attributes.num_heads or values.fail 'no num_heads' end

function ops.Attention(node, x, weight, bias, mask, past, addend)
  local heads = heads_number(node)
  if node.attributes.do_rotary == 1 then values.fail 'do_rotary, which ltensor does not have' end
  local all = torch.matmul(x, weight)
  if bias then all = all + bias end
  local third = all:size(3) // 3
  local parts = all:split(node.attributes.qkv_hidden_sizes or { third, third, third }, 3)
  local query, key, value = heads_of(parts[1], heads), heads_of(parts[2], heads), heads_of(parts[3], heads)
  if past then key, value = torch.cat({ past:select(1, 1), key }, 3), torch.cat({ past:select(1, 2), value }, 3) end
  local added = mask and mask_bias(node, mask, key:size(3), x.dtype)
  if addend then added = added and added + addend or addend end
  return attend(node, query, key, value, added), #node.outputs > 1 and torch.stack({ key, value }, 1) or nil
end

function ops.MultiHeadAttention(node, query, key, value, bias, mask, addend, past_key, past_value)
  local heads = heads_number(node)
  if query:dim() ~= 3 or not key or not value then values.fail 'queries, keys and values in one tensor, which ltensor does not have' end
  if bias then
    local sizes = { query:size(3), query:size(3), bias:size(1) - 2 * query:size(3) }
    local parts = bias:split(sizes, 1)
    query = query + parts[1]
    if key:dim() == 3 then key, value = key + parts[2], value + parts[3] end
  end
  query = heads_of(query, heads)
  if key:dim() == 3 then key, value = heads_of(key, heads), heads_of(value, heads) end
  if past_key then key, value = torch.cat({ past_key, key }, 3), torch.cat({ past_value, value }, 3) end
  local added = mask and mask_bias(node, mask, key:size(3), query.dtype)
  if addend then added = added and added + addend or addend end
  return attend(node, query, key, value, added), key, value
end

-- ---- integers -----------------------------------------------------------------------------------

-- The product of integers with b, the second input, as floats.
local function scaled_product(node, a, b, a_scale, b_scale, a_zero, b_zero, bias)
  local y = (integers.product(node, 2, a, b, a_zero, b_zero):to(torch.float64) * (a_scale:to(torch.float64) * b_scale)):to(a_scale.dtype)
  return bias and y + bias or y
end

function ops.MatMulIntegerToFloat(node, a, b, a_scale, b_scale, a_zero, b_zero, bias) return scaled_product(node, a, b, a_scale, b_scale, a_zero, b_zero, bias) end

function ops.DynamicQuantizeMatMul(node, a, b, b_scale, b_zero, bias)
  local whole, scale, zero = quantize.DynamicQuantizeLinear(node, a)
  return scaled_product(node, whole, b, scale, b_scale, zero, b_zero, bias)
end

return { ['com.microsoft'] = ops }
