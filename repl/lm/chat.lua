-- chat.lua - a dialogue with a language model, for `ltensor chat` and `%chat`. May use repl.interrupt.

local chat = {}

local Dialogue = {}
Dialogue.__index = Dialogue

--- A dialogue. options: arguments of the model's generate(); system: an instruction, or nil.
function chat.new(model, options, system)
  return setmetatable({model = model, options = options, messages = {system and {role = 'system', content = system}}}, Dialogue)
end

-- The ids of the messages. If they fill three quarters of the model's context, forgets the oldest
-- message of the user and its answer.
local function prompt_of(self)
  local messages = self.messages
  local first = messages[1].role == 'system' and 2 or 1
  while true do
    local ids = self.model:apply_chat_template(messages, {add_generation_prompt = true})
    if #ids <= self.model.context * 3 // 4 or #messages - first < 2 then return ids end
    table.remove(messages, first)
    table.remove(messages, first)
  end
end

--- An iterator over the pieces of the answer to a message. The answer, also an unfinished one, belongs
--- to the dialogue when the next message is given.
function Dialogue:answer(message)
  table.insert(self.messages, {role = 'user', content = message})
  local ok, next_piece = pcall(function() return self.model:generate(prompt_of(self), self.options) end)
  if not ok then
    table.remove(self.messages)
    error(next_piece, 0)
  end
  local answer = {role = 'assistant', content = ''}
  table.insert(self.messages, answer)
  return function()
    local piece = next_piece()
    answer.content = answer.content .. (piece or '')
    return piece
  end
end

--- Reads messages by read(), which returns nil at the end, and writes the answers by write(pieces),
--- which returns false after a failed write. Ctrl-C ends an answer. Returns whether no write failed.
function chat.run(dialogue, read, write)
  local interrupt = require 'repl.interrupt'
  for message in read do
    if message:find '%S' then
      local ok, interrupted, result = interrupt.call(write, function(problem) return problem end, dialogue:answer(message))
      if interrupted then io.stdout:write '\n'
      elseif not ok then error(result, 0)
      elseif result == false then return false end
    end
  end
  return true
end

return chat
