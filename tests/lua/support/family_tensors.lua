-- family_tensors.lua - the models of lm_families.lua for the specs: their tensors, and an encoder as a GGUF file.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'gguf.lua')
local families = dofile(here .. 'lm_families.lua')

local M = { families = families }

function M.parsed(json) return (torch._C.read_json(json, function() return {} end, nil)) end

-- The n elements of tensor number `tensor`, as value_of in tests/models/families.py.
local function values_of(tensor, n)
  local h = torch.arange(0, n) * 2654435761 + (tensor * 40503 + 12345) & 0xFFFFFFFF
  h = (h ~ (h >> 15)) * 2246822519 & 0xFFFFFFFF
  return (h ~ (h >> 13)):double() / 2 ^ 32 - 0.5
end

--- The tensors of a case: list of { name in the folder, value, name in the GGUF file }, and the configuration.
function M.tensors(family)
  local config, list = M.parsed(family.config), {}
  local layers = config.num_hidden_layers or config.n_layer
  for _, entry in ipairs(family.tensors) do
    local name, shape, other = table.unpack(entry)
    local add = #shape == 1 and name:find 'weight$' and not config.model_type:find '^gemma' and 1 or 0
    for layer = 0, name:find('%d', 1, true) and layers - 1 or 0 do
      local value = values_of(#list + 1, shape[1] * (shape[2] or 1)) + add
      list[#list + 1] = { name:format(layer), value:float():view(shape), other and other:format(layer) }
    end
  end
  return list, config
end

--- An entry of a GGUF file's list of tensors.
function M.gguf_entry(name, value) return { name, table.move(value.shape, 1, #value.shape, 1, {}), 0, files.bytes(value) } end

local encoder_names = {
  ['embeddings.word_embeddings'] = 'token_embd', ['embeddings.position_embeddings'] = 'position_embd', ['embeddings.token_type_embeddings'] = 'token_types',
  ['embeddings.LayerNorm'] = 'token_embd_norm', ['attention.self.query'] = 'attn_q', ['attention.self.key'] = 'attn_k', ['attention.self.value'] = 'attn_v',
  ['attention.output.dense'] = 'attn_output', ['attention.output.LayerNorm'] = 'attn_output_norm', ['intermediate.dense'] = 'ffn_up',
  ['output.dense'] = 'ffn_down', ['output.LayerNorm'] = 'layer_output_norm',
}

--- The bytes of a GGUF file with the first encoder: dimension 16, at most 16 tokens, and a tokenizer of the letters a to t.
function M.encoder_gguf()
  local list, config = M.tensors(families.encoders[1])
  local metadata = { { 'general.architecture', 8, 'bert' }, { 'bert.attention.layer_norm_epsilon', 6, config.layer_norm_eps }, { 'bert.pooling_type', 4, 1 },
    { 'bert.embedding_length', 4, config.hidden_size }, { 'bert.block_count', 4, 2 }, { 'bert.attention.head_count', 4, 4 },
    { 'bert.feed_forward_length', 4, 24 }, { 'bert.context_length', 4, 16 } }
  local words, kinds = { of = 8, '[PAD]', '[UNK]', '[CLS]', '[SEP]' }, { of = 5, 3, 3, 3, 3 }
  for letter in ('abcdefghijklmnopqrst'):gmatch '.' do words[#words + 1], kinds[#kinds + 1] = '\u{2581}' .. letter, 1 end
  for _, entry in ipairs { { 'model', 8, 'bert' }, { 'tokens', 9, words }, { 'token_type', 9, kinds }, { 'cls_token_id', 4, 2 }, { 'seperator_token_id', 4, 3 },
    { 'unknown_token_id', 4, 1 } } do
    metadata[#metadata + 1] = { 'tokenizer.ggml.' .. entry[1], entry[2], entry[3] }
  end
  local tensors = {}
  for i, entry in ipairs(list) do
    local layer, rest = entry[1]:match '^encoder%.layer%.(%d)%.(.*)$'
    local path, part = (rest or entry[1]):match '^(.*)%.(%a+)$'
    tensors[i] = M.gguf_entry((layer and 'blk.' .. layer .. '.' or '') .. encoder_names[path] .. '.' .. part, entry[2])
  end
  return files.text(metadata, tensors)
end

return M
