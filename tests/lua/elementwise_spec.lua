-- Every elementwise function of floating-point numbers: what an element gives depends on that element alone, not on how
-- many there are, where they lie or how far apart; and special values are what they are. The functions stand in
-- tests/accuracy/functions.lua, whose tool measures their errors.

local torch = require 'torch'
local reference = dofile((debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'support/reference.lua')
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local functions = dofile(here .. '../accuracy/functions.lua')
local device = reference.device

local names = {}
for name in pairs(functions) do names[#names + 1] = name end
table.sort(names)

local special = { 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 20.0, -20.0, 88.5, 89.0, -89.0, 89.4, 100.0, 710.1,
  65504.0, -65504.0, 3.4e38, -3.4e38, 1.7e308, -1.7e308, 1e-3, 6e-8, -6e-8, 1e-40, 1e-310, 5e-324, 1 / 0, -1 / 0, 0 / 0 }

-- n numbers, special ones and others in turns.
local function numbers(n, shift, dtype)
  local list, state = {}, 12345 + shift
  for i = 1, n do
    state = (state * 1103515245 + 12345) % 2 ^ 31 // 1
    list[i] = i % 2 == 0 and special[(i // 2 + shift) % #special + 1] or (state / 2 ^ 31 - 0.5) * 10.0 ^ (i % 5 - 1)
  end
  return torch.tensor(list, { dtype = torch.float64, device = device }):to(dtype)
end

-- The same bits, all nans being one.
local function same(a, b)
  if a.dtype == torch.bool then return a:eq(b):all():item() end
  local equal = a:eq(b):logical_and(a:reciprocal():eq(b:reciprocal())) -- 1 / 0 and 1 / -0 differ
  return equal:logical_or(a:isnan():logical_and(b:isnan())):logical_or(a:eq(b):logical_and(a:ne(0))):all():item()
end

local function check(name, got, wanted, what)
  if not same(got, wanted) then error(('%s %s: %s\nin a long vector: %s'):format(name, what, got, wanted), 0) end
end

local function call(f, arguments) return f.call(table.unpack(arguments, 1, f.arity)) end

-- Each argument as `view` makes it.
local function viewed(arguments, view)
  local list = {}
  for i, x in ipairs(arguments) do list[i] = view(x) end
  return list
end

describe('elementwise functions give an element the same', function()
  local N = 150
  for _, dtype in ipairs { 'float16', 'bfloat16', 'float32', 'float64' } do
    it(dtype .. ': at every length, place and stride', function()
      local arguments = { numbers(N, 0, torch[dtype]), numbers(N, 7, torch[dtype]), numbers(N, 18, torch[dtype]) }
      for _, name in ipairs(names) do
        local f = functions[name]
        local whole = call(f, arguments)
        for length = 1, 70 do
          local from = length % 67 + 1 -- places that are no multiple of a vector
          local got = call(f, viewed(arguments, function(x) return x:narrow(1, from, length) end))
          check(name, got, whole:narrow(1, from, length), ('of %d elements from %d on'):format(length, from))
        end
        local function spread(x)
          local wide = torch.zeros(N, 3, { dtype = x.dtype, device = device })
          wide[{ {}, 2 }] = x
          return wide:select(2, 2)
        end
        check(name, call(f, viewed(arguments, spread)), whole, 'of elements three apart')
        local function turned(x) return x:reshape(15, 10):t():contiguous():t() end
        check(name, call(f, viewed(arguments, turned)):reshape(N), whole, 'of columns')
        local third = call(f, viewed(arguments, function(x) return x[{ { 11, 11 } }]:expand(37) end))
        check(name, third, whole:narrow(1, 11, 1):expand(37), 'of one element for all')
      end
    end)
  end
end)

describe('the ends of the range', function()
  local function of(name, x, dtype) return torch[name](torch.tensor({ x }, { dtype = torch[dtype], device = device })):item() end

  it('acosh below 1 is nan', function()
    for _, dtype in ipairs { 'float16', 'bfloat16', 'float32', 'float64' } do
      for _, x in ipairs { 0.0, 0.99, -1.0, -4100.0, -65504.0, -1 / 0 } do
        local y = of('acosh', x, dtype)
        assert(y ~= y, ('acosh(%g) is %g in %s'):format(x, y, dtype))
      end
    end
  end)

  it('log1p goes on to the largest number', function()
    assert.is_true(math.abs(of('log1p', 3.4028234e38, 'float32') - 88.72283905) < 1e-5)
    assert.is_true(math.abs(of('log1p', 1.797e308, 'float64') - 709.7822) < 1e-3)
    assert.equal(1 / 0, of('log1p', 1 / 0, 'float32'))
  end)

  it('sinh and cosh end where their results do', function()
    for _, name in ipairs { 'sinh', 'cosh' } do
      assert.is_true(math.abs(of(name, 89.0, 'float32') / 2.2448063e38 - 1) < 1e-6)
      assert.is_true(math.abs(of(name, 710.0, 'float64') / 1.1169973830808557e308 - 1) < 1e-12)
      assert.equal(1 / 0, of(name, 89.5, 'float32'))
      assert.equal(1 / 0, of(name, 711.0, 'float64'))
    end
    assert.equal(-1 / 0, of('sinh', -89.5, 'float32'))
  end)

  it('fmod, remainder and floor_divide go on where quotients leave the range of the type and where operands are subnormal', function()
    local function of_two(name, a, b, dtype)
      local function many(x) return torch.full({ 40 }, x, { dtype = torch[dtype], device = device }) end
      return torch[name](many(a), many(b))[1]:item()
    end
    assert.equal(math.fmod(1.7e308, 5e-324), of_two('fmod', 1.7e308, 5e-324, 'float64'))
    assert.equal(math.fmod(1.7e308, 3e-10), of_two('fmod', 1.7e308, 3e-10, 'float64'))
    assert.equal(3e-10 - math.fmod(1.7e308, 3e-10), of_two('remainder', -1.7e308, 3e-10, 'float64'))
    assert.equal(2.0 ^ -149, of_two('fmod', 7 * 2.0 ^ -149, 3 * 2.0 ^ -149, 'float32'))
    assert.equal(2.0, of_two('floor_divide', 7 * 2.0 ^ -149, 3 * 2.0 ^ -149, 'float32'))
    assert.equal(2.0 ^ 100, of_two('fmod', 2.0 ^ 100, 1 / 0, 'float32'))
  end)

  it('a number divides as a tensor of it does, powers of two and others', function()
    for _, dtype in ipairs { 'float32', 'float64' } do
      local x = numbers(150, 3, torch[dtype])
      for _, by in ipairs { 8.0, -0.25, 3.0, 2.0 ^ 126, 2.0 ^ 127, 2.0 ^ -126, 2.0 ^ -127, 2.0 ^ -149, 2.0 ^ 1022, 2.0 ^ 1023, 2.0 ^ -1022, 5e-324,
        0.0, -0.0, 1 / 0, -1 / 0, 0 / 0 } do
        if dtype == 'float64' or math.abs(by) <= 2.0 ^ 127 or by ~= by or math.abs(by) == 1 / 0 then
          check('div', x / by, x / torch.full_like(x, by), ('%s by %a'):format(dtype, by))
        end
      end
    end
  end)

  it('fmod, remainder and floor_divide are exact up to the limit of quotients and beyond', function()
    for dtype, bits in pairs { float32 = 24, float64 = 53 } do
      local a, b, state = {}, {}, 99
      local function random()
        state = (state * 6364136223846793005 + 1442695040888963407)
        return (state >> 11) * 2.0 ^ -53
      end
      for i = 1, 4096 do
        local quotient = (random() - 0.5) * 2.0 ^ (i % (bits + 8) - 4)
        b[i] = (random() - 0.5) * 2.0 ^ (i % 40 - 20)
        a[i] = i % 3 == 0 and math.floor(quotient) * b[i] or quotient * b[i]
      end
      local x, y = torch.tensor(a, { dtype = torch[dtype], device = device }), torch.tensor(b, { dtype = torch[dtype], device = device })
      a, b = x:tolist(), y:tolist()
      local mods, rests = {}, {}
      for i = 1, #a do
        mods[i] = math.fmod(a[i], b[i])
        rests[i] = mods[i] ~= 0 and (mods[i] < 0) ~= (b[i] < 0) and mods[i] + b[i] or mods[i]
      end
      check('fmod', torch.fmod(x, y), torch.tensor(mods, { dtype = torch[dtype], device = device }), dtype)
      check('remainder', torch.remainder(x, y), torch.tensor(rests, { dtype = torch[dtype], device = device }), dtype)
    end
  end)

  it('integers of every size are divided exactly, alone and beside others', function()
    local most, sizes = 1 << 50, { 0, 1, -1, 2, -3, 7, 1 << 40, math.maxinteger, math.mininteger, math.mininteger + 1 }
    for _, size in ipairs { most, -most } do
      for step = -1, 1 do sizes[#sizes + 1] = size + step end
    end
    local a, b = {}, {}
    for _, x in ipairs(sizes) do
      for _, y in ipairs(sizes) do
        if y ~= 0 then a[#a + 1], b[#b + 1] = x, y end
      end
    end
    for i = 1, 4000 do -- multiples and their neighbours, by sixteens that are all small
      local y = (i * 7919 % 100003 + 1) * (i % 2 == 0 and 1 or -1) * (1 << i % 24)
      a[#a + 1], b[#b + 1] = y * (i * 31 % 1009 - 500) + i % 3 - 1, y
    end
    local x, y = torch.tensor(a, { dtype = torch.int64, device = device }), torch.tensor(b, { dtype = torch.int64, device = device })
    local quotients, rests = (x // y):tolist(), (x % y):tolist()
    for i = 1, #a do
      assert.equal(a[i] // b[i], quotients[i], a[i] .. ' // ' .. b[i])
      assert.equal(a[i] % b[i], rests[i], a[i] .. ' % ' .. b[i])
    end
    local every = torch.stack({ x, x }, 2):select(2, 1) -- every other place
    assert.same((x // 7):tolist(), (every // 7):tolist())
    assert.same((x % -7):tolist(), (every % -7):tolist())
  end)

  it('of 0 and -0 fmin and fmax take the first', function()
    for _, name in ipairs { 'fmin', 'fmax' } do
      local plus, minus = torch.zeros(20, { device = device }), -torch.zeros(20, { device = device })
      assert.equal(1 / 0, torch[name](plus, minus)[3]:reciprocal():item())
      assert.equal(-1 / 0, torch[name](minus, plus)[3]:reciprocal():item())
    end
  end)

  it('asinh and acosh go on to the largest number', function()
    for _, name in ipairs { 'asinh', 'acosh' } do
      assert.is_true(math.abs(of(name, 3.4e38, 'float32') - 89.4151) < 1e-4)
      assert.is_true(math.abs(of(name, 1.7e308, 'float64') - 710.41999) < 1e-4)
      for _, x in ipairs { 1e8, 2e9, 0.99e17, 1.01e17, 1e20 } do
        assert.is_true(math.abs(of(name, x, 'float64') / (math.log(x) + math.log(2)) - 1) < 1e-15, name .. '(' .. x .. ')')
      end
    end
  end)

  it('the least number comes through', function()
    for _, name in ipairs { 'tan', 'log1p', 'sin', 'atan', 'asinh', 'sinh', 'tanh', 'expm1' } do
      assert.equal(2.0 ^ -149, of(name, 2.0 ^ -149, 'float32'), name)
    end
  end)
end)

describe('a number beside integers', function()
  it('wraps to their dtype before it divides', function()
    local x = torch.tensor({ 4, 1, 255, 0 }, { dtype = torch.uint8, device = device })
    assert.same({ 0, 0, 1, 0 }, (x // -1):tolist())
    assert.same({ 0, 0, 1, 0 }, x:div(-1, { rounding_mode = 'trunc' }):tolist())
    assert.same({ 252, 255, 1, 0 }, (x * -1):tolist())
  end)
end)

describe('a number beside half types', function()
  -- As a second operand of these it keeps its digits; for all others it is rounded to the tensor's dtype first, as PyTorch's.
  local exact = { mul = true, div = true, floor_divide = true }
  local NUMBER = 0.8821 -- no half number
  for _, dtype in ipairs { torch.float16, torch.bfloat16 } do
    it('is one of ' .. tostring(dtype), function()
      local x = torch.cat({ torch.linspace(-2, 2, 299, { device = device }), torch.tensor({ NUMBER }, { device = device }) }):to(dtype)
      local rounded = torch.tensor(NUMBER):to(dtype):float():item()
      for _, name in ipairs { 'add', 'sub', 'mul', 'div', 'floor_divide', 'remainder', 'fmod', 'pow', 'eq', 'ne', 'lt', 'le', 'gt', 'ge' } do
        for _, n in ipairs { 1, 300 } do
          local part = x:narrow(1, 301 - n, n)
          local second = torch[name](part, NUMBER)
          check(name, torch[name](part, torch.tensor(NUMBER, { dtype = torch.float64 })), second, 'a number and a tensor of one')
          check(name, second, torch[name](part:float(), exact[name] and NUMBER or rounded):to(second.dtype), n .. ' elements, number second')
          local first = torch[name](torch.tensor(NUMBER, { dtype = torch.float64 }), part)
          check(name, first, torch[name](torch.tensor(rounded), part:float()):to(first.dtype), n .. ' elements, number first')
        end
      end
    end)
  end
end)

describe('an expanded argument gives the result of its copy', function()
  -- expanded[k]: whether argument k is one number for all.
  local function each(arity, f)
    for mask = 0, 2 ^ arity // 1 - 1 do
      local expanded = {}
      for k = 1, arity do expanded[k] = mask >> (k - 1) & 1 == 1 end
      f(expanded)
    end
  end
  local ops = {
    { 'exp', 1 }, { 'neg', 1 }, { 'logical_not', 1 }, { 'add', 2 }, { 'sub', 2 }, { 'pow', 2 }, { 'fmod', 2 }, { 'lt', 2 },
    { 'copysign', 2 }, { 'where', 3 }, { 'addcmul', 3 }, { 'lerp', 3 }, { 'clamp', 3 },
  }
  for _, dtype in ipairs { 'float32', 'float64', 'float16' } do
    it('of ' .. dtype, function()
      for _, row in ipairs(ops) do
        local name, arity = row[1], row[2]
        for _, size in ipairs { { 1 }, { 3 }, { 700 }, { 40, 30 } } do
          each(arity, function(expanded)
            local given, copies = {}, {}
            for k = 1, arity do
              -- No zero: its remainder is nan, which equals nothing.
              local x = torch.rand(expanded[k] and 1 or size, { dtype = torch[dtype], device = device }) + 0.01
              if name == 'where' and k == 1 then x = x:gt(0.5) end
              given[k] = expanded[k] and x:expand(size) or x
              copies[k] = given[k]:contiguous():clone()
            end
            local got, wanted = torch[name](table.unpack(given)), torch[name](table.unpack(copies))
            assert(torch.equal(got, wanted), ('%s of %s, arguments %s'):format(name, table.concat(size, ' x '), table.concat(
              (function() local words = {} for k = 1, arity do words[k] = expanded[k] and 'one' or 'all' end return words end)(), ' ')))
            local turned = torch.empty(size, { dtype = wanted.dtype, device = device })
            if #size == 2 then turned = torch.empty({ size[2], size[1] }, { dtype = wanted.dtype, device = device }):t() end
            local arguments = { table.unpack(given) }
            arguments[#arguments + 1] = { out = turned }
            torch[name](table.unpack(arguments))
            assert(torch.equal(turned, wanted), name .. ' into a strided result')
          end)
        end
      end
    end)
  end
end)

-- They have loops of their own, two elements at a time; others are computed in float throughout.
describe('sums and products of bfloat16 equal float results, rounded once,', function()
  local N = 150
  local ops = {
    add = function(a, b) return a + b end,
    sub = function(a, b) return a - b end,
    mul = function(a, b) return a * b end,
    ['add with alpha'] = function(a, b) return torch.add(a, b, { alpha = 2.37 }) end,
    ['sub with alpha nan'] = function(a, b) return torch.sub(a, b, { alpha = 0 / 0 }) end,
  }
  local function each(a, b, what)
    for name, op in pairs(ops) do check(name, op(a, b), op(a:float(), b:float()):bfloat16(), what) end
  end
  local a, b = numbers(N, 0, torch.bfloat16), numbers(N, 7, torch.bfloat16)

  it('at every length and place', function()
    for length = 1, 70 do
      each(a:narrow(1, length % 67 + 1, length), b:narrow(1, length % 61 + 1, length), ('of %d elements'):format(length))
    end
  end)

  it('of rows, columns, every second element and single ones', function()
    local rows = a:narrow(1, 1, 143):view(11, 13)
    each(rows, b:narrow(1, 1, 13), 'of rows')
    each(rows, b:narrow(1, 1, 11):view(11, 1), 'of columns')
    each(b:narrow(1, 1, 11):view(11, 1), a:narrow(1, 1, 13), 'of a column and a row')
    each(a:view(75, 2):select(2, 1), b:view(75, 2):select(2, 2), 'of every second element')
    each(a:narrow(1, 3, 1):expand(31), b:narrow(1, 4, 1):expand(31), 'of single elements')
    each(a[3], b[4], 'of no dimension')
  end)

  it('with numbers, of which products take all digits', function()
    for _, number in ipairs { 2.3, 0.00391, 1.00391, -1e-40, 3e38, 1 / 0, 0 / 0 } do -- 1 and a little more than half a digit
      local float = torch.tensor(number, { device = device })
      check('mul', a * number, (a:float() * number):bfloat16(), 'by ' .. number)
      check('add', a + number, (a:float() + float:bfloat16():float()):bfloat16(), 'and ' .. number)
      check('sub', number - a, (float:bfloat16():float() - a:float()):bfloat16(), 'from ' .. number)
      check('add', a + float, (a:float() + float:bfloat16():float()):bfloat16(), ('and a float of no dimension, %g'):format(number))
      check('mul', float * a, (float:bfloat16():float() * a:float()):bfloat16(), ('by a float of no dimension, %g, first'):format(number))
    end
  end)
end)

describe('an elementwise op', function()
  local function t(values, dtype) return torch.tensor(values, { dtype = dtype and torch[dtype], device = device }) end
  local function refused(text, f, ...)
    local arguments = table.pack(...)
    assert.error_matches(function() f(table.unpack(arguments, 1, arguments.n)) end, text, 1, true)
  end

  it('subtracts no bool, from whichever side, in place or not', function()
    local b, with, both = t { true }, 'with a bool tensor is not supported', 'with two bool tensors is not supported'
    for _, other in ipairs { 1, 1.5, t { 1 }, t { 1.5 }, t({ 1 }, 'uint8') } do
      refused(with, torch.sub, b, other)
      refused(with, torch.sub, other, b)
      refused(with, torch.rsub, b, other)
    end
    refused(with, torch.sub, t { 1 }, true)
    refused(with, function() return 1 - b end)
    refused(with, function() t { 1 }:sub_(b) end)
    refused(both, torch.sub, b, b)
    refused(both, torch.sub, b, true)
  end)

  it('of complex numbers is refused where it has no meaning', function()
    local c = torch.complex(t { 1.0 }, t { 2.0 })
    refused('deg2rad is not supported for complex tensors.', torch.deg2rad, c)
    refused('rad2deg is not supported for complex tensors.', torch.rad2deg, c)
    for _, name in ipairs { 'amax', 'amin', 'aminmax' } do
      refused("not implemented for 'ComplexFloat'", torch[name], c)
      refused("not implemented for 'ComplexFloat'", torch[name], c, { dim = 1 })
    end
    refused('nansum does not support complex inputs', torch.nansum, c)
  end)

  it('of an unsigned integer and a complex number keeps the imaginary part', function()
    for _, name in ipairs { 'uint16', 'uint32', 'uint64' } do
      local x, z = t({ 3 }, name), torch.complex(1, 2)
      assert.equal('tensor([4.+2.j])', tostring(torch.add(x, z):cpu()))
      assert.equal('tensor([3.+6.j])', tostring(torch.mul(x, z):cpu()))
      assert.equal('tensor([0.6000-1.2000j])', tostring(torch.div(x, z):cpu()))
      refused('Promotion for uint16, uint32, uint64 types is not supported', torch.div, x, torch.complex(t { 1.0 }, t { 2.0 }))
      refused('Promotion for uint16, uint32, uint64 types is not supported', torch.div, torch.complex(t { 1.0 }, t { 2.0 }), x)
    end
  end)

  it('ldexp keeps the dtype of floats beside integers, and their range', function()
    for _, name in ipairs { 'float16', 'bfloat16', 'float32', 'float64' } do
      for _, other in ipairs { 'int8', 'int64', 'uint8' } do
        local y = torch.ldexp(t({ 0.75 }, name), t({ 3 }, other))
        assert.equal(torch[name], y.dtype)
        assert.equal(6, y:item())
      end
    end
    assert.equal(1024, torch.ldexp(t({ 2.0 ^ -10 }, 'float16'), t { 20 }):item())
    assert.equal(2.0 ^ 100, torch.ldexp(t({ 2.0 ^ -100 }, 'float32'), t { 200 }):item())
    assert.equal(2.0 ^ 1000, torch.ldexp(t({ 2.0 ^ -1000 }, 'float64'), t { 2000 }):item())
    assert.equal(math.huge, torch.ldexp(t({ 1.0 }, 'float32'), t { 1 << 40 }):item())
    assert.equal(torch.float32, torch.ldexp(t { 1 }, t { 2 }).dtype)
    assert.equal(torch.float64, torch.ldexp(t({ 1.0 }, 'float32'), t({ 2.0 }, 'float64')).dtype)
  end)
end)
