-- The command line: the options and habits of lua, and ours.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. '../support/process.lua')

local function run(arguments, before)
  return process.run(('%s %s %s'):format(before or '', process.quote(process.ltensor), arguments))
end

describe('the program #cpu', function()
  it('runs a script with its arguments', function()
    assert.equal('0\tnil\n', (process.lua 'print(select("#", ...), arg[1])'))
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write('#!/usr/bin/env ltensor\nprint(arg[0], arg[1], arg[2], arg[-1]:match "[^/]*$", ...)')
    file:close()
    assert.equal(('%s\ta\t-e\t%s\ta\t-e\n'):format(path, process.ltensor:match '[^/]*$'), (run(path .. ' a -e')))
    os.remove(path)
  end)

  it('runs -e, -l and -i as lua does', function()
    assert.equal('1\n2\n', (run "-e 'print(1)' -e'print(2)'"))
    assert.equal('3\n', (run "-l s=string -e 'print(s.len \"abc\")'"))
    local out = run("-i -e 'x = 5' ", "printf 'x + 1\\n' |")
    assert.is_truthy(out:find('Out[1]: 6', 1, true))
  end)

  it('runs its standard input', function()
    assert.equal('1\n', (run('', "echo 'print(1)' |")))
    assert.equal('a\tb\n', (run('- a b', "echo 'print(...)' |")))
  end)

  it('refuses --sim-gpus if the library of simulated GPUs is missing', function()
    local path = os.tmpname()
    for _, arguments in ipairs { "-e 'print(torch.cuda.device_count())'", '-i', path } do
      local out, err, status = run('--sim-gpus 2 ' .. arguments, 'LTENSOR_LIB_DIR=/nonexistent')
      assert.equal('', out)
      assert.is_truthy(err:find('libltensor_sim.so could not be loaded: /nonexistent/libltensor_sim.so', 1, true), err)
      assert.is_truthy(err:find('set LTENSOR_LIB_DIR to the folder of libltensor_sim.so', 1, true), err)
      assert.equal(1, status)
    end
    os.remove(path)
    for _, arguments in ipairs { '--sim-gpus 0', '--sim-gpus 2 --disable-cuda' } do
      assert.equal('0\n', (run(arguments .. " -e 'print(torch.cuda.device_count())'", 'LTENSOR_LIB_DIR=/nonexistent')))
    end
  end)

  it('reports errors on stderr and exits 1', function()
    local out, err, status = run('', "printf 'print(1)\\nlocal function f() error \"oh\" end\\nf()' |")
    assert.equal('1\n', out)
    assert.equal('ltensor: stdin:2: oh\n     2 | local function f() error "oh" end\nstack traceback:\n' ..
      "\tstdin:2: in upvalue 'f'\n\tstdin:3: in main chunk\n", (err:gsub("local 'f'", "upvalue 'f'")))
    assert.equal(1, status)
    out, err, status = run "-e 'x = = 1'"
    assert.equal('', out)
    assert.is_truthy(err:find("unexpected symbol near '='", 1, true))
    assert.equal(1, status)
    out, err, status = run '/no/such/script.lua'
    assert.equal('', out)
    assert.is_truthy(err:find('/no/such/script.lua', 1, true))
    assert.equal(1, status)
  end)

  it('shows error values that are tables', function()
    local _, err = run "-e 'error{code = 5}'"
    assert.is_truthy(err:find('{code = 5}', 1, true))
    _, err = run "-e 'error(setmetatable({}, {__tostring = function() return \"mine\" end}))'"
    assert.equal('ltensor: mine\n', err)
    _, err = run "-e 'error(nil)'"
    assert.is_truthy(err:find('nil', 1, true))
  end)

  it('exits with the number given to os.exit', function()
    for argument, expected in pairs {['7'] = 7, ['false'] = 1, ['true'] = 0, ['3, true'] = 3} do
      assert.equal(expected, (select(3, run(("-e 'os.exit(%s)'"):format(argument)))))
    end
  end)

  it('explains itself', function()
    local out, _, status = run '--help'
    assert.is_truthy(out:find('--cells FILE', 1, true))
    assert.equal(0, status)
    assert.equal(out, (run '-h'))
    assert.is_truthy(run('--version'):find '^ltensor %d+%.%d+%.%d+\nLua 5%.%d')
  end)

  it('the program rejects unknown options', function()
    for _, option in ipairs {'--nonsense', '-x', '-e', '--sim-gpus', '--sim-gpus two', '--check', '--cells'} do
      local _, err, status = run(option)
      assert.is_truthy(err:find '^ltensor: [^\n]*; ltensor %-%-help lists the options\n$', err)
      assert.equal(1, status)
    end
  end)

  -- The error of a script in a file, without the file's folder.
  local function failure(code)
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write(code)
    file:close()
    local _, err, status = run(path)
    os.remove(path)
    assert.equal(1, status)
    return (err:gsub(path:gsub('%p', '%%%0'), 'a.lua'))
  end

  it('names the module and the nearest name when a script misspells one', function()
    for code, sentence in pairs {
      ['nn.Liner(2, 1)'] = "torch.nn has no field 'Liner'; did you mean 'Linear'?",
      ['local F = torch.nn.functional; F.rleu(1)'] = "torch.nn.functional has no field 'rleu'; did you mean 'relu'?",
      ['torch.zreos(2)'] = "torch has no field 'zreos'; did you mean 'zeros'?",
      ['local optim = torch.optim; optim.Adm(1)'] = "torch.optim has no field 'Adm'; did you mean 'Adam'?",
      ["local m = nn.Module:extend('M'); function m:forward() return self.fcl(1) end; local n = m(); n.fc1 = nn.Identity(); print(n())"] =
        "self (M) has no field 'fcl'; did you mean 'fc1'?",
      ['local s = {width = 1}; s.height(2)'] = "s has no field 'height'",
      ['prnt(1)'] = "did you mean 'print'?",
    } do
      local err = failure(code)
      assert.is_truthy(err:find('\n     1 | ' .. code .. '\n', 1, true), err)
      assert.is_truthy(err:find('\n' .. sentence .. '\n', 1, true), err)
    end
  end)

  it('shows the frames of coroutines and the position of the cause once', function()
    assert.equal("ltensor: a.lua:1: boom\n     1 | local function inner() error 'boom' end\nstack traceback:\n" ..
      "\ta.lua:1: in upvalue 'inner'\n\ta.lua:3: in function <a.lua:3>\n\ta.lua:3: in function <a.lua:2>\n\ta.lua:5: in main chunk\n",
      failure "local function inner() error 'boom' end\nlocal co = coroutine.wrap(function()\ncoroutine.wrap(function() inner() end)()\nend)\nco()")
    assert.equal("ltensor: a.lua:2: first\n     2 |   error 'first'\nstack traceback:\n\ta.lua:4: in main chunk\n",
      failure "local ok, message = pcall(function()\n  error 'first'\nend)\nerror(message)")
    local err = failure 'local t\nlocal co = coroutine.create(function() t.x = 1 end)\nlocal _, message = coroutine.resume(co)\nerror(message)'
    assert.is_truthy(err:find("^ltensor: a.lua:2: attempt to index a nil value %(upvalue 't'%)\n"), err)
    assert.is_truthy(err:find('stack traceback:\n\ta.lua:2: in function <a.lua:2>\n\ta.lua:4: in main chunk\n', 1, true), err)
    err = failure 'coroutine.wrap(function() error{code = 3} end)()'
    assert.is_truthy(err:find('^ltensor: {code = 3}\nstack traceback:\n\ta.lua:1: in function <a.lua:1>\n'), err)
    assert.is_truthy(failure "error 'step 3:10: no'":find '^ltensor: a.lua:1: step 3:10: no\n')
  end)

  it('shows the frames of hooks of backward', function()
    local err = failure 'local x = torch.ones(2, {requires_grad = true})\nx:register_hook(function() error "deep" end)\nlocal function f() x:sum():backward() end\nf()'
    assert.equal('ltensor: a.lua:2: deep\n     2 | x:register_hook(function() error "deep" end)\nstack traceback:\n' ..
      "\ta.lua:2: in function <a.lua:2>\n\ta.lua:3: in upvalue 'f'\n\ta.lua:4: in main chunk\n", (err:gsub("local 'f'", "upvalue 'f'")))
    err = failure('torch.autograd.graph.saved_tensors_hooks(function() error "pack" end, function(x) return x end, function()\n' ..
      'return torch.ones(2, {requires_grad = true}):exp() end)')
    assert.is_truthy(err:find('^ltensor: a.lua:1: pack\n'), err)
    assert.is_truthy(err:find('\ta.lua:1: in function <a.lua:1>\n\ta.lua:2: in ', 1, true), err)
  end)

  it('shows the line of a module that Lua refuses', function()
    local folder = os.tmpname()
    os.remove(folder)
    process.run('mkdir ' .. folder)
    local file = assert(io.open(folder .. '/broken_module.lua', 'w'))
    file:write('local x = 1\nx += 1\n')
    file:close()
    local _, err = run("-e \"require 'broken_module'\"", ("LUA_PATH='%s/?.lua;;'"):format(folder))
    process.run('rm -r ' .. folder)
    assert.is_truthy(err:find('\n     2 | x += 1\n', 1, true) and err:find('\nin Lua: x = x + 1\n', 1, true), err)
  end)

  it('shows the source line of -e, stdin and a script that Lua refuses', function()
    assert.is_truthy(select(2, run "-e 'x = torch.zreos(2)'"):find('\n     1 | x = torch.zreos(2)\n', 1, true))
    assert.is_truthy(select(2, run("-e 'x ='")):find('\n     1 | x =\n', 1, true))
    assert.is_truthy(failure 'x = 1\nx = = 2':find('\n     2 | x = = 2\n', 1, true))
    assert.is_truthy(select(2, run('', "printf '#!lua\\nerror(1 .. {})' |")):find('\n     2 | error(1 .. {})\n', 1, true))
    assert.equal('2\n', (run('', "printf '\\357\\273\\277#!lua\\nprint(debug.getinfo(1, [[l]]).currentline)' |")))
  end)

  it('fails if its output cannot be written', function()
    for _, command in ipairs {"-e 'print(1)'", "-e 'io.write(1); os.exit()'", "-e 'print(1); os.exit(0, true)'", '--help', '--version', '--doctor',
      "-e 'for i = 1, 1e5 do print(i) end'"} do
      local _, err, status = run(command .. ' >/dev/full')
      assert.is_truthy(err:find '^ltensor: the output on stdout is incomplete: [^\n]+\n$', err)
      assert.equal(1, status)
    end
    assert.equal(1, (select(3, run('>/dev/full', 'echo "print(1)" |'))))
    assert.equal(1, (select(3, run('-i >/dev/full', 'echo 1 |'))))
    assert.equal(7, (select(3, run "-e 'print(1); os.exit(7)' >/dev/full")))
  end)

  it('leaves at exit and quit, also without parentheses', function()
    for _, name in ipairs {'exit', 'quit', ' exit ;', 'exit()'} do
      local out, _, status = run('-i', ("printf '%s\\nprint(5)\\n' |"):format(name))
      assert.equal('In [1]: ', out)
      assert.equal(0, status)
    end
    assert.is_truthy(run('-i', "printf 'exit = 3\\nexit\\n' |"):find('Out[2]: 3', 1, true))
    assert.is_truthy(run('-i', "printf 'local quit = 4\\nquit\\n' |"):find('Out[2]: 4', 1, true))
  end)

  it('runs LTENSOR_INIT first, unless -E', function()
    assert.equal('5\n', (run("-e 'print(x)'", "LTENSOR_INIT='x = 5'")))
    assert.equal('nil\n', (run("-E -e 'print(x)'", "LTENSOR_INIT='x = 5'")))
  end)

  it('ends quietly when its output is closed', function()
    local out, err = run("-e 'for i = 1, 1e5 do print(i) end' | head -n 1")
    assert.equal('1\n', out)
    assert.equal('', err)
    assert.equal('', (select(2, run("-e 'for i = 1, 1e5 do print(i) end' | head -n 1", "trap '' PIPE;"))))
  end)

  it('leaves SIGINT alone in scripts', function()
    local _, _, status = process.run(("timeout -s INT 0.3 %s -e 'while true do end'"):format(process.quote(process.ltensor)))
    assert.is_true(status == 124 or status == 130)
  end)

  it('keeps replaced globals from breaking the prompt', function()
    local out = run('-i', "printf 'print = nil; require = nil; tostring = nil; pairs = nil\\n1 + 1\\n{1}\\n' |")
    assert.is_truthy(out:find('Out[2]: 2', 1, true))
    assert.is_truthy(out:find('Out[3]: {1}', 1, true))
  end)

  it('shows no output handle after io.write', function()
    assert.is_truthy(run('-i', "printf 'io.write(\"x\")\\n' |"):find('^In %[1%]: xIn %[2%]: $'))
  end)

  it('numbers cells and keeps In, Out and _', function()
    local out = run('-i', "printf '1\\n\\n_ + 1\\nOut[1], In[2], __\\n' |")
    assert.is_truthy(out:find("Out[3]: (1, '_ + 1', 1)", 1, true))
  end)

  it('runs a failing cell once', function()
    local out = run('-i', "printf 'n = 0\\nn = n + 1; error(n)\\nn = n + 1; n + nil\\nn\\n' |")
    assert.is_truthy(out:find('Out[4]: 2', 1, true))
  end)

  it('drops old results', function()
    local out = run('-i', "(for i in $(seq 25); do echo $i; done; echo 'pcall(function() return Out[2] end)'; echo Out[20]) |")
    assert.is_truthy(out:find('Out[2] dropped', 1, true))
    assert.is_truthy(out:find('Out[27]: 20', 1, true))
  end)

  it('drops large results sooner', function()
    local out = run('-i', "(echo 'torch.zeros(20000000)'; for i in 2 3 4 5; do echo $i; done; echo 'pcall(function() return Out[1] end)'; echo Out[2]) |")
    assert.is_truthy(out:find('Out[1] dropped', 1, true))
    assert.is_truthy(out:find('Out[7]: 2', 1, true))
  end)

  it('suggests a name', function()
    local _, err = run('-i', "printf 'prnt(1)\\n' |")
    assert.equal("(cell 1):1: attempt to call a nil value (global 'prnt')\n     1 | prnt(1)\n         ^~~~\n" ..
      "did you mean 'print'?\n", err)
  end)

  it('names a field that is called as a method', function()
    for field, type_name in pairs { T = 'Tensor', shape = 'torch.Size', is_cuda = 'boolean', grad = 'nil' } do
      local _, err = run(('-e "x = torch.ones(2, 2) x:%s()"'):format(field))
      assert.truthy(err:find(("attempt to call a %s value (method '%s')"):format(type_name, field), 1, true), err)
      assert.truthy(err:find(('%s is a field of tensors: write x.%s'):format(field, field), 1, true), err)
    end
  end)

  it('a line that starts with a parenthesis is reported as a call', function()
    local hint = 'line 2 begins with a parenthesis, so Lua reads it as a call of the expression that ends line 1: put a ; between them'
    local function said(code)
      local path = os.tmpname()
      local file = assert(io.open(path, 'w'))
      file:write('```lua\n' .. code .. '\n```\n')
      file:close()
      local out = run('--cells ' .. path)
      os.remove(path)
      return out:find(hint, 1, true) ~= nil
    end
    assert.is_true(said 'x = torch.arange(3)\n(x * x):sum()')
    assert.is_true(said 'local x = 1; y = x\n(x)')
    assert.is_false(said '(nil)()')
    assert.is_false(said 'x = 1;\n(x)()')
    assert.is_false(said 'do local x = 1\nend\n(x)()')
  end)
end)
