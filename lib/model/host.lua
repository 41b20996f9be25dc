-- host.lua - models of files for hosts in C (ltensor_model.h): src/lua/model/model.c calls these
-- functions.

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local record = require 'torch.model.record'
local save = require 'torch.model.save'
local tensors = require 'torch.onnx.tensors'

local M = {}

-- The declaration of an input or an output in the file: its name, and if known dtype and sizes; -1 is
-- a size that may vary.
local function described(value)
  local form = value.type and value.type.tensor_type
  local shape, dtype = form and form.shape and form.shape.dim, form and tensors.dtypes[form.elem_type] or value.dtype
  local sizes = value.sizes
  if shape then
    sizes = {}
    for i, size in ipairs(shape) do sizes[i] = size.dim_value and size.dim_value >= 0 and size.dim_value or -1 end
  end
  return { name = value.name, dtype = dtype, sizes = sizes }
end

local function described_list(list)
  local result = {}
  for i, value in ipairs(list) do result[i] = described(value) end
  return result
end

--- The model of a file, or of the bytes of one (is_bytes).
function M.open(source, is_bytes)
  local start
  if is_bytes then start = source:sub(1, 9)
  else
    local file <close>, size = torch._C.open_file(source)
    start = file:text(math.min(9, size))
  end
  local what, given = is_bytes and 'the memory' or source, nil
  if #start == 9 and start:sub(5, 9) == '\0\0\0\0{' then
    source, given = save.read(source, what)
    start, is_bytes = source:sub(1, 9), true
  end
  local kind, load
  if start:sub(1, 4) == 'PK\3\4' then kind, load = 'pt2', require('torch.export.program').load
  elseif #start >= 2 and start:find '^[\8\18\26\34\42\50\58\66]' then kind, load = 'onnx', require('torch.onnx.model').load
  else fail('lt_model_load: %s is neither an ONNX model, nor a program of torch.export (.pt2), nor safetensors with a graph', what) end
  local model = load(source, nil, is_bytes, given)
  if kind == 'pt2' then class.fields(model).out_tree = nil end -- results in their order, not nested
  local state = { model = model, inputs = described_list(model.inputs), outputs = described_list(model.outputs), parameters = {}, kind = kind }
  state.versions, state.skeleton = save.versions_of(model), given and source or is_bytes and save.skeleton(kind, model, source, true) or nil
  state.source = state.skeleton or source
  for name, tensor in model:named_parameters() do table.insert(state.parameters, { name = name, tensor = tensor, is_buffer = false }) end
  for name, tensor in model:named_buffers() do table.insert(state.parameters, { name = name, tensor = tensor, is_buffer = true }) end
  return state
end

local function check_results(results)
  for i = 1, results.n do
    if not torch.is_tensor(results[i]) then fail('lt_model_run: output %d is a %s, not a tensor', i, torch.type(results[i])) end
  end
  return results
end

--- The outputs of a call, a packed list. plans: also a recording, or nil and the reason why there is
--- none.
function M.run(state, plans, ...)
  local model = state.model
  if not plans then return check_results(table.pack(model(...))) end
  local results, recording, reason = record.call(model, table.pack(...), torch.is_grad_enabled())
  return check_results(results), recording, reason
end

function M.set_training(state, on) state.model:train(on) end

--- Copies the tensors of a file into the model.
function M.load_state(state, path)
  local loaded = torch.load(path)
  loaded[save.GRAPH] = nil
  state.model:load_state_dict(loaded)
end

function M.save_state(state, path) torch.save(state.model:state_dict(), path) end

M.save = save.save

return M
