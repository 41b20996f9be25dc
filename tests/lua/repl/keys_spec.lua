-- What the terminal sends that is no plain key: parts of characters, pastes, Ctrl-C in the middle of either.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local terminal = dofile(here .. '../support/terminal.lua')

local state
local function follow(script, environment) return terminal.follow(state, script, environment) end

describe('keys #pty #cpu', function()
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  it('that are no characters do not stop the vi motions', function()
    follow [==[
send %config editing vi\r
expect In [2]: 
send abc d\xef\x9a\xc3\xa9\e*
sleep 300
send \x03
expect ^C
expect In [2]: 
send 1 + 1\r
expect Out[2]: 2
]==]
  end)

  it('the bytes of a character may arrive separately; invalid bytes become U+FFFD', function()
    follow [==[
send '\xe4
sleep 30
send \xb8
sleep 30
send \xad'\r
expect Out[1]: '中'
send utf8.codepoint('\xe4', 1)\r
expect Out[2]: 65533
send '\xe4
sleep 300
send ' == '\\u{FFFD}'\r
expect Out[3]: true
]==]
  end)

  it('pasted with the line ends of other systems', function()
    follow [==[
send \e[200~s = [[\r\none\r\ntwo]]\e[201~\r
expect In [2]: 
send s\r
expect Out[2]: 'one\\ntwo'
send \e[200~s = [[\rone\ntwo]]\e[201~\r
expect In [4]: 
send s\r
expect Out[4]: 'one\\ntwo'
]==]
  end)

  it('pasted with a zero byte lose it only', function()
    follow [==[
send \e[200~'one\x00two'\e[201~\r
expect Out[1]: 'onetwo'
]==]
  end)

  it('Ctrl-C drops a paste without an end', function()
    for _, mode in ipairs {'emacs', 'vi'} do
      follow([[
send %config editing ]] .. mode .. '\\r\n' .. [[
expect In [2]: 
send \e[200~]] .. ('x'):rep(64) .. '\n' .. [[
sleep 50
send \x03
expect In [2]: 
send \x12xx\e[200~yy
sleep 50
send \x03
expect In [2]: 
send 1 + 1\r
expect Out[2]: 2
]])
    end
  end)
end)
