-- run.lua - executes a graph (graph.lua): its nodes in order over a frame, a table of values by
-- slot. Without gradients, a value without other references is released after its last use, so the
-- next results use memory in the cache.

local torch = require 'torch'
local derived = require 'torch.onnx.derived'

local gethook, let_go, unpack = debug.gethook, torch._C.let_go, table.unpack

local M = {}

-- Results of a node into their slots.
local function store(frame, outputs, ...)
  for i = 1, #outputs do
    local slot = outputs[i]
    if slot ~= 0 then frame[slot] = (select(i, ...)) end
  end
end

local function arguments(frame, inputs, i)
  if i > #inputs then return end
  return frame[inputs[i]], arguments(frame, inputs, i + 1)
end

local function computed(node, frame) return node.fn(node, arguments(frame, node.inputs, 1)) end

-- The node that runs is noted in `at`, for the message of an error.
local function run_nodes(graph, frame, at)
  frame.at = at
  -- A recorder of calls (a debugger, torch.onnx.export) and autograd keep values.
  local lets_go = not torch.is_grad_enabled() and not gethook()
  for i = 1, #graph.nodes do
    local node = graph.nodes[i]
    at.node = node
    local inputs, outputs = node.inputs, node.outputs
    local n = #inputs
    if lets_go and node.derived then frame[outputs[1]] = derived.value(node, frame, computed)
    elseif node.takes_frame then store(frame, outputs, node.fn(node, frame, arguments(frame, inputs, 1)))
    elseif #outputs > 1 then store(frame, outputs, node.fn(node, arguments(frame, inputs, 1)))
    elseif n == 1 then frame[outputs[1]] = node.fn(node, frame[inputs[1]])
    elseif n == 2 then frame[outputs[1]] = node.fn(node, frame[inputs[1]], frame[inputs[2]])
    else frame[outputs[1]] = node.fn(node, arguments(frame, inputs, 1)) end
    local done, own = node.done, node.own_done
    for d = 1, #done do
      if lets_go and own[d] then let_go(frame[done[d]]) end
      frame[done[d]] = nil
    end
  end
end

--- Runs a body, a graph in a node, with the values of its inputs; `outer` is the frame of the
-- enclosing graph. Returns the values of its outputs.
function M.body(graph, outer, ...)
  local frame = {}
  for _, constant in ipairs(graph.constants) do frame[constant.slot] = constant.fields[constant.key] end
  for _, capture in ipairs(graph.captures) do frame[capture.inner] = outer[capture.outer] end
  for i, input in ipairs(graph.inputs) do frame[input.slot] = (select(i, ...)) end
  run_nodes(graph, frame, outer.at)
  local results = {}
  for i, output in ipairs(graph.outputs) do results[i] = frame[output.slot] end
  return unpack(results, 1, #graph.outputs)
end

M.nodes = run_nodes

return M
