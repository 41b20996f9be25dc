-- save.lua - writes a model of host.lua to a file with its current parameters and buffers: an ONNX file
-- as the one that it was loaded from, others by torch.onnx.export and torch.export.
--
-- A safetensors file with a graph has the tensors by their names, and in the tensor 'ltensor.model' the
-- bytes of an ONNX model or a .pt2 file without their elements.

local torch = require 'torch'
local fail = require 'torch.support.fail'

local M = { GRAPH = 'ltensor.model' }

local MAX_BYTES = (1 << 31) - 1 -- of an ONNX file: protobuf's limit

-- ---- the tensors of a file ----------------------------------------------------------------------

-- Calls f(name in the file or nil, tensor, name in the module) for each constant of an ONNX graph and
-- of its bodies.
local function each_constant(graph, f)
  for _, constant in ipairs(graph.constants) do f(constant.name, constant.fields[constant.key], constant.key) end
  for _, node in ipairs(graph.nodes) do
    for _, body in pairs(node.attributes or {}) do
      if type(body) == 'table' and body.captures then each_constant(body, f) end
    end
  end
end

-- The tensors of the model by their names in the file. A tensor without one must be unchanged.
local function tensors_of(state)
  local by_name = {}
  each_constant(state.model._graph, function(name, tensor, key)
    if not name or name == '' then
      if state.versions[tensor] ~= torch._C.version_of(tensor) then fail("lt_model_save: '%s' was changed, and has no name in the file", key) end
    elseif by_name[name] and by_name[name] ~= tensor then fail("lt_model_save: two tensors of the file are named '%s'", name)
    else by_name[name] = tensor end
  end)
  return by_name
end

--- The versions of the tensors without a name, for tensors_of.
function M.versions_of(model)
  local versions = {}
  each_constant(model._graph, function(_, tensor) versions[tensor] = torch._C.version_of(tensor) end)
  return versions
end

local function check_written(by_name, written)
  for name in pairs(by_name) do
    if not written[name] then fail("lt_model_save: the file that the model was loaded from has no tensor '%s' that can be replaced", name) end
  end
end

-- ---- formats ------------------------------------------------------------------------------------

-- The pieces of the ONNX file (is_bytes: of its content) with these tensors. drops: without their
-- elements.
local function onnx_pieces(source, is_bytes, by_name, drops)
  local tensors, written = require 'torch.onnx.tensors', {}
  local bytes = is_bytes and source or require('torch.files.whole_file').read(source, MAX_BYTES)
  local pieces = require 'torch.onnx.rewrite'(bytes, function(name)
    local tensor = by_name[name]
    if not tensor then return nil end
    written[name] = true
    local message = { name = name, dims = tensor.shape, data_type = tensors.code(tensor.dtype) }
    if drops then message.data_location, message.external_data = 1, { { key = 'location', value = 'safetensors' } }
    else message.raw_data = tensor:detach() end
    return message
  end)
  check_written(by_name, written)
  return pieces
end

local function program_bytes(model)
  local writer = require('torch.files.zip').create_in_memory()
  require('torch.export.save').write(model, writer, 'model', true)
  return writer:text()
end

--- The file without elements, from a path or the content of a file (is_bytes).
function M.skeleton(kind, model, source, is_bytes)
  if kind == 'pt2' then return program_bytes(model) end
  local by_name = tensors_of { model = model, versions = M.versions_of(model) }
  return table.concat(onnx_pieces(source, is_bytes, by_name, true))
end

-- Zeros for the declared inputs, and the axes that vary.
local function example_inputs(state)
  local args, names, axes = {}, {}, {}
  for i, input in ipairs(state.inputs) do
    if not input.dtype or not input.sizes then fail("lt_model_save: the file does not declare the shape of input '%s'", input.name) end
    local sizes, varies = {}, {}
    for d, size in ipairs(input.sizes) do
      sizes[d] = size >= 0 and size or 4
      if size < 0 then varies[d] = ('%s_%d'):format(input.name, d) end
    end
    args[i], names[i] = torch.zeros(sizes, { dtype = input.dtype }), input.name
    if next(varies) then axes[input.name] = varies end
  end
  return args, { input_names = names, dynamic_axes = axes }
end

local savers = {}

function savers.onnx(state, path)
  if state.kind ~= 'onnx' then
    local args, options = example_inputs(state)
    options.output_names = {}
    for i, output in ipairs(state.outputs) do options.output_names[i] = output.name end
    return require 'torch.onnx.export'(state.model, args, path, options)
  end
  local pieces = onnx_pieces(state.source, state.skeleton ~= nil, tensors_of(state), false)
  if pieces.bytes > MAX_BYTES then fail('lt_model_save: %s: the model has %d bytes, a file of ONNX at most %d', path, pieces.bytes, MAX_BYTES) end
  local file <close> = torch._C.create_file(path)
  for _, piece in ipairs(pieces) do file:write(piece) end
  file:commit()
end

function savers.pt2(state, path)
  local program = state.model
  if state.kind ~= 'pt2' then
    local args, options = example_inputs(state)
    program = require 'torch.export.write.program'(state.model, args, nil, { dynamic_shapes = options.dynamic_axes }, options.input_names)
  end
  require('torch.export.save').save(program, path)
end

function savers.safetensors(state, path)
  local by_name = tensors_of(state)
  local graph = state.skeleton or M.skeleton(state.kind, state.model, state.source)
  local names, tensors = {}, {}
  for name in pairs(by_name) do
    if name == M.GRAPH then fail("lt_model_save: a tensor is named '%s'", name) end
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do tensors[i] = by_name[name]:detach() end
  names[#names + 1], tensors[#tensors + 1] = M.GRAPH, torch.frombuffer(graph, { dtype = torch.uint8 })
  torch._C.save_safetensors(path, names, tensors, { format = 'pt' })
end

--- Writes the model in the format of the suffix.
function M.save(state, path)
  local suffix = (path:match '%.([^./]*)$' or ''):lower()
  local save = savers[suffix]
  if not save then fail('lt_model_save: %s: the suffix is .onnx, .pt2 or .safetensors; lt_model_save_state writes the parameters and buffers alone', path) end
  save(state, path)
end

-- ---- loading ------------------------------------------------------------------------------------

--- The bytes of the graph and the tensors by name of a safetensors file with a graph.
function M.read(source, what)
  local names, list = torch._C.load_safetensors(source)
  local tensors = {}
  for i, name in ipairs(names) do tensors[name] = list[i] end
  local graph, parts = tensors[M.GRAPH], {}
  if not graph or graph.dtype ~= torch.uint8 or graph.ndim ~= 1 then
    fail('lt_model_load: %s: safetensors without a graph; lt_model_load_state reads them into a model', what)
  end
  for at = 1, graph:numel(), 4096 do
    parts[#parts + 1] = string.char(table.unpack(graph:narrow(1, at, math.min(4096, graph:numel() - at + 1)):tolist()))
  end
  tensors[M.GRAPH] = nil
  return table.concat(parts), tensors
end

return M
