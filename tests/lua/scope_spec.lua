-- scope_spec.lua - scopes that are dropped or closed in another order than they were opened, in coroutines for instance.

local torch = require 'torch'

local function dropped(open)
  local co = coroutine.create(function()
    local _ <close> = open()
    coroutine.yield()
  end)
  assert(coroutine.resume(co))
end

local function collected()
  for _ = 1, 3 do collectgarbage() end
end

-- What each scope changes, as a value.
local scopes = {
  { 'no_grad', function() return torch.no_grad() end, torch.is_grad_enabled },
  { 'inference_mode', function() return torch.inference_mode() end, torch.is_grad_enabled },
  { 'detect_anomaly', function() return torch.autograd.detect_anomaly() end, function()
    local mode = torch._C.set_anomaly(false)
    torch._C.set_anomaly(mode)
    return mode
  end },
  { 'autocast', function() return torch.autocast('cpu') end, function() return torch.is_autocast_enabled('cpu') end },
  { 'fork_rng', function()
    local scope = torch.random.fork_rng()
    torch.manual_seed(99)
    return scope
  end, torch.initial_seed },
  { 'saved_tensors_hooks', function()
    return torch.autograd.graph.saved_tensors_hooks(function(x) return x + 1 end, function(x) return x end)
  end, function()
    local x = torch.tensor({ 2.0 }, { requires_grad = true })
    x:square():sum():backward()
    return x.grad:item()
  end },
  { 'dual_level', function() return torch.autograd.forward_ad.dual_level() end, torch._C.dual_depth },
  { 'sdpa_kernel', function()
    return torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
  end, torch.backends.cuda.mem_efficient_sdp_enabled },
  { 'profile', function() return torch.profiler.profile { activities = {} } end, torch._C.profile_on },
}

local gpu_scopes = {
  { 'cuda.stream', function() return torch.cuda.stream(torch.cuda.Stream()) end, function() return torch.cuda.current_stream().cuda_stream end },
  { 'cuda.graph', function() return torch.cuda.graph(torch.cuda.CUDAGraph()) end, torch.cuda.is_current_stream_capturing },
}
if torch.cuda.device_count() > 1 then -- with one GPU there is no other to change to
  table.insert(gpu_scopes, { 'cuda.device', function() return torch.cuda.device(1 - torch.cuda.current_device()) end, torch.cuda.current_device })
end

-- Functions that hold a scope while they call f.
local threads = torch.get_num_threads() > 1 and 1 or 2
local linear = torch.nn.Linear(1, 1)
local around = {
  { 'vmap', function(f) return torch.func.vmap(f)(torch.ones(2)) end, torch._C.batch_depth },
  { 'jvp', function(f) return torch.func.jvp(f, { torch.ones(2) }, { torch.ones(2) }) end, torch._C.dual_depth },
  { 'functional_call', function(f)
    linear.forward = f
    return torch.func.functional_call(linear, { bias = torch.ones(1) }, torch.ones(1))
  end, function() return linear.bias end },
  { 'Timer', function(f) torch.utils.benchmark.Timer({ stmt = f, num_threads = threads }):timeit(1) end, torch.get_num_threads },
}

-- By file: how often it opens a scope (scope.lua), and what of the lists here or of other specs does so.
local OPENS = {
  ['lib/amp.lua'] = { 1, 'autocast' },
  ['lib/autograd.lua'] = { 1, 'no_grad, enable_grad, inference_mode, detect_anomaly' },
  ['lib/autograd/forward_ad.lua'] = { 1, 'dual_level' },
  ['lib/autograd/graph.lua'] = { 1, 'saved_tensors_hooks' },
  ['lib/cuda.lua'] = { 1, 'cuda.device, cuda.stream, cuda.graph' },
  ['lib/distributed/algorithms/join.lua'] = { 1, 'Join' },
  ['lib/func/forward.lua'] = { 1, 'jvp' },
  ['lib/func/modules.lua'] = { 1, 'functional_call' },
  ['lib/func/vmap.lua'] = { 1, 'vmap' },
  ['lib/nn/attention.lua'] = { 1, 'sdpa_kernel' },
  ['lib/nn/distributed_data_parallel.lua'] = { 1, 'no_sync' },
  ['lib/profiler.lua'] = { 2, 'profile, record_function' },
  ['lib/random.lua'] = { 1, 'fork_rng' },
  ['lib/utils/benchmark.lua'] = { 1, 'Timer' },
  ['lib/utils/data/dataloader.lua'] = { 1, 'DataLoader' },
}

-- By file: how often it has a __close of its own, and why that is no scope of scope.lua.
local FILE, FROM_C = 'closes a file or a reader, which is collected as well', 'is called by C code, through which a coroutine cannot yield'
local CLOSES = {
  ['lib/autograd.lua'] = { 1, FROM_C },
  ['lib/autograd/copy_causes.lua'] = { 1, 'operations do not yield' },
  ['lib/autograd/function.lua'] = { 1, FROM_C },
  ['lib/autograd/graph.lua'] = { 1, 'a guard around one of scope.lua' },
  ['lib/autograd/scope.lua'] = { 3, 'scope.lua itself' },
  ['lib/d2l/performance.lua'] = { 1, 'prints a time' },
  ['lib/export/write/program.lua'] = { 1, 'the module that is recorded must not yield' },
  ['lib/files/zip.lua'] = { 2, FILE },
  ['lib/lua53/scope.lua'] = { 1, 'calls the __close of others' },
  ['lib/onnx/export.lua'] = { 1, 'the module that is recorded must not yield' },
  ['lib/onnx/export/record.lua'] = { 3, 'the module that is recorded must not yield' },
  ['lib/onnx/model.lua'] = { 1, FILE },
  ['lib/onnx/wire.lua'] = { 1, FILE },
  ['lib/profiler.lua'] = { 1, 'stops a recording, a scope of scope.lua' },
  ['lib/support/hook_list.lua'] = { 1, 'removes a hook, which stays where the handle is dropped' },
  ['lib/utils/data/workers.lua'] = { 2, 'ends processes, which end when they are collected as well' },
  ['lib/utils/log.lua'] = { 1, FILE },
  ['lib/utils/progress.lua'] = { 1, 'ends a line' },
  ['lib/utils/tensorboard.lua'] = { 1, FILE },
}

local function source(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return (text:gsub('%-%-[^\n]*', ''))
end

local function check_dropped(list)
  for _, scope in ipairs(list) do
    local name, open, value = table.unpack(scope)
    it(name .. ' ends when the coroutine that entered it is collected', function()
      local before = value()
      dropped(open)
      assert.not_equal(before, value())
      collected()
      assert.equal(before, value())
    end)
  end
end

if torch.cuda.is_available() then
  describe('a scope of GPUs', function()
    check_dropped(gpu_scopes)

    it('DataLoader ends when the coroutine that yielded in its collate_fn is collected', function()
      local co = coroutine.create(function()
        for _ in torch.utils.data.DataLoader({ torch.ones(1) }, { collate_fn = coroutine.yield }) do break end
      end)
      assert(coroutine.resume(co))
      co = nil -- luacheck: ignore
      collected()
      torch.cuda.reset_copies()
      torch.ones(1):cuda()
      assert.not_equal('DataLoader', torch.cuda.copies()[1].cause)
    end)
  end)
end

describe('a scope #cpu', function()
  check_dropped(scopes)

  for _, entry in ipairs(around) do
    local name, call, value = table.unpack(entry)
    it('of ' .. name .. ' ends when the coroutine that yielded in the function is collected', function()
      local before = value()
      local co = coroutine.create(call)
      assert(coroutine.resume(co, coroutine.yield))
      assert.equal('suspended', coroutine.status(co))
      assert.not_equal(before, value())
      co = nil -- luacheck: ignore
      collected()
      assert.equal(before, value())
    end)
  end

  it('of a process group ends without work of other ranks when it is collected', function()
    local dist = require 'torch.distributed'
    local fake = require 'torch.distributed.fake'
    local _, errors = fake.run(1, function()
      local ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
      dropped(function() return ddp:no_sync() end)
      assert(not ddp.require_backward_grad_sync)
      collected()
      assert(ddp.require_backward_grad_sync)
      dropped(function() return dist.algorithms.join.Join { ddp } end)
      assert(ddp._join)
      collected()
      assert(not ddp._join)
    end)
    assert.same({}, errors)
  end)

  it('record_function that was dropped ends its span, and none of a later recording', function()
    local profile = torch.profiler.profile { activities = {} }
    dropped(function() return torch.profiler.record_function 'first' end)
    profile:stop()
    local later = torch.profiler.profile { activities = {} }
    local span = torch.profiler.record_function 'second'
    collected()
    torch.profiler.record_function('inner', function() end)
    getmetatable(span).__close(span)
    local events = later:events()
    assert.same({ 'second', 'inner' }, { events[1].name, events[2].name })
    assert.equal(1, events[2].parent)
  end)

  it('each scope of the library has a test that drops it', function()
    local found = { opens = {}, closes = {} }
    for path in io.popen('find lib -name "*.lua"'):lines() do
      local text = source(path)
      local _, opens = text:gsub('scopes?%.open%(', '')
      local _, closes = text:gsub('__close', '')
      found.opens[path], found.closes[path] = opens > 0 and opens or nil, closes > 0 and closes or nil
    end
    for kind, list in pairs { opens = OPENS, closes = CLOSES } do
      local expected = {}
      for path, entry in pairs(list) do expected[path] = entry[1] end
      assert.same(expected, found[kind])
    end
  end)

  it('leaves a scope that was opened later as it is', function()
    dropped(torch.no_grad)
    local _ <close> = torch.enable_grad()
    collected()
    assert.is_true(torch.is_grad_enabled())
    do
      local _ <close> = torch.no_grad()
      collected()
      assert.is_false(torch.is_grad_enabled())
    end
    assert.is_true(torch.is_grad_enabled())
  end)

  it('may be closed before one that was opened in it', function()
    local outer = coroutine.wrap(function()
      local _ <close> = torch.no_grad()
      coroutine.yield()
    end)
    outer()
    local inner = coroutine.wrap(function()
      local _ <close> = torch.enable_grad()
      coroutine.yield()
    end)
    inner()
    outer()
    assert.is_true(torch.is_grad_enabled())
    inner()
    assert.is_true(torch.is_grad_enabled())
  end)

  it('that was never closed ends with the one around it', function()
    local kept
    do
      local _ <close> = torch.enable_grad()
      kept = torch.no_grad()
    end
    assert.is_true(torch.is_grad_enabled())
    getmetatable(kept).__close(kept)
    assert.is_true(torch.is_grad_enabled())
  end)

  it('of another mode that is dropped and collected while one is opened changes nothing in it', function()
    for _ = 1, 3000 do
      torch.no_grad()
      torch.inference_mode(false)
      torch.enable_grad()
      torch.no_grad(function() assert(not torch.is_grad_enabled(), 'gradients are recorded inside of no_grad') end)
    end
    collected()
    assert.is_true(torch.is_grad_enabled())
    assert.is_false(torch.is_inference_mode_enabled())
  end)

  it('set_grad_enabled and set_detect_anomaly take true or false alone', function()
    assert.error_matches(function() torch.set_grad_enabled() end, "set_grad_enabled%(%) missing 1 required argument: 'mode'")
    assert.error_matches(function() torch.set_grad_enabled(0) end, "set_grad_enabled%(%): argument 'mode' must be true or false, not a number")
    assert.error_matches(function() torch.autograd.set_detect_anomaly() end, "set_detect_anomaly%(%) missing 1 required argument: 'mode'")
    assert.is_true(torch.is_grad_enabled())
  end)

  it('warns of the line that opened it when it is collected', function()
    local process = require 'support.process'
    local out = process.run(([[%s -e 'if warn then warn "@on" end torch.no_grad() collectgarbage() print(torch.is_grad_enabled())' 2>&1]]):format(os.getenv 'LTENSOR_BIN' or 'build/ltensor'))
    assert.matches('the scope opened at %(command line%):1 was not closed', out)
    assert.matches('true', out, 1, true)
  end)

  it('set_grad_enabled changes the mode until it is set again, its guard dropped or not', function()
    torch.set_grad_enabled(false)
    collected()
    assert.is_false(torch.is_grad_enabled())
    torch.set_grad_enabled(true)
  end)
end)
