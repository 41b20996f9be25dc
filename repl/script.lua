-- Scripts in a session: %run and `-i file` run one, %save creates one from cells.
--
-- A script runs as if started alone, without the session's locals; its own top-level locals are
-- added to the session when it ends, also after an error. May use repl.cell, repl.parser,
-- repl.input, repl.errors.

local cell = require 'repl.cell'
local errors = require 'repl.errors'

local script = {}

-- Runs the file with the arguments; nil, or the report of its error.
function script.run(session, path, arguments)
  local file, problem = io.open(path)
  if not file then return errors.from_message(problem) end
  local text = file:read 'a'
  file:close()
  if not text then return errors.from_message(('cannot read %s'):format(path)) end
  local source = text:gsub('^\xEF\xBB\xBF', ''):gsub('^#[^\n]*', '')
  local scope = cell.scope()
  local compiled, message, more = cell.compile(source, '@' .. path, scope)
  local run = compiled and compiled.run
  -- A chunk that cannot be compiled for keeping its locals, for example because it has too many,
  -- runs without it.
  if not run and not more then run = load(source, '@' .. path, 't') end
  if not run then return errors.from_message(message) end
  local ok, report = session:protect(run, table.unpack(arguments or {}))
  session.scope:adopt(scope)
  return not ok and report or nil
end

-- ---- cells as a script ---------------------------------------------------------------------

local function as_comment(text) return '-- ' .. text:gsub('\n', '\n-- ') end

-- The Lua code as statements: a final expression is printed as the prompt shows it; nil if it is
-- not valid Lua.
local function as_statements(code)
  code = code:gsub('^(%s*)=', '%1', 1)
  if load(code .. '\nlocal _') then return code end
  local tail = require('repl.parser').outline(code).tail
  local text
  if tail then
    local shown = code:sub(tail.start, tail.stop)
    text = code:sub(1, tail.start - 1) .. (tail.silent and 'local _ = ' .. shown or 'print(' .. shown .. '\n)')
    if not shown:find('--', 1, true) then text = text:gsub('\n%)$', ')') end
  else
    text = 'do ' .. code .. '\nend' -- a return ends the script there
  end
  return load(text .. '\nlocal _') and text or nil
end

-- The cells first to last as the text of a script: commands become comments, except the code of
-- magics. The second result is an error if the cells do not form one script.
function script.text(session, first, last)
  local input = require 'repl.input'
  local parts = {}
  for number = first, math.min(last, #session.inputs) do
    local commands, code = input.parts(session.inputs[number])
    for _, command in ipairs(commands) do
      if command.code and require('repl.magic').is_raw(command.name) then
        parts[#parts + 1] = as_comment(command.text)
      elseif command.code then
        parts[#parts + 1] = as_comment('%' .. command.name)
        code = command.second
      elseif command.name ~= 'save' then
        parts[#parts + 1] = as_comment(command.text)
      end
    end
    code = code and code:gsub('^\n+', '')
    if code and code:find '%S' then parts[#parts + 1] = as_statements(code) or as_comment(code) end
  end
  local text = table.concat(parts, '\n') .. '\n'
  return text, select(2, load(text, '=script', 't'))
end

return script
