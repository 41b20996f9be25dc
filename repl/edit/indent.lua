-- Blanks before the lines of a cell that is typed: how many a line begins with, and where `end` stands. Uses repl.lexer.

local lexer = require 'repl.lexer'

local indent = {}

-- Blanks for the line that continues the text; nil where they would become part of a string, or for none.
function indent.for_next(text)
  local tokens = lexer.tokens(text)
  if tokens[#tokens] and tokens[#tokens].kind == 'unfinished' then return nil end
  local depth = lexer.depth(text)
  return depth > 0 and ('  '):rep(depth) or nil
end

-- How many of the blanks that the line was given its first word takes back: `end` stands where its block began.
function indent.excess(line, given)
  if not given or line:sub(1, #given) ~= given then return 0 end
  local rest = line:sub(#given + 1)
  local word = rest:match '^[%a_][%w_]*' or rest:match '^[})%]]'
  local closes = word == 'end' or word == 'else' or word == 'elseif' or word == 'until' or (word and not word:find '[%w_]')
  return closes and 2 or 0
end

return indent
