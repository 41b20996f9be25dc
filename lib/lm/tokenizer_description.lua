-- tokenizer_description.lua - checks the description of a tokenizer, in the form of Hugging Face's
-- tokenizer.json, and builds the parts of the tokenizer from it.
--
-- Descriptions are untrusted. The ids of a vocabulary may have gaps, but not so large ones that a
-- small file needs much memory.

local raise = require 'torch.support.fail'
local Added = require 'torch.lm.tokenizer_added'
local Decoders = require 'torch.lm.tokenizer_decoders'
local Models = require 'torch.lm.tokenizer_models'
local Node = require 'torch.lm.tokenizer_fields'
local Normalizers = require 'torch.lm.tokenizer_normalizers'
local Pieces = require 'torch.lm.tokenizer_pieces'

local M = {}

local SPARE_IDS = 65536 -- ids without token, besides as many as there are tokens

-- ---- vocabulary ---------------------------------------------------------------------------------

local function size_of(map)
  local n = 0
  for _ in pairs(map) do n = n + 1 end
  return n
end

-- The list of tokens of a map of ids by token, and its length.
local function tokens_of_map(model)
  local vocab = model:child 'vocab'
  local most, last = 2 * size_of(vocab.table) + SPARE_IDS, -1
  for token, id in pairs(vocab.table) do
    if type(token) ~= 'string' then vocab:refuse(token, 'a token that is a string') end
    if math.type(id) ~= 'integer' or id < 0 or id >= most then vocab:refuse(token, ('an id from 0 to %d'):format(most - 1)) end
    if id > last then last = id end
  end
  local tokens = {}
  for i = 1, last + 1 do tokens[i] = false end
  for token, id in pairs(vocab.table) do
    if tokens[id + 1] then vocab:refuse(token, ("an id that no other token has (it belongs to '%s')"):format(tokens[id + 1])) end
    tokens[id + 1] = token
  end
  return tokens, last + 1
end

-- The score of a number in JSON, with the rounding of Hugging Face's tokenizers (serde_json): the
-- digits as an integer, times or divided by a power of ten. Sums of scores that are equal otherwise
-- depend on it.
local function score_of(number)
  if number == 0 or number - number ~= 0 then return number end
  local text
  for digits = 14, 16 do
    text = ('%.' .. digits .. 'e'):format(number)
    if tonumber(text) == number then break end
  end
  local whole, fraction, exponent = text:match '^(%-?%d)%.(%d-)0*e(.*)$'
  local scale = tonumber(exponent) - #fraction
  local significand = tonumber(whole .. fraction) + 0.0
  return scale < 0 and significand / 10.0 ^ -scale or significand * 10.0 ^ scale
end

-- The tokens and scores of a list of { token, score }; scores by id.
local function tokens_of_list(model)
  local tokens, scores = {}, {}
  local vocab = model:child 'vocab'
  for i, entry in ipairs(vocab.table) do
    if type(entry) ~= 'table' or type(entry[1]) ~= 'string' or type(entry[2]) ~= 'number' then vocab:refuse(i, 'a token with its score') end
    tokens[i], scores[i - 1] = entry[1], score_of(entry[2])
  end
  if #tokens ~= #vocab.table then vocab:refuse(#tokens + 1, 'a token with its score') end
  return tokens, #tokens, scores
end

-- Adds the fields tokens, n_tokens and scores to the model's table.
local function read_vocabulary(model)
  local described = model.table
  if described.tokens then return end
  if model:string 'type' == 'Unigram' then
    described.tokens, described.n_tokens, described.scores = tokens_of_list(model)
  else
    described.tokens, described.n_tokens = tokens_of_map(model)
  end
end

-- The types of models before files had a field for them.
local function complete_type(model)
  if model.table.type ~= nil then return end
  local vocab = model.table.vocab
  if model.table.merges then model.table.type = 'BPE'
  elseif type(vocab) == 'table' and vocab[1] then model.table.type = 'Unigram'
  elseif model.table.continuing_subword_prefix then model.table.type = 'WordPiece'
  else model:refuse('type', 'BPE, WordPiece, Unigram or WordLevel') end
end

-- The added tokens of the description, and the list of all tokens by id.
local function read_added(root, model)
  local n = model.table.n_tokens
  local all = table.move(model.table.tokens, 1, n, 1, {})
  local added, total, children = {}, n, root:children 'added_tokens'
  local most = 2 * (n + #children) + SPARE_IDS
  for i, child in ipairs(children) do
    local token = { content = child:string 'content', id = child:integer('id', 0, most - 1), special = child:boolean('special', false),
      lstrip = child:boolean('lstrip', false), rstrip = child:boolean('rstrip', false), single_word = child:boolean('single_word', false) }
    if not token.id then child:refuse('id', 'an id') end
    if token.content == '' or not utf8.len(token.content) then child:refuse('content', 'a text of UTF-8 that is not empty') end
    token.normalized = child:boolean('normalized', not token.special)
    added[i] = token
    for id = total, token.id do all[id + 1] = all[id + 1] or false end
    total = math.max(total, token.id + 1)
    all[token.id + 1] = token.content
  end
  return added, all, total
end

-- ---- post-processors ----------------------------------------------------------------------------

-- Each returns the lists of ids before and after those of the text.
local posts = {}

local function none() return {}, {} end
function posts.ByteLevel() return none() end

local function check_id(node, name, total)
  local pair = node:child(name)
  local id = pair:integer(2, 0, total - 1)
  if not id then pair:refuse(2, 'an id') end
  return id
end

function posts.BertProcessing(node, total) return { check_id(node, 'cls', total) }, { check_id(node, 'sep', total) } end
posts.RobertaProcessing = posts.BertProcessing

function posts.TemplateProcessing(node, total)
  local before, after, seen = {}, {}, false
  local specials = node:optional 'special_tokens'
  for i, piece in ipairs(node:children 'single') do
    local special = piece:optional 'SpecialToken'
    if special then
      local name = special:string 'id'
      local ids = specials and specials:child(name):child 'ids' or special:refuse('id', 'a name in special_tokens')
      for k = 1, #ids.table do
        local list = seen and after or before
        list[#list + 1] = ids:integer(k, 0, total - 1)
      end
    elseif piece:optional 'Sequence' then
      if seen then node:child('single'):refuse(i, 'one Sequence in the list') end
      seen = true
    else
      node:child('single'):refuse(i, 'a SpecialToken or a Sequence')
    end
  end
  return before, after
end

function posts.Sequence(node, total)
  local before, after = {}, {}
  for _, child in ipairs(node:children 'processors') do
    local left, right = child:dispatch(posts, 'post_processor', total)
    before = table.move(before, 1, #before, #left + 1, left)
    after = table.move(right, 1, #right, #after + 1, after)
  end
  return before, after
end

-- ---- all parts ----------------------------------------------------------------------------------

local function optional(root, name, build, ...)
  local node = root:optional(name)
  if node then return build(node, ...) end
end

--- The parts of a tokenizer by its description. file: its name, for messages.
function M.build(description, file)
  local root = Node.new(description, file, '')
  local model = root:child 'model'
  complete_type(model)
  read_vocabulary(model)
  local added, tokens, total = read_added(root, model)
  local context = { last = true }
  local parts = { added = added, tokens = tokens, n_tokens = total }
  parts.normalize = optional(root, 'normalizer', Normalizers.build)
  parts.split = optional(root, 'pre_tokenizer', Pieces.build, context)
  parts.encode_word = Models.build(model, context)
  parts.decode = optional(root, 'decoder', Decoders.build)
  parts.byte_decoder = type(description.decoder) == 'table' and description.decoder.type == 'ByteLevel'
  parts.before, parts.after = none()
  local post = root:optional 'post_processor'
  if post then parts.before, parts.after = post:dispatch(posts, 'post_processor', total) end

  local raw, normalized = {}, {}
  for _, token in ipairs(added) do
    if token.normalized and parts.normalize then
      local copy = setmetatable({ content = parts.normalize(token.content) }, { __index = token })
      if copy.content ~= '' then normalized[#normalized + 1] = copy end
    else
      raw[#raw + 1] = token
    end
  end
  parts.find_raw, parts.find_normalized = Added.finder(raw), Added.finder(normalized)
  if total == 0 then raise('%s: a tokenizer without tokens', file) end
  return parts
end

return M
