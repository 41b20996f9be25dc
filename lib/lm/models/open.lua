-- open.lua - reads a language model and its tokenizer: from a GGUF file, or from a folder in the form
-- of Hugging Face's libraries transformers and sentence-transformers.

local whole_file = require 'torch.files.whole_file'
local encoder = require 'torch.lm.models.encoder'
local Folder = require 'torch.lm.models.checkpoint'
local folder_names = require 'torch.lm.models.folder'
local gguf = require 'torch.lm.gguf'
local llama = require 'torch.lm.llama'
local outside = require 'torch.files.outside'
local Tokenizer = require 'torch.lm.tokenizer'

local MAX_VOCAB = 64 << 20 -- bytes of a vocab.txt

-- ---- tokenizers ---------------------------------------------------------------------------------

-- The tokenizer of a vocab.txt, the file of BERT's first library: a token per line, in the form of
-- GGUF metadata, where tokens that begin a word have a mark.
local function tokenizer_of_vocabulary(folder, path)
  local settings = folder:json 'tokenizer_config.json' or {}
  if settings.do_lower_case == false then folder:_fail 'a vocab.txt that distinguishes upper case, without a tokenizer.json' end
  local tokens, types, ids = {}, {}, {}
  for line in whole_file.read(path, MAX_VOCAB):gmatch '[^\r\n]+' do
    local special = line:find '^%[[%w]+%]$'
    tokens[#tokens + 1] = special and line or line:find '^##.' and line:sub(3) or '\u{2581}' .. line
    types[#tokens] = special and 3 or 1
    ids[line] = #tokens - 1
  end
  return Tokenizer {
    ['tokenizer.ggml.model'] = 'bert', ['tokenizer.ggml.tokens'] = tokens, ['tokenizer.ggml.token_type'] = types,
    ['tokenizer.ggml.cls_token_id'] = ids['[CLS]'], ['tokenizer.ggml.seperator_token_id'] = ids['[SEP]'], ['tokenizer.ggml.unknown_token_id'] = ids['[UNK]'],
  }
end

local function exists(path)
  local file <close> = outside.open(path, 'rb')
  return file ~= nil
end

local function tokenizer_of(folder)
  if exists(folder.path .. 'tokenizer.json') then return Tokenizer(folder.path .. 'tokenizer.json') end
  if exists(folder.path .. 'vocab.txt') then return tokenizer_of_vocabulary(folder, folder.path .. 'vocab.txt') end
  folder:_fail 'no tokenizer.json; save the tokenizer with save_pretrained of transformers'
end

-- ---- embeddings ---------------------------------------------------------------------------------

local poolings = { cls = 'cls', mean = 'mean', max = 'max', mean_sqrt_len_tokens = 'mean_sqrt_len', lasttoken = 'last' }

-- The kind of pooling in the configuration of sentence-transformers.
local function pooling_of(folder, data)
  local kind = data.pooling_mode
  for name in pairs(data) do
    local active = name:match '^pooling_mode_(.*)$'
    if active and data[name] == true then
      active = active:gsub('^cls_token$', 'cls'):gsub('^(%a+)_tokens$', '%1')
      if kind then folder:_fail 'several kinds of pooling, expected one' end
      kind = active
    end
  end
  return poolings[kind or 'mean'] or folder:_fail("the pooling '%s', expected cls, mean, max, mean_sqrt_len_tokens or lasttoken", tostring(kind))
end

-- How a folder's texts become embeddings: pooling, max_tokens, do_lower_case.
local function embedding_of(folder, context)
  local limits, how = folder:json 'sentence_bert_config.json' or {}, { pooling = 'mean', max_tokens = context }
  if math.type(limits.max_seq_length) == 'integer' and limits.max_seq_length > 2 then how.max_tokens = math.min(context, limits.max_seq_length) end
  how.lower = limits.do_lower_case == true
  for _, module in ipairs(folder:json 'modules.json' or {}) do
    if type(module) ~= 'table' then folder:_fail('a module that is the %s %s, expected an object', type(module), tostring(module)) end
    local kind = tostring(module.type):gsub('^.*%.', '')
    if kind == 'Pooling' then
      local name = tostring(module.path) .. '/config.json'
      local data = outside.path_inside(folder.path .. 'modules.json', name) and folder:json(name)
      how.pooling = pooling_of(folder, data or folder:_fail('no config.json in the folder %s of the pooling', tostring(module.path)))
    elseif kind ~= 'Transformer' and kind ~= 'Normalize' then
      folder:_fail("a module of the type '%s', expected Transformer, Pooling or Normalize", tostring(module.type))
    end
  end
  return how
end

-- ---- models -------------------------------------------------------------------------------------

-- The template of dialogues in a folder: a file of its own, or a field, of which a list has several.
local function template_of(folder)
  if exists(folder.path .. 'chat_template.jinja') then return whole_file.read(folder.path .. 'chat_template.jinja', 1 << 20) end
  local template = (folder:json 'tokenizer_config.json' or {}).chat_template
  if type(template) ~= 'table' then return template end
  for _, entry in ipairs(template) do
    if type(entry) == 'table' and entry.name == 'default' then return entry.template end
  end
end

-- The texts of special tokens by the names that templates have.
local special_names = { 'bos_token', 'eos_token', 'unk_token', 'pad_token' }

local function special_of_folder(folder)
  local data, tokens = folder:json 'tokenizer_config.json' or {}, {}
  for _, name in ipairs(special_names) do
    local token = data[name]
    if type(token) == 'table' then token = token.content end
    tokens[name] = type(token) == 'string' and token or nil
  end
  return tokens
end

local gguf_ids = { bos_token = 'bos', eos_token = 'eos', unk_token = 'unknown', pad_token = 'padding' }

local function special_of_gguf(data, tokenizer)
  local tokens = {}
  for _, name in ipairs(special_names) do
    local id = data[('tokenizer.ggml.%s_token_id'):format(gguf_ids[name])]
    tokens[name] = id and tokenizer:id_to_token(id) or nil
  end
  return tokens
end

-- The ids that end a text, in a list.
local function ends_of(data)
  local ids = data.eos_token_id
  return type(ids) == 'table' and ids or { ids }
end

local function open_folder(path, dtype)
  local folder = Folder(path)
  local data = folder.config
  if encoder.is_family(data.model_type) then
    local net = encoder.load(folder, dtype)
    return { net = net, tokenizer = tokenizer_of(folder), metadata = data, name = data.model_type, embedding = embedding_of(folder, net.config.context) }
  end
  return { net = llama.load(folder, folder_names, dtype), tokenizer = tokenizer_of(folder), metadata = data, name = data.model_type,
    template = template_of(folder), special_tokens = special_of_folder(folder), ends = ends_of(folder:json 'generation_config.json' or data) }
end

local pooling_numbers = { [1] = 'mean', [2] = 'cls', [3] = 'last' }

local function open_gguf(path, dtype)
  local file = gguf(path)
  local data = file.metadata
  local family = data['general.architecture']
  local parts = { tokenizer = Tokenizer(data), metadata = data, name = data['general.name'] or family, template = data['tokenizer.chat_template'], ends = {} }
  if family ~= 'bert' then
    parts.special_tokens = special_of_gguf(data, parts.tokenizer)
    parts.net = llama.from_gguf(file, dtype)
    return parts
  end
  parts.net = encoder.load(file, dtype)
  local pooling = data['bert.pooling_type'] or 1
  parts.embedding = { max_tokens = parts.net.config.context, pooling = pooling_numbers[pooling] or file:_fail('bert.pooling_type is %s, expected 1, 2 or 3', tostring(pooling)) }
  return parts
end

--- The parts of a model: net; tokenizer; metadata; name; and for models that generate text `ends`, a
--- list of ids, `template`, the text of the template of dialogues or nil, and special_tokens, texts by
--- name; for encoders `embedding`.
return function(path, dtype)
  if exists(path:gsub('/*$', '') .. '/config.json') then return open_folder(path, dtype) end
  return open_gguf(path, dtype)
end
