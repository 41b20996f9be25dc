-- text.lua - a text that a language model continues token by token: its ids, its part in the cache,
-- its sampler, and the characters that are not returned yet.

local fail = require 'torch.support.fail'

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

-- ---- tokens and pieces --------------------------------------------------------------------------

local Text = {}
Text.__index = Text

-- Without room for the next token, drops the older half of the tokens behind the first ones.
local function shift(self)
  local limit, first = self.context, self.options.context_shift
  if #self.window <= limit then return end
  if not first then
    fail('generate(): the context of %d tokens is full after %d new ones; end the loop earlier by max_tokens, pass a shorter prompt or context_shift = 0',
      limit, self.made)
  end
  local window, n = table.move(self.window, 1, first, 1, {}), (limit - first) // 2
  self.window = table.move(self.window, #self.window - n + 1, #self.window, first + 1, window)
end

--- The ids to read before the next token. Those that the cache holds are left out, but not the last
--- one, for its logits.
function Text:pending()
  shift(self)
  local window, cache = self.window, self.cache
  local same = math.min(cache.length, #window - 1)
  if cache.ids ~= window then
    local held, most = cache.ids or {}, same
    same = 0
    while same < most and held[same + 1] == window[same + 1] do same = same + 1 end
    cache.ids = window
  end
  cache:truncate(same)
  return table.move(window, same + 1, #window, 1, {})
end

--- Chooses the next token by its logits [vocab_size]. Returns the characters that are complete, which
--- may be none; sets finish after the last token: 'stop' or 'length'.
function Text:accept(logits)
  local id = self.sampler:choose(logits, self.ids)
  self.made = self.made + 1
  self.ids[#self.ids + 1] = id
  if self.window ~= self.ids then self.window[#self.window + 1] = id end
  local ends = self.ends[id]
  local kept = self.kept .. (ends and self.decode() or self.decode(id))
  local at = stop_in(kept, self.stops)
  if at or ends then self.finish = 'stop'
  elseif self.made >= self.options.max_tokens then
    kept = kept .. self.decode()
    at = stop_in(kept, self.stops)
    self.finish = at and 'stop' or 'length'
  end
  local n = at and at - 1 or #kept - (self.finish and 0 or undecided(kept, self.stops))
  self.kept = kept:sub(n + 1)
  return kept:sub(1, n)
end

local M = {}

--- A text. fields: ids, a list of its own; cache (cache.lua), context, options, sampler, decode (a
--- stream of the tokenizer), ends (the set of ids that end texts).
function M.new(fields)
  fields.window, fields.made, fields.kept = fields.ids, 0, ''
  local stops = fields.options.stop or {}
  fields.stops = type(stops) == 'string' and { stops } or stops
  return setmetatable(fields, Text)
end

return M
