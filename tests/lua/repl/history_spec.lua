-- The history file: what is appended comes back, from several sessions at once, and it stays short.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local history = require 'repl.edit.history'

describe('the history file', function()
  local folder, path
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    path = folder .. '/deep/history'
  end)
  after_each(function() process.run('rm -rf ' .. folder) end)

  it('gives cells back as they were', function()
    local cells = {'x = 1', 'for i = 1, 2 do\n  print(i)\nend', '#5\n\\#6\n\\\\', '#1700000000', '中文', '\n\nx\n'}
    for _, cell in ipairs(cells) do assert(history.append(path, cell)) end
    assert.same(cells, history.load(path))
    assert.equal('600\n', (process.run('stat -c %a ' .. path)))
  end)

  it('keeps the cells of sessions that run at once', function()
    local script = os.tmpname()
    local file = assert(io.open(script, 'w'))
    file:write [[
      local history = require 'repl.edit.history'
      for i = 1, 200 do assert(history.append(arg[1], arg[2] .. i .. '\nsecond line')) end
    ]]
    file:close()
    process.run(('for s in a b c; do %s %s %s $s & done; wait'):format(process.quote(process.ltensor), script, path))
    os.remove(script)
    local cells, seen = history.load(path), {}
    assert.equal(600, #cells)
    for _, cell in ipairs(cells) do
      local session, number = cell:match '^(%a)(%d+)\nsecond line$'
      assert.equal((seen[session] or 0) + 1, tonumber(number))
      seen[session] = tonumber(number)
    end
  end)

  it('is cut to the newest 10,000 cells when it has grown far beyond', function()
    assert(history.append(path, 'first'))
    local file = assert(io.open(path, 'a'))
    for i = 1, 13000 do file:write('#1700000000\ncell ', i, '\n') end
    file:close()
    for _ = 1, 2 do
      local cells = history.load(path)
      assert.equal(10000, #cells)
      assert.equal('cell 3001', cells[1])
      assert.equal('cell 13000', cells[10000])
    end
    assert.equal('10000\n', (process.run("grep -c '^cell' " .. path)))
  end)

  it('may be missing, cut off or not writable', function()
    assert.same({}, history.load(path))
    assert.same({}, history.load(nil))
    assert(history.append(path, 'whole'))
    local file = assert(io.open(path, 'a'))
    file:write '#1700000000\nhal'
    file:close()
    assert.same({'whole'}, {history.load(path)[1]})
    local ok, message = history.append('/proc/no/such/history', 'x')
    assert.is_nil(ok)
    assert.is_string(message)
  end)
end)
