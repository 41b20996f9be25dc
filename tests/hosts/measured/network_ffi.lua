-- network_ffi.lua - measures require 'ltensor-ffi', as network.lua beside this file measures require 'torch'.
return dofile(os.getenv 'ROOT' .. '/tests/hosts/measured/load.lua')('ltensor-ffi', 'network_ffi.lua')
