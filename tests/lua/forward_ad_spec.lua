-- forward_ad_spec.lua - torch.autograd.forward_ad: levels, dual tensors, views and what is written in place, custom Functions, what is
-- refused. That every op's tangent is right is gradcheck_spec's.

local torch = require 'torch'
local ad, func = torch.autograd.forward_ad, torch.func

local function tensor(...) return torch.tensor({ ... }, { dtype = torch.float64 }) end

local function assert_close(expected, found)
  assert.equal(expected.shape, found.shape)
  assert.is_true(torch.allclose(found, expected, { rtol = 1e-9, atol = 1e-12 }), ('expected %s, found %s'):format(tostring(expected), tostring(found)))
end

local function tangent_of(t) return (select(2, ad.unpack_dual(t))) end

describe('a dual tensor', function()
  it('a dual tensor propagates its tangent', function()
    local x, v = tensor(1, 2, 3), tensor(1, 0, 2)
    ad.dual_level(function()
      local dual = ad.make_dual(x, v)
      local value, tangent = ad.unpack_dual((dual * dual):sum())
      assert.equal(14.0, value:item())
      assert.equal(14.0, tangent:item())
      assert.is_nil(tangent_of(x))
      assert.is_nil(tangent_of(x * 2))
      assert.is_nil(tangent_of(dual:detach()))
      assert.is_nil(tangent_of(dual:gt(0)))
    end)
  end)

  it('loses the tangent when its level ends', function()
    local kept
    ad.dual_level(function() kept = ad.make_dual(tensor(1), tensor(2)):exp() end)
    assert.is_nil(tangent_of(kept))
    ad.dual_level(function() assert.is_nil(tangent_of(kept * 2)) end)
    assert.has_error(function() ad.dual_level(function() error('inside', 0) end) end, 'inside')
    assert.equal(0, torch._C.dual_depth())
  end)

  it('is one at each of several levels', function()
    ad.dual_level(function()
      local outer = ad.make_dual(tensor(3), tensor(1))
      ad.dual_level(function()
        local inner = ad.make_dual(outer, tensor(1))
        local cube = inner * inner * inner
        local slope = tangent_of(cube)
        assert.equal(27.0, slope:item())
        assert.equal(18.0, (select(2, ad.unpack_dual(slope, { level = 1 }))):item())
        assert.equal(27.0, (select(2, ad.unpack_dual(cube, { level = 1 }))):item())
      end)
    end)
  end)

  it('keeps levels apart that a function reaches from outside', function()
    -- d/dx (x * d/dy (x * y)) = 2x, Siskind and Pearlmutter's example of perturbations that are confused
    local _, slope = func.jvp(function(x)
      local _, inner = func.jvp(function(y) return x * y end, { tensor(1) }, { tensor(1) })
      return x * inner
    end, { tensor(5) }, { tensor(1) })
    assert.equal(10.0, slope:item())
  end)
end)

describe('in place', function()
  it('a view and its base have one tangent', function()
    ad.dual_level(function()
      local y, dual = torch.zeros(2, 3, { dtype = torch.float64 }), ad.make_dual(tensor(1, 2, 3), tensor(4, 5, 6))
      local row, before = y[1], y:t()
      row:copy_(dual)
      assert_close(tensor(4, 5, 6), tangent_of(y)[1])
      assert_close(tensor(0, 0, 0), tangent_of(y)[2])
      assert_close(tangent_of(y):t(), tangent_of(before))
      y:mul_(2)
      assert_close(tensor(8, 10, 12), tangent_of(row))
      before:zero_()
      assert_close(tensor(0, 0, 0), tangent_of(row))
    end)
  end)

  it('adding to a sum in place does not change the addends', function()
    ad.dual_level(function()
      local v = tensor(1, 1)
      local dual = ad.make_dual(tensor(1, 2), v)
      local sum = dual + 1
      sum:mul_(5)
      assert_close(tensor(1, 1), v)
      assert_close(tensor(5, 5), tangent_of(sum))
      sum:exp_()
      assert_close(5 * torch.exp(tensor(10, 15)), tangent_of(sum))
    end)
  end)

  it('a view takes its tensor\'s place with its tangent', function()
    ad.dual_level(function()
      local dual = ad.make_dual(tensor(1, 2):reshape(1, 2), tensor(3, 4):reshape(1, 2)) * 1
      dual:t_()
      assert.same({ 2, 1 }, { table.unpack(tangent_of(dual).shape) })
    end)
  end)
end)

describe('reverse mode beside it', function()
  it('records the tangents, and gives dual gradients', function()
    local x, v = tensor(0.5, 1.5), tensor(1, -1)
    local function f(t) return (t:sin() * t):sum() end
    local function slope(t) return t:sin() + t * t:cos() end
    local curve = 2 * x:cos() - x * x:sin()
    assert_close(curve * v, select(2, func.jvp(func.grad(f), { x }, { v })))
    assert_close(curve * v, func.grad(function(t) return (select(2, func.jvp(f, { t }, { v }))) end)(x))
    assert_close(torch.diag(curve), func.hessian(f)(x))
    assert_close(torch.diag(curve), func.jacrev(func.jacfwd(f))(x))
    assert_close(torch.diag(curve), func.jacfwd(func.jacfwd(f))(x))
    assert_close(slope(x), func.jacfwd(f, { chunk_size = 1 })(x))
    local each = func.vmap(function(a, t) return (select(2, func.jvp(f, { a }, { t }))) end, { in_dims = { 1, false } })
    local batch = torch.stack { x, x + 1 }
    assert_close(torch.stack { (slope(x) * v):sum(), (slope(x + 1) * v):sum() }, each(batch, v))
    assert_close(each(batch, v), select(2, func.jvp(func.vmap(f), { batch }, { torch.stack { v, v } })))
  end)

  it('reaches parameters through both', function()
    local w = tensor(2):requires_grad_()
    local _, product = func.jvp(function(t) return (t * w * w):sum() end, { tensor(3) }, { tensor(1) })
    assert.equal(4.0, (torch.autograd.grad(product, w)):item())
    local _, second = func.jvp(func.grad(function(t) return (t * t * w):sum() end), { tensor(3) }, { tensor(1) })
    assert.equal(2.0, (torch.autograd.grad(second, w)):item())
  end)

  it('is checked by gradcheck', function()
    local x = tensor(0.3, 0.7):requires_grad_()
    local z = torch.complex(tensor(0.3, 0.7), tensor(1, -0.5)):requires_grad_()
    for _, leaf in ipairs { x, z } do
      assert.is_true(torch.autograd.gradcheck(function(t) return t:exp() * t[1] end, leaf, { check_forward_ad = true, check_backward_ad = false }))
      assert.is_true(torch.autograd.gradgradcheck(function(t) return t:exp() * t[1] end, leaf, nil, { check_fwd_over_rev = true }))
    end
    assert.error_matches(function()
      torch.autograd.gradcheck(function(t) return t:exp() * ad.unpack_dual(t) end, x, { check_forward_ad = true })
    end, 'forward mode mismatch for output 1 with respect to input 1')
  end)
end)

describe('a custom Function', function()
  local Exp = torch.autograd.Function:extend('Exp')
  function Exp.forward(ctx, x)
    local y = x:exp()
    ctx:save_for_backward(y)
    ctx:save_for_forward(y)
    return y
  end
  function Exp.backward(ctx, g) return g * ctx.saved_tensors[1] end
  function Exp.jvp(ctx, t) return t * ctx.saved_tensors[1] end

  it('has a derivative in forward mode by its jvp', function()
    local x = tensor(0.1, 0.2)
    assert_close((1 + x) * x:exp(), select(2, func.jvp(function(t) return Exp(t) * t end, { x }, { torch.ones_like(x) })))
    local _, second = func.jvp(func.grad(function(t) return Exp(t):sum() end), { x }, { torch.ones_like(x) })
    assert_close(x:exp(), second)
  end)

  it('a Function without jvp is an error in forward mode', function()
    local Bare = torch.autograd.Function:extend('Bare')
    function Bare.forward(_, x) return x * 2 end
    function Bare.backward(_, g) return g * 2 end
    assert.error_matches(function() func.jvp(Bare.apply, { tensor(1) }, { tensor(1) }) end, 'You must implement the jvp function')
  end)
end)

describe('refused in words are', function()
  for name, case in pairs {
    ['a tangent without a level'] = { 'no level exists, make sure to enter_dual_level', function() ad.make_dual(tensor(1), tensor(1)) end },
    ['the end of no level'] = { 'no level is active', function() ad.exit_dual_level() end },
    ['the end of another level'] = { 'not the last one that was created', function()
      ad.dual_level(function() ad.dual_level(function() ad.exit_dual_level { level = 1 } end) end)
    end },
    ['a tangent of another size'] = { 'different size than that of the original', function()
      ad.dual_level(function() ad.make_dual(tensor(1, 2), tensor(1)) end)
    end },
    ['a tangent of another dtype'] = { 'must have the dtype and the device', function()
      ad.dual_level(function() ad.make_dual(tensor(1), torch.tensor { 1.0 }) end)
    end },
    ['integers'] = { 'Expected primal to be floating point or complex', function()
      ad.dual_level(function() ad.make_dual(torch.tensor { 1 }, torch.tensor { 1 }) end)
    end },
    ['two tangents at a level'] = { 'already has a forward gradient at the same level 1', function()
      ad.dual_level(function() ad.make_dual(ad.make_dual(tensor(1), tensor(1)), tensor(1)) end)
    end },
    ['an op without a derivative'] = { 'forward AD with special_bessel_j0 that does not support it', function()
      func.jvp(torch.special.bessel_j0, { tensor(1) }, { tensor(1) })
    end },
    ['an argument without one'] = { "nll_loss%(%): the derivative for 'weight' is not implemented", function()
      func.jvp(function(w) return torch.nn.functional.nll_loss(tensor(1, 2):reshape(1, 2), torch.tensor { 2 }, w) end, { tensor(1, 2) }, { tensor(1, 2) })
    end },
    ['out='] = { "functions with out=... arguments don't support forward AD", function()
      func.jvp(function(t) return torch.exp(t, { out = tensor(0) }) end, { tensor(1) }, { tensor(1) })
    end },
  } do
    it(name, function() assert.error_matches(case[2], case[1]) end)
  end
end)
