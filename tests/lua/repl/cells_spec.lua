-- Cells: what their value is, when they are complete, which locals live on.

local cell = require 'repl.cell'

-- Runs cells in one scope and returns the values of the last one.
local function run(...)
  local scope, values = cell.scope(), nil
  for number, source in ipairs {...} do
    local compiled = assert(cell.compile(source, ('=(cell %d)'):format(number), scope))
    values = table.pack(compiled.run())
    if compiled.has_value then values = table.pack(table.unpack(values, 2, values.n)) end
  end
  return table.unpack(values, 1, values.n)
end

local function status(source)
  local compiled, message, more = cell.compile(source, '=(cell 1)', cell.scope())
  if compiled then return 'complete' end
  return more and 'incomplete' or 'invalid', message
end

describe('the value of a cell', function()
  local cases = {
    {'an expression', '1 + 1', 2},
    {'after statements on a line', 'x = 4; x + 1', 5},
    {'after statements on their own lines', 'x = 4\ny = 5\nx * y', 20},
    {'without a semicolon between', 'local x = 3 x', 3},
    {'after numbers of every kind', 'local x = 0x1F x + 0x.8p+1 + 0XAp-1 + 1e+2 + .5 + 3.', 140.5},
    {'a call', 'local f = function() return 7 end\nf()', 7},
    {'old Lua\'s =x', '=1 + 2', 3},
    {'before a comment', '5 -- five', 5},
    {'before a long comment', '5 --[[ five\nsix ]]', 5},
    {'of a return statement', 'return 6', 6},
    {'a table', 'x = 1; #{1, 2, 3}', 3},
    {'a string after a statement', 'x = 1\n"text"', 'text'},
    {'a long string with code in it', '[[\nreturn 1\n]]', 'return 1\n'},
    {'a function defined and called', 'function g() return 8 end g()', 8},
    {'an anonymous function, called', '(function() return 9 end)()', 9},
    {'a method call over lines', "('x')\n  :rep(2)\n  :upper()", 'XX'},
    {'after a goto', 'goto done\n::done::\n1', 1},
    {'after a loop', 'n = 0 for i = 1, 3 do n = n + i end n', 6},
    {'with shifts and comparisons', '1 << 2 == 4 and not false', true},
  }
  for _, case in ipairs(cases) do
    it('is ' .. case[1], function() assert.equal(case[3], (run(case[2]))) end)
  end

  it('may be several values', function()
    assert.same({1, 2, n = 2}, table.pack(run '1, 2'))
    assert.same({1, n = 3}, table.pack(run '1, nil, nil'))
  end)

  it('is none after a statement', function()
    assert.equal(0, select('#', run 'x = 1'))
    assert.equal(0, select('#', run 'for i = 1, 2 do local _ = tostring(i) end'))
    assert.equal(0, select('#', run ''))
    assert.equal(0, select('#', run '-- nothing'))
  end)

  it('never comes from inside a block', function()
    local seen = {}
    _G.seen_by_cell = seen
    assert.equal(0, select('#', run 'for i = 1, 2 do\nseen_by_cell[i] = i\ntostring(i)\nend'))
    assert.same({1, 2}, seen)
    _G.seen_by_cell = nil
  end)

  it('is hidden by a semicolon', function()
    assert.is_true(cell.compile('1;', '=c', cell.scope()).silent)
    assert.is_true(cell.compile('print();', '=c', cell.scope()).silent)
    assert.is_false(cell.compile('1', '=c', cell.scope()).silent)
  end)

  it('follows Lua where a line begins with a parenthesis', function()
    local calls = run('calls = 0\nfunction b(x) calls = calls + 1 return x end', 'a = b\n(5)', 'calls')
    assert.equal(1, calls)
  end)
end)

describe('a cell is', function()
  for source, expected in pairs {
    ['x'] = 'complete', ['x ='] = 'incomplete', ['{1,'] = 'incomplete', ['x = 1; {1,'] = 'incomplete',
    ['x = = 1'] = 'invalid', ['if x then'] = 'incomplete', ['if x then end'] = 'complete',
    ['[[text'] = 'incomplete', ['--[[ text'] = 'incomplete', ['"text'] = 'invalid', ['f('] = 'incomplete',
    ['foo bar'] = 'invalid', ['local function f()'] = 'incomplete', ['x.'] = 'incomplete',
    ['for i = 1, 2 do\n\n'] = 'incomplete', ['end'] = 'invalid', ['goto nowhere'] = 'invalid',
  } do
    it(('%s: %q'):format(expected, source), function() assert.equal(expected, (status(source))) end)
  end

  it('reports errors in the compiler\'s words, with the cell\'s line', function()
    local _, message = status 'x = 1\ny = = 2'
    assert.equal("(cell 1):2: unexpected symbol near '='", message)
  end)
end)

describe('top-level locals', function()
  it('live on in later cells', function() assert.equal(3, run('local x = 1', 'x = x + 2', 'x')) end)

  it('are shared with closures, both ways', function()
    assert.equal(5, run('local x = 1\nlocal function get() return x end', 'x = 5', 'get()'))
    assert.equal(7, run('local x = 1\nlocal function set(v) x = v end', 'set(7)', 'x'))
  end)

  it('can be declared anew without touching the old variable', function()
    assert.equal(1, run('local x = 1\nlocal function get() return x end', 'local x = 2', 'get()'))
    assert.equal(3, run('local x = 2', 'local x = x + 1', 'x'))
  end)

  it('hide globals of the same name', function()
    run 'shadowed = "global"'
    assert.equal('local', run('local shadowed = "local"', 'shadowed'))
    assert.equal('global', _G.shadowed)
    _G.shadowed = nil
  end)

  it('of blocks and functions do not live on', function()
    assert.is_nil((run('do local hidden = 1 end', 'hidden')))
    assert.is_nil((run('function f() local hidden = 1 end f()', 'hidden')))
  end)

  it('keep their constness #lua54', function()
    local scope = cell.scope()
    cell.compile('local c <const>, d <const> = 1, {}', '=(cell 1)', scope).run()
    local compiled, message = cell.compile('c = 2', '=(cell 2)', scope)
    assert.is_nil(compiled)
    assert.equal("(cell 2):1: attempt to assign to const variable 'c'", message)
    assert.equal(1, (select(2, cell.compile('c', '=(cell 3)', scope).run())))
    assert.is_truthy(select(2, cell.compile('d', '=(cell 4)', scope).run()))
  end)

  it('with <close> close at the end of their cell', function()
    local order = {}
    _G.order_of_closing = order
    run([[
      local guard <close> = setmetatable({}, {__close = function() table.insert(order_of_closing, 'closed') end})
      table.insert(order_of_closing, 'open')]],
      [[table.insert(order_of_closing, 'next')]])
    assert.same({'open', 'closed', 'next'}, order)
    _G.order_of_closing = nil
  end)

  it('that exist when an error is raised stay', function()
    local scope = cell.scope()
    assert.is_false(pcall(cell.compile('local x = 1\nlocal y = error "no"', '=(cell 1)', scope).run))
    assert.same({'x'}, scope:names())
    assert.equal(1, (scope:get 'x'))
  end)

  it('may be many', function()
    local lines = {}
    for index = 1, 150 do lines[index] = ('local v%d = %d'):format(index, index) end
    assert.equal(150 + 149, run(table.concat(lines, '\n'), 'v150 + v149'))
  end)

  it('may be called _ENV', function() assert.equal(4, run('local _ENV = {y = 4}', 'y')) end)

  it('named like the program\'s own do no harm', function()
    assert.equal(2, run('local _keep_locals = 1', 'local z = 2; _keep_locals = 5', 'z'))
  end)
end)

describe('errors in a cell', function()
  it('carry the line of the cell', function()
    local ok, message = pcall(run, 'local a = 1\n\nerror "here"')
    assert.is_false(ok)
    assert.equal('(cell 1):3: here', message)
  end)

  it('in its last expression have the cell on the stack', function()
    local _, message = pcall(run, 'x = 1\nerror("here")')
    assert.equal('(cell 1):2: here', message)
  end)
end)
