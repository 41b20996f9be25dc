-- llama_spec.lua - decoder-only models from GGUF files: the logits of plain loops, with and without a cache, with weights of several
-- formats; errors of files that do not fit.

local torch = require 'torch'
local gguf = require 'torch.lm.gguf'
local llama = require 'torch.lm.llama'
local caches = require 'torch.lm.cache'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'support/gguf.lua')
local tiny = dofile(here .. 'support/tiny_llama.lua')

local ids = { 3, 17, 0, 39, 17, 8, 21 }

local function opened(text, f)
  local path = files.write(text)
  local ok, result = pcall(function() return f(gguf(path)) end)
  os.remove(path)
  assert(ok, result)
  return result
end

local function logits_of(net, list, cache)
  return torch.no_grad(function() return net(torch.tensor(list), cache) end)
end

local function assert_close(expected, got) assert.is_true(torch.allclose(expected:float(), got:float(), { rtol = 1e-4, atol = 1e-4 })) end

describe('a Llama #cpu', function()
  for _, family in ipairs { 'llama', 'qwen2' } do
    it('of the family ' .. family .. ' has the logits of plain loops, from a cache, too', function()
      torch.manual_seed(3)
      local text, weights = tiny.text(nil, family)
      local expected = torch.tensor(tiny.logits(weights, ids, family))
      local net = opened(text, llama.from_gguf)
      assert_close(expected, logits_of(net, ids))
      for _, cut in ipairs { 1, 3, 6 } do
        local cache = caches.new(2)
        assert_close(expected:narrow(1, 1, cut), logits_of(net, { table.unpack(ids, 1, cut) }, cache))
        assert_close(expected:narrow(1, cut + 1, #ids - cut), logits_of(net, { table.unpack(ids, cut + 1) }, cache))
        cache:truncate(2)
        assert_close(expected:narrow(1, 3, 1), logits_of(net, { ids[3] }, cache))
      end
    end)
  end

  it('grows its cache', function()
    torch.manual_seed(3)
    local net, cache, long = opened((tiny.text()), llama.from_gguf), caches.new(2), {}
    for i = 1, 150 do long[i] = i * 7 % 40 end
    local expected = logits_of(net, long)
    for i = 1, 150 do assert_close(expected:narrow(1, i, 1), logits_of(net, { long[i] }, cache)) end
  end)

  it('keeps quantized weights as they are, or converts them', function()
    torch.manual_seed(4)
    local text, weights = tiny.text(nil, 'llama', tiny.q8_0)
    local expected = torch.tensor(tiny.logits(weights, ids))
    local net = opened(text, llama.from_gguf)
    assert.equal('q8_0', net.layers[1].mlp.up_proj.scheme)
    assert_close(expected, net(torch.tensor(ids))) -- with gradients, products are exact
    assert.is_true((logits_of(net, ids) - expected):norm():item() < 0.05 * expected:norm():item())
    assert_close(expected, logits_of(opened(text, function(file) return llama.from_gguf(file, torch.float32) end), ids))
    local half = opened(text, function(file) return llama.from_gguf(file, torch.bfloat16) end)
    assert.equal(torch.bfloat16, half.embedding.weight.dtype)
    assert.is_true(torch.allclose(expected, logits_of(half, ids):float(), { rtol = 0.1, atol = 0.5 }))
  end)

  it('is refused with the names of values that do not fit', function()
    local function refused(message, ...)
      local path = files.write((tiny.text(...)))
      local ok, got = pcall(function() return llama.from_gguf(gguf(path)) end)
      os.remove(path)
      assert.is_false(ok)
      assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
    end
    refused("a model of the family 'mamba'; ltensor runs gemma", nil, 'mamba')
    refused('llama.block_count is 0', { { 'llama.block_count', 4, 0 } })
    refused("no tensor has the name 'blk.2.", { { 'llama.block_count', 4, 3 } })
    refused("has the shape [64, 32], the configuration requires [65, 32]", { { 'llama.feed_forward_length', 4, 65 } })
  end)
end)
