-- inference_spec.lua - inference mode: its tensors are not written in place and not saved for backward outside of it.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local INPLACE = 'Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing '
  .. 'inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.'
local SAVED = 'Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by '
  .. 'autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of '
  .. '`torch.inference_mode()`.'

local function ones(...) return torch.ones({ 2 }, { device = device, ... }) end
local function inference(f) return torch.inference_mode(f or ones) end

describe('inference mode', function()
  it('makes inference tensors of new ones, not of views of normal ones', function()
    local a = ones()
    inference(function()
      assert.is_true(torch.is_inference_mode_enabled())
      assert.is_false(torch.is_grad_enabled())
      assert.is_true((a + 1):is_inference())
      assert.is_true(torch.is_inference(ones()))
      for _, view in ipairs { a, a:view(1, 2), a[1], a:detach(), a.data } do assert.is_false(view:is_inference()) end
      a:add_(1)
    end)
    assert.is_false(torch.is_inference_mode_enabled())
    assert.is_true(torch.is_grad_enabled())
    local x = inference()
    for _, view in ipairs { x, x:view(1, 2), x[1], x:detach() } do assert.is_true(view:is_inference()) end
    for _, new in ipairs { x:clone(), x * 2, x:exp() } do assert.is_false(new:is_inference()) end
    assert.is_false(a:is_inference())
  end)

  it('is left by an error, by inference_mode(false) and by the end of a guard', function()
    pcall(inference, function() error 'inside' end)
    assert.is_false(torch.is_inference_mode_enabled())
    inference(function()
      torch.inference_mode(false, function()
        assert.is_false(torch.is_inference_mode_enabled())
        assert.is_true(torch.is_grad_enabled())
        assert.is_false(ones():is_inference())
      end)
      assert.is_true(torch.is_inference_mode_enabled())
    end)
    do
      local _ <close> = torch.inference_mode()
      assert.is_true(ones():is_inference())
    end
    assert.is_false(ones():is_inference())
  end)
end)

describe('an inference tensor', function()
  it('is written in place in inference mode alone', function()
    local x, a = inference(), ones()
    for _, write in ipairs {
      function() x:add_(1) end, function() x:fill_(0) end, function() x[1] = 0 end, function() x:copy_(a) end, function() torch.add(a, 1, { out = x }) end,
      function() x:view(1, 2):mul_(2) end, function() x:uniform_() end, function() x:index_fill_(1, torch.tensor({ 1 }, { device = device }), 0) end,
      function() torch.nn.init.zeros_(x) end, function() x:zero_() end, function() x:clamp_(0, 1) end,
    } do
      fails_with(INPLACE, write)
    end
    assert.same({ 1, 1 }, x:tolist())
    inference(function() x:add_(1) end)
    assert.same({ 2, 2 }, x:tolist())
    a:copy_(x)
    assert.same({ 2, 2 }, a:tolist())
  end)

  it('is read where nothing of it is saved for backward', function()
    local x, w = inference(), torch.ones({ 2 }, { device = device, requires_grad = true })
    fails_with(SAVED, function() return x * w end)
    fails_with(SAVED, function() return torch.dot(w, x) end)
    fails_with(SAVED, function() return torch.linear(torch.ones({ 1, 2 }, { device = device, requires_grad = true }), x:view(1, 2)) end)
    local Times = torch.autograd.Function:extend('Times')
    function Times.forward(ctx, a, b)
      ctx:save_for_backward(b)
      return a * b
    end
    fails_with(SAVED, Times.apply, w, x)
    assert.same({ 2, 2 }, (x + w):tolist())
    ;(x:clone() * w):sum():backward()
    assert.same({ 1, 1 }, w.grad:tolist())
    torch.no_grad(function() assert.same({ 1, 1 }, (x * w):tolist()) end)
  end)

  it('has no version and cannot require grad outside of inference mode', function()
    local x = inference()
    fails_with('Inference tensors do not track version counter.', function() return x._version end)
    fails_with('Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.', x.requires_grad_, x)
    fails_with('Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.', function() x.requires_grad = true end)
    assert.is_true(inference(function() return ones():requires_grad_() end).requires_grad)
  end)

  it('from a cache of the library does not reach backward', function()
    local image = torch.ones({ 1, 1, 3, 3 }, { device = device })
    local function resize(x) return torch.nn.functional.interpolate(x, { 5, 5 }, { mode = 'bilinear' }) end
    inference(function() return resize(image) end)
    local x = image:clone():requires_grad_()
    resize(x):sum():backward()
    assert.is_true(math.abs(x.grad:sum():item() - 25) < 1e-4)
  end)

  it('serves a model in inference mode that is trained afterwards', function()
    local net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.LSTM(3, 2)):to(device)
    local input = torch.ones({ 4, 2 }, { device = device })
    inference(function() return net[3](net[2](net[1](input))) end)
    local optimizer = torch.optim.Adam(net, { lr = 0.1 })
    local output = net[3](net[2](net[1](input)))
    output:sum():backward()
    optimizer:step()
    assert.is_false(net[2].running_mean:is_inference())
  end)
end)

describe('a lazy layer', function()
  it('that is first called in inference mode can be trained', function()
    local layer, x = torch.nn.LazyLinear(2, { device = device }), torch.ones({ 1, 3 }, { device = device })
    inference(function() return layer(x) end)
    layer(x):sum():backward()
    torch.optim.SGD(layer, { lr = 0.1 }):step()
    assert.is_false(layer.weight:is_inference())
  end)
end)

describe('fields of a tensor', function()
  it('output_nr is the number of the result of its node, and is_meta is false', function()
    local x = torch.ones({ 3 }, { device = device, requires_grad = true })
    assert.equal(1, x.output_nr)
    assert.equal(1, (x * 2).output_nr)
    assert.is_false(x.is_meta)
    local edge = torch.autograd.graph.get_gradient_edge(x * 2)
    assert.equal(edge.output_nr, (x * 2).output_nr)
  end)

  it('refuse data that cannot require grad where the tensor does', function()
    local x, plain = torch.ones({ 2 }, { device = device, requires_grad = true }), torch.ones({ 2 }, { device = device })
    fails_with('data set to a tensor that requires gradients must be floating point or complex dtype', function()
      x.data = torch.ones({ 2 }, { device = device, dtype = torch.int64 })
    end)
    plain.data = torch.ones({ 2 }, { device = device, dtype = torch.int64 })
    assert.equal(torch.int64, plain.dtype)
    x.data = torch.zeros({ 3 }, { device = device, dtype = torch.float64 })
    assert.equal(3, x:numel())
  end)
end)
