-- arguments.lua - the arguments of a call of an exported program: checks them and stores them in the
-- frame.
--
-- A call has one of three forms: the arguments of the exported module, nested as in PyTorch, with its
-- keyword arguments in a table behind them; the tensors and numbers in them, in order; a table of
-- either by name.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local trees = require 'torch.export.tree'

local M = {}

-- Checks the sizes of an input. known: the sizes of symbols so far.
local function check_sizes(model, input, value, known)
  if not input.sizes then return end
  if value:dim() ~= #input.sizes then
    fail("the program's input '%s' has %d dimensions, not %d", input.name, #input.sizes, value:dim())
  end
  for i, expected in ipairs(input.sizes) do
    local size, symbol = value:size(i), input.symbols[i]
    if expected >= 0 and size ~= expected then
      fail("size %d of the program's input '%s' is fixed to %d, but got %d; export the program with a dynamic size", i, input.name, expected, size)
    end
    if symbol then
      local range = model.ranges[symbol]
      if range and (range.min and size < range.min or range.max and size > range.max) then
        fail("size %d of the program's input '%s' is from %s to %s, but got %d", i, input.name, range.min or 0, range.max or 'any', size)
      end
      if known[symbol] and known[symbol] ~= size then
        fail("size %d of the program's input '%s' equals another size of the inputs, %d, but got %d", i, input.name, known[symbol], size)
      end
      known[symbol] = size
    end
  end
end

-- ---- forms of a call ----------------------------------------------------------------------------

-- Adds the values of a nested argument from leaf `first` on; constants must be as in the program.
local function add_leaves(model, tree, value, path, first, values)
  local list = { n = 0 }
  local problem = trees.flatten(tree, value, path, list)
  if problem then fail('the program: %s', problem) end
  for i = 1, list.n do
    local leaf = model.leaves[first + i - 1]
    if leaf.slot then values[leaf] = list[i]
    elseif list[i] ~= nil and list[i] ~= leaf.constant then
      fail("the program's argument '%s' is fixed to %s, but got %s; export the program with another value", path, tostring(leaf.constant), tostring(list[i]))
    end
  end
end

-- The arguments of the module: { tree =, name =, first = its first leaf } of each.
local function arguments_of(model)
  local list, first = {}, 1
  for _, group in ipairs(model.in_tree) do
    for i, tree in ipairs(group) do
      local n = #list + 1
      local name = group.keys and group.keys[i] or model.argument_names and model.argument_names[n]
      list[n], first = { tree = tree, name = name, first = first }, first + tree.count
    end
  end
  return list
end

-- The values of a table by names: of arguments, or of the program's inputs.
local function add_named(model, arguments, named, values)
  local known = {}
  for _, argument in ipairs(arguments) do
    if argument.name then known[argument.name] = argument end
  end
  for _, input in ipairs(model.inputs) do known[input.name] = known[input.name] or input end
  for name, value in pairs(named) do
    local found = known[name]
    if not found then fail("the program has no input '%s'", name) end
    if found.tree then add_leaves(model, found.tree, value, name, found.first, values) else values[found] = value end
  end
end

local function has_tables(n, ...)
  for i = 1, n do
    if trees.is_plain((select(i, ...))) then return true end
  end
  return false
end

local function knows(arguments, model, name)
  for _, list in ipairs { arguments, model.inputs } do
    for _, value in ipairs(list) do
      if value.name == name then return true end
    end
  end
  return false
end

-- The value of each input, by input.
local function values_of(model, ...)
  local n, first, values = select('#', ...), ..., {}
  local arguments = model.in_tree and arguments_of(model) or {}
  if n == 1 and kinds.is_named(first) and next(first) ~= nil and (not model.in_tree or knows(arguments, model, (next(first)))) then
    add_named(model, arguments, first, values)
    return values
  end
  if not model.in_tree or n == #model.inputs and not has_tables(n, ...) then
    if n ~= #model.inputs then fail('the program expects %d inputs, but got %d', #model.inputs, n) end
    for i, input in ipairs(model.inputs) do values[input] = (select(i, ...)) end
    return values
  end
  local positional = #model.in_tree[1]
  local last = n > 0 and (select(n, ...))
  local has_named = n > positional and #arguments > positional and kinds.is_named(last)
  if n > positional + (has_named and 1 or 0) then fail('the program expects %d arguments, but got %d', positional, n) end
  for i = 1, positional do add_leaves(model, arguments[i].tree, (select(i, ...)), arguments[i].name or tostring(i), arguments[i].first, values) end
  if has_named then add_named(model, arguments, last, values) end
  return values
end

--- The frame of a call: the values of the inputs and of the program's own tensors by slot.
function M.frame_of(model, ...)
  local frame, sizes, values = {}, {}, values_of(model, ...)
  for _, input in ipairs(model.inputs) do
    local value = values[input]
    if input.is_number then
      if type(value) ~= 'number' and type(value) ~= 'boolean' then fail("the program's input '%s' must be a number, not %s", input.name, kinds.described(value)) end
    else
      if not torch.is_tensor(value) then fail("the program's input '%s' must be a Tensor, not %s", input.name, kinds.described(value)) end
      check_sizes(model, input, value, sizes)
    end
    frame[input.slot] = value
  end
  for _, value in ipairs(model._graph.constants) do frame[value.slot] = value.fields[value.key] end
  return frame
end

return M
