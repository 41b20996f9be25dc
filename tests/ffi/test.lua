-- test.lua - ltensor-ffi.lua under LuaJIT, in a plain interpreter or in Neovim. Usage: luajit test.lua FOLDER, the folder of
-- ltensor-ffi.lua; it also has digits.onnx and its output for ones(2, 4), expected.safetensors (tests/ffi.sh).

local folder = arg and arg[1] or os.getenv 'LTENSOR_FFI_FOLDER'
local torch = require 'ltensor-ffi'
local F = torch.nn.functional
local passed, failed = 0, 0

local function test(title, f)
  local ok, message = xpcall(f, debug.traceback)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    io.stderr:write(('%s: %s\n'):format(title, message))
  end
end

local function equals(actual, expected)
  if tostring(actual) ~= tostring(expected) then error(('expected %s, got %s'):format(tostring(expected), tostring(actual)), 2) end
end

local function fails(pattern, f)
  local ok, message = pcall(f)
  if ok or not tostring(message):find(pattern) then error(("expected an error with '%s', got %s"):format(pattern, tostring(message)), 2) end
  return message
end

test('numbers of a table become the default dtype, other dtypes have names', function()
  equals(torch.tensor {1, 2}.dtype, 'torch.float32')
  equals(torch.tensor({1, 2}, {dtype = torch.int64}), 'tensor([1, 2])')
  equals(torch.tensor {1, 2, dtype = 'int32'}, 'tensor([1, 2], dtype=torch.int32)')
  equals(torch.tensor {true, false}, 'tensor([ True, False])')
  equals(torch.tensor {3LL, 4LL}, 'tensor([3, 4])')
  equals(torch.full({2}, 3), 'tensor([3., 3.])')
  equals(torch.tensor({1, 2}, {dtype = torch.float16}).dtype, 'torch.float16')
end)

test('integers beyond 2^53 stay int64_t', function()
  local big = torch.tensor {9007199254740993LL}
  equals(big[1]:item(), '9007199254740993LL')
  equals(big:tolist()[1], '9007199254740993LL')
  equals(torch.tensor {5LL}:sum():item() + 1, 6)
end)

test('tables go to tensors and back', function()
  local data = {{1, 2}, {3, 4}, {5, 6}}
  local back = torch.tensor(data):tolist()
  for i = 1, 3 do
    for j = 1, 2 do equals(back[i][j], data[i][j]) end
  end
  equals(torch.tensor(2.5):item(), 2.5)
  equals(torch.tensor(true):item(), true)
  fails('expected sequence of length 2 at dim 2 %(got 1%)', function() return torch.tensor {{1, 2}, {3}} end)
  fails('but got a string', function() return torch.tensor {'a'} end)
end)

test('assignment of elements, rows, masks', function()
  local x = torch.zeros(2, 3)
  x[1] = 5
  x[{2, 3}] = 7
  x[x:eq(0)] = -1
  equals(x, 'tensor([[ 5.,  5.,  5.],\n        [-1., -1.,  7.]])')
  equals(#x, 2)
  local sum = 0
  for i, row in x:iter() do sum = sum + i * row:sum():item() end
  equals(sum, 25)
end)

test('errors are the library\'s and name the line of the caller', function()
  local x = torch.zeros(2, 3)
  local message = fails('The size of tensor a %(3%) must match the size of tensor b %(4%)', function() return x + torch.zeros(4) end)
  assert(message:find '^[^\n]*test.lua:%d+: ', message)
  fails('test.lua:%d+: dim 0: positions count from 1', function() return x:sum(0) end)
  fails("unknown argument 'shape'", function() return torch.zeros(2, {shape = 2}) end)
  fails("a Tensor has no field 'size_'", function() return x.size_ end)
  fails("Invalid device string: 'gpu'", function() return x:to 'gpu' end)
  fails('expects a function', function() return torch.no_grad() end)
  fails('positions count from 1', function() return x:gather(1, torch.zeros({1, 1}, {dtype = torch.int64})) end)
  fails('argument .self. .position 1. must be Tensor, not nil', function() return torch.relu(nil) end)
end)

test('gradients, no_grad, second derivatives', function()
  local w = torch.tensor({1, 2}, {requires_grad = true})
  local y = (w ^ 3):sum()
  local first = torch.autograd.grad(y, w, {create_graph = true})
  equals(first:detach(), 'tensor([ 3., 12.])')
  first:sum():backward()
  equals(w.grad, 'tensor([ 6., 12.])')
  w.grad = nil
  equals(w.grad, 'nil')
  equals(torch.no_grad(function() return (w * 2).requires_grad end), false)
  equals(torch.is_grad_enabled(), true)
  fails('stop', function() torch.no_grad(function() error 'stop' end) end)
  equals(torch.is_grad_enabled(), true)
  fails('does not require grad', function() torch.ones(1):backward() end)
  w.requires_grad = false
  equals(w.requires_grad, false)
end)

test('identity and sizes compare by ==', function()
  local x = torch.zeros(2, 3)
  assert(x.shape == torch.ones(2, 3).shape and x.shape ~= torch.ones(3, 2).shape)
  assert(x.device == torch.device 'cpu' and x.dtype == torch.float32)
  assert(x:cpu() == x and x:clone() ~= x and x ~= nil)
end)

test('a network learns xor with Adam', function()
  torch.manual_seed(1)
  local x = torch.tensor {{0, 0}, {0, 1}, {1, 0}, {1, 1}}
  local y = torch.tensor({1, 2, 2, 1}, {dtype = torch.int64}) -- classes count from 1
  local w1, b1 = torch.randn(8, 2, {requires_grad = true}), torch.zeros(8, {requires_grad = true})
  local w2, b2 = torch.randn(2, 8, {requires_grad = true}), torch.zeros(2, {requires_grad = true})
  local optimizer = torch.optim.Adam({w1, b1, w2, b2}, {lr = 0.05})
  local function forward() return F.linear(F.linear(x, w1, b1):tanh(), w2, b2) end
  local first, loss
  for _ = 1, 200 do
    optimizer:zero_grad()
    loss = F.cross_entropy(forward(), y)
    loss:backward()
    optimizer:step()
    first = first or loss:item()
  end
  assert(loss:item() < 0.05 and first > 0.5, ('%g to %g'):format(first, loss:item()))
  equals(forward():argmax(2), 'tensor([1, 2, 2, 1])')
end)

test('SGD with momentum takes the steps of its formula', function()
  local w = torch.tensor({1}, {requires_grad = true})
  local optimizer = torch.optim.SGD({w}, {lr = 0.1, momentum = 0.5})
  for _ = 1, 2 do
    optimizer:zero_grad();
    (w * 2):sum():backward()
    optimizer:step()
  end
  assert(math.abs(w:item() - 0.5) < 1e-6, w:item()) -- 1 - 0.1 * 2 - 0.1 * (0.5 * 2 + 2)
  fails("unknown argument 'rate'", function() return torch.optim.SGD({w}, {rate = 1}) end)
end)

test('a model of a file runs, is trained and saved', function()
  local expected = torch.load(folder .. '/expected.safetensors').output
  local model = torch.onnx.load(folder .. '/digits.onnx')
  local x = torch.ones(2, 4)
  for _ = 1, 3 do assert(torch.no_grad(model, x):allclose(expected)) end
  local file = assert(io.open(folder .. '/digits.onnx', 'rb'))
  assert(torch.onnx.load(file:read '*a')(x):allclose(expected))
  file:close()
  fails('none.onnx: No such file', function() return torch.onnx.load(folder .. '/none.onnx') end)
  fails('input', function() return model(torch.ones(2, 5)) end)
  local parameters = model:parameters()
  equals(#parameters, 4)
  local optimizer, first, last = torch.optim.SGD(parameters, {lr = 0.1}), nil, nil
  local target = torch.tensor({1, 2}, {dtype = torch.int64})
  x = torch.tensor {{1, 0, 0, 1}, {0, 1, 1, 0}}
  for _ = 1, 50 do
    optimizer:zero_grad()
    local loss = F.cross_entropy(model(x), target)
    loss:backward()
    optimizer:step()
    first, last = first or loss:item(), loss:item()
  end
  assert(last < first / 2, ('%g to %g'):format(first, last))
  model:save_state(folder .. '/trained.safetensors')
  local fresh = torch.onnx.load(folder .. '/digits.onnx')
  fresh:load_state(folder .. '/trained.safetensors')
  assert(fresh(x):allclose(model(x)))
end)

test('tensors are saved and loaded', function()
  local path = folder .. '/tensors.safetensors'
  torch.save({a = torch.tensor {1, 2}, b = torch.eye(2)}, path)
  local loaded = torch.load(path)
  equals(loaded.a, 'tensor([1., 2.])')
  equals(loaded.b:sum():item(), 2)
end)

-- Resident memory in MB.
local function resident()
  for line in io.lines '/proc/self/status' do
    local kb = line:match '^VmRSS:%s*(%d+)'
    if kb then return tonumber(kb) / 1024 end
  end
end

test('temporaries of a loop are collected without a call of collectgarbage', function()
  local x = torch.randn(1000, 1000)
  for _ = 1, 50 do x = (x * 1.0001 + 0.5):tanh() end
  local before = resident()
  for _ = 1, 500 do x = (x * 1.0001 + 0.5):tanh() end -- 6 GB
  assert(resident() - before < 200, resident() - before)
  local small = torch.ones(2)
  for _ = 1, 20000 do small = small + 1 end
  before = resident()
  for _ = 1, 200000 do small = small + 1 end
  assert(resident() - before < 100, resident() - before)
end)

test('an allocation that fails is repeated after a collection', function()
  local ffi = require 'ffi'
  ffi.cdef [[typedef struct lt_context lt_context; lt_context *lt_context_process(void);
    lt_status lt_context_set_memory_limit(lt_context *, lt_device, int64_t);
    lt_status lt_context_memory(const lt_context *, lt_device, int64_t *, int64_t *);]]
  local library = ffi.load(os.getenv 'LUA_PATH':match '^(.-)%?' .. 'libltensor.so.0')
  local process, cpu, used = library.lt_context_process(), ffi.new 'lt_device', ffi.new 'int64_t[1]'
  collectgarbage()
  collectgarbage()
  assert(library.lt_context_memory(process, cpu, used, nil) == 0)
  assert(library.lt_context_set_memory_limit(process, cpu, used[0] + 50 * 2 ^ 20) == 0)
  local ok, message = pcall(function()
    for _ = 1, 20 do torch.zeros(2 ^ 22) end -- 16 MB each
  end)
  local _, refused = pcall(torch.zeros, 2 ^ 25)
  assert(library.lt_context_set_memory_limit(process, cpu, 0x7fffffffffffffffLL) == 0)
  assert(ok, message)
  assert(refused:find 'memory', refused)
end)

test('failed calls and backward passes leak nothing', function()
  local w = torch.randn(300, 300, {requires_grad = true})
  local function pass()
    w.grad = nil
    w:mm(w):sum():backward()
    pcall(function() return w + torch.zeros(7) end)
  end
  for _ = 1, 50 do pass() end
  local before = resident()
  for _ = 1, 500 do pass() end
  assert(resident() - before < 100, resident() - before)
end)

print(('%d passed, %d failed'):format(passed, failed))
if failed > 0 then os.exit(1) end
