-- lm.lua - torch.lm, language models: load, gguf, lora, template, tokenizer; each part is loaded on
-- first use.

local where = { load = true, gguf = true, lora = true, template = true, tokenizer = true }

local lm = { __names = where }

return setmetatable(lm, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.lm.' .. name)
    rawset(lm, name, value)
    return value
  end,
})
