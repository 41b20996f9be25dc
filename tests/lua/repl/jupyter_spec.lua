-- Jupyter's notebooks: JSON that survives, and --cells, --check and --write on .ipynb files.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local ipynb = require 'repl.notebook.ipynb'
local json = require 'repl.notebook.json'

describe('JSON', function()
  it('comes back as it was', function()
    local text = json.encode(json.decode
      '{"b": [1, 2.5, -3e2, true, false, null, {}, []], "a": "\\u00e9\\n\\"\\\\ \\ud83d\\ude42", "c": {"z": 1, "y": 2}}')
    assert.equal('{\n "b": [\n  1,\n  2.5,\n  -300.0,\n  true,\n  false,\n  null,\n  {},\n  []\n ],\n'
      .. ' "a": "é\\n\\"\\\\ 🙂",\n "c": {\n  "z": 1,\n  "y": 2\n }\n}\n', text)
    assert.equal(text, json.encode(json.decode(text)))
  end)

  it('that is faulty says where', function()
    for text, message in pairs {
      ['{"a": }'] = 'line 1: a value expected', ['[1, 2'] = "']' or ',' expected", ['"abc'] = 'does not end',
      ['{1: 2}'] = 'a name in quotes expected', ['[1] 2'] = 'text after the end', [''] = 'a value expected',
      ['["\\u12"]'] = 'four digits', [('['):rep(1000)] = 'nested too deep', [('{"a":'):rep(1000)] = 'nested too deep', ['{"a" 1}'] = "':' expected",
    } do
      local ok, err = pcall(json.decode, text)
      assert.is_false(ok)
      assert(err:find(message, 1, true), err)
    end
  end)
end)

local book = json.encode(json.object {
  {'cells', {
    json.object {{'cell_type', 'markdown'}, {'metadata', json.object()}, {'source', {'# Title\n', '```lua\n', 'no cell\n', '```'}}},
    json.object {{'cell_type', 'code'}, {'execution_count', json.null}, {'metadata', json.object {{'kept', true}}},
      {'outputs', {}}, {'source', {'local x = 5\n', "print('é', x)\n", 'x + 1'}}},
    json.object {{'cell_type', 'code'}, {'execution_count', json.null}, {'metadata', json.object()}, {'outputs', {
      json.object {{'output_type', 'error'}, {'ename', 'Error'}, {'evalue', 'boom'}, {'traceback', {}}},
    }}, {'source', "error 'boom'"}},
    json.object {{'cell_type', 'code'}, {'execution_count', json.null}, {'metadata', json.object()}, {'outputs', {}}, {'source', 'x'}},
  }},
  {'metadata', json.object {{'mine', 1}}}, {'nbformat', 4}, {'nbformat_minor', 5},
})

describe('a notebook of Jupyter', function()
  local path
  before_each(function()
    path = os.tmpname() .. '.ipynb'
    local file = assert(io.open(path, 'w'))
    file:write(book)
    file:close()
  end)
  after_each(function() os.remove(path) end)

  local function run(options)
    local out, err, status = process.run(('%s --sim-gpus 0 --cells %s %s'):format(process.quote(process.ltensor), path, options))
    return out, err, status
  end

  it('is shown as Markdown', function()
    local out, _, status = run ''
    assert.equal(0, status)
    assert.equal([[
# Title
~~~lua
no cell
~~~

~~~lua
local x = 5
print('é', x)
x + 1
~~~
~~~text
é	5
6
~~~

~~~lua
error 'boom'
~~~
~~~text error
(cell 2):1: boom
     1 | error 'boom'
~~~

~~~lua
x
~~~
~~~text
5
~~~
]], (out:gsub('```', '~~~')))
  end)

  it('is written back with outputs, and then checks', function()
    assert.equal(0, (select(3, run '--write')))
    local file = assert(io.open(path))
    local text = file:read 'a'
    file:close()
    local document = json.decode(text)
    assert.equal(1, document.metadata.mine)
    local cell = document.cells[2]
    assert.is_true(cell.metadata.kept)
    assert.equal(1, cell.execution_count)
    assert.equal('stream', cell.outputs[1].output_type)
    assert.same({'é\t5\n'}, cell.outputs[1].text)
    assert.same({'6'}, cell.outputs[2].data['text/plain'])
    assert.equal('boom', document.cells[3].outputs[1].evalue)
    assert.equal('3 passed, 0 failed\n', (run '--check'))

    file = assert(io.open(path, 'w'))
    file:write((text:gsub('"6"', '"7"')))
    file:close()
    local out, _, status = run '--check'
    assert.equal(1, status)
    assert(out:find('- 7\n+ 6', 1, true), out)
  end)

  it('may hold text as a string or as lines, and outputs of other kinds', function()
    local parsed = ipynb.parse '{"cells": [{"cell_type": "code", "source": "1\\n2", "outputs": [{"output_type": "display_data", "data": {"image/png": "x"}}]}]}'
    assert.equal('1\n2', parsed.cells[1].source)
    assert.same({}, parsed.cells[1].outputs)
  end)

  it('that is none is an error with its name', function()
    local file = assert(io.open(path, 'w'))
    file:write '{"cells": [1,}'
    file:close()
    local _, err, status = run ''
    assert.equal(1, status)
    assert(err:find(path .. ': line 1: a value expected', 1, true), err)
  end)
end)
