-- random_expressions_spec.lua - a hundred random expressions of each group of ops, on the CPU and on a GPU
-- (simulated or real): the same results and gradients, or an error on both. The seed is printed;
-- LTENSOR_TEST_SEED=n makes the same expressions again, LTENSOR_TEST_EXPRESSIONS=n more of them; LTENSOR_TEST_SAMPLE=n is the number in CI.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local expressions = dofile(here .. 'support/expressions.lua')
local model = dofile(here .. '../../scripts/gen/declarations.lua').load(here .. '../../src/ops')

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local seed = math.tointeger(tonumber(os.getenv 'LTENSOR_TEST_SEED' or os.getenv 'LTENSOR_TEST_SAMPLE_SEED' or 20))
local percent = tonumber(os.getenv 'LTENSOR_TEST_SAMPLE') or 100
local EXPRESSIONS = math.tointeger(tonumber(os.getenv 'LTENSOR_TEST_EXPRESSIONS')) or math.ceil(percent)
local ATTEMPTS, DEPTH = 200 * EXPRESSIONS, 3

-- Rounding differs by device, and by the order of sums.
local TOLERANCE = { float16 = 2e-2, bfloat16 = 6e-2, float32 = 2e-4, float64 = 1e-9, complex32 = 2e-2, complex64 = 2e-4, complex128 = 1e-9 }

-- What only the CPU looks for, as in PyTorch: the GPU would have to wait.
local unchecked = { 'ZeroDivisionError', 'q values must be in the range', 'number of ones in mask', 'var has negative entr',
  'input should be between 0 and 1', 'offsets[', 'value cannot be converted to type' }
local function is_unchecked(message)
  for _, text in ipairs(unchecked) do
    if message:find(text, 1, true) then return true end
  end
  return false
end

-- With k = 0 the result is the sign of the input, and the derivative what rounding leaves.
local left_by_rounding = { local_response_norm = true }

-- The elements, of complex ones both parts; of a tensor that would fill the memory (a meshgrid of three long vectors) those of a part.
local MOST = 100000
local function flat(t)
  t = t:detach()
  if t.layout ~= torch.strided then t = t:to_dense() end
  while t:numel() > MOST do t = t:dim() > 1 and t:select(1, (t:size(1) + 1) // 2) or t:narrow(1, 1, MOST) end
  t = t:cpu()
  return (t.dtype.is_complex and torch.view_as_real(t) or t):reshape(-1):tolist()
end

local function all_finite(t)
  for _, value in ipairs(flat(t)) do
    if not (math.abs(value) < math.huge) then return false end
  end
  return true
end

-- What differs between two results, or nil; the second value is whether they are equal to the bit.
-- floor: of which numbers no more than rounding is left, where they cancel.
local function difference(got, wanted, dtypes, floor)
  if torch.type(got) ~= torch.type(wanted) then return ('%s instead of %s'):format(torch.type(got), torch.type(wanted)) end
  if not torch.is_tensor(wanted) then
    if type(wanted) == 'number' and math.abs(got - wanted) <= 1e-4 * math.abs(wanted) then return nil, true end
    return got ~= wanted and ('%s instead of %s'):format(got, wanted) or nil, true
  end
  if got.dtype ~= wanted.dtype then return ('%s instead of %s'):format(got.dtype, wanted.dtype) end
  if tostring(got.shape) ~= tostring(wanted.shape) then return ('%s instead of %s'):format(got.shape, wanted.shape) end
  if wanted:is_contiguous() ~= got:is_contiguous() then return 'another layout' end
  local a, b = flat(got), flat(wanted)
  local largest, same = 0, true
  for _, value in ipairs(b) do
    if type(value) == 'number' and value == value and math.abs(value) < math.huge then largest = math.max(largest, math.abs(value)) end
  end
  local tolerance = TOLERANCE[(tostring(wanted.dtype):gsub('torch%.', ''))] or 0
  for dtype in pairs((wanted:is_floating_point() or wanted.dtype.is_complex) and dtypes or {}) do tolerance = math.max(tolerance, TOLERANCE[dtype] or 0) end
  for i, value in ipairs(b) do
    if a[i] ~= value and not (a[i] ~= a[i] and value ~= value) then
      same = false
      local integers = not (wanted:is_floating_point() or wanted.dtype.is_complex or wanted.dtype == torch.bool) and torch.iinfo(wanted.dtype)
      -- A number too large for an integer: GPUs take the largest there is, processors the smallest.
      local too_large = integers and a[i] == integers.max and value == integers.min
      local allowed = tolerance * (type(value) == 'number' and math.abs(value) + 0.05 * largest + (tolerance > 1e-2 and 3 or 5e-2) + (floor or 0) or 0)
      if type(value) ~= 'number' or not (too_large or math.abs(a[i] - value) <= allowed) then
        return ('element %d is %s instead of %s'):format(i, a[i], value)
      end
    end
  end
  return nil, same
end

local function has_repeats(t)
  local seen = {}
  for _, value in ipairs(flat(t)) do
    if value ~= value or seen[value] then return true end
    seen[value] = true
  end
  return false
end

local function run(call, side, gradient)
  local arguments = call[side]
  local self = call.first and call.first[side == 'host' and 1 or 2]
  local leaf = gradient and self
  if leaf then
    leaf = self:detach():requires_grad_()
    arguments = table.move(arguments, 1, #arguments, 1, {})
    arguments[1] = leaf
  end
  return pcall(function()
    local results = table.pack(call.f(table.unpack(arguments)))
    if type(results[1]) == 'table' then results = results[1] end
    if leaf and torch.is_tensor(results[1]) and results[1].requires_grad then
      local weights = torch.arange(results[1]:numel()):remainder(3):add(0.5):to(results[1].dtype):to(results[1].device)
      results[1]:backward(weights:reshape(results[1].shape))
      results.gradient = leaf.grad
    end
    if side == 'device' then torch.cuda.synchronize(device) end -- what kernels find is reported when one waits
    return results
  end)
end

-- Runs a call on both sides. Returns whether they gave results, and those when they can be built upon.
local function compare(call)
  local self = call.first and call.first[1]
  local gradient = self and self:is_floating_point() and math.random() < 0.4
  local host_ok, host = run(call, 'host', gradient)
  local device_ok, on_device = run(call, 'device', gradient)
  if not device_ok then pcall(torch.cuda.synchronize, device) end -- or the next one would report what is still to come
  local function fail(what)
    error(('%s\n  %s\nLTENSOR_TEST_SEED=%d makes it again'):format(call.text, what, seed), 0)
  end
  if host_ok ~= device_ok then
    if tostring(on_device):find 'not available on cuda' or not host_ok and is_unchecked(tostring(host)) then return false end
    fail(host_ok and 'fails on the GPU only: ' .. tostring(on_device) or 'fails on the CPU only: ' .. tostring(host))
  end
  if not host_ok then return false end
  -- The segments of lengths that are not checked, such as negative ones, depend on the steps of a search.
  if call.op.name == 'segment_reduce' and call.text:find('unsafe = true', 1, true) then return true end
  -- Which elements a NaN or infinity reaches depends on the order of a transform's steps.
  if call.op.name:find '^fft_' and self and not torch.isfinite(self):all():item() then return true end
  local tied = self and has_repeats(self)
  local same = true
  for i, wanted in ipairs(host) do
    local declared = call.op.returns[i] or call.op.returns[1]
    -- Which of equal elements is named is free, and so is the order of what follows.
    if not (tied and declared and declared.type == 'IndexTensor') then
      local text, equal = difference(on_device[i], wanted, call.dtypes)
      if text then fail(('result %d: %s'):format(i, text)) end
      same = same and equal
    end
  end
  -- Of an infinite result (a window without elements) no element is the cause.
  if host.gradient and not tied and not left_by_rounding[call.op.name] and all_finite(host[1]) then
    local text = difference(on_device.gradient, host.gradient, call.dtypes, 0.2)
    if text and text ~= 'another layout' then fail('gradient: ' .. text) end
  end
  local buildable = same and not tied and torch.is_tensor(host[1]) and host[1]:numel() < 2000 and not host[1].requires_grad
  return true, buildable and { host[1], on_device[1], tensor = true } or nil
end

if device ~= 'cpu' then
  io.stderr:write(('random expressions: LTENSOR_TEST_SEED=%d\n'):format(seed))
  describe('random expressions agree on the CPU and on ' .. device .. ':', function()
    -- The CPU has no TF32, which convolutions on a GPU take unless they are told not to.
    local cudnn = torch.backends.cudnn
    local allowed = cudnn.allow_tf32
    setup(function() cudnn.allow_tf32 = false end)
    teardown(function() cudnn.allow_tf32 = allowed end)

    for _, group in ipairs(model.groups) do
      local ops = expressions.ops_of(model, group)
      -- The weights of recurrent layers are hardly ever drawn with shapes that fit; nn_recurrent_spec compares the devices.
      if group ~= 'linalg' and group ~= 'recurrent' and #ops > 0 then
        it(group, function()
          local sum = 0
          for i = 1, #group do sum = sum * 31 + group:byte(i) end
          math.randomseed(seed, sum)
          local made, attempts = 0, 0
          while made < EXPRESSIONS do
            attempts = attempts + 1
            if attempts > ATTEMPTS then break end
            local value, worked
            for depth = 1, math.random(DEPTH) do
              local call = expressions.call_of(ops[math.random(#ops)], device, value)
              if not call then break end
              worked, value = compare(call)
              if depth == 1 and worked then made = made + 1 end
              if not value then break end
            end
          end
          assert(made == EXPRESSIONS, ('%d expressions in %d attempts'):format(made, ATTEMPTS))
        end)
      end
    end
  end)
end
