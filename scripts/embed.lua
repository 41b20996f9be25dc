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
  local bytes = {}
  for position = 1, #text, 4096 do
    for _, byte in ipairs {text:byte(position, math.min(position + 4095, #text))} do
      bytes[#bytes + 1] = byte
      if #bytes % 24 == 0 then bytes[#bytes] = byte .. '\n' end
    end
  end
  local symbol = ('module_%d'):format(index - 2)
  -- a final 0 keeps an empty file from being an empty array
  parts[#parts + 1] = ('static const unsigned char %s[] = { /* %s */\n%s%s0};\n'):format(
    symbol, name, table.concat(bytes, ','), #bytes > 0 and ',' or '')
  rows[#rows + 1] = ('    {"%s", %s, %d},\n'):format(name, symbol, #text)
end
parts[#parts + 1] = ('\nextern const struct lt_embedded %s_modules[];\n'):format(prefix)
parts[#parts + 1] = ('const struct lt_embedded %s_modules[] = {\n%s    {NULL, NULL, 0},\n};\n'):format(
  prefix, table.concat(rows))

local file, message = io.open(out, 'wb')
if not file then fail(message) end
file:write(table.concat(parts))
file:close()
