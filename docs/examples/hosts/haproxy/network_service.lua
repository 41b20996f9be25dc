local network = require 'network'

core.register_service('network', 'http', function(applet)
  local answer = network.answer(applet.path:sub(2))
  applet:set_status(200)
  applet:add_header('content-type', 'text/plain')
  applet:add_header('content-length', #answer)
  applet:start_response()
  applet:send(answer)
end)
