-- library.lua - the classes of lib/ and the arguments of their constructors, for the generators of
-- this folder. Run by build/ltensor.
--
-- The arguments are the declared ones (torch.support.arguments), otherwise the parameters of init.

local arguments = require 'torch.support.arguments'
local checked = require 'torch.support.argument_checks'

local M = {}

for _, file in pairs(torch.nn.__names) do require('torch.nn.' .. file) end

-- The arguments of a declaration. first: the index of the first one that the caller passes.
local function of_signature(signature, first)
  local row, named = {}, {}
  for i = first, #signature do
    local a = signature[i]
    table.insert(i <= signature.positional and row or named, { name = a.name, required = not a.optional, default = a.default, kind = a.kind })
  end
  return { row = row, named = named }
end

-- { row = {{name, required, default}, ...}, named = {{name, default}, ...} } of a class's
-- constructor;
-- undeclared: the arguments are parameters of init, without defaults. nil if they are unknown.
function M.arguments_of(class)
  local constructor, signature = arguments.constructors[class.__classname], arguments.signature_of(class)
  if constructor then return of_signature(type(constructor) == 'table' and constructor or arguments.parse(constructor), 1) end
  if signature then return of_signature(signature, 2) end
  local init = class.init and checked.original(class.init)
  local info = type(init) == 'function' and debug.getinfo(init, 'u')
  if not info or info.isvararg then return nil end
  local row = {}
  for i = 2, info.nparams do row[#row + 1] = { name = debug.getlocal(init, i) } end
  return { row = row, named = {}, undeclared = true }
end

function M.is_class(value)
  local metatable = debug.getmetatable(value)
  return type(value) == 'table' and type(metatable) == 'table' and rawget(metatable, '__name') == 'class'
end

-- Groups the names of a module by file: the files in order, and { file = {names in order} }.
function M.by_file(names)
  local lists, order = {}, {}
  for name, file in pairs(names) do
    if not lists[file] then
      lists[file] = {}
      order[#order + 1] = file
    end
    table.insert(lists[file], name)
  end
  table.sort(order)
  for _, list in pairs(lists) do table.sort(list) end
  return order, lists
end

return M
