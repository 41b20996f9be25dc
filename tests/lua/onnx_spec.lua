-- torch.onnx.load: models that the spec writes itself (support/onnx.lua), run, looked at, trained, damaged. All operators
-- beside the onnx package's own tests: tests/onnx.

local torch = require 'torch'
local nn = require 'torch.nn'
local fails_with = require 'support.fails_with'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local onnx = dofile(here .. 'support/onnx.lua')
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local FLOAT, INT64, BOOL = 1, 7, 9
local folder, count = nil, 0
setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
teardown(function() process.run('rm -rf ' .. folder) end)

local function write(content)
  count = count + 1
  local path = ('%s/%d.onnx'):format(folder, count)
  local file = assert(io.open(path, 'wb'))
  file:write(content)
  file:close()
  return path
end

local function load(model) return torch.onnx.load(write(type(model) == 'table' and onnx.model(model) or model)):to(device) end
local function tensor(values, dtype) return torch.tensor(values, { dtype = dtype or torch.float32, device = device }) end

local function assert_equal(wanted, got, tolerance)
  assert.are.equal(wanted.dtype, got.dtype)
  assert.are.equal(tostring(wanted.shape), tostring(got.shape))
  assert.is_true(torch.allclose(got:detach():cpu():double(), wanted:detach():cpu():double(), { rtol = tolerance or 1e-5, atol = tolerance or 1e-6 }), tostring(got))
end

-- The result of one node for inputs; what is not a tensor is an initializer's list of integers.
local function compute(op, inputs, attributes, opset, n_outputs, domain)
  local model = { nodes = {}, inputs = {}, outputs = {}, initializers = {}, opset = opset, imports = domain and { [domain] = 1 } }
  local names, given, outputs = {}, {}, {}
  for i = 1, #inputs do
    names[i] = inputs[i] and 'x' .. i or ''
    if torch.is_tensor(inputs[i]) then
      model.inputs[#model.inputs + 1] = { names[i], ({ ['torch.float32'] = FLOAT, ['torch.int64'] = INT64, ['torch.bool'] = BOOL, ['torch.uint8'] = 2, ['torch.uint64'] = 13 })[tostring(inputs[i].dtype)] }
      given[#given + 1] = inputs[i]
    elseif inputs[i] then
      model.initializers[#model.initializers + 1] = { names[i], torch.tensor(inputs[i], { dtype = torch.int64 }) }
    end
  end
  for i = 1, n_outputs or 1 do
    outputs[i] = 'y' .. i
    model.outputs[i] = outputs[i]
  end
  model.nodes[1] = { op, names, outputs, attributes = attributes or {}, domain = domain }
  return load(model)(table.unpack(given))
end

local weight = torch.tensor({ { 1, 2, 3 }, { -1, 0, 1 } }, { dtype = torch.float32 })
local bias = torch.tensor({ 0.5, -0.5 }, { dtype = torch.float32 })

local function linear_model()
  return { inputs = { { 'x', FLOAT, { 'batch', 3 } } }, outputs = { { 'y', FLOAT } },
    initializers = { { 'fc.0.weight', weight }, { 'fc.0.bias', bias } },
    nodes = { { 'Gemm', { 'x', 'fc.0.weight', 'fc.0.bias' }, { 'h' }, transB = 1 }, { 'Relu', { 'h' }, { 'y' } } } }
end

describe('a model that was loaded', function()
  it('is a module, called by position or by name, with any batch', function()
    local net = load(linear_model())
    assert.is_true(nn.Module:is_instance(net))
    for batch = 1, 3 do
      local x = torch.randn(batch, 3, { device = device })
      local wanted = torch.relu(torch.linear(x, weight:to(device), bias:to(device)))
      assert_equal(wanted, net(x))
      assert_equal(wanted, net { x = x })
      assert_equal(wanted, net(require 'torch.support.ordered_dict'.new { { 'x', x } }))
      assert_equal(wanted, net:run({ x = x }).y)
    end
  end)

  it('has its initializers as parameters, under their names', function()
    local net = load(linear_model())
    local names = {}
    for name, parameter in net:named_parameters() do
      names[#names + 1] = name
      assert.is_true(parameter.requires_grad)
    end
    assert.are.same({ 'fc.0.weight', 'fc.0.bias' }, names)
    assert_equal(weight, net:state_dict()['fc.0.weight'])
  end)

  it('has the statistics of a batch norm as buffers', function()
    local net = load { inputs = { { 'x', FLOAT, { 'n', 4 } } }, outputs = { 'y' },
      initializers = { { 's', torch.ones(4) }, { 'h', torch.zeros(4) }, { 'mean', torch.zeros(4) }, { 'var', torch.ones(4) } },
      nodes = { { 'BatchNormalization', { 'x', 's', 'h', 'mean', 'var' }, { 'y' } } } }
    local parameters, buffers = {}, {}
    for name in net:named_parameters() do parameters[#parameters + 1] = name end
    for name, buffer in net:named_buffers() do
      buffers[#buffers + 1] = name
      assert.is_false(buffer.requires_grad)
    end
    assert.same({ 's', 'h' }, parameters)
    assert.same({ 'mean', 'var' }, buffers)
    assert.is_not_nil(net:state_dict().mean)
  end)

  it('a loaded model accepts any size for a negative one in the file', function()
    local model = linear_model()
    model.inputs[1][3] = { -1, 3 }
    local net = load(model)
    assert.are.equal(5, net(torch.randn(5, 3, { device = device })):size(1))
    fails_with("has the shape [5, 4], but the model expects [?, 3]", net, torch.randn(5, 4, { device = device }))
  end)

  it('a loaded model multiplies by 8-bit weights, with inputs rounded to 256 values between their extremes', function()
    torch.manual_seed(3)
    local W, R = torch.randint(-99, 99, { 1, 3, 8 }), torch.randint(-99, 99, { 1, 2, 8 })
    local scale, B = torch.rand(1, 8) / 50, torch.randn(1, 16)
    local x = (torch.tensor({ { { 0.0, 255.0, 51.0 } } }) / 255):to(torch.float32) -- are such values
    local function lstm(op, weights, names, domain)
      local model = { inputs = { { 'x', FLOAT } }, outputs = { 'y' }, initializers = weights, imports = domain and { [domain] = 1 },
        nodes = { { op, names, { 'y' }, domain = domain, hidden_size = 2 } } }
      return load(model)(x:to(device))
    end
    local floats = lstm('LSTM', { { 'w', (W * scale:unsqueeze(2)):transpose(2, 3):contiguous() }, { 'r', (R * scale:unsqueeze(2)):transpose(2, 3):contiguous() }, { 'b', B } }, { 'x', 'w', 'r', 'b' })
    local bytes = lstm('DynamicQuantizeLSTM', { { 'w', W:to(torch.int8) }, { 'r', R:to(torch.int8) }, { 'b', B }, { 's', scale }, { 'z', torch.zeros(1, 8, { dtype = torch.int8 }) } },
      { 'x', 'w', 'r', 'b', '', '', '', '', 's', 'z', 's', 'z' }, 'com.microsoft')
    assert_equal(floats, bytes)
  end)

  it('reads pictures', function()
    local path = here .. '../files/gamma.png'
    local file = assert(io.open(path, 'rb'))
    local bytes = torch.tensor({ file:read('a'):byte(1, -1) }, { dtype = torch.uint8, device = device })
    file:close()
    local rgb = torch.utils.data.read_image(path, 'rgb'):permute { 2, 3, 1 }:int()
    assert_equal(rgb, compute('ImageDecoder', { bytes }):int())
    assert_equal(rgb:flip(3), compute('ImageDecoder', { bytes }, { pixel_format = 'BGR' }):int())
    local gray = compute('ImageDecoder', { bytes }, { pixel_format = 'Grayscale' }):double()
    local luma = (rgb:double() * torch.tensor({ 0.299, 0.587, 0.114 }, { dtype = torch.float64 })):sum(3, true)
    assert.is_true((gray:cpu() - luma):abs():max():item() < 0.51)
    fails_with("a pixel_format 'CMYK'", compute, 'ImageDecoder', { bytes }, { pixel_format = 'CMYK' })
    fails_with('neither a PNG nor a JPEG file', compute, 'ImageDecoder', { bytes:flip(1) })
  end)

  it('a loaded model updates derived values if weights or sizes of inputs change', function()
    local net = load { inputs = { { 'x', FLOAT, { 'batch', 3 } } }, outputs = { { 'y', FLOAT } },
      initializers = { { 'w', weight }, { 'minus', torch.tensor { -1 } } },
      nodes = { { 'Transpose', { 'w' }, { 't' }, perm = { 1, 0 } }, { 'MatMul', { 'x', 't' }, { 'p' } },
        { 'Shape', { 'x' }, { 's' } }, { 'Concat', { 'minus', 's' }, { 'all' }, axis = 0 },
        { 'Unsqueeze', { 'x', 'minus' }, { 'column' } }, { 'Reshape', { 'column', 'all' }, { 'r' } }, { 'ReduceSum', { 'r' }, { 'sum' }, keepdims = 0 },
        { 'Add', { 'p', 'sum' }, { 'y' } } } }
    torch.no_grad(function()
      for round = 1, 3 do
        for _, batch in ipairs { 2, 2, 4 } do
          local x = torch.randn(batch, 3, { device = device })
          assert_equal(torch.matmul(x, net.w:t()) + x:sum(), net(x))
        end
        if round == 1 then net.w:mul_(2) end
        if round == 2 then net.w.data = torch.randn(net.w.shape, { device = device }) end
      end
    end)
  end)

  it('can be trained', function()
    local net = load(linear_model())
    local before = net(torch.ones(1, 3, { device = device })):sum():item()
    local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.01 })
    net(torch.ones(1, 3, { device = device })):sum():backward()
    optimizer:step()
    assert.is_true(net(torch.ones(1, 3, { device = device })):sum():item() < before)
  end)

  it('an invalid input is an error that names the node', function()
    local net = load { inputs = { { 'x', FLOAT } }, outputs = { 'y' }, initializers = { { 'w', weight } }, nodes = { { 'MatMul', { 'x', 'w' }, { 'y' } } } }
    fails_with("node 'y' (MatMul): ", net, torch.ones(2, 3, { device = device }))
  end)

  it('refuses inputs of another name, number, dtype or shape', function()
    local net = load(linear_model())
    fails_with("no input 'z'; it has: x", net, { z = torch.ones(1, 3) })
    fails_with('expects 1 inputs, but got 2', net, torch.ones(1, 3), torch.ones(1, 3))
    fails_with("input 'x' is missing", net)
    fails_with("input 'x' has elements of torch.int64, but the model expects torch.float32", net, torch.ones(1, 3, { dtype = torch.int64 }))
    fails_with("input 'x' has the shape [1, 4], but the model expects [batch, 3]", net, torch.ones(1, 4))
    fails_with("input 'x' must be a Tensor", net, 1)
  end)

  it('names that a module cannot have are stored separately', function()
    local one = torch.ones(1)
    local net = load { inputs = { { 'x', FLOAT } }, outputs = { 'y' },
      initializers = { { 'forward', one }, { 'a', one }, { 'a.b', one }, { '/x/y', one }, { '.', one } },
      nodes = { { 'Sum', { 'x', 'forward', 'a', 'a.b', '/x/y', '.' }, { 'y' } } } }
    assert.are.equal(5, net(torch.zeros(1, { device = device })):item())
    assert.are.equal(5, #net:parameters())
  end)

  it('small constants are evaluated and unused nodes removed at load time', function()
    local net = load { inputs = { { 'x', FLOAT } }, outputs = { 'y' },
      nodes = { { 'Constant', {}, { 'a' }, value_ints = { 2, 3 } }, { 'Constant', {}, { 'b' }, value_ints = { 1, 2 } }, { 'Mul', { 'a', 'b' }, { 'c' } },
        { 'Exp', { 'x' }, { 'unused' } }, { 'Reshape', { 'x', 'c' }, { 'y' } } } }
    assert.is_truthy(tostring(net):find('nodes=1', 1, true), tostring(net))
    assert.are.same({ 2, 6 }, { table.unpack(net(torch.zeros(12, { device = device })).shape) })
  end)

  it('has large constants made beforehand too, up to a bound', function()
    local function with(...)
      return load { inputs = { { 'x', FLOAT } }, outputs = { 'y' }, initializers = { { 'shape', torch.tensor { ... } } },
        nodes = { { 'ConstantOfShape', { 'shape' }, { 'w' }, value = torch.ones(1) }, { 'Add', { 'x', 'w' }, { 'y' } } } }
    end
    local net = with(300, 300)
    assert.is_truthy(tostring(net):find('nodes=1', 1, true), tostring(net))
    assert.are.equal(90000 * 2, net(torch.ones(1, { device = device })):sum():item())
    assert.is_truthy(tostring(with(1 << 31, 1 << 31)):find('nodes=2', 1, true))
  end)

  it('takes defaults of inputs, and others in their place', function()
    local net = load { inputs = { { 'x', FLOAT }, { 'w', FLOAT } }, outputs = { 'y' }, initializers = { { 'w', torch.ones(2) } },
      nodes = { { 'Add', { 'x', 'w' }, { 'y' } } } }
    assert_equal(tensor { 2, 3 }, net(tensor { 1, 2 }))
    assert_equal(tensor { 11, 22 }, net(tensor { 1, 2 }, tensor { 10, 20 }))
    -- Files of the first versions name every initializer among the inputs.
    local old = load { ir = 3, opset = 7, inputs = { { 'x', FLOAT }, { 'w', FLOAT } }, outputs = { 'y' }, initializers = { { 'w', torch.ones(2) } },
      nodes = { { 'Add', { 'x', 'w' }, { 'y' } } } }
    fails_with('expects 1 inputs, but got 2', old, tensor { 1, 2 }, tensor { 10, 20 })
  end)
end)

describe('bodies and functions', function()
  it('If runs one of two graphs, which see the values around them', function()
    local net = load { inputs = { { 'c', BOOL }, { 'x', FLOAT } }, outputs = { 'y' },
      nodes = { { 'Neg', { 'x' }, { 'n' } },
        { 'If', { 'c' }, { 'y' }, then_branch = onnx.graph { nodes = { { 'Exp', { 'x' }, { 't' } } }, outputs = { 't' } },
          else_branch = onnx.graph { nodes = { { 'Add', { 'n', 'n' }, { 'e' } } }, outputs = { 'e' } } } } }
    local x = tensor { 1, 2 }
    assert_equal(x:exp(), net(torch.tensor(true), x))
    assert_equal(x * -2, net(torch.tensor(false), x))
  end)

  local function counting(scale)
    return load { inputs = { { 'n', INT64 }, { 'x', FLOAT } }, outputs = { 'last', 'all' }, initializers = { { 'scale', tensor(scale, torch.float32):cpu() } },
      nodes = { { 'Loop', { 'n', '', 'x' }, { 'last', 'all' }, body = onnx.graph {
        inputs = { { 'i', INT64 }, { 'go', BOOL }, { 'v', FLOAT } },
        nodes = { { 'Mul', { 'v', 'scale' }, { 'next' } }, { 'Identity', { 'go' }, { 'on' } }, { 'Identity', { 'next' }, { 'copy' } } },
        outputs = { 'on', 'next', 'copy' } } } } }
  end

  it('Loop carries values and stacks others, and its body can be trained through', function()
    local net = counting { 2.0 }
    local last, all = net(torch.tensor(3), tensor { 1 })
    assert_equal(tensor { 8 }, last)
    assert_equal(tensor { { 2 }, { 4 }, { 8 } }, all)
    last:backward()
    assert_equal(tensor { 12 }, net.scale.grad) -- of scale ^ 3
    local same = net(torch.tensor(0), tensor { 5 })
    assert_equal(tensor { 5 }, same)
  end)

  it('Scan goes through the entries of an input', function()
    local net = load { inputs = { { 's', FLOAT }, { 'x', FLOAT } }, outputs = { 'sum', 'sums' },
      nodes = { { 'Scan', { 's', 'x' }, { 'sum', 'sums' }, num_scan_inputs = 1, body = onnx.graph { inputs = { { 'a', FLOAT }, { 'b', FLOAT } },
        nodes = { { 'Add', { 'a', 'b' }, { 'c' } }, { 'Identity', { 'c' }, { 'd' } } }, outputs = { 'c', 'd' } } } } }
    local sum, sums = net(tensor { 0, 0 }, tensor { { 1, 2 }, { 3, 4 }, { 5, 6 } })
    assert_equal(tensor { 9, 12 }, sum)
    assert_equal(tensor { { 1, 2 }, { 4, 6 }, { 9, 12 } }, sums)
  end)

  it('functions of the model are run with the attributes of the call', function()
    local fn = { name = 'Twice', domain = 'mine', inputs = { 'a', 'b' }, outputs = { 'r' }, attributes = { 'which' },
      nodes = { { 'ReduceSum', { 'a' }, { 's' }, keepdims = onnx.ref 'which' }, { 'Add', { 's', 's' }, { 'r' } } } }
    local net = load { imports = { mine = 1 }, functions = { fn }, inputs = { { 'x', FLOAT } }, outputs = { 'y', 'z' },
      nodes = { { 'Twice', { 'x' }, { 'y' }, domain = 'mine', which = 0 }, { 'Twice', { 'x' }, { 'z' }, domain = 'mine', which = 1 } } }
    local y, z = net(tensor { 1, 2, 3 })
    assert_equal(tensor(12), y)
    assert_equal(tensor { 12 }, z)
  end)

  it('a function that calls itself is an error', function()
    local fn = { name = 'F', domain = 'mine', inputs = { 'a' }, outputs = { 'r' }, nodes = { { 'F', { 'a' }, { 'r' }, domain = 'mine' } } }
    fails_with('functions call each other more than', load, { imports = { mine = 1 }, functions = { fn }, inputs = { { 'x', FLOAT } }, outputs = { 'y' },
      nodes = { { 'F', { 'x' }, { 'y' }, domain = 'mine' } } })
  end)

  it('functions that multiply are an error', function()
    local functions = {}
    for i = 1, 30 do
      local name = 'F' .. i + 1
      functions[i] = { name = 'F' .. i, domain = 'mine', inputs = { 'a' }, outputs = { 'r' },
        nodes = i == 30 and { { 'Exp', { 'a' }, { 'r' } } } or { { name, { 'a' }, { 'b' }, domain = 'mine' }, { name, { 'b' }, { 'r' }, domain = 'mine' } } }
    end
    fails_with('nodes', load, { imports = { mine = 1 }, functions = functions, inputs = { { 'x', FLOAT } }, outputs = { 'y' },
      nodes = { { 'F1', { 'x' }, { 'y' }, domain = 'mine' } } })
  end)
end)

describe('operators', function()
  local x = torch.arange(12, { dtype = torch.float32, device = device }):view(3, 4) - 5

  it('positions count from 0 inside, negative ones from the end', function()
    assert_equal(x:index_select(1, torch.tensor({ 1, 3 }, { device = device })), compute('Gather', { x, { 0, -1 } }))
    assert_equal(tensor({ 3, 3, 3 }, torch.int64), compute('ArgMax', { x }, { axis = 1, keepdims = 0 }))
    assert_equal(tensor({ { 0, 0 }, { 0, 1 } }, torch.int64), compute('NonZero', { tensor { { 1, 2 }, { 0, 0 } } }))
    local _, places = compute('TopK', { x, { 2 } }, {}, 17, 2)
    assert_equal(tensor({ { 3, 2 }, { 3, 2 }, { 3, 2 } }, torch.int64), places)
    local net = torch.onnx.load(write(onnx.model { inputs = { { 'x', FLOAT } }, outputs = { 'y' }, initializers = { { 'i', torch.tensor { 3 } } },
      nodes = { { 'Gather', { 'x', 'i' }, { 'y' } } } }))
    fails_with("node 'y' (Gather): ", net, x:cpu())
  end)

  it('Slice goes both ways, by steps, and clamps', function()
    assert_equal(x[{ { 2, 3 }, { 1, 4, 2 } }], compute('Slice', { x, { 1, 0 }, { 1000, 4 }, { 0, 1 }, { 1, 2 } }))
    assert_equal(x:flip(2), compute('Slice', { x, { -1 }, { math.mininteger }, { 1 }, { -1 } }))
    assert_equal(x:narrow(1, 1, 0), compute('Slice', { x, { 2 }, { 1 }, { 0 } }))
  end)

  it('attributes of old versions are inputs of new ones', function()
    local wanted = x:unsqueeze(1)
    assert_equal(wanted, compute('Unsqueeze', { x }, { axes = { 0 } }, 11))
    assert_equal(wanted, compute('Unsqueeze', { x, { 0 } }, {}, 13))
    assert_equal(x:sum(2), compute('ReduceSum', { x }, { axes = { 1 }, keepdims = 0 }, 11))
    assert_equal(x:sum(2), compute('ReduceSum', { x, { 1 } }, { keepdims = 0 }, 13))
    assert_equal(x:clamp(-1, 2), compute('Clip', { x }, { min = -1.0, max = 2.0 }, 7))
    assert_equal(x:clamp(-1, 2), compute('Clip', { x, tensor(-1.0), tensor(2.0) }, {}, 13))
    local cube = x:view(3, 2, 2)
    assert_equal(x:softmax(2):view(3, 2, 2), compute('Softmax', { cube }, {}, 7))
    assert_equal(cube:softmax(3), compute('Softmax', { cube }, {}, 13))
  end)

  it('convolutions and pools implement auto_pad with uneven padding', function()
    local image, kernel = torch.randn(1, 2, 5, 6, { device = device }), torch.randn(3, 2, 2, 2, { device = device })
    local padded = torch.nn.functional.pad(image, { 0, 1, 0, 1 })
    local wanted = torch.nn.functional.conv2d(padded, kernel)
    assert_equal(wanted, compute('Conv', { image, kernel }, { auto_pad = 'SAME_UPPER' }), 1e-4)
    assert_equal(wanted, compute('Conv', { image, kernel }, { pads = { 0, 0, 1, 1 } }), 1e-4)
    assert_equal(torch.nn.functional.max_pool2d(image, 2, 2, 0, 1, true), compute('MaxPool', { image }, { kernel_shape = { 2, 2 }, strides = { 2, 2 }, ceil_mode = 1 }))
    assert_equal(torch.nn.functional.avg_pool2d(image, 2, 2, 0, true), compute('AveragePool', { image }, { kernel_shape = { 2, 2 }, strides = { 2, 2 }, ceil_mode = 1 }, 19))
  end)

  it('pools with dilation take every second element, with padding of one side, too', function()
    local image, options = torch.randn(1, 2, 7, 6, { device = device }), { kernel_shape = { 2, 3 }, dilations = { 2, 1 }, strides = { 1, 2 } }
    for _, pads in ipairs { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 0, 1, 1, 0 } } do
      options.pads = pads
      local padded = torch.nn.functional.pad(image, { pads[2], pads[4], pads[1], pads[3] }, { value = -9 })
      local windows = padded:unfold(3, 3, 1):unfold(4, 3, 2)[{ {}, {}, {}, {}, { 1, 3, 2 } }]
      assert_equal(windows:amax { 5, 6 }, compute('MaxPool', { image }, options, 19))
      local inside = windows:ne(-9)
      assert_equal((windows * inside):sum { 5, 6 } / inside:sum { 5, 6 }, compute('AveragePool', { image }, options, 19), 1e-6)
      assert_equal((windows * inside):square():sum({ 5, 6 }):sqrt(), compute('LpPool', { image }, options, 18), 1e-6)
    end
  end)

  it('a network that cuDNN would do is written layer by layer', function()
    local net = torch.nn.GRU(3, 2, 2):to(device)
    local path = os.tmpname()
    torch.onnx.export(net, { torch.ones(4, 1, 3, { device = device }) }, path)
    local found = torch.onnx.load(path):to(device)(torch.ones(4, 1, 3, { device = device }))
    os.remove(path)
    assert.is_true(torch.allclose(found, (net(torch.ones(4, 1, 3, { device = device }))), { atol = 1e-5 }))
    assert.is_true(torch.backends.cudnn.enabled)
  end)
  it('LSTM has the gates in the order of the format', function()
    local cell = nn.LSTM(3, 2):to(device)
    local given = torch.randn(4, 1, 3, { device = device })
    local function iofc(t) -- of PyTorch's i, f, g, o
      local parts = t:detach():chunk(4, 1)
      return torch.cat({ parts[1], parts[4], parts[2], parts[3] }, 1)
    end
    local B = torch.cat({ iofc(cell.bias_ih_l0), iofc(cell.bias_hh_l0) }, 1):unsqueeze(1)
    local y, h, c = compute('LSTM', { given, iofc(cell.weight_ih_l0):unsqueeze(1), iofc(cell.weight_hh_l0):unsqueeze(1), B }, { hidden_size = 2 }, 17, 3)
    local wanted, state, memory = cell(given)
    if type(state) == 'table' then state, memory = state[1], state[2] end
    assert_equal(wanted:unsqueeze(2), y, 1e-5)
    assert_equal(state, h, 1e-5)
    assert_equal(memory, c, 1e-5)
  end)

  it('quantized values are rounded to even and bounded', function()
    local q = compute('QuantizeLinear', { tensor { -300, 0.5, 1.5, 2.5, 300 }, tensor(1.0), tensor(0, torch.uint8) })
    assert_equal(tensor({ 0, 0, 2, 2, 255 }, torch.uint8), q)
    assert_equal(tensor { -4, -2 }, compute('DequantizeLinear', { tensor({ 1, 2 }, torch.uint8), tensor(2.0), tensor(3, torch.uint8) }))
  end)

  it('operators that onnxruntime fuses are supported', function()
    local function fused(op, inputs, attributes) return (compute(op, inputs, attributes, 17, 1, 'com.microsoft')) end
    local a, b, scale = torch.randn(2, 3, 8, { device = device }), torch.randn(2, 3, 8, { device = device }), torch.rand(8, { device = device })
    local gelu = torch.nn.functional.gelu
    assert_equal(gelu(a + scale), fused('BiasGelu', { a, scale }), 1e-5)
    assert_equal(gelu(a, { approximate = 'tanh' }), fused('FastGelu', { a }), 1e-5)
    assert_equal(torch.layer_norm(a + b, { 8 }, scale, scale, 1e-5), fused('SkipLayerNormalization', { a, b, scale, scale }), 1e-5)
    assert_equal(torch.matmul(a, b:transpose(2, 3)) * 0.5, fused('FusedMatMul', { a, b }, { transB = 1, alpha = 0.5 }), 1e-5)
    local function heads(x) return x:view(2, 3, 2, 4):transpose(2, 3) end
    local weight = torch.randn(8, 24, { device = device })
    local parts = torch.matmul(a, weight):chunk(3, 3)
    local wanted = torch.nn.functional.scaled_dot_product_attention(heads(parts[1]), heads(parts[2]), heads(parts[3]), { is_causal = true })
    assert_equal(wanted:transpose(2, 3):reshape(2, 3, 8), fused('Attention', { a, weight }, { num_heads = 2, unidirectional = 1 }), 1e-4)
  end)

  it('products with a batch between rows and columns are supported', function()
    local function fused(inputs, attributes) return (compute('FusedMatMul', inputs, attributes, 17, 1, 'com.microsoft')) end
    local a, b = torch.randn(2, 3, 4, { device = device }), torch.randn(2, 4, 5, { device = device })
    local wanted = torch.matmul(a, b)
    local function between(x) return x:transpose(1, 2):contiguous() end
    assert_equal(wanted, fused({ between(a), b }, { transBatchA = 1 }), 1e-5)
    assert_equal(wanted, fused({ between(a:transpose(2, 3)), between(b:transpose(2, 3)) }, { transBatchA = 1, transA = 1, transBatchB = 1, transB = 1 }), 1e-5)
  end)

  it('Hardmax marks the first of the largest numbers', function()
    local x = tensor { { 1, 3, 3 }, { 5, 2, 4 } }
    assert_equal(tensor { { 0, 1, 0 }, { 1, 0, 0 } }, (compute('Hardmax', { x }, { axis = 1 }, 13)))
    assert_equal(tensor { { 0, 1, 0 }, { 1, 0, 1 } }, (compute('Hardmax', { x }, { axis = 0 }, 13)))
    -- Until opset 13 the dimensions from the axis on were one.
    assert_equal(tensor { { 0, 0, 0 }, { 1, 0, 0 } }, (compute('Hardmax', { x }, { axis = 0 }, 11)))
  end)

  describe('of com.microsoft on quantized values', function()
    local function q(op, inputs, attributes) return (compute(op, inputs, attributes, 17, 1, 'com.microsoft')) end
    local s, z = tensor(0.25), tensor(10, torch.uint8)
    local to, at = tensor(0.5), tensor(5, torch.uint8)
    local function drawn(...) return torch.randint(0, 256, { ... }, { device = device }):to(torch.uint8) end
    local function real(x) return (x:to(torch.float32) - 10) * 0.25 end
    local function rounded(y) return ((y / 0.5):round() + 5):clamp(0, 255):to(torch.uint8) end

    it('round the result of the layer on floats', function()
      local x = drawn(2, 3, 6, 4)
      local function one(op, attributes) return q(op, { x, s, z, to, at }, attributes) end
      assert_equal(rounded(torch.sigmoid(real(x))), one('QLinearSigmoid'))
      assert_equal(rounded(torch.leaky_relu(real(x), 0.1)), one('QLinearLeakyRelu', { alpha = 0.1 }))
      assert_equal(rounded(real(x):mean({ 3, 4 }, true)), one('QLinearGlobalAveragePool'))
      assert_equal(rounded(real(x):mean({ 2, 3 }, true)), one('QLinearGlobalAveragePool', { channels_last = 1 }))
      assert_equal(rounded(nn.functional.avg_pool2d(real(x), 2)), one('QLinearAveragePool', { kernel_shape = { 2, 2 }, strides = { 2, 2 } }))
      assert_equal(rounded(real(x):mean(2, true)), one('QLinearReduceMean', { axes = { 1 } }))
      assert_equal(rounded(real(x):mean()), one('QLinearReduceMean', { keepdims = 0 }))
      assert_equal(rounded(torch.softmax(real(x), 4)), one('QLinearSoftmax', { axis = -1, opset = 13 }))
      assert_equal(rounded(torch.softmax(real(x):flatten(2), 2):view(2, 3, 6, 4)), one('QLinearSoftmax', { axis = 1, opset = 12 }))
      assert_equal(nn.functional.max_pool2d(x:movedim(4, 2):to(torch.float32), 2):movedim(2, 4):to(torch.uint8), q('NhwcMaxPool', { x }, { kernel_shape = { 2, 2 }, strides = { 2, 2 } }))
    end)

    it('sums of products are exact, of constant weights too, until these change', function()
      for _, n in ipairs { 100, 300 } do -- 300 * 255 * 255 is more than single precision counts
        local a, b = torch.full({ 2, n }, 255, { dtype = torch.uint8 }), torch.full({ n, 3 }, 255, { dtype = torch.uint8 })
        a[{ 1, 1 }] = 254
        local model = load { inputs = { { 'a', 2 }, { 'x', 2 } }, outputs = { 'y', 'c' }, initializers = { { 'b', b }, { 'w', b:t():reshape(3, 1, n) } },
          nodes = { { 'MatMulInteger', { 'a', 'b' }, { 'y' } }, { 'ConvInteger', { 'x', 'w' }, { 'c' } } } }
        model:to(device)
        local wanted = tensor({ { n * 255 * 255 - 255 }, { n * 255 * 255 } }, torch.int32):expand(2, 3)
        for _ = 1, 2 do
          local y, c = model(a:to(device), a:view(2, 1, n):to(device))
          assert_equal(wanted, y)
          assert_equal(wanted:unsqueeze(3), c)
        end
        model.b:fill_(1)
        assert_equal(tensor({ { n * 255 - 1 }, { n * 255 } }, torch.int32):expand(2, 3), (model(a:to(device), a:view(2, 1, n):to(device))))
      end
    end)

    it('join and choose', function()
      local a, b = drawn(2, 3), drawn(2, 3)
      assert_equal(rounded(torch.cat({ real(a), real(b) }, 2)), q('QLinearConcat', { to, at, a, s, z, b, s, z }, { axis = 1 }))
      local first = torch.tensor({ { true, false, true }, { false, false, true } }, { device = device })
      assert_equal(rounded(torch.where(first, real(a), real(b))), q('QLinearWhere', { first, a, s, z, b, s, z, to, at }))
      assert_equal(rounded(real(a) + real(b)), q('QLinearAdd', { a, s, z, b, s, z, to, at }))
    end)

    it('multiply', function()
      local a, b = drawn(4, 3), drawn(5, 3)
      assert_equal(torch.matmul(real(a), real(b):t()) * 2, q('QGemm', { a, s, z, b, s, z }, { transB = 1, alpha = 2.0 }), 1e-3)
      assert_equal(rounded(torch.matmul(real(a), real(b):t())), q('QGemm', { a, s, z, b, s, z, false, to, at }, { transB = 1 }))
      -- Channels last, and over one dimension with a scale for each filter.
      local image, filters = drawn(1, 5, 4, 2), drawn(3, 2, 2, 2)
      local wanted = nn.functional.conv2d(real(image:movedim(4, 2):contiguous()), real(filters)):movedim(2, 4)
      assert_equal(rounded(wanted), q('QLinearConv', { image, s, z, filters, s, z, to, at }, { channels_last = 1 }))
      local signal, weight, scales = drawn(1, 2, 7), drawn(3, 2, 3), tensor { 0.25, 0.5, 1 }
      wanted = nn.functional.conv1d(real(signal), (weight:to(torch.float32) - 10) * scales:view(3, 1, 1))
      local zeros = torch.full({ 3 }, 10, { dtype = torch.uint8, device = device })
      assert_equal(rounded(wanted), compute('QLinearConv', { signal, s, z, weight, scales, zeros, to, at }))
      assert_equal(nn.functional.conv1d(real(signal), real(weight)) * 16, compute('ConvInteger', { signal, weight, z, zeros }):to(torch.float32), 1e-3)
    end)
  end)

  it('support vectors, categories and labels of ai.onnx.ml are known', function()
    local function ml(op, inputs, attributes, n) return compute(op, inputs, attributes, 17, n, 'ai.onnx.ml') end
    local points = tensor { { 1, 0 }, { 2, 1 } }
    local machine = { kernel_type = 'RBF', kernel_params = { 0.5, 0.0, 3.0 }, n_supports = 2, support_vectors = { 1.0, 0.0, 0.0, 1.0 }, coefficients = { 2.0, -1.0 }, rho = { 0.25 } }
    local function k(d) return math.exp(-0.5 * d) end
    assert_equal(tensor { { 2 - k(2) + 0.25 }, { 2 * k(2) - k(4) + 0.25 } }, ml('SVMRegressor', { points }, machine), 1e-5)
    machine.one_class, machine.kernel_type = 1, 'LINEAR'
    assert_equal(tensor { { 1 }, { 1 } }, ml('SVMRegressor', { points }, machine))
    assert_equal(tensor { { { 0, 1 }, { 0, 0 } } }, ml('OneHotEncoder', { tensor({ { 7, 5 } }, torch.int64) }, { cats_int64s = { 3, 7 }, zeros = 1 }))
    local maps = ml('ZipMap', { points }, { classlabels_int64s = { 4, 9 } })
    assert.are.same({ { [4] = 1.0, [9] = 0.0 }, { [4] = 2.0, [9] = 1.0 } }, maps)
  end)

  it('trees and linear models of ai.onnx.ml are known', function()
    local function ml(op, inputs, attributes, n) return compute(op, inputs, attributes, 17, n, 'ai.onnx.ml') end
    -- x[0] <= 1.5 ? 10 : (x[1] <= 0.5 ? 20 : 30)
    local tree = { nodes_treeids = { 0, 0, 0, 0, 0 }, nodes_nodeids = { 0, 1, 2, 3, 4 }, nodes_featureids = { 0, 0, 1, 0, 0 }, nodes_values = { 1.5, 0.0, 0.5, 0.0, 0.0 },
      nodes_modes = { 'BRANCH_LEQ', 'LEAF', 'BRANCH_LEQ', 'LEAF', 'LEAF' }, nodes_truenodeids = { 1, 0, 3, 0, 0 }, nodes_falsenodeids = { 2, 0, 4, 0, 0 },
      target_treeids = { 0, 0, 0 }, target_nodeids = { 1, 3, 4 }, target_ids = { 0, 0, 0 }, target_weights = { 10.0, 20.0, 30.0 }, n_targets = 1 }
    local points = tensor { { 1, 0 }, { 2, 0 }, { 2, 1 } }
    assert_equal(tensor { { 10 }, { 20 }, { 30 } }, ml('TreeEnsembleRegressor', { points }, tree))
    assert_equal(tensor { { 1.5 }, { 2.5 }, { 0.5 } }, ml('LinearRegressor', { points }, { coefficients = { 1.0, -2.0 }, intercepts = { 0.5 } }))
    local labels, scores = ml('LinearClassifier', { points }, { coefficients = { 1.0, 0.0, 0.0, 4.0 }, intercepts = { 0.0, 0.0 }, classlabels_ints = { 7, 9 } }, 2)
    assert_equal(tensor({ 7, 7, 9 }, torch.int64), labels)
    assert_equal(tensor { { 1, 0 }, { 2, 0 }, { 2, 4 } }, scores)
    -- the second of three classes has a leaf, the third has none
    tree.class_treeids, tree.class_nodeids, tree.class_ids, tree.class_weights = { 0, 0, 0 }, { 1, 3, 4 }, { 0, 1, 0 }, { 1.0, 2.0, 3.0 }
    tree.classlabels_int64s = { 4, 5, 6 }
    labels, scores = ml('TreeEnsembleClassifier', { points }, tree, 2)
    assert_equal(tensor({ 4, 5, 4 }, torch.int64), labels)
    assert_equal(tensor { { 1, 0, 0 }, { 0, 2, 0 }, { 3, 0, 0 } }, scores)
  end)

  it('Resize lays results between elements', function()
    local image = torch.randn(1, 1, 4, 4, { device = device })
    local sizes = { 1, 1, 8, 6 }
    assert_equal(torch.nn.functional.interpolate(image, { size = { 8, 6 }, mode = 'bilinear' }),
      compute('Resize', { image, false, false, sizes }, { mode = 'linear' }), 1e-5)
  end)
end)

-- What onnxruntime 1.32 gives.
describe('inputs at the limits of an operator', function()
  it('are pads that cut: done first, then the rest is repeated', function()
    local x = tensor { 1, 2, 3, 4, 5 }
    for mode, results in pairs {
      wrap = { { { -1, 2 }, { 2, 3, 4, 5, 2, 3 } }, { { 2, -1 }, { 3, 4, 1, 2, 3, 4 } }, { { -2, 3 }, { 3, 4, 5, 3, 4, 5 } }, { { -1, -1 }, { 2, 3, 4 } } },
      edge = { { { -1, 2 }, { 2, 3, 4, 5, 5, 5 } }, { { 3, -2 }, { 1, 1, 1, 1, 2, 3 } } },
      reflect = { { { -1, 2 }, { 2, 3, 4, 5, 4, 3 } }, { { 2, -1 }, { 3, 2, 1, 2, 3, 4 } } },
      constant = { { { -2, 3 }, { 3, 4, 5, 0, 0, 0 } } },
    } do
      for _, row in ipairs(results) do assert_equal(tensor(row[2]), (compute('Pad', { x, row[1] }, { mode = mode }, 19))) end
    end
    fails_with('6 elements less of a dimension that has 5', compute, 'Pad', { x, { -6, 9 } }, { mode = 'wrap' }, 19)
  end)

  it('are regions without an extent: RoiAlign gives 0', function()
    local image = torch.arange(16, { dtype = torch.float32, device = device }):reshape(1, 1, 4, 4)
    local boxes = tensor { { 1, 1, 1, 1 }, { 2, 2, 1, 1 }, { 1, 1, 3, 1 }, { 0, 0, 3, 3 } }
    local which = torch.zeros(4, { dtype = torch.int64, device = device })
    local function align(mode, transformation)
      return (compute('RoiAlign', { image, boxes, which }, { mode = mode, coordinate_transformation_mode = transformation, output_height = 2, output_width = 2 }, 16)):reshape(4, 4)
    end
    assert_equal(tensor { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 1.5625, 3, 7.3125, 8.75 } }, align('avg', 'half_pixel'))
    assert_equal(torch.zeros(3, 4, { device = device }), align('max', 'half_pixel'):narrow(1, 1, 3))
    assert_equal(tensor { { 6.25, 6.75, 8.25, 8.75 }, { 11.25, 11.75, 13.25, 13.75 }, { 6.5, 7.5, 8.5, 9.5 } }, align('avg', 'output_half_pixel'):narrow(1, 1, 3))
  end)
end)

describe('nodes that are fused', function()
  -- A product of folded weights rounds elsewhere than one of the weights: not to the ten bits of TF32 here.
  local allowed = torch.backends.cudnn.allow_tf32
  setup(function() torch.backends.cudnn.allow_tf32 = false end)
  teardown(function() torch.backends.cudnn.allow_tf32 = allowed end)

  -- A convolution, its normalization and activation, a sum with the input, a product and its bias.
  local function make()
    torch.manual_seed(1)
    local function drawn(...) return torch.randn(...) end
    return load { inputs = { { 'x', FLOAT, { 'n', 4, 5, 5 } } }, outputs = { 'y', 'r' },
      initializers = { { 'w', drawn(4, 4, 3, 3) }, { 'b', drawn(4) }, { 's', drawn(4) }, { 'h', drawn(4) }, { 'm', drawn(4) }, { 'v', torch.rand(4) + 0.5 }, { 'p', drawn(5, 3) }, { 'q', drawn(3) } },
      nodes = { { 'Conv', { 'x', 'w', 'b' }, { 'c' }, pads = { 1, 1, 1, 1 } }, { 'BatchNormalization', { 'c', 's', 'h', 'm', 'v' }, { 'n' }, epsilon = 1e-3 },
        { 'Relu', { 'n' }, { 'r' } }, { 'Add', { 'r', 'x' }, { 'a' } }, { 'Neg', { 'a' }, { 'k' } }, { 'Mul', { 'k', 'k' }, { 'l' } }, { 'Add', { 'l', 'x' }, { 'd' } },
        { 'Relu', { 'd' }, { 'e' } }, { 'MatMul', { 'e', 'p' }, { 'f' } }, { 'Add', { 'f', 'q' }, { 'y' } } } }
  end

  -- The same by the library's functions, of the model's parameters.
  local function wanted(model, x)
    local F = nn.functional
    local r = F.relu(F.batch_norm(F.conv2d(x, model.w, model.b, { padding = 1 }), model.m:detach(), model.v:detach(), model.s, model.h, false, 0, 1e-3))
    return torch.matmul(F.relu((r + x) ^ 2 + x), model.p) + model.q, r
  end

  local function check(model)
    local x = torch.randn(2, 4, 5, 5):to(device)
    local before = x:clone()
    for i, tensor in ipairs { model(x) } do assert_equal(select(i, wanted(model, x)):detach(), tensor:detach(), 1e-4) end
    assert.is_true(torch.equal(before, x))
  end

  it('are the nodes, with gradients and without', function()
    local model = make()
    check(model)
    torch.no_grad(function() check(model) end)
    torch.no_grad(function() check(model) end)
  end)

  it('follow the parameters', function()
    local model = make()
    torch.no_grad(function()
      check(model)
      for _, parameter in ipairs(model:parameters()) do
        parameter:mul_(0.5)
        check(model)
      end
      model.w.data = torch.randn(4, 4, 3, 3):to(device)
      check(model)
      model.s = nn.Parameter(torch.randn(4):to(device))
      check(model)
    end)
  end)

  it('have the gradients of the parameters as the file has them', function()
    local model = make()
    local x = torch.randn(2, 4, 5, 5):to(device)
    torch.no_grad(function() model(x) end)
    local function gradients(f) return { torch.autograd.grad({ (f(x)):sum() }, { model.w, model.b, model.s, model.h, model.p, model.q }) } end
    local got, expected = gradients(model), gradients(function(input) return wanted(model, input) end)
    for i = 1, 6 do assert_equal(expected[i], got[i], 1e-3) end
  end)
end)

describe('integers of 64 bits without a sign', function()
  local numbers = { 0, 1, 2, 3, 10, math.maxinteger, math.mininteger, math.mininteger + 1, -2, -1 }

  -- Of all pairs of numbers, as Lua has them: signed ones of the same bits.
  local function compute_all(op, divisors, attributes)
    local a, b = {}, {}
    for _, x in ipairs(numbers) do
      for _, y in ipairs(divisors) do a[#a + 1], b[#b + 1] = x, y end
    end
    local function unsigned(list) return torch.tensor(list, { dtype = torch.int64, device = device }):view(torch.uint64) end
    return a, b, compute(op, { unsigned(a), unsigned(b) }, attributes):view(torch.int64):tolist()
  end

  local function quotient(a, b)
    if b < 0 then return math.ult(a, b) and 0 or 1 end
    local q = ((a >> 1) // b) << 1
    return math.ult(a - q * b, b) and q or q + 1
  end

  it('are divided and shifted', function()
    local divisors = table.move(numbers, 2, #numbers, 1, {})
    local a, b, got = compute_all('Div', divisors)
    for i = 1, #a do assert.are.equal(quotient(a[i], b[i]), got[i], ('%d / %d'):format(a[i], b[i])) end
    a, b, got = compute_all('Mod', divisors)
    for i = 1, #a do assert.are.equal(a[i] - quotient(a[i], b[i]) * b[i], got[i], ('%d mod %d'):format(a[i], b[i])) end
    for direction, shift in pairs { RIGHT = function(x, n) return x >> n end, LEFT = function(x, n) return x << n end } do
      a, b, got = compute_all('BitShift', { 0, 1, 31, 63 }, { direction = direction })
      for i = 1, #a do assert.are.equal(shift(a[i], b[i]), got[i], ('%d %s %d'):format(a[i], direction, b[i])) end
    end
  end)
end)

describe('files that are not sound', function()
  it('a recurrent layer without weights is an error', function()
    fails_with("one of its inputs 'X', 'W' and 'R' is missing", compute, 'LSTM', { torch.ones(2, 1, 3):to(device), torch.ones(1, 8, 3):to(device) }, { hidden_size = 2 })
  end)

  it('a window without a size is an error', function()
    fails_with("its attribute 'kernel_shape' is missing", compute, 'MaxPool', { torch.ones(1, 1, 4, 4):to(device) })
  end)

  it('every beginning of a file, short of the whole, is an error or a smaller model', function()
    local whole = onnx.model(linear_model())
    for n = 0, #whole - 1 do
      local ok, message = pcall(load, whole:sub(1, n))
      assert.is_true(not ok and type(message) == 'string' and message:find('.onnx', 1, true) ~= nil, ('%d bytes: %s'):format(n, tostring(message)))
    end
  end)

  it('an operator that is not known, and types that are not there, are named with the node', function()
    local function with(node) return { inputs = { { 'x', FLOAT } }, outputs = { 'y' }, nodes = { node }, imports = { other = 1 } } end
    fails_with("node 'y' (Nonsense): ltensor has no operator 'Nonsense' of ai.onnx", load, with { 'Nonsense', { 'x' }, { 'y' } })
    fails_with('save it with ORT_ENABLE_EXTENDED', load, { inputs = { { 'x', FLOAT } }, outputs = { 'y' }, nodes = { { 'Conv', { 'x', 'x' }, { 'y' }, domain = 'com.microsoft.nchwc' } },
      imports = { ['com.microsoft.nchwc'] = 1 } })
    fails_with("no operators of the domain 'other'", load, with { 'Add', { 'x', 'x' }, { 'y' }, domain = 'other' })
    fails_with("node 'y' (Cast): attribute 'to': elements of type 'complex64'", load, with { 'Cast', { 'x' }, { 'y' }, to = 14 })
    fails_with("input 'x': elements of type 'string', which ltensor does not have", load, { inputs = { { 'x', 8 } }, outputs = { 'x' }, nodes = {} })
  end)

  it('a value without a producer or with two producers is an error', function()
    fails_with("its input 'z' is made by no node before it", load, { outputs = { 'y' }, nodes = { { 'Exp', { 'z' }, { 'y' } } } })
    fails_with("its output 'z' is made by no node", load, { inputs = { { 'x', FLOAT } }, outputs = { 'z' }, nodes = {} })
    fails_with("two values are named 'y'", load, { inputs = { { 'x', FLOAT } }, outputs = { 'y' }, nodes = { { 'Exp', { 'x' }, { 'y' } }, { 'Exp', { 'x' }, { 'y' } } } })
    fails_with("two values are named 'x'", load, { inputs = { { 'x', FLOAT }, { 'x', FLOAT } }, outputs = { 'x' }, nodes = {} })
  end)

  it('messages nested without end are an error', function()
    local message = ''
    for _ = 1, 200 do message = onnx.bytes(1, onnx.bytes(5, onnx.bytes(1, 'g') .. onnx.bytes(6, message))) end
    fails_with('nested more than', load, onnx.bytes(7, message))
  end)

  it('sizes that the data do not fill are errors', function()
    local function with(dims, data)
      return onnx.int(1, 8) .. onnx.bytes(7, onnx.bytes(5, dims .. onnx.int(2, 1) .. onnx.bytes(8, 'w') .. data))
    end
    fails_with("initializer 'w': 4 bytes of data where its shape needs 8", load, with(onnx.int(1, 2), onnx.bytes(9, '\0\0\0\0')))
    fails_with("initializer 'w': its shape (4611686018427387904, 4) is too large", load, with(onnx.int(1, 1 << 62) .. onnx.int(1, 4), onnx.bytes(9, '')))
    fails_with("initializer 'w': a size of -1", load, with(onnx.int(1, -1), onnx.bytes(9, '')))
    fails_with("initializer 'w': 1 elements where its shape has 1000000000", load, with(onnx.int(1, 1000000000), onnx.bytes(4, '\0\0\0\0')))
  end)

  it('sizes that would take all memory are errors', function()
    fails_with("node 'y1' (Resize): a list of", compute, 'Resize', { torch.ones(1, 4, { device = device }), false, false, { 1, 1 << 40 } }, { mode = 'linear' })
    fails_with("node 'y1' (Pad): a list of", compute, 'Pad', { torch.ones(4, { device = device }), { 0, 1 << 40 } }, { mode = 'edge' })
  end)

  it('elements in typed fields are read, packed or one by one', function()
    local function with(data, dtype)
      return load { outputs = { 'y' }, initializers = { { 'w', torch.zeros(2, { dtype = dtype }), { data = data } } }, nodes = { { 'Identity', { 'w' }, { 'y' } } } } ()
    end
    assert_equal(tensor { 1, 2 }, with(onnx.bytes(4, ('<ff'):pack(1, 2)), torch.float32))
    assert_equal(tensor { 1, 2 }, with(onnx.varint(4 << 3 | 5) .. ('<f'):pack(1) .. onnx.varint(4 << 3 | 5) .. ('<f'):pack(2), torch.float32))
    assert_equal(tensor({ -1, 300 }, torch.int64), with(onnx.bytes(7, onnx.varint(-1) .. onnx.varint(300)), torch.int64))
    assert_equal(tensor({ 1, -2 }, torch.float16), with(onnx.bytes(5, onnx.varint(0x3c00) .. onnx.varint(0xc000)), torch.float16))
    assert_equal(tensor({ true, false }, torch.bool), with(onnx.bytes(5, '\1\0'), torch.bool))
  end)

  it('elements in another file are read from the folder of the model, and from nowhere else', function()
    local function entry(key, value) return onnx.bytes(13, onnx.bytes(1, key) .. onnx.bytes(2, value)) end
    local file = assert(io.open(folder .. '/weights.bin', 'wb'))
    file:write('....' .. ('<ff'):pack(3, 4))
    file:close()
    local function with(location, offset)
      local data = entry('location', location) .. entry('offset', offset) .. entry('length', '8') .. onnx.int(14, 1)
      return { outputs = { 'y' }, initializers = { { 'w', torch.zeros(2), { data = data } } }, nodes = { { 'Identity', { 'w' }, { 'y' } } } }
    end
    assert_equal(tensor { 3, 4 }, load(with('weights.bin', '4'))())
    fails_with('exceed the end', load, with('weights.bin', '8'))
    fails_with("the 'offset' of its data is '-4'", load, with('weights.bin', '-4'))
    for _, location in ipairs { '../weights.bin', '/etc/passwd', 'a/../../b' } do fails_with("which is not in the model's folder", load, with(location, '0')) end
  end)

  it('a path that is no string, or leads to no file, is an error', function()
    fails_with("torch.onnx.load(): argument 'path' must be a string", torch.onnx.load, 1)
    fails_with('No such file', torch.onnx.load, folder .. '/none.onnx')
  end)

  it('the list of operators names each file, so that a model loads only the files of its operators', function()
    for file, domains in pairs(require('torch.onnx.ops').files) do
      local listed, returned = {}, {}
      for domain, names in pairs(domains) do
        for name in names:gmatch '%S+' do listed[#listed + 1] = domain .. ':' .. name end
      end
      for domain, entries in pairs(require('torch.onnx.ops.' .. file)) do
        for name in pairs(entries) do returned[#returned + 1] = domain .. ':' .. name end
      end
      table.sort(listed)
      table.sort(returned)
      assert.same(returned, listed, file)
    end
  end)
end)
