-- ltensor --dap: the Debug Adapter Protocol, by a client in Lua. tests/dap runs the client of Visual Studio Code's tests.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local dap = dofile(here .. '../support/dap.lua')
local process = dofile(here .. '../support/process.lua')

local folder, client

local function write(name, text)
  local path = folder .. '/' .. name
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
  return path
end

local MODULE = 'local M = {}\nfunction M.scale(x, k)\n  local y = x * k\n  return y\nend\nreturn M\n'
local MAIN = [[
local mod = require 'mod'
local net = nn.Linear(3, 2)
local total = 0
for i = 1, 3 do
  local x = torch.ones(2, 3)
  local y = mod.scale(x, i)
  total = total + y:sum():item()
end
print('total', total, ...)
]]

describe('the debug adapter', function()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    process.run('mkdir ' .. folder)
    folder = process.run('cd ' .. folder .. ' && pwd -P'):gsub('%s+$', '')
    write('mod.lua', MODULE)
    client = dap.start(folder)
  end)
  after_each(function() process.run('rm -rf ' .. folder) end)

  it('a client stops in a required file, reads a tensor and steps', function()
    local main = write('main.lua', MAIN)
    local set = client:launch({program = main, cwd = folder, args = {'one', 2}}, {[folder .. '/mod.lua'] = {3}})
    assert.is_true(set[folder .. '/mod.lua'][1].verified)
    local reason, frames = client:stopped()
    assert.equal('breakpoint', reason)
    assert.same({'mod.scale mod.lua:3', 'main chunk main.lua:6'}, frames)
    local locals = client:variables 'Locals'
    assert.equal('tensor [2, 3], torch.float32, cpu', locals.x.value)
    assert.equal('tensor', locals.x.type)
    local members, names = client:members(locals.x.variablesReference)
    assert.same({'shape', 'dtype', 'device', 'requires_grad', '[1]', '[2]'}, names)
    assert.equal('torch.Size([2, 3])', members.shape.value)
    assert.equal('tensor [], torch.float32, cpu = 1.0', client:members(members['[1]'].variablesReference)['[1]'].value)
    client:request('next', {threadId = 1})
    reason, frames = client:stopped()
    assert.same({'step', 'mod.scale mod.lua:4'}, {reason, frames[1]})
    client:request('stepOut', {threadId = 1})
    reason, frames = client:stopped()
    assert.same({'step', 'main chunk main.lua:7'}, {reason, frames[1]})
    assert.equal('1', client:variables('Locals').i.value)
    assert.equal('Linear(in_features=3, out_features=2, bias=True)', client:variables('Locals').net.value)
    client:request('setBreakpoints', {source = {path = folder .. '/mod.lua'}, breakpoints = {}})
    client:request('continue', {threadId = 1})
    assert.same({0, 'total\t36.0\tone\t2\n', ''}, {client:finish()})
  end)

  it('evaluates and changes variables in a frame', function()
    client:launch({program = write('main.lua', MAIN), cwd = folder}, {[folder .. '/mod.lua'] = {3}})
    client:stopped()
    assert.equal('6.0', client:request('evaluate', {expression = 'x:sum():item()', frameId = 1}).result)
    assert.equal('2', client:request('evaluate', {expression = '#arg + 2', frameId = 2}).result)
    assert.equal('(1, 2)', client:request('evaluate', {expression = '1, 2', frameId = 1, context = 'repl'}).result)
    assert.equal('', client:request('evaluate', {expression = 'total = 100', frameId = 2, context = 'repl'}).result)
    local _, message = client:request('evaluate', {expression = 'nothing.z', frameId = 1})
    assert.is_truthy(message:find('nil value', 1, true))
    _, message = client:request('evaluate', {expression = 'x +', frameId = 1})
    assert.is_truthy(message:find('syntax error', 1, true))
    local scopes = client:request('scopes', {frameId = 1}).scopes
    assert.equal('10', client:request('setVariable', {variablesReference = scopes[1].variablesReference, name = 'k', value = '5 * 2'}).value)
    client:request('setBreakpoints', {source = {path = folder .. '/mod.lua'}, breakpoints = {}})
    client:request('continue', {threadId = 1})
    assert.same({0, 'total\t190.0\n'}, {(function(code, out) return code, out end)(client:finish())})
  end)

  it('breakpoints have conditions, hit counts and messages', function()
    local main = write('main.lua', MAIN)
    local set = client:launch({program = main, cwd = folder},
      {[main] = {{line = 6, condition = 'i == 2'}, {line = 7, hitCondition = '3'}, {line = 5, logMessage = 'i is {i}'}, 99, {line = 5, condition = 'x +'}}})
    local verified = {}
    for index, point in ipairs(set[main]) do verified[index] = point.verified end
    assert.same({true, true, true, false, false}, verified)
    assert.same({'main chunk main.lua:6'}, (select(2, client:stopped())))
    assert.equal('2', client:variables('Locals').i.value)
    client:request('continue', {threadId = 1})
    assert.same({'main chunk main.lua:7'}, (select(2, client:stopped())))
    assert.equal('3', client:variables('Locals').i.value)
    client:request('continue', {threadId = 1})
    local code, out = client:finish()
    assert.same({0, 'i is 1\ni is 2\ni is 3\ntotal\t36.0\n'}, {code, out})
  end)

  it('stepIn enters functions and coroutines, whose callers are in the stack', function()
    local main = write('co.lua', [[
local function gen(n)
  for i = 1, n do
    coroutine.yield(i)
  end
end
local sum = 0
for v in coroutine.wrap(function() gen(2) end) do
  sum = sum + v
end
print(sum)
]])
    client:launch({program = main}, {[main] = {3}})
    local _, frames = client:stopped()
    assert.same({'gen co.lua:3', 'co.lua:7', 'main chunk co.lua:7'},
      {(frames[1]:gsub('^.-gen', 'gen')), (frames[2]:gsub('^.* ', '')), frames[3]})
    client:request('next', {threadId = 1})
    assert.equal('main chunk co.lua:8', select(2, client:stopped())[1])
    client:request('setBreakpoints', {source = {path = main}, breakpoints = {}})
    client:request('continue', {threadId = 1})
    assert.same({0, '3\n', ''}, {client:finish()})
  end)

  it('pauses a loop, and accepts breakpoints while the program runs', function()
    local main = write('loop.lua', 'local n = 0\nprint "begun"\nwhile not done do\n  n = n + 1\nend\nprint "ended"\n')
    client:launch {program = main}
    assert.equal('begun\n', client:event('output').output)
    client:request('pause', {threadId = 1})
    assert.equal('pause', (client:stopped()))
    client:request('continue', {threadId = 1})
    client:request('setBreakpoints', {source = {path = main}, breakpoints = {{line = 4}}})
    local reason, frames = client:stopped()
    assert.same({'breakpoint', 'main chunk loop.lua:4'}, {reason, frames[1]})
    client:request('setBreakpoints', {source = {path = main}, breakpoints = {}})
    client:request('evaluate', {expression = 'done = true', frameId = 1})
    client:request('continue', {threadId = 1})
    assert.same({0, 'ended\n', ''}, {client:finish()})
  end)

  it('stops at an uncaught error and reports the exit code', function()
    local main = write('fails.lua', 'local x = 1\nlocal function f(a)\n  return a.b.c\nend\npcall(f)\nf({})\n')
    client:launch({program = main, stopOnEntry = true}, nil, {{'setExceptionBreakpoints', {filters = {'uncaught'}}}})
    assert.same({'main chunk fails.lua:1'}, (select(2, client:stopped())))
    client:request('continue', {threadId = 1})
    local reason, frames, body = client:stopped()
    assert.equal('exception', reason)
    assert.is_truthy(frames[#frames]:find('fails.lua:6', 1, true))
    assert.is_truthy(body.text:find("field 'b'", 1, true))
    client:request('continue', {threadId = 1})
    local code, _, err = client:finish()
    assert.equal(1, code)
    assert.is_truthy(err:find("ltensor: .*field 'b'.*traceback"))
  end)

  it('stops after the line that writes nan', function()
    local main = write('nan.lua', 'local loss = torch.zeros(2)\nlocal other = loss + 1\nloss:div_(0)\nother = nil\n')
    client:launch({program = main}, nil, {{'setExceptionBreakpoints', {filters = {'nan'}}}})
    local reason, frames, body = client:stopped()
    assert.same({'exception', 'main chunk nan.lua:4', 'loss has nan before line 4'}, {reason, frames[1], body.text})
    client:request('continue', {threadId = 1})
    assert.equal(0, (client:finish()))
  end)

  it('breakpoint() stops, exit codes and crashes are reported', function()
    client:launch {program = write('exit.lua', 'local v = 5\nbreakpoint()\nio.write "é"; io.stdout:flush()\nos.exit(v)\n')}
    assert.same({'main chunk exit.lua:2'}, (select(2, client:stopped())))
    client:request('continue', {threadId = 1})
    assert.same({5, 'é', ''}, {client:finish()})
    client = dap.start(folder)
    client:launch {program = write('kill.lua', 'io.popen("kill -9 $PPID"):close()\n')}
    assert.equal(137, (client:finish()))
  end)

  it('disconnect ends a running program', function()
    client:launch {program = write('loop.lua', 'print(1)\nwhile true do end\n')}
    client:event 'output'
    client:stop()
  end)

  it('noDebug runs without stops; a wrong request fails with its reason', function()
    local main = write('main.lua', MAIN)
    local _, message = client:request('launch', {program = folder .. '/none.lua'})
    assert.is_truthy(message:find('none.lua', 1, true))
    _, message = client:request('launch', {program = write('bad.lua', 'x = = 1\n')})
    assert.is_truthy(message:find('unexpected symbol', 1, true))
    _, message = client:request('launch', {})
    assert.equal("launch needs the path of a script as 'program'", message)
    _, message = client:request 'restartFrame'
    assert.equal("the command 'restartFrame' is not supported", message)
    _, message = client:request('next', {threadId = 1})
    assert.equal('the program is running', message)
    client:launch({program = main, cwd = folder, noDebug = true, env = {WHO = 'me'}}, {[main] = {6}})
    assert.same({0, 'total\t36.0\n', ''}, {client:finish()})
  end)

  it('a program without debugging runs on after requests', function()
    client:launch {program = write('loop.lua', 'print "begun"\nlocal last = os.clock() + 0.2\nwhile os.clock() < last do end\nprint "ended"\n'), noDebug = true}
    assert.equal('begun\n', client:event('output').output)
    for _ = 1, 3 do client:send('pause', {threadId = 1}) end
    assert.same({0, 'ended\n', ''}, {client:finish()})
  end)

  it('the command line refuses a script and a wrong port', function()
    client:stop()
    for options, said in pairs {['--dap x.lua'] = 'not expected after --dap', ['--dap=x'] = 'needs the number of a port'} do
      local _, err, status = process.run(process.ltensor .. ' ' .. options)
      assert.is_truthy(err:find(said, 1, true), err)
      assert.equal(1, status)
    end
  end)
end)
