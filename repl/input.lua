-- Splits the typed text into parts: Lua, `!command`, `%magic`, `?name`.
--
-- A cell is Lua, except for command lines at its start. They run in order, then the rest runs as
-- Lua with its line numbers. A magic with takes_code receives the complete rest. A `%` or `!`
-- further down is part of the Lua code. May use the interface of repl.session, repl.printed,
-- repl.magic.macro, repl.magic, repl.help and repl.reload.

local cell = require 'repl.cell'
local later = require 'repl.later'
local macro = require 'repl.magic.macro'
local printed, python = later 'repl.printed', later 'repl.python'

local input = {}

-- ---- !command ------------------------------------------------------------------------------

-- Replaces `{expression}` by its value; braces without an evaluable expression are left to the
-- shell.
local function fill_in(session, command)
  return (command:gsub('(%$?)(%b{})', function(dollar, braces)
    if dollar == '$' then return nil end
    local compiled = cell.compile(braces:sub(2, -2), '=(command)', session.scope)
    if not compiled or not compiled.has_value then return nil end
    local ok, _, value = session:protect(compiled.run)
    return ok and value ~= nil and tostring(value) or nil
  end))
end

local NOT_FOUND = 127 -- the shell's exit code for a command that it does not find
local lists_gpus = {['nvidia-smi'] = true, nvtop = true, nvitop = true, gpustat = true}

local function gpus_hint()
  local cuda_function = require('repl.session').cuda_function
  local count, simulated = cuda_function 'device_count', cuda_function 'is_simulated'
  if not count or count() == 0 then return 'no GPU is available here: %gpus lists GPUs, ltensor --sim-gpus 2 simulates two' end
  return ('%%gpus lists the GPUs of this program%s'):format(simulated and simulated() and ', which are simulated' or '')
end

local function shell(session, command)
  local code = session:shell(fill_in(session, command))
  if code ~= 0 then print(('exit code %d'):format(code)) end
  if code == NOT_FOUND and lists_gpus[command:match '^%s*([%w_-]+)'] then print(gpus_hint()) end
end

-- `name = !command`: assigns the lines that the command prints, as a list. `head`: the text before
-- the command.
local function assign(session, command, head)
  local lines = {}
  local compiled, message = cell.compile(head .. ' ...', '=(command)', session.scope)
  if not compiled then error(message, 0) end
  local pipe <close> = assert(io.popen(fill_in(session, command)))
  for line in pipe:lines() do lines[#lines + 1] = line end
  local _, how, code = pipe:close()
  compiled.run(lines)
  if how and code ~= 0 then print(('exit code %d'):format(code)) end
end

-- ---- command lines -------------------------------------------------------------------------

-- Parses a command line: {run, first, second} with kind 'shell', 'magic' or 'help', the name of the
-- magic, and the start of its code if it takes code. Nil for Lua.
local function command_of(line)
  local command = line:match '^%s*!(.*)$'
  if command then return {run = shell, first = command, kind = 'shell'} end
  local head, assigned = line:match '^(%s*[%a_][%w_. ]*=)%s*!(.*)$'
  if head then return {run = assign, first = assigned, second = head, kind = 'shell'} end
  local name, rest = line:match '^%s*%%%%?([%a_]+)%s*(.-)%s*$' -- two signs are one
  if name then
    local magic = require 'repl.magic'
    local asked = rest == '?' and name or (rest == '' and name:match '^(.-)%?$')
    if asked then return {run = magic.explain, first = asked, kind = 'help'} end
    return {run = magic.run, first = name, second = rest, kind = 'magic', name = name,
      code = magic.takes_code(name) and line:match '^%s*%%%%?[%a_]+%s*()' or nil}
  end
  local magic_name = line:match '^%s*%?%??%s*%%([%a_]+)%s*$'
  if magic_name then return {run = require('repl.magic').explain, first = magic_name, kind = 'help'} end
  local marks, topic = line:match '^%s*(%?%??)%s*([%w_.:*]*)%s*$'
  if not marks then
    topic, marks = line:match '^%s*([%a_*][%w_.:*]*)(%?%??)%s*$'
  end
  if marks and topic:find('*', 1, true) then
    return {run = require('repl.magic').run, first = 'psearch', second = topic, kind = 'help'}
  end
  if marks then return {run = require('repl.help').show, first = topic, second = #marks == 2, kind = 'help'} end
end

-- The commands at the cell's start, each with its text, and the Lua code after them (nil: none),
-- preceded by newlines that keep its line numbers.
function input.parts(source)
  local commands, line_ends, position = {}, 0, 1
  while position <= #source do
    local line, after = source:match('^([^\n]*)\n?()', position)
    local command = command_of(line)
    if command then
      command.text = line
      commands[#commands + 1] = command
      if command.code then
        command.padding = ('\n'):rep(line_ends)
        command.text = source:sub(position)
        command.second = source:sub(position + command.code - 1)
        return commands, nil
      end
    elseif line:find '%S' then
      break
    end
    line_ends = line_ends + 1
    position = after
  end
  local rest = source:sub(position)
  return commands, rest:find '%S' and ('\n'):rep(line_ends) .. rest or nil
end

-- Whether the text, which may begin with command lines, is incomplete: `%time for` and `%time`
-- alone are.
function input.is_unfinished(session, text)
  local commands, code = input.parts(text)
  local last = commands[#commands]
  if last and last.code and require('repl.magic').is_raw(last.name) then
    return not text:find '\n%s*$'
  end
  if last and last.code then
    code = last.second
    if not code:find '%S' then
      return not require('repl.magic').has_optional_code(last.name) and not text:find('\n', 1, true)
    end
    code = code:gsub('^%-%a[ \t]*%w+[ \t]+', ''):gsub('^%-%a[ \t]*%w+[ \t]+', '') -- options
  end
  return code ~= nil and session:status(code) == 'incomplete' and not (code:find(':', 1, true) and python.is_block(session, code))
end

-- Removes prompts that were pasted with the text, and the results between them.
function input.without_prompts(source)
  if not source:find '^%s*In %[%d+%]: ' and not source:find '^%s*> ' then return source end
  local lines, inside_output = {}, false
  for line in (source .. '\n'):gmatch '([^\n]*)\n' do
    local rest = line:match '^%s*In %[%d+%]: (.*)$' or line:match '^%s*%.%.%.: ?(.*)$' or
      line:match '^> (.*)$' or line:match '^>> (.*)$'
    if rest then
      inside_output = false
      lines[#lines + 1] = rest
    elseif line:find '^Out%[%d+%]:' then
      inside_output = true
    elseif not inside_output then
      lines[#lines + 1] = line
    end
  end
  return table.concat(lines, '\n')
end

-- True if the output of the cell differs in each run, for example because of times.
function input.varies(source)
  local magic = require 'repl.magic'
  for _, command in ipairs(input.parts(source)) do
    if command.name and magic.varies(command.name) then return true end
  end
  return false
end

-- Runs a command. If the session has a page(text), help is passed to it instead of printed.
local function run_command(session, command)
  if command.kind ~= 'help' or not session.page then
    return session:protect(command.run, session, command.first, command.second, command.padding)
  end
  local ok, result
  local text = printed.by(function()
    ok, result = session:protect(command.run, session, command.first, command.second)
  end)
  if ok then session.page(text) end
  return ok, result
end

-- Whether the code is only `exit` or `quit`, which leaves as in IPython.
local function is_exit(session, code)
  local name = code:match '^%s*(%l+)%s*;?%s*$'
  local _, is_local = session.scope:get(name)
  return name ~= nil and not is_local and session.leave ~= nil and rawequal(rawget(session.environment, name), session.leave)
end

local function run_parts(session, source, number)
  local commands, code = input.parts(source)
  for _, command in ipairs(commands) do
    local ok, result = run_command(session, command)
    if not ok then return {number = number, seconds = 0, report = result} end
    if type(result) == 'table' and result.number then return result end
  end
  if not code then return {number = number, seconds = 0} end
  return session:run(is_exit(session, code) and code:gsub(';?%s*$', '()', 1) or code, number)
end

-- Runs the texts as cell `number`, which has begun, one after the other until an error, and prints
-- the values of all but the last. Returns the last result of session.run.
function input.run_cells(session, texts, number)
  local lines, result = 0, nil
  if #texts > 1 then session.inputs[number] = table.concat(texts, '\n') end
  for index, text in ipairs(texts) do
    result = run_parts(session, ('\n'):rep(lines) .. text, number)
    if result.report then return result end
    if index < #texts and result.text then print(result.text) end
    lines = lines + select(2, text:gsub('\n', '\n')) + 1
  end
  return result
end

-- Runs the text as the session's next cell and returns session.run's result. The values are not
-- printed; the output of commands is.
function input.run(session, source)
  if session.autoreload then session:protect(require('repl.reload').changed, session.autoreload) end
  local number = session:begin_cell(source)
  local result = input.run_cells(session, macro.named(session, source) or {source}, number)
  session:end_cell(result)
  return result
end

return input
