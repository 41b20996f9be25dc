-- Embeds Lua files in a C file, for modules in the binary.
--
--   lua5.4 scripts/embed.lua OUT.c PREFIX file.lua=module.name[:FORM] ...
--
-- OUT.c defines `const struct lt_embedded PREFIX_modules[]`, one row per module, terminated by a
-- NULL name. Without a form the text is stored unchanged; `packed` compresses it with gzip to a
-- third; `compiled` also adds bytecode with debug information, which loads ten times as fast as
-- text. The loader names a chunk of text "=[ltensor module.name]", so that tracebacks can recognize
-- our code. A file that does not compile is a build error. TARGET_LUA is the interpreter of a Lua
-- other than the one that runs this script: it compiles the bytecode. For Lua 5.3, `<close>` is
-- translated (repl/program/close_scopes.lua).

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;./?.lua;' .. package.path
local source_files = require 'source_files'

local target = os.getenv 'TARGET_LUA'
if target == '' then target = nil end
local function version_of(interpreter)
  local pipe = assert(io.popen(interpreter .. " -e 'io.write(_VERSION)'"))
  local version = pipe:read 'a'
  return pipe:close() and version or error(('TARGET_LUA=%s does not run; install this Lua'):format(interpreter), 0)
end
local is_old = target and version_of(target) == 'Lua 5.3'
local translate = is_old and require 'repl.program.close_scopes' or function(text) return text end

local out, prefix = arg[1], arg[2]
if not prefix then
  io.stderr:write('usage: embed.lua OUT.c PREFIX file.lua=module.name[:packed|:compiled] ...\n')
  os.exit(2)
end

local function fail(message)
  io.stderr:write('embed.lua: ', message, '\n')
  os.exit(1)
end

-- The bytes that a command writes for a text, which it reads from a file '%s'.
local function filter(command, text)
  local path = os.tmpname()
  local file <close> = assert(io.open(path, 'wb'))
  assert(file:write(text) and file:flush())
  local pipe = assert(io.popen(command:format(path), 'r'))
  local bytes = pipe:read 'a'
  local ok = pipe:close()
  os.remove(path)
  if not ok then fail('this command failed: ' .. command) end
  return bytes
end

-- The text compressed by gzip, without name and time, so that equal text produces equal bytes.
local function packed(text) return filter("gzip -9nc <'%s'", text) end

-- The bytecode of a text, by the interpreter of the target.
local function bytecode(text, chunk, name)
  if not target then return string.dump(chunk) end
  return filter(([[CHUNK='%s' FILE='%%s' %s -e "io.write(string.dump(assert(load(io.open(os.getenv 'FILE'):read 'a', os.getenv 'CHUNK'))))"]])
    :format(name, target), text)
end

-- The text as a C string, one source line per line: compilers parse this ten times as fast as a
-- list of numbers. Question marks are escaped because of trigraphs.
local escapes = { ['\n'] = '\\n', ['"'] = '\\"', ['\\'] = '\\\\', ['?'] = '\\?' }
local function escaped(character)
  return escapes[character] or ('\\%03o'):format(character:byte())
end
local function literal(text)
  local lines = {}
  for line in text:gmatch '[^\n]*\n?' do
    if line ~= '' then lines[#lines + 1] = '"' .. line:gsub('[%c"\\?\128-\255]', escaped) .. '"' end
  end
  return #lines > 0 and table.concat(lines, '\n') or '""'
end

local parts = {
  '/* Lua modules as data, made by scripts/embed.lua. */\n',
  '#include "system/embedded.h"\n\n',
}
local rows = {}
-- Adds bytes; returns their description in a row.
local function put(symbol, bytes)
  parts[#parts + 1] = ('static const unsigned char %s[] =\n%s;\n'):format(symbol, literal(bytes))
  return ('%s, %d'):format(symbol, #bytes)
end

for index = 3, #arg do
  local path, name, form = arg[index]:match '^(.+)=([%w_.]+):?(%l*)$'
  if not path or form ~= '' and form ~= 'packed' and form ~= 'compiled' then fail('not file.lua=module.name[:packed|:compiled]: ' .. arg[index]) end
  local text = translate(source_files.read(path), path)
  local chunk_name = form == 'compiled' and ('=[ltensor %s]'):format(name) or '@' .. path
  local chunk, syntax = load(text, chunk_name)
  if not chunk then fail(syntax) end
  local symbol = ('module_%d'):format(index - 2)
  parts[#parts + 1] = ('/* %s */\n'):format(name)
  local row = put(symbol, form == '' and text or packed(text))
  local code = form == 'compiled' and put(symbol .. '_code', bytecode(text, chunk, chunk_name)) or 'NULL, 0'
  rows[#rows + 1] = ('    {"%s", %s, %d, %s},\n'):format(name, row, form == '' and 0 or #text, code)
end
parts[#parts + 1] = ('\nextern const struct lt_embedded %s_modules[];\n'):format(prefix)
parts[#parts + 1] = ('const struct lt_embedded %s_modules[] = {\n%s    {NULL, NULL, 0, 0, NULL, 0},\n};\n'):format(prefix, table.concat(rows))

local file, message = io.open(out, 'wb')
if not file then fail(message) end
file:write(table.concat(parts))
file:close()
