-- The translation of `<close>` for Lua 5.3 (repl/program/close_scopes.lua). Its result is valid in every Lua, so that these tests run in 5.4, too.

local translate = require 'repl.program.close_scopes'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- The results of a text and the values that it closed, in this Lua or in one that translates it.
local function outcome(text, ...)
  local log = {}
  local environment = setmetatable({
    note = function(name)
      return setmetatable({}, { __close = function(_, problem) log[#log + 1] = name .. (problem and '!' .. tostring(problem) or '') end })
    end,
  }, { __index = _G })
  local chunk = assert(load(text, '=text', 't', environment))
  return { results = table.pack(pcall(chunk, ...)), closed = table.concat(log, ' ') }
end

local SCOPES = {
  ['in a function'] = "local function f(...) local a <close> = note 'a' local b <close> = note 'b' return select('#', ...), ... end return f(1, nil, 3)",
  ['of the arguments of the text'] = "local a <close> = note 'a' return ...",
  ['in a block that is left'] = "do local a <close> = note 'a' if ... then return 1, nil, 2 end end return 'after'",
  ['in a loop that is left'] = "for i = 1, 4 do local a <close> = note('a' .. i) if i == 3 then break end end return 'after'",
  ['in a loop that a break leaves or a return'] = "for i = 1, 4 do local a <close> = note('a' .. i) if ... and i == 2 then return i, nil, 'early' end if i == 3 then break end end return 'after'",
  ['in a loop within one'] = "while true do local a <close> = note 'a' for _ = 1, 2 do local b <close> = note 'b' if ... then break end end break end return 1",
  ['and goto'] = "for i = 1, 3 do local a <close> = note('a' .. i) if i == 2 then local b <close> = note 'b' goto continue end ::continue:: end return 1",
  ['and goto out of it'] = "for i = 1, 3 do do local a <close> = note('a' .. i) if i == 2 then goto continue end end ::continue:: end return 1",
  ['in repeat'] = "local n = 0 repeat n = n + 1 do local a <close> = note('a' .. n) if n == 2 then return n end end until n > 3",
  ['with an error'] = "local a <close> = note 'a' error('problem', 0)",
  ['of nil'] = 'local a <close> = nil return 5',
  ['with constants'] = "local c <const>, a <close> = 4, note 'a' return c",
  ['between strings and comments'] = "local s = '<close>' --[[ local b <close> ]] local a <close> = note [==[a]==] return s",
  ['in a table of functions'] = "local t = { f = function() local a <close> = note 'a' return 7 end, 8 } return t.f(), t[1]",
}

describe('a scope that is written as a function #cpu', function()
  for title, text in pairs(SCOPES) do
    it('ends as in Lua 5.4: ' .. title, function()
      local translated = translate(text, 'text')
      assert.is_nil(translated:find '<close> =')
      for _, arguments in ipairs { {}, { true, nil, 3 } } do
        assert.same(outcome(text, table.unpack(arguments, 1, 3)), outcome(translated, table.unpack(arguments, 1, 3)))
      end
    end)
  end

  it('refuses a value that cannot be closed', function()
    assert.has_error(load(translate('local a <close> = 5', 'text')), 'a variable got a non-closable value: a number')
  end)

  it('keeps the lines of every source, and each compiles', function()
    for path in process.run("git ls-files lib repl scripts tests/lua | grep '[.]lua$'"):gmatch '[^\n]+' do
      local file = assert(io.open(path))
      local text = file:read 'a'
      file:close()
      local translated = translate(text, path)
      assert(load(translated:gsub('^#[^\n]*', ''), '@' .. path))
      assert.equal(select(2, text:gsub('\n', '')), select(2, translated:gsub('\n', '')), path)
    end
  end)
end)
