-- Generators and settings: seeds, states, threads, default dtype, print options, the build's description.

local torch = require 'torch'

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

describe('generators #cpu', function()
  it('generators set and return their seed', function()
    local g = torch.manual_seed(17)
    assert.is_true(rawequal(g, torch.default_generator))
    assert.same({ 17, 17 }, { torch.initial_seed(), g:initial_seed() })
    assert.equal(-1, torch.manual_seed(-1):initial_seed())
    local seed = torch.seed()
    assert.equal(seed, torch.initial_seed())
    assert.not_equal(seed, torch.seed())
    assert.equal('cpu', tostring(g.device))
    assert.equal('<torch.Generator device=cpu>', tostring(g))
  end)

  it('are independent of the default one', function()
    local g = torch.Generator()
    assert.equal('Generator', torch.type(g))
    assert.equal(67280421310721, g:initial_seed())
    assert.is_true(rawequal(g, g:manual_seed(3)))
    torch.manual_seed(3)
    local first = torch.rand(4)
    assert.is_true(torch.equal(first, torch.rand(4, { generator = g })))
    assert.equal(g:seed(), g:initial_seed())
    assert.truthy(failure(torch.Generator, { devise = 'cpu' }):find("unexpected keyword argument 'devise'", 1, true))
    assert.equal('cpu', tostring(torch.Generator { device = 'cpu' }.device))
  end)

  it('continue from a state', function()
    torch.manual_seed(5)
    torch.randn(3)
    local state = torch.get_rng_state()
    assert.equal(5056, #state)
    assert.equal(torch.uint8, state.dtype)
    local first = torch.randn(700)
    torch.set_rng_state(state)
    assert.is_true(torch.equal(first, torch.randn(700)))
    local g = torch.Generator():set_state(state)
    assert.is_true(torch.equal(first, torch.randn(700, { generator = g })))
    assert.is_true(torch.equal(state, torch.Generator():set_state(state):get_state()))
  end)

  it('refuse a state that is none', function()
    assert.truthy(failure(torch.set_rng_state, torch.ones(3)):find('must be a torch.ByteTensor', 1, true))
    assert.truthy(failure(torch.set_rng_state, torch.ones(3, { dtype = torch.uint8 })):find('of size 5056', 1, true))
    local state = torch.get_rng_state()
    state[9] = 200 -- more numbers left than there are
    state[10] = 200
    assert.truthy(failure(torch.set_rng_state, state):find('Invalid mt19937 state', 1, true))
    failure(torch.set_rng_state)
  end)
end)

describe('settings #cpu', function()
  it('the number of threads', function()
    local before = torch.get_num_threads()
    torch.set_num_threads(1)
    assert.equal(1, torch.get_num_threads())
    assert.truthy(failure(torch.set_num_threads, 0):find('expects a positive integer', 1, true))
    assert.truthy(failure(torch.set_num_threads, 1.5):find('expects an int', 1, true))
    torch.set_num_threads(before)
  end)

  it('the default dtype', function()
    torch.set_default_dtype(torch.float64)
    local made = torch.tensor({ 1.5 }).dtype
    torch.set_default_dtype(torch.float32)
    assert.equal(torch.float64, made)
    assert.equal(torch.float32, torch.get_default_dtype())
    assert.truthy(failure(torch.set_default_dtype, torch.int32):find('only floating%-point types are supported'))
    torch.set_default_dtype('float32')
    failure(torch.set_default_dtype, 'float33')
  end)

  it('printing', function()
    torch.set_printoptions { precision = 2, sci_mode = true }
    local text = tostring(torch.tensor { 1.23456 })
    assert.same({ precision = 2, threshold = 1000, edgeitems = 3, linewidth = 80, sci_mode = true },
      torch.get_printoptions())
    torch.set_printoptions { profile = 'full' }
    assert.same({ precision = 4, threshold = math.huge, edgeitems = 3, linewidth = 80 }, torch.get_printoptions())
    torch.set_printoptions { profile = 'short', linewidth = 60 }
    assert.same({ precision = 2, threshold = 1000, edgeitems = 2, linewidth = 60 }, torch.get_printoptions())
    failure(torch.set_printoptions, { profile = 'default', precision = -1 })
    assert.equal(60, torch.get_printoptions().linewidth)
    assert.truthy(failure(torch.set_printoptions, { digits = 3 }):find("unexpected keyword argument 'digits'", 1, true))
    torch.set_printoptions { profile = 'default' }
    assert.equal('tensor([1.23e+00])', text)
    assert.equal('tensor([1.2346])', tostring(torch.tensor { 1.23456 }))
  end)

  it('the build', function()
    assert.truthy(torch.__version__:find '^%d+%.%d+%.%d+$')
    local text = torch.__config__.show()
    for _, word in ipairs { 'CPU: ', 'OpenBLAS', 'GPU: ' } do assert.truthy(text:find(word, 1, true), word) end
    local start = torch.time()
    assert.is_true(torch.time() >= start)
  end)
end)
