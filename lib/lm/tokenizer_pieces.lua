-- tokenizer_pieces.lua - the pre-tokenizers of tokenizers: split a text into words, which the model
-- encodes one by one. Names, arguments and results are those of Hugging Face's tokenizers.
--
-- A pre-tokenizer is a function step(text, first, sink, scratch): it calls sink(words, n, first)
-- for consecutive lists of words. first: the text, or the first word, begins where the input does.
-- scratch: a table for one call of encode, in which a step keeps its list of words. A long text is
-- split in portions, so that it can be interrupted and needs little memory.

local Regex = require 'torch.lm.tokenizer_regex'

local PORTION = 4096 -- words

local kinds = {}

--- Splits by a compiled expression. pieces: MATCHES, GAPS or BOTH.
local function splitter(regex, pieces)
  local step
  step = function(text, first, sink, scratch)
    local words, at, n = scratch[step], 1
    if not words then
      words = {}
      scratch[step] = words
    end
    repeat
      n, at = regex:split(words, text, at, PORTION, pieces)
      if n > 0 then sink(words, n, first and text:sub(1, #words[1]) == words[1]) end
      first = false
    until not at
  end
  return step
end

-- Each way of joining matches with their neighbours: the pieces and flags of regex:split, changed in
-- place; returns their number.
local joins = {}

-- Joins a piece to the one before it if joined(match, match of that one).
local function join_backward(joined)
  return function(words, n, flags)
    local count, before = 0, false
    for i = 1, n do
      local match = flags[i]
      if count > 0 and joined(match, before) then
        words[count] = words[count] .. words[i]
      else
        count = count + 1
        words[count] = words[i]
      end
      before = match
    end
    return count
  end
end

joins.MergedWithPrevious = join_backward(function(match, before) return match and not before end)
joins.Contiguous = join_backward(function(match, before) return match == before end)

function joins.MergedWithNext(words, n, flags)
  local first, before = n + 1, false
  for i = n, 1, -1 do
    local match = flags[i]
    if match and not before and first <= n then
      words[first] = words[i] .. words[first]
    else
      first = first - 1
      words[first] = words[i]
    end
    before = match
  end
  table.move(words, first, n, 1)
  return n - first + 1
end

local function joiner(regex, join, invert)
  return function(text, first, sink)
    local words, flags = {}, {}
    local n = regex:split(words, text, 1, math.maxinteger, Regex.BOTH, flags)
    if invert then
      for i = 1, n do flags[i] = not flags[i] end
    end
    n = join(words, n, flags)
    if n > 0 then sink(words, n, first) end
  end
end

-- The pre-tokenizer for a behavior of `Split`.
local function by_behavior(node, regex, behavior, invert)
  if behavior == 'Isolated' then return splitter(regex, Regex.BOTH) end
  if behavior == 'Removed' then return splitter(regex, invert and Regex.MATCHES or Regex.GAPS) end
  local join = joins[behavior]
  if not join then node:refuse('behavior', 'Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous') end
  return joiner(regex, join, invert)
end

function kinds.Split(node)
  return by_behavior(node, Regex.of(node:child 'pattern'), node:string 'behavior', node:boolean('invert', false))
end

function kinds.Digits(node)
  local pattern = node:boolean('individual_digits', false) and [[\p{N}]] or [[\p{N}+]]
  return splitter(Regex.compile(pattern), Regex.BOTH)
end

function kinds.Punctuation(node)
  return by_behavior(node, Regex.compile('[' .. Regex.PUNCTUATION .. ']'), node:string('behavior', 'Isolated'), false)
end

function kinds.Whitespace()
  return splitter(Regex.compile(('[%s]+|[^%s%s]+'):format(Regex.WORD, Regex.WORD, Regex.SPACE)), Regex.MATCHES)
end

function kinds.WhitespaceSplit()
  return splitter(Regex.compile('[^' .. Regex.SPACE .. ']+'), Regex.MATCHES)
end

function kinds.CharDelimiterSplit(node)
  return splitter(Regex.compile(Regex.literal(node:string 'delimiter')), Regex.GAPS)
end

function kinds.BertPreTokenizer()
  return splitter(Regex.compile(('[%s]|[^%s%s]+'):format(Regex.PUNCTUATION, Regex.PUNCTUATION, Regex.SPACE)), Regex.MATCHES)
end

-- The expression of GPT-2's tokenizer.
local GPT2 = [['s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+]]

-- The model reads bytes, so the characters that stand for them are not made here.
function kinds.ByteLevel(node, context)
  if not context.last then node:refuse('type', 'ByteLevel as the last pre-tokenizer only') end
  context.byte_level = true
  local prefix = node:boolean('add_prefix_space', true)
  local step = node:boolean('use_regex', true) and splitter(Regex.compile(Regex.translated(GPT2)), Regex.BOTH) or nil
  if not prefix then return step end
  return function(text, first, sink, scratch)
    if text:byte() ~= 32 then text = ' ' .. text end
    if step then return step(text, first, sink, scratch) end
    sink({ text }, 1, first)
  end
end

function kinds.Metaspace(node)
  local mark = node:string('replacement', '\u{2581}')
  if utf8.len(mark) ~= 1 then node:refuse('replacement', 'one character') end
  local scheme = node:optional_string 'prepend_scheme' or (node:boolean('add_prefix_space', true) and 'always' or 'never')
  if scheme ~= 'always' and scheme ~= 'first' and scheme ~= 'never' then node:refuse('prepend_scheme', "'always', 'first' or 'never'") end
  local literal = Regex.literal(mark)
  local step = node:boolean('split', true) and splitter(Regex.compile(('%s[^%s]*|[^%s]+'):format(literal, literal, literal)), Regex.MATCHES)
  local escaped = mark:gsub('%%', '%%%%')
  return function(text, first, sink, scratch)
    text = text:gsub(' ', escaped)
    if (scheme == 'always' or scheme == 'first' and first) and text:sub(1, #mark) ~= mark then text = mark .. text end
    if step then return step(text, first, sink, scratch) end
    sink({ text }, 1, first)
  end
end

local build

function kinds.Sequence(node, context)
  local steps, last = {}, context.last
  local children = node:children 'pretokenizers'
  for i, child in ipairs(children) do
    context.last = last and i == #children
    steps[#steps + 1] = build(child, context)
  end
  if #steps < 2 then return steps[1] end
  -- Words of step i become the texts of step i + 1.
  local function run(i, text, first, sink, scratch)
    if i == #steps then return steps[i](text, first, sink, scratch) end
    return steps[i](text, first, function(words, n, begins)
      for k = 1, n do run(i + 1, words[k], begins and k == 1, sink, scratch) end
    end, scratch)
  end
  return function(text, first, sink, scratch) return run(1, text, first, sink, scratch) end
end

--- The pre-tokenizer of a node, or nil for one that leaves texts as they are. context.byte_level
--- becomes true if the model has tokens of bytes.
build = function(node, context) return node:dispatch(kinds, 'pre_tokenizer', context) end

return { build = build }
