-- tokenizer_gguf.lua - describes the tokenizer of a GGUF file, from its metadata, in the form of
-- Hugging Face's tokenizer.json. Keys and rules are those of llama.cpp (src/llama-vocab.cpp).

local Description = require 'torch.lm.tokenizer_description'
local Node = require 'torch.lm.tokenizer_fields'

local M = {}

local MARK = '\u{2581}'
local NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4 -- types of tokens

-- ---- pre-tokenizers of byte-level vocabularies --------------------------------------------------

local GPT2 = [['s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+]]
local CONTRACTION = [[(?i:'s|'t|'re|'ve|'m|'ll|'d)]]
local REST = [[ ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+]]
local LLAMA3 = CONTRACTION .. [[|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|]] .. REST
local QWEN2 = CONTRACTION .. [[|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|]] .. REST
local UPPER, LOWER = [[[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+]], [[[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*]]
local SLASHES = [[ ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+]]
local GPT4O = ('%s%s?|%s%s?|\\p{N}{1,3}|%s'):format(UPPER, CONTRACTION, LOWER, CONTRACTION, SLASHES)
local TEKKEN = ('%s|%s|\\p{N}|%s'):format(UPPER, LOWER, SLASHES)
local DEEPSEEK3 = [[[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+]]
local PUNCTUATION = [[[\p{P}$+<=>\^~|]+]]

-- The expressions that split a text one after the other, by the name in tokenizer.ggml.pre.
local patterns = {
  ['gpt-2'] = { GPT2 }, smollm = { [[\p{N}]], GPT2 }, ['llama-bpe'] = { LLAMA3 }, qwen2 = { QWEN2 }, ['gpt-4o'] = { GPT4O },
  tekken = { TEKKEN }, ['deepseek-v3'] = { [[\p{N}{1,3}]], [=[[一-龥぀-ゟ゠-ヿ]+]=], DEEPSEEK3 },
  falcon = { [[[\p{P}$+<=>\^~|`]+]], GPT2, '[0-9][0-9][0-9]' }, default = { PUNCTUATION, GPT2, [[\p{N}+]], '[0-9][0-9][0-9]' },
}
for name, others in pairs {
  ['gpt-2'] = { 'phi-2', 'mpt', 'olmo', 'jina-es', 'jina-de', 'jina-v1-en', 'jina-v2-es', 'jina-v2-de', 'gigachat', 'a.x-4.0' },
  smollm = { 'starcoder', 'refact', 'command-r', 'codeshell', 'exaone', 'minerva-7b' },
  ['llama-bpe'] = { 'llama3', 'llama-v3', 'falcon3', 'dbrx', 'smaug-bpe', 'pixtral', 'lfm2' },
  qwen2 = { 'stablelm2', 'deepseek-r1-qwen', 'megrez' }, ['gpt-4o'] = { 'llama4' },
} do
  for _, other in ipairs(others) do patterns[other] = patterns[name] end
end

-- Normalization forms and whole words in the vocabulary, as the models' own files have them.
local forms = { qwen2 = 'NFC', megrez = 'NFC', ['deepseek-r1-qwen'] = 'NFC', stablelm2 = 'NFC' }
local whole_words = { ['llama-bpe'] = true, llama3 = true, ['llama-v3'] = true, falcon3 = true, pixtral = true, lfm2 = true, tekken = true }

-- ---- models -------------------------------------------------------------------------------------

-- Each returns the description of a model; context: the read metadata.
local models = {}

local function names_of(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ', ')
end

function models.gpt2(node)
  local pre = node:string('tokenizer.ggml.pre', 'default')
  if not patterns[pre] then node:refuse('tokenizer.ggml.pre', 'a known pre-tokenizer: ' .. names_of(patterns)) end
  local steps = {}
  for i, pattern in ipairs(patterns[pre]) do
    steps[i] = { type = 'Split', pattern = { Regex = pattern }, behavior = 'Isolated' }
  end
  steps[#steps + 1] = { type = 'ByteLevel', add_prefix_space = false, use_regex = false }
  return {
    model = { type = 'BPE', merges = node:child('tokenizer.ggml.merges').table, ignore_merges = whole_words[pre] or false },
    normalizer = forms[pre] and { type = forms[pre] } or nil, pre_tokenizer = { type = 'Sequence', pretokenizers = steps },
    decoder = { type = 'ByteLevel' },
  }, { add_bos = false, add_eos = false }
end

-- The ranks of tokens by decreasing score: false for tokens that are not merged.
local function ranks_of(scores, types, n)
  local order, ranks = {}, {}
  for i = 1, n do
    ranks[i] = false
    if types[i] == NORMAL or types[i] == USER_DEFINED then order[#order + 1] = i end
  end
  table.sort(order, function(a, b)
    if scores[a] ~= scores[b] then return scores[a] > scores[b] end
    return a < b
  end)
  local rank = 0
  for k, i in ipairs(order) do
    if k > 1 and scores[i] ~= scores[order[k - 1]] then rank = rank + 1 end
    ranks[i] = rank
  end
  return ranks
end

local function check_scores(node, n)
  local scores = node:child 'tokenizer.ggml.scores'
  if #scores.table ~= n then node:refuse('tokenizer.ggml.scores', ('a list of %d numbers, one for each token'):format(n)) end
  for i = 1, n do
    scores:number(i)
    if scores.table[i] ~= scores.table[i] then scores:refuse(i, 'a number') end
  end
  return scores.table
end

local function mark_normalizers(prefix)
  local steps = { { type = 'Replace', pattern = { String = ' ' }, content = MARK } }
  if prefix then table.insert(steps, 1, { type = 'Prepend', prepend = MARK }) end
  return { type = 'Sequence', normalizers = steps }
end

local function mark_decoders(prefix)
  local steps = { { type = 'Replace', pattern = { String = MARK }, content = ' ' }, { type = 'ByteFallback' }, { type = 'Fuse' } }
  if prefix then steps[4] = { type = 'Strip', content = ' ', start = 1, stop = 0 } end
  return { type = 'Sequence', decoders = steps }
end

function models.llama(node, context)
  local scores = check_scores(node, context.n)
  local prefix = node:boolean('tokenizer.ggml.add_space_prefix', true)
  return {
    model = { type = 'BPE', ranks = ranks_of(scores, context.types, context.n), byte_fallback = true, fuse_unk = true,
      unk_token = context.tokens[context.unknown + 1] or nil },
    normalizer = mark_normalizers(prefix), decoder = mark_decoders(prefix),
  }, { add_bos = true, add_eos = false }
end

function models.t5(node, context)
  local scores, by_id = check_scores(node, context.n), {}
  for i = 1, context.n do by_id[i - 1] = scores[i] + 0.0 end
  local prefix = node:boolean('tokenizer.ggml.add_space_prefix', true)
  local map = node:optional_string 'tokenizer.ggml.precompiled_charsmap'
  local steps = {}
  if map and map ~= '' then steps[1] = { type = 'Precompiled', precompiled_charsmap = require 'torch.support.base64'(map) } end
  return {
    model = { type = 'Unigram', scores = by_id, unk_id = context.unknown },
    normalizer = { type = 'Sequence', normalizers = steps },
    pre_tokenizer = { type = 'Metaspace', replacement = MARK, prepend_scheme = prefix and 'always' or 'never' },
    decoder = { type = 'Metaspace', replacement = MARK, prepend_scheme = prefix and 'always' or 'never' },
  }, { add_bos = false, add_eos = true }
end

-- GGUF marks the tokens that begin a word; tokenizer.json marks the others.
function models.bert(_, context)
  local tokens = context.tokens
  for i = 1, context.n do
    local token = tokens[i]
    if context.types[i] == NORMAL then
      tokens[i] = token:sub(1, #MARK) == MARK and token:sub(#MARK + 1) or '##' .. token
    end
  end
  return {
    model = { type = 'WordPiece', unk_token = tokens[context.unknown + 1] }, normalizer = { type = 'BertNormalizer' },
    pre_tokenizer = { type = 'BertPreTokenizer' }, decoder = { type = 'WordPiece' },
  }, { add_bos = true, add_eos = true }
end

-- ---- metadata -----------------------------------------------------------------------------------

-- The tokens and their types.
local function read_tokens(node)
  local tokens, types = node:child 'tokenizer.ggml.tokens', node:optional 'tokenizer.ggml.token_type'
  local n = #tokens.table
  if types and #types.table ~= n then node:refuse('tokenizer.ggml.token_type', ('a list of %d numbers, one for each token'):format(n)) end
  local texts, kinds = {}, {}
  for i = 1, n do
    texts[i] = tokens:string(i)
    kinds[i] = types and types:integer(i, 0, math.maxinteger) or NORMAL
  end
  return texts, kinds, n
end

local function read_added(context)
  local added = {}
  for i = 1, context.n do
    local kind, text = context.types[i], context.tokens[i]
    if (kind == CONTROL or kind == USER_DEFINED or kind == UNKNOWN) and text ~= '' and utf8.len(text) then
      added[#added + 1] = { id = i - 1, content = text, special = kind ~= USER_DEFINED, normalized = false }
    end
  end
  return added
end

-- The template with the tokens for the beginning and the end of a text.
local function template(node, context, defaults)
  local single, specials = { { Sequence = { id = 'A' } } }, {}
  local function add(position, name, id, wanted)
    if not node:boolean('tokenizer.ggml.add_' .. name .. '_token', wanted) or not id then return end
    table.insert(single, position, { SpecialToken = { id = name } })
    specials[name] = { id = name, ids = { id } }
  end
  add(1, 'bos', context.bos, defaults.add_bos)
  add(#single + 1, 'eos', context.eos, defaults.add_eos)
  return { type = 'TemplateProcessing', single = single, special_tokens = specials }
end

--- The parts of the tokenizer that the metadata of a GGUF file describe, a table by key.
function M.build(metadata)
  local node = Node.new(metadata, 'GGUF metadata', '')
  local kind = node:string 'tokenizer.ggml.model'
  if not models[kind] then node:refuse('tokenizer.ggml.model', 'a known model: ' .. names_of(models)) end
  local context = {}
  context.tokens, context.types, context.n = read_tokens(node)
  local function id(name) return node:integer('tokenizer.ggml.' .. name .. '_token_id', 0, context.n - 1) end
  context.bos, context.eos, context.unknown = id 'bos' or id 'cls', id 'eos', id 'unknown' or 0
  if kind == 'bert' then
    context.bos, context.eos = id 'cls' or id 'bos', id 'seperator' or id 'separator' or context.eos
    context.unknown = id 'unknown' or 100
  end
  local description, defaults = models[kind](node, context)
  description.model.tokens, description.model.n_tokens = context.tokens, context.n
  description.added_tokens = read_added(context)
  description.post_processor = template(node, context, defaults)
  local parts = Description.build(description, 'GGUF metadata')
  parts.bos, parts.eos = context.bos, context.eos
  return parts
end

return M
