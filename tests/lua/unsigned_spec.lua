-- unsigned_spec.lua - uint16, uint32 and uint64: what they convert to, what can be computed with them, and how what cannot says so.

local torch = require 'torch'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function tensor(values, dtype) return torch.tensor(values, { dtype = torch[dtype or 'uint16'], device = device }) end
local function equal(expected, got)
  assert.equal(expected.dtype, got.dtype)
  if not expected:equal(got) then error(('%s\nis not\n%s'):format(tostring(got), tostring(expected)), 2) end
end
local function refused(text, f, ...)
  local arguments = table.pack(...)
  assert.error_matches(function() f(table.unpack(arguments, 1, arguments.n)) end, text, 1, true)
end

local names = { 'uint16', 'uint32', 'uint64' }
local bits = { uint16 = 16, uint32 = 32, uint64 = 64 }

describe('an unsigned integer', function()
  it('is printed without a sign', function()
    assert.equal("tensor([65535,     7], dtype=torch.uint16)", tostring(tensor { -1, 7 }:cpu()))
    assert.equal("tensor([4294967295,          7], dtype=torch.uint32)", tostring(tensor({ -1, 7 }, 'uint32'):cpu()))
    assert.equal("tensor([18446744073709551615], dtype=torch.uint64)", tostring(tensor({ -1 }, 'uint64'):cpu()))
  end)

  it('becomes a Lua integer where there is such a one, the nearest float above', function()
    assert.equal(65535, tensor({ -1 }):item())
    assert.equal('integer', math.type(tensor({ math.maxinteger }, 'uint64'):item()))
    assert.equal(2.0 ^ 64, tensor({ -1 }, 'uint64'):item())
    equal(tensor({ 1 << 63 }, 'uint64'), torch.full({ 1 }, 2.0 ^ 63, { dtype = torch.uint64, device = device }))
    refused('without overflow', torch.full, { 1 }, 65536, { dtype = torch.uint16, device = device })
    refused('without overflow', torch.full, { 1 }, 2.0 ^ 64, { dtype = torch.uint64, device = device })
  end)

  it('is converted from and to every dtype', function()
    for _, name in ipairs(names) do
      local x = tensor({ 1 << (bits[name] - 1), 7, 0 }, name)
      local high = 2.0 ^ (bits[name] - 1)
      equal(tensor({ high, 7, 0 }, 'float64'), x:double())
      equal(tensor({ high, 7, 0 }, 'float32'), x:float())
      equal(tensor({ high, 7, 0 }, 'bfloat16'), x:bfloat16())
      equal(tensor({ high <= 65504 and high or math.huge, 7, 0 }, 'float16'), x:half())
      equal(tensor({ torch.complex(high, 0), 7, 0 }, 'complex128'), x:to(torch.complex128))
      equal(tensor({ true, true, false }, 'bool'), x:bool())
      equal(tensor({ 0, 7, 0 }, 'uint8'), x:to(torch.uint8))
      equal(tensor({ 1 << (bits[name] - 1), 7, 0 }, 'int64'), x:to(torch.int64))
      for _, other in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64', 'complex64',
        'uint16', 'uint32', 'uint64' } do
        equal(tensor({ 1, 0, 1 }, name), tensor({ 1, 0, 1 }, other):to(torch[name]))
        equal(tensor({ 1, 0, 1 }, other), tensor({ 1, 0, 1 }, name):to(torch[other]))
      end
      equal(tensor({ -1, 5, 0 }, name), tensor({ -1, 5, 0 }, 'int8'):to(torch[name]))
      equal(tensor({ -1, 5, 300 }, name), tensor({ -1.5, 5.9, 300.1 }, 'float32'):to(torch[name]))
      equal(tensor({ 1 << (bits[name] - 1), 2 }, name), tensor({ 2.0 ^ (bits[name] - 1), 2 }, 'float64'):to(torch[name]))
    end
    equal(tensor({ 65535, 40000 }, 'uint64'), tensor { 65535, 40000 }:to(torch.uint64))
    equal(tensor { 65535, 1 }, tensor({ -1, 65537 }, 'uint64'):to(torch.uint16))
  end)

  it('is converted out of every layout', function()
    local x = torch.arange(60000, 60024, { dtype = torch.int64, device = device }):view(4, 6)
    local u = x:to(torch.uint16)
    for _, view in ipairs { function(t) return t:t() end, function(t) return t[{ {}, { 2, 5 } }] end, function(t) return t:flip(2)[{ { 2, 3 } }]:t() end,
      function(t) return t[{ 1 }]:expand(3, 6) end } do
      equal(view(x), view(u):to(torch.int64))
      equal(view(x):double(), view(u):double())
      equal(view(u):clone(), view(x):to(torch.uint16):clone())
    end
  end)

  it('wraps in sums, differences, products and shifts', function()
    for _, name in ipairs(names) do
      local x, y = tensor({ -1, 3, 9 }, name), tensor({ 2, 5, 9 }, name)
      equal(tensor({ 1, 8, 18 }, name), x + y)
      equal(tensor({ -3, -2, 0 }, name), x - y)
      equal(tensor({ -2, 15, 81 }, name), x * y)
      equal(tensor({ 1, -3, -9 }, name), -x)
      equal(tensor({ 0, 4, 10 }, name), x + 1)
      equal(tensor({ -2, 6, 18 }, name), x << 1)
      equal(tensor({ 2, 1, 9 }, name), x & y)
      equal(tensor({ 0, -4, -10 }, name), ~x)
      equal(tensor({ false, false, true }, 'bool'), x:eq(y))
      equal(tensor({ true, true, false }, 'bool'), x:ne(y))
      equal(tensor({ 2, 3, 9 }, name), torch.where(tensor({ false, true, true }, 'bool'), x, y))
      x:add_(y, { alpha = 2 })
      equal(tensor({ 3, 13, 27 }, name), x)
      x:mul_(2)
      equal(tensor({ 6, 26, 54 }, name), x)
      equal(tensor({ 3.0, 13.0, 27.0 }, 'float32'), x * 0.5)
      equal(tensor({ 6, 26, 54 }, 'float32'):sqrt(), x:sqrt())
      equal(tensor({ 8.5, 31.5, 63.5 }, 'float64'), tensor({ 2.5, 5.5, 9.5 }, 'float64') + x)
    end
  end)

  it('is compared', function()
    for _, name in ipairs(names) do
      local x, y = tensor({ -1, 3, 9 }, name), tensor({ 2, 5, 9 }, name)
      equal(tensor({ false, true, false }, 'bool'), x:lt(y))
      equal(tensor({ true, false, true }, 'bool'), x:ge(y))
      equal(tensor({ true, false, true }, 'bool'), x:gt(4))
      equal(tensor({ -1, 5, 9 }, name), torch.maximum(x, y))
      equal(tensor({ 2, 3, 9 }, name), x:fmin(y))
    end
  end)

  it('of 16 and 32 bits is divided', function()
    for _, name in ipairs { 'uint16', 'uint32' } do
      local x, y = tensor({ -1, 3, 9 }, name), tensor({ 2, 5, 9 }, name)
      equal(tensor({ (1 << bits[name]) // 4 - 1, 0, 2 }, name), x // 4)
      equal(tensor({ 1, 3, 0 }, name), x % y)
      equal(tensor({ 4, 4, 9 }, name), x:clamp(4, 9):minimum(tensor({ 4, 7, 9 }, name)))
      equal(tensor({ (1 << (bits[name] - 1)) - 1, 1, 4 }, name), x >> 1)
    end
    refused([["floor_divide" not implemented for 'UInt64']], torch.floor_divide, tensor({ 1 }, 'uint64'), 2)
  end)

  it('mixes with floats alone', function()
    refused('Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Int', torch.add, tensor { 1 }, tensor({ 1 }, 'int32'))
    refused('attempted to promote UInt16 and UInt32', torch.add, tensor { 1 }, tensor({ 1 }, 'uint32'))
    refused('attempted to promote UInt16 and Bool', torch.cat, { tensor { 1 }, tensor({ true }, 'bool') })
    refused('attempted to promote UInt16 and Long', torch.stack, { tensor { 1 }, tensor({ 1 }, 'int64') })
    equal(tensor({ 1.0, 2.0 }, 'float16'), torch.cat { tensor { 1 }, tensor({ 2 }, 'float16') })
  end)

  it('is summed as int64 and looked at for truth', function()
    for _, name in ipairs { 'uint16', 'uint32' } do
      local x = tensor({ { -1, 7 }, { 0, 2 } }, name)
      local most = (1 << bits[name]) - 1
      equal(torch.tensor(most + 9, { device = device }), x:sum())
      equal(tensor({ most, 9 }, 'int64'), x:sum(1))
      equal(tensor({ { most, most + 7 }, { 0, 2 } }, 'int64'), x:cumsum(2))
      equal(tensor({ 7 * most, 0 }, 'int64'), x:prod(2))
      equal(tensor({ true, false }, 'bool'), x:all(2))
      equal(tensor({ true, true }, 'bool'), x:any(1))
      equal(torch.tensor(3, { device = device }), x:count_nonzero())
      equal(tensor({ { 1, 1 }, { 1, 2 }, { 2, 2 } }, 'int64'), x:nonzero())
      equal(tensor({ most + 0.0, 9.0 }, 'float64'), x:sum(1, { dtype = torch.float64 }))
    end
  end)

  it('is sorted', function()
    for _, name in ipairs(names) do
      local x = tensor({ 7, -1, 7, 0 }, name)
      local values, places = x:sort()
      equal(tensor({ 0, 7, 7, -1 }, name), values)
      equal(tensor({ 4, 1, 3, 2 }, 'int64'), places)
      equal(tensor({ 2, 1, 3, 4 }, 'int64'), x:argsort { descending = true })
      equal(tensor({ -1, 7 }, name), (x:topk(2)))
      equal(tensor({ 0, 7, -1 }, name), (x:unique()))
    end
  end)

  it('is moved by every kind of index', function()
    for _, name in ipairs(names) do
      local x = tensor({ { -1, 7, 3 }, { 0, 2, 9 } }, name)
      local first = torch.tensor({ 1 }, { device = device })
      equal(tensor({ { -1, 7, 3 } }, name), x:index_select(1, first))
      equal(tensor({ { -1 }, { 0 } }, name), x:gather(2, torch.ones(2, 1, { dtype = torch.int64, device = device })))
      equal(tensor({ -1, 7, 3, 2, 9 }, name), x[x:ne(0)])
      equal(tensor({ { 4, 7, 3 }, { 4, 2, 9 } }, name), x:index_fill(2, first, 4))
      equal(tensor({ { 0, 7, 3 }, { 0, 2, 9 } }, name), x:masked_fill(x:eq(tensor({ -1 }, name)), 0))
      equal(tensor({ { -2, 14, 6 }, { 0, 2, 9 } }, name), x:index_add(1, first, x[{ { 1, 1 } }]))
      equal(tensor({ { 1, 7, 3 }, { 0, 2, 9 } }, name), x:scatter_add(1, torch.ones(1, 1, { dtype = torch.int64, device = device }), tensor({ { 2 } }, name)))
      equal(tensor({ { 3, 7, -1 }, { 9, 2, 0 } }, name), x:flip(2))
      equal(tensor({ { -1, 0 }, { 7, 2 }, { 3, 9 } }, name), x:t():contiguous())
      equal(tensor({ 0, -1, 7, 3, 0 }, name), torch.nn.functional.pad(x[1], { 1, 1 }))
      local y = x:clone()
      y[{ 1, 2 }] = 5
      y[{ 2 }] = x[{ 1 }]
      equal(tensor({ { -1, 5, 3 }, { -1, 7, 3 } }, name), y)
    end
  end)

  it('is made as other integers are', function()
    for _, name in ipairs(names) do
      local how = { dtype = torch[name], device = device }
      equal(tensor({ 0, 2, 4 }, name), torch.arange(0, 6, 2, how))
      equal(tensor({ { 1, 0 }, { 0, 1 } }, name), torch.eye(2, how))
      equal(tensor({ 1, 1 }, name), torch.ones(2, how))
      local drawn = torch.randint(3, 5, { 100 }, how)
      assert.is_true(drawn:to(torch.int64):ge(3):all():item() and drawn:to(torch.int64):lt(5):all():item())
      local info = torch.iinfo(torch[name])
      assert.equal(0, info.min)
      assert.equal(2.0 ^ bits[name] - (name == 'uint64' and 0 or 1), info.max)
    end
  end)

  it('an unsupported op of an unsigned integer is an error that says not implemented', function()
    local x = tensor { { 1, 2 }, { 3, 4 } }
    for _, name in ipairs { 'matmul', 'mm' } do refused("not implemented for 'UInt16'", torch[name], x, x) end
    for _, name in ipairs { 'max', 'amax', 'argmax', 'aminmax' } do refused("not implemented for 'UInt16'", torch[name], x) end
    for _, name in ipairs { 'cummax', 'cummin' } do refused("not implemented for 'UInt16'", torch[name], x, 1) end
    refused("not implemented for 'UInt16'", torch.scatter_reduce, x, 1, torch.ones(1, 1, { dtype = torch.int64, device = device }), x, 'amax')
    refused("not implemented for 'UInt16'", x.random_, x)
    refused("not implemented for 'UInt16'", torch.nn.functional.conv2d, x:view(1, 1, 2, 2), x:view(1, 1, 2, 2))
  end)

  it('goes into files and comes back', function()
    local path = os.tmpname()
    for _, name in ipairs(names) do
      local x = tensor({ -1, 7 }, name):cpu()
      for _, kind in ipairs { '.pt', '.npy', '.safetensors' } do
        torch.save(kind == '.npy' and x or { x = x }, path .. kind)
        local back = torch.load(path .. kind)
        equal(x, kind == '.npy' and back or back.x)
        os.remove(path .. kind)
      end
    end
    os.remove(path)
  end)
end)
