-- Runs one op on a simulated GPU N times from Lua, for count.lua: ops.lua OP N

local torch = require 'torch'

local name, n = assert(arg[1], 'OP is missing'), assert(math.tointeger(tonumber(arg[2])), 'N is missing')
local device = {device = 'cuda:0'}
local a, b, m = torch.rand(2, 3, device), torch.rand(2, 3, device), torch.rand(5, 5, device)

local function allocation(bytes)
  return function() return torch.empty(bytes, {device = 'cuda:0', dtype = torch.uint8}) end
end

local op = assert(({
  ['a + b'] = function() return a + b end,
  ['add_'] = function() return a:add_(b) end,
  ['relu'] = function() return a:relu() end,
  ['sum'] = function() return a:sum() end,
  ['mm'] = function() return m:mm(m) end,
  ['empty, 512 B'] = allocation(512),
  ['empty, 1 MiB'] = allocation(1 << 20),
  ['empty, 16 MiB'] = allocation(1 << 24),
})[name], 'no such op: ' .. name)

for _ = 1, n do op() end
