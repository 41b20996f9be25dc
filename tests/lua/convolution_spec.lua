-- convolution_spec.lua - convolutions that are large enough for the ways that small ones do not take: of float32, on
-- any device, against those of float64 on the CPU. The geometry is random, from a seed that failures name.

local torch = require 'torch'
local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function assert_near(got, want, what)
  local difference = (got:detach():cpu():double() - want:detach()):abs():max():item()
  local scale = want:detach():abs():max():item()
  assert(difference <= 2e-5 * scale + 1e-6, ('%s: off by %g of %g'):format(what, difference, scale))
end

-- One of a list, by the generator of this spec alone.
local state = 0
local function pick(list)
  state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
  return list[(state >> 33) % #list + 1]
end

local function geometry(d, turned)
  local groups = pick { 1, 1, 2, 4 }
  local inputs, outputs = groups * pick { 1, 3, 4, 8 }, groups * pick { 1, 4, 8, 5 }
  local side = ({ 180, 15, 7 })[d]
  local x, w = { pick { 1, 2, 5 }, inputs }, turned and { inputs, outputs // groups } or { outputs, inputs // groups }
  local options = { stride = {}, padding = {}, dilation = {}, groups = groups }
  if turned then options.output_padding = {} end
  for i = 1, d do
    w[i + 2], options.stride[i], options.dilation[i] = pick { 1, 2, 3, 5 }, pick { 1, 1, 2 }, pick { 1, 1, 2 }
    options.padding[i] = pick { 0, 1, 2 }
    x[i + 2] = side + pick { 2, 3, 4 } + (w[i + 2] - 1) * (options.dilation[i] - 1)
    if turned then options.output_padding[i] = options.stride[i] > 1 and pick { 0, 1 } or 0 end
  end
  return x, w, options, outputs
end

local function describe_geometry(x, w, options)
  return ('input %s weight %s stride %s padding %s dilation %s groups %d'):format(table.concat(x, 'x'), table.concat(w, 'x'),
    table.concat(options.stride, ','), table.concat(options.padding, ','), table.concat(options.dilation, ','), options.groups)
end

local function check(name, x, w, options, outputs, with_bias)
  local what = name .. ': ' .. describe_geometry(x, w, options)
  local exact = { torch.randn(x), torch.randn(w), with_bias and torch.randn(outputs) or nil }
  local single = {}
  for i, t in ipairs(exact) do
    exact[i] = t:double():requires_grad_()
    single[i] = t:to(device):requires_grad_()
  end
  local wanted = F[name](exact[1], exact[2], exact[3], options)
  local got = F[name](single[1], single[2], single[3], options)
  assert_near(got, wanted, what .. ', result')
  local grad = torch.randn(wanted.shape)
  wanted:backward(grad:double())
  got:backward(grad:to(device))
  for i, t in ipairs(exact) do assert_near(single[i].grad, t.grad, ('%s, gradient %d'):format(what, i)) end
end

describe('large convolutions', function()
  for d = 1, 3 do
    for _, prefix in ipairs { 'conv', 'conv_transpose' } do
      local name = ('%s%dd'):format(prefix, d)
      it(name .. ' is right for any geometry', function()
        torch.manual_seed(d)
        state = d * 7 + #prefix
        for i = 1, 12 do
          local x, w, options, outputs = geometry(d, prefix == 'conv_transpose')
          check(name, x, w, options, outputs, i % 2 == 0)
        end
      end)
    end
  end

  -- Long lines go piece by piece; what reaches beyond an end of theirs is copied.
  it('of lines of any length are right', function()
    torch.manual_seed(6)
    state = 6
    for i = 1, 60 do
      local kernel, inputs, outputs = pick { 1, 2, 3, 5, 9 }, pick { 1, 3, 8, 16 }, pick { 1, 4, 5, 8, 17 }
      local options = { stride = { 1 }, groups = 1, dilation = { pick { 1, 1, 2, 50 } }, padding = { pick { 0, 1, 2, 4, 300 } } }
      local line = pick { 256, 257, 303, 480, 481, 527, 528, 529, 1000 } + (kernel - 1) * options.dilation[1]
      check('conv1d', { pick { 1, 2, 5 }, inputs, line }, { outputs, inputs, kernel }, options, outputs, i % 2 == 0)
    end
  end)

  it('of few windows, of a channel by itself and of single elements are the products of weights and windows', function()
    torch.manual_seed(4)
    state = 4
    for i = 1, 60 do
      local groups, inputs, outputs = pick { 1, 2, 6 }, pick { 1, 1, 30 }, pick { 1, 2, 5, 20 }
      local kernel, options = { pick { 1, 2, 3, 5 }, pick { 1, 3, 3, 7 } }, { groups = groups, padding = { pick { 0, 1, 2 }, pick { 0, 1, 3 } },
        stride = { pick { 1, 2, 3 }, pick { 1, 2, 3 } }, dilation = { pick { 1, 1, 2 }, pick { 1, 1, 2 } } }
      local size = { pick { 9, 11, 40 }, pick { 13, 14, 70 } }
      if i == 1 then groups, inputs, outputs, kernel, size, options = 1, 21, 17, { 1, 1 }, { 19, 27 }, { groups = 1, stride = { 1, 1 }, padding = { 0, 0 }, dilation = { 1, 1 } } end -- one more than whole vectors
      local x, w = torch.randn(2, groups * inputs, size[1], size[2]), torch.randn(groups * outputs, inputs, kernel[1], kernel[2])
      local b = i % 3 > 0 and torch.randn(groups * outputs) or nil
      local columns = F.unfold(x:double(), kernel, options.dilation, options.padding, options.stride):view(2, groups, inputs * kernel[1] * kernel[2], -1)
      local wanted = torch.matmul(w:double():view(1, groups, outputs, -1), columns)
      local got = F.conv2d(x:to(device), w:to(device), b and b:to(device), options)
      wanted = wanted:reshape(got.shape)
      if b then wanted = wanted + b:double():view(-1, 1, 1) end
      assert_near(got, wanted, describe_geometry({ 2, groups * inputs, table.unpack(size) }, w.shape, options))
      assert_near(F.conv2d(x:to(device):double(), w:to(device):double(), b and b:to(device):double(), options), wanted, 'in double')
    end
  end)

  it('large convolutions and pools with indices give the same maxima', function()
    torch.manual_seed(5)
    state = 5
    for i = 1, 60 do
      local kernel = { pick { 1, 2, 3, 5 }, pick { 1, 2, 3, 4 } }
      local options = { stride = { pick { 1, 2, 3 }, pick { 1, 2, 4 } }, padding = { kernel[1] // 2, kernel[2] // 2 }, dilation = { pick { 1, 2 }, pick { 1, 3 } }, ceil_mode = i % 2 == 0 }
      local x = torch.randn(2, 3, pick { 12, 19, 50 }, pick { 13, 30, 1000, 5000 }, { dtype = i % 4 == 0 and torch.float64 or torch.float32, device = device })
      if i % 5 == 0 then x:view(-1)[100] = 0 / 0 end
      local got = F.max_pool2d(x, kernel, options)
      options.return_indices = true
      assert.is_true(torch.equal(torch.nan_to_num((F.max_pool2d(x, kernel, options)), 9), torch.nan_to_num(got, 9)))
    end
  end)

  it('are right in the shapes of LeNet and ResNet', function()
    local one = { stride = { 1, 1 }, padding = { 1, 1 }, dilation = { 1, 1 }, groups = 1 }
    local five = { stride = { 1, 1 }, padding = { 2, 2 }, dilation = { 1, 1 }, groups = 1 }
    local seven = { stride = { 2, 2 }, padding = { 3, 3 }, dilation = { 1, 1 }, groups = 1 }
    check('conv2d', { 3, 1, 28, 28 }, { 6, 1, 5, 5 }, five, 6, true)
    check('conv2d', { 3, 6, 14, 14 }, { 16, 6, 5, 5 }, { stride = { 1, 1 }, padding = { 0, 0 }, dilation = { 1, 1 }, groups = 1 }, 16, true)
    check('conv2d', { 1, 16, 20, 20 }, { 16, 16, 3, 3 }, one, 16, false)
    check('conv2d', { 1, 3, 32, 32 }, { 16, 3, 7, 7 }, seven, 16, true)
    check('conv2d', { 2, 32, 10, 10 }, { 64, 32, 1, 1 }, { stride = { 2, 2 }, padding = { 0, 0 }, dilation = { 1, 1 }, groups = 1 }, 64, false)
    check('conv2d', { 2, 64, 8, 8 }, { 64, 1, 3, 3 }, { stride = { 1, 1 }, padding = { 1, 1 }, dilation = { 1, 1 }, groups = 64 }, 64, true)
  end)

  it('of half types are as exact as these are', function()
    torch.manual_seed(9)
    for dtype, tolerance in pairs { bfloat16 = 1e-2, float16 = 2e-3 } do
      for _, case in ipairs { { { 2, 8, 14, 14 }, { 16, 8, 3, 3 }, 1 }, { { 2, 8, 14, 14 }, { 16, 2, 3, 3 }, 4 }, { { 3, 16, 9, 9 }, { 8, 16, 1, 1 }, 1 } } do
        local half = { torch.randn(case[1]):to(torch[dtype]), torch.randn(case[2]):to(torch[dtype]) }
        local exact = {}
        for i, t in ipairs(half) do
          exact[i] = t:double():requires_grad_()
          half[i] = t:to(device):requires_grad_()
        end
        local wanted, got = F.conv2d(exact[1], exact[2], nil, 1, 1, 1, case[3]), F.conv2d(half[1], half[2], nil, 1, 1, 1, case[3])
        local grad = torch.randn(wanted.shape):to(torch[dtype])
        wanted:backward(grad:double())
        got:backward(grad:to(device))
        local pairs_of = { { got, wanted }, { half[1].grad, exact[1].grad }, { half[2].grad, exact[2].grad } }
        for i, pair in ipairs(pairs_of) do
          assert.equal(torch[dtype], pair[1].dtype)
          local difference = (pair[1]:detach():cpu():double() - pair[2]:detach()):abs():max():item()
          local scale = pair[2]:detach():abs():max():item()
          assert(difference <= tolerance * scale, ('%s, array %d: off by %g of %g'):format(dtype, i, difference, scale))
        end
      end
    end
  end)

  it('give the same again with other numbers of threads', function()
    local x, w = torch.randn(4, 8, 16, 16, { device = device }), torch.randn(8, 8, 3, 3, { device = device })
    local wanted = F.conv2d(x, w)
    local before = torch.get_num_threads()
    for _, n in ipairs { 1, 2, 3 } do
      torch.set_num_threads(n)
      local ok, message = pcall(assert_near, F.conv2d(x, w), wanted:cpu():double(), n .. ' threads')
      torch.set_num_threads(before)
      assert(ok, message)
    end
  end)

  it('of one image with few channels are the same by rows on any number of threads', function()
    if device ~= 'cpu' then return end
    local before = torch.get_num_threads()
    for _, case in ipairs {
      { x = { 8, 41, 40 }, w = { 16, 8, 3, 3 }, options = { padding = 1 } },
      { x = { 8, 64, 33 }, w = { 10, 8, 5, 3 }, options = { padding = { 2, 0 }, stride = 2 } },
      { x = { 16, 30, 40 }, w = { 32, 4, 3, 3 }, options = { padding = 4, dilation = 4, groups = 4 } },
      { x = { 12, 3, 200 }, w = { 16, 12, 3, 3 }, options = { padding = { 2, 1 } } },
      { x = { 8, 4000 }, w = { 12, 8, 9 }, options = { padding = 4, stride = 3 } },
      { x = { 8, 9, 20, 20 }, w = { 8, 8, 3, 3, 3 }, options = { padding = 1 } },
    } do
      local d = #case.x - 1
      torch.manual_seed(d)
      local x, w, b = torch.randn(1, table.unpack(case.x)), torch.randn(table.unpack(case.w)), torch.randn(case.w[1])
      local conv = F['conv' .. d .. 'd']
      local wanted = conv(x:double(), w:double(), b:double(), case.options)
      for threads = 1, 6 do
        torch.set_num_threads(threads)
        local ok, y = pcall(conv, x, w, b, case.options)
        torch.set_num_threads(before)
        assert(ok, y)
        assert_near(y, wanted, ('%s on %d threads'):format(table.concat(case.x, 'x'), threads))
      end
    end
  end)

  -- One image that the library gets by some of its channels and some of their rows.
  it('large convolutions of one image agree with float64 #again', function()
    if device ~= 'cpu' then return end
    for _, case in ipairs {
      { x = { 64, 171, 150 }, w = { 24, 64, 7, 7 }, options = { padding = 3 } },
      { x = { 64, 345, 301 }, w = { 16, 64, 7, 7 }, options = { padding = { 5, 2 }, stride = 2 } },
      { x = { 64, 190, 150 }, w = { 16, 64, 7, 7 }, options = { padding = 1, dilation = { 4, 1 } } },
      { x = { 64, 40000 }, w = { 16, 64, 33 }, options = { padding = 16 } },
      { x = { 32, 40, 45, 30 }, w = { 16, 32, 5, 5, 3 }, options = { padding = 2 } },
      { x = { 32, 1, 300, 200 }, w = { 16, 32, 1, 7, 7 }, options = { padding = { 0, 3, 3 } } },
    } do
      local d = #case.x - 1
      torch.manual_seed(d)
      local x, w, b = torch.randn(1, table.unpack(case.x)), torch.randn(table.unpack(case.w)), torch.randn(case.w[1])
      local conv = F['conv' .. d .. 'd']
      assert_near(conv(x, w, b, case.options), conv(x:double(), w:double(), b:double(), case.options),
        'input ' .. table.concat(case.x, 'x') .. ' weight ' .. table.concat(case.w, 'x'))
    end
  end)

  it('of one large image have the derivatives that they have in double #again', function()
    if device ~= 'cpu' then return end
    for _, shape in ipairs { { 33, 180, 33, 7 }, { 40, 120, 17, 11 } } do
      local inputs, side, outputs, kernel = table.unpack(shape)
      local function gradients(dtype)
        torch.manual_seed(3)
        local x = torch.randn(1, inputs, side, side):to { device = device, dtype = dtype }:requires_grad_()
        local w = torch.randn(outputs, inputs, kernel, kernel):to { device = device, dtype = dtype }:requires_grad_()
        local y = F.conv2d(x, w, { padding = kernel // 2 })
        y:mul(torch.arange(0, side, { device = device, dtype = dtype }) / side):sum():backward()
        return x.grad, w.grad
      end
      local x, w = gradients(torch.float32)
      local x_double, w_double = gradients(torch.float64)
      assert_near(x, x_double:cpu(), ('by the image, of %d channels'):format(inputs))
      assert_near(w, w_double:cpu(), ('by the weights, of %d channels'):format(inputs))
    end
  end)

  it('refuse numbers beyond any size', function()
    local x, w = torch.ones(1, 1, 4, 4, { device = device }), torch.ones(1, 1, 2, 2, { device = device })
    for _, name in ipairs { 'stride', 'padding', 'dilation' } do
      for _, value in ipairs { math.maxinteger, math.mininteger, 1 << 40 } do
        assert.has_error(function() F.conv2d(x, w, nil, { [name] = value }) end)
        assert.has_error(function() F.conv_transpose2d(x, w, nil, { [name] = value, output_padding = value }) end)
        assert.has_error(function() F.max_pool2d(x, 2, { [name] = value }) end)
        assert.has_error(function() F.unfold(x, 2, { [name] = value }) end)
      end
    end
    assert.has_error(function() F.max_pool2d(x, math.maxinteger) end)
    assert.has_error(function() F.adaptive_avg_pool2d(x, math.maxinteger) end)
    assert.has_error(function() F.conv2d(x, w, nil, 1, 0, 1, math.maxinteger) end)
  end)
end)

describe('a convolution of 8-bit integers', function()
  it('has the exact sums', function()
    for _, c in ipairs {
      { { 2, 4, 9 }, { 6, 4, 3 }, { 1 }, { 1 }, 1 }, { { 2, 8, 9, 8 }, { 6, 4, 3, 2 }, { 1, 2 }, { 2, 1 }, 2 },
      { { 1, 8, 9, 8 }, { 8, 1, 3, 3 }, { 2, 1 }, { 1, 1 }, 8 }, { { 1, 3, 5, 6, 7 }, { 5, 3, 2, 3, 2 }, { 1, 1, 2 }, { 1, 2, 1 }, 1 },
      { { 1, 700, 5 }, { 7, 700, 1 }, { 1 }, { 1 }, 1 }, { { 0, 4, 9 }, { 6, 4, 3 }, { 1 }, { 1 }, 1 },
    } do
      local zeros = {}
      for i = 1, #c[3] do zeros[i] = 0 end
      for name, low in pairs { uint8 = 0, int8 = -128 } do
        local x = torch.randint(low, low + 256, c[1], { dtype = torch[name], device = device })
        local w = torch.randint(-128, 128, c[2], { dtype = torch.int8, device = device })
        local y = torch._C._int8_convolution(x, w, c[3], c[4], c[5])
        local wanted = torch.convolution(x:double(), w:double(), nil, c[3], zeros, c[4], false, zeros, c[5]):to(torch.int32)
        assert.is_true(torch.equal(wanted, y), name .. ' ' .. table.concat(c[1], ' '))
      end
    end
    local x = torch.randint(0, 256, { 1, 8, 64, 64 }, { dtype = torch.uint8, device = device })
    local w = torch.randint(-128, 128, { 16, 8, 3, 3 }, { dtype = torch.int8, device = device })
    local wanted = F.conv2d(x:double(), w:double()):to(torch.int32)
    local before = torch.get_num_threads()
    for threads = 1, 4 do
      torch.set_num_threads(threads)
      local y = torch._C._int8_convolution(x, w, { 1, 1 }, { 1, 1 }, 1)
      torch.set_num_threads(before)
      assert.is_true(torch.equal(wanted, y), threads .. ' threads')
    end
    -- The largest sums: an instruction that adds in 16 bits would show here.
    local most = torch.full({ 1, 600, 3 }, 255, { dtype = torch.uint8, device = device })
    local least = torch.full({ 2, 600, 1 }, -128, { dtype = torch.int8, device = device })
    assert.is_true(torch._C._int8_convolution(most, least, { 1 }, { 1 }, 1):eq(-255 * 128 * 600):all():item())
  end)

  it('refuses other dtypes', function()
    local ok, message = pcall(torch._C._int8_convolution, torch.ones(1, 1, 3), torch.ones(1, 1, 3), { 1 }, { 1 }, 1)
    assert.is_false(ok)
    assert.truthy(tostring(message):find('expected an input of uint8 or int8 and a weight of int8, got float32 and float32', 1, true))
  end)
end)
