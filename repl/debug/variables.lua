-- Values as variables of the Debug Adapter Protocol: a text in one line, a type, and a number for
-- the members, which the client requests when the user opens the value.
--
-- Tensors show shape, dtype and device; their elements are read when they are opened. May use
-- repl.echo, repl.debug.frames, repl.notebook.json, torch through package.loaded.

local echo = require 'repl.echo'
local frames = require 'repl.debug.frames'
local json = require 'repl.notebook.json'

local object = json.object

local MAX_MEMBERS = 1000
local MAX_ELEMENTS = 100
local MAX_TEXT = 200

local variables = {}

local function is_tensor(value)
  local torch = package.loaded.torch
  return type(value) == 'userdata' and torch.is_tensor(value)
end

-- The number in a tensor with one element in host memory.
local function number_in(tensor)
  local ok, number = pcall(function()
    return tensor:numel() == 1 and tensor.device.type == 'cpu' and tensor:item()
  end)
  return ok and number or nil
end

-- A value in one line, and its type.
function variables.text(value)
  local kind, text = echo.kind(value)
  if kind == 'tensor' then
    local number = number_in(value)
    return ('tensor %s%s'):format(text, number and ' = ' .. echo.value(number) or ''), kind
  end
  local first = text:match '^[^\n]*'
  if #first > MAX_TEXT then first = first:sub(1, (utf8.offset(first, 0, MAX_TEXT) or MAX_TEXT) - 1) .. ' ...' end
  return first == text and text or first .. ' ...', kind
end

-- ---- members -------------------------------------------------------------------------------

local order = {number = 1, string = 2}

local function before(a, b)
  local kind_a, kind_b = order[type(a)] or 3, order[type(b)] or 3
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a == 3 then return tostring(a) < tostring(b) end
  return a < b
end

local function members_of_table(value)
  local keys, list = {}, {}
  for key in next, value do keys[#keys + 1] = key end
  table.sort(keys, before)
  for index = 1, math.min(#keys, MAX_MEMBERS) do
    local key = keys[index]
    local is_name = type(key) == 'string' and key:find '^[%a_][%w_]*$'
    list[index] = {name = is_name and key or '[' .. echo.value(key) .. ']', key = key, value = rawget(value, key),
      path = is_name and '.' .. key or '[' .. echo.value(key) .. ']'}
  end
  return list
end

local function members_of_tensor(tensor)
  local list = {}
  local function add(name, value, path) list[#list + 1] = {name = name, value = value, path = path} end
  for _, name in ipairs {'shape', 'dtype', 'device', 'requires_grad', 'grad'} do
    local ok, value = pcall(function() return tensor[name] end)
    if ok and value ~= nil then add(name, value, '.' .. name) end
  end
  pcall(function()
    if tensor:dim() == 0 then return add('item', tensor:item(), ':item()') end
    for index = 1, math.min(tensor:size(1), MAX_ELEMENTS) do add(('[%d]'):format(index), tensor[index], ('[%d]'):format(index)) end
  end)
  return list
end

local function has_members(value) return is_tensor(value) or type(value) == 'table' and next(value) ~= nil end

-- ---- numbers of containers -----------------------------------------------------------------

local Store = {}
Store.__index = Store

-- Numbers the containers that a client can open; valid until the program continues. type_of(kind,
-- text), if given, returns the type that the client shows for a value.
function variables.store(type_of) return setmetatable({type_of = type_of}, Store) end

-- The number of a function that returns a list of {name, value, path}, where assign(name, value)
-- changes a member.
function Store:add(list, assign, prefix)
  self[#self + 1] = {list = list, assign = assign, prefix = prefix or ''}
  return #self
end

-- The number of the members of a value that the expression `path` reads; 0 if it has none.
function Store:members(value, path)
  if not has_members(value) then return 0 end
  if is_tensor(value) then return self:add(function() return members_of_tensor(value) end, nil, path) end
  return self:add(function() return members_of_table(value) end, function(name, new)
    for _, member in ipairs(members_of_table(value)) do
      if member.name == name then
        value[member.key] = new
        return true
      end
    end
  end, path)
end

-- A variable as the protocol describes it.
function Store:variable(name, value, path)
  local text, kind = variables.text(value)
  if self.type_of then kind = self.type_of(kind, text) end
  return object {{'name', name}, {'value', text}, {'type', kind}, {'evaluateName', path}, {'variablesReference', self:members(value, path)}}
end

-- The variables in container `number`, from the 0-based index `start`, at most `count`.
function Store:open(number, start, count)
  local container = self[number]
  if not container then error(('no container has the number %s; the program has continued'):format(tostring(number)), 0) end
  local list, found = container.list(), {}
  local first = (math.tointeger(start) or 0) + 1
  for index = first, math.min(#list, first + (count and count > 0 and count or #list) - 1) do
    local member = list[index]
    found[#found + 1] = self:variable(member.name, member.value, member.path and container.prefix .. member.path or member.name)
  end
  return found
end

-- Changes a variable in container `number`.
function Store:assign(number, name, value)
  local container = self[number]
  if not container or not container.assign or not container.assign(name, value) then
    error(("'%s' cannot be changed here; assign it in the debug console"):format(tostring(name)), 0)
  end
end

-- ---- scopes --------------------------------------------------------------------------------

-- The scopes of a frame. session: the session of a kernel, whose live locals are a scope; nil: none.
function Store:scopes(frame, session)
  local scopes = {}
  local function add(name, hint, list, assign)
    scopes[#scopes + 1] = object {{'name', name}, {'presentationHint', hint}, {'variablesReference', self:add(list, assign)},
      {'expensive', name == 'Globals'}}
  end
  for _, each in ipairs {{'Locals', 'local', 'locals'}, {'Upvalues', 'upvalue', 'locals'}} do
    if each[2] == 'local' or #frames.variables(frame, each[2]) > 0 then
      add(each[1], each[3], function() return frames.variables(frame, each[2]) end, function(name, value) return frames.assign(frame, name, value) end)
    end
  end
  if session then
    add('Cells', 'locals', function()
      local list = {}
      for _, name in ipairs(session.scope:names()) do list[#list + 1] = {name = name, value = (session.scope:get(name))} end
      return list
    end)
  end
  add('Globals', 'globals', function() return members_of_table(frames.globals(frame)) end, function(name, value)
    frames.globals(frame)[name] = value
    return true
  end)
  return scopes
end

return variables
