local network = require 'network'

lighty.content = {network.answer(lighty.env['uri.path']:sub(2))}
lighty.header['Content-Type'] = 'text/plain'
return 200
