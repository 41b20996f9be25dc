-- What is made of the text of --help: the manual page, and what bash, zsh and fish complete.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

describe('the text of --help', function()
  local root, folder = here .. '../../../', os.tmpname()
  os.remove(folder)
  os.execute('mkdir -p ' .. folder)
  local help = process.run(process.quote(process.ltensor) .. ' --help')
  local commands = {'build', 'chat', 'embed', 'generate'}
  local command_help = {}
  for i, name in ipairs(commands) do command_help[i] = process.run(('%s %s --help'):format(process.quote(process.ltensor), name)) end
  local file = assert(io.open(folder .. '/help', 'w'))
  file:write(help, table.concat(command_help))
  file:close()
  local _, problem = process.run(('<%s/help %s %sscripts/manual.lua 1.2.3 2026-01-02 %s %sdocs/guide/README.md'):format(
    folder, process.quote(process.ltensor), root, folder, root))
  teardown(function() os.execute('rm -rf ' .. folder) end)

  local function read(name)
    local file = assert(io.open(folder .. '/' .. name))
    local text = file:read 'a'
    file:close()
    return text
  end

  -- Whether a shell is there.
  local function has(command) return select(3, process.run('command -v ' .. command)) == 0 end

  it('becomes a manual page', function()
    assert.equal('', problem)
    local page = read 'ltensor.1'
    assert.is_truthy(page:find('"ltensor 1.2.3"', 1, true))
    for name in (help .. table.concat(command_help)):gmatch '%-%-[%w-]+' do
      assert.is_truthy(page:find((name:gsub('%-', '\\-')), 1, true), name)
    end
    assert.is_truthy(page:find('LTENSOR_SIM_MEMORY=8G', 1, true))
    for line in page:gmatch '[^\n]+' do
      assert.is_truthy(line:find '^[^.\']' or line:find '^%.[A-Z][A-Z]%f[%s\0]' or line:find '^%.[RT][SEP]$' or line:find '^%.B' or
        line:find '^%.S[HS]', line)
    end
    if has 'man' and has 'troff' then
      local _, warnings = process.run(('LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z %s/ltensor.1 >%s/out'):format(folder, folder))
      assert.equal('', warnings)
    end
  end)

  -- What bash would offer for the words, the last of which is being typed.
  local function bash(...)
    local words = {...}
    for index, word in ipairs(words) do words[index] = process.quote(word) end
    local out, err = process.run(('cd %s && bash -c \'. ./ltensor.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ltensor; '
      .. 'printf "%%s\\n" "${COMPREPLY[@]}"\' bash %s'):format(folder, table.concat(words, ' ')))
    assert.equal('', err)
    local found = {}
    for line in out:gmatch '[^\n]+' do found[#found + 1] = line end
    table.sort(found)
    return table.concat(found, ' ')
  end

  it('is completed by bash', function()
    for _, name in ipairs {'book.md', 'book.ipynb', 'script.lua', 'connection.json'} do os.execute(('touch %s/%s'):format(folder, name)) end
    assert.equal('--sim-gpus', bash('ltensor', '--si'))
    assert.equal('--cells --check', bash('ltensor', '--c'))
    assert.equal('book.ipynb book.md', bash('ltensor', '--cells', 'b'))
    assert.equal('script.lua', bash('ltensor', 'scr'))
    assert.equal('connection.json install', bash('ltensor', '--kernel', ''))
    assert.equal('--prefix', bash('ltensor', '--kernel', 'install', '--p'))
    assert.equal('--name --prefix --sys-prefix --user', bash('ltensor', '--kernel', 'install', ''))
    assert.equal('', bash('ltensor', '--nproc', ''))
    os.execute(('touch %s/small.gguf'):format(folder))
    assert.equal('generate', bash('ltensor', 'gen'))
    assert.equal('--temperature --threads', bash('ltensor', 'generate', 'small.gguf', '--t'):gsub(' %-%-top%S*', '') .. '')
    assert.equal('small.gguf', bash('ltensor', 'generate', 's'))
    assert.equal('', bash('ltensor', 'generate', '--prompt', ''))
    os.execute(('mkdir -p %s/models'):format(folder))
    assert.equal('models small.gguf', bash('ltensor', 'generate', ''))
  end)

  it('is completed by zsh and fish', function()
    for name in help:gmatch '\n  +%-%-([%w-]+)' do
      assert.is_truthy(read '_ltensor':find("'--" .. name .. '[', 1, true), name)
      assert.is_truthy(read 'ltensor.fish':find(' -l ' .. name .. ' ', 1, true), name)
    end
    for _, text in ipairs(command_help) do
      for name in text:gmatch '\n  +%-%-([%w-]+)' do
        assert.is_truthy(read '_ltensor':find("'--" .. name .. '[', 1, true), name)
        assert.is_truthy(read 'ltensor.fish':find(' -l ' .. name .. ' ', 1, true), name)
      end
    end
    if has 'zsh' then
      assert.same({'', '', 0}, {process.run(('zsh -n %s/_ltensor'):format(folder))})
    end
    if has 'fish' then
      assert.same({'', '', 0}, {process.run(('fish --no-execute %s/ltensor.fish'):format(folder))})
      assert.is_truthy(process.run(('fish -c "source %s/ltensor.fish; complete -C \'ltensor --si\'"'):format(folder)):find '^%-%-sim%-gpus')
    end
  end)
end)
