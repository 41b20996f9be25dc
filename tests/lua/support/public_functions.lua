-- public_functions.lua - every function and constructor that a program can name below torch, and the methods of classes and
-- tensors, each once: { name =, value =, is_method = }. What begins with _ and what a class of the library has for itself alone are none.

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'

local function is_class(value) return type(value) == 'table' and rawget(value, '__classname') ~= nil end

-- The names in a module: those that are there, and those that are loaded when they are first named.
local function names_of(holder)
  local names, list = {}, {}
  for _, source in ipairs { holder, rawget(holder, '__names') or {}, (getmetatable(holder) or {}).__parts or {} } do
    for name in next, source do names[name] = type(name) == 'string' and name:sub(1, 1) ~= '_' or nil end
  end
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  return list
end

local function add(found, seen, name, value, is_method)
  if seen[value] then return end
  seen[value] = true
  found[#found + 1] = { name = name, value = value, is_method = is_method }
end

local function add_class(found, seen, path, class)
  add(found, seen, path, class, false)
  for _, name in ipairs(names_of(class)) do
    local value = rawget(class, name)
    local method = type(value) == 'function' and (name == 'forward' or checked.is_public(name))
    if method then add(found, seen, path .. ':' .. name, value, true) end
  end
end

local function walk(found, seen, path, holder)
  if seen[holder] then return end
  seen[holder] = true
  for _, name in ipairs(names_of(holder)) do
    local ok, value = pcall(function() return holder[name] end)
    local at = path .. '.' .. name
    if ok and is_class(value) then
      if not seen[value] then add_class(found, seen, at, value) end
    elseif ok and type(value) == 'function' then
      add(found, seen, at, value, false)
    elseif ok and type(value) == 'table' then
      walk(found, seen, at, value)
    end
  end
end

--- with_book: those of d2l, the companion of a book, too.
return function(with_book)
  local found, seen = {}, {}
  walk(found, seen, 'torch', torch)
  if with_book then walk(found, seen, 'd2l', require 'd2l') end
  for _, name in ipairs(names_of(torch._C.methods)) do add(found, seen, 'torch.Tensor.' .. name, torch._C.methods[name], true) end
  return found
end
