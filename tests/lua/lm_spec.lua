-- lm_spec.lua - torch.lm.load: text from a small random model by greedy and random choice, with stop texts, limits, a mask and a
-- cache of the tokens that prompts share; errors. Needs PCRE2, as the tokenizer does.

local torch = require 'torch'
local sampler = require 'torch.lm.sampler'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'support/gguf.lua')
local tiny = dofile(here .. 'support/tiny_llama.lua')

-- 40 tokens: the end of a text, letters, and pairs of them.
local tokens, merges = { of = 8, '<end>' }, { of = 8 }
for letter in ('abcdefghijklmnopqrstuvwxyz'):gmatch '.' do tokens[#tokens + 1] = letter end
for pair in ('ab cd ef gh ij kl mn op qr st uv wx yz'):gmatch '%S+' do
  tokens[#tokens + 1] = pair
  merges[#merges + 1] = pair:sub(1, 1) .. ' ' .. pair:sub(2)
end
local kinds = { of = 5, 3 }
for i = 2, #tokens do kinds[i] = 1 end
local metadata = {
  { 'tokenizer.ggml.model', 8, 'gpt2' }, { 'tokenizer.ggml.pre', 8, 'gpt-2' }, { 'tokenizer.ggml.tokens', 9, tokens }, { 'tokenizer.ggml.merges', 9, merges },
  { 'tokenizer.ggml.token_type', 9, kinds }, { 'tokenizer.ggml.eos_token_id', 4, 0 },
}

local function loaded(seed, options)
  torch.manual_seed(seed)
  local path = files.write((tiny.text(metadata)))
  local ok, model = pcall(torch.lm.load, path, options)
  os.remove(path)
  assert(ok, model)
  return model
end

local function assert_fails(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
end

-- The ids that follow by the largest logits, without a cache.
local function greedy(model, ids, n)
  local list, made = table.move(ids, 1, #ids, 1, {}), {}
  for i = 1, n do
    local logits = torch.no_grad(function() return model.net(torch.tensor(list)) end)
    made[i] = logits[#list]:argmax():item() - 1
    list[#list + 1] = made[i]
    if made[i] == 0 then break end
  end
  return made
end

describe('torch.lm.load #cpu', function()
  it('generates the most likely tokens, in pieces', function()
    for seed = 1, 5 do
      local model = loaded(seed)
      assert.same({ 27, 3 }, model.tokenizer:encode 'abc')
      local expected = greedy(model, { 27, 3 }, 20)
      local pieces = {}
      for piece in model:generate('abc', { max_tokens = 20 }) do pieces[#pieces + 1] = piece end
      assert.equal(model.tokenizer:decode(expected, { skip_special_tokens = true }), table.concat(pieces))
      assert.is_true(#pieces > 1 or #expected == 1)
      assert.equal(#expected, model.stats.tokens)
      assert.equal(2, model.stats.prompt_tokens)
      assert.equal(expected[#expected] == 0 and 'stop' or 'length', model.stats.finish)
      assert.equal(table.concat(pieces), model:complete({ 27, 3 }, { max_tokens = 20 }))
    end
  end)

  it('reads only the tokens of a prompt that differ from those before', function()
    local model, fresh = loaded(7), loaded(7)
    model:complete('abcdefgh', { max_tokens = 5 })
    local sizes = {}
    local forward = model.net.forward
    function model.net.forward(self, list, ...)
      sizes[#sizes + 1] = list:size(1)
      return forward(self, list, ...)
    end
    for _, prompt in ipairs { 'abcdefxyz', 'abcdefgh', 'b' } do
      assert.equal(fresh:complete(prompt, { max_tokens = 6 }), model:complete(prompt, { max_tokens = 6 }))
    end
    assert.equal(2, sizes[1]) -- x and yz: the first three pairs are known
  end)

  it('ends at stop texts, also where they begin in one token and end in another', function()
    local model = loaded(11)
    local whole = model:complete('q', { max_tokens = 30 })
    assert.is_true(#whole > 6)
    for from = 1, #whole - 3 do
      local stop = whole:sub(from, from + 2)
      assert.equal(whole:sub(1, whole:find(stop, 1, true) - 1), model:complete('q', { max_tokens = 30, stop = stop }))
      assert.equal('stop', model.stats.finish)
    end
    assert.equal(whole, model:complete('q', { max_tokens = 30, stop = { 'never', whole .. 'a' } }))
  end)

  it('draws with a seed, within top_k, top_p and min_p', function()
    local model = loaded(13)
    local first = model:complete('a', { temperature = 1.5, seed = 4, max_tokens = 25 })
    assert.equal(first, model:complete('a', { temperature = 1.5, seed = 4, max_tokens = 25 }))
    assert.not_equal(first, model:complete('a', { temperature = 1.5, seed = 5, max_tokens = 25 }))
    local likely = model:complete('a', { max_tokens = 25 })
    for _, options in ipairs { { top_k = 1 }, { top_p = 1e-6 }, { min_p = 1 } } do
      options.temperature, options.max_tokens = 3, 25
      assert.equal(likely, model:complete('a', options))
    end
    local only = torch.zeros(40, { dtype = torch.bool })
    only[{ { 2, 4 } }] = true -- a, b, c
    assert.is_truthy(model:complete('a', { temperature = 2, max_tokens = 25, allowed = function() return only end }):match '^[abc]+$')
  end)

  it('has errors for prompts and files that do not fit', function()
    local model = loaded(17)
    assert_fails('the prompt is empty', model.complete, model, '')
    assert_fails('the prompt has 64 tokens, the model reads at most 63', model.complete, model, ('z'):rep(64))
    assert_fails('token 2 of the prompt is 40; ids are integers from 0 to 39', model.complete, model, { 1, 40 })
    assert_fails('max_token', model.complete, model, 'a', { max_token = 3 })
    model:complete(('z'):rep(60), { max_tokens = 100 })
    assert.equal('length', model.stats.finish)
    assert_fails('quantized weights run on the CPU only; for cuda:0 pass a dtype', torch.lm.load, '/nowhere/model.gguf', { device = 'cuda:0' })
    assert_fails('No such file', torch.lm.load, '/nowhere/model.gguf')
  end)
end)

describe('the choice of a token', function()
  it('follows the formulas', function()
    local logits = torch.tensor { 2.0, 1.0, -1.0, 0.5 }
    local options = { temperature = 0, top_k = 0, top_p = 1, min_p = 0, repetition_penalty = 1 }
    assert.equal(0, sampler.choose(logits, {}, options))
    options.repetition_penalty = 4
    assert.equal(1, sampler.choose(logits, { 0, 0, 2 }, options))
    options.repetition_penalty, options.temperature = 1, 0.5
    options.generator = torch.Generator():manual_seed(1)
    local counts = { 0, 0, 0, 0 }
    for _ = 1, 2000 do
      local id = sampler.choose(logits, {}, options)
      counts[id + 1] = counts[id + 1] + 1
    end
    local expected = torch.softmax(logits / 0.5, 1) * 2000
    for i = 1, 4 do assert.near(expected[i]:item(), counts[i], 5 * math.sqrt(expected[i]:item() + 1)) end
  end)
end)
