-- torch.export.load: programs in .pt2 files that the spec writes itself, run, trained, damaged. PyTorch's own are in tests/models/exported.py.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local programs = dofile(here .. 'support/exported_program.lua')

local folder
setup(function() folder = process.run 'mktemp -d':gsub('\n$', '') end)
teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

local tensor, int, node, aten = programs.tensor, programs.int, programs.node, programs.aten
local function file(program, change) return programs.file(folder .. '/program.pt2', program, change) end

local weight, bias = torch.tensor { { 1.0, 2 }, { 3, 4 }, { 5, 6 } }, torch.tensor { 0.5, 0, -0.5 }
local linear = { parameters = { { 'head.weight', weight }, { 'head.bias', bias } }, inputs = { 'x' }, outputs = { 'y', 'best' },
  nodes = { aten('linear.default', { 'input', tensor 'x', 'weight', tensor 'p_head_weight', 'bias', tensor 'p_head_bias' }, { tensor 'y' }),
    aten('argmax.default', { 'self', tensor 'y', 'dim', int(1) }, { tensor 'best' }) } }

describe('torch.export.load #cpu', function()
  it('gives a module with the parameters by their names, and positions that count from 0', function()
    local model = torch.export.load(file(linear))
    local x = torch.tensor { { 1.0, -1 }, { 2, 0 } }
    local y, best = model(x)
    assert.is_true(torch.equal(x:matmul(weight:t()) + bias, y))
    assert.same({ 0, 2 }, best:tolist())
    assert.is_true(torch.equal(y, (model { x = x })))
    assert.same({ 'head.weight', 'head.bias' }, { model:state_dict()[1], model:state_dict()[2] })
    model(x):sum():backward()
    assert.same({ { 3, -1 }, { 3, -1 }, { 3, -1 } }, model.head.weight.grad:tolist())
    assert.truthy(tostring(model):find('inputs=(x), nodes=2', 1, true))
  end)

  it('the bytes of a file give the same program', function()
    local stream <close> = assert(io.open(file(linear), 'rb'))
    local x = torch.tensor { { 1.0, -1 } }
    assert.is_true(torch.equal((torch.export.load(file(linear))(x)), (torch.export.load(stream:read 'a')(x))))
  end)

  it('an exported program supports dynamic sizes, parts, lists and writes into views', function()
    local model = torch.export.load(file { inputs = { 'x' }, outputs = { 'z', 'part' }, nodes = {
      aten('sym_size.int', { 'self', tensor 'x', 'dim', int(0) }, { '{"as_sym_int": {"as_name": "n"}}' }),
      node('_operator.mul', { 'a', '{"as_sym_int": {"as_name": "n"}}', 'b', int(2) }, { '{"as_sym_int": {"as_name": "m"}}' }),
      aten('slice.Tensor', { 'self', tensor 'x', 'dim', int(1), 'start', int(1), 'end', int(9223372036854775807), 'step', int(2) }, { tensor 'part' }),
      aten('split.Tensor', { 'self', tensor 'x', 'split_size', int(2), 'dim', int(-1) }, { '{"as_tensors": [{"name": "a"}, {"name": "b"}]}' }),
      aten('cat.default', { 'tensors', '{"as_tensors": [{"name": "b"}, {"name": "a"}]}', 'dim', int(1) }, { tensor 'c' }),
      aten('select.int', { 'self', tensor 'c', 'dim', int(1), 'index', int(0) }, { tensor 's' }),
      aten('fill_.Scalar', { 'self', tensor 's', 'value', int(7) }, { tensor 'f' }),
      aten('reshape.default', { 'self', tensor 'c', 'shape', '{"as_sym_ints": [{"as_name": "m"}, {"as_int": 2}]}' }, { tensor 'z' }) } })
    for _, n in ipairs { 1, 3 } do
      local x = torch.arange(4 * n, { dtype = torch.float32 }):view(n, 4)
      local z, part = model(x)
      assert.same({ 2 * n, 2 }, z.shape)
      assert.same({ { 7, 3 }, { 0, 1 } }, z:narrow(1, 1, 2):tolist())
      assert.same({ 1, 3 }, part[1]:tolist())
    end
  end)

  describe('of graphs in graphs', function()
    local function graph(inputs, nodes, outputs)
      local function all(names)
        local texts = {}
        for i, name in ipairs(names) do texts[i] = tensor(name) end
        return table.concat(texts, ', ')
      end
      return ('{"as_graph": {"name": "g", "graph": {"inputs": [%s], "outputs": [%s], "nodes": [%s]}}}'):format(all(inputs), all(outputs), table.concat(nodes, ', '))
    end
    local function list(...)
      local texts = {}
      for i, name in ipairs { ... } do texts[i] = ('{"name": "%s"}'):format(name) end
      return ('{"as_tensors": [%s]}'):format(table.concat(texts, ', '))
    end
    local twice = graph({ 'a', 'b' }, { aten('mul.Tensor', { 'self', tensor 'b', 'other', int(2) }, { tensor 'c' }) }, { 'c' })
    local negative = graph({ 'a', 'b' }, { aten('neg.default', { 'self', tensor 'a' }, { tensor 'c' }) }, { 'c' })
    local function choice(...) return node('torch.ops.higher_order.cond', { '', tensor 'p', '', twice, '', negative, '', list(...) }, { tensor 'y' }) end

    it('cond selects a branch with its own names', function()
      local model = torch.export.load(file { inputs = { 'p', 'c', 'b' }, outputs = { 'y', 'c' }, nodes = { choice('c', 'b') } })
      local c, b = torch.tensor { 1.0, 2 }, torch.tensor { 3.0, 4 }
      assert.same({ 6, 8 }, (model(torch.tensor(true), c, b)):tolist())
      local y, same = model(torch.tensor(false), c, b)
      assert.same({ { -1, -2 }, { 1, 2 } }, { y:tolist(), same:tolist() })
      c:requires_grad_()
      model(torch.tensor(false), c, b):sum():backward()
      assert.same({ -1, -1 }, c.grad:tolist())
    end)

    it('while_loop repeats while its condition is true', function()
      local below = graph({ 'i', 'x', 'k' }, { aten('lt.Scalar', { 'self', tensor 'i', 'other', int(3) }, { tensor 'l' }), aten('gt.Scalar', { 'self', tensor 'i', 'other', int(-9) }, { tensor 'm' }),
        aten('__and__.Tensor', { 'self', tensor 'l', 'other', tensor 'm' }, { tensor 'r' }) }, { 'r' })
      local step = graph({ 'i', 'x', 'k' }, { aten('add.Tensor', { 'self', tensor 'i', 'other', int(1) }, { tensor 'j' }),
        aten('mul.Tensor', { 'self', tensor 'x', 'other', tensor 'k' }, { tensor 'z' }) }, { 'j', 'z' })
      local model = torch.export.load(file { inputs = { 'i', 'x', 'k' }, outputs = { 'n', 'y' },
        nodes = { node('torch.ops.higher_order.while_loop', { '', below, '', step, '', list('i', 'x'), '', list 'k' }, { list('n', 'y') }) } })
      local n, y = model(torch.tensor(0), torch.tensor { 1.0, 5 }, torch.tensor(2.0))
      assert.same({ 3, { 8, 40 } }, { n:item(), y:tolist() })
      assert.are.equal(7, (model(torch.tensor(7), y, y)):item())
    end)

    it('a malformed subgraph is an error', function()
      local function one(text) return file { inputs = { 'p', 'c', 'b' }, outputs = { 'y' }, nodes = { text } } end
      local model = torch.export.load(one(choice 'c'))
      fails_with("(torch.ops.higher_order.cond): a graph of 2 values, not of 1", model, torch.tensor(true), torch.zeros(2), torch.zeros(2))
      local function refused(words, ...) fails_with(words, torch.export.load, one(node('torch.ops.higher_order.cond', { ... }, { tensor 'y' }))) end
      refused('2 arguments, not 4', '', tensor 'p', '', twice)
      refused("its argument 2 is 'tensor'", '', tensor 'p', '', tensor 'p', '', twice, '', list 'c')
      refused("its argument 4 is 'graph'", '', tensor 'p', '', twice, '', twice, '', twice)
      refused("its input 'p' is made by no node before it", '', tensor 'p', '', twice, '', graph({ 'a' }, { aten('neg.default', { 'self', tensor 'p' }, { tensor 'c' }) }, { 'c' }), '', list 'c')
      local deep = twice
      for _ = 1, 60 do deep = graph({ 'a' }, { node('torch.ops.higher_order.cond', { '', tensor 'a', '', deep, '', twice, '', list('a', 'a') }, { tensor 'c' }) }, { 'c' }) end
      refused('nested too deep', '', tensor 'p', '', deep, '', twice, '', list 'c')
    end)
  end)

  it('an unsupported operator is an error that names its node', function()
    local x = { 'self', tensor 'x' }
    local function one(text) return file { inputs = { 'x' }, outputs = { 'y' }, nodes = { text } } end
    fails_with('(torch.ops.mine.op.default): an operator that ltensor does not have', torch.export.load, one(node('torch.ops.mine.op.default', x, { tensor 'y' })))
    fails_with('(torch.ops.aten.nothing.default): an operator that ltensor does not have', torch.export.load, one(aten('nothing.default', x, { tensor 'y' })))
    fails_with('(torch.ops.aten.relu.default): arguments that no op', torch.export.load, one(aten('relu.default', { 'self', tensor 'x', 'more', int(1) }, { tensor 'y' })))
    fails_with("its input 'z' is made by no node", torch.export.load, one(aten('relu.default', { 'self', tensor 'z' }, { tensor 'y' })))
    fails_with("its result 'y' is made by no node", torch.export.load, one(aten('relu.default', x, { tensor 'w' })))
    local model = torch.export.load(one(aten('t.default', x, { tensor 'y' })))
    fails_with('(torch.ops.aten.t.default): ', model, torch.zeros(2, 2, 2))
    fails_with('expects 1 inputs, but got 2', model, torch.zeros(2), torch.zeros(2))
    fails_with("input 'x' must be a Tensor", model, 3)
    fails_with("the program has no input 'y'", model, { y = torch.zeros(2) })
  end)

  it('a damaged program is an error', function()
    for words, change in pairs {
      ['is no JSON'] = function(text, description) return text:sub(1, -3), description end,
      ["'signature' must be a table"] = function(text, description) return text:gsub('signature', 'sign'), description end,
      ['reaches beyond the 6 elements'] = function(text, description) return text, (description:gsub('"strides": %[{"as_int": 2}', '"strides": [{"as_int": 3}')) end,
      ['a size of a tensor that is no whole number'] = function(text, description) return text, (description:gsub('"as_int": 3}', '"as_int": -3}')) end,
      ['has elements of type 29'] = function(text, description) return text, (description:gsub('"dtype": 7', '"dtype": 29')) end,
      ["no entry for tensor 'head."] = function(text, description) return text, (description:gsub('weight_%d', 'nothing')) end,
      ["no tensor 'head.weight'"] = function(text) return text, '{"config": {}}' end,
      ['is an object of Python'] = function(text, description) return text, (description:gsub('"use_pickle": false', '"use_pickle": true')) end,
    } do fails_with(words, torch.export.load, file(linear, change)) end
    torch.save({ 1 }, folder .. '/list.pt')
    fails_with('no archive of torch.export', torch.export.load, folder .. '/list.pt')
    fails_with("argument 'f'", torch.export.load, 3)
  end)
end)
