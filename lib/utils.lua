-- utils.lua - torch.utils: data, benchmark, progress, plot, display, checkpoint, dlpack, arrow,
-- tensorboard, log, epochs, cpp_extension; each loaded on first use.

local where = { data = true, benchmark = true, progress = true, plot = true, display = true, checkpoint = true, dlpack = true, arrow = true,
  tensorboard = true, log = true, epochs = true, cpp_extension = true }

local utils = { __names = where }

return setmetatable(utils, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.utils.' .. name)
    rawset(utils, name, value)
    return value
  end,
})
