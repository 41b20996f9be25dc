-- exported.lua - what torch.onnx.export is tried with: a list of { name, function that makes { module, args, options, tolerance = } }.
-- tests/lua/onnx_export_spec.lua loads the models again, tests/onnx/export.py gives them to onnx's checker and to onnxruntime.

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional
local models = require 'torch.utils.models'

local M = {}
local function case(name, make) M[#M + 1] = { name, make } end

-- A module of a function.
local function of(f, init)
  local class = nn.Module:extend 'Function'
  function class:init() if init then init(self) end end
  class.forward = f
  return class()
end

-- A layer with inputs of these sizes, which are normally distributed.
local function layer(name, make, ...)
  local sizes = { ... }
  case(name, function()
    local args = {}
    for i, size in ipairs(sizes) do args[i] = torch.randn(size) end
    return { make(), args }
  end)
end

-- ---- models ---------------------------------------------------------------------------------------------------------------

case('lenet', function()
  return { models.lenet(), { torch.randn(5, 1, 28, 28) }, { input_names = { 'images' }, output_names = { 'scores' }, dynamic_axes = { images = { [1] = 'n' } } } }
end)

case('mlp', function()
  return { nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 10)), { torch.randn(4, 1, 28, 28) },
    { input_names = { 'x' }, dynamic_axes = { x = { 1 } } } }
end)

local Residual = nn.Module:extend 'Residual'
function Residual:init(inputs, outputs, stride)
  self.conv1 = nn.Conv2d(inputs, outputs, 3, { padding = 1, stride = stride, bias = false })
  self.conv2 = nn.Conv2d(outputs, outputs, 3, { padding = 1, bias = false })
  self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
  if stride ~= 1 then self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, { stride = stride, bias = false }), nn.BatchNorm2d(outputs)) end
end
function Residual:forward(x)
  local y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
  return F.relu(y + (self.shortcut and self.shortcut(x) or x))
end

-- Statistics as after some training.
local function trained(net)
  for _, child in ipairs(net:modules()) do
    if child.running_mean ~= nil then
      child.running_mean:normal_()
      child.running_var:uniform_(0.5, 2)
    end
  end
  return net
end

case('resnet18', function()
  local net = nn.Sequential(nn.Conv2d(1, 8, 7, { stride = 2, padding = 3, bias = false }), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, { stride = 2, padding = 1 }))
  local inputs = 8
  for stage = 0, 3 do
    net:append(Residual(inputs, 8 << stage, stage == 0 and 1 or 2))
    net:append(Residual(8 << stage, 8 << stage, 1))
    inputs = 8 << stage
  end
  for _, last in ipairs { nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10) } do net:append(last) end
  return { trained(net), { torch.randn(4, 1, 28, 28) }, { input_names = { 'x' }, dynamic_axes = { x = { [1] = 'n' } } } }
end)

case('gpt', function()
  return { models.GPT(20, { width = 16, heads = 2, layers = 2, length = 12, dropout = 0.1 }), { torch.randint(1, 21, { 4, 9 }) },
    { input_names = { 'symbols' }, dynamic_axes = { symbols = { [1] = 'n', [2] = 'length' } } } }
end)

-- scripts/char_rnn.lua
for _, cell in ipairs { 'GRU', 'LSTM', 'RNN' } do
  case('char_rnn ' .. cell, function()
    local net = of(function(self, x, state)
      local output, last = self.rnn(self.embedding(x), state)
      return self.head(output), last
    end, function(self)
      self.embedding, self.rnn, self.head = nn.Embedding(11, 8), nn[cell](8, 8, { num_layers = 2, batch_first = true }), nn.Linear(8, 11)
    end)
    local state = torch.randn(2, 4, 8)
    return { net, { torch.randint(1, 12, { 4, 6 }), cell == 'LSTM' and { state, torch.randn(2, 4, 8) } or state },
      { input_names = { 'x', 'h', cell == 'LSTM' and 'c' or nil }, dynamic_axes = { x = { [1] = 'n', [2] = 'length' }, h = { [2] = 'n' }, c = cell == 'LSTM' and { [2] = 'n' } or nil } } }
  end)
end

-- ---- layers -----------------------------------------------------------------------------------------------------------------

-- Losses of x, drawn, and of what make(x) adds to the arguments.
local function loss(name, make, ...)
  for _, options in ipairs { {}, { reduction = 'sum' }, { reduction = 'none' }, ... } do
    local words = {}
    for key, value in pairs(options) do words[#words + 1] = torch.is_tensor(value) and ' ' .. key or (' %s=%s'):format(key, value) end
    table.sort(words)
    case(name .. table.concat(words), function()
      local x = torch.randn(4, 5)
      return { nn[name](options), { make(x, torch.randn(4, 5)) } }
    end)
  end
end
loss('KLDivLoss', function(x, y) return x:log_softmax(2), y:softmax(2) end, { reduction = 'batchmean' })
loss('PoissonNLLLoss', function(x, y) return x:abs(), (y * 3):abs():round() end, { full = true }, { log_input = false })
loss('GaussianNLLLoss', function(x, y) return x, y, torch.rand(4, 5) end, { full = true })
loss('HingeEmbeddingLoss', function(x, y) return x, y:sign() end, { margin = 0.5 })
loss('CosineEmbeddingLoss', function(x, y) return x, y, torch.tensor { 1.0, -1.0, 1.0, -1.0 } end, { margin = 0.1 })
loss('MultiLabelSoftMarginLoss', function(x, y) return x, y:gt(0):float() end)
loss('CrossEntropyLoss', function(x, y) return x, y:softmax(2) end, { weight = torch.rand(5) })

layer('BatchNorm1d of the batch', function() return nn.BatchNorm1d(4, { track_running_stats = false }) end, { 6, 4 })
layer('BatchNorm2d of the batch', function() return nn.BatchNorm2d(4, { track_running_stats = false, affine = false }) end, { 3, 4, 5, 6 })

for _, mode in ipairs { 'sum', 'mean', 'max' } do
  case('EmbeddingBag ' .. mode, function()
    return { nn.EmbeddingBag(9, 4, { mode = mode }), { torch.randint(1, 10, { 3, 5 }) }, { input_names = { 'x' }, dynamic_axes = { x = { 1, 2 } } } }
  end)
  -- The second bag is empty, the last one ends with the list.
  case('EmbeddingBag of offsets, ' .. mode, function()
    return { nn.EmbeddingBag(9, 4, { mode = mode }), { torch.randint(1, 10, { 7 }), torch.tensor { 1, 4, 4, 6 } },
      { input_names = { 'x', 'offsets' }, dynamic_axes = { x = { 1 } } } }
  end)
end
case('EmbeddingBag of weights', function()
  local bag = nn.EmbeddingBag(9, 4, { mode = 'sum' })
  return { of(function(_, x, weights) return bag(x, nil, weights) end, function(self) self.bag = bag end), { torch.randint(1, 10, { 3, 5 }), torch.rand(3, 5) } }
end)

for name in ([[ReLU Sigmoid Tanh GELU SiLU LeakyReLU Softplus LogSigmoid Softsign Tanhshrink ReLU6 SELU Mish Hardswish Hardsigmoid ELU CELU
  Hardtanh Softshrink Hardshrink RReLU PReLU Identity]]):gmatch '%S+' do
  layer(name, function() return nn[name]() end, { 3, 4, 5 })
end
for _, name in ipairs { 'Softmax', 'LogSoftmax', 'Softmin' } do layer(name, function() return nn[name](2) end, { 3, 4, 5 }) end
layer('Softmax2d', function() return nn.Softmax2d() end, { 2, 3, 4, 5 })
layer('GLU', function() return nn.GLU() end, { 3, 4 })
layer('Threshold', function() return nn.Threshold(0.1, 20) end, { 3, 4 })
layer('PReLU of channels', function() return nn.PReLU(3) end, { 2, 3, 4 })
layer('GELU tanh', function() return nn.GELU { approximate = 'tanh' } end, { 3, 4 })
for _, name in ipairs { 'Dropout', 'Dropout1d', 'Dropout2d', 'Dropout3d', 'AlphaDropout', 'FeatureAlphaDropout' } do
  layer(name, function() return nn[name]() end, { 2, 3, 4 })
end

layer('Linear', function() return nn.Linear(5, 3) end, { 2, 5 })
layer('Linear of sequences', function() return nn.Linear(5, 3, { bias = false }) end, { 2, 4, 5 })
layer('Bilinear', function() return nn.Bilinear(3, 4, 5) end, { 2, 3 }, { 2, 4 })
layer('Flatten', function() return nn.Flatten() end, { 2, 3, 4 })
layer('Unflatten', function() return nn.Unflatten(2, { 2, 3 }) end, { 2, 6 })

for n = 1, 3 do
  local function of_size(size)
    local list = { 2, 4 }
    for i = 1, n do list[i + 2] = size + i end
    return list
  end
  local plane = table.move(of_size(7), 2, n + 2, 1, {})
  local function named(name) return name .. n .. 'd' end
  layer(named 'Conv', function() return nn[named 'Conv'](4, 6, 3, { stride = 2, padding = 1, groups = 2 }) end, of_size(7))
  layer(named 'Conv' .. ' same', function() return nn[named 'Conv'](4, 6, 2, { padding = 'same', dilation = 2 }) end, of_size(7))
  layer(named 'Conv' .. ' without a batch', function() return nn[named 'Conv'](4, 6, 3) end, plane)
  layer(named 'ConvTranspose', function() return nn[named 'ConvTranspose'](4, 6, 3, { stride = 2, padding = 1, output_padding = 1 }) end, of_size(4))
  layer(named 'MaxPool', function() return nn[named 'MaxPool'](2, { padding = 1 }) end, of_size(7))
  layer(named 'MaxPool' .. ' with positions', function() return nn[named 'MaxPool'](2, { return_indices = true }) end, of_size(7))
  layer(named 'AvgPool', function() return nn[named 'AvgPool'](3, { stride = 2, padding = 1, count_include_pad = false }) end, of_size(7))
  layer(named 'LPPool', function() return nn[named 'LPPool'](2, 2) end, of_size(6))
  layer(named 'AdaptiveAvgPool', function() return nn[named 'AdaptiveAvgPool'](1) end, of_size(7))
  layer(named 'AdaptiveMaxPool', function() return nn[named 'AdaptiveMaxPool'](1) end, of_size(7))
  layer(named 'BatchNorm', function() return trained(nn[named 'BatchNorm'](4)) end, of_size(4))
  layer(named 'InstanceNorm', function() return nn[named 'InstanceNorm'](4, { affine = true }) end, of_size(4))
  layer(named 'ZeroPad', function() return nn[named 'ZeroPad'](1) end, of_size(4))
  layer(named 'ConstantPad', function() return nn[named 'ConstantPad'](2, 3.5) end, of_size(4))
  layer(named 'ReflectionPad', function() return nn[named 'ReflectionPad'](2) end, of_size(4))
  layer(named 'ReplicationPad', function() return nn[named 'ReplicationPad'](2) end, of_size(4))
  layer(named 'CircularPad', function() return nn[named 'CircularPad'](2) end, of_size(4))
end
layer('AdaptiveAvgPool2d uneven', function() return nn.AdaptiveAvgPool2d { 3, 2 } end, { 2, 3, 7, 5 })
layer('AdaptiveAvgPool2d even', function() return nn.AdaptiveAvgPool2d { 3, 2 } end, { 2, 3, 6, 8 })
layer('BatchNorm1d of features', function() return trained(nn.BatchNorm1d(4, { affine = false })) end, { 3, 4 })
layer('LayerNorm', function() return nn.LayerNorm { 3, 4 } end, { 2, 3, 4 })
layer('LayerNorm without weights', function() return nn.LayerNorm(4, { elementwise_affine = false }) end, { 2, 3, 4 })
layer('RMSNorm', function() return nn.RMSNorm(4) end, { 2, 3, 4 })
layer('GroupNorm', function() return nn.GroupNorm(2, 4) end, { 2, 4, 3, 5 })
layer('LocalResponseNorm', function() return nn.LocalResponseNorm(3) end, { 2, 5, 3, 4 })

for _, name in ipairs { 'nearest', 'bilinear', 'bicubic' } do
  layer('Upsample ' .. name, function() return nn.Upsample { scale_factor = 2, mode = name } end, { 2, 3, 4, 5 })
end
layer('CrossMapLRN2d', function() return nn.CrossMapLRN2d(3) end, { 2, 5, 3, 4 })
case('MaxUnpool2d', function()
  local values, places = nn.MaxPool2d(2, { return_indices = true })(torch.randn(2, 3, 4, 6))
  return { nn.MaxUnpool2d(2), { values, places } }
end)
layer('PixelShuffle', function() return nn.PixelShuffle(2) end, { 2, 8, 3, 4 })
layer('PixelUnshuffle', function() return nn.PixelUnshuffle(2) end, { 2, 2, 4, 6 })
layer('ChannelShuffle', function() return nn.ChannelShuffle(2) end, { 2, 4, 3, 3 })
layer('Unfold', function() return nn.Unfold({ 2, 3 }, { padding = 1, stride = 2 }) end, { 2, 3, 6, 7 })
layer('Fold', function() return nn.Fold({ 5, 6 }, { 2, 3 }, { padding = 1 }) end, { 2, 12, 36 })
layer('CosineSimilarity', function() return nn.CosineSimilarity() end, { 3, 4 }, { 3, 4 })
layer('PairwiseDistance', function() return nn.PairwiseDistance() end, { 3, 4 }, { 3, 4 })

case('Embedding', function() return { nn.Embedding(7, 3), { torch.randint(1, 8, { 2, 4 }) } } end)
for _, cell in ipairs { 'RNN', 'GRU', 'LSTM' } do
  layer(cell .. ' both ways', function() return nn[cell](3, 4, { bidirectional = true }) end, { 5, 2, 3 })
  layer(cell .. 'Cell', function() return nn[cell .. 'Cell'](3, 4) end, { 2, 3 })
end
layer('LSTM projected', function() return nn.LSTM(3, 4, { proj_size = 2 }) end, { 5, 2, 3 })
layer('RNN relu', function() return nn.RNN(3, 4, { nonlinearity = 'relu', bias = false }) end, { 5, 2, 3 })
layer('MultiheadAttention', function() return nn.MultiheadAttention(8, 2) end, { 5, 2, 8 }, { 6, 2, 8 }, { 6, 2, 8 })
layer('TransformerEncoderLayer', function() return nn.TransformerEncoderLayer(8, 2, 16) end, { 5, 2, 8 })
layer('TransformerDecoderLayer', function() return nn.TransformerDecoderLayer(8, 2, 16, { activation = 'gelu', norm_first = true }) end, { 5, 2, 8 }, { 4, 2, 8 })
layer('Transformer', function() return nn.Transformer(8, 2, 1, 1, 16) end, { 5, 2, 8 }, { 4, 2, 8 })

for _, name in ipairs { 'L1Loss', 'MSELoss', 'SmoothL1Loss', 'HuberLoss' } do layer(name, function() return nn[name]() end, { 3, 4 }, { 3, 4 }) end
for _, name in ipairs { 'BCELoss', 'BCEWithLogitsLoss', 'SoftMarginLoss' } do
  case(name, function() return { nn[name](), { torch.rand(3, 4), torch.rand(3, 4) } } end)
end
layer('MarginRankingLoss', function() return nn.MarginRankingLoss { margin = 0.5 } end, { 4 }, { 4 }, { 4 })
case('CrossEntropyLoss', function() return { nn.CrossEntropyLoss(), { torch.randn(4, 5), torch.randint(1, 6, { 4 }) } } end)
case('NLLLoss', function() return { nn.NLLLoss { weight = torch.rand(5) }, { torch.randn(4, 5):log_softmax(2), torch.randint(1, 6, { 4 }) } } end)

-- ---- what programs do between layers --------------------------------------------------------------------------------------

layer('indexing', function()
  return of(function(_, x) return x[2], x[':, -1'], x[{ {}, { 2, 3 } }], x['..., ::2'], x[{ 1, {}, -2 }], x[{ torch.newaxis, 2 }] end)
end, { 3, 4, 5 })
layer('in place', function()
  return of(function(_, x)
    local y = x * 2
    y:add_(1):relu_()
    y:mul_(x)
    return y, y:sum(2)
  end)
end, { 3, 4 })
layer('reductions', function()
  return of(function(_, x)
    local values, places = x:max(2)
    return values, places, x:argmin(1), x:std { dim = 1 }, x:var { dim = { 1, 2 }, unbiased = false }, x:norm(), x:prod(1), x:amax { dim = 2, keepdim = true }, x:logsumexp(2), x:cumsum(2)
  end)
end, { 3, 4 })
layer('orders', function()
  return of(function(_, x)
    local values, places = x:topk(2)
    local sorted, order = x:sort(1, true)
    return values, places, sorted, order, x:gather(2, places), x:index_select(2, torch.tensor { 3, 1 })
  end)
end, { 3, 4 })
layer('parts and joins', function()
  return of(function(_, x)
    local parts = x:chunk(2, 2)
    return torch.cat({ parts[2], parts[1] }, 2), torch.stack(x:unbind(1), 2), x:flip { 1, 2 }, x:roll(1, 2), x:tile { 2, 1, 1 }, x.T, x:unfold(2, 2, 1)
  end)
end, { 3, 4 })
layer('arithmetic', function()
  return of(function(_, x, y)
    return (2 - x) / 3 + y ^ 2, x % 0.7, x // 0.3, -x, torch.where(x:gt(y), x, 0), x:clamp(-0.5, 0.5), x:masked_fill(y:lt(0), 1), x:gt(0):float() + (x:to(torch.int64) // 2),
      torch.lerp(x, y, 0.3), torch.addcmul(x, x, y, { value = 0.5 }), x:gt(0) & y:gt(0)
  end)
end, { 3, 4 }, { 3, 4 })
layer('a weight that is computed', function()
  return nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))
end, { 2, 4 })
case('double', function() return { nn.Linear(4, 3):double(), { torch.randn(2, 4, { dtype = torch.float64 }) } } end)
case('sizes', function()
  return { of(function(_, x)
    local n, length = x:size(1), x:size(2)
    return x:reshape(n * length, 3):view(n, length // 2, 6), torch.arange(1, length + 1), torch.ones(length, n), x:mean { dim = 2 } * length
  end), { torch.randn(5, 6, 3) }, { input_names = { 'x' }, dynamic_axes = { x = { [1] = 'n' } } } }
end)

case('sizes as numbers', function()
  return { of(function(_, x)
    local n = x:size(1)
    return x / n, n / (x:abs() + 1), x:sum() / n, torch.add(x, x, { alpha = n }), x:clamp(0, n), torch.where(x:gt(0), x, n), x:eq(n), x ^ n, torch.full({ 2 }, n)
  end), { torch.randn(5, 3) }, { input_names = { 'x' }, dynamic_axes = { x = { [1] = 'n' } } } }
end)
layer('windows by name', function()
  return of(function(_, x)
    return F.avg_pool2d(x, { 3, 3 }, { stride = 2 }), F.max_pool2d(x, 3, { stride = 2, padding = 1 }), F.avg_pool2d(x, { kernel_size = 2, stride = 1 })
  end)
end, { 1, 2, 7, 8 })
for _, mode in ipairs { 'bilinear', 'nearest', 'bicubic' } do
  for _, padding in ipairs { 'zeros', 'border', 'reflection' } do
    case(('grid_sample, %s, %s'):format(mode, padding), function()
      return { of(function(_, x, grid)
        return F.grid_sample(x, grid, { mode = mode, padding_mode = padding, align_corners = padding == 'border' })
      end), { torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 2) } }
    end)
  end
end
case('positions as inputs', function()
  local model = of(function(self, x, i, j)
    return x[i], x[{ {}, j }], x:index_select(1, i), x:gather(2, j:unsqueeze(1):expand(4, 2)), self.table(j), F.one_hot(i, 5), x:scatter(1, i:unsqueeze(1), 2.0)
  end, function(self) self.table = nn.Embedding(4, 2) end)
  return { model, { torch.randn(4, 4), torch.tensor { 4, 1, 1 }, torch.tensor { 2, 4 } } }
end)

-- ---- what random numbers do not show --------------------------------------------------------------------------------------

local inf, nan = math.huge, 0 / 0
local function hostile() return torch.tensor { 0.0, -0.0, 1.0, -1.0, 19.5, 20.5, -30.0, 88.0, 100.0, -100.0, 1e20, -1e20, 1e-40, inf, -inf, nan } end

local function on_hostile(name, f) case(name .. ' of hostile numbers', function() return { of(function(_, x) return f(x) end), { hostile() } } end) end
on_hostile('softplus', function(x) return F.softplus(x), F.softplus(x, { threshold = 0.5 }), F.softplus(x, { beta = 3, threshold = 1 }), F.softplus(x:double(), { threshold = 2 }) end)
on_hostile('activations', function(x)
  return F.relu(x), F.elu(x), F.selu(x), F.celu(x), F.leaky_relu(x, 0.1), F.hardtanh(x), F.relu6(x), F.hardsigmoid(x), F.logsigmoid(x), F.softsign(x), x:sigmoid(), x:tanh(),
    F.hardshrink(x), F.softshrink(x), F.threshold(x, 0.1, 2.0), F.silu(x), F.gelu(x)
end)
on_hostile('arithmetic', function(x)
  return x + x, x - x, x * 0, 1 / x, x:abs(), x:sqrt(), x:exp(), x:log(), x:sign(), x:floor(), x:clamp(-2, 2), x:isnan(), x:isinf(), x:eq(x), x:gt(0), torch.where(x:isnan(), 0, x)
end)
on_hostile('sums', function(x) return x:sum(), x:mean(), x[{ { 1, 15 } }]:max(), x[{ { 1, 15 } }]:min(), x[{ { 1, 13 } }]:softmax(1), x:softmax(1), x[{ { 1, 14 } }]:log_softmax(1), x[{ { 1, 13 } }]:logsumexp(1) end)

case('attention with masked rows', function()
  local mask = torch.tensor { { true, false, true }, { false, false, false }, { true, true, true } }
  local bias = torch.zeros(3, 3):masked_fill(mask:logical_not(), -inf)
  return { of(function(_, q, k, v, m, b)
    return F.scaled_dot_product_attention(q, k, v, { attn_mask = m }), F.scaled_dot_product_attention(q, k, v, { attn_mask = b }),
      F.scaled_dot_product_attention(q, k, v, { is_causal = true }), F.scaled_dot_product_attention(q, k, v)
  end), { torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4), mask, bias } }
end)
case('pads that cut', function()
  return { of(function(_, x)
    return F.pad(x, { -1, 2, 0, -1 }), F.pad(x, { 2, 1, 1, 2 }, 'reflect'), F.pad(x, { 3, 2, 0, 1 }, 'replicate'), F.pad(x, { 1, 2, 3, 0 }, 'circular')
  end), { torch.randn(1, 2, 4, 5) } }
end)
case('nothing', function()
  return { of(function(_, x) return x * 2, x:sum(1), torch.cat({ x, x }, 1), x:reshape(3, 0), x:softmax(2) end), { torch.randn(0, 3) } }
end)

return M
