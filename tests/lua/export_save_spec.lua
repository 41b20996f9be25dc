-- torch.export.export and torch.export.save: modules as programs, and programs as files. tests/models/saved.py compares them with PyTorch.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local programs = dofile(here .. 'support/exported_program.lua')
local resolve = require 'torch.export.resolve'
local schemas = require 'torch.export.write.schemas'

local nn, F = torch.nn, torch.nn.functional
local folder
setup(function() folder = process.run 'mktemp -d':gsub('\n$', '') end)
teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

-- A module of a function of its inputs.
local function module_of(forward)
  local Class = nn.Module:extend 'Class'
  function Class:forward(...) return forward(...) end
  return Class()
end

local function export(forward, ...) return torch.export.export(module_of(forward), { ... }) end

local function reloaded(program)
  torch.export.save(program, folder .. '/program.pt2')
  return torch.export.load(folder .. '/program.pt2')
end

-- The targets of a program's nodes.
local function targets_of(program)
  local targets = {}
  for target in program:print_readable(false):gmatch 'torch%.ops%.aten%.([%w_.]+)%(' do targets[#targets + 1] = target end
  return targets
end

local function assert_close(a, b) assert.is_true(torch.allclose(a, b, { atol = 1e-6 })) end

-- The program and its file compute what the function computes.
local function assert_same(forward, ...)
  local program = export(forward, ...)
  local again = reloaded(program)
  local wanted, got, read = table.pack(forward(...)), table.pack(program(...)), table.pack(again(...))
  assert.are.equal(wanted.n, got.n)
  for i = 1, wanted.n do
    assert.are.equal(tostring(wanted[i].dtype), tostring(got[i].dtype))
    assert_close(wanted[i], got[i])
    assert_close(wanted[i], read[i])
  end
  return program
end

describe('torch.export.export #cpu', function()
  it('every overload of its table is an operator that torch.export.load reads', function()
    local kinds = { Tensor = 'tensor', Scalar = 'integer', int = 'integer', float = 'float', bool = 'bool', str = 'string', ScalarType = 'dtype', Device = 'none' }
    local missing, count = {}, 0
    for _, name in ipairs(schemas.names()) do
      for _, overload in ipairs(schemas.overloads(name)) do
        local arguments = {}
        for _, parameter in ipairs(overload) do
          local kind = assert(kinds[parameter.kind], parameter.kind)
          if not parameter.has_default then
            arguments[#arguments + 1] = { name = parameter.name, kind = parameter.is_list and (kind == 'tensor' and 'tensors' or 'list') or kind }
          end
        end
        count = count + 1
        if not resolve.call(name, arguments, { true }) then missing[#missing + 1] = name .. '.' .. overload.overload end
      end
    end
    assert.is_true(count > 700)
    assert.same({}, missing)
  end)

  it('the program has the parameters of the module and the results of its calls', function()
    local net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    local x = torch.rand(5, 3)
    local program = torch.export.export(net, x)
    assert.are.equal('ExportedProgram', torch.type(program))
    assert.are.equal(program, program:module())
    assert_close(net(x), program(x))
    assert.are.equal(net[1].weight, program:parameters()[1])
    assert.same({ '0.weight', '0.bias', '2.weight', '2.bias' }, program.graph_signature.parameters)
    assert.same({ 'x' }, program.graph_signature.user_inputs)
    assert.same({ 'linear.default', 'relu.default', 'linear.default' }, targets_of(program))
  end)

  it('print_readable shows arguments, nodes and results', function()
    local program = export(function(x, y) return x + 2 * y, torch.cat { x, y } end, torch.rand(2, 3), torch.rand(2, 3))
    assert.are.equal([[
forward(args_0: f32[2, 3], args_1: f32[2, 3])
    mul: f32[2, 3] = torch.ops.aten.mul.Tensor(2, args_1)
    add: f32[2, 3] = torch.ops.aten.add.Tensor(args_0, mul)
    cat: f32[4, 3] = torch.ops.aten.cat.default([args_0, args_1])
    return add, cat]], program:print_readable(false))
  end)

  it('arguments behind an absent one are named, required ones are nil', function()
    local program = export(function(x) return x:std(1, { correction = 0 }), F.batch_norm(x, nil, nil, nil, nil, true), x:t() end, torch.rand(2, 3))
    assert.are.equal([[
forward(x: f32[2, 3])
    std: f32[3] = torch.ops.aten.std.correction(x, [0], correction = 0)
    batch_norm: f32[2, 3] = torch.ops.aten.batch_norm.default(x, nil, nil, nil, nil, true, 0.1, 1e-05, false)
    t: f32[3, 2] = torch.ops.aten.t.default(x)
    return std, batch_norm, t]], program:print_readable(false))
    assert.are.equal('[{"as_int": 1}, {"as_int": 3}]', program._text:match '"t": {.-"strides": (%b[])')
  end)

  it('inputs have the names of forward, parts of nested ones their keys', function()
    local Class = nn.Module:extend 'Class'
    function Class:forward(x, parts, options) return x + parts.list[1] * parts.list[2] - options.scale + 0 * options.a + 0 * options.z end
    local program = torch.export.export(Class(), { torch.rand(2), { list = { torch.rand(2), torch.rand(2) } } }, { scale = torch.rand(2), z = torch.rand(2), a = torch.rand(2) })
    assert.same({ 'x', 'parts_list_0', 'parts_list_1', 'a', 'scale', 'z' }, program.graph_signature.user_inputs)
    local a, b, c, d = torch.rand(2), torch.rand(2), torch.rand(2), torch.rand(2)
    assert_close(a + b * c - d, program(a, b, c, a, d, a))
    assert_close(a + b * c - d, program(a, { list = { b, c } }, { scale = d, a = a, z = a }))
    assert_close(a + b * c - d, reloaded(program) { x = a, parts_list_0 = b, parts_list_1 = c, scale = d, a = a, z = a })
  end)

  it('numbers, strings and nil among inputs and results are constants', function()
    local program = torch.export.export(module_of(function(x, n, word) return x * n, n, word, { x + 1 } end), table.pack(torch.ones(2), 3, nil))
    local y, n, word, list = reloaded(program)(torch.ones(2), 3, nil)
    assert.same({ 3, 3 }, y:tolist())
    assert.are.equal(3, n)
    assert.is_nil(word)
    assert.same({ 2, 2 }, list[1]:tolist())
  end)

  it('the call changes neither parameters, buffers, inputs nor random numbers', function()
    local net = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    local x = torch.rand(4, 3)
    torch.manual_seed(3)
    local state = torch.get_rng_state()
    torch.export.export(net, x)
    assert.is_true(torch.equal(state, torch.get_rng_state()))
    assert.are.equal(0, net[1].num_batches_tracked:item())
    assert.same({ 0, 0, 0 }, net[1].running_mean:tolist())
    local y = torch.ones(2)
    export(function(v) return v:add_(1) end, y)
    assert.same({ 1, 1 }, y:tolist())
  end)

  it('batch norm in training changes the buffers of the program', function()
    local net = nn.BatchNorm1d(3)
    local program = reloaded(torch.export.export(net, torch.rand(4, 3)))
    local x = torch.rand(4, 3)
    assert_close(net(x), program(x))
    assert_close(net.running_var, program.running_var)
    assert.are.equal(1, program.num_batches_tracked:item())
  end)

  it('a norm that is called for its statistics alone is kept', function()
    local Class = nn.Module:extend 'Class'
    function Class:init() self.norm = nn.BatchNorm1d(3) end
    function Class:forward(x)
      self.norm(x)
      return x * 2
    end
    local program = torch.export.export(Class(), torch.rand(4, 3))
    program(torch.ones(4, 3))
    assert_close(torch.full({ 3 }, 0.1), program.norm.running_mean)
  end)

  it('dropout draws in training and does nothing in evaluation', function()
    local net, x = nn.Dropout(0.5), torch.ones(1000)
    assert.is_true(torch.export.export(net, x)(x):eq(0):sum():item() > 300)
    assert.is_true(torch.equal(x, torch.export.export(net:eval(), x)(x)))
  end)

  it('x[...] and assignments to it are kept', function()
    assert_same(function(x)
      x = x:clone()
      x[1] = 5
      x[{ { 2, 3 }, 2 }] = x[{ { 1, 2 }, 3 }]
      x['..., -1'] = x['1, :-2:2'][1] * 2
      x[x:gt(0.9)] = 0
      return x, x[{ -1, { 1, -1, 2 } }], x[{ { 1, -2 } }], x[torch.newaxis], x[{ torch.tensor { 3, 1 }, {}, }], x[{ {}, torch.tensor { 2, -1 } }], x[x:gt(0.5)], x['2:, None'], x.T
    end, torch.rand(3, 3))
  end)

  it('positions are converted between 1 and 0', function()
    assert_same(function(x, at)
      local values, places = x:max(2)
      return x:gather(2, places:unsqueeze(2)), places, x:index_select(1, at), F.embedding(at, x), x:topk(2, 1), F.one_hot(at, 4), x:argmax(), values, x:take_along_dim(places:unsqueeze(2), 2),
        x:index_select(1, at:int()), x:index_put({ at }, x[1]), x:index_put({ x[1]:gt(0.5) }, torch.tensor(7.0)), x:index_put({ x:gt(0) }, x:reshape(9), true), torch.unique(at, { return_counts = true })
    end, torch.rand(3, 3), torch.tensor { 3, 1 })
  end)

  it('classes that a loss ignores stay negative', function()
    assert_same(function(x, classes) return F.cross_entropy(x, classes), F.nll_loss(x, classes, { reduction = 'sum' }), F.cross_entropy(x, x:softmax(2)) end,
      torch.randn(3, 4), torch.tensor { 2, -100, 4 })
  end)

  it('functions that ATen does not have are composed', function()
    assert_same(function(x)
      return F.softsign(x), F.tanhshrink(x), F.softmin(x, 2), F.normalize(x), F.normalize(x, { p = 1, dim = 1 }), F.local_response_norm(x, 3), F.kl_div(x, x:exp(), { reduction = 'batchmean' }),
        torch.unique(x:round()), torch.tensor_split(x, { 2 }, 2)[2], x:norm('fro', 2), x:double(), x:half():float(), torch.zeros(2, 4):type_as(x)
    end, torch.randn(2, 4, 3))
  end)

  it('losses and pooling that ATen does not have are composed', function()
    assert_same(function(x, y)
      local labels = y:gt(0.5):float()
      return F.gaussian_nll_loss(x, y, y:square()), F.gaussian_nll_loss(x, y, y, { full = true, reduction = 'none' }), F.multilabel_soft_margin_loss(x, labels),
        F.multilabel_soft_margin_loss(x, labels, { reduction = 'none', weight = y[1] }), F.lp_pool1d(y, 2, 2), F.lp_pool2d(y:unsqueeze(1), 3, 2, { stride = 1 })
    end, torch.randn(4, 6), torch.rand(4, 6))
  end)

  it('numbers on the left of an operator stay there', function()
    assert_same(function(x) return 1 / x, 2 - x, 2 ^ x, 7 % x, torch.where(x:gt(1), x, 0), torch.where(x:gt(1), 1.0, x), torch.complex(1, 2) * x, x + true end, torch.rand(3) + 0.5)
  end)

  it('without gradients in forward, the program has none there', function()
    local w = nn.Linear(2, 2)
    local Class = nn.Module:extend 'Class'
    function Class:init() self.w = w end
    function Class:forward(x) return (self.w(x) * torch.no_grad(function() return self.w(x):exp() end)):sum() end
    local net, x = Class(), torch.rand(3, 2)
    local program = reloaded(torch.export.export(net, x))
    net(x):backward()
    program(x):backward()
    assert_close(w.weight.grad, program.w.weight.grad)
  end)

  it('a constant to which the call writes is the same in each run', function()
    local program = assert_same(function(x)
      local sum = torch.tensor { 1.0, 2.0 }
      sum[1] = 5
      return sum:add_(x)
    end, torch.rand(2))
    assert.same({ 5, 2 }, program(torch.zeros(2)):tolist())
    assert.same({ 5, 2 }, program(torch.zeros(2)):tolist())
  end)

  it('recurrent layers are the ones of ATen', function()
    local net, x = nn.LSTM(3, 4, { num_layers = 2, bidirectional = true, batch_first = true }), torch.rand(2, 5, 3)
    local program = torch.export.export(net, x)
    local count = 0
    for _, target in ipairs(targets_of(program)) do
      assert.are_not.equal('linear.default', target)
      if target == 'lstm.input' then count = count + 1 end
    end
    assert.are.equal(4, count)
    local y, state = net(x)
    local z, read = reloaded(program)(x)
    assert_close(y, z)
    assert_close(state[1], read[1])
    assert_close(state[2], read[2])
  end)

  describe('dynamic sizes', function()
    it('a program with them accepts other sizes', function()
      local net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.Flatten(), nn.Unflatten(2, { 4, -1 }))
      local program = reloaded(torch.export.export(net, { torch.rand(4, 2, 6) }, { dynamic_shapes = { x = { [1] = 'batch' } } }))
      local x = torch.rand(7, 2, 6)
      assert_close(net(x), program(x))
      fails_with('is fixed to 6, but got 9', program, torch.rand(7, 2, 9))
    end)

    it('sizes that are computed from them follow', function()
      local function forward(x, y) return x:reshape(x:size(1) * x:size(2)), torch.arange(x:size(2) + 1) + y:size(1) * 3 - 1, x:expand(3, -1, -1), y:new_zeros(y:size(1), x:size(1)) end
      local program = torch.export.export(module_of(forward), { torch.rand(4, 6), torch.rand(8) }, { dynamic_shapes = { args_0 = { 'a', 'b' }, args_1 = { 'c' } } })
      local x, y = torch.rand(5, 10), torch.rand(6)
      for i, wanted in ipairs { forward(x, y) } do
        local got = select(i, reloaded(program)(x, y))
        assert.same(wanted.shape, got.shape)
        assert_close(wanted, got)
      end
      assert.is_true(program:print_readable(false):find('args_0: f32[s0, s1], args_1: f32[s2]', 1, true) ~= nil)
    end)

    it('two sizes of one name are equal', function()
      local program = torch.export.export(module_of(function(x, y) return x + y end), { torch.rand(4), torch.rand(4) }, { dynamic_shapes = { args_0 = { 'n' }, args_1 = { 'n' } } })
      assert.same({ 6 }, program(torch.rand(6), torch.rand(6)).shape)
      fails_with('equals another size of the inputs, 6, but got 1', program, torch.rand(6), torch.rand(1))
    end)

    it('an unknown input or dimension is an error', function()
      local function with(shapes) return torch.export.export(nn.ReLU(), torch.rand(3), { dynamic_shapes = shapes }) end
      fails_with("dynamic_shapes names 'y', which is no input; the inputs are x", with, { y = { 'n' } })
      fails_with("dim 2 of input 'x', which has 1 (they count from 1)", with, { x = { [2] = 'n' } })
    end)
  end)

  describe('refuses', function()
    it('operations that ATen does not have, by name and module', function()
      fails_with("'gumbel_softmax' in the module (Class): ATen has no operator for it", export, function(x) return F.gumbel_softmax(x) end, torch.rand(2, 3))
    end)
    it('numbers that depend on inputs', function()
      fails_with("torch.export.export: the module (Class): 'item' reads numbers that depend on the inputs", export, function(x) return x * x:sum():item() end, torch.rand(2))
    end)
    it('derivatives in Lua', function()
      local Own = torch.autograd.Function:extend 'Own'
      function Own.forward(_, x) return x * 2 end
      function Own.backward(_, grad) return grad * 3 end
      fails_with("'Own' is an autograd.Function; a program cannot have its derivative in Lua", export, function(x) return Own.apply(x) end, torch.rand(2))
    end)
    it('results of functions that are no operations', function()
      fails_with("is no operation of the library, and its result depends on the inputs", export, function(x) return torch.tensor(x) + 1 end, torch.rand(2))
    end)
    it('tables with positions and names', function()
      fails_with('a table with both positions and names', export, function(x) return x[1] + x.y end, { torch.rand(2), y = torch.rand(2) })
    end)
    it('an input that is given twice', function()
      local x = torch.rand(2)
      assert_same(function(a, b) return a + b end, x, x)
    end)
  end)
end)

describe('torch.export.save #cpu', function()
  it('writes a loaded and trained program', function()
    local w = torch.rand(2, 3)
    local path = programs.file(folder .. '/first.pt2', { parameters = { { 'w', w } }, inputs = { 'x' }, outputs = { 'y' },
      nodes = { programs.aten('linear.default', { 'input', programs.tensor 'x', 'weight', programs.tensor 'p_w' }, { programs.tensor 'y' }) } })
    local program = torch.export.load(path)
    local optimizer, x = torch.optim.SGD(program:parameters(), { lr = 0.1 }), torch.rand(4, 3)
    program(x):sum():backward()
    optimizer:step()
    local again = reloaded(program)
    assert.is_false(torch.equal(w, again.w))
    assert.is_true(torch.equal(program.w, again.w) and again.w.requires_grad)
    assert_close(program(x), again(x))
  end)

  it('keeps two names of one parameter, which is stored once', function()
    local w = torch.rand(2, 2)
    local path = programs.file(folder .. '/tied.pt2', { parameters = { { 'a', w }, { 'b', w, entry = 1 } }, inputs = { 'x' }, outputs = { 'y' }, nodes = {
      programs.aten('linear.default', { 'input', programs.tensor 'x', 'weight', programs.tensor 'p_a' }, { programs.tensor 'z' }),
      programs.aten('linear.default', { 'input', programs.tensor 'z', 'weight', programs.tensor 'p_b' }, { programs.tensor 'y' }) } })
    local again = reloaded(torch.export.load(path))
    assert.are.equal(1, #again:parameters())
    local archive <close> = require('torch.files.zip').open(folder .. '/program.pt2')
    assert.is_nil(archive.by_name['program/data/weights/weight_1'])
    assert.is_not_nil(archive.by_name['program/data/weights/weight_0'])
  end)

  it('keeps frozen parameters and buffers that are not saved', function()
    local net = nn.Module:extend 'Net' ()
    net.a, net.b = nn.Parameter(torch.rand(2)), nn.Parameter(torch.rand(2), { requires_grad = false })
    net:register_buffer('c', torch.rand(2))
    net:register_buffer('d', torch.rand(2), false)
    net.forward = function(self, x) return x * self.a * self.b * self.c * self.d * torch.tensor { 1.0, 2.0 } end
    local again = reloaded(torch.export.export(net, torch.rand(2)))
    assert.is_false(again.b.requires_grad)
    assert.is_true(again.a.requires_grad)
    assert.same({ 'd' }, again.graph_signature.non_persistent_buffers)
    local archive <close> = require('torch.files.zip').open(folder .. '/program.pt2')
    local config = archive:text(archive.by_name['program/data/weights/model_weights_config.json'], 1 << 20)
    assert.are.equal('true', config:match '"a": {"is_param": (%a+)')
    assert.are.equal('false', config:match '"c": {"is_param": (%a+)')
    assert.same({ 'lifted_tensor_0' }, again.graph_signature.lifted_tensor_constants)
    local twice = reloaded(again)
    assert_close(net(torch.ones(2)), twice(torch.ones(2)))
  end)

  it('writes the archive of PyTorch 2.13', function()
    torch.export.save(torch.export.export(nn.Linear(2, 2), torch.rand(1, 2)), folder .. '/model.pt2')
    local archive <close> = require('torch.files.zip').open(folder .. '/model.pt2')
    local names = {}
    for i, entry in ipairs(archive.entries) do names[i] = entry.name end
    table.sort(names)
    assert.same({ 'model/.data/version', 'model/archive_format', 'model/archive_version', 'model/byteorder', 'model/data/constants/model_constants_config.json',
      'model/data/sample_inputs/model.pt', 'model/data/weights/model_weights_config.json', 'model/data/weights/weight_0', 'model/data/weights/weight_1', 'model/models/model.json' }, names)
  end)

  it('writes a model of an ONNX file that C loaded, with its dynamic sizes', function()
    local host, net = require 'torch.model.host', nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    torch.onnx.export(net, { torch.ones(1, 3) }, folder .. '/net.onnx', { input_names = { 'x' }, dynamic_axes = { x = { 'n' } } })
    host.save(host.open(folder .. '/net.onnx'), folder .. '/net.pt2')
    local again, x = host.open(folder .. '/net.pt2'), torch.rand(5, 3)
    assert.same({ -1, 3 }, again.inputs[1].sizes)
    assert_close(net(x), again.model(x))
  end)

  it('refuses other modules', function()
    fails_with('torch.export.save: ep must be a program of torch.export.export or torch.export.load', torch.export.save, nn.ReLU(), folder .. '/x.pt2')
  end)
end)
