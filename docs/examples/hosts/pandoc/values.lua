local network = require 'network'
for _ = 1, 4 do network.train(100) end

-- Replaces the word VALUE by the network's value for 0.5.
function Str(word)
  if word.text == 'VALUE' then return pandoc.Str(('%.2f'):format(network.predict(0.5))) end
end
