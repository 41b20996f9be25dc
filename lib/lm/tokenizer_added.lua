-- tokenizer_added.lua - added tokens, such as <|im_start|>: they are found in the text before it is
-- split into words, the longest one first.

local Regex = require 'torch.lm.tokenizer_regex'

local M = {}

local Finder = {}
Finder.__index = Finder

--- Finds the tokens of the list { {content =, id =, lstrip =, rstrip =, single_word =}, ... } in
--- texts; nil for an empty list.
function M.finder(tokens)
  if #tokens == 0 then return nil end
  local by_content, lengths, first = {}, {}, {}
  for _, token in ipairs(tokens) do
    local byte, length = token.content:byte(), #token.content
    if not lengths[byte] then
      lengths[byte] = {}
      first[#first + 1] = string.char(byte):gsub('%p', '%%%0')
    end
    lengths[byte][length] = true
    by_content[token.content] = by_content[token.content] or token
  end
  for byte, set in pairs(lengths) do
    local list = {}
    for length in pairs(set) do list[#list + 1] = length end
    table.sort(list, function(a, b) return a > b end)
    lengths[byte] = list
  end
  return setmetatable({ tokens = by_content, lengths = lengths, pattern = '[' .. table.concat(first) .. ']' }, Finder)
end

-- The token that begins first, from position `at` on, and its position.
function Finder:find(text, at)
  while true do
    at = text:find(self.pattern, at)
    if not at then return nil end
    for _, length in ipairs(self.lengths[text:byte(at)]) do
      local token = self.tokens[text:sub(at, at + length - 1)]
      if token then return token, at end
    end
    at = at + 1
  end
end

local blanks = {}
for _, range in ipairs { { 9, 13 }, { 32, 32 }, { 0x85, 0x85 }, { 0xA0, 0xA0 }, { 0x1680, 0x1680 }, { 0x2000, 0x200A }, { 0x2028, 0x2029 },
  { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 } } do
  for c = range[1], range[2] do blanks[utf8.char(c)] = true end
end

-- The characters before and at a position of a text; '' outside of it.
local function char_before(text, at) return at > 1 and text:sub(utf8.offset(text, -1, at), at - 1) or '' end
local function char_at(text, at) return text:match('^' .. utf8.charpattern, at) or '' end

local word
local function is_word(char)
  word = word or Regex.compile('[' .. Regex.WORD .. ']')
  return word:split({}, char, 1, 1, Regex.MATCHES) > 0
end

-- The range of a token with its stripped neighbours; nil: it is a part of a word. done: the end of
-- the token before it.
local function range_of(token, text, at, done)
  local stop = at + #token.content - 1
  if token.single_word and (is_word(char_before(text, at)) or is_word(char_at(text, stop + 1))) then return nil end
  while token.lstrip and at - 1 > done and blanks[char_before(text, at)] do at = at - #char_before(text, at) end
  while token.rstrip and blanks[char_at(text, stop + 1)] do stop = stop + #char_at(text, stop + 1) end
  return at, stop
end

--- Calls sink(text, position) for the texts between tokens and sink(id) for tokens.
function Finder:split(text, sink)
  local done, at = 0, 1
  while true do
    local token, position = self:find(text, at)
    if not token then break end
    local first, last = range_of(token, text, position, done)
    if first then
      if first > done + 1 then sink(text:sub(done + 1, first - 1), done + 1) end
      sink(token.id)
      done, at = last, last + 1
    else
      at = position + #token.content
    end
  end
  if done < #text then sink(done == 0 and text or text:sub(done + 1), done + 1) end
end

return M
