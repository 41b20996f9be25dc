-- cache.lua - keys and values of the tokens that a language model has read: a tensor of each per layer,
-- [heads, capacity, width], in a dtype of choice. A batch joins the caches of several texts.
--
-- A model calls a layer's attend() and, when all layers have the new tokens, advance(). Tokens of a
-- call that failed before are overwritten by the next one.

local torch = require 'torch'
local attend = require 'torch.lm.attention'

-- ---- storage ------------------------------------------------------------------------------------

-- int8 elements: rows of numbers of one head are multiples of their largest magnitude / 127.
local function quantized(x)
  local scale = x:float():abs():amax(-1, true):clamp_min(1e-20) / 127
  return (x / scale):round():to(torch.int8), scale
end

local Layer = {}
Layer.__index = Layer

local function enlarge(self, name, like, dtype, width)
  local past, old = self.cache.length, self[name]
  local new = torch.empty(like:size(1), self.cache.capacity, width, { dtype = dtype, device = like.device })
  if old then new:narrow(2, 1, past):copy_(old:narrow(2, 1, past)) end
  self[name] = new
end

-- Stores rows [heads, n, width] under a name. Returns those of all tokens.
local function append(self, name, rows)
  local cache = self.cache
  local past, n, dtype = cache.length, rows:size(2), cache.dtype or rows.dtype
  local held, scales = self[name], name .. '_scale'
  if not held or past + n > held:size(2) then
    if past + n > cache.capacity then cache.capacity = math.max(64, 2 * past, past + n) end
    enlarge(self, name, rows, dtype, rows:size(3))
    if dtype == torch.int8 then enlarge(self, scales, rows, torch.float32, 1) end
  end
  if dtype ~= torch.int8 then
    self[name]:narrow(2, past + 1, n):copy_(rows)
    return self[name]:narrow(2, 1, past + n)
  end
  local values, scale = quantized(rows)
  self[name]:narrow(2, past + 1, n):copy_(values)
  self[scales]:narrow(2, past + 1, n):copy_(scale)
  return self[name]:narrow(2, 1, past + n) * self[scales]:narrow(2, 1, past + n)
end

--- Adds keys and values [heads, n, width] of n tokens. Returns the attention of their queries. how: as
--- in attention.lua.
function Layer:attend(q, k, v, how)
  local keys, values = append(self, 'k', k), append(self, 'v', v)
  return attend(q:to(keys.dtype), keys, values, self.cache.length, how):to(q.dtype)
end

-- ---- the cache of a text ------------------------------------------------------------------------

local Cache = {}
Cache.__index = Cache

--- The positions, from 0, of the next n tokens (float64).
function Cache:positions(n) return torch.arange(self.length, self.length + n, { dtype = torch.float64 }) end

--- Counts n tokens that all layers have.
function Cache:advance(n) self.length = self.length + n end

--- The row of x [n, ...] after which a token is chosen: the last one.
function Cache:last(x) return x:narrow(1, x:size(1), 1) end

--- Prepares memory for a number of tokens.
function Cache:reserve(tokens) self.capacity = math.max(self.capacity, tokens) end

--- Forgets all tokens but the first n.
function Cache:truncate(n) self.length = n end

-- ---- the caches of several texts ----------------------------------------------------------------

local BatchLayer = {}
BatchLayer.__index = BatchLayer

function BatchLayer:attend(q, k, v, how)
  local results, from = {}, 1
  for i, cache in ipairs(self.batch.caches) do
    local n = self.batch.counts[i]
    results[i] = cache.layers[self.index]:attend(q:narrow(2, from, n), k:narrow(2, from, n), v:narrow(2, from, n), how)
    from = from + n
  end
  return torch.cat(results, 2)
end

local Batch = {}
Batch.__index = Batch

function Batch:positions()
  local parts = {}
  for i, cache in ipairs(self.caches) do parts[i] = cache:positions(self.counts[i]) end
  return torch.cat(parts)
end

function Batch:advance()
  for i, cache in ipairs(self.caches) do cache:advance(self.counts[i]) end
end

function Batch:last(x)
  local rows, at = {}, 0
  for i, n in ipairs(self.counts) do
    at = at + n
    rows[i] = at
  end
  return x:index_select(1, torch.tensor(rows, { device = x.device }))
end

-- ---- constructors -------------------------------------------------------------------------------

local M = {}

--- An empty cache for a number of layers. dtype: of its elements; nil: that of the keys.
function M.new(layers, dtype)
  local cache = setmetatable({ layers = {}, length = 0, capacity = 0, dtype = dtype }, Cache)
  for i = 1, layers do cache.layers[i] = setmetatable({ cache = cache }, Layer) end
  return cache
end

--- A cache for one call of a model with tokens of several texts: the first counts[1] of them belong
--- to the text of caches[1], and so on.
function M.batch(caches, counts)
  local batch = setmetatable({ layers = {}, caches = caches, counts = counts }, Batch)
  for i = 1, #caches[1].layers do batch.layers[i] = setmetatable({ batch = batch, index = i }, BatchLayer) end
  return batch
end

return M
