-- trees.lua - flattens nested tables to a list of leaves, and back, for arguments and results of
-- torch.func.
--
-- A node is a table, a leaf any other value. Entries are in the order of the list 1..#t, then of
-- the names; a table with its own iteration order (an OrderedDict) determines their order. Rebuilt
-- tables are plain.

local trees = {}

local LEAF = '*'

local function keys_of(node)
  local keys, metatable = {}, getmetatable(node)
  if type(metatable) == 'table' and metatable.__pairs then
    for key in pairs(node) do keys[#keys + 1] = key end
    return keys
  end
  local n = #node
  for i = 1, n do keys[i] = i end
  for key in pairs(node) do
    if not (math.type(key) == 'integer' and key >= 1 and key <= n) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    local number_a, number_b = type(a) == 'number', type(b) == 'number'
    if number_a ~= number_b then return number_a end
    if number_a then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local function flatten(value, leaves)
  if type(value) ~= 'table' then
    leaves[#leaves + 1] = value
    return LEAF
  end
  local form = {}
  for i, key in ipairs(keys_of(value)) do form[i] = { key, flatten(value[key], leaves) } end
  return form
end

--- The leaves of a value, which is not nil, as a list, and its structure.
function trees.flatten(value)
  local leaves = {}
  return leaves, flatten(value, leaves)
end

local function rebuild(form, leaves, at)
  if form == LEAF then return leaves[at], at + 1 end
  local node = {}
  for _, entry in ipairs(form) do node[entry[1]], at = rebuild(entry[2], leaves, at) end
  return node, at
end

--- The value with this structure and these leaves.
function trees.rebuild(form, leaves) return (rebuild(form, leaves, 1)) end

--- The value with f(leaf) for every leaf.
function trees.map(f, value)
  local leaves, form = trees.flatten(value)
  for i = 1, #leaves do leaves[i] = f(leaves[i]) end
  return trees.rebuild(form, leaves)
end

--- Whether two forms are the same.
function trees.same(a, b)
  if a == LEAF or b == LEAF then return a == b end
  if #a ~= #b then return false end
  for i = 1, #a do
    if a[i][1] ~= b[i][1] or not trees.same(a[i][2], b[i][2]) then return false end
  end
  return true
end

--- A form as text: '*' for a leaf, '{*, name = *}' for a table.
function trees.shown(form)
  if form == LEAF then return LEAF end
  local parts = {}
  for i, entry in ipairs(form) do
    local text = trees.shown(entry[2])
    parts[i] = entry[1] == i and text or ('%s = %s'):format(entry[1], text)
  end
  return '{' .. table.concat(parts, ', ') .. '}'
end

--- The results of a call (table.pack's): a single value unchanged, several as a list.
function trees.of_results(results)
  if results.n == 1 then return results[1] end
  return { table.unpack(results, 1, results.n) }
end

return trees
