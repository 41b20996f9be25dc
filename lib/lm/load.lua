-- load.lua - torch.lm.load(path): a language model and its tokenizer from a GGUF file.
--
--   local model = torch.lm.load 'SmolLM2-135M-Instruct.Q4_1.gguf'
--   for piece in model:generate('The capital of France is', { max_tokens = 20 }) do io.write(piece) end

--[=[ arguments
path: GGUF file.
dtype: Dtype of the weights in memory; nil: as in the file, quantized weights mapped.
device: Device of the weights.
prompt: Text, or a table of token ids (from 0).
max_tokens: Maximum number of new tokens.
temperature: Divisor of the logits; 0 chooses the most likely token.
top_k: Number of tokens that are considered; 0 for all.
top_p: Sum of the probabilities of the most likely tokens that are considered.
min_p: Least probability, relative to that of the most likely token.
repetition_penalty: Divisor of the logits of tokens that occurred; 1 for none.
seed: Seed of the random numbers; nil: those of torch.manual_seed.
stop: Text, or a table of texts, at which the output ends.
allowed: Function of the ids so far that returns a bool Tensor with an element per token; only tokens with true are chosen.
]=]

local torch = require 'torch'
local cache = require 'torch.lm.cache'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local gguf = require 'torch.lm.gguf'
local llama = require 'torch.lm.llama'
local sampler = require 'torch.lm.sampler'
local Tokenizer = require 'torch.lm.tokenizer'

local C = torch._C

local LM = class.Object:extend 'LanguageModel'

-- ---- prompts ------------------------------------------------------------------------------------

local function ids_of(self, prompt)
  local ids = prompt
  if type(prompt) == 'string' then ids = self.tokenizer:encode(prompt) end
  if #ids == 0 then fail 'generate(): the prompt is empty' end
  if #ids >= self.net.config.context then
    fail('generate(): the prompt has %d tokens, the model reads at most %d', #ids, self.net.config.context - 1)
  end
  for i, id in ipairs(ids) do
    if math.type(id) ~= 'integer' or id < 0 or id >= self.net.config.vocab_size then
      fail('generate(): token %d of the prompt is %s; ids are integers from 0 to %d', i, tostring(id), self.net.config.vocab_size - 1)
    end
  end
  return table.move(ids, 1, #ids, 1, {})
end

-- Reads tokens. Returns the logits of the next one [vocab_size]. Those at the beginning that were
-- read before stay in the cache; the last is always read, for its logits.
local function read(self, ids)
  local same = 0
  while same < #ids - 1 and self.ids[same + 1] == ids[same + 1] do same = same + 1 end
  if not self.cache then self.cache = cache.new(self.net.config.layers) end
  self.cache:truncate(same)
  self.ids = table.move(ids, 1, same, 1, {})
  local _ <close> = torch.no_grad()
  local logits = self.net(torch.tensor(table.move(ids, same + 1, #ids, 1, {}), { device = self.device }), self.cache, true)
  self.ids = table.move(ids, 1, #ids, 1, {})
  return logits[1]
end

-- ---- texts that end the output ------------------------------------------------------------------

-- The number of bytes at the end of the text that may be the beginning of a stop text.
local function undecided(text, stops)
  local most = 0
  for _, stop in ipairs(stops) do
    for n = math.min(#stop - 1, #text), most + 1, -1 do
      if text:sub(-n) == stop:sub(1, n) then
        most = n
        break
      end
    end
  end
  return most
end

-- The first byte of the first stop text; nil: there is none.
local function stop_in(text, stops)
  local first
  for _, stop in ipairs(stops) do
    local at = text:find(stop, 1, true)
    if at and (not first or at < first) then first = at end
  end
  return first
end

-- ---- generation ---------------------------------------------------------------------------------

--- Generates text: `for piece in model:generate('Once upon a time', {max_tokens = 50}) do
-- io.write(piece) end`. The loop can end at any time. A piece consists of whole characters. After
-- it, model.stats has the numbers of tokens and the seconds of prompt and generation, and why it
-- ended: 'stop', a token that ends texts or a stop text, or 'length'.
function LM:generate(prompt, options)
  local ids, stops = ids_of(self, prompt), options.stop or {}
  if type(stops) == 'string' then stops = { stops } end
  if options.seed then options.generator = torch.Generator():manual_seed(options.seed) end
  local stats = { prompt_tokens = #ids, tokens = 0, prompt_seconds = 0, seconds = 0 }
  self.stats = stats
  local decode, kept, made = self.tokenizer:stream { skip_special_tokens = true }, '', 0
  local function next_piece()
    if stats.finish then return nil end
    local start = C.clock()
    local logits = read(self, ids)
    local id = sampler.choose(logits, ids, options)
    local took = C.clock() - start
    if made == 0 then stats.prompt_seconds = took else stats.seconds = stats.seconds + took end
    made = made + 1
    stats.tokens = made
    ids[#ids + 1] = id
    local ends = id == self.tokenizer.eos_token_id
    kept = kept .. (ends and decode() or decode(id))
    local at = stop_in(kept, stops)
    if at or ends then stats.finish = 'stop'
    elseif made >= options.max_tokens or #ids >= self.net.config.context then
      stats.finish = 'length'
      kept = kept .. decode()
    end
    local n = at and at - 1 or #kept - (stats.finish and 0 or undecided(kept, stops))
    local piece = kept:sub(1, n)
    kept = kept:sub(n + 1)
    return piece
  end
  return function()
    local piece
    repeat piece = next_piece() until piece ~= ''
    return piece
  end
end

--- The whole text that generate() yields.
function LM:complete(prompt, options)
  local pieces = {}
  for piece in self:generate(prompt, options) do pieces[#pieces + 1] = piece end
  return table.concat(pieces)
end

--- Loads a model and its tokenizer. The files of the families Llama (with SmolLM2) and Qwen2 are
--- supported. Quantized weights stay mapped: the system reads them from the file.
function LM:init(path, options)
  local device = torch.device(options.device or 'cpu')
  if device.type ~= 'cpu' and not options.dtype then
    fail('load(): quantized weights run on the CPU only; for %s pass a dtype, for example torch.bfloat16', tostring(device))
  end
  local file = gguf(path)
  local net = llama.from_gguf(file, options.dtype):to(device)
  self.net, self.tokenizer, self.metadata = net, Tokenizer(file.metadata), file.metadata
  self.device, self.ids = device, {}
end

function LM:__tostring() return ('LanguageModel(%s)'):format(self.metadata['general.name'] or self.metadata['general.architecture']) end

local choice = 'integer max_tokens=256, number temperature=0, integer top_k=0, number top_p=1, number min_p=0, number repetition_penalty=1, '
  .. 'integer? seed, string|list? stop, any? allowed'
declare.methods(LM, ([[
  init(self, string path, *, dtype? dtype, device? device)
  generate(self, string|list prompt, *, %s)
  complete(self, string|list prompt, *, %s)
]]):format(choice, choice), nil, 'options')

return LM
