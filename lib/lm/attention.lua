-- attention.lua - causal attention of the last tokens of a text to all its tokens.

local torch = require 'torch'
local attention = torch.nn.functional.scaled_dot_product_attention

--- The result [heads, n, width] for the queries q [heads, n, width] of the tokens past + 1 to past + n
--- and the keys and values of all past + n tokens, [kv_heads, past + n, width].
return function(q, k, v, past)
  local n = q:size(2)
  local options = { enable_gqa = q:size(1) ~= k:size(1), is_causal = n > 1 and past == 0 }
  if n > 1 and past > 0 then
    options.attn_mask = torch.ones(n, past + n, { dtype = torch.bool, device = q.device }):tril(past)
  end
  return attention(q:unsqueeze(1), k:unsqueeze(1), v:unsqueeze(1), options):squeeze(1)
end
