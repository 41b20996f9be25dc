-- tokenizer_normalizers.lua - the normalizers of tokenizers: functions that change a text before it
-- is split into words. Names, arguments and order of steps are those of Hugging Face's tokenizers.

local C = require('torch')._C
local Regex = require 'torch.lm.tokenizer_regex'

local unicode_map = C.unicode_map

local function mapped(name) return function(text) return unicode_map(text, name) end end

local kinds = {}

for _, form in ipairs { 'NFC', 'NFD', 'NFKC', 'NFKD' } do
  kinds[form] = function() return mapped(form) end
end
function kinds.Lowercase() return mapped 'lower' end
function kinds.StripAccents() return mapped 'without_marks' end

--- A function that makes all steps of a list.
local function chain(steps)
  return function(text)
    for i = 1, #steps do
      if text == '' then break end
      text = steps[i](text)
    end
    return text
  end
end

local function build(node) return node:dispatch(kinds, 'normalizer') end

function kinds.Sequence(node)
  local steps = {}
  for i, child in ipairs(node:children 'normalizers') do steps[i] = build(child) end
  return chain(steps)
end

function kinds.BertNormalizer(node)
  local steps = {}
  local lowercase = node:boolean('lowercase', true)
  if node:boolean('clean_text', true) then steps[#steps + 1] = mapped 'clean' end
  if node:boolean('handle_chinese_chars', true) then steps[#steps + 1] = mapped 'chinese' end
  if node:boolean('strip_accents', lowercase) then
    steps[#steps + 1] = mapped 'NFD'
    steps[#steps + 1] = mapped 'without_nonspacing'
  end
  if lowercase then steps[#steps + 1] = mapped 'lower' end
  return chain(steps)
end

function kinds.Prepend(node)
  local prefix = node:string 'prepend'
  return function(text) return prefix .. text end
end

function kinds.Strip(node)
  local left, right = node:boolean('strip_left', true), node:boolean('strip_right', true)
  local patterns = {}
  if left then patterns[1] = ([[\A[%s]+]]):format(Regex.SPACE) end
  if right then patterns[#patterns + 1] = ([[[%s]+\z]]):format(Regex.SPACE) end
  if #patterns == 0 then return function(text) return text end end
  local regex = Regex.compile(table.concat(patterns, '|'))
  return function(text)
    local words = {}
    regex:split(words, text, 1, math.maxinteger, Regex.GAPS)
    return words[1] or ''
  end
end

--- A function that replaces the matches of a pattern node by a text.
local function replacer(node, content)
  local literal = node:optional_string 'String'
  if literal then
    if literal == '' then node:refuse('String', 'a text that is not empty') end
    local pattern = literal:gsub('%p', '%%%0')
    content = content:gsub('%%', '%%%%')
    return function(text) return (text:gsub(pattern, content)) end
  end
  local regex = Regex.of(node)
  return function(text)
    local words, flags = {}, {}
    local n = regex:split(words, text, 1, math.maxinteger, Regex.BOTH, flags)
    for i = 1, n do
      if flags[i] then words[i] = content end
    end
    return table.concat(words, '', 1, n)
  end
end

function kinds.Replace(node) return replacer(node:child 'pattern', node:string 'content') end

-- The texts of SentencePiece's rules nmt by characters: removed, or replaced by a space.
local nmt = {}
local function add_range(first, last, text)
  for c = first, last or first do nmt[utf8.char(c)] = text end
end
for _, range in ipairs { { 1, 8 }, { 0x0B }, { 0x0E, 0x1F }, { 0x7F }, { 0x8F }, { 0x9F } } do add_range(range[1], range[2], '') end
for _, range in ipairs { { 9, 10 }, { 12, 13 }, { 0x1680 }, { 0x200B, 0x200F }, { 0x2028, 0x2029 }, { 0x2581 }, { 0xFEFF }, { 0xFFFD } } do
  add_range(range[1], range[2], ' ')
end

-- Matches these characters, and others that begin with the same bytes.
local NMT_PATTERN = '[\1-\x1F\x7F\xC2\xE1\xE2\xEF][\x80-\xBF]*'

function kinds.Nmt()
  return function(text) return (text:gsub(NMT_PATTERN, nmt)) end
end

local digits = {}
for i, char in ipairs { ('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'):byte(1, -1) } do digits[char] = i - 1 end

-- The bytes of a text in base64; nil for another text.
local function decode_base64(text)
  if #text % 4 ~= 0 or not text:find '^[%w+/]*=?=?$' then return nil end
  local padding = #text:match '=*$'
  local bytes = text:gsub('=', 'A'):gsub('....', function(group)
    local a, b, c, d = group:byte(1, 4)
    return string.pack('>I3', digits[a] << 18 | digits[b] << 12 | digits[c] << 6 | digits[d])
  end)
  return bytes:sub(1, #bytes - padding)
end

-- A map of SentencePiece: a double array with the keys (of Darts-clone) and the texts that replace
-- them, each with a final zero byte.
function kinds.Precompiled(node)
  local bytes = decode_base64(node:string 'precompiled_charsmap')
  local size = bytes and #bytes >= 4 and string.unpack('<I4', bytes)
  if not size or size % 4 ~= 0 or size + 4 > #bytes then
    node:refuse('precompiled_charsmap', 'base64 of a double array and its texts')
  end
  local units, n, texts = {}, size // 4, bytes:sub(size + 5)
  for i = 0, n - 1 do units[i] = string.unpack('<I4', bytes, 5 + 4 * i) end
  local function offset(unit) return unit >> 10 << ((unit & 0x200) >> 6) end
  -- The text for the shortest key that begins the piece; nil: no key does.
  local function replacement(piece)
    local at = offset(units[0] or 0)
    for i = 1, #piece do
      local byte = piece:byte(i)
      local unit = byte ~= 0 and units[at ~ byte]
      if not unit or unit & 0x800000FF ~= byte then return nil end
      at = at ~ byte ~ offset(unit)
      if unit >> 8 & 1 == 1 then
        local value = units[at]
        return value and texts:match('^[^%z]*', (value & 0x7FFFFFFF) + 1)
      end
    end
  end
  local function normalized(grapheme)
    local text = #grapheme < 6 and replacement(grapheme)
    return text or (grapheme:gsub(utf8.charpattern, replacement))
  end
  local known = {} -- of single bytes
  for byte = 0, 127 do known[string.char(byte)] = normalized(string.char(byte)) end
  local graphemes = Regex.compile [[\X]]
  return function(text)
    local out, at, n_words = {}, 1
    repeat
      local words = {}
      n_words, at = graphemes:split(words, text, at, 4096, Regex.MATCHES)
      for i = 1, n_words do
        local word = words[i]
        words[i] = known[word] or normalized(word)
      end
      out[#out + 1] = table.concat(words, '', 1, n_words)
    until not at
    return table.concat(out)
  end
end

return { build = build, chain = chain, replacer = replacer }
