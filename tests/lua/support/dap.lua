-- A client of the Debug Adapter Protocol for the specs: it talks to `ltensor --dap` through two named pipes.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'process.lua')
local json = require 'repl.notebook.json'

local Client = {}
Client.__index = Client

local M = {}

-- Turns a Lua table into JSON's objects and lists.
local function plain(value)
  if type(value) ~= 'table' then return value end
  if #value > 0 or next(value) == nil then
    local list = {}
    for index, item in ipairs(value) do list[index] = plain(item) end
    return list
  end
  local object = json.object()
  for key, item in pairs(value) do object[key] = plain(item) end
  return object
end

--- Starts the adapter in the folder, where the pipes are created. options: command-line options before --dap.
function M.start(folder, options)
  local self = setmetatable({folder = folder, seq = 0, events = {}, responses = {}}, Client)
  local program = process.ltensor:find '^/' and process.ltensor or (process.run 'pwd'):gsub('%s+$', '') .. '/' .. process.ltensor
  process.run(('rm -f %s/in %s/out; mkfifo %s/in %s/out'):format(folder, folder, folder, folder))
  self.process = io.popen(('cd %s && exec timeout 60 %s %s --dap < in > out'):format(folder, process.quote(program), options or ''))
  self.to = assert(io.open(folder .. '/in', 'w'))
  self.from = assert(io.open(folder .. '/out', 'r'))
  return self
end

-- Reads one message into the lists; false at the end.
function Client:read()
  local header = self.from:read 'L'
  if not header then return false end
  local size = tonumber(header:match 'Content%-Length: (%d+)\r\n')
  assert(size and self.from:read 'L' == '\r\n', 'no header: ' .. header)
  local message = json.decode(self.from:read(size))
  assert(message.seq == (self.last or 0) + 1, 'messages are numbered')
  self.last = message.seq
  if message.type == 'event' then table.insert(self.events, message) else self.responses[message.request_seq] = message end
  return true
end

--- Sends a request without waiting; returns its number.
function Client:send(command, arguments)
  self.seq = self.seq + 1
  local text = json.encode(json.object {{'seq', self.seq}, {'type', 'request'}, {'command', command}, {'arguments', arguments and plain(arguments)}})
  self.to:write(('Content-Length: %d\r\n\r\n%s'):format(#text, text))
  self.to:flush()
  return self.seq
end

--- Sends a request and waits for its response: the body, or nil and the message of a failure.
function Client:request(command, arguments)
  local number = self:send(command, arguments)
  while not self.responses[number] do assert(self:read(), 'the adapter ended before it replied to ' .. command) end
  local response = self.responses[number]
  if response.success then return response.body end
  return nil, response.message
end

--- Waits for an event and removes it: its body.
function Client:event(name)
  while true do
    for index, event in ipairs(self.events) do
      if event.event == name then return table.remove(self.events, index).body end
    end
    assert(self:read(), 'the adapter ended before the event ' .. name)
  end
end

--- Launches the program with breakpoints {path = {lines or requests}} and further requests {{command, arguments}}.
function Client:launch(arguments, breakpoints, further)
  self:request('initialize', {adapterID = 'ltensor'})
  self:event 'initialized'
  assert(self:request('launch', arguments))
  local set = {}
  for path, list in pairs(breakpoints or {}) do
    for index, wanted in ipairs(list) do list[index] = type(wanted) == 'number' and {line = wanted} or wanted end
    set[path] = self:request('setBreakpoints', {source = {path = path}, breakpoints = list}).breakpoints
  end
  for _, each in ipairs(further or {}) do assert(self:request(each[1], each[2])) end
  self:request 'configurationDone'
  return set
end

--- Waits until the program stops: its reason, and the frames as 'name:line'.
function Client:stopped()
  local body = self:event 'stopped'
  local frames = {}
  for index, frame in ipairs(self:request('stackTrace', {threadId = 1}).stackFrames) do
    frames[index] = ('%s %s:%d'):format(frame.name, frame.source.name, frame.line)
  end
  return body.reason, frames, body
end

--- The variables of a scope of a frame by name.
function Client:variables(scope, frame)
  for _, each in ipairs(self:request('scopes', {frameId = frame or 1}).scopes) do
    if each.name == scope then return self:members(each.variablesReference) end
  end
end

--- The members of a variable by name, and their names in order.
function Client:members(number)
  local members, names = {}, {}
  for index, variable in ipairs(self:request('variables', {variablesReference = number}).variables) do
    members[variable.name], names[index] = variable, variable.name
  end
  return members, names
end

--- Waits for the end of the program: its exit code, its stdout and its stderr. Then disconnects.
function Client:finish()
  local code = self:event('exited').exitCode
  self:event 'terminated'
  local output = {stdout = '', stderr = ''}
  for _, event in ipairs(self.events) do
    if event.event == 'output' then output[event.body.category] = output[event.body.category] .. event.body.output end
  end
  self:stop()
  return code, output.stdout, output.stderr
end

--- Disconnects and waits for the adapter.
function Client:stop()
  self:request 'disconnect'
  self.to:close()
  while self:read() do end
  self.from:close()
  self.process:close()
end

return M
