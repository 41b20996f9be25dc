-- tokenizer_regex.lua - regular expressions of tokenizers. They are written for Oniguruma (Hugging
-- Face's tokenizers) and matched by PCRE2; character classes that differ are rewritten.

local C = require('torch')._C

local M = {}

--- White space of Unicode, and characters of words, inside of a class: those of the regular
--- expressions of Rust contain joiners, those of Oniguruma contain the fractions and exponents of Latin-1.
M.SPACE = [[\t-\r\x{85}\p{Z}]]
local WORD = [[\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}]]
M.WORD = WORD .. [[\x{200c}\x{200d}]]
--- Punctuation of ASCII and Unicode, inside of a class.
M.PUNCTUATION = [[\p{P}$+<=>\^`|~]]

local classes = { s = M.SPACE, w = WORD .. [[\x{b2}\x{b3}\x{b9}\x{bc}-\x{be}]], h = '0-9a-fA-F' }

-- The rewritten escape at position i of the pattern, and the position behind it.
local function escape(pattern, i, inside)
  local letter = pattern:sub(i + 1, i + 1)
  local class, negated = classes[letter], classes[letter:lower()]
  if class then return inside and class or '[' .. class .. ']', i + 2 end
  if negated and not inside then return '[^' .. negated .. ']', i + 2 end
  local hex = letter == 'u' and pattern:match('^%x%x%x%x', i + 2)
  if hex then return '\\x{' .. hex .. '}', i + 6 end
  local char = pattern:match('^' .. utf8.charpattern, i + 1) or ''
  return '\\' .. char, i + 1 + #char
end

--- The pattern in PCRE2's syntax; or nil and the feature that is not supported.
function M.translated(pattern)
  local parts, i, inside = {}, 1, false
  while i <= #pattern do
    local char = pattern:sub(i, i)
    if char == '\\' then
      parts[#parts + 1], i = escape(pattern, i, inside)
    elseif inside and pattern:find('^&&', i) then
      return nil, 'an intersection of classes (&&)'
    elseif inside and char == '[' then
      local posix = pattern:match('^%[:%^?%a+:%]', i)
      if not posix then return nil, 'a class inside of a class' end
      parts[#parts + 1], i = posix, i + #posix
    elseif not inside and char == '[' then
      local opening = pattern:match('^%[%^?%]?', i)
      parts[#parts + 1], i, inside = opening, i + #opening, true
    else
      if char == ']' then inside = false end
      parts[#parts + 1], i = char, i + 1
    end
  end
  return table.concat(parts)
end

--- The pattern that matches the text itself.
function M.literal(text) return (text:gsub('[%p]', '\\%0')) end

--- The compiled expression of a pattern in PCRE2's syntax.
function M.compile(pattern)
  local regex, problem, position = C.regex(pattern)
  if not regex then error(('%s at byte %d of %s'):format(problem, position, pattern), 0) end
  return regex
end

--- The compiled pattern of a node { String = text } or { Regex = pattern }.
function M.of(node)
  local text = node:optional_string 'String'
  if text then
    if text == '' then node:refuse('String', 'a text that is not empty') end
    return M.compile(M.literal(text))
  end
  local pattern, unsupported = M.translated(node:string 'Regex')
  if not pattern then node:refuse('Regex', 'a pattern without ' .. unsupported) end
  local regex, problem, position = C.regex(pattern)
  if not regex then node:refuse('Regex', ('a regular expression (%s, at byte %d of %s)'):format(problem, position, pattern)) end
  return regex
end

--- The pieces of regex:split.
M.MATCHES, M.GAPS, M.BOTH = 1, 2, 3

return M
