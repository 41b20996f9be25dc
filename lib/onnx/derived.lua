-- derived.lua - nodes that depend only on constants of the file and on sizes: transposed weights,
-- the shape of a Reshape. Without gradients, the result of such a node is cached until one of its
-- inputs is replaced or changed.

local torch = require 'torch'

local M = {}

local MOST = 1 << 16 -- elements of a result that is kept, unless it is a view of its input

local of_sizes = { Shape = true, Size = true }

-- Values that are read outside of the graph's own nodes or written in place, and values of which these
-- may be views.
local function exposed_of(graph)
  local exposed = {}
  for _, output in ipairs(graph.outputs) do exposed[output.slot] = true end
  for i = #graph.nodes, 1, -1 do
    local node = graph.nodes[i]
    for _, body in pairs(node.attributes) do
      if type(body) == 'table' and body.captures then
        for _, capture in ipairs(body.captures) do exposed[capture.outer] = true end
      end
    end
    local passes = node.writes
    for _, slot in ipairs(node.outputs) do passes = passes or exposed[slot] and node.makes ~= 'memory' end
    for _, slot in ipairs(passes and node.inputs or {}) do exposed[slot] = true end
  end
  return exposed
end

--- Marks such nodes of a graph: node.derived; for inputs: node.derived_inputs[i], 'constant' or
--- 'derived'.
function M.mark(graph)
  local exposed, kinds = exposed_of(graph), {}
  for _, constant in ipairs(graph.constants) do kinds[constant.slot] = 'constant' end
  for slot in pairs(graph.known) do kinds[slot] = 'constant' end
  for _, input in ipairs(graph.inputs) do kinds[input.slot] = nil end
  local products = {} -- right operands of matrix products
  for _, node in ipairs(graph.nodes) do
    if node.kind == 'product' then products[node.inputs[2] or 0] = true end
  end
  for _, node in ipairs(graph.nodes) do
    local from, all = {}, (#node.inputs > 0 or node.is_fixed) and not node.has_effect and not node.takes_frame and not node.is_random and #node.outputs == 1
    for i, slot in ipairs(node.inputs) do
      from[i] = kinds[slot]
      all = all and (slot == 0 or kinds[slot] ~= nil)
    end
    node.derived_inputs = from
    local sizes_alone = node.domain == '' and of_sizes[node.op]
    if (all or sizes_alone) and not exposed[node.outputs[1]] then
      node.derived = sizes_alone and 'sizes' or 'values'
      node.is_factor = node.kind == 'transposition' and products[node.outputs[1]]
      kinds[node.outputs[1]] = 'derived'
    end
  end
end

local function holds_sizes(made, x)
  if x:dim() ~= #made.sizes then return false end
  for i, size in ipairs(made.sizes) do
    if x:size(i) ~= size then return false end
  end
  return true
end

-- True if the inputs are the same tensors, and constant inputs were neither written in place nor
-- moved.
local function holds_values(made, node, frame)
  for i, slot in ipairs(node.inputs) do
    local value = frame[slot]
    if not rawequal(value, made[i]) then return false end
    if node.derived_inputs[i] == 'constant' and (torch._C.version_of(value) ~= made.versions[i] or value:data_ptr() ~= made.places[i]) then return false end
  end
  return true
end

local function note(node, frame, result)
  local made = { result = result, version = torch._C.version_of(result), inference = torch.is_inference_mode_enabled() }
  if node.derived == 'sizes' then
    made.sizes = {}
    local x = frame[node.inputs[1]]
    for i = 1, x:dim() do made.sizes[i] = x:size(i) end
  else
    made.versions, made.places = {}, {}
    for i, slot in ipairs(node.inputs) do
      local value = frame[slot]
      made[i] = value
      if value ~= nil then made.versions[i], made.places[i] = torch._C.version_of(value), value:data_ptr() end
    end
  end
  node.made = made
end

--- The result of a marked node; run(node, frame) computes it.
function M.value(node, frame, run)
  local made = node.made
  if made and torch._C.version_of(made.result) == made.version and made.inference == torch.is_inference_mode_enabled() then
    if made.sizes then
      if holds_sizes(made, frame[node.inputs[1]]) then return made.result end
    elseif holds_values(made, node, frame) then return made.result end
  end
  node.made = nil
  local result = run(node, frame)
  if not torch.is_tensor(result) then return result end
  local first = frame[node.inputs[1]]
  if node.is_factor and result:dim() == 2 then result = result:contiguous()
  elseif result:numel() > MOST and not (torch.is_tensor(first) and result:data_ptr() == first:data_ptr()) then return result end
  note(node, frame, result)
  return result
end

return M
