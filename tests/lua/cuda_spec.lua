-- torch.cuda with whatever number of GPUs there is: what must hold without one, with one, with two.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local cuda = torch.cuda
local count = cuda.device_count()

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

-- Defines the test when there are at least n GPUs.
local function with_gpus(n, title, test)
  if count >= n then it(title, test) end
end

describe('torch.cuda', function()
  it('counts devices without raising', function()
    assert.equal('integer', math.type(count))
    assert.equal(count > 0, cuda.is_available())
    assert.equal('boolean', type(cuda.is_simulated()))
  end)

  it('has statistics and seeds with any number of GPUs', function()
    cuda.manual_seed(1)
    cuda.manual_seed_all(1)
    cuda.empty_cache()
    assert.is_true(cuda.memory_allocated() >= 0)
    assert.is_true(cuda.max_memory_reserved() >= cuda.memory_reserved())
    assert.equal(cuda.memory_reserved(), cuda.memory_cached())
    assert.truthy(cuda.memory_summary():find('reserved', 1, true))
  end)

  it('keeps and restores the state of every generator', function()
    local states = cuda.get_rng_state_all()
    assert.equal(count, #states)
    local drawn = {}
    for device = 0, count - 1 do drawn[device] = torch.rand(3, {device = device}) end
    cuda.set_rng_state_all(states)
    for device = 0, count - 1 do assert.is_true(torch.rand(3, {device = device}):equal(drawn[device])) end
    if count == 0 then return end
    assert.equal(cuda.seed_all(), cuda.initial_seed())
    assert.is_true(torch.equal(cuda.get_rng_state(0), cuda.get_rng_state(count - 1)))
    assert.truthy(failure(cuda.set_rng_state, torch.ones(3)):find('ByteTensor', 1, true))
    assert.truthy(failure(cuda.set_rng_state, torch.ones(3):byte()):find('wrong size', 1, true))
  end)

  it('guards that change nothing need no GPU', function()
    assert.equal(7, cuda.device(nil, function(x) return x end, 7))
    assert.equal(7, cuda.device(-1, function() return 7 end))
    assert.equal(7, cuda.device_of(torch.ones(1), function() return 7 end))
    assert.equal(7, cuda.stream(nil, function() return 7 end))
    do local _ <close> = cuda.device(nil) end
  end)

  it('refuses devices that do not exist', function()
    failure(cuda.set_device, count)
    failure(cuda.device, count)
    failure(cuda.get_device_properties, 'cuda:' .. count)
    failure(cuda.synchronize, 'cuda: 0')
    assert.truthy(failure(cuda.set_device, {}):find("missing 1 required argument: 'device' (a device)", 1, true))
  end)

  it('switches sync_debug_mode', function()
    for mode, name in ipairs { 'warn', 'error' } do
      cuda.set_sync_debug_mode(name)
      assert.equal(mode, cuda.get_sync_debug_mode())
    end
    cuda.set_sync_debug_mode(0)
    assert.equal(0, cuda.get_sync_debug_mode())
    assert.truthy(failure(cuda.set_sync_debug_mode, 'loud'):find('expected one of `default`', 1, true))
    failure(cuda.set_sync_debug_mode, 3)
  end)

  it('shows an empty ledger', function()
    cuda.reset_copies()
    local copies = cuda.copies()
    assert.same({ 0, 0, 0 }, { #copies, copies.count, copies.bytes })
    assert.truthy(tostring(copies):find 'total')
    torch.ones(2):sum():item()
    assert.equal(0, cuda.copies('item').count)
  end)
end)

if count == 0 then
  describe('torch.cuda without a GPU', function()
    it('an operation that needs a GPU is an error with the remedy', function()
      for _, name in ipairs {
        'current_device', 'synchronize', 'Stream', 'Event', 'current_stream', 'default_stream', 'mem_get_info',
        'get_device_name', 'get_device_capability', 'reset_peak_memory_stats',
      } do
        assert.truthy(failure(cuda[name]):find('no CUDA GPUs are available: ', 1, true), name)
      end
      assert.truthy(failure(cuda.device, 0):find('no CUDA GPUs are available', 1, true))
      if not os.getenv 'LTENSOR_DISABLE_CUDA' then
        local x = torch.ones(1)
        assert.truthy(failure(x.cuda, x):find('to simulate N GPUs, start ltensor with --sim-gpus N or set LTENSOR_SIM_GPUS=N', 1, true))
      end
      assert.truthy(failure(torch.Generator, 'cuda'):find('no CUDA GPUs are available', 1, true))
    end)
  end)
end

describe('the current device', function()
  before_each(function() if count > 0 then cuda.set_device(0) end end)

  with_gpus(1, 'is the same for both arguments of cdist', function()
    for _, rows in ipairs { 3, 30 } do
      assert.truthy(failure(torch.cdist, torch.ones(rows, 2), torch.ones(rows, 2, { device = 'cuda' })):find(
        'at least two devices, cpu and cuda:0! (when checking the arguments of cdist)', 1, true))
    end
  end)

  with_gpus(1, 'takes numbers, names and devices', function()
    for _, d in ipairs { 0, 'cuda:0', torch.device 'cuda:0', torch.device 'cuda' } do
      cuda.set_device(d)
      assert.equal(0, cuda.current_device())
    end
    cuda.set_device(-1)
    assert.truthy(failure(cuda.set_device, 'cpu'):find('Expected a cuda device, but got: cpu', 1, true))
  end)

  with_gpus(2, 'is restored by the guard', function()
    do
      local _ <close> = cuda.device(1)
      assert.equal(1, cuda.current_device())
      assert.equal(torch.device 'cuda:1', torch.ones(1, { device = 'cuda' }).device)
      do
        local _ <close> = cuda.device 'cuda:0'
        assert.equal(0, cuda.current_device())
      end
      assert.equal(1, cuda.current_device())
    end
    assert.equal(0, cuda.current_device())
  end)

  with_gpus(2, 'is restored by the function form, also after an error', function()
    local a, b = cuda.device(1, function(...) return cuda.current_device(), ... end, 'x')
    assert.same({ 1, 'x' }, { a, b })
    assert.equal(0, cuda.current_device())
    local ok, message = pcall(cuda.device, torch.device 'cuda:1', function() error('stop', 0) end)
    assert.same({ false, 'stop' }, { ok, message })
    assert.equal(0, cuda.current_device())
  end)

  with_gpus(2, 'follows a tensor', function()
    local x = torch.ones(1, { device = 'cuda:1' })
    assert.equal(1, cuda.device_of(x, cuda.current_device))
    assert.equal(0, cuda.current_device())
    assert.equal('boolean', type(cuda.can_device_access_peer(0, 1)))
  end)
end)

describe('properties of a GPU', function()
  with_gpus(1, 'are numbers and a name', function()
    local p = cuda.get_device_properties(0)
    assert.equal(p.name, cuda.get_device_name(0))
    assert.equal(p.name, cuda.get_device_name())
    local major, minor = cuda.get_device_capability('cuda:0')
    assert.same({ p.major, p.minor }, { major, minor })
    assert.equal(cuda.is_simulated(), p.name:find 'Simulated GPU' ~= nil)
    local text = ("_CudaDeviceProperties(name='%s', major=%d, minor=%d, total_memory=%dMB, multi_processor_count=%d)")
      :format(p.name, p.major, p.minor, p.total_memory >> 20, p.multi_processor_count)
    assert.equal(text, tostring(p))
    local free, total = cuda.mem_get_info(0)
    assert.is_true(free > 0 and free <= total)
  end)
end)

describe('memory of a GPU', function()
  with_gpus(1, 'is counted and given back', function()
    collectgarbage()
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    local base = cuda.memory_allocated(0)
    local t = torch.empty(1024, 1024, { device = 'cuda:0' })
    assert.equal(4 << 20, cuda.memory_allocated(0) - base)
    assert.is_true(cuda.memory_reserved(0) >= cuda.memory_allocated(0))
    assert.equal('cuda:0', tostring(t.device))
    t = nil
    collectgarbage()
    assert.equal(0, cuda.memory_allocated(0) - base)
    assert.equal(4 << 20, cuda.max_memory_allocated(0) - base)
    local kept = cuda.memory_reserved(0)
    cuda.empty_cache()
    assert.is_true(cuda.memory_reserved(0) < kept)
    cuda.reset_peak_memory_stats(0)
    assert.equal(cuda.memory_allocated(0), cuda.max_memory_allocated(0))
    local stats = cuda.memory_stats(0)
    assert.equal(stats['allocation.all.current'], stats['allocation.all.allocated'] - stats['allocation.all.freed'])
  end)

  with_gpus(1, 'has a limit that is a fraction', function()
    failure(cuda.set_per_process_memory_fraction, 1.5)
    cuda.set_per_process_memory_fraction(1.0)
    assert.truthy(failure(torch.empty, 1 << 50, { device = 'cuda:0' }):find('CUDA out of memory', 1, true))
    assert.equal(2, torch.ones(2, { device = 'cuda:0' }):sum():item())
  end)
end)

describe('streams', function()
  with_gpus(1, 'are values with a device and a handle', function()
    local s = cuda.Stream()
    assert.equal('userdata', type(s))
    assert.equal('Stream', torch.type(s))
    assert.equal(torch.device('cuda', cuda.current_device()), s.device)
    assert.equal(('<torch.cuda.Stream device=cuda:0 cuda_stream=0x%x>'):format(s.cuda_stream), tostring(s))
    assert.equal(cuda.default_stream(), cuda.current_stream())
    assert.not_equal(s, cuda.default_stream())
    assert.equal(0, cuda.default_stream(0).cuda_stream)
    assert.equal('cuda:0', tostring(cuda.Stream { device = 'cuda:0', priority = -1 }.device))
    assert.truthy(failure(cuda.Stream, { devise = 0 }):find("unexpected keyword argument 'devise'", 1, true))
  end)

  with_gpus(1, 'are current inside the guard only', function()
    local s = cuda.Stream()
    local a = torch.ones(64, 64, { device = 'cuda:0' })
    s:wait_stream(cuda.current_stream())
    local sum
    do
      local _ <close> = cuda.stream(s)
      assert.equal(s, cuda.current_stream())
      sum = a:sum()
      a:record_stream(s)
    end
    assert.equal(cuda.default_stream(), cuda.current_stream())
    cuda.current_stream():wait_stream(s)
    assert.equal(4096, sum:item())
    s:synchronize()
    assert.is_true(s:query())
    assert.equal(s, cuda.stream(s, cuda.current_stream))
    pcall(cuda.stream, s, error)
    assert.equal(cuda.default_stream(), cuda.current_stream())
    failure(function() torch.ones(1):record_stream(s) end)
  end)

  with_gpus(1, 'stay alive while they are current', function()
    local handle
    do
      local s = cuda.Stream()
      handle = s.cuda_stream
      cuda.set_stream(s)
    end
    collectgarbage()
    collectgarbage()
    assert.equal(handle, cuda.current_stream().cuda_stream)
    cuda.set_stream(cuda.default_stream())
    collectgarbage()
    assert.equal(0, cuda.current_stream().cuda_stream)
  end)

  with_gpus(2, 'bring their device with them', function()
    local s = cuda.Stream { device = 1 }
    cuda.stream(s, function()
      assert.equal(1, cuda.current_device())
      assert.equal(s, cuda.current_stream())
      assert.equal(cuda.default_stream(0), cuda.current_stream(0))
    end)
    assert.equal(0, cuda.current_device())
    assert.equal(cuda.default_stream(1), cuda.current_stream(1))
    failure(function() torch.ones(1, { device = 'cuda:0' }):record_stream(s) end)
  end)
end)

describe('events', function()
  with_gpus(1, 'measure and order', function()
    local start, stop = cuda.Event { enable_timing = true }, cuda.Event { enable_timing = true, blocking = true }
    assert.equal('<torch.cuda.Event uninitialized>', tostring(start))
    assert.is_true(start:query())
    start:synchronize()
    start:wait()
    assert.truthy(failure(start.elapsed_time, start, stop):find('must be recorded', 1, true))
    local a = torch.ones(128, 128, { device = 'cuda:0' })
    start:record()
    a:mm(a)
    stop:record(cuda.current_stream())
    stop:synchronize()
    assert.is_true(stop:query())
    assert.is_true(start:elapsed_time(stop) > 0)
    assert.equal(torch.device 'cuda:0', stop.device)
    local s = cuda.Stream()
    local e = s:record_event()
    assert.truthy(failure(e.elapsed_time, e, stop):find('enable_timing', 1, true))
    assert.is_true(rawequal(e, s:record_event(e)))
    s:wait_event(stop)
    e:wait(s)
    s:synchronize()
    assert.truthy(failure(cuda.Event, { timing = true }):find("unexpected keyword argument 'timing'", 1, true))
    assert.truthy(failure(cuda.Event, { enable_timing = 1 }):find("'enable_timing' must be true or false, not a number", 1, true))
  end)

  with_gpus(2, 'belong to the device that recorded them first', function()
    local e = cuda.Stream { device = 1 }:record_event()
    assert.equal(torch.device 'cuda:1', e.device)
    assert.truthy(failure(e.record, e, cuda.default_stream(0)):find('does not match', 1, true))
  end)
end)

describe('the ledger of copies', function()
  before_each(function()
    cuda.show_copies(false)
    cuda.reset_copies()
  end)
  after_each(function() cuda.show_copies(true) end)

  with_gpus(1, 'counts causes and says where', function()
    local x = torch.ones(2, 3, { device = 'cuda:0' })
    cuda.reset_copies()
    for _ = 1, 3 do x:sum():item() end
    x:tolist()
    x:cpu()
    assert.same({ 3, 12 }, { cuda.copies('item').count, cuda.copies('item').bytes })
    local entry = cuda.copies('item')[1]
    assert.equal(torch.device 'cuda:0', entry.from)
    assert.equal(torch.device 'cpu', entry.to)
    assert.is_true(entry.implicit)
    assert.truthy(entry.origin:find('cuda_spec.lua:%d+$'))
    assert.is_true(entry.seconds >= 0)
    assert.equal(24, cuda.copies('tolist').bytes)
    assert.is_false(cuda.copies('to')[1].implicit)
    assert.equal(5, cuda.copies().count)
    assert.truthy(tostring(cuda.copies()):find('cuda:0 -> cpu', 1, true))
  end)

  with_gpus(1, 'refuses hidden waits when asked to', function()
    local x = torch.ones(1, { device = 'cuda:0' })
    cuda.set_sync_debug_mode 'error'
    local message = failure(x.item, x)
    cuda.set_sync_debug_mode 'default'
    assert.truthy(message:find('called a synchronizing CUDA operation', 1, true))
    assert.equal(1, x:item())
  end)

  it('notes a line once and sums it at the end', function()
    local code = "local x = torch.ones(2, {device = 'cuda'})\nfor i = 1, 3 do local _ = x[1]:item() end\n"
    local _, errors, status = process.lua(code, '--sim-gpus 1')
    assert.equal(0, status)
    local lines = {}
    for line in errors:gmatch '[^\n]+' do lines[#lines + 1] = line end
    assert.equal(2, #lines, errors)
    assert.truthy(lines[1]:find '^%[copy%] cuda:0 %-> cpu  4 B  item  .*:2$', lines[1])
    assert.truthy(lines[2]:find '^%[copy%] .*:2 item  3 times  12 B  .* waiting$', lines[2])
    _, errors = process.lua('torch.cuda.show_copies(false)\n' .. code, '--sim-gpus 1')
    assert.equal('', errors)
    _, errors = process.lua(code, '--no-copies --sim-gpus 1')
    assert.equal('', errors)
  end)
end)

describe('simulated GPUs', function()
  it('do not keep a program that ends while a kernel goes on #again', function()
    local _, errors, status = process.lua([[
      local y = torch.ones({ 5, 1 }, { device = 'cuda' }):expand(5, 2 ^ 40 | 0):norm(2, 2)
      local soon = torch.time() + 0.5
      while torch.time() < soon do end
      os.exit(3, true)]], '--no-copies --sim-gpus 1')
    assert.equal(3, status, errors)
  end)

  it('--sim-gpus n simulates n GPUs', function()
    local real = cuda.is_available() and not cuda.is_simulated() -- which is there where none is simulated
    for n = real and 1 or 0, 3 do
      local output = process.lua('print(torch.cuda.device_count(), torch.cuda.is_simulated())', '--sim-gpus ' .. n)
      assert.equal(('%d\t%s\n'):format(n, n > 0), output)
    end
  end)

  it('are out of reach when CUDA is disabled', function()
    local output = process.lua('print(torch.cuda.is_available(), pcall(torch.cuda.current_device))', '--disable-cuda')
    assert.truthy(output:find('false\tfalse\t.*disabled'), output)
  end)
end)
