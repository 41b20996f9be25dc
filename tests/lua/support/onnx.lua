-- onnx.lua - writes ONNX models for the specs: a model as a table becomes the bytes of a file.
--
--   onnx.model { opset = 17, inputs = { x = ... } ... }
--
-- model { nodes =, inputs =, outputs =, initializers =, opset =, ir =, functions =, imports = { domain = version } } where
-- inputs and outputs are lists of { name, dtype code, sizes (numbers, names) }, initializers of { name, tensor [, options] }, and a node is
-- { 'Op', { inputs }, { outputs }, attribute = value, ..., domain = 'name' }: an integer, a float, a string, a tensor, a list of one of
-- these, or onnx.graph {...}. Attributes of the name of a field are given as attributes = {...}. onnx.ref 'name' refers to a function's attribute.

local torch = require 'torch'

local M = {}

local function varint(n)
  local bytes = {}
  repeat
    local low = n & 127
    n = n >> 7
    bytes[#bytes + 1] = string.char(n ~= 0 and low | 128 or low)
  until n == 0
  return table.concat(bytes)
end

local function int(field, n) return varint(field << 3) .. varint(n) end
local function bytes(field, text) return varint(field << 3 | 2) .. varint(#text) .. text end
local function float(field, x) return varint(field << 3 | 5) .. ('<f'):pack(x) end
M.varint, M.int, M.bytes = varint, int, bytes

local codes = { ['torch.float32'] = 1, ['torch.uint8'] = 2, ['torch.int8'] = 3, ['torch.int16'] = 5, ['torch.int32'] = 6, ['torch.int64'] = 7,
  ['torch.bool'] = 9, ['torch.float16'] = 10, ['torch.float64'] = 11, ['torch.bfloat16'] = 16 }

-- options: data = the message's part that holds the elements, instead of raw_data.
function M.tensor(name, tensor, options)
  local parts = {}
  for i = 1, tensor:dim() do parts[i] = int(1, tensor:size(i)) end
  parts[#parts + 1] = int(2, codes[tostring(tensor.dtype)])
  parts[#parts + 1] = bytes(8, name)
  parts[#parts + 1] = options and options.data or bytes(9, torch._C.tensor_bytes(tensor))
  return table.concat(parts)
end

local function value_info(entry)
  local dims = {}
  for i, size in ipairs(entry[3] or {}) do
    dims[i] = bytes(1, math.type(size) and int(1, size) or bytes(2, size))
  end
  local form = int(1, entry[2]) .. (entry[3] and bytes(2, table.concat(dims)) or '')
  return bytes(1, entry[1]) .. bytes(2, bytes(1, form))
end

local Graph, Ref = {}, {}
function M.graph(content) return setmetatable({ content }, Graph) end
function M.ref(name) return setmetatable({ name }, Ref) end

local function attribute(name, value)
  local head = bytes(1, name)
  if getmetatable(value) == Ref then return head .. bytes(21, value[1]) .. int(20, 2) end
  if getmetatable(value) == Graph then return head .. bytes(6, M.graph_bytes(value[1])) .. int(20, 5) end
  if torch.is_tensor(value) then return head .. bytes(5, M.tensor('', value)) .. int(20, 4) end
  if math.type(value) == 'integer' then return head .. int(3, value) .. int(20, 2) end
  if math.type(value) == 'float' then return head .. float(2, value) .. int(20, 1) end
  if type(value) == 'string' then return head .. bytes(4, value) .. int(20, 3) end
  local parts, kind = { head }, 7
  for _, item in ipairs(value) do
    kind = math.type(item) == 'float' and 6 or type(item) == 'string' and 8 or 7
    parts[#parts + 1] = kind == 6 and float(7, item) or kind == 8 and bytes(9, item) or int(8, item)
  end
  return table.concat(parts) .. int(20, kind)
end

function M.node(node)
  local parts = {}
  for _, name in ipairs(node[2]) do parts[#parts + 1] = bytes(1, name) end
  for _, name in ipairs(node[3]) do parts[#parts + 1] = bytes(2, name) end
  parts[#parts + 1] = bytes(4, node[1])
  if node.domain then parts[#parts + 1] = bytes(7, node.domain) end
  for name, value in pairs(node.attributes or node) do
    if type(name) == 'string' and name ~= 'domain' then parts[#parts + 1] = bytes(5, attribute(name, value)) end
  end
  return table.concat(parts)
end

function M.graph_bytes(graph)
  local parts = { bytes(2, graph.name or 'graph') }
  for _, node in ipairs(graph.nodes) do parts[#parts + 1] = bytes(1, M.node(node)) end
  for _, entry in ipairs(graph.initializers or {}) do parts[#parts + 1] = bytes(5, M.tensor(table.unpack(entry))) end
  for _, entry in ipairs(graph.inputs or {}) do parts[#parts + 1] = bytes(11, value_info(entry)) end
  for _, entry in ipairs(graph.outputs) do parts[#parts + 1] = bytes(12, type(entry) == 'string' and bytes(1, entry) or value_info(entry)) end
  return table.concat(parts)
end

local function opset(field, domain, version) return bytes(field, bytes(1, domain) .. int(2, version)) end

-- { name =, domain =, inputs = { names }, outputs = { names }, attributes = { names }, nodes = }
local function function_bytes(fn)
  local parts = { bytes(1, fn.name), bytes(10, fn.domain), opset(9, '', 17), opset(9, fn.domain, 1) }
  for _, name in ipairs(fn.inputs) do parts[#parts + 1] = bytes(4, name) end
  for _, name in ipairs(fn.outputs) do parts[#parts + 1] = bytes(5, name) end
  for _, name in ipairs(fn.attributes or {}) do parts[#parts + 1] = bytes(6, name) end
  for _, node in ipairs(fn.nodes) do parts[#parts + 1] = bytes(7, M.node(node)) end
  return table.concat(parts)
end

function M.model(model)
  local parts = { int(1, model.ir or 8), opset(8, '', model.opset or 17) }
  for domain, version in pairs(model.imports or {}) do parts[#parts + 1] = opset(8, domain, version) end
  for _, fn in ipairs(model.functions or {}) do parts[#parts + 1] = bytes(25, function_bytes(fn)) end
  parts[#parts + 1] = bytes(7, M.graph_bytes(model))
  return table.concat(parts)
end

return M
