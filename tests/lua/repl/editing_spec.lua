-- Editing at the prompt: cells of several lines, vi mode, narrow terminals, characters of any width.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

local state
local function follow(script, environment, arguments) return terminal.follow(state, script, environment, arguments) end

describe('editing #pty #cpu', function()
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  it('goes back to earlier lines of the cell', function()
    follow [[
send for i = 1, 2 do\r
expect ...: 
send print('line', i)\r
expect ...: 
send \e[A
expect In [1]: 
send \x01print('more', i) \e[B
send end\r
expect more	1
expect line	1
expect more	2
expect line	2
expect In [2]: 
send \e[A
expect print('line', i)
send \r
expect more	1
expect line	2
expect In [3]: 
]]
  end)

  it('edits a cell from history in the middle, and inserts lines there', function()
    follow [[
send do\r
expect ...: 
send print 'one'\r
expect ...: 
send end\r
expect one\r\n
expect In [2]: 
send \e[A\e[B\x05\e\rprint 'two'\r
expect one\r\n
expect two\r\n
expect In [3]: 
]]
  end)

  it('makes a new line of Alt-Return', function()
    follow [[
send print(\e\r'one',\e\n'two')\r
expect one\ttwo\r\n
expect In [2]: 
]]
  end)

  it('makes a new line of Return in the middle of an unfinished cell', function()
    follow [[
send \e[200~do\nprint 'one'\e[201~\e[A\x05
send \r
expect print 'one'
send print 'zero'\e[B\e[B\r
expect ...: 
send end\r
expect zero\r\n
expect one\r\n
expect In [2]: 
]]
  end)

  it('has a vi mode', function()
    follow [[
send %config editing vi\r
expect In [2]: 
send 1 + 23\e
sleep 700
send 0r5\r
expect Out[2]: 28
expect In [3]: 
send \e
sleep 700
send kA + 1\r
expect Out[3]: 29
send %config editing emacs\r
expect In [5]: 
send 6\r
expect Out[5]: 6
]]
  end)

  it('edits a cell of several lines in vi mode #again', function()
    follow [[
send %config editing vi\r
expect In [2]: 
send do\r
expect ...: 
send print 'one'\r
expect ...: 
send end\r
expect one\r\n
expect In [3]: 
send \e
sleep 700
send kj0iprint 'two' \r
expect two\r\n
expect one\r\n
expect In [4]: 
]]
  end)

  it('does not do the last change for ever when its motion is the key for that #again', function()
    follow [[
send %config editing vi\r
expect In [2]: 
send x = 12\e
sleep 700
send c2.\e
sleep 700
send .
sleep 300
send \x03
sleep 300
send 3 + 4\r
expect Out[2]: 7
expect In [3]: 
]]
  end)

  it('vi command mode moves to earlier lines of the cell, and its motions stay in a line #again', function()
    follow [[
send %config editing vi\r
expect In [2]: 
send for i = 1, 2 do\r
expect ...: 
send print('line', i)\e
sleep 700
send kA print('more', i)\e
sleep 700
send jIprint('then', i) \e
sleep 700
send 0iprint('zero', i) \e
sleep 700
send $xa) end\r
expect more	1
expect zero	1
expect then	1
expect line	1
]]
  end)

  it('editing shows the mode if the inputrc enables it', function()
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write [[
set editing-mode vi
set show-mode-in-prompt on
set vi-cmd-mode-string "\1\e[2 q\2<c>"
set vi-ins-mode-string "\1\e[6 q\2<i>"
]]
    file:close()
    follow([[
send do\r
expect <i>   ...: 
send x = 4\e
expect \e[2 q
expect c>   ...: 
send a; print(x) end\r
expect \e[6 q
expect 4\r\n
expect <i>In [2]: 
]], 'INPUTRC=' .. path)
    os.remove(path)
  end)

  it('takes the editing mode from the inputrc #again', function()
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write 'set editing-mode vi\n'
    file:close()
    follow('send 1\\e\nsleep 700\nsend A0\\r\nexpect Out[1]: 10\n', 'INPUTRC=' .. path)
    os.remove(path)
  end)

  for _, language in ipairs {'LANG=C.UTF-8', 'LANG=C', 'LANG='} do
    for _, columns in ipairs {80, 40} do
      it(('moves over wide characters with %s and %d columns'):format(language, columns), function()
        follow([[
send '中文'\e[D\e[D语\r
expect Out[1]: '中语文'
send -- 注释：一个很长的注释，它比终端的一行还要长，所以要换行，换行以后还要能接着编辑
send \x01\e[F\x15'短'\r
expect Out[2]: '短'
send 名\x01\e[3~7\r
expect Out[3]: 7
]], ('%s LC_ALL= LC_CTYPE= PTY_COLUMNS=%d'):format(language, columns))
      end)
    end
  end

  it('breaks values for a narrow terminal', function()
    follow([[
send torch.arange(12)\r
expect Out[1]:
expect tensor([ 0,  1,  2,  3,  4,  5,  6,  7,\r\n         8
send {'aaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbb', 'c'}\r
expect Out[2]:
expect {'aaaaaaaaaaaaaaa',\r\n 'bbbbbbbbbbbbbbb',\r\n 'c'}
]], 'PTY_COLUMNS=40')
  end)

  it('long values are paged unless paging is off', function()
    follow([[
send t = {} for i = 1, 60 do t[i] = ('v'):rep(30) end t\r
expect paged: Out[1]:
expect In [2]: 
send %config pager off\r
expect In [3]: 
send t\r
expect 'vvv
expect In [4]: 
reject paged
]], [[PAGER='sed s/^Out/paged:\ Out/']])
  end)

  it('uses colours only where they are wanted', function()
    follow('send error "x"\\r\nexpect \\e[31m(cell 1):1: x\\e[0m\n', 'NO_COLOR=')
    for _, setting in ipairs {'NO_COLOR=1', 'NO_COLOR= TERM=dumb'} do
      follow('send error "x"\\r\nexpect (cell 1):1: x\nexpect In [2]: \nreject \\e[31m\nreject \\e[32m\n', setting)
    end
  end)

  it('indents lines that are typed and none that are pasted', function()
    follow [[
send if true then\r
expect ...:   
send s = 'x'\r
send end\r
expect In [2]: 
send In[1]\r
expect Out[2]: "if true then\\n  s = 'x'\\nend"
send \e[200~do\n  p = 1\nend\n\e[201~\r
expect In [4]: 
send In[3]\r
expect Out[4]: 'do\\n  p = 1\\nend
]]
  end)

  it('searches history with Ctrl-R', function()
    follow [[
send first_of_all = 1\r
expect In [2]: 
send 2\r
expect In [3]: 
send \x12first_\r
expect In [4]: 
send In[3]\r
expect Out[4]: 'first_of_all = 1'
]]
  end)

  it('keeps the history of a project with it', function()
    process.run(('mkdir -p %s/project/.ltensor %s/project/sub'):format(state, state))
    terminal.follow(state, 'send 1234\\r\nexpect Out[1]\n', nil, nil, state .. '/project/sub')
    local file = assert(io.open(state .. '/project/.ltensor/history'))
    assert.is_truthy(file:read 'a':find('1234', 1, true))
    file:close()
  end)

  it('goes on after it was stopped #again', function()
    follow [[
send !(sleep 1; kill -STOP $PPID; sleep 0.5; kill -CONT $PPID; echo 'stop''ped') &\r
expect In [2]: 
send 'be' .. 
expect stopped
send 'fore'\r
expect 'before'
]]
  end)

  it('bears terminals of any size', function()
    follow [[
send 'one' .. 
size 1 1
sleep 100
send 'two'
size 3 2
send \x01\x05
size 100 24
send \r
expect 'onetwo'
]]
  end)

  it('puts a script into the next cell', function()
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write '#!/usr/bin/env ltensor\nlocal loaded = 5\nprint(loaded + 1)\n'
    file:close()
    follow(('send %%load %s\\r\nexpect print(loaded + 1)\nsend \\r\nexpect 6\\r\\n\n'):format(path))
    os.remove(path)
  end)
end)
