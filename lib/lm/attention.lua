-- attention.lua - causal attention of the last tokens of a text to all its tokens.

local torch = require 'torch'
local attention = torch.nn.functional.scaled_dot_product_attention

-- The keys that each of n tokens after `past` earlier ones reads, [n, past + n]: up to its own, the
-- last `window` of them.
local function visible(n, past, window, device)
  local all = torch.ones(n, past + n, { dtype = torch.bool, device = device })
  local mask = all:tril(past)
  return window and mask & all:triu(past - window + 1) or mask
end

-- Attention with scores that are bounded smoothly to (-cap, cap) (Gemma 2).
local function capped(q, k, v, scale, cap, mask)
  local group = q:size(-3) // k:size(-3)
  local scores = torch.matmul(q, k:repeat_interleave(group, -3):transpose(-1, -2)):float() * (scale / cap)
  local weights = (scores:tanh() * cap):masked_fill(mask:logical_not(), -math.huge):softmax(-1)
  return torch.matmul(weights:to(v.dtype), v:repeat_interleave(group, -3))
end

--- The result [..., heads, n, width] for the queries q [..., heads, n, width] of the tokens past + 1
--- to past + n and the keys and values of all past + n tokens, [..., kv_heads, past + n, width]. how:
--- nil, or a table: window, the number of last tokens that are read; scale, the factor of scores;
--- cap, their bound.
return function(q, k, v, past, how)
  local n, window = q:size(-2), how and how.window
  if window and n == 1 and past >= window then
    k, v = k:narrow(-2, past + 2 - window, window), v:narrow(-2, past + 2 - window, window)
    past = window - 1
  end
  if how and how.cap then
    return capped(q, k, v, how.scale or q:size(-1) ^ -0.5, how.cap, visible(n, past, window, q.device))
  end
  local causal = past == 0 and not (window and n > window)
  local options = { enable_gqa = q:size(-3) ~= k:size(-3), scale = how and how.scale, is_causal = n > 1 and causal }
  if n > 1 and not causal then options.attn_mask = visible(n, past, window, q.device) end
  if q:dim() > 3 then return attention(q, k, v, options) end
  return attention(q:unsqueeze(1), k:unsqueeze(1), v:unsqueeze(1), options):squeeze(1)
end
