-- control.lua - higher-order operators of programs of torch.export: nodes that take graphs as
-- arguments. A graph has its own names for values and receives all external values as inputs.

local torch = require 'torch'
local run = require 'torch.onnx.run'

local M = {}

local function is_true(x)
  if torch.is_tensor(x) then return x:item() ~= 0 and x:item() ~= false end
  return x == true
end

local function joined(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  return all
end

local function call(graph, frame, values)
  if #values ~= #graph.inputs then error(('a graph of %d values, not of %d'):format(#graph.inputs, #values), 0) end
  return run.body(graph, frame, table.unpack(values))
end

-- Element i of the first dimension of each tensor.
local function each_at(list, i)
  local parts = {}
  for k, x in ipairs(list) do parts[k] = x:select(1, i) end
  return parts
end

local function stacked(rows, count)
  local results = {}
  for k = 1, count do
    local column = {}
    for i, row in ipairs(rows) do column[i] = row[k] end
    results[k] = torch.stack(column)
  end
  return results
end

-- The number of rows, the elements of the first dimension.
local function length_of(list)
  if not list[1] then error('a loop over no tensors', 0) end
  return list[1]:size(1)
end

-- A row of zeros of each tensor: in a loop over 0 rows, its results have the sizes of the loop's.
local function zero_row(list)
  local row = {}
  for k, x in ipairs(list) do row[k] = x:new_zeros(table.move(x.shape, 2, x:dim(), 1, {})) end
  return row
end

-- The results of a loop over 0 rows, from these results for one row.
local function without_rows(row, count)
  local results = {}
  for k = 1, count do results[k] = row[k]:unsqueeze(1):narrow(1, 1, 0) end
  return results
end

--- By operator: fn(frame, values of the arguments...) -> results.
M.operators = {
  cond = function(frame, truth, when_true, when_false, operands) return call(is_true(truth) and when_true or when_false, frame, operands) end,

  while_loop = function(frame, condition, body, carried, more)
    while is_true((call(condition, frame, joined(carried, more)))) do carried = table.pack(call(body, frame, joined(carried, more))) end
    return table.unpack(carried)
  end,

  map_impl = function(frame, body, rows, more)
    local results = {}
    if length_of(rows) == 0 then
      local row = table.pack(call(body, frame, joined(zero_row(rows), more)))
      return table.unpack(without_rows(row, row.n))
    end
    for i = 1, length_of(rows) do results[i] = table.pack(call(body, frame, joined(each_at(rows, i), more))) end
    return table.unpack(stacked(results, results[1].n))
  end,

  scan = function(frame, body, carried, rows, more)
    local n, results = #carried, {}
    if length_of(rows) == 0 then
      local all = table.pack(call(body, frame, joined(carried, zero_row(rows), more)))
      local row = table.move(all, n + 1, all.n, 1, {})
      return table.unpack(joined(carried, without_rows(row, #row)))
    end
    for i = 1, length_of(rows) do
      local all = table.pack(call(body, frame, joined(carried, each_at(rows, i), more)))
      carried, results[i] = table.move(all, 1, n, 1, {}), table.move(all, n + 1, all.n, 1, {})
    end
    return table.unpack(joined(carried, stacked(results, #results[1])))
  end,

  associative_scan = function(frame, body, rows, more)
    local results = {}
    if length_of(rows) == 0 then return table.unpack(rows) end
    for i = 1, length_of(rows) do
      local row = each_at(rows, i)
      results[i] = i == 1 and row or table.pack(call(body, frame, joined(results[i - 1], row, more)))
    end
    return table.unpack(stacked(results, #rows))
  end,

  wrap_with_set_grad_enabled = function(frame, enabled, body, ...)
    local values = { ... }
    local function inner() return call(body, frame, values) end
    if enabled then return torch.enable_grad(inner) end
    return torch.no_grad(inner)
  end,

  wrap_with_autocast = function(frame, device, dtype, enabled, _, body, ...)
    local values = { ... }
    return torch.autocast(device, { dtype = dtype, enabled = enabled }, function() return call(body, frame, values) end)
  end,

  -- Recomputation saves memory; the values are the same.
  tag_activation_checkpoint = function(frame, body, ...) return call(body, frame, { ... }) end,
  invoke_subgraph = function(frame, body, _, ...) return call(body, frame, { ... }) end,
}
M.operators.wrap_activation_checkpoint, M.operators.wrap = M.operators.tag_activation_checkpoint, M.operators.tag_activation_checkpoint

-- The kinds of arguments; '...' stands for any number of values.
local kinds = {
  cond = { 'value', 'graph', 'graph', 'tensors' }, while_loop = { 'graph', 'graph', 'tensors', 'tensors' }, map_impl = { 'graph', 'tensors', 'tensors' },
  scan = { 'graph', 'tensors', 'tensors', 'tensors' }, associative_scan = { 'graph', 'tensors', 'tensors' },
  wrap_with_set_grad_enabled = { 'value', 'graph', '...' }, wrap_with_autocast = { 'value', 'value', 'value', 'value', 'graph', '...' },
  tag_activation_checkpoint = { 'graph', '...' }, wrap_activation_checkpoint = { 'graph', '...' }, wrap = { 'graph', '...' }, invoke_subgraph = { 'graph', 'value', '...' },
}

--- The error in an operator's arguments; nil if there is none.
function M.problem(name, arguments)
  local expected = kinds[name]
  local n, open = #expected, expected[#expected] == '...'
  if open and #arguments < n - 1 or not open and #arguments ~= n then return ('%d arguments, not %d'):format(#arguments, open and n - 1 or n) end
  for i, argument in ipairs(arguments) do
    local kind, given = expected[i], argument.kind
    if open and i >= n then kind = 'value' end
    if given == 'list' then given = 'tensors' end -- of sizes
    local fits = given == kind or kind == 'value' and given ~= 'graph' and given ~= 'tensors'
    if not fits then return ("its argument %d is '%s'"):format(i, argument.kind) end
  end
end

return M
