-- network.lua - docs/examples/hosts/network.lua for the tests.
return dofile(os.getenv 'ROOT' .. '/tests/hosts/measured/load.lua')('torch', 'network.lua')
