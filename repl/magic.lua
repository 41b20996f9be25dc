-- The magics: `%name arguments` at the start of a cell.
--
-- Each is an entry of a table in repl/magic: {usage, description, function(session, arguments)},
-- with takes_code if the rest of the cell belongs to it, optional_code if it may be empty, raw if it
-- is not Lua, and varies if its output differs between runs. They run protected, as cells do, and
-- may return a result like that of session.run. For completion, takes_name means that the arguments
-- are a name, and choices(arguments) lists the words that can follow. May use the other modules of
-- repl.

local errors = require 'repl.errors'

local magic = {}
local magics = {}

for _, group in ipairs {'code', 'names', 'files', 'session', 'devices', 'debug', 'cells', 'lm', 'help'} do
  for name, entry in pairs(require('repl.magic.' .. group)) do magics[name] = entry end
end

-- Sorted names of all magics.
function magic.names()
  local names = {}
  for name in pairs(magics) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Magics of IPython without a counterpart, and the reason.
local unneeded = {matplotlib = 'plots need no setting', load_ext = 'no magic needs to be loaded', pip = 'run !pip', conda = 'run !conda'}

local function find(name)
  local entry = magics[name]
  if entry then return entry end
  if unneeded[name] then error(('no magic %%%s: %s'):format(name, unneeded[name]), 0) end
  local near = errors.nearest(name, magic.names())
  error(('no magic %%%s%s'):format(name, near and ("; did you mean '%%%s'?"):format(near) or ''), 0)
end

-- True if code follows `%name`, on its line and below it.
function magic.takes_code(name) return magics[name] ~= nil and magics[name].takes_code == true end

-- True if `%name` takes code, but may be without it.
function magic.has_optional_code(name) return magics[name] ~= nil and magics[name].optional_code == true end

-- True if Lua follows `%name`: code, or the name of a value.
function magic.takes_lua(name)
  local entry = magics[name]
  return entry ~= nil and (entry.takes_name == true or entry.takes_code == true and not entry.raw)
end

-- The words that can follow `%name` and the text `arguments`, or nil.
function magic.choices(name, arguments)
  local entry = magics[name]
  return entry and entry.choices and entry.choices(arguments) or nil
end

-- True if the text below `%name` is not Lua: a blank line ends the cell.
function magic.is_raw(name) return magics[name] ~= nil and magics[name].raw == true end

-- True if the output of `%name` differs in each run.
function magic.varies(name) return magics[name] ~= nil and magics[name].varies == true end

-- Runs `%name arguments`; code is preceded by newlines that keep its line numbers.
function magic.run(session, name, arguments, padding) return find(name)[3](session, arguments, padding or '') end

-- `%name?`
function magic.explain(_, name)
  local entry = find(name)
  for _, line in ipairs(require('repl.wrapped').lines(entry[1] .. '\n' .. entry[2], '  ')) do print(line) end
end

return magic
