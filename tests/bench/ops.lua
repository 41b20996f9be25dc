-- ltensor's side of make bench: the ops, large and small. Prints name TAB unit TAB value, the same rows as ops.py;
-- report.lua names a row that one of the two lacks. A row is (large or small): op, shape.
-- Every op makes a fresh result, which the collector has to take back within the loop.

local torch = require 'torch'
local F = torch.nn.functional
package.path = (arg[0]:match '^(.*/)' or './') .. '?.lua;' .. package.path
local time = require 'measure'

local group -- 'large' or 'small'

local function measure(name, f) time(('%s: %s'):format(group, name), f) end

-- The op called name of torch or nn.functional, with the arguments, called as a program would write it: a list of them costs a quarter of what a
-- small op does.
local function op(name, ...)
  local f = torch[name] or F[name]
  local n, a, b, c, d = select('#', ...), ...
  assert(n <= 4, name)
  if n == 1 then return function() return f(a) end end
  if n == 2 then return function() return f(a, b) end end
  if n == 3 then return function() return f(a, b, c) end end
  return function() return f(a, b, c, d) end
end

local rand = torch.rand

local function elementwise(n)
  local a, b, m = rand(n), rand(n) + 0.5, rand(n):gt(0.5)
  local shape = n .. ' elements'
  for _, name in ipairs { 'add', 'mul', 'div', 'maximum', 'pow', 'lt', 'atan2', 'logaddexp', 'igamma' } do
    measure(('%s, %s'):format(name, shape), op(name, a, b))
  end
  for _, name in ipairs { 'neg', 'abs', 'sqrt', 'rsqrt', 'exp', 'log', 'sin', 'tanh', 'sigmoid', 'erf', 'erfinv', 'relu', 'gelu', 'silu',
    'hardswish', 'floor', 'sinc', 'i0' } do
    measure(('%s, %s'):format(name, shape), op(name, a))
  end
  measure('add a number, ' .. shape, function() return a + 2.5 end)
  measure('clamp, ' .. shape, op('clamp', a, 0.2, 0.8))
  measure('where, ' .. shape, op('where', m, a, b))
  measure('addcmul, ' .. shape, op('addcmul', a, a, b))
  measure('masked_fill, ' .. shape, op('masked_fill', a, m, 0.0))
  local i = torch.arange(n)
  measure('add, int64, ' .. shape, op('add', i, i))
  measure('to float64, ' .. shape, function() return a:double() end)
  local h = a:bfloat16()
  measure('add, bfloat16, ' .. shape, op('add', h, h))
end

local function strided(n)
  local a, b, row, column = rand(n, n), rand(n, n), rand(n), rand(n, 1)
  local t, every = a:t(), rand(n, 2 * n)[{ {}, { 1, -1, 2 } }]
  local shape = ('%dx%d'):format(n, n)
  measure('a.T + b, ' .. shape, op('add', t, b))
  measure('a.T + b.T, ' .. shape, op('add', t, b:t()))
  measure('every second column + b, ' .. shape, op('add', every, b))
  measure('exp of every second column, ' .. shape, op('exp', every))
  measure('matrix + row, ' .. shape, op('add', a, row))
  measure('matrix + column, ' .. shape, op('add', a, column))
  measure('column + row, ' .. shape, op('add', column, row))
  measure('copy of a.T, ' .. shape, function() return t:contiguous() end)
  measure('cat of two, ' .. shape, op('cat', { a, b }, 2))
end

local function reductions(n)
  local a = rand(n, n)
  local i = torch.randint(0, 100, { n, n })
  local shape = ('%dx%d'):format(n, n)
  for _, name in ipairs { 'sum', 'mean', 'amax', 'var', 'norm', 'argmax', 'prod' } do
    measure(('%s, %s'):format(name, shape), op(name, a))
  end
  for _, name in ipairs { 'sum', 'mean', 'amax', 'max', 'argmax', 'var', 'logsumexp', 'cumsum', 'cummax', 'softmax', 'log_softmax', 'prod' } do
    measure(('%s of rows, %s'):format(name, shape), op(name, a, 2))
    measure(('%s of columns, %s'):format(name, shape), op(name, a, 1))
  end
  measure('sum, int64, ' .. shape, op('sum', i))
  measure('any, ' .. shape, op('any', a:gt(2)))
  local weight, bias = rand(n), rand(n)
  if F.layer_norm then measure('layer_norm, ' .. shape, op('layer_norm', a, { n }, weight, bias)) end
  local target = torch.randint(1, n + 1, { n })
  measure('cross_entropy, ' .. shape, op('cross_entropy', a, target))
end

local function orders(n, lines)
  local x, rows, i = rand(n), rand(lines, n // lines), torch.randint(0, 1000000, { n })
  local shape = n .. ' elements'
  measure('sort, ' .. shape, op('sort', x))
  measure('sort, int64, ' .. shape, op('sort', i))
  measure(('sort, %d rows, %s'):format(lines, shape), op('sort', rows, 2))
  measure('argsort, ' .. shape, op('argsort', x))
  measure(('topk 10, %d rows, %s'):format(lines, shape), op('topk', rows, 10, 2))
  measure('median, ' .. shape, op('median', x))
  measure('kthvalue, ' .. shape, op('kthvalue', x, n // 3))
  measure('unique, int64, ' .. shape, op('unique', i))
  local sorted = x:sort()
  measure('searchsorted, ' .. shape, op('searchsorted', sorted, x))
  measure('bincount, ' .. shape, op('bincount', torch.randint(1, 1000, { n })))
end

local function positions(rows, columns)
  local table_ = rand(rows, columns)
  local shape = ('%dx%d'):format(rows, columns)
  local index = torch.randint(1, columns + 1, { rows, columns })
  local picked = torch.randint(1, rows + 1, { rows })
  local mask = table_:gt(0.5)
  measure('gather, ' .. shape, op('gather', table_, 2, index))
  measure('scatter_add, ' .. shape, op('scatter_add', torch.zeros(rows, columns), 2, index, table_))
  measure('index_select of rows, ' .. shape, op('index_select', table_, 1, picked))
  measure('index_add of rows, ' .. shape, op('index_add', torch.zeros(rows, columns), 1, picked, table_))
  measure('x[index], ' .. shape, function() return table_[picked] end)
  measure('x[mask], ' .. shape, function() return table_[mask] end)
  measure('nonzero, ' .. shape, op('nonzero', mask))
  measure('embedding, ' .. shape, function() return torch.embedding(table_, picked) end)
  measure('take_along_dim, ' .. shape, op('take_along_dim', table_, index, 2))
end

local function products(sizes)
  for _, n in ipairs(sizes) do
    local a, b, v = rand(n, n), rand(n, n), rand(n)
    local shape = ('%dx%d'):format(n, n)
    measure('mm, ' .. shape, op('mm', a, b))
    measure('mm with a transpose, ' .. shape, op('mm', a, b:t()))
    measure('mv, ' .. shape, op('mv', a, v))
    measure('linear, ' .. shape, op('linear', a, b, v))
  end
end

local function batches(sizes)
  for _, size in ipairs(sizes) do
    local n, m = table.unpack(size)
    local a, b = rand(n, m, m), rand(n, m, m)
    measure(('bmm, %dx%dx%d'):format(n, m, m), op('bmm', a, b))
  end
end

-- batch, channels in, size, channels out, kernel, stride, padding
local function convolutions(list)
  if not F.conv2d then return end
  for _, shape in ipairs(list) do
    local n, c, size, out, kernel, stride, padding = table.unpack(shape)
    local x, w = rand(n, c, size, size), rand(out, c, kernel, kernel)
    local name = ('conv2d%%s, %dx%dx%dx%d, %d of %dx%d, stride %d'):format(n, c, size, size, out, kernel, kernel, stride)
    local options = { stride = stride, padding = padding }
    measure(name:format '', function() return F.conv2d(x, w, options) end)
    local xg, wg = x:clone():requires_grad_(), w:clone():requires_grad_()
    local y = F.conv2d(xg, wg, options)
    local g = torch.ones_like(y)
    measure(name:format ' backward', function() return torch.autograd.grad(y, { xg, wg }, g, { retain_graph = true }) end)
  end
end

local function gradients(n)
  local x = rand(n, n, { requires_grad = true })
  local w = rand(n, n, { requires_grad = true })
  measure(('(x * x):sum():backward(), %dx%d'):format(n, n), function() (x * x):sum():backward() end)
  measure(('tanh(x @ w):sum():backward(), %dx%d'):format(n, n), function() x:mm(w):tanh():sum():backward() end)
  local target = torch.randint(1, n + 1, { n })
  measure(('cross_entropy(x):backward(), %dx%d'):format(n, n), function() F.cross_entropy(x, target):backward() end)
end

torch.manual_seed(0)
group = 'large'
elementwise(4000000)
strided(2000)
reductions(2000)
orders(1000000, 1000)
positions(4000, 1000)
products { 100, 300, 1000, 2000 }
batches { { 64, 64 }, { 16, 256 } }
convolutions { { 8, 3, 224, 64, 7, 2, 3 }, { 8, 64, 56, 64, 3, 1, 1 }, { 8, 128, 28, 128, 3, 1, 1 }, { 8, 256, 14, 256, 3, 1, 1 },
  { 8, 512, 7, 512, 3, 1, 1 }, { 8, 256, 56, 64, 1, 1, 0 } }
gradients(1000)

group = 'small'
elementwise(6)
strided(5)
reductions(5)
orders(20, 2)
positions(5, 4)
products { 5, 20 }
batches { { 2, 3 } }
convolutions { { 1, 3, 8, 4, 3, 1, 1 } }
gradients(5)
