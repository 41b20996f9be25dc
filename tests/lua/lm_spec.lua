-- lm_spec.lua - torch.lm.load: text from a small random model by greedy and random choice, with stop texts, limits, a mask and a
-- cache of the tokens that prompts share; errors. Needs PCRE2, as the tokenizer does.

local torch = require 'torch'
local generate = require 'torch.lm.generate'
local sampler = require 'torch.lm.sampler'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'support/gguf.lua')
local tiny = dofile(here .. 'support/tiny_llama.lua')

local function loaded(seed, options)
  torch.manual_seed(seed)
  local path = files.write((tiny.text(tiny.tokenizer())))
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

  it('penalizes tokens of the text', function()
    local model = loaded(13)
    local function repeated(options)
      options.max_tokens = 25
      local ids, again = model.tokenizer:encode(model:complete('a', options)), 0
      local seen = {}
      for _, id in ipairs(ids) do
        again = again + (seen[id] or 0)
        seen[id] = 1
      end
      return again
    end
    assert.is_true(repeated {} > 5)
    for _, options in ipairs { { repetition_penalty = 1e6 }, { frequency_penalty = 1e6 }, { presence_penalty = 1e6 } } do
      assert.equal(0, repeated(options))
    end
  end)

  it('continues several prompts together as each alone', function()
    for _, dtype in ipairs { torch.float32, torch.bfloat16, torch.int8 } do
      local model = loaded(19, { cache_dtype = dtype })
      local prompts = { 'abcdefgh', 'q', { 3, 4, 5 }, 'xyzxyz' }
      for _, options in ipairs { { max_tokens = 20 }, { max_tokens = 12, temperature = 1, seed = 5, stop = 'a' } } do
        local expected, finish = {}, {}
        for i, prompt in ipairs(prompts) do
          local each = setmetatable({ seed = options.seed and options.seed + i - 1 }, { __index = options })
          expected[i] = model:complete(prompt, { max_tokens = each.max_tokens, temperature = each.temperature, seed = each.seed, stop = each.stop })
          finish[i] = model.stats.finish
        end
        assert.same(expected, model:complete(prompts, options))
        assert.same(finish, model.stats.finish)
        local texts = { '', '', '', '' }
        for piece, i in model:generate(prompts, options) do texts[i] = texts[i] .. piece end
        assert.same(expected, texts)
      end
    end
  end)

  it('reads long prompts in parts', function()
    local model, whole = loaded(23), loaded(23)
    local ids, sizes = {}, {}
    for i = 1, 50 do ids[i] = i % 39 + 1 end
    local forward = model.net.forward
    function model.net.forward(self, list, ...)
      sizes[#sizes + 1] = list:size(1)
      return forward(self, list, ...)
    end
    generate.set_part(20)
    local ok, text = pcall(model.complete, model, ids, { max_tokens = 3 })
    local batch_ok, texts = pcall(model.complete, model, { ids, 'a' }, { max_tokens = 3 })
    generate.set_part(512)
    assert.is_true(ok and batch_ok)
    assert.same({ 20, 20, 10 }, table.move(sizes, 1, 3, 1, {}))
    assert.equal(whole:complete(ids, { max_tokens = 3 }), text)
    assert.same({ text, whole:complete('a', { max_tokens = 3 }) }, texts)
  end)

  it('continues a text while another is generated', function()
    local model, fresh = loaded(29), loaded(29)
    local expected = { fresh:complete('abc', { max_tokens = 15 }), fresh:complete('xyz', { max_tokens = 15 }) }
    local first, second, texts = model:generate('abc', { max_tokens = 15 }), model:generate('xyz', { max_tokens = 15 }), { '', '' }
    for _ = 1, 15 do texts = { texts[1] .. (first() or ''), texts[2] .. (second() or '') } end
    assert.same(expected, texts)
  end)

  it('has an error for a full context, or forgets the older half', function()
    local model = loaded(31, { context = 20 })
    local never = torch.ones(40, { dtype = torch.bool })
    never[1] = false
    local ids
    local options = { max_tokens = 60, allowed = function(list)
      ids = table.move(list, 1, #list, 1, {})
      return never
    end }
    local made = {}
    assert_fails('the context of 20 tokens is full after 19 new ones', function()
      for piece in model:generate('abc', options) do made[#made + 1] = piece end
    end)
    assert.equal(19, model.stats.tokens)
    options.context_shift = 2
    local text = model:complete('abc', options)
    assert.equal(60, model.stats.tokens)
    assert.equal(table.concat(made), text:sub(1, #table.concat(made)))
    -- Of 21 tokens, the first 2 and the last 9 remain.
    local expected = ids[22]
    model:complete({ 27, 3, table.unpack(ids, 13, 21) }, { max_tokens = 2, allowed = options.allowed })
    assert.equal(expected, ids[12])
  end)

  it('has errors for prompts and files that do not fit', function()
    local model = loaded(17)
    assert_fails('the prompt is empty', model.complete, model, '')
    assert_fails('the prompt has 64 tokens, the model reads at most 63', model.complete, model, ('z'):rep(64))
    assert_fails('token 2 of the prompt is 40; ids are integers from 0 to 39', model.complete, model, { 1, 40 })
    assert_fails('max_token', model.complete, model, 'a', { max_token = 3 })
    for message, options in pairs {
      ['max_tokens is 0, expected a number of at least 1'] = { max_tokens = 0 },
      ['temperature is -1, expected a number of at least 0'] = { temperature = -1 },
      ['top_p is 2, expected a number from 0 to 1'] = { top_p = 2 },
      ['repetition_penalty is 0, expected a positive number'] = { repetition_penalty = 0 },
      ['context_shift is 63, expected a number from 0 to 62'] = { context_shift = 63 },
      ['stop is , expected a text, or a table of texts, that are not empty'] = { stop = { 'a', '' } },
      ["'allowed' must return a bool tensor [40], got number"] = { allowed = function() return 3 end },
      ["'allowed' must return a bool tensor [40], got a tensor of torch.float32 [40]"] = { allowed = function() return torch.ones(40) end },
      ["'allowed' excludes all tokens"] = { allowed = function() return torch.zeros(40, { dtype = torch.bool }) end },
    } do
      assert_fails(message, model.complete, model, 'a', options)
    end
    assert_fails('prompt 2 is a number, expected a text or a table of token ids', model.complete, model, { 'a', 3 })
    assert_fails('context is 65, expected 2 to 64', loaded, 17, { context = 65 })
    assert_fails('cache_dtype is torch.int64, expected', loaded, 17, { cache_dtype = torch.int64 })
    assert_fails('No such file', torch.lm.load, '/nowhere/model.gguf')
  end)
end)

describe('torch.lm.load on a device', function()
  local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

  it('generates the CPU\'s tokens with quantized weights', function()
    torch.manual_seed(1)
    local path = files.write((tiny.text(tiny.tokenizer(), 'llama', tiny.q8_0)))
    local on_cpu, model = torch.lm.load(path), torch.lm.load(path, { device = device })
    os.remove(path)
    assert.equal(torch.device(device).type, model.net.layers[1].mlp.up_proj.weight.device.type)
    assert.equal('q8_0', model.net.layers[1].mlp.up_proj.scheme)
    local prompt = {} -- more rows than a product of few rows has
    for i = 1, 10 do prompt[i] = i * 7 % 40 end
    assert.equal(on_cpu:complete(prompt, { max_tokens = 5 }), model:complete(prompt, { max_tokens = 5 }))
  end)
end)

describe('the choice of a token', function()
  local neutral = { temperature = 0, top_k = 0, top_p = 1, min_p = 0, repetition_penalty = 1, frequency_penalty = 0, presence_penalty = 0 }
  local function with(changes) return setmetatable(changes, { __index = neutral }) end
  local logits = torch.tensor { 2.0, 1.0, -1.0, 0.5 }

  local function choices(options, prompt, n)
    local chooser, ids = sampler.new(with(options), prompt, 4, 'cpu'), {}
    for i = 1, n do ids[i] = chooser:choose(logits, {}) end
    return ids
  end

  it('follows the formulas of penalties', function()
    assert.same({ 0, 0 }, choices({}, { 1 }, 2))
    assert.same({ 1, 0, 0 }, choices({ repetition_penalty = 4 }, { 0, 0, 2 }, 3)) -- 0.5, 1, -4, 0.5; then 0.5, 0.25, -4, 0.5
    assert.same({ 0, 0, 1, 0, 3 }, choices({ frequency_penalty = 0.6 }, { 0 }, 5)) -- the prompt does not count
    assert.same({ 0, 1, 0, 0 }, choices({ presence_penalty = 1.2 }, { 1 }, 4)) -- 2, 1; 0.8, 1; 0.8, -0.2, -1, 0.5
  end)

  it('draws by probabilities', function()
    local chooser = sampler.new(with { temperature = 0.5 }, {}, 4, 'cpu', torch.Generator():manual_seed(1))
    local counts = { 0, 0, 0, 0 }
    for _ = 1, 2000 do
      local id = chooser:choose(logits, {})
      counts[id + 1] = counts[id + 1] + 1
    end
    local expected = torch.softmax(logits / 0.5, 1) * 2000
    for i = 1, 4 do assert.near(expected[i]:item(), counts[i], 5 * math.sqrt(expected[i]:item() + 1)) end
  end)
end)
