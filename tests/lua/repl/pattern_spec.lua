-- The prompt's own string.find, match, gmatch and gsub do what Lua's do, errors included.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

local pieces = {
  'a', 'b', '.', '%a', '%d', '%s', '%w', '%x', '%p', '%S', '%W', '[ab]', '[^a]', '[a-c]', '[%d-]', '[]a]', '[^]]', '[%a_]',
  '(', ')', '()', '%1', '%2', '%b()', '%bxy', '%f[%w]', '%f[^a]', '*', '+', '-', '?', '^', '$', '%', '[', '%f', '%b', '%z',
  '\0', '%0', '%9', '-', '%%', '[a', '[a-', '[%', '(a*)', '.-', '%u', '\xff', '[\x80-\xff]',
}
local characters = {'a', 'b', 'c', '(', ')', 'x', 'y', '1', '2', ' ', '_', '\0', '-', ']', '[', 'A', '\xff', '%', '\n'}
local replacements = {'%0', '%1', 'x', '%%', '%2', '', '%', '%a', '<%1%0>'}

local function drawn(list, most)
  local parts = {}
  for index = 1, math.random(0, most) do parts[index] = list[math.random(#list)] end
  return table.concat(parts)
end

-- Everything that gmatch gives, as text.
local function all(gmatch)
  return function(...)
    local found = {}
    for a, b in gmatch(...) do
      found[#found + 1] = ('%s %s'):format(a, b)
      if #found > 100 then break end
    end
    return table.concat(found, ';')
  end
end

describe('patterns that Ctrl-C can stop #cpu', function()
  local twins = require('torch')._C.stoppable().string

  it('patterns match as Lua\'s', function()
    local seed = os.time()
    math.randomseed(seed)
    local function compare(lua, ours, ...)
      local expected, got = table.pack(pcall(lua, ...)), table.pack(pcall(ours, ...))
      local case = ('seed %d: %q %q'):format(seed, (...), (select(2, ...)))
      assert.equal(expected.n, got.n, case)
      for index = 1, expected.n do assert.equal(expected[index], got[index], case) end
    end
    for _ = 1, 3000 do
      local text, pattern = drawn(characters, 12), drawn(pieces, 5)
      local init = math.random(4) == 1 and math.random(-14, 14) or nil
      compare(string.find, twins.find, text, pattern, init, math.random(10) == 1 or nil)
      compare(string.match, twins.match, text, pattern, init)
      compare(all(string.gmatch), all(twins.gmatch), text, pattern)
      compare(string.gsub, twins.gsub, text, pattern, drawn(replacements, 3), math.random(4) == 1 and math.random(-1, 3) or nil)
      compare(string.gsub, twins.gsub, text, pattern, {a = 1, b = false, ab = 'Z'})
      compare(string.gsub, twins.gsub, text, pattern, function(a, b) return a == 'a' and b or nil end)
    end
  end)

  it('have the same limits', function()
    for _, pattern in ipairs {('()'):rep(33), ('a?'):rep(300) .. ('a'):rep(300), ('(a'):rep(40)} do
      local subject = ('a'):rep(300)
      assert.same({pcall(string.find, subject, pattern)}, {pcall(twins.find, subject, pattern)})
    end
    assert.truthy(select(2, pcall(twins.gsub, 'a', 'a', true)):find('(string/function/table expected, got boolean)', 1, true))
    assert.same({pcall(string.gsub, 'a', 'a', function() return {} end)}, {pcall(twins.gsub, 'a', 'a', function() return {} end)})
  end)

  it('are not in scripts', function()
    local out = process.lua "print(package.loaded['repl.stoppable'])"
    assert.equal('nil\n', out)
  end)
end)
