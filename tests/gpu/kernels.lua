-- Runs small cases of the GPU kernels in the named folders of src/cuda/kernels, for compute-sanitizer: kernels.lua
-- FOLDER... Sizes are odd, and memory is strided, so that an access beyond the end leaves its tensor.

local torch = require 'torch'
local F = torch.nn.functional

torch.set_default_device 'cuda'
torch.manual_seed(0)

local x, y = torch.randn(37, 129), torch.randn(37, 129)
local strided, half = torch.randn(130, 38):t():narrow(1, 1, 37):narrow(2, 1, 129), torch.randn(33, 65):half()

-- Calls f with each of the tensors, and with a tensor that a block alone does not read.
local function each(f)
  for _, t in ipairs { x, strided, half, torch.randn(3, 70001) } do f(t) end
end

local cases = {
  pointwise = function()
    each(function(t) return t + 1, t * t, t:exp(), t:gt(0), F.gelu(t), torch.where(t:gt(0), t, -t), t:contiguous(), t:double() end)
    return torch.complex(x, y):exp(), torch.arange(1001), x:tril(), torch.digamma(x:abs())
  end,
  reduce = function()
    each(function(t)
      return t:sum(), t:sum(1), t:sum(2), t:std(), t:var(2), t:var(1), t:amax(2), t:argmax(), t:argmax(2), t:logsumexp(2), t:cumsum(2), t:norm()
    end)
  end,
  nn = function()
    local image = torch.randn(2, 3, 17, 19)
    each(function(t) return t:softmax(2), t:log_softmax(1), F.layer_norm(t, t:size(2)) end)
    F.max_pool2d(image, 3)
    F.batch_norm(image, nil, nil, { training = true })
    F.interpolate(image, { size = { 23, 29 }, mode = 'bilinear' })
    local q = torch.randn(2, 4, 33, 64, { requires_grad = true })
    F.scaled_dot_product_attention(q, q, q):sum():backward()
  end,
  index = function() return x[{ torch.tensor { 3, 1, 37 } }], x:gather(2, x:argsort(2)), x:gt(0):nonzero(), x:index_add(1, torch.tensor { 1, 2 }, x:narrow(1, 1, 2)) end,
  order = function() each(function(t) return t:sort(2), t:topk(5, 2), t:flatten():sort() end) end,
  random = function() return torch.rand(1001), torch.randn(1001), torch.randint(0, 7, { 1001 }), torch.randperm(101), torch.bernoulli(torch.rand(1001)) end,
  products = function() return x:mm(y:t()), half:mm(half:t()), torch.linalg.cholesky(x:mm(x:t()) + 100 * torch.eye(37)), F.conv2d(torch.randn(1, 3, 9, 9), torch.randn(4, 3, 3, 3)) end,
  compile = function()
    for _, f in ipairs {
      function() return (x * 2 + y):tanh() end, function() return F.gelu(x):sum() end, function() return (x * 2):softmax(-1) end,
      function() return (x * 2):logsumexp(2) end,
    } do
      torch.compile(f)()
    end
  end,
}

for _, folder in ipairs(arg) do
  if cases[folder] then
    cases[folder]()
    torch.cuda.synchronize()
    print(folder)
  end
end
