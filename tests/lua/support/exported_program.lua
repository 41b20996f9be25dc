-- exported_program.lua - .pt2 files that a spec writes itself: the JSON of nodes, arguments and values.

local torch = require 'torch'
local zip = require 'torch.files.zip'

local M = {}

--- Arguments and results: { "as_tensor": { "name": ... } } and the like.
function M.tensor(name) return ('{"as_tensor": {"name": "%s"}}'):format(name) end
function M.int(i) return ('{"as_int": %d}'):format(i) end
--- A node; inputs: names and arguments in turn.
function M.node(target, inputs, outputs)
  local texts = {}
  for i = 1, #inputs, 2 do texts[#texts + 1] = ('{"name": "%s", "arg": %s, "kind": 1}'):format(inputs[i], inputs[i + 1]) end
  return ('{"target": "%s", "name": "n", "inputs": [%s], "outputs": [%s]}'):format(target, table.concat(texts, ', '), table.concat(outputs, ', '))
end

local function meta(t)
  local sizes, strides = {}, {}
  for i = 1, t:dim() do sizes[i], strides[i] = M.int(t:size(i)), M.int(t:stride(i)) end
  local code = t.dtype == torch.int64 and 5 or 7
  return ('{"dtype": %d, "sizes": [%s], "strides": [%s], "storage_offset": {"as_int": 0}}'):format(code, table.concat(sizes, ', '), table.concat(strides, ', '))
end

local function quoted(text) return ('"%s"'):format(text:gsub('[\\"]', '\\%0')) end

--- A value by its name, or by its JSON.
function M.argument(name) return name:sub(1, 1) == '{' and name or M.tensor(name) end

--- Writes a file with these parameters { name, tensor, entry = number of another one, is_buffer = }, inputs, nodes and results. As JSON: specs, more
-- input_specs; changes, more output_specs; values, tensor_values; ranges, range_constraints; trees, a signature. change: edits the text of the program or of the
-- description of tensors.
function M.file(path, program, change)
  local weights, specs, outputs = {}, {}, {}
  local writer <close> = zip.create(path)
  for i, parameter in ipairs(program.parameters or {}) do
    local name, value = parameter[1], parameter[2]
    weights[i] = ('"%s": {"path_name": "weight_%d", "use_pickle": false, "tensor_meta": %s}'):format(name, parameter.entry or i, meta(value))
    local kind = parameter.is_buffer and 'buffer' or 'parameter'
    specs[#specs + 1] = ('{"%s": {"arg": {"name": "p_%s"}, "%s_name": "%s"}}'):format(kind, name:gsub('%.', '_'), kind, name)
    writer:add(('p/data/weights/weight_%d'):format(i), { torch._C.saved_form(value) }, 64)
  end
  for _, spec in ipairs(program.specs or {}) do specs[#specs + 1] = spec end
  for _, name in ipairs(program.inputs) do specs[#specs + 1] = ('{"user_input": {"arg": %s}}'):format(M.argument(name)) end
  for i, name in ipairs(program.outputs) do outputs[i] = ('{"user_output": {"arg": %s}}'):format(M.argument(name)) end
  for _, change_of in ipairs(program.changes or {}) do outputs[#outputs + 1] = change_of end
  local text = ('{"graph_module": {"graph": {"nodes": [%s], "tensor_values": {%s}}, "signature": {"input_specs": [%s], "output_specs": [%s]}, "module_call_graph": [%s]}, "range_constraints": {%s}}'):format(
    table.concat(program.nodes, ', '), program.values or '', table.concat(specs, ', '), table.concat(outputs, ', '), program.trees or '', program.ranges or '')
  local description = ('{"config": {%s}}'):format(table.concat(weights, ', '))
  if change then text, description = change(text, description) end
  writer:add('p/data/weights/model_weights_config.json', { description }, 64)
  writer:add('p/models/model.json', { text }, 64)
  writer:add('p/byteorder', { 'little' }, 64)
  writer:finish()
  return path
end

--- A treespec: kind is 'tuple', 'list', 'dict' or a class; keys: JSON of its context; then the children. Without arguments: a leaf.
function M.tree(kind, keys, ...)
  if not kind then return '{"type": null, "context": null, "children_spec": []}' end
  local full = (kind == 'tuple' or kind == 'list' or kind == 'dict') and 'builtins.' .. kind or kind
  return ('{"type": "%s", "context": %s, "children_spec": [%s]}'):format(full, quoted(keys or 'null'), table.concat({ ... }, ', '))
end

--- The signature of a call: of nested arguments and results, with the names of the arguments.
function M.trees(args, kwargs, results, names)
  local arguments = M.tree('tuple', nil, args, kwargs)
  return ('{"fqn": "", "signature": {"in_spec": %s, "out_spec": %s, "forward_arg_names": [%s]}}'):format(
    quoted(('[1, %s]'):format(arguments)), quoted(('[1, %s]'):format(results)), ('"%s"'):format(table.concat(names, '", "')))
end

--- A node of an operator of ATen.
function M.aten(name, ...) return M.node('torch.ops.aten.' .. name, ...) end

return M

