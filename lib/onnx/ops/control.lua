-- control.lua - If, Loop and Scan: bodies are graphs, run with the values of the graph around them.

local torch = require 'torch'
local run = require 'torch.onnx.run'
local values = require 'torch.onnx.values'

local ops = {}

local function body_of(node, name)
  local body = node.attributes[name]
  if type(body) ~= 'table' or not body.captures then return ("its attribute '%s' is no graph"):format(name) end
end

ops.If = { takes_frame = true, check = function(node) return body_of(node, 'then_branch') or body_of(node, 'else_branch') end,
  fn = function(node, frame, condition)
    if condition:numel() ~= 1 then values.fail('a condition of %d elements', condition:numel()) end
    return run.body(node.attributes[condition:item() and 'then_branch' or 'else_branch'], frame)
  end }

-- Stacks a list; an empty one has the rank that the body declares.
local function stacked(list, body, i, dim)
  if #list > 0 then return torch.stack(list, dim) end
  local form = body.outputs[i].type and body.outputs[i].type.tensor_type
  local sizes = { 0 }
  for d, size in ipairs(form and form.shape and form.shape.dim or {}) do sizes[d + 1] = size.dim_value or 0 end
  return torch.empty(sizes, { dtype = form and require('torch.onnx.tensors').dtypes[form.elem_type] or nil })
end

ops.Loop = { takes_frame = true, check = function(node) return body_of(node, 'body') end, fn = function(node, frame, most, condition, ...)
  local body = node.attributes.body
  local carried = table.pack(...)
  local n_carried, n_scanned = #body.inputs - 2, #body.outputs - 1 - (#body.inputs - 2)
  if n_scanned < 0 or carried.n > n_carried then values.fail 'the inputs and outputs of the body do not match' end
  local limit = most and most:item() or math.maxinteger
  local goes_on, scanned = not condition or condition:item(), {}
  for i = 1, n_scanned do scanned[i] = {} end
  local i = 0
  while i < limit and goes_on do
    local results = table.pack(run.body(body, frame, torch.tensor(i, { dtype = torch.int64 }), torch.tensor(true), table.unpack(carried, 1, n_carried)))
    goes_on = not results[1] or results[1]:item()
    for k = 1, n_carried do carried[k] = results[k + 1] end
    for k = 1, n_scanned do scanned[k][i + 1] = results[1 + n_carried + k] end
    i = i + 1
  end
  local outputs = {}
  for k = 1, n_carried do outputs[k] = carried[k] end
  for k = 1, n_scanned do outputs[n_carried + k] = stacked(scanned[k], body, 1 + n_carried + k, 1) end
  return table.unpack(outputs, 1, n_carried + n_scanned)
end }

-- Iterates over the entries of the last inputs; the other inputs are the state.
local function scan(node, frame, inputs, n_states, n_scans, dims, backwards, out_dims, out_backwards)
  local body = node.attributes.body
  local n_outputs = #body.outputs - n_states
  local length = inputs[n_states + 1]:size(dims[1])
  for k = 2, n_scans do
    if inputs[n_states + k]:size(dims[k]) ~= length then values.fail('inputs of %d and %d entries', length, inputs[n_states + k]:size(dims[k])) end
  end
  local states, outputs = table.move(inputs, 1, n_states, 1, {}), {}
  for k = 1, n_outputs do outputs[k] = {} end
  for i = 1, length do
    local entries = table.move(states, 1, n_states, 1, {})
    for k = 1, n_scans do entries[n_states + k] = inputs[n_states + k]:select(dims[k], backwards[k] == 1 and length + 1 - i or i) end
    local results = table.pack(run.body(body, frame, table.unpack(entries, 1, n_states + n_scans)))
    for k = 1, n_states do states[k] = results[k] end
    for k = 1, n_outputs do outputs[k][out_backwards[k] == 1 and length + 1 - i or i] = results[n_states + k] end
  end
  for k = 1, n_outputs do
    local rank = outputs[k][1] and outputs[k][1]:dim() + 1 or 1
    states[n_states + k] = stacked(outputs[k], body, n_states + k, values.dim(out_dims[k] or 0, rank))
  end
  return states, n_states + n_outputs
end

ops.Scan = { takes_frame = true,
  check = function(node)
    local n = node.attributes.num_scan_inputs
    return body_of(node, 'body') or (not n or n < 1 or n > #node.inputs) and 'num_scan_inputs does not fit its inputs' or nil
  end,
  fn = function(node, frame, ...)
    local inputs, n_scans, a = table.pack(...), node.attributes.num_scan_inputs, node.attributes
    if node.version >= 9 then
      local n_states, dims = inputs.n - n_scans, {}
      for k = 1, n_scans do
        dims[k] = values.dim(a.scan_input_axes and a.scan_input_axes[k] or 0, inputs[n_states + k]:dim())
      end
      local results, n = scan(node, frame, inputs, n_states, n_scans, dims, a.scan_input_directions or {}, a.scan_output_axes or {},
        a.scan_output_directions or {})
      return table.unpack(results, 1, n)
    end
    -- Version 8: the first input is the lengths of the sequences, and everything has a batch.
    local n_states = inputs.n - 1 - n_scans
    local batches, joined, n = inputs[2]:size(1), {}, 0
    for b = 1, batches do
      local mine, dims = {}, {}
      for k = 1, n_states + n_scans do mine[k] = inputs[k + 1]:select(1, b) end
      for k = 1, n_scans do dims[k] = 1 end
      local results
      results, n = scan(node, frame, mine, n_states, n_scans, dims, a.directions or {}, {}, {})
      for k = 1, n do
        joined[k] = joined[k] or {}
        joined[k][b] = results[k]
      end
    end
    for k = 1, n do joined[k] = torch.stack(joined[k], 1) end
    return table.unpack(joined, 1, n)
  end }

return { [''] = ops }
