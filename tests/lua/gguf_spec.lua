-- gguf_spec.lua - GGUF files and quantized weights: metadata and tensors of every type, blocks decoded as ggml does
-- (tests/files/quantized_blocks.txt, written by the Python package gguf 0.17), products with quantized weights, damaged files.

local torch = require 'torch'
local gguf = require 'torch.lm.gguf'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'support/gguf.lua')

local function bytes_of(hex)
  return (hex:gsub('..', function(digits) return string.char(tonumber(digits, 16)) end))
end

local blocks = {} -- { name, rows of bytes, floats }
for line in io.lines(here .. '../files/quantized_blocks.txt') do
  local name, stored, floats = line:match '^(%S+) (%x+) (%x+)$'
  blocks[#blocks + 1] = { name, torch.frombuffer(bytes_of(stored), { dtype = torch.uint8 }):view(2, -1),
    torch.frombuffer(bytes_of(floats), { dtype = torch.float32 }):view(2, -1) }
end

local function assert_fails(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
end

describe('quantized weights #cpu', function()
  it('have the floats of ggml in every format', function()
    assert.equal(11, #blocks)
    for _, case in ipairs(blocks) do
      assert.is_true(torch.equal(case[3], torch.dequantize_blocks(case[2], case[1])), case[1])
      local rows = torch.randint(1, 3, { 2000 })
      assert.is_true(torch.equal(case[3][rows], torch.dequantize_blocks(case[2][rows], case[1])), case[1])
    end
    local case = blocks[1]
    assert.is_true(torch.equal(case[3]:bfloat16(), torch.dequantize_blocks(case[2], case[1], { dtype = torch.bfloat16 })))
    assert.is_true(torch.equal(case[3], torch.func.vmap(function(row) return torch.dequantize_blocks(row, case[1]) end)(case[2])))
  end)

  it('are multiplied as the matrix that they stand for, with a gradient to the input', function()
    torch.manual_seed(5)
    for _, case in ipairs(blocks) do
      local weight = case[2][torch.randint(1, 3, { 150 * 9 })]:view(150, -1)
      local matrix = torch.dequantize_blocks(weight, case[1])
      for _, shape in ipairs { {}, { 1 }, { 3 }, { 2, 4 }, { 9 }, { 70 }, { 0 } } do
        local sizes = table.move(shape, 1, #shape, 1, {})
        sizes[#sizes + 1] = matrix:size(2)
        local x = torch.randn(sizes)
        local expected, got = torch.matmul(x:double(), matrix:double():t()), torch.linear_blocks(x, weight, case[1])
        assert.same({ table.unpack(expected.shape) }, { table.unpack(got.shape) })
        assert.is_true(torch.allclose(expected:float(), got, { rtol = 1e-5, atol = 1e-5 * math.max(1, matrix:abs():max():item() * matrix:size(2)) }), case[1])
      end
      for _, m in ipairs { 1, 40 } do
        local x, g = torch.randn(m, matrix:size(2)):requires_grad_(), torch.randn(m, 150)
        torch.linear_blocks(x, weight, case[1]):backward(g)
        local expected = torch.matmul(g:double(), matrix:double()):float()
        assert.is_true(torch.allclose(expected, x.grad, { rtol = 1e-5, atol = 1e-5 * math.max(1, matrix:abs():max():item() * 150) }), case[1])
      end
      local wide = torch.randn(3, matrix:size(2), { dtype = torch.float64 })
      assert.is_true(torch.equal(torch.matmul(wide, matrix:double():t()), torch.linear_blocks(wide, weight, case[1])), case[1])
      local z = wide:bfloat16():requires_grad_()
      assert.equal(torch.bfloat16, torch.linear_blocks(z, weight, case[1]).dtype)
      torch.linear_blocks(z, weight, case[1]):sum():backward()
      assert.equal(torch.bfloat16, z.grad.dtype)
    end
  end)

  it('without rows give a gradient of zeros', function()
    local x = torch.randn(3, 32):requires_grad_()
    torch.linear_blocks(x, torch.zeros(0, 18, { dtype = torch.uint8 }), 'q4_0'):sum():backward()
    assert.is_true(torch.equal(torch.zeros(3, 32), x.grad))
  end)

  it('are decoded in parts for the gradient', function()
    local x, weight = torch.randn(4, 256):requires_grad_(), torch.zeros(4000, 256 // 32 * 18, { dtype = torch.uint8 })
    local y = torch.linear_blocks(x, weight, 'q4_0')
    local g = torch.ones_like(y)
    collectgarbage()
    torch._C.memory_peak()
    local before = torch._C.memory_live()
    y:backward(g)
    assert.is_true(torch._C.memory_peak() - before < 4000 * 256 * 4 / 10)
  end)

  it('without elements have products of zeros', function()
    local empty = torch.zeros(3, 0, { dtype = torch.uint8 })
    assert.is_true(torch.equal(torch.zeros(2, 3), torch.linear_blocks(torch.zeros(2, 0), empty, 'q4_k')))
    assert.is_true(torch.equal(torch.zeros(3), torch.linear_blocks(torch.zeros(0), empty, 'q8_0')))
    assert.same({ 3, 0 }, { table.unpack(torch.dequantize_blocks(empty, 'q8_0').shape) })
  end)

  it('have errors with the values that do not fit', function()
    local bytes = torch.zeros(2, 36, { dtype = torch.uint8 })
    assert_fails("unknown scheme 'q9_9'; use q4_0, q4_1", torch.dequantize_blocks, bytes, 'q9_9')
    assert_fails('a row has 36 bytes, which is no multiple of a block of q4_1, 20 bytes', torch.dequantize_blocks, bytes, 'q4_1')
    assert_fails('quantized weights are bytes (uint8), got float32', torch.dequantize_blocks, bytes:float(), 'q4_0')
    assert_fails('an input with a last dimension of 63 elements and a weight of 2 dimensions with 64 elements per row do not fit',
      torch.linear_blocks, torch.ones(63), bytes, 'q4_0')
    assert_fails('the input has the dtype', torch.linear_blocks, torch.ones(64):long(), bytes, 'q4_0')
  end)
end)

local metadata = {
  { 'u8', 0, 200 }, { 'i8', 1, -3 }, { 'u16', 2, 60000 }, { 'i16', 3, -300 }, { 'u32', 4, 1 << 31 }, { 'i32', 5, -7 }, { 'f32', 6, 0.5 }, { 'yes', 7, true },
  { 'no', 7, false }, { 'text', 8, 'Grüße\0\n' }, { 'u64', 10, 1 << 40 }, { 'i64', 11, -(1 << 40) }, { 'f64', 12, 0.1 },
  { 'words', 9, { of = 8, 'a', '', 'bc' } }, { 'nested', 9, { of = 9, { of = 4, 1, 2 }, { of = 4 } } },
}

describe('a GGUF file #cpu', function()
  local x = torch.randn(3, 4)
  local text = files.text(metadata, {
    { 'x', { 3, 4 }, 0, files.bytes(x) }, { 'half', { 4 }, 1, files.bytes(x[1]:half()) }, { 'brain', { 4 }, 30, files.bytes(x[2]:bfloat16():view(torch.int16)) },
    { 'whole', { 2 }, 26, files.bytes(torch.tensor({ 5, -6 }, { dtype = torch.int32 })) }, { 'blocks', { 2, 32 }, 2, files.bytes(blocks[1][2]) },
    { 'none', { 0, 4 }, 0, '' }, { 'one', {}, 0, files.bytes(x[1][1]) },
  })
  local path = files.write(text)
  teardown(function() os.remove(path) end)

  it('has metadata of every type', function()
    local file = gguf(path)
    local expected = { words = { 'a', '', 'bc' }, nested = { { 1, 2 }, {} } }
    for _, entry in ipairs(metadata) do assert.same(expected[entry[1]] or entry[3], file.metadata[entry[1]]) end
  end)

  it('has tensors that are mapped, in the order of the file', function()
    local file = gguf(path)
    assert.same({ 'x', 'half', 'brain', 'whole', 'blocks', 'none', 'one' }, file:names())
    assert.is_true(torch.equal(x, file:tensor 'x'))
    assert.is_true(torch.equal(x[1]:half(), (file:stored 'half')))
    assert.is_true(torch.equal(x[2]:bfloat16():float(), file:tensor 'brain'))
    assert.is_true(torch.equal(torch.tensor { 5, -6 }, file:tensor('whole', torch.int64)))
    assert.is_true(torch.equal(blocks[1][3], file:tensor 'blocks'))
    local stored, scheme = file:stored 'blocks'
    assert.equal('q4_0', scheme)
    assert.is_true(torch.equal(blocks[1][2], stored))
    assert.same({ { 2, 32 }, 'q4_0' }, { file:info 'blocks' })
    assert.same({ 0, 4 }, { table.unpack(file:tensor('none').shape) })
    assert.equal(x[1][1]:item(), file:tensor('one'):item())
    assert_fails("no tensor has the name 'y'", file.tensor, file, 'y')
  end)

  it('that is cut off anywhere is an error', function()
    for n = 0, #text - 33, 7 do -- the last 28 bytes are padding
      local short = files.write(text:sub(1, n))
      assert_fails(short, gguf, short)
      os.remove(short)
    end
  end)

  it('with changed bytes is read, or an error, in little memory', function()
    math.randomseed(11)
    for _ = 1, 400 do
      local bytes = { text:byte(1, 700) }
      for _ = 1, math.random(3) do bytes[math.random(#bytes)] = math.random(0, 255) end
      local damaged = files.write(string.char(table.unpack(bytes)) .. text:sub(701))
      local ok, file = pcall(gguf, damaged)
      if ok then
        for _, name in ipairs(file:names()) do pcall(file.tensor, file, name) end
      end
      os.remove(damaged)
    end
  end)

  it('has errors that name what is wrong', function()
    local function opened(...)
      local wrong = files.write(files.text(...))
      local result = table.pack(pcall(gguf, wrong))
      os.remove(wrong)
      return result[1], result[2]
    end
    for message, arguments in pairs {
      ["'t' has rows of 33 elements, no multiple of a block of q4_0, 32"] = { {}, { { 't', { 33 }, 2, '' } } },
      ["'t' has elements of type 99"] = { {}, { { 't', { 3 }, 99, '' } } },
      ["'t' goes beyond the end of the file"] = { {}, { { 't', { 300 }, 0, '' } } },
      ["'t' is too large"] = { {}, { { 't', { 1 << 40, 1 << 40 }, 0, '' } } },
      ["'t' occurs twice"] = { {}, { { 't', { 0 }, 0, '' }, { 't', { 0 }, 0, '' } } },
      ["'t' has 5 dimensions, at most 4"] = { {}, { { 't', { 1, 1, 1, 1, 1 }, 0, '' } } },
      ['general.alignment is 7'] = { { { 'general.alignment', 4, 7 } }, {} },
    } do
      local ok, got = opened(table.unpack(arguments))
      assert.is_false(ok)
      assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
    end
    assert_fails('not a GGUF file', gguf, files.write(('x'):rep(100)))
    assert_fails('version 1 of GGUF; ltensor reads versions 2 and 3', gguf, files.write('GGUF\1\0\0\0' .. ('\0'):rep(16)))
  end)
end)
