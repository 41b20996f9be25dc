-- tokenizer_spec.lua - torch.lm.tokenizer: results of Hugging Face's tokenizers
-- (tests/files/generate_tokenizers.py), GGUF metadata, streams, and damaged descriptions.

local torch = require 'torch'
local fails_with = require 'support.fails_with'

local FOLDER = 'tests/files/tokenizers/'

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read 'a'
  file:close()
  return text
end

local function json(text) return torch._C.read_json(text, function() return {} end, nil) end

local function bytes(hex) return (hex:gsub('%x%x', function(pair) return string.char(tonumber(pair, 16)) end)) end

local function write(text)
  local path = os.tmpname()
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
  return path
end

-- A tokenizer of a JSON text.
local function tokenizer_of(text)
  local path = write(text)
  local ok, result = pcall(torch.lm.tokenizer, path)
  os.remove(path)
  if not ok then error((result:gsub(path, 'FILE', 1)), 0) end
  return result
end

local cases = json(read(FOLDER .. 'cases.json'))

describe('torch.lm.tokenizer', function()
  for name, rows in pairs(cases) do
    describe(name, function()
      local tokenizer = torch.lm.tokenizer(FOLDER .. name .. '.json')

      it('encodes as Hugging Face does', function()
        for _, row in ipairs(rows) do
          local text = bytes(row[1])
          assert.same(row[2], tokenizer:encode(text), ('%q'):format(text))
          assert.same(row[3], tokenizer:encode(text, { add_special_tokens = false }), ('%q'):format(text))
        end
      end)

      it('decodes as Hugging Face does', function()
        for _, row in ipairs(rows) do
          assert.equal(bytes(row[4]), tokenizer:decode(row[2]))
          assert.equal(bytes(row[5]), tokenizer:decode(row[2], { skip_special_tokens = true }))
        end
      end)

      it('streams the text that decode returns, in whole characters', function()
        for _, row in ipairs(rows) do
          local stream, pieces = tokenizer:stream(), {}
          for i, id in ipairs(row[2]) do
            pieces[i] = stream(id)
            assert(utf8.len(pieces[i]), 'a part of a character')
          end
          pieces[#pieces + 1] = stream()
          assert.equal(bytes(row[4]), table.concat(pieces))
        end
      end)
    end)
  end

  it('returns a character of several tokens with the last one', function()
    local tokenizer = torch.lm.tokenizer(FOLDER .. 'gpt2.json')
    local ids = tokenizer:encode '\u{1FAE0}'
    assert(#ids > 1)
    local stream = tokenizer:stream()
    for i = 1, #ids - 1 do assert.equal('', stream(ids[i])) end
    assert.equal('\u{1FAE0}', stream(ids[#ids]))
    stream(ids[1])
    assert.equal('\u{FFFD}', stream())
  end)

  it('finds tokens by id and ids by token', function()
    local tokenizer = torch.lm.tokenizer(FOLDER .. 'bert.json')
    assert.equal(1, tokenizer:token_to_id '[CLS]')
    assert.equal('[SEP]', tokenizer:id_to_token(2))
    assert.is_nil(tokenizer:token_to_id 'no such token')
    assert.equal(400, tokenizer.vocab_size)
    assert.equal('Tokenizer(vocab_size=400)', tostring(tokenizer))
    fails_with('id_to_token(): id 400 is not a token, expected an integer from 0 to 399', function() tokenizer:id_to_token(400) end)
    fails_with('decode(): id -1 at position 2 is not a token', function() tokenizer:decode { 1, -1 } end)
  end)

  it('decodes tensors of ids', function()
    local tokenizer = torch.lm.tokenizer(FOLDER .. 'gpt2.json')
    local ids = tokenizer:encode 'Hello world'
    assert.equal('Hello world', tokenizer:decode(torch.tensor(ids)))
    fails_with('ids must have one dimension', function() tokenizer:decode(torch.tensor(1)) end)
  end)

  it('encodes a long word in n log n steps and a long text in portions', function()
    local tokenizer = torch.lm.tokenizer(FOLDER .. 'llama2.json')
    local word = ('tensor'):rep(20000)
    assert.equal(word, tokenizer:decode(tokenizer:encode(word), { skip_special_tokens = true }))
    local bytes_tokenizer = torch.lm.tokenizer(FOLDER .. 'llama3.json')
    local text = ('the tensor, 12345 \u{e9}t\u{e9}\n'):rep(10000)
    assert.equal(text, bytes_tokenizer:decode(bytes_tokenizer:encode(text)))
  end)

  it('normalizes a long text without spaces as a short one', function()
    local tokenizer = torch.lm.tokenizer(FOLDER .. 'llama3.json')
    local part = '\u{1100}\u{1161}\u{11A8}\u{ac00}e\u{301}'
    assert.equal(('\u{ac01}\u{ac00}\u{e9}'):rep(9000), tokenizer:decode(tokenizer:encode(part:rep(9000))))
  end)

  it('takes memory for the length of a text that it normalizes', function()
    collectgarbage()
    collectgarbage 'stop'
    local before = collectgarbage 'count'
    local text = torch._C.unicode_map('e\u{301}', 'NFC')
    local kilobytes = collectgarbage 'count' - before
    collectgarbage 'restart'
    assert.equal('\u{e9}', text)
    assert.is_true(kilobytes < 10, kilobytes .. ' KB')
  end)
end)

describe('GGUF metadata', function()
  local function byte_level(name, pre)
    local described = json(read(FOLDER .. name .. '.json'))
    local tokens, types, merges = {}, {}, {}
    for token, id in pairs(described.model.vocab) do tokens[id + 1], types[id + 1] = token, 1 end
    for _, added in ipairs(described.added_tokens) do types[added.id + 1] = 3 end
    for i, merge in ipairs(described.model.merges) do merges[i] = merge[1] .. ' ' .. merge[2] end
    return { ['tokenizer.ggml.model'] = 'gpt2', ['tokenizer.ggml.pre'] = pre, ['tokenizer.ggml.tokens'] = tokens,
      ['tokenizer.ggml.token_type'] = types, ['tokenizer.ggml.merges'] = merges, ['tokenizer.ggml.bos_token_id'] = 0,
      ['tokenizer.ggml.eos_token_id'] = 1 }
  end

  it('describes the tokenizers of GPT-2 and Llama 3', function()
    for name, pre in pairs { gpt2 = 'gpt-2' } do
      local tokenizer = torch.lm.tokenizer(byte_level(name, pre))
      for _, row in ipairs(cases[name]) do assert.same(row[2], tokenizer:encode(bytes(row[1]))) end
    end
    local metadata = byte_level('llama3', 'qwen2')
    metadata['tokenizer.ggml.add_bos_token'] = true
    local tokenizer = torch.lm.tokenizer(metadata)
    local ids = tokenizer:encode 'e\u{301} world'
    assert.equal(0, ids[1])
    assert.equal('<s>\u{e9} world', tokenizer:decode(ids))
    assert.equal(1, tokenizer.eos_token_id)
    assert.equal(0, tokenizer.bos_token_id)
  end)

  it('splits digits for smollm', function()
    local tokenizer = torch.lm.tokenizer(byte_level('gpt2', 'smollm'))
    assert.same({ '1', '2', '3' }, { tokenizer:id_to_token(tokenizer:encode('123')[1]), tokenizer:id_to_token(tokenizer:encode('123')[2]),
      tokenizer:id_to_token(tokenizer:encode('123')[3]) })
  end)

  local LLAMA = { ['tokenizer.ggml.model'] = 'llama', ['tokenizer.ggml.tokens'] = { '<unk>', '<s>', '</s>', '<0x21>', '\u{2581}', 'a', 'b', 'ab', '\u{2581}a', 'bb' },
    ['tokenizer.ggml.scores'] = { 0, 0, 0, 0, -5, -6, -7, -1, -2, -0.5 }, ['tokenizer.ggml.token_type'] = { 2, 3, 3, 6, 1, 1, 1, 1, 1, 1 },
    ['tokenizer.ggml.bos_token_id'] = 1, ['tokenizer.ggml.eos_token_id'] = 2, ['tokenizer.ggml.unknown_token_id'] = 0 }

  it('merges the pair of the best score first for llama', function()
    local tokenizer = torch.lm.tokenizer(LLAMA)
    assert.same({ 1, 4, 7 }, tokenizer:encode 'ab')
    assert.same({ 1, 8, 9 }, tokenizer:encode 'abb')
    assert.same({ 1, 4, 3, 0 }, tokenizer:encode '!x')
    assert.equal('ab!', tokenizer:decode({ 4, 7, 3 }))
  end)

  it('marks the tokens that continue a word for bert', function()
    local tokenizer = torch.lm.tokenizer { ['tokenizer.ggml.model'] = 'bert', ['tokenizer.ggml.tokens'] = { '[PAD]', '[UNK]', '[CLS]', '[SEP]', '\u{2581}un', 'known' },
      ['tokenizer.ggml.token_type'] = { 3, 3, 3, 3, 1, 1 }, ['tokenizer.ggml.cls_token_id'] = 2, ['tokenizer.ggml.seperator_token_id'] = 3, ['tokenizer.ggml.unknown_token_id'] = 1 }
    assert.same({ 2, 4, 5, 1, 3 }, tokenizer:encode 'Unknown known')
  end)

  it('names a key that is wrong', function()
    local function with(key, value)
      local copy = {}
      for k, v in pairs(LLAMA) do copy[k] = v end
      copy['tokenizer.ggml.' .. key] = value
      return function() torch.lm.tokenizer(copy) end
    end
    fails_with("GGUF metadata: tokenizer.ggml.model is 'rwkv', expected a known model: bert, gpt2, llama, t5", with('model', 'rwkv'))
    fails_with('tokenizer.ggml.scores is a list of 1 values, expected a list of 10 numbers', with('scores', { 1 }))
    fails_with('tokenizer.ggml.bos_token_id is 10, expected an integer from 0 to 9', with('bos_token_id', 10))
    fails_with('tokenizer.ggml.token_type is a list of 10 values, expected a list of 1 numbers', with('tokens', { 'a' }))
    local tokens = table.move(LLAMA['tokenizer.ggml.tokens'], 1, 9, 1, {})
    tokens[10] = 5
    fails_with('tokenizer.ggml.tokens[10] is 5, expected a string', with('tokens', tokens))
    local metadata = byte_level('gpt2', 'new')
    fails_with("tokenizer.ggml.pre is 'new', expected a known pre-tokenizer", function() torch.lm.tokenizer(metadata) end)
  end)
end)

describe('a damaged tokenizer.json', function()
  local function refused(message, text)
    fails_with(message, function() tokenizer_of(text) end)
  end

  it('is an error that names the file, the key, the actual and the expected value', function()
    refused('FILE: no JSON at byte', '{"model":')
    refused('FILE: byte 2 is not UTF-8', '{\xff}')
    refused('FILE: model is missing, expected an object', '{}')
    refused("FILE: model.type is 'Neural', expected a supported model: BPE, Unigram, WordLevel, WordPiece", '{"model": {"type": "Neural", "vocab": {"a": 0}}}')
    refused('FILE: model.vocab.a is 1000000000, expected an id from 0 to', '{"model": {"type": "WordLevel", "vocab": {"a": 1000000000}}}')
    refused('is 0, expected an id that no other token has', '{"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 0}}}')
    refused('FILE: model.merges[1] is \'a b\', expected two tokens of the vocabulary', '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]}}')
    refused('FILE: model.merges[1] is', '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", 1]]}}')
    refused('FILE: added_tokens[1].id is -1', '{"model": {"type": "WordLevel", "vocab": {"a": 0}}, "added_tokens": [{"content": "x", "id": -1}]}')
    refused('FILE: pre_tokenizer.pattern.Regex is \'(\', expected a regular expression',
      '{"model": {"type": "WordLevel", "vocab": {"a": 0}}, "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "("}}}')
    refused('expected a pattern without an intersection of classes (&&)',
      '{"model": {"type": "WordLevel", "vocab": {"a": 0}}, "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "[a&&b]"}}}')
    refused('FILE: post_processor.special_tokens.x is missing, expected an object',
      '{"model": {"type": "WordLevel", "vocab": {"a": 0}}, "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}], "special_tokens": {}}}')
    refused('FILE: normalizer.precompiled_charsmap is \'AAAA\', expected base64',
      '{"model": {"type": "WordLevel", "vocab": {"a": 0}}, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}}')
    refused('nested too deep', '{"normalizer": ' .. ('{"type": "Sequence", "normalizers": ['):rep(200))
  end)

  it('stops an expression that needs too many steps', function()
    local tokenizer = tokenizer_of [[{"model": {"type": "WordLevel", "vocab": {"a": 0}},
      "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(a+)+b(?<=c)|(x+x+)+y"}}}]]
    fails_with('match limit', function() tokenizer:encode(('x'):rep(60)) end)
  end)

  it('never crashes', function()
    math.randomseed(7)
    for name in pairs(cases) do
      local original = read(FOLDER .. name .. '.json')
      for _ = 1, 20 do
        local at, n = math.random(#original), math.random(0, 6)
        local damaged = original:sub(1, at) .. ('0a"[{]},'):sub(math.random(8)):sub(1, math.random(0, 2)) .. original:sub(at + n)
        local ok, tokenizer = pcall(tokenizer_of, damaged)
        if ok then pcall(tokenizer.encode, tokenizer, 'Hello, w\u{f6}rld 123') end
      end
    end
  end)
end)

describe('torch._C.regex', function()
  it('refuses a text that is not UTF-8 and positions inside of a character', function()
    local regex = torch._C.regex 'a'
    fails_with('the text is not UTF-8', function() regex:split({}, 'a\xff', 1, 10, 3) end)
    fails_with('the position of a character', function() regex:split({}, '\u{e9}', 2, 10, 3) end)
    fails_with('the position of a character', function() regex:split({}, 'a', 3, 10, 3) end)
  end)

  it('names the problem of a pattern', function()
    local regex, problem, position = torch._C.regex '(a'
    assert.is_nil(regex)
    assert.equal('missing closing parenthesis', problem)
    assert.equal(3, position)
  end)
end)
