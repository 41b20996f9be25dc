local network = require 'network'
for _ = 1, 4 do network.train(100) end

-- The sidebar is as wide as the network's value for 0.5, in hundredths.
mutt.set('sidebar_width', math.floor(100 * network.predict(0.5) + 0.5))
