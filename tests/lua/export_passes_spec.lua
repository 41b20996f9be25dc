-- The passes over programs of torch.export (onnx/optimize.lua): folded norms, fused activations, values that are overwritten, released or computed
-- once. onnx_spec.lua has the same for ONNX.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local programs = dofile(here .. 'support/exported_program.lua')

local F, nn = torch.nn.functional, torch.nn
local folder
setup(function() folder = process.run 'mktemp -d':gsub('\n$', '') end)
teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

local tensor, int, aten = programs.tensor, programs.int, programs.aten
local no, yes, eps = '{"as_bool": false}', '{"as_bool": true}', '{"as_float": 0.001}'
local function ints(list) return ('{"as_ints": [%s]}'):format(list) end
local function load(program) return torch.export.load(programs.file(folder .. '/program.pt2', program)) end

local function assert_close(expected, got) assert.is_true(torch.allclose(expected, got, { rtol = 1e-4, atol = 1e-5 })) end

-- A convolution, its norm, an activation in place.
local function norm_program(more)
  torch.manual_seed(1)
  local program = { inputs = { 'x' }, outputs = { 'r' }, parameters = { { 'w', torch.randn(4, 3, 3, 3) }, { 'b', torch.randn(4) }, { 's', torch.randn(4) }, { 'h', torch.randn(4) },
    { 'm', torch.randn(4), is_buffer = true }, { 'v', torch.rand(4) + 0.5, is_buffer = true } },
    nodes = { aten('conv2d.default', { 'input', tensor 'x', 'weight', tensor 'p_w', 'bias', tensor 'p_b', 'stride', ints '1, 1', 'padding', ints '1, 1' }, { tensor 'c' }),
      aten('batch_norm.default', { 'input', tensor 'c', 'weight', tensor 'p_s', 'bias', tensor 'p_h', 'running_mean', tensor 'p_m', 'running_var', tensor 'p_v', 'training', no,
        'momentum', '{"as_float": 0.1}', 'eps', eps, 'cudnn_enabled', yes }, { tensor 'n' }),
      aten('relu_.default', { 'self', tensor 'n' }, { tensor 'r' }) } }
  for key, value in pairs(more or {}) do program[key] = value end
  return program
end

-- The same by the library's functions, of the model's parameters.
local function wanted(model, x, bias, scale, shift)
  return F.relu(F.batch_norm(F.conv2d(x, model.w, bias, { padding = 1 }), model.m, model.v, scale, shift, false, 0, 1e-3))
end

local function check(model)
  local x = torch.randn(2, 3, 5, 5)
  local before, y = x:clone(), wanted(model, x, model.b, model.s, model.h):detach()
  assert_close(y, model(x):detach())
  torch.no_grad(function()
    for _ = 1, 2 do assert_close(y, model(x)) end
  end)
  assert.is_true(torch.equal(before, x))
end

describe('a convolution and its norm in an exported program #cpu', function()
  it('are one node, with the results of both', function()
    local model = load(norm_program())
    assert.are.equal(2, #model._graph.nodes)
    check(model)
  end)

  it('follow the parameters and the statistics', function()
    local model = load(norm_program())
    check(model)
    torch.no_grad(function()
      for _, name in ipairs { 'w', 'b', 's', 'h', 'm', 'v' } do
        model[name]:mul_(0.5)
        check(model)
      end
      model.w.data = torch.randn(4, 3, 3, 3)
      check(model)
      model.s = nn.Parameter(torch.randn(4))
      check(model)
    end)
    model:load_state_dict(load(norm_program()):state_dict())
    check(model)
  end)

  it('are trained, in both modes, also after calls without gradients', function()
    local model = load(norm_program())
    local x = torch.randn(2, 3, 5, 5)
    for _, mode in ipairs { 'train', 'eval' } do
      model[mode](model)
      torch.no_grad(function() model(x) end)
      local list = { model.w, model.b, model.s, model.h }
      local got = { torch.autograd.grad(model(x):sum(), list) }
      assert.are.equal(4, #got)
      for i, gradient in ipairs { torch.autograd.grad(wanted(model, x, model.b, model.s, model.h):sum(), list) } do assert_close(gradient, got[i]) end
      local optimizer = torch.optim.SGD(model:parameters(), { lr = 0.1 })
      model(x):sum():backward()
      optimizer:step()
      check(model)
    end
  end)

  it('may have no bias, no scale and no shift', function()
    local program = norm_program()
    program.nodes[1] = aten('conv2d.default', { 'input', tensor 'x', 'weight', tensor 'p_w', 'bias', '{"as_none": true}', 'stride', ints '1, 1', 'padding', ints '1, 1' }, { tensor 'c' })
    program.nodes[2] = aten('batch_norm.default', { 'input', tensor 'c', 'weight', '{"as_none": true}', 'bias', '{"as_none": true}', 'running_mean', tensor 'p_m', 'running_var',
      tensor 'p_v', 'training', no, 'momentum', '{"as_float": 0.1}', 'eps', eps, 'cudnn_enabled', yes }, { tensor 'n' })
    local model = load(program)
    assert.are.equal(2, #model._graph.nodes)
    local x = torch.randn(2, 3, 5, 5)
    local y = wanted(model, x):detach()
    assert_close(y, model(x):detach())
    torch.no_grad(function() assert_close(y, model(x)) end)
  end)

  it('are folded in decomposed form, too', function()
    local program = norm_program()
    program.nodes[1] = aten('convolution.default', { 'input', tensor 'x', 'weight', tensor 'p_w', 'bias', tensor 'p_b', 'stride', ints '1, 1', 'padding', ints '1, 1', 'dilation', ints '1, 1',
      'transposed', no, 'output_padding', ints '0, 0', 'groups', int(1) }, { tensor 'c' })
    program.nodes[2] = aten('_native_batch_norm_legit_no_training.default', { 'input', tensor 'c', 'weight', tensor 'p_s', 'bias', tensor 'p_h', 'running_mean', tensor 'p_m', 'running_var',
      tensor 'p_v', 'momentum', '{"as_float": 0.1}', 'eps', eps }, { tensor 'n', tensor 'unused', tensor 'unused_too' })
    local model = load(program)
    assert.are.equal(2, #model._graph.nodes)
    check(model)
  end)

  it('stay two nodes if the norm trains, or another node reads between them', function()
    local program = norm_program()
    program.nodes[2] = program.nodes[2]:gsub('"name": "training", "arg": {"as_bool": false}', '"name": "training", "arg": {"as_bool": true}')
    local model = load(program)
    assert.are.equal(3, #model._graph.nodes)
    local mean = model.m:clone()
    torch.no_grad(function() model(torch.randn(2, 3, 5, 5)) end)
    assert.is_false(torch.equal(mean, model.m))
    assert.are.equal(3, #load(norm_program { outputs = { 'r', 'c' } })._graph.nodes)
  end)

  it('stay two nodes if a folded weight would take more memory than the norm is worth', function()
    local program = norm_program()
    program.parameters[1][2] = torch.randn(4, 256, 3, 3)
    local model = load(program)
    assert.are.equal(3, #model._graph.nodes)
    local x = torch.randn(1, 256, 3, 3)
    torch.no_grad(function() assert_close(wanted(model, x, model.b, model.s, model.h), (model(x))) end)
  end)

  it('stay two nodes if a statistic is written between them', function()
    local program = norm_program()
    table.insert(program.nodes, 2, aten('mul_.Scalar', { 'self', tensor 'p_m', 'other', int(2) }, { tensor 'doubled' }))
    local model = load(program)
    local x = torch.randn(2, 3, 5, 5)
    torch.no_grad(function()
      for _ = 1, 2 do
        local y = model(x)
        assert_close(wanted(model, x, model.b, model.s, model.h), y)
      end
    end)
  end)
end)

describe('values of an exported program #cpu', function()
  it('are overwritten by an activation only without other uses', function()
    local nodes = { aten('add.Tensor', { 'self', tensor 'x', 'other', tensor 'x' }, { tensor 'a' }), aten('view.default', { 'self', tensor 'a', 'size', ints '6' }, { tensor 'v' }),
      aten('relu.default', { 'self', tensor 'a' }, { tensor 'r' }), aten('tanh.default', { 'self', tensor 'r' }, { tensor 't' }), aten('sigmoid.default', { 'self', tensor 't' }, { tensor 's' }) }
    local model = load { inputs = { 'x' }, outputs = { 'v', 's' }, nodes = nodes }
    local x = torch.randn(2, 3)
    local before = x:clone()
    for _, grad in ipairs { false, true } do
      torch.set_grad_enabled(grad)
      local v, s = model(x)
      assert_close((x * 2):view(6), v)
      assert_close(torch.sigmoid(torch.tanh(torch.relu(x * 2))), s)
      assert.is_true(torch.equal(before, x))
    end
    torch.set_grad_enabled(true)
    assert.is_nil(model._graph.nodes[3].is_in_place)
    assert.is_true(model._graph.nodes[4].is_in_place)
    assert.is_true(model._graph.nodes[5].is_in_place)
  end)

  it('multiplied by their sigmoid are one node, of integers too', function()
    for _, order in ipairs { { 'x', 's' }, { 's', 'x' } } do
      local model = load { inputs = { 'x' }, outputs = { 'y' }, nodes = { aten('sigmoid.default', { 'self', tensor 'x' }, { tensor 's' }),
        aten('mul.Tensor', { 'self', tensor(order[1]), 'other', tensor(order[2]) }, { tensor 'y' }) } }
      assert.are.equal(1, #model._graph.nodes)
      for _, x in ipairs { torch.randn(2, 3), torch.tensor { -3, 0, 2 } } do assert_close(x * torch.sigmoid(x), (model(x))) end
      local x = torch.randn(3, { requires_grad = true })
      local gradient = torch.autograd.grad(model(x):sum(), x)
      assert_close(torch.autograd.grad((x * torch.sigmoid(x)):sum(), x), gradient)
    end
  end)

  it('multiplied by their sigmoid stay two nodes if they are written in between', function()
    local model = load { inputs = { 'z' }, outputs = { 'y' }, nodes = { aten('clone.default', { 'self', tensor 'z' }, { tensor 'x' }),
      aten('sigmoid.default', { 'self', tensor 'x' }, { tensor 's' }), aten('add_.Scalar', { 'self', tensor 'x', 'other', int(1) }, { tensor 'u' }),
      aten('mul.Tensor', { 'self', tensor 'x', 'other', tensor 's' }, { tensor 'y' }) } }
    local z = torch.randn(3)
    assert_close((z + 1) * torch.sigmoid(z), (torch.no_grad(model, z)))
  end)

  it('of parameters alone are computed once, and belong to the caller if they are results', function()
    local model = load { parameters = { { 'w', torch.ones(3) } }, inputs = { 'x' }, outputs = { 'y', 'view' }, nodes = {
      aten('mul.Tensor', { 'self', tensor 'p_w', 'other', tensor 'p_w' }, { tensor 'd' }), aten('mul.Tensor', { 'self', tensor 'x', 'other', tensor 'd' }, { tensor 'y' }),
      aten('neg.default', { 'self', tensor 'p_w' }, { tensor 'e' }), aten('view.default', { 'self', tensor 'e', 'size', ints '3, 1' }, { tensor 'view' }) } }
    local x = torch.tensor { 1.0, 2, 3 }
    torch.no_grad(function()
      for round = 1, 3 do
        local y, view = model(x)
        assert.same({ round ^ 2, 2 * round ^ 2, 3 * round ^ 2 }, y:tolist())
        assert.same({ { -round }, { -round }, { -round } }, view:tolist())
        view:fill_(7)
        local _, other = model(x)
        assert.same({ { -round }, { -round }, { -round } }, other:tolist())
        model.w:add_(1)
      end
    end)
    assert.truthy(model._graph.nodes[1].derived)
    assert.is_nil(model._graph.nodes[3].derived)
  end)

  it('that no result needs are not computed, except the ones of nodes with an effect', function()
    local model = load { parameters = { { 'w', torch.zeros(3), is_buffer = true } }, inputs = { 'x' }, outputs = { 'y' }, nodes = {
      aten('exp.default', { 'self', tensor 'x' }, { tensor 'a' }), aten('neg.default', { 'self', tensor 'a' }, { tensor 'b' }), aten('neg.default', { 'self', tensor 'x' }, { tensor 'y' }),
      aten('add_.Scalar', { 'self', tensor 'p_w', 'other', int(1) }, { tensor 'c' }) } }
    assert.are.equal(2, #model._graph.nodes)
    model(torch.ones(3))
    assert.same({ 1, 1, 1 }, model.w:tolist())
  end)

  it('are released at their last use', function()
    local nodes, previous = {}, 'x'
    for i = 1, 8 do
      local size = ('{"as_sym_int": {"as_name": "n%d"}}'):format(i)
      table.insert(nodes, aten('sym_size.int', { 'self', tensor(previous), 'dim', int(0) }, { size }))
      table.insert(nodes, programs.node('_operator.mul', { 'a', size, 'b', int(1) }, { ('{"as_sym_int": {"as_name": "m%d"}}'):format(i) }))
      table.insert(nodes, aten('cos.default', { 'self', tensor(previous) }, { tensor('c' .. i) }))
      table.insert(nodes, aten('view.default', { 'self', tensor('c' .. i), 'size', ('{"as_sym_ints": [{"as_name": "m%d"}]}'):format(i) }, { tensor('y' .. i) }))
      previous = 'y' .. i
    end
    local model = load { inputs = { 'x' }, outputs = { previous }, nodes = nodes }
    local x = torch.randn(1 << 16)
    torch.no_grad(function()
      local bytes = x:numel() * 4
      model(x)
      collectgarbage()
      torch._C.memory_peak()
      local before = torch._C.memory_live()
      local y = model(x)
      assert.is_true(torch._C.memory_peak() - before <= 2.1 * bytes)
      for _ = 1, 8 do x = torch.cos(x) end
      assert.is_true(torch.equal(x, y))
    end)
  end)

  it('that are written in place live as long as their other uses', function()
    local model = load { inputs = { 'x' }, outputs = { 'z' }, nodes = { aten('cos.default', { 'self', tensor 'x' }, { tensor 'a' }), aten('relu_.default', { 'self', tensor 'a' }, { tensor 'b' }),
      aten('neg.default', { 'self', tensor 'b' }, { tensor 'c' }), aten('sub.Tensor', { 'self', tensor 'c', 'other', tensor 'a' }, { tensor 'z' }) } }
    local x = torch.randn(100)
    torch.no_grad(function() assert_close(torch.relu(torch.cos(x)) * -2, (model(x))) end)
  end)
end)
