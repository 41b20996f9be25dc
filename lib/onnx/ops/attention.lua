-- attention.lua - attention over keys, its linear and convolutional relatives, and positions as
-- rotations.

local torch = require 'torch'
local run = require 'torch.onnx.run'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'

local F = require 'torch.nn.functional'
local ops, preview = {}, {}
local INF = math.huge

-- (batch, length, heads * size) as (batch, heads, length, size).
local function split_heads(x, heads)
  if not heads or heads < 1 or x:size(3) % heads ~= 0 then values.fail('%d features in %s heads', x:size(3), tostring(heads)) end
  return x:reshape(x:size(1), x:size(2), heads, x:size(3) // heads):transpose(2, 3)
end

local function join_heads(x) return x:transpose(2, 3):reshape(x:size(1), x:size(3), -1) end

-- Each head of keys or values serves several heads of queries.
local function shared_heads(x, heads)
  local own = x:size(2)
  if own == heads then return x end
  if heads % own ~= 0 then values.fail('%d heads of queries for %d of keys', heads, own) end
  return x:repeat_interleave(heads // own, 2)
end

-- An additive mask: 0 where attention is allowed, -inf elsewhere.
local function as_bias(allowed, dtype)
  return torch.zeros_like(allowed, { dtype = dtype }):masked_fill(allowed:logical_not(), -INF)
end

-- The sum of all masks and biases of the scores; nil if there are none.
local function bias_of(node, query, key, mask, past, lengths)
  local a, dtype = node.attributes, query.dtype
  local n_query, n_key = query:size(3), key:size(3)
  local bias
  local function add(more) bias = bias and bias + more or more end
  if mask then
    if mask.dtype == torch.bool then mask = as_bias(mask, dtype) end
    local missing = n_key - mask:size(-1)
    if missing > 0 then mask = torch.constant_pad_nd(mask, { 0, missing }, -INF) end
    add(mask)
  end
  local left, right = a.left_window_size or -1, a.right_window_size or -1
  if a.is_causal == 1 or left >= 0 or right >= 0 then
    -- The position of a query is its row plus the number of past keys.
    local row = torch.arange(n_query, { device = query.device }):unsqueeze(2)
    if past then row = row + past:size(3)
    elseif lengths then row = row + (lengths:view(-1, 1, 1, 1) - n_query) end
    local ahead = torch.arange(n_key, { device = query.device }) - row -- distance of a key after the query
    if a.is_causal == 1 then add(as_bias(ahead:le(0), dtype)) end
    if left >= 0 then add(as_bias(ahead:ge(-left), dtype)) end
    if right >= 0 then add(as_bias(ahead:le(right), dtype)) end
  end
  if lengths then add(as_bias(torch.arange(n_key, { device = query.device }):lt(lengths:view(-1, 1, 1, 1)), dtype)) end
  return bias
end

function ops.Attention(node, query, key, value, mask, past_key, past_value, lengths)
  local a = node.attributes
  local is_flat = query:dim() == 3
  if is_flat then
    query, key, value = split_heads(query, a.q_num_heads), split_heads(key, a.kv_num_heads), split_heads(value, a.kv_num_heads)
  end
  if past_key then key, value = torch.cat({ past_key, key }, 3), torch.cat({ past_value, value }, 3) end
  local bias = bias_of(node, query, key, mask, past_key, lengths)
  local scale = math.sqrt(a.scale or 1 / math.sqrt(query:size(4)))
  local keys, contents = shared_heads(key, query:size(2)), shared_heads(value, query:size(2))
  local scores = torch.matmul(query * scale, (keys * scale):transpose(3, 4))
  local shown = scores
  local mode = a.qk_matmul_output_mode or 0
  if a.softcap and a.softcap > 0 then scores = (scores / a.softcap):tanh() * a.softcap end
  if mode == 1 then shown = scores end
  if bias then scores = scores + bias end
  if mode == 2 then shown = scores end
  local precision = a.softmax_precision and tensors.dtypes[a.softmax_precision]
  local weights = torch.softmax(precision and scores:to(precision) or scores, -1)
  -- A fully masked row is zero; softmax returns nan.
  if bias then weights = weights:masked_fill(bias:amax(-1, true):eq(-INF), 0) end
  weights = weights:to(query.dtype)
  if mode == 3 then shown = weights end
  local y = torch.matmul(weights, contents)
  return is_flat and join_heads(y) or y, key, value, shown
end

local function modified(node, frame, name, x)
  local body = node.attributes[name]
  return body and run.body(body, frame, x) or x
end

preview.FlexAttention = { takes_frame = true, fn = function(node, frame, query, key, value)
  local a = node.attributes
  local precision = a.softmax_precision and tensors.dtypes[a.softmax_precision] or query.dtype.itemsize < 4 and torch.float32 or query.dtype
  local scale = math.sqrt(a.scale or 1 / math.sqrt(query:size(4)))
  key, value = shared_heads(key, query:size(2)), shared_heads(value, query:size(2))
  local scores = torch.matmul(query * scale, (key * scale):transpose(3, 4)):to(precision)
  local weights = modified(node, frame, 'prob_mod', torch.softmax(modified(node, frame, 'score_mod', scores), -1))
  return torch.matmul(weights, value:to(precision)):to(value.dtype)
end }

-- A state (size of keys, size of values) per head is carried along the sequence, instead of keys.
function ops.LinearAttention(node, query, key, value, past, decay, beta)
  local a = node.attributes
  local heads, own, dtype = a.q_num_heads, a.kv_num_heads, query.dtype
  local length, state_dtype = query:size(2), past and past.dtype or dtype
  local function wide(x, n) return split_heads(x, n):to(torch.float32) end
  local q, k, v = wide(query, heads), wide(key, own), wide(value, own)
  local fading = decay and wide(decay, own):exp()
  local strength = beta and wide(beta, beta:size(3))
  local state = past and past:to(torch.float32) or torch.zeros(q:size(1), own, k:size(4), v:size(4), { device = q.device })
  local scale = a.scale and a.scale ~= 0 and a.scale or 1 / math.sqrt(k:size(4))
  local outputs = {}
  for i = 1, length do
    local k_i, v_i = k:select(3, i):unsqueeze(-1), v:select(3, i):unsqueeze(-2)
    if fading then state = state * fading:select(3, i):unsqueeze(-1) end
    if strength then v_i = strength:select(3, i):unsqueeze(-1) * (v_i - (state * k_i):sum(-2, true)) end
    state = state + k_i * v_i
    outputs[i] = (q:select(3, i):unsqueeze(-1) * shared_heads(state, heads)):sum(-2) * scale
  end
  return join_heads(torch.stack(outputs, 3)):to(dtype), state:to(state_dtype)
end

-- A causal convolution per channel; also returns the last elements as the state for the next call.
function ops.CausalConvWithState(node, x, weight, bias, past)
  local before = weight:size(3) - 1
  local padded = past and torch.cat({ past, x }, 3) or torch.constant_pad_nd(x, { before, 0 })
  local y = F.conv1d(padded, weight, bias, 1, 0, 1, x:size(2))
  local activation = node.attributes.activation
  if activation == 'silu' or activation == 'swish' then y = torch.silu(y) end
  return y, padded:narrow(3, padded:size(3) - before + 1, before)
end

function ops.RotaryEmbedding(node, x, cosines, sines, position)
  local a = node.attributes
  local is_flat = x:dim() == 3
  if is_flat then x = split_heads(x, a.num_heads) end
  local size = a.rotary_embedding_dim
  if not size or size == 0 then size = x:size(4) end
  local rotated, rest = x:narrow(4, 1, size), x:narrow(4, size + 1, x:size(4) - size)
  if position then
    local at = values.positions(position, cosines:size(1))
    local function rows(cache) return cache:index_select(1, at:reshape(-1)):view(at:size(1), at:size(2), -1) end
    cosines, sines = rows(cosines), rows(sines)
  end
  cosines, sines = cosines:unsqueeze(2), sines:unsqueeze(2)
  local n, heads, length, half = x:size(1), x:size(2), x:size(3), size // 2
  local first, second
  if a.interleaved == 1 then
    local pairs_of = rotated:reshape(n, heads, length, half, 2)
    first, second = pairs_of:select(5, 1), pairs_of:select(5, 2)
  else
    first, second = rotated:narrow(4, 1, half), rotated:narrow(4, half + 1, half)
  end
  local real, imaginary = cosines * first - sines * second, sines * first + cosines * second
  local joined
  if a.interleaved == 1 then joined = torch.stack({ real, imaginary }, -1):reshape(n, heads, length, size)
  else joined = torch.cat({ real, imaginary }, 4) end
  local y = torch.cat({ joined, rest }, 4)
  return is_flat and join_heads(y) or y
end

return { [''] = ops, ['ai.onnx.preview'] = preview }
