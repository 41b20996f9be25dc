-- nn_attention_spec.lua - attention and transformers: against PyTorch, copies of layers, errors.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local nn = torch.nn
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local modules = dofile(here .. 'support/modules.lua')
local device = modules.device

describe('PyTorch\'s attention', function()
  for number, case in ipairs(modules.load 'transformer') do
    it(modules.name(case, number), function() modules.run(case) end)
  end
end)

describe('nn.MultiheadAttention', function()
  it('self-attention gives the result of three equal inputs with one product', function()
    torch.manual_seed(2)
    local attention = nn.MultiheadAttention(6, 3, { batch_first = true }):to(device)
    local x = torch.randn(2, 4, 6):to(device)
    local a, weights = attention(x, x, x)
    local b = attention(x, x:clone(), x:clone())
    assert.is_true(torch.allclose(a, b, { atol = 1e-6 }))
    assert.equal(torch.Size { 2, 4, 4 }, weights.shape)
    assert.is_nil(select(2, attention(x, x, x, { need_weights = false })))
  end)

  it('sees nothing later when it is causal', function()
    torch.manual_seed(2)
    local attention = nn.MultiheadAttention(4, 2):to(device)
    local x = torch.randn(5, 1, 4):to(device)
    local whole = attention(x, x, x, { is_causal = true, need_weights = false })
    local begin = x:narrow(1, 1, 2)
    local part = attention(begin, begin, begin, { is_causal = true, need_weights = false })
    assert.is_true(torch.allclose(whole:narrow(1, 1, 2), part, { atol = 1e-6 }))
  end)

  it('MultiheadAttention rejects shapes that do not match', function()
    local attention = nn.MultiheadAttention(4, 2)
    local x = torch.ones(3, 2, 4)
    fails_with('embed_dim must be divisible by num_heads', nn.MultiheadAttention, 5, 2)
    fails_with('was expecting embedding dimension of 4, but got 3', attention, torch.ones(3, 2, 3), x, x)
    fails_with('query should be unbatched 2D or batched 3D tensor but received 1-D query tensor', attention, torch.ones(4), x, x)
    local sizes = 'For batched (3-D) `query`, expected `key` and `value` to be 3-D but found %d-D and %d-D tensors respectively'
    fails_with(sizes:format(2, 3), attention, x, x[1], x)
    fails_with(sizes:format(3, 2), attention, x, x, x[1])
    fails_with('The shape of the 2D attn_mask is torch.Size([2, 3]), but should be (3, 3).', attention, x, x, x,
      { attn_mask = torch.zeros(2, 3) })
    fails_with('expecting key_padding_mask shape of (2, 3), but got torch.Size([3, 2])', attention, x, x, x,
      { key_padding_mask = torch.zeros(3, 2) })
    fails_with("MultiheadAttention.forward() missing 1 required argument: 'key' (a Tensor)", attention, x)
    fails_with("unexpected keyword argument 'mask'", attention, x, x, x, { mask = torch.zeros(3, 3) })
  end)
end)

describe('stacks of transformer layers', function()
  it('begin with equal layers that are trained apart', function()
    local encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
    local a, b = encoder.layers[1].linear1.weight, encoder.layers[2].linear1.weight
    assert.is_true(torch.equal(a, b))
    assert.is_false(a == b)
    torch.no_grad(function() a:zero_() end)
    assert.is_false(torch.equal(a, b))
  end)

  it('take a function or a module as the activation, or the name of one', function()
    local x = torch.ones(2, 3, 4)
    for Layer, memory in pairs { [nn.TransformerEncoderLayer] = false, [nn.TransformerDecoderLayer] = x } do
      local inputs = { x, memory or nil }
      local named = Layer(4, 2, 8, 0.0, 'gelu'):eval()
      for _, activation in ipairs { nn.functional.gelu, nn.GELU() } do
        local given = Layer(4, 2, 8, { dropout = 0.0, activation = activation }):eval()
        given:load_state_dict(named:state_dict())
        assert.is_true(torch.equal(named(table.unpack(inputs)), given(table.unpack(inputs))))
      end
      fails_with('activation should be relu/gelu, not tanh', Layer, 4, 2, 8, 0.0, 'tanh')
      fails_with("argument 'activation' must be a string or a function, not a number", Layer, 4, 2, 8, 0.0, 3)
    end
  end)

  it('the causal mask of a stack excludes later positions', function()
    local mask = nn.Transformer.generate_square_subsequent_mask(2)
    assert.same({ { 0, -math.huge }, { 0, 0 } }, mask:tolist())
  end)
end)
