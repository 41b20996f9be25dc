-- compile_fused_spec.lua - cheap ops of a compiled function, which are evaluated together: each gives the bits that it gives alone, whatever op stands
-- beside it.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local programs = dofile(here .. 'support/programs.lua')

local device = os.getenv 'LTENSOR_TEST_DEVICE'
local special = { 0.0, -0.0, 1, -1, 0.5, -2, 3, 1 / 0, -1 / 0, 0 / 0, 1e-40, -1e-40, 1e38, -1e38, 100, 0.1 }

-- Every two of them side by side, some times over, and a third one; so many that some are left over where they are taken many at a time.
local function operands(dtype)
  local lists = { {}, {}, {} }
  for i = 1, 1319 do
    local k = (i - 1) % (#special * #special)
    lists[1][i], lists[2][i], lists[3][i] = special[k // #special + 1], special[k % #special + 1], special[(k * 7 + i // 256) % #special + 1]
  end
  local tensors = {}
  for i, list in ipairs(lists) do tensors[i] = torch.tensor(list, { dtype = dtype, device = device }) end
  return table.unpack(tensors)
end

local functions = {
  sums = function(x, y, z) return x + y + z, x - y - z, z - (x - y), x * -0.0 + -0.0 end,
  ['sums of products'] = function(x, y, z) return x * y + z, z + x * y, x * y * z + x, x * 2 + 1, x * 2 - 1, 1 - x * 2, x * 2 + y, x * y + 2 end,
  quotients = function(x, y, z) return x / y * z, z / (x * y), (x + y) / 4 + z, 3 / (x + y), (x + y) / 3, (x * 1):reciprocal() end,
  extremes = function(x, y, z) return torch.maximum(x * 1, y) + 0, torch.maximum(y, x * 1) * 1, torch.minimum(x * z, y) + 0, torch.minimum(y, x * z) * 1 end,
  signs = function(x, y) return -(x * y), (x * y):abs(), torch.relu(x - y) end,
  powers = function(x, y) return (x * y):square(), (x * 1) ^ 2, (x * 1) ^ 3, (x - y) * (x - y), (x * 1):sqrt() end,
  limits = function(x, y) return (x - y):clamp(-1, 2), (x - y):clamp_min(0), (x - y):clamp_max(-0.0), (x - y):clamp(0 / 0, 1) end,
  choices = function(x, y, z)
    return torch.where(x:gt(y), x * 2, z * 3), torch.where((x * 1):lt(y), x, z), torch.where((x * 1):le(0), x * 2, z), torch.where((x * 1):ge(z), 7, z),
      torch.where((x * 1):eq(z), y, 0), torch.where((x * 1):ne(z), y * 2, y * 3), torch.where(y:isnan(), x * 2, z * 3)
  end,
  bools = function(x, y, z)
    local a, b = (x * 1):gt(y), (y * 1):le(z)
    return a, a & b, (a | b):float(), (~a & b):to(x.dtype) * z, a:logical_not():logical_or(b), torch.where(a & x:eq(z), x, -y)
  end,
  ['three operands'] = function(x, y, z)
    return torch.addcmul(x * 1, y, z, { value = 0.3 }), torch.addcmul(x, x * 1, z, { value = 0.3 }), torch.addcmul(x * 1, y, z), torch.addcdiv(x * 1, y, z, { value = 0.3 }),
      torch.addcdiv(x * 1, y, z), torch.add(x * 1, y, { alpha = 0.7 }), torch.sub(x * 1, y, { alpha = 0.7 }), torch.add(x, x * 1, { alpha = 0.7 })
  end,
  ['what is read again'] = function(x, y, z)
    local a, b, c = x - y, y - z, z - x
    local d = x * y
    return a, a * 2 + 1, a:abs():sqrt(), (a * b + b * c) * (c * a - b) * (a - b) * (b - c), d * (d + z) - d, d * d - (d + z) * (d + z)
  end,
  ['what others do between'] = function(x, y, z) return torch.exp(x * 1 - y) * z + x, (x * y):floor() * 2 + z, torch.tanh(x * y + z) * (x - z) end,
}

describe('cheap steps', function()
  for name, f in pairs(functions) do
    for _, dtype in ipairs { 'float32', 'float64', 'bfloat16', 'float16' } do
      it(('give the bits of eager ops: %s of %s'):format(name, dtype), function()
        local x, y, z = operands(torch[dtype])
        local run = torch.compile(f, { options = { min_numel = 1 } })
        local expected, got = table.pack(f(x, y, z)), table.pack(run(x, y, z))
        assert.equal(expected.n, got.n)
        for i = 1, expected.n do assert.is_true(programs.same(expected[i]:cpu(), got[i]:cpu()), ('result %d: %s instead of %s'):format(i, got[i], expected[i])) end
      end)
    end
  end

  it('give gradients the same bits', function()
    local function gradients(x, y)
      local a, b = x:clone():requires_grad_(), y:clone():requires_grad_()
      local h = torch.tanh(a * b + 1)
      local s = torch.sigmoid(h - b) * a
      torch.relu(s * 3 - h):sum():backward()
      return a.grad, b.grad
    end
    for _, dtype in ipairs { torch.float32, torch.float64, torch.bfloat16 } do
      local x, y = torch.randn(1319, { device = device }):to(dtype), torch.randn(1319, { device = device }):to(dtype)
      local expected, got = { gradients(x, y) }, { torch.compile(gradients, { options = { min_numel = 1 } })(x, y) }
      for i = 1, 2 do assert.is_true(programs.same(expected[i]:cpu(), got[i]:cpu())) end
    end
  end)

  it('fused operations give a reduction the same elements for every row length, with nan or both infinities', function()
    local reductions = {
      function(t, u, of) return of('sum', t * 2 + u) end, function(t, u, of) return of('sum', t - u) end, function(t, u, of) return of('mean', t * 0.3) end,
      function(t, u, of) return of('amax', (t - u):abs()) end, function(t, u, of) return of('amin', t * 2 + u) end, function(t, u, of) return of('norm', t - u) end,
      function(t, u, of) return of('sum', torch.tanh(t) * u + t) end, -- several loops
      function(t, u, of) -- others see what is made
        local v = t * u
        return of('sum', v + 1), v
      end,
    }
    local function whole(name, t) return t[name](t) end
    local function lines(name, t)
      if name == 'norm' then return t:norm(2, 2) end
      return t[name](t, 2)
    end
    for _, dtype in ipairs { torch.float32, torch.float64 } do
      for _, shape in ipairs { { 600 }, { 8192 }, { 8256 }, { 20001 }, { 300001 }, { 40, 100 }, { 3, 256 }, { 70, 257 }, { 70, 1000 }, { 3, 5000 }, { 2, 8191 }, { 2, 8192 }, { 3, 9000 } } do
        local x, y = torch.randn(shape, { dtype = dtype, device = device }), torch.randn(shape, { dtype = dtype, device = device })
        for k = 1, 3 do
          local flat = x:view(-1)
          if k == 2 then flat[#flat // 2] = 0 / 0 end
          if k == 3 then
            flat[#flat // 2], flat[#flat // 2 + 1] = -1 / 0, 1 / 0
          end
          for i, f in ipairs(reductions) do
            local of = #shape == 1 and whole or lines
            local expected, got = { f(x, y, of) }, { torch.compile(f, { options = { min_numel = 1 } })(x, y, of) }
            for r = 1, #expected do
              assert.is_true(programs.same(expected[r]:cpu(), got[r]:cpu()), ('reduction %d of %s, %s, %s'):format(i, table.concat(shape, 'x'), dtype, ({ 'numbers', 'a nan', 'infinities' })[k]))
            end
          end
        end
      end
    end
  end)

  it('are several loops where one has no room, the later of which may begin with bools', function()
    local x, y = torch.randn(1319, { device = device }), torch.randn(1319, { device = device })
    local function f(s, t)
      local masks, results = {}, {}
      for i = 1, 6 do masks[i] = (s + i / 10):lt(t) end
      for i = 1, 5 do
        for j = i + 1, 6 do results[#results + 1] = masks[i] & masks[j] end -- all of them are seen: fifteen
      end
      return table.unpack(results)
    end
    local expected, got = table.pack(f(x, y)), table.pack(torch.compile(f, { options = { min_numel = 1 } })(x, y))
    for i = 1, expected.n do assert.is_true(programs.same(expected[i]:cpu(), got[i]:cpu())) end
  end)

  it('read a line that is repeated, and one of a single element', function()
    for _, shape in ipairs { { 700, 33 }, { 3, 5000 }, { 40, 3, 64 }, { 2000, 1 } } do
      local x, row = torch.randn(shape, { device = device }), torch.randn(shape[#shape], { device = device })
      local f = function(t) return torch.relu(t * 2 + row) * row, ((t - row):abs() * row):sum(-1) end
      local expected, got = { f(x) }, { torch.compile(f, { options = { min_numel = 1 } })(x) }
      for i = 1, 2 do assert.is_true(programs.same(expected[i]:cpu(), got[i]:cpu())) end
    end
  end)
end)
