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

  it('JSON preserves integers, floats and large numbers', function()
    local text = '[1, 1.0, -0.0, 9007199254740993, -9223372036854775808, 0.1, 0.30000000000000004, 1e22, 1e999, -1e999]'
    local numbers = json.decode(text)
    assert.equal('integer', math.type(numbers[1]))
    assert.equal('float', math.type(numbers[2]))
    assert.equal(9007199254740993, numbers[4])
    assert.equal(math.mininteger, numbers[5])
    assert.equal((text:gsub('1e22', '1e+22')), (json.encode(numbers):gsub('%[\n ', '['):gsub('\n]\n', ']'):gsub(',\n ', ', ')))
    assert.equal('[\n null\n]\n', json.encode {0 / 0})
    -- Digits in names and texts are none of them.
    local mixed = json.decode '{"1": "2", "\\"3": [4, "5\\\\", {"6": 7}], "8": -9.5}'
    assert.same({'2', 4, '5\\', 7, -9.5}, {mixed['1'], mixed['"3'][1], mixed['"3'][2], mixed['"3'][3]['6'], mixed['8']})
  end)

  it('keeps zero bytes and order, and the last of two equal names', function()
    local text = '{\n "a\\u0000b": "\\u0000",\n "\\\\u0000": "\\u0001"\n}\n'
    local object = json.decode(text)
    assert.equal('\0', object['a\0b'])
    assert.equal('\1', object['\\u0000'])
    assert.equal(text, json.encode(object))
    assert.equal('{\n "b": 3,\n "a": 2\n}\n', json.encode(json.decode '{"b": 1, "a": 2, "b": 3}'))
  end)

  it('JSON is valid UTF-8 for every output of a cell', function()
    assert.equal('[\n "a\u{FFFD}\u{FFFD}é\u{FFFD}"\n]\n', json.encode {'a\xff\xc3é\xe2'})
  end)

  it('a JSON error contains its position', function()
    local deep = ('['):rep(200) .. (']'):rep(200)
    assert.equal(deep, (json.encode(json.decode(deep)):gsub('%s', '')))
    for text, message in pairs {
      ['{"a": }'] = "line 1: no JSON at '}'", ['[1, 2'] = 'line 1: the text ends early', ['\n"abc'] = "line 2: no JSON at 'abc'",
      ['{é: 2}'] = "line 1: no JSON at 'é: 2}'", ['{1: 2}'] = "line 1: no JSON at ': 2}'", ['[1] 2'] = "line 1: no JSON at '2'", [''] = 'line 1: the text ends early',
      ['[1,\n "\\u12"]'] = [[line 2: no JSON at '\u12"]']], ['["\\ud800"]'] = [[no JSON at '\ud800"]']], ['{"a" 1}'] = "no JSON at '1}'",
      ['["\\u0000",\n\\u0000]'] = [[line 2: no JSON at '\u0000]']], ['[1]\0[2]'] = "no JSON at '[2]'", ['[1, nan]'] = "no JSON at 'nan]'",
      ['[\n"\xc3"]'] = 'line 2: no UTF-8', ['["\xed\xa0\x80"]'] = 'line 1: no UTF-8', ['[' .. ('é'):rep(100) .. ']'] = "'" .. ('é'):rep(30) .. "'",
      ['\n[' .. deep .. ']'] = 'line 2: nested too deep', [('['):rep(1000000)] = 'nested too deep', [('{"a":'):rep(100000)] = 'nested too deep',
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
    assert(err:find(path .. ": line 1: no JSON at '}'", 1, true), err)
  end)
end)
