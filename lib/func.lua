-- func.lua - torch.func: function transforms. Names are loaded from the files of func/ on first
-- use.

local where = {
  grad = 'reverse', grad_and_value = 'reverse', vjp = 'reverse', jacrev = 'reverse',
  jvp = 'forward', linearize = 'forward', jacfwd = 'forward', hessian = 'forward',
  vmap = 'vmap',
  functional_call = 'modules', stack_module_state = 'modules', replace_all_batch_norm_modules_ = 'modules',
}

return setmetatable({ __names = where }, {
  __index = function(func, name)
    local file = where[name]
    if not file then return nil end
    local value = require('torch.func.' .. file)[name]
    rawset(func, name, value)
    return value
  end,
})
