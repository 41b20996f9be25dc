-- What functions of torch.nn.functional do besides returning a result: running statistics, modes, tables.

local torch = require 'torch'
local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function tensor(data, options)
  options = options or {}
  options.device = options.device or device
  return torch.tensor(data, options)
end

local function close(got, want, tolerance)
  assert.is_true(torch.allclose(got:cpu(), want:cpu(), 1e-5, tolerance or 1e-6), tostring(got) .. '\n' .. tostring(want))
end

describe('batch_norm', function()
  it('moves the running statistics on, by the unbiased variance', function()
    local x = tensor { { 1.0, 2.0 }, { 3.0, 8.0 }, { 5.0, 5.0 } }
    local mean, var = torch.zeros(2, { device = device }), torch.ones(2, { device = device })
    F.batch_norm(x, mean, var, nil, nil, true, 0.25)
    close(mean, tensor { 0.75, 1.25 })
    close(var, tensor { 0.75 + 0.25 * 4, 0.75 + 0.25 * 9 })
    F.batch_norm(x, mean, var, { training = false })
    close(mean, tensor { 0.75, 1.25 })
  end)

  it('keeps running statistics of a half type in it', function()
    local x = tensor({ { 1.0, 2.0 }, { 3.0, 8.0 } }, { dtype = torch.bfloat16 })
    local mean = torch.zeros(2, { device = device, dtype = torch.bfloat16 })
    local var = torch.ones(2, { device = device, dtype = torch.bfloat16 })
    F.batch_norm(x, mean, var, nil, nil, true, 0.5)
    close(mean:float(), tensor { 1.0, 2.5 })
    close(var:float(), tensor { 1.5, 9.5 })
  end)

  it('notices a change of what its derivative needs', function()
    local x = torch.randn(4, 3, { device = device, requires_grad = true })
    local w = torch.ones(3, { device = device, requires_grad = true })
    local y = F.batch_norm(x, nil, nil, w, nil, true)
    torch.no_grad(function() w:mul_(2) end)
    assert.has_error(function() y:sum():backward() end)
  end)

  it('agrees with layer_norm over many elements, in both directions', function()
    torch.manual_seed(4)
    local x = torch.randn(300, 40, { device = device, requires_grad = true })
    local y = torch.randn(300, 40, { device = device })
    local a = F.layer_norm(x, 40)
    a:mul(y):sum():backward()
    local by_rows = x.grad:clone()
    x.grad = nil
    local b = F.batch_norm(x:t(), nil, nil, nil, nil, true):t()
    b:mul(y):sum():backward()
    close(a, b, 1e-5)
    close(by_rows, x.grad, 1e-5)
    x.grad = nil
    local c = F.batch_norm(x:reshape(1, 300, 40), nil, nil, nil, nil, true)[1]
    c:mul(y):sum():backward()
    close(a, c, 1e-5)
    close(by_rows, x.grad, 1e-5)
  end)
end)

describe('instance_norm', function()
  it('moves the running statistics by the mean over entries', function()
    local x = tensor { { { 1.0, 3.0 }, { 0.0, 2.0 } }, { { 5.0, 7.0 }, { 2.0, 8.0 } } }
    local mean, var = torch.zeros(2, { device = device }), torch.ones(2, { device = device })
    F.instance_norm(x, mean, var, { momentum = 0.5 })
    close(mean, tensor { 2.0, 1.5 })
    close(var, tensor { 0.5 + 0.5 * 2, 0.5 + 0.5 * 10 })
  end)
end)

describe('what normalization refuses', function()
  local x = torch.ones(2, 3, { device = device })
  local function refuses(message, f, ...)
    local ok, error = pcall(f, ...)
    assert.is_false(ok)
    assert(tostring(error):find(message, 1, true), tostring(error))
  end
  it('is said', function()
    refuses("not implemented for 'Long'", F.layer_norm, tensor { 1, 2 }, 2)
    refuses('running_mean must be defined in evaluation mode', F.batch_norm, x)
    refuses('mixed dtype', F.layer_norm, x, 3, torch.ones(3, { device = device, dtype = torch.bfloat16 }))
    refuses('Expected more than 1 spatial element', F.instance_norm, x:unsqueeze(3))
  end)
end)
