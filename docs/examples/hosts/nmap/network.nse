local network = require 'network'

description = 'Prints the value of a network for each port that is open.'
categories = {'safe'}

for _ = 1, 4 do network.train(100) end

function portrule(host, port)
  return port.state == 'open'
end

function action(host, port)
  return network.answer 'predict'
end
