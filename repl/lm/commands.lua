-- commands.lua - the program's commands for language models: `ltensor chat MODEL`, `ltensor embed
-- MODEL`, `ltensor generate MODEL`. main(name, arguments) runs one. May use the other modules of repl/lm; torch.lm through require.

local options = require 'repl.lm.options'
local torch = require 'torch'
local system = require 'repl.system'

local commands = {}

local loading = {
  {'--threads', 'N', 'threads of an operation (all processors)', 'integer'},
  {'--device', 'NAME', 'device of the weights, such as cuda (cpu)'},
  {'--dtype', 'NAME', 'dtype of the weights, such as bfloat16 (that of the file)'},
  {'--context', 'N', 'maximum number of tokens, with the prompt (that of the model)', 'integer'},
  {'--cache-dtype', 'NAME', 'dtype of the stored keys and values: float32, float16, bfloat16 or int8'},
}

local sampling = {
  {'--max-tokens', 'N', 'maximum number of new tokens (256)', 'integer'},
  {'--temperature', 'T', 'divisor of the logits; 0, the default, chooses the most likely token', 'number'},
  {'--top-k', 'N', 'number of tokens that are considered (all)', 'integer'},
  {'--top-p', 'P', 'sum of the probabilities of the tokens that are considered (1)', 'number'},
  {'--min-p', 'P', 'least probability, relative to that of the most likely token (0)', 'number'},
  {'--repetition-penalty', 'X', 'divisor of the logits of tokens that occurred (1)', 'number'},
  {'--frequency-penalty', 'X', 'subtracted for each time that a token was generated (0)', 'number'},
  {'--presence-penalty', 'X', 'subtracted if a token was generated (0)', 'number'},
  {'--seed', 'N', 'seed of the random numbers', 'integer'},
  {'--stop', 'TEXT', 'text that ends the output; may be repeated', 'texts'},
  {'--context-shift', 'N', 'keep the first N tokens and forget older ones when the context is full', 'integer'},
}

local help = {{'--help', nil, 'print this text'}}

local function joined(...)
  local list = {}
  for _, part in ipairs {...} do table.move(part, 1, #part, #list + 1, list) end
  return list
end

-- ---- parts of commands --------------------------------------------------------------------------

local function dtype_of(name, value)
  if value == nil then return nil end
  local dtype = torch[value]
  if torch.type(dtype) ~= 'dtype' then error(("'%s': '%s' is not the name of a dtype"):format(name, value), 0) end
  return dtype
end

-- The model of a file, by the values of options.
local function load(path, values)
  if values.threads then torch.set_num_threads(values.threads) end
  return torch.lm.load(path, {device = values.device, dtype = dtype_of('--dtype', values.dtype), context = values.context,
    cache_dtype = dtype_of('--cache-dtype', values.cache_dtype)})
end

-- The arguments of generate() among the values of options.
local function sampling_of(values)
  local result = {}
  for _, option in ipairs(sampling) do
    local key = option[1]:sub(3):gsub('-', '_')
    result[key] = values[key]
  end
  return result
end

-- Writes the pieces of an iterator as they come. Returns false if a write fails.
local function write_pieces(pieces)
  for piece in pieces do
    if not (io.stdout:write(piece) and io.stdout:flush()) then return false end
  end
  return io.stdout:write '\n' ~= nil and io.stdout:flush() ~= nil
end

-- Writes the line of --stats to stderr.
local function write_stats(stats)
  local function rate(n, seconds) return seconds > 0 and n / seconds or 0 end
  io.stderr:write(('prompt %d tokens %.1f tok/s, decode %d tokens %.1f tok/s\n'):format(stats.prompt_tokens,
    rate(stats.prompt_tokens, stats.prompt_seconds), stats.tokens, rate(stats.tokens - 1, stats.seconds)))
end

-- ---- the commands -------------------------------------------------------------------------------

-- {usage, description, options, function(model, values)}; the function returns false after a failed
-- write.
local list = {}

list.generate = {'ltensor generate MODEL [options]', [[
Continues a text by the language model of a GGUF file. The text follows --prompt, or it is read from
stdin, without the newline at its end.]],
joined({
  {'--prompt', 'TEXT', 'the text to continue'},
  {'--chat', nil, "the text is a message: apply the model's chat template"},
}, sampling, loading, {
  {'--stats', nil, 'write the numbers of tokens and tokens per second to stderr'},
}, help),
function(model, values)
  local prompt = values.prompt or io.read('a'):gsub('\n$', '')
  if values.chat then prompt = model:apply_chat_template({{role = 'user', content = prompt}}, {add_generation_prompt = true}) end
  local ok = write_pieces(model:generate(prompt, sampling_of(values)))
  if values.stats then write_stats(model.stats) end
  return ok
end}

list.chat = {'ltensor chat MODEL [options]', [[
Answers messages by the language model of a file or folder, a line each, until the end of stdin. Ctrl-C
ends an answer.]],
joined({
  {'--system', 'TEXT', 'an instruction for the whole dialogue'},
}, sampling, loading, help),
function(model, values)
  local chat, interrupt = require 'repl.lm.chat', require 'repl.interrupt'
  local prompts = system.isatty(0) and system.isatty(1)
  local function read()
    if prompts then
      io.stdout:write '> '
      io.stdout:flush()
    end
    return io.read 'l'
  end
  interrupt.install()
  local ok, result = pcall(chat.run, chat.new(model, sampling_of(values), values.system), read, write_pieces)
  interrupt.restore()
  if not ok then error(result, 0) end
  return result
end}

-- Numbers of a list as JSON.
local function json_of(numbers)
  local parts = {}
  for i, number in ipairs(numbers) do parts[i] = ('%.7g'):format(number) end
  return '[' .. table.concat(parts, ', ') .. ']\n'
end

list.embed = {'ltensor embed MODEL [options]', [[
Writes the embeddings of texts by an encoder such as all-MiniLM-L6-v2: a line of JSON, a list of
numbers, for each --text, or else for each line of stdin.]],
joined({
  {'--text', 'TEXT', 'a text; may be repeated', 'texts'},
  {'--npy', 'FILE.npy', 'write the embeddings to a file of NumPy instead, a row for each text'},
}, loading, help),
function(model, values)
  local texts = values.text
  if not texts then
    texts = {}
    for line in io.lines() do texts[#texts + 1] = line end
  end
  if values.npy and not values.npy:find '%.npy$' then error(("'--npy': the name '%s' does not end in .npy"):format(values.npy), 0) end
  local rows = model:embed(texts)
  if values.npy then
    torch.save(rows, values.npy)
    return true
  end
  for _, row in ipairs(rows:tolist()) do
    if not io.stdout:write(json_of(row)) then return false end
  end
  return true
end}

-- Reads the arguments of a command: the values of options and the model; no model: --help was given.
local function read(command, arguments)
  local values, others = options.read(command[3], arguments)
  if values.help then return values end
  if #others == 0 then error('MODEL is missing', 0) end
  if others[2] then error(("'%s': not expected after MODEL"):format(others[2]), 0) end
  return values, others[1]
end

local function fail(name, message, hint)
  io.stdout:flush()
  io.stderr:write('ltensor ', name, ': ', tostring(message), hint or '', '\n')
  return false
end

--- Runs a command with its arguments. Returns whether it succeeded; writes errors to stderr.
function commands.main(name, arguments)
  local command = list[name]
  local ok, values, path = pcall(read, command, arguments)
  if not ok then return fail(name, values, ('; ltensor %s --help lists the options'):format(name)) end
  if not path then
    return io.stdout:write('usage: ', command[1], '\n', command[2], '\n', options.describe(command[3])) ~= nil
  end
  local result
  ok, result = pcall(function() return command[4](load(path, values), values) end)
  if not ok then return fail(name, result) end
  return result
end

return commands
