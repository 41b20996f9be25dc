-- The markers of notebooks: what counts as the same output.

local compare = require 'repl.notebook.compare'

describe('an expected line', function()
  for _, case in ipairs {
    {'same', 'same', true}, {'same ', 'same', true}, {'same', 'other', false}, {'', '', true}, {'', 'x', false},
    {'<f>', '0.5', true}, {'<f>', '-1.', true}, {'<f>', ' 12', true}, {'<f>', '1e-05', true}, {'<f>', 'nan', true},
    {'<f>', '-inf', true}, {'<f>', 'x', false}, {'<f>', '1 2', false}, {'<f>', '', false},
    {'tensor([[<f>, <f>]])', 'tensor([[ 0.1234, -1.2345]])', true},
    {'tensor([[<f>, <f>]])', 'tensor([[0.1234, 1.2345]])', true},
    {'tensor([[<f>, <f>]])', 'tensor([[0.1234, 1.2345, 1.]])', false},
    {'        [<f>, <f>]])', '        [-0.1, -0.2]])', true},
    {"[<f>, <f>]], device='cuda:0')", "[0.1, 0.2]], device='cuda:1')", false},
    {'big   1000x1000 on cpu: <f> ms', 'big   1000x1000 on cpu: 12.345 ms', true},
    {'a <...> b', 'a whatever b b', true}, {'a <...>', 'a', false}, {'<...>', 'anything', true},
    {'a <...> b', 'a whatever', false}, {'%d <f>', '%d 1', true},
  } do
    local expected, got, same = table.unpack(case)
    it(('%q %s %q'):format(expected, same and 'is' or 'is not', got), function()
      assert.equal(same, compare.line(expected, got))
    end)
  end
end)

describe('<***>', function()
  it('is any number of lines', function()
    assert.is_true(compare.lines({'a', '<***>', 'b'}, {'a', 'b'}))
    assert.is_true(compare.lines({'a', '<***>', 'b'}, {'a', 'x', 'b', 'y', 'b'}))
    assert.is_true(compare.lines({'<***>'}, {}))
    assert.is_false(compare.lines({'a', '<***>', 'b'}, {'a', 'x'}))
  end)
end)

describe('a difference', function()
  it('a difference shows expected and actual lines', function()
    assert.same({'  a', '- b', '+ c', '  d'}, compare.difference({'a', 'b', 'd'}, {'a', 'c', 'd'}))
    assert.same({'+ a'}, compare.difference({}, {'a'}))
    assert.same({'- a'}, compare.difference({'a'}, {}))
  end)
end)
