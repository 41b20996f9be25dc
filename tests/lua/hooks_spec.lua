-- hooks_spec.lua - hooks of modules, tensors, nodes and optimizers: which are called when they change their own list, hooks of all
-- modules, named arguments, errors.

local torch = require 'torch'
local nn = torch.nn
local global = nn.modules.module

-- By kind: makes an object that hooks can be registered with, and a function that has them called.
local function module_kind(method)
  return method, function()
    local module = nn.Sigmoid()
    return module, function() module(torch.ones(2, { requires_grad = true })):sum():backward() end
  end
end
local function state_kind(method)
  return method, function()
    local module = nn.Linear(1, 1)
    return module, function() module:load_state_dict(module:state_dict()) end
  end
end
local function tensor_kind(method)
  return 'tensor ' .. method, function()
    local x = torch.ones(2, { requires_grad = true })
    return x, function() x:sum():backward() end
  end
end
local function optimizer_kind(method)
  return 'optimizer ' .. method, function()
    local optimizer = torch.optim.SGD({ torch.ones(1, { requires_grad = true }) }, { lr = 0.1 })
    return optimizer, function()
      optimizer:step()
      optimizer:load_state_dict(optimizer:state_dict())
    end
  end
end

local kinds = {}
local function add(method, name, make) kinds[name] = { method = 'register_' .. method, make = make } end
for _, method in ipairs { 'forward_pre_hook', 'forward_hook', 'full_backward_hook', 'full_backward_pre_hook' } do add(method, module_kind(method)) end
for _, method in ipairs { 'state_dict_pre_hook', 'state_dict_post_hook', 'load_state_dict_pre_hook', 'load_state_dict_post_hook' } do
  add(method, state_kind(method))
  add(method, optimizer_kind(method))
end
for _, method in ipairs { 'hook', 'post_accumulate_grad_hook' } do add(method, tensor_kind(method)) end
for _, method in ipairs { 'step_pre_hook', 'step_post_hook' } do add(method, optimizer_kind(method)) end

describe('a list of hooks', function()
  for name, kind in pairs(kinds) do
    it('calls every hook that was there when it began, though each removes itself: ' .. name, function()
      local object, call = kind.make()
      local calls, handles = 0, {}
      for i = 1, 3 do
        handles[i] = object[kind.method](object, function()
          calls = calls + 1
          handles[i]:remove()
        end)
      end
      call()
      assert.equal(3, calls)
      call()
      assert.equal(3, calls)
    end)

    it('calls a hook that one removes or registers as it was at the beginning: ' .. name, function()
      local object, call = kind.make()
      local order, last = {}, nil
      object[kind.method](object, function()
        order[#order + 1] = 'first'
        last:remove()
        if #order < 50 then object[kind.method](object, function() order[#order + 1] = 'new' end) end
      end)
      last = object[kind.method](object, function() order[#order + 1] = 'last' end)
      call()
      assert.equal('first last', table.concat(order, ' '))
      call()
      assert.equal('first last first new', table.concat(order, ' '))
    end)
  end

  it('forgets a hook once, and leaves no trace in its module', function()
    local module = nn.Sigmoid()
    local handle = module:register_forward_hook(function() end)
    handle:remove()
    handle:remove()
    assert.is_nil(module._hooks)
    do
      local _ <close> = module:register_forward_hook(function() return torch.zeros(1) end)
      assert.equal(0, module(torch.ones(1)):item())
    end
    assert.is_true(module(torch.ones(1)):item() > 0)
    assert.error_matches(function() handle.remove() end, "a method is called with a colon")
  end)
end)

describe('hooks of a module', function()
  it('see and replace named arguments with with_kwargs', function()
    local Scale = nn.Module:extend('Scale')
    function Scale:forward(x, options) return x * (options and options.by or 1) end
    local module, seen = Scale(), {}
    module:register_forward_pre_hook(function(_, inputs, named)
      seen[#seen + 1] = { inputs.n, named.by }
      return { inputs[1] + 1 }, { by = (named.by or 1) * 10 }
    end, { with_kwargs = true })
    module:register_forward_hook(function(_, inputs, named, output)
      seen[#seen + 1] = { inputs.n, named.by }
      return output + 0.5
    end, { with_kwargs = true })
    assert.equal(40.5, module(torch.ones(1), { by = 2 }):item())
    assert.equal(20.5, module(torch.ones(1)):item())
    assert.same({ { 1, 2 }, { 1, 20 }, { 1, nil }, { 1, 10 } }, seen)
    module:register_forward_pre_hook(function() return 1 end, { with_kwargs = true })
    assert.error_matches(function() module(torch.ones(1)) end, 'forward pre%-hook must return nil or two tables, new_args and new_kwargs, but got a number')
    assert.error_matches(function() module:register_forward_hook(print, { always = true }) end, "unexpected keyword argument 'always'")
  end)

  it('are called after an error with always_call, once, and the error stays', function()
    local Fails = nn.Module:extend('Fails')
    function Fails.forward() error 'the first error' end
    local module, calls = Fails(), {}
    module:register_forward_hook(function() calls[#calls + 1] = 'no' end)
    module:register_forward_hook(function(_, inputs, ...) calls[#calls + 1] = ('%d %d'):format(inputs.n, select('#', ...)) end, { always_call = true })
    module:register_forward_hook(function() error 'another error' end, { always_call = true })
    assert.error_matches(function() module(torch.ones(1), 2) end, 'the first error')
    assert.same({ '2 0' }, calls)
    local good = nn.Sigmoid()
    good:register_forward_hook(function() calls[#calls + 1] = 'always' end, { always_call = true })
    good:register_forward_hook(function() error 'in a hook' end)
    good:register_forward_hook(function(_, _, output) calls[#calls + 1] = output end, { always_call = true })
    assert.error_matches(function() good(torch.ones(1)) end, 'in a hook')
    assert.equal('always', calls[2])
    assert.is_true(torch.is_tensor(calls[3]))
    assert.equal(3, #calls)
  end)

  it('of all modules are called before their own', function()
    local net, order = nn.Sequential(nn.Sigmoid()), {}
    local function note(text) return function(module) order[#order + 1] = text .. torch.type(module) end end
    local handles = {
      global.register_module_forward_pre_hook(note 'pre '), global.register_module_forward_hook(note 'post '),
      global.register_module_full_backward_pre_hook(note 'bpre '), global.register_module_full_backward_hook(note 'back '),
    }
    net[1]:register_forward_hook(note 'own ')
    local x = torch.ones(1, { requires_grad = true })
    net(x):backward()
    for _, handle in ipairs(handles) do handle:remove() end
    local all = table.concat(order, ', ')
    assert.equal('pre Sequential, pre Sigmoid, post Sigmoid, own Sigmoid, post Sequential, bpre Sequential, bpre Sigmoid, back Sigmoid, back Sequential', all)
    net(x):backward()
    assert.equal(all .. ', own Sigmoid', table.concat(order, ', '))
  end)

  it('global module hooks observe and replace inputs, outputs and gradients', function()
    local seen, module = {}, nn.Module()
    local handles = {}
    for _, kind in ipairs { 'parameter', 'buffer', 'module' } do
      handles[#handles + 1] = global[('register_module_%s_registration_hook'):format(kind)](function(owner, name, value)
        assert.equal(module, owner)
        seen[#seen + 1] = kind .. ' ' .. name
        if kind == 'buffer' then return value + 1 end
      end)
    end
    local child, parameter = nn.Identity(), nn.Parameter(torch.ones(1))
    module.a, module.b = parameter, child
    module:register_buffer('c', torch.ones(1))
    module:register_parameter('d', parameter)
    module:add_module('e', child)
    module.c = torch.zeros(1)
    for _, handle in ipairs(handles) do handle:remove() end
    module.f = child
    table.sort(seen)
    assert.same({ 'buffer c', 'buffer c', 'module b', 'module e', 'parameter a', 'parameter d' }, seen)
    assert.equal(1, module.c:item())
  end)

  it('after loading can change the lists of missing and unexpected names before strictness is decided', function()
    local module = nn.Sequential(nn.Linear(1, 1))
    module[1]:register_load_state_dict_post_hook(function(_, missing, unexpected)
      for i = #missing, 1, -1 do missing[i] = nil end
      unexpected[#unexpected] = nil
    end)
    local state = module:state_dict()
    state['0.bias'], state.extra = nil, torch.ones(1)
    local missing, unexpected = module:load_state_dict(state)
    assert.same({ {}, {} }, { missing, unexpected })
    module:register_load_state_dict_post_hook(function(_, names) names[1] = 'made.up' end)
    assert.error_matches(function() module:load_state_dict(state) end, 'Missing key%(s%) in state_dict: "made.up"')
  end)

  it('are the reason alone for which a failed strict load may have changed the module', function()
    local module = nn.Linear(1, 1)
    local before = module.weight:clone()
    local state = { weight = torch.full({ 1, 1 }, 7) }
    assert.error_matches(function() module:load_state_dict(state) end, 'Missing key')
    assert.is_true(torch.equal(before, module.weight))
  end)
end)

describe('hooks of a node', function()
  local function graph()
    local x = torch.ones(2, { requires_grad = true })
    local y = x * 2
    return x, y, y * y
  end

  it('see the gradients before and after it and replace them, in the order of PyTorch', function()
    local x, y, z = graph()
    local order = {}
    local function note(name, ...)
      local parts = { name }
      for i, list in ipairs { ... } do
        parts[i + 1] = ''
        for k = 1, list.n do parts[i + 1] = parts[i + 1] .. list[k][1]:item() .. ' ' end
      end
      order[#order + 1] = table.concat(parts, ': ')
    end
    z.grad_fn:register_hook(function(inputs, outputs)
      note('post', inputs, outputs)
      return { inputs[1] * 10, inputs[2] }
    end)
    z.grad_fn:register_prehook(function(outputs) note('pre', outputs) end)
    z:register_hook(function() order[#order + 1] = 'tensor' end)
    local accumulator = y.grad_fn.next_functions[1][1]
    accumulator:register_hook(function(inputs, outputs) note('acc', inputs, outputs) end)
    accumulator:register_prehook(function(outputs) note('accpre', outputs) end)
    z:sum():backward()
    assert.same({ 'tensor', 'pre: 1.0 ', 'post: 2.0 2.0 : 1.0 ', 'accpre: 44.0 ', 'acc: : 44.0 ' }, order)
    assert.equal(44, x.grad[1]:item())
  end)

  it('hooks of a node can be removed and can replace gradients', function()
    local x, _, z = graph()
    local handle = z.grad_fn:register_hook(function() error 'removed' end)
    handle:remove()
    z.grad_fn:register_prehook(function(outputs) return outputs[1] * 0 end)
    z:sum():backward()
    assert.equal(0, x.grad[1]:item())
  end)

  it('are refused when they give a wrong number, kind or shape of values', function()
    for message, result in pairs {
      ['incorrect number of values %(got 3, but expected 2%)'] = { 1, 2, 3 },
      ['expected a Tensor or nil as gradient, got a number'] = { 1, 2 },
      ['hook has changed the size of value'] = { torch.ones(3), torch.ones(3) },
    } do
      local _, _, z = graph()
      z.grad_fn:register_hook(function() return result end)
      assert.error_matches(function() z:sum():backward() end, message)
    end
  end)

  it('live as long as the graph, and no longer', function()
    local x = torch.ones(2, { requires_grad = true })
    local calls, weak = 0, setmetatable({}, { __mode = 'k' })
    do
      local y = x * 2
      local function hook() calls = calls + 1 end
      weak[hook] = true
      y.grad_fn:register_hook(hook)
      local z = y:exp():sum()
      y = nil
      collectgarbage()
      z:backward()
    end
    assert.equal(1, calls)
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
  end)
end)
