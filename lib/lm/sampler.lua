-- sampler.lua - the choice of the next token of a text from a language model's logits.

local torch = require 'torch'
local fail = require 'torch.support.fail'

local Sampler = {}
Sampler.__index = Sampler

-- Penalties: logits of tokens in the text are divided by the repetition penalty if positive, else
-- multiplied by it (Keskar et al., CTRL, 2019, section 4.1). Each new token lowers its logit by the
-- frequency penalty for each time that it occurred, and by the presence penalty once.
local function penalize(self, logits)
  local options = self.options
  if self.occurs then
    local penalty = options.repetition_penalty
    logits = torch.where(self.occurs, torch.where(logits:gt(0), logits / penalty, logits * penalty), logits)
  end
  if self.counts then
    logits = logits - self.counts * options.frequency_penalty - self.counts:gt(0) * options.presence_penalty
  end
  return logits
end

-- Excludes the tokens that the caller's function excludes.
local function restrict(self, logits, ids)
  local mask = self.options.allowed(ids)
  local n = logits:size(1)
  if not torch.is_tensor(mask) or mask.dtype ~= torch.bool or mask:dim() ~= 1 or mask:size(1) ~= n then
    local got = torch.is_tensor(mask) and ('a tensor of %s [%s]'):format(tostring(mask.dtype), table.concat({ table.unpack(mask.shape) }, ', ')) or torch.type(mask)
    fail("generate(): the function 'allowed' must return a bool tensor [%d], got %s", n, got)
  end
  if not mask:any():item() then fail "generate(): the function 'allowed' excludes all tokens; allow the token that ends texts when no other can follow" end
  return logits:masked_fill(mask:to(logits.device):logical_not(), -math.huge)
end

-- Draws a position of the logits.
local function draw(self, logits)
  local options, n = self.options, logits:size(1)
  local positions
  if options.top_k > 0 or options.top_p < 1 then
    logits, positions = logits:topk(options.top_k > 0 and math.min(options.top_k, n) or n)
  end
  local probabilities = torch.softmax(logits / options.temperature, 1)
  if options.top_p < 1 then
    local before = probabilities:cumsum(1) - probabilities
    probabilities = probabilities:masked_fill(before:ge(options.top_p), 0)
  end
  if options.min_p > 0 then
    probabilities = probabilities:masked_fill(probabilities:lt(options.min_p * probabilities:max()), 0)
  end
  local at = probabilities:multinomial(1, { generator = self.generator })
  return positions and positions[at] or at
end

--- The id, from 0, of the next token. logits: [vocab_size]; ids: those of the text so far.
function Sampler:choose(logits, ids)
  logits = penalize(self, logits:float())
  if self.options.allowed then logits = restrict(self, logits, ids) end
  local position = (self.options.temperature == 0 and logits:argmax() or draw(self, logits)):item()
  if self.occurs then self.occurs[position] = true end
  if self.counts then self.counts:narrow(1, position, 1):add_(1) end
  return position - 1
end

local M = {}

--- A sampler for one text. options: as of generate (torch.lm); prompt: its ids; generator: of
--- random numbers.
function M.new(options, prompt, vocab_size, device, generator)
  local sampler = setmetatable({ options = options, generator = generator }, Sampler)
  if options.repetition_penalty ~= 1 then
    sampler.occurs = torch.zeros(vocab_size, { dtype = torch.bool, device = device })
    sampler.occurs:index_fill_(1, torch.tensor(prompt, { dtype = torch.int64, device = device }) + 1, true)
  end
  if options.frequency_penalty ~= 0 or options.presence_penalty ~= 0 then sampler.counts = torch.zeros(vocab_size, { device = device }) end
  return sampler
end

return M
