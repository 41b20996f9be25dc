-- embedded_sources.lua - writes source files as C string literals, for code that is compiled at run
-- time. File names, also in #includes, lose their folders.

local source_files = require 'source_files'

local embedded = {}

local function source_of(paths)
  local texts = {}
  for i, path in ipairs(paths) do texts[i] = source_files.read(path) end
  local text = table.concat(texts, '\n')
  assert(not text:find(')lt"', 1, true), paths[1])
  return (text:gsub('(#include ")[%w_/.]*/', '%1'))
end

-- FNV-1a, as 64 bits.
local function hash_of(texts)
  local hash = -3750763034362895579
  for _, text in ipairs(texts) do
    for i = 1, #text do hash = (hash ~ text:byte(i)) * 0x100000001b3 end
  end
  return hash
end

-- Appends to `out` the enum <PREFIX>_SOURCES (a count), the macro <PREFIX>_SOURCES_HASH and the
-- arrays <prefix>_source_names and <prefix>_source_texts. files: { name, path, ... }; several paths
-- are concatenated.
function embedded.emit(out, prefix, files)
  local names, texts = {}, {}
  for i, file in ipairs(files) do names[i], texts[i] = file[1], source_of { table.unpack(file, 2) } end
  local upper = prefix:upper()
  out[#out + 1] = ('enum { %s_SOURCES = %d };\n#define %s_SOURCES_HASH 0x%016xu\n'):format(upper, #files, upper, hash_of(texts))
  out[#out + 1] = ('static const char *const %s_source_names[] = {\n    "%s"};\n'):format(prefix, table.concat(names, '",\n    "'))
  out[#out + 1] = ('static const char *const %s_source_texts[] = {\n'):format(prefix)
  for _, text in ipairs(texts) do
    -- A C++ string literal may have at most 64 KB; adjacent literals are concatenated.
    out[#out + 1] = 'R"lt('
    for from = 1, #text, 16000 do out[#out + 1] = (from > 1 and ')lt"\nR"lt(' or '') .. text:sub(from, from + 15999) end
    out[#out + 1] = ')lt",\n'
  end
  out[#out + 1] = '};\n'
end

function embedded.write(path, out)
  local file = assert(io.open(path, 'w'))
  file:write(table.concat(out))
  file:close()
end

return embedded
