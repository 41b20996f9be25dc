-- sampler.lua - the choice of the next token from a language model's logits.

local torch = require 'torch'

local M = {}

-- Logits of tokens that occurred are divided by the penalty if positive, else multiplied by it
-- (Keskar et al., CTRL, 2019, section 4.1).
local function penalize(logits, history, penalty)
  local seen, list = {}, {}
  for _, id in ipairs(history) do
    if not seen[id] then seen[id], list[#list + 1] = true, id + 1 end
  end
  if #list == 0 then return logits end
  local at = torch.tensor(list, { device = logits.device })
  local values = logits[at]
  return logits:index_copy(1, at, torch.where(values:gt(0), values / penalty, values * penalty))
end

--- The id, from 0, of the next token. logits: [vocab_size]; history: the ids so far; options: as of
-- generate (torch.lm).
function M.choose(logits, history, options)
  logits = logits:float()
  if options.repetition_penalty ~= 1 then logits = penalize(logits, history, options.repetition_penalty) end
  if options.allowed then logits = logits:masked_fill(options.allowed(history):logical_not(), -math.huge) end
  if options.temperature == 0 then return logits:argmax():item() - 1 end
  local n = logits:size(1)
  local values, ids = logits:topk(options.top_k > 0 and math.min(options.top_k, n) or n)
  local probabilities = torch.softmax(values / options.temperature, 1)
  if options.top_p < 1 then
    local before = probabilities:cumsum(1) - probabilities
    probabilities = probabilities:masked_fill(before:ge(options.top_p), 0)
  end
  if options.min_p > 0 then
    probabilities = probabilities:masked_fill(probabilities:lt(options.min_p * probabilities[1]:item()), 0)
  end
  local at = probabilities:multinomial(1, { generator = options.generator })
  return ids[at]:item() - 1
end

return M
