-- cache.lua - keys and values of the tokens that a language model has seen: a tensor of each per
-- layer, [heads, capacity, width], which is doubled when it is full.

local torch = require 'torch'

local Layer = {}
Layer.__index = Layer

-- Appends keys and values [heads, n, width]. Returns those of all tokens, and the number of earlier
-- tokens.
function Layer:append(k, v)
  local past, n = self.length, k:size(2)
  if not self.k or past + n > self.k:size(2) then
    local capacity = math.max(64, 2 * past, past + n)
    local function grown(old, like)
      local new = torch.empty(like:size(1), capacity, like:size(3), { dtype = like.dtype, device = like.device })
      if old then new:narrow(2, 1, past):copy_(old:narrow(2, 1, past)) end
      return new
    end
    self.k, self.v = grown(self.k, k), grown(self.v, v)
  end
  self.k:narrow(2, past + 1, n):copy_(k)
  self.v:narrow(2, past + 1, n):copy_(v)
  self.length = past + n
  return self.k:narrow(2, 1, past + n), self.v:narrow(2, 1, past + n), past
end

local M = {}

--- An empty cache for a number of layers.
function M.new(layers)
  local cache = { layers = {}, length = 0 }
  for i = 1, layers do cache.layers[i] = setmetatable({ length = 0 }, Layer) end
  return cache
end

--- Forgets all tokens but the first n.
function M.truncate(cache, n)
  cache.length = n
  for _, layer in ipairs(cache.layers) do layer.length = n end
end

return M
