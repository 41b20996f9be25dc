-- class.lua - classes with userdata objects: nn.Module, Optimizer, Dataset and user classes.
--
-- `Model = Base:extend('Model')`; `function Model:init(...)`; `Model(...)` creates an object.
-- Methods with names of metamethods (__len, __tostring, __call, __eq, __getitem for integer keys,
-- __getslice for slices, __setattr for assignments) act as such, whenever they are defined.
-- `Model.super` is the parent: `Model.super.init(self)` calls its constructor. The parent's fields
-- exist before init, so that this call is needed only for arguments of the parent. A class without
-- init takes no arguments. Fields belong to the object. Without __tostring, an object is shown with
-- its settings (settings_text.lua).

local torch = require 'torch'
local fail = require 'torch.support.fail'
local checked = require 'torch.support.argument_checks'
local new_object, object_metatable, object_fields = torch._C.new_object, torch._C.object_metatable, torch._C.object_fields

-- The metatable of a class's objects; scripts must not reach it (a __gc put there would be called
-- by the collector).
local metatables = setmetatable({}, { __mode = 'k' })

local Object = { __classname = 'Object' }
Object.__index = Object

-- Forwards metamethods to the methods of the same name, if the class has them.
local function forward(class, name, missing)
  return function(self, ...)
    local method = class[name]
    if not method then fail(missing:format(class.__classname)) end
    return method(self, ...)
  end
end

-- Iterator of pairs: all fields except internal ones, which begin with _.
local function next_public(fields, key)
  local value
  repeat key, value = next(fields, key) until type(key) ~= 'string' or key:byte() ~= 95
  return key, value
end

local function metatable_for(class)
  local metatable = object_metatable(class)
  for name, value in pairs {
    __name = class.__classname,
    __class = class,
    __methods = class,
    __newindex = function(self, key, value)
      local setter = class.__setattr
      if setter then return setter(self, key, value) end
      object_fields(self)[key] = value
    end,
    __len = forward(class, '__len', "a %s has no length (no method '__len')"),
    __call = forward(class, '__call', "a %s cannot be called (it has no method '__call')"),
    __tostring = function(self)
      local method = class.__tostring
      local text = method and method(self) or require 'torch.support.settings_text'(self, class)
      return class.__draws and text or require('torch')._C.printable(text) -- names may come from a file
    end,
    __pairs = function(self)
      local method = class.__pairs
      if method then return method(self) end
      return next_public, object_fields(self)
    end,
  } do metatable[name] = value end
  return metatable
end

-- The constructor of a class without one of its own; Class.super.init(self) may call it.
function Object:init(...)
  local n = select('#', ...)
  if n > 0 then
    fail(('%s() takes no arguments but %d %s given, because it has no method init: define function %s:init(...)'):format(
      self.__classname, n, n == 1 and 'was' or 'were', self.__classname))
  end
end

-- Other names under which constructors are searched, in Python and in Torch7.
local constructors = { '__init__', '__init' }

-- Raises an error if the class, or the nearest parent with a constructor, has one of another name.
local function check_constructor(class)
  while class and rawget(class, 'init') == nil do
    for _, name in ipairs(constructors) do
      if rawget(class, name) then
        fail(('%s:%s is not called: the constructor of a class is its method init: define function %s:init(...)'):format(
          class.__classname, name, class.__classname))
      end
    end
    class = class.super
  end
end

local function construct(class, ...)
  check_constructor(class)
  local object = new_object(metatables[class], {})
  if class.__new then class.__new(object) end
  class.init(object, ...)
  return object
end

-- Methods of the library's own classes check their arguments.
local function define(class, name, value) rawset(class, name, checked.member(class, name, value)) end

-- A class derived from this one.
function Object:extend(name)
  if type(name) ~= 'string' then
    fail(("extend(): the class's name must be a string, not %s"):format(type(name)))
  end
  local class = { __classname = name, super = self }
  metatables[class] = metatable_for(class)
  return setmetatable(class, {
    __index = self, __call = construct, __name = 'class', __newindex = define,
    __tostring = function() return ("<class '%s'>"):format(name) end,
  })
end

-- Whether value is an object of this class or of one derived from it.
function Object:is_instance(value)
  if type(value) ~= 'userdata' then return false end
  local metatable = getmetatable(value)
  local class = type(metatable) == 'table' and metatable.__class
  while class do
    if class == self then return true end
    class = class.super
  end
  return false
end

local getinfo, next_of_ipairs = debug.getinfo, (ipairs {})

-- True if ipairs called the running __getitem, which then returns nil after the last entry. depth:
-- the number of functions of the class between it and the caller of this one.
local function asked_by_ipairs(depth)
  local frame = getinfo(depth + 4, 'f') -- this function, its caller, __getitem's __index in C
  return frame ~= nil and frame.func == next_of_ipairs
end

return { Object = Object, fields = object_fields, metatables = metatables, asked_by_ipairs = asked_by_ipairs }
