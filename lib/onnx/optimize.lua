-- optimize.lua - the passes over a graph (graph.lua) of an ONNX file or of a program of torch.export:
-- removes dead nodes, records the last use of each value, marks values that are computed once
-- (derived.lua) and fuses nodes (fuse.lua).
--
-- A loader describes its nodes for them:
-- - makes: 'memory' if the results are new memory, 'tensor' if they are new tensors, possibly views of
--   an input, 'value' if the result may be an input itself, 'number' if it is no tensor; nil: unknown.
-- - has_effect: true if the node has other effects than its results, or if these do not depend on the
--   inputs alone.
-- - writes: true for an in-place operator; its result is its first input, and it has an effect.
-- - kind: 'convolution', 'batch_norm' (with given statistics), 'product' (of matrices), 'sum' and
--   'multiplication' (of two tensors), 'sigmoid', 'transposition'. The inputs are then the operands in
--   the order of fuse.lua.
-- - in_place: a function like fn that overwrites the first input.

local derived = require 'torch.onnx.derived'
local fuse = require 'torch.onnx.fuse'

-- Removes dead nodes, then dead constants, and records the last use of each value. A node with
-- `has_effect` is never dead. Slots up to graph.fixed keep their values while the graph runs.
local function sweep(graph)
  local used, kept = {}, {}
  for _, output in ipairs(graph.outputs) do used[output.slot] = true end
  for i = #graph.nodes, 1, -1 do
    local node = graph.nodes[i]
    local wanted = node.has_effect
    for _, slot in ipairs(node.outputs) do wanted = wanted or used[slot] end
    if wanted then
      node.done = {}
      local function use(slot)
        if slot ~= 0 and not used[slot] then
          used[slot] = true
          if slot > graph.fixed then node.done[#node.done + 1] = slot end
        end
      end
      for _, slot in ipairs(node.outputs) do
        if slot ~= 0 and not used[slot] then node.done[#node.done + 1] = slot end
      end
      for _, slot in ipairs(node.inputs) do use(slot) end
      for _, body in pairs(node.attributes) do
        if type(body) == 'table' and body.captures then
          for _, capture in ipairs(body.captures) do use(capture.outer) end
        end
      end
      kept[#kept + 1] = node
    end
  end
  graph.nodes = {}
  for i = #kept, 1, -1 do table.insert(graph.nodes, kept[i]) end
  local constants = {}
  for _, constant in ipairs(graph.constants) do
    if used[constant.slot] then constants[#constants + 1] = constant end
  end
  graph.constants = constants
end

return function(graph)
  sweep(graph)
  derived.mark(graph)
  fuse(graph)
end
