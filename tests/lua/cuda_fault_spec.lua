-- Every call of the CUDA runtime that a training step makes, or a sample of them, fails once (LTENSOR_CUDA_FAULT=n, n = 1, 2, ...): the
-- step ends with a Lua error or succeeds, and the same process does it right the next time. Each n has a process of
-- its own, on simulated GPUs; under AddressSanitizer it also fails when something leaks.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local sample = require 'support.sample'

-- Transfers of all kinds, streams, events, a model, the vendor's libraries, its loss, its derivatives, an optimizer, sums, positions, random
-- numbers, printing, memory. The script prints how the first try ended, then the second.
local SCRIPT = [[
local function step()
  torch.manual_seed(1)
  local device = torch.device 'cuda'
  local net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)):to(device)
  local words = nn.Embedding(5, 4):to(device)
  local optimizer = torch.optim.SGD(net:parameters(), {lr = 0.1, momentum = 0.9})
  local s = torch.cuda.Stream()
  local start, stop = torch.cuda.Event{enable_timing = true}, torch.cuda.Event{enable_timing = true}
  local ids = torch.tensor({1, 2, 5}):pin_memory():to{device = device, non_blocking = true}
  local target = torch.tensor({1, 3, 2}):to(device)
  start:record()
  s:wait_stream(torch.cuda.current_stream())
  ids:record_stream(s)
  words.weight:record_stream(s)
  local x = torch.cuda.stream(s, function() return words(ids) * 2 end)
  torch.cuda.current_stream():wait_stream(s)
  x:record_stream(torch.cuda.current_stream())
  local loss = nn.CrossEntropyLoss()(net(x), target)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  stop:record()
  stop:synchronize()
  local time = start:elapsed_time(stop)
  local noise = torch.randn(4, 4, {device = device}):cumsum(1)
  local sums = noise[noise:gt(0)]:sum():item() + noise:max(1):sum():item()
  nn.Conv2d(1, 2, 3):to(device)(torch.ones(1, 1, 4, 4, {device = device})):sum():backward()
  sums = sums + torch.linalg.svdvals(torch.linalg.inv(2 * torch.eye(3, {device = device}))):sum():item()
  local text = tostring(loss)
  if torch.cuda.device_count() > 1 then sums = sums + x:to('cuda:1'):sum():item() end
  torch.cuda.synchronize()
  torch.cuda.empty_cache()
  return ('%.6f'):format(loss:item())
end
local ok, result = pcall(step)
collectgarbage()
print(ok and 'done' or 'failed', (tostring(result):gsub('%s+', ' ')))
if os.getenv 'LTENSOR_SIM_REPORT' then return end
ok, result = pcall(step)
print(ok and 'done' or torch.ones(3):sum():item() == 3 and 'without CUDA', (tostring(result):gsub('%s+', ' ')))
]]

describe('a training step #again #cpu', function()
  local script, command, right, calls

  setup(function()
    script = os.tmpname()
    local file = assert(io.open(script, 'w'))
    file:write(SCRIPT)
    file:close()
    command = ('%s --no-copies --sim-gpus 2 %s'):format(process.quote(process.ltensor), script)
    local output, errors, status = process.run('LTENSOR_SIM_REPORT=1 ' .. command)
    assert.equal(0, status, errors)
    right = assert(output:match '^done\t(%S+)\n$', output)
    calls = assert(tonumber(errors:match '(%d+) runtime calls'), errors)
  end)
  teardown(function() os.remove(script) end)

  it('survives the failure of any call of the runtime', function()
    assert.is_true(calls > 200)
    local numbers, halves = {}, { {}, {} }
    for n = 1, calls do numbers[n] = n end
    numbers = sample(numbers)
    for i, n in ipairs(numbers) do table.insert(halves[i % 2 + 1], n) end
    -- Two at a time; each writes one line: n, the first try, the second, the exit status.
    local output, errors = process.run(([[
walk() {
  for n in $1; do
    out=$(LTENSOR_CUDA_FAULT=$n timeout 60 %s 2>&1); status=$?
    printf '%%s\t%%s\t%%s\n' $n "$(echo "$out" | tr '\n' '\t')" $status
  done
}
walk '%s' & walk '%s'
wait]]):format(command, table.concat(halves[1], ' '), table.concat(halves[2], ' ')))
    local seen, failed = 0, 0
    for line in output:gmatch '[^\n]+' do
      local n, first, message, second, value, status = line:match '^(%d+)\t(%a+)\t([^\t]*)\t([%a ]+)\t([^\t]*)\t+(%d+)$'
      assert(n, line)
      seen = seen + 1
      if first == 'failed' then
        failed = failed + 1
        assert(message:find 'CUDA error' or message:find 'CUDA GPUs' or message:find 'out of memory', line)
      else
        assert.equal(right, message, line)
      end
      -- What the backend's own start needs is asked for once; the CPU goes on without it. The last calls are those
      -- of the end of the process: in one that goes on, the second try makes them.
      if tonumber(n) > 1 and first == 'failed' then
        assert.equal('done', second, line)
        assert.equal(right, value, line)
      end
      assert.equal('0', status, line)
    end
    assert.equal(#numbers, seen, errors)
    assert.is_true(failed > #numbers // 2)
  end)
end)
