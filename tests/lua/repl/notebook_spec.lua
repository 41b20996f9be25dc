-- Notebooks: `--cells`, `--check`, `--write`, run by the program itself.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

-- Runs `ltensor --cells OPTIONS` on a file with the text, without GPUs; returns stdout, stderr, status, the text after.
local function run(text, options)
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write((text:gsub('~~~', '```')))
  file:close()
  local out, err, status = process.run(('%s --disable-cuda --cells %s %s'):format(
    process.quote(process.ltensor), options or '', path))
  file = assert(io.open(path))
  local after = file:read 'a'
  file:close()
  os.remove(path)
  return out:gsub(path:gsub('%p', '%%%0'), 'FILE'), err, status, (after:gsub('```', '~~~'))
end

local function check(text) return run(text, '--check') end

describe('--cells --check', function()
  it('--check passes a notebook with matching outputs', function()
    local out, err, status = check [[
# Title

~~~lua
print('hello')
local x = 2
x, x + 1
~~~
~~~text
hello
(2, 3)
~~~

Prose.

~~~lua
x
~~~
~~~text
2
~~~
]]
    assert.equal('2 passed, 0 failed\n', out)
    assert.equal('', err)
    assert.equal(0, status)
  end)

  it('--check shows each difference with its position and exits with 1', function()
    local out, _, status = check '~~~lua\nprint(1)\nprint(2)\n~~~\n~~~text\n1\n3\n~~~\n~~~lua\n4\n~~~\n~~~text\n4\n~~~\n'
    assert.equal('FILE:1: cell 1 differs (- expected, + got)\n  1\n- 3\n+ 2\n1 passed, 1 failed\n', out)
    assert.equal(1, status)
  end)

  it('takes the block for the GPUs there are', function()
    assert.equal('1 passed, 0 failed\n', (check '~~~lua\n1\n~~~\n~~~text gpus=1\n2\n~~~\n~~~text gpus=0\n1\n~~~\n'))
    assert.equal('1 passed, 0 failed\n', (check '~~~lua\n1\n~~~\n~~~text gpus=1\n2\n~~~\n'))
    assert.equal('1 passed, 0 failed\n', (check '~~~lua\n1\n~~~\n~~~text gpus=1\n2\n~~~\n~~~text\n1\n~~~\n'))
  end)

  it('--check captures output of every source', function()
    local out = check [[
~~~lua
io.write('a\n')
io.stdout:write('b\n')
os.execute('echo c')
print('d');
'e'
~~~
~~~text
a
b
c
d
'e'
~~~
~~~lua
!echo {1 + 1} ${HOME:+home}
~~~
~~~text
2 home
~~~
]]
    assert.equal('2 passed, 0 failed\n', out)
  end)

  it('wants an error where one is announced', function()
    local text = "~~~lua\nerror('the reason is here')\n~~~\n~~~text error\nreason\n~~~\n"
    assert.equal('1 passed, 0 failed\n', (check(text)))
    local out, _, status = check((text:gsub('reason\n', 'other\n')))
    assert.is_truthy(out:find('- other', 1, true) and out:find('0 passed, 1 failed', 1, true))
    assert.equal(1, status)
    out = check '~~~lua\n1\n~~~\n~~~text error\nreason\n~~~\n'
    assert.is_truthy(out:find('raised no error', 1, true))
  end)

  it('fails a cell that raises an error without being expected to', function()
    local out, _, status = check "~~~lua\nlocal x = 1\nerror('oh')\n~~~\n~~~lua\nx\n~~~\n~~~text\n1\n~~~\n"
    assert.is_truthy(out:find('(cell 1):2: oh', 1, true))
    assert.is_truthy(out:find('1 passed, 1 failed\n', 1, true))
    assert.equal(1, status)
  end)

  it('takes a failing shell command for no error', function()
    assert.equal('1 passed, 0 failed\n', (check '~~~lua\n!no-such-command-here\n~~~\n'))
  end)

  it('compares hidden copies with their block', function()
    local text = "~~~lua\nio.stderr:write('[copy] cuda:0 -> cpu  24 B  print  (cell 1)\\n')\n~~~\n" ..
      '~~~copies gpus=0\ncuda:0 -> cpu  24 B  print\n~~~\n'
    assert.equal('1 passed, 0 failed\n', (check(text)))
    assert.is_truthy(check((text:gsub('24 B  print\n~~~\n$', '12 B  print\n~~~\n'))):find('hidden copies differ', 1, true))
    assert.is_truthy(check '~~~lua\n1\n~~~\n~~~copies\ncuda:0 -> cpu  24 B  print\n~~~\n':find('0 passed, 1 failed', 1, true))
  end)

  it('--check stops if the notebook requires more GPUs', function()
    local out, _, status = check "~~~lua\nprint('needs two GPUs')\n~~~\n~~~text gpus=2\n~~~\n~~~lua\nerror('x')\n~~~\n"
    assert.equal('FILE: stopped after cell 1: needs two GPUs\n1 passed, 0 failed\n', out)
    assert.equal(0, status)
  end)

  it('takes its options in any order', function()
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write('```lua\n1\n```\n')
    file:close()
    for _, arguments in ipairs {'--check --cells %s', '--cells --check %s', '--cells %s --check',
      '--cells --sim-gpus 0 %s --check', '--cells --check --sim-gpus=0 %s'} do
      local out = process.run(process.quote(process.ltensor) .. ' ' .. arguments:format(path))
      assert.equal('1 passed, 0 failed\n', out)
    end
    os.remove(path)
  end)

  it('names a file that is not there', function()
    local _, err, status = process.run(process.quote(process.ltensor) .. ' --cells /no/such.md')
    assert.is_truthy(err:find('/no/such.md', 1, true))
    assert.equal(1, status)
  end)
end)

describe('--cells', function()
  local text = 'Before.\n\n~~~lua\nprint(1)\n2\n~~~\n~~~text\nold\n~~~\n\nAfter.\n'

  it('prints the notebook with fresh outputs', function()
    local out, _, status, after = run(text)
    assert.equal('Before.\n\n```lua\nprint(1)\n2\n```\n```text\n1\n2\n```\n\nAfter.\n', out)
    assert.equal(0, status)
    assert.equal(text, after)
  end)

  it('stops at an error', function()
    local out, _, status = run "~~~lua\nerror('oh')\n~~~\n~~~lua\nprint('later')\n~~~\n"
    assert.is_truthy(out:find('(cell 1):1: oh', 1, true))
    assert.is_nil(out:find('\nlater', 1, true))
    assert.equal(1, status)
  end)

  it('--cells shows the output of a cell before os.exit', function()
    local out, _, status = run "~~~lua\nprint('shown')\nos.exit(3)\n~~~\n"
    assert.is_truthy(out:find('shown', 1, true))
    assert.equal(3, status)
  end)
end)

describe('--cells --write', function()
  it('--write stores changed outputs and keeps the rest', function()
    local before = [[
~~~lua
1
~~~
~~~text
<f>
~~~

~~~lua
2
~~~
~~~text gpus=1
7
~~~
~~~text gpus=0
9
~~~

~~~lua
3
~~~

~~~lua
x = 4
~~~
End.
]]
    local _, _, status, after = run(before, '--write')
    assert.equal(0, status)
    assert.equal((before:gsub('\n9\n', '\n2\n'):gsub('\n3\n~~~\n', '\n3\n~~~\n~~~text\n3\n~~~\n')), after)
    assert.equal('4 passed, 0 failed\n', (check(after)))
  end)

  it('--write names the cell that failed, and exits 1', function()
    local _, err, status, after = run('~~~lua\n1 + 1\n~~~\n\n~~~lua\nnope()\n~~~\n\n~~~lua\n3\n~~~\n', '--write')
    assert.equal(1, status)
    assert.is_truthy(err:find(": cell 2 raised an error that the notebook does not expect; the following cells were not run\n" ..
      "attempt to call a nil value (global 'nope')\n", 1, true), err)
    assert.is_truthy(after:find('~~~lua\n1 + 1\n~~~\n~~~text\n2\n~~~', 1, true), after)
    assert.is_nil(after:find('~~~text\n3', 1, true))
  end)
end)
