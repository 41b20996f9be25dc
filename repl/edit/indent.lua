-- Indentation of a typed cell: the blanks at the start of a new line, and the position of `end`.
-- Uses repl.lexer.

local lexer = require 'repl.lexer'

local indent = {}

-- The indentation of the line that continues the text; nil if there is none, or if it would become
-- part of a string.
function indent.for_next(text)
  local tokens = lexer.tokens(text)
  if tokens[#tokens] and tokens[#tokens].kind == 'unfinished' then return nil end
  local depth = lexer.depth(text)
  return depth > 0 and ('  '):rep(depth) or nil
end

-- The number of inserted blanks to remove from the line because it closes a block: `end` is aligned
-- with the start of its block.
function indent.excess(line, given)
  if not given or line:sub(1, #given) ~= given then return 0 end
  local rest = line:sub(#given + 1)
  local word = rest:match '^[%a_][%w_]*' or rest:match '^[})%]]'
  local closes = word == 'end' or word == 'else' or word == 'elseif' or word == 'until' or (word and not word:find '[%w_]')
  return closes and 2 or 0
end

return indent
