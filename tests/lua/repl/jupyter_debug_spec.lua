-- Jupyter's debug messages, on a wire that is a list here. tests/jupyter/kernel_tests.py sends them to a running kernel.

local json = require 'repl.notebook.json'
local debugging = require 'repl.jupyter.debugging'
local kernel = require 'repl.jupyter.kernel'

local function object(fields)
  local made = json.object()
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

local wire, state, seq

local function message(channel, type, content)
  return {channel = channel, identities = {'front'}, header = json.encode(object {msg_type = type}), parent = '{}', metadata = '{}',
    content = json.encode(content)}
end

local function debug_message(command, arguments)
  seq = seq + 1
  return message('control', 'debug_request', object {type = 'request', seq = seq, command = command, arguments = object(arguments)})
end

-- Requests that the kernel receives while a cell is stopped.
local function queue(...)
  for _, each in ipairs {...} do wire.waiting[#wire.waiting + 1] = debug_message(each[1], each[2]) end
end

local function replies()
  local list = {}
  for _, sent in ipairs(wire.sent) do
    if sent.type == 'debug_reply' then list[#list + 1] = sent.content end
  end
  return list
end

local function events()
  local list = {}
  for _, sent in ipairs(wire.sent) do
    if sent.type == 'debug_event' then list[#list + 1] = sent.content.event .. (sent.content.body.reason and ' ' .. sent.content.body.reason or '') end
  end
  return list
end

local function ask(command, arguments)
  wire.sent = {}
  state:answer(debug_message(command, arguments))
  return replies()[1]
end

local function run_cell(code)
  wire.sent = {}
  state:answer(message('shell', 'execute_request', object {code = code}))
end

describe('debug messages of Jupyter #cpu', function()
  before_each(function()
    seq = 0
    wire = {sent = {}, waiting = {}}
    function wire.send(channel, _, type, _, content) wire.sent[#wire.sent + 1] = {channel = channel, type = type, content = json.decode(content)} end
    function wire.receive(_, only_control)
      if not only_control then return nil end -- after an error, the kernel aborts the cells that wait
      return assert(table.remove(wire.waiting, 1), 'no message continues the cell')
    end
    function wire.begin_request() end
    function wire.settle() end
    state = kernel.new(wire)
    state.history = {remember = function() end, entries = function() return {} end}
  end)
  after_each(function() ask 'disconnect' end)

  it('cells have the paths that front ends compute', function()
    for text, hash in pairs {[''] = 3990065800, a = 2167009006, ab = 2805137849, abc = 3350977461, abcd = 804720481,
      ["x = 1\nprint('é')"] = 231734450, ['local t = torch.ones(2)\nt * 2'] = 3906757565} do
      assert.equal(hash, debugging.hash(text, 0xC70F6907)) -- of ipykernel.compiler.murmur2_x86
    end
    local info = ask('debugInfo').body
    assert.same({false, 'Murmur2', 0xC70F6907}, {info.isStarted, info.hashMethod, info.hashSeed})
    assert.equal(info.tmpFilePrefix .. '804720481' .. info.tmpFileSuffix, ask('dumpCell', {code = 'abcd'}).body.sourcePath)
  end)

  it('attach starts the debugger and disconnect ends it', function()
    assert.is_true(ask('initialize').body.supportsConditionalBreakpoints)
    assert.same({}, events())
    ask 'attach'
    assert.same({'initialized'}, events())
    assert.is_true(ask('debugInfo').body.isStarted)
    ask 'disconnect'
    assert.is_false(ask('debugInfo').body.isStarted)
    local reply = ask 'restartFrame'
    assert.same({false, "the command 'restartFrame' is not supported"}, {reply.success, reply.message})
  end)

  it('a cell stops, shows its variables and continues', function()
    ask 'attach'
    local code = 'local a = torch.ones(2, 3)\nlocal function f(x)\n  local y = x * 2\n  return y\nend\nf(a)'
    local path = ask('dumpCell', {code = code}).body.sourcePath
    local set = ask('setBreakpoints', {source = object {path = path}, breakpoints = {object {line = 3}}}).body.breakpoints
    assert.same({true, 3}, {set[1].verified, set[1].line})
    queue({'stackTrace', {threadId = 1}}, {'next', {threadId = 1}}, {'scopes', {frameId = 1}}, {'variables', {variablesReference = 1}},
      {'richInspectVariables', {variableName = 'y', frameId = 1}}, {'debugInfo'}, {'continue', {threadId = 1}})
    run_cell(code)
    assert.same({'stopped breakpoint', 'continued', 'stopped step', 'continued'}, events())
    local list = replies()
    local frames = list[1].body.stackFrames
    assert.same({path, 3, path, 6}, {frames[1].source.path, frames[1].line, frames[2].source.path, frames[2].line})
    assert.equal('Locals', list[3].body.scopes[1].name)
    assert.same({'x', 'y'}, {list[4].body.variables[1].name, list[4].body.variables[2].name})
    assert.equal('tensor [2, 3], torch.float32, cpu', list[4].body.variables[2].value)
    assert.equal('tensor [2, 3], torch.float32, cpu', list[4].body.variables[2].type) -- JupyterLab shows it
    assert.is_truthy(list[5].body.data['text/html']:find('<table', 1, true))
    assert.same({1}, list[6].body.stoppedThreads)
    assert.equal(path, list[6].body.breakpoints[1].source)
    assert.equal('execute_result', wire.sent[#wire.sent - 2].type)
    assert.equal('a', ask('inspectVariables').body.variables[1].name)
    assert.is_truthy(ask('richInspectVariables', {variableName = 'a:size()'}).body.data['text/plain']:find('2, 3', 1, true))
  end)

  it('an uncaught error stops only if the front end requests it', function()
    ask 'attach'
    run_cell "error 'no'"
    assert.same({}, events())
    ask('setExceptionBreakpoints', {filters = {'uncaught'}})
    queue({'exceptionInfo', {threadId = 1}}, {'continue', {threadId = 1}})
    run_cell "local v = 1\nerror 'no'"
    assert.same({'stopped exception', 'continued'}, events())
    assert.is_truthy(replies()[1].body.description:find('no', 1, true))
  end)

  it('disconnect lets a stopped cell run on', function()
    ask 'attach'
    queue {'disconnect'}
    run_cell 'breakpoint()\n6 * 7'
    assert.equal('42', wire.sent[#wire.sent - 2].content.data['text/plain'])
  end)
end)
