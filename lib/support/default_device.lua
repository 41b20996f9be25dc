-- default_device.lua - torch.set_default_device and get_default_device: the device of tensors that
-- are created without a device.
--
-- As in PyTorch, this is a mode of the factory functions: while a device is set, torch contains
-- wrappers that add it; otherwise the plain functions, at no cost.

local torch = require 'torch'
local arguments = require 'torch.support.arguments'

-- The factory functions, and the number of leading arguments that are never named ones: data, for
-- which a table is a list.
local makers = { tensor = 1, as_tensor = 1, asarray = 1, scalar_tensor = 1 }
for name in ([[empty empty_strided zeros ones full eye arange range linspace logspace rand randn randint randperm tril_indices
  triu_indices bartlett_window blackman_window hamming_window hann_window kaiser_window]]):gmatch '%S+' do makers[name] = 0 end

local plain, current = nil, nil

-- Wraps a factory function: adds the default device to the named arguments unless they have one.
local function on_default(make, data)
  return function(...)
    local given = table.pack(...)
    local n = given.n
    local last = n > data and given[n] or nil
    -- An empty table is a shape if it is the only argument, otherwise an empty table of named
    -- arguments.
    local key = type(last) == 'table' and getmetatable(last) == nil and (next(last) or n > 1 and '')
    local named = type(key) == 'string' and last or nil
    if named and named.device ~= nil then return make(...) end
    local options = { device = current }
    for name, value in pairs(named or {}) do options[name] = value end
    if not named then n = n + 1 end
    given[n] = options
    return make(table.unpack(given, 1, n))
  end
end

--- Sets the default device of functions that create tensors; nil or 'cpu': the CPU, the initial
--- default. Tensors created from another one (zeros_like, x:new_zeros) are on its device.
function torch.set_default_device(device)
  if device ~= nil then device = torch.device(math.type(device) == 'integer' and 'cuda:' .. device or device) end
  for name, make in pairs(plain or {}) do torch[name] = make end
  plain, current = nil, nil
  if device == nil or device.type == 'cpu' then return end
  current, plain = device, {}
  for name, data in pairs(makers) do
    plain[name] = rawget(torch, name)
    if plain[name] then torch[name] = on_default(plain[name], data) end
  end
end

--- The default device of functions that create tensors.
function torch.get_default_device()
  if not current then return torch.device 'cpu' end
  if current.index ~= nil or current.type ~= 'cuda' then return current end
  return torch.device('cuda:' .. torch.cuda.current_device())
end

arguments.functions(torch, 'set_default_device(device? device) get_default_device()')
