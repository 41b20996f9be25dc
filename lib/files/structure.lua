-- structure.lua - nested tables as text: torch.save stores it in the metadata of a file, so that
-- torch.load returns the same tables. Plain ASCII for every byte of strings:
--
--   value   = true | false | integer | float (printed by %a; inf, -inf, nan)
--           | "string" with \xHH escapes
--           | {key: value, ...} | ordered{"name": value, ...} | size{integer: integer, ...}
--           | dtype("float32") | device("cuda:1") | complex(float, float)
--           | tensor("name in the file", "device", requires_grad)
--           | sparse{"layout": string, ...}, the components of sparse_parts.lua
--           | quantized{"packed": tensor, "scheme": string}, a torch.quantized.Tensor
--
-- Reading executes no code and is bounded by MAX_DEPTH.

local torch = require 'torch'
local for_loops = require 'torch.support.for_loops'
local ordered_dict = require 'torch.support.ordered_dict'
local plain_number = require 'torch.files.plain_number'
local sparse_parts = require 'torch.files.sparse_parts'

local M = {}

local MAX_DEPTH = 200
local PIECES = 1000
local RESERVED = '__metadata__'

-- ---- writing ------------------------------------------------------------------------------------

local Writer = {}
Writer.__index = Writer

local function quote(text)
  return '"' .. text:gsub('[\0-\31"\\\127-\255]', function(c) return ('\\x%02x'):format(c:byte()) end) .. '"'
end

local function float_text(x)
  if x ~= x then return 'nan' end
  if x == math.huge then return 'inf' end
  if x == -math.huge then return '-inf' end
  return plain_number('%a', x)
end

local function number_text(x) return math.type(x) == 'integer' and ('%d'):format(x) or float_text(x) end

local function scalar_text(value)
  if type(value) == 'string' then return quote(value) end
  if type(value) == 'number' then return number_text(value) end
  if type(value) == 'boolean' then return tostring(value) end
end

-- The order of a table's keys in the file: numbers, strings, booleans.
local ranks = { number = 1, string = 2, boolean = 3 }
local function before(a, b)
  if type(a) ~= type(b) then return ranks[type(a)] < ranks[type(b)] end
  if type(a) == 'boolean' then return b and not a end
  return a < b
end

-- Appends pieces of text, which are concatenated from time to time.
function Writer:put(piece)
  local text = self.text
  text[#text + 1] = piece
  if #text < PIECES then return end
  self.parts[#self.parts + 1] = table.concat(text)
  self.text = {}
end

function Writer:fail(path, format, ...)
  local where = path and (" (at '%s')"):format(path) or ''
  torch._C.raise('torch.save: ' .. format:format(...) .. where)
end

-- A unique name for the tensor at path that every reader of the format accepts.
function Writer:name(path)
  local fits = path and path ~= '' and utf8.len(path) and not path:find('\0', 1, true)
  local base = fits and path or 'tensor'
  local name = base
  while self.taken[name] do
    self.counts[base] = (self.counts[base] or 1) + 1
    name = base .. '#' .. self.counts[base]
  end
  self.taken[name] = true
  return name
end

-- A tensor that occurs twice is one tensor after loading. Entries of the saved table itself are
-- written under each name, because other readers only read names.
function Writer:tensor(tensor, path, depth)
  local name = self.seen[tensor]
  if not name or depth <= 1 then
    local own = self:name(path)
    self.names[#self.names + 1], self.tensors[#self.tensors + 1] = own, tensor
    name = name or own
    self.seen[tensor] = name
  end
  self:put(('tensor(%s, %s, %s)'):format(quote(name), quote(tostring(tensor.device)), tensor.requires_grad))
end

-- The keys of a table in order, and the word before its brace.
function Writer:keys(object, path)
  local is_ordered, is_size = ordered_dict.is(object), getmetatable(object) == getmetatable(torch.Size {})
  if not is_ordered and not is_size and not for_loops.is_plain(object) then
    self:fail(path, "a %s cannot be saved; save its state_dict() or a plain table", torch.type(object))
  end
  local keys = is_ordered and ordered_dict.names(object) or {}
  if not is_ordered then
    for key in next, object do keys[#keys + 1] = key end
  end
  for _, key in ipairs(keys) do
    if not ranks[type(key)] or is_ordered and type(key) ~= 'string' then self:fail(path, 'a key is a %s', torch.type(key)) end
  end
  if not is_ordered then table.sort(keys, before) end
  return keys, is_ordered and 'ordered' or is_size and 'size' or ''
end

function Writer:table(object, path, depth)
  if self.open[object] then self:fail(path, 'a table contains itself, which only a .pt file can hold') end
  if depth >= MAX_DEPTH then self:fail(path, 'tables nested deeper than %d', MAX_DEPTH) end
  self.open[object] = true
  local keys, word = self:keys(object, path)
  self:put(word .. '{')
  for i, key in ipairs(keys) do
    self:put((i > 1 and ', ' or '') .. scalar_text(key) .. ': ')
    self:value(object[key], path and path .. '.' .. tostring(key) or tostring(key), depth + 1)
  end
  self:put '}'
  self.open[object] = nil
end

function Writer:value(value, path, depth)
  local text = scalar_text(value)
  if text then
    self:put(text)
  elseif torch.is_tensor(value) and value.layout ~= torch.strided then
    self:put 'sparse'
    self:table(sparse_parts.apart(value), path, depth)
  elseif torch.is_tensor(value) then
    self:tensor(value, path, depth)
  elseif torch.type(value) == 'dtype' then
    self:put(('dtype("%s")'):format(tostring(value):match '[^.]*$'))
  elseif torch.type(value) == 'device' then
    self:put(('device("%s")'):format(tostring(value)))
  elseif torch.type(value) == 'complex' then
    self:put(('complex(%s, %s)'):format(float_text(value.real + 0.0), float_text(value.imag + 0.0)))
  elseif type(value) == 'table' then
    self:table(value, path, depth)
  elseif torch.type(value) == 'QuantizedTensor' then
    self:put 'quantized'
    self:table({ packed = value.packed, scheme = value.scheme }, path, depth)
  else
    self:refuse(value, path)
  end
end

function Writer:refuse(value, path)
  self:fail(path, 'a %s cannot be saved, only tensors, numbers, booleans, strings and tables of them (a module: '
    .. 'its state_dict())', torch.type(value))
end

--- For other formats (pt.lua): the errors, and the order of a table's keys with the word before its
--- brace.
function M.fail(path, ...) Writer:fail(path, ...) end
function M.refuse(value, path) Writer:refuse(value, path) end
function M.keys(object, path) return Writer:keys(object, path) end

--- Writes a value.
-- @return its text, the names of the tensors in it, the tensors
function M.encode(value)
  local writer = setmetatable({ text = {}, parts = {}, names = {}, tensors = {}, seen = {}, open = {}, counts = {},
    taken = { [RESERVED] = true } }, Writer)
  writer:value(value, nil, 0)
  writer.parts[#writer.parts + 1] = table.concat(writer.text)
  return table.concat(writer.parts), writer.names, writer.tensors
end

-- ---- reading ------------------------------------------------------------------------------------

local Reader = {}
Reader.__index = Reader

-- Raised as a table: decode turns it into nil and a message.
function Reader:fail(what) error({ message = ('%s at byte %d'):format(what, self.at) }, 0) end

-- The captures of the pattern at the current position, which moves after them and following blanks.
function Reader:take(pattern)
  local _, last, capture = self.text:find('^' .. pattern .. ' *', self.at)
  if not last then return nil end
  self.at = last + 1
  return capture or true
end

function Reader:expect(pattern, what) return self:take(pattern) or self:fail(what .. ' expected') end

function Reader:string()
  local quoted = self:expect('("[^"]*")', 'a string')
  return (quoted:sub(2, -2):gsub('\\x(%x%x)', function(hex) return string.char(tonumber(hex, 16)) end))
end

local words = { ['true'] = true, ['false'] = false, inf = math.huge, ['-inf'] = -math.huge, nan = 0 / 0 }

function Reader:scalar()
  if self.text:sub(self.at, self.at) == '"' then return self:string() end
  local word = self:expect('([-+.%w]+)', 'a value')
  if words[word] ~= nil then return words[word] end
  local number = tonumber(word)
  if number == nil then self:fail 'a value expected' end
  return number
end

-- Reads the entries of a table up to its closing brace; passes each to store(key, value).
function Reader:entries(depth, store)
  if depth >= MAX_DEPTH then self:fail('tables nested deeper than ' .. MAX_DEPTH) end
  if self:take '}' then return end
  repeat
    local key = self:scalar()
    if key ~= key then self:fail 'nan as a key' end
    self:expect(':', "':'")
    store(key, self:value(depth + 1))
  until not self:take ','
  self:expect('}', "'}'")
end

function Reader:table(depth)
  local object = {}
  self:entries(depth, function(key, value) object[key] = value end)
  return object
end

function Reader:ordered(depth)
  local dict = ordered_dict.new()
  self:entries(depth, function(key, value)
    if type(key) ~= 'string' or dict[key] ~= nil then self:fail 'another name expected' end
    dict[key] = value
  end)
  return dict
end

function Reader:size(depth)
  local sizes = self:table(depth)
  for i = 1, #sizes do
    if math.type(sizes[i]) ~= 'integer' then self:fail 'integers expected' end
  end
  return torch.Size(sizes)
end

function Reader:sparse(depth)
  local made, message = sparse_parts.together(self:table(depth))
  return made or self:fail(message)
end

function Reader:quantized(depth)
  local parts = self:table(depth)
  local ok, result = pcall(require 'torch.quantized.tensor', parts.packed, parts.scheme)
  return ok and result or self:fail 'a quantized tensor of components that do not fit'
end

function Reader:tensor()
  local name = self:string()
  self:expect(',', "','")
  local device = self:string()
  self:expect(',', "','")
  local requires_grad = self:scalar() == true
  self:expect('%)', "')'")
  return self.find(name, device, requires_grad) or self:fail(("no tensor '%s'"):format(name))
end

-- Reads the arguments of a word up to its closing parenthesis, and passes them to make(); wrong
-- ones are an error.
function Reader:made(count, make)
  local values = {}
  for i = 1, count do
    if i > 1 then self:expect(',', "','") end
    values[i] = self:scalar()
  end
  self:expect('%)', "')'")
  local ok, value = pcall(make, table.unpack(values))
  return ok and value or self:fail 'another value expected'
end

local function dtype_of(name)
  return torch.type(torch[name]) == 'dtype' and torch[name] or error()
end

function Reader:value(depth)
  if self:take '{' then return self:table(depth) end
  if self:take 'ordered{' then return self:ordered(depth) end
  if self:take 'size{' then return self:size(depth) end
  if self:take 'sparse{' then return self:sparse(depth) end
  if self:take 'quantized{' then return self:quantized(depth) end
  if self:take 'tensor%(' then return self:tensor() end
  if self:take 'dtype%(' then return self:made(1, dtype_of) end
  if self:take 'device%(' then return self:made(1, torch.device) end
  if self:take 'complex%(' then return self:made(2, torch.complex) end
  return self:scalar()
end

--- Parses the text of encode.
-- @param find  returns the tensor for (name, device, requires_grad), nil if there is none
-- @return the value, or nil and an error
function M.decode(text, find)
  local reader = setmetatable({ text = text, at = 1, find = find }, Reader)
  local ok, result = pcall(function()
    local value = reader:value(0)
    if reader.at <= #text then reader:fail 'the end expected' end
    return value
  end)
  if ok then return result end
  if type(result) ~= 'table' or not result.message then error(result, 0) end
  return nil, result.message
end

return M
