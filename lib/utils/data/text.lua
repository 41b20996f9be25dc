-- text.lua - utils.data.text: converts a text file to positions in a vocabulary, and back.
--
--   local text = torch.utils.data.text
--   local lines = text.read_lines('book.txt', { normalize = true })
--   local tokens = text.tokenize(lines, 'word')   -- a list of lists
--   local vocab = text.Vocabulary(tokens, { min_freq = 5, reserved = { '<pad>' } })
--   vocab:ids { 'the', 'time' }      -- an int64 tensor; unknown tokens are vocab.unknown
--   vocab:tokens(ids)                -- the tokens again
--
-- Position 1 is the unknown token, then come the reserved ones, then all others by decreasing
-- frequency (ties in byte order). #vocab is their number, vocab.list the list of tokens,
-- vocab.counts their frequencies.

--[=[ arguments
path: File.
normalize: Whether letters become lower-case and everything else a blank.
max_bytes: Number of bytes above which a file is an error.
text: Line, or list of lines.
by: Kind of the tokens: `'word'` for words between blanks, `'char'` for UTF-8 characters, `'byte'` for bytes.
tokens: List of tokens, or of lists of tokens.
min_freq: Number of occurrences below which a token is left out.
reserved: Tokens that come first.
unknown: Token that stands for all others.
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local whole_file = require 'torch.files.whole_file'

local M = {}

--- The lines of a file without their ends. normalize: letters in lower case, everything else one
-- space. max_bytes (2^30): a longer file is an error.
function M.read_lines(path, options)
  local text = whole_file.read(path, options.max_bytes)
  if text:find '[^\n]$' then text = text .. '\n' end
  local lines = {}
  for line in text:gmatch '([^\n]*)\n' do lines[#lines + 1] = line:gsub('\r$', '') end
  if options.normalize then
    for i, line in ipairs(lines) do lines[i] = line:gsub('[^A-Za-z]+', ' '):gsub('^ ', ''):gsub(' $', ''):lower() end
  end
  return lines
end

-- Bytes that are no UTF-8 are characters of their own.
local function characters(line, list)
  local at = 1
  while at <= #line do
    local stop = at
    if line:byte(at) >= 0xC0 then
      local found = line:match('^[\xC0-\xF7][\x80-\xBF]+', at)
      if found and utf8.len(found) == 1 then stop = at + #found - 1 end
    end
    list[#list + 1] = line:sub(at, stop)
    at = stop + 1
  end
end

--- The tokens of a text, or of each line of a list (then a list of lists). by: 'word' (separated by
-- blanks, the default), 'char' (UTF-8 characters) or 'byte'.
function M.tokenize(text, by)
  by = by or 'word'
  if by ~= 'word' and by ~= 'char' and by ~= 'byte' then
    fail("tokenize(): 'word', 'char' or 'byte' expected, got %s", tostring(by))
  end
  if type(text) == 'table' then
    local lists = {}
    for i, line in ipairs(text) do lists[i] = M.tokenize(line, by) end
    return lists
  end
  if type(text) ~= 'string' then fail('tokenize(): a string or a list of strings expected, got %s', type(text)) end
  local list = {}
  if by == 'char' then
    characters(text, list)
  else
    for token in text:gmatch(by == 'word' and '%S+' or '[\0-\255]') do list[#list + 1] = token end
  end
  return list
end

-- ---- vocabularies -------------------------------------------------------------------------------

local methods = {}
local Vocabulary = {
  __name = 'Vocabulary',
  __len = function(self) return #self.list end,
  __index = methods,
}

local function each_token(tokens, visit)
  for _, token in ipairs(tokens) do
    if type(token) == 'table' then
      each_token(token, visit)
    elseif type(token) == 'string' then
      visit(token)
    else
      fail('Vocabulary(): tokens are strings, got %s', type(token))
    end
  end
end

--- A vocabulary of a list of tokens, or of lists of them. Options: min_freq (1: rarer tokens are
-- unknown), reserved (a list of tokens at the beginning), unknown ('<unk>'; false: there is none,
-- and unknown tokens are errors).
function M.Vocabulary(tokens, options)
  local counts, sorted = {}, {}
  each_token(tokens or {}, function(token)
    if not counts[token] then sorted[#sorted + 1] = token end
    counts[token] = (counts[token] or 0) + 1
  end)
  table.sort(sorted, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
  end)
  local list, positions = {}, {}
  local function add(token)
    if positions[token] then return end
    list[#list + 1] = token
    positions[token] = #list
  end
  if options.unknown then add(options.unknown) end
  for _, token in ipairs(options.reserved) do add(token) end
  for _, token in ipairs(sorted) do
    if counts[token] >= options.min_freq then add(token) end
  end
  local unknown = options.unknown and 1 or false
  return setmetatable({ list = list, positions = positions, counts = counts, unknown = unknown }, Vocabulary)
end

--- The position of a token.
function methods:id(token)
  local position = self.positions[token] or self.unknown
  if not position then fail("the vocabulary has no '%s'", tostring(token)) end
  return position
end

--- The positions of a list of tokens, as an int64 tensor.
function methods:ids(tokens)
  local positions = {}
  for i, token in ipairs(tokens) do positions[i] = self:id(token) end
  return torch.tensor(positions, { dtype = torch.int64 })
end

--- The tokens at positions: a list of numbers or a tensor of one dimension; of one number, the
--- token.
function methods:tokens(ids)
  if math.type(ids) == 'integer' then
    local token = self.list[ids]
    if not token then fail('the vocabulary has %d tokens, but got position %d', #self.list, ids) end
    return token
  end
  local found = {}
  if torch.is_tensor(ids) then ids = ids:reshape(-1):tolist() end
  for i, id in ipairs(ids) do found[i] = self:tokens(id) end
  return found
end

declare.functions(M, ([[
  read_lines(string path, *, boolean normalize=false, number max_bytes=%d)
  Vocabulary(table? tokens, *, integer min_freq=1, table reserved={}, string|none unknown='<unk>')
]]):format(whole_file.MAX_BYTES), 'options')

return checked.functions(M)
