-- Turns Lua files into a C file that carries them, for modules that live inside the binary.
--
--   lua5.4 scripts/embed.lua OUT.c PREFIX file.lua=module.name ...
--
-- OUT.c defines `const struct lt_embedded PREFIX_modules[]`: {name, data, size} for each module,
-- ended by a NULL name. The source is stored as it is; whoever loads it gives the chunk the name
-- "=[ltensor module.name]", by which tracebacks know code of our own. A file that does not compile
-- is an error here, at build time.

local out, prefix = arg[1], arg[2]
if not prefix then
  io.stderr:write('usage: embed.lua OUT.c PREFIX file.lua=module.name ...\n')
  os.exit(2)
end

local function fail(message)
  io.stderr:write('embed.lua: ', message, '\n')
  os.exit(1)
end

local function read(path)
  local file, message = io.open(path, 'rb')
  if not file then return nil, message end
  local text = file:read 'a'
  file:close()
  return text
end

-- The text as a C string, a line of it in each line: a compiler reads that ten times as fast as the bytes' numbers. A question mark
-- could begin a trigraph.
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
  '#include <stddef.h>\n\n',
  'struct lt_embedded {\n    const char *name;\n    const unsigned char *data;\n    size_t size;\n};\n\n',
}
local rows = {}
for index = 3, #arg do
  local path, name = arg[index]:match '^(.+)=([%w_.]+)$'
  if not path then fail('not file.lua=module.name: ' .. arg[index]) end
  local text, message = read(path)
  if not text then fail(message) end
  local ok, syntax = load(text, '@' .. path)
  if not ok then fail(syntax) end
  local symbol = ('module_%d'):format(index - 2)
  parts[#parts + 1] = ('/* %s */\nstatic const unsigned char %s[] =\n%s;\n'):format(name, symbol, literal(text))
  rows[#rows + 1] = ('    {"%s", %s, %d},\n'):format(name, symbol, #text)
end
parts[#parts + 1] = ('\nextern const struct lt_embedded %s_modules[];\n'):format(prefix)
parts[#parts + 1] = ('const struct lt_embedded %s_modules[] = {\n%s    {NULL, NULL, 0},\n};\n'):format(
  prefix, table.concat(rows))

local file, message = io.open(out, 'wb')
if not file then fail(message) end
file:write(table.concat(parts))
file:close()
