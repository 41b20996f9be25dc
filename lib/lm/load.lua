-- load.lua - torch.lm.load(path): a language model and its tokenizer from a GGUF file or a folder of
-- Hugging Face's.
--
--   local model = torch.lm.load 'SmolLM2-135M-Instruct.Q4_1.gguf'
--   for piece in model:generate('The capital of France is', { max_tokens = 20 }) do io.write(piece) end

--[=[ arguments
path: GGUF file, or folder with config.json, model.safetensors and tokenizer.json.
dtype: Dtype of the weights in memory; nil: as in the file, quantized weights mapped.
device: Device of the weights.
context: Maximum number of tokens of a text, with its prompt; nil: that of the model.
cache_dtype: Dtype of the stored keys and values: torch.float32, float16, bfloat16 or int8; nil: that of the activations.
texts: Text, or a table of texts.
messages: List of messages, each a table with the texts `role` and `content`, and other fields that the template reads.
add_generation_prompt: Whether the prompt ends with the beginning of the assistant's answer.
tools: List of functions that the model can call, as JSON schemas in tables.
tokenize: Whether token ids are returned, not a text.
chat_template: Template; nil: that of the model.
variables: Table of further values for the template by name, for example enable_thinking.
batch_size: Number of texts that are computed together.
normalize: Whether the vectors have the length 1.
prompt: Text, or a table of token ids (from 0); or a table of such prompts.
max_tokens: Maximum number of new tokens.
temperature: Divisor of the logits; 0 chooses the most likely token.
top_k: Number of tokens that are considered; 0 for all.
top_p: Sum of the probabilities of the most likely tokens that are considered.
min_p: Least probability, relative to that of the most likely token.
repetition_penalty: Divisor of the logits of tokens that occurred; 1 for none.
frequency_penalty: Number that lowers the logit of a token for each time that it was generated.
presence_penalty: Number that lowers the logits of tokens that were generated.
seed: Seed of the random numbers; nil: those of torch.manual_seed.
stop: Text, or a table of texts, at which the output ends.
allowed: Function of the ids so far that returns a bool Tensor with an element per token; only tokens with true are chosen.
context_shift: Number of tokens at the beginning that are kept when the context is full, while the older half of the others is forgotten; nil: an error.
]=]

local torch = require 'torch'
local chat = require 'torch.lm.models.chat'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local embed = require 'torch.lm.models.embed'
local fail = require 'torch.support.fail'
local generate = require 'torch.lm.generate'
local open = require 'torch.lm.models.open'

-- Names of special tokens that end a text or a turn of a dialogue.
local end_tokens = {}
for name in ('<|endoftext|> <|end_of_text|> <|im_end|> <|eot_id|> <|eom_id|> <|end|> <end_of_turn> </s> <EOT>'):gmatch '%S+' do end_tokens[name] = true end

local LM = class.Object:extend 'LanguageModel'

-- ---- generation ---------------------------------------------------------------------------------

--- Generates text: `for piece in model:generate('Once upon a time', {max_tokens = 50}) do
-- io.write(piece) end`. The loop can end at any time. A piece consists of whole characters. For a
-- table of prompts, which are continued together, the loop has the number of the prompt, too: `for
-- piece, i in model:generate({'One', 'Two'}) do`. After it, model.stats has the numbers of tokens and
-- the seconds of prompt and generation, and why each text ended: 'stop', a token that ends texts or a
-- stop text, or 'length'.
function LM:generate(prompt, options)
  if self.embedding then fail 'generate(): this model makes embeddings of texts; call embed()' end
  local next_piece, stats = generate.generate(self, prompt, options)
  self.stats = stats
  return next_piece
end

--- The whole text that generate() yields; for a table of prompts a table of texts.
function LM:complete(prompt, options)
  local texts = {}
  local several = generate.is_batch(prompt)
  for i = 1, several and #prompt or 1 do texts[i] = {} end
  for piece, i in self:generate(prompt, options) do table.insert(texts[i], piece) end
  for i, pieces in ipairs(texts) do texts[i] = table.concat(pieces) end
  return several and texts or texts[1]
end

-- ---- dialogues ----------------------------------------------------------------------------------

--- The prompt of a dialogue, by the template in the model's files: token ids for generate(), or with
-- tokenize = false a text. `model:generate(model:apply_chat_template({{role = 'user', content = 'Hi'}},
-- {add_generation_prompt = true}))`. A text has its special tokens: encode it with add_special_tokens =
-- false.
function LM:apply_chat_template(messages, options) return chat(self, messages, options) end

-- ---- embeddings ---------------------------------------------------------------------------------

--- The embeddings of texts, float32 [texts, dim], or of one text [dim], by a BERT-type encoder: texts
-- of similar meaning have vectors with a large product. A text is cut off at the model's limit.
function LM:embed(texts, options)
  if not self.embedding then fail 'embed(): this model generates text; expected an encoder, such as all-MiniLM-L6-v2' end
  if type(texts) == 'string' then return embed(self, { texts }, options)[1] end
  return embed(self, texts, options)
end

-- ---- loading ------------------------------------------------------------------------------------

-- The set of ids after which a text ends: the model's, the tokenizer's, and those of turns and texts
-- by the names that are common.
local function ends_of(tokenizer, list)
  local ends = {}
  for _, id in ipairs(list) do ends[id] = true end
  if tokenizer.eos_token_id then ends[tokenizer.eos_token_id] = true end
  for _, id in ipairs(tokenizer.all_special_ids) do
    if end_tokens[tokenizer:id_to_token(id)] then ends[id] = true end
  end
  return ends
end

local cache_dtypes = { [torch.float32] = true, [torch.float16] = true, [torch.bfloat16] = true, [torch.int8] = true }

--- Loads a model and its tokenizer: a GGUF file, or a folder of transformers or sentence-transformers.
--- The families are Llama (SmolLM2, Mistral), Qwen2, Qwen3, Gemma 1 to 3, Phi-2, Phi-3, GPT-2, and the
--- encoders BERT (MiniLM) and RoBERTa. On the CPU, quantized weights stay mapped: the system reads them from
--- the file.
function LM:init(path, options)
  local device = torch.device(options.device or 'cpu')
  if options.cache_dtype and not cache_dtypes[options.cache_dtype] then
    fail('load(): cache_dtype is %s, expected torch.float32, float16, bfloat16 or int8', tostring(options.cache_dtype))
  end
  local parts = open(path, options.dtype)
  local net = parts.net:to(device)
  self.net, self.tokenizer, self.metadata, self.name = net, parts.tokenizer, parts.metadata, parts.name
  self.chat_template, self.special_tokens = parts.template, parts.special_tokens or {}
  self.device, self.embedding, self.ends = device, parts.embedding, ends_of(self.tokenizer, parts.ends or {})
  self.context, self.cache_dtype = options.context or net.config.context, options.cache_dtype
  if self.context < 2 or self.context > net.config.context then
    fail('load(): context is %d, expected 2 to %d, the length for which the model was trained', self.context, net.config.context)
  end
end

function LM:__tostring() return ('LanguageModel(%s)'):format(self.name) end

local choice = 'integer max_tokens=256, number temperature=0, integer top_k=0, number top_p=1, number min_p=0, number repetition_penalty=1, '
  .. 'number frequency_penalty=0, number presence_penalty=0, integer? seed, string|list? stop, any? allowed, integer? context_shift'
declare.methods(LM, ([[
  init(self, string path, *, dtype? dtype, device? device, integer? context, dtype? cache_dtype)
  generate(self, string|list prompt, *, %s)
  complete(self, string|list prompt, *, %s)
  apply_chat_template(self, list messages, *, boolean add_generation_prompt=false, list? tools, boolean tokenize=true, string? chat_template, table? variables)
  embed(self, string|list texts, *, integer batch_size=32, boolean normalize=true)
]]):format(choice, choice), nil, 'options')

return LM
