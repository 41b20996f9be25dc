-- Magics and what belongs to them: whole cells, scripts, saving, exporting, names, modules read again.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

local function write(path, text)
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
  return path
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return text
end

-- Runs the lines through the prompt without a terminal: stdout, stderr.
local function type_lines(lines, options)
  local path = write(os.tmpname(), lines)
  local out, err = process.run(('XDG_CONFIG_HOME=/nonexistent %s -i %s < %s'):format(
    process.quote(process.ltensor), options or '', path))
  os.remove(path)
  return out, err
end

local function has(text, part) assert(text:find(part, 1, true), ('%q is not in\n%s'):format(part, text)) end

describe('magics #cpu', function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  it('that take code take the whole cell #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send %time for i = 1, 2 do\r
expect ...: 
send print('turn', i)\r
send end\r
expect turn	2
expect wall
expect In [2]: 
send \e[200~%time a = 5\nb = a + 1\nb\e[201~\r
expect wall
expect Out[2]: 6
]])
    terminal.remove_folder(folder)
  end)

  it('%run keeps the locals of a script, also after an error', function()
    write(path, "#!/usr/bin/env ltensor\nlocal kept = 5\nlocal function double() return 2 * kept end\nprint(...)\nerror 'on purpose'\n")
    local out, err = type_lines(('%%run %s one two\nkept, double()\n'):format(path))
    has(out, 'one\ttwo')
    has(out, 'Out[2]: (5, 10)')
    has(err, path .. ':5: on purpose')
    out, err = type_lines('kept, double()\n', path .. ' one')
    has(out, 'Out[1]: (5, 10)')
    has(err, ':5: on purpose')
  end)

  it('%save writes Lua that runs and overwrites only on request', function()
    local out, err = type_lines(([[
x = 20
x + 1
!true
%%time print('timed')
=x * 2
x = = 1
%%save %s
%%save -f %s
]]):format(path, path))
    has(err, path .. ' exists; %save -f overwrites it')
    assert.equal("x = 20\nprint(x + 1)\n-- !true\n-- %time\nprint('timed')\nprint(x * 2)\n-- x = = 1\n", (read(path):gsub('%( ?x %* 2', '(x * 2')))
    assert.equal('21\ntimed\n40\n', (process.run(process.quote(process.ltensor) .. ' ' .. path)))
    has(out, 'timed')
  end)

  it('%export writes the output and errors of commands without colours', function()
    local notebook = path .. '.md'
    type_lines(([[
!echo from the shell
%%run /no/such/file
print '\27[31mred\27[0m'
io.write('10%%\r100%%\n')
%%export %s
]]):format(notebook))
    local text = read(notebook)
    has(text, '```text\nfrom the shell\n```')
    has(text, '```text error\n/no/such/file: No such file or directory\n```')
    has(text, '```text\nred\n```')
    has(text, '```text\n100%\n```')
    assert.equal('4 passed, 0 failed\n', (process.run(('%s --cells %s --check'):format(process.quote(process.ltensor), notebook))))
    os.remove(notebook)
  end)

  it('list names with type, shape, dtype and device', function()
    local out = type_lines 'local x = torch.ones(2, 3)\ny = 2.5\n%who\n'
    has(out, 'local   x  tensor  [2, 3], torch.float32, cpu\nglobal  y  float   2.5\n')
  end)

  it('%prun shows the time of operations', function()
    local out = type_lines '%prun torch.ones(4, 4):matmul(torch.ones(4, 4)):sum()\n'
    has(out, 'Self CPU time total')
    has(out, 'matmul')
    has(out, 'Out[1]: tensor(64.)')
  end)

  it('read modules again that have changed', function()
    local folder = path .. '.d'
    process.run('mkdir ' .. folder)
    write(folder .. '/changing.lua', 'return {answer = function() return 1 end}')
    local out = type_lines(([[
package.path = '%s/?.lua;' .. package.path
m = require 'changing'
%%autoreload on
m.answer()
do local f = io.open('%s/changing.lua', 'w') f:write('return {answer = function() return 2 end}') f:close() end
m.answer()
]]):format(folder, folder))
    has(out, 'Out[4]: 1')
    has(out, 'Out[6]: 2')
    process.run('rm -r ' .. folder)
  end)

  it('search the cells of earlier sessions #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, 'send needle = 1\\r\nexpect In [2]: \n')
    terminal.follow(folder, 'send %history -g eedl\\r\nexpect -: needle = 1\nexpect In [2]: \n')
    terminal.remove_folder(folder)
  end)
end)

describe('a name #cpu', function()
  it('an undefined magic is an error', function()
    local out, err = type_lines 'prnit\nprnit(1)\nt = {alpha = 1}\nt.alpa\nx = torch.ones(1)\nx.grad\nlocal n\nn\n'
    has(out, "prnit is not defined; did you mean 'print'?")
    has(out, "t has no field alpa; did you mean 'alpha'?")
    has(err, "did you mean 'print'?")
    assert.is_nil(out:find('grad is', 1, true) or out:find('no field grad', 1, true) or out:find('n is not', 1, true))
  end)

  it('is explained by its value', function()
    local out = type_lines 'm = {sum = function(a) return a end}\n?m.sum\n?math.floor\n?table.sort\n?print\n?torch.floor\n'
    has(out, 'm.sum = <function(a) at (cell 1):1>')
    has(out, 'math.floor = <function math.floor>')
    has(out, 'table.sort = <function table.sort>')
    has(out, 'print = <function print>')
    has(out, 'floor(Tensor')
  end)

  it('of a large module is shown in a line', function()
    local out = type_lines 'torch\n'
    assert.truthy(out:find 'Out%[1%]: <module torch: %?torch lists its %d+ members>\n')
  end)
end)

describe('the history #cpu', function()
  it('a history of megabytes without a line end loads in time', function()
    local history = require 'repl.edit.history'
    local path = write(os.tmpname(), ('x'):rep(3000000))
    local start = os.clock()
    assert.same({}, history.load(path))
    assert.truthy(os.clock() - start < 1)
    os.remove(path)
  end)
end)

describe('completion #cpu', function()
  local function words(text)
    return (process.lua(([[
      local complete, session = require 'repl.edit.complete', require('repl.session').new()
      x, d2l = torch.ones(2), require 'd2l'
      local text = %q
      print(table.concat(complete.words(session, text, text:match '[%%w_]*$'), ' '))
      assert(not package.loaded['torch.nn.functional'] and not package.loaded['torch.optim'])
    ]]):format(text)):gsub('\n$', ''))
  end

  it('completion works behind magics, for modules that are not loaded, constructors and results of calls', function()
    assert.equal('torch', words '%time tor')
    assert.equal('sum sum_to_size', words '%timeit -n 5 x:sum')
    assert.equal('relu relu6', words 'nn.functional.rel')
    assert.equal('StepLR', words 'torch.optim.lr_scheduler.Ste')
    assert.equal('padding =  padding_mode = ', words 'nn.Conv2d(1, 2, 3, {p')
    assert.equal('momentum =  maximize = ', words 'torch.optim.SGD(net, {m')
    assert.equal('TimeMachine Timer', words 'd2l.Time')
    assert.equal('max_epochs = ', words 'd2l.Trainer {max')
    assert.equal('sum sum_to_size', words 'torch.ones(2):sum')
    assert.equal('sum sum_to_size', words 'x:sum{dim = 1}:sum')
    assert.equal('forward', words 'nn.Linear(2, 3):forw')
    assert.equal('upper', words "('a'):rep(3):upp")
  end)
end)
