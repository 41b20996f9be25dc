-- A helper of busted (--helper). Convolutions of float32 are not rounded to TF32, as PyTorch's results on the CPU, with which they
-- are compared, are not. A global that the library sets is an error, of a name that was meant to be local.

require 'torch'.backends.cudnn.allow_tf32 = false

local message = "the library sets the global '%s'"

setmetatable(_G, {
  __newindex = function(globals, name, value)
    if debug.getinfo(2, 'S').short_src:find '^%[ltensor' then error(message:format(name), 2) end
    rawset(globals, name, value)
  end,
})
