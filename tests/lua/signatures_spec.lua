-- signatures_spec.lua - the arguments of layers, optimizers, schedulers and functions of nn.functional are PyTorch's
-- (tests/reference/signatures.lua): their names, their order and their defaults, so that a ported program runs as it is.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local arguments = require 'torch.support.arguments'
local rows = dofile(here .. '../reference/signatures.lua')
local declarations = dofile(here .. '../../scripts/gen/declarations.lua').load(here .. '../../src/ops')

-- ---- what differs, and why ------------------------------------------------------------------------------------------

local differs = {
  -- positions count from 1
  ['nn.CTCLoss.blank'] = 1, ['nn.CosineSimilarity.dim'] = 2, ['nn.Flatten.start_dim'] = 2, ['nn.DataParallel.dim'] = 1, ['F.normalize.dim'] = 2,
  ['F.ctc_loss.blank'] = 1,
  -- a name stands for the function
  ['nn.Transformer.activation'] = 'relu', ['nn.TransformerDecoderLayer.activation'] = 'relu',
  ['nn.TransformerEncoderLayer.activation'] = 'relu',
}
-- Functions that are declared by other names.
local declared_as = { unfold = 'im2col', fold = 'col2im' }
local not_taken = {
  ['nn.Hardtanh.min_value'] = 'out of use', ['nn.Hardtanh.max_value'] = 'out of use', ['F.normalize.out'] = 'made without it',
}

-- ---- ours -----------------------------------------------------------------------------------------------------------

local left_out = { device = true, dtype = true, size_average = true, reduce = true }

-- The declared arguments of a class's constructor: { order = names in a row, known =, defaults = }.
local function signature_of_class(class)
  local reader = arguments.constructors[class.__classname]
  local signature = reader and (type(reader) == 'table' and reader or arguments.parse(reader)) or arguments.signature_of(class)
  if not signature then return nil end
  local found = { order = {}, known = {}, defaults = {} }
  for i = reader and 1 or 2, #signature do
    local name = signature[i].name
    if not left_out[name] then
      if i <= signature.positional then table.insert(found.order, name) end
      found.known[name], found.defaults[name] = true, signature[i].default
    end
  end
  return found
end

local function same(a, b)
  if type(a) == 'table' and type(b) == 'table' then
    for i = 1, math.max(#a, #b) do
      if (a[i] or false) ~= (b[i] or false) then return false end -- false stands for None
    end
    return true
  end
  return a == b or type(a) == 'number' and type(b) == 'number' and math.abs(a - b) < 1e-15
end

local function check_default(where, argument, got)
  local expected = differs[where]
  if expected == nil then expected = argument.default end
  if expected == nil then expected = false end -- Python's None
  if got == nil then got = false end
  assert(same(expected, got), ('%s: the default is %s, PyTorch\'s %s'):format(where, tostring(got), tostring(expected)))
end

local function each(kind)
  local i = 0
  return function()
    repeat i = i + 1 until rows[i] == nil or rows[i].kind == kind
    return rows[i]
  end
end

describe('the arguments of', function()
  it('layers equal PyTorch\'s', function()
    local compared = 0
    for row in each 'nn' do
      local signature = torch.nn[row.name] and signature_of_class(torch.nn[row.name])
      if signature then
        compared = compared + 1
        for i, name in ipairs(signature.order) do
          assert.equal(row.arguments[i] and row.arguments[i][1], name, ('nn.%s: argument %d'):format(row.name, i))
        end
        for _, argument in ipairs(row.arguments) do
          local where = ('nn.%s.%s'):format(row.name, argument[1])
          local known = signature.known[argument[1]]
          assert(known or not_taken[where], where .. ' is not known')
          if argument.optional and known then check_default(where, argument, signature.defaults[argument[1]]) end
        end
      end
    end
    assert(compared > 110, compared)
  end)

  it('optimizers and schedulers have PyTorch\'s defaults', function()
    for kind, module in pairs { optim = torch.optim, lr_scheduler = torch.optim.lr_scheduler } do
      local compared = 0
      for row in each(kind) do
        local signature = module[row.name] and signature_of_class(module[row.name])
        assert(signature or not module[row.name], row.name .. ' declares no arguments')
        for _, argument in ipairs(signature and row.arguments or {}) do
          local where = ('%s.%s.%s'):format(kind, row.name, argument[1])
          assert(signature.known[argument[1]], where .. ' is not known')
          if argument.optional then
            check_default(where, argument, signature.defaults[argument[1]])
            compared = compared + 1
          end
        end
      end
      assert(compared > 40, compared)
    end
  end)

  it('optimizers equal PyTorch\'s, in order and by name', function()
    local ways = { foreach = true, fused = true, capturable = true, differentiable = true }
    for row in each 'optim' do
      local make = torch.optim[row.name]
      if make then
        local in_a_row, by_name, n = {}, {}, 0
        for i = 2, #row.arguments do
          local argument = row.arguments[i]
          local name, default = argument[1], argument.default
          if ways[name] then
            by_name[name] = default
          elseif argument.named or i > n + 2 then
            by_name[name] = default
          else
            n = n + 1
            in_a_row[n] = default
          end
        end
        in_a_row[n + 1] = by_name
        local plain, given = make { torch.ones(1, 1) }, make({ torch.ones(1, 1) }, table.unpack(in_a_row, 1, n + 1))
        for i = 2, #row.arguments do
          local argument = row.arguments[i]
          local where = ('optim.%s.%s'):format(row.name, argument[1])
          if not ways[argument[1]] and not (row.name == 'LBFGS' and argument[1] == 'max_eval') then
            check_default(where, argument, plain.param_groups[1][argument[1]])
            check_default(where .. ' in a row', argument, given.param_groups[1][argument[1]])
          end
        end
      end
    end
  end)

  it('functions begin with input, which may be given by name', function()
    local F, x = torch.nn.functional, torch.tensor { -1.0, 3.0 }
    assert.same({ 0.0, 3.0 }, torch.relu({ input = x }):tolist())
    assert.same({ 0.0, 3.0 }, F.relu({ input = x }):tolist())
    assert.same({ 0.0, 4.0 }, torch.add({ input = x, other = 1 }):tolist())
    assert.same({ 2.0 }, torch.sum({ input = x, dim = 1, keepdim = true }):tolist())
    assert.same({ 9.0, 3.0 }, torch.where({ condition = x:lt(0), input = 9.0, other = x }):tolist())
    assert.equal(F.mse_loss(x, x * 2):item(), F.mse_loss({ input = x, target = x * 2 }):item())
    local ok, message = pcall(torch.add, x, { input = x, other = 1 })
    assert(not ok and tostring(message):find("add() got multiple values for argument 'input'", 1, true), message)
    ok, message = pcall(torch.arange, { input = 3 })
    assert(not ok and tostring(message):find("unknown argument 'input'", 1, true), message)
  end)

  it('take NumPy\'s names, axis, keepdims, x1 and x2, for those that they replace', function()
    local x = torch.arange(6.0):reshape(2, 3)
    assert.same({ { 3.0 }, { 12.0 } }, x:sum({ axis = 2, keepdims = true }):tolist())
    assert.same({ 1.5, 2.5, 3.5 }, x:mean({ axis = 1 }):tolist())
    assert.same({ 2, 2, 2 }, x:argmax({ axis = 1 }):tolist())
    assert.same({ 3.0, 4.0, 5.0 }, x:max({ axis = 1 }):tolist())
    assert.same({ 1, 2, 3 }, { table.unpack(x:unsqueeze({ axis = 1 }).shape) })
    assert.same({ 4, 3 }, { table.unpack(torch.cat({ x, x }, { axis = 1 }).shape) })
    assert.same({ 2, 3, 2 }, { table.unpack(torch.stack({ x, x }, { axis = 3 }).shape) })
    assert.same({ 1.0, 3.0 }, torch.add({ x1 = torch.tensor { 0.0, 1.0 }, x2 = torch.tensor { 1.0, 2.0 } }):tolist())
    assert.same({ 1.0, 3.0 }, torch.add({ x = torch.tensor { 0.0, 1.0 }, other = torch.tensor { 1.0, 2.0 } }):tolist())
    local ok, message = pcall(x.sum, x, { dim = 1, axis = 1 })
    assert(not ok and tostring(message):find('sum() received an invalid combination of arguments', 1, true), message)
    ok, message = pcall(x.sum, x, { axes = 1 })
    assert(not ok and tostring(message):find("sum(): unknown argument 'axes' (known: dtype, dim, keepdim, out)", 1, true), message)
  end)

  it('functions of nn.functional equal PyTorch\'s', function()
    local compared = 0
    for row in each 'F' do
      local ops = torch.nn.functional[row.name] and declarations.by_name[declared_as[row.name] or row.name]
      if ops and #ops == 1 then
        compared = compared + 1
        local theirs = {}
        for _, argument in ipairs(row.arguments) do theirs[argument[1]] = argument end
        local known = { inplace = true, return_indices = true }
        for i, a in ipairs(ops[1].args) do
          local name = i == 1 and row.arguments[1][1] or a.name
          local where = ('F.%s.%s'):format(row.name, name)
          known[name] = true
          local argument = theirs[name]
          assert(argument or a.type == 'Dtype?' or a.type == 'Generator?', where .. ' is none of PyTorch\'s')
          if argument and a.default and a.default ~= 'nil' then
            local written = a.default:gsub("^'(.*)'$", '%1')
            local value = ({ ['true'] = true, ['false'] = false })[written]
            if value == nil then value = tonumber(written) or written end
            check_default(where, argument, value)
          end
        end
        for name in pairs(theirs) do
          local where = ('F.%s.%s'):format(row.name, name)
          assert(known[name] or not_taken[where], where .. ' is not known')
        end
      end
    end
    assert(compared > 40, compared)
  end)
end)

describe('the settings of layers', function()
  it('can be read by PyTorch\'s names', function()
    local nn = torch.nn
    assert.same({ false, true }, { nn.Conv2d(1, 1, 1).transposed, nn.ConvTranspose2d(1, 1, 1).transposed })
    assert.same({ true, false }, { nn.GRUCell(2, 2).bias, nn.LSTMCell(2, 2, false).bias })
    assert.same({ 0.0, 6.0 }, { nn.ReLU6().min_val, nn.ReLU6().max_val })
    assert.equal(0.0, nn.ZeroPad2d(1).value)
  end)
end)

describe('arguments of old programs', function()
  it('are known: size_average and reduce stand for reduction', function()
    local nn, x, y = torch.nn, torch.tensor { 1.0, 3.0 }, torch.zeros(2)
    assert.equal(10.0, nn.MSELoss { size_average = false }(x, y):item())
    assert.equal(5.0, nn.MSELoss { size_average = true }(x, y):item())
    assert.same({ 1.0, 9.0 }, nn.MSELoss { reduce = false }(x, y):tolist())
    assert.equal('mean', nn.L1Loss { reduce = true }.reduction)
  end)

  it('arguments that select an implementation have no effect, and unsupported ones are errors', function()
    local w = { torch.ones(2) }
    assert.equal(0.5, torch.optim.Adam(w, 0.5, { fused = true, foreach = false, capturable = false }).param_groups[1].lr)
    local ok, message = pcall(torch.optim.SGD, w, 0.1, { differentiable = true })
    assert.is_false(ok)
    assert(tostring(message):find('SGD(): differentiable = true is not supported', 1, true), message)
    ok, message = pcall(torch.optim.SGD, w, 0.1, 0.9, { lr = 0.2 })
    assert(not ok and tostring(message):find("SGD() got multiple values for argument 'lr'", 1, true), message)
    ok, message = pcall(torch.optim.Rprop, w, 0.1, { 0.5, 1.2 }, { 1e-6, 50 }, 3)
    assert(not ok and tostring(message):find('Rprop() takes at most 4 positional arguments but 5 were given: params, lr, etas, step_sizes, capturable, foreach, maximize, differentiable', 1, true), message)
    ok, message = pcall(torch.optim.Rprop, w, 0.1, 3)
    assert(not ok and tostring(message):find("Rprop(): argument 'etas' must be a list of numbers, not a number", 1, true), message)
    ok, message = pcall(torch.optim.Rprop, w, { etas = { 0.5 } })
    assert(not ok and tostring(message):find("Rprop(): argument 'etas' must be a list of 2 numbers, got 1", 1, true), message)
  end)

  it('name functions that have others now', function()
    local F, x = torch.nn.functional, torch.arange(4.0):reshape(1, 1, 2, 2)
    local twice = F.interpolate(x, { scale_factor = 2, mode = 'nearest' })
    assert.is_true(torch.equal(twice, F.upsample_nearest(x, { scale_factor = 2 })))
    assert.is_true(torch.equal(twice, F.upsample_nearest(x, { 4, 4 })))
    assert.is_true(torch.equal(F.interpolate(x, { size = 3, mode = 'bilinear', align_corners = true }), F.upsample_bilinear(x, 3)))
    assert.is_true(torch.equal(F.interpolate(x, { scale_factor = 3, mode = 'bilinear', align_corners = true }), F.upsample_bilinear(x, nil, 3)))
    local most, places = F.max_pool2d_with_indices(x, 2)
    assert.same({ 3.0, 4 }, { most:item(), places:item() })
  end)
end)
