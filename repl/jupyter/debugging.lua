-- Jupyter's debug messages: requests of the Debug Adapter Protocol in debug_request, on the control
-- channel, and its events in debug_event.
--
-- A stopped cell handles control messages until one continues it; while a cell runs, the plugin
-- interrupts it by SIGIO for each debug_request. Cells are sources with a path that front ends
-- compute from their text: the prefix, MurmurHash2, the suffix. May use repl.debug.*, repl.errors,
-- repl.jupyter.rich, repl.notebook.json.

local errors = require 'repl.errors'
local json = require 'repl.notebook.json'
local later = require 'repl.later'
local engine, requests = later 'repl.debug.engine', later 'repl.debug.requests'
local sources, variables = later 'repl.debug.sources', later 'repl.debug.variables'

local object = json.object

local SEED = 0xC70F6907
local SUFFIX = '.lua'

local debugging = {}

-- ---- cells as sources ----------------------------------------------------------------------

-- MurmurHash2 of the text, 32 bits.
function debugging.hash(text, seed)
  local MASK, FACTOR = 0xFFFFFFFF, 0x5BD1E995
  local h = (seed ~ #text) & MASK
  local position = 1
  while position + 3 <= #text do
    local k = (('<I4'):unpack(text, position) * FACTOR) & MASK
    k = ((k ~ k >> 24) * FACTOR) & MASK
    h = ((h * FACTOR) & MASK) ~ k
    position = position + 4
  end
  local rest = #text - position + 1
  if rest > 0 then
    for index = rest, 1, -1 do h = h ~ text:byte(position + index - 1) << 8 * (index - 1) end
    h = (h * FACTOR) & MASK
  end
  h = ((h ~ h >> 13) * FACTOR) & MASK
  return h ~ h >> 15
end

local prefix

local function path_prefix()
  if not prefix then
    local file = io.open '/proc/self/stat'
    prefix = ('%s/ltensor_%d/'):format(os.getenv 'TMPDIR' or '/tmp', file and file:read 'n' or 0)
    if file then file:close() end
  end
  return prefix
end

local paths = {} -- by the text of the cell

-- The path of a cell with that text, which sources.text then knows.
local function path_of(code)
  if not paths[code] then
    paths[code] = path_prefix() .. debugging.hash(code, SEED) .. SUFFIX
    sources.texts[paths[code]] = code
  end
  return paths[code]
end

-- ---- requests that the Debug Adapter Protocol does not have --------------------------------

local commands = {}

-- The requests with their functions: the ones here, else the ones of the protocol.
local handlers = setmetatable({}, {__index = function(_, name) return commands[name] or requests[name] end})

function commands.attach(client)
  client.attached = true
  return object()
end

function commands.dumpCell(_, arguments)
  return object {{'sourcePath', path_of(tostring(arguments.code))}}
end

local function same(point)
  return object {{'line', point.line}, {'verified', true}, {'id', point.id}}
end

function commands.debugInfo(client)
  local by_path, list = {}, {}
  for _, point in ipairs(engine.breakpoints) do
    if not by_path[point.path] then
      by_path[point.path] = {}
      list[#list + 1] = object {{'source', point.path}, {'breakpoints', by_path[point.path]}}
    end
    table.insert(by_path[point.path], same(point))
  end
  return object {
    {'isStarted', client.attached == true}, {'hashMethod', 'Murmur2'}, {'hashSeed', SEED}, {'tmpFilePrefix', path_prefix()},
    {'tmpFileSuffix', SUFFIX}, {'breakpoints', list}, {'stoppedThreads', client.stop and {1} or {}}, {'richRendering', true},
    {'exceptionPaths', {}}, {'copyToGlobals', true},
  }
end

-- The live locals and the globals of the cells: a list of {name, value}.
local function cell_variables(session)
  local list = {}
  for _, name in ipairs(session.scope:names()) do list[#list + 1] = {name = name, value = (session.scope:get(name))} end
  local first_global = #list + 1
  for name, value in next, session.environment do
    if type(name) == 'string' and not session.given_names[name] and not name:find '^_+$' then list[#list + 1] = {name = name, value = value} end
  end
  local globals = table.move(list, first_global, #list, 1, {})
  table.sort(globals, function(a, b) return a.name < b.name end)
  return table.move(globals, 1, #globals, first_global, list)
end

function commands.inspectVariables(client)
  if not client.stop then client.store = variables.store(client.type_of) end
  local list = {}
  for index, each in ipairs(cell_variables(client.session)) do list[index] = client.store:variable(each.name, each.value, each.name) end
  return object {{'variables', list}}
end

-- The values of a name or an expression, in a frame of the stopped program or in the session.
local function values_of(client, name, frame)
  if client.stop and frame then return requests.run_in(client.stop.frames[frame] or error('the call has ended', 0), name) end
  local compiled, message = require('repl.cell').compile(name, '=(debug)', client.session.scope)
  if not compiled then error(message, 0) end
  local outcome = table.pack(client.session:protect(compiled.run))
  if not outcome[1] then error(outcome[2].message, 0) end
  return table.pack(table.unpack(outcome, 3, outcome.n))
end

function commands.richInspectVariables(client, arguments)
  return require('repl.jupyter.rich').content(client.session, values_of(client, tostring(arguments.variableName), arguments.frameId))
end

function commands.copyToGlobals(client, arguments)
  local values = values_of(client, tostring(arguments.srcVariableName), arguments.srcFrameId)
  client.session.environment[tostring(arguments.dstVariableName)] = values[1]
  return object()
end

-- The requests that continue also tell other front ends.
for _, name in ipairs {'continue', 'next', 'stepIn', 'stepOut'} do
  commands[name] = function(client, arguments)
    local body = requests[name](client, arguments)
    client.after = function() client.send('continued', object {{'threadId', 1}, {'allThreadsContinued', true}}) end
    return body
  end
end

function commands.disconnect(client)
  engine.remove(function() return true end)
  engine.set_front(nil)
  client.attached, client.filters = false, {}
  if client.stop then commands.continue(client) end
  return object()
end
commands.terminate = commands.disconnect

-- ---- messages ------------------------------------------------------------------------------

-- JupyterLab shows the value of these types, and of other variables only the type.
local python_types = {integer = 'int', float = 'float', boolean = 'bool', string = 'str'}

local function type_of(kind, text) return python_types[kind] or text end

-- The client of the kernel, created by the first debug_request.
local function client_of(kernel)
  if kernel.debugger then return kernel.debugger end
  local client = requests.client {session = kernel.session, sent = 0, type_of = type_of}
  kernel.debugger = client
  function client.send(event, body)
    client.sent = client.sent + 1
    kernel:publish('debug_event', kernel.parent or '{}', object {{'seq', client.sent}, {'type', 'event'}, {'event', event}, {'body', body or object()}})
  end
  function client.wait()
    local message = kernel.wire.receive(-1, true)
    if message then kernel:answer(message) end
  end
  function client.poll()
    if not kernel.executing then return end -- the loop of the kernel receives them
    for message in function() return kernel.wire.receive(0, true) end do kernel:answer(message) end
  end
  sources.name_cells(function(number)
    local code = kernel.session.inputs[number]
    return code and path_of(code)
  end)
  function errors.on_raise(value)
    if kernel.executing and client.filters.uncaught and not tostring(value):find 'interrupted$' then
      engine.raised(type(value) == 'string' and value or require('repl.echo').value(value))
    end
  end
  return client
end

-- Requests of the kernel: the content of the reply is a response of the protocol.
local handling = {}

function handling.debug_request(kernel, content)
  local client, command = client_of(kernel), content.command
  local body, message = requests.handle(handlers, client, command, content.arguments)
  if command == 'attach' and body then
    engine.set_front {stop = function(stop) requests.stopped(client, stop) end, poll = client.poll}
    client.after = function() client.send 'initialized' end
  end
  client.sent = client.sent + 1
  return object {
    {'seq', client.sent}, {'type', 'response'}, {'request_seq', content.seq}, {'success', body ~= nil}, {'command', command},
    {'message', message}, {'body', body or object()},
  }
end

-- Called after the reply was sent.
function debugging.replied(kernel)
  local client = kernel.debugger
  local after = client and client.after
  if after then
    client.after = nil
    after()
  end
end

debugging.handlers = handling

return debugging
