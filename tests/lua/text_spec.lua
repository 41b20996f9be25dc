-- torch.utils.data.text: lines, tokens, vocabularies.

local text = torch.utils.data.text
local fails_with = require 'support.fails_with'

local function with_file(content, f)
  local path = os.tmpname()
  local file = assert(io.open(path, 'wb'))
  file:write(content)
  file:close()
  local ok, result = pcall(f, path)
  os.remove(path)
  return ok and result or error(result, 0)
end

describe('text #cpu', function()
  it('reads lines', function()
    local function lines(content, options)
      return with_file(content, function(path) return text.read_lines(path, options) end)
    end
    assert.same({ 'a b', '', 'c' }, lines 'a b\r\n\nc')
    assert.same({ 'a' }, lines 'a\n')
    assert.same({ '' }, lines '\n')
    assert.same({}, lines '')
    assert.same({ 'the time machine by h g wells', '' }, lines('The Time Machine, by H. G. Wells [1898]\n--\n', { normalize = true }))
    fails_with('/nonexistent', text.read_lines, '/nonexistent')
    fails_with('/tmp: Is a directory', text.read_lines, '/tmp')
  end)

  it('parts words, characters and bytes', function()
    assert.same({ 'the', "traveller's", 'time' }, text.tokenize "  the traveller's\ttime ")
    assert.same({ 'n', 'ä', '€', '😀', ' ', '\xff', '\xc3', 'x', '\xe2', '\x82' }, text.tokenize('nä€😀 \xff\xc3x\xe2\x82', 'char'))
    assert.same({ '\xc3', '\xa4', '\0' }, text.tokenize('ä\0', 'byte'))
    assert.same({ { 'a', 'b' }, {}, { 'c' } }, text.tokenize { 'a b', '', 'c' })
    assert.same({}, text.tokenize('', 'char'))
    fails_with("'word', 'char' or 'byte' expected, got line", text.tokenize, 'a', 'line')
    fails_with('a string or a list of strings expected, got nil', text.tokenize)
  end)

  it('numbers tokens by how often they are there', function()
    local vocab = text.Vocabulary({ { 'b', 'a', 'c' }, { 'c', 'b', 'tokens' }, { 'c', '<pad>' } }, { reserved = { '<pad>', '<bos>' } })
    assert.same({ '<unk>', '<pad>', '<bos>', 'c', 'b', 'a', 'tokens' }, vocab.list)
    assert.equal(7, #vocab)
    assert.equal(3, vocab.counts.c)
    local ids = vocab:ids { 'a', 'never', 'tokens', '<bos>' }
    assert.equal(torch.int64, ids.dtype)
    assert.same({ 6, 1, 7, 3 }, ids:tolist())
    assert.same({ 'a', '<unk>', 'tokens', '<bos>' }, vocab:tokens(ids))
    assert.same({ 'c', 'b' }, vocab:tokens { 4, 5 })
    assert.equal('c', vocab:tokens(4))
    assert.equal(0, vocab:ids({}):numel())
    fails_with('the vocabulary has 7 tokens, but got position 8', vocab.tokens, vocab, 8)
    fails_with('the vocabulary has 7 tokens, but got position 0', vocab.tokens, vocab, { 0 })
    fails_with('tokens are strings, got number', text.Vocabulary, { 1 })
  end)

  it('a vocabulary drops rare tokens and can exclude unknown ones', function()
    local tokens = text.tokenize 'a a a b b c'
    assert.same({ '<unk>', 'a', 'b' }, text.Vocabulary(tokens, { min_freq = 2 }).list)
    local vocab = text.Vocabulary(tokens, { unknown = false })
    assert.same({ 'a', 'b', 'c' }, vocab.list)
    fails_with("the vocabulary has no 'd'", vocab.ids, vocab, { 'd' })
    assert.same({ '<unk>' }, text.Vocabulary({}).list)
    fails_with('unexpected keyword argument', text.Vocabulary, {}, { minfreq = 1 })
  end)
end)
