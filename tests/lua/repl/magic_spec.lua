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

-- The magics that IPython users type.
describe('a magic of IPython #cpu', function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  it('%lsmagic lists the magics in lines of the terminal', function()
    local out = type_lines '%lsmagic\n'
    for name in ('%lsmagic %paste %%writefile %rerun %recall %macro %whos %hist %psearch %pinfo %tb %xmode %precision %timeit'):gmatch '%S+' do
      assert((' ' .. out:gsub('%s+', ' ')):find(' ' .. name .. ' ', 1, true), name)
    end
  end)

  it('an unknown magic names the nearest', function()
    local _, err = type_lines '%lsmagics\n%writfile x\n%hsitory\n'
    has(err, "no magic %lsmagics; did you mean '%lsmagic'?")
    has(err, "no magic %writfile; did you mean '%writefile'?")
    has(err, "no magic %hsitory; did you mean '%history'?")
    _, err = type_lines '%matplotlib inline\n%load_ext autoreload\n'
    has(err, 'no magic %matplotlib: plots need no setting\nno magic %load_ext: no magic needs to be loaded\n')
  end)

  it('%%writefile writes the cell, which a blank line ends', function()
    local file = path .. '.txt'
    local out = type_lines(('%%%%writefile %s\nfirst = {\n  not Lua\n\n%%%%writefile -a %s\nlast\n\n%%%%writefile %s.2\nx\n\n6 * 7\n'):format(file, file, file))
    has(out, 'wrote ' .. file)
    has(out, 'appended to ' .. file)
    has(out, 'Out[4]: 42')
    assert.equal('first = {\n  not Lua\nlast\n', read(file))
    has((type_lines(('%%%%writefile %s\ny\n\n'):format(file))), 'overwrote ' .. file)
    os.remove(file)
    os.remove(file .. '.2')
  end)

  it('%%sh and %%bash run the lines below in a shell', function()
    local out = type_lines '%%sh\nfor i in 1 2\ndo echo "line $i"; done\n\n%%bash\n[[ a == a ]] && echo bash\nexit 3\n\n'
    has(out, 'line 1\nline 2')
    has(out, 'bash\nexit code 3')
  end)

  it('%rerun runs cells again, %recall puts them into the next cell, %macro names them', function()
    local out = type_lines 'n = 1\nn = n + 1\nn\n%rerun 2-3\n%rerun\n%rerun -l 1\n%rerun -g n = 1\nn\n%macro more 2-3\nmore\nmore\n%recall 1\n%macro\n%rerun 99\n'
    has(out, 'n = n + 1\nn\nOut[4]: 3')
    has(out, 'Out[5]: 4')
    has(out, 'Out[6]: 5')
    has(out, 'Out[8]: 1')
    has(out, 'type more to run these cells:\nn = n + 1\nn\n')
    has(out, 'Out[10]: 2')
    has(out, 'Out[11]: 3')
    has(out, 'more: n = n + 1\n      n\n')
    local _, err = type_lines '1\n%rerun 99\n%rerun x\n%macro m\n'
    has(err, 'In[99] does not exist: the cells before this one are 1 to 1')
    has(err, "'x' is not a number of a cell such as 3, or a range such as 3-5")
    has(err, 'which cells? for example %macro name 3-5')
  end)

  it('the values of all cells of a macro are shown, and an error names its line', function()
    local out, err = type_lines "x = 5\nx\nx + 1\nerror 'here'\n%macro m 2-4\nm\n"
    has(out, '5\n6\n')
    has(err, '(cell 6):3: here')
  end)

  it('%recall edits a cell on the terminal #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send for i = 1, 2 do\r
expect ...: 
send print('turn', i)\r
send end\r
expect turn	2
expect In [2]: 
send %recall 1\r
expect In [3]: 
expect print('turn', i)
send \r
expect turn	2
expect In [4]: 
]])
    terminal.remove_folder(folder)
  end)

  it('%hist and %whos are short names; %history shows some cells', function()
    local out = type_lines 'a = 1\nb = 2\n%hist 2\n%whos\n'
    has(out, '   2: b = 2\n')
    has(out, 'global  a  integer  1')
    assert.is_nil(out:find('   1: a = 1', 1, true))
  end)

  it('%psearch and a pattern with ? list names with their kinds', function()
    local out, err = type_lines '%psearch torch.*sum\ntorch.cums*?\n?nn.*Linear\nsummary = 1\nsumm*?\nnn.*.*kaiming*?\n%psearch torch.nothing*\n'
    has(out, 'function  torch.cumsum  torch.einsum')
    has(out, 'function  torch.cumsum\n')
    has(out, 'class  nn.LazyLinear  nn.Linear\n')
    has(out, 'global  summary')
    has(out, 'nn.init.kaiming_normal_  nn.init.kaiming_uniform_')
    has(err, 'no name matches torch.nothing*')
  end)

  it('%pinfo explains a name, %psource shows its source', function()
    local out = type_lines '%pinfo torch.cumsum\n%psource torch.try_gpu\n%pinfo2 torch.try_gpu\n%pinfo %save\n'
    has(out, '%save [-f] file [n-m]')
    has(out, 'cumsum(Tensor self')
    has(out, "if torch.cuda.device_count() >= i + 1 then return torch.device('cuda:' .. i) end")
  end)

  it('%tb shows the last error again, %xmode changes how much', function()
    local out, err = type_lines "function f() error 'deep' end\nfunction g() f() end\ng()\n%tb\n%xmode minimal\ng()\n%tb\n%xmode Plain\n%xmode\n%xmode other\n"
    has(out, '(cell 1):1: deep\n     1 | function f() error')
    has(out, "in function 'g'")
    has(out, 'errors are shown in the mode user')
    has(err, "no mode 'other': minimal, user and full")
    assert.equal(1, select(2, err:gsub('function f%(%) error', '')), err)
    has(select(2, type_lines '%tb\n'), 'no cell has failed')
  end)

  it('%precision sets the digits of floats and tensors', function()
    local out, err = type_lines '%precision 3\nmath.pi, {math.pi}\ntorch.ones(1) / 3\n%precision\nmath.pi\ntorch.ones(1) / 3\n%precision x\n'
    has(out, 'Out[2]: (3.142, {3.142})')
    has(out, 'tensor([0.333])')
    has(out, 'Out[5]: 3.14159265358979')
    has(out, 'tensor([0.3333])')
    has(err, '%precision takes a number of digits, 0 to 20')
  end)

  it('name = !command keeps the lines of its output', function()
    local out, err = type_lines 'lines = !printf "a\\nb c\\n"\nlines\nlocal n = !echo {1 + 1}\nn[1]\nt = {}\nt.x = !echo field\nt.x\nbad = !sh -c "exit 4"\n#bad\nok = !echo 5\nok[1] .. "6"\n'
    has(out, "Out[2]: {'a', 'b c'}")
    has(out, "Out[4]: '2'")
    has(out, "Out[7]: {'field'}")
    has(out, 'exit code 4')
    has(out, 'Out[9]: 0')
    has(out, "Out[11]: '56'")
    assert.equal('', err)
  end)

  it('%paste runs the clipboard as one cell, without prompts', function()
    local folder = path .. '.d'
    process.run('mkdir ' .. folder)
    write(folder .. '/xclip', "#!/bin/sh\nprintf 'In [1]: for i = 1, 2 do\\r\\n   ...: print(i * 21)\\r\\n   ...: end\\r\\n'\n")
    write(folder .. '/wl-paste', '#!/bin/sh\nexit 1\n')
    process.run(('chmod +x %s/*'):format(folder))
    local cells = write(path, '%paste\n%paste -q\nIn[1]\n')
    local out, err = process.run(('PATH=%s:$PATH %s -i < %s'):format(folder, process.quote(process.ltensor), cells))
    assert.equal('', err)
    has(out, 'for i = 1, 2 do\nprint(i * 21)\nend\n21\n42\n')
    has(out, 'In [2]: 21\n42\n')
    has(out, "Out[3]: 'for i = 1, 2 do\\nprint(i * 21)\\nend'")
    process.run('rm -r ' .. folder)
  end)

  it("%paste names the remedy if there is no clipboard", function()
    local cells = write(path, '%paste\n')
    local _, err = process.run(('PATH=/nonexistent %s -i < %s'):format(process.quote(process.ltensor), cells))
    has(err, 'install wl-clipboard, xclip or xsel')
  end)

  it('%colors changes the theme, none switches suggestions off #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, [[
send %colors dark\r
expect In [2]: 
send error 'x'\r
expect \e[91m(cell 2):1: x
expect In [3]: 
send local
expect \e[95mlocal
send  y = 1\r
expect In [4]: 
send %colors none\r
expect In [5]: 
send local y\r
expect In [6]: 
reject \e[9
reject = 1
send %config colors\r
expect none
]], 'NO_COLOR=')
    terminal.remove_folder(folder)
  end)

  it('%cd - goes back, and %edit refuses a cell that does not exist', function()
    local out, err = type_lines 'start = !pwd\n%cd /tmp\n%cd /\n%cd -\nnow = !pwd\nnow[1] == "/tmp"\n%edit 99\n%cd /no/such/folder\n'
    has(out, 'Out[6]: true')
    has(err, '%edit takes the number of an earlier cell, 1 to 6, not 99')
    has(err, '/no/such/folder: No such file or directory')
    has(select(2, type_lines '%cd -\n'), 'no previous folder')
  end)

  it('%save makes comments of cells that are not Lua', function()
    type_lines(('%%%%sh\necho not Lua {\n\nx = 1\n%%save -f %s\n'):format(path))
    assert.equal('-- %%sh\n-- echo not Lua {\n-- \nx = 1\n', read(path))
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

  it('of a module of Python is explained by its counterpart', function()
    local _, err = type_lines 'best = copy.deepcopy(nn.Linear(2, 2):state_dict())\nnp.zeros(2)\n'
    has(err, 'net:deepcopy() copies a module, x:clone() a tensor')
    has(err, 'torch has most functions of NumPy under the same names')
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
