-- gguf_save_spec.lua - torch.lm.gguf.save: files that torch.lm.gguf reads again, of every type, and errors. That the package gguf
-- and llama.cpp read them was checked with converted files of SmolLM2.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local ordered_dict = require 'torch.support.ordered_dict'
local gguf = torch.lm.gguf

local path = os.tmpname()

local function bytes()
  local file <close> = assert(io.open(path, 'rb'))
  return file:read 'a'
end

-- Saves, and opens the file.
local function saved(options)
  options.metadata, options.tensors = options.metadata or {}, options.tensors or {}
  gguf.save(path, options)
  return gguf(path)
end

describe('torch.lm.gguf.save #cpu', function()
  teardown(function() os.remove(path) end)

  it('writes metadata with types that follow from the values, or with given ones', function()
    local metadata = { small = 7, negative = -7, large = 1 << 40, half = 0.5, yes = true, text = 'Grüße\0\n', whole = { 1, -2 }, wide = { 1 << 40 },
      mixed = { 1, 0.5 }, words = { 'a', '' }, none = {}, nested = { { 1 }, { 2, 3 } }, byte = 200, exact = 0.1, bytes = { 1, 255 } }
    local file = saved { metadata = metadata, types = { byte = 'uint8', exact = 'float64', bytes = '[uint8]' } }
    assert.same(metadata, file.metadata)
    assert.same({ small = 'uint32', negative = 'int32', large = 'int64', half = 'float32', yes = 'bool', text = 'string', whole = '[int32]', wide = '[int64]',
      mixed = '[float32]', words = '[string]', none = '[int32]', nested = '[[int32]]', byte = 'uint8', exact = 'float64', bytes = '[uint8]' }, file.types)
  end)

  it('writes tensors of every type, in the order of an OrderedDict', function()
    local x = torch.randn(3, 64)
    local tensors = ordered_dict.new()
    for _, dtype in ipairs { 'float32', 'float16', 'bfloat16', 'float64', 'int8', 'int16', 'int32', 'int64' } do tensors[dtype] = (x * 10):to(torch[dtype]) end
    tensors.q5_0 = torch.quantized.Tensor.quantize(x, 'q5_0')
    tensors.turned, tensors.scalar, tensors.none = x:t(), torch.tensor(1.5), torch.zeros(0, 4)
    local file = saved { tensors = tensors, metadata = { ['general.alignment'] = 64 } }
    assert.same(ordered_dict.names(tensors), file:names())
    for name, tensor in pairs(file:tensors()) do
      local expected = tensors[name]
      assert.is_true(torch.is_tensor(expected) and expected.dtype == tensor.dtype and torch.equal(expected, tensor) or expected.scheme and expected:equal(tensor), name)
    end
  end)

  it('writes a file again with the same bytes', function()
    local file = saved { metadata = { ['general.architecture'] = 'x', n = 1 }, types = { n = 'uint64' }, tensors = { w = torch.randn(2, 32), b = torch.ones(5) }, dtype = 'q4_0' }
    local first = bytes()
    saved { metadata = file.metadata, types = file.types, tensors = file:tensors() }
    assert.equal(first, bytes())
  end)

  it('converts tensors of two or more dimensions to a dtype or a scheme, others to float32', function()
    local x = torch.randn(4, 64)
    local tensors = { w = x, b = x[1]:half(), i = torch.arange(3), q = torch.quantized.Tensor.quantize(x, 'q8_0') }
    local file = saved { tensors = tensors, dtype = 'q4_1' }
    local expected = torch.quantized.Tensor.quantize(x, 'q4_1')
    assert.is_true(expected:equal(file:tensors().w))
    assert.is_true(torch.quantized.Tensor.quantize(tensors.q:dequantize(), 'q4_1'):equal(file:tensors().q))
    assert.same({ torch.float32, torch.int64 }, { file:tensors().b.dtype, file:tensors().i.dtype })
    file = saved { tensors = tensors, dtype = torch.bfloat16 }
    assert.is_true(torch.equal(x:bfloat16(), file:tensors().w))
    file = saved { tensors = tensors, dtype = function(name, tensor) return name == 'w' and 'q8_0' or #tensor.shape == 1 and torch.float16 or nil end }
    assert.same({ 'q8_0', torch.float16, 'q8_0' }, { select(2, file:info 'w'), select(2, file:info 'b'), (select(2, file:info 'q')) })
  end)

  it('leaves an existing file unchanged on an error', function()
    saved { metadata = { n = 1 } }
    local before = bytes()
    for message, options in pairs {
      ["tensor 'w' has rows of 33 elements, which is no multiple of a block of q4_0, 32"] = { tensors = { w = torch.ones(2, 33) }, dtype = 'q4_0' },
      ["tensor 'w' has the type torch.bool, which GGUF files do not have"] = { tensors = { w = torch.ones(2):bool() } },
      ["tensor 'w' has 5 dimensions, at most 4"] = { tensors = { w = torch.ones(1, 1, 1, 1, 1) } },
      ["'w' is a string, expected a Tensor or a torch.quantized.Tensor"] = { tensors = { w = 'x' } },
      ["the value of 'k' has the type uint8, which does not hold 256"] = { metadata = { k = 256 }, types = { k = 'uint8' } },
      ["the value of 'k' has the type float32, which does not hold 1e+300"] = { metadata = { k = 1e300 } },
      ["the value of 'k' has the type string, which does not hold 1"] = { metadata = { k = 1 }, types = { k = 'string' } },
      ["the type of 'k' is number, expected for example 'uint32'"] = { metadata = { k = 1 }, types = { k = 'number' } },
      ["the value of 'k' is a function, expected a boolean"] = { metadata = { k = print } },
      ["the list 'k' has values of several types"] = { metadata = { k = { 1, 'a' } } },
      ['general.alignment is 7, expected a multiple of 8'] = { metadata = { ['general.alignment'] = 7 } },
    } do
      fails_with(message, saved, options)
    end
    fails_with("the scheme 'q6_k' is not written", saved, { tensors = { w = torch.ones(2, 256) }, dtype = 'q6_k' })
    assert.equal(before, bytes())
  end)
end)
