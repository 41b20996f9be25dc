-- model.lua - runs an ONNX model for beside.py: loads it, then for each line "n" on its input runs it n times and prints the milliseconds of each;
-- at the end of the input it prints the largest memory in MB. The first line is what loading took.
--
--   ltensor model.lua MODEL.onnx THREADS INPUTS.npz

local path, threads, inputs = arg[1], math.tointeger(tonumber(arg[2])), {}
for name, tensor in pairs(torch.load(arg[3])) do inputs[name] = tensor end
torch.set_num_threads(threads)
torch.set_grad_enabled(false)
local seconds = torch.time
local start = seconds()
local model = torch.onnx.load(path)
print((seconds() - start) * 1e3)
io.stdout:flush()
for line in io.lines() do
  local times = {}
  for i = 1, math.tointeger(tonumber(line)) do
    start = seconds()
    model(inputs)
    times[i] = ('%.4f'):format((seconds() - start) * 1e3)
  end
  print(table.concat(times, ' '))
  io.stdout:flush()
end
for line in io.lines '/proc/self/status' do
  local kilobytes = line:match '^VmHWM:%s*(%d+)'
  if kilobytes then print(kilobytes / 1024) end
end
