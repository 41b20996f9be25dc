-- hostile.lua - arguments that nobody means, as Lua text: what is printed of a failing call is what was run.
--
-- hostile.any() is text of any value, hostile.of(type) of one that the type of a declaration (Tensor, Dim, Size, ...)
-- would take if it were sane, mostly. Everything is drawn with `random`, which the caller seeds.

local M = {}

local random = math.random
local function pick(list) return list[random(#list)] end
local function chance(p) return random() < p end

-- What is in the variables v1, v2, ... that earlier lines have filled.
M.variables = 8
local function variable() return 'v' .. random(M.variables) end

local DTYPES = { 'float32', 'float64', 'float16', 'bfloat16', 'int64', 'int32', 'int16', 'int8', 'uint8', 'bool', 'complex64', 'uint16', 'uint32', 'uint64' }
local DEVICES = { 'cpu', 'cuda', 'cuda:0', 'cuda:1' }

local integers = { '0', '1', '-1', '2', '3', '-2', '4', '7', '100', '-100', '2^31|0', '-2^31|0', '2^32|0', '2^53|0', '2^61|0', '2^62|0',
  'math.maxinteger', 'math.mininteger', 'math.maxinteger - 1', 'math.mininteger + 1', '65', '1000', '2^20|0' }
local floats = { '0.0', '-0.0', '0.5', '1.0', '-1.5', '2.0', '1e-45', '1e-300', '1e300', '-1e300', '3.4e38', '2^53', '2^63', '-2^63', '2^64', '0/0', 'math.huge',
  '-math.huge', '0.1', '100.0' }
local texts = { "''", "'mean'", "'sum'", "'none'", "'cpu'", "'cuda:1'", "'cuda:7'", "'cuda:-1'", "'constant'", "'reflect'", "'replicate'", "'circular'",
  "'bilinear'", "'nearest'", "'same'", "'valid'", "'amax'", "'ij,jk->ik'", "'->'", "'i...,...'", "'%s%n%d'", "('x'):rep(100000)", "'\\0\\255'", "'weight'", "'fro'",
  "'float32'", "'/dev/zero'", "'/dev/full'", "'/'", "'/nowhere/file.pt'", "'file.pt'", "'file.npz'", "'file.csv'", "'/proc/self/status'", "'__index'", "'forward'", "':'", "'1:2, :'", "'..., ::-1'",
  "'relu'", "'tanh'", "'linear'", "'trunc'", "'left'", "'\u{e9}'" }
local closures = { 'function() end', "function() error('raised') end", 'function() error() end', 'function() error({}) end', 'function(...) return ... end', 'function() return 0/0 end', 'function() return {} end', 'function(x) return x * 2 end',
  'function(x) x:resize_(0) return x end', 'function(x) return x:sum() end', 'coroutine.wrap(function() coroutine.yield(1) end)', 'coroutine.yield', 'function() return nil end',
  'function() collectgarbage() return 1 end', 'print', 'error', 'torch.ones', 'function() v1 = nil v2 = nil collectgarbage() return torch.ones(2) end' }
local odd = { 'nil', 'true', 'false', '{}', '{{}}', '(function() local t = {} t.t = t t[1] = t return t end)()', 'io.stdout', "coroutine.create(print)",
  'setmetatable({}, {__index = function() error("index") end})', 'setmetatable({}, {__len = function() return math.maxinteger end})', 'setmetatable({}, {__len = function() return -1 end})',
  'setmetatable({}, {__len = function() return 3 end, __index = function(_, i) return i end})', 'setmetatable({}, {__tostring = function() return {} end})', 'setmetatable({}, {__call = function() return 1 end})',
  'setmetatable({1, 2}, {__gc = error})', 'setmetatable({}, {__name = "Tensor"})',
  'torch', 'torch.nn', '_G', 'torch.Tensor', 'torch.nn.Module', 'torch.float32', 'torch.int64', 'torch.bool', "torch.device 'cpu'", 'torch.newaxis', 'getmetatable(torch.ones(1))', 'torch.ones(2, 3).shape',
  '{{1, 2}, {3}}', "{a = 1, b = {c = torch.ones(2)}}", "{[2^53] = 1, [-1] = 2}", '{1, nil, 3}', "{'a', 'b'}", 'torch.Generator()', '{1, 2, 3}', '{torch.ones(2), torch.ones(2)}', '{[0] = 1}', 'math.pi',
  "io.tmpfile()" }

local SIZES = { 0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 9, 17, 33, 64 }

local function small_shape(ndim)
  local shape, total = {}, 1
  for d = 1, ndim or pick { 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6 } do
    local size = pick(SIZES)
    if total * size > 5000 then size = 2 end
    total = total * math.max(size, 1)
    shape[d] = size
  end
  return shape
end

local function shape_text(shape) return '{' .. table.concat(shape, ', ') .. '}' end

function M.integer() return chance(0.55) and tostring(random(-3, 6)) or pick(integers) end
function M.float() return chance(0.3) and M.integer() or pick(floats) end
function M.number() return chance(0.5) and M.integer() or M.float() end

local function options_of_tensor(grad)
  local options = {}
  if chance(0.5) then options[#options + 1] = 'dtype = torch.' .. pick(DTYPES) end
  if M.gpus > 0 and chance(0.6) then options[#options + 1] = "device = '" .. pick(DEVICES) .. "'" end
  if grad then options[#options + 1] = 'requires_grad = true' end
  return #options > 0 and '{' .. table.concat(options, ', ') .. '}' or nil
end

-- The device that most tensors of one line are on, so that the line does not end at the check of devices.
function M.begin_line()
  M.device = M.gpus > 0 and chance(0.6) and pick(DEVICES) or nil
  M.dtype = chance(0.5) and pick(DTYPES) or nil
  M.shape = small_shape()
end

local function plain_tensor()
  local dtype = chance(0.8) and M.dtype or chance(0.4) and pick(DTYPES) or nil
  local device = chance(0.93) and M.device or M.gpus > 0 and pick(DEVICES) or nil
  local shape = chance(0.6) and M.shape or small_shape()
  local options = {}
  local is_float = not dtype or dtype:find 'float'
  if is_float and chance(0.3) then options[#options + 1] = 'requires_grad = true' end
  if device then options[#options + 1] = ("device = '%s'"):format(device) end
  local made = is_float and chance(0.7) and 'randn' or pick { 'ones', 'zeros', 'rand', 'full', 'empty' }
  local text
  if dtype and not is_float and chance(0.7) then
    text = ("torch.randint(%s, %d, %s"):format(pick { '0', '-3', '1' }, random(2, 9), shape_text(shape))
    options[#options + 1] = 'dtype = torch.' .. dtype
  else
    text = made == 'full' and ('torch.full(%s, %s'):format(shape_text(shape), M.number()) or ('torch.%s(%s'):format(made == 'empty' and 'zeros' or made, shape_text(shape))
    if dtype then
      if made == 'randn' or made == 'rand' then
        return text .. (device and (", {device = '%s'}"):format(device) or '') .. '):to(torch.' .. dtype .. ')', shape
      end
      options[#options + 1] = 'dtype = torch.' .. dtype
    end
  end
  return text .. (#options > 0 and ', {' .. table.concat(options, ', ') .. '}' or '') .. ')', shape
end

-- Layouts: what makes a tensor of the plain one that is no longer dense, or no longer sane.
local function twisted(text, shape)
  local n = #shape
  local kind = random(16)
  if kind <= 2 and n >= 2 then return text .. ':transpose(1, -1)' end
  if kind == 3 and n >= 1 then return text .. ':unsqueeze(1):expand({' .. random(0, 4) .. string.rep(', -1', n) .. '})' end
  if kind == 4 and n >= 1 and shape[1] > 0 then return ('%s[{{1, -1, 2}}]'):format(text) end
  if kind == 5 and n >= 1 and shape[n] > 1 then return ('%s:narrow(-1, 2, %d)'):format(text, shape[n] - 1) end
  if kind == 6 then return text .. ':flatten():as_strided({3, 4}, {1, 1})' end
  if kind == 7 then return text .. (':flatten():as_strided({%d, %d}, {%d, %d})'):format(random(0, 4), random(0, 4), random(0, 2), random(0, 3)) end
  if kind == 8 then return text .. ':detach()' end
  if kind == 9 then return text .. (':mul(%s)'):format(pick { '0/0', 'math.huge', '-1', '0', '1e30' }) end
  if kind == 10 and n >= 1 then return text .. ':flip(1)' end
  if kind == 11 and n >= 1 and shape[1] > 0 then return text .. '[1]' end
  if kind == 12 then return text .. ':t()' end
  if kind == 13 then return text .. ':real' end
  if kind == 14 then return text .. '.shape' end
  return text .. ':contiguous()'
end

function M.tensor()
  if chance(0.1) then return variable() end
  if chance(0.04) then return pick { 'torch.tensor(0/0)', 'torch.tensor({})', 'torch.tensor(true)', 'torch.empty(0)', 'torch.empty(0, 3)', 'torch.empty(3, 0, 2)', 'torch.arange(12.0):view(3, 4)', 'torch.eye(3)', 'torch.arange(1, 5)',
    'torch.empty(2^40|0, 0)', 'torch.zeros(1):expand(2^40|0)', 'torch.zeros(1):expand(2^31|0, 2^31|0)', 'torch.randn(3, 70)', 'torch.randn(130, 40)', 'torch.randn(2, 3, 16, 16)' } end
  local text, shape = plain_tensor()
  if chance(0.35) then return twisted(text, shape) end
  return text
end

function M.index_tensor()
  local device = M.device and (", {device = '%s'}"):format(M.device) or ''
  local kind = random(8)
  if kind <= 3 then
    return ('torch.randint(%d, %d, %s%s)'):format(pick { 1, 1, 1, 0, -3 }, random(2, 6), shape_text(chance(0.6) and M.shape or small_shape()), device)
  elseif kind == 4 then return ('torch.tensor({%s, %s}%s)'):format(M.integer(), M.integer(), device)
  elseif kind == 5 then return ('torch.zeros(%s, {dtype = torch.int64%s})'):format(shape_text(M.shape), M.device and (", device = '%s'"):format(M.device) or '')
  elseif kind == 6 then return ('torch.arange(1, %d%s)'):format(random(1, 5), device)
  elseif kind == 7 then return ('torch.rand(%s%s):gt(0.5)'):format(shape_text(chance(0.7) and M.shape or small_shape()), device) end
  return M.tensor()
end

local function list(of, most)
  local items = {}
  for i = 1, random(0, most or 4) do items[i] = of() end
  return '{' .. table.concat(items, ', ') .. '}'
end
M.list = list

function M.dim() return chance(0.75) and tostring(pick { 1, 1, 2, -1, -1, -2, 3, 0 }) or M.integer() end
local function size()
  if chance(0.25) then return M.integer() end
  if chance(0.5) then return tostring(random(0, 4)) end
  if chance(0.2) then return shape_text(M.shape) end
  return list(function() return chance(0.75) and tostring(random(0, 5)) or M.integer() end)
end

local function bool() return pick { 'true', 'false' } end

local makers = {
  Tensor = M.tensor, Scalar = M.number, Dim = M.dim, float = M.float, int = M.integer, bool = bool, Index = M.integer, Size = size,
  IndexTensor = M.index_tensor,
  ['Tensor|Scalar'] = function() return chance(0.7) and M.tensor() or M.number() end,
  Dims = function() return chance(0.5) and M.dim() or list(M.dim, 3) end,
  ['Tensor[]'] = function() return list(M.tensor, 4) end,
  ['IndexTensor[]'] = function() return list(M.index_tensor, 3) end,
  ['Scalar[]'] = function() return list(M.number, 3) end,
  Device = function() return "'" .. pick(DEVICES) .. "'" end,
  Dtype = function() return 'torch.' .. pick(DTYPES) end,
  Generator = function() return chance(0.7) and 'nil' or 'torch.Generator()' end,
  string = function() return pick(texts) end,
}

-- Text of an argument of the declared type; now and then of another.
function M.of(type_name)
  if chance(0.06) then return M.any() end
  local base, optional = type_name:match '^(.-)(%??)$'
  if optional == '?' and chance(0.4) then return 'nil' end
  return (makers[base] or M.any)()
end

local function options()
  local items = {}
  for _ = 1, random(0, 3) do
    items[#items + 1] = pick { 'dim', 'keepdim', 'dtype', 'device', 'out', 'requires_grad', 'p', 'size', 'mode', 'bias', 'lr', 'stride', 'padding', 'dilation', 'groups', 'reduction', 'num_workers', 'batch_size', 'eps', 'weight', 'nope' } ..
      ' = ' .. M.any(1)
  end
  return '{' .. table.concat(items, ', ') .. '}'
end

function M.any(depth)
  depth = depth or 0
  local kind = random(100)
  if kind <= 28 then return M.tensor()
  elseif kind <= 42 then return M.integer()
  elseif kind <= 50 then return M.float()
  elseif kind <= 58 then return pick(texts)
  elseif kind <= 64 then return pick(closures)
  elseif kind <= 76 then return pick(odd)
  elseif kind <= 82 then return M.index_tensor()
  elseif kind <= 88 then return size()
  elseif kind <= 92 then return variable()
  elseif kind <= 96 and M.instance then return M.instance()
  elseif depth > 2 then return 'nil'
  elseif kind <= 98 then return list(function() return M.any(depth + 1) end)
  end
  return options()
end

function M.options() return options_of_tensor(chance(0.2)) or '{}' end

return M
