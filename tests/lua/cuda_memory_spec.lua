-- The caching allocator of a GPU: pools, reuse per stream, statistics, limits, and what happens at the end of
-- the memory. The last needs a small GPU: a simulated one in a process of its own.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local cuda = torch.cuda
local MIB = 1 << 20

-- The output of a script on simulated GPUs; fails when it does.
local function run(code, environment)
  local output, errors, status = process.run(("%s %s --no-copies --sim-gpus 2 -e %s"):format(environment or '',
    process.quote(process.ltensor), process.quote(code)))
  assert.equal(0, status, errors)
  return output
end

local function with_gpus(n, title, test)
  if cuda.device_count() >= n then it(title, test) end
end

local function bytes(n, device) return torch.empty(n, { dtype = torch.uint8, device = device or 'cuda:0' }) end

local function fresh()
  collectgarbage()
  collectgarbage()
  cuda.synchronize()
  cuda.empty_cache()
end

describe('the caching allocator', function()
  before_each(fresh)

  with_gpus(1, 'keeps small and large blocks in pools of their own', function()
    local before = cuda.memory_stats(0)
    local small, large = bytes(1000), bytes(3 * MIB)
    local after = cuda.memory_stats(0)
    local function more(key) return after[key] - before[key] end
    assert.equal(1024, more 'allocated_bytes.small_pool.current')
    assert.equal(1000, more 'requested_bytes.small_pool.current')
    assert.equal(3 * MIB, more 'allocated_bytes.large_pool.current')
    assert.equal(2, more 'allocation.all.current')
    assert.equal(2, more 'active.all.current')
    assert.equal(1000, small:numel())
    assert.equal(3 * MIB, large:numel())
  end)

  with_gpus(1, 'cuts segments up and joins what is freed', function()
    local before = cuda.memory_reserved(0)
    local blocks = {}
    for i = 1, 4 do blocks[i] = bytes(4 * MIB) end
    local reserved = cuda.memory_reserved(0) - before
    assert.equal(20 * MIB, reserved)
    assert.equal(4 * MIB, cuda.memory_stats(0)['inactive_split_bytes.large_pool.current'])
    blocks = nil
    collectgarbage()
    local whole = bytes(9 * MIB)
    assert.equal(reserved, cuda.memory_reserved(0) - before)
    whole = nil
  end)

  with_gpus(1, 'hands a freed block out again on its stream, not on another', function()
    local x = bytes(5 * MIB)
    local first = x:data_ptr()
    x = nil
    collectgarbage()
    local y = bytes(5 * MIB)
    assert.equal(first, y:data_ptr())
    y = nil
    collectgarbage()
    cuda.stream(cuda.Stream(), function() assert.not_equal(first, bytes(5 * MIB):data_ptr()) end)
  end)

  with_gpus(1, 'has a summary that is a table', function()
    local keep = bytes(3 * MIB)
    local text = cuda.memory_summary(0)
    assert.truthy(text:find('CUDA memory summary, device 0', 1, true))
    assert.truthy(text:find('| Allocated memory ', 1, true))
    local width
    for line in text:gmatch '[^\n]+' do
      width = width or #line
      assert.equal(width, #line)
    end
    assert.is_true(#cuda.memory_summary(0, true) < #text)
    assert.equal(3 * MIB, keep:numel())
  end)
end)

describe('a simulated GPU of 256 MiB', function()
  local SMALL = 'LTENSOR_SIM_MEMORY=256M'

  it('a simulated GPU of 256 MiB reports its memory', function()
    assert.equal('268435456\t268435456\n', run('local _, total = torch.cuda.mem_get_info(1)\n' ..
      'print(total, torch.cuda.get_device_properties(1).total_memory)', SMALL))
  end)

  it('collects garbage instead of running out', function()
    assert.equal('true\t0\n', run([[
      collectgarbage 'stop'
      for _ = 1, 40 do local x = torch.empty(64 << 20, {dtype = torch.uint8, device = 'cuda'}) end
      local s = torch.cuda.memory_stats()
      print(s.num_alloc_retries > 0, s.num_ooms)]], SMALL))
  end)

  it('gives cached blocks back before it runs out', function()
    assert.equal('201326592\n', run([[
      for i = 1, 12 do local x = torch.empty(i << 24, {dtype = torch.uint8, device = 'cuda'}); x = nil; collectgarbage() end
      print(torch.cuda.memory_reserved())]], SMALL))
  end)

  it('explains when it runs out, and goes on', function()
    local output = run([[
      local keep = {}
      local function fill()
        for i = 1, 9 do
          keep[i] = torch.empty(48 << 20, {dtype = torch.uint8, device = 'cuda'})
        end
      end
      local ok, message = pcall(fill)
      print(ok, #keep, message)
      keep = nil
      print(torch.ones(2, {device = 'cuda'}):sum():item(), torch.cuda.memory_stats().num_ooms)]], SMALL)
    local message, rest = output:match '^false\t5\t(.-)\n(.*)$'
    assert.truthy(message, output)
    for _, part in ipairs { 'CUDA out of memory. Tried to allocate 48.00 MiB. GPU 0 has a total capacity of 256.00 MiB of which ',
      'Of the allocated memory 240.00 MiB is allocated by ltensor, and ', 'Largest tensors: 48.00 MiB (' } do
      assert.truthy(message:find(part, 1, true), message)
    end
    assert.equal('2.0\t1\n', rest)
  end)

  it('names the line of Lua that made the largest tensors', function()
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write [[
local small = torch.empty(2 << 20, {dtype = torch.uint8, device = 'cuda'})
local large = torch.empty(100 << 20,
  {dtype = torch.uint8, device = 'cuda'})
local middle = torch.zeros(50 << 20, {dtype = torch.uint8, device = 'cuda'})
print(select(2, pcall(torch.empty, 200 << 20, {dtype = torch.uint8, device = 'cuda'})))
]]
    file:close()
    local output = process.run(('%s %s --sim-gpus 1 %s'):format(SMALL, process.quote(process.ltensor), path))
    os.remove(path)
    local name = path:gsub('%p', '%%%0')
    assert.truthy(output:find('100.00 MiB %(' .. name .. ':[23]%), 50.00 MiB %(' .. name .. ':4%), 2.00 MiB %(' .. name .. ':1%)'),
      output)
  end)

  it('reports a wait for cached memory once, with the GPU that waited, cause and line', function()
    local path = os.tmpname()
    local file = assert(io.open(path, 'w'))
    file:write [[
for _ = 1, 2 do
  torch.empty(100 << 20, {dtype = torch.uint8, device = 'cuda:1'})
  collectgarbage()
  torch.empty(200 << 20, {dtype = torch.uint8, device = 'cuda:1'})
  collectgarbage()
end
]]
    file:close()
    local _, errors, status = process.run(('%s %s --sim-gpus 2 %s'):format(SMALL, process.quote(process.ltensor), path))
    os.remove(path)
    assert.equal(0, status, errors)
    local waits = {}
    for line in errors:gmatch '%[wait%][^\n]*' do waits[#waits + 1] = line:gsub('  [%d.]+ ms  ', '  N ms  '):gsub('%S+:(%d+)$', 'script:%1') end
    assert.same({ '[wait] cuda:1  N ms  GPU memory ran out: unused memory was given back  script:4' }, waits)
  end)

  it('obeys a fraction', function()
    local output = run([[
      torch.cuda.set_per_process_memory_fraction(0.5)
      print(pcall(torch.empty, 150 << 20, {dtype = torch.uint8, device = 'cuda'}))
      print(torch.empty(150 << 20, {dtype = torch.uint8, device = 'cuda:1'}):numel())
      torch.cuda.set_per_process_memory_fraction(1.0, 0)
      print(torch.empty(150 << 20, {dtype = torch.uint8, device = 'cuda'}):numel())]], SMALL)
    assert.truthy(output:find('128.00 MiB allowed;', 1, true), output)
    assert.truthy(output:find '\n157286400\n157286400\n$', output)
  end)
end)
