-- overlap_spec.lua - what may be written: every in-place form and every out= form that src/ops declares refuses a tensor
-- whose elements share memory, and arguments that lie across what is written, with PyTorch's words.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local declared = dofile(root .. 'scripts/gen/declarations.lua').load(root .. 'src/ops')
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local ITSELF = 'more than one element of the written-to tensor refers to a single memory location'
local INPUT = 'some elements of the input tensor and the written-to tensor refer to a single memory location'

-- An argument of the type; what it holds does not matter, since the check comes first.
local function argument(spec, op)
  local makers = {
    Tensor = function() return torch.rand(3, 3, { device = device }) end,
    IndexTensor = function()
      local whole = torch.ones(3, 3, { dtype = torch.int64, device = device })
      return op.name == 'index_reduce' and whole[1] or whole
    end,
    ['IndexTensor[]'] = function() return { torch.ones(3, { dtype = torch.int64, device = device }) } end,
    ['Tensor[]'] = function() return { torch.rand(3, 3, { device = device }) } end,
    string = function() return op.name == 'index_reduce' and 'mean' or 'sum' end, bool = function() return false end,
    Size = function() return { 3 } end, Dims = function() return 1 end,
  }
  local kind = spec.type:gsub('%?$', ''):gsub('|Scalar$', '')
  if spec.optional and kind ~= 'Tensor' and kind ~= 'Dims' then return nil end
  return (makers[kind] or function() return 1 end)()
end

-- The arguments after the first; those that come by name in a table at the end.
local function arguments_of(op, from, out)
  local list, named = { n = 0 }, { out = out }
  for i = from, #op.args do
    local spec = op.args[i]
    if spec.keyword_only then
      if not spec.has_default then named[spec.name] = argument(spec, op) end
    else
      list.n = list.n + 1
      list[list.n] = argument(spec, op)
    end
  end
  if next(named) then
    list.n = list.n + 1
    list[list.n] = named
  end
  return list
end

local function library(name) return torch._C.nn[name] or torch[name] or torch._C[name] end

local function written_to(name)
  if name:match 'bool' then return torch.ones(1, { dtype = torch.bool, device = device }):expand(3, 3) end
  return torch.ones(3, 1, { dtype = torch[name], device = device }):expand(3, 3)
end

local function report(list) assert(#list == 0, #list .. ' ops:\n  ' .. table.concat(list, '\n  ')) end

-- Calls do(op, what a user calls it by, function of the tensor that is written) for every form that writes `form`.
local function each_form(form, body)
  local count = 0
  for _, op in ipairs(declared.ops) do
    local inplace = op.inplace_only or op.variants.inplace
    if form == 'inplace' and inplace and next(op.variants) and not op.view and op.args[1].type ~= 'Tensor[]' then
      local name = op.inplace_only and op.name or op.name .. '_'
      count = count + 1
      body(op, name, function(self)
        local rest = arguments_of(op, 2)
        local call = library(name) or self[name]
        return call(self, table.unpack(rest, 1, rest.n))
      end)
    elseif form == 'out' and op.variants.out then
      count = count + 1
      body(op, op.name, function(out)
        local all = arguments_of(op, 1, #op.returns > 1 and { out, torch.empty(0, { dtype = torch.int64, device = device }) } or out)
        return (library(op.name) or out[op.name])(table.unpack(all, 1, all.n))
      end)
    end
  end
  return count
end

local function message_of(call, ...)
  local ok, message = pcall(call, ...)
  return not ok and tostring(message) or nil
end

describe('an output with elements that share memory', function()
  for _, form in ipairs { 'inplace', 'out' } do
    it('is refused by every op that would write it, ' .. form, function()
      local wrong = {}
      local count = each_form(form, function(op, name, call)
        local message = message_of(call, written_to(op.pointwise == 'compare' and 'bool' or op.name == 'float_power' and 'float64' or 'float32'))
        if op.overlap == 'one value' then
          if message and message:find(ITSELF, 1, true) then wrong[#wrong + 1] = name .. ': refused, though it writes one value' end
        elseif not (message and message:find(ITSELF, 1, true)) then
          wrong[#wrong + 1] = ('%s (%s): %s'):format(name, op.signature, message or 'accepted')
        end
      end)
      report(wrong)
      assert(count > 40, count .. ' forms')
    end)
  end

  it('is refused by the steps of optimizers', function()
    for _, op in ipairs(declared.ops) do
      if op.inplace_only and op.args[1].type == 'Tensor[]' then
        local rest = arguments_of(op, 2)
        local message = message_of(torch._C[op.name], { written_to 'float' }, table.unpack(rest, 1, rest.n))
        assert(message and message:find(ITSELF, 1, true), op.name .. ': ' .. tostring(message))
      end
    end
  end)

  it('is detected for every way to create it', function()
    local windows = torch.arange(8, { device = device }):as_strided({ 3, 4 }, { 1, 1 })
    local crossed = torch.zeros(16, { device = device }):as_strided({ 3, 4 }, { 4, 2 }) -- 0 2 4 6, 4 6 8 10, ...
    assert.has_error(function() windows:add_(1) end)
    assert.has_error(function() crossed:mul_(2) end)
  end)

  it('may be written if all elements are distinct, in any order', function()
    local memory = torch.zeros(16, { device = device })
    memory:as_strided({ 2, 3 }, { 3, 2 }):add_(1) -- 0 2 4, 3 5 7
    assert.same({ 1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 }, memory:tolist())
    torch.zeros(4, 3, 2, { device = device }):permute(3, 1, 2):add_(1)
    torch.zeros(4, 6, { device = device })[{ {}, { 1, -1, 2 } }]:add_(1)
    torch.zeros(1, 3, { device = device }):expand(1, 3):add_(1)
    torch.zeros(1, 0, { device = device }):expand(5, 0):add_(1)
  end)

  it('is refused in assignments of tensors, and takes one value', function()
    local x = torch.zeros(3, 1, { device = device }):expand(3, 3)
    assert.has_error(function() x[{}] = torch.rand(3, 3, { device = device }) end)
    assert.has_error(function() x[{ torch.tensor({ 1, 2 }, { device = device }) }] = torch.rand(2, 3, { device = device }) end)
    x:fill_(2)
    assert.equal(18, x:sum():item())
    x:zero_()
    assert.equal(0, x:sum():item())
    x:index_fill_(2, torch.tensor({ 1, 2 }, { device = device }), 4)
    assert.equal(36, x:sum():item())
  end)

  it('does not crash integer divisions', function()
    for _, name in ipairs { 'remainder_', 'fmod_', 'floor_divide_' } do
      local x = torch.full({ 8 }, 4, { dtype = torch.int64, device = device })
      local windows = x:as_strided({ 4, 4 }, { 1, 1 })
      local message = message_of(windows[name], windows, windows)
      assert(message:find(ITSELF, 1, true), message)
      message = message_of(x[name], x:narrow(1, 1, 6), x:narrow(1, 2, 6))
      assert(message:find(INPUT, 1, true), message)
      assert.same({ 4, 4, 4, 4, 4, 4, 4, 4 }, x:tolist())
    end
  end)

  it('is left as it was', function()
    local base = torch.arange(3, { device = device, dtype = torch.float32 }):reshape(3, 1)
    local version = base._version
    assert.has_error(function() base:expand(3, 3):copy_(torch.ones(3, 3, { device = device })) end)
    assert.same({ { 0 }, { 1 }, { 2 } }, base:tolist())
    assert.equal(version, base._version)
  end)
end)

describe('an argument that overlaps the output', function()
  local function square() return torch.rand(3, 3, { device = device }) end

  it('is an error for elementwise ops if it is shifted', function()
    local cases = {
      function(x) x:add_(x:t()) end, function(x) x:narrow(1, 2, 2):mul_(x:narrow(1, 1, 2)) end,
      function(x) x:add_(x[1]) end, function(x) x:copy_(x:t()) end, function(x) x:copy_(x[1]) end,
      function(x) x:narrow(1, 2, 2):copy_(x:narrow(1, 1, 2)) end, function(x) x:lerp_(x:t(), 0.5) end,
      function(x) torch.cumsum(x, 1, { out = x:t() }) end, function(x) torch.logcumsumexp(x, 1, { out = x:t() }) end,
      function(x) torch.where(x:gt(0), x, x:t(), { out = x }) end, function(x) x[{ { 2, 3 } }] = x[{ { 1, 2 } }] end,
      function(x) torch.addr(x, x[1], x[2], { out = x }) end,
    }
    for i, case in ipairs(cases) do
      local x = square()
      local before = x:tolist()
      local message = message_of(case, x)
      assert(message and message:find(INPUT, 1, true), ('case %d: %s'):format(i, tostring(message)))
      assert.same(before, x:tolist())
    end
  end)

  it('is refused altogether where positions are chosen', function()
    local at = torch.ones(3, 3, { dtype = torch.int64, device = device })
    local cases = {
      function(x) x:scatter_(1, at, x) end, function(x) x:scatter_add_(1, at, x) end,
      function(x) x:scatter_reduce_(1, at, x, 'sum') end, function(x) x:index_add_(1, at[1], x) end,
      function(x) x:index_copy_(1, at[1], x) end, function(x) x:put_(at, x) end, function(x) x:index_put_({ at[1] }, x) end,
      function(x) x:masked_scatter_(x:gt(0), x) end, function(x) torch.gather(x, 1, at, { out = x }) end,
      function(x) torch.index_select(x, 1, at[1], { out = x }) end, function(x) torch.sum(x, 1, { out = x[2] }) end,
    }
    for i, case in ipairs(cases) do
      local x = square()
      local before = x:tolist()
      local message = message_of(case, x)
      assert(message and message:find(INPUT, 1, true), ('case %d: %s'):format(i, tostring(message)))
      assert.same(before, x:tolist())
    end
  end)

  it('is refused where one element is shared, and taken where none is', function()
    local line = torch.arange(6, { device = device })
    for _, write in ipairs { 'add_', 'copy_', 'mul_' } do
      local message = message_of(function() line:narrow(1, 3, 3)[write](line:narrow(1, 3, 3), line:narrow(1, 1, 3)) end)
      assert(message and message:find(INPUT, 1, true), tostring(message))
      message = message_of(function() line:narrow(1, 1, 3)[write](line:narrow(1, 1, 3), line:narrow(1, 3, 3)) end)
      assert(message and message:find(INPUT, 1, true), tostring(message))
    end
    assert.same({ 0, 1, 2, 3, 4, 5 }, line:tolist())
    line:narrow(1, 4, 3):add_(line:narrow(1, 1, 3))
    line:narrow(1, 1, 3):copy_(line:narrow(1, 4, 3))
    assert.same({ 3, 5, 7, 3, 5, 7 }, line:tolist())
    assert.equal(INPUT, (message_of(function() line:narrow(1, 1, 1):index_put_({ torch.ones(1, { dtype = torch.int64, device = device }) }, line[1]) end) or ''):match(INPUT:gsub('%-', '%%-')))
  end)

  it('may be the output itself or a disjoint part', function()
    local x = square()
    local twice, running = (x * 2):tolist(), torch.cumsum(x, 1):tolist()
    assert.same(twice, x:clone():add_(x:clone()):tolist())
    assert.same(twice, (function(y) return y:add_(y) end)(x:clone()):tolist())
    assert.same(running, (function(y) return torch.cumsum(y, 1, { out = y }) end)(x:clone()):tolist())
    local pairs_of = torch.arange(8, { device = device }):reshape(2, 4)
    pairs_of[{ {}, { 1, -1, 2 } }]:add_(pairs_of[{ {}, { 2, -1, 2 } }])
    pairs_of[{ {}, { 1, -1, 2 } }]:index_add_(1, torch.tensor({ 1, 2 }, { device = device }), pairs_of[{ {}, { 2, -1, 2 } }])
    assert.same({ { 2, 1, 8, 3 }, { 14, 5, 20, 7 } }, pairs_of:tolist())
  end)

  it('products copy an operand that is also the output', function()
    local x = square()
    local product, sum = (x:matmul(x)):tolist(), torch.addmm(x, x, x):tolist()
    assert.same(product, (function(y) return torch.mm(y, y, { out = y }) end)(x:clone()):tolist())
    assert.same(sum, (function(y) return y:addmm_(y, y) end)(x:clone()):tolist())
    assert.same(torch.mv(x, x[1]):tolist(), (function(y) return torch.mv(y, y[1], { out = y[1] }) end)(x:clone()):tolist())
  end)
end)
