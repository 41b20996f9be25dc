-- The commands of the program for language models, and %chat. Needs PCRE2, as the tokenizer does.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')
local files = dofile(here .. '../support/gguf.lua')
local tiny = dofile(here .. '../support/tiny_llama.lua')

describe('ltensor generate #cpu', function()
  local path, model

  setup(function()
    torch.manual_seed(5)
    path = files.write((tiny.text(tiny.tokenizer())))
    model = torch.lm.load(path)
  end)
  teardown(function() os.remove(path) end)

  local function run(arguments, before) return process.run(('%s %s generate %s'):format(before or '', process.quote(process.ltensor), arguments)) end

  it('writes the text that follows a prompt', function()
    local expected = model:complete('abc', { max_tokens = 9 }) .. '\n'
    assert.same({ expected, '', 0 }, { run(path .. ' --prompt abc --max-tokens 9') })
    assert.same({ expected, '', 0 }, { run('--max-tokens=9 --threads 1 -- ' .. path, 'echo abc |') })
    local options = { max_tokens = 20, temperature = 1.5, seed = 3, top_k = 30, top_p = 0.9, repetition_penalty = 1.1, stop = { 'zz', 'q' } }
    assert.same({ model:complete('abc', options) .. '\n', '', 0 }, { run(path .. ' --prompt abc --max-tokens 20 --temperature 1.5 --seed 3 --top-k 30 '
      .. '--top-p 0.9 --repetition-penalty 1.1 --stop zz --stop q') })
    assert.equal(torch.lm.load(path, { cache_dtype = torch.int8, dtype = torch.bfloat16, context = 16 }):complete('abc', { max_tokens = 9 }) .. '\n',
      (run(path .. ' --prompt abc --max-tokens 9 --cache-dtype int8 --dtype bfloat16 --context 16')))
  end)

  it('counts tokens with --stats', function()
    local _, err = run(path .. ' --prompt abc --max-tokens 9 --stats')
    assert.is_truthy(err:find '^prompt 2 tokens [%d.]+ tok/s, decode 9 tokens [%d.]+ tok/s\n$', err)
  end)

  it('explains its options, and errors in them', function()
    local help = run '--help'
    assert.is_truthy(help:find('usage: ltensor generate MODEL', 1, true))
    for arguments, message in pairs {
      [''] = 'MODEL is missing; ltensor generate --help lists the options',
      ['a b'] = "'b': not expected after MODEL; ltensor generate --help lists the options",
      ['--max-tokens'] = "'--max-tokens': needs a value; ltensor generate --help lists the options",
      ['--max-tokens x'] = "'--max-tokens': needs an integer; ltensor generate --help lists the options",
      ['--temperature=x'] = "'--temperature=x': needs a number; ltensor generate --help lists the options",
      ['--max-token 3'] = "'--max-token': unrecognized option, did you mean '--max-tokens'?; ltensor generate --help lists the options",
      ['--stats=1'] = "'--stats=1': takes no value; ltensor generate --help lists the options",
      ['--dtype four a'] = "'--dtype': 'four' is not the name of a dtype",
      ['/nowhere/model.gguf'] = '/nowhere/model.gguf: No such file or directory',
      ['/dev/null'] = '/dev/null: not a file',
      [path] = 'generate(): the prompt is empty',
      [path .. ' --prompt abc --context 4'] = 'generate(): the context of 4 tokens is full',
    } do
      local _, err, status = run(arguments)
      assert.equal(1, status)
      assert.equal('ltensor generate: ' .. message, err:sub(1, #message + 18))
    end
  end)

  it('ends when its output ends', function()
    local out, err = process.run(('{ sleep 0.1; %s generate %s --prompt abc --max-tokens 60; echo "status $?" >&2; } | :'):format(process.quote(process.ltensor), path))
    assert.equal('', out)
    assert.is_truthy(err:find('status 141', 1, true), err) -- SIGPIPE, without a message of ltensor
    assert.is_nil(err:find('ltensor', 1, true))
    local _, message, status = run(path .. ' --prompt abc >/dev/full')
    assert.equal('ltensor: the output on stdout is incomplete: a write failed\n', message)
    assert.equal(1, status)
  end)

  it('is not run for a script of that name', function()
    local out = process.run(('cd "$(mktemp -d)" && echo "print(1)" >generate && %s ./generate && %s -- generate && rm -r "$PWD"'):format(
      process.quote(process.ltensor), process.quote(process.ltensor)))
    assert.equal('1\n1\n', out)
  end)
end)

describe('a dialogue with a language model #cpu', function()
  local path, model

  setup(function()
    torch.manual_seed(5)
    local metadata = tiny.tokenizer()
    metadata[#metadata + 1] = { 'tokenizer.chat_template', 8, "{% for m in messages %}{{ m.role }}x{{ m.content }}y{% endfor %}" }
    path = files.write((tiny.text(metadata)))
    model = torch.lm.load(path)
  end)
  teardown(function() os.remove(path) end)

  local function answer(text) return model:complete(text, { max_tokens = 5 }) end

  it('answers lines of stdin', function()
    local first = answer 'systemxzyuserxabcy'
    local second = answer(('systemxzyuserxabcyassistantx%syuserxqy'):format(first))
    local out, err, status = process.run(('printf "abc\\n\\nq\\n" | %s chat %s --max-tokens 5 --system z'):format(process.quote(process.ltensor), path))
    assert.same({ first .. '\n' .. second .. '\n', '', 0 }, { out, err, status })
  end)

  it('forgets the oldest messages when the context is full', function()
    local out, err = process.run(('yes abcabcabcabcabc | head -n 9 | %s chat %s --max-tokens 3'):format(process.quote(process.ltensor), path))
    assert.equal('', err)
    assert.equal(9, select(2, out:gsub('\n', '')))
  end)

  it('applies the template to a message with generate --chat', function()
    assert.equal(answer 'userxabcy' .. '\n', (process.run(('%s generate %s --chat --prompt abc --max-tokens 5'):format(process.quote(process.ltensor), path))))
  end)

  it('is a magic of the prompt', function()
    local out = process.run(('printf "m = torch.lm.load \'%s\'\\n%%%%chat m abc\\n%%%%chat\\n%%%%chat m\\n" | %s -i 2>&1'):format(path, process.quote(process.ltensor)))
    assert.is_truthy(out:find(model:complete('userxabcy', { max_tokens = 8 }):sub(1, 8), 1, true), out)
    assert.is_truthy(out:find('which model?', 1, true), out)
    assert.is_truthy(out:find('no line can be read here: %chat model message', 1, true), out)
  end)
end)

describe('ltensor embed #cpu', function()
  local path, model

  setup(function()
    path = files.write(dofile(here .. '../support/family_tensors.lua').encoder_gguf())
    model = torch.lm.load(path)
  end)
  teardown(function() os.remove(path) end)

  local function run(arguments, before) return process.run(('%s %s embed %s'):format(before or '', process.quote(process.ltensor), arguments)) end

  -- The numbers of lines of JSON, each a list.
  local function read_rows(out)
    local rows = {}
    for line in out:gmatch '[^\n]+' do rows[#rows + 1] = torch._C.read_json(line, function() return {} end, nil) end
    return torch.tensor(rows)
  end

  it('writes a line of numbers for each text', function()
    local expected = model:embed { 'n c s', 'a b' }
    local out, err, status = run(path .. " --text 'n c s' --text 'a b'")
    assert.same({ '', 0, 2 }, { err, status, select(2, out:gsub('\n', '')) })
    assert.is_true(read_rows(out):allclose(expected, { atol = 1e-6 }))
    assert.equal(out, (run('--threads 1 -- ' .. path, "printf 'n c s\\na b' |"))) -- without a newline at the end
  end)

  it('writes a file of NumPy with --npy', function()
    local file = os.tmpname()
    assert.same({ '', '', 0 }, { run(('%s --text a --npy %s.npy'):format(path, file)) })
    assert.is_true(torch.load(file .. '.npy'):equal(model:embed { 'a' }))
    assert.same({ '', '', 0 }, { run(('%s --npy %s.npy </dev/null'):format(path, file)) })
    assert.same({ 0, 16 }, { table.unpack(torch.load(file .. '.npy').shape) })
    os.remove(file .. '.npy')
    os.remove(file)
  end)

  it('writes nothing for no text', function() assert.same({ '', '', 0 }, { run(path .. ' </dev/null') }) end)

  it('explains errors of the model and of the options', function()
    local decoder = files.write((tiny.text(tiny.tokenizer())))
    for arguments, message in pairs {
      [decoder .. ' --text a'] = 'embed(): this model generates text',
      [path .. ' --text a --npy /tmp/vectors'] = "'--npy': the name '/tmp/vectors' does not end in .npy",
      [path .. ' --prompt a'] = "'--prompt': unrecognized option; ltensor embed --help lists the options",
      ['/nowhere/model.gguf --text a'] = '/nowhere/model.gguf: No such file or directory',
    } do
      local out, err, status = run(arguments)
      assert.same({ '', 1 }, { out, status })
      assert.equal('ltensor embed: ' .. message, err:sub(1, #message + 15))
    end
    os.remove(decoder)
    local _, err, status = run(path .. ' --text a >/dev/full')
    assert.equal(1, status)
    assert.is_truthy(err:find('ltensor: the output on stdout is incomplete: ', 1, true), err)
  end)
end)
