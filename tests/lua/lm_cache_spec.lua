-- lm_cache_spec.lua - the keys and values that a language model keeps: results equal those without a cache, in every dtype, for
-- several texts in one call, and after a failed call.

local torch = require 'torch'
local cache = require 'torch.lm.cache'
local attend = require 'torch.lm.attention'

local HEADS, KV_HEADS, WIDTH = 4, 2, 8

local function rows(n, seed)
  torch.manual_seed(seed)
  return torch.randn(HEADS, n, WIDTH), torch.randn(KV_HEADS, n, WIDTH), torch.randn(KV_HEADS, n, WIDTH)
end

-- The attention of tokens that are given in parts of these sizes.
local function in_parts(kept, q, k, v, sizes)
  local results, from = {}, 1
  for i, n in ipairs(sizes) do
    results[i] = kept.layers[1]:attend(q:narrow(2, from, n), k:narrow(2, from, n), v:narrow(2, from, n))
    kept:advance(n)
    from = from + n
  end
  return torch.cat(results, 2)
end

describe('the cache of a language model #cpu', function()
  it('has the results of one call, however the tokens are divided', function()
    local q, k, v = rows(150, 1)
    local expected = attend(q, k, v, 0)
    for _, sizes in ipairs { { 150 }, { 1, 149 }, { 70, 1, 1, 78 }, { 3, 60, 2, 85 } } do
      assert.is_true(torch.allclose(expected, in_parts(cache.new(1), q, k, v, sizes), { atol = 1e-6 }))
    end
  end)

  it('stores elements in a dtype of choice', function()
    local q, k, v = rows(90, 2)
    local expected = attend(q, k, v, 0)
    for name, bound in pairs { float32 = 1e-6, float16 = 4e-3, bfloat16 = 3e-2, int8 = 2e-2 } do
      local kept = cache.new(1, torch[name])
      local got = in_parts(kept, q, k, v, { 40, 1, 49 })
      assert.equal(torch.float32, got.dtype)
      assert.equal(torch[name], kept.layers[1].k.dtype)
      local error = (got - expected):abs():max():item()
      assert.is_true(error < bound, ('%s: %g'):format(name, error))
    end
  end)

  it('stores zeros in int8', function()
    local kept = cache.new(1, torch.int8)
    local q, k, v = rows(1, 3)
    local y = kept.layers[1]:attend(q, k * 0, v * 0)
    assert.equal(0, y:abs():max():item())
  end)

  it('reserves memory, and keeps it when tokens are forgotten', function()
    local kept = cache.new(1)
    kept:reserve(200)
    local q, k, v = rows(200, 4)
    in_parts(kept, q, k, v, { 50 })
    local storage = kept.layers[1].k:data_ptr()
    kept:truncate(20)
    local expected = attend(q, k, v, 0):narrow(2, 21, 180)
    local got = in_parts(kept, q:narrow(2, 21, 180), k:narrow(2, 21, 180), v:narrow(2, 21, 180), { 180 })
    assert.is_true(torch.allclose(expected, got, { atol = 1e-6 }))
    assert.equal(storage, kept.layers[1].k:data_ptr())
    assert.equal(200, kept.length)
  end)

  it('ignores the tokens of a call that did not end', function()
    local q, k, v = rows(10, 5)
    local kept = cache.new(2)
    in_parts(kept, q, k, v, { 4 })
    kept.layers[1]:attend(q, k, v) -- and layer 2 fails
    local got = kept.layers[1]:attend(q:narrow(2, 5, 6), k:narrow(2, 5, 6), v:narrow(2, 5, 6))
    assert.is_true(torch.allclose(attend(q, k, v, 0):narrow(2, 5, 6), got, { atol = 1e-6 }))
  end)

  it('joins the tokens of several texts', function()
    local texts, caches = {}, {}
    for i, n in ipairs { 5, 70, 1 } do
      texts[i] = { rows(n + 2, 10 + i) }
      texts[i].n, caches[i] = n, cache.new(1)
    end
    local function step(from, counts)
      local joined = {}
      for part = 1, 3 do
        local parts = {}
        for i, text in ipairs(texts) do parts[i] = text[part]:narrow(2, from(text), counts[i]) end
        joined[part] = torch.cat(parts, 2)
      end
      local batch = cache.batch(caches, counts)
      local positions = batch:positions()
      local y = batch.layers[1]:attend(table.unpack(joined))
      batch:advance()
      return y, positions, batch
    end
    local y, positions, batch = step(function() return 1 end, { 5, 70, 1 })
    assert.same({ 4, 0 }, { positions[5]:item(), positions[6]:item() })
    assert.is_true(torch.equal(positions:index_select(1, torch.tensor { 5, 75, 76 }), batch:last(positions)))
    assert.is_true(torch.allclose(attend(texts[2][1], texts[2][2], texts[2][3], 0):narrow(2, 1, 70), y:narrow(2, 6, 70), { atol = 1e-6 }))
    y, positions = step(function(text) return text.n + 1 end, { 2, 2, 2 })
    assert.same({ 5, 6, 70, 71, 1, 2 }, positions:tolist())
    for i, text in ipairs(texts) do
      local expected = attend(text[1], text[2], text[3], 0):narrow(2, text.n + 1, 2)
      assert.is_true(torch.allclose(expected, y:narrow(2, 2 * i - 1, 2), { atol = 1e-6 }))
    end
  end)
end)
