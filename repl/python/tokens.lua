-- A lexer for Python: splits text into tokens for repl.python.
--
-- A token is {kind, text, line}: kind is 'name', 'number', 'string', 'newline', 'indent', 'dedent',
-- 'comment', 'end', or the operator itself. A string has prefix, body and long; a newline may have a
-- comment. Spaces before a token are counted in its field `gap`. Lines are joined inside of brackets
-- and after a backslash. Depends on nothing.

local tokens = {}

local operators = {
  ['**='] = true, ['//='] = true, ['>>='] = true, ['<<='] = true, ['...'] = true,
  ['**'] = true, ['//'] = true, ['>>'] = true, ['<<'] = true, ['=='] = true, ['!='] = true, ['<='] = true,
  ['>='] = true, ['->'] = true, ['+='] = true, ['-='] = true, ['*='] = true, ['/='] = true, ['%='] = true,
  ['@='] = true, ['&='] = true, ['|='] = true, ['^='] = true, [':='] = true, ['~='] = true,
}
for char in ('+-*/%@&|^~<>()[]{},:.;='):gmatch '.' do operators[char] = true end

local closing = {[')'] = '(', [']'] = '[', ['}'] = '{'}

-- The token of a string that starts at `start` (after the prefix), and the position after it; nil
-- if it is not closed.
local function string_at(text, start, prefix)
  local quote = text:sub(start, start)
  local long = text:sub(start, start + 2) == quote:rep(3)
  local mark = long and quote:rep(3) or quote
  local position = start + #mark
  while true do
    local char = text:sub(position, position)
    if char == '' or (char == '\n' and not long) then return nil end
    if text:sub(position, position + #mark - 1) == mark then break end
    position = position + (char == '\\' and 2 or 1)
  end
  return {kind = 'string', prefix = prefix:lower(), body = text:sub(start + #mark, position - 1), long = long}, position + #mark
end

local function number_at(text, start)
  local stop = select(2, text:find('^0[xXoObB][%x_]+', start))
  if not stop then
    stop = select(2, text:find('^[%d_]*%.?[%d_]*', start))
    stop = select(2, text:find('^[eE][+-]?[%d_]+', stop + 1)) or stop
  end
  return select(2, text:find('^[jJ]', stop + 1)) or stop
end

local Lexer = {}
Lexer.__index = Lexer

function Lexer:add(token, gap)
  token.gap, token.line = gap or 0, self.line
  self.list[#self.list + 1] = token
end

-- Handles the indentation of a line with code; false if it does not match a block.
function Lexer:indent(spaces)
  local levels = self.levels
  local width = #spaces:gsub('\t', '        ')
  if width > levels[#levels] then
    levels[#levels + 1] = width
    self:add {kind = 'indent'}
  end
  while width < levels[#levels] do
    levels[#levels] = nil
    self:add {kind = 'dedent'}
  end
  return width == levels[#levels]
end

-- Adds the token at the position and returns the position after it; nil: not Python.
function Lexer:token(position, gap)
  local text = self.text
  local prefix = text:match('^([fFrRbBuU]?[fFrRbB]?)["\']', position)
  if prefix then
    local token, after = string_at(text, position + #prefix, prefix)
    if not token then return nil end
    self:add(token, gap)
    self.line = self.line + select(2, token.body:gsub('\n', ''))
    return after
  end
  local name = text:match('^[%a_\x80-\xff][%w_\x80-\xff]*', position)
  if name then
    self:add({kind = 'name', text = name}, gap)
    return position + #name
  end
  if text:find('^%.?%d', position) then
    local stop = number_at(text, position)
    if text:find('^[%w_]', stop + 1) then return nil end
    self:add({kind = 'number', text = text:sub(position, stop)}, gap)
    return stop + 1
  end
  for length = 3, 1, -1 do
    local operator = text:sub(position, position + length - 1)
    if #operator == length and operators[operator] then
      local open = self.open
      if operator:find '^[%(%[{]$' then
        open[#open + 1] = operator
      elseif closing[operator] then
        if open[#open] ~= closing[operator] then return nil end
        open[#open] = nil
      end
      self:add({kind = operator}, gap)
      return position + length
    end
  end
end

-- Ends a line at the position; comment: its text, or nil. Blank lines and lines with only a comment
-- end no statement.
function Lexer:end_line(comment)
  local last = self.list[#self.list]
  local kind = last and last.kind
  if last and kind ~= 'newline' and kind ~= 'comment' and kind ~= 'indent' and kind ~= 'dedent' then
    self:add {kind = 'newline', comment = comment}
  elseif comment then
    self:add {kind = 'comment', text = comment}
  end
end

-- The tokens of the text, or nil if it is not Python.
function tokens.of(text)
  local self = setmetatable({text = text, list = {}, levels = {0}, open = {}, line = 1}, Lexer)
  local position, at_start = 1, true
  -- the first line sets the base of the indentation
  self.levels[1] = #(text:match '^%s-([ \t]*)[^%s]' or ''):gsub('\t', '        ')
  while position <= #text do
    local spaces, after = text:match('^([ \t\f]*)()', position)
    local char = text:sub(after, after)
    if char == '\\' and text:find('^\r?\n', after + 1) then
      position, self.line = text:find('\n', after, true) + 1, self.line + 1
    elseif char == '\n' or char == '\r' or char == '' or char == '#' then
      local comment = text:match('^#([^\r\n]*)', after)
      if #self.open == 0 then
        self:end_line(comment)
        at_start = true
      end
      position = (text:find('\n', after, true) or #text) + 1
      self.line = self.line + 1
    else
      if at_start and #self.open == 0 and not self:indent(spaces) then return nil end
      at_start = false
      position = self:token(after, #spaces)
      if not position then return nil end
    end
  end
  if #self.open > 0 then return nil end
  self:end_line()
  for _ = 2, #self.levels do self:add {kind = 'dedent'} end
  self:add {kind = 'end'}
  return self.list
end

return tokens
