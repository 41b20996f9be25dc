-- Magics about language models. May use repl.lm; torch only through package.loaded.

local magics = {}

-- The value of a variable of the session that is a language model; nil: there is none.
local function model_of(session, name)
  local value = session.scope:get(name)
  if value == nil then value = session.environment[name] end
  local known, class = pcall(function() return value.apply_chat_template end)
  return known and class and value or nil
end

local function write(pieces)
  for piece in pieces do
    io.write(piece)
    io.flush()
  end
  io.write '\n'
end

magics.chat = {'%chat model [message]', 'a dialogue with a language model, a variable or a file: answers a message, or reads messages until Ctrl-D',
function(session, arguments)
  local chat = require 'repl.lm.chat'
  local name, message = arguments:match '^%s*(%S+)%s*(.-)%s*$'
  if not name then error('which model?', 0) end
  local kept = session.dialogue
  if not kept or kept.name ~= name or kept.variable ~= model_of(session, name) then
    local variable = model_of(session, name)
    kept = {name = name, variable = variable, dialogue = chat.new(variable or package.loaded.torch.lm.load(name), {max_tokens = 1024})}
    session.dialogue = kept
  end
  if message ~= '' then return write(kept.dialogue:answer(message)) end
  if not session.read_command then error('no line can be read here: %chat model message', 0) end
  chat.run(kept.dialogue, function() return session.read_command '> ' or nil end, write)
end, takes_name = true, varies = true}

return magics
