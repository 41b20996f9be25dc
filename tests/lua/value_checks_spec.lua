-- Values that an op does not take are errors on every device: on the CPU at once, on a GPU at the latest when the host waits. Matrices with
-- nan never give numbers alone.

local torch = require 'torch'
local fails_with = require 'support.fails_with'

local F, linalg = torch.nn.functional, torch.linalg
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local nan = 0 / 0

local function on(x, options) return (torch.is_tensor(x) and x or torch.tensor(x, options)):to(device) end

-- f, and then what kernels found.
local function waited(f)
  local results = table.pack(f())
  if on{ 0 }.is_cuda then torch.cuda.synchronize(device) end
  return table.unpack(results, 1, results.n)
end

local scores = function() return on(torch.ones(1, 3)) end
local log_probabilities = function() return on(torch.ones(4, 1, 3)):log_softmax(3) end
local int32 = { dtype = torch.int32 }

-- The call, and a part of its error, the same everywhere; without: one that says which index it was.
local cases = {
  ['bernoulli of 1.5'] = { function() return torch.bernoulli(on{ 1.5 }) end, 'bernoulli expects probabilities p to be in [0, 1], but got p=1.5' },
  ['bernoulli of nan'] = { function() return torch.bernoulli(on{ 0.5, nan }) end, 'bernoulli expects probabilities p to be in [0, 1], but got p=' },
  ['bernoulli of a half'] = { function() return torch.bernoulli(on({ -1.0 }, { dtype = torch.float16 })) end, 'but got p=-1' },
  ['bernoulli_ by a tensor'] = { function() return on{ 0.0 }:bernoulli_(on{ -0.5 }) end, 'bernoulli expects probabilities p to be in [0, 1], but got p=-0.5' },
  ['binomial of p = 2'] = { function() return torch.binomial(on{ 3.0 }, on{ 2.0 }) end, 'binomial expects probabilities in [0, 1], but got 2' },
  ['poisson of -3'] = { function() return torch.poisson(on{ -3.0 }) end, 'invalid Poisson rate' },
  ['normal of a negative deviation'] = { function() return torch.normal(on{ 0.0 }, on{ -1.0 }) end, 'normal expects all elements of std >= 0.0' },
  ['multinomial of a negative'] = { function() return torch.multinomial(on{ -1.0, 2.0 }, 1) end, '< 0' },
  ['multinomial of nan'] = { function() return torch.multinomial(on{ nan, 2.0 }, 1) end, 'nan' },
  ['multinomial of nothing'] = { function() return torch.multinomial(on{ 0.0, 0.0 }, 3, true) end, 'invalid multinomial distribution' },
  ['binary_cross_entropy of 1.5'] = { function() return F.binary_cross_entropy(on{ 1.5 }, on{ 1.0 }) end, 'all elements of input should be between 0 and 1' },
  ['binary_cross_entropy of nan'] = { function() return F.binary_cross_entropy(on{ nan }, on{ 1.0 }) end, 'all elements of input should be between 0 and 1' },
  ['binary_cross_entropy of a strided double'] = { function()
    return F.binary_cross_entropy(on({ { 0.5, 0.5 }, { 0.5, 2.0 } }, { dtype = torch.float64 }):t(), on(torch.ones(2, 2, { dtype = torch.float64 })))
  end, 'all elements of input should be between 0 and 1' },
  ['gaussian_nll_loss of a negative variance'] = { function() return F.gaussian_nll_loss(on{ 1.0 }, on{ 1.0 }, on{ -1.0 }) end, 'var has negative entry/entries' },
  ['quantile of 1.5'] = { function() return torch.quantile(on{ 1.0, 2.0 }, on{ 1.5 }) end, 'quantile() q values must be in the range [0, 1]' },
  ['nanquantile of nan'] = { function() return torch.nanquantile(on{ 1.0, 2.0 }, on{ nan }) end, 'nanquantile() q values must be in the range [0, 1]' },
  ['nll_loss of a class too many'] = { function() return F.nll_loss(scores(), on{ 4 }) end },
  ['nll_loss of class -1'] = { function() return F.nll_loss(scores(), on{ -1 }) end },
  ['cross_entropy with smoothing'] = { function() return F.cross_entropy(scores(), on{ 4 }, { label_smoothing = 0.1 }) end },
  ['multi_margin_loss of a class too many'] = { function() return F.multi_margin_loss(scores(), on{ 4 }) end },
  ['multi_margin_loss of class -1'] = { function() return F.multi_margin_loss(scores(), on{ -1 }) end },
  ['multilabel_margin_loss'] = { function() return F.multilabel_margin_loss(scores(), on{ { 4, -1, -1 } }) end },
  ['ctc_loss of a class too many'] = { function() return F.ctc_loss(log_probabilities(), on{ { 5, 3 } }, on{ 4 }, on{ 2 }) end },
  ['ctc_loss of lengths too long'] = { function() return F.ctc_loss(log_probabilities(), on{ { 2, 3 } }, on{ 9 }, on{ 2 }) end },
  ['embedding'] = { function() return F.embedding(on{ 5 }, on(torch.ones(3, 2))) end },
  ['embedding with max_norm'] = { function() return F.embedding(on{ 5 }, on(torch.ones(3, 2)), { max_norm = 1.0 }) end },
  ['embedding_bag, an index'] = { function() return F.embedding_bag(on{ 5 }, on(torch.ones(3, 2)), on{ 1 }) end },
  ['embedding_bag, the first offset'] = { function() return F.embedding_bag(on{ 1, 2 }, on(torch.ones(3, 2)), on{ 2 }) end, 'offsets' },
  ['embedding_bag, an offset too large'] = { function() return F.embedding_bag(on{ 1, 2 }, on(torch.ones(3, 2)), on{ 1, 5 }) end, 'offsets' },
  ['embedding_bag, offsets that go back'] = { function() return F.embedding_bag(on{ 1, 2, 3 }, on(torch.ones(3, 2)), on{ 1, 3, 2 }) end, 'offsets' },
  ['masked_scatter'] = { function() return on(torch.zeros(3)):masked_scatter(on{ true, true, true }, on{ 1.0 }) end },
  ['one_hot of a class too many'] = { function() return F.one_hot(on{ 5 }, 3) end },
  ['one_hot of 0'] = { function() return F.one_hot(on{ 0 }, 3) end },
  ['floor_divide by 0'] = { function() return on{ 1, 2 } // on{ 1, 0 } end, 'ZeroDivisionError' },
  ['floor_divide by the number 0'] = { function() return on{ 1 } // 0 end, 'ZeroDivisionError' },
  ['floor_divide of small integers'] = { function() return on({ 1 }, { dtype = torch.int8 }) // on({ 0 }, { dtype = torch.int8 }) end, 'ZeroDivisionError' },
  ['floor_divide_ by 0'] = { function() return on{ 1 }:floor_divide_(on{ 0 }) end, 'ZeroDivisionError' },
  ['remainder by 0'] = { function() return on{ 1 } % on{ 0 } end, 'ZeroDivisionError' },
  ['fmod by 0'] = { function() return torch.fmod(on{ 1 }, on{ 0 }) end, 'ZeroDivisionError' },
  ['div by 0, rounded'] = { function() return torch.div(on{ 1 }, on{ 0 }, { rounding_mode = 'floor' }) end, 'ZeroDivisionError' },
  ['a negative power of an integer'] = { function() return on{ 2 } ^ -1 end, 'Integers to negative integer powers are not allowed' },
  ['histc of inf'] = { function() return torch.histc(on{ math.huge, 1.0 }) end, 'is not finite' },
  ['bincount of 0'] = { function() return torch.bincount(on{ 0 }) end },
  ['repeat_interleave of -1'] = { function() return torch.repeat_interleave(on{ 1, 2 }, on{ -1, 2 }) end },
  ['segment_reduce of lengths too long'] = { function() return torch.segment_reduce(on{ 1.0, 2.0 }, 'sum', { lengths = on{ 5 } }) end },
  ['lu_solve of pivots'] = { function() return linalg.lu_solve(on(torch.eye(2)), on({ 9, 2 }, int32), on(torch.ones(2, 1))) end },
  ['ldl_solve of pivots'] = { function() return linalg.ldl_solve(on(torch.eye(2)), on({ 9, 2 }, int32), on(torch.ones(2, 1))) end },
  ['cov of negative weights'] = { function() return torch.cov(on(torch.ones(2, 2)), { fweights = on{ -1, 2 } }) end },
  ['inv of a singular matrix'] = { function() return linalg.inv(on{ { 0.0, 0.0 }, { 0.0, 0.0 } }) end, 'singular' },
  ['cholesky of an indefinite matrix'] = { function() return linalg.cholesky(on{ { -1.0, 0.0 }, { 0.0, 0.0 } }) end, 'the leading minor of order 1 is not positive-definite' },
  ['cholesky of nan'] = { function() return linalg.cholesky(on{ { 1.0, 0.0 }, { 0.0, nan } }) end, 'the leading minor of order 2 is not positive-definite' },
  ['cholesky of nan in a batch'] = { function() return linalg.cholesky(on{ { { 1.0 } }, { { nan } } }) end, '(Batch element 2)' },
  ['lstsq of inf'] = { function() return linalg.lstsq(on{ { math.huge, 0.0 }, { 0.0, 1.0 } }, on(torch.ones(2, 1))) end, 'input contains infs or NaNs' },
  ['lstsq for nan'] = { function() return linalg.lstsq(on(torch.eye(2)), on{ { nan }, { 1.0 } }) end, 'other contains infs or NaNs' },
}

for _, name in ipairs { 'gather', 'take', 'index_select' } do
  cases[name] = { function() local x = on{ 1.0 } if name == 'take' then return x:take(on{ 3 }) end return x[name](x, 1, on{ 3 }) end }
end
for _, name in ipairs { 'index_add', 'index_copy' } do cases[name] = { function() local x = on{ 1.0 } return x[name](x, 1, on{ 3 }, on{ 1.0 }) end } end
cases.scatter = { function() return on{ 1.0 }:scatter(1, on{ 3 }, 2.0) end }
cases.index_fill = { function() return on{ 1.0 }:index_fill(1, on{ 3 }, 1.0) end }
cases['x[i]'] = { function() return on{ 1.0 }[on{ 3 }] end }
cases.put = { function() return on{ 1.0 }:put(on{ 3 }, on{ 1.0 }) end }
cases.max_unpool2d = { function() return F.max_unpool2d(on(torch.ones(1, 1, 1, 1)), on(torch.full({ 1, 1, 1, 1 }, 9)), 2) end }

describe('an operation on integers without elements', function()
  it('is divided by 0 without an error', function()
    for _, dtype in ipairs { torch.uint8, torch.int16, torch.int64 } do
      local empty, zero = on(torch.zeros(2, 0, { dtype = dtype })), on(torch.zeros(1, { dtype = dtype }))
      for _, name in ipairs { 'floor_divide', 'remainder', 'fmod' } do
        assert.same({ 2, 0 }, { torch[name](empty, zero):size(1), torch[name](empty, 0):size(2) })
      end
    end
  end)
end)

describe('a size of which there is no result', function()
  local nn = torch.nn
  for name, case in pairs {
    ['GroupNorm of one value a group'] = { function() return nn.GroupNorm(3, 3):to(device)(on(torch.ones(1, 3))) end, 'Expected more than 1 value per channel when training, got input size [1, 3]' },
    ['GroupNorm of one value a group, in planes'] = { function() return F.group_norm(on(torch.ones(1, 3, 1, 1)), 3) end, 'Expected more than 1 value per channel when training, got input size [1, 3, 1, 1]' },
    ['BatchNorm with eps 0'] = { function() return nn.BatchNorm1d(3, { eps = 0 }):to(device)(on(torch.ones(2, 3))) end, 'batch_norm eps must be positive during training, but got 0' },
    ['batch_norm with a negative eps'] = { function() return F.batch_norm(on(torch.ones(2, 3)), nil, nil, { training = true, eps = -1.0 }) end, 'batch_norm eps must be positive during training, but got -1' },
    ['vector_norm(inf) of nothing'] = { function() return linalg.vector_norm(on(torch.ones(0)), math.huge) end, 'cannot compute the inf norm on an empty tensor' },
    ['vector_norm(inf) of an empty dimension'] = { function() return linalg.vector_norm(on(torch.ones(0, 3)), math.huge, { dim = 1 }) end, 'cannot compute the inf norm on the dimension 1 because this dimension is empty' },
    ['vector_norm(-2.5) of an empty dimension'] = { function() return linalg.vector_norm(on(torch.ones(2, 0)), -2.5, { dim = { -1, 1 } }) end, 'cannot compute the -2.5 norm on the dimension 2' },
  } do
    it('is an error: ' .. name, function() fails_with(case[2], waited, case[1]) end)
  end

  it('is none where the reduced dimension is not the empty one, or the norm of nothing is 0', function()
    assert.same({ 0 }, { linalg.vector_norm(on(torch.ones(0, 3)), math.huge, { dim = 2 }):numel() })
    assert.same({ 0, 0, 0 }, linalg.vector_norm(on(torch.ones(0, 3)), 2, { dim = 1 }):tolist())
    assert.equal(3, F.batch_norm(on(torch.ones(1, 3)), on(torch.zeros(3)), on(torch.ones(3)), { eps = 0 }):numel())
    assert.equal(3, nn.GroupNorm(1, 3):to(device)(on(torch.ones(1, 3))):numel())
  end)
end)

describe('a value outside of the domain of an op', function()
  for name, case in pairs(cases) do
    it('is an error: ' .. name, function() fails_with(case[2] or '', waited, case[1]) end)
  end

  it('is one error: the device goes on', function()
    pcall(waited, function() return torch.bernoulli(on{ 1.5 }) end)
    pcall(waited, function() return on{ 1 } // on{ 0 } end)
    assert.same({ 1, 0 }, waited(function() return torch.bernoulli(on{ 1.0, 0.0 }) end):tolist())
    assert.same({ 2 }, waited(function() return on{ 5 } // on{ 2 } end):tolist())
  end)

  it('is none at the ends of the range, nor where nan is allowed', function()
    assert.same({ 0, 1 }, waited(function() return torch.bernoulli(on{ 0.0, 1.0 }) end):tolist())
    assert.equal(0, waited(function() return F.binary_cross_entropy(on{ 0.0, 1.0 }, on{ 0.0, 1.0 }) end):item())
    assert.is_true(waited(function() return F.gaussian_nll_loss(on{ 1.0 }, on{ 1.0 }, on{ nan }) end):isnan():item())
    assert.same({ 0, 0 }, F.embedding_bag(on{ 1, 2 }, on(torch.ones(3, 2)), on{ 1, 3 }):cpu()[2]:tolist())
  end)
end)

-- ---- matrices with nan ----------------------------------------------------------------------------------------------------

local function matrix() return on({ { nan, 0.0 }, { 0.0, 1.0 } }, { dtype = torch.float64 }) end
local ones = function(n) return on(torch.ones(n, 1, { dtype = torch.float64 })) end
local of_nan = {}
for _, name in ipairs { 'svd', 'svdvals', 'matrix_rank', 'cond', 'pinv', 'eig', 'eigvals', 'eigh', 'eigvalsh', 'inv', 'cholesky', 'det', 'slogdet', 'qr', 'lu', 'lu_factor', 'matrix_exp' } do
  of_nan[name] = function(A) return linalg[name](A) end
end
for _, p in ipairs { 2, -2, 'nuc', 'fro', 1, -1, math.huge, -math.huge } do
  of_nan['matrix_norm ' .. p] = function(A) return linalg.matrix_norm(A, p) end
  of_nan['cond ' .. p] = function(A) return linalg.cond(A, p) end
end
for _, driver in ipairs { 'gelsy', 'gels', 'gelsd', 'gelss' } do of_nan['lstsq ' .. driver] = function(A) return linalg.lstsq(A, ones(2), { driver = driver }) end end
of_nan['lstsq of more rows'] = function(A) return linalg.lstsq(torch.cat { A, A }, ones(4)) end
of_nan.solve = function(A) return linalg.solve(A, ones(2)) end
of_nan.svd_lowrank = function(A) return torch.svd_lowrank(A, { q = 1 }) end
of_nan['pinv, hermitian'] = function(A) return linalg.pinv(A, { hermitian = true }) end
of_nan['matrix_rank, hermitian'] = function(A) return linalg.matrix_rank(A, { hermitian = true }) end
of_nan.matrix_power = function(A) return linalg.matrix_power(A, -1) end
of_nan['lobpcg'] = function(A) return torch.lobpcg(torch.block_diag { A, torch.eye(4, { dtype = A.dtype, device = A.device }) }, 1) end

describe('a matrix with nan', function()
  for name, f in pairs(of_nan) do
    -- OpenBLAS for arm64 finds a pivot of zero in this matrix, and the condition of a singular matrix is infinite.
    it('gives nan, infinity or an error: ' .. name, function()
      local results = table.pack(pcall(waited, function() return f(matrix()) end))
      local any = not results[1]
      for i = 2, results.n do
        local t = results[i]
        if torch.is_tensor(t) and t.dtype ~= torch.int64 and t.dtype ~= torch.int32 then any = any or not t:isfinite():all():item() end
      end
      assert(any, 'finite numbers alone')
    end)
  end

  it('is accepted if the nan is in the other triangle', function()
    local A = on({ { 2.0, nan }, { 0.0, 1.0 } }, { dtype = torch.float64 })
    assert.same({ 1, 2 }, linalg.eigvalsh(A, 'L'):tolist())
    fails_with('contained non-finite values', function() return linalg.eigvalsh(A, 'U') end)
  end)
end)
