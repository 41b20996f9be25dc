-- testing.lua - torch.testing: assert_close, which reports the largest difference, and make_tensor,
-- tensors for tests.

--[=[ arguments
actual: Value to check: a tensor, a number or a table of them.
expected: Expected value of the same form.
allow_subclasses: Accepted for compatibility; it has no effect.
rtol: Relative tolerance; it follows from the dtype if absent.
atol: Absolute tolerance; it follows from the dtype if absent.
equal_nan: Whether NaN equals NaN.
check_device: Whether the devices must be equal.
check_dtype: Whether the dtypes must be equal.
check_layout: Whether the layouts must be equal.
check_stride: Whether the strides must be equal.
msg: Message of the error, or a function of the default message.
low: Lower bound.
high: Upper bound.
noncontiguous: Whether the tensor is not contiguous.
exclude_zero: Whether zeros are replaced.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local testing = {}

-- Tolerances of these dtypes: relative, absolute.
local TOLERANCES = { [torch.float16] = { 1e-3, 1e-5 }, [torch.bfloat16] = { 1.6e-2, 1e-5 }, [torch.float32] = { 1.3e-6, 1e-5 },
  [torch.float64] = { 1e-7, 1e-7 } }

local function tolerances(a, b)
  local one, other = TOLERANCES[a.dtype] or { 0.0, 0.0 }, TOLERANCES[b.dtype] or { 0.0, 0.0 }
  return math.max(one[1], other[1]), math.max(one[2], other[2])
end

local function position(shape, at)
  local rest, list = at - 1, {}
  for d = #shape, 1, -1 do
    list[d] = rest % shape[d] + 1
    rest = rest // shape[d]
  end
  return '(' .. table.concat(list, ', ') .. (#shape == 1 and ',)' or ')')
end

local function shape_of(x) return 'torch.Size([' .. table.concat({ table.unpack(x.shape) }, ', ') .. '])' end

local function say(options, message)
  local own = options.msg
  if type(own) == 'function' then message = own(message) elseif own ~= nil then message = own end
  fail('%s', message)
end

local function compare_tensors(actual, expected, options, where)
  if shape_of(actual) ~= shape_of(expected) then
    say(options, ("The values for attribute 'shape' do not match: %s != %s.%s"):format(shape_of(actual), shape_of(expected), where))
  end
  if options.check_device ~= false and actual.device ~= expected.device then
    say(options, ("The values for attribute 'device' do not match: %s != %s.%s"):format(tostring(actual.device), tostring(expected.device), where))
  end
  if options.check_dtype ~= false and actual.dtype ~= expected.dtype then
    say(options, ("The values for attribute 'dtype' do not match: %s != %s.%s"):format(tostring(actual.dtype), tostring(expected.dtype), where))
  end
  if options.check_stride and table.concat(actual:stride(), ',') ~= table.concat(expected:stride(), ',') then
    say(options, 'The values for attribute \'stride()\' do not match.' .. where)
  end
  local rtol, atol = tolerances(actual, expected)
  rtol, atol = options.rtol or rtol, options.atol or atol
  local exact = not actual.dtype.is_floating_point and not expected.dtype.is_floating_point and rtol == 0 and atol == 0
  local a, b = actual:detach():to { device = expected.device }, expected:detach()
  if a.dtype == torch.bool and b.dtype == torch.bool then a, b = a:to(torch.int64), b:to(torch.int64) end
  local wide = exact and torch.int64 or torch.float64
  a, b = a:to(wide), b:to(wide)
  local close = exact and a:eq(b) or torch.isclose(a, b, { rtol = rtol, atol = atol, equal_nan = options.equal_nan or false })
  local bad = close:logical_not():flatten()
  local n, total = bad:sum():item(), bad:numel()
  if n == 0 then return end
  local distance = torch.where(bad, (a - b):abs():flatten():to(torch.float64), 0.0)
  local relative = torch.where(bad, distance / b:abs():flatten():to(torch.float64), 0.0)
  local kind = exact and 'equal' or 'close'
  if a.ndim == 0 then
    say(options, ('Scalars are not %s!\n\nExpected %s but got %s.\nAbsolute difference: %s (up to %s allowed)\nRelative difference: %s (up to %s allowed)%s'):format(
      kind, tostring(b:item()), tostring(a:item()), tostring(distance:max():item()), tostring(atol), tostring(relative:max():item()), tostring(rtol), where))
  end
  local allowed = exact and '' or ' (up to %s allowed)'
  say(options, ('Tensor-likes are not %s!\n\nMismatched elements: %d / %d (%.1f%%)\nGreatest absolute difference: %s at index %s%s\nGreatest relative difference: %s at index %s%s%s'):format(
    kind, n, total, 100 * n / total, tostring(distance:max():item()), position(a.shape, distance:argmax():item()), allowed:format(tostring(atol)),
    tostring(relative:max():item()), position(a.shape, relative:argmax():item()), allowed:format(tostring(rtol)), where))
end

local function compare(actual, expected, options, where)
  if type(actual) == 'table' and type(expected) == 'table' and not torch.is_tensor(actual) then
    for key, value in pairs(actual) do compare(value, expected[key], options, ('\n\nThe failure occurred for item [%s]'):format(tostring(key))) end
    for key in pairs(expected) do
      if actual[key] == nil then say(options, ('The keys of the tables do not match: %s is missing.%s'):format(tostring(key), where)) end
    end
    return
  end
  local numbers = type(actual) == 'number' and type(expected) == 'number'
  if numbers then
    options = setmetatable({ check_dtype = false }, { __index = options })
    actual, expected = torch.tensor(actual, { dtype = torch.float64 }), torch.tensor(expected, { dtype = torch.float64 })
  end
  if torch.is_tensor(actual) and torch.is_tensor(expected) then return compare_tensors(actual, expected, options, where) end
  if actual ~= expected then
    say(options, ('No comparison pair was able to handle inputs of type %s and %s.%s'):format(torch.type(actual), torch.type(expected), where))
  end
end

--- Raises an error unless two tensors, numbers or tables of them are close, |actual - expected| <=
--- atol + rtol
--- * |expected|, and of the same shape, dtype and device. Named: rtol, atol (defaults by dtype),
---   equal_nan,
--- check_device, check_dtype, check_stride, msg (a text, or a function of the message).
function testing.assert_close(actual, expected, options)
  if (options.rtol == nil) ~= (options.atol == nil) then
    fail('rtol and atol must both be specified or both be unspecified, but only one was given')
  end
  compare(actual, expected, options, '')
end

--- A tensor for tests: uniform numbers between low and high. Named: dtype, device, low, high,
-- requires_grad, noncontiguous, exclude_zero.
function testing.make_tensor(dtype, device, low, high, requires_grad, noncontiguous, exclude_zero, ...)
  local first = ...
  local shape = type(first) == 'number' and { ... } or first or {}
  dtype = dtype or torch.get_default_dtype()
  local how = { dtype = dtype.is_floating_point and dtype or torch.int64, device = device }
  local wide = table.move(shape, 1, #shape, 1, {})
  if noncontiguous and #wide > 0 then wide[#wide] = wide[#wide] * 2 end
  local x
  if dtype == torch.bool then
    x = torch.randint(0, 2, wide, how):to(torch.bool)
  elseif dtype.is_floating_point then
    x = torch.rand(wide, how) * ((high or 9) - (low or -9)) + (low or -9)
  else
    x = torch.randint(math.ceil(low or (dtype == torch.uint8 and 0 or -9)), math.floor(high or 10), wide, how):to(dtype)
  end
  if noncontiguous and #wide > 0 then x = x:unfold(-1, 1, 2):squeeze(-1) end
  if exclude_zero then x = torch.where(x:eq(0), 1, x):to(dtype) end
  return requires_grad and x:requires_grad_() or x
end

declare.functions(testing, [[
  assert_close(any actual, any expected, *, boolean allow_subclasses=true, number? rtol, number? atol, boolean equal_nan=false,
    boolean check_device=true, boolean check_dtype=true, boolean check_layout=true, boolean check_stride=false, any? msg)
]], 'options')
declare.functions(testing, [[
  make_tensor(..., dtype? dtype, device? device, number? low, number? high, boolean requires_grad=false, boolean noncontiguous=false,
    boolean exclude_zero=false)
]])

return testing
