-- What gradients share and how long things live: aliases, versions, cycles through .grad, hooks, contexts.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local bytes_held = dofile(here .. 'support/obligations.lua').bytes_held

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function leaf(...) return torch.tensor({ ... }, { dtype = torch.float32, device = device, requires_grad = true }) end

describe('autograd.grad', function()
  it('autograd.grad returns the gradient of an input twice if it is passed twice', function()
    local x, w = leaf(1, 2), leaf(3, 4)
    local grads = { torch.autograd.grad((x * w):sum(), { x, x, w, x }) }
    for i, want in ipairs { { 3, 4 }, { 3, 4 }, { 1, 2 }, { 3, 4 } } do assert.same(want, grads[i]:tolist()) end
    grads[1]:add_(10)
    assert.same({ 3, 4 }, w:tolist())
  end)

  it('gives it twice for a result of ops, and as its own root', function()
    local x = leaf(1, 2)
    local y = x * 3
    local grads = { torch.autograd.grad((y * y):sum(), { y, y, x }) }
    for i, want in ipairs { { 6, 12 }, { 6, 12 }, { 18, 36 } } do assert.same(want, grads[i]:tolist()) end
    assert.same({ 1, 1 }, torch.autograd.grad(x, { x }, torch.ones(2, { device = device })):tolist())
  end)
end)

describe('a write to a view', function()
  -- f writes into views of a base that make(x) lays out; the twin gives the same values without writing.
  local layouts = {
    ['a base in order'] = function(x) return x * 2 end,
    ['a transposed base'] = function(x) return x:t() * 2 end,
    ['a permuted base'] = function(x) return x:reshape(3, 2, 2):permute(3, 1, 2) * 2 end,
    ['a base with holes'] = function(x) return (x:t() * 2):transpose(1, 2) end,
    ['a base that was cloned'] = function(x) return x:t():clone() end,
  }
  for name, make in pairs(layouts) do
    it('of ' .. name .. ' gives the gradients of its twin', function()
      local function run(write)
        local x = torch.arange(12, { dtype = torch.float32, device = device }):reshape(3, 4):requires_grad_()
        local y = write(make(x))
        local weights = torch.arange(12, { dtype = torch.float32, device = device }):reshape(y.shape) + 1
        ;(y * y * weights):sum():backward()
        return y, x.grad
      end
      local got, got_grad = run(function(y)
        y:select(1, 2):mul_(3)
        y:narrow(2, 1, 2):add_(y:select(1, 1):sum())
        return y
      end)
      local want, want_grad = run(function(y)
        local scale = torch.ones_like(y)
        scale:select(1, 2):fill_(3)
        y = y * scale
        local mask = torch.zeros_like(y)
        mask:narrow(2, 1, 2):fill_(1)
        return y + mask * y:select(1, 1):sum()
      end)
      assert.is_true(torch.allclose(want, got))
      assert.is_true(torch.allclose(want_grad, got_grad))
    end)
  end
end)

describe('.grad', function()
  it('does not share memory with the gradient that backward was given', function()
    for _, make in ipairs {
      function(x) return x end, function(x) return x + 0 end, function(x) return x:view(2) end, function(x) return x:clone() end,
      function(x) return x:unsqueeze(1):squeeze(1) end,
    } do
      local x, given = leaf(1, 2), torch.tensor({ 5, 6 }, { dtype = torch.float32, device = device })
      make(x):backward(given)
      given:fill_(100)
      assert.same({ 5, 6 }, x.grad:tolist())
      x.grad:mul_(2)
      assert.same({ 100, 100 }, given:tolist())
    end
  end)

  -- A tensor that only the engine holds by then, of memory that somebody else has.
  it('.grad does not share memory with tensors that a Function keeps after its result was collected', function()
    local kept = torch.tensor({ 5, 6 }, { dtype = torch.float32, device = device })
    local Gives, Collects = torch.autograd.Function:extend 'Gives', torch.autograd.Function:extend 'Collects'
    function Gives.forward(_, x) return x * 1 end
    function Gives.backward() return kept:detach() end
    function Collects.forward(_, x) return x * 1 end
    function Collects.backward(_, grad)
      for _ = 1, 3 do collectgarbage() end
      return grad
    end
    local x, other = leaf(1, 2), leaf(3, 4)
    local y = x + 0
    local late = Collects.apply(other) -- runs after Gives and before what made y
    ;(Gives.apply(y):sum() + late:sum()):backward()
    assert.same({ 5, 6 }, x.grad:tolist())
    x.grad:fill_(7)
    assert.same({ 5, 6 }, kept:tolist())
  end)

  it('of two leaves that got the same gradient are two', function()
    local a, b = leaf(1, 2), leaf(3, 4)
    ;(a + b):sum():backward()
    a.grad:fill_(9)
    assert.same({ 1, 1 }, b.grad:tolist())
    local c, d = leaf(1, 2), leaf(3, 4)
    local sum = c + d
    sum:retain_grad()
    sum:backward(torch.ones(2, { device = device }))
    sum.grad:fill_(7)
    assert.same({ 1, 1 }, c.grad:tolist())
    c.grad:fill_(8)
    assert.same({ 1, 1 }, d.grad:tolist())
  end)
end)

describe('hooks', function()
  it('may remove one that would come later, or one that ran, or themselves, for the next backward', function()
    for _, make in ipairs { function(x) return x end, function(x) return x * 2 end } do
      local ran, handles = {}, {}
      local x = make(leaf(1, 2))
      for i = 1, 4 do
        handles[i] = x:register_hook(function()
          ran[#ran + 1] = i
          if i == 2 then
            handles[1]:remove()
            handles[2]:remove()
            handles[3]:remove()
          end
        end)
      end
      ;(x * 1):sum():backward({ retain_graph = true })
      assert.same({ 1, 2, 3, 4 }, ran)
      ;(x * 1):sum():backward()
      assert.same({ 1, 2, 3, 4, 4 }, ran)
    end
  end)

  it('are forgotten when they are removed, though their tensor stays', function()
    local x, weak = leaf(1, 2), setmetatable({}, { __mode = 'k' })
    do
      local function hook() return x end
      weak[hook] = true
      x:register_hook(hook):remove()
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
  end)

  it('may add one, which runs the next time', function()
    local x, ran = leaf(1, 2), {}
    x:register_hook(function()
      ran[#ran + 1] = 'first'
      if #ran == 1 then x:register_hook(function() ran[#ran + 1] = 'second' end) end
    end)
    x:sum():backward()
    assert.same({ 'first' }, ran)
    x:sum():backward()
    assert.same({ 'first', 'first', 'second' }, ran)
  end)
end)

-- Runs make() many times; the bytes that tensors hold must not grow.
local function assert_flat(make)
  for _ = 1, 20 do make() end
  local before = bytes_held()
  for _ = 1, 200 do make() end
  local after = bytes_held(before + 65536)
  assert(after <= before + 65536, ('%d bytes are held, %d before'):format(after, before))
end

describe('cycles are collected', function()
  local function big() return torch.ones(4096, { device = device, requires_grad = true }) end
  local Keeps = torch.autograd.Function:extend 'Keeps'
  function Keeps.forward(ctx, x)
    local y = x:exp()
    ctx:save_for_backward(x, y)
    ctx.own = y
    return y
  end
  function Keeps.backward(ctx, grad) return grad * ctx.saved_tensors[2] end

  local cases = {
    ['x.grad = x * 1'] = function() local x = big() x.grad = x * 1 end,
    ['x.grad = x * w, which saves x'] = function() local x, w = big(), big() x.grad = x * w w.grad = x * w end,
    ['gradients of two tensors that lead to each other'] = function()
      local a, b = big(), big()
      a.grad, b.grad = b * 2, a * 2
    end,
    ['a gradient of many inputs'] = function() local x = big() x.grad = torch.cat({ x, x }):narrow(1, 1, 4096) end,
    ['create_graph'] = function() local x = big() ; (x * x * x):sum():backward({ create_graph = true }) end,
    ['create_graph twice'] = function()
      local x = big()
      for _ = 1, 2 do ; (x * x):sum():backward({ create_graph = true }) end
    end,
    ['a gradient through a write to a view'] = function()
      local x = big()
      local y = x * 1
      y:narrow(1, 1, 100):mul_(2)
      x.grad = y
    end,
    ['a hook that closes over its tensor'] = function()
      local x = big()
      local y = x * 2
      y:register_hook(function(g) return g + y:detach() + x:detach() end)
      y:sum():backward()
    end,
    ['a context that keeps its output'] = function() local x = big() Keeps.apply(x):sum() end,
    ['a gradient through a Function'] = function() local x = big() x.grad = Keeps.apply(x) end,
  }
  for name, make in pairs(cases) do
    it(name, function() assert_flat(make) end)
  end

  it('and a gradient with a history stays while its tensor is used', function()
    local x = leaf(1, 2)
    x.grad = x * 3
    local y = x * 2
    x = nil
    for _ = 1, 5 do collectgarbage() end
    x = y.grad_fn.next_functions[1][1]
    assert.truthy(x)
    y:sum():backward()
    local z = leaf(1, 2)
    z.grad = z * 3
    for _ = 1, 5 do collectgarbage() end
    assert.same({ 3, 6 }, z.grad:tolist())
    local grad = z.grad
    z = nil
    for _ = 1, 5 do collectgarbage() end
    assert.same({ 3, 6 }, grad:tolist())
    grad:sum():backward()
  end)
end)

describe('the identity of a tensor', function()
  it('goes with its finalizer: it is refused afterwards', function()
    local found
    do
      local t = torch.ones(2, 3)
      setmetatable({t}, {__gc = function(holder) found = holder[1] end})
    end
    collectgarbage()
    collectgarbage()
    assert.equal('userdata', type(found))
    assert.is_false(torch.is_tensor(found))
    assert.matches('not finalized Tensor', select(2, pcall(torch.add, found, 1)))
    assert.matches('not finalized Tensor', select(2, pcall(function() return found:sum() end)))
  end)

  it('a new userdata has no identity of a freed tensor', function()
    for _ = 1, 200 do local _ = torch.ones(2) end
    collectgarbage()
    collectgarbage()
    for _ = 1, 20 do
      local file = assert(io.tmpfile()) -- as large as a tensor's
      assert.is_false(torch.is_tensor(file))
      assert.is_false((pcall(torch.add, file, 1)))
      file:close()
    end
  end)
end)

describe('memory of files', function()
  local folder = here .. '../files/'
  local readers = { png = torch.utils.data.read_image, jpg = torch.utils.data.read_image }
  for suffix in ('pt npy npz safetensors'):gmatch '%S+' do readers[suffix] = torch.load end

  it('that are read or refused is given back #cpu', function()
    local paths, cut = {}, os.tmpname()
    for path in io.popen('ls ' .. folder):lines() do
      local read = readers[path:match '%.(%w+)$']
      if read then paths[#paths + 1] = { folder .. path, read } end
    end
    assert(#paths > 30, #paths)
    local function read_all()
      for _, case in ipairs(paths) do
        pcall(case[2], case[1])
        local source, copy = assert(io.open(case[1], 'rb')), assert(io.open(cut, 'wb'))
        local bytes = source:read 'a'
        copy:write(bytes:sub(1, #bytes * 3 // 4))
        source:close()
        copy:close()
        pcall(case[2], cut)
      end
    end
    read_all()
    local before = bytes_held()
    for _ = 1, 3 do read_all() end
    local after = bytes_held(before)
    os.remove(cut)
    assert(after <= before, ('%d bytes are held, %d before'):format(after, before))
  end)
end)

describe('memory', function()
  it('stays flat in loops over thirty kinds of work', function()
    local soak = require 'support.soak'
    assert(#soak.names >= 30, #soak.names .. ' kinds')
    soak.run(20)
    local before = bytes_held()
    soak.run(60)
    local after = bytes_held(before + 65536)
    assert(after <= before + 65536, ('%d bytes are held, %d before'):format(after, before))
  end)
end)
