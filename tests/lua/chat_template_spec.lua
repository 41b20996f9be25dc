-- chat_template_spec.lua - torch.lm.template: templates in the forms of models, and expressions, against Jinja; refused parts;
-- hostile templates; apply_chat_template of a model.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local files = dofile(here .. 'support/gguf.lua')
local tiny = dofile(here .. 'support/tiny_llama.lua')
local data = dofile(here .. 'support/chat_templates.lua')

local function rendered(template, variables) return torch.lm.template(template):render(variables or {}) end

local function assert_fails(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
end

describe('a template of dialogues', function()
  for _, case in ipairs(data) do
    it('has the texts of Jinja: ' .. case.title, function()
      for title, expected in pairs(case.texts) do
        if type(expected) == 'table' then assert_fails(expected.error, rendered, case.template, data.variables[title])
        else assert.equal(expected, rendered(case.template, data.variables[title])) end
      end
    end)
  end

  it('has expressions and statements with the results of Jinja', function()
    for _, case in ipairs(data.expressions) do
      local template, expected = table.unpack(case)
      local ok, got = pcall(rendered, template)
      if type(expected) == 'table' then assert.is_false(ok, template) else assert.equal(expected, got, template) end
    end
  end)

  it('gives tables the usual order of keys, or that of __pairs', function()
    local call = { arguments = { z = 1, a = 2 }, name = 'f' }
    assert.equal('{"name": "f", "arguments": {"a": 2, "z": 1}}', rendered('{{ call|tojson }}', { call = call }))
    local ordered = setmetatable({ z = 1, a = 2 }, { __pairs = function(t) return function(_, key) if key == nil then return 'z', t.z elseif key == 'z' then return 'a', t.a end end, t end })
    assert.equal('{"z": 1, "a": 2}', rendered('{{ x|tojson }}', { x = ordered }))
    assert.equal('[] [1, {"b": [true]}]', rendered('{{ x|tojson }} {{ y|tojson }}', { x = {}, y = { 1, { b = { true } } } }))
  end)

  it('prints the date by strftime_now', function()
    assert.equal(os.date '%d %b %Y', rendered "{{ strftime_now('%d %b %Y') }}")
    assert_fails("strftime_now with the format '%Q'", rendered, "{{ strftime_now('%Q') }}")
  end)

  it('names the line and the part that is not supported', function()
    for template, message in pairs {
      ['a\n{% include "x" %}'] = "template, line 2: the statement 'include', which ltensor does not support",
      ['{% for x in y recursive %}{% endfor %}'] = 'a recursive loop, which ltensor does not support',
      ["\n\n{{ 'a'|urlize }}"] = "line 3: the filter 'urlize', which ltensor does not support",
      ['{{ 1 is prime }}'] = "the test 'prime', which ltensor does not support",
      ['{{ f(*x) }}'] = 'a call with * or **, which ltensor does not support',
      ["{{ 'a'.encode() }}"] = "a call of 'encode', which is not set, or which ltensor does not support",
      ['{% if 1 %}x'] = 'a block without its endif',
      ['{% endfor %}'] = "the statement 'endfor'",
      ['{% break %}'] = 'break outside of a loop',
      ['{{ 1'] = "a tag without its end, expected '}}'",
      ['{{ "a }}'] = 'a string without its end',
      ['{# x'] = "a comment without its end, expected '#}'",
      ['{{ 1 2 }}'] = "got '2', expected the end of the tag",
      ['{{ $ }}'] = "the character '$', which belongs to no expression",
      ["{% set x.y = 1 %}"] = "an assignment to a field of 'x', expected a namespace",
      ['{{ x.y.z }}'] = "'x' is not set, so that it has no 'y'",
      ["{{ 2 ** 62 * 4 }}"] = 'a power beyond 53 bits',
      ['{{ 9223372036854775807 + 1 }}'] = 'an integer beyond 64 bits',
      ['{{ x|tojson }}'] = "tojson of 'x', which is not set",
    } do assert_fails(message, rendered, template) end
  end)
end)

describe('a hostile template', function()
  it('ends at limits of steps, sizes and depth', function()
    for template, message in pairs {
      ['{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}'] = 'more than 50 macros in macros',
      ['{{ range(1000000000) }}'] = 'range with 1000000000 numbers, at most 100000 are possible',
      ["{{ 'a' * 1000000000000 }}"] = 'a text of more than',
      ["{% set ns = namespace(s='abcdefgh') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"] = 'a text of more than',
      ["{% set ns = namespace(s='a' * 100000) %}{{ ns.s.replace('a', ns.s) }}"] = 'a text of more than',
      ["{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}"] = 'more than 3000000 steps',
      [('{{ ' .. ('('):rep(1000) .. '1' .. (')'):rep(1000) .. ' }}')] = 'more than 100 nested expressions',
      ['{{ ' .. ('not '):rep(1000) .. '1 }}'] = 'more than 100 nested expressions',
      [('{% if 1 %}'):rep(1000)] = 'more than 100 nested expressions or statements',
      [(' '):rep(2 << 20)] = 'template: 2097152 bytes',
    } do assert_fails(message, rendered, template) end
  end)

  it('removes space before a tag in linear time', function()
    local text = 'a' .. (' '):rep(200000) .. 'b'
    assert.equal(text, rendered(text .. ' {%- if false %}{% endif %}'))
    assert.equal('', rendered((' '):rep(200000) .. '{%- if false %}{% endif %}'))
  end)

  it('stops loops in loops #again', function()
    local loop = '{% for i in range(100000) %}'
    assert_fails('more than 3000000 steps', rendered, loop .. loop .. '{% endfor %}{% endfor %}')
  end)

  it('reaches no Lua, and changes no value', function()
    local messages = { { role = 'user', content = 'a' } }
    for _, template in ipairs { "{{ ''.rep }}", "{{ ''.gsub }}", "{{ ''['__index'] }}", '{{ messages.__class__ }}', '{{ _G }}', '{{ os }}', '{{ messages[0].kind }}', '{{ loop }}' } do
      assert.equal('', rendered(template, { messages = messages }))
    end
    for _, template in ipairs { '{{ messages.append(1) }}', "{{ messages[0].update({'a': 1}) }}", '{{ messages.pop() }}', "{% set messages[0] = 1 %}" } do
      assert.is_false((pcall(rendered, template, { messages = messages })))
    end
    assert.same({ { role = 'user', content = 'a' } }, messages)
    local circle = {}
    circle[1] = circle
    assert_fails('more than 64 levels of tables', rendered, '', { x = circle })
  end)
end)

describe('apply_chat_template #cpu', function()
  -- 40 tokens: <end>, <user>, letters
  local tokens, kinds = { of = 8, '<end>', '<user>' }, { of = 5, 3, 3 }
  for i = 1, 38 do tokens[i + 2], kinds[i + 2] = utf8.char(64 + i), 1 end
  local function loaded(more)
    local metadata = { { 'tokenizer.ggml.model', 8, 'gpt2' }, { 'tokenizer.ggml.pre', 8, 'gpt-2' }, { 'tokenizer.ggml.tokens', 9, tokens },
      { 'tokenizer.ggml.merges', 9, { of = 8 } }, { 'tokenizer.ggml.token_type', 9, kinds }, { 'tokenizer.ggml.eos_token_id', 4, 0 }, more }
    local path = files.write((tiny.text(metadata)))
    local ok, model = pcall(torch.lm.load, path)
    os.remove(path)
    assert(ok, model)
    return model
  end

  it('returns the ids, or the text, of a dialogue', function()
    local template = '{% for m in messages %}<user>{{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}<user>{% endif %}{{ tools|length if tools }}{{ more }}'
    local model = loaded { 'tokenizer.chat_template', 8, template }
    local messages = { { role = 'user', content = 'AB' }, { role = 'assistant', content = 'C' } }
    assert.equal('<user>AB<end><user>C<end>', model:apply_chat_template(messages, { tokenize = false }))
    assert.same({ 1, 2, 3, 0, 1, 4, 0, 1 }, model:apply_chat_template(messages, { add_generation_prompt = true }))
    assert.equal('<user>AB<end><user>C<end>2D', model:apply_chat_template(messages, { tokenize = false, tools = { {}, {} }, variables = { more = 'D' } }))
    assert.equal('C', model:apply_chat_template(messages, { tokenize = false, chat_template = '{{ messages[-1].content }}' }))
    assert.equal('string', type(model:complete(model:apply_chat_template(messages), { max_tokens = 2 })))
  end)

  it('needs a template', function()
    assert_fails("no template of dialogues; pass chat_template = '...'", function() return loaded():apply_chat_template {} end)
  end)
end)
