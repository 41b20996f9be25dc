-- lua53.lua - load, loadfile, dofile and require of the program with Lua 5.3, which accept `<close>` and `<const>`: returns
-- a function that sets them in a table of globals.

local plain_load, library = load, package.loaded.package -- the prompt's modules have a copy

-- A text that does not parse is left to Lua's message, which the prompt reads for text that ends too early.
local function translated(text, name)
  if not text:find '<%s*c' then return text end -- the prompt starts without the translator
  local ok, result = pcall(require 'repl.program.close_scopes', text, name)
  return ok and result or text:gsub('<%s*close%s*>', ''):gsub('<%s*const%s*>', '')
end

local function whole(chunk)
  if type(chunk) ~= 'function' then return chunk end
  local pieces = {}
  for piece in chunk do
    if piece == '' then break end
    pieces[#pieces + 1] = piece
  end
  return table.concat(pieces)
end

local function load_translated(chunk, name, ...)
  if type(chunk) == 'function' and name == nil then name = '=(load)' end
  local text = whole(chunk)
  if type(text) ~= 'string' and type(text) ~= 'number' then
    error(("bad argument #1 to 'load' (function expected, got %s)"):format(type(text)), 2)
  end
  if type(text) ~= 'string' or text:sub(1, 1) == '\27' then return plain_load(text, name, ...) end
  return plain_load(translated(text, name), name or text, ...)
end

local function load_file(path, ...)
  local file, message = io.open(path, 'rb')
  if not file then return nil, 'cannot open ' .. message end
  local text = file:read 'a'
  file:close()
  if not text then return nil, 'cannot read ' .. path end
  text = text:gsub('^\xEF\xBB\xBF', ''):gsub('^#[^\n]*', '')
  return load_translated(text, '@' .. path, ...)
end

library.searchers[2] = function(name)
  local path, message = library.searchpath(name, library.path)
  if not path then return message end
  local chunk, problem = load_file(path)
  if not chunk then error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, problem), 0) end
  return chunk, path
end

return function(globals)
  globals.load, globals.loadfile = load_translated, load_file
  globals.dofile = function(path) return assert(load_file(path))() end
end
