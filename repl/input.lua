-- What was typed, as something to run: Lua, `!command`, `%magic`, `?name`.
--
-- A cell is Lua, except for command lines at its start; they are carried out in order, then the
-- rest runs as Lua with its line numbers kept. A `%` or `!` further down is what it is in Lua.
-- May use repl.session's interface, repl.magic, repl.help and repl.system.

local cell = require 'repl.cell'
local system = require 'repl.system'

local input = {}

-- ---- !command ------------------------------------------------------------------------------

-- Replaces `{expression}` by its value; braces that hold no expression with a value are the
-- shell's own.
local function fill_in(session, command)
  return (command:gsub('(%$?)(%b{})', function(dollar, braces)
    if dollar == '$' then return nil end
    local compiled = cell.compile(braces:sub(2, -2), '=(command)', session.scope)
    if not compiled or not compiled.has_value then return nil end
    local ok, _, value = session:protect(compiled.run)
    return ok and value ~= nil and tostring(value) or nil
  end))
end

local function shell(session, command)
  local code = system.shell(fill_in(session, command))
  if code ~= 0 then print(('exit code %d'):format(code)) end
end

-- ---- command lines -------------------------------------------------------------------------

-- The function that carries out the command line, and its arguments; nil when it is Lua.
local function command_of(line)
  local command = line:match '^%s*!(.*)$'
  if command then return shell, command end
  local name, rest = line:match '^%s*%%([%a_]+)%s*(.-)%s*$'
  if name then
    local magic = require 'repl.magic'
    local asked = rest == '?' and name or (rest == '' and name:match '^(.-)%?$')
    if asked then return magic.explain, asked end
    return magic.run, name, rest
  end
  local magic_name = line:match '^%s*%?%??%s*%%([%a_]+)%s*$'
  if magic_name then return require('repl.magic').explain, magic_name end
  local marks, topic = line:match '^%s*(%?%??)%s*([%w_.:]*)%s*$'
  if not marks then
    topic, marks = line:match '^%s*([%a_][%w_.:]*)(%?%??)%s*$'
  end
  if marks then return require('repl.help').show, topic, #marks == 2 end
end

-- Whether the text begins with a command line and so needs no parser to say that it is complete.
function input.is_command(source)
  return command_of(source:match '^[^\n]*') ~= nil and not source:find '\n%s*%S'
end

-- Takes off prompts that were pasted with the text, and the results between them.
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

-- Runs the text as the session's next cell and returns session.run's result. The values are not
-- printed; a command prints as it goes.
function input.run(session, source)
  local number = session:begin_cell(source)
  local blank_lines, position = 0, 1
  while position <= #source do
    local line, after = source:match('^([^\n]*)\n?()', position)
    local run, first, second = command_of(line)
    if run then
      local ok, result = session:protect(run, session, first, second)
      if not ok then return {number = number, seconds = 0, report = result} end
      if type(result) == 'table' and result.number then return result end
    elseif line:find '%S' then
      break
    end
    blank_lines = blank_lines + 1
    position = after
  end
  local rest = source:sub(position)
  if not rest:find '%S' then return {number = number, seconds = 0} end
  return session:run(('\n'):rep(blank_lines) .. rest, number)
end

return input
