-- Messages of the Debug Adapter Protocol on a descriptor: a header Content-Length, then JSON. May
-- use repl.notebook.json and the program's repl.relay.

local json = require 'repl.notebook.json'
local relay = require 'repl.relay'

local Wire = {}
Wire.__index = Wire

local wire = {}

local MAX_HEADER = 4096

-- Receives from the descriptor.
function wire.new(descriptor) return setmetatable({descriptor = descriptor, bytes = ''}, Wire) end

-- Removes and returns the first complete message as text; nil if there is none. Raises an error for
-- a header without a length.
function Wire:take()
  local header, stop = self.bytes:match '^(.-)\r\n\r\n()'
  if not header then
    if #self.bytes > MAX_HEADER then error('--dap: a message begins with Content-Length, got other text', 0) end
    return nil
  end
  local size = math.tointeger(header:lower():match 'content%-length:%s*(%d+)')
  if not size then error('--dap: a message begins with Content-Length, got other text', 0) end
  if #self.bytes < stop + size - 1 then return nil end
  local text = self.bytes:sub(stop, stop + size - 1)
  self.bytes = self.bytes:sub(stop + size)
  return text
end

-- Reads some bytes; false at the end.
function Wire:fill()
  local bytes = relay.read(self.descriptor)
  if not bytes then return false end
  self.bytes = self.bytes .. bytes
  return true
end

-- The next message as text; nil at the end. Without wait, also nil if none has arrived.
function Wire:receive(wait)
  while true do
    local text = self:take()
    if text then return text end
    if not wait and not relay.ready({self.descriptor}, 0)[self.descriptor] then return nil end
    if not self:fill() then return nil end
  end
end

-- Sends a message; false if the reader has closed.
function wire.send(descriptor, message)
  local text = type(message) == 'string' and message or json.encode(message)
  return relay.write(descriptor, ('Content-Length: %d\r\n\r\n%s'):format(#text, text)) == true
end

return wire
