-- opcheck.lua - torch.library.opcheck: tests of an own operation on the arguments of a call.

local torch = require 'torch'
local definition = require 'torch.library.definition'
local fail = require 'torch.support.fail'
local C = torch._C
local is_tensor = torch.is_tensor

local TESTS = { 'test_schema', 'test_autograd_registration', 'test_faketensor', 'test_aot_dispatch_dynamic' }

-- Applies f to each tensor in a table of arguments.
local function map(x, f)
  if is_tensor(x) then return f(x) end
  if type(x) ~= 'table' or getmetatable(x) ~= nil then return x end
  local copy = {}
  for key, entry in pairs(x) do copy[key] = map(entry, f) end
  return copy
end

-- A call of f with new copies of the tensors; returns the results and the copies.
local function call(f, args, kwargs)
  local function copy(t) return t:detach():clone():requires_grad_(t.requires_grad) end
  local given, named = map(args, copy), map(kwargs, copy)
  local n = #args
  if next(named) ~= nil then
    n = n + 1
    given[n] = named
  end
  return table.pack(f(table.unpack(given, 1, n))), given, named
end

local function same(a, b, atol, rtol)
  if is_tensor(a) then
    return is_tensor(b) and a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a:double(), b:double(), { atol = atol or 1e-5, rtol = rtol or 1e-5, equal_nan = true })
  end
  if type(a) == 'table' then
    for i = 1, math.max(#a, #b) do
      if not same(a[i], b[i], atol, rtol) then return false end
    end
    return true
  end
  return a == b
end

local function any_requires_grad(...)
  local found = false
  for i = 1, select('#', ...) do
    map(select(i, ...), function(t)
      found = found or t.requires_grad
      return t
    end)
  end
  return found
end

local tests = {}

-- Arguments that the schema does not mark as written keep their values.
function tests.test_schema(name, f, o)
  local before = map(o.args, function(t) return t:detach():clone() end)
  local _, given = torch.no_grad(call, f, o.args, o.kwargs)
  for i, argument in ipairs(C.own_arguments(name)) do
    if not argument.writes and is_tensor(given[i]) and not torch.equal(given[i], before[i]) then
      fail("opcheck(): %s changed its argument '%s', but the schema does not declare it; pass mutates_args = {'%s'}", name, argument.name, argument.name)
    end
  end
end

-- A derivative exists if an argument requires a gradient.
function tests.test_autograd_registration(name, f, o)
  if not any_requires_grad(o.args, o.kwargs) then return end
  if definition.has(name, 'backward') == false then
    fail('opcheck(): an argument of %s requires grad, but the operation has no derivative; call torch.library.register_autograd', name)
  end
  local results, given, named = call(f, o.args, o.kwargs)
  local sum
  map(results, function(t)
    if t.requires_grad then sum = sum and sum + t:abs():sum() or t:abs():sum() end
    return t
  end)
  if not sum then fail('opcheck(): an argument of %s requires grad, but no result does', name) end
  sum:backward()
  map({ given, named }, function(t)
    if t.requires_grad and t.grad and t.grad.shape ~= t.shape then fail('opcheck(): a gradient of %s has sizes other than its argument', name) end
    return t
  end)
end

-- The fake function returns tensors like the results.
function tests.test_faketensor(name, f, o)
  local writes = false
  for _, argument in ipairs(C.own_arguments(name)) do writes = writes or argument.writes end
  local has = definition.has(name, 'fake')
  if has == false and writes then fail('opcheck(): %s writes to arguments and has no fake function; call torch.library.register_fake', name) end
  if has == false then fail('opcheck(): %s has no fake function; call torch.library.register_fake', name) end
  local expected = torch.no_grad(call, f, o.args, o.kwargs)
  local got = torch.no_grad(call, C.own_function(name, 'infer'), o.args, o.kwargs)
  for i = 1, expected.n do
    local a, b = expected[i], got[i]
    if is_tensor(a) and not (is_tensor(b) and a.shape == b.shape and a.dtype == b.dtype and a.device == b.device) then
      fail('opcheck(): result %d of %s is %s of sizes %s on %s, but the fake function returned %s of sizes %s on %s', i, name, tostring(a.dtype), tostring(a.shape),
        tostring(a.device), tostring(b.dtype), tostring(b.shape), tostring(b.device))
    end
  end
end

-- torch.compile does not change the results.
function tests.test_aot_dispatch_dynamic(name, f, o)
  local expected = torch.no_grad(call, f, o.args, o.kwargs)
  local got = torch.no_grad(call, torch.compile(f, { options = { min_numel = 1 } }), o.args, o.kwargs)
  for i = 1, expected.n do
    if not same(expected[i], got[i], o.atol, o.rtol) then fail('opcheck(): result %d of %s differs in torch.compile', i, name) end
  end
end

return function(options)
  local name = definition.name_of('opcheck', options.op)
  local f = C.own_function(name)
  if not f then fail("opcheck(): no operation '%s' is registered", name) end
  options.kwargs = options.kwargs or {}
  local wanted, results = options.test_utils or TESTS, {}
  for _, test in ipairs(type(wanted) == 'string' and { wanted } or wanted) do
    if not tests[test] then fail("opcheck(): unknown test '%s'; the tests are %s", tostring(test), table.concat(TESTS, ', ')) end
    local ok, message = pcall(tests[test], name, f, options)
    if not ok and options.raise_exception then error(message, 0) end
    results[test] = ok and 'SUCCESS' or message
  end
  return results
end
