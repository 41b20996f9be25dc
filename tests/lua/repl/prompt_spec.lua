-- The prompt on a terminal: typed, edited, completed, interrupted. tests/tools/pty.c types and reads.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

local state -- folder for history
local setting -- of the terminal

local function follow(script) return terminal.follow(state, script, setting) end

-- Every two of mode, width and character set meet.
for _, case in ipairs {{'emacs', 80, 'C.UTF-8'}, {'emacs', 40, 'C'}, {'vi', 80, 'C'}, {'vi', 40, 'C.UTF-8'}} do
local mode, columns, language = table.unpack(case)

describe(('the prompt in %s mode, %d columns, LANG=%s #pty #cpu'):format(mode, columns, language), function()
  setup(function()
    setting = ('INPUTRC=%s PTY_COLUMNS=%d LC_ALL= LC_CTYPE= LANG=%s'):format(
      process.quote(here .. 'support/' .. mode .. '.inputrc'), columns, language)
  end)
  before_each(function()
    state = os.tmpname()
    os.remove(state)
  end)
  after_each(function() process.run('rm -rf ' .. state) end)

  it('shows values and takes cells of several lines', function()
    follow [[
send 1 + 1\r
expect Out[1]: 2
expect In [2]: 
send for i = 1, 2 do\r
expect    ...: 
send print('line', i)\r
send end\r
expect line	2
expect In [3]: 
send {('x'):rep(80),\r
send 'y'}\r
expect Out[3]:\r\n{'xxx
expect In [4]: 
]]
  end)

  it('begins a line for the prompt and for values', function()
    follow [[
send io.write('unfin' .. 'ished')\r
expect unfinished\r\n
expect In [2]: 
send io.write('a' .. 'b'); 5\r
expect ab\r\nOut[2]: 5
]]
  end)

  it('stops a cell at Ctrl-C that comes while C code is busy, before it waits', function()
    follow [[
send f = io.popen("echo $$; trap '' INT; head -c 200000000 /dev/zero; exec sleep 20"); pid = f:read(); print('be' .. 'gun') f:read('a')\r
expect begun
sleep 20
send \x03
within 15000
expect interrupted
expect In [2]: 
send os.execute('kill ' .. pid)\r
expect Out[2]: 
]]
  end)

  it('stops a running cell at Ctrl-C', function()
    for _, cell in ipairs {
      'while true do end',
      'while true do pcall(function() while true do end end) end',
      'local w = coroutine.wrap(function() while true do coroutine.yield() end end) while true do w() end',
      'local c = coroutine.create(function() while true do pcall(error) end end) while true do coroutine.resume(c) end',
      'while true do xpcall(error, function() end) end',
      'io.read()',
    } do
      follow(([[
send local kept = 5; print('be' .. 'gun') %s\r
expect begun
send \x03
within 5000
expect interrupted
expect In [2]: 
send kept\r
expect Out[2]: 5
]]):format(cell))
    end
  end)

  it('stops a deep recursion at Ctrl-C as fast as a loop', function()
    follow [[
send local function down(n) if n > 0 then return 1 + down(n - 1) end print('be' .. 'gun') while true do end end down(100000)\r
expect begun
send \x03
within 5000
expect interrupted
expect In [2]: 
]]
  end)

  it('lets __close handlers finish at Ctrl-C', function()
    follow [[
send local guard <close> = setmetatable({}, {__close = function() for i = 1, 1000 do end print('clo' .. 'sed') end}) print('be' .. 'gun') while true do end\r
expect begun
send \x03
expect closed
expect interrupted
expect In [2]: 
]]
  end)

  it('drops the line that is edited at Ctrl-C, keeping the number', function()
    follow [[
send garbage garbage
send \x03
expect ^C
expect In [1]: 
send x = {\r
expect ...: 
send \x03
expect In [1]: 
send 1\r
expect Out[1]: 1
]]
  end)

  it('gives Ctrl-C to a shell command', function() -- exec: dash forgets a Ctrl-C while it starts a program
    follow [[
send !echo be''gun; exec sleep 10\r
expect begun
send \x03
within 5000
expect exit code 130
expect In [2]: 
]]
  end)

  it('takes a paste as one cell', function()
    follow [[
send \e[200~local q = 1\nif q then\n  print('pas' .. 'ted')\nend\n\e[201~
send \r
expect pasted
expect In [2]: 
]]
  end)

  it('takes pasted prompts off', function()
    follow [[
send \e[200~In [7]: x = 6\nIn [8]: x * 7\nOut[8]: 42\n\e[201~
send \r
expect Out[1]: 42
]]
  end)

  it('completes names, fields and methods', function()
    follow [[
send math.flo\t(2.5)\r
expect Out[1]: 2
send ('ab'):upp\t()\r
expect Out[2]: 'AB'
send local averylongname = {inner = {leaf = 3}}\r
expect In [4]: 
send averylong\t.in\t.le\t\r
expect Out[4]: 3
send retur\t 4\r
expect Out[5]: 4
send %qui\t\r
wait
]]
  end)

  it('completes without running anything', function()
    follow [[
send trap = setmetatable({}, {__index = function() print('SPR' .. 'UNG') end, __pairs = error})\r
expect In [2]: 
send trap.x\ttrap.\t
sleep 200
reject SPRUNG
send \x15\r
send 5\r
expect 5
]]
  end)

  it('indents with Tab at the start of a line', function()
    follow [[
send \t1\r
expect Out[1]: 1
]]
  end)

  it('finds whole cells in its history, also in the next session', function()
    follow [[
send for i = 1, 1 do\r
expect ...: 
send print('from ' .. 'history')\r
expect ...: 
send end\r
expect from history
expect In [2]: 
send 'other'\r
expect In [3]: 
send for\e[A\r
expect from history
expect In [4]: 
send \x04
wait
]]
    follow [[
send \e[A\r
expect from history
expect In [2]: 
send \e[A\e[A\r
expect Out[2]: 'other'
]]
    local out = process.run(('stat -c %%a %s/ltensor/history'):format(state))
    assert.equal('600\n', out)
  end)

  it('leaves at Ctrl-D, exit(), quit() and %quit', function()
    assert.equal('exit 0\n', follow 'send \\x04\nwait\n')
    assert.equal('exit 0\n', follow 'send exit()\\r\nwait\n')
    assert.equal('exit 0\n', follow 'send quit()\\r\nwait\n')
    assert.equal('exit 0\n', follow 'send %quit\\r\nwait\n')
    assert.equal('exit 4\n', follow 'send exit(4)\\r\nwait\n')
  end)

  it('helps', function()
    follow [[
send -- doubles\x16\nfunction double(x) return 2 * x end\r
expect In [2]: 
send ?double\r
expect doubles
send double??\r
expect return 2 * x
send ?\r
expect stops the cell
send %nonsense\r
expect no magic %nonsense
send %timei?\r
expect did you mean '%time
]]
  end)

  it('times', function()
    follow [[
send %timeit -n 10 -r 3 1 + 1\r
expect median of 3 times 10 runs
send %time 5\r
expect wall
expect Out[2]: 5
]]
  end)

  it('lists and deletes the variables of cells', function()
    follow [[
send local a = 1; b = 2\r
expect In [2]: 
send %who\r
expect local   a  integer  1
expect global  b  integer  2
send %reset\r
expect In [4]: 
send a, b\r
expect Out[4]: (nil, nil)
]]
  end)

  it('runs the init file of the user', function()
    process.run(('mkdir -p %s/ltensor && echo "from_init = 9" > %s/ltensor/init.lua'):format(state, state))
    follow 'send from_init\\r\nexpect Out[1]: 9\n'
  end)
end)
end
