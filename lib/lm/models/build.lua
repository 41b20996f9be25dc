-- build.lua - completes a configuration of a decoder-only model (llama.lua) from its sizes and its
-- family, and checks sizes, which come from untrusted files.

local families = require 'torch.lm.models.families'

local M = {}

local MAX_SIZE = 1 << 24 -- of a dimension, far above that of any model

--- The facts about a family. source: file with the method _fail.
function M.family(source, name)
  if families[name] then return families[name] end
  local names = {}
  for known in pairs(families) do names[#names + 1] = known end
  table.sort(names)
  source:_fail("a model of the family '%s'; ltensor runs %s", tostring(name), table.concat(names, ', '))
end

--- The number in a field: an integer above 0 that a size may have, or with `real` any number above 0.
function M.number(source, name, value, real)
  local valid = type(value) == 'number' and value > 0 and value < math.huge
  if valid and not real then valid = math.type(value) == 'integer' and value <= MAX_SIZE end
  if not valid then source:_fail('%s is %s, expected %s above 0', name, tostring(value), real and 'a number' or 'an integer') end
  return value
end

-- By layer: the window, or false.
local function windows(config, window, pattern)
  local list = {}
  for i = 1, config.layers do list[i] = window and pattern and (pattern == 1 or i % pattern ~= 0) and window or false end
  return list
end

--- Adds the rest to a table with sizes and ropes. options: window; window_of: by layer, whether it
--- has the window, if the file has that; tensors: number of tensors of the file.
function M.complete(source, config, traits, options)
  if config.heads % config.kv_heads ~= 0 then source:_fail('%d heads of queries, no multiple of %d heads of keys', config.heads, config.kv_heads) end
  if config.layers > options.tensors then source:_fail('%d layers, more than the file has tensors', config.layers) end
  for _, rope in ipairs(config.ropes) do
    if rope.dim % 2 ~= 0 or rope.dim > config.head_dim then
      source:_fail('a rotary embedding of %d elements, expected an even number up to %d', rope.dim, config.head_dim)
    end
  end
  config.norm, config.activation, config.gated = traits.norm or 'rms', config.activation or traits.activation or 'silu', not traits.plain
  config.parallel, config.qk_norm, config.post_norms = traits.parallel, traits.qk_norm, traits.post_norms
  config.embedding_scale = traits.scaled and math.sqrt(config.dim) or nil
  config.windows = windows(config, options.window, traits.pattern)
  if options.window_of then
    for i = 1, config.layers do config.windows[i] = options.window_of[i] and options.window or false end
  end
  config.rope_of = {}
  for i = 1, config.layers do config.rope_of[i] = config.windows[i] and #config.ropes or 1 end
  return config
end

return M
