-- Tensors print as PyTorch prints them, to the character (tests/reference/printing.lua).

local torch = require 'torch'
local F = torch.nn.functional

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

-- The functions that generator/printing_cases.py applies before printing.
local EXPRESSION = {
  add = function(x) return x + 1 end,
  sub = function(x) return 1 - x end,
  mul = function(x) return x * 2 end,
  div = function(x) return x / 2 end,
  neg = function(x) return -x end,
  pow = function(x) return x ^ 2 end,
  exp = function(x) return x:exp() end,
  log = function(x) return (x * x + 1):log() end,
  sqrt = function(x) return (x * x):sqrt() end,
  abs = function(x) return x:abs() end,
  tanh = function(x) return x:tanh() end,
  sigmoid = function(x) return x:sigmoid() end,
  relu = function(x) return x:relu() end,
  clamp = function(x) return x:clamp(0, 1) end,
  sum = function(x) return x:sum() end,
  sum_dim = function(x) return x:sum(1) end,
  mean = function(x) return x:mean() end,
  max = function(x) return x:max() end,
  max_dim = function(x) return (x:max(1)) end,
  norm = function(x) return x:norm() end,
  softmax = function(x) return x:softmax(-1) end,
  log_softmax = function(x) return x:log_softmax(-1) end,
  mm = function(x) return x:mm(x:t()) end,
  matmul_batched = function(x) return torch.stack({x, x}):matmul(x:t()) end,
  addmm = function(x) return torch.addmm(x, x, x) end,
  t = function(x) return x:t() end,
  transpose = function(x) return x:transpose(1, 2) end,
  permute = function(x) return x:permute(2, 1) end,
  view = function(x) return x:view(-1) end,
  reshape = function(x) return x:t():reshape(-1) end,
  unsqueeze = function(x) return x:unsqueeze(1) end,
  squeeze = function(x) return x:squeeze() end,
  expand = function(x) return x:expand(2, 2, 2) end,
  cat = function(x) return torch.cat {x, x} end,
  stack = function(x) return torch.stack {x, x} end,
  select = function(x) return x[1] end,
  slice = function(x) return x[{ {}, {1, 1} }] end,
  index = function(x) return x[torch.tensor {2, 1}] end,
  gather = function(x) return x:gather(1, torch.tensor { {1, 2} }) end,
  index_select = function(x) return x:index_select(1, torch.tensor {2}) end,
  masked_fill = function(x) return x:masked_fill(x:gt(0), 5) end,
  where = function(x) return torch.where(x:gt(0), x, 0.0) end,
  clone = function(x) return x:clone() end,
  double = function(x) return x:double() end,
  cross_entropy = function(x) return F.cross_entropy(x, torch.tensor {1, 2}) end,
  mse_loss = function(x) return F.mse_loss(x, torch.zeros(2, 2)) end,
  linear = function(x) return F.linear(x, torch.ones(2, 2), torch.zeros(2)) end,
  detach = function(x) return (x * 2):detach() end,
}

local function build(case)
  local data = case.data
  local dtype = torch[case.dtype]
  if not case.fill then return torch.tensor(data, {dtype = dtype}):reshape(case.shape) end
  local n, scale, shift = table.unpack(case.fill)
  data = {}
  for i = 0, n - 1 do data[i + 1] = i * scale + shift end
  return torch.tensor(data, {dtype = torch.float64}):to(dtype):reshape(case.shape)
end

local function printed(case)
  local x = build(case)
  if case.parameter then
    x = torch.nn.Parameter(x, {requires_grad = case.requires_grad or false})
  elseif case.requires_grad then
    x:requires_grad_()
  end
  if case.expr then x = EXPRESSION[case.expr](x) end
  if case.options then torch.set_printoptions(case.options) end
  if case.default_dtype then torch.set_default_dtype(torch[case.default_dtype]) end
  return tostring(x)
end

if reference.device == 'cpu' then
  describe('a printed tensor', function()
    after_each(function()
      torch.set_printoptions {profile = 'default'}
      torch.set_default_dtype(torch.float32)
    end)

    for number, case in ipairs(reference.load 'printing') do
      local title = ('#%d %s [%s]%s'):format(number, case.dtype, table.concat(case.shape, ', '),
        case.expr and ' ' .. case.expr or case.options and ' with options' or '')
      it(title, function()
        assert.equal((case.printed:gsub('\n$', '')), printed(case))
      end)
    end
  end)
else
  describe('a printed tensor on ' .. reference.device, function()
    it('names its device', function()
      local x = torch.ones(2, {device = reference.device})
      assert.equal('tensor([1., 1.], device=\'' .. tostring(x.device) .. '\')', tostring(x))
    end)

    it('shows the elements of the edges, as on the CPU', function()
      for _, sizes in ipairs { { 1001 }, { 40, 50 }, { 2, 1000 }, { 1000, 2 }, { 12, 11, 10 }, { 7, 3, 60 }, { 60, 1, 30 } } do
        local x = torch.arange(60000)[{ { 1, torch.zeros(sizes):numel() } }]:reshape(table.unpack(sizes))
        for _, view in ipairs { x, x:transpose(1, -1) } do
          local device = (', device=%q)'):format(tostring(x:to(reference.device).device)):gsub('"', "'")
          assert.equal((tostring(view):gsub('%)$', device)), tostring(view:to(reference.device)))
        end
      end
    end)

    it('names device, dtype and gradient in PyTorch\'s order', function()
      local x = torch.ones(1, {device = reference.device, dtype = torch.float64})
      x:requires_grad_()
      assert.equal('tensor([1.], device=\'' .. tostring(x.device)
        .. '\', dtype=torch.float64, requires_grad=True)', tostring(x))
    end)
  end)
end
