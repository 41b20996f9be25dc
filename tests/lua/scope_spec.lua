-- scope_spec.lua - scopes that are dropped or closed in another order than they were opened, in coroutines for instance.

local torch = require 'torch'

local function dropped(open)
  local co = coroutine.create(function()
    local _ <close> = open()
    coroutine.yield()
  end)
  assert(coroutine.resume(co))
end

local function collected()
  for _ = 1, 3 do collectgarbage() end
end

-- What each scope changes, as a value.
local scopes = {
  { 'no_grad', function() return torch.no_grad() end, torch.is_grad_enabled },
  { 'inference_mode', function() return torch.inference_mode() end, torch.is_grad_enabled },
  { 'detect_anomaly', function() return torch.autograd.detect_anomaly() end, torch.is_anomaly_enabled },
  { 'autocast', function() return torch.autocast('cpu') end, function() return torch.is_autocast_enabled('cpu') end },
  { 'fork_rng', function()
    local scope = torch.random.fork_rng()
    torch.manual_seed(99)
    return scope
  end, torch.initial_seed },
  { 'saved_tensors_hooks', function()
    return torch.autograd.graph.saved_tensors_hooks(function(x) return x + 1 end, function(x) return x end)
  end, function()
    local x = torch.tensor({ 2.0 }, { requires_grad = true })
    x:square():sum():backward()
    return x.grad:item()
  end },
}

describe('a scope #cpu', function()
  for _, scope in ipairs(scopes) do
    local name, open, value = table.unpack(scope)
    if pcall(value) then
      it(name .. ' ends when the coroutine that entered it is collected', function()
        local before = value()
        dropped(open)
        collected()
        assert.equal(before, value())
      end)
    end
  end

  it('leaves a scope that was opened later as it is', function()
    dropped(torch.no_grad)
    local _ <close> = torch.enable_grad()
    collected()
    assert.is_true(torch.is_grad_enabled())
    do
      local _ <close> = torch.no_grad()
      collected()
      assert.is_false(torch.is_grad_enabled())
    end
    assert.is_true(torch.is_grad_enabled())
  end)

  it('may be closed before one that was opened in it', function()
    local outer = coroutine.wrap(function()
      local _ <close> = torch.no_grad()
      coroutine.yield()
    end)
    outer()
    local inner = coroutine.wrap(function()
      local _ <close> = torch.enable_grad()
      coroutine.yield()
    end)
    inner()
    outer()
    assert.is_true(torch.is_grad_enabled())
    inner()
    assert.is_true(torch.is_grad_enabled())
  end)

  it('that was never closed ends with the one around it', function()
    local kept
    do
      local _ <close> = torch.enable_grad()
      kept = torch.no_grad()
    end
    assert.is_true(torch.is_grad_enabled())
    getmetatable(kept).__close(kept)
    assert.is_true(torch.is_grad_enabled())
  end)

  it('of another mode that is dropped and collected while one is opened changes nothing in it', function()
    for _ = 1, 3000 do
      torch.no_grad()
      torch.inference_mode(false)
      torch.enable_grad()
      torch.no_grad(function() assert(not torch.is_grad_enabled(), 'gradients are recorded inside of no_grad') end)
    end
    collected()
    assert.is_true(torch.is_grad_enabled())
    assert.is_false(torch.is_inference_mode_enabled())
  end)

  it('set_grad_enabled and set_detect_anomaly take true or false alone', function()
    assert.error_matches(function() torch.set_grad_enabled() end, "set_grad_enabled%(%) missing 1 required argument: 'mode'")
    assert.error_matches(function() torch.set_grad_enabled(0) end, "set_grad_enabled%(%): argument 'mode' must be true or false, not a number")
    assert.error_matches(function() torch.autograd.set_detect_anomaly() end, "set_detect_anomaly%(%) missing 1 required argument: 'mode'")
    assert.is_true(torch.is_grad_enabled())
  end)

  it('warns of the line that opened it when it is collected', function()
    local process = require 'support.process'
    local out = process.run(([[%s -e 'warn "@on" torch.no_grad() collectgarbage() print(torch.is_grad_enabled())' 2>&1]]):format(os.getenv 'LTENSOR_BIN' or 'build/ltensor'))
    assert.matches('the scope opened at %(command line%):1 was not closed', out)
    assert.matches('true', out, 1, true)
  end)

  it('set_grad_enabled changes the mode until it is set again, its guard dropped or not', function()
    torch.set_grad_enabled(false)
    collected()
    assert.is_false(torch.is_grad_enabled())
    torch.set_grad_enabled(true)
  end)
end)
