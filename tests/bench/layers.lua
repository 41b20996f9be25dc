-- ltensor's side of make bench: layers of networks, images, recurrence, draws, and the shapes at which ops are slow: short and narrow
-- lines, few rows, dtypes that are not float32. Prints the same rows as layers.py; a row is large: op, shape.

local torch = require 'torch'
package.path = (arg[0]:match '^(.*/)' or './') .. '?.lua;' .. package.path
local time = require 'measure'
local F, nn = torch.nn.functional, torch.nn
local rand, randn, grad = torch.rand, torch.randn, torch.autograd.grad

local function measure(name, f) time('large: ' .. name, f) end

-- The gradients of y by inputs, again and again.
local function backward(name, y, inputs)
  local g = torch.ones_like(y)
  measure(name, function() return grad(y, inputs, g, { retain_graph = true }) end)
end

torch.manual_seed(0)

local function lines()
  for _, shape in ipairs { { 10000, 100 }, { 100000, 10 } } do
    local x = rand(shape)
    local i = torch.randint(0, 100, shape)
    local size = ('%dx%d'):format(shape[1], shape[2])
    for dim = 1, 2 do
      for _, name in ipairs { 'sum', 'amax', 'argmax', 'max', 'mean', 'var', 'norm', 'prod', 'softmax', 'cumsum', 'logsumexp' } do
        local f = torch[name]
        local call = name == 'norm' and function() return f(x, 2, dim) end or function() return f(x, dim) end
        measure(('%s along %d, %s'):format(name, dim, size), call)
      end
      measure(('sum of int64 along %d, %s'):format(dim, size), function() return i:sum(dim) end)
    end
    measure('layer_norm, ' .. size, function() return F.layer_norm(x, { shape[2] }) end)
    measure('batch_norm, ' .. size, function() return F.batch_norm(x, nil, nil, nil, nil, true) end)
    measure('sort along 2, ' .. size, function() return x:sort(2) end)
    measure('topk 5 along 2, ' .. size, function() return x:topk(5, 2) end)
  end
  local i = torch.randint(0, 100, { 4000000 })
  measure('sum of int64, 4000000', function() return i:sum() end)
  local b = i:to(torch.uint8)
  measure('sum of uint8, 4000000', function() return b:sum() end)
end

local function joined()
  local x, y = rand(1000, 1000), rand(1000, 1000)
  measure('cat of rows, 1000x1000', function() return torch.cat({ x, y }, 1) end)
  measure('stack, 1000x1000', function() return torch.stack({ x, y }, 1) end)
  measure('stack as last, 1000x1000', function() return torch.stack({ x, y }, 3) end)
  local m = x:gt(0.5)
  measure('masked_select, 1000x1000', function() return x:masked_select(m) end)
  measure('where of a number, 1000x1000', function() return torch.where(m, x, 0) end)
  local row = rand(1000)
  measure('matrix + row, 1000x1000', function() return x + row end)
  measure('matrix + column, 1000x1000', function() return x + row:unsqueeze(2) end)
  local wide = rand(1000, 1):expand(1000, 1000)
  measure('expanded times a number, 1000x1000', function() return wide * 2 end)
  local classes = torch.randint(1, 101, { 100000 })
  measure('one_hot, 100000 of 100', function() return F.one_hot(classes, 100) end)
  measure('einsum bij,bjk->bik, 16x128x128', (function()
    local a, b = rand(16, 128, 128), rand(16, 128, 128)
    return function() return torch.einsum('bij,bjk->bik', a, b) end
  end)())
  measure('einsum ij,kj->ik, 500x500', (function()
    local a, b = rand(500, 500), rand(500, 500)
    return function() return torch.einsum('ij,kj->ik', a, b) end
  end)())
  local index = torch.randint(1, 1001, { 100000 })
  local values = rand(100000)
  measure('scatter_add, 100000 to 1000', function() return torch.zeros(1000):scatter_add(1, index, values) end)
  measure('index_add, 100000 to 1000', function() return torch.zeros(1000):index_add(1, index, values) end)
  measure('bincount with weights, 100000', function() return index:bincount(values) end)
  local table_ = rand(10000, 64, { requires_grad = true })
  local words = torch.randint(1, 10001, { 20000 })
  backward('embedding backward, 20000 of 10000x64', F.embedding(words, table_), { table_ })
  local big = rand(2000, 2000)
  measure('x.T.contiguous, float64, 2000x2000', (function()
    local d = big:double():t()
    return function() return d:contiguous() end
  end)())
end

local function doubles()
  local d = rand(1000000):double()
  for _, name in ipairs { 'erf', 'erfinv', 'exp', 'log', 'tanh', 'sin', 'lgamma', 'digamma', 'sigmoid', 'log1p', 'expm1', 'erfc' } do
    local f = torch[name]
    measure(name .. ' of float64, 1000000', function() return f(d) end)
  end
  measure('gelu of float64, 1000000', function() return F.gelu(d) end)
  measure('pow of float64, 1000000', function() return d ^ 2.5 end)
  local x = rand(1000000)
  for _, name in ipairs { 'lgamma', 'digamma', 'erfc', 'log1p', 'expm1', 'atan', 'asin', 'acos', 'cosh', 'sinh', 'log2', 'exp2', 'logit', 'reciprocal',
    'round', 'frac', 'sign', 'square' } do
    local f = torch[name]
    measure(name .. ', 1000000', function() return f(x) end)
  end
  local y = randn(1000000)
  for _, name in ipairs { 'softplus', 'elu', 'leaky_relu', 'mish', 'logsigmoid', 'hardtanh', 'selu' } do
    local f = F[name]
    measure(name .. ', 1000000', function() return f(y) end)
  end
  measure('remainder, 1000000', function() return x % 0.3 end)
  measure('lerp, 1000000', function() return x:lerp(x, 0.3) end)
  local i, j = torch.randint(1, 1000, { 1000000 }), torch.randint(1, 1000, { 1000000 })
  measure('mul of int64, 1000000', function() return i * j end)
  measure('floor_divide of int64, 1000000', function() return i // j end)
  measure('remainder of int64, 1000000', function() return i % j end)
  measure('eq of int64, 1000000', function() return i:eq(j) end)
  local z = torch.complex(x, x)
  measure('mul of complex64, 1000000', function() return z * z end)
  measure('abs of complex64, 1000000', function() return z:abs() end)
end

local function images()
  local x = rand(4, 3, 256, 256)
  for _, mode in ipairs { 'nearest', 'bilinear', 'bicubic', 'area' } do
    for _, scale in ipairs { 2, 0.5 } do
      local options = { scale_factor = scale, mode = mode }
      local name = ('interpolate %s by %g, 4x3x256x256'):format(mode, scale)
      measure(name, function() return F.interpolate(x, options) end)
      local xg = x:clone():requires_grad_()
      backward(name .. ' backward', F.interpolate(xg, options), { xg })
    end
  end
  local last = x:to { memory_format = torch.channels_last }
  measure('interpolate bilinear by 2, channels_last', function() return F.interpolate(last, { scale_factor = 2, mode = 'bilinear' }) end)
  measure('interpolate antialiased to 100, 4x3x256x256',
    function() return F.interpolate(x, { size = { 100, 100 }, mode = 'bilinear', antialias = true }) end)
  local at = rand(4, 256, 256, 2) * 2 - 1
  for _, mode in ipairs { 'bilinear', 'nearest', 'bicubic' } do
    local options = { mode = mode, align_corners = false }
    measure(('grid_sample %s, 4x3x256x256'):format(mode), function() return F.grid_sample(x, at, options) end)
  end
  local xg = x:clone():requires_grad_()
  backward('grid_sample bilinear backward, 4x3x256x256', F.grid_sample(xg, at, { align_corners = false }), { xg })
  measure('pixel_shuffle, 8x64x64x64', (function()
    local y = rand(8, 64, 64, 64)
    return function() return F.pixel_shuffle(y, 2) end
  end)())
  local y = rand(16, 32, 56, 56)
  local yg = y:clone():requires_grad_()
  measure('max_pool2d 2, 16x32x56x56', function() return F.max_pool2d(y, 2) end)
  backward('max_pool2d 2 backward, 16x32x56x56', F.max_pool2d(yg, 2), { yg })
  measure('max_pool2d 3 stride 2, 16x32x56x56', function() return F.max_pool2d(y, 3, { stride = 2, padding = 1 }) end)
  measure('avg_pool2d 2, 16x32x56x56', function() return F.avg_pool2d(y, 2) end)
  backward('avg_pool2d 2 backward, 16x32x56x56', F.avg_pool2d(yg, 2), { yg })
  measure('adaptive_avg_pool2d 1, 16x32x56x56', function() return F.adaptive_avg_pool2d(y, 1) end)
  local long = rand(8, 16, 20000)
  measure('max_pool1d 3 stride 1, 8x16x20000', function() return F.max_pool1d(long, 3, { stride = 1 }) end)
  measure('max_pool1d 2, 8x16x20000', function() return F.max_pool1d(long, 2) end)
  measure('avg_pool1d 3 stride 1, 8x16x20000', function() return F.avg_pool1d(long, 3, { stride = 1 }) end)
  measure('pad reflect, 16x32x56x56', function() return F.pad(y, { 1, 1, 1, 1 }, { mode = 'reflect' }) end)
  measure('pad, 16x32x56x56', function() return F.pad(y, { 1, 1, 1, 1 }) end)
  measure('unfold 3, 4x3x256x256', function() return F.unfold(x, 3) end)
  measure('batch_norm, 16x32x56x56', function() return F.batch_norm(y, nil, nil, nil, nil, true) end)
  backward('batch_norm backward, 16x32x56x56', F.batch_norm(yg, nil, nil, nil, nil, true), { yg })
  measure('group_norm 8, 16x32x56x56', function() return F.group_norm(y, 8) end)
  measure('flip, 16x32x56x56', function() return y:flip(4) end)
  measure('roll, 16x32x56x56', function() return y:roll(5, 4) end)
end

local function convolutions()
  local x, w = rand(8, 16, 2000), rand(32, 16, 5)
  measure('conv1d, 8x16x2000, 32 of 5', function() return F.conv1d(x, w) end)
  local y, v = rand(8, 64, 28, 28), rand(64, 32, 4, 4)
  measure('conv_transpose2d, 8x64x28x28, 32 of 4x4, stride 2', function() return F.conv_transpose2d(y, v, { stride = 2, padding = 1 }) end)
  local d = rand(64, 1, 3, 3)
  measure('conv2d depthwise, 8x64x28x28, 3x3', function() return F.conv2d(y, d, { padding = 1, groups = 64 }) end)
end

local function dense()
  for _, rows in ipairs { 1, 8, 32, 64 } do
    local x, w, b = rand(rows, 256), rand(1024, 256), rand(1024)
    measure(('linear, %d of 256 to 1024'):format(rows), function() return F.linear(x, w, b) end)
    local y, v = rand(rows, 1024), rand(256, 1024)
    measure(('linear, %d of 1024 to 256'):format(rows), function() return F.linear(y, v) end)
  end
  for _, n in ipairs { 32, 64, 128, 200, 256 } do
    local a, b = rand(n, n), rand(n, n)
    measure(('mm, %dx%d'):format(n, n), function() return a:mm(b) end)
  end
  local a, b = rand(100, 100):double(), rand(100, 100):double()
  measure('mm of float64, 100x100', function() return a:mm(b) end)
  local c, e = rand(64, 64, 64), rand(64, 64, 64)
  measure('bmm, 64x64x64', function() return c:bmm(e) end)
  local f, g = rand(512, 8, 8), rand(512, 8, 8)
  measure('bmm, 512x8x8', function() return f:bmm(g) end)
  local points, centres = rand(20000, 32), rand(64, 32)
  measure('cdist, 20000 and 64 of 32', function() return torch.cdist(points, centres) end)
  measure('cdist of p = 1, 20000 and 64 of 32', function() return torch.cdist(points, centres, 1) end)
  local few = rand(20, 32)
  measure('cdist, 20 and 20 of 32', function() return torch.cdist(few, few) end)
  local q = randn(4, 8, 256, 64)
  measure('attention, 4x8x256x64', function() return F.scaled_dot_product_attention(q, q, q) end)
  measure('attention, causal, 4x8x256x64', function() return F.scaled_dot_product_attention(q, q, q, { is_causal = true }) end)
  local h = rand(500, 500):bfloat16()
  measure('mm of bfloat16, 500x500', function() return h:mm(h) end)
end

local function recurrent()
  for _, size in ipairs { { 32, 128, 35 }, { 4, 256, 35 } } do
    local batch, width, steps = table.unpack(size)
    for _, kind in ipairs { 'LSTM', 'GRU', 'RNN' } do
      local layer = nn[kind](width, width)
      local x = randn(steps, batch, width)
      local name = ('%s%%s, %d steps of %dx%d'):format(kind, steps, batch, width)
      measure(name:format '', function() torch.no_grad(function() return layer(x) end) end)
      measure(name:format ' and backward', function()
        layer:zero_grad()
        local y = layer(x)
        y:sum():backward()
      end)
    end
  end
end

local function losses()
  local x, target = randn(4096, 1000), torch.randint(1, 1001, { 4096 })
  measure('cross_entropy, 4096x1000', function() return F.cross_entropy(x, target) end)
  local xg = x:clone():requires_grad_()
  backward('cross_entropy backward, 4096x1000', F.cross_entropy(xg, target), { xg })
  local few, labels = randn(10000, 10), torch.randint(1, 11, { 10000 })
  measure('cross_entropy, 10000x10', function() return F.cross_entropy(few, labels) end)
  local a, b = rand(1000000), rand(1000000)
  measure('mse_loss, 1000000', function() return F.mse_loss(a, b) end)
  measure('binary_cross_entropy, 1000000', function() return F.binary_cross_entropy(a, b) end)
  measure('binary_cross_entropy_with_logits, 1000000', function() return F.binary_cross_entropy_with_logits(a, b) end)
  measure('smooth_l1_loss, 1000000', function() return F.smooth_l1_loss(a, b) end)
  measure('kl_div, 1000000', function() return F.kl_div(a, b, { reduction = 'batchmean' }) end)
end

local function draws()
  local x = rand(1000000)
  measure('rand, 1000000', function() return torch.rand(1000000) end)
  measure('randn, 1000000', function() return torch.randn(1000000) end)
  measure('randint, 1000000', function() return torch.randint(0, 100, { 1000000 }) end)
  measure('randperm, 1000000', function() return torch.randperm(1000000) end)
  measure('bernoulli, 1000000', function() return torch.bernoulli(x) end)
  measure('dropout, 1000000', function() return F.dropout(x, 0.5) end)
  measure('exponential_, 1000000', function() return x:clone():exponential_() end)
  measure('multinomial, 1000 of 1000', (function()
    local p = rand(1000)
    return function() return p:multinomial(1000, true) end
  end)())
  measure('arange, 1000000', function() return torch.arange(1000000) end)
  measure('linspace, 1000000', function() return torch.linspace(0, 1, 1000000) end)
  measure('eye, 1000', function() return torch.eye(1000) end)
  measure('tril, 1000x1000', (function()
    local y = rand(1000, 1000)
    return function() return y:tril() end
  end)())
  measure('triu_indices, 500', function() return torch.triu_indices(500, 500) end)
  measure('histc, 1000000', function() return x:histc(100, 0, 1) end)
  measure('quantile, 1000000', function() return x:quantile(0.3) end)
  measure('cumprod, 1000000', function() return x:cumprod(1) end)
  measure('cumsum of float64, 1000000', (function()
    local d = x:double()
    return function() return d:cumsum(1) end
  end)())
  measure('diff, 1000000', function() return x:diff() end)
  measure('repeat_interleave, 100000 by 10', (function()
    local y = rand(100000)
    return function() return y:repeat_interleave(10) end
  end)())
  measure('meshgrid and sum, 1000', (function()
    local y = rand(1000)
    return function() return y:unsqueeze(2) + y:unsqueeze(1) end
  end)())
end

lines()
joined()
doubles()
images()
convolutions()
dense()
recurrent()
losses()
draws()
