-- Programs of torch.export with nested arguments and results, with operators of other namespaces, and with effects.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local programs = dofile(here .. 'support/exported_program.lua')

local tensor, int, node, aten, tree = programs.tensor, programs.int, programs.node, programs.aten, programs.tree
local folder
setup(function() folder = process.run 'mktemp -d':gsub('\n$', '') end)
teardown(function() os.execute('rm -rf ' .. process.quote(folder)) end)

local function load(program) return torch.export.load(programs.file(folder .. '/program.pt2', program)) end
local function leaf() return tree() end
local function binary(name, a, b, result) return aten(name .. '.Tensor', { 'self', tensor(a), 'other', tensor(b) }, { tensor(result) }) end

-- forward((a, b), named, *, scale, mode): { sum = a + b, list = { b * scale, None, 3 } }, (None, named.k - a)
local function nested()
  return load { inputs = { 'pair_0', 'pair_1', 'named_k', 'scale', '{"as_string": "x"}' }, outputs = { 's', 'p', '{"as_none": true}', '{"as_int": 3}', '{"as_none": true}', 'd' },
    nodes = { binary('add', 'pair_0', 'pair_1', 's'), binary('mul', 'pair_1', 'scale', 'p'), binary('sub', 'named_k', 'pair_0', 'd') },
    trees = programs.trees(tree('tuple', nil, tree('tuple', nil, leaf(), leaf()), tree('dict', '["k"]', leaf())), tree('dict', '["scale", "mode"]', leaf(), leaf()),
      tree('tuple', nil, tree('dict', '["sum", "list"]', leaf(), tree('list', nil, leaf(), leaf(), leaf())), tree('tuple', nil, leaf(), leaf())), { 'pair', 'named', 'scale', 'mode' }) }
end

describe('nested values of torch.export #cpu', function()
  local a, b, k, scale = torch.tensor { 1.0, 2 }, torch.tensor { 3.0, 5 }, torch.tensor { 7.0, 7 }, torch.tensor(2.0)
  local function check(first, second)
    assert.same({ 4, 7 }, first.sum:tolist())
    assert.same({ 6, 10 }, first.list[1]:tolist())
    assert.is_nil(first.list[2])
    assert.are.equal(3, first.list[3])
    assert.is_nil(second[1])
    assert.same({ 6, 5 }, second[2]:tolist())
  end

  it('arguments and results have the form of the module', function() check(nested()({ a, b }, { k = k }, { scale = scale, mode = 'x' })) end)
  it('constant arguments may be left out', function() check(nested()({ a, b }, { k = k }, { scale = scale })) end)
  it('all arguments can have names', function() check(nested() { pair = { a, b }, named = { k = k }, scale = scale }) end)
  it('the tensors in the arguments can be given in order or by their names', function()
    check(nested()(a, b, k, scale))
    check(nested() { pair_0 = a, pair_1 = b, named_k = k, scale = scale })
  end)

  it('arguments of another form are errors', function()
    local program = nested()
    fails_with("the program: its argument 'pair' must be a table, not ", program, a, { k = k }, { scale = scale })
    fails_with("the program: its argument 'pair' has no entry '3'", program, { a, b, k }, { k = k }, { scale = scale })
    fails_with("the program: its argument 'named' has no entry 'm'", program, { a, b }, { k = k, m = k }, { scale = scale })
    fails_with("the program's input 'scale' must be a Tensor, not ", program, { a, b }, { k = k })
    fails_with("the program has no input 'size'", program, { a, b }, { k = k }, { scale = scale, size = 1 })
    fails_with("the program's argument 'mode' is fixed to x, but got y", program, { a, b }, { k = k }, { scale = scale, mode = 'y' })
    fails_with('the program expects 2 arguments, but got 4', program, { a, b }, { k = k }, { scale = scale }, 1)
  end)

  local function of_one(input, kind, keys)
    return load { inputs = { 'x', 'y' }, outputs = { 's', 'y' }, nodes = { binary('add', 'x', 'y', 's') },
      trees = programs.trees(tree('tuple', nil, tree(input, '["u", "v"]', leaf(), leaf())), tree('dict', '[]'), tree(kind, keys, leaf(), leaf()), { 'values' }) }
  end

  it('an argument that is a dict is no table of names', function() assert.same({ 4, 7 }, of_one('dict', 'tuple', nil)({ u = a, v = b }):tolist()) end)

  it('the results of a class are a table by the names in its context', function()
    for keys, name in pairs { ['["u", "v"]'] = 'u', ['[["u", "v"], ["w"]]'] = 'u', ['{"dict_context": [5, 6]}'] = 5, ['"Point"'] = 1, ['no JSON'] = 1 } do
      assert.same({ 4, 7 }, of_one('dict', 'models.Output', keys)({ u = a, v = b })[name]:tolist())
    end
  end)

  it('a list is one result, a tuple is several', function()
    assert.are.equal(2, #of_one('dict', 'list', nil)({ u = a, v = b }))
    assert.are.equal(2, select('#', of_one('dict', 'tuple', nil)({ u = a, v = b })))
  end)

  it('a model of the C library has its results in order', function()
    local host = require 'torch.model.host'
    of_one('dict', 'dict', '["v", "u"]')
    local results = host.run(host.open(folder .. '/program.pt2'), false, a, b)
    assert.same({ { 4, 7 }, { 3, 5 } }, { results[1]:tolist(), results[2]:tolist() })
  end)

  it('a treespec that does not fit the values is damage', function()
    fails_with('a treespec of 1 values, not of 2', load, { inputs = { 'x' }, outputs = { 'x', 'x' }, nodes = {},
      trees = programs.trees(tree('tuple', nil, leaf()), tree('dict', '[]'), tree('tuple', nil, leaf()), { 'x' }) })
  end)
end)

describe('operators of other namespaces in torch.export #cpu', function()
  local library
  before_each(function() library = torch.library.Library 'exported_spec' end)
  after_each(function() library:_destroy() end)

  local function program(overload)
    return load { inputs = { 'x' }, outputs = { 'y', 'z' },
      nodes = { node('torch.ops.exported_spec.scaled.' .. (overload or 'default'), { 'x', tensor 'x', 'dims', '{"as_ints": [0, 1]}', 'k', '{"as_float": 3.0}' }, { tensor 'y', tensor 'z' }) } }
  end
  local function define()
    library:define 'scaled(Tensor x, float k, int[] dims, *, float more=1.0) -> (Tensor, Tensor)'
    library:impl('scaled', function(x, k, dims, more) return x * k, x + #dims + more end)
    torch.library.register_autograd('exported_spec::scaled', function(_, grad) return grad * 10, nil, nil end)
  end

  it('are operations of torch.library, with their derivatives', function()
    define()
    local x = torch.tensor { 1.0, 2 }:requires_grad_()
    local y, z = program()(x)
    assert.same({ { 3, 6 }, { 4, 5 } }, { y:tolist(), z:tolist() })
    y:sum():backward()
    assert.same({ 10, 10 }, x.grad:tolist())
  end)

  it('that are not defined are errors with the remedy', function()
    fails_with('(torch.ops.exported_spec.scaled.default): an operator that ltensor does not have; define it by torch.library.custom_op before you load', program)
    define()
    fails_with('(torch.ops.exported_spec.scaled.other): an operator that ltensor does not have', program, 'other')
    library:define 'few(Tensor x) -> Tensor'
    fails_with("its argument 'dims' is none of the operation that you defined", load, { inputs = { 'x' }, outputs = { 'y' },
      nodes = { node('torch.ops.exported_spec.few.default', { 'x', tensor 'x', 'dims', '{"as_ints": [0]}' }, { tensor 'y' }) } })
  end)

  it('of torchvision and transformers are known', function()
    local function of(name, arguments) return load { inputs = { 'a', 'b', 'c' }, outputs = { 'y' }, nodes = { node('torch.ops.' .. name .. '.default', arguments, { tensor 'y' }) } } end
    local grouped = of('transformers.grouped_mm_fallback', { 'input', tensor 'a', 'weight', tensor 'b', 'offs', tensor 'c' })
    local rows, weights = torch.tensor { { 1.0, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }, torch.tensor { { { 1.0 }, { 0 } }, { { 9 }, { 9 } }, { { 0 }, { 1 } } }:requires_grad_()
    local y = grouped(rows, weights, torch.tensor { 1, 1, 3 })
    assert.same({ { 1 }, { 4 }, { 6 }, { 0 } }, y:tolist())
    y:sum():backward()
    assert.same({ { { 1 }, { 2 } }, { { 0 }, { 0 } }, { { 8 }, { 10 } } }, weights.grad:tolist())
    assert.same({ 0, 1 }, grouped(rows:narrow(1, 1, 0), weights, torch.tensor { 0, 0, 0 }).shape)
    local kept = of('torchvision.nms', { 'dets', tensor 'a', 'scores', tensor 'b', 'iou_threshold', '{"as_float": 0.5}' })
    local boxes = torch.tensor { { 0.0, 0, 2, 2 }, { 0, 0, 2, 2.2 }, { 5, 5, 6, 6 } }
    assert.same({ 1, 2 }, kept(boxes, torch.tensor { 0.5, 0.9, 0.3 }, rows):tolist())
  end)

  local function functionalized(...)
    return load { inputs = { 'x' }, outputs = { 'x', 'y' }, nodes = { node('torch.ops.higher_order.auto_functionalized_v2',
      { '', '{"as_operator": "torch.ops.exported_spec.bump.default"}', 'by', '{"as_float": 2.0}', '_all_bases', '{"as_tensors": [{"name": "x"}]}', '_x_base_index', int(0), ... },
      { '{"as_none": true}', tensor 'y' }) } }
  end

  it('that write to arguments write to copies in the inference IR', function()
    library:define 'bump(Tensor(a!) x, float by) -> ()'
    library:impl('bump', function(x, by) x:add_(by) end)
    local function check(expected, ...)
      local x, y = functionalized(...)(torch.zeros(2, 2))
      assert.same({ { { 0, 0 }, { 0, 0 } }, expected }, { x:tolist(), y:tolist() })
    end
    check({ { 2, 2 }, { 2, 2 } })
    check({ { 2, 0 }, { 2, 0 } }, '_x_slice_dim', int(1), '_x_slice_start', int(0), '_x_slice_end', int(1))
    check({ { 0, 2 }, { 0, 2 } }, '_x_size', '{"as_ints": [2]}', '_x_stride', '{"as_ints": [2]}', '_x_storage_offset', int(1))
  end)

  it('effects are ordered by tokens, which are no arguments and no results', function()
    local printed
    library:define 'seen(Tensor x) -> Tensor'
    library:impl('seen', function(x)
      printed = x:tolist()
      return x + 1
    end)
    local token = '{"token": {"arg": {"name": "token"}}}'
    local model = load { specs = { token }, inputs = { 'x' }, outputs = { 'y' }, changes = { '{"token": {"arg": {"name": "t"}}}' }, nodes = {
      node('torch.ops.higher_order.with_effects', { '', tensor 'token', '', '{"as_operator": "torch.ops.exported_spec.seen.default"}', '', tensor 'x' }, { tensor 't', tensor 'y' }) } }
    assert.same({ 2, 3 }, model(torch.tensor { 1.0, 2 }):tolist())
    assert.same({ 1, 2 }, printed)
    fails_with('(torch.ops.higher_order.with_effects): torch.ops.exported_spec.nothing.default: an operator that ltensor does not have', load, { specs = { token }, inputs = { 'x' },
      outputs = { 'y' }, nodes = { node('torch.ops.higher_order.with_effects', { '', tensor 'token', '', '{"as_operator": "torch.ops.exported_spec.nothing.default"}' }, { tensor 't', tensor 'y' }) } })
  end)
end)
