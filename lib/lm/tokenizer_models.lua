-- tokenizer_models.lua - the models of tokenizers: functions that encode a word as a token id or a
-- list of ids. Rules and results are those of Hugging Face's tokenizers. Ids count from 0.
--
-- A model's node has its tokens as `tokens`, a list by id (false for an id without token), and
-- `n_tokens`, the length of this list.

local C = require('torch')._C

local kinds = {}

-- The ids of a list of tokens; the first one of equal tokens.
local function ids_of(tokens, n)
  local ids = {}
  for i = 1, n do
    local token = tokens[i]
    if token and not ids[token] then ids[token] = i - 1 end
  end
  return ids
end

-- The id of the token in a field of the node; nil if the field is absent.
local function id_of_field(node, name, ids)
  local token = node:optional_string(name)
  if not token then return nil end
  if not ids[token] then node:refuse(name, 'a token of the vocabulary') end
  return ids[token]
end

-- ---- byte pair encoding -------------------------------------------------------------------------

local function unknown_id(node)
  local token = node:optional_string 'unk_token'
  if not token then return nil end
  local tokens = node.table.tokens
  for i = 1, node.table.n_tokens do
    if tokens[i] == token then return i - 1 end
  end
end

function kinds.BPE(node, context)
  local described = node.table
  if (described.dropout or 0) ~= 0 then node:refuse('dropout', 'null: dropout is for training') end
  local ranks = described.ranks
  local merges = node:child(ranks and 'ranks' or 'merges')
  local model, bad = C.bpe(described.tokens, merges.table, {
    n = described.n_tokens, byte_level = context.byte_level, ranked = ranks ~= nil, unk_id = unknown_id(node),
    fuse_unk = node:boolean('fuse_unk', false), byte_fallback = node:boolean('byte_fallback', false),
    ignore_merges = node:boolean('ignore_merges', false), continuing_subword_prefix = node:optional_string 'continuing_subword_prefix',
    end_of_word_suffix = node:optional_string 'end_of_word_suffix',
  })
  if not model then merges:refuse(bad, 'two tokens of the vocabulary that form a third one') end
  return function(word) return model:encode(word) end
end

-- ---- words --------------------------------------------------------------------------------------

function kinds.WordLevel(node)
  local ids = ids_of(node.table.tokens, node.table.n_tokens)
  local unknown = id_of_field(node, 'unk_token', ids)
  return function(word) return ids[word] or unknown or {} end
end

function kinds.WordPiece(node)
  local tokens, n = node.table.tokens, node.table.n_tokens
  local unknown = id_of_field(node, 'unk_token', ids_of(tokens, n))
  if not unknown then node:refuse('unk_token', 'a token of the vocabulary') end
  local prefix = node:string('continuing_subword_prefix', '##')
  local max_length = node:integer('max_input_chars_per_word', 0, math.maxinteger) or 100
  local model = C.word_piece(tokens, n, unknown, prefix, max_length)
  return function(word) return model:encode(word) end
end

function kinds.Unigram(node)
  local described = node.table
  local n = described.n_tokens
  local model = C.unigram(described.tokens, described.scores, n, node:integer('unk_id', 0, n - 1), node:boolean('byte_fallback', false))
  return function(word)
    local ids, piece = model:encode(word)
    return ids or node:refuse('unk_id', ("the id of a token for unknown text such as '%s'"):format(piece))
  end
end

--- The model of a node: encode(word) -> id or list of ids. context.byte_level: words are bytes.
local function build(node, context)
  if context.byte_level and node.table.type ~= 'BPE' then node:refuse('type', 'BPE, the model for the pre-tokenizer ByteLevel') end
  return node:dispatch(kinds, 'model', context)
end

return { build = build }
