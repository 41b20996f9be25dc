-- What one sees while typing: suggestions, brackets, `end` where it will stand, keys that inputrc binds, dumb terminals.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local terminal = dofile(here .. '../support/terminal.lua')
local highlight = require 'repl.edit.highlight'

local state
local function follow(script, environment) return terminal.follow(state, script, environment) end

-- The rows of the screen, as `screen` prints them, without those that are empty.
local function rows(shown)
  local list = {}
  for row in shown:match('^(.-)\ncursor'):gmatch '[^\n]+' do list[#list + 1] = row end
  return list
end

describe('typing #pty #cpu', function()
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  it('the prompt greets users without a history with three lines of help', function()
    local script = 'screen\nsend x = 1\\r\nexpect In [2]: \n'
    local first, later = rows(follow(script)), rows(follow(script))
    assert.equal(5, #first, table.concat(first, '\n'))
    assert.matches('positions count from 1', first[2], 1, true)
    assert.same({first[1], first[5]}, later)
  end)

  it('finds with Up all cells that begin as the line, and comes back to it', function()
    local seen = follow [[
send x = 1\r
expect In [2]: 
send other = 1\r
expect In [3]: 
send x = 2\r
expect In [4]: 
send x\e[A
sleep 50
screen
send \e[A
sleep 50
screen
send \e[B\e[B
sleep 50
screen
]]
    local last = {}
    for shown in seen:gmatch '(.-)%z' do
      local list = rows(shown)
      last[#last + 1] = list[#list]
    end
    assert.same({'In [4]: x = 2', 'In [4]: x = 1', 'In [4]: x'}, last)
  end)

  it('edits of history cells remain until the line is accepted, and then are undone', function()
    follow [[
send x = 1\r
expect In [2]: 
send y = 2\r
expect In [3]: 
send draft\x01\x10 + 10\x01\x10 + 20\x0e
expect y = 2 + 10
send \x0e
expect draft
send \x01\x10\x01\x10; x\r
expect 21
expect In [4]: 
send \x10\x10\x10; x\r
expect 1
expect In [5]: 
send y = 4\x01\x10\x0e\x1f; 'undone'\r
expect undone
expect In [6]: 
send In[5]\r
expect "; 'undone'"
]]
  end)

  it('survives searches and steps that follow each other, in both modes', function()
    for _, mode in ipairs { 'emacs', 'vi' } do
      local inputrc = os.tmpname()
      local file = assert(io.open(inputrc, 'w'))
      file:write('set editing-mode ', mode, '\n"\\C-r": reverse-search-history\n"\\M-p": non-incremental-reverse-search-history\n')
      file:close()
      follow([[
send first = 1\r
expect In [2]: 
send first = 2\r
expect In [3]: 
send f\e[A\e[A x\x12fir\x12\e[A\e[B y\e[A\ep1\r z\x12first\x07\e[A\e[B\e[B
sleep 100
send \x03
expect ^C
expect ]: 
send 6 * 7\r
expect 42
]], 'INPUTRC=' .. inputrc)
      os.remove(inputrc)
    end
  end)

  it('shows characters that have no place on the screen as U+FFFD, and moves over them in vi mode', function()
    local inputrc = os.tmpname()
    local file = assert(io.open(inputrc, 'w'))
    file:write 'set editing-mode vi\n'
    file:close()
    for _, character in ipairs { '\\xc2\\x96', '\\xe2\\x80\\xa8', '\\xcd\\xb8' } do
      follow(('send a%s\\e*\nsleep 50\nsend \\e0EW\nsleep 50\nsend \\x03\nexpect ^C\nexpect ]: \nsend 6 * 7\\r\nexpect 42\n'):format(character),
        'INPUTRC=' .. inputrc)
    end
    os.remove(inputrc)
  end)

  it('Home and End move within the line of the cell for every inputrc', function()
    local inputrc = os.tmpname()
    local file = assert(io.open(inputrc, 'w'))
    file:write '"\\e[1~": beginning-of-line\n"\\e[4~": end-of-line\n'
    file:close()
    follow([[
send for i = 1, 1 do\r
send print('first')\r
send end\r
expect first\r
expect In [2]: 
send \e[A\e[1~\e[4~ -- c\r
expect first\r
expect In [3]: 
send In[2]\r
expect Out[3]: "for i = 1, 1 do -- c\\n  print('first')\\nend"
]], 'INPUTRC=' .. inputrc)
    os.remove(inputrc)
  end)

  it('suggests the rest of an earlier cell, which Right takes', function()
    follow([[
send unlikely_name = 6 * 7\r
expect In [2]: 
sleep 50
send unl
expect [2mikely_name = 6 * 7
send \e[C; unlikely_name\r
expect 42
]], 'NO_COLOR=')
    follow([[
send unlikely_name = 6 * 7\r
expect In [2]: 
send unl
sleep 100
reject ikely
]], 'NO_COLOR=1')
  end)

  it('draws `end` where it will stand', function()
    local shown = follow [[
send for i = 1, 2 do\r
expect ...: 
send if i then\r
expect ...: 
send end
sleep 50
screen
]]
    assert.same({'In [1]: for i = 1, 2 do', '   ...:   if i then', '   ...:   end'}, {table.unpack(rows(shown), 5)}) -- below the greeting
  end)

  it('shows no ^J on a dumb terminal', function()
    follow([[
send for i = 1, 1 do\r
expect ...: 
send print('once')\r
expect ...: 
send end\r
expect once\r
expect In [2]: 
send \x10
expect for i = 1, 1 do
expect ...:   print('once')
expect ...: end
reject ^J
send \r
expect once\r
]], 'TERM=dumb')
  end)
end)

describe('the bracket at the cursor #cpu', function()
  it('is marked, with its match', function()
    assert.equal(' b    b', (highlight.classes('f(a[1])', 0, 1):gsub('n', ' ')))
    assert.equal('   b b ', (highlight.classes('f(a[1])', 0, 5):gsub('n', ' ')))
    assert.equal('       ', (highlight.classes('f(a[1])', 0):gsub('n', ' ')))
    assert.equal('  ss', (highlight.classes("f('(", 0, 4):sub(1, 4)))
  end)
end)
