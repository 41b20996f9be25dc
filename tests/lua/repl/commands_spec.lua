-- Commands at the prompt: %debug, %export, %load and the files they use, %config, !command, help.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

local state
local function follow(script, environment) return terminal.follow(state, script, environment) end

-- Runs the lines through the prompt without a terminal: stdout, stderr.
local function type_lines(lines, options)
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(lines)
  file:close()
  local out, err = process.run(('XDG_CONFIG_HOME=/nonexistent %s %s -i < %s'):format(
    process.quote(process.ltensor), options or '', path))
  os.remove(path)
  return out, err
end

local function has(text, part) assert(text:find(part, 1, true), ('%q is not in\n%s'):format(part, text)) end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return text
end

describe('%debug', function()
  it('shows the calls of the last error with their locals', function()
    local out = type_lines [[
local outer = {1, 2}
function f(a, b) local c = a + b; error('sum ' .. c .. #outer) end
f(1, 2)
%debug
%debug 1 a * 100 + b, outer[2], math.max(c, 5)
%debug 2
]]
    has(out, "1  (cell 2):1: in function 'f'\n     outer = {1, 2}\n     a = 1\n     b = 2\n     c = 3\n")
    has(out, '(102, 2, 5)')
    has(out, '2  (cell 3):1: in the cell')
  end)

  it('%debug shows the calls of a coroutine before the calls around it #pty', function()
    local folder = terminal.new_folder()
    for _, start in ipairs {'coroutine.wrap(f)(w)', 'local ok, m = coroutine.resume(coroutine.create(f), w); error(m, 0)'} do
      terminal.follow(folder, ([[
send function g(n) local inner = n * 2; error('boom') end\r
expect In [2]: 
send function f(a) local b = a + 1; g(b) end\r
expect In [3]: 
send function k(z) local w = z; %s end\r
expect In [4]: 
send k(7)\r
expect (cell 4):1: in the cell
expect (cell 3):1: in function 'k'
expect (cell 2):1: in function 'f'
expect (cell 1):1: in function 'g'
send %%debug\r
expect (cell 3):1: in function 'k'
expect w = 7
expect (cell 2):1: in function 'f'
expect b = 8
expect (cell 1):1: in function 'g'
expect inner = 16
send %%debug 1 inner + n\r
expect 24\r\n
expect In [7]: 
send pcall(coroutine.wrap(f), 1)\r
expect boom
send error 'boom'\r
expect (cell 8):1: boom
reject function 'g'
]]):format(start))
    end
    terminal.remove_folder(folder)
  end)

  it('pins nothing that has failed', function()
    local out = type_lines [[
watch = setmetatable({}, {__mode = 'v'})
function f() local big = {}; watch[1] = big; error 'no' end
f()
collectgarbage(); collectgarbage()
watch[1] == nil
%debug 1
]]
    has(out, ': true\n')
    has(out, 'big = <gone>')
  end)

  it('%debug without an error reports that', function()
    local _, err = type_lines '%debug\n'
    has(err, 'no cell has failed')
    _, err = type_lines "error 'x'\n%debug 7\n"
    has(err, 'no frame 7')
  end)
end)

describe('%export', function()
  for _, ending in ipairs {'md', 'ipynb'} do
    it('writes a notebook that checks: .' .. ending, function()
      local path = os.tmpname() .. '.' .. ending
      local _, err = type_lines(([[
local x = 20
print('printed', x); io.write('written\n'); x + 1
error 'on purpose'
x;
{a = 'é', b = "\\n"}
%%export %s
]]):format(path))
      has(err, 'on purpose')
      local out, _, status = process.run(('%s --cells %s --check'):format(process.quote(process.ltensor), path))
      assert.equal('5 passed, 0 failed\n', out)
      assert.equal(0, status)
      has(read(path), 'written')
      has(read(path), '21')
      os.remove(path)
    end)
  end

  it('%export needs a suffix that selects the format', function()
    local _, err = type_lines '%export x.txt\n'
    assert.equal('the name of a notebook ends in .md or .ipynb\n', err)
  end)
end)

describe('%gpus and %memory', function()
  it('%gpus and %memory list the devices', function()
    local out = type_lines('torch.zeros(1000000)\n%gpus\n%memory\n', '--sim-gpus 2')
    has(out, 'cuda:0  ')
    has(out, 'cuda:1  ')
    has(out, ' free')
    has(out, 'process  ')
    has(out, 'in tensors')
    has(type_lines('%gpus\n', '--disable-cuda'), 'no GPU')
    if process.run 'command -v nvidia-smi' == '' then
      has(type_lines('!nvidia-smi\n', '--sim-gpus 2'), 'exit code 127\n%gpus lists the GPUs of this program, which are simulated\n')
      has(type_lines('!nvidia-smi -L\n', '--disable-cuda'), '%gpus lists GPUs, ltensor --sim-gpus 2 simulates two\n')
    end
  end)
end)

describe('the environment', function()
  it('is set and shown', function()
    local out = type_lines [[
%env LTENSOR_SPEC=a b=c
%env LTENSOR_SPEC
os.getenv 'LTENSOR_SPEC'
!echo "<$LTENSOR_SPEC>"
%env LTENSOR_NO_SPEC
]]
    has(out, ']: a b=c\n')
    has(out, "'a b=c'")
    has(out, '<a b=c>')
    has(out, 'LTENSOR_NO_SPEC is not set')
  end)
end)

describe('files', function()
  it('are saved, loaded and run', function()
    local path = os.tmpname()
    local out = type_lines(([[
x = 5
x + 1
%%save -f %s 1-2
%%load %s
%%run %s a b
]]):format(path, path, path))
    assert.equal('x = 5\nprint(x + 1)\n', read(path))
    has(out, ': 6\n')
    local file = assert(io.open(path, 'w'))
    file:write 'print("script", arg[0] ~= nil, ...)'
    file:close()
    has(type_lines(('%%run %s a b\n'):format(path)), 'script\ttrue\ta\tb')
    os.remove(path)
  end)

  it('existing files are overwritten after a confirmation only #pty', function()
    local path, folder = os.tmpname(), terminal.new_folder()
    local question = ('%s exists. Overwrite it? [y/N] '):format(path)
    local function answered(answer)
      local file = assert(io.open(path, 'w'))
      file:write 'old\n'
      file:close()
      terminal.follow(folder, ('send x = 5\\r\nexpect In [2]: \nsend %%save %s\\r\nexpect %s\nsend %s\\r\nexpect In [3]: \n'):format(path, question, answer))
      return read(path)
    end
    assert.equal('old\n', answered '')
    assert.equal('old\n', answered 'n')
    assert.equal('x = 5\n', answered 'y')
    assert.equal('x = 5\n', answered 'Yes')
    os.remove(path)
    terminal.remove_folder(folder)
  end)

  it('that are missing are errors', function()
    for _, line in ipairs {'%run /no/such', '%load /no/such', '%save /no/such/dir/x', '%cd /no/such'} do
      local _, err = type_lines(line .. '\n')
      has(err, 'No such file or directory')
    end
  end)
end)

describe('%config', function()
  it('lists settings and refuses others', function()
    local out, err = type_lines '%config\n%config pagr off\n%config time maybe\n%config pager off\n%config pager\n'
    has(out, 'traceback  user (full|user|minimal)')
    has(err, "no setting pagr; did you mean 'pager'?")
    has(err, 'time is on or off')
    has(out, 'off\n')
  end)

  it('%config can show internal frames', function()
    local _, err = type_lines "%config traceback full\nerror 'x'\n"
    has(err, '[ltensor repl.session]')
    _, err = type_lines "local function f() error 'x' end f()\n"
    assert.is_nil(err:find('[ltensor', 1, true))
  end)
end)

describe('!command', function()
  it('fills in values and shows exit codes', function()
    local out = type_lines 'local x = 6\n!echo {x * 7} {nothing_here} ${HOME:+home}\n!exit 3\n'
    has(out, '42 {nothing_here} home')
    has(out, 'exit code 3')
  end)

  it('completes programs #pty', function()
    local folder = terminal.new_folder()
    terminal.follow(folder, 'send !unam\\t -s\\r\nexpect Linux\n')
    terminal.remove_folder(folder)
  end)
end)

describe('help', function()
  it('is a function, too, of names and of values', function()
    local out = type_lines [[
help()
help 'torch.cumsum'
help(torch.cumprod)
help(nn.Linear)
help(7)
help(function() end)
]]
    has(out, '%name                 a magic:')
    has(out, 'the documentation')
    has(out, 'cumsum(Tensor self')
    has(out, 'cumprod(Tensor self')
    has(out, 'class Linear(integer in_features, integer out_features')
    has(out, 'number, 7')
    has(out, 'function = <function')
    has(type_lines 'help = 7\nhelp + 1\n', 'Out[2]: 8')
  end)

  it('speaks of ops, classes and functions', function()
    local out = type_lines [[
?torch.sum
x = torch.ones(2)
x:matmul?
?nn.Linear
??math.max
-- Adds one.
function inc(n) return n + 1 end
?inc
??inc
?torch.utils.progress
?torch.linalg.inv
?torch.cuda
x?
?string.rep
?%who
torch.linalg.eigh?
q?
]]
    has((out:gsub('\n', ' ')), 'iterates over source and shows')
    has(out, 'module torch.cuda\n')
    has(out, 'x: tensor of size [2], torch.float32, cpu')
    has(out, 'manual.html#pdf-string.rep')
    has(out, "linalg_eigh(Tensor self, string UPLO='L'")
    has(out, 'nothing is called q\n')
    has(out, 'lists the locals and globals that cells have made')
    has(out, 'sum(Tensor self')
    has(out, 'inverse(Tensor self, *, Tensor? out=nil) -> Tensor')
    has(out, 'torch.tensor{ {1, 2}, {3, 4} }:sum()\n  --> tensor(10)')
    has(out, 'nn.Linear(3, 2)(torch.ones(4, 3)).shape\n  --> torch.Size([4, 2])')
    has(out, 'matmul(Tensor self, Tensor other, *, Tensor? out=nil) -> Tensor')
    has(out, 'class nn.Linear(')
    has(out, 'y = x A^T + b')
    has(out, '<function math.max>')
    has(out, 'function inc(n) return n + 1 end')
  end)

  it('suggests names and explains magics', function()
    local out, err = type_lines '?torch.mattmul\n%timeit?\n%tim 1\n'
    has(out, "nothing is called torch.mattmul; did you mean 'matmul'?")
    has(out, '%timeit [-n N] [-r R] code')
    has(err, "no magic %tim; did you mean '%time'?")
  end)
end)

describe('errors', function()
  it('suggest names of methods and fields', function()
    local _, err = type_lines 'x = torch.ones(2)\nx:summ()\ntorch.oness(2)\nlocal t = {alpha = {}}\nt.alpa.x = 1\n(x + 1):sqrrt()\n'
    for _, name in ipairs {'sum', 'ones', 'alpha', 'sqrt'} do has(err, ("did you mean '%s'?"):format(name)) end
  end)

  it('put the caret under wide characters too', function()
    local _, err = type_lines "print('中文', oops.x)\n"
    has(err, "     1 | print('中文', oops.x)\n" .. (' '):rep(9 + 14) .. '^~~~\n')
  end)
end)

describe('long work', function()
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  it('stops at Ctrl-C in C code #pty #again', function()
    for _, cell in ipairs {
      'local a = torch.randn(2500, 2500) while true do a:matmul(a) end',
      'torch.randn(400000000)',
      'torch.randperm(300000000)',
      'local a = torch.randn(4000000) while true do a:cumsum(1) end',
      'local a = torch.ones(3000000) while true do a = a:sin() end',
    } do
      follow(('send print("be" .. "gun") %s\\r\nexpect begun\nsleep 300\nsend \\x03\nwithin 10000\nexpect interrupted\nexpect In [2]: \n'):format(cell))
    end
  end)

  it('stops at Ctrl-C on a GPU #pty', function()
    follow([[
send local a = torch.randn(200, 200, {device = 'cuda'}) print('be' .. 'gun') while true do a:matmul(a) torch.cuda.synchronize() end\r
expect begun
sleep 300
send \x03
within 10000
expect interrupted
expect In [2]: 
send torch.ones(2, {device = 'cuda'}):sum():item()\r
expect Out[2]: 2.0
]], 'LTENSOR_SIM_GPUS=1')
  end)

  it('of a pattern stops at Ctrl-C #pty #again', function()
    for _, call in ipairs {'find(p)', 'match(p)', 'gsub(p, "")', 'gmatch(p)()'} do
      follow(("send print('be' .. 'gun'); p = ('a*'):rep(30) .. 'b'; ('a'):rep(40):%s\\r\nexpect begun\nsleep 200\nsend \\x03\nwithin 5000\nexpect interrupted\nexpect In [2]: \n"):format(call))
    end
  end)

  it('in a __gc that has no end stops at Ctrl-C, and so does a hook #pty #lua54 #again', function()
    for _, cell in ipairs {
      'setmetatable({}, {__gc = function() print("be" .. "gun") while true do pcall(print) end end}); collectgarbage()',
      'coroutine.wrap(function() setmetatable({}, {__gc = function() print("be" .. "gun") while true do end end}); collectgarbage() end)()',
      'debug.sethook(function() debug.sethook() print("be" .. "gun") while true do end end, "", 1)',
    } do
      follow(('send %s\\r\nexpect begun\nsleep 200\nsend \\x03\nwithin 5000\nexpect interrupted\nexpect In [2]: \nsend 6 * 7\\r\nexpect Out[2]: 42\n'):format(cell))
    end
  end)

  it('work that does not stop is reported after a second and ended by the third Ctrl-C #pty #again', function()
    local out = follow [[
send print('be' .. 'gun') io.popen("trap '' INT; exec sleep 15"):close()\r
expect begun
sleep 300
send \x03
expect waiting for C code to end
send \x03
expect still inside C code; ^C again to kill
send \x03
wait
]]
    assert.equal('signal 2\n', out)
  end)

  it('survives many Ctrl-C within a moment, as a key that is held down sends them #pty #again', function()
    follow [[
send local a = torch.randn(2500, 2500) print('be' .. 'gun') while true do a:matmul(a) end\r
expect begun
sleep 300
send \x03
sleep 5
send \x03
sleep 5
send \x03
sleep 5
send \x03
sleep 5
send \x03
within 10000
expect interrupted
expect In [2]: 
sleep 2000
send 6 * 7\r
expect Out[2]: 42
]] -- each of the others clears a line of the prompt, which must not be the one that is typed
  end)
end)

describe('memory', function()
  it('that Out holds is given back before it runs out', function()
    local out, err = type_lines([[
torch.zeros(300000000, {device = 'cuda', dtype = torch.uint8})
for i = 1, 7 do _G['t' .. i] = torch.empty(300000000, {device = 'cuda', dtype = torch.uint8}) end
'went on'
Out[1]
]], '--sim-gpus 1')
    has(out, "'went on'")
    has(err, 'Out[1] dropped')
  end)
end)

describe('completion', function()
  -- Words for the end of the text, in a session with `x = torch.ones(2)`.
  local function words(text)
    return (process.lua(([[
      local complete, session = require 'repl.edit.complete', require('repl.session').new()
      x = torch.ones(2)
      local text = %q
      print(table.concat(complete.words(session, text, text:match '[%%w_]*$'), ' '))
    ]]):format(text), '--sim-gpus 2'):gsub('\n$', ''))
  end

  it('completion offers arguments, dtypes, devices and modules that are loaded later', function()
    assert.equal('dtype =  dim = ', words 'x:sum{d')
    assert.equal('keepdim = ', words 'torch.sum(x, {dim = 1, k')
    assert.equal('UPLO = ', words 'torch.linalg.eigh{x, U')
    assert.equal('torch.float torch.float16 torch.float32 torch.float64', (words 'torch.ones(2, {dtype = ':match 'torch.float.*float64'))
    assert.equal('cpu cuda cuda:0 cuda:1', words "torch.ones(2, {device = '")
    assert.equal('cuda cuda:0 cuda:1', words "torch.device('cu")
    assert.equal('cpu cuda cuda:0 cuda:1', words "x:to('")
    assert.equal('Linear LinearCrossEntropyLoss LinearCrossEntropyOptions', words 'nn.Lin')
    assert.equal('sqrt sqrt_', words 'x:sqr')
    assert.equal('upper', words "('a'):upp")
    assert.equal('timeit ', words '%timei')
    assert.equal('passwd', (words "io.open('/etc/passw":match 'passwd'))
  end)

  it('of all methods of a tensor takes less than 10 ms', function()
    local out = process.lua [[
      local complete, session = require 'repl.edit.complete', require('repl.session').new()
      x = torch.ones(2)
      complete.words(session, 'x:', '')
      local start = os.clock()
      local words = complete.words(session, 'x:', '')
      print(#words > 200, os.clock() - start < 0.01)
    ]]
    assert.equal('true\ttrue\n', out)
  end)
end)
