-- Operators of torch.export programs: the table of core ATen, forms of operators, sizes that vary, values that a call changes, forms of
-- archives. tests/models/exported.py compares them with PyTorch.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local programs = dofile(here .. 'support/exported_program.lua')
local resolve = require 'torch.export.resolve'
local operators = require 'torch.export.operators'
local zip = require 'torch.files.zip'

local tensor, int, node, aten = programs.tensor, programs.int, programs.node, programs.aten
local folder
setup(function() folder = process.run 'mktemp -d':gsub('\n$', '') end)
teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

local function load(program) return torch.export.load(programs.file(folder .. '/program.pt2', program)) end

-- The results of one operator, named r1, r2 ... For numbers and lists, arguments are JSON.
local function results_of(count, name, arguments, ...)
  local inputs, outputs, names, values = {}, {}, {}, { ... }
  for i = 1, #values do inputs[i] = 'x' .. i end
  for i = 1, count do
    names[i] = 'r' .. i
    outputs[i] = tensor(names[i])
  end
  return load { inputs = inputs, outputs = names, nodes = { aten(name, arguments, outputs) } }(...)
end

describe('operators of torch.export #cpu', function()
  local kinds = { Tensor = 'tensor', int = 'integer', SymInt = 'integer', float = 'float', Scalar = 'integer', bool = 'bool', str = 'string', ScalarType = 'dtype',
    Layout = 'none', Device = 'none', MemoryFormat = 'none' }

  -- The arguments of a schema, and the ones without a default.
  local function arguments_of(inside)
    local all, required = {}, {}
    for part in (inside:gsub('%(%a[^()]*%)', ''):gsub('=%b[]', '=x') .. ', '):gmatch '(.-), ' do
      local type_name, name, default = part:match '^(%S+) ([%w_]+)=?(.*)$'
      if type_name then
        local base = type_name:match '^%a+'
        local kind = type_name:find '%[' and (base == 'Tensor' and 'tensors' or 'list') or kinds[base] or error('no kind for ' .. part)
        all[#all + 1] = { name = name, kind = kind }
        if default == '' then required[#required + 1] = all[#all] end
      end
    end
    return all, required
  end

  it('every overload of core ATen has an entry', function()
    local missing, count = {}, 0
    for line in io.lines(here .. '../reference/aten_core.txt') do
      local op, inside = line:match '^([%w_]+)[%w_.]*%((.*)%) %->'
      count = count + 1
      for _, arguments in ipairs { arguments_of(inside) } do
        if not operators.none[op] and not resolve.call(op, arguments, { true }) then missing[#missing + 1] = line end
      end
    end
    assert.same({}, missing)
    assert.is_true(count > 180)
  end)

  it('every missing operator of a program is named', function()
    local x = { 'self', tensor 'x' }
    fails_with("(torch.ops.aten.nothing.default): an operator that ltensor does not have; the program also needs 'torch.ops.mine.op.default'", load,
      { inputs = { 'x' }, outputs = { 'y' }, nodes = { aten('nothing.default', x, { tensor 'z' }), node('torch.ops.mine.op.default', { 'self', tensor 'z' }, { tensor 'y' }) } })
  end)

  describe('forms', function()
    local x = torch.tensor { -1.0, 0.5, 2 }

    it('op_ writes to its first argument', function()
      local y = x:clone()
      local program = load { inputs = { 'x' }, outputs = { 'y', 'x' }, nodes = { aten('gelu_.default', { 'self', tensor 'x' }, { tensor 'y' }) } }
      local written, same = program(y)
      assert.is_true(torch.equal(torch.nn.functional.gelu(x), y))
      assert.is_true(torch.equal(y, written) and torch.equal(y, same))
    end)

    it('dropout_ in evaluation returns its argument, also a parameter', function()
      local p = torch.ones(3):requires_grad_()
      local y = results_of(1, 'dropout_.default', { 'self', tensor 'x1', 'p', '{"as_float": 0.5}', 'train', '{"as_bool": false}' }, p)
      assert.is_true(torch.equal(p, y))
    end)

    it('op.out writes to the argument out', function()
      local out = torch.zeros(3)
      results_of(1, 'silu.out', { 'self', tensor 'x1', 'out', tensor 'x2' }, x, out)
      assert.is_true(torch.equal(torch.nn.functional.silu(x), out))
    end)

    it('op_copy returns a copy of the view', function()
      local y = results_of(1, 'unsqueeze_copy.default', { 'self', tensor 'x1', 'dim', int(0) }, x)
      assert.same({ 1, 3 }, y.shape)
      y:zero_()
      assert.are.equal(2, x[3]:item())
    end)

    it('the functional form of an in-place operator leaves its argument', function()
      local y = results_of(1, 'zero.default', { 'self', tensor 'x1' }, x)
      assert.same({ 0, 0, 0 }, y:tolist())
      assert.are.equal(2, x[3]:item())
    end)

    it('special_op is the function of torch.special', function()
      assert.is_true(torch.equal(torch.erf(x), results_of(1, 'special_erf.default', { 'self', tensor 'x1' }, x)))
    end)

    it('the ends of linspace and logspace are numbers or tensors', function()
      local ends = { 'start', tensor 'x1', 'end', '{"as_int": 4}', 'steps', '{"as_int": 3}' }
      assert.same({ 2, 3, 4 }, results_of(1, 'linspace.Tensor_Scalar', ends, torch.tensor(2.0)):tolist())
      assert.same({ 4, 8, 16 }, results_of(1, 'logspace.Tensor_Scalar', { 'base', '{"as_float": 2.0}', table.unpack(ends) }, torch.tensor(2.0)):tolist())
    end)

    it('a reduction is a number', function()
      local function loss(i) return results_of(1, 'mse_loss.default', { 'self', tensor 'x1', 'target', tensor 'x2', 'reduction', int(i) }, x, torch.zeros(3)) end
      assert.same({ 1, 0.25, 4 }, loss(0):tolist())
      assert.are.equal(1.75, loss(1):item())
      assert.are.equal(5.25, loss(2):item())
    end)

    it('an overload is not selected by its argument out', function()
      local a, b = torch.tensor { 1.0, 5 }, torch.tensor { 3.0, 2 }
      assert.same({ 1, 2 }, results_of(1, 'min.other', { 'self', tensor 'x1', 'other', tensor 'x2' }, a, b):tolist())
      assert.same({ 3, 5 }, results_of(1, 'max.other', { 'self', tensor 'x1', 'other', tensor 'x2' }, a, b):tolist())
      assert.same({ 3, 2 }, b:tolist())
    end)

    it('a result that ltensor does not compute is an error where the program uses it', function()
      local weight, at, offsets = torch.ones(3, 2), torch.tensor { 0, 2 }, torch.tensor { 0 }
      local arguments = { 'weight', tensor 'x1', 'indices', tensor 'x2', 'offsets', tensor 'x3' }
      fails_with('its result 2, which ltensor does not compute', results_of, 2, '_embedding_bag.default', arguments, weight, at, offsets)
      assert.same({ { 2, 2 } }, results_of(1, '_embedding_bag.default', arguments, weight, at, offsets):tolist())
    end)
  end)

  it('norms return their statistics where the program uses them', function()
    local x = torch.tensor { { 1.0, 3 }, { 2, 8 } }
    local y, mean, scale = results_of(3, 'native_layer_norm.default', { 'input', tensor 'x1', 'normalized_shape', '{"as_ints": [2]}', 'weight', '{"as_none": true}', 'bias', '{"as_none": true}',
      'eps', '{"as_float": 0.0}' }, x)
    assert.same({ { -1, 1 }, { -1, 1 } }, y:tolist())
    assert.same({ { 2 }, { 5 } }, mean:tolist())
    assert.is_true(torch.allclose(scale, torch.tensor { { 1 }, { 1 / 3 } }))
  end)

  it('derivatives of core ATen are the ones of autograd', function()
    local x, weight, grad = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3), torch.randn(2, 4, 5, 5)
    x:requires_grad_()
    weight:requires_grad_()
    torch.nn.functional.conv2d(x, weight, nil, 1, 1):backward(grad)
    local ones = '{"as_ints": [1, 1]}'
    local dx, dw, db = results_of(3, 'convolution_backward.default', { 'grad_output', tensor 'x1', 'input', tensor 'x2', 'weight', tensor 'x3', 'bias_sizes', '{"as_ints": [4]}', 'stride', ones,
      'padding', ones, 'dilation', ones, 'transposed', '{"as_bool": false}', 'output_padding', '{"as_ints": [0, 0]}', 'groups', int(1), 'output_mask', '{"as_bools": [true, true, true]}' },
      grad, x:detach(), weight:detach())
    assert.is_true(torch.allclose(x.grad, dx) and torch.allclose(weight.grad, dw) and torch.allclose(grad:sum { 1, 3, 4 }, db, { atol = 1e-5 }))
    local rows, scale = torch.randn(4, 6):requires_grad_(), torch.rand(6):requires_grad_()
    local upstream = torch.randn(4, 6)
    torch.layer_norm(rows, { 6 }, scale, nil, 1e-3):backward(upstream)
    local mean, rstd = rows:detach():mean({ 2 }, true), (rows:detach():var({ 2 }, { correction = 0, keepdim = true }) + 1e-3):rsqrt()
    local dr, ds = results_of(3, 'native_layer_norm_backward.default', { 'grad_out', tensor 'x1', 'input', tensor 'x2', 'normalized_shape', '{"as_ints": [6]}', 'mean', tensor 'x3', 'rstd', tensor 'x4',
      'weight', tensor 'x5', 'bias', '{"as_none": true}', 'output_mask', '{"as_bools": [true, true, true]}' }, upstream, rows:detach(), mean, rstd, scale:detach())
    assert.is_true(torch.allclose(rows.grad, dr, { atol = 1e-5 }) and torch.allclose(scale.grad, ds, { atol = 1e-5 }))
  end)

  it('index_put accumulates equal positions', function()
    local x = torch.zeros(3, 2)
    local y = results_of(1, 'index_put.default', { 'self', tensor 'x1', 'indices', '{"as_optional_tensors": [{"as_tensor": {"name": "x2"}}, {"as_none": true}]}', 'values', tensor 'x3',
      'accumulate', '{"as_bool": true}' }, x, torch.tensor { 0, -1, 0 }, torch.tensor { { 1.0, 2 }, { 3, 4 }, { 5, 6 } })
    assert.same({ { 6, 8 }, { 0, 0 }, { 3, 4 } }, y:tolist())
  end)
end)

describe('programs of torch.export #cpu', function()
  local function sized(name, ...)
    local sizes = {}
    for i, size in ipairs { ... } do sizes[i] = math.type(size) == 'integer' and int(size) or ('{"as_expr": {"expr_str": "%s"}}'):format(size) end
    return ('"%s": {"dtype": 7, "sizes": [%s]}'):format(name, table.concat(sizes, ', '))
  end

  it('sizes are checked: fixed ones, ranges, equal symbols', function()
    local program = load { inputs = { 'x', 'y' }, outputs = { 'z' }, values = sized('x', 's0', 2) .. ', ' .. sized('y', 's0', 2), ranges = '"s0": {"min_val": 2, "max_val": 4}',
      nodes = { aten('add.Tensor', { 'self', tensor 'x', 'other', tensor 'y' }, { tensor 'z' }) } }
    assert.same({ 3, 2 }, program(torch.zeros(3, 2), torch.zeros(3, 2)).shape)
    fails_with("size 2 of the program's input 'x' is fixed to 2, but got 3", program, torch.zeros(3, 3), torch.zeros(3, 2))
    fails_with("size 1 of the program's input 'x' is from 2 to 4, but got 5", program, torch.zeros(5, 2), torch.zeros(5, 2))
    fails_with("size 1 of the program's input 'y' equals another size of the inputs, 3, but got 2", program, torch.zeros(3, 2), torch.zeros(2, 2))
    fails_with("the program's input 'x' has 2 dimensions, not 1", program, torch.zeros(3), torch.zeros(3, 2))
  end)

  it('an assertion of the program is an error with its text', function()
    local program = load { inputs = { 'x' }, outputs = { 'x' }, nodes = { aten('item.default', { 'self', tensor 'x' }, { '{"as_sym_int": {"as_name": "i"}}' }),
      node('_operator.ge', { 'a', '{"as_sym_int": {"as_name": "i"}}', 'b', int(2) }, { '{"as_sym_bool": {"as_name": "ok"}}' }),
      aten('_assert_scalar.default', { 'self', '{"as_sym_bool": {"as_name": "ok"}}', 'assert_msg', '{"as_string": "i is too small"}' }, {}) } }
    assert.are.equal(2, program(torch.tensor(2)):item())
    fails_with('i is too small', program, torch.tensor(1))
  end)

  it('numbers are inputs and results', function()
    local n = '{"as_sym_int": {"as_name": "n"}}'
    local program = load { inputs = { 'x', n }, outputs = { 'y', '{"as_sym_int": {"as_name": "m"}}', '{"as_int": 3}', '{"as_none": true}', '{"as_string": "mode"}', '{"as_bool": false}' },
      nodes = { aten('mul.Tensor', { 'self', tensor 'x', 'other', n }, { tensor 'y' }), node('_operator.mul', { 'a', n, 'b', int(2) }, { '{"as_sym_int": {"as_name": "m"}}' }) } }
    local y, m, three, mode, no = program(torch.ones(2), 4)
    assert.same({ { 4, 4 }, 8, 3, 'mode', false }, { y:tolist(), m, three, mode, no })
    fails_with("the program's input 'n' must be a number, not", program, torch.ones(2), torch.ones(2))
  end)

  it('a call writes to the inputs that the program changes', function()
    local program = load { inputs = { 'x' }, outputs = { 'y' }, changes = { '{"user_input_mutation": {"arg": {"name": "y"}, "user_input_name": "x"}}' },
      nodes = { aten('mul.Tensor', { 'self', tensor 'x', 'other', int(2) }, { tensor 'y' }) } }
    local x = torch.ones(2)
    program(x)
    assert.same({ 2, 2 }, x:tolist())
  end)

  it('two names of one tensor are one parameter', function()
    local weight = torch.ones(2, 2)
    local program = load { parameters = { { 'a', weight }, { 'b', weight, entry = 1 } }, inputs = { 'x' }, outputs = { 'z' }, nodes = {
      aten('mm.default', { 'self', tensor 'x', 'mat2', tensor 'p_a' }, { tensor 'y' }), aten('mm.default', { 'self', tensor 'y', 'mat2', tensor 'p_b' }, { tensor 'z' }) } }
    assert.are.equal(1, #program:parameters())
    program(torch.ones(1, 2)):sum():backward()
    assert.same({ { 4, 4 }, { 4, 4 } }, program.a.grad:tolist())
  end)

  describe('with graphs', function()
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
    local function hop(name, ...) return node('torch.ops.higher_order.' .. name, ...) end
    local product = graph({ 'a', 'b' }, { aten('mul.Tensor', { 'self', tensor 'a', 'other', tensor 'b' }, { tensor 'c' }) }, { 'c' })
    local rows = torch.tensor { { 1.0, 2 }, { 3, 4 }, { 5, 6 } }

    it('map applies a graph to each row', function()
      local program = load { inputs = { 'x', 'k' }, outputs = { 'y' }, nodes = { hop('map_impl', { '', product, '', list 'x', '', list 'k' }, { list 'y' }) } }
      assert.same({ { 2, 4 }, { 6, 8 }, { 10, 12 } }, program(rows, torch.tensor(2.0)):tolist())
      assert.same({ 0, 2 }, program(torch.zeros(0, 2), torch.tensor(2.0)).shape)
    end)

    it('scan carries values from row to row', function()
      local step = graph({ 'c', 'r' }, { aten('add.Tensor', { 'self', tensor 'c', 'other', tensor 'r' }, { tensor 's' }), aten('neg.default', { 'self', tensor 's' }, { tensor 'n' }) }, { 's', 'n' })
      local program = load { inputs = { 'c', 'x' }, outputs = { 'l', 'y' }, nodes = { hop('scan', { '', step, '', list 'c', '', list 'x', '', list() }, { list('l', 'y') }) } }
      local last, y = program(torch.zeros(2), rows)
      assert.same({ { 9, 12 }, { { -1, -2 }, { -4, -6 }, { -9, -12 } } }, { last:tolist(), y:tolist() })
    end)

    it('associative_scan gives running products', function()
      local program = load { inputs = { 'x' }, outputs = { 'y' }, nodes = { hop('associative_scan', { '', product, '', list 'x', '', list() }, { list 'y' }) } }
      assert.same({ { 1, 2 }, { 3, 8 }, { 15, 48 } }, program(rows):tolist())
    end)

    it('a region without gradients has none', function()
      local function of(enabled)
        return load { inputs = { 'x', 'k' }, outputs = { 'y' }, nodes = { hop('wrap_with_set_grad_enabled', { '', ('{"as_bool": %s}'):format(enabled), '', product, '', tensor 'x', '', tensor 'k' }, { list 'y' }) } }
      end
      local x = torch.ones(2):requires_grad_()
      assert.is_false(of(false)(x, torch.ones(2)).requires_grad)
      assert.is_true(of(true)(x, torch.ones(2)).requires_grad)
    end)

    it('autocast and checkpoints run their graphs', function()
      local mm = graph({ 'a', 'b' }, { aten('mm.default', { 'self', tensor 'a', 'mat2', tensor 'b' }, { tensor 'c' }) }, { 'c' })
      local cast = load { inputs = { 'x' }, outputs = { 'y' }, nodes = { hop('wrap_with_autocast', { '', '{"as_string": "cpu"}', '', '{"as_scalar_type": 13}', '', '{"as_bool": true}', '',
        '{"as_bool": false}', '', mm, '', tensor 'x', '', tensor 'x' }, { list 'y' }) } }
      assert.are.equal(torch.bfloat16, cast(torch.ones(2, 2)).dtype)
      local kept = load { inputs = { 'x' }, outputs = { 'y' }, nodes = { hop('tag_activation_checkpoint', { '', mm, '', tensor 'x', '', tensor 'x' }, { list 'y' }) } }
      assert.same({ { 2, 2 }, { 2, 2 } }, kept(torch.ones(2, 2)):tolist())
    end)
  end)

  describe('of other versions', function()
    local function archive(entries)
      local path = folder .. '/other.pt2'
      local writer <close> = zip.create(path)
      for name, content in pairs(entries) do writer:add(name, { content }, 64) end
      writer:finish()
      return path
    end
    local function saved(value)
      local path = folder .. '/saved.pt'
      torch.save(value, path)
      local stream <close> = assert(io.open(path, 'rb'))
      return stream:read 'a'
    end
    local text
    setup(function()
      local path = programs.file(folder .. '/program.pt2', { parameters = { { 'w', torch.zeros(2) } }, inputs = { 'x' }, outputs = { 'y' },
        nodes = { aten('mul.Tensor', { 'self', tensor 'x', 'other', tensor 'p_w' }, { tensor 'y' }) } })
      local whole <close> = zip.open(path)
      text = whole:text(whole.by_name['p/models/model.json'], 10000)
    end)

    it('PyTorch 2.5 to 2.7 stores one JSON and files of torch.save', function()
      local program = torch.export.load(archive { ['serialized_exported_program.json'] = text, ['serialized_state_dict.pt'] = saved { w = torch.tensor { 2.0, 3 } }, ['serialized_constants.pt'] = '' })
      assert.same({ 2, 3 }, program(torch.ones(2)):tolist())
    end)

    it('PyTorch 2.8 stores files of torch.save beside the program', function()
      local program = torch.export.load(archive { ['p/models/model.json'] = text, ['p/data/weights/model.pt'] = saved { w = torch.tensor { 2.0, 3 } } })
      assert.same({ 2, 3 }, program(torch.ones(2)):tolist())
    end)

    it('an AOTInductor package is refused by its name', function()
      fails_with('an AOTInductor package', torch.export.load, archive { ['p/data/aotinductor/model/x.so'] = 'code' })
    end)
  end)
end)
