-- vmap_spec.lua - torch.func.vmap: what the function sees, levels inside of each other, random numbers, writes in place, chunks,
-- messages. That the rules of all ops are right is found by gradcheck_spec.lua, and PyTorch's values are in transforms_spec.lua.

local torch = require 'torch'
local func, nn = torch.func, torch.nn
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local vmap = func.vmap

local function tensor(values) return torch.tensor(values, { device = device }) end
local function shape(t) return table.move(t.shape, 1, #t.shape, 1, {}) end

describe('the function under vmap', function()
  local x = tensor { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 } }

  it('sees one sample', function()
    local seen
    vmap(function(v)
      seen = { shape(v), v:dim(), v:numel(), v:size(1), #v }
      return v
    end)(x)
    assert.same({ { 3 }, 1, 3, 3, 3 }, seen)
  end)

  it('is called once', function()
    local calls = 0
    vmap(function(v)
      calls = calls + 1
      return v
    end)(x)
    assert.equal(1, calls)
  end)

  it('the function may return several results, tables, and values without a batch', function()
    local sums, rest = vmap(function(v) return v:sum(), { twice = v * 2, constant = tensor { 7.0 } } end)(x)
    assert.same({ 6.0, 15.0 }, sums:tolist())
    assert.same({ { 2.0, 4.0, 6.0 }, { 8.0, 10.0, 12.0 } }, rest.twice:tolist())
    assert.same({ { 7.0 }, { 7.0 } }, rest.constant:tolist())
  end)

  it('takes tables, each entry along its own dimension', function()
    local both = vmap(function(p, n) return p.a * p.b * n end, { in_dims = { { a = 1, b = 2 }, false } })
    assert.same({ { 2.0, 8.0 }, { 6.0, 16.0 } }, both({ a = tensor { { 1.0, 2.0 }, { 1.0, 2.0 } }, b = tensor { { 1.0, 3.0 }, { 2.0, 4.0 } } }, 2):tolist())
  end)

  it('indexes, gathers and sorts by positions from 1', function()
    assert.same({ 2.0, 5.0 }, vmap(function(v) return v[2] end)(x):tolist())
    assert.same({ { 2.0, 3.0 }, { 5.0, 6.0 } }, vmap(function(v) return v['2:'] end)(x):tolist())
    assert.same({ 3, 3 }, vmap(function(v) return v:argmax(1) end)(x):tolist())
    local index = tensor { { 3 }, { 1 } }
    assert.same({ { 3.0 }, { 4.0 } }, vmap(function(v, i) return v:gather(1, i) end)(x, index):tolist())
    assert.same({ { 3, 2, 1 }, { 3, 2, 1 } }, vmap(function(v) return (select(2, v:sort { descending = true })) end)(x):tolist())
  end)

  it('print shows all samples', function()
    local text
    vmap(function(v)
      text = tostring(v)
      return v
    end)(x)
    assert.equal(('BatchedTensor(%s)'):format(tostring(x)), text)
  end)

  it('works on numbers without dimensions and on no samples', function()
    assert.same({ 2.0, 4.0 }, vmap(function(v) return v * 2 end)(tensor { 1.0, 2.0 }):tolist())
    assert.same({ 0, 2 }, shape(vmap(function(v) return v:sin() end)(torch.zeros(0, 2, { device = device }))))
  end)

  it('lets no batched tensor out but by its result', function()
    local leaked
    vmap(function(v)
      leaked = v * 2
      return leaked
    end)(x)
    for _, f in ipairs { function() return leaked + 1 end, function() return leaked:sum() end, function() return leaked:exp() end,
      function() return torch.cat { leaked, leaked } end, function() return torch.nn.functional.linear(leaked, leaked) end,
      function() leaked:add_(1) end, function() return torch.stack { torch.ones(3, { device = device }), leaked } end } do
      assert.error_matches(f, 'a Tensor of a vmap that has ended')
    end
    assert.error_matches(function() return leaked:tolist() end, 'tolist%(%) of a batched tensor is not possible')
    assert.error_matches(function() return leaked:sum():item() end, 'a Tensor of a vmap that has ended')
    torch.manual_seed(1)
    local drawn = torch.rand(3)
    torch.manual_seed(1)
    leaked = nil
    collectgarbage()
    assert.is_true(torch.equal(drawn, torch.rand(3)))
  end)

  it('leaves no level behind when it fails', function()
    assert.is_false(pcall(vmap(function() error 'no' end), x))
    assert.equal(0, torch._C.batch_depth())
  end)
end)

describe('vmap inside vmap', function()
  it('makes all pairs', function()
    local outer = vmap(vmap(torch.mul, { in_dims = { false, 1 } }), { in_dims = { 1, false } })
    assert.same({ { 10.0, 100.0 }, { 20.0, 200.0 } }, outer(tensor { 1.0, 2.0 }, tensor { 10.0, 100.0 }):tolist())
  end)

  it('an inner vmap maps over tensors without an outer batch', function()
    local x = torch.arange(24.0, { device = device }):reshape(2, 3, 4)
    local sums = vmap(vmap(function(v) return v:sum() end, { in_dims = 2 }), { in_dims = 1 })(x)
    assert.is_true(torch.equal(x:sum(2), sums))
    local turned = vmap(vmap(function(v) return v end, { in_dims = 2, out_dims = 2 }), { out_dims = 3 })(x)
    assert.is_true(torch.equal(x:permute(2, 3, 1), turned))
  end)
end)

describe('random numbers under vmap', function()
  local x = torch.ones(4, 50, { device = device })

  it('random numbers under vmap need the argument randomness', function()
    for _, f in ipairs { function() return torch.rand(2, { device = device }) end, function(v) return v:bernoulli(0.5) end,
      function(v) return nn.functional.dropout(v, 0.5, true) end } do
      assert.error_matches(function() vmap(f)(x) end, 'called random operation while in randomness error mode')
    end
  end)

  it('differ from sample to sample', function()
    for _, f in ipairs { function() return torch.rand(50, { device = device }) end, torch.rand_like,
      function(v) return nn.functional.dropout(v, 0.5, true) end } do
      local y = vmap(f, { randomness = 'different' })(x)
      assert.same({ 4, 50 }, shape(y))
      assert.is_false(torch.equal(y[1], y[2]))
    end
  end)

  it('or are the same', function()
    local y = vmap(function(v) return v * torch.rand(50, { device = device }) end, { randomness = 'same' })(x)
    assert.is_true(torch.equal(y[1], y[4]))
  end)
end)

describe('writes in place under vmap', function()
  it('are seen where the sample came from', function()
    local x = tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
    vmap(function(v) return v:add_(1) end)(x)
    assert.same({ { 2.0, 3.0 }, { 4.0, 5.0 } }, x:tolist())
  end)

  it('reach a view and its base', function()
    local y = vmap(function(v)
      local copy = v:clone()
      copy[1] = v[2]
      copy['2:'] = 0
      return copy
    end)(tensor { { 1.0, 2.0 }, { 3.0, 4.0 } })
    assert.same({ { 2.0, 0.0 }, { 4.0, 0.0 } }, y:tolist())
  end)

  it('are differentiated', function()
    local function f(v)
      local y = v * 1
      y[1] = v[2] * v[2]
      y:mul_(v)
      return y:sum()
    end
    local x = torch.tensor({ { 1.0, 2.0 }, { 3.0, 4.0 } }, { device = device })
    local both = vmap(func.grad(f))(x)
    for i = 1, 2 do assert.is_true(torch.allclose(func.grad(f)(x[i]), both[i])) end
  end)

  it('do not make one tensor many', function()
    local y = torch.zeros(2, { device = device })
    assert.error_matches(function() vmap(function(v) return y:add_(v) end)(torch.ones(3, 2, { device = device })) end,
      'vmap: aten::add_%(self, %*extra_args%) is not possible because there exists a Tensor `other` in extra_args')
  end)
end)

describe('chunks', function()
  it('change nothing but how many samples are at work', function()
    local x, sizes = torch.randn(7, 3, { device = device }), {}
    local y = vmap(function(v)
      sizes[#sizes + 1] = #torch._C.batch_show(v, 0)
      return v:cumsum(1)
    end, { chunk_size = 3, out_dims = 2 })(x)
    assert.same({ 3, 3, 1 }, sizes)
    assert.is_true(torch.equal(x:cumsum(2):t(), y))
  end)
end)

describe('gradients of samples', function()
  it('of a LeNet agree with a loop', function()
    torch.manual_seed(1)
    local net = nn.Sequential(nn.Conv2d(1, 6, 5, { padding = 2 }), nn.Sigmoid(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Sigmoid(),
      nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.Sigmoid(), nn.Linear(84, 10)):to(device)
    local parameters = {}
    for name, p in net:named_parameters() do parameters[name] = p:detach() end
    local x = torch.randn(3, 1, 28, 28, { device = device })
    local y = torch.tensor({ 1, 5, 10 }, { device = device })
    local function loss(p, image, label)
      return nn.functional.cross_entropy(func.functional_call(net, p, image:unsqueeze(1)), label:unsqueeze(1))
    end
    local found = vmap(func.grad(loss), { in_dims = { false, 1, 1 } })(parameters, x, y)
    for i = 1, 3 do
      for name, gradient in pairs(func.grad(loss)(parameters, x[i], y[i])) do
        assert.is_true(torch.allclose(gradient, found[name][i], { rtol = 1e-4, atol = 1e-6 }), name)
      end
    end
  end)

  it('of an ensemble agree with its models', function()
    local models = { nn.Linear(3, 2):to(device), nn.Linear(3, 2):to(device) }
    local parameters, buffers = func.stack_module_state(models)
    local x = torch.randn(4, 3, { device = device })
    local y = vmap(function(p, b) return func.functional_call(models[1], { p, b }, x) end)(parameters, buffers)
    for i, model in ipairs(models) do assert.is_true(torch.allclose(model(x), y[i], { atol = 1e-6 })) end
    y:sum():backward()
    assert.same({ 2, 2, 3 }, shape(parameters.weight.grad))
  end)
end)

describe('replace_all_batch_norm_modules_', function()
  it('lets models be mapped over that are trained', function()
    local net = func.replace_all_batch_norm_modules_(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)):to(device))
    local x = torch.randn(4, 5, 3, { device = device })
    local y = torch.vmap(function(batch) return net(batch) end)(x)
    for i = 1, 4 do assert.is_true(torch.allclose(net(x[i]), y[i], { atol = 1e-5 })) end
    assert.is_nil(net[2].running_mean)
  end)
end)

describe('a Function', function()
  local Scale = torch.autograd.Function:extend 'Scale'
  function Scale.forward(x, factor) return x * factor end
  function Scale.setup_context(ctx, inputs, output)
    assert.equal(2, #inputs)
    assert.is_true(torch.is_tensor(output))
    ctx.factor = inputs[2]
  end
  function Scale.backward(ctx, gradient) return gradient * ctx.factor, nil end

  it('may have its context set up apart from forward', function()
    local x = tensor { 1.0, 2.0 }
    assert.same({ 3.0, 3.0 }, func.grad(function(v) return Scale.apply(v, 3):sum() end)(x):tolist())
  end)

  it('is mapped over by its own rule', function()
    assert.error_matches(function() vmap(function(v) return Scale.apply(v, 3) end)(torch.ones(2, 3, { device = device })) end,
      'You tried to vmap over Scale, but it does not have vmap support')
    function Scale.vmap(info, in_dims, x, factor)
      assert.same({ batch_size = 2 }, info)
      assert.same({ 1, false }, in_dims)
      return Scale.apply(x, factor):t(), 2
    end
    local x = tensor { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 } }
    assert.same({ { 3.0, 6.0, 9.0 }, { 12.0, 15.0, 18.0 } }, vmap(function(v) return Scale.apply(v, 3) end)(x):tolist())
    assert.same({ { 6.0, 12.0, 18.0 }, { 24.0, 30.0, 36.0 } },
      vmap(func.grad(function(v) return (Scale.apply(v, 3) * v):sum() end))(x):tolist())
  end)
end)

describe('errors of vmap', function()
  local x = tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
  local kept
  local refused = {
    { "It looks like you're calling .item%(%) on a Tensor", function() vmap(function(v) return v:sum():item() end)(x) end },
    { 'data%-dependent control flow', function() vmap(function(v) return v:equal(v) end)(x) end },
    { 'tolist%(%) of a batched tensor', function() vmap(function(v) return v:tolist() end)(x) end },
    { 'out= is not possible for batched tensors', function() vmap(function(v) return torch.add(v, v, { out = torch.ones(2, { device = device }) }) end)(x) end },
    { 'requires_grad_%(%) of a batched tensor is not possible', function() vmap(function(v) return v:requires_grad_() end)(x) end },
    { 'got no inputs. Maybe you forgot to add inputs', function() vmap(function() return x end)() end },
    { 'Expected at least one Tensor to vmap over', function() vmap(function(v) return v end, { in_dims = { false } })(x) end },
    { 'Got in_dim=1 for an input but the input is of type number', function() vmap(function(v) return v end)(1) end },
    { 'Got in_dim=3 for some input, but that input is a Tensor of dimensionality 2', function() vmap(function(v) return v end, 3)(x) end },
    { 'positions count from 1', function() vmap(function(v) return v end, 0)(x) end },
    { 'Expected all tensors to have the same size in the mapped dimension, got sizes %[2, 1%]',
      function() vmap(torch.add)(x, x['1:1']) end },
    { 'in_dims is not compatible with the structure of `inputs`', function() vmap(function(v) return v end, { in_dims = { 1, 1 } })(x) end },
    { '`f` must only return Tensors, got type number. Did you mean to set out_dims to false', function() vmap(function() return 1 end)(x) end },
    { 'please use false as the respective in_dim', function() vmap(function(v, n) return v * n end)(x, 2) end },
    { '`f` can not return a BatchedTensor when out_dim is false', function() vmap(function(v) return v end, { out_dims = { false } })(x) end },
    { "Only allowed values for randomness are 'error', 'different', or 'same'. Got no", function() vmap(torch.sin, { randomness = 'no' }) end },
    { 'chunk_size should be nil or greater than 0', function() vmap(torch.sin, { chunk_size = 0 }) end },
    { 'a Tensor of a vmap that has ended', function()
      vmap(function(v)
        kept = v
        return v
      end)(x)
      vmap(vmap(function(v) return v + 1 end))(x)
      local inner = vmap(function(v)
        vmap(function(w)
          kept = w
          return w
        end)(v)
        return v + kept
      end)
      inner(x)
    end },
  }
  for _, case in ipairs(refused) do
    it(case[1], function() assert.error_matches(case[2], case[1]) end)
  end
end)

describe('the rule of', function()
  local F = torch.nn.functional
  local function randn(...) return torch.randn(..., { dtype = torch.float64, device = device }) end
  local function long(...) return torch.tensor({ ... }, { device = device }) end

  -- vmap of f beside a loop over the samples; `shared` arguments are not batched.
  local function compare(f, batched, shared)
    local dims, all = {}, {}
    for i, value in ipairs(batched) do dims[i], all[i] = 1, value end
    for _, value in ipairs(shared or {}) do dims[#dims + 1], all[#all + 1] = false, value end
    local found, rows = vmap(f, { in_dims = dims })(table.unpack(all)), {}
    for s = 1, batched[1]:size(1) do
      local one = table.move(all, 1, #all, 1, {})
      for i = 1, #batched do one[i] = all[i][s] end
      rows[s] = f(table.unpack(one))
    end
    assert.is_true(torch.allclose(found, torch.stack(rows), { rtol = 1e-9, atol = 1e-12 }))
  end

  it('nll_loss supports weights, ignored classes and images', function()
    local scores, target = randn { 3, 4, 5 }:log_softmax(3), torch.randint(1, 6, { 3, 4 }, { device = device })
    for _, reduction in ipairs { 'mean', 'sum', 'none' } do
      compare(function(s, t) return F.nll_loss(s, t, { reduction = reduction, ignore_index = 2 }) end, { scores, target })
      compare(function(s, t, w) return F.nll_loss(s, t, w, { reduction = reduction }) end, { scores, target }, { randn { 5 }:abs() })
    end
    compare(F.nll_loss, { randn { 3, 2, 5, 4 }, torch.randint(1, 6, { 3, 2, 4 }, { device = device }) })
    compare(F.cross_entropy, { randn { 3, 2, 5 }, torch.randint(1, 6, { 3, 2 }, { device = device }) })
  end)

  it('losses of elements reduces each sample by itself', function()
    for _, reduction in ipairs { 'mean', 'sum', 'none' } do
      for _, loss in ipairs { F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits } do
        compare(function(a, b) return loss(a, b, { reduction = reduction }) end, { randn { 3, 4, 2 }, randn { 3, 4, 2 } })
        compare(function(a, b) return loss(a, b, { reduction = reduction }) end, { randn { 3, 4, 2 } }, { randn { 4, 2 } })
      end
    end
  end)

  it('index_select takes positions of each sample', function()
    local picks = torch.tensor({ { 1, 3 }, { 2, 2 }, { 4, 1 } }, { device = device })
    compare(function(v, i) return v:index_select(2, i) end, { randn { 3, 2, 4 }, picks })
    compare(function(i, v) return v:index_select(2, i) end, { picks }, { randn { 2, 4 } })
    compare(function(v, i) return v:index_select(-1, i) end, { randn { 3, 2, 4 } }, { long(4, 1) })
    compare(function(v, i) return v:index_add(2, i, v:narrow(2, 1, 2)) end, { randn { 3, 2, 4 } }, { long(4, 1) })
    assert.error_matches(function() vmap(function(v, i) return v:index_select(1, i) end)(randn { 3, 4 }, picks + 2):tolist() end, 'out of') -- a GPU says so when it is waited for
  end)

  it('embedding has a table for each sample', function()
    local ids = torch.tensor({ { 1, 3 }, { 2, 2 }, { 4, 1 } }, { device = device })
    compare(F.embedding, { ids, randn { 3, 4, 2 } })
    compare(function(w, i) return F.embedding(i, w) end, { randn { 3, 4, 2 } }, { long(2, 3, 2) })
    local each = vmap(torch.func.grad(function(w, i) return F.embedding(i, w):pow(2):sum() end), { in_dims = { false, 1 } })
    local w = randn { 4, 2 }
    local found = each(w, ids)
    for s = 1, 3 do
      assert.is_true(torch.allclose(found[s], torch.func.grad(function(v) return F.embedding(ids[s], v):pow(2):sum() end)(w)))
    end
  end)

  it('norms has weights for each sample', function()
    compare(function(v, w, b) return F.layer_norm(v, { 4 }, w, b) end, { randn { 3, 2, 4 }, randn { 3, 4 }, randn { 3, 4 } })
    compare(function(v, w, b) return F.batch_norm(v, nil, nil, w, b, true) end, { randn { 3, 5, 4, 2 }, randn { 3, 4 }, randn { 3, 4 } })
    compare(function(v, mean, var) return F.batch_norm(v, mean, var) end, { randn { 3, 5, 4 } }, { randn { 4 }, randn { 4 }:abs() })
    assert.error_matches(function()
      vmap(function(v, mean, var) return F.batch_norm(v, mean, var, nil, nil, true) end, { in_dims = { 1, false, false } })(randn { 3, 5, 4 }, randn { 4 }, randn { 4 })
    end, 'running_mean or running_var, which will be updated in place')
  end)

  it('group_norm has weights for each sample', function()
    compare(function(v) return F.group_norm(v, 2) end, { randn { 3, 5, 4, 2 } })
    compare(function(v, w, b) return F.group_norm(v, 2, w, b) end, { randn { 3, 5, 4, 2 } }, { randn { 4 }, randn { 4 } })
    compare(function(v, w, b) return F.group_norm(v, 2, w, b) end, { randn { 3, 5, 4 }, randn { 3, 4 }, randn { 3, 4 } })
  end)

  it('attention supports masks, shared heads and samples without a batch', function()
    local attention = F.scaled_dot_product_attention
    local q, k, v = randn { 3, 2, 4, 5, 6 }, randn { 3, 2, 4, 7, 6 }, randn { 3, 2, 4, 7, 6 }
    compare(attention, { q, k, v })
    compare(attention, { q }, { k[1], v[1] })
    compare(function(a) return attention(a[1], a[1], a[1], { is_causal = true }) end, { q })
    compare(function(a, b, c, mask) return attention(a, b, c, mask) end, { q, k, v }, { randn { 5, 7 } })
    compare(function(a, b, c, mask) return attention(a, b, c, mask) end, { q, k, v, randn { 3, 1, 1, 5, 7 } })
    compare(function(a, b, c) return attention(a, b, c, { enable_gqa = true }) end, { q, k:narrow(3, 1, 2), v:narrow(3, 1, 2) })
    compare(func.grad(function(a, b, c) return attention(a, b, c):pow(2):sum() end), { q, k, v })
  end)

  it('indexing by tensors accepts indices without a batch', function()
    local x, rows, columns = randn { 3, 4, 5 }, long(4, 1, 4), long(2, 2, 5)
    local mask = torch.tensor({ true, false, true, false }, { device = device })
    compare(function(v) return v[rows] end, { x })
    compare(function(v) return v[{ rows, columns }] end, { x })
    compare(function(v) return v[{ {}, columns }] end, { x })
    compare(function(v) return v[mask] end, { x })
    compare(func.grad(function(v) return v[rows]:pow(2):sum() end), { x })
    compare(function(v, w)
      local y = v:clone()
      y[rows] = w
      y[{ {}, columns }] = 0
      return y
    end, { x, randn { 3, 5 } })
  end)

  it('indexing by tensors accepts indices of each sample', function()
    local x = randn { 3, 4, 5, 2 }
    local rows = torch.tensor({ { 1, 4 }, { 2, 2 }, { 3, 1 } }, { device = device })
    local columns = torch.tensor({ { 5, 2 }, { 1, 1 }, { 4, 3 } }, { device = device })
    local last = torch.tensor({ { 2 }, { 1 }, { 2 } }, { device = device })
    compare(function(v, i) return v[i] end, { x, rows })
    compare(function(v, i) return v[{ {}, i }] end, { x, columns })
    compare(function(v, i, j) return v[{ i, j }] end, { x, rows, columns })
    compare(function(v, i, k) return v[{ i, {}, k }] end, { x, rows, last })
    compare(function(i) return x[1][i] end, { rows })
    compare(function(v) return v[{ long(1, 4), {}, long(2, 1) }] end, { x })
    compare(func.grad(function(v, i) return v[{ {}, i }]:pow(2):sum() end), { x, columns })
    local function put(values_of)
      return function(v, i, w)
        local y = v:clone()
        y[{ {}, i }] = values_of(w)
        return y
      end
    end
    compare(put(function(w) return w end), { x, torch.tensor({ { 5, 2 }, { 1, 3 }, { 4, 3 } }, { device = device }), randn { 3, 4, 2, 2 } })
    compare(put(function(w) return w[1] end), { x, columns:clone():index_fill(2, long(2), 3), randn { 3, 4, 1, 2 } })
    compare(put(function() return 0 end), { x, columns, randn { 3 } })
    compare(function(v, i, w) return v:index_put({ i }, w, true) end, { x, rows, randn { 3, 2, 5, 2 } })
  end)

  it('values put into places takes one of each sample', function()
    local x, value, mask = randn { 3, 4, 2 }, randn { 3 }, randn { 3, 4, 2 }:gt(0)
    compare(function(v, m, w) return v:masked_fill(m, w) end, { x, mask, value })
    compare(function(m, w, v) return v:masked_fill(m, w) end, { mask, value }, { randn { 4, 2 } })
    compare(function(v, m, w) return v:clone():masked_fill_(m, w) end, { x, mask, value })
    compare(function(v, w) return v:index_fill(1, long(2, 4), w) end, { x, value })
    compare(function(v, w) return v:clone():index_fill_(2, long(1), w) end, { x, value })
    compare(function(v, w) return v:clone():fill_(w) end, { x, value })
    assert.error_matches(function() vmap(function(v, m, w) return v:masked_fill(m, w) end)(mask:long(), mask, value) end, 'value cannot be converted')
  end)

  it('products takes vectors and batches of each sample', function()
    local m = randn { 3, 4, 5 }
    compare(function(s, a, b) return torch.addr(s, a, b, { beta = 0.5, alpha = 2 }) end, { m, randn { 3, 4 }, randn { 3, 5 } })
    compare(function(a, s, b) return torch.addr(s, a, b) end, { randn { 3, 4 } }, { m[1], randn { 5 } })
    compare(function(s, a, b) return torch.addbmm(s, a, b, { alpha = 2 }) end, { m, randn { 3, 2, 4, 6 }, randn { 3, 2, 6, 5 } })
    compare(function(s, a, b) return torch.addmm(s * 0 / 0, a, b, { beta = 0 }) end, { m, randn { 3, 4, 6 }, randn { 3, 6, 5 } })
    compare(function(s, a, b) return s:clone():addmm_(a, b) end, { m, randn { 3, 4, 6 }, randn { 3, 6, 5 } })
  end)

  it('searchsorted and bucketize takes rows of each sample', function()
    local rows, values = randn { 3, 6 }:sort(2), randn { 3, 2, 4 }
    local function float(f) return function(...) return f(...):double() end end
    compare(float(torch.searchsorted), { rows, values })
    compare(float(function(v, r) return torch.searchsorted(r, v, { right = true }) end), { values }, { rows[1] })
    compare(float(function(r, v) return torch.searchsorted(r, v) end), { rows }, { values[1] })
    compare(float(torch.searchsorted), { randn { 3, 2, 6 }:sort(3), values })
    compare(float(torch.bucketize), { values, rows })
    compare(float(torch.bucketize), { values }, { rows[1] })
  end)

  it('derivatives takes gradients of each sample', function()
    -- jacrev is vmap over a vjp; beside it finite rows of grad.
    local function jacobian(f, x)
      local rows, n = {}, f(x):numel()
      for i = 1, n do rows[i] = func.grad(function(v) return f(v):flatten()[i] end)(x) end
      assert.is_true(torch.allclose(torch.stack(rows), func.jacrev(function(v) return f(v):flatten() end)(x), { rtol = 1e-9, atol = 1e-12 }))
    end
    local image, weight, target = randn { 2, 2, 4, 4 }, randn { 4, 1, 3, 3 }, long(2, 1)
    jacobian(function(v) return F.conv2d(v, weight, nil, 1, 1, 1, 2) end, image)
    jacobian(function(w) return F.conv2d(image, w, nil, { 2, 1 }, 1, 1, 2) end, weight)
    jacobian(function(w) return F.conv_transpose2d(image, w, nil, 2, 1, 1, 2) end, randn { 2, 1, 3, 3 })
    jacobian(function(v) return F.conv_transpose2d(v, weight:transpose(1, 2):reshape(2, 2, 3, 3)) end, image)
    for _, v in ipairs { image, image[1] } do
      jacobian(function(t) return F.max_pool2d(t, 2) end, v)
      jacobian(function(t) return F.avg_pool2d(t, 3, 2, 1) end, v)
      jacobian(function(t) return F.adaptive_avg_pool2d(t, 3) end, v)
      jacobian(function(t) return F.adaptive_max_pool2d(t, 3) end, v)
    end
    jacobian(function(t) return F.cross_entropy(t, target) end, randn { 2, 3 })
    jacobian(function(t) return F.nll_loss(t, target, nil, { reduction = 'none' }) end, randn { 2, 3 })
    jacobian(func.grad(function(t) return F.cross_entropy(t, target) end), randn { 2, 3 })
    jacobian(func.grad(function(w) return F.conv2d(image, w):pow(3):sum() end), randn { 1, 2, 3, 3 })
  end)

  it('in place is that of the op that gives a new tensor', function()
    local x = randn { 3, 4, 4 }
    compare(function(v) return v:clone():tril_() end, { x })
    compare(function(v, w) return v:clone():index_add_(1, long(2, 4), w) end, { x, randn { 3, 2, 4 } })
    assert.error_matches(function() vmap(function(v, w) return v:addmm_(w, w) end)(x:long(), x) end, "result type Double can't be cast to the desired output type Long")
  end)

  it('matrix_exp scales by the largest of all samples', function()
    local x = randn { 3, 4, 4 } * torch.tensor({ 0.1, 1, 20 }, { dtype = torch.float64, device = device }):reshape(3, 1, 1)
    local found = vmap(torch.matrix_exp)(x * 0.2)
    for i = 1, 3 do assert.is_true(torch.allclose(torch.matrix_exp(x[i] * 0.2), found[i], { rtol = 1e-9 })) end
    compare(func.grad(function(m) return torch.matrix_exp(m):sum() end), { randn { 3, 2, 2 } })
  end)

  it('factors takes matrices of each sample', function()
    local a, b = randn { 3, 4, 4 } + 4 * torch.eye(4, { dtype = torch.float64, device = device }), randn { 3, 4, 2 }
    local linalg = torch.linalg
    compare(linalg.solve, { a, b })
    compare(linalg.solve, { a }, { b[1] })
    compare(function(m, n) return linalg.solve(n, m) end, { b }, { a[1] })
    compare(function(m, n) return linalg.solve_triangular(m, n, { upper = true }) end, { a, b })
    compare(function(m) return (select(2, linalg.lu(m))) end, { a })
    compare(function(m) return linalg.lu(m) end, { a })
    compare(torch.trace, { a })
    compare(function(m) return torch.linalg.eigvals(m):abs():sum() end, { a })
  end)

  it('windows takes images of each sample', function()
    local images = randn { 3, 2, 2, 4, 4 }
    compare(function(v) return F.unfold(v, 2) end, { images })
    compare(function(v) return F.fold(F.unfold(v, 2), { 4, 4 }, 2) end, { images })
    compare(function(v) return F.unfold(v[1], 2) end, { images })
  end)
end)

describe('random ops', function()
  it('are not refused where they draw nothing', function()
    local x = torch.ones(2, 3, { device = device })
    assert.is_true(torch.equal(x, vmap(function(v) return nn.functional.dropout(v, 0.5, false) end)(x)))
    assert.is_true(torch.equal(x, vmap(function(v) return nn.functional.dropout(v, 0.0, true) end)(x)))
    local y = torch.ones(2, 1, 3, 4, { device = device })
    assert.is_true(torch.allclose(y, vmap(function(v) return nn.functional.scaled_dot_product_attention(v, v, v) end)(y)))
  end)

  it('images of other sizes, and their derivatives, go as one batch', function()
    local x = torch.arange(2 * 3 * 4 * 5, { dtype = torch.float32, device = device }):view(2, 1, 3, 4, 5):sin()
    for _, mode in ipairs { 'bilinear', 'bicubic' } do
      local function larger(v) return nn.functional.interpolate(v, { size = { 7, 6 }, mode = mode }) end
      local function slope(v) return torch.func.grad(function(u) return larger(u):square():sum() end)(v) end
      for _, f in ipairs { larger, slope } do assert.is_true(torch.allclose(torch.stack { f(x[1]), f(x[2]) }, vmap(f)(x))) end
    end
  end)
end)

-- An intermediate under vmap(grad(f)) belongs to the graph of all samples together.
describe('autograd of a batched tensor', function()
  local x = tensor { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 } }
  local function batched(use)
    return pcall(vmap(func.grad(function(v)
      local y = v * 2
      use(y, v)
      return y:sum()
    end)), x)
  end

  local refused = {
    ['register_hook'] = function(y) y:register_hook(print) end,
    ['register_hook of the argument'] = function(_, v) v:register_hook(print) end,
    ['register_post_accumulate_grad_hook of the argument'] = function(_, v) v:register_post_accumulate_grad_hook(print) end,
    ['retain_grad'] = function(y) y:retain_grad() end,
    ['backward'] = function(y) y:sum():backward() end,
    ['torch.autograd.backward'] = function(y) torch.autograd.backward(y:sum()) end,
    ['torch.autograd.grad'] = function(y, v) torch.autograd.grad(y:sum(), v) end,
    ['requires_grad_'] = function(y) y:detach():requires_grad_() end,
  }
  for name, use in pairs(refused) do
    it('is refused in words: ' .. name, function()
      local ok, message = batched(use)
      assert.is_false(ok)
      assert.truthy(tostring(message):find('vmap', 1, true), message)
    end)
  end

  it('has the properties of any other tensor', function()
    local seen
    local ok, slopes = batched(function(y, v) seen = { y.is_leaf, y.requires_grad, y.grad == nil, tostring(y.grad_fn):match '%a+Backward', v.grad == nil } end)
    assert(ok, slopes)
    assert.same({ false, true, true, 'MulBackward', true }, seen)
    assert.same({ { 2.0, 2.0, 2.0 }, { 2.0, 2.0, 2.0 } }, slopes:tolist())
  end)
end)

describe('vmap of norms and turns', function()
  local x = torch.arange(24, { dtype = torch.float64, device = device }):sin():reshape(2, 3, 4)
  local linalg = torch.linalg
  local functions = {
    ['norm'] = function(v) return linalg.norm(v) end, ['norm of a row'] = function(v) return linalg.norm(v[1]) end,
    ['norm, 2'] = function(v) return linalg.norm(v, 2) end, ['norm, fro'] = function(v) return linalg.norm(v, 'fro') end,
    ['norm along a dim'] = function(v) return linalg.norm(v, { dim = 1 }) end,
    ['norm of planes'] = function(v) return linalg.norm(v, math.huge, { dim = { 1, 2 } }) end, ['vector_norm'] = function(v) return linalg.vector_norm(v, 3) end,
  }
  for _, p in ipairs { 'fro', 'nuc', 1, -1, 2, -2, math.huge, -math.huge } do
    functions['matrix_norm ' .. p] = function(v) return linalg.matrix_norm(v, p) end
    functions['matrix_norm of turned dims ' .. p] = function(v) return linalg.matrix_norm(v, p, { dim = { 2, 1 }, keepdim = true }) end
  end
  for k = -1, 4 do
    functions['rot90 ' .. k] = function(v) return torch.rot90(v, k) end
    functions['rot90 the other way ' .. k] = function(v) return torch.rot90(v, k, { 2, 1 }) end
  end
  for name, f in pairs(functions) do
    it(name .. ' is that of the samples', function()
      local wanted = torch.stack { f(x[1]), f(x[2]) }
      assert.is_true(torch.allclose(wanted, torch.func.vmap(f)(x)), name)
    end)
  end
end)

-- Declared ops that have no rule and are not made of others. Who adds an op says how it treats a batch, or here that it does not.
describe('ops that go sample by sample', function()
  local root = (debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. '../../'
  local path = package.path
  package.path = root .. 'scripts/gen/?.lua;' .. path
  local declarations, batches = require 'declarations', require 'batches'
  package.path = path

  -- Numbers of a sample, sizes that its values decide, sparse forms, and what a step of an optimizer does in place.
  local meant = { optim = true, sparse = true }
  local listed = {}
  for name in ([[equal allclose is_nonzero is_conj is_neg put masked_select masked_scatter nonzero argwhere
    _layer_norm _rms_norm bincount histc normal_tensors multinomial _sample_dirichlet _no_derivative _without_derivative _int8_convolution
    linear_blocks _linear_blocks_backward _recurrent_backward _recurrent_network_backward repeat_interleave_repeats fill_diagonal_ resize_ resize_as_]]):gmatch '%S+' do listed[name] = true end

  it('a reduction over an empty list of dims reduces only the dims of a sample', function()
    local x = torch.arange(24):double():reshape(2, 3, 4) + 1
    local calls = {
      norm = function(t) return torch.norm(t, 2, {}) end, fro = function(t) return torch.norm(t, 'fro', {}) end,
      vector_norm = function(t) return torch.linalg.vector_norm(t, math.huge, {}) end,
      gradient = function(t) return torch.func.grad(function(u) return u:amax({}) end)(t) end,
      any = function(t) return t:gt(8):any { dim = {} } end, all = function(t) return t:gt(8):all { dim = {}, keepdim = true } end,
      squeeze = function(t) return t:unsqueeze(1):squeeze { dim = {} } end, flip = function(t) return torch.flip(t, {}) end,
    }
    for _, name in ipairs { 'sum', 'mean', 'nansum', 'nanmean', 'count_nonzero', 'amax', 'amin', 'var', 'std', 'logsumexp' } do
      calls[name] = function(t) return t[name](t, { dim = {} }) end
      calls[name .. ' keepdim'] = name ~= 'count_nonzero' and function(t) return t[name](t, { dim = {}, keepdim = true }) end or nil
    end
    for name, f in pairs(calls) do
      local expected = torch.stack { f(x[1]), f(x[2]) }
      local got = torch.func.vmap(f)(x)
      assert(got.shape == expected.shape and got:eq(expected):all():item(), name)
    end
  end)

  it('are listed', function()
    local found = {}
    for _, op in ipairs(declarations.load(root .. 'src/ops').ops) do
      local rule, takes = batches.rule_of(op), false
      for _, a in ipairs(op.args) do takes = takes or a.type:match 'Tensor' ~= nil end
      if takes and not op.composite and not meant[op.group] and (rule == nil or rule == 'loop') then
        found[op.cname] = true
        assert(listed[op.cname], op.cname .. ' has no rule for torch.func.vmap')
      end
    end
    for name in pairs(listed) do assert(found[name], name .. ' has a rule by now') end
  end)
end)
