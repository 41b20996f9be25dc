local network = require 'network'

function answer(request)
  request.content_type = 'text/plain'
  request:puts(network.answer(request.uri:sub(2)))
  return apache2.OK
end
