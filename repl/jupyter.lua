-- Jupyter: `ltensor --kernel install` installs a kernel specification,
-- `ltensor --kernel connection.json` runs a kernel.
--
-- The kernel runs cells, completion, help and errors with the prompt's modules, and sends the same
-- output as messages of Jupyter's protocol (jupyter-client.readthedocs.io, "Messaging in Jupyter").
-- The sockets are a plugin (repl/jupyter/plugin), loaded only here. May use repl.jupyter.*,
-- repl.notebook.json.

local json = require 'repl.notebook.json'

local jupyter = {}

local PORTS = {control = 'control_port', shell = 'shell_port', stdin = 'stdin_port', iopub = 'iopub_port', heartbeat = 'hb_port'}

-- Reads the connection file. Returns the key and the addresses by channel; raises an error if the
-- file is invalid.
function jupyter.connection(path)
  local function fail(format, ...) error(('--kernel %s: '):format(path) .. format:format(...), 0) end
  local file, problem = io.open(path)
  if not file then error('--kernel ' .. problem .. '; a connection file of Jupyter is expected, or the word install', 0) end
  local text = file:read 'a' or ''
  file:close()
  local ok, said = pcall(json.decode, text)
  if not ok then fail('%s', said) end
  if type(said) ~= 'table' then fail('no connection file of Jupyter: a JSON object is expected') end
  local function field(name, kind, default)
    local value = said[name]
    if value == nil then value = default end
    if type(value) ~= kind then fail("'%s' is to be a %s, got %s", name, kind, value == nil and 'nothing' or tostring(value)) end
    return value
  end
  local scheme = field('signature_scheme', 'string', 'hmac-sha256')
  if scheme ~= 'hmac-sha256' then fail("signatures are made by hmac-sha256, not by '%s'", scheme) end
  local transport, host = field('transport', 'string', 'tcp'), field('ip', 'string', '127.0.0.1')
  if transport ~= 'tcp' and transport ~= 'ipc' then fail("the transport is tcp or ipc, not '%s'", transport) end
  local addresses = {}
  for channel, name in pairs(PORTS) do
    addresses[channel] = ('%s://%s%s%d'):format(transport, host, transport == 'tcp' and ':' or '-', math.tointeger(field(name, 'number')) or -1)
  end
  return field('key', 'string', ''), addresses
end

-- Runs the option --kernel with its arguments. open_plugin() returns the module of the sockets;
-- own: the program's path and the options before --kernel.
function jupyter.main(open_plugin, own, arguments)
  if arguments[1] == 'install' then
    open_plugin() -- fails before a kernel is installed that cannot start
    return require('repl.jupyter.install').main(own, table.move(arguments, 2, #arguments, 1, {}))
  end
  if arguments[2] then error(("--kernel %s: '%s' is not expected after the connection file"):format(arguments[1], arguments[2]), 0) end
  local key, addresses = jupyter.connection(arguments[1])
  local wire = open_plugin()
  require('repl.hook').input() -- the plugin sends SIGIO for each debug_request
  wire.open(key, addresses)
  local kernel = require('repl.jupyter.kernel').new(wire)
  wire.take_stdin()
  kernel:run()
  wire.close()
end

return jupyter
