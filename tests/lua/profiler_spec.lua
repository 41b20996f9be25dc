-- torch.profiler and torch.utils.benchmark: what they record and print. Times are only checked for order.

local torch = require 'torch'
local profiler = torch.profiler
local nn = torch.nn

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local on_gpu = device:find 'cuda' ~= nil

local function row_of(averages, key, kind)
  for _, row in ipairs(averages) do
    if row.key == key and (not kind or row.kind == kind) then return row end
  end
  error('no row ' .. key)
end

describe('the profiler', function()
  it('counts ops, forwards and backwards, with their time and memory', function()
    local net = nn.Linear(64, 32):to(device)
    local x = torch.rand(512, 64, { device = device })
    local prof, result = profiler.profile(function()
      for _ = 1, 3 do net(x):sum():backward() end
      return 'done'
    end)
    assert.equal('done', result)
    local averages = prof:key_averages()
    assert.equal(3, row_of(averages, 'linear').count)
    assert.equal(3, row_of(averages, 'sum', 'op').count)
    assert.equal(3, row_of(averages, 'SumBackward0', 'backward').count)
    local row = row_of(averages, 'linear')
    assert(row.cpu_time_total > 0 and row.self_cpu_time_total <= row.cpu_time_total)
    assert(row.memory >= 3 * 512 * 32 * 4, row.memory)
  end)

  it('records a start for each event: in the order of the events, within the parent', function()
    local x = torch.rand(64, 64, { device = device, requires_grad = true })
    local prof = profiler.profile(function()
      profiler.record_function('outer', function() x:mm(x):sum():backward() end)
      return x:exp()
    end)
    local events, before = prof:events(), 0
    assert(#events >= 5, #events)
    for i, event in ipairs(events) do
      assert(i == 1 and event.start >= 0 or event.start > before, ('%d: %s starts at %g after %g'):format(i, event.name, event.start, before))
      before = event.start
      local parent = events[event.parent]
      if parent then assert(event.start + event.time <= parent.start + parent.time + 1e-9, event.name) end
    end
  end)

  it('gives the time on a GPU in seconds, as the others', function()
    if not on_gpu then return end
    local x = torch.rand(200, 200, { device = device })
    local before = os.time()
    local prof = profiler.profile(function()
      for _ = 1, 3 do x:exp():sum():item() end
    end)
    local wall, on_device, began = os.difftime(os.time(), before) + 1, 0, math.huge
    for _, event in ipairs(prof:events()) do
      on_device = on_device + event.device_self
      if event.device_time > 0 then began = math.min(began, event.device_start) end
    end
    assert(on_device > 0 and on_device <= wall, ('%g s on the GPU in %g s'):format(on_device, wall))
    assert(began >= -1e-3 and began <= wall, began)
  end)

  it('prints a table, sorted and cut', function()
    local prof <close> = profiler.profile()
    local x = torch.rand(100, 100, { device = device })
    for _ = 1, 5 do x:exp() end
    x:mm(x)
    local text = prof:key_averages():table { sort_by = 'count', row_limit = 1 }
    assert.truthy(text:find('Self CPU %', 1, true), text)
    assert.truthy(text:find('\nexp .- 5\n'), text)
    assert.falsy(text:find('\nmm ', 1, true), text)
    assert.truthy(text:find('Self CPU time total: ', 1, true))
    assert.equal(on_gpu, text:find('Self CUDA', 1, true) ~= nil)
    if on_gpu and torch.cuda.is_simulated() then assert.truthy(text:find('not stated', 1, true)) end
  end)

  it('profiler events are nested in user spans', function()
    local prof = profiler.profile(function()
      profiler.record_function('outer', function()
        local _ <close> = profiler.record_function 'inner'
        torch.ones(3, { device = device }):add(1)
      end)
      pcall(profiler.record_function, 'broken', function() error 'stop' end)
      torch.ones(1)
    end)
    local events = prof:events()
    assert.equal('outer', events[1].name)
    assert.equal('inner', events[2].name)
    assert.equal(1, events[2].parent)
    assert.equal(2, events[3].parent)
    assert.equal('user', events[1].kind)
    assert(events[1].time >= events[2].time and events[1].self <= events[1].time)
    assert.equal(0, events[#events].parent)
  end)

  it('counts copies between devices', function()
    if not on_gpu then return end
    local prof = profiler.profile(function() torch.ones(256, { device = device }):cpu() end)
    local copies, copied = 0, 0
    for _, row in ipairs(prof:key_averages()) do copies, copied = copies + row.copies, copied + row.copied end
    assert(copies >= 1 and copied >= 1024, copied)
  end)

  it('start() begins anew, also after stop()', function()
    local prof = profiler.profile()
    torch.ones(2):exp()
    prof:start()
    torch.ones(2):sin()
    prof:stop()
    local averages = prof:key_averages()
    assert.equal(1, row_of(averages, 'sin').count)
    assert.error(function() row_of(averages, 'exp') end)
    prof:start()
    torch.ones(2):cos()
    assert.equal(1, row_of(prof:stop():key_averages(), 'cos').count)
    assert.error(function() row_of(prof:key_averages(), 'sin') end)
    assert.is_false(torch._C.profile_on())
  end)

  it('records the CPU and warns if the GPU that it should observe is absent', function()
    if on_gpu then return end
    local pipe = io.popen(("%s -e \"local A = torch.profiler.ProfilerActivity; "
      .. "local p = torch.profiler.profile({activities = {A.CPU, A.CUDA}}, function() torch.ones(2):exp() end) "
      .. "print(#p:events())\" 2>&1"):format(os.getenv 'LTENSOR_BIN' or 'build/ltensor'))
    local text = pipe:read 'a'
    pipe:close()
    assert.equal('warning: CUDA is not available, disabling CUDA profiling\n2\n', text)
  end)

  it('writes a Chrome trace', function()
    local path = os.tmpname()
    profiler.profile(function()
      profiler.record_function('a "quoted" name\n', function() torch.rand(10, { device = device }):exp() end)
    end):export_chrome_trace(path)
    local text = assert(io.open(path)):read 'a'
    os.remove(path)
    assert.truthy(text:find('"traceEvents":[', 1, true))
    assert.truthy(text:find('"ph":"X","cat":"op","name":"exp"', 1, true), text)
    assert.truthy(text:find([[a \"quoted\" name\n]], 1, true), text)
  end)

  it('records nothing when it is off, and one recording at a time', function()
    assert.is_false(torch._C.profile_on())
    profiler.record_function('nothing', function() end)
    local prof <close> = profiler.profile()
    local ok, message = pcall(profiler.profile)
    assert.is_false(ok)
    assert.truthy(message:find('a recording runs already', 1, true))
    prof:stop()
    assert.is_false(torch._C.profile_on())
    assert.equal(0, #prof:events())
    ok, message = pcall(prof.key_averages(prof).table, prof:key_averages(), { sort_by = 'beauty' })
    assert.is_false(ok)
    assert.truthy(message:find("sort_by 'beauty' is none of", 1, true), message)
  end)
end)

describe('benchmark.Timer', function()
  it('times calls one by one', function()
    local calls = 0
    local m = torch.utils.benchmark.Timer({ stmt = function() calls = calls + 1 end, label = 'count' }):timeit(10)
    assert.equal(11, calls)
    assert.equal(10, m.number)
    assert(m.min <= m.median and m.median <= m.max and m.iqr >= 0)
    local text = tostring(m)
    assert.truthy(text:find('^count\n  Median: [%d.]+ [mun]?s\n  IQR:    [%d.]+ [mun]?s %([%d.]+ to [%d.]+%)\n'), text)
    assert.truthy(text:find('10 measurements, 1 run per measurement, %d+ threads?'), text)
  end)

  it('chooses how many calls fill the time', function()
    local x = torch.rand(4, { device = device })
    local began = torch.time()
    local m = torch.utils.benchmark.Timer({ stmt = function() return x + 1 end, num_threads = 1 })
      :blocked_autorange { min_run_time = 0.01 }
    assert(m.number >= 3 and m.number_per_run >= 1)
    assert.equal(1, m.num_threads)
    assert(m.mean * m.number * m.number_per_run <= torch.time() - began) -- the time of a call, not of a block
  end)

  it('benchmark.Timer rejects values that are not functions', function()
    local ok, message = pcall(torch.utils.benchmark.Timer, { stmt = 3 })
    assert.is_false(ok)
    assert.truthy(message:find('stmt must be a function', 1, true))
  end)
end)

describe('a profile with a schedule', function()
  local function run(options, steps)
    local ready = {}
    options.on_trace_ready = function(prof)
      local names = {}
      for _, event in ipairs(prof:events()) do
        if event.name == 'exp' or event.kind == 'user' then names[#names + 1] = event.name end
      end
      ready[#ready + 1] = { prof.step_num, table.concat(names, ' ') }
    end
    local prof = profiler.profile(options)
    for _ = 1, steps do
      torch.rand(3):exp()
      prof:step()
    end
    prof:stop()
    return ready, prof
  end

  it('records the active steps of each cycle, and passes each recording to on_trace_ready', function()
    local ready = run({ schedule = profiler.schedule { wait = 1, warmup = 1, active = 2 } }, 9)
    assert.same({ { 4, 'ProfilerStep#2 exp ProfilerStep#3 exp' }, { 8, 'ProfilerStep#6 exp ProfilerStep#7 exp' } }, ready)
    ready = run({ schedule = profiler.schedule { wait = 0, warmup = 0, active = 1, ['repeat'] = 2, skip_first = 1 } }, 6)
    assert.same({ { 2, 'ProfilerStep#1 exp' }, { 3, 'ProfilerStep#2 exp' } }, ready)
  end)

  it('ends a recording at stop(), and without a schedule records all steps', function()
    assert.same({ { 3, 'ProfilerStep#2 exp ProfilerStep#3' } }, (run({ schedule = profiler.schedule { wait = 1, warmup = 1, active = 5 } }, 3)))
    local ready, prof = run({}, 3)
    assert.same({ { 3, 'exp exp exp' } }, ready)
    assert.equal(3, row_of(prof:key_averages(), 'exp').count)
    assert.error_matches(function() prof:step() end, 'step%(%): the profile has ended')
    assert.is_false(torch._C.profile_on())
  end)

  it('follows the schedules of PyTorch', function()
    local function actions(options, n)
      local f, list = profiler.schedule(options), {}
      for step = 0, n - 1 do list[#list + 1] = f(step) end
      return table.concat(list)
    end
    assert.equal('001230012300', actions({ wait = 2, warmup = 1, active = 2 }, 12))
    assert.equal('0001230123000', actions({ wait = 1, warmup = 1, active = 2, ['repeat'] = 2, skip_first = 2 }, 13))
    assert.equal('00123001', actions({ wait = 2, warmup = 1, active = 2, skip_first = 2, skip_first_wait = 1 }, 8))
    assert.error_matches(function() profiler.schedule { wait = 1, warmup = 1, active = 0 } end, 'Invalid profiler schedule arguments%. Got wait=1')
    assert.error_matches(function() profiler.schedule { wait = 1, warmup = 1 } end, "schedule%(%)")
    assert.error_matches(function() run({ schedule = function(step) return step == 0 and 0 or 'x' end }, 1) end, 'must return a torch.profiler.ProfilerAction, not x')
  end)

  it('is written for TensorBoard, also compressed', function()
    local folder = os.tmpname()
    os.remove(folder)
    for _, gzip in ipairs { false, true } do
      local prof = profiler.profile { on_trace_ready = profiler.tensorboard_trace_handler(folder, 'worker', { use_gzip = gzip }) }
      torch.rand(3):exp()
      prof:stop()
    end
    local names = {}
    for name in io.popen('ls ' .. folder):lines() do names[#names + 1] = name end
    assert.equal(2, #names)
    for _, name in ipairs(names) do
      local text = io.popen(('%s %s/%s'):format(name:find '%.gz$' and 'gunzip -c' or 'cat', folder, name)):read 'a'
      assert.matches('^worker%.%d+%.pt%.trace%.json', name)
      assert.matches('"name":"exp"', text, 1, true)
    end
    os.execute('rm -r ' .. folder)
  end)
end)
