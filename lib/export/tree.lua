-- tree.lua - nested arguments and results of a program: PyTorch's description of a pytree (treespec)
-- as a tree of tables, and the values in its leaves in order.
--
-- A tuple, a list, a deque and a named tuple is a list here, a dict is a table by its keys. Other
-- classes are a table by the names in their context, such as the outputs of Hugging Face's models, or
-- a list. None is nil.

local torch = require 'torch'
local archives = require 'torch.export.archive'

local M = {}

local VERSION = 1 -- fixed: of PyTorch's treespecs

local function are_names(list, count)
  if type(list) ~= 'table' or #list ~= count then return false end
  for _, key in ipairs(list) do
    if type(key) ~= 'string' and type(key) ~= 'number' then return false end
  end
  return true
end

-- The keys of a node with `count` children, from its context: a list of them, or an object with such a
-- list (defaultdict), or a list that begins with it (dataclass). nil: the node is a list.
local function keys_of(archive, node, count)
  local context = archives.present(node.context)
  if type(context) == 'string' then context = archives.decode(archive, context) end
  if type(context) ~= 'table' then return nil end
  for _, list in ipairs { context, context.dict_context or false, context[1] or false } do
    if are_names(list, count) then return list end
  end
end

-- A leaf is { is_leaf = true }; another node has its children, and keys if it is a table by keys.
local function node_of(archive, node)
  if type(node) ~= 'table' then archive:fail 'its program is damaged: a treespec that is no object' end
  if not archives.present(node.type) then return { is_leaf = true, count = 1 } end
  local children = archives.field(archive, node, 'children_spec', 'table')
  local result = { count = 0 }
  for i, child in ipairs(children) do
    result[i] = node_of(archive, child)
    result.count = result.count + result[i].count
  end
  result.is_tuple = node.type == 'builtins.tuple' or node.type == 'collections.namedtuple'
  result.keys = not result.is_tuple and node.type ~= 'builtins.list' and keys_of(archive, node, #children) or nil
  return result
end

--- The tree of a treespec in JSON with `count` leaves; nil if there is none, or its version is another one.
function M.read(archive, text, count)
  if type(text) ~= 'string' then return nil end
  local spec = archives.decode(archive, text, 'a treespec')
  if type(spec) ~= 'table' or spec[1] ~= VERSION then return nil end
  local tree = node_of(archive, spec[2])
  if tree.count ~= count then archive:fail('its program is damaged: a treespec of %d values, not of %d', tree.count, count) end
  return tree
end

local function is_plain(value) return type(value) == 'table' and getmetatable(value) == nil and not torch.is_tensor(value) end
M.is_plain = is_plain

-- The keys that a node's table may have, as a set.
local function known_keys(tree)
  local known = {}
  for i = 1, #tree do known[tree.keys and tree.keys[i] or i] = true end
  return known
end

--- Appends the values of the leaves to `list`, which has the field n. Returns nil, or the error.
-- path: the value's name in errors.
function M.flatten(tree, value, path, list)
  if tree.is_leaf then
    list.n = list.n + 1
    list[list.n] = value
    return nil
  end
  if not is_plain(value) then return ("its argument '%s' must be a table, not %s"):format(path, torch.type(value)) end
  local known = known_keys(tree)
  for key in pairs(value) do
    if not known[key] then return ("its argument '%s' has no entry '%s'"):format(path, tostring(key)) end
  end
  for i, child in ipairs(tree) do
    local key = tree.keys and tree.keys[i] or i
    local problem = M.flatten(child, value[key], ('%s.%s'):format(path, key), list)
    if problem then return problem end
  end
end

--- The nested value of the leaves from position `at`; also the position after them.
function M.unflatten(tree, leaves, at)
  if tree.is_leaf then return leaves[at], at + 1 end
  local value = {}
  for i, child in ipairs(tree) do
    value[tree.keys and tree.keys[i] or i], at = M.unflatten(child, leaves, at)
  end
  return value, at
end

return M
