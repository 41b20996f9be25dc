-- generate.lua - the loops that continue texts by a language model: one text, which keeps its tokens in
-- the model's cache for the next prompt, or several at once.

local torch = require 'torch'
local cache = require 'torch.lm.cache'
local fail = require 'torch.support.fail'
local sampler = require 'torch.lm.sampler'
local Text = require 'torch.lm.text'

local C = torch._C

-- tuning: tokens of a prompt per call of the model, which bound the memory of a call. A 135M model
-- reads 345 tokens/s in parts of 256, 348 of 512, 370 of 2048 (one thread, AVX-512, November 2026).
local part = 512

-- ---- arguments ----------------------------------------------------------------------------------

local function ids_of(self, prompt)
  local ids, vocab = prompt, self.net.config.vocab_size
  if type(prompt) == 'string' then ids = self.tokenizer:encode(prompt) end
  if #ids == 0 then fail 'generate(): the prompt is empty' end
  if #ids >= self.context then
    fail('generate(): the prompt has %d tokens, the model reads at most %d', #ids, self.context - 1)
  end
  for i, id in ipairs(ids) do
    if math.type(id) ~= 'integer' or id < 0 or id >= vocab then
      fail('generate(): token %d of the prompt is %s; ids are integers from 0 to %d', i, tostring(id), vocab - 1)
    end
  end
  return table.move(ids, 1, #ids, 1, {})
end

local function check(name, value, valid, expected)
  if not valid then fail('generate(): %s is %s, expected %s', name, tostring(value), expected) end
end

local function check_options(self, options)
  local function each(name, least, most)
    local value = options[name]
    check(name, value, value >= least and value <= most, most < math.huge and ('a number from %g to %g'):format(least, most) or ('a number of at least %g'):format(least))
  end
  each('max_tokens', 1, math.huge)
  each('temperature', 0, math.huge)
  each('top_k', 0, math.huge)
  each('top_p', 0, 1)
  each('min_p', 0, 1)
  check('repetition_penalty', options.repetition_penalty, options.repetition_penalty > 0, 'a positive number')
  if options.context_shift then each('context_shift', 0, self.context - 2) end
  for _, stop in ipairs(type(options.stop) == 'table' and options.stop or { options.stop }) do
    check('stop', stop, type(stop) == 'string' and stop ~= '', 'a text, or a table of texts, that are not empty')
  end
end

-- ---- reading ------------------------------------------------------------------------------------

local function call(self, ids, kept) return self.net(torch.tensor(ids, { device = self.device }), kept, true) end

-- Reads the tokens of texts that are not in their caches. Returns the logits of the next token of
-- each, [#texts, vocab_size]. Long prompts are read in parts; the last call has tokens of all texts.
local function read(self, texts)
  local _ <close> = torch.no_grad()
  local caches, counts, joined = {}, {}, {}
  local last = #texts == 1 and part or 1
  for i, text in ipairs(texts) do
    local ids, from = text:pending(), 1
    while #ids - from + 1 > last do
      local n = math.min(part, #ids - from)
      call(self, table.move(ids, from, from + n - 1, 1, {}), text.cache)
      from = from + n
    end
    caches[i], counts[i] = text.cache, #ids - from + 1
    table.move(ids, from, #ids, #joined + 1, joined)
  end
  return call(self, joined, #texts == 1 and caches[1] or cache.batch(caches, counts))
end

-- ---- generation ---------------------------------------------------------------------------------

local function new_text(self, prompt, options, kept, index)
  local ids = ids_of(self, prompt)
  local generator = options.seed and torch.Generator(self.device):manual_seed(options.seed + index - 1)
  kept:reserve(math.min(#ids + options.max_tokens, self.context))
  return Text.new {
    ids = ids, index = index, cache = kept, context = self.context, options = options, ends = self.ends,
    sampler = sampler.new(options, ids, self.net.config.vocab_size, self.device, generator),
    decode = self.tokenizer:stream { skip_special_tokens = true },
  }
end

local M = {}

--- Whether the prompt is a table of prompts.
function M.is_batch(prompt) return type(prompt) == 'table' and (type(prompt[1]) == 'string' or type(prompt[1]) == 'table') end

-- The parameters of a net, and how often each was written.
local function versions_of(net)
  local list = {}
  for _, parameter in ipairs(net:parameters()) do list[#list + 1], list[#list + 2] = parameter, parameter._version end
  return list
end

-- The cache of the last text; a new one after the net was changed, for example trained.
local function kept_cache(self)
  local versions, before = versions_of(self.net), self.versions or {}
  local same = self.cache and #versions == #before
  for i, value in ipairs(versions) do same = same and value == before[i] end
  if not same then self.cache, self.versions = cache.new(self.net.config.layers, self.cache_dtype), versions end
  return self.cache
end

local function texts_of(self, prompt, options)
  if not M.is_batch(prompt) then
    return { new_text(self, prompt, options, kept_cache(self), 1) }
  end
  local texts = {}
  for i, each in ipairs(prompt) do
    if type(each) ~= 'string' and type(each) ~= 'table' then fail('generate(): prompt %d is a %s, expected a text or a table of token ids', i, type(each)) end
    texts[i] = new_text(self, each, options, cache.new(self.net.config.layers, self.cache_dtype), i)
  end
  return texts
end

-- Adds a token to each of the texts. Returns those that do not end, and the pieces that are not
-- empty, a list of { piece, index }.
local function step(self, texts, stats)
  local start = C.clock()
  local logits = read(self, texts)
  local continued, pieces = {}, {}
  for i, text in ipairs(texts) do
    local piece = text:accept(logits[i])
    if piece ~= '' then pieces[#pieces + 1] = { piece, text.index } end
    if not text.finish then continued[#continued + 1] = text
    elseif type(stats.finish) == 'table' then stats.finish[text.index] = text.finish
    else stats.finish = text.finish end
  end
  local took = C.clock() - start
  if stats.tokens == 0 then stats.prompt_seconds = took else stats.seconds = stats.seconds + took end
  stats.tokens = stats.tokens + #texts
  return continued, pieces
end

--- Sets the tokens per call, for tests.
function M.set_part(n) part = n end

--- As generate of torch.lm. Returns the iterator and the statistics.
function M.generate(self, prompt, options)
  check_options(self, options)
  local texts = texts_of(self, prompt, options)
  local stats = { prompt_tokens = 0, tokens = 0, prompt_seconds = 0, seconds = 0, finish = M.is_batch(prompt) and {} or nil }
  for _, text in ipairs(texts) do stats.prompt_tokens = stats.prompt_tokens + #text.ids end
  local pieces, at = {}, 0
  return function()
    while at == #pieces do
      if #texts == 0 then return nil end
      at = 0
      texts, pieces = step(self, texts, stats)
    end
    at = at + 1
    return table.unpack(pieces[at])
  end, stats
end

return M
