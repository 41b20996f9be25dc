-- nn.DataParallel and nn.parallel, on as many GPUs as there are (two simulated ones show the most).

local count = torch.cuda.device_count()
local device = torch.device(count > 0 and 'cuda:0' or 'cpu')
local parallel = nn.parallel

local function gpus()
  local list = {}
  for i = 1, count do list[i] = i - 1 end
  return list
end

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return message
end

local Pair = nn.Module:extend('Pair')
function Pair:init()
  self.fc = nn.Linear(3, 2)
  self:register_buffer('calls', torch.zeros(1))
end
-- Two inputs of which one is a table, several results.
function Pair:forward(x, more, factor)
  self.calls:add_(1)
  return self.fc(x) * factor, { sum = more.a + more.b, rows = torch.tensor(#x, { device = x.device }) }
end

describe('DataParallel', function()
  it('splits tables and several inputs, joins tables and several results', function()
    torch.manual_seed(1)
    local model = nn.DataParallel(Pair()):to(device)
    local x, a, b = torch.randn(5, 3, { device = device }), torch.ones(5, { device = device }), torch.ones(5, { device = device })
    local y, more = model(x, { a = a, b = b }, 2)
    assert.is_true(torch.allclose(y, model.module.fc(x) * 2, { atol = 1e-6 }))
    assert.is_true(more.sum:equal(torch.full({ 5 }, 2.0, { device = device })))
    local parts = math.min(math.max(count, 1), 5)
    assert.equal(parts > 1 and parts or 0, more.rows.ndim == 0 and 0 or #more.rows)
    assert.equal(5, more.rows:sum():item())
    assert.equal(1, model.module.calls:item()) -- the first copy's buffers are the module's
  end)

  it('takes a batch smaller than the number of GPUs, and one of one row', function()
    local model = nn.DataParallel(nn.Linear(3, 2)):to(device)
    for rows = 1, 3 do
      local x = torch.randn(rows, 3, { device = device })
      assert.is_true(torch.allclose(model(x), model.module(x), { atol = 1e-6 }))
    end
  end)

  it('gives the plain gradients', function()
    local model = nn.DataParallel(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))):to(device)
    local x = torch.randn(7, 3, { device = device })
    model(x):square():sum():backward()
    local own = {}
    for i, p in ipairs(model:parameters()) do own[i], p.grad = p.grad, nil end
    model.module(x):square():sum():backward()
    for i, p in ipairs(model:parameters()) do assert.is_true(torch.allclose(p.grad, own[i], { atol = 1e-4 })) end
  end)

  it('runs on one device, and splits another dimension', function()
    local ids = count > 0 and { device_ids = { 0 } } or {}
    local model = nn.DataParallel(nn.Linear(3, 2), ids):to(device)
    assert.same({ 4, 2 }, { table.unpack(model(torch.ones(4, 3, { device = device })):size()) })
    local along = nn.DataParallel(nn.ReLU(), { dim = 2 })
    local x = torch.randn(2, 5, { device = device })
    assert.is_true(along(x):equal(x:relu()))
  end)

  it('DataParallel rejects invalid arguments', function()
    assert.truthy(failure(nn.DataParallel, nn.ReLU(), { devices = {} }):find("unexpected keyword argument 'devices'", 1, true))
    if count > 0 then
      local model = nn.DataParallel(nn.Linear(2, 2))
      assert.truthy(failure(model, torch.ones(2, 2)):find('parameters and buffers on device cuda:0', 1, true))
      assert.truthy(failure(nn.DataParallel, nn.ReLU(), { device_ids = { count } }))
    end
  end)
end)

if count > 0 then
  describe('nn.parallel', function()
    it('scatters as chunk does, and gathers again', function()
      local x = torch.arange(5.0)
      local parts = parallel.scatter({ x, { name = 'n', y = x * 2 } }, gpus())
      assert.equal(math.min(count, 5), #parts)
      assert.equal('n', parts[1][2].name)
      for i, part in ipairs(parts) do assert.equal(torch.device('cuda', i - 1), part[1].device) end
      local back = parallel.gather(parts, 'cpu')
      assert.is_true(back[1]:equal(x) and back[2].y:equal(x * 2))
      assert.equal('n', back[2].name)
    end)

    it('scatter passes values other than tensors to every device', function()
      assert.same({ table.unpack({ 'a', 'a', 'a', 'a' }, 1, count) }, parallel.scatter('a', gpus()))
    end)

    it('applies modules on their devices', function()
      local modules = parallel.replicate(nn.Linear(3, 2):to(device), gpus())
      local outputs = parallel.parallel_apply(modules, parallel.scatter(torch.ones(count, 3), gpus()))
      for i, output in ipairs(outputs) do assert.equal(torch.device('cuda', i - 1), output.device) end
    end)

    it('nn.parallel rejects invalid arguments', function()
      assert.truthy(failure(parallel.scatter, torch.tensor(1.0), gpus()):find('at least a 1-dimensional', 1, true))
      assert.truthy(failure(parallel.replicate, 7, gpus()):find('must be a Module', 1, true))
      assert.truthy(failure(parallel.parallel_apply, {}, { 1 }):find('0 modules for 1 inputs', 1, true))
      assert.truthy(failure(parallel.gather, { { a = torch.ones(1) }, {} }, 'cpu'):find("no entry 'a'", 1, true))
    end)
  end)
end
