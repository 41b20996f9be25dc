-- lm_families_spec.lua - decoder-only models of each family: logits of tiny models as transformers computes them, from folders of
-- Hugging Face and from GGUF files, with and without a cache; encoders and their embeddings; files that ltensor refuses.

local torch = require 'torch'
local caches = require 'torch.lm.cache'
local Folder = require 'torch.lm.models.checkpoint'
local folder_names = require 'torch.lm.models.folder'
local llama = require 'torch.lm.llama'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'support/gguf.lua')
local family_tensors = dofile(here .. 'support/family_tensors.lua')
local families = family_tensors.families

local function case(title)
  for _, family in ipairs(families) do
    if family.title == title then return family end
  end
  error('no case ' .. title)
end

-- A new folder with a model; returns its path. config: text of config.json.
local function write_folder(family, config)
  local path = os.tmpname()
  os.remove(path)
  assert(os.execute(("mkdir '%s'"):format(path)))
  local state = {}
  for _, entry in ipairs((family_tensors.tensors(family))) do state[entry[1]] = entry[2] end
  torch.save(state, path .. '/model.safetensors')
  local file = assert(io.open(path .. '/config.json', 'w'))
  file:write(config or family.config)
  file:close()
  return path
end

local function load_folder(family, config)
  local path = write_folder(family, config)
  local ok, net = pcall(function() return llama.load(Folder(path), folder_names) end)
  os.execute(("rm -r '%s'"):format(path))
  if not ok then error(net, 0) end
  return net
end

-- The bytes of a GGUF file with a case's model, as llama.cpp's script converts it.
local function gguf_text(family, more)
  local list, config = family_tensors.tensors(family)
  local arch, heads, kv = family.arch, config.num_attention_heads or config.n_head, config.num_key_value_heads
  local metadata = { { 'general.architecture', 8, arch } }
  local function add(key, kind, value)
    if value then metadata[#metadata + 1] = { arch .. '.' .. key, kind, value } end
  end
  add('embedding_length', 4, config.hidden_size or config.n_embd)
  add('block_count', 4, config.num_hidden_layers or config.n_layer)
  add('attention.head_count', 4, heads)
  add('attention.head_count_kv', 4, kv)
  add('attention.key_length', 4, config.head_dim)
  add('feed_forward_length', 4, config.intermediate_size or config.n_inner)
  add('context_length', 4, config.max_position_embeddings or config.n_positions)
  add('attention.layer_norm_rms_epsilon', 6, config.rms_norm_eps)
  add('attention.layer_norm_epsilon', 6, config.layer_norm_eps or config.layer_norm_epsilon)
  add('attention.sliding_window', 4, config.sliding_window)
  add('attn_logit_softcapping', 6, config.attn_logit_softcapping)
  add('final_logit_softcapping', 6, config.final_logit_softcapping)
  local rope = config.rope_parameters
  if rope then
    local all = rope.full_attention or rope
    add('rope.freq_base', 6, all.rope_theta)
    if all.partial_rotary_factor then add('rope.dimension_count', 4, math.floor(config.hidden_size // heads * all.partial_rotary_factor)) end
    if all.rope_type == 'linear' then
      add('rope.scaling.type', 8, 'linear')
      add('rope.scaling.factor', 6, all.factor)
    end
  end
  table.move(more or {}, 1, #(more or {}), #metadata + 1, metadata)
  local tensors = {}
  for i, entry in ipairs(list) do
    local _, value, name = table.unpack(entry)
    if arch == 'llama' and (name:find 'attn_q' or name:find 'attn_k') then
      local n = name:find 'attn_q' and heads or kv
      value = value:view(n, 2, -1, value:size(2)):transpose(2, 3):reshape(value:size(1), value:size(2))
    end
    if arch:find '^gemma' and name:find 'norm' then value = value + 1 end
    if arch == 'gpt2' and value:dim() == 2 and name:find '^blk' then value = value:t():contiguous() end
    tensors[i] = family_tensors.gguf_entry(name, value)
  end
  return files.text(metadata, tensors)
end

local function load_gguf(family, more)
  local path = files.write((gguf_text(family, more)))
  local ok, net = pcall(function() return llama.from_gguf(torch.lm.gguf(path)) end)
  os.remove(path)
  if not ok then error(net, 0) end
  return net
end

local function assert_logits(family, net)
  local ids = torch.tensor(families.ids)
  local logits = torch.no_grad(function() return net(ids) end)
  for k, row in ipairs { #families.ids // 2 + 1, #families.ids } do
    local difference = (logits[row] - torch.tensor(family.logits[k])):abs():max():item()
    assert.is_true(difference < 1e-4, ('%s, row %d: difference %g'):format(family.title, row, difference))
  end
  -- several texts at once, without a cache
  local batch = torch.no_grad(function() return net(torch.stack { ids, ids:flip(1) }) end)
  assert.is_true((batch[1] - logits):abs():max():item() < 1e-5)
  -- token by token, after parts
  local cache = caches.new(net.config.layers)
  local rows = torch.no_grad(function()
    local list = { net(ids:narrow(1, 1, 3), cache), net(ids:narrow(1, 4, 3), cache) }
    for i = 7, #families.ids do list[#list + 1] = net(ids:narrow(1, i, 1), cache, true) end
    return torch.cat(list)
  end)
  assert.is_true((rows - logits):abs():max():item() < 1e-5, family.title .. ' with a cache')
end

local function assert_fails(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
end

describe('a decoder-only model #cpu', function()
  for _, family in ipairs(families) do
    it('has the logits of transformers, from a folder: ' .. family.title, function() assert_logits(family, load_folder(family)) end)
    if family.arch then
      it('has the logits of transformers, from a GGUF file: ' .. family.title, function() assert_logits(family, load_gguf(family)) end)
    end
  end
end)

describe('a file of a decoder-only model #cpu', function()
  local function changed(title, from, to)
    local family = case(title)
    local text, n = family.config:gsub(from, to)
    assert.equal(1, n)
    return load_folder, family, text
  end

  it('is refused with a family, a scaling or an activation that ltensor does not compute', function()
    assert_fails("a model of the family 'bloom'; ltensor runs gemma, gemma2, gemma3, gpt2, llama", changed('llama', '"llama"', '"bloom"'))
    assert_fails("rotary embeddings of the type 'yarn'", changed('llama', '"rope_type": "default"', '"rope_type": "yarn", "factor": 4'))
    assert_fails("the activation 'mish'", changed('llama', '"silu"', '"mish"'))
    assert_fails("rotary embeddings with the scaling 'yarn'", load_gguf, case 'llama', { { 'llama.rope.scaling.type', 8, 'yarn' } })
  end)

  it('is refused with sizes that do not fit its tensors', function()
    assert_fails("tensor 'model.layers.0.mlp.gate_proj.weight' has the shape [24, 16], the configuration requires [25, 16]",
      changed('llama', '"intermediate_size": 24', '"intermediate_size": 25'))
    assert_fails("tensor 'model.layers.0.mlp.gate_up_proj.weight' has the shape [48, 16], the configuration requires rows from 25 of [25, 16]",
      changed('phi3', '"intermediate_size": 24', '"intermediate_size": 25'))
    assert_fails("tensor 'model.layers.2", changed('llama', '"num_hidden_layers": 3', '"num_hidden_layers": 2'))
    assert_fails("no tensor has the name 'model.layers.3", changed('llama', '"num_hidden_layers": 3', '"num_hidden_layers": 4'))
    assert_fails('1000 layers, more than the file has tensors', changed('llama', '"num_hidden_layers": 3', '"num_hidden_layers": 1000'))
    assert_fails('hidden_size is 0, expected an integer above 0', changed('llama', '"hidden_size": 16', '"hidden_size": 0'))
    assert_fails('intermediate_size is 1099511627776', changed('llama', '"intermediate_size": 24', '"intermediate_size": 1099511627776'))
    assert_fails('4 heads of queries, no multiple of 3 heads', changed('llama', '"num_key_value_heads": 2', '"num_key_value_heads": 3'))
    assert_fails('a rotary embedding of 7 elements', changed('llama', '"head_dim": 8', '"head_dim": 7'))
    assert_fails('partial_rotary_factor is 1e+300, expected at most 1', changed('phi', '"partial_rotary_factor": [%d.]+', '"partial_rotary_factor": 1e300'))
    assert_fails('max_window_layers is table', changed('qwen2', '"max_window_layers": 1, "layer_types": %[.-%]', '"max_window_layers": []'))
  end)

  it('is refused without a configuration or tensors', function()
    local path = write_folder(case 'llama')
    os.remove(path .. '/model.safetensors')
    assert_fails('no model.safetensors', Folder, path)
    os.remove(path .. '/config.json')
    assert_fails('no config.json, expected', Folder, path .. '/')
    os.remove(path)
  end)
end)

-- Writes a file into a folder.
local function put(path, name, text)
  local file = assert(io.open(path .. '/' .. name, 'w'))
  file:write(text)
  file:close()
end

-- A model with an encoder, its tokenizer and more files: texts by name.
local function load_encoder(family, more)
  local path = write_folder(family)
  put(path, 'vocab.txt', '[PAD]\n[UNK]\n[CLS]\n[SEP]\n' .. ('abcdefghijklmnopqrst'):gsub('.', '%0\n'))
  assert(os.execute(("mkdir '%s/1_Pooling'"):format(path)))
  for name, text in pairs(more or {}) do put(path, name, text) end
  local ok, model = pcall(torch.lm.load, path)
  os.execute(("rm -r '%s'"):format(path))
  if not ok then error(model, 0) end
  return model
end

local modules = [==[[{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]]==]

describe('an encoder #cpu', function()
  local texts = { 'n c s f f k b q a e', 'N C S' }

  for _, family in ipairs(families.encoders) do
    it('has the embeddings of transformers: ' .. family.title, function()
      local model = load_encoder(family)
      local expected = torch.tensor(family.vectors)
      assert.is_true((model:embed(texts) - expected):abs():max():item() < 1e-5)
      assert.is_true((model:embed(texts[2]) - expected[2]):abs():max():item() < 1e-5)
      assert.is_true((model:embed({ texts[2], texts[1], texts[2] }, { batch_size = 1 }) - expected[torch.tensor { 2, 1, 2 }]):abs():max():item() < 1e-5)
    end)
  end

  it('has the embeddings of transformers, from a GGUF file', function()
    local path = files.write(family_tensors.encoder_gguf())
    local ok, model = pcall(torch.lm.load, path)
    os.remove(path)
    assert(ok, model)
    assert.is_true((model:embed(texts) - torch.tensor(families.encoders[1].vectors)):abs():max():item() < 1e-5)
  end)

  it('pools vectors as the folder requires, up to its maximum of tokens', function()
    local family = families.encoders[1]
    local net = load_encoder(family).net
    local long = net(torch.tensor { { 2, 17, 6, 22, 9, 9, 14, 5, 20, 4, 8, 3 } })[1]
    local short = net(torch.tensor { { 2, 17, 6, 22, 3 } })[1]
    local function pooled(mode, more)
      local settings = { ['modules.json'] = modules, ['1_Pooling/config.json'] = ('{"pooling_mode_%s": true, "pooling_mode_mean_tokens": false}'):format(mode) }
      for name, text in pairs(more or {}) do settings[name] = text end
      return load_encoder(family, settings):embed(texts, { normalize = false })
    end
    local function assert_close(expected, actual) assert.is_true((actual - expected):abs():max():item() < 1e-5) end
    assert_close(torch.stack { long[1], short[1] }, pooled 'cls_token')
    assert_close(torch.stack { long[-1], short[-1] }, pooled 'lasttoken')
    assert_close(torch.stack { long:amax(1), short:amax(1) }, pooled 'max_tokens')
    assert_close(torch.stack { long:sum(1) / math.sqrt(12), short:sum(1) / math.sqrt(5) }, pooled 'mean_sqrt_len_tokens')
    assert_close(torch.stack { short[-1], short[-1] }, pooled('lasttoken', { ['sentence_bert_config.json'] = '{"max_seq_length": 5}' }))
    assert_fails("the pooling 'weightedmean', expected cls", pooled, 'weightedmean_tokens')
    local word = ('a'):rep(200000) -- a pattern that is not linear takes minutes
    assert_fails("a module of the type 'aaa", pooled, 'cls_token', { ['modules.json'] = ('[{"type": "%s"}]'):format(word .. '.' .. word) })
    assert_fails('a module that is the number 3, expected an object', pooled, 'cls_token', { ['modules.json'] = '[3]' })
    assert_fails('no config.json in the folder nil of the pooling', pooled, 'cls_token', { ['modules.json'] = modules:gsub('"1_Pooling"', 'null') })
    assert_fails("a module of the type 'sentence_transformers.models.Dense'", pooled, 'cls_token', { ['modules.json'] = modules:gsub('Pooling"}', 'Dense"}') })
  end)

  it('is refused with a padding that is no token', function()
    local roberta
    for _, family in ipairs(families.encoders) do
      if family.config:find 'pad_token_id' then roberta = family end
    end
    local config = roberta.config:gsub('"pad_token_id": %d+', '"pad_token_id": "1"')
    assert_fails('pad_token_id is 1, expected an integer from 0 to 14', load_encoder, roberta, { ['config.json'] = config })
  end)

  it('makes no text, and a decoder no embeddings', function()
    local model = load_encoder(families.encoders[1])
    assert_fails('this model makes embeddings of texts; call embed()', model.generate, model, 'a')
    assert_fails('embed(): text 2 is a number', model.embed, model, { 'a', 1 })
    assert.same({ 0, 16 }, { table.unpack(model:embed({}).shape) })
    local path = write_folder(case 'llama')
    put(path, 'vocab.txt', '[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n')
    local decoder = torch.lm.load(path)
    os.execute(("rm -r '%s'"):format(path))
    assert_fails('this model generates text; expected an encoder', decoder.embed, decoder, 'a')
    assert.equal(1, #decoder.tokenizer:encode('a', { add_special_tokens = false }))
    assert.equal(2, #decoder.tokenizer:encode('a a a', { max_length = 2 }))
  end)
end)
