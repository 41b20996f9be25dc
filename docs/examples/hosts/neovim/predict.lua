local network = require 'network_ffi'
for _ = 1, 4 do network.train(100) end

-- :Predict inserts the network's value for 0.5 below the cursor.
vim.api.nvim_create_user_command('Predict', function()
  vim.api.nvim_put({ ('value %.4f'):format(network.predict(0.5)) }, 'l', true, true)
end, {})
