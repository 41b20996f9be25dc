-- How the cell that is edited looks: prompts, rows, colours. The screen is that of tests/tools/screen.h.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local terminal = dofile(here .. '../support/terminal.lua')
local highlight = require 'repl.edit.highlight'

local state
local function follow(script, environment) return terminal.follow(state, script, environment) end

-- The rows of each `screen` from the last one that begins with the first prompt, and the cursor's place from there.
local function screens(output)
  local found = {}
  for text in output:gmatch '([^\0]*)\0' do
    local rows, row, column = text:match '^(.*)\ncursor (%d+) (%d+)$'
    local all, first = {}, 1
    for line in (rows .. '\n'):gmatch '([^\n]*)\n' do
      all[#all + 1] = line
      if line:find '^In %[' or line:find '^%(' then first = #all end
    end
    local kept = table.move(all, first, #all, 1, {})
    while kept[#kept] == '' do kept[#kept] = nil end
    found[#found + 1] = {text = table.concat(kept, '\n'), row = row - first + 1, column = tonumber(column)}
  end
  return found
end

local function screen(script, columns, more)
  return screens(follow(script .. 'screen\n', ('NO_COLOR=1 PTY_COLUMNS=%d %s'):format(columns or 80, more or '')))[1]
end

describe('the cell on the screen #pty #cpu', function()
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  it('has a prompt before every line, also from history', function()
    local shown = screen [[
send do\r
expect ...: 
send x = 1\r
expect ...: 
send end\r
expect In [2]: 
send \e[A
]]
    assert.equal('In [2]: do\n   ...:   x = 1\n   ...: end', shown.text)
    assert.same({0, 10}, {shown.row, shown.column})
  end)

  it('wraps at the edge of the terminal', function()
    local shown = screen('send 12345678901234567890123456789012345\n', 40)
    assert.equal('In [1]: 12345678901234567890123456789012\n345', shown.text)
    assert.same({1, 3}, {shown.row, shown.column})
    shown = screen('send 12345678901234567890123456789012\n', 40)
    assert.same({1, 0}, {shown.row, shown.column})
    shown = screen("send x中文中文中文中文中文中文中文中文y\n", 40) -- 31 columns, then one that needs two
    assert.equal('In [1]: x中文中文中文中文中文中文中文\n中文y', (shown.text:gsub('中文中\n', '中文\n中')))
  end)

  it('the cell shows control characters as escapes', function()
    assert.equal('In [1]: a^B\u{FFFD}b', screen("send a\\x16\\x02\\x16\\xffb\n", 80).text)
  end)

  it('scrolls within a cell that is higher than the terminal', function()
    local lines = {}
    for i = 1, 30 do lines[i] = 'x' .. i .. ' = 1' end
    local shown = screens(follow('send \\e[200~' .. table.concat(lines, '\\n') .. '\\e[201~\nscreen\n'
      .. 'send ' .. ('\\e[A'):rep(29) .. '\nscreen\n', 'PTY_ROWS=10 PTY_COLUMNS=40'))
    assert.truthy(shown[1].text:find('   ...: x30 = 1$'))
    assert.truthy(shown[2].text:find('^In %[1%]: x1 = 1\n'))
    assert.truthy(shown[2].text:find('   ...: x10 = 1$'))
  end)

  it('draws itself anew after the width has changed and after Ctrl-L #again', function()
    local shown = screens(follow([[
send local a = 'a long line that does not fit into forty columns'
sleep 200
size 40 24
sleep 300
screen
send \x0c
screen
size 80 24
sleep 300
screen
]], 'PTY_COLUMNS=80'))
    assert.equal("In [1]: local a = 'a long line that does\nnot fit into forty columns'", (shown[2].text:gsub('does \n', 'does\n'):gsub('\n ', '\n')))
    assert.equal("In [1]: local a = 'a long line that does not fit into forty columns'", shown[3].text)
  end)

  it('completion lists words below the cell and confirms a long list', function()
    local shown = screen [[
send words = {first_one = 1, first_two = 2}\r
expect In [2]: 
send if words then\n
expect ...: 
send words.first_\t\t
expect first_two
]]
    assert.truthy(shown.text:find 'words%.first_$')
    shown = screen 'send torch.\\t\\t\nexpect Display all \nsend n\n'
    assert.truthy(shown.text:find '^In %[1%]: torch%.$')
    follow 'send torch.\\t\\t\nexpect possibilities? (y or n)\nsend y\nexpect absolute\n'
  end)

  it('Down past the newest cell restores the typed text', function()
    local shown = screens(follow([[
send first = 1\r
expect In [2]: 
send second = 2\r
expect In [3]: 
send sec\e[A
screen
send \e[B
screen
send \e[B\e[B
screen
send \x15\e[A\e[A
screen
send \e[B\e[B\e[B
screen
send 6 * 7\r
expect Out[3]: 42
]], 'NO_COLOR=1'))
    local texts = {}
    for i, one in ipairs(shown) do texts[i] = one.text end
    assert.same({'In [3]: second = 2', 'In [3]: sec', 'In [3]: sec', 'In [3]: first = 1', 'In [3]:'}, texts)
  end)

  it('shows the search for a cell', function()
    local shown = screen 'send needle = 1\\r\nexpect In [2]: \nsend \\x12need\nsleep 100\n'
    assert.truthy(shown.text:find "%(reverse%-i%-search%)`need': needle = 1$")
  end)

  -- What is drawn piece by piece is what would be drawn at once.
  for _, mode in ipairs {'emacs', 'vi'} do
    for _, columns in ipairs {80, 40, 11} do
      for _, language in ipairs {'C.UTF-8', 'C'} do
        it(('is the same however it came about: %s, %d columns, LANG=%s'):format(mode, columns, language), function()
          math.randomseed(columns)
          local keys = mode == 'vi' and {'\\e', 'h', 'l', 'x', 'i', 'a', 'dw', 'A', '0', 'k', 'j', 'P'} or
            {'\\x01', '\\x05', '\\x02', '\\x06', '\\e[A', '\\e[B', '\\x0b', '\\x19', '\\x14', '\\eb', '\\ed', '\\e\\r', '\\x17', '\\x1f'}
          for _, text in ipairs {'abc ', '中文', "'", 'for i', '(', 'é', 'e\\xcc\\x81', '\\x7f', '\\x16\\t', 'end '} do keys[#keys + 1] = text end
          local script = {"send \\e[200~do\\n  local t = {1, 2, '中文字符串'} -- a comment that is long enough\\nend\\e[201~"}
          for _ = 1, 6 do
            for _ = 1, 12 do
              script[#script + 1] = 'send ' .. keys[math.random(#keys)]
              if mode == 'vi' then script[#script + 1] = 'sleep 2' end
            end
            script[#script + 1] = mode == 'vi' and 'sleep 60\nscreen\nsend \\x0c\nscreen' or 'screen\nsend \\x0c\nscreen'
          end
          local shown = screens(follow(table.concat(script, '\n') .. '\n',
            ('NO_COLOR= PTY_COLUMNS=%d LC_ALL= LC_CTYPE= LANG=%s INPUTRC=%s'):format(columns, language, here .. 'support/' .. mode .. '.inputrc')))
          assert.equal(12, #shown)
          for i = 1, #shown, 2 do assert.same(shown[i + 1], shown[i]) end
        end)
      end
    end
  end
end)

describe('the colours of Lua #cpu', function()
  it('have a class for every byte', function()
    for _, case in ipairs {
      {"local x = 'a' -- b", "kkkkk     sss cccc"}, {'--[[ a\nb', 'cccccccc'}, {"f('a", '  ss'}, {'%who x', 'xxxxxx'},
      {'!ls\nif 1', 'xxx kk n'}, {'x?', 'xx'}, {'a%b', '   '}, {'x = 0x1p4 ..[=[\n]]]=]', '    nnnnn   sssssssss'},
      {'-- a\nend -- b', 'ccccckkk cccc'}, {'\xff\0中', '     '}, {'', ''},
    } do
      local classes = highlight.classes(case[1], 0)
      assert.equal(#case[1], #classes)
      assert.equal(case[2], classes)
    end
    assert.equal('kkk', highlight.classes('x = [[\n]]\nend', 10))
  end)
end)
