-- A kernel: receives requests, dispatches them, and publishes its busy state.
--
-- `wire` is the plugin's module, or in tests a table with its functions: receive(), send(),
-- begin_request(), settle(). repl.jupyter.execute and repl.jupyter.requests implement the requests.
-- Malformed and unknown requests are ignored; if a handler fails, the reply is an error. May use
-- repl.jupyter.*, repl.session, repl.notebook.json, repl.interrupt, repl.stoppable, repl.recorder.

local history = require 'repl.jupyter.history'
local interrupt = require 'repl.interrupt'
local json = require 'repl.notebook.json'
local session = require 'repl.session'
local torch = require 'torch'

local object = json.object

local Kernel = {}
Kernel.__index = Kernel

local kernel = {}

local debugging = require 'repl.jupyter.debugging'

local handlers = {debug_request = debugging.handlers.debug_request}
for _, group in ipairs {'execute', 'requests'} do
  for name, handler in pairs(require('repl.jupyter.' .. group)) do handlers[name] = handler end
end

local COLUMNS = 80

-- A new kernel on the wire, with its own session.
function kernel.new(wire)
  local self = setmetatable({wire = wire, session = session.new(), history = history.open(), displays = 0}, Kernel)
  self.session.recorder = require 'repl.recorder'
  self.session.edits_next = true
  self.session.leave = function()
    self.ended = true
    error('the kernel ends', 0)
  end
  return self
end

-- Configures the process for the kernel: Ctrl-C stops cells, exit() ends the kernel,
-- torch.utils.display shows in the notebook.
function Kernel:install()
  local state = self.session
  for _, name in ipairs {'exit', 'quit'} do
    rawset(_G, name, state.leave)
    state.given_names[name] = true
  end
  state.recorder.start(true)
  interrupt.install()
  interrupt.watch(function(...) require('repl.errors').coroutine_failed(...) end) -- loaded when one fails
  require('repl.stoppable').install()
  -- Like terminals, front ends support overwriting a line, so progress bars occupy a single line.
  local terminal = torch._C.terminal
  torch._C.terminal = function(descriptor)
    if descriptor == 2 then return COLUMNS, 24 end
    return terminal(descriptor)
  end
  torch.utils.display.show_with(function(...) return self:display(...) end, function(wait) self:clear_output(wait) end)
end

-- Publishes a message of that type, in reply to the request with the JSON header `parent`.
function Kernel:publish(type, parent, content) self.wire.send('iopub', type, type, parent, json.encode(content)) end

local function status(self, parent, state) self:publish('status', parent, object {{'execution_state', state}}) end

-- Shows the value as display number `id`; nil creates a display. Returns its number.
function Kernel:display(value, id)
  local type = id and 'update_display_data' or 'display_data'
  if not id then
    self.displays = self.displays + 1
    id = self.displays
  end
  local content = require('repl.jupyter.rich').content(self.session, table.pack(value))
  content.transient = object {{'display_id', ('ltensor-%d'):format(id)}}
  self:publish(type, self.parent or '{}', content)
  return id
end

-- Clears the output of the cell, immediately or with its next output.
function Kernel:clear_output(wait) self:publish('clear_output', self.parent or '{}', object {{'wait', wait == true}}) end

local function decoded(text)
  local ok, value = pcall(json.decode, text)
  return ok and type(value) == 'table' and value or nil
end

-- The reply if a handler failed.
local function failure(message)
  return object {{'status', 'error'}, {'ename', 'Error'}, {'evalue', tostring(message)}, {'traceback', {tostring(message)}}}
end

-- Handles a request received on the wire and sends the reply.
function Kernel:answer(message)
  local header, content = decoded(message.header), decoded(message.content)
  local type = header and header.msg_type
  local handler = content and handlers[type]
  if not handler then return end
  status(self, message.header, 'busy')
  local ok, reply = pcall(handler, self, content, message)
  if not ok then reply = failure(reply) end
  local waiting = self.aborting and self:take_waiting() -- requests that arrive after the reply are not aborted
  self.aborting = false
  if reply then
    self.wire.send(message.channel, message.identities, type:gsub('request$', 'reply'), message.header, json.encode(reply))
    debugging.replied(self)
  end
  status(self, message.header, 'idle')
  if waiting then self:abort(waiting) end
end

-- Receives all pending requests.
function Kernel:take_waiting()
  local waiting = {}
  for message in function() return self.wire.receive(0) end do waiting[#waiting + 1] = message end
  return waiting
end

-- Replies to pending execute requests with the status aborted, and handles others as usual.
function Kernel:abort(waiting)
  for _, message in ipairs(waiting) do
    if self.ended then return end
    local header = decoded(message.header)
    if header and header.msg_type == 'execute_request' then
      status(self, message.header, 'busy')
      self.wire.send(message.channel, message.identities, 'execute_reply', message.header, json.encode(object {
        {'status', 'aborted'}, {'execution_count', self.session.count}, {'user_expressions', object()}, {'payload', {}},
      }))
      status(self, message.header, 'idle')
    else
      self:answer(message)
    end
  end
end

-- Handles requests until a shutdown request.
function Kernel:run()
  self:install()
  status(self, '{}', 'starting')
  while not self.ended do
    local message = self.wire.receive()
    if message then self:answer(message) end
  end
  self.wire.settle()
end

return kernel
