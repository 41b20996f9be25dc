-- tree.lua - nested arguments and results as PyTorch's trees (torch.utils._pytree): lists are Python's
-- lists, tables with names dicts with their names in order; tensors, numbers, booleans, strings and nil
-- are leaves.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local json = require 'torch.files.json_text'

local M = {}

local MAX_DEPTH = 32

local leaf_types = { number = true, boolean = true, string = true, ['nil'] = true }

--- The names of a table, in order; nil for a list.
local function names_of(x)
  local names = {}
  for key in pairs(x) do
    if type(key) == 'string' then names[#names + 1] = key end
  end
  if #names == 0 then return nil end
  if x[1] ~= nil then fail 'torch.export.export: a table with both positions and names; PyTorch has lists and dicts: use two tables' end
  table.sort(names)
  return names
end

local function spec(type_name, context, children) return { type = type_name, context = context, children_spec = json.list(children) } end

--- The spec of a value; appends its leaves { value =, path = list of keys } to a list.
local function describe(x, path, leaves)
  if torch.is_tensor(x) or leaf_types[type(x)] then
    leaves[#leaves + 1] = { value = x, path = path }
    return { type = json.null, context = json.null, children_spec = json.list {} }
  end
  if type(x) ~= 'table' or #path > MAX_DEPTH then
    fail('torch.export.export: an argument or result that is a %s; use tensors, numbers, strings, and lists and tables of them', torch.type(x))
  end
  local function child(key) return describe(x[key], table.move({ key }, 1, 1, #path + 1, table.move(path, 1, #path, 1, {})), leaves) end
  local children, names = {}, names_of(x)
  for i, name in ipairs(names or {}) do children[i] = child(name) end
  if names then return spec('builtins.dict', json.encode(json.list(names)), children) end
  for i = 1, #x do children[i] = child(i) end
  return spec('builtins.list', 'null', children)
end

--- The spec of a packed list of values as a tuple, and its leaves. names: of the values.
function M.tuple(list, leaves, names)
  local children = {}
  for i = 1, list.n do children[i] = describe(list[i], { names and names[i] or i }, leaves) end
  return spec('builtins.tuple', 'null', children)
end

--- The spec of named values as a dict.
function M.dict(values, leaves)
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  local children = {}
  for i, name in ipairs(names) do children[i] = describe(values[name], { name }, leaves) end
  return spec('builtins.dict', json.encode(json.list(names)), children)
end

--- The spec of one value.
function M.value(x, leaves) return describe(x, { 1 }, leaves) end

--- A spec of arguments or results as text, with the version of its form.
function M.text(tree) return json.encode(json.list { 1, tree }) end

M.spec = spec

--- The value with other tensors in the places of its tensors, in order.
function M.replaced(x, tensors, at)
  if torch.is_tensor(x) then
    at[1] = at[1] + 1
    return tensors[at[1]]
  end
  if type(x) ~= 'table' then return x end
  local copy, names = {}, names_of(x)
  for _, name in ipairs(names or {}) do copy[name] = M.replaced(x[name], tensors, at) end
  if not names then
    for i = 1, x.n or #x do copy[i] = M.replaced(x[i], tensors, at) end
  end
  return copy
end

return M
