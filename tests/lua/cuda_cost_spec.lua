-- What an operation on a GPU costs the host: calls of CUDA's runtime, as the simulated one counts them.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- How many calls of the runtime a program makes.
local function calls(gpus, program)
  local _, message, status = process.run(('LTENSOR_SIM_REPORT=1 %s --sim-gpus %d --no-copies -e %s'):format(
    process.quote(process.ltensor), gpus, process.quote(program)))
  assert.equal(0, status, message)
  return tonumber(message:match '(%d+) runtime calls')
end

local SETUP = [[
  local device = 'cuda:' .. (torch.cuda.device_count() - 1)
  local x, b = torch.rand(16, 16, {device = device}), torch.rand(16, {device = device})
  local rows = torch.rand(2, 1000, {device = device})
  local long = torch.rand(2, 40000, {device = device})
  local w = torch.rand(16, 16, {device = device, requires_grad = true})
  local i = torch.tensor({1, 2, 3}, {device = device})
  local y, z
  for n = 1, %d do %s end
  torch.cuda.synchronize()
]]

-- Of one more round, when all that is made once is there.
local function each(gpus, body)
  return (calls(gpus, SETUP:format(60, body)) - calls(gpus, SETUP:format(20, body))) / 40
end

describe('the runtime calls #cpu of an operation', function()
  local bodies = {
    ['y = x + x'] = 1,
    ['y = x * 2'] = 1,
    ['y = x + b'] = 1,
    ['y = x:t() + x'] = 1,
    ['y = x:exp()'] = 1,
    ['y = x:sum()'] = 1,
    ['y = x:sum(1)'] = 1,
    ['y = long:mean()'] = 1,
    ['y = long:norm(2, 2)'] = 1,
    ['y = x:softmax(1)'] = 1,
    ['y = rows:logsumexp(2)'] = 1,
    ['y = rows:std(2)'] = 1,
    ['y = x:to(torch.bfloat16)'] = 1,
    ['y = x:t():contiguous()'] = 1,
    ['y = x:index_select(1, i)'] = 1,
    ['x:fill_(3)'] = 1,
    ['x:uniform_()'] = 1,
    ['y = torch.nn.functional.layer_norm(x, 16)'] = 1,
    ['y = x:t()'] = 0,
    ['y = torch.empty(16, 16, {device = device})'] = 0,
    ['y = x * 2 y = y + b'] = 2,
  }
  for body, operations in pairs(bodies) do
    it('are one launch, and one look at the device where there are several: ' .. body, function()
      assert.equal(operations, each(1, body))
      assert.equal(2 * operations, each(2, body))
    end)
  end

  it('of a product are its own', function() assert(each(1, 'y = x:mm(x)') <= 2 and each(2, 'y = x:mm(x)') <= 3) end)

  it('of a linear layer\'s backward are not more with a bias, which is summed up within the product', function()
    local body = 'local v = b:detach():requires_grad_() torch.autograd.grad(torch.nn.functional.linear(x, w, v), %s, x)'
    assert.equal(each(1, body:format '{w}'), each(1, body:format '{w, v}'))
  end)

  it('of an optimizer are one launch for hundreds of tensors #again', function()
    local body = [[
      if not optimizer then
        local parameters = {}
        for k = 1, 300 do
          parameters[k] = torch.ones(k %% 7 + 1, {device = device, requires_grad = true})
          parameters[k].grad = torch.ones(k %% 7 + 1, {device = device})
        end
        optimizer = torch.optim.%s(parameters, {lr = 0.1})
      end
      optimizer:step()
    ]]
    for _, name in ipairs { 'SGD', 'Adam' } do assert.equal(1, each(1, body:format(name))) end
  end)

  it('of a replayed step is one', function()
    local graph = [[
      local optimizer = torch.optim.SGD({w}, {lr = 0.1})
      local function step()
        optimizer:zero_grad()
        ;(x:mm(w):tanh() - b):pow(2):mean():backward()
        optimizer:step()
      end
      local g = torch.cuda.CUDAGraph()
      step()
      torch.cuda.graph(g, step)
      for n = 1, %d do g:replay() end
    ]]
    local function run(gpus, n) return calls(gpus, SETUP:format(0, '') .. graph:format(n)) end
    for gpus = 1, 2 do assert.equal(gpus, (run(gpus, 60) - run(gpus, 20)) / 40) end
  end)
end)
