-- safe_globals.lua - torch.serialization: allows more Python data in PyTorch files than tensors,
-- numbers, strings and their containers.
--
-- Only constructors that ltensor implements itself can be allowed (files/python_data.lua): none of
-- them runs code of the file.

local checked = require 'torch.support.argument_checks'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local python_data = require 'torch.files.python_data'

local serialization = {}

-- The constructors that a name selects: itself, or for a module all of its constructors.
local function names_of(what, name)
  if type(name) ~= 'string' then fail("torch.serialization.%s: the names must be strings such as 'numpy.dtype', got %s", what, kinds.described(name)) end
  local full, found = python_data.name(name), {}
  for known in pairs(python_data.allowable) do
    if known == full or known:sub(1, #full + 1) == full .. '.' then found[#found + 1] = known end
  end
  if #found > 0 or python_data.always[full] then return found end
  local known = {}
  for there in pairs(python_data.allowable) do known[#known + 1] = there end
  table.sort(known)
  fail("torch.serialization.%s: ltensor has no constructor '%s'; expected one of: %s", what, name, table.concat(known, ', '))
end

--- Allows torch.load to create more Python data: NumPy's arrays and scalars, paths, namespaces,
-- frozensets, deques.
-- @param safe_globals  a list of names as Python has them ('numpy._core.multiarray.scalar',
--   'pathlib.PosixPath'), or of modules ('numpy': all of its)
function serialization.add_safe_globals(safe_globals)
  kinds.check('add_safe_globals', 'safe_globals', safe_globals, 'table')
  local added = {}
  for _, name in ipairs(safe_globals) do
    for _, known in ipairs(names_of('add_safe_globals', name)) do added[known] = true end
  end
  for name in pairs(added) do python_data.allowed[name] = true end
end

--- The names that are allowed, in order.
function serialization.get_safe_globals()
  local names = {}
  for name in pairs(python_data.allowed) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- Removes all allowed names.
function serialization.clear_safe_globals() python_data.allowed = {} end

--- Calls a function with additional names allowed, and returns its results.
-- @param safe_globals  as in add_safe_globals
-- @param body          the function
function serialization.safe_globals(safe_globals, body)
  kinds.check('safe_globals', 'body', body, 'function')
  local before = python_data.allowed
  python_data.allowed = {}
  for name in pairs(before) do python_data.allowed[name] = true end
  local results = table.pack(pcall(function()
    serialization.add_safe_globals(safe_globals)
    return body()
  end))
  python_data.allowed = before
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

return checked.functions(serialization)
