-- operators.lua - writes recorded calls as nodes: by the overload of ATen that the arguments fit
-- (schemas.lua), or by a function of ops/ for operations that ATen has in another form.
--
-- A file of ops/ returns { name = write } with write(graph, args, call): args are the arguments by name,
-- positions count from 1, sizes that vary are symbols; the names of the results are stored in
-- call.results. Functions of torch.nn.functional only are named 'nn.<name>'.

local torch = require 'torch'
local arguments = require 'torch.onnx.export.arguments'
local json = require 'torch.files.json_text'
local schemas = require 'torch.export.write.schemas'
local symbols = require 'torch.onnx.export.symbols'

local M = {}

local by_hand = {}
for _, name in ipairs { 'index', 'layers', 'composed', 'values' } do
  for op, write in pairs(require('torch.export.write.ops.' .. name)) do by_hand[op] = write end
end

-- Operations without a declaration that binds their arguments.
local reads_raw = { index = true, index_assign = true, where_method = true, recurrent_layer = true }

-- Operations that ATen names otherwise.
local aten_names = { logsigmoid = 'log_sigmoid', nll_loss = 'nll_loss_nd', cross_entropy = 'cross_entropy_loss', dropout1d = 'feature_dropout', dropout2d = 'feature_dropout',
  dropout3d = 'feature_dropout', affine_grid = 'affine_grid_generator' }

-- ---- arguments ----------------------------------------------------------------------------------

local function place(i) return i > 0 and i - 1 or i end

local function places(list)
  local result = {}
  for i, dim in ipairs(list) do result[i] = place(dim) end
  return result
end

-- The value of an argument in which dimensions and positions count from 0.
local function from_zero(entry)
  local kind, value = entry.ours and entry.ours.kind, entry.value
  if kind ~= 'Dim' and kind ~= 'Dims' and kind ~= 'Index' then return value end
  return math.type(value) and place(value) or places(value)
end

-- Classes that a loss ignores may be negative.
local has_negative = { nll_loss = true, cross_entropy = true, multilabel_margin_loss = true }

local function argument(graph, entry)
  local kind, value = entry.ours and entry.ours.kind, entry.value
  if kind == 'IndexTensor' then return { as_tensor = { name = graph:positions(value, has_negative[graph.call.op]) } } end
  if kind == 'IndexTensor[]' then
    local list = json.list {}
    for i, x in ipairs(value) do list[i] = { name = x.dtype == torch.bool and graph:name(x) or graph:positions(x, true) } end
    return { as_tensors = list }
  end
  return graph:argument(entry.parameter, value)
end

-- ---- calls --------------------------------------------------------------------------------------

-- The values of the results of a call, `false` for results of the overload that the call does not have.
local function results_of(overload, call)
  local results, count = {}, overload.results == 'list' and #call.results or overload.results
  for i = 1, count do results[i] = call.results[i] or false end
  return results
end

local function store(call, ours, names)
  for i, value in pairs(call.results) do
    if ours.results[i] == 'IndexTensor' then value.zero_name = names[i] else value.name_in_graph = names[i] end
  end
end

local function write_matching(graph, call, bound, ours, numbers)
  for _, overload in ipairs(schemas.overloads(aten_names[ours.name] or ours.name)) do
    local matched = schemas.match(overload, ours, bound, numbers)
    local fits_results = matched and (overload.results == 'list') == call.is_list and (call.is_list or #call.results <= overload.results)
    if fits_results then
      local list = {}
      for _, entry in ipairs(matched) do
        entry.value = from_zero(entry)
        local is_default = entry.parameter.has_default and schemas.same(entry.value, entry.parameter.default)
        if not is_default then list[#list + 1] = { name = entry.parameter.name, arg = argument(graph, entry) } end
      end
      local names = table.pack(graph:node(overload.name .. '.' .. overload.overload, list, results_of(overload, call)))
      store(call, ours, names)
      return true
    end
  end
  return false
end

-- The arguments of the i-th call by name and our declaration of it, merged over all recordings.
local function bound_call(graph, i)
  local call, list, ours = graph.recordings[1].calls[i], {}, nil
  for k, recording in ipairs(graph.recordings) do
    local other = recording.calls[i]
    if other.op ~= call.op then graph:fail("it is '%s' where the sizes of the inputs differ", other.op) end
    if reads_raw[other.op] then list[k] = other.args
    else
      local overload
      list[k], overload = arguments.bind(other)
      ours = ours or overload
    end
    if not list[k] then return nil end
  end
  return symbols.merge(list, function() graph:fail 'its arguments differ where the sizes of the inputs do, by more than a size' end), ours
end

-- Whether the results depend on no input, parameter or random number.
local function is_constant(call, ours)
  local first = call.results[1]
  return first and not first.varies and not first.learned and not (ours and ours.names.generator)
end

local function keep_as_constants(graph, i)
  for _, recording in ipairs(graph.recordings) do
    for _, value in pairs(recording.calls[i].results) do value.constant = value.tensor end
  end
end

--- Writes the i-th call of the recordings.
function M.write(graph, i)
  local call = graph.recordings[1].calls[i]
  graph.call = call
  local bound, ours = bound_call(graph, i)
  local op = call.in_nn and by_hand['nn.' .. call.op] or by_hand[call.op]
  if bound and op and op(graph, bound, call) ~= false then return end
  if bound and ours and (write_matching(graph, call, bound, ours, false) or write_matching(graph, call, bound, ours, true)) then return end
  if is_constant(call, ours) then return keep_as_constants(graph, i) end
  if not bound then graph:fail 'the form of its arguments is not supported; pass its arguments by their names' end
  graph:fail 'ATen has no operator for it; compute it from other operations in forward, or outside of the module'
end

return M
