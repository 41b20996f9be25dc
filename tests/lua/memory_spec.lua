-- A loop that makes temporaries runs in bounded memory without one call to collectgarbage: each case
-- runs in a fresh process, which reports its peak resident memory (VmHWM).

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local LIMIT_MB = 300

local REPORT = [[

for line in io.lines '/proc/self/status' do
  local kilobytes = line:match '^VmHWM:%s*(%d+)'
  if kilobytes then print(kilobytes) end
end
]]

-- A plain interpreter whose collector is in incremental mode, as in a new state of a host.
local PLAIN = ("LUA_CPATH=%s/?.so lua%s -e " ..
  "\"if _VERSION ~= 'Lua 5.3' then collectgarbage 'incremental' end torch = require 'torch' nn = torch.nn\""):format(os.getenv 'LTENSOR_BUILD' or 'build',
  _VERSION:match '%d.%d')

-- A tarball has the program alone, without the module.
local has_module = io.open((os.getenv 'LTENSOR_BUILD' or 'build') .. '/torch.so') ~= nil

local function peak_megabytes(output, message, status)
  assert(status == 0, message)
  return assert(tonumber(output), 'no peak in: ' .. output .. message) / 1024
end

local function run_plain(code)
  local path = os.tmpname()
  local file = assert(io.open(path, 'w'))
  file:write(code)
  file:close()
  local output, message, status = process.run(PLAIN .. ' ' .. path)
  os.remove(path)
  return output, message, status
end

local function bounded(title, code, options, limit)
  limit = limit or LIMIT_MB
  it(title, function()
    local peak = peak_megabytes(process.lua(code .. REPORT, options))
    assert.is_true(peak < limit, ('peak of %.0f MB'):format(peak))
  end)
  if options or not has_module then return end
  it(title .. ' in incremental mode #plain #again', function()
    local peak = peak_megabytes(run_plain(code .. REPORT))
    assert.is_true(peak < limit, ('peak of %.0f MB'):format(peak))
  end)
end

-- The loss of a linear layer; the graph of a step is garbage when the next one starts.
local TRAINING = [[
local device = '%s'
torch.manual_seed(1)
local net = nn.Sequential(nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10)):to(device)
local optimizer = torch.optim.SGD(net:parameters(), {lr = 0.1})
local x = torch.rand(64, 1000, {device = device})
local y = torch.randint(1, 11, {64}, {device = device})
for step = 1, %d do
  local loss = nn.functional.cross_entropy(net(x), y)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
end
]]

describe('peak resident memory #rss #cpu', function()
  bounded('of large temporaries',
    'for i = 1, 20000 do local t = torch.ones(1000, 1000) end')

  bounded('of large temporaries on a simulated GPU',
    'for i = 1, 2000 do local t = torch.ones(1000, 1000, {device = "cuda"}) end', '--sim-gpus 1')

  bounded('of small temporaries',
    'local a = torch.rand(2, 3) for i = 1, 1000000 do local b = a + a end')

  it('of saving 50,000 tiny tensors is a small multiple of the file #lua54 #again', function()
    for suffix, most in pairs { ['.pt'] = 4, ['.npz'] = 4 } do
      local path = os.tmpname() .. suffix
      local code = ([[
        local tensors = {}
        for i = 1, 50000 do tensors['tensor' .. i] = torch.ones(2) end
        collectgarbage()
        %s
        io.write ' '
        torch.save(tensors, '%s')
      ]]):format(REPORT, path)
      local output, message, status = process.lua(code .. REPORT)
      assert(status == 0, message)
      local before, after = output:match '(%d+)%s+(%d+)'
      local file <close> = assert(io.open(path))
      local ratio = (after - before) * 1024 / file:seek 'end'
      os.remove(path)
      assert.is_true(ratio < most, ('%s: %.1f times the file'):format(suffix, ratio))
    end
  end)

  -- A full collection leaves the boxes that it finds dead to the next one: they must not make Lua wait for a heap of twice the size each time.
  bounded('of small temporaries with calls of collectgarbage()', [[
    local a = torch.rand(2, 3)
    for i = 1, 3000000 do
      local b = a + a
      if i % 500000 == 0 then collectgarbage() end
    end
  ]], nil, 100)

  bounded('of results that are kept for a while', [[
    local list = {}
    for i = 1, 20000 do list[i % 64 + 1] = torch.ones(64, 256) end
  ]], nil, 100)

  it('has few blocks where each value is read by the next ops #lua54', function()
    local output = process.lua [[
      local a, blocks, n = torch.rand(512, 512), {}, 0
      local function note(t)
        local at = t:data_ptr()
        if not blocks[at] then n, blocks[at] = n + 1, true end
        return t
      end
      for i = 1, 100 do
        local x = note(-a)
        for k = 1, 9 do x = note(x + note(a * k)) end
      end
      print(n)
    ]]
    assert.is_true(tonumber(output) < 24, output)
  end)

  bounded('of a value replaced by a new one', [[
    local x = torch.zeros(500, 500)
    for i = 1, 3000 do x = x * 0.5 + 1 end
  ]])

  bounded('of views that outlive their bases', [[
    local last
    for i = 1, 3000 do last = torch.ones(500, 500)[1] end
  ]])

  bounded('of temporaries in tables and closures that form cycles', [[
    for i = 1, 1000 do
      local t = {tensor = torch.ones(500, 500)}
      t.self = t
      t.get = function() return t.tensor end
    end
  ]])

  bounded('of a training loop', TRAINING:format('cpu', 300))
  bounded('of a training loop on a simulated GPU', TRAINING:format('cuda', 30), '--sim-gpus 1')

  bounded('of graphs that are never walked back', [[
    local w = torch.ones(500, 500, {requires_grad = true})
    for i = 1, 2000 do local loss = (w * w):sum() end
  ]])

  bounded('of hooks and graphs that refer to each other', [[
    local w = torch.ones(500, 500, {requires_grad = true})
    for i = 1, 500 do
      local y = w * 2
      y:register_hook(function(grad) return grad + y:detach() * 0 end)
      y:sum():backward()
      w.grad = nil
    end
  ]])
end)

-- The operands hold 16 MiB, and each round 16 MiB until minor collections no longer free them. A minor collection comes every 4 MiB.
describe('the most that tensors hold #cpu', function()
  it('the peak memory of tensors is at most twice the live memory, also after they grew old #again', function()
    local output, message, status = process.lua [[
      local a, b = torch.randn(512, 4096), torch.randn(4096, 512)
      for round = 1, 20 do
        local list = {}
        for i = 1, 16 do list[i] = a:mm(b) end
      end
      print(torch._C.memory_peak())
      a, b = nil
      collectgarbage()
      local left = torch._C.memory_live()
      assert(torch._C.memory_peak() >= left and torch._C.memory_peak() == left)
    ]]
    assert.equal(0, status, message)
    assert.is_true(tonumber(output) < 68 << 20, output)
  end)
end)

describe("the collector's mode #cpu #lua54", function()
  it('is generational in the program', function()
    assert.equal('generational\n', (process.lua 'print(collectgarbage "incremental")'))
  end)

  if has_module then
    it('require does not change the collector\'s mode in a plain interpreter #plain #native', function()
      assert.equal('incremental\n', (run_plain 'print(collectgarbage "generational")'))
    end)
  end
end)
