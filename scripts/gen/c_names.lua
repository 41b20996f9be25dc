-- c_names.lua - finds the names that preprocessed C defines at file scope, for single_file.lua.

local M = {}

local function set_of(words)
  local set = {}
  for word in words:gmatch '%S+' do set[word] = true end
  return set
end

-- Keywords that no declarator begins with, and those whose parentheses belong to them.
local keywords = set_of [[static inline extern const volatile register struct union enum typedef signed unsigned int char short
  long float double void _Bool _Complex __complex__ _Thread_local __thread restrict __restrict _Noreturn __inline __inline__
  __extension__ __const __volatile__ __signed__ __int128 _Float16 __restrict__]]
local with_parentheses = set_of [[__attribute__ __attribute _Alignas __typeof__ typeof __asm__ asm __asm]]

-- The words and characters of C, without white space, literals' texts and lines that begin with "#".
local function tokens_of(text)
  local list, at = {}, 1
  while true do
    at = text:find('%S', at)
    if not at then return list end
    local c = text:sub(at, at)
    local last = at
    if c:find '[%a_]' then
      last = select(2, text:find('^[%w_]+', at))
      list[#list + 1] = text:sub(at, last)
    elseif c:find '%d' then
      last = select(2, text:find('^[%w_%.]+', at))
      list[#list + 1] = '0'
    elseif c == '"' or c == "'" then
      last = at + 1
      while text:sub(last, last) ~= c do last = last + (text:sub(last, last) == '\\' and 2 or 1) end
      list[#list + 1] = '0'
    elseif c == '#' then
      last = (text:find('\n', at, true) or #text + 1) - 1
    else
      list[#list + 1] = c
    end
    at = last + 1
  end
end

local closing = { ['('] = ')', ['['] = ']', ['{'] = '}' }

-- The index of the token that closes the bracket at `at`.
local function close_of(list, at)
  local open, depth = list[at], 0
  local close = closing[open]
  for i = at, #list do
    if list[i] == open then
      depth = depth + 1
    elseif list[i] == close then
      depth = depth - 1
      if depth == 0 then return i end
    end
  end
  error('c_names.lua: no ' .. close .. ' for ' .. table.concat(list, ' ', at, math.min(at + 20, #list)), 0)
end

local function is_word(token) return token ~= nil and token:find '^[%a_]' ~= nil end

-- Adds the constants between the braces of an enum.
local function add_constants(list, first, last, into)
  local depth = 0
  for i = first + 1, last - 1 do
    if list[i] == '(' or list[i] == '{' then depth = depth + 1 end
    if list[i] == ')' or list[i] == '}' then depth = depth - 1 end
    if depth == 0 and is_word(list[i]) and (list[i - 1] == '{' or list[i - 1] == ',') then into[list[i]] = 'constant' end
  end
end

-- Adds the names of enums inside a struct.
local function add_nested(list, first, last, into)
  for i = first, last do
    if list[i] == 'enum' then
      local open = list[i + 1] == '{' and i + 1 or list[i + 2] == '{' and i + 2
      if open then add_constants(list, open, close_of(list, open), into) end
    end
  end
end

-- Reads one declaration from `at`. Returns the index that follows it.
local function read_declaration(list, at, into)
  local linkage = 'external'
  local named = false -- the current declarator has its name
  local i = at
  while i <= #list do
    local token = list[i]
    if token == ';' then return i + 1 end
    if token == 'static' then
      linkage = 'static'
    elseif token == 'typedef' then
      local of = list[i + 1]
      local is_alias = list[i + 3] == ';' and (of:find '^lt_' or of:find '_t$' or of == 'float' or of == 'double')
      linkage = is_alias and 'alias' or 'type'
    elseif with_parentheses[token] or token == '_Atomic' and list[i + 1] == '(' then
      i = close_of(list, i + 1)
    elseif token == '_Static_assert' then
      named = true
    elseif token == 'struct' or token == 'union' or token == 'enum' then
      while with_parentheses[list[i + 1]] do i = close_of(list, i + 2) end
      if is_word(list[i + 1]) then
        i = i + 1
        if list[i + 1] == '{' then into[list[i]] = into[list[i]] or 'tag' end
      end
      if list[i + 1] == '{' then
        local last = close_of(list, i + 1)
        if token == 'enum' then add_constants(list, i + 1, last, into) else add_nested(list, i + 1, last, into) end
        i = last
      end
    elseif token == '{' then
      i = close_of(list, i)
      if list[i + 1] ~= ';' and list[i + 1] ~= ',' then return i + 1 end -- the body of a function
    elseif token == '(' then
      local last = close_of(list, i)
      if not named then
        for k = i + 1, last do
          if is_word(list[k]) and not keywords[list[k]] then
            into[list[k]] = linkage
            named = true
            break
          end
        end
      end
      i = last
    elseif token == '[' then
      i = close_of(list, i)
    elseif token == ',' then
      named = false
    elseif token == '=' then
      named = true
    elseif is_word(token) and not keywords[token] and not named then
      local after = list[i + 1]
      if with_parentheses[after] then after = list[close_of(list, i + 2) + 1] end
      local pointer = after == '(' and list[i + 2] == '*' -- T (*name)(...)
      if after == ';' or after == ',' or after == '=' or after == '[' or after == '(' and not pointer then
        into[token] = linkage
        named = true
      end
    end
    i = i + 1
  end
  return i
end

-- Adds the names at file scope with their kinds: 'static' (functions and variables), 'type', 'alias'
-- (a short name of a number type), 'constant' (of an enum), 'tag' (of a struct with its members),
-- 'external'.
function M.find(text, into)
  local list, at = tokens_of(text), 1
  while at <= #list do at = read_declaration(list, at, into) end
  return into
end

return M
