-- The chunks that breakpoints name: paths of files, and cells.
--
-- A chunk of a file has its real path, a cell its chunk name; a front end may name cells otherwise.
-- May use repl.lexer and repl.system.

local lexer = require 'repl.lexer'
local system = require 'repl.system'

local sources = {
  texts = {}, -- of paths that are no files
}

local cell_path -- of a number; nil: the chunk name

-- Sets a function that returns the path of cell `number`, or nil.
function sources.name_cells(path_of) cell_path = path_of end

local paths = {} -- by the source of debug.getinfo

-- The path of a chunk, from the field `source` of debug.getinfo.
function sources.path(source)
  local known = paths[source]
  if known and not source:find '^=%(cell' then return known end
  local path
  if source:sub(1, 1) == '@' then
    path = system.real_path(source:sub(2)) or source:sub(2)
  else
    local number = tonumber(source:match '^=%(cell (%d+)%)$')
    path = number and cell_path and cell_path(number) or source:sub(2)
  end
  paths[source] = path
  return path
end

-- The real path of a file that is named by its path or, as for `require`, by its module; nil and a
-- message if there is none.
function sources.find(name)
  local path = system.real_path(name)
  if not path then
    local found = package.searchpath((name:gsub('%.lua$', ''):gsub('/', '.')), package.loaded.package.path)
    path = found and system.real_path(found)
  end
  if path then return path end
  return nil, ('%s: no such file'):format(name)
end

-- The text of a path; nil if it is unknown.
function sources.text(path)
  if sources.texts[path] then return sources.texts[path] end
  local number = tonumber(path:match '^%(cell (%d+)%)$')
  if number then return require('repl.session').current.inputs[number] end
  local file = io.open(path)
  if not file then return nil end
  local text = file:read 'a'
  file:close()
  return text
end

-- The first line from `line` on that has code, or nil.
function sources.code_line(text, line)
  local first
  local code = text:gsub('^#[^\n]*', '')
  local position, number = 1, 1
  for _, token in ipairs(lexer.tokens(code)) do
    local _, newlines = code:sub(position, token.start - 1):gsub('\n', '')
    position, number = token.start, number + newlines
    if number >= line then
      first = number
      break
    end
  end
  return first
end

return sources
