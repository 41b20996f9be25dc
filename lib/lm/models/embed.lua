-- embed.lua - embeddings of texts: vectors whose products measure how close their meanings are
-- (Reimers and Gurevych, Sentence-BERT, 2019).

local torch = require 'torch'
local fail = require 'torch.support.fail'

-- Each turns vectors [texts, n, dim] and the numbers of tokens [texts, 1] into [texts, dim]; those of
-- padding are 0.
local poolings = {}

function poolings.mean(x, counts) return x:sum(2) / counts end
function poolings.mean_sqrt_len(x, counts) return x:sum(2) / counts:sqrt() end
function poolings.cls(x) return x:select(2, 1) end
function poolings.last(x, counts)
  return x:gather(2, counts:long():unsqueeze(2):expand(-1, 1, x:size(3))):squeeze(2)
end
function poolings.max(x, counts)
  local padding = torch.arange(1, x:size(2) + 1, { device = x.device }):unsqueeze(1):gt(counts)
  return x:masked_fill(padding:unsqueeze(3), -math.huge):amax(2)
end

-- The vectors of lists of ids.
local function vectors(model, lists)
  local longest, shortest = 0, math.huge
  for _, ids in ipairs(lists) do longest, shortest = math.max(longest, #ids), math.min(shortest, #ids) end
  local rows, counts = {}, {}
  for i, ids in ipairs(lists) do
    counts[i] = { #ids }
    rows[i] = table.move(ids, 1, #ids, 1, {})
    for k = #ids + 1, longest do rows[i][k] = 0 end
  end
  counts = torch.tensor(counts, { dtype = torch.float32, device = model.device })
  local mask = shortest < longest and torch.arange(1, longest + 1, { device = model.device }):unsqueeze(1):le(counts) or nil
  local x = model.net(torch.tensor(rows, { device = model.device }), mask):float()
  if mask then x = x:masked_fill(mask:logical_not():unsqueeze(3), 0) end
  return poolings[model.embedding.pooling](x, counts)
end

--- The embeddings of a list of texts, float32 [texts, dim]. model: with net, tokenizer, device and
--- embedding (models/open.lua). Texts of similar lengths are computed together.
return function(model, texts, options)
  if options.batch_size < 1 then fail('embed(): batch_size is %d, expected 1 or more', options.batch_size) end
  local lists, order = {}, {}
  for i, text in ipairs(texts) do
    if type(text) ~= 'string' then fail('embed(): text %d is a %s, expected a string', i, type(text)) end
    if model.embedding.lower then text = text:lower() end
    lists[i] = model.tokenizer:encode(text, { max_length = model.embedding.max_tokens })
    if #lists[i] == 0 then fail('embed(): text %d has no tokens', i) end
    order[i] = i
  end
  if #lists == 0 then return torch.empty(0, model.net.config.dim) end
  table.sort(order, function(a, b)
    if #lists[a] ~= #lists[b] then return #lists[a] > #lists[b] end
    return a < b
  end)
  local _ <close> = torch.no_grad()
  local parts = {}
  for from = 1, #order, options.batch_size do
    local batch = {}
    for i = from, math.min(from + options.batch_size - 1, #order) do batch[#batch + 1] = lists[order[i]] end
    parts[#parts + 1] = vectors(model, batch)
  end
  local sorted = torch.cat(parts)
  local result = torch.empty_like(sorted):index_copy_(1, torch.tensor(order, { device = sorted.device }), sorted)
  return options.normalize and torch.nn.functional.normalize(result, { p = 2, dim = 2 }) or result
end
