-- fft_spec.lua - Fourier transforms by what is true of them: the definition for every length from 1 to 130 and some long ones, what the inverse
-- gives back, derivatives to the second order. PyTorch's results are in tests/reference/fft.lua.

local torch = require 'torch'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local fft = torch.fft

local function largest(difference) return difference:abs():max():item() end

local function random(dtype, ...) return torch.randn({ ... }, { dtype = dtype }):to(device) end

-- The matrix of exp(-2 pi i j k / n).
local function definition(n)
  local k = torch.arange(n, { dtype = torch.float64 })
  local angles = torch.outer(k, k):remainder(n) * (-2 * math.pi / n)
  return torch.polar(torch.ones_like(angles), angles):to(device)
end

describe('a Fourier transform', function()
  it('is the sum of its definition, for every length', function()
    torch.manual_seed(7)
    for n = 1, 130 do
      local x, matrix = random(torch.complex128, 3, n), definition(n)
      local expected = x:matmul(matrix)
      local scale = largest(expected)
      assert(largest(fft.fft(x) - expected) <= 1e-13 * scale, 'lines of ' .. n)
      assert(largest(fft.fft(x[1]) - expected[1]) <= 1e-13 * scale, 'a line of ' .. n)
      assert(largest(fft.ifft(fft.fft(x)) - x) <= 1e-13, 'back from ' .. n)
      local r = torch.real(x):clone()
      assert(largest(fft.rfft(r) - r:to(torch.complex128):matmul(matrix):narrow(2, 1, n // 2 + 1)) <= 1e-13 * scale, 'real lines of ' .. n)
      assert(largest(fft.irfft(fft.rfft(r), n) - r) <= 1e-13, 'real lines back from ' .. n)
    end
  end)

  it('of many lines is that of each, by its definition', function()
    torch.manual_seed(8)
    for _, n in ipairs { 1, 2, 3, 5, 8, 9, 16, 17, 31, 64, 67, 100, 127, 134, 1009 } do
      if device == 'cpu' or n < 100 then
        local z, matrix = random(torch.complex128, 21, n), definition(n)
        local r = torch.real(z):clone()
        local both, half = z:matmul(matrix), r:to(torch.complex128):matmul(matrix):narrow(2, 1, n // 2 + 1)
        local scale = largest(both)
        for dtype, tolerance in pairs { [torch.float32] = 2e-6, [torch.float64] = 1e-13 } do
          local x = dtype == torch.float32 and z:to(torch.complex64) or z
          for _, lines in ipairs { 21, 8, 4 } do
            local function check(found, expected, what)
              assert(largest(found - expected:narrow(1, 1, lines)) <= tolerance * scale, ('%s of %d lines of %d'):format(what, lines, n))
            end
            check(fft.fft(x:narrow(1, 1, lines)), both, 'fft')
            check(fft.ifft(x:narrow(1, 1, lines)) * n, torch.conj(torch.conj(z):matmul(matrix)), 'ifft')
            check(fft.rfft(r:narrow(1, 1, lines):to(dtype)), half, 'rfft')
            check(fft.irfft(half:narrow(1, 1, lines):to(x.dtype), n), r, 'irfft')
          end
        end
      end
    end
  end)

  it('of long lines is that of their parts', function()
    -- By the first step of J. Cooley and J. Tukey, of lengths that go as matrices, filled ones and others, and as convolutions.
    if device ~= 'cpu' then return end
    torch.manual_seed(9)
    for _, n in ipairs { 4096, 4100, 8192, 10014, 59049 * 2, 131072 } do
      local half = n // 2
      for _, lines in ipairs { 1, 3 } do
        local x = random(torch.complex128, lines, n)
        local even, odd = fft.fft(x['..., ::2']:clone()), fft.fft(x['..., 2::2']:clone())
        local k = torch.arange(half, { dtype = torch.float64 }) * (-2 * math.pi / n)
        local turned = odd * torch.polar(torch.ones_like(k), k)
        local expected = torch.cat({ even + turned, even - turned }, 2)
        assert(largest(fft.fft(x) - expected) <= 1e-11 * math.sqrt(n), n)
        local r = torch.real(x):clone()
        assert(largest(fft.rfft(r) - fft.fft(r:to(torch.complex128)):narrow(2, 1, half + 1)) <= 1e-11 * math.sqrt(n), 'real ' .. n)
        local short = r:narrow(2, 1, n - 1):clone() -- an odd length
        assert(largest(fft.rfft(short) - fft.fft(short:to(torch.complex128)):narrow(2, 1, half)) <= 1e-11 * math.sqrt(n), 'odd ' .. n)
        assert(largest(fft.irfft(fft.rfft(short), n - 1) - short) <= 1e-12, 'back ' .. n)
      end
    end
  end)

  it('gives back long lines of all kinds of lengths', function()
    for _, n in ipairs { 4096, 4097, 5000, 6561, 8192, 10007, 65536 } do
      if device == 'cpu' or n < 9000 then
        for _, lines in ipairs { 1, 5 } do
          local x = random(torch.complex64, lines, n)
          assert(largest(fft.ifft(fft.fft(x)) - x) <= 1e-5, n)
          local r = random(torch.float32, lines, n)
          assert(largest(fft.irfft(fft.rfft(r), n) - r) <= 1e-5, n)
        end
      end
    end
  end)

  it('a Fourier transform does not change its input', function()
    local x = random(torch.complex64, 4, 6)
    local before = x:clone()
    fft.irfft(x)
    fft.irfftn(x)
    assert.is_true(torch.equal(before, x))
  end)

  it('begins at any element', function()
    local x = random(torch.float32, 26)
    for _, n in ipairs { 25, 16 } do
      local lines, copied = x:narrow(1, 2, n), x:narrow(1, 2, n):clone()
      assert.is_true(torch.equal(fft.rfft(lines), fft.rfft(copied)), n)
    end
  end)

  it('of a product is a convolution', function()
    local a, b = random(torch.float64, 12), random(torch.float64, 12)
    local circular = fft.irfft(fft.rfft(a) * fft.rfft(b))
    local first = 0
    for j = 1, 12 do first = first + a[j]:item() * b[(13 - j) % 12 + 1]:item() end
    assert.near(first, circular[1]:item(), 1e-12)
  end)

  it('of 0 lines has none, of 0 elements is refused', function()
    assert.same({ 0, 4 }, { table.unpack(fft.fft(torch.zeros(0, 4, { device = device })).shape) })
    assert.error_matches(function() fft.fft(torch.zeros(3, 0, { device = device })) end, 'Invalid number of data points %(0%) specified')
  end)

  it('a Fourier transform rejects unsupported dtypes', function()
    local x = random(torch.float32, 4)
    assert.error_matches(function() fft.fft(x, { along = 1 }) end, "unknown argument 'along'")
    assert.error_matches(function() fft.fft(x, { dim = 2 }) end, 'Dimension out of range')
    assert.error_matches(function() fft.fft(x:half()) end, 'Unsupported dtype Half')
    assert.error_matches(function() fft.fft(3) end, "argument 'input' %(position 1%) must be Tensor")
    for _, name in ipairs { 'fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft', 'fft2', 'rfft2', 'irfft2', 'ihfft2' } do
      assert.error_matches(function() fft[name](torch.tensor(1.0, { device = device })) end, 'Dimension specified as %-?[12] but tensor has no dimensions')
    end
  end)
end)

describe('the messages of short-time transforms', function()
  it('name the spelling in Lua and the remedy', function()
    local x, window = torch.ones(8, { device = device }), torch.hann_window(4, { device = device })
    assert.error_matches(function() x:stft(4) end, 'pass {return_complex = true}', 1, true)
    local options = { hop_length = 4, window = window, return_complex = true }
    local transformed = x:stft(4, options)
    assert.error_matches(function() transformed:istft(4, { hop_length = 4, window = window }) end,
      'istft: window overlap add min: 1: the windows do not cover every sample; use a smaller hop_length', 1, true)
  end)
end)

describe('the derivative of', function()
  local gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck
  local complex = { fft = true, ifft = true, irfft = true, hfft = true, fft2 = true, irfft2 = true, hfft2 = true }
  for _, name in ipairs { 'fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft', 'fft2', 'rfft2', 'irfft2', 'hfft2', 'ihfft2' } do
    it(name .. ' is right, to the second order', function()
      torch.manual_seed(3)
      for _, n in ipairs { 3, 4 } do
        local x = random(complex[name] and torch.complex128 or torch.float64, 2, n):requires_grad_()
        assert.is_true(gradcheck(fft[name], x))
        assert.is_true(gradgradcheck(fft[name], x))
      end
    end)
  end
end)
