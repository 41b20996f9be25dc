-- Syntax colours of Lua: a class for each byte of a cell.
--
-- Classes are letters that repl/edit/display.c paints: k keyword, s string, n number, c comment, x
-- a command of the prompt (`!`, `%`, `?`), b a pair of matching brackets, h hidden, blank for the
-- rest. Text that is not Lua is coloured as far as it is valid. Uses repl.lexer.

local lexer = require 'repl.lexer'

local highlight = {}

local class_of = {number = 'n', string = 's', name = ' ', unknown = ' '}

local function is_command(line) return line:find '^%s*[!%%?]' ~= nil or line:find '^%s*[%a_][%w_. ]*=%s*!' ~= nil or line:find '^%s*[%a_][%w_.:]*%?%??%s*$' ~= nil end

local opens = {['('] = ')', ['['] = ']', ['{'] = '}'}
local closes = {[')'] = true, [']'] = true, ['}'] = true}

-- The positions of the bracket at `place`, or else before it, and of its matching bracket; nil if
-- there is no such pair.
local function matching_brackets(tokens, place)
  local stack, pair_of = {}, {}
  for _, token in ipairs(tokens) do
    if opens[token.kind] then
      stack[#stack + 1] = token
    elseif closes[token.kind] then
      local open = table.remove(stack)
      if open and opens[open.kind] == token.kind then
        pair_of[open.start], pair_of[token.start] = token.start, open.start
      end
    end
  end
  for _, at in ipairs {place, place - 1} do
    if pair_of[at] then return at, pair_of[at] end
  end
end

local function with_class(classes, at, class)
  if at < 1 or at > #classes then return classes end
  return classes:sub(1, at - 1) .. class .. classes:sub(at + 1)
end

-- The classes of the text's bytes after the first `skipped`. point: the number of these bytes
-- before the cursor, or nil or negative for no cursor; hidden: the number of initial bytes that are
-- not shown.
function highlight.classes(text, skipped, point, hidden)
  local first = text:match '^[^\n]*'
  local parts, position = {}, 1
  local function fill(class, stop)
    if stop >= position then
      parts[#parts + 1] = class:rep(stop - position + 1)
      position = stop + 1
    end
  end
  if is_command(first) then fill('x', #first) end
  local offset = position - 1
  local tokens = lexer.tokens(text:sub(position))
  for _, token in ipairs(tokens) do
    local start, stop = token.start + offset, token.stop + offset
    -- comments are not tokens: the text between two tokens is blank or a comment
    local dashes = text:find('--', position, true)
    if dashes and dashes < start then
      fill(' ', dashes - 1)
      fill('c', start - 1)
    end
    fill(' ', start - 1)
    local class = class_of[token.kind]
    if token.kind == 'unfinished' then class = token.text:find '^%-%-' and 'c' or 's' end
    fill(class or lexer.keywords[token.kind] and 'k' or ' ', stop)
  end
  local dashes = text:find('--', position, true)
  fill(' ', dashes and dashes - 1 or #text)
  fill('c', #text)
  local classes = table.concat(parts):sub(skipped + 1)
  if point and point >= 0 then
    local first_bracket, second = matching_brackets(tokens, skipped + point + 1 - offset)
    if first_bracket then
      classes = with_class(classes, first_bracket + offset - skipped, 'b')
      classes = with_class(classes, second + offset - skipped, 'b')
    end
  end
  return ('h'):rep(hidden or 0) .. classes:sub((hidden or 0) + 1)
end

return highlight
