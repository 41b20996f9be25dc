-- Requests of the Debug Adapter Protocol about a program: breakpoints, steps, the stack, variables.
-- `ltensor --dap` and Jupyter's debug messages share them.
--
-- Each function receives the client and the arguments of the request and returns the body of the
-- response; an error is the message of a response that failed. A client is a table {send(event,
-- body), session, names}; see requests.client. May use repl.debug.*, repl.errors,
-- repl.notebook.json.

local engine = require 'repl.debug.engine'
local errors = require 'repl.errors'
local frames = require 'repl.debug.frames'
local interrupt = require 'repl.interrupt'
local json = require 'repl.notebook.json'
local sources = require 'repl.debug.sources'
local system = require 'repl.system'
local variables = require 'repl.debug.variables'

local object = json.object

local THREAD = 1 -- coroutines are parts of the stack of the only thread

local requests = {}

-- Adds the state of the engine to a client with send(event, body).
function requests.client(client)
  client.store = variables.store(client.type_of)
  client.filters = {}
  return client
end

function requests.initialize()
  return object {
    {'supportsConfigurationDoneRequest', true}, {'supportsConditionalBreakpoints', true}, {'supportsHitConditionalBreakpoints', true},
    {'supportsLogPoints', true}, {'supportsEvaluateForHovers', true}, {'supportsSetVariable', true}, {'supportsTerminateRequest', true},
    {'supportsExceptionInfoRequest', true}, {'supportsExceptionFilterOptions', true},
    {'exceptionBreakpointFilters', {
      object {{'filter', 'uncaught'}, {'label', 'Uncaught errors'}, {'default', true}},
      object {{'filter', 'nan'}, {'label', 'Tensors with nan'}, {'default', false}, {'supportsCondition', true},
        {'conditionDescription', 'an expression: its tensor is watched instead of all variables'}},
    }},
  }
end

function requests.configurationDone() return object() end

-- ---- breakpoints ---------------------------------------------------------------------------

local function source_of(path) return object {{'name', path:match '[^/]*$'}, {'path', path}} end

-- A message if the text of a condition or the like is not an expression.
local function problem_of(expression)
  if not expression then return nil end
  local _, message = load('return ' .. expression, '=(condition)', 't')
  return message
end

local function text_or_nil(value) return type(value) == 'string' and value:find '%S' and value or nil end

local function new_breakpoint(path, text, wanted)
  local line = math.tointeger(wanted.line)
  if not line then error('a breakpoint needs a line', 0) end
  local code_line = text and sources.code_line(text, line) or not text and line
  local condition = text_or_nil(wanted.condition)
  local problem = not code_line and ('no code from line %d on'):format(line) or problem_of(condition)
  if problem then return object {{'verified', false}, {'line', line}, {'message', problem}} end
  local point = engine.add {
    path = path, line = code_line, condition = condition, hits = tonumber(wanted.hitCondition), log = text_or_nil(wanted.logMessage),
  }
  return object {{'id', point.id}, {'verified', text ~= nil}, {'line', code_line}, {'source', source_of(path)}}
end

function requests.setBreakpoints(_, arguments)
  local path = type(arguments.source) == 'table' and arguments.source.path
  if type(path) ~= 'string' then error('setBreakpoints needs the path of a source', 0) end
  path = system.real_path(path) or path
  engine.remove(function(point) return point.path == path end)
  local text, set = sources.text(path), {}
  for _, wanted in ipairs(arguments.breakpoints or {}) do set[#set + 1] = new_breakpoint(path, text, wanted) end
  return object {{'breakpoints', set}}
end

function requests.setExceptionBreakpoints(client, arguments)
  client.filters = {}
  engine.remove(function(point) return point.path == nil end)
  local function set(name, condition)
    client.filters[name] = true
    if name == 'nan' then engine.add_watch(condition) end
  end
  for _, name in ipairs(arguments.filters or {}) do set(name) end
  for _, option in ipairs(arguments.filterOptions or {}) do
    local condition = text_or_nil(option.condition)
    if not problem_of(condition) then set(option.filterId, condition) end
  end
  return object()
end

-- ---- running -------------------------------------------------------------------------------

local function resume(how)
  return function(client)
    if not client.stop then error('the program is running', 0) end
    engine.go(how)
    client.resumed = true
    return object {{'allThreadsContinued', true}}
  end
end

requests.continue = resume 'continue'
requests.next = resume 'next'
requests.stepIn = resume 'step'
requests.stepOut = resume 'finish'

function requests.pause(client)
  if not client.stop then engine.wants_pause = true end
  return object()
end

-- ---- the stopped program -------------------------------------------------------------------

function requests.threads()
  return object {{'threads', {object {{'id', THREAD}, {'name', 'main'}}}}}
end

local function frame_of(client, number)
  local frame = client.stop and client.stop.frames[math.tointeger(number) or 1]
  if not frame then error('the program is running', 0) end
  return frame
end

local function frame_name(frame) return (frame.name:gsub("^in %a+ '(.*)'$", '%1'):gsub('^in ', '')) end

function requests.stackTrace(client, arguments)
  local list = client.stop and client.stop.frames or {}
  local first = (math.tointeger(arguments.startFrame) or 0) + 1
  local levels = math.tointeger(arguments.levels) or 0
  local shown = {}
  for number = first, math.min(#list, levels > 0 and first + levels - 1 or #list) do
    local frame = list[number]
    shown[#shown + 1] = object {{'id', number}, {'name', frame_name(frame)}, {'source', source_of(sources.path(frame.source))},
      {'line', frame.line}, {'column', 1}}
  end
  return object {{'stackFrames', shown}, {'totalFrames', #list}}
end

function requests.scopes(client, arguments)
  return object {{'scopes', client.store:scopes(frame_of(client, arguments.frameId), client.session)}}
end

function requests.variables(client, arguments)
  return object {{'variables', client.store:open(arguments.variablesReference, arguments.start, arguments.count)}}
end

-- The values of code in a frame, as pcall returns them: packed, with the message of an error.
function requests.run_in(frame, code)
  local chunk, message = frames.compile(frame, code, engine.fallback)
  if not chunk then error(message, 0) end
  local outcome = table.pack(interrupt.call(chunk, errors.capture))
  if outcome[1] then return table.pack(table.unpack(outcome, 3, outcome.n)) end
  local report = outcome[3]
  error(type(report) == 'table' and report.message or tostring(report), 0)
end

function requests.setVariable(client, arguments)
  local value = requests.run_in(frame_of(client), tostring(arguments.value))[1]
  client.store:assign(arguments.variablesReference, arguments.name, value)
  local shown = client.store:variable(arguments.name, value)
  return object {{'value', shown.value}, {'type', shown.type}, {'variablesReference', shown.variablesReference}}
end

function requests.evaluate(client, arguments)
  local code = tostring(arguments.expression)
  local values = requests.run_in(frame_of(client, arguments.frameId), code)
  local text = arguments.context == 'repl' and require('repl.echo').values(values) or values.n > 0 and variables.text(values[1]) or ''
  local shown = client.store:variable('', values[1], code)
  return object {{'result', text}, {'type', shown.type}, {'variablesReference', shown.variablesReference}}
end

function requests.exceptionInfo(client)
  local message = client.stop and client.stop.message or ''
  return object {{'exceptionId', 'error'}, {'description', message}, {'breakMode', 'unhandled'}}
end

function requests.source(_, arguments)
  local path = type(arguments.source) == 'table' and arguments.source.path
  local text = type(path) == 'string' and sources.text(path)
  if not text then error(('%s: the source is unknown'):format(tostring(path)), 0) end
  return object {{'content', text}, {'mimeType', 'text/x-lua'}}
end

-- ---- stopping ------------------------------------------------------------------------------

-- The reasons of the engine in the protocol's words.
local reasons = {watch = 'exception'}
local descriptions = {watch = 'Paused on nan', exception = 'Paused on an error'}

-- A stop of the engine: sends the event `stopped`, and calls client.wait() to handle requests until
-- one of them continues.
function requests.stopped(client, stop)
  local ids = {}
  for index, point in ipairs(stop.breakpoints) do ids[index] = point.id end
  local _ <close> = setmetatable({}, {__close = function() client.stop, client.store = nil, variables.store(client.type_of) end}) -- also after Ctrl-C
  client.stop, client.store, client.resumed = stop, variables.store(client.type_of), false
  io.flush()
  client.send('stopped', object {
    {'reason', reasons[stop.reason] or stop.reason}, {'description', descriptions[stop.reason]}, {'text', stop.message},
    {'threadId', THREAD}, {'allThreadsStopped', true}, {'hitBreakpointIds', ids},
  })
  while not client.resumed do client.wait() end
end

-- The body of a response to the request, or nil and the message of a failure.
function requests.handle(handlers, client, command, arguments)
  local handler = handlers[command]
  if not handler then return nil, ("the command '%s' is not supported"):format(tostring(command)) end
  local ok, body = pcall(handler, client, type(arguments) == 'table' and arguments or {})
  if ok then return body end
  return nil, tostring(body)
end

return requests
