-- tiny_llama.lua - a GGUF file of a small random Llama for the specs, and its logits by plain loops in double precision.

local files = dofile((debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'gguf.lua')

local M = {}

local VOCAB, DIM, HEADS, KV_HEADS, WIDTH, HIDDEN, LAYERS = 40, 32, 4, 2, 8, 64, 2
M.eps, M.base = 1e-5, 10000

--- Metadata of a tokenizer with 40 tokens: the end of a text, letters, and pairs of them.
function M.tokenizer()
  local tokens, merges = { of = 8, '<end>' }, { of = 8 }
  for letter in ('abcdefghijklmnopqrstuvwxyz'):gmatch '.' do tokens[#tokens + 1] = letter end
  for pair in ('ab cd ef gh ij kl mn op qr st uv wx yz'):gmatch '%S+' do
    tokens[#tokens + 1] = pair
    merges[#merges + 1] = pair:sub(1, 1) .. ' ' .. pair:sub(2)
  end
  local kinds = { of = 5, 3 }
  for i = 2, #tokens do kinds[i] = 1 end
  return {
    { 'tokenizer.ggml.model', 8, 'gpt2' }, { 'tokenizer.ggml.pre', 8, 'gpt-2' }, { 'tokenizer.ggml.tokens', 9, tokens }, { 'tokenizer.ggml.merges', 9, merges },
    { 'tokenizer.ggml.token_type', 9, kinds }, { 'tokenizer.ggml.eos_token_id', 4, 0 },
  }
end

--- For `encoded` of M.text: matrices in q8_0 (a scale and 32 signed bytes per block), vectors in float32.
function M.q8_0(_, value)
  if value:dim() == 1 then return 0, nil, value end
  local rows = value:view(-1, 32)
  local d = (rows:abs():amax(2, true) / 127):half()
  local q = (rows / d:float()):round():clamp(-127, 127)
  local packed = torch.cat({ d:view(torch.uint8), q:to(torch.int8):view(torch.uint8) }, 2)
  return 8, files.bytes(packed), (q * d:float()):view(value.shape)
end

--- The bytes of a file. more: further metadata; encoded: function of a tensor's name and value that returns a type's number, its bytes
--- (nil: of the value) and the value that they stand for.
function M.text(more, family, encoded)
  family = family or 'llama'
  local metadata = { { 'general.architecture', 8, family } }
  for name, value in pairs { embedding_length = DIM, block_count = LAYERS, ['attention.head_count'] = HEADS, ['attention.head_count_kv'] = KV_HEADS,
    feed_forward_length = HIDDEN, context_length = 64 } do
    metadata[#metadata + 1] = { family .. '.' .. name, 4, value }
  end
  metadata[#metadata + 1] = { family .. '.attention.layer_norm_rms_epsilon', 6, M.eps }
  table.move(more or {}, 1, #(more or {}), #metadata + 1, metadata)
  local tensors, weights = {}, {}
  local function add(name, ...)
    local value = torch.randn(...) * (select('#', ...) == 1 and 0.1 or 0.3)
    if select('#', ...) == 1 and not name:find 'bias' then value = value + 1 end
    local kind, bytes = 0, nil
    if encoded then kind, bytes, value = encoded(name, value) end
    weights[name] = value:double()
    tensors[#tensors + 1] = { name, { ... }, kind, bytes or files.bytes(value) }
  end
  add('token_embd.weight', VOCAB, DIM)
  for i = 0, LAYERS - 1 do
    local function layer(name, ...) add(('blk.%d.%s'):format(i, name), ...) end
    layer('attn_norm.weight', DIM)
    layer('attn_q.weight', HEADS * WIDTH, DIM)
    layer('attn_k.weight', KV_HEADS * WIDTH, DIM)
    layer('attn_v.weight', KV_HEADS * WIDTH, DIM)
    if family == 'qwen2' then
      layer('attn_q.bias', HEADS * WIDTH)
      layer('attn_k.bias', KV_HEADS * WIDTH)
      layer('attn_v.bias', KV_HEADS * WIDTH)
    end
    layer('attn_output.weight', DIM, HEADS * WIDTH)
    layer('ffn_norm.weight', DIM)
    layer('ffn_gate.weight', HIDDEN, DIM)
    layer('ffn_up.weight', HIDDEN, DIM)
    layer('ffn_down.weight', DIM, HIDDEN)
  end
  add('output_norm.weight', DIM)
  return files.text(metadata, tensors), weights
end

local function normalized(x, weight)
  local square = 0
  for _, v in ipairs(x) do square = square + v * v end
  local y, scale = {}, 1 / math.sqrt(square / #x + M.eps)
  for i, v in ipairs(x) do y[i] = v * scale * weight[i] end
  return y
end

local function times(weight, x, bias)
  local y = {}
  for r, row in ipairs(weight) do
    local sum = bias and bias[r] or 0
    for i, v in ipairs(row) do sum = sum + v * x[i] end
    y[r] = sum
  end
  return y
end

-- Rotates each head of x at a position (from 0): pairs of adjacent elements, or of halves.
local function rotated(x, position, halves)
  local y = {}
  for h = 0, #x // WIDTH - 1 do
    for i = 0, WIDTH // 2 - 1 do
      local angle = position * M.base ^ (-2 * i / WIDTH)
      local a, b = h * WIDTH + (halves and i or 2 * i) + 1, h * WIDTH + (halves and i + WIDTH // 2 or 2 * i + 1) + 1
      y[a] = x[a] * math.cos(angle) - x[b] * math.sin(angle)
      y[b] = x[a] * math.sin(angle) + x[b] * math.cos(angle)
    end
  end
  return y
end

-- The heads of the query at the last position over all keys.
local function attended(q, keys, values)
  local out = {}
  for h = 0, HEADS - 1 do
    local of, scores, sum = h * KV_HEADS // HEADS * WIDTH, {}, 0
    for t, k in ipairs(keys) do
      local dot = 0
      for i = 1, WIDTH do dot = dot + q[h * WIDTH + i] * k[of + i] end
      scores[t] = math.exp(dot / math.sqrt(WIDTH))
      sum = sum + scores[t]
    end
    for i = 1, WIDTH do
      local y = 0
      for t, v in ipairs(values) do y = y + scores[t] / sum * v[of + i] end
      out[h * WIDTH + i] = y
    end
  end
  return out
end

local function added(a, b)
  local y = {}
  for i, v in ipairs(a) do y[i] = v + b[i] end
  return y
end

--- The logits after each id, as tables.
function M.logits(weights, ids, family)
  local w = {}
  for name, tensor in pairs(weights) do w[name] = tensor:tolist() end
  local keys, values, rows = {}, {}, {}
  for position, id in ipairs(ids) do
    local x = w['token_embd.weight'][id + 1]
    for i = 0, LAYERS - 1 do
      local function of(name) return w[('blk.%d.%s'):format(i, name)] end
      local h = normalized(x, of 'attn_norm.weight')
      local halves = family == 'qwen2'
      keys[i], values[i] = keys[i] or {}, values[i] or {}
      keys[i][position] = rotated(times(of 'attn_k.weight', h, of 'attn_k.bias'), position - 1, halves)
      values[i][position] = times(of 'attn_v.weight', h, of 'attn_v.bias')
      local q = rotated(times(of 'attn_q.weight', h, of 'attn_q.bias'), position - 1, halves)
      x = added(x, times(of 'attn_output.weight', attended(q, keys[i], values[i])))
      h = normalized(x, of 'ffn_norm.weight')
      local gate, up = times(of 'ffn_gate.weight', h), times(of 'ffn_up.weight', h)
      for k, g in ipairs(gate) do gate[k] = g / (1 + math.exp(-g)) * up[k] end
      x = added(x, times(of 'ffn_down.weight', gate))
    end
    rows[position] = times(w['token_embd.weight'], normalized(x, w['output_norm.weight']))
  end
  return rows
end

return M
