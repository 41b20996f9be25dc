-- Visible copies: what scripts show on stderr, in processes of their own with a simulated GPU, and what the ledger
-- knows of each cause.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local cuda = torch.cuda

local function with_gpus(n, title, test)
  if cuda.device_count() >= n then it(title, test) end
end

-- stderr of a script called train.lua, in lines.
local function notes(code, environment)
  local directory = os.tmpname()
  os.remove(directory)
  assert(os.execute('mkdir ' .. directory))
  local file = assert(io.open(directory .. '/train.lua', 'w'))
  file:write(code)
  file:close()
  local program = process.run('realpath ' .. process.quote(process.ltensor)):gsub('\n$', '')
  local _, errors, status = process.run(('cd %s && %s %s --sim-gpus 2 train.lua'):format(directory, environment or '',
    process.quote(program)))
  os.execute('rm -r ' .. directory)
  assert.equal(0, status, errors)
  local lines = {}
  for line in errors:gmatch '[^\n]+' do lines[#lines + 1] = line end
  return lines
end

describe('a script on a GPU', function()
  it('that prints the loss each step shows its items on one line', function()
    local lines = notes [[
local w = torch.ones(4, {device = 'cuda'})
for step = 1, 1000 do
  local loss = (w * step):sum()
  io.write(loss:item(), '\n')
end]]
    assert.equal(2, #lines, table.concat(lines, '\n'))
    assert.equal('[copy] cuda:0 -> cpu  4 B  item  train.lua:4', lines[1])
    assert.truthy(lines[2]:find '^%[copy%] train.lua:4 item  1000 times  4.0 KB  [%d.]+ m?s waiting$', lines[2])
  end)

  it('that keeps its log on the device shows none', function()
    local lines = notes [[
local w = torch.ones(4, {device = 'cuda'})
local log = torch.zeros(1000, {device = 'cuda'})
for step = 1, 1000 do
  log[step] = (w * step):sum()
end
local all = log:cpu()
assert(all[1000]:item() == 4000)]]
    assert.same({}, lines)
  end)

  it('the summary of copies names each cause once with the sum of its bytes', function()
    local lines = notes [[
local x = torch.tensor({1., 0., 3.}, {device = 'cuda:1'})
print(x)
local list = x:tolist()
local places = x:nonzero()
local chosen = x:masked_select(x:gt(0))
for i = 1, 2 do local _ = x[x:gt(0)] end
x[torch.tensor{1, 2}] = 5]]
    for i, cause in ipairs { '12 B  print  train.lua:2', '12 B  tolist  train.lua:3', '8 B  nonzero  train.lua:4',
      '8 B  masked_select  train.lua:5', '8 B  index  train.lua:6' } do
      assert.equal('[copy] cuda:1 -> cpu  ' .. cause, lines[i])
    end
    assert.equal('[copy] cpu -> cuda:1  16 B  index  train.lua:7', lines[6])
    assert.truthy(lines[7]:find '^%[copy%] train.lua:6 index  2 times  16 B  .* waiting$', lines[7])
    assert.equal(7, #lines)
  end)

  it('--no-copies prints no copies', function()
    local code = "print(torch.ones(2, {device = 'cuda'}))"
    assert.equal(1, #notes(code))
    assert.same({}, notes(code, 'LTENSOR_COPIES=0'))
    assert.same({}, notes('torch.cuda.show_copies(false)\n' .. code))
    assert.same({}, notes("local x = torch.ones(2):to('cuda'):cpu()\nx:copy_(torch.ones(2, {device = 'cuda'}))"))
  end)
end)

describe('the ledger', function()
  before_each(function()
    cuda.show_copies(false)
    cuda.reset_copies()
  end)
  after_each(function() cuda.show_copies(true) end)

  local function causes()
    local list = {}
    for _, e in ipairs(cuda.copies()) do list[#list + 1] = ('%s %s>%s %d'):format(e.cause, e.from, e.to, e.bytes) end
    table.sort(list)
    return list
  end

  with_gpus(1, 'tells explicit causes apart', function()
    local x = torch.ones(4):cuda(0)
    local y = torch.zeros(4)
    y:copy_(x)
    x:cpu()
    assert.same({ 'copy_ cuda:0>cpu 16', 'to cpu>cuda:0 16', 'to cuda:0>cpu 16' }, causes())
    local all, seconds = cuda.copies(), 0
    for _, entry in ipairs(all) do seconds = seconds + entry.seconds end
    assert.same({ 3, 48, seconds }, { all.count, all.bytes, all.seconds })
  end)

  with_gpus(2, 'has copies between devices, which nobody waits for', function()
    local x = torch.ones(4, { device = 'cuda:0' })
    local y = x:to 'cuda:1'
    assert.equal(4, y:numel())
    local entry = cuda.copies()[1]
    assert.same({ 'cuda:0', 'cuda:1', 16, 0 }, { tostring(entry.from), tostring(entry.to), entry.bytes, entry.seconds })
  end)

  with_gpus(1, 'names the operation that copies inside, in C and in Lua', function()
    local F, options = torch.nn.functional, { device = 'cuda:0' }
    local x, i = torch.rand(4, options), torch.tensor({ 1, 2, 3 }, options)
    local A, B = torch.eye(3, options), torch.rand(3, 3, options)
    local boxes, image = torch.tensor({ { 0, 0, 1, 1 }, { 0, 0, 1, 1.0 } }, options), torch.rand({ 1, 1, 4, 4 }, options)
    local scores, labels, length = torch.rand(2, options), torch.tensor({ { 2, 3 } }, options), torch.tensor({ 2 }, options)
    local logs = torch.rand({ 5, 1, 4 }, options):log_softmax(3)
    for name, f in pairs {
      bincount = function() return i:bincount() end, histc = function() return x:histc(4) end,
      multinomial = function() return x:multinomial(1) end, quantile = function() return x:quantile(0.5) end,
      normal = function() return torch.normal(x, x) end, poisson = function() return x:poisson() end,
      combinations = function() return torch.combinations(x, 2) end, pdist = function() return F.pdist(B) end,
      pad = function() F.pad(torch.rand({ 1, 1, 4 }, options):requires_grad_(), { 1, 1 }, { mode = 'reflect' }):sum():backward() end,
      ['linalg.eig'] = function() return torch.linalg.eig(A) end, ['linalg.eigvals'] = function() return torch.linalg.eigvals(A) end,
      ['linalg.eigh'] = function() return torch.linalg.eigh(A) end, ['linalg.svd'] = function() return torch.linalg.svd(A) end,
      ['linalg.lstsq'] = function() return torch.linalg.lstsq(A, B) end, ['linalg.cond'] = function() return torch.linalg.cond(A) end,
      ['linalg.pinv'] = function() return torch.linalg.pinv(A) end, ['linalg.matrix_rank'] = function() return torch.linalg.matrix_rank(A) end,
      ['linalg.matrix_exp'] = function() return torch.linalg.matrix_exp(A) end, cov = function() return B:cov { fweights = i } end,
      ['vision.nms'] = function() return torch.vision.nms(boxes, scores, 0.5) end,
      interpolate = function() return F.interpolate(image, { scale_factor = 2 }) end,
      ctc_loss = function() return F.ctc_loss(logs, labels, length + 3, length) end,
    } do
      cuda.reset_copies()
      f()
      local entries = cuda.copies()
      assert.is_true(#entries > 0, name)
      for _, entry in ipairs(entries) do assert.same({ name, true }, { entry.cause, entry.implicit }) end
    end
    cuda.reset_copies()
    assert.is_false((pcall(F.interpolate, image, { scale_factor = -2 })))
    x:cpu()
    x:tolist()
    assert.same({ 'to', 'tolist' }, { cuda.copies()[1].cause, cuda.copies()[2].cause })
  end)

  with_gpus(1, 'refuses or warns of every copy that waits', function()
    local x = torch.ones(3, { device = 'cuda:0' })
    local pinned = torch.zeros(3):pin_memory()
    cuda.set_sync_debug_mode 'error'
    local refused = {}
    for name, f in pairs {
      tolist = function() return x:tolist() end, print = function() return tostring(x) end,
      item = function() return x[1]:item() end, nonzero = function() return x:nonzero() end,
      to = function() return x:cpu() end, copy_ = function() return pinned:copy_(x) end,
    } do
      local ok, message = pcall(f)
      if not ok and message:find('called a synchronizing CUDA operation: ' .. name, 1, true) then refused[name] = true end
    end
    local allowed = pcall(function() return pinned:copy_(x, { non_blocking = true }) end)
    cuda.set_sync_debug_mode 'default'
    assert.same({ tolist = true, print = true, item = true, nonzero = true, to = true, copy_ = true }, refused)
    assert.is_true(allowed)
    cuda.synchronize(0)
    assert.equal(3, pinned:sum():item())
  end)
end)
