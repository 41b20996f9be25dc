-- No argument is a constant in silence: a tensor on which a result depends, and which requires a gradient, makes that result require
-- one, or the call is refused by its name. Otherwise gradients would lack a part. Asked of every tensor of the rows of tests/reference,
-- by the values: an element of it is moved, and the results are compared.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local fails_with = require 'support.fails_with'
local reference = dofile(here .. 'support/reference.lua')
local reader = dofile(root .. 'scripts/gen/declarations.lua')
local declared = reader.load(root .. 'src/ops')
local scripted = reader.load_scripted(root .. 'lib/ops')

local ROWS = 4 -- of an op, by the number of its tensors and the names it is given: the others differ in sizes and numbers

-- Arguments that need no derivative, by reason: op, or op and the number of a tensor of its row.
local EXCUSED = {}
for reason, names in pairs {
  ['the history is cut, which is what it is for'] = 'detach detach_copy',
  ['counts, which are constant in pieces'] = 'histc',
  ['the bits of another dtype are constants, as in PyTorch'] = 'view/1',
  ['compared with 1 and -1'] = 'hinge_embedding_loss/2 cosine_embedding_loss/3',
} do
  for name in names:gmatch '%S+' do EXCUSED[name] = reason end
end

-- ---- the calls ---------------------------------------------------------------------------------------------------------

local function inexact(t) return torch.is_tensor(t) and (t.dtype.is_floating_point or t.dtype.is_complex) end

local function each_tensor(value, visit)
  if torch.is_tensor(value) then visit(value)
  elseif type(value) == 'table' then
    for _, item in ipairs(value) do each_tensor(item, visit) end
  end
end

local function floating(out)
  local found = {}
  for i = 1, out.n do each_tensor(out[i], function(t) found[#found + 1] = t end) end
  reference.wait() -- for the checks of values on a GPU
  return found
end

-- A function that gives the tensors of the case's results. change(tensors) may alter its arguments before the call; a leaf that it
-- returns is copied where the op writes to it.
local function call_of_case(case, via)
  return function(change)
    torch.manual_seed(3)
    local call, args, leaves = reference.call_of(case, via)
    for _, t in ipairs(leaves.tensors) do t:requires_grad_(false) end
    local leaf = change and change(leaves.tensors)
    if leaf and rawequal(args[1], leaf) and case.op:sub(-1) == '_' then args[1] = leaf:clone() end
    return floating(table.pack(call(table.unpack(args, 1, args.n))))
  end
end

-- The same of a function and what makes its arguments.
local function call_of_function(f, ...)
  local arguments = { ... }
  return function(change)
    torch.manual_seed(3)
    local tensors = {}
    for k, t in ipairs(arguments) do tensors[k] = t:clone() end
    if change then change(tensors) end
    return floating(table.pack(f(table.unpack(tensors))))
  end
end

local function moved(t)
  local step = torch.linspace(0.5, 1.5, t:numel(), { dtype = torch.float64 }):reshape(t.shape) * 1e-2
  return (t + step:to(t.dtype):to(t.device)):detach()
end

local function same(a, b)
  if not (a.shape == b.shape) then return false end
  local x, y = a:detach():resolve_conj(), b:detach():resolve_conj()
  return torch.equal(torch.nan_to_num(x), torch.nan_to_num(y))
end

-- Whether the tensor at this place of a case's list is one to ask about.
local function asked(t) return inexact(t) and t:numel() > 0 and t.layout == torch.strided end

local function is_refused(message)
  for _, text in ipairs { 'not differentiable with respect to argument', 'requires? grad', 'not implemented', 'must be number, not Tensor' } do
    if message:find(text) then return true end
  end
  return false
end

-- Raises where a result of the call depends on tensor i and neither requires a gradient nor was refused.
local function check(results_of, i)
  local plain = results_of()
  local done, other = pcall(results_of, function(tensors) tensors[i]:copy_(moved(tensors[i])) end)
  if not done or #other ~= #plain then return end -- outside of its domain
  local ok, results = pcall(results_of, function(tensors) return tensors[i]:requires_grad_() end)
  if not ok then
    if not is_refused(tostring(results)) then error(('tensor %d requires grad: %s'):format(i, results), 0) end
    return
  end
  for k, result in ipairs(results) do
    if inexact(result) and not result.requires_grad and not same(plain[k], other[k]) then
      error(('result %d depends on tensor %d, which requires grad, and is a constant'):format(k, i), 0)
    end
  end
end

-- ---- the rows ------------------------------------------------------------------------------------------------------------

local apart = { printing = true, random = true }
local rows, tried = {}, {} -- by op; by op, which argument names

local function note(case)
  local names, ops = {}, {}
  for _, prefix in ipairs { '', 'linalg_', 'special_', 'masked_', 'fft_' } do
    local name = prefix .. case.op
    for _, list in ipairs { declared.by_name[name] or {}, scripted.by_name[name] or {} } do table.move(list, 1, #list, #ops + 1, ops) end
  end
  for _, op in ipairs(ops) do
    for i, spec in ipairs(case.args) do
      if op.args[i] and type(spec) == 'table' and (spec.dtype or spec.list) then names[#names + 1] = op.name .. ' ' .. op.args[i].name end
    end
    for name in pairs(case.kwargs or {}) do names[#names + 1] = op.name .. ' ' .. name end
  end
  for _, name in ipairs(names) do tried[name] = true end
end

local function signature(case)
  local parts = { case.via or 'f', #case.args }
  for i, spec in ipairs(case.args) do parts[#parts + 1] = type(spec) == 'table' and (spec.dtype or spec.list and 'list') and i or '' end
  for name in pairs(case.kwargs or {}) do parts[#parts + 1] = name end
  table.sort(parts, function(a, b) return tostring(a) < tostring(b) end)
  return table.concat(parts, ' ')
end

local listing = assert(io.popen('ls "' .. here .. '../reference"'))
for file in listing:lines() do
  local group = file:match '^(.*)%.lua$'
  local cases = group and not apart[group] and reference.load(group) or {}
  for _, case in ipairs(cases) do
    if type(case) == 'table' and case.op and case.args and not case.error and case.op ~= 'optimize' then
      local list = rows[case.op] or { by_signature = {} }
      rows[case.op] = list
      local key = signature(case)
      list.by_signature[key] = (list.by_signature[key] or 0) + 1
      if list.by_signature[key] <= ROWS then list[#list + 1] = case end
      note(case)
    end
  end
end
listing:close()

-- Ops that the rows leave out, for results that are free in part or drawn. Arguments in float64.
local F = torch.nn.functional
local function D(...) return (torch.arange(1, torch.Size { ... }:numel() + 1):reshape({ ... }):double():sin() + 1.5) / 3 end
local others = {
  ['im2col input'] = { function(x) return F.unfold(x, { 2, 2 }) end, D(1, 2, 3, 3) },
  ['col2im input'] = { function(x) return F.fold(x, { 3, 3 }, { 2, 2 }) end, D(1, 8, 4) },
  ['linalg_eigh self'] = { function(x) return torch.linalg.eigh(x + x:t()) end, D(3, 3) },
  ['max_pool1d_with_indices self'] = { function(x) return F.max_pool1d(x, 2, { return_indices = true }) end, D(1, 2, 4) },
  ['max_pool2d_with_indices self'] = { function(x) return F.max_pool2d(x, 2, { return_indices = true }) end, D(1, 2, 4, 4) },
  ['max_pool3d_with_indices self'] = { function(x) return F.max_pool3d(x, 2, { return_indices = true }) end, D(1, 2, 4, 4, 4) },
  ['normal mean'] = { function(m) return torch.normal(m, 1.0) end, D(3) },
  ['normal std'] = { function(s) return torch.normal(0.0, s) end, D(3) },
  ['poisson self'] = { torch.poisson, D(50) * 30 },
  ['binomial count'] = { torch.binomial, torch.full({ 50 }, 9.0, { dtype = torch.float64 }), D(50) },
  ['binomial prob'] = { function(p) return torch.binomial(torch.full({ 50 }, 9.0, { dtype = torch.float64 }), p) end, D(50) * 0.9 },
  ['svd_lowrank A'] = { function(a) return torch.svd_lowrank(a, { q = 2 }) end, D(4, 3) },
  ['svd_lowrank M'] = { function(m) return torch.svd_lowrank(D(4, 3), { q = 2, M = m }) end, D(4, 3) },
  ['pca_lowrank A'] = { function(a) return torch.pca_lowrank(a, { q = 2 }) end, D(4, 3) },
  ['diff prepend'] = { function(p) return torch.diff(D(4), { prepend = p }) end, D(2) },
  ['floor_divide in place'] = { function(x) return (x * 1):floor_divide_(0.1) end, D(3) },
  ['lp_pool3d input'] = { function(x) return F.lp_pool3d(x, 2, 2) end, D(1, 2, 2, 2, 2) },
  ['histogram, densities'] = { function(x) return torch.histogram(x, 2, { density = true }) end, D(5) },
}
local NOT_ASKED = {}
for reason, names in pairs {
  ['of self only size, dtype and device are used'] = 'empty_like new_empty new_empty_strided rand_like randint_like randn_like',
  ['self is overwritten by numbers that are drawn'] = 'uniform_ normal_ random_ exponential_ geometric_ cauchy_ log_normal_',
  ['the results are positions'] = 'multinomial sparse_dim dense_dim is_coalesced indices crow_indices col_indices ccol_indices row_indices',
  ['sparse tensors: sparse_spec.lua'] = 'values coalesce to_dense sparse_mask',
  ['the history is cut, which is what it is for'] = 'detach detach_copy',
  ['counts, which are constant in pieces'] = 'histc',
  ['the same on another device: cuda_spec.lua'] = 'cuda',
  ['the arguments are positions'] = 'segment_reduce',
  ['masks are bools'] = 'masked_normalize',
  ['weights are bytes; gradcheck_spec.lua checks the input'] = 'dequantize_blocks quantize_blocks linear_blocks',
  ['scale_factor is a list of numbers; gradcheck_spec.lua checks the input'] = 'interpolate upsample_nearest upsample_bilinear',
  ['the lengths are integers; gradcheck_spec.lua checks log_probs'] = 'ctc_loss',
  ['the samples select positions; gradcheck_spec.lua checks the input'] = [[fractional_max_pool2d fractional_max_pool3d
    fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices]],
  ['nn_recurrent_spec.lua and gradcheck_spec.lua check their derivatives'] = 'lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell recurrent_layer',
} do
  for name in names:gmatch '%S+' do NOT_ASKED[name] = reason end
end

describe('an argument that requires a gradient is no constant:', function()
  local names = {}
  for name in pairs(rows) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    if not EXCUSED[name] then
      it(name, function()
        for _, case in ipairs(rows[name]) do
          local via = case.via or (torch[name] and 'f' or 'm')
          local _, _, leaves = reference.call_of(case, via)
          for i, t in ipairs(leaves.tensors) do
            if asked(t) and not EXCUSED[name .. '/' .. i] then
              local ok, message = pcall(check, call_of_case(case, via), i)
              if not ok then error(reference.describe(case) .. ': ' .. tostring(message), 0) end
            end
          end
        end
      end)
    end
  end

  for name, entry in pairs(others) do
    it(name, function()
      local run = call_of_function(table.unpack(entry))
      for i = 1, #entry - 1 do check(run, i) end
    end)
  end

  it('each tensor argument of each op either has a gradient or is rejected', function()
    local missing = {}
    for _, model in ipairs { declared, scripted } do
      for _, op in ipairs(model.ops) do
        local public = op.name:sub(1, 1) ~= '_' and next(op.variants) and not op.variants.library
        for _, a in ipairs(op.args) do
          local key = op.name .. ' ' .. a.name
          local covered = tried[key] or others[key] or NOT_ASKED[op.name] or NOT_ASKED[key]
          if public and a.type:match '^Tensor' and not covered then missing[#missing + 1] = key end
        end
      end
    end
    assert(#missing == 0, #missing .. ' are not: ' .. table.concat(missing, ', '))
  end)
end)

describe('an op without a derivative', function()
  it('gives a result that requires a gradient, and an error in backward that names the op', function()
    local x = torch.rand(3, { requires_grad = true })
    local y = torch.special.airy_ai(x)
    assert.is_true(y.requires_grad)
    assert.equal('<NotImplemented>', tostring(y):match 'grad_fn=(%b<>)')
    fails_with('derivative for special_airy_ai is not implemented', function() y:sum():backward() end)
    assert.is_false(torch.no_grad(function() return torch.special.airy_ai(x).requires_grad end))
  end)

  it('an in-place op without a derivative is named in the error of backward', function()
    local x = torch.rand(3, { requires_grad = true })
    local y = x * 2
    y:nextafter_(torch.zeros(3))
    assert.is_true(y.requires_grad)
    local z = x:abs():to(torch.float32)
    z:floor_divide_(2)
    z:sum():backward()
    assert.same({ 0, 0, 0 }, x.grad:tolist())
  end)

  it('that draws numbers gives gradients of 0, as a policy that is trained by its draws needs', function()
    local mean = torch.zeros(3, { requires_grad = true })
    local action = torch.normal(mean, 1.0)
    ;(action * mean):sum():backward()
    assert.same(action:tolist(), mean.grad:tolist())
  end)

  it('refuses an argument without a derivative by name, and takes it detached', function()
    local w = torch.rand(4, { requires_grad = true })
    local x, t = torch.randn(3, 4), torch.tensor { 1, 2, 4 }
    fails_with("The function 'nll_loss' is not differentiable with respect to argument 'weight'. This input cannot have requires_grad True",
      function() F.nll_loss(x, t, { weight = w }) end)
    assert.is_false(F.nll_loss(x, t, { weight = w:detach() }).requires_grad)
    assert.is_false(torch.no_grad(function() return F.nll_loss(x, t, { weight = w }) end).requires_grad)
  end)
end)
