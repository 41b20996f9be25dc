-- template.lua - torch.lm.template(text): templates of dialogues, in the part of the language Jinja
-- that models use.
--
--   local template = torch.lm.template '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}'
--   print(template:render { messages = { { role = 'user', content = 'Hello' } } })
--
-- The settings and functions are those of Hugging Face's transformers (apply_chat_template).

--[=[ arguments
text: Template.
variables: Table of values by name: texts, numbers, booleans, and tables of them.
]=]

local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local parse = require 'torch.lm.template.parser'
local run = require 'torch.lm.template.interpreter'

local MAX_TEMPLATE = 1 << 20 -- bytes

local Template = class.Object:extend 'Template'

function Template:init(text)
  if #text > MAX_TEMPLATE then fail('template: %d bytes, at most %d are possible', #text, MAX_TEMPLATE) end
  self._tree = parse((require('torch')._C.repair_utf8(text)))
end

--- The text for variables. Tables with keys from 1 are lists, others are dicts, whose keys have the
-- order of their __pairs, or else the usual order of messages and tools, then that of the alphabet.
function Template:render(variables) return run(self._tree, variables) end

function Template:__tostring() return 'Template()' end

declare.methods(Template, [[
  init(self, string text)
  render(self, table variables)
]])

return Template
