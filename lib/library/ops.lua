-- ops.lua - torch.ops: torch.ops.<namespace>.<name>(...) calls an own operation, from C, a plugin or
-- torch.library.

--[=[ arguments
path: Path of a shared object with own operations (ltensor_plugin.h).
]=]

local torch = require 'torch'
local definition = require 'torch.library.definition'
local fail = require 'torch.support.fail'
local C = torch._C

local M = {}

-- The functions by name, valid for one generation of the list; and their names.
local functions, generation = {}, nil
local names = setmetatable({}, { __mode = 'k' })

-- How many recordings of torch.onnx.export run: an operation in Lua is then recorded as the
-- operations of its implementation.
M.__recording = 0

-- Calls the implementation directly, with the tensors that the caller passed.
local function decompose(name, bind, ...)
  local function call(...)
    local kernel = definition.kernel(name, ...)
    if not kernel then
      fail('torch.onnx.export: %s is written in C, which cannot be recorded; export a module that computes it by operations of torch', name)
    end
    return kernel(...)
  end
  return call(bind(...))
end

-- Calls the function of register_vmap, if an argument is batched.
local function call_batched(op, bind, call, ...)
  local batches = require 'torch.autograd.function'
  local arguments = table.pack(bind(...))
  local level = batches.level_of(arguments)
  if not level then return call(...) end
  return batches.apply_batched({ __classname = op.name, vmap = op.vmap }, arguments, level)
end

local function make(name)
  local call, op = C.own_function(name), definition.of(name)
  if not call then return nil end
  local bind
  local function f(...)
    local by_vmap = op and op.vmap and C.batch_depth() > 0
    if M.__recording == 0 and not by_vmap then return call(...) end
    bind = bind or C.own_function(name, 'bind')
    if by_vmap then return call_batched(op, bind, call, ...) end
    return decompose(name, bind, ...)
  end
  names[f] = name
  return f
end

local function find(name)
  local now = C.own_generation()
  if now ~= generation then functions, generation = {}, now end
  local f = functions[name]
  if f == nil then
    f = make(name)
    functions[name] = f
  end
  return f
end

-- The names of a namespace, or of all namespaces, in order.
local function list(space)
  local found, seen = {}, {}
  for name in pairs(C.own_list()) do
    local prefix, short = name:match '^(.-)::(.*)$'
    local entry = prefix
    if space then entry = prefix == space and short or nil end
    if entry and not seen[entry] then
      seen[entry] = true
      found[#found + 1] = entry
    end
  end
  table.sort(found)
  return found
end

local function entries(values)
  local i = 0
  return function(owner)
    i = i + 1
    if values[i] then return values[i], owner[values[i]] end
  end
end

local Namespace = { __name = '_OpNamespace' }

function Namespace.__index(self, key)
  local space = rawget(self, 1)
  if type(key) ~= 'string' then return nil end
  local f = find(space .. '::' .. key)
  if f then return f end
  local known = list(space)
  fail("torch.ops.%s has no operation '%s'%s", space, key,
    #known > 0 and '; it has: ' .. table.concat(known, ', ') or ': the namespace is empty; load a plugin or define one by torch.library')
end

function Namespace:__pairs() return entries(list(rawget(self, 1))), self end
function Namespace:__tostring() return ('<_OpNamespace %s>'):format(rawget(self, 1)) end
function Namespace.__newindex(self, key)
  fail('torch.ops.%s.%s cannot be assigned; call torch.library.custom_op', rawget(self, 1), tostring(key))
end

local spaces = {}

--- Loads a plugin: a shared object with operations, which are then in torch.ops. The authorizer of
--- the context must permit it.
function M.load_library(path)
  if not path:find('/', 1, true) then path = './' .. path end
  C.load_plugin(path)
  M.loaded_libraries[path] = true
end
M.loaded_libraries = {}

require('torch.support.arguments').functions(M, 'load_library(string path)')

--- The members of torch.ops or of a namespace by name, for completion; nil: it is another value.
function M.__members(value)
  local is_space = debug.getmetatable(value) == Namespace
  if not is_space and not rawequal(value, M) then return nil end
  local found = {}
  for _, name in ipairs(list(is_space and rawget(value, 1) or nil)) do found[name] = value[name] end
  return found
end

--- The name of a function of torch.ops; nil: it is another value.
function M.__name_of(f) return names[f] end

--- The signature and the description of a function of torch.ops; nil: it is another value.
function M.__describe(f)
  local name = names[f]
  return name and C.own_list()[name]
end

return setmetatable(M, {
  __name = '_Ops',
  __index = function(_, space)
    if type(space) ~= 'string' or space:find '^__' then return nil end
    spaces[space] = spaces[space] or setmetatable({ space }, Namespace)
    return spaces[space]
  end,
  __pairs = function(self) return entries(list()), self end,
})
