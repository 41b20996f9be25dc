-- c_header.lua - reads a public header as data: constants, enums, structs, types of functions, and
-- functions, each with its comment. It reads the style of our headers (clang-format), not C in
-- general; other text is an error, so that no declaration is missing.

local M = {}

-- ---- text ---------------------------------------------------------------------------------------

-- A comment without its delimiters and stars, a line for each paragraph and each entry of a list.
local function words_of(comment)
  local text = comment:gsub('^%s*/%*+%s?', ''):gsub('%s*%*/%s*$', ''):gsub('\n%s*%*[ \t]?', '\n')
  return (text:gsub('^%s+', ''):gsub('%s+$', ''):gsub('([^\n])\n([^\n%-])', '%1 %2'))
end

local function plain(text) return (text:gsub('/%*.-%*/', ' '):gsub('%s+', ' '):gsub('^ ', ''):gsub(' $', '')) end

-- Splits at separators outside parentheses and braces.
local function split(text, separator)
  local parts, depth, start = {}, 0, 1
  for i = 1, #text do
    local c = text:sub(i, i)
    if c:find '[%({%[]' then depth = depth + 1
    elseif c:find '[%)}%]]' then depth = depth - 1
    elseif c == separator and depth == 0 then
      parts[#parts + 1] = text:sub(start, i - 1)
      start = i + 1
    end
  end
  parts[#parts + 1] = text:sub(start)
  return parts
end

-- ---- declarations -------------------------------------------------------------------------------

local parameters_of

-- 'const char *name', 'int64_t v[16]', 'bool (*f)(void *user)': the name and the type. constants: the numbers of
-- #define.
local function declarator(text, constants)
  text = plain(text)
  local result, own_name, parameters = text:match '^(.-)%(%*([%w_]*)%)(%b())$'
  if result then
    return { name = own_name, type = 'function', result = plain(result), parameters = parameters_of(parameters, constants) }
  end
  local type_name, name, size = text:match '^(.-)([%a_][%w_]*)%[([%w_]*)%]$'
  if name then return { name = name, type = plain(type_name), count = math.tointeger(tonumber(size)) or constants[size] } end
  type_name, name = text:match '^(.-[%s%*])([%a_][%w_]*)$'
  if not name then error(("cannot read '%s'"):format(text), 0) end
  return { name = name, type = plain(type_name) }
end

function parameters_of(text, constants)
  local list = {}
  for _, parameter in ipairs(text == '(void)' and {} or split(text:sub(2, -2), ',')) do list[#list + 1] = declarator(parameter, constants) end
  return list
end

-- The fields of a struct or union. A union is a field with fields of its own.
local function fields_of(body, constants)
  local fields = {}
  for _, line in ipairs(split(plain(body:sub(2, -2)), ';')) do
    line = plain(line)
    local kind, inner, name = line:match '^(%l+) (%b{}) ([%w_]+)$'
    if kind == 'union' or kind == 'struct' then
      fields[#fields + 1] = { name = name, type = kind, fields = fields_of(inner, constants) }
    elseif line ~= '' then
      local parts = line:find '%(' and { line } or split(line, ',') -- several names of one type: int64_t current, peak
      local first = declarator(parts[1], constants)
      fields[#fields + 1] = first
      for i = 2, #parts do fields[#fields + 1] = declarator(first.type:gsub('%*', '') .. ' ' .. parts[i], constants) end
    end
  end
  return fields
end

-- The values of an enum; one without a number follows the value before it.
local function values_of(body)
  local values, next_value = {}, 0
  for _, entry in ipairs(split(plain(body:sub(2, -2)), ',')) do
    local name, number = entry:match '^%s*([%w_]+)%s*=?%s*(%-?%d*)%s*$'
    if name then
      next_value = math.tointeger(tonumber(number)) or next_value
      values[#values + 1] = { name = name, value = next_value }
      next_value = next_value + 1
    elseif entry:find '%S' then
      error(("cannot read '%s'"):format(entry), 0)
    end
  end
  return values
end

local function function_of(text, constants)
  local head, parameters = plain(text):match '^(.-)%s*(%b())'
  if not head then error(("cannot read '%s'"):format(text), 0) end
  local f = declarator(head, constants)
  return { name = f.name, result = f.type, parameters = parameters_of(parameters, constants) }
end

-- ---- the header ---------------------------------------------------------------------------------

-- Each declaration that a header may contain: a pattern with its position captures, and a function of
-- the captures that returns a list and the entry for it; nil for text that describes no symbol.
local readers = {
  { '^typedef enum [%w_]* ?(%b{}) ([%w_]+);()', function(_, body, name) return 'enums', { name = name, values = values_of(body) } end },
  { '^typedef struct [%w_]* ?(%b{}) ([%w_]+);()', function(constants, body, name)
    return 'structs', { name = name, fields = fields_of(body, constants) }
  end },
  { '^typedef struct [%w_]+ ([%w_]+);()', function(_, name) return 'structs', { name = name, opaque = true } end },
  { '^typedef ([^;{]-%(%*[%w_]+%)%b());()', function(constants, text)
    local t = declarator(text, constants)
    t.type = nil
    return 'types', t
  end },
  { '^struct ([%w_]+) (%b{});()', function(constants, name, body)
    return 'structs', { name = 'struct ' .. name, fields = fields_of(body, constants) }
  end },
  { '^struct [%w_]+;()' },
  { '^LT_API ([^;{]*);()', function(constants, text) return 'functions', function_of(text, constants) end },
  { '^LT_INLINE ([^;{]*)%b{}()', function(constants, text)
    local f = function_of(text, constants)
    f.inline = true
    return 'functions', f
  end },
  { '^LT_PLUGIN [^;{]*;()' }, -- a function that the plugin defines
  { '^LT_DEPRECATED%b()%s*static inline.-%b()%s*%b{}()' },
  { '^static inline [^;{]*%b{}()' },
  { '^}()' }, -- of extern "C"
}

-- The declaration at a position: its list, its entry and the position after it.
local function declaration(text, position, constants)
  for _, reader in ipairs(readers) do
    local captures = table.pack(text:match(reader[1], position))
    local after = captures[captures.n]
    if after then
      if not reader[2] then return nil, nil, after end
      local list, entry = reader[2](constants, table.unpack(captures, 1, captures.n - 1))
      return list, entry, after
    end
  end
  error('cannot read: ' .. text:sub(position, position + 80), 0)
end

local function add_constants(text, constants, add)
  for name, value in text:gmatch '\n#define (LT_[%w_]+) +(%S+)' do
    local number = math.tointeger(tonumber(value))
    constants[name] = number
    if number or value:find '^"' then add('constants', { name = name, value = number or value:sub(2, -2) }) end
  end
end

-- The text of a header without preprocessor lines and the start of extern "C".
local function without_directives(text)
  text = text:gsub('\\\n', ' ')
  return (text:gsub('\n#[^\n]*', '\n'):gsub('\nextern "C" {', '\n'))
end

--- Adds the declarations of a header to the lists constants, enums, structs, types and functions of
--- `into`. into.numbers: the numbers of #define in this header and in the ones before it.
function M.read(path, into)
  local file <close> = assert(io.open(path))
  local text, header = '\n' .. file:read 'a', path:match '[^/]+$'
  local doc
  local function add(list, entry)
    entry.header, entry.doc = header, doc
    table.insert(into[list], entry)
  end
  add_constants(text, into.numbers, add)
  text = without_directives(text)
  local position = text:match '^%s*()'
  while position <= #text do
    local comment, after = text:match('^(/%*.-%*/)()', position)
    if comment then
      doc = not comment:find '^/%* %-%-%-%-' and words_of(comment) or nil -- a line of dashes opens a section
    else
      local read, list, entry, next_position = pcall(declaration, text, position, into.numbers)
      if not read then error(path .. ': ' .. list, 0) end
      after = next_position
      if list then add(list, entry) end
      -- A comment describes all functions below it up to an empty line.
      if not (list == 'functions' and text:find('^\nLT_', after)) then doc = nil end
    end
    position = text:match('^%s*()', after)
  end
end

return M
