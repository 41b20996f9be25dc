-- One allocation of a small training step fails, in a fresh process: the step ends with a Lua error that says
-- so, and the next step runs as if nothing had been. Which one fails is told by LTENSOR_MEM_FAULT. While the
-- program starts it may also end there, with a message.

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

describe('a training step #cpu', function()
  local later = {67, 71, 79, 83, 97, 101, 113, 127, 149, 163, 181, 199, 227, 251, 281, 313, 353, 397, 1009}

  local function ends_well(n)
    local command = ('LTENSOR_MEM_FAULT=%d %s -e %s'):format(n, process.quote(process.ltensor), process.quote(CODE))
    local output, message, status = process.run(command)
    if status == 1 and output == '' then
      assert.truthy(message:find 'out of memory' or message:find 'not enough memory', message)
      return 1
    end
    assert.same({0, ''}, {status, message}, ('allocation %d: %s'):format(n, message))
    return assert(math.tointeger(tonumber(output)))
  end

  it('reports the failure of any allocation and goes on', function()
    local failures = 0
    for n = 1, 60 do failures = failures + ends_well(n) end
    for _, n in ipairs(later) do failures = failures + ends_well(n) end
    assert.is_true(failures > 60, ('only %d failures came through'):format(failures))
  end)

  it('runs when nothing fails', function()
    assert.equal(0, ends_well(0))
  end)
end)
