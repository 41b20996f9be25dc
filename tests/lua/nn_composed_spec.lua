-- nn_composed_spec.lua - layers and functions of torch.nn that are made of other ops, against PyTorch's values
-- (tests/reference/layers.lua): fractional pools, CrossMapLRN2d, linear_cross_entropy, multi_head_attention_forward.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local nn, F = torch.nn, torch.nn.functional
local device = reference.device

local check = {}

local function fractional(case, inputs)
  local x = inputs[1]:requires_grad_()
  local named = { return_indices = true }
  for name, value in pairs(case.named) do named[name] = value end
  torch.manual_seed(7)
  if device ~= 'cpu' then -- on a GPU other numbers are drawn for a seed
    local shape = { x.ndim % 2 == 1 and 1 or x:size(1), x:size(x.ndim % 2 == 1 and 1 or 2), case.name:find '2d' and 2 or 3 }
    if case.name:find '3d' then
      shape[1], shape[2] = x.ndim == 4 and 1 or x:size(1), x:size(x.ndim == 4 and 1 or 2)
    end
    named._random_samples = torch.rand(shape, { dtype = x.dtype }):to(device)
  end
  local y, at = F[case.name](x, named)
  ;(y * torch.arange(0, y:numel(), { dtype = y.dtype, device = device }):view_as(y)):sum():backward()
  return { y, at, x.grad }
end
check.fractional_max_pool2d, check.fractional_max_pool3d = fractional, fractional

function check.CrossMapLRN2d(case, inputs) return { nn.CrossMapLRN2d(case.size, 0.3, 0.6, 1.5)(inputs[1]) } end

function check.linear_cross_entropy(case, inputs)
  local named = { linear_bias = inputs[4] }
  for name, value in pairs(case.named) do named[name] = value end
  return { F.linear_cross_entropy(inputs[1], inputs[2], inputs[3], named) }
end

function check.multi_head_attention_forward(case, inputs)
  local q, k, v, w, b, o, ob, bk, m = table.unpack(inputs)
  return { F.multi_head_attention_forward(q, k, v, 4, 2, w, b, case.bias_kv and bk[1] or nil, case.bias_kv and bk[2] or nil, {
    add_zero_attn = case.add_zero, dropout_p = 0.0, out_proj_weight = o, out_proj_bias = ob, attn_mask = case.mask and m or nil,
  }) }
end

describe('PyTorch\'s', function()
  for i, case in ipairs(reference.load 'layers') do
    it(('%s #%d'):format(case.name, i), function()
      local inputs = {}
      for k, spec in ipairs(case.inputs) do inputs[k] = reference.tensor(spec) end
      local results = check[case.name](case, inputs)
      for k, wanted in ipairs(case.results) do reference.compare(results[k], wanted, 'result ' .. k, false, 100) end
    end)
  end
end)

describe('layers', function()
  it('of fractional pools', function()
    local pool = nn.FractionalMaxPool2d(2, { output_ratio = 0.5, return_indices = true })
    local x = torch.randn(1, 2, 8, 8, { device = device })
    local y, at = pool(x)
    assert.equal(torch.Size { 1, 2, 4, 4 }, y.shape)
    assert.is_true(torch.equal(y, x:reshape(1, 2, 64):gather(3, at:reshape(1, 2, 16)):reshape(y.shape)))
    assert.equal(torch.Size { 2, 2, 2, 2 }, nn.FractionalMaxPool3d(2, 2)(torch.randn(2, 4, 4, 4, { device = device })).shape)
    fails_with('FractionalMaxPool2d requires specifying either an output size, or a pooling ratio', nn.FractionalMaxPool2d, 2)
    fails_with('only one of output_size and output_ratio may be specified', nn.FractionalMaxPool2d, 2, 2, 0.5)
    fails_with('output_ratio must be between 0 and 1 (got 1.5)', nn.FractionalMaxPool2d, 2, { output_ratio = 1.5 })
    fails_with('fractional_max_pool2d requires specifying either an output_size or an output_ratio', F.fractional_max_pool2d, x, 2)
    fails_with('too large relative to input size', F.fractional_max_pool2d, x, 5, 6)
  end)

  it('of pools may leave sizes open', function()
    local image = torch.randn(1, 2, 5, 7, { device = device })
    assert.is_true(F.adaptive_avg_pool2d(image, { 2, false }):equal(F.adaptive_avg_pool2d(image, { 2, 7 })))
    assert.is_true(F.adaptive_avg_pool2d(image, { nil, 3 }):equal(F.adaptive_avg_pool2d(image, { 5, 3 })))
    local values, places = F.adaptive_max_pool3d(image, { 1, false, 4 }, { return_indices = true })
    local expected, at = F.adaptive_max_pool3d(image, { 1, 5, 4 }, { return_indices = true })
    assert.is_true(values:equal(expected) and places:equal(at))
    assert.equal(torch.Size { 0, 1, 2, 2, 2 }, F.fractional_max_pool3d(torch.ones(0, 1, 4, 4, 4, { device = device }), 2, 2).shape)
    assert.equal(torch.Size { 4 }, F.feature_alpha_dropout(torch.ones(4, { device = device }), 0.5, { training = false }).shape)
  end)

  it('of a linear map and its loss', function()
    torch.manual_seed(1)
    local loss = nn.LinearCrossEntropyLoss(4, 3, { bias = true, device = device })
    local x, target = torch.randn(5, 4, { device = device }), torch.tensor({ 1, 2, 3, 1, 2 }, { device = device })
    local expected = F.cross_entropy(loss.linear(x), target)
    assert.near(expected:item(), loss(x, target):item(), 1e-6)
    local names = {}
    for name in loss:named_parameters() do names[#names + 1] = name end
    assert.same({ 'linear.weight', 'linear.bias' }, names)
    local several = nn.LinearCrossEntropyLoss(4, 3, { out_features = { 2 }, device = device })
    assert.equal(torch.Size {}, several(x, torch.ones({ 5, 2 }, { dtype = torch.int64, device = device })).shape)
    assert.equal(torch.Size { 6, 4 }, several.linear.weight.shape)
    for _, options in ipairs { { batch_chunk_size = 2 }, { chunking_method = 'aspect_ratio:2' }, {} } do
      for _, reduction in ipairs { 'mean', 'sum', 'none' } do
        local w = torch.rand(3, { device = device })
        local function gradients(how)
          local y = F.linear_cross_entropy(x, loss.linear.weight, target, { weight = w, ignore_index = 2, label_smoothing = 0.1, reduction = reduction,
            linear_bias = loss.linear.bias, options = how })
          return y:detach(), torch.autograd.grad(y:sum(), { loss.linear.weight, loss.linear.bias })
        end
        local whole, pieces = { gradients() }, { gradients(nn.LinearCrossEntropyOptions(options)) }
        for i = 1, 3 do torch.testing.assert_close(pieces[i], whole[i]) end
      end
    end
    assert.equal(4, nn.LinearCrossEntropyOptions { chunking_method = 'aspect_ratio' }:rows(torch.ones(32, 8), 64))
    fails_with("invalid chunking_method: halves", nn.LinearCrossEntropyOptions, { chunking_method = 'halves' })
    fails_with('pass only one', F.linear_cross_entropy, x, loss.linear.weight, target,
      { options = nn.LinearCrossEntropyOptions { batch_chunk_size = 2, chunking_method = 'aspect_ratio' } })
    fails_with('expected label_smoothing to be in range [0, 1], got 2', nn.LinearCrossEntropyLoss, 4, 3, { label_smoothing = 2 })
    fails_with('expected equal input and linear_weight last dimensions (in_features), got 4 and 5, respectively', F.linear_cross_entropy,
      x, torch.ones(3, 5, { device = device }), target)
  end)

  it('of attention agree with the function', function()
    torch.manual_seed(2)
    local layer = nn.MultiheadAttention(4, 2, { device = device })
    local q = torch.randn(3, 2, 4, { device = device })
    local a, wa = layer(q, q, q)
    local b, wb = F.multi_head_attention_forward(q, q, q, 4, 2, layer.in_proj_weight, layer.in_proj_bias, { dropout_p = 0.0,
      out_proj_weight = layer.out_proj.weight, out_proj_bias = layer.out_proj.bias })
    assert.is_true(torch.equal(a, b))
    assert.is_true(torch.equal(wa, wb))
    fails_with('embed_dim 5 not divisible by num_heads 2', F.multi_head_attention_forward, q, q, q, 5, 2, { out_proj_weight = q })
  end)
end)
