-- `ltensor --dap`: the Debug Adapter Protocol (microsoft.github.io/debug-adapter-protocol) on stdin
-- and stdout, or with --dap=PORT for one client on a port of this machine.
--
-- Two processes: the program runs in a child and answers requests, also while it runs, when SIGIO
-- interrupts it; the parent passes messages on, sends the program's output as events, and reports
-- its end, also after a crash. May use repl.debug.*, repl.echo, repl.errors, repl.notebook.json and
-- the program's repl.hook, repl.interrupt, repl.relay.

local echo = require 'repl.echo'
local engine = require 'repl.debug.engine'
local errors = require 'repl.errors'
local hook = require 'repl.hook'
local interrupt = require 'repl.interrupt'
local json = require 'repl.notebook.json'
local relay = require 'repl.relay'
local requests = require 'repl.debug.requests'
local system = require 'repl.system'
local wire = require 'repl.debug.wire'

local object = json.object

local adapter = {}

-- ---- the program ---------------------------------------------------------------------------

local handlers = setmetatable({}, {__index = requests})

-- The file of the request as a function; its folder and environment become the process's.
function handlers.launch(client, arguments)
  local path = arguments.program
  if type(path) ~= 'string' then error("launch needs the path of a script as 'program'", 0) end
  if type(arguments.cwd) == 'string' then
    local ok, message = system.change_directory(arguments.cwd)
    if not ok then error(message, 0) end
  end
  for name, value in pairs(type(arguments.env) == 'table' and arguments.env or {}) do
    if type(value) == 'string' then system.set_environment(name, value) end
  end
  local chunk, message = loadfile(path)
  if not chunk then error(message, 0) end
  local words = {[0] = path}
  for index, word in ipairs(type(arguments.args) == 'table' and arguments.args or {}) do words[index] = tostring(word) end
  rawset(_G, 'arg', words)
  client.launched = {chunk = chunk, arguments = words, stops = arguments.stopOnEntry == true, debugs = arguments.noDebug ~= true}
  return object()
end

function handlers.configurationDone(client)
  client.configured = true
  return object()
end

-- The request in a message; nil for other messages.
local function request_of(text)
  local ok, message = pcall(json.decode, text)
  return ok and type(message) == 'table' and message.type == 'request' and message or nil
end

-- The response with that body, or with the message of a failure.
local function response(request, body, message)
  return object {
    {'seq', 0}, {'type', 'response'}, {'request_seq', request.seq}, {'success', body ~= nil}, {'command', request.command},
    {'message', message}, {'body', body or object {{'error', object {{'id', 1}, {'format', message}}}}},
  }
end

local function answer(client, text)
  local request = request_of(text)
  if not request then return end
  client.put(response(request, requests.handle(handlers, client, request.command, request.arguments)))
  if request.command == 'initialize' then client.send('initialized') end
end

local function new_client(descriptor)
  local incoming = wire.new(descriptor)
  local client = {descriptor = descriptor}
  function client.put(message) wire.send(descriptor, message) end
  function client.send(event, body)
    client.put(object {{'seq', 0}, {'type', 'event'}, {'event', event}, {'body', body or object()}})
  end
  function client.wait()
    local text = incoming:receive(true)
    if not text then os.exit(1, false) end -- the parent has ended
    answer(client, text)
  end
  function client.poll()
    for text in function() return incoming:receive(false) end do answer(client, text) end
  end
  return requests.client(client)
end

-- The message handler of the program.
local function on_error(client, value)
  if client.filters.uncaught and client.launched.debugs then
    engine.raised(type(value) == 'string' and value or echo.value(value))
  end
  return errors.script(value)
end

-- Runs the program for the client at the descriptor; returns whether it succeeded.
local function run_program(descriptor)
  local client = new_client(descriptor)
  while not (client.launched and client.configured) do client.wait() end
  local launched = client.launched
  engine.set_front(launched.debugs and {stop = function(stop) requests.stopped(client, stop) end, poll = client.poll})
  interrupt.install()
  hook.input(descriptor)
  client.poll() -- messages that arrived before SIGIO was requested
  if launched.stops then engine.stop_at_next_line() end
  local ok, _, message = interrupt.call(launched.chunk, function(value) return on_error(client, value) end, table.unpack(launched.arguments))
  io.flush()
  if not ok then io.stderr:write('ltensor: ', tostring(message), '\n') end
  return ok
end

-- ---- the relay -----------------------------------------------------------------------------

-- The complete characters of the bytes, and the rest.
local function complete(bytes)
  local start = #bytes
  while start > 0 and start > #bytes - 3 and bytes:byte(start) & 0xC0 == 0x80 do start = start - 1 end
  local last = bytes:byte(start) or 0
  local size = last >= 0xF0 and 4 or last >= 0xE0 and 3 or last >= 0xC0 and 2 or 1
  if start + size - 1 <= #bytes then return bytes, '' end
  return bytes:sub(1, start - 1), bytes:sub(start)
end

local Relay = {}
Relay.__index = Relay

-- Sends a message to the client, with the next number.
function Relay:send(text)
  self.sent = self.sent + 1
  wire.send(self.output, (text:gsub('"seq": 0', ('"seq": %d'):format(self.sent), 1)))
end

function Relay:event(name, body) self:send(json.encode(object {{'seq', 0}, {'type', 'event'}, {'event', name}, {'body', body}})) end

-- Sends the program's output on that descriptor as an event.
function Relay:forward_output(descriptor)
  local bytes, stream, text = relay.read(descriptor), self.streams[descriptor]
  text, stream.rest = complete(stream.rest .. (bytes or ''))
  if not bytes then text, self.streams[descriptor] = text .. stream.rest, nil end
  if text ~= '' then self:event('output', object {{'category', stream.category}, {'output', text}}) end
end

-- Passes a message of the client to the program. The relay itself ends the program, which may be
-- inside of C code.
function Relay:forward_request(text)
  local request = request_of(text)
  local ends = request and (request.command == 'disconnect' or request.command == 'terminate')
  if ends and self.child then relay.kill(self.child) end
  if ends then
    self:send(json.encode(response(request, object())))
    self.finished = self.finished or request.command == 'disconnect'
  elseif self.child then
    wire.send(self.socket, text)
  elseif request then
    self:send(json.encode(response(request, nil, 'the program has ended')))
  end
end

-- Reports the end of the program.
function Relay:report_end()
  self.code = relay.wait(self.child)
  self.child = nil
  for _ = 1, 1000 do -- a process that the program has started may keep the pipe open
    local ready = relay.ready(self:descriptors(), 0)
    if not next(ready) then break end
    for descriptor in pairs(ready) do self:forward_output(descriptor) end
  end
  self.streams = {}
  self:event('exited', object {{'exitCode', self.code}})
  self:event('terminated', object())
end

-- The descriptors of the program's output, and others.
function Relay:descriptors(...)
  local list = {...}
  for descriptor in pairs(self.streams) do list[#list + 1] = descriptor end
  return list
end

-- Passes messages until the client disconnects or ends. Returns the program's exit code.
function Relay:run()
  local from_client, from_program = wire.new(self.input), wire.new(self.socket)
  while not self.finished do
    local ready = relay.ready(self:descriptors(self.input, self.child and self.socket))
    for descriptor in pairs(ready) do
      if self.streams[descriptor] then self:forward_output(descriptor) end
    end
    local going = not (self.child and ready[self.socket]) or from_program:fill()
    for text in function() return from_program:take() end do self:send(text) end
    if not going then self:report_end() end
    if ready[self.input] and not from_client:fill() then break end
    for text in function() return from_client:take() end do self:forward_request(text) end
  end
  if self.child then relay.kill(self.child) end
  return self.code or relay.wait(self.child)
end

-- Runs the option --dap; port: a number for --dap=PORT, or nil for stdin and stdout. Returns
-- whether the program succeeded.
function adapter.main(port)
  local input, output = 0, 1
  if port then
    io.stderr:write(('waiting for a client on port %d\n'):format(port))
    input = relay.accept(port)
    output = input
  end
  relay.ignore_broken_pipe()
  local child, socket, out, err = relay.fork()
  if child == 0 then
    if port then relay.close(input) end
    return run_program(socket)
  end
  return setmetatable({
    input = input, output = output, child = child, socket = socket, sent = 0,
    streams = {[out] = {category = 'stdout', rest = ''}, [err] = {category = 'stderr', rest = ''}},
  }, Relay):run() == 0
end

return adapter
