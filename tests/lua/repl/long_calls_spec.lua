-- The prompt's own string.rep, table.sort and others do what Lua's do, errors included, and stop at Ctrl-C.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local terminal = dofile(here .. '../support/terminal.lua')

local twins = require('torch')._C.stoppable()

-- What the function gives or says, with one way to write strings that are long.
local function outcome(f, ...)
  local results = table.pack(pcall(f, ...))
  for index = 1, results.n do
    local value = results[index]
    if type(value) == 'function' then results[index] = table.pack(pcall(value)) end
  end
  return results
end

-- Both take the arguments; those that are functions make new ones for each.
local function same(library, name, ...)
  local function arguments(...)
    local given = table.pack(...)
    for index = 1, given.n do
      if type(given[index]) == 'function' then given[index] = given[index]() end
    end
    return table.unpack(given, 1, given.n)
  end
  local lua = outcome((name == 'load' and _G or _G[library])[name], arguments(...))
  local ours = outcome(twins[library][name], arguments(...))
  for index = 1, math.max(lua.n, ours.n) do
    local a, b = lua[index], ours[index]
    if type(a) == 'string' and #a > 1000 then
      assert.is_true(a == b, name)
    elseif type(a) == 'table' and #a > 1000 then
      assert.equal(#a, #b)
      for i = 1, #a do
        if a[i] ~= b[i] then error(('%s: element %d'):format(name, i)) end
      end
    elseif index == 2 and not lua[1] then
      -- Called by pcall a function has no name of its own: Lua finds it in its library, and would not find ours.
      assert.equal((a:gsub("'%S-'", '', 1)), (b:gsub("'%S-'", '', 1)))
    else
      assert.same(a, b)
    end
  end
end

local proxy = function()
  local list = {3, 1, 2}
  return setmetatable({}, {
    __index = function(_, i) return list[i] end,
    __newindex = function(_, i, v) list[i] = v end,
    __len = function() return #list end,
  })
end

describe('long calls that Ctrl-C can stop #cpu', function()
  local long = ('aé"\n\0001\0z\\'):rep(700000) -- more than a piece, whose end falls anywhere

  it('of strings agree with Lua\'s', function()
    for _, s in ipairs {'', 'x', 'ab', '12345', 7} do
      for _, n in ipairs {-1, 0, 1, 2, 3, 1000, 400001, 2.0, 1.5, '3'} do
        for _, separator in ipairs {'', ', ', '-'} do same('string', 'rep', s, n, separator) end
      end
    end
    same('string', 'rep', ('x'):rep(3 << 20), 3, ('y'):rep(2 << 20))
    same('string', 'rep', 'xx', 1 << 62)
    same('string', 'rep', {}, 1)
    for _, name in ipairs {'upper', 'lower', 'reverse'} do
      for _, s in ipairs {'', 'aBcÄ', 12, long} do same('string', name, s) end
      same('string', name)
    end
  end)

  it('of string.format too', function()
    local named = function() return setmetatable({}, {__tostring = function() return 'me' end}) end
    for _, arguments in ipairs {
      {'%d %5.2f|%-5s|%5s|%s', 3, 2.5, 'ab', 'cd', named}, {'%%'}, {'%'}, {'%y', 1}, {'%d', 1.5}, {'%d', '10'}, {'%d', 'x'}, {'%d'},
      {'%q %q %q %q', 'a\n\0001', 1, 0.1, true}, {'%q', named}, {'%q'}, {'%5q', 'x'}, {'%5s', 'a\0b'}, {'%s', 'a\0b'}, {'%x %X %o', 255, 255, 8},
      {'%a', 1}, {'%c%c', 65, 66}, {'%i', 7}, {'%10.3s|', 'abcdef'}, {'%.20s', 'x'}, {'%123d', 1}, {'%5%', 1}, {'%p', nil}, {'%g', {}},
      {'%s %d'}, {'no', 1, 2}, {}, {named}, {'%q', long}, {'<%s|%q|%5d%%>', long, long, 3}, {long .. '%d', 4}, {long .. '%d'}, {'%s %y', long, 1},
    } do same('string', 'format', table.unpack(arguments, 1, #arguments)) end
  end)

  it('of tables too', function()
    local function greater(a, b) return a > b end
    local many, sorted = {}, {}
    for i = 1, 140000 do many[i], sorted[i] = i * 7919 % 140009, i * 7919 % 140009 end
    twins.table.sort(many)
    table.sort(sorted)
    assert.equal(table.concat(sorted, ' '), table.concat(many, ' '))
    for _, list in ipairs {proxy, function() return {'b', 'a'} end, function() return {} end} do
      for _, order in ipairs {false, greater} do
        local given, expected = list(), list()
        twins.table.sort(given, order or nil)
        table.sort(expected, order or nil)
        assert.equal(#expected, #given)
        for i = 1, #expected do assert.equal(expected[i], given[i]) end
      end
      same('table', 'concat', list)
      same('table', 'concat', list, ', ')
      same('table', 'concat', list, ', ', 2)
      same('table', 'concat', list, ', ', 2, 4)
      for _, to in ipairs {1, 2, 5, math.maxinteger} do same('table', 'move', list, 1, 3, to) end
      same('table', 'move', list, 1, 3, 2, function() return {} end)
    end
    same('table', 'sort', function() return {1, 'x'} end)
    same('table', 'sort', function() return {1, 2} end, 5)
    same('table', 'sort', 5)
    same('table', 'concat', function() return {1, {}, 3} end)
    same('table', 'concat', {[math.maxinteger] = 'x'}, ',', math.maxinteger, math.maxinteger)
    same('table', 'move', {}, math.mininteger, math.maxinteger, 1)
    same('table', 'move', {}, 1, 2)
    same('table', 'move', {}, 1, 0, 1, 7)
  end)

  it('of utf8.len and load too', function()
    local text = ('aé€😀'):rep(300000)
    for _, arguments in ipairs {
      {text}, {text, 2}, {text, 3}, {text, 1, 2000000}, {text, 1, 2000001}, {text, -4}, {text, 1, -3}, {text .. '\x80'}, {text .. '\xff' .. text}, {'\x80'},
      {'\xFD\xBF\xBF\xBF\xBF\xBF', 1, -1, true}, {'\xFD\xBF\xBF\xBF\xBF\xBF'}, {'abc', 5}, {'abc', 4}, {'abc', 0}, {'abc', 1, 4}, {'abc', 3, 2}, {''}, {5}, {{}},
      {('€'):rep(400000) .. '\x82\x82'}, {('€'):rep(400000) .. '\xac' .. ('€'):rep(400000)},
    } do same('utf8', 'len', table.unpack(arguments)) end
    for _, character in ipairs { 'a', '\xC2\x80', '\xDF\xBF', '\xE0\xA0\x80', '\xEF\xBF\xBD', '\xF0\x90\x80\x80', '\xF7\xBF\xBF\xBF', '\xF8\x88\x80\x80\x80',
      '\xFB\xBF\xBF\xBF\xBF', '\xFC\x84\x80\x80\x80\x80', '\xFD\xBF\xBF\xBF\xBF\xBF' } do -- the first and the last of each length
      local many = character:rep(1200000 // #character) -- two pieces
      same('utf8', 'len', many, 1, -1, true)
      same('utf8', 'len', many, 1, #many - 1, true)
      same('utf8', 'len', many .. '\xBF', 1, -1, true)
    end
    local code = ('x = 1 '):rep(10)
    for _, arguments in ipairs {
      {'return 1'}, {'return 1', 'name', 't', {}}, {'return ...', nil, 'b'}, {'return ='}, {nil}, {{}}, {('-- no\n'):rep(900000) .. 'return 5'},
      {('-- no\n'):rep(900000) .. 'error "here"', '@file'}, {('-- no\n'):rep(900000) .. 'return y', 'n', 't', {y = 3}}, {('-- no\n'):rep(900000) .. 'return return'},
      {code}, {7},
    } do same('_G', 'load', table.unpack(arguments, 1, 4)) end
  end)

  local state
  before_each(function() state = terminal.new_folder() end)
  after_each(function() terminal.remove_folder(state) end)

  it('stop at Ctrl-C #pty #again', function()
    for _, cell in ipairs {
      't = {} for i = 1, 1e6 do t[i] = i * 7919 % 1000003 end print("be" .. "gun") while true do t[1] = -t[1] table.sort(t) table.sort(t, math.ult) end',
      's = ("x"):rep(1e6) print("be" .. "gun") while true do ("%s%q"):format(s, s):upper():reverse() end',
      'print("be" .. "gun") table.concat(setmetatable({}, {__len = function() return 1 << 50 end, __index = function() return "" end}))',
      'print("be" .. "gun") table.move({}, 1, 1 << 50, 2)',
      'print("be" .. "gun") while true do ("ab"):rep(5e8, "") end',
      's = ("x = 1 "):rep(1e6) print("be" .. "gun") while true do load(s) utf8.len(s) end',
      'print("be" .. "gun") io.open("/dev/zero"):read "a"',
    } do
      terminal.follow(state, ('send %s\\r\nexpect begun\nsleep 200\nsend \\x03\nwithin 5000\nexpect interrupted\nexpect In [2]: \n'):format(cell))
    end
  end)

  it('wait for a fifo until Ctrl-C #pty', function()
    local fifo = os.tmpname()
    os.remove(fifo)
    os.execute('mkfifo ' .. fifo)
    for _, call in ipairs {'io.open(%q)', 'io.lines(%q)', 'dofile(%q)'} do
      terminal.follow(state, ("send print('be' .. 'gun') %s\\r\nexpect begun\nsleep 200\nsend \\x03\nwithin 5000\nexpect interrupted\nexpect In [2]: \n"):format(call:format(fifo)))
    end
    os.remove(fifo)
  end)
end)
