-- backend.lua - runs the backend tests that cases.py wrote, and counts.
--
--   ltensor tests/onnx/backend.lua FOLDER [PATTERN]
--
-- A case passes when every output has the dtype and shape that is expected and values within the case's tolerance
-- (not the values where the case draws them). Cases whose
-- elements are of a type that ltensor does not have (strings, float8, …) are counted apart, by the error that says so. The
-- names of failed cases are printed with their errors; the exit code is 1 when fewer than 99 of 100 pass.

local messages = require 'torch.onnx.messages'
local tensors = require 'torch.onnx.tensors'
local wire = require 'torch.onnx.wire'

local folder, pattern = arg[1], arg[2] or ''
local OTHER = 'which ltensor does not have'

local function read(path)
  local file = io.open(path, 'rb')
  if not file then return nil end
  local text = file:read 'a'
  file:close()
  return text
end

-- The value in a .pb file, of a value of a graph.
local value_of
local kinds = { tensor_type = 'Tensor', sequence_type = 'Sequence', optional_type = 'Optional' }

function value_of(reader, message, kind)
  if kind == 'Tensor' then return tensors.read(reader, message, reader.path) end
  local list = {}
  if kind == 'Sequence' then
    for i, tensor in ipairs(message.tensor_values) do list[i] = value_of(reader, tensor, 'Tensor') end
    for i, sequence in ipairs(message.sequence_values) do list[i] = value_of(reader, sequence, 'Sequence') end
    return list
  end
  if message.tensor_value then return value_of(reader, message.tensor_value, 'Tensor') end
  if message.sequence_value then return value_of(reader, message.sequence_value, 'Sequence') end
end

local function load_value(path, info)
  local bytes = read(path)
  if not bytes then return nil, false end
  for field, kind in pairs(kinds) do
    if info.type and info.type[field] then
      local reader = wire.of_string(bytes, path)
      return value_of(reader, reader:message(messages[kind], 0, #bytes), kind), true
    end
  end
  error(path .. ': ' .. 'a value of a kind ' .. OTHER)
end

local function compare(got, wanted, rtol, atol, what, case)
  if type(wanted) == 'table' then
    if type(got) ~= 'table' or #got ~= #wanted then error(('%s: not a sequence of %d'):format(what, #wanted)) end
    for i = 1, #wanted do compare(got[i], wanted[i], rtol, atol, ('%s, entry %d'):format(what, i), case) end
    return
  end
  if wanted == nil and got == nil then return end
  if not torch.is_tensor(got) then error(('%s is a %s'):format(what, torch.type(got))) end
  if got.dtype ~= wanted.dtype then error(('%s is of %s, not %s'):format(what, tostring(got.dtype), tostring(wanted.dtype))) end
  if table.concat(got.shape, ',') ~= table.concat(wanted.shape, ',') then
    error(('%s has the shape [%s], not [%s]'):format(what, table.concat(got.shape, ','), table.concat(wanted.shape, ',')))
  end
  if case.draws then return end
  if wanted.dtype == torch.bfloat16 then rtol = math.max(rtol, 2 ^ -6) end
  local a, b = got:detach():to(torch.float64), wanted:to(torch.float64)
  if case.adds_up then atol = math.max(atol, torch.finfo(wanted.dtype).eps * b:abs():max():item()) end
  if not torch.allclose(a, b, { rtol = rtol, atol = atol, equal_nan = true }) then
    local difference = (a - b):abs()
    error(('%s differs by up to %g'):format(what, difference:max():item()))
  end
end

-- What a transform adds up to zero has, in the cases' own results too, the rounding of its largest elements.
local function adds_up(operators) return operators:find 'DFT' ~= nil end

-- Of operators that draw, values are not compared.
local function draws(name, operators)
  return operators:find 'Bernoulli' or operators:find 'RandomUniform' or name:find 'training_dropout' and not name:find 'zero_ratio'
end

local function run_case(path, case)
  local rtol, atol = read(path .. '/tolerance'):match '^(%S+) (%S+)'
  local model = torch.onnx.load(path .. '/model.onnx')
  local set = 0
  while true do
    local where = ('%s/test_data_set_%d/'):format(path, set)
    if not read(where .. 'output_0.pb') then break end
    local inputs, wanted = {}, {}
    for i, input in ipairs(model.inputs) do inputs[i] = load_value(('%sinput_%d.pb'):format(where, i - 1), input) end
    for i, output in ipairs(model.outputs) do wanted[i] = { load_value(('%soutput_%d.pb'):format(where, i - 1), output) } end
    local got = table.pack(model(table.unpack(inputs, 1, #model.inputs)))
    for i, output in ipairs(model.outputs) do
      if wanted[i][2] then compare(got[i], wanted[i][1], tonumber(rtol), tonumber(atol), ("output '%s'"):format(output.name), case) end
    end
    set = set + 1
  end
end

local passed, failed, apart = {}, {}, {}
local function count(list, kind) list[kind] = (list[kind] or 0) + 1 end

for line in io.lines(folder .. '/operators') do
  local name, operators = line:match '^(%S+) ?(.*)$'
  if name:find(pattern, 1, true) then
    local kind = name:match '^[^/]*'
    local ok, message = pcall(run_case, folder .. '/' .. name, { draws = draws(name, operators), adds_up = adds_up(operators) })
    message = tostring(message)
    if ok then count(passed, kind)
    elseif message:find(OTHER, 1, true) then count(apart, kind)
    else
      count(failed, kind)
      print(('%s: %s'):format(name, message:gsub(folder, ''):gsub('%s+', ' ')))
    end
  end
end

local total_passed, total_failed = 0, 0
for _, kind in ipairs { 'node', 'simple', 'pytorch-converted', 'pytorch-operator', 'light' } do
  local p, f, a = passed[kind] or 0, failed[kind] or 0, apart[kind] or 0
  print(('%-18s %4d passed  %3d failed  %3d of other types'):format(kind, p, f, a))
  total_passed, total_failed = total_passed + p, total_failed + f
end
print(('%.1f%% of %d'):format(100 * total_passed / math.max(total_passed + total_failed, 1), total_passed + total_failed))
os.exit(total_failed * 100 <= total_passed + total_failed and 0 or 1)
