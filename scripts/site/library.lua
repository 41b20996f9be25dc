-- library.lua - what lib/ has besides ops, for those who write of it: classes, and the arguments of their constructors. Run by build/ltensor.
--
-- The arguments of a layer are those that its file tells torch.nn.arguments while it is loaded; of other classes, the parameters of init.

local checked = require 'torch.support.checked'

local M = {}

local declared = {} -- by a class's name: { {name, default}, ... } in a row, then { named = {{name, default}, ...} }
local function words(text)
  local list = {}
  for word in (text or ''):gmatch '%S+' do list[#list + 1] = word end
  return list
end

local real = require 'torch.nn.arguments'
package.loaded['torch.nn.arguments'] = function(what, required, positional, defaults, more)
  local row, named, seen = {}, {}, {}
  for _, name in ipairs(words(required)) do row[#row + 1] = { name = name, required = true } end
  for _, name in ipairs(words(positional)) do
    row[#row + 1] = { name = name, default = (defaults or {})[name] }
    seen[name] = true
  end
  for name, default in pairs(defaults or {}) do
    if not seen[name] then named[#named + 1] = { name = name, default = default } end
  end
  table.sort(named, function(a, b) return a.name < b.name end)
  declared[what] = { row = row, named = named }
  return real(what, required, positional, defaults, more)
end
for _, file in pairs(torch.nn.__names) do require('torch.nn.' .. file) end

-- { row = {{name, required, default}, ...}, named = {{name, default}, ...} } of a class's constructor; undeclared: which
-- are required is not known. Nil where nothing says them.
function M.arguments_of(class)
  if declared[class.__classname] then return declared[class.__classname] end
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

-- The names of a module by the files that have them: the files in order, and { file = {names in order} }.
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
