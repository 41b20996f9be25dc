-- tokenizer_decoders.lua - the decoders of tokenizers: functions that change the list of the texts
-- of tokens. The concatenation of the list is the result. Names, arguments and results are those of Hugging
-- Face's tokenizers.

local C = require('torch')._C
local Normalizers = require 'torch.lm.tokenizer_normalizers'

local kinds = {}

--- The bytes of a token of a byte-level vocabulary.
local function bytes_of(token) return C.byte_level_text(token) or token end

function kinds.ByteLevel()
  return function(texts)
    for i, text in ipairs(texts) do texts[i] = bytes_of(text) end
    return { (C.repair_utf8(table.concat(texts))) }
  end
end

-- Marks of English before which WordPiece's decoder leaves no space.
local contractions = { { ' .', '.' }, { ' ?', '?' }, { ' !', '!' }, { ' ,', ',' }, { " ' ", "'" }, { " n't", "n't" }, { " 'm", "'m" },
  { ' do not', " don't" }, { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" } }
for _, pair in ipairs(contractions) do pair[1] = pair[1]:gsub('%p', '%%%0') end

function kinds.WordPiece(node)
  local prefix, cleanup = node:string('prefix', '##'), node:boolean('cleanup', true)
  return function(texts)
    for i, text in ipairs(texts) do
      if i > 1 then
        text = prefix ~= '' and text:sub(1, #prefix) == prefix and text:sub(#prefix + 1) or ' ' .. text
      end
      if cleanup then
        for _, pair in ipairs(contractions) do text = text:gsub(pair[1], pair[2]) end
      end
      texts[i] = text
    end
    return texts
  end
end

function kinds.Metaspace(node)
  local mark = node:string('replacement', '\u{2581}'):gsub('%p', '%%%0')
  local scheme = node:optional_string 'prepend_scheme' or (node:boolean('add_prefix_space', true) and 'always' or 'never')
  return function(texts)
    for i, text in ipairs(texts) do texts[i] = text:gsub(mark, i == 1 and scheme ~= 'never' and '' or ' ') end
    return texts
  end
end

function kinds.BPEDecoder(node)
  local suffix = node:string('suffix', '</w>'):gsub('%p', '%%%0')
  return function(texts)
    for i, text in ipairs(texts) do texts[i] = suffix == '' and text or text:gsub(suffix, i == #texts and '' or ' ') end
    return texts
  end
end

function kinds.Replace(node)
  local replace = Normalizers.replacer(node:child 'pattern', node:string 'content')
  return function(texts)
    for i, text in ipairs(texts) do texts[i] = replace(text) end
    return texts
  end
end

function kinds.ByteFallback()
  return function(texts)
    local out, bytes = {}, {}
    local function flush()
      if #bytes == 0 then return end
      local text = table.concat(bytes)
      out[#out + 1] = utf8.len(text) and text or ('\u{FFFD}'):rep(#bytes)
      bytes = {}
    end
    for _, text in ipairs(texts) do
      local hex = text:match '^<0x(%x%x)>$'
      if hex then
        bytes[#bytes + 1] = string.char(tonumber(hex, 16))
      else
        flush()
        out[#out + 1] = text
      end
    end
    flush()
    return out
  end
end

function kinds.Fuse()
  return function(texts) return { table.concat(texts) } end
end

function kinds.Strip(node)
  local content = node:string 'content'
  local start, stop = node:integer('start', 0, math.maxinteger) or 0, node:integer('stop', 0, math.maxinteger) or 0
  if utf8.len(content) ~= 1 then node:refuse('content', 'one character') end
  return function(texts)
    for i, text in ipairs(texts) do
      local n = 0
      while n < start and text:sub(1, #content) == content do text, n = text:sub(#content + 1), n + 1 end
      n = 0
      while n < stop and #text > 0 and text:sub(-#content) == content do text, n = text:sub(1, -#content - 1), n + 1 end
      texts[i] = text
    end
    return texts
  end
end

local build

function kinds.Sequence(node)
  local steps = {}
  for i, child in ipairs(node:children 'decoders') do steps[i] = build(child) end
  return function(texts)
    for i = 1, #steps do texts = steps[i](texts) end
    return texts
  end
end

build = function(node) return node:dispatch(kinds, 'decoder') end

return { build = build, bytes_of = bytes_of }
