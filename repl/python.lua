-- Python typed by habit: the Lua spelling of a text that Lua has refused.
--
-- hint() translates the whole text; if it is not Python, the refused line, which may begin and end
-- as a statement of Lua. A translation that Lua's compiler would refuse is not shown, so other
-- mistakes get no hint. `state` is {scope, environment}: values decide between methods and
-- functions. May use repl.cell, repl.edit.values, repl.python.tokens and repl.python.statements.

local calls = require 'repl.python.calls'
local cell = require 'repl.cell'
local Parser = require 'repl.python.expressions'
local statements = require 'repl.python.statements'
local tokens = require 'repl.python.tokens'
local values = require 'repl.edit.values'

local python = {}

function Parser:is_tensor(node)
  if node.tensor ~= nil then return node.tensor end
  if node.variable and self.tensors[node.variable] ~= nil then return self.tensors[node.variable] end
  return node.level >= self.PREFIX and values.is_tensor(values.of_path(self.state, node.text))
end

-- ---- translating ---------------------------------------------------------------------------

-- Runs parse(parser) on the text; nil if it is not Python as a whole. is_lua: the text around it is
-- Lua, where positions count from 1; is_python: it is known to be Python, so that it needs no form
-- that only Python has; positions_stay: they are those of Lua.
local function parsed(state, text, is_lua, parse, is_python, positions_stay)
  local list = tokens.of(text)
  if not list then return nil end
  local failure = {}
  local parser = setmetatable({
    state = state, tokens = list, at = 1, depth = 0, failure = failure, is_lua = is_lua, is_python = is_python, positions_stay = positions_stay,
    functions = {}, imported = {}, zero = {}, lists = {}, tensors = {}, renamed = {},
  }, Parser)
  local ok, result = pcall(parse, parser)
  if not ok then
    if result ~= failure then error(result, 0) end
    return nil
  end
  return parser:token().kind == 'end' and parser.is_python and result or nil, parser
end

local function compiles(text) return cell.compile(text, '=python', cell.scope()) ~= nil end

-- The text in Lua, and the parser; nil if it is not Python.
local function translation(state, text, is_python, positions_stay)
  local lines, parser = parsed(state, text, false, statements.all, is_python, positions_stay)
  if not lines then return nil end
  local lua = table.concat(lines, '\n')
  if not compiles(parser.is_part and 'if x then\n' .. lua .. '\nend' or lua) then return nil end
  return lua, parser
end

-- ---- a line of Lua with Python's expressions -----------------------------------------------

local function expression_in(state, text)
  local lua = parsed(state, text, true, function(parser)
    local node = parser:truth(parser:expression())
    parser:accept 'newline'
    return node.text
  end)
  return lua and load('return ' .. lua) and lua
end

local function statement_in(state, text)
  local lines = parsed(state, text, true, statements.all)
  local lua = lines and table.concat(lines, '; ')
  return lua and compiles(lua) and lua
end

-- Forms of a line: {pattern with the captures before, Python, after; translator}.
local forms = {
  {'^(%s*if%s+)(.-)(%s+then.*)$', expression_in},
  {'^(%s*elseif%s+)(.-)(%s+then.*)$', expression_in},
  {'^(%s*while%s+)(.-)(%s+do.*)$', expression_in},
  {'^(%s*until%s+)(.-)(%s*)$', expression_in},
  {'^(%s*)for%s+(.-)(%s+do%f[^%w_].*)$', function(state, text)
    return parsed(state, text, true, function(parser)
      local head, prelude = parser:loop_head()
      parser:accept 'newline'
      return not prelude and head:gsub(' do$', '')
    end)
  end},
  {'^(%s*return%s+)(.-)(%s+end.*)$', expression_in},
  {'^(%s*local%s+)(.-)(%s*)$', statement_in},
  {'^(%s*)(.-)(%s+end[%s%)]*)$', statement_in},
  {'^(%s*)(.-)(%s*)$', statement_in},
}

-- The line in Lua; nil if it has no expression of Python.
local function line_translation(state, line)
  line = line:gsub('%s+%-%-%s.*$', '')
  for _, form in ipairs(forms) do
    local before, text, after = line:match(form[1])
    local lua = text and form[2](state, text)
    if lua then return before .. lua .. after end
  end
end

-- ---- hints ---------------------------------------------------------------------------------

local function squeezed(text) return (text:gsub('%s+', ''):gsub('"', "'")) end

local function shown(lua, parser)
  if parser and parser.is_import and not ('\n' .. lua):find '\n[^-]' then return (lua:gsub('%f[^\n\0]%-%- ', '')) end
  local note = parser and parser.shifted and '  (positions count from 1)' or ''
  if not lua:find('\n', 1, true) then return 'in Lua: ' .. lua .. note end
  return 'in Lua:' .. note .. '\n  ' .. lua:gsub('\n', '\n  ')
end

local function line_at(text, number)
  local count = 0
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do
    count = count + 1
    if count == number then return line end
  end
end

-- A hint for a text that Lua's compiler has refused at line `number`, or nil.
function python.hint(state, text, number)
  local lua, parser = translation(state, text)
  if not lua then
    local line = line_at(text, number) or ''
    lua, text = line_translation(state, line), line
    if not lua then return nil end
    lua = lua:match '^%s*(.-)%s*$'
  end
  if squeezed(lua) == squeezed(text) or lua == '' then return nil end
  return shown(lua, parser)
end

-- Messages of errors that Python's spelling causes in valid Lua.
local causes = {"nil value %(global '", 'called with a colon', 'positions count from 1'}

-- A hint for a line of valid Lua that raised the error, or nil: it calls a function of Python, has
-- an f-string, a comment of Python (which Lua reads as a length), a method with a dot, or position 0.
function python.runtime_hint(state, line, message)
  local name = message:match "nil value %(global '([^']+)'%)"
  if name and message:find('get length of', 1, true) then
    local code, comment = line:match('^(.-)%s*#%s*(' .. name .. '.*)$')
    return code and shown((code == '' and '' or code .. '  ') .. '-- ' .. comment) or nil
  end
  if name and not (calls.python_names[name] and (name ~= 'f' or line:find '%f[%w_]f["\']')) then return nil end
  local lua, parser = translation(state, line, true)
  if lua and parser.shifted and not parser.has_zero then -- a line of Lua may have only a dot for a colon
    lua, parser = translation(state, line, true, true)
    parser.shifted = true
  end
  if not lua and name then lua = line_translation(state, line) end
  if not lua or squeezed(lua) == squeezed(line) then return nil end
  return shown(lua:match '^%s*(.-)%s*$', parser)
end

-- True if runtime_hint may have a hint for the message.
function python.may_cause(message)
  for _, pattern in ipairs(causes) do
    if message:find(pattern) then return true end
  end
  return false
end

local constants = {None = 'nil', True = 'true', False = 'false'}

-- The Lua spelling of a constant, or nil.
function python.constant(name) return constants[name] end

-- True for a text that Lua would wait for more of, although it is a complete block of Python or the
-- first line of one.
function python.is_block(state, text)
  if not text:find ':[ \t]*\n' and not text:find ':[ \t]*$' and not text:find ':[ \t]+[^\n]' and not text:find ':[ \t]*#' then return false end
  local lua, parser = translation(state, text)
  return lua ~= nil and parser.has_block == true
end

return python
