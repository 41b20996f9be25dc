-- One allocation of a small training step fails, in a fresh process: the step ends with a Lua error that says
-- so, and the next step runs as if nothing had been. Which one fails is told by LTENSOR_MEM_FAULT. While the
-- program starts it may also end there, with a message. A second program does the same with other parts of the library.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local CODE = [[
torch.manual_seed(1)
local function prepared()
  local net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
  local optimizer = torch.optim.SGD(net:parameters(), {lr = 0.1, momentum = 0.9})
  return net, optimizer, torch.rand(16, 4), torch.randint(1, 4, {16})
end

local net, optimizer, x, y
local function step()
  if not net then net, optimizer, x, y = prepared() end
  optimizer:zero_grad()
  local loss = nn.functional.cross_entropy(net(x), y)
  loss:backward()
  optimizer:step()
  local scaled = x[{{1, 8}}]:clone():mul_(2):t()
  return loss:item() + torch.cat({scaled, scaled}, 2):sum():item(), tostring(net[1].weight)
end

local failures = 0
for _ = 1, 2 do
  local fine, message = pcall(step)
  if not fine then
    failures = failures + 1
    assert(message:find('out of memory', 1, true) or message:find('not enough memory', 1, true), message)
    collectgarbage()
    step()
  end
end
print(failures)
]]

local OTHERS = [[
local net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
local path = os.tmpname()
local steps = {
  function()
    local name = 'faulty::shift' .. math.random(1 << 40)
    local op = torch.library.custom_op(name, function(x, by) return x + by end,
      { mutates_args = {}, schema = '(Tensor x, *, float by=1) -> Tensor' })
    return op(torch.ones(3), { by = 2 }):tolist()
  end,
  function()
    torch.onnx.export(net, torch.zeros(1, 1, 8, 8), path)
    return torch.onnx.load(path)(torch.ones(1, 1, 8, 8))
  end,
  function()
    local f = torch.compile(function(a, b) return (a * b + 1):relu():sum() end)
    return f(torch.rand(100), torch.rand(100)):item()
  end,
  function()
    torch.save({ a = torch.rand(3, 3), b = { torch.rand(2), 'text' } }, path)
    return torch.load(path).a:tolist()
  end,
  function() return torch.sort(torch.rand(50), 1), torch.topk(torch.rand(5000), 7), torch.linalg.svd(torch.rand(5, 5)), torch.fft.fft(torch.rand(30)) end,
  function() return torch.func.vmap(function(a) return a:sin():sum() end)(torch.rand(4, 5)):tolist() end,
  function() return torch.func.jvp(function(a) return a:exp() end, { torch.rand(3) }, { torch.ones(3) }) end,
  function() return torch.sparse_coo_tensor({ { 1, 2 }, { 1, 2 } }, { 1.0, 2.0 }, { 3, 3 }):to_dense():tolist() end,
  function() return tostring(torch.rand(40, 40)), torch.rand(3, 1, 4):expand(3, 2, 4):contiguous():tolist() end,
}
local failures = 0
for _, step in ipairs(steps) do
  local fine, message = pcall(step)
  if not fine then
    failures = failures + 1
    assert(tostring(message):find('memory', 1, true), message)
    collectgarbage()
    step()
  end
end
os.remove(path)
print(failures)
]]

describe('a failed allocation #cpu', function()
  local later = {67, 71, 79, 83, 97, 101, 113, 127, 149, 163, 181, 199, 227, 251, 281, 313, 353, 397, 1009}

  local function ends_well(n, code)
    local command = ('LTENSOR_MEM_FAULT=%d %s -e %s'):format(n, process.quote(process.ltensor), process.quote(code))
    local output, message, status = process.run(command)
    if status == 1 and output == '' then
      assert.truthy(message:find 'out of memory' or message:find 'not enough memory', message)
      return 1
    end
    assert.same({0, ''}, {status, message}, ('allocation %d: %s'):format(n, message))
    return assert(math.tointeger(tonumber(output)))
  end

  it('of a training step is an error, after which the program goes on', function()
    local failures = 0
    for n = 1, 60 do failures = failures + ends_well(n, CODE) end
    for _, n in ipairs(later) do failures = failures + ends_well(n, CODE) end
    assert.is_true(failures > 60, ('only %d failures came through'):format(failures))
  end)

  it('of other parts of the library is an error, after which the program goes on #again', function()
    local first, failures = 30 + os.time() % 9, 0
    for n = first, 210, 9 do failures = failures + ends_well(n, OTHERS) end
    assert.is_true(failures > 15, ('only %d failures came through, from allocation %d'):format(failures, first))
  end)

  it('does not happen without LTENSOR_MEM_FAULT', function()
    assert.equal(0, ends_well(0, CODE))
    assert.equal(0, ends_well(0, OTHERS))
  end)
end)
