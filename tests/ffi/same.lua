-- same.lua - a program for ltensor and for LuaJIT: tests/ffi.sh compares the output of both. Numbers without a fraction
-- are data of one dtype in LuaJIT, so that tables of integers name theirs.

local torch = rawget(_G, 'torch') or require 'ltensor-ffi'
local F = torch.nn.functional
torch.manual_seed(3)

local x = torch.tensor {{1.5, -2.5, 3.25}, {0.5, 4.75, -6.5}}
local y = torch.tensor {{2.5, 1.5, 0.5}, {1.25, 2.75, 3.5}}
local v = torch.tensor {3.5, 1.25, 2.5, 0.75}
local square = torch.tensor {{4.5, 1.5}, {1.5, 3.25}}
local rows = torch.tensor({2, 1, 2}, {dtype = torch.int64})
local image = torch.arange(32, {dtype = torch.float32}):view(1, 2, 4, 4)

-- Each entry: a title and a function whose results are printed.
local cases = {
  {'operators', function() return x + y, x - 1.5, 2.5 * x, x / y, y ^ 2, -x, x % 2 end},
  {'comparisons', function() return x:eq(y), x:lt(0), x:ge(1.5), torch.maximum(x, y) end},
  {'fields', function() return x.shape, x.dtype, x.device, x.ndim, x.requires_grad, x.is_leaf, x.T, x.is_cuda, #x end},
  {'sum', function() return x:sum(), x:sum(1), x:sum(-1), x:sum {dim = 2, keepdim = true}, x:sum {axis = {1, 2}} end},
  {'mean, var, std', function() return x:mean(), x:mean(2), x:var(1), x:std() end},
  {'max with positions', function() return x:max(), x:max(1), x:max(2, true) end},
  {'min of two', function() return torch.min(x, y) end},
  {'argmax, argmin', function() return x:argmax(), x:argmax(2), x:argmin {dim = 1} end},
  {'sort', function() return v:sort(), v:sort(1, true) end},
  {'argsort', function() return v:argsort() end},
  {'topk', function() return v:topk(2), x:topk(1, 2) end},
  {'kthvalue', function() return v:kthvalue(2) end},
  {'cumsum, cumprod', function() return x:cumsum(1), v:cumprod(1) end},
  {'prod, norm', function() return v:prod(), x:norm(), x:norm(1, 2) end},
  {'any, all', function() return x:gt(4):any(), x:gt(-10):all(1) end},
  {'exp, log, sqrt', function() return x:exp(), v:log(), v:sqrt(), v:rsqrt() end},
  {'sin, cos, tanh', function() return x:sin(), x:cos(), x:tanh() end},
  {'abs, sign, floor, ceil, round', function() return x:abs(), x:sign(), x:floor(), x:ceil(), x:round() end},
  {'clamp', function() return x:clamp(-1, 2), x:clamp {min = 0}, x:clamp_max(1.5) end},
  {'relu, sigmoid, softmax', function() return torch.relu(x), torch.sigmoid(x), torch.softmax(x, 2), x:log_softmax(-1) end},
  {'gelu, silu, leaky_relu', function() return F.gelu(x), F.silu(x), F.leaky_relu(x, 0.1), F.elu(x) end},
  {'glu of nn.functional', function() return F.glu(v, -1) end},
  {'where', function() return torch.where(x:gt(0), x, y), torch.where(x:gt(0), x, 0.5) end},
  {'lerp, addcmul', function() return x:lerp(y, 0.25), x:addcmul(y, y, {value = 0.5}) end},
  {'mm, matmul, mv, dot', function() return x:mm(y:t()), x:matmul(y.T), square:mv(v['1:2']), v:dot(v) end},
  {'linear', function() return F.linear(x, y, torch.tensor {0.5, -0.5}) end},
  {'einsum', function() return torch.einsum('ij,kj->ik', {x, y}) end},
  {'linalg', function() return torch.linalg.inv(square), torch.linalg.det(square), square:cholesky() end},
  {'reshape, view', function() return x:reshape(3, 2), x:view(-1), x:view {3, -1}, x:flatten() end},
  {'transpose, permute', function() return x:transpose(1, 2), image:permute(1, 3, 4, 2).shape, image:transpose(-1, 2).shape end},
  {'unsqueeze, squeeze', function() return x:unsqueeze(1).shape, x:unsqueeze(-1).shape, x:unsqueeze(2):squeeze(2) end},
  {'narrow, select', function() return x:narrow(2, 2, 2), x:select(1, 2), x:select(2, -1) end},
  {'cat, stack', function() return torch.cat({x, y}, 1), torch.cat {x, y, dim = 2}, torch.stack({x, y}, 3).shape end},
  {'split, chunk, unbind', function() return x:split(2, 2)[2], x:chunk(2)[1], x:unbind(2)[3], v:split({1, 3})[2] end},
  {'expand, repeat', function() return v:expand(2, 4), v:view(4, 1):expand(-1, 2), x['repeat'](x, 2, 1) end},
  {'flip, roll', function() return x:flip(2), v:roll(1, 1) end},
  {'tril, triu, diag', function() return square:tril(), square:triu(), square:diag() end},
  {'gather', function() return x:gather(2, torch.tensor({{3, 1}, {2, 2}}, {dtype = torch.int64})) end},
  {'scatter', function() return x:scatter(2, torch.tensor({{1}, {3}}, {dtype = torch.int64}), 9.5) end},
  {'index_select, take', function() return x:index_select(1, rows), x:take(torch.tensor({1, -1}, {dtype = torch.int64})) end},
  {'index_fill_, index_add', function() return x:clone():index_fill_(2, torch.tensor({1, -1}, {dtype = torch.int64}), 7.5), v:index_add(1, rows, y[1]) end},
  {'masked_select, masked_fill', function() return x:masked_select(x:gt(1)), x:masked_fill(x:lt(0), 0.5) end},
  {'nonzero', function() return x:gt(1):nonzero() end},
  {'searchsorted', function() return torch.searchsorted(torch.tensor {1.5, 2.5, 3.5}, v) end},
  {'one_hot, bincount', function() return F.one_hot(rows, 3), torch.bincount(rows) end},
  {'embedding', function() return F.embedding(rows, x) end},
  {'read by key', function() return x[1], x[-1], x[{2, 3}], x[{ {}, {2, 3} }], x[{ {1, 2}, -1 }], x[{torch.newaxis, 1}] end},
  {'read by text', function() return x['1, 2:3'], x[':, ::2'], x['..., 1'], x['None, :1'].shape, v['2:-1'], v['2:9'] end},
  {'read by tensors', function() return x[x:gt(1)], x[rows], x[{ {}, torch.tensor({3, 1}, {dtype = torch.int64}) }], v[{true, false, true, true}], x[{ {{2, 1}} }] end},
  {'read by several tensors', function()
    local first, last = torch.tensor({1, 2, 2}, {dtype = torch.int64}), torch.tensor({3, 1, -1}, {dtype = torch.int64})
    local z = torch.arange(24, {dtype = torch.float32}):view(2, 3, 4)
    return x[{first, last}], z[{first, last}], z[{ {}, last, last }], z[{first, {}, last}], z[{first:view(3, 1), last}].shape, z[{x:gt(0), 2}], z[{x:gt(0)}]
  end},
  {'assign', function()
    local z = torch.zeros(3, 4)
    z[1] = 5
    z[{2, 3}] = 1.5
    z[{ {}, 4 }] = v['1:3']
    z['3, :2'] = -1
    z[z:eq(1.5)] = 2.5
    z[torch.tensor({1, 3}, {dtype = torch.int64})] = torch.tensor {0.5, 1.5, 2.5, 3.5}
    z['2, 1'] = z['1, 1']
    local w = torch.zeros(2, 3, 2)
    w[{ {}, torch.tensor({3, 1}, {dtype = torch.int64}) }] = 5
    w[{ {}, torch.tensor {false, true, false}, 2 }] = 2.5
    w[{torch.tensor({1, 2}, {dtype = torch.int64}), torch.tensor({2, -1}, {dtype = torch.int64})}] = torch.tensor {7.5, 8.5}
    return z, w
  end},
  {'in place', function() return x:clone():add_(1):mul_(y), v:clone():zero_(), v:clone():clamp_(1, 2), v:clone():fill_(2.5) end},
  {'out', function()
    local z = torch.zeros(2, 3)
    torch.add(x, y, {out = z})
    return z
  end},
  {'factories', function() return torch.zeros(2, 3), torch.ones {2, dtype = torch.int64}, torch.eye(2), torch.arange(5), torch.linspace(0, 1, 3) end},
  {'bytes', function() return torch.frombuffer('abc', {dtype = torch.uint8}), torch.frombuffer('abcdefgh', {dtype = torch.int16, offset = 2, count = 2}) end},
  {'no names', function() return torch.zeros(2, {}), torch.full({2}, 1.5, nil), x:sum({}), torch.zeros({}) end},
  {'like', function() return torch.zeros_like(x), torch.full_like(v, 2.5), x:new_zeros {2} end},
  {'arange of fractions', function() return torch.arange(1, 2, 0.25), torch.arange(1, 4), torch.arange(3, {dtype = torch.float64}) end},
  {'random numbers', function() return torch.rand(3), torch.randn(2, 2), torch.randint(1, 7, {4}), torch.randperm(5), torch.zeros(3):uniform_(-1, 1) end},
  {'a generator', function()
    local g = torch.Generator():manual_seed(5)
    return torch.rand(2, {generator = g}), torch.randn({2}, {generator = g})
  end},
  {'dropout, multinomial', function() return F.dropout(v, 0.5), torch.multinomial(v, 2) end},
  {'conversion', function() return v:long(), v:double(), v:bool(), v:to(torch.float16), v:to {dtype = 'float64'}, v:to('cpu') end},
  {'conv2d', function() return F.conv2d(image, torch.ones(1, 2, 3, 3)), F.conv2d(image, torch.ones(1, 2, 3, 3), nil, 1, 1):sum() end},
  {'pools', function() return F.max_pool2d(image, 2), F.avg_pool2d(image, {2, 2}), F.adaptive_avg_pool2d(image, 1) end},
  {'norms of nn', function() return F.layer_norm(x, {3}), F.batch_norm(image, torch.zeros(2), torch.ones(2)).shape, F.normalize(x) end},
  {'losses', function()
    local target = torch.tensor({3, 1}, {dtype = torch.int64})
    return F.cross_entropy(x, target), F.nll_loss(x:log_softmax(2), target, {reduction = 'sum'}), F.mse_loss(x, y), F.l1_loss(x, y), F.binary_cross_entropy_with_logits(x, y:clamp(0, 1))
  end},
  {'ignore_index', function() return F.cross_entropy(x, torch.tensor({3, 2}, {dtype = torch.int64}), {ignore_index = 2}) end},
  {'attention', function()
    local q = image:view(1, 2, 4, 4) / 32
    return F.scaled_dot_product_attention(q, q, q)
  end},
  {'fft', function() return torch.fft.rfft(v).real, torch.fft.fftshift(v) end},
  {'pad, interpolate', function() return F.pad(x, {1, 1}), F.interpolate(image, {scale_factor = 2}).shape end},
  {'gradients', function()
    local w = torch.tensor({1.5, 2.5}, {requires_grad = true})
    local loss = (w * w * torch.tensor {1, 3}):sum()
    loss:backward()
    return w, loss, w.grad, torch.autograd.grad((w * w):sum(), w)
  end},
  {'optimizers', function()
    local w, u = torch.tensor({1.5, 2.5}, {requires_grad = true}), torch.tensor({0.5}, {requires_grad = true})
    local optimizers = {
      torch.optim.SGD({w, u}, {lr = 0.1, momentum = 0.9, nesterov = true}), torch.optim.SGD({w}, {lr = 0.1, weight_decay = 0.5, dampening = 0.1, momentum = 0.5}),
      torch.optim.Adam({ {params = {w}, lr = 0.25}, {params = {u}} }, {lr = 0.5, amsgrad = true}), torch.optim.AdamW({w, u}, {betas = {0.5, 0.75}, lr = 0.1}),
    }
    for _, optimizer in ipairs(optimizers) do
      for _ = 1, 3 do
        optimizer:zero_grad();
        ((w * w):sum() + u * u):sum():backward()
        optimizer:step()
        optimizer.param_groups[1].lr = optimizer.param_groups[1].lr / 2
      end
    end
    return w, u
  end},
  {'numbers', function() return v[1]:item(), x:tolist()[2][3], x:numel(), x:size(2), x:size(-1), x:dim(), x:t():stride()[1], torch.allclose(x, x) end},
  {'half types, bool', function() return x:half():tolist()[1][1], x:gt(0):tolist()[1][2], torch.tensor(true), torch.tensor(2.5) end},
}

-- Errors have the same messages in both, without the line.
local errors = {
  function() return torch.tensor({300}, {dtype = torch.uint8}) end,
  function() return x[1.5] end,
  function() return x + torch.zeros(4) end,
  function() return x:sum(3) end,
  function() return x:gather(2, torch.tensor({{7}, {1}}, {dtype = torch.int64})) end,
  function() return x:gather(2, torch.tensor({{0}, {1}}, {dtype = torch.int64})) end,
  function() return x:sum(0) end,
  function() return x:sum('a') end,
  function() return x[3] end,
  function() return x[0] end,
  function() return x[{1, 2, 3}] end,
  function() return x.unknown end,
  function() return x < y end,
  function() return #torch.tensor(1.5) end,
  function() return x:sum {dim = 1, foo = 2} end,
  function() return torch.device 'disk' end,
  function() return x:view(4) end,
  function() x.shape = 1 end,
  function() return x:softmax() end,
  function() return x:relu(1, 2) end,
  function() return torch.relu(1.5) end,
  function() return torch.tensor {{1, 2}, {3}} end,
}

local function show(title, ...)
  print('-- ' .. title)
  for i = 1, select('#', ...) do print((tostring((select(i, ...))))) end
end

for _, case in ipairs(cases) do show(case[1], case[2]()) end
for i, f in ipairs(errors) do
  local ok, message = pcall(f)
  print(i, ok, (tostring(message):gsub('^[^%s]*:%d+: ', ''):gsub('\n.*', '')))
end
