-- model.lua - runs a .pt2 or ONNX model for beside.py: loads it, then for each line "n" on its input runs it n times and prints the
-- milliseconds of each, by the clock and of processor time; at the end of the input it prints the growth of the largest memory in MB
-- after loading, and this memory. The first line has the milliseconds of loading.
--
--   ltensor model.lua MODEL THREADS INPUTS.npz

local path, threads, input = arg[1], math.tointeger(tonumber(arg[2])), torch.load(arg[3]).x
torch.set_num_threads(threads)
torch.set_grad_enabled(false)
local seconds = torch.time
local start = seconds()
local model = (path:find '%.onnx$' and torch.onnx.load or torch.export.load)(path)

local function memory(field)
  for line in io.lines '/proc/self/status' do
    local kilobytes = line:match('^' .. field .. ':%s*(%d+)')
    if kilobytes then return kilobytes / 1024 end
  end
end

print((seconds() - start) * 1e3)
local loaded = memory 'VmRSS'
io.stdout:flush()
for line in io.lines() do
  local times = {}
  for i = 1, math.tointeger(tonumber(line)) do
    local busy = os.clock()
    start = seconds()
    model(input)
    times[i] = ('%.4f,%.4f'):format((seconds() - start) * 1e3, (os.clock() - busy) * 1e3)
  end
  print(table.concat(times, ' '))
  io.stdout:flush()
end
print(('%.1f (%.0f)'):format(memory 'VmHWM' - loaded, memory 'VmHWM'))
