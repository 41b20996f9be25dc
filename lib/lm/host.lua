-- host.lua - language models for hosts in C (ltensor_lm.h): src/lua/model/lm.c calls these functions.

local torch = require 'torch'

local M = {}

--- The state of a model. options: as of torch.lm.load.
function M.open(path, options) return torch.lm.load(path, options) end

--- The iterator over pieces. options: as of generate.
function M.generate(model, prompt, options) return model:generate(prompt, options) end

--- The numbers of the last text: prompt_tokens, tokens, prompt_seconds, seconds, finish.
function M.stats(model)
  local stats = model.stats
  return stats.prompt_tokens, stats.tokens, stats.prompt_seconds, stats.seconds, stats.finish
end

--- The embeddings of a list of texts. options: as of embed.
function M.embed(model, texts, options) return model:embed(texts, options) end

function M.tokenize(model, text) return torch.tensor(model.tokenizer:encode(text), { dtype = torch.int64 }) end

function M.detokenize(model, ids) return model.tokenizer:decode(ids, { skip_special_tokens = true }) end

return M
