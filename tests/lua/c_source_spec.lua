-- c_source_spec.lua - `ltensor build MODEL -o FILE.c`: the C source of programs gives the results of the program, compiles without
-- warnings, and names the operators that it does not support.

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local programs = dofile(here .. 'support/exported_program.lua')
local c_program = dofile(here .. 'support/c_program.lua')
local generate = require('torch.c_source.generate').generate

local folder
setup(function() folder = process.run 'mktemp -d':gsub('\n$', '') end)
teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

local function write(path, text)
  local file <close> = assert(io.open(path, 'wb'))
  assert(file:write(text))
end

-- ---- models -------------------------------------------------------------------------------------

-- A model of ONNX, exported by a module of Lua; its inputs.
local function exported(net, inputs)
  local path = folder .. '/model.onnx'
  torch.onnx.export(net:eval(), inputs, path)
  return torch.onnx.load(path), inputs
end

local Residual = nn.Module:extend 'Residual'
function Residual:init(n, out, stride)
  self.first, self.norm1 = nn.Conv2d(n, out, 3, { stride = stride, padding = 1, bias = false }), nn.BatchNorm2d(out)
  self.second, self.norm2 = nn.Conv2d(out, out, 3, { padding = 1, bias = false }), nn.BatchNorm2d(out)
  self.down = nn.Conv2d(n, out, 1, { stride = stride })
end
function Residual:forward(x)
  local y = self.norm2(self.second(F.relu(self.norm1(self.first(x)))))
  return F.relu(y + self.down(x))
end

local Recurrent = nn.Module:extend 'Recurrent'
function Recurrent:init()
  self.lstm, self.gru = nn.LSTM(5, 6, { num_layers = 2, bidirectional = true }), nn.GRU(12, 4)
end
function Recurrent:forward(x)
  local y, state = self.lstm(x)
  local z, h = self.gru(y)
  return z, h, state[1], state[2]
end

local Transformer = nn.Module:extend 'Transformer'
function Transformer:init()
  self.embedding, self.position = nn.Embedding(20, 8), nn.Parameter(torch.randn(7, 8))
  self.qkv, self.out, self.norm = nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8)
  self.up, self.down, self.head = nn.Linear(8, 16), nn.Linear(16, 8), nn.Linear(8, 20)
end
function Transformer:forward(ids)
  local x = self.embedding(ids) + self.position
  local q, k, v = table.unpack(self.qkv(x):chunk(3, -1))
  local function heads(t) return t:view(2, 7, 2, 4):transpose(2, 3) end
  local y = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), nil, 0, true)
  x = self.norm(x + self.out(y:transpose(2, 3):reshape(2, 7, 8)))
  return F.log_softmax(self.head(x + self.down(F.gelu(self.up(x)))), -1)
end

-- Statistics of batch norms as after training.
local function trained(net)
  for _, child in ipairs(net:modules()) do
    if child.running_var then
      child.running_mean:normal_()
      child.running_var:uniform_(0.5, 2)
    end
  end
  return net
end

local nets = {
  mlp = function()
    return exported(nn.Sequential(nn.Linear(10, 18), nn.GELU(), nn.LayerNorm(18), nn.Linear(18, 9), nn.Tanh(), nn.Dropout(0.1), nn.Linear(9, 5), nn.Softmax(-1)),
      { torch.randn(7, 10) })
  end,
  lenet = function()
    return exported(nn.Sequential(nn.Conv2d(1, 6, 5, { padding = 2 }), nn.Sigmoid(), nn.AvgPool2d(2, { stride = 2 }), nn.Conv2d(6, 16, 5), nn.Sigmoid(),
      nn.AvgPool2d(2, { stride = 2 }), nn.Flatten(), nn.Linear(400, 120), nn.Sigmoid(), nn.Linear(120, 84), nn.Sigmoid(), nn.Linear(84, 10)), { torch.rand(1, 1, 28, 28) })
  end,
  resnet = function()
    return exported(trained(nn.Sequential(nn.Conv2d(3, 8, 3, { padding = 1 }), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, { stride = 2, padding = 1 }), Residual(8, 8, 1),
      Residual(8, 12, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 10))), { torch.randn(2, 3, 17, 19) })
  end,
  recurrent = function() return exported(Recurrent(), { torch.randn(6, 3, 5) }) end,
  transformer = function() return exported(Transformer(), { torch.randint(1, 21, { 2, 7 }) }) end,
}

-- Programs of PyTorch, with inputs in place of the ones of the file.
for _, name in ipairs { 'attention', 'convolution', 'recurrent', 'mixer' } do
  nets['pt2_' .. name] = function()
    local model, inputs = torch.export.load(('tests/core/models/%s.pt2'):format(name)), {}
    for i, input in ipairs(model.inputs) do
      inputs[i] = input.dtype.is_floating_point and torch.randn(input.sizes, { dtype = input.dtype }) or torch.randint(0, 2, input.sizes, { dtype = input.dtype })
    end
    return model, inputs
  end
end

-- ---- operations ---------------------------------------------------------------------------------

local Call = nn.Module:extend 'Call'
function Call:init(fn) self.fn = fn end
function Call:forward(...) return self.fn(...) end

-- Groups of operations: a function that returns their results, and its inputs.
local operations = {
  activations = { function(x)
    return torch.stack { F.relu6(x), F.hardtanh(x), F.hardsigmoid(x), F.hardswish(x), F.silu(x), F.mish(x), F.softplus(x), F.elu(x), F.selu(x), F.celu(x, 0.7),
      F.leaky_relu(x, 0.2), F.softsign(x), F.logsigmoid(x), F.hardshrink(x), F.softshrink(x), F.tanhshrink(x), F.gelu(x, { approximate = 'tanh' }), F.gelu(x), x:abs():log1p(), x:sin(), x:floor(),
      x:clamp(-0.5, 0.5), x:erf(), x:sign(), x:exp(), x:tanh() }
  end, { 3, 7 } },
  arithmetic = { function(x, y)
    return x + y, x - 2 * y, 3 - x, x / y, torch.maximum(x, y), torch.minimum(x, y), torch.where(x:gt(y), x, y), x:masked_fill(x:gt(0), -1), x:lt(0), torch.remainder(x, 0.7),
      torch.lerp(x, y, 0.3), x:abs() ^ 1.5, (x * 3):to(torch.int64) // 2, (x * 3):to(torch.int64):float()
  end, { 4, 1, 5 }, { 3, 5 } },
  reductions = { function(x)
    return x:sum(), x:mean { 1, 3 }, x:amax(2), x:amin { 1, 2 }, x:argmax(2), x:var(2), x:std(3), x:prod(3), x:cumsum(2), x:softmax(2), x:log_softmax(1), x:logsumexp(2),
      torch.linalg.vector_norm(x, 2, 3), x:gt(0):any(2), x:gt(-9):all()
  end, { 3, 4, 5 } },
  moves = { function(x)
    return x:permute(3, 1, 2):reshape(5, 12), x[{ { 2, 3 }, { 1, 4, 2 } }]:contiguous(), x:flip { 2 }, x:roll(2, 3), x:unfold(3, 3, 1) * 1, x:chunk(2, 2)[2] + 0, torch.cat({ x, x:flip { 1 } }, 3),
      torch.stack({ x, x * 2 }, 2), x:index_select(2, torch.tensor { 3, 1 }), F.pad(x, { 1, 2, 0, 1 }), F.pad(x, { 1, 1 }, 'constant', 3), F.pad(x, { 1, 1 }, 'reflect'),
      x:transpose(1, 3) - x:permute(3, 2, 1), x:tril()
  end, { 3, 4, 5 } },
  windows = { function(x, w)
    return F.max_pool2d(x, 3, 2, 1, 1, true), F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, false, false), F.adaptive_avg_pool2d(x, { 3, 2 }), F.adaptive_max_pool2d(x, { 2, 3 }),
      F.conv2d(x, w, nil, 2, 2, 2, 2), F.conv_transpose2d(x, w, nil, 2, 1, 1, 1), F.max_pool1d(x[1], 2), F.conv1d(x:flatten(3), w[{ {}, {}, 1 }]:repeat_interleave(2, 2)),
      F.group_norm(x, 2), F.instance_norm(x), F.interpolate(x, { scale_factor = 2 })
  end, { 2, 4, 9, 7 }, { 4, 2, 3, 3 } },
  products = { function(x, y, v)
    return x:matmul(y), x:matmul(y[1]), x[1]:matmul(y[1]), x:matmul(v), torch.einsum('bij,bjk->ibk', x, y), torch.outer(v, v), v:dot(v), torch.bmm(x, y)
  end, { 2, 5, 4 }, { 2, 4, 3 }, { 4 } },
}
for name, entry in pairs(operations) do
  nets['operations_' .. name] = function()
    local inputs = {}
    for i = 2, #entry do inputs[i - 1] = torch.randn(entry[i]) end
    return torch.export.export(Call(entry[1]):eval(), inputs), inputs
  end
end

-- ---- comparison ---------------------------------------------------------------------------------

-- Writes the C source of a model to the folder; returns the number of floats of its weights.
local function build(name, model, options)
  options = options or {}
  options.name, options.header = name, name .. '.h'
  local source, header, write_weights = generate(model, options)
  write(('%s/%s.c'):format(folder, name), source)
  write(('%s/%s.h'):format(folder, name), header)
  if options.weights then
    local file <close> = assert(io.open(('%s/%s.weights'):format(folder, name), 'wb'))
    write_weights(file)
  end
  return math.tointeger(header:match '_WEIGHTS (%d+)')
end

local function results_of(model, inputs)
  return torch.no_grad(function() return { model(table.unpack(inputs)) } end)
end

local WARNINGS = ' -std=c99 -Wall -Wextra -Werror -pedantic'

local function check(name, compilers, options)
  torch.manual_seed(3)
  local model, inputs = nets[name]()
  local weights = build(name, model, options)
  local expected = results_of(model, inputs)
  for _, compiler in ipairs(compilers) do
    local results, message = c_program.run(folder, name, compiler .. WARNINGS, inputs, expected, weights)
    assert(results, message)
    local difference = c_program.difference(results, expected)
    assert.is_true(difference < 1e-5, ('%s by %s differs by %g'):format(name, compiler, difference))
  end
end

local function has(command) return select(3, process.run('command -v ' .. command .. ' >/dev/null')) == 0 end

-- A program of one operator on x of float32[2][3].
local function program(target, inputs, more)
  local definition = { inputs = { 'x' }, outputs = { 'y' }, nodes = { programs.aten(target, inputs, { programs.tensor 'y' }) },
    values = '"x": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}]}' }
  for key, value in pairs(more or {}) do definition[key] = value end
  return torch.export.load(programs.file(folder .. '/one.pt2', definition))
end

describe('C source of programs #cpu', function()
  it('gives the results of a program of ONNX, compiled by cc without warnings', function() check('mlp', { 'cc' }) end)

  for _, name in ipairs { 'mlp', 'lenet', 'resnet', 'recurrent', 'transformer', 'pt2_attention', 'pt2_convolution', 'pt2_recurrent', 'pt2_mixer', 'operations_activations', 'operations_arithmetic',
    'operations_reductions', 'operations_moves', 'operations_windows', 'operations_products' } do
    it(('of %s gives its results by gcc and clang, with and without sanitizers #again'):format(name), function()
      local compilers = { 'gcc -O3', 'gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all' }
      if has 'clang' then table.move({ 'clang -O3', 'clang -O1 -fsanitize=undefined -fsanitize-trap=undefined' }, 1, 2, 3, compilers) end
      check(name, compilers)
    end)
  end

  it('reads the weights from a separate file #again', function() check('resnet', { 'cc -O1' }, { weights = true }) end)

  it('of LeNet has at most 200 KB of code #again', function()
    torch.manual_seed(3)
    build('lenet', (nets.lenet()), { weights = true })
    local sizes = process.run(('cd %s && cc -O3 -c lenet.c && size lenet.o'):format(folder))
    assert.is_true(tonumber(sizes:match '\n%s*(%d+)') <= 200000, sizes)
  end)

  it('shares the memory of results whose lifetimes do not overlap', function()
    local nodes = { programs.aten('exp.default', { 'self', programs.tensor 'x' }, { programs.tensor 'v0' }) }
    for i = 1, 20 do nodes[#nodes + 1] = programs.aten('sin.default', { 'self', programs.tensor(('v%d'):format(i - 1)) }, { programs.tensor(('v%d'):format(i)) }) end
    local model = program('exp.default', {}, { nodes = nodes, outputs = { 'v20' }, values = '"x": {"dtype": 7, "sizes": [{"as_int": 100}]}' })
    local _, header = generate(model, { name = 'net', header = 'net.h' })
    assert.equal(400, tonumber(header:match 'NET_ARENA (%d+)'))
    assert.truthy(header:find('int net_run(const float *in_x, float *out_v20);', 1, true), header)
  end)

  it('does not overwrite an operand that a statement reads in another order', function()
    local tensor, int = programs.tensor, programs.int
    local model = program('', {}, { values = '"x": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 3}]}', nodes = {
      programs.aten('sin.default', { 'self', tensor 'x' }, { tensor 'a' }),
      programs.aten('transpose.int', { 'self', tensor 'a', 'dim0', int(0), 'dim1', int(1) }, { tensor 'b' }),
      programs.aten('sub.Tensor', { 'self', tensor 'a', 'other', tensor 'b' }, { tensor 'c' }),
      programs.aten('select.int', { 'self', tensor 'c', 'dim', int(0), 'index', int(1) }, { tensor 'd' }),
      programs.aten('mul.Tensor', { 'self', tensor 'c', 'other', tensor 'd' }, { tensor 'e' }),
      programs.aten('exp.default', { 'self', tensor 'e' }, { tensor 'y' }) } })
    local x = torch.arange(9, { dtype = torch.float32 }):view(3, 3)
    build('order', model)
    local expected = results_of(model, { x })
    local results, message = c_program.run(folder, 'order', 'cc' .. WARNINGS, { x }, expected)
    assert(results, message)
    assert.is_true(c_program.difference(results, expected) < 1e-5)
  end)

  it('compiles without warnings where an input is not read', function()
    local sizes = '"x": {"dtype": 7, "sizes": [{"as_int": 2}]}, "unread": {"dtype": 7, "sizes": [{"as_int": 1}]}'
    local model, inputs = program('exp.default', { 'self', programs.tensor 'x' }, { inputs = { 'x', 'unread' }, values = sizes }), { torch.tensor { 0.0, 1 }, torch.zeros(1) }
    build('unread', model)
    local results, message = c_program.run(folder, 'unread', 'cc' .. WARNINGS, inputs, results_of(model, inputs))
    assert(results, message)
  end)

  it('describes the arguments in the header and names the nodes in the source', function()
    local source, header = generate(program('relu.default', { 'self', programs.tensor 'x' }), { name = 'net', header = 'net.h' })
    assert.truthy(header:find(' * - in_x: float[2][3], an input\n * - out_y: float[2][3], an output\n', 1, true), header)
    assert.truthy(source:find('/* n: torch.ops.aten.relu.default [2, 3] */', 1, true), source)
  end)

  it('refuses an operator that it does not support by its node and name', function()
    local message = select(2, pcall(generate, program('linalg_inv.default', { 'A', programs.tensor 'x' },
      { values = '"x": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 2}]}' }), { name = 'net', header = 'net.h' }))
    assert.equal("node 'n' (torch.ops.aten.linalg_inv.default): the operation 'inverse' has no C source", message)
  end)

  it('refuses a dtype that it does not support', function()
    local half = program('relu.default', { 'self', programs.tensor 'x' }, { values = '"x": {"dtype": 6, "sizes": [{"as_int": 2}]}' })
    assert.equal("input 'x' has elements of torch.float16; float32, float64, int32, int64, bool and uint8 are supported",
      select(2, pcall(generate, half, { name = 'net', header = 'net.h' })))
  end)

  it('refuses a program that changes a parameter or buffer', function()
    local model = program('mul.Tensor', {}, { parameters = { { 'count', torch.zeros(1) } }, nodes = {
      programs.aten('add_.Tensor', { 'self', programs.tensor 'p_count', 'other', programs.tensor 'p_count' }, { programs.tensor 'n' }),
      programs.aten('mul.Tensor', { 'self', programs.tensor 'x', 'other', programs.tensor 'n' }, { programs.tensor 'y' }) } })
    assert.equal("the program changes 'count'; C source has no state", select(2, pcall(generate, model, { name = 'net', header = 'net.h' })))
  end)

  it('needs the number of a size that varies', function()
    local sizes = [["x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s7', positive=True, integer=True)"}}, {"as_int": 3}]}]]
    local model = program('relu.default', { 'self', programs.tensor 'x' }, { values = sizes })
    assert.equal("size 1 of input 'x' varies; choose it by --size s7=N", select(2, pcall(generate, model, { name = 'net', header = 'net.h' })))
    local _, header = generate(model, { name = 'net', header = 'net.h', sizes = { s7 = 5 } })
    assert.truthy(header:find('in_x: float[5][3]', 1, true), header)
  end)

  it('is written by the command ltensor build, with a header', function()
    programs.file(folder .. '/one.pt2', { inputs = { 'x' }, outputs = { 'y' }, nodes = { programs.aten('relu.default', { 'self', programs.tensor 'x' }, { programs.tensor 'y' }) },
      values = '"x": {"dtype": 7, "sizes": [{"as_int": 2}]}' })
    local _, message, status = process.run(('%s build %s/one.pt2 -o %s/written.c --name net'):format(process.quote(process.ltensor), folder, folder))
    assert.equal(0, status, message)
    local header <close> = assert(io.open(folder .. '/written.h'))
    assert.truthy(header:read 'a':find('int net_run(const float *in_x, float *out_y);', 1, true))
  end)

  it('has errors of the command with the argument and the remedy', function()
    local function fails(arguments)
      local _, message, status = process.run(('%s build %s'):format(process.quote(process.ltensor), arguments))
      assert.equal(1, status)
      return message
    end
    assert.equal('ltensor build: MODEL or SCRIPT.lua is missing\n', fails '')
    assert.equal("ltensor build: 'net': the output needs the suffix .c\n", fails 'a.pt2 -o net')
    assert.equal("ltensor build: '--size 3': needs the form NAME=N\n", fails 'tests/core/models/mixer.pt2 -o net.c --size 3')
  end)
end)
