-- Pinned memory: what is pinned, copies that do not wait, and a block that is handed out again only when the
-- copies of it are done. The last on a simulated GPU whose streams are slow (LTENSOR_SIM_JITTER).

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local cuda = torch.cuda

local function with_gpus(n, title, test)
  if cuda.device_count() >= n then it(title, test) end
end

local function run(code, gpus)
  local output, errors, status = process.run(('LTENSOR_SIM_JITTER=5 %s --no-copies --sim-gpus %d -e %s'):format(
    process.quote(process.ltensor), gpus or 1, process.quote(code)))
  assert.equal(0, status, errors)
  return output
end

describe('pin_memory', function()
  with_gpus(1, 'copies to pinned memory once', function()
    local x = torch.arange(6):reshape(2, 3)
    local p = x:pin_memory()
    assert.is_false(x:is_pinned())
    assert.is_true(p:is_pinned())
    assert.equal('cpu', tostring(p.device))
    assert.is_true(torch.equal(x, p))
    assert.equal(p:data_ptr(), p:pin_memory():data_ptr())
    assert.is_true(p[1]:is_pinned())
    assert.is_true(torch.equal(x:t(), x:t():pin_memory()))
    assert.is_false(pcall(function() return x:cuda():pin_memory() end))
    assert.is_false(x:cuda():is_pinned())
  end)

  with_gpus(1, 'is in the ledger', function()
    cuda.reset_copies()
    torch.ones(10):pin_memory()
    assert.same({ 1, 40 }, { cuda.copies('pin').count, cuda.copies('pin').bytes })
  end)

  with_gpus(1, 'lets copies run on their own, in order', function()
    local h = torch.arange(1000.):pin_memory()
    local g = h:to('cuda:0', { non_blocking = true })
    local back = torch.zeros(1000):pin_memory()
    back:copy_(g * 2, { non_blocking = true })
    cuda.synchronize(0)
    assert.is_true(torch.equal(h * 2, back))
  end)

  if cuda.device_count() == 0 then
    it('pin_memory without a GPU is an error with the remedy', function()
      local ok, message = pcall(function() return torch.ones(1):pin_memory() end)
      assert.is_false(ok)
      assert.truthy(tostring(message):find('no accelerator is available', 1, true))
    end)
  end
end)

describe('a block of pinned memory', function()
  it('is not handed out before the copy that reads it is done', function()
    assert.equal('0\ttrue\n', run [[
      local wrong, reused = 0, false
      local place = {}
      for i = 1, 30 do
        local h = torch.full({1000}, i):pin_memory()
        reused = reused or place[h:data_ptr()] ~= nil
        place[h:data_ptr()] = true
        local g = h:to('cuda', {non_blocking = true})
        h = nil
        collectgarbage()
        torch.zeros(1000):pin_memory()
        if g:sum():item() ~= 1000 * i then wrong = wrong + 1 end
      end
      print(wrong, reused)]])
  end)

  it('is not handed out before the copy that writes it is done', function()
    assert.equal('0\n', run [[
      local wrong = 0
      for i = 1, 30 do
        local g = torch.full({1000}, i, {device = 'cuda'})
        local h = torch.zeros(1000):pin_memory()
        h:copy_(g, {non_blocking = true})
        h = nil
        collectgarbage()
        local other = torch.full({1000}, -1):pin_memory()
        torch.cuda.synchronize()
        if other:sum():item() ~= -1000 then wrong = wrong + 1 end
      end
      print(wrong)]])
  end)

  it('is not handed out before the last of several copies is done', function()
    assert.equal('0\ttrue\n', run [[
      local wrong, place, reused = 0, {}, false
      for i = 1, 20 do
        local h, work = torch.full({1000}, i):pin_memory(), torch.ones(1000, {device = 'cuda'})
        reused = reused or place[h:data_ptr()] ~= nil
        place[h:data_ptr()] = true
        local g = h:to('cuda', {non_blocking = true})
        torch.cuda.synchronize()
        for _ = 1, 6 do work = work * 1 end
        g = h:to('cuda', {non_blocking = true})
        h = nil
        collectgarbage()
        torch.full({1000}, -1):pin_memory()
        if g:sum():item() ~= 1000 * i then wrong = wrong + 1 end
      end
      print(wrong, reused)]])
  end)

  -- One GPU has work to do before the copy, the other none: whichever that is, the block waits for both.
  it('is not handed out before the copies to two GPUs are done', function()
    assert.equal('0\t0\ttrue\n', run([[
      local wrong, early, place, reused = 0, 0, {}, false
      for i = 1, 24 do
        local slow, quick = 'cuda:' .. i % 2, 'cuda:' .. 1 - i % 2
        local work = torch.ones(1000, {device = slow})
        local h = torch.full({1000}, i):pin_memory()
        local at = h:data_ptr()
        reused = reused or place[at] ~= nil
        place[at] = true
        for _ = 1, 6 do work = work * 1 end
        local copies = {}
        local order = i % 4 < 2 and {slow, quick} or {quick, slow}
        for _, gpu in ipairs(order) do copies[#copies + 1] = h:to(gpu, {non_blocking = true}) end
        torch.cuda.synchronize(quick)
        local busy = not torch.cuda.current_stream(slow):query()
        h = nil
        collectgarbage()
        local other = torch.full({1000}, -1):pin_memory()
        if busy and other:data_ptr() == at and not torch.cuda.current_stream(slow):query() then early = early + 1 end
        for _, copy in ipairs(copies) do
          if copy:sum():item() ~= 1000 * i then wrong = wrong + 1 end
        end
      end
      print(wrong, early, reused)]], 2))
  end)
end)
