-- threads_spec.lua - results to the bit do not come from how many threads there are, be they more than the processors: what is cut into jobs is cut by
-- its size, and jobs that add up are joined in their order.

local torch = require 'torch'
local process = require 'support.process'
local F = torch.nn.functional

torch.manual_seed(1)
local x = torch.randn(700, 900)
local long = torch.randn(1000001)
local narrow = torch.randn(100000, 7)
local images = torch.randn(8, 16, 40, 40)
local kernels = torch.randn(16, 16, 3, 3)
local numbers = torch.randint(1, 901, { 600000 })
local some = long[{ { 1, 600000 } }]

-- f's gradients by the inputs, in a row.
local function gradients(f, ...)
  local inputs = {}
  for i, t in ipairs { ... } do inputs[i] = t:detach():clone():requires_grad_(true) end
  local y, parts = f(table.unpack(inputs)), {}
  for i, g in ipairs(torch.autograd.grad((y * y):sum(), inputs)) do parts[i] = g:flatten() end
  return torch.cat(parts)
end

local families = {
  ['elementwise ops'] = {
    function() return x + x[{ {}, { 1, 1 } }] end,
    function() return x:t():contiguous():tanh() end,
    function() return torch.where(x:gt(0), x, -x) end,
    function() torch.manual_seed(3) return torch.randn(1000001) end,
    function() torch.manual_seed(3) return F.dropout(long) end,
  },
  reductions = {
    function() return long:sum() end,
    function() return (long * 0.001 + 1):prod() end,
    function() return long:var() end,
    function() return long:norm() end,
    function() return long:logsumexp(1) end,
    function() return long:argmax() end,
    function() return long:median() end,
    function() return x:mean(1) end,
    function() return x:mean(2) end,
    function() return narrow:sum(1) end,
    function() return narrow:var(2) end,
    function() return narrow:amax(1) end,
  },
  scans = {
    function() return long:cumsum(1) end,
    function() return narrow:cumsum(1) end,
    function() return x:cumsum(2) end,
    function() return long:logcumsumexp(1) end,
  },
  order = {
    function() return (long:sort()) end,
    function() return (long:topk(100)) end,
    function() return (long:kthvalue(1000)) end,
    function() return (numbers:unique()) end,
    function() return long:histc(100, -3, 3) end,
  },
  index = {
    function() return torch.zeros(900):index_add(1, numbers, some) end,
    function() return torch.zeros(900):scatter_add(1, numbers, some) end,
    function() return torch.bincount(numbers) end,
    function() return long[long:gt(0)] end,
    function() return long:gt(0):nonzero() end,
    function() return gradients(function(w) return F.embedding(numbers[{ { 1, 20000 } }], w) end, torch.ones(900, 64)) end,
  },
  products = {
    function() return x:mm(x:t()) end,
    function() return x:mv(x[1]) end,
    function() return long:dot(long) end,
    function() return x:reshape(10, 70, 900):bmm(x:reshape(10, 900, 70)) end,
    function() return x:bfloat16():mm(x:bfloat16():t()) end,
    function() return torch.cdist(x[{ {}, { 1, 30 } }], x[{ {}, { 31, 60 } }]) end,
    function() return gradients(F.linear, x, torch.ones(300, 900), torch.ones(300)) end,
  },
  windows = {
    function() return F.conv2d(images, kernels) end,
    function() return gradients(F.conv2d, images, kernels) end, -- oneDNN, the weights' gradient summed over parts of the batch
    function() return gradients(F.conv2d, images[{ {}, {}, { 1, 6 }, { 1, 6 } }], kernels:repeat_interleave(4, 1)) end,
    function() return gradients(F.conv2d, images[{ { 1, 1 } }], kernels:repeat_interleave(4, 1)) end, -- by output channels
    function() return gradients(function(i, k) return F.conv2d(i, k, {groups = 4}) end, images[{ { 1, 3 } }], kernels[{ {}, { 1, 4 } }]) end,
    function() return gradients(F.conv2d, images:double(), kernels:double()) end,
    function() return gradients(function(i) return F.conv2d(i, kernels) end, images) end,
    function() return gradients(function(i) return F.max_pool2d(i, 3) end, images) end,
    function() return gradients(function(i) return F.avg_pool2d(i, 3) end, images) end,
    function() return gradients(function(i) return F.interpolate(i, { scale_factor = 2, mode = 'bilinear' }) end, images) end,
  },
  norms = {
    function() return x:softmax(1) end,
    function() return gradients(function(i) return i:log_softmax(2) end, x) end,
    function() return gradients(function(i, w, b) return F.layer_norm(i, { 900 }, w, b) end, x, torch.ones(900), torch.zeros(900)) end,
    function() return gradients(function(i, w) return F.rms_norm(i, { 900 }, w) end, x, torch.ones(900)) end,
    function() return gradients(function(i, w, b) return F.group_norm(i, 4, w, b) end, images, torch.ones(16), torch.zeros(16)) end,
    function() return gradients(function(i, w, b) return F.batch_norm(i, nil, nil, w, b, true) end, images, torch.ones(16), torch.zeros(16)) end,
  },
  networks = {
    function() torch.manual_seed(1) return (torch.nn.LSTM(64, 64)(torch.ones(20, 64, 64))) end,
    function() return gradients(function(q) return F.scaled_dot_product_attention(q, q, q) end, images) end,
    function() return gradients(function(i) return F.cross_entropy(i, numbers[{ { 1, 700 } }]) end, x) end,
    function() return torch.fft.rfft(long) end,
  },
  chains = {
    function() return torch.compile(function(a) return (a * 2 + 1):tanh() end)(x) end,
    function() return torch.compile(function(a) return (a * 2 + 1):tanh():sum() end)(long) end,
    function() return torch.compile(function(a) return (a * 2 + 1):tanh():sum(1) end)(x) end,
    function() return torch.compile(function(a) return (a * 2 + 1):softmax(2) end)(x) end,
    function()
      local f = torch.compile(function(i, w, b) return F.layer_norm(i * 2 + 1, { 900 }, w, b) * 3 end)
      return gradients(f, x, torch.ones(900), torch.zeros(900))
    end,
  },
}

describe('any number of threads #cpu', function()
  local before = torch.get_num_threads()
  after_each(function() torch.set_num_threads(before) end)

  for name, cases in pairs(families) do
    it('gives the same ' .. name, function()
      for k, case in ipairs(cases) do
        torch.set_num_threads(1)
        local alone = case()
        for _, n in ipairs { 2, 3, 64 } do
          torch.set_num_threads(n)
          assert(torch.equal(alone, case()), ('case %d: %d threads give another result than one'):format(k, n))
        end
      end
    end)
  end
end)

describe('the threads of a library #cpu', function()
  it('are as many as set_num_threads says, for a factorization', function()
    local counts = process.lua [[
      local torch = require 'torch'
      local function threads()
        local pid, n = io.open('/proc/self/stat'):read 'n', 0
        for _ in io.popen(('ls /proc/%d/task 2>/dev/null'):format(pid)):lines() do n = n + 1 end
        return n
      end
      local x, long = torch.randn(700, 700), torch.randn(3000000)
      torch.set_num_threads(1)
      torch.linalg.lu_factor(x)
      io.write(threads(), ' ')
      torch.set_num_threads(5)
      long:sin() -- starts the other threads of the program
      local before = threads()
      torch.linalg.lu_factor(x)
      print(threads() - before)]]
    if not counts:find '^1 ' then return pending 'this OpenBLAS has threads of its own, or the system no /proc' end
    assert.equal('1 4\n', counts)
  end)
end)
