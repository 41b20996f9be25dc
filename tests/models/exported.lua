-- exported.lua - runs the programs of exported.py: FOLDER/1, FOLDER/2, ... each have program.pt2 and
-- inputs.pt. Writes each program's outputs, gradients and buffers to result.npz, or the error to
-- problem.txt; loaded.txt exists if it was loaded. A difference of outputs without gradients is an error.

local folder = arg[1]

-- The operators of networks.py.
local library = torch.library.Library 'ltensor_tests'
library:define 'bump(Tensor(a!) x, float by) -> ()'
library:impl('bump', function(x, by) x:add_(by) end)
library:define 'scaled(Tensor x, float k, int[] dims, float more=0.5) -> (Tensor, Tensor)'
library:impl('scaled', function(x, k, dims, more) return x * k, x + #dims + more end)

local function as_saved(x)
  x = x:detach()
  if x.layout ~= torch.strided then x = x:to_dense() end
  if x.dtype.is_floating_point and x.dtype ~= torch.float64 then x = x:to(torch.float32) end
  return x:contiguous():clone()
end

local function write(path, text)
  local file <close> = assert(io.open(path, 'w'))
  file:write(text)
end

local function loss_of(outputs, weights)
  local loss
  for i, weight in pairs(weights) do
    local output = outputs[i]
    if torch.is_tensor(output) and output.requires_grad then
      local part = (output:to(weight.dtype) * weight):sum()
      loss = loss and loss + part or part
    end
  end
  return loss
end

-- The arguments from tables of the numbers of leaves; 0: nil.
local function nested(tree, leaves)
  if type(tree) == 'number' then return leaves[tree] end
  local value = {}
  for key, part in pairs(tree) do value[key] = nested(part, leaves) end
  return value
end

-- Adds the outputs at the places of their numbers to a list.
local function add_outputs(places, value, outputs)
  if type(places) == 'number' then
    outputs[places] = value
    return
  end
  for key, part in pairs(places) do add_outputs(part, value[key], outputs) end
end

-- The outputs of a call by their places.
local function call(program, job)
  torch.manual_seed(job.seed)
  local args = nested(job.args, job.leaves)
  local n = #job.args
  if next(job.kwargs) ~= nil then
    n = n + 1
    args[n] = nested(job.kwargs, job.leaves)
  end
  local outputs = {}
  add_outputs(job.places, table.pack(program(table.unpack(args, 1, n))), outputs)
  return outputs
end

-- Without gradients, the passes of onnx/optimize.lua apply. The second call uses cached values.
local function check_without_gradients(at)
  local plain, fused = torch.export.load(at .. '/program.pt2'), torch.export.load(at .. '/program.pt2')
  for round = 1, 2 do
    local expected, got = call(plain, torch.load(at .. '/inputs.pt')), torch.no_grad(call, fused, torch.load(at .. '/inputs.pt'))
    for i, output in pairs(expected) do
      local close = not torch.is_tensor(output) or torch.allclose(as_saved(output), as_saved(got[i]), { rtol = 1e-3, atol = 1e-4, equal_nan = true })
      if not close then error(('output %d of call %d differs without gradients'):format(i, round)) end
    end
  end
end

local function run(at)
  local job, saved = torch.load(at .. '/inputs.pt'), {}
  local program = torch.export.load(at .. '/program.pt2')
  write(at .. '/loaded.txt', '')
  for i, leaf in ipairs(job.leaves) do
    if job.gradients[i] then leaf:requires_grad_() end
  end
  local outputs = call(program, job)
  for i, output in pairs(outputs) do
    if torch.is_tensor(output) then saved['output ' .. i] = as_saved(output)
    elseif type(output) == 'boolean' then saved['output ' .. i] = torch.tensor(output)
    elseif type(output) == 'number' then saved['output ' .. i] = torch.tensor(output, { dtype = math.type(output) == 'integer' and torch.int64 or torch.float64 }) end
  end
  local loss = loss_of(outputs, job.weights)
  if loss then (loss.dtype.is_complex and loss.real or loss):backward() end
  for name, parameter in program:named_parameters() do
    if parameter.grad then saved['gradient of ' .. name] = as_saved(parameter.grad) end
  end
  for i, leaf in ipairs(job.leaves) do
    if job.gradients[i] and leaf.grad then saved['gradient of input ' .. i] = as_saved(leaf.grad) end
  end
  for name, buffer in program:named_buffers() do saved['buffer ' .. name] = as_saved(buffer) end
  check_without_gradients(at)
  torch.save(saved, at .. '/result.npz')
end

for i = 1, math.maxinteger do
  local at = ('%s/%d'):format(folder, i)
  local inputs = io.open(at .. '/inputs.pt')
  if not inputs then break end
  inputs:close()
  local ok, message = pcall(run, at)
  if not ok then write(at .. '/problem.txt', tostring(message)) end
  collectgarbage()
end
