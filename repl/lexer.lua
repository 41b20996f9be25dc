-- A lexer for Lua: splits text into tokens with their byte positions.
--
-- Used where Lua's compiler gives no information: to find the top-level locals and the last
-- expression of a cell (repl.parser), to indent, and to find the expression before the cursor
-- (repl.edit.complete). It accepts any text: an invalid token has the kind 'unknown', an unfinished
-- string or comment the kind 'unfinished'.
-- load() determines whether source is valid. Depends on nothing.

local lexer = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or
  repeat return then true until while]]):gmatch '%a+' do
  keywords[word] = true
end
lexer.keywords = keywords

local operators = {
  ['...'] = 3, ['..'] = 2, ['=='] = 2, ['~='] = 2, ['<='] = 2, ['>='] = 2, ['//'] = 2,
  ['<<'] = 2, ['>>'] = 2, ['::'] = 2,
}

-- The position after a quoted string that starts at `start`, and whether it was closed.
local function quoted(source, start)
  local quote = source:sub(start, start)
  local position = start + 1
  while true do
    local at = source:find('[\\\r\n' .. quote .. ']', position)
    if not at then return #source + 1, false end
    local char = source:sub(at, at)
    if char == quote then return at + 1, true end
    if char ~= '\\' then return at, false end
    if source:find('^z', at + 1) then
      position = source:find('%S', at + 2) or #source + 1
    elseif source:find('^\r\n', at + 1) then
      position = at + 3
    else
      position = at + 2
    end
  end
end

-- The position after a long string or comment with its opening bracket at `start`.
local function long(source, start)
  local level = source:match('^%[(=*)%[', start)
  if not level then return nil end
  local _, stop = source:find(']' .. level .. ']', start + #level + 2, true)
  if not stop then return #source + 1, false end
  return stop + 1, true
end

local function number(source, start)
  local stop
  if source:find('^0[xX]', start) then
    stop = start + 2
    while true do
      local next_stop = select(2, source:find('^[pP][+-]', stop)) or
        select(2, source:find('^[%x.%w_]', stop))
      if not next_stop then break end
      stop = next_stop + 1
    end
  else
    stop = start
    while true do
      local next_stop = select(2, source:find('^[eE][+-]', stop)) or
        select(2, source:find('^[%w._]', stop))
      if not next_stop then break end
      stop = next_stop + 1
    end
  end
  return stop
end

-- A list of tokens {kind, text, start, stop}: kind is 'name', 'number', 'string', 'unfinished',
-- 'unknown', or the keyword or operator itself. Comments leave no token, except an unfinished one.
function lexer.tokens(source)
  local list, position = {}, 1
  local function add(kind, start, after)
    list[#list + 1] = {kind = kind, text = source:sub(start, after - 1), start = start, stop = after - 1}
    position = after
  end
  while true do
    position = source:find('%S', position)
    if not position then return list end
    local start, char = position, source:sub(position, position)
    if char:find '[%a_]' then
      local after = source:find('[^%w_]', start) or #source + 1
      local word = source:sub(start, after - 1)
      add(keywords[word] and word or 'name', start, after)
    elseif char:find '%d' or source:find('^%.%d', start) then
      add('number', start, number(source, start))
    elseif char == '"' or char == "'" then
      local after, closed = quoted(source, start)
      add(closed and 'string' or 'unfinished', start, after)
    elseif source:find('^%-%-', start) then
      local after, closed = long(source, start + 2)
      if after and not closed then
        add('unfinished', start, after)
      else
        position = after or source:find('[\r\n]', start) or #source + 1
      end
    elseif source:find('^%[=*%[', start) then
      local after, closed = long(source, start)
      add(closed and 'string' or 'unfinished', start, after)
    else
      local length = operators[source:sub(start, start + 2)] or operators[source:sub(start, start + 1)] or 1
      local text = source:sub(start, start + length - 1)
      add(text:find '^[%p]' and text or 'unknown', start, start + length)
    end
  end
end

-- The number of blocks and brackets that are open at the end of `source`, for indenting the next
-- line.
function lexer.depth(source)
  local depth = 0
  for _, token in ipairs(lexer.tokens(source)) do
    local kind = token.kind
    if kind == 'do' or kind == 'then' or kind == 'function' or kind == 'repeat' or
      kind == '(' or kind == '{' or kind == '[' then
      depth = depth + 1
    elseif kind == 'end' or kind == 'until' or kind == 'elseif' or
      kind == ')' or kind == '}' or kind == ']' then
      depth = depth - 1
    end
  end
  return math.max(depth, 0)
end

return lexer
