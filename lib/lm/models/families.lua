-- families.lua - facts about the families of decoder-only models that are not in their files.
--
-- - activation, gated, norm, parallel, qk_norm, post_norms: as in a configuration (llama.lua).
-- - scaled: embeddings are multiplied by the square root of the dimension.
-- - learned: positions are learned.
-- - pattern: every pattern-th layer reads all tokens, the others a window; 1: all layers read a window.

local gelu = 'gelu_tanh'

return {
  llama = {}, mistral = { pattern = 1 }, qwen2 = {}, qwen3 = { qk_norm = true },
  gemma = { activation = gelu, scaled = true },
  gemma2 = { activation = gelu, scaled = true, post_norms = true, pattern = 2 },
  gemma3 = { activation = gelu, scaled = true, post_norms = true, qk_norm = true, pattern = 6 },
  phi3 = { pattern = 1 },
  phi = { activation = gelu, plain = true, norm = 'layer', parallel = true },
  gpt2 = { activation = gelu, plain = true, norm = 'layer', learned = true },
}
