-- fft.lua - torch.fft: the operations fft_.... default_device.lua replaces the two that create
-- frequencies.

local torch = require 'torch'

local fft = {}
for name, value in pairs(torch) do
  local own = type(name) == 'string' and name:match '^fft_(.+)$'
  if own then fft[own] = value end
end

return fft
