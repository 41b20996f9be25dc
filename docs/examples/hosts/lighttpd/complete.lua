local torch = require 'torch'

-- Globals of this script are lost after each request; loaded modules are not.
local model = package.loaded.my_model or torch.lm.load '/srv/ltensor/SmolLM2-135M-Instruct.Q4_1.gguf'
package.loaded.my_model = model

local function decode(hex) return string.char(tonumber(hex, 16)) end
local prompt = (lighty.env['uri.query'] or ''):gsub('+', ' '):gsub('%%(%x%x)', decode)
local ok, text = pcall(model.complete, model, prompt, {max_tokens = 100})

lighty.content = {text}
lighty.header['Content-Type'] = 'text/plain; charset=utf-8'
return ok and 200 or 400
