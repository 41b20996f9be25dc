-- The colours of Lua as it is typed: a class for every byte of a cell.
--
-- Classes are letters that repl/edit/display.c paints: k keyword, s string, n number, c comment, x a command of
-- the prompt (`!`, `%`, `?`), blank for the rest. Text that is no Lua is coloured as far as it goes. Uses
-- repl.lexer.

local lexer = require 'repl.lexer'

local highlight = {}

local class_of = {number = 'n', string = 's', name = ' ', unknown = ' '}

local function is_command(line) return line:find '^%s*[!%%?]' ~= nil or line:find '^%s*[%a_][%w_.:]*%?%??%s*$' ~= nil end

-- The classes of the text's bytes after the first `skipped`.
function highlight.classes(text, skipped)
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
  for _, token in ipairs(lexer.tokens(text:sub(position))) do
    local start, stop = token.start + offset, token.stop + offset
    -- comments leave no token: what lies between two is blank or a comment
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
  return table.concat(parts):sub(skipped + 1)
end

return highlight
