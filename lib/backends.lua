-- backends.lua - torch.backends: settings of backends. cuda.matmul.allow_tf32: true if products of
-- float32 matrices on a GPU may be rounded to TF32 (default false; also
-- torch.set_float32_matmul_precision).
-- cudnn.allow_tf32: the same for convolutions and recurrent networks (default true). cudnn.enabled:
-- false to use our kernels instead of cuDNN. cuda.enable_flash_sdp and similar functions select the
-- implementation of attention (torch.nn.attention). An unknown setting is an error, also when
-- assigned, because a misspelled one would have no effect.

--[=[ arguments
enabled: Whether the implementation of attention may be selected.
precision: `'highest'` for float32, `'high'` or `'medium'` for TF32.
is_built(): Whether this build has GPU support, real or simulated.
enable_cudnn_sdp(): Allows or forbids cuDNN's attention.
enable_flash_sdp(): Allows or forbids the flash attention kernel.
enable_math_sdp(): Allows or forbids attention by ordinary ops.
enable_mem_efficient_sdp(): Allows or forbids the memory-efficient attention kernel.
cudnn_sdp_enabled(): Whether cuDNN's attention is allowed.
flash_sdp_enabled(): Whether the flash attention kernel is allowed.
math_sdp_enabled(): Whether attention by ordinary ops is allowed.
mem_efficient_sdp_enabled(): Whether the memory-efficient attention kernel is allowed.
get_float32_matmul_precision(): The precision of products of float32 matrices on a GPU: `'highest'`, `'high'` or `'medium'`.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local cuda = torch.cuda

-- A table of settings: { name = { get, set } }.
local function settings(title, fields)
  local function field(name)
    return fields[name] or fail(("torch.backends.%s has no setting '%s'"):format(title, tostring(name)))
  end
  return setmetatable({}, {
    __name = 'torch.backends.' .. title,
    __fields = fields,
    __index = function(_, name) return field(name)[1]() end,
    __newindex = function(_, name, value) field(name)[2](value) end,
  })
end

-- The setter of something that is on or off: f(on).
local function switch(name, f)
  return function(on)
    if type(on) ~= 'boolean' then fail('%s must be true or false', name) end
    f(on)
  end
end

local precision = 'highest'

--- How exact products of float32 matrices on a GPU are: 'highest' (float32), 'high' or 'medium'
--- (TF32).
function torch.set_float32_matmul_precision(name)
  if name ~= 'highest' and name ~= 'high' and name ~= 'medium' then
    fail(("expected 'highest', 'high' or 'medium', got '%s'"):format(tostring(name)))
  end
  precision = name
  cuda._set_allow_tf32(name ~= 'highest')
end

function torch.get_float32_matmul_precision()
  if (precision ~= 'highest') == cuda._allow_tf32() then return precision end
  return cuda._allow_tf32() and 'high' or 'highest'
end

local backends = {
  cuda = {
    is_built = function() return not torch.__config__.show():find('GPU: no ', 1, true) end,
    matmul = settings('cuda.matmul', { allow_tf32 = { cuda._allow_tf32, switch('allow_tf32', cuda._set_allow_tf32) } }),
  },
  cudnn = settings('cudnn', { enabled = { cuda._cudnn_enabled, switch('enabled', cuda._set_cudnn_enabled) },
    allow_tf32 = { cuda._allow_convolution_tf32, switch('allow_tf32', cuda._set_allow_convolution_tf32) } }),
}

-- Attention algorithms by their numbers in torch.nn.attention.SDPBackend: enable_math_sdp(on),
-- math_sdp_enabled() ...
for number, name in pairs { [0] = 'math', 'flash', 'mem_efficient', 'cudnn' } do
  local setter = ('enable_%s_sdp'):format(name)
  backends.cuda[setter] = switch(setter, function(on) cuda._set_attention_allowed(number, on) end)
  backends.cuda[('%s_sdp_enabled'):format(name)] = function() return cuda._attention_allowed(number) end
end
declare.functions(backends.cuda, [[
  is_built()
  enable_math_sdp(boolean enabled) math_sdp_enabled()
  enable_flash_sdp(boolean enabled) flash_sdp_enabled()
  enable_mem_efficient_sdp(boolean enabled) mem_efficient_sdp_enabled()
  enable_cudnn_sdp(boolean enabled) cudnn_sdp_enabled()
]])
declare.functions(torch, 'set_float32_matmul_precision(any precision) get_float32_matmul_precision()')

return backends
