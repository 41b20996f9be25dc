-- attention.lua - torch.nn.attention: selects the backends of scaled_dot_product_attention in a
-- scope, like the switches of torch.backends.cuda. MATH: products and a softmax. FLASH_ATTENTION,
-- EFFICIENT_ATTENTION: our kernels, which need no memory of queries x keys; on the CPU only
-- FLASH_ATTENTION. CUDNN_ATTENTION: cuDNN, if it is installed and supports the arguments; otherwise
-- our kernels, if another backend is allowed. If no allowed backend supports the call, it is an
-- error.

--[=[ arguments
backends: Implementation that is allowed, or a list of them.
set_priority: Whether the order of the list is the order of preference.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local scope = require 'torch.autograd.scope'
local cuda = torch.cuda

local backend = { __name = 'SDPBackend' }
backend.__index = backend
function backend:__tostring() return 'SDPBackend.' .. self.name end

local ways = {}
for number, name in pairs { [0] = 'MATH', 'FLASH_ATTENTION', 'EFFICIENT_ATTENTION', 'CUDNN_ATTENTION' } do
  ways[name] = setmetatable({ name = name, value = number }, backend)
end

local attention = { __names = { SDPBackend = true, sdpa_kernel = true } }

attention.SDPBackend = setmetatable({}, {
  __name = 'SDPBackend',
  __fields = ways,
  __index = function(_, name) return ways[name] or fail("torch.nn.attention.SDPBackend has no '%s'", tostring(name)) end,
  __newindex = function() fail 'torch.nn.attention.SDPBackend cannot be changed' end,
  __pairs = function() return pairs(ways) end,
})

local function numbers_of(backends)
  local allowed = {}
  for _, way in ipairs(getmetatable(backends) == backend and { backends } or backends) do
    if getmetatable(way) ~= backend then
      fail('sdpa_kernel: Backend must be an instance of SDPBackend or a list of SDPBackend instances, got %s', torch.type(way))
    end
    allowed[way.value] = true
  end
  return allowed
end

--- Restricts attention to these algorithms, one SDPBackend or a list of them, until the scope ends:
--- local _ <close> = sdpa_kernel(SDPBackend.MATH), or sdpa_kernel(SDPBackend.MATH, function() ...
--- end).
function attention.sdpa_kernel(backends, _, body, ...)
  if type(backends) ~= 'table' then
    fail('sdpa_kernel: Backend must be an instance of SDPBackend or a list of SDPBackend instances, got %s', torch.type(backends))
  end
  local allowed, before = numbers_of(backends), {}
  return scope.open('attention', function()
    for number = 0, 3 do
      before[number] = cuda._attention_allowed(number)
      cuda._set_attention_allowed(number, allowed[number] or false)
    end
  end, function()
    for number, on in pairs(before) do cuda._set_attention_allowed(number, on) end
  end, body, ...)
end

declare.functions(attention, 'sdpa_kernel(any backends, boolean set_priority=false)', 'scope')

return attention
