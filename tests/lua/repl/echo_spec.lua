-- How values are shown.

local echo = require 'repl.echo'

local function shown(...) return echo.values(table.pack(...)) end

local function object(text, key) return setmetatable({}, {[key or '__repr'] = function() return text end}) end

describe('a plain value is shown so that it can be typed back:', function()
  for _, case in ipairs {
    {1, '1'}, {-3, '-3'}, {1.0, '1.0'}, {0.1, '0.1'}, {0.1 + 0.2, '0.30000000000000004'}, {1e100, '1e+100'},
    {math.huge, 'math.huge'}, {-math.huge, '-math.huge'}, {math.mininteger, 'math.mininteger'},
    {true, 'true'}, {'text', "'text'"}, {"it's", '"it\'s"'}, {'both \' "', [['both \' "']]},
    {'a\nb\t\\', [['a\nb\t\\']]}, {'\0001', [['\x001']]}, {'\200', [['\xC8']]}, {'é', "'é'"},
  } do
    it(case[2], function()
      assert.equal(case[2], shown(case[1]))
      assert.equal(case[1], load('return ' .. case[2])())
    end)
  end

  it('nan', function() assert.equal('nan', shown(0 / 0)) end)
end)

describe('tables', function()
  it('show their list, then their keys in order', function()
    assert.equal('{1, 2, x = 3}', shown {1, 2, x = 3})
    assert.equal("{[2.5] = 4, ['a b'] = 3, b = 2, ['end'] = 1, [true] = 5, [false] = 6}",
      shown {['end'] = 1, b = 2, ['a b'] = 3, [2.5] = 4, [true] = 5, [false] = 6})
    assert.equal('{}', shown {})
  end)

  it('show holes as keys or nil', function()
    assert.equal(#{1, nil, 3} == 3 and '{1, nil, 3}' or '{1, [3] = 3}', shown {1, nil, 3}) -- Lua 5.5 may say 1
  end)

  it('show cycles', function()
    local t = {1}
    t.self = t
    assert.equal('{1, self = <cycle>}', shown(t))
  end)

  it('show a table twice that is there twice', function()
    local t = {1}
    assert.equal('{{1}, {1}}', shown {t, t})
  end)

  it('go over several lines when wide', function()
    local long = ('x'):rep(50)
    assert.equal(("{a = '%s',\n b = '%s'}"):format(long, long), shown {a = long, b = long})
    assert.equal(("{a = {'%s',\n      '%s'}}"):format(long, long), shown {a = {long, long}})
  end)

  it('show at most 1000 entries', function()
    local t = {}
    for index = 1, 5000 do t[index] = index end
    local text = shown(t)
    assert.is_truthy(text:find('1000,\n ...}', 1, true))
    assert.is_nil(text:find('1001', 1, true))
  end)

  it('are read without their metamethods', function()
    local t = setmetatable({1}, {__index = error, __pairs = error, __len = error})
    assert.equal('{1}', shown(t))
  end)
end)

describe('objects', function()
  it('speak through __repr, else __tostring', function()
    assert.equal('repr', shown(object 'repr'))
    assert.equal('string', shown(object('string', '__tostring')))
    assert.equal('constant', shown(setmetatable({}, {__repr = 'constant'})))
  end)

  it('objects with a failing __tostring are still shown', function()
    local address = _VERSION == 'Lua 5.3' and '' or ' 0x%x+' -- string.format of 5.3 has no %p
    assert.is_truthy(shown(setmetatable({}, {__tostring = function() return {} end})):find('^<table' .. address .. '>$'))
    assert.is_truthy(shown(setmetatable({}, {__tostring = function() error 'no' end})):find 'could not be shown: .*no')
    assert.is_truthy(shown(setmetatable({}, {__tostring = function() error {} end})):find 'could not be shown: table')
  end)

  it('objects are converted once', function()
    local asked = 0
    shown(setmetatable({}, {__tostring = function() asked = asked + 1 return 'x' end}), 1)
    assert.equal(1, asked)
  end)

  it('functions show their parameters and source line', function()
    assert.equal('<function print>', shown(print))
    assert.equal('<function math.sin>', shown(math.sin))
    local f = load('return function(a, b, ...) end', '=(cell 3)')()
    assert.equal('<function(a, b, ...) at (cell 3):1>', shown(f))
  end)
end)

describe('several values', function()
  local cuda, cpu = object "device(type='cuda', index=0)", object "device(type='cpu')"
  local tensor = object 'tensor([[1., 1., 1.],\n        [1., 1., 1.]])'

  it('nothing: nothing, a nil alone: nothing', function()
    assert.is_nil(shown())
    assert.is_nil(shown(nil))
  end)

  it('are a tuple', function()
    assert.equal('(1, nil)', shown(1, nil))
    assert.equal("(device(type='cpu'), device(type='cpu'), {device(type='cpu')})", shown(cpu, cpu, {cpu}))
  end)

  it('stand on lines of their own when together too wide', function()
    assert.equal("(device(type='cuda', index=0),\n device(type='cpu'),\n {device(type='cuda', index=0)})",
      shown(cuda, cpu, {cuda}))
    assert.equal("(device(type='cuda', index=0), device(type='cuda', index=0), false)", shown(cuda, cuda, false))
  end)

  it('stand on lines of their own when one has several lines', function()
    assert.equal("(tensor([[1., 1., 1.],\n         [1., 1., 1.]]),\n device(type='cpu'))", shown(tensor, cpu))
  end)

  it('fill 79 columns and no more', function()
    assert.is_nil(shown(('x'):rep(69), 1, 2):find '\n')
    assert.is_truthy(shown(('x'):rep(70), 1, 2):find '\n')
  end)
end)
