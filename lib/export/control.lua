-- control.lua - torch.cond and while_loop in programs of torch.export: nodes that take graphs as
-- arguments. A graph has its own names for values and receives all external values as inputs.

local torch = require 'torch'
local run = require 'torch.onnx.run'

local M = {}

local function is_true(x)
  if torch.is_tensor(x) then return x:item() ~= 0 and x:item() ~= false end
  return x == true
end

local function joined(list, more)
  local all = table.move(list, 1, #list, 1, {})
  return table.move(more, 1, #more, #all + 1, all)
end

local function call(graph, frame, values)
  if #values ~= #graph.inputs then error(('a graph of %d values, not of %d'):format(#graph.inputs, #values), 0) end
  return run.body(graph, frame, table.unpack(values))
end

--- By operator: fn(frame, values of the arguments...) -> results.
M.operators = {
  cond = function(frame, truth, when_true, when_false, operands) return call(is_true(truth) and when_true or when_false, frame, operands) end,

  while_loop = function(frame, condition, body, carried, more)
    while is_true((call(condition, frame, joined(carried, more)))) do carried = table.pack(call(body, frame, joined(carried, more))) end
    return table.unpack(carried)
  end,
}

local kinds = { cond = { 'value', 'graph', 'graph', 'tensors' }, while_loop = { 'graph', 'graph', 'tensors', 'tensors' } }

--- The error in an operator's arguments; nil if there is none.
function M.problem(name, arguments)
  if #arguments ~= #kinds[name] then return ('%d arguments, not %d'):format(#arguments, #kinds[name]) end
  for i, kind in ipairs(kinds[name]) do
    local given = arguments[i].kind
    if given == 'list' then given = 'tensors' end -- of sizes
    local fits = given == kind or kind == 'value' and given ~= 'graph' and given ~= 'tensors'
    if not fits then return ("its argument %d is '%s'"):format(i, arguments[i].kind) end
  end
end

return M
