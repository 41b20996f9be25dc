-- tokenizer.lua - torch.lm.tokenizer(source): converts text to token ids and back.
--
--   local tokenizer = torch.lm.tokenizer('tokenizer.json')
--   local ids = tokenizer:encode('Hello world')
--   print(tokenizer:decode(ids, { skip_special_tokens = true }))
--
-- Ids are the numbers that the model's files use: they count from 0. nn.Embedding counts its rows
-- from 1, so row id + 1 belongs to a token.
--
-- encode() cuts a text at added tokens, normalizes the parts, splits them into words and encodes
-- each word with the model. The ids of short words are cached. Invalid UTF-8 in a text counts as
-- U+FFFD.

--[=[ arguments
source: Path of a tokenizer.json of Hugging Face, or the metadata of a GGUF file as a table.
text: Text.
max_length: Maximum number of ids; the tokens beyond it are left out. nil: unlimited.
add_special_tokens: Whether the ids begin and end as the model expects, for example with a token for the beginning of a text.
ids: List of token ids, or a tensor of one dimension with them.
skip_special_tokens: Whether special tokens, such as the end of a text, are left out.
token_to_id.token: Token, as it is in the vocabulary.
id: Token id.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local whole_file = require 'torch.files.whole_file'
local Decoders = require 'torch.lm.tokenizer_decoders'
local Description = require 'torch.lm.tokenizer_description'

local C = torch._C

local MAX_FILE = 256 << 20    -- bytes of a tokenizer.json
local MAX_CACHED_WORD = 64    -- bytes
local MAX_CACHED = 1 << 16    -- words

local Tokenizer = class.Object:extend 'Tokenizer'

-- ---- files --------------------------------------------------------------------------------------

local function new_object() return {} end

local function read_json(path)
  local text = whole_file.read(path, MAX_FILE)
  local valid, damaged = utf8.len(text)
  if not valid then fail('%s: byte %d is not UTF-8, expected a tokenizer.json', path, damaged) end
  -- A zero byte would end a string of the reader: see src/lua/files/json.c.
  if text:find('\\u0000', 1, true) then
    text = text:gsub('\\(.)(0?0?0?0?)', function(escape, zeros) return escape == 'u' and #zeros == 4 and '\xff' or nil end)
  end
  local value, problem, position = C.read_json(text, new_object, nil)
  if position then fail('%s: no JSON at byte %d%s, expected a tokenizer.json', path, position, problem and ' (' .. problem .. ')' or '') end
  if type(value) ~= 'table' then fail('%s: a JSON text that is not an object, expected a tokenizer.json', path) end
  return value
end

function Tokenizer:init(source)
  local parts
  if type(source) == 'string' then
    parts = Description.build(read_json(source), source)
  else
    parts = require('torch.lm.tokenizer_gguf').build(source)
  end
  local special, special_ids = {}, {}
  for _, token in ipairs(parts.added) do
    if token.special and not special[token.id] then
      special[token.id] = true
      special_ids[#special_ids + 1] = token.id
    end
  end
  parts.special = special
  parts.single, parts.several, parts.cached = {}, {}, 0
  local count = 0
  for i = 1, parts.n_tokens do count = parts.tokens[i] and count + 1 or count end
  self._parts = parts
  self.vocab_size, self.all_special_ids = count, special_ids
  self.bos_token_id, self.eos_token_id = parts.bos, parts.eos
end

-- ---- encoding -----------------------------------------------------------------------------------

-- Encodes a word that is not cached.
local function encode_word(parts, word)
  local ids = parts.encode_word(word)
  if #word > MAX_CACHED_WORD then return ids end
  if parts.cached >= MAX_CACHED then parts.single, parts.several, parts.cached = {}, {}, 0 end
  parts.cached = parts.cached + 1
  if type(ids) == 'table' then parts.several[word] = ids else parts.single[word] = ids end
  return ids
end

-- A sink of words that appends their ids to the list.
local function id_sink(parts, out)
  local count = #out
  local function sink(words, n)
    local single, several = parts.single, parts.several
    for i = 1, n do
      local word = words[i]
      local ids = single[word]
      if not ids then
        ids = several[word]
        if not ids then
          ids = encode_word(parts, word)
          single, several = parts.single, parts.several
        end
      end
      if ids == single[word] or type(ids) ~= 'table' then
        count = count + 1
        out[count] = ids
      else
        for k = 1, #ids do out[count + k] = ids[k] end
        count = count + #ids
      end
    end
  end
  return sink, function(id)
    count = count + 1
    out[count] = id
  end
end

local function encode_into(parts, text, out)
  local sink, add_id = id_sink(parts, out)
  local scratch = {}
  -- Splits a normalized text into words. first: the text begins where the input does.
  local function encode_words(part, first)
    if part == '' then return end
    if parts.split then return parts.split(part, first, sink, scratch) end
    sink({ part }, 1)
  end
  local function encode_part(part, position)
    if not position then return add_id(part) end
    local first = position == 1
    if parts.normalize then
      -- without its first character, a text does not begin where the input does
      first = first and parts.normalize(part:match(utf8.charpattern)) ~= ''
      part = parts.normalize(part)
    end
    if not parts.find_normalized then return encode_words(part, first) end
    parts.find_normalized:split(part, function(piece, at)
      if not at then return add_id(piece) end
      encode_words(piece, first and at == 1)
    end)
  end
  if parts.find_raw then parts.find_raw:split(text, encode_part) elseif text ~= '' then encode_part(text, 1) end
end

--- The token ids of a text.
function Tokenizer:encode(text, options)
  local parts, out = self._parts, {}
  local special = options.add_special_tokens
  if special then table.move(parts.before, 1, #parts.before, 1, out) end
  encode_into(parts, C.repair_utf8(text), out)
  if options.max_length then
    local most = math.max(0, options.max_length - (special and #parts.after or 0))
    for i = #out, most + 1, -1 do out[i] = nil end
  end
  if special then table.move(parts.after, 1, #parts.after, #out + 1, out) end
  return out
end

-- ---- decoding -----------------------------------------------------------------------------------

local function check_id(name, parts, id, position)
  if math.type(id) ~= 'integer' or id < 0 or id >= parts.n_tokens then
    fail('%s(): id %s%s is not a token, expected an integer from 0 to %d', name, tostring(id),
      position and (' at position %d'):format(position) or '', parts.n_tokens - 1)
  end
end

local function decode(parts, ids, skip)
  local texts = {}
  for i = 1, #ids do
    local id = ids[i]
    check_id('decode', parts, id, i)
    local token = parts.tokens[id + 1]
    if token and not (skip and parts.special[id]) then texts[#texts + 1] = token end
  end
  if not parts.decode then return table.concat(texts, ' ') end
  return table.concat(parts.decode(texts))
end

--- The text of token ids.
function Tokenizer:decode(ids, options)
  if type(ids) ~= 'table' then ids = ids:tolist() end
  if type(ids) ~= 'table' then fail 'decode(): ids must have one dimension, got a scalar tensor' end
  return decode(self._parts, ids, options.skip_special_tokens)
end

-- The length of the text without an unfinished character at its end.
local function finished_length(text)
  local valid, bad = utf8.len(text)
  while not valid do
    local tail = #text - bad + 1
    local lead = text:byte(bad)
    local length = lead >= 0xF0 and 4 or lead >= 0xE0 and 3 or 2
    -- an invalid byte in the middle is an error of its own
    if lead >= 0xC2 and lead <= 0xF4 and tail < length and C.repair_utf8(text:sub(bad)) == '\u{FFFD}' then return bad - 1 end
    valid, bad = utf8.len(text, bad + 1)
  end
  return #text
end

-- A stream for a vocabulary of bytes.
local function byte_stream(parts, skip)
  local pending = ''
  return function(id)
    if id == nil then
      local rest = pending
      pending = ''
      return (C.repair_utf8(rest))
    end
    check_id('stream', parts, id)
    local token = parts.tokens[id + 1]
    if not token or skip and parts.special[id] then return '' end
    local text = pending .. Decoders.bytes_of(token)
    local n = finished_length(text)
    pending = text:sub(n + 1)
    return (C.repair_utf8(text:sub(1, n)))
  end
end

-- A stream for other decoders: the texts of the last tokens, with and without the new one, differ
-- by the new text. The tokens of the last piece are kept, since the first token of a text may lose
-- its space. Tokens of bytes, such as <0xE2>, wait for the rest of their character.
local function text_stream(parts, skip)
  local ids, kept, before, bytes = {}, 0, '', ''
  return function(id)
    if id ~= nil then
      check_id('stream', parts, id)
      ids[#ids + 1] = id
      local hex = (parts.tokens[id + 1] or ''):match '^<0x(%x%x)>$'
      bytes = hex and bytes .. string.char(tonumber(hex, 16)) or ''
      local n = finished_length(bytes)
      bytes = bytes:sub(n + 1)
      if bytes ~= '' then return '' end
    end
    local text = decode(parts, ids, skip)
    if #text <= #before then return '' end
    local piece = text:sub(#before + 1)
    ids = table.move(ids, kept + 1, #ids, 1, {})
    kept, before = #ids, decode(parts, ids, skip)
    return piece
  end
end

--- A function for the ids of a text that is generated token by token: stream(id) returns the text
-- that the token completes, which may be empty, and stream() the rest. A character of several tokens
-- is returned with its last one.
function Tokenizer:stream(options)
  return (self._parts.byte_decoder and byte_stream or text_stream)(self._parts, options.skip_special_tokens)
end

-- ---- the vocabulary -----------------------------------------------------------------------------

--- The id of a token, or nil.
function Tokenizer:token_to_id(token)
  local parts = self._parts
  if not parts.ids then
    local ids = {}
    for i = parts.n_tokens, 1, -1 do
      if parts.tokens[i] then ids[parts.tokens[i]] = i - 1 end
    end
    for _, added in ipairs(parts.added) do ids[added.content] = added.id end
    parts.ids = ids
  end
  return parts.ids[token]
end

--- The token of an id, as it is in the vocabulary, or nil for an unused id.
function Tokenizer:id_to_token(id)
  local parts = self._parts
  check_id('id_to_token', parts, id)
  return parts.tokens[id + 1] or nil
end

function Tokenizer:__tostring() return ('Tokenizer(vocab_size=%d)'):format(self.vocab_size) end

declare.methods(Tokenizer, [[
  init(self, string|table source)
  token_to_id(self, string token)
  id_to_token(self, integer id)
]])
declare.methods(Tokenizer, [[
  encode(self, string text, *, boolean add_special_tokens=true, integer? max_length)
  decode(self, table|Tensor ids, *, boolean skip_special_tokens=false)
  stream(self, *, boolean skip_special_tokens=false)
]], nil, 'options')

return Tokenizer
