-- default_device.lua - torch.set_default_device and get_default_device: the device of tensors that
-- are created without a device.
--
-- As in PyTorch, this is a mode of the factory functions: while a device is set, torch contains
-- wrappers that add it; otherwise the plain functions, at no cost.

local torch = require 'torch'
local arguments = require 'torch.support.arguments'
local declarations = require 'torch.support.declarations'

-- The factory functions.
local makers = { tensor = true, as_tensor = true, asarray = true, scalar_tensor = true }
for name in ([[empty empty_strided zeros ones full eye arange range linspace logspace rand randn randint randperm tril_indices
  triu_indices bartlett_window blackman_window hamming_window hann_window kaiser_window fft_fftfreq fft_rfftfreq]]):gmatch '%S+' do makers[name] = true end

local plain, current = nil, nil

-- A copy of a table, with the default device unless it has one.
local function with_device(names)
  local copy = {}
  for name, value in pairs(names) do copy[name] = value end
  if copy.device == nil then copy.device = current end
  return copy
end

-- Whether the n-th value is a shape in an overload that the values before it fit.
local function takes_shape(overload, given, n)
  for i = 1, n do
    local a = overload[i]
    if not a or a.only_named or (a.kind == 'Size') ~= (type(given[i]) ~= 'number') then return false end
  end
  return overload[n].kind == 'Size'
end

-- Whether an empty table, the n-th and last value, is the shape of a scalar; otherwise it is a
-- table of options without entries.
local function is_shape(name, given, n)
  for _, overload in ipairs(declarations.overloads(name)) do
    if takes_shape(overload, given, n) then return true end
  end
  return n == 1
end

-- Wraps a factory function: adds the default device to the named arguments unless they have one.
local function on_default(name, make)
  return function(...)
    local given = table.pack(...)
    local n = given.n
    local last = given[n]
    if type(last) == 'table' and getmetatable(last) == nil then
      local key = next(last, #last > 0 and #last or nil)
      -- names, alone or behind a list
      if type(key) == 'string' and key ~= 'n' or next(last) == nil and not is_shape(name, given, n) then
        given[n] = with_device(last)
        return make(table.unpack(given, 1, n))
      end
    end
    given[n + 1] = with_device {}
    return make(table.unpack(given, 1, n + 1))
  end
end

local function set_default(device)
  if device ~= nil then device = torch.device(math.type(device) == 'integer' and 'cuda:' .. device or device) end
  for name, make in pairs(plain or {}) do torch[name] = make end
  plain, current = nil, nil
  if device == nil or device.type == 'cpu' then return end
  current, plain = device, {}
  for name in pairs(makers) do
    plain[name] = rawget(torch, name)
    if plain[name] then torch[name] = on_default(name, plain[name]) end
  end
end

--- Sets the default device of functions that create tensors; nil or 'cpu': the CPU, the initial
--- default. Tensors created from another one (zeros_like, x:new_zeros) are on its device.
function torch.set_default_device(device)
  set_default(device)
  local fft = package.loaded['torch.fft']
  if fft then fft.fftfreq, fft.rfftfreq = torch.fft_fftfreq, torch.fft_rfftfreq end
end

--- The default device of functions that create tensors.
function torch.get_default_device()
  if not current then return torch.device 'cpu' end
  if current.index ~= nil or current.type ~= 'cuda' then return current end
  return torch.device('cuda:' .. torch.cuda.current_device())
end

arguments.functions(torch, 'set_default_device(device? device) get_default_device()')
