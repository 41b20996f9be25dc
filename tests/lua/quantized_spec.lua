-- quantized_spec.lua - quantizing: quantize_blocks with the bytes of the Python package gguf 0.17
-- (tests/files/quantized_floats.txt: the floats, three rows of 64, and their blocks by scheme), torch.quantized.Tensor, and
-- torch.ao.quantization.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local nn = torch.nn
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'

local function bytes_of(hex) return (hex:gsub('..', function(digits) return string.char(tonumber(digits, 16)) end)) end

local floats, blocks = nil, {}
for line in io.lines(here .. '../files/quantized_floats.txt') do
  local name, hex = line:match '^(%S+) (%x+)$'
  if name == 'floats' then floats = torch.frombuffer(bytes_of(hex), { dtype = torch.float32 }):view(3, 64)
  else blocks[name] = torch.frombuffer(bytes_of(hex), { dtype = torch.uint8 }):view(3, -1) end
end

-- The relative error of a row.
local function error_of(x, scheme)
  return ((torch.dequantize_blocks(torch.quantize_blocks(x, scheme), scheme) - x):norm() / x:norm()):item()
end

describe('quantize_blocks #cpu', function()
  it('has the bytes of the package gguf', function()
    local count = 0
    for scheme, expected in pairs(blocks) do
      assert.is_true(torch.equal(expected, torch.quantize_blocks(floats, scheme)), scheme)
      assert.is_true(torch.equal(expected, torch.quantize_blocks(floats:double():t():contiguous():t(), scheme)), scheme)
      assert.is_true(torch.equal(expected, torch.func.vmap(function(row) return torch.quantize_blocks(row, scheme) end)(floats)), scheme)
      count = count + 1
    end
    assert.equal(5, count)
  end)

  it('fits q4_k to the numbers, as closely as llama.cpp', function()
    torch.manual_seed(1)
    local x = torch.randn(40, 256)
    assert.is_true(error_of(x, 'q4_k') < 0.072) -- llama.cpp: 0.0712
    assert.is_true(error_of(x:abs(), 'q4_k') < 0.0435) -- 0.0427
    assert.is_true(error_of(x * 1e-5, 'q4_k') < 0.096) -- 0.0942, with scales of few bits
    for _, value in ipairs { 0.0, 0.5, -0.5 } do
      local same = torch.full({ 256 }, value)
      assert.is_true(torch.allclose(same, torch.dequantize_blocks(torch.quantize_blocks(same, 'q4_k'), 'q4_k'), { rtol = 1e-3 }), value)
    end
  end)

  it('keeps large rows equal on any number of threads', function()
    local x = torch.randn(300, 512)
    local threads = torch.get_num_threads()
    for _, scheme in ipairs { 'q8_0', 'q4_k' } do
      local packed = torch.quantize_blocks(x, scheme)
      torch.set_num_threads(1)
      local alone = torch.quantize_blocks(x, scheme)
      torch.set_num_threads(threads)
      assert.is_true(torch.equal(packed, alone))
    end
  end)

  it('makes a block with another number one of NaN, and no other', function()
    for _, scheme in ipairs { 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q4_k' } do
      for _, value in ipairs { 0 / 0, math.huge, -math.huge } do
        local x = torch.ones(512)
        x[300] = value
        local y = torch.dequantize_blocks(torch.quantize_blocks(x, scheme), scheme)
        assert.is_true(y[300]:isnan():item())
        assert.is_false(y:narrow(1, 1, 256):isnan():any():item())
      end
    end
  end)

  it('has no derivative, and takes rows of whole blocks of floats', function()
    assert.is_false(torch.quantize_blocks(torch.ones(32):requires_grad_(), 'q8_0').requires_grad)
    assert.same({ 0, 34 }, { table.unpack(torch.quantize_blocks(torch.ones(0, 32), 'q8_0').shape) })
    fails_with('a row has 48 elements, which is no multiple of a block of q4_0, 32 elements; pad the rows or use another scheme', function() torch.quantize_blocks(torch.ones(2, 48), 'q4_0') end)
    fails_with("the scheme 'q6_k' is not written; use q4_0", function() torch.quantize_blocks(torch.ones(256), 'q6_k') end)
    fails_with('expected floats, got int64', function() torch.quantize_blocks(torch.ones(32):long(), 'q4_0') end)
    fails_with("the scheme 'int3' is not written", function() torch.quantize_blocks(torch.ones(32), 'int3') end)
  end)
end)

describe('torch.quantized.Tensor #cpu', function()
  local x = torch.randn(3, 2, 64)
  local q = torch.quantized.Tensor.quantize(x, 'q8_0')

  it('has the shape of its floats and the bytes of its blocks', function()
    assert.same({ 3, 2, 64 }, { table.unpack(q.shape) })
    assert.same({ 64, 2, 3, 384, 6 * 68 }, { q:size(-1), q:size(2), q:dim(), q:numel(), q:nbytes() })
    assert.same({ torch.float32, 'q8_0', true }, { q.dtype, q.scheme, q.is_quantized })
    assert.is_true(torch.allclose(x, q:dequantize(), { atol = 0.02 }))
    assert.equal(torch.bfloat16, q:dequantize(torch.bfloat16).dtype)
    assert.equal(64, torch.quantized.Tensor(q.packed[1][1], 'q8_0'):size(1))
    assert.is_truthy(tostring(q):find('^quantized%.tensor%(%[%[%[.*, scheme=q8_0%)$'))
  end)

  it('is copied, compared and moved', function()
    assert.is_true(q:equal(q:clone()))
    assert.is_true(rawequal(q, q:cpu()))
    assert.is_false(q:equal(torch.quantized.Tensor.quantize(x, 'q4_0')))
    assert.is_false(q:equal(x))
  end)

  it('is saved and loaded', function()
    local path = os.tmpname()
    torch.save({ weights = { q }, x = x }, path)
    local loaded = torch.load(path)
    os.remove(path)
    assert.is_true(q:equal(loaded.weights[1]))
    local decode = require('torch.files.structure').decode
    local bytes = torch.zeros(35, { dtype = torch.uint8 })
    for _, text in ipairs { 'quantized{"packed": tensor("a", "cpu", false), "scheme": "q8_0"}', 'quantized{"scheme": "q8_0"}', 'quantized{}' } do
      local value, message = decode(text, function() return bytes end)
      assert.is_nil(value)
      assert.is_truthy(message:find 'a quantized tensor of components that do not fit')
    end
  end)

  it('refuses bytes that are no blocks', function()
    fails_with('a row has 35 bytes', function() torch.quantized.Tensor(torch.ones(35):to(torch.uint8), 'q8_0') end)
    fails_with('quantized weights are bytes (uint8), got float32', function() torch.quantized.Tensor(torch.ones(34), 'q8_0') end)
  end)
end)

describe('torch.ao.quantization #cpu', function()
  local quantization = torch.ao.quantization
  local function new_net() return nn.Sequential(nn.Embedding(20, 64), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 5, { bias = false })) end
  local positions = torch.tensor { 1, 20, 7 }

  it('quantize_ replaces linear layers and embeddings in place', function()
    for config, limit in pairs { int8 = 0.03, int4 = 0.2, q5_1 = 0.1 } do
      local net = new_net()
      local before = net(positions)
      quantization.quantize_(net, config)
      assert.same({ 'QuantizedEmbedding', 'QuantizedLinear', 'QuantizedLinear' }, { torch.type(net[1]), torch.type(net[2]), torch.type(net[4]) })
      assert.is_true(((net(positions) - before):norm() / before:norm()):item() < limit, config)
      assert.is_true(torch.equal(net[2].weight, net[2]:quantized_weight().packed))
    end
  end)

  it('passes a gradient to the input and to the parameters that remain', function()
    local net = nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 2))
    quantization.quantize_(net, 'int8', function(_, path) return path == '1' end)
    local x = torch.randn(3, 64):requires_grad_()
    net(x):sum():backward()
    assert.is_true(x.grad:abs():sum():item() > 0)
    assert.is_not_nil(net[1].weight.grad)
    assert.is_not_nil(net[2].bias.grad)
  end)

  it('keeps shared weights shared', function()
    local net = nn.Sequential(nn.Embedding(20, 64), nn.Linear(64, 20))
    net[2].weight = net[1].weight
    quantization.quantize_(net, 'int8')
    assert.is_true(rawequal(net[1].weight, net[2].weight))
  end)

  it('has states that contain the scheme', function()
    local net, other = new_net(), new_net()
    quantization.quantize_(net, 'q4_0')
    quantization.quantize_(other, 'q4_0')
    local path = os.tmpname()
    torch.save(net:state_dict(), path)
    other:load_state_dict(torch.load(path))
    os.remove(path)
    assert.is_true(torch.equal(net(positions), other(positions)))
    local wrong = nn.Sequential(nn.Linear(64, 32))
    local right = nn.Sequential(nn.Linear(64, 32))
    quantization.quantize_(wrong, 'q4_0')
    quantization.quantize_(right, 'q4_0')
    local state = wrong:state_dict()
    state['0._extra_state'] = { scheme = 'iq4_nl' } -- a format with as many bytes
    fails_with('a weight of the scheme iq4_nl does not fit a QuantizedLinear of the scheme q4_0', function() right:load_state_dict(state) end)
  end)

  it('leaves the net unchanged if a layer does not fit', function()
    local net = nn.Sequential(nn.Linear(64, 10), nn.Linear(10, 3))
    fails_with("quantize_(): '1': a row has 10 elements, which is no multiple of a block of q8_0, 32 elements", function() quantization.quantize_(net, 'int8') end)
    assert.equal('Linear', torch.type(net[1]))
    quantization.quantize_(net, 'int8', function(_, path) return path ~= '1' end)
    assert.equal('QuantizedLinear', torch.type(net[1]))
    fails_with('the net is itself a Linear', function() quantization.quantize_(nn.Linear(32, 1), 'int8') end)
    fails_with("'0' has max_norm", function() quantization.quantize_(nn.Sequential(nn.Embedding(4, 32, { max_norm = 1 })), 'int8') end)
    fails_with("the scheme 'int3' is not written", function() quantization.quantize_(nn.Sequential(nn.Linear(32, 1)), 'int3') end)
  end)

  it('quantize_dynamic changes a copy, by classes', function()
    local net = new_net()
    local copy = quantization.quantize_dynamic(net, { nn.Linear }, { dtype = torch.int8 })
    assert.equal('Linear', torch.type(net[2]))
    assert.same({ 'Embedding', 'QuantizedLinear' }, { torch.type(copy[1]), torch.type(copy[2]) })
    assert.is_true(torch.allclose(net(positions), copy(positions), { atol = 0.05 }))
    assert.is_true(rawequal(net, quantization.quantize_dynamic(net, { inplace = true })))
    fails_with('expected torch.int8', function() quantization.quantize_dynamic(net, { dtype = torch.float16 }) end)
  end)
end)
