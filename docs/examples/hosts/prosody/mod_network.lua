local network = require 'network'

module:depends 'http'
module:provides('http', {
  default_path = '/',
  route = {
    ['GET /*'] = function(event, path) return network.answer(path) end,
  },
})
