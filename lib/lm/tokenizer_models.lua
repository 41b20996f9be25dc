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
  local ids = ids_of(tokens, n)
  local unknown = id_of_field(node, 'unk_token', ids)
  if not unknown then node:refuse('unk_token', 'a token of the vocabulary') end
  local prefix = node:string('continuing_subword_prefix', '##')
  local max_length = node:integer('max_input_chars_per_word', 0, math.maxinteger) or 100
  local longest = 0 -- bytes of a token
  for i = 1, n do longest = math.max(longest, tokens[i] and #tokens[i] or 0) end
  return function(word)
    if ids[word] and utf8.len(word) <= max_length then return ids[word] end
    if #word > max_length and utf8.len(word) > max_length then return unknown end
    local list, at = {}, 1
    while at <= #word do
      local mark = at == 1 and '' or prefix
      local stop, id = math.min(#word, at + longest - #mark - 1), nil
      while stop >= at do
        -- a token ends before a character, not inside of one
        local following = word:byte(stop + 1)
        if not following or following & 0xC0 ~= 0x80 then
          id = ids[mark .. word:sub(at, stop)]
          if id then break end
        end
        stop = stop - 1
      end
      if not id then return unknown end
      list[#list + 1] = id
      at = stop + 1
    end
    return list
  end
end

-- ---- unigram ------------------------------------------------------------------------------------

local UNKNOWN_PENALTY = 10 -- models/unigram/model.rs: K_UNK_PENALTY

-- Whether some token begins with these bytes, by the bytes; and the longest token.
local function prefixes_of(tokens, n)
  local prefixes, longest = {}, 0
  for i = 1, n do
    local token = tokens[i]
    if token then
      longest = math.max(longest, #token)
      for k = utf8.offset(token, 2) or #token + 1, #token do
        local following = token:byte(k)
        if following & 0xC0 ~= 0x80 then prefixes[token:sub(1, k - 1)] = true end
      end
    end
  end
  return prefixes, longest
end

local function byte_ids(ids)
  local list = {}
  for byte = 0, 255 do list[byte] = ids[('<0x%02X>'):format(byte)] end
  return list
end

-- The best path through the word: the positions before the tokens that end at each position.
local function best_path(word, model)
  local ids, scores, prefixes, unknown_score = model.ids, model.scores, model.prefixes, model.unknown_score
  local best, from = { [0] = 0.0 }, {}
  local n, at = #word, 0
  while at < n do
    local score, stop = best[at], at
    local single = false
    repeat
      stop = (utf8.offset(word, 2, stop + 1) or n + 1) - 1
      local piece = word:sub(at + 1, stop)
      local id = ids[piece]
      if id then
        local candidate = score + scores[id]
        if not best[stop] or candidate > best[stop] then best[stop], from[stop] = candidate, at end
        if #piece == model.first_length(piece) then single = true end
      end
    until stop >= n or not prefixes[piece]
    local next_at = (utf8.offset(word, 2, at + 1) or n + 1) - 1
    if not single then
      local candidate = score + unknown_score
      if not best[next_at] or candidate > best[next_at] then best[next_at], from[next_at] = candidate, at end
    end
    at = next_at
  end
  return from
end

local function first_length(piece) return (utf8.offset(piece, 2) or #piece + 1) - 1 end

function kinds.Unigram(node)
  local tokens, n, scores = node.table.tokens, node.table.n_tokens, node.table.scores
  local ids = ids_of(tokens, n)
  local unknown = node:integer('unk_id', 0, n - 1)
  local prefixes = prefixes_of(tokens, n)
  local lowest = math.huge
  for i = 0, n - 1 do lowest = math.min(lowest, scores[i]) end
  local bytes = node:boolean('byte_fallback', false) and byte_ids(ids) or {}
  local model = { ids = ids, scores = scores, prefixes = prefixes, unknown_score = lowest - UNKNOWN_PENALTY, first_length = first_length }

  -- Adds a piece, which has no token unless it is one.
  local function add(list, piece)
    local id = ids[piece]
    if id then list[#list + 1] = id return end
    local all = true
    for i = 1, #piece do all = all and bytes[piece:byte(i)] ~= nil end
    if all then
      for i = 1, #piece do list[#list + 1] = bytes[piece:byte(i)] end
    else
      if not unknown then node:refuse('unk_id', ("the id of a token for unknown text such as '%s'"):format(piece)) end
      list[#list + 1] = unknown
    end
  end

  return function(word)
    local from, stops, at = best_path(word, model), {}, #word
    while at > 0 do
      stops[#stops + 1] = at
      at = from[at]
    end
    -- Neighbouring pieces without token are one unknown piece.
    local list, before, gap = {}, 0, nil
    for i = #stops, 1, -1 do
      local piece = word:sub(before + 1, stops[i])
      local id = ids[piece]
      if id and id ~= unknown then
        if gap then add(list, gap) end
        list[#list + 1] = id
        gap = nil
      else
        gap = (gap or '') .. piece
      end
      before = stops[i]
    end
    if gap then add(list, gap) end
    return list
  end
end

--- The model of a node: encode(word) -> id or list of ids. context.byte_level: words are bytes.
local function build(node, context)
  if context.byte_level and node.table.type ~= 'BPE' then node:refuse('type', 'BPE, the model for the pre-tokenizer ByteLevel') end
  return node:dispatch(kinds, 'model', context)
end

return { build = build }
