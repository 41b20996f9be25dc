-- chat.lua - prompts of dialogues by a model's template.

local fail = require 'torch.support.fail'
local Template = require 'torch.lm.template'

--- The prompt of a dialogue: token ids, or with options.tokenize = false a text. model: with tokenizer,
--- chat_template (text) and special_tokens (models/open.lua). The template of the last call is kept.
return function(model, messages, options)
  local text = options.chat_template or model.chat_template
  if not text then fail "apply_chat_template(): the model's files have no template of dialogues; pass chat_template = '...'" end
  if not model._template or model._template.text ~= text then model._template = { text = text, compiled = Template(text) } end
  local variables = { messages = messages, tools = options.tools, add_generation_prompt = options.add_generation_prompt }
  for name, token in pairs(model.special_tokens) do variables[name] = token end
  for name, value in pairs(options.variables or {}) do variables[name] = value end
  local prompt = model._template.compiled:render(variables)
  if not options.tokenize then return prompt end
  return model.tokenizer:encode(prompt, { add_special_tokens = false })
end
