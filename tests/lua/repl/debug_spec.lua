-- The debugger at the prompt and in scripts: breakpoints, steps, frames, watches.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local terminal = dofile(here .. '../support/terminal.lua')

local folder

local function write(name, text)
  local path = folder .. '/' .. name
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
  return path
end

-- Types the lines into the prompt without a terminal, in the folder: stdout, stderr.
local function type_lines(lines)
  write('typed', lines)
  local program = process.ltensor:find '^/' and process.ltensor or '$OLDPWD/' .. process.ltensor
  return process.run(('cd %s; XDG_CONFIG_HOME=/nonexistent LUA_PATH="./?.lua" %s -i < typed'):format(folder, program))
end

local function has(text, part) assert(text:find(part, 1, true), ('%q is not in\n%s'):format(part, text)) end
local function lacks(text, part) assert(not text:find(part, 1, true), ('%q is in\n%s'):format(part, text)) end

local CELLS = [[
function g(z) local w = z:sum(); return w * 2 end
function f(a)
  local b = a + 1
  local c = g(b)
  return c
end
]]

describe('the debugger at the prompt', function()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    process.run('mkdir ' .. folder)
  end)
  after_each(function() process.run('rm -rf ' .. folder) end)

  it('a breakpoint in a function of a cell shows the line and the variables', function()
    local out = type_lines(CELLS .. '%break f\nf(torch.ones(2, 3))\nlocals\nb\nnext\nlocals\ncontinue\n')
    has(out, "breakpoint 1, (cell 2):2: in function 'f'\n      1  function f(a)\n->    2    local b = a + 1\n      3    local c = g(b)\n")
    has(out, 'debug>      a = tensor [2, 3], torch.float32, cpu\ndebug> ')
    has(out, 'debug>   1  (cell 2):2\n')
    has(out, '     a = tensor [2, 3], torch.float32, cpu\n     b = tensor [2, 3], torch.float32, cpu\n')
    has(out, 'Out[4]: tensor(24.)')
  end)

  it('step enters a call, next passes over it, finish returns to the caller', function()
    local out = type_lines(CELLS .. '%break cell 2:3\nf(torch.ones(2))\nstep\nwhere\nfinish\ncontinue\n%clear\n'
      .. '%break cell 2:3\nf(torch.ones(2))\nnext\ncontinue\n')
    has(out, "debug> (cell 1):1: in function 'g'\n")
    has(out, "debug>    (cell 4):1: in the cell\n   (cell 2):3: in function 'f'\n-> (cell 1):1: in function 'g'\n")
    has(out, "debug> (cell 2):4: in function 'f'\n")
    local second = out:match 'Out%[4%].*'
    has(second, "debug> (cell 2):4: in function 'f'\n")
    lacks(second, "'g'")
  end)

  it('finish stops in the middle of the line of the call', function()
    local out = type_lines(CELLS .. '%break g\ng(f(torch.ones(2))) + 1\nfinish\nfinish\nclear\nstep\nc\n')
    has(out, "debug> (cell 2):4: in function 'f'\n")
    has(out, 'debug> (cell 4):1: in the cell\n')
    has(out, "debug> (cell 1):1: in function 'g'\n")
    has(out, 'Out[4]: tensor(17.)')
  end)

  it('next passes over a tail call and a recursion', function()
    local out = type_lines [[
function fact(n, acc)
  if n == 0 then return acc end
  return fact(n - 1, acc * n)
end
function sum(n)
  if n == 0 then return 0 end
  local s = sum(n - 1)
  return s + n
end
function both() local a = fact(5, 1); local b = sum(4); return a + b end
%break cell 2:3 if n == 3
both()
next
next
p a
continue
%clear
%break cell 1:3 if n == 4
both()
next
bt
]]
    has(out, "breakpoint 1, (cell 2):3: in function 'sum'")
    has(out, "debug> (cell 2):4: in function 'sum'\n")
    has(out, 'Out[5]: 130')
    local last = out:match "breakpoint 2.*"
    has(last, "debug> (cell 3):1: in function 'both'\n")
  end)

  it('code runs in the selected frame and changes its variables', function()
    local out = type_lines(CELLS .. '%break g\nf(torch.ones(2))\nup\nb:size()\na = nil\na\ndown\np z:size()\nz = z * 10\nw.x\nnope(\ncontinue\n')
    has(out, "debug> (cell 2):3: in function 'f'\n")
    has(out, 'debug> torch.Size([2])\ndebug> debug> debug> (cell 1):1')
    has(out, "attempt to index a nil value (global 'w')")
    has(out, 'debug> (debug):1: ')
    has(out, 'Out[4]: tensor(80.)')
  end)

  it('%debug runs a cell step by step', function()
    local out = type_lines(CELLS .. "%debug f(torch.zeros(2))\nstep\nstep\nstep\nwhere\ncontinue\n'after'\n")
    has(out, '(cell 3):1: in the cell\n->    1  %debug f(torch.zeros(2))\n')
    has(out, "   (cell 3):1: in the cell\n   (cell 2):3: in function 'f'\n-> (cell 1):1: in function 'g'\n")
    has(out, 'Out[3]: tensor(4.)')
    has(out, "Out[4]: 'after'")
  end)

  it('stepping ends with the last line of a cell #lua54', function()
    local out = type_lines "%debug for i = 1, 2 do local k = i end\ns\ns\n'after'\n"
    lacks(out, '(cell 1):2')
    has(out, "Out[2]: 'after'")
  end)

  it('breakpoint() stops in the code that calls it', function()
    local out = type_lines 'for i = 1, 3 do local j = i * 2; breakpoint() end\np j\nc\np j\nc\nquit\n7\n'
    has(out, '(cell 1):1: in the cell')
    has(out, 'debug> 2\ndebug> ')
    has(out, 'debug> 4\ndebug> ')
    has(out, 'Out[2]: 7')
  end)

  it('breakpoints stop in scripts and in required files, under a condition', function()
    write('mod.lua', 'local M = {}\nfunction M.scale(x, k)\n  local y = x * k\n  -- a comment\n\n  return y\nend\nreturn M\n')
    write('main.lua', "local mod = require 'mod'\nfor i = 1, 5 do\n  local t = mod.scale(torch.ones(i), i)\n  last = t\nend\n")
    local out, err = type_lines '%break mod.lua:4 if k == 3\n%break main.lua:4 if i == 4\n%break\n%run main.lua\nx:size()\nc\ni\nc\nlast:size()\n%break main.lua:99\n%break none.lua:1\n'
    has(out, '  1  ' .. folder .. '/mod.lua:6 if k == 3\n')
    has(out, "breakpoint 1, ./mod.lua:6: in ")
    has(out, 'debug> torch.Size([3])\n')
    has(out, 'breakpoint 2, main.lua:4: ')
    has(out, 'debug> 4\n')
    has(out, 'Out[5]: torch.Size([5])')
    has(err, 'main.lua has no code from line 99 on')
    has(err, 'none.lua: no such file')
  end)

  it('a condition that fails stops and shows its error', function()
    local out = type_lines(CELLS .. '%break f if a.x.y\nf(torch.ones(1))\nc\n%break g if (\n')
    has(out, 'the condition of breakpoint 1 failed: ')
  end)

  it('stops in coroutines and returns to the thread that resumes them', function()
    write('co.lua', [[
local function gen(n)
  for i = 1, n do
    coroutine.yield(i)
  end
end
local total = 0
for v in coroutine.wrap(gen), 2 do
  total = total + v
end
print('total', total)
]])
    local out = type_lines '%break co.lua:3\n%run co.lua\ni, n\nclear\nnext\ntotal\ncontinue\n'
    has(out, 'breakpoint 1, co.lua:3: ')
    has(out, 'debug> (1, 2)\n')
    has(out, '->    8    total = total + v\n')
    has(out, 'total\t3\n')
  end)

  it('stops in a coroutine that is older than the breakpoint, and finish returns in it', function()
    local out = type_lines [[
function g(x) local y = x + 1; return y end
co = coroutine.create(function() coroutine.yield(1); local z = g(5); return z end)
coroutine.resume(co)
%break g
coroutine.resume(co)
bt
finish
c
]]
    has(out, "debug>    (cell 5):1: in the cell\n   (cell 2):1: in function <(cell 2):1>\n-> (cell 1):1: in function 'g'\n")
    has(out, 'debug> (cell 2):1: in function <(cell 2):1>\n')
    has(out, 'Out[5]: (true, 6)')
  end)

  it('%watch stops after the line that puts nan into a tensor', function()
    write('nan.lua', 'local a, b = torch.ones(2), torch.zeros(2)\nlocal c = a / 2\nb:div_(0)\nlocal d = c + b\nprint(d)\n')
    local out = type_lines '%watch\n%run nan.lua\nc\nc\n%clear\n%watch d\n%run nan.lua\nlocals\nc\n'
    has(out, '  1  nan in any variable\n')
    has(out, 'watch, nan.lua:4: in ')
    has(out, 'b has nan before line 4\n')
    has(out, 'd has nan before line 5\n')
    has(out, '     d = tensor [2], torch.float32, cpu\n')
  end)

  it('no hook remains without breakpoints, and a user\'s hook stays', function()
    local out = type_lines [[
debug.gethook() == nil
%break cell 1:1
debug.gethook() ~= nil
%clear
debug.gethook() == nil
%debug x = 1
c
debug.gethook() == nil
]]
    for number, text in pairs {[1] = 'true', [3] = 'true', [5] = 'true', [7] = 'true'} do
      has(out, ('Out[%d]: %s\n'):format(number, text))
    end
  end)

  it('commands refuse wrong arguments and the program stays stopped', function()
    local out, err = type_lines(CELLS .. '%break\n%break f\n%break print\n%break nothing\n%clear 9\nf(torch.ones(1))\nbreak nothing\nclear x\nup\nup\ndown\ndown\nhelp\nc\n')
    has(out, 'no breakpoints\n')
    has(err, "'print' is a function in C; only Lua functions have lines")
    has(err, "'nothing': a breakpoint is file:line, cell N:line, a line of this file or the name of a function")
    has(err, 'no breakpoint has the number 9')
    has(out, "debug> 'nothing': a breakpoint is")
    has(out, "clear takes the number of a breakpoint or nothing, got 'x'")
    has(out, 'this is the outermost call')
    has(out, 'this is the innermost call')
    has(out, '  step, s            run to the next line, also in a called function\n')
    has(out, 'Out[8]: tensor(4.)')
  end)

  it('help describes breakpoint, and lines fit the terminal', function()
    has(type_lines '?breakpoint\n', 'breakpoint()\nStops the program here for the debugger')
    for line in type_lines('breakpoint()\nhelp\nc\n'):gmatch '[^\n]+' do assert.is_true(#line <= 79, line) end
  end)

  it('a notebook ignores breakpoints', function()
    local path = write('book.md', '```lua\nbreakpoint()\n6 * 7\n```\n')
    has(process.run(process.ltensor .. ' --cells ' .. path), '42')
  end)

  it('quit ends the cell, the end of input lets the program run', function()
    local out, err = type_lines(CELLS .. '%break f\nf(torch.ones(1))\nquit\nf(torch.ones(2))\n')
    has(err, 'ended at the debugger')
    has(out, 'Out[5]: tensor(8.)')
  end)

  it('%debug without code still shows the calls of the last error', function()
    local out = type_lines "function h(v) error 'no' end\nh(5)\n%debug\n%debug 1 v + 1\n"
    has(out, "1  (cell 1):1: in function 'h'\n     v = 5\n")
    has(out, '6\n')
  end)

  it('breakpoint() in a script reads commands from stdin', function()
    local path = write('s.lua', 'local x = torch.ones(2, 2)\nbreakpoint()\nlocal y = x * 2\nprint(y:sum():item())\n')
    local out, err, status = process.run(("printf 'n\\nx\\nx = x + 1\\nbt\\n' | %s %s"):format(process.ltensor, path))
    has(out, path .. ':2: in main chunk\n')
    has(out, '->    3  local y = x * 2\n')
    has(out, 'tensor([[1., 1.],\n        [1., 1.]])\n')
    has(out, '16.0\n')
    assert.same({'', 0}, {err, status})
  end)
end)

describe('the debugger on a terminal #pty', function()
  it('edits commands, shows all threads of the stack, and Ctrl-C ends the cell', function()
    local state = terminal.new_folder()
    terminal.follow(state, [[
send function g(k) local d = k + 1; coroutine.yield(d) end\r
expect In [2]: 
send function h(n) for v in coroutine.wrap(function() g(n) end) do print('v', v) end end\r
expect In [3]: 
send %break g\r
expect   1  (cell 1):1
expect In [4]: 
send h(4)\r
expect breakpoint 1, (cell 1):1: in 
expect debug> 
send bt\r
expect (cell 4):1: in the cell
expect (cell 2):1: in function 'h'
expect -> (cell 1):1: in 
expect debug> 
send kk\x7f + 100\r
expect 104
expect debug> 
send up\r
expect (cell 2):1
expect debug> 
send b\r
expect   1  (cell 1):1
expect debug> 
send n\r
expect (cell 2):1: in function 'h'
expect debug> 
send c\r
expect v\t5
expect In [5]: 
]])
    terminal.follow(state, [[
send for i = 1, 1e9 do breakpoint() end\r
expect debug> 
send \x03
expect interrupted
expect In [2]: 
send breakpoint() x = 5\r
expect debug> 
send while true do end\r
sleep 300
send \x03
expect interrupted
expect In [3]: 
send 6 * 7\r
expect Out[3]: 42
expect In [4]: 
send do local longname = torch.ones(7) breakpoint() end\r
expect debug> 
send longn\t
expect longname
send :nume\t
expect numel
send ()\r
expect 7\r\n
expect debug> 
send c\r
expect In [5]: 
]])
    terminal.remove_folder(state)
  end)
end)
