-- norm.lua - normalizations, written in ONNX.

local torch = require 'torch'

local M = {}

local function filled(g, x, n, dtype) return g:constant(torch.full({ n }, x, { dtype = dtype })) end

local function channels_of(g, value) return g:plain(g:shape(value)[2], 'the number of channels') end

-- By the batch's own mean and variance, of each channel.
local function by_batch(g, a, call)
  local x, dtype, axes, wide = g:name(a.input), call.results[1].dtype, { 0 }, { channels_of(g, a.input) }
  for d = 3, #g:shape(a.input) do axes[d - 1], wide[d - 1] = d - 1, 1 end
  local function mean(value) return g:node('ReduceMean', { value, g:list(axes) }, { keepdims = 1 }) end
  x = g:node('Sub', { x, mean(x) })
  x = g:node('Div', { x, g:node('Sqrt', { g:node('Add', { mean(g:node('Mul', { x, x })), g:scalar(a.eps, dtype) }) }) })
  if a.weight then x = g:node('Mul', { x, g:reshape(g:name(a.weight), wide) }) end
  if a.bias then x = g:node('Add', { x, g:reshape(g:name(a.bias), wide) }) end
  return x
end

M['nn.batch_norm'] = function(g, a, call)
  local dtype, n = call.results[1].dtype, channels_of(g, a.input)
  if not a.running_mean then return by_batch(g, a, call) end
  if a.training then g:fail 'running statistics that the call changes' end
  return g:node('BatchNormalization', { g:name(a.input), a.weight and g:name(a.weight) or filled(g, 1, n, dtype),
    a.bias and g:name(a.bias) or filled(g, 0, n, dtype), g:name(a.running_mean), g:name(a.running_var) }, { epsilon = a.eps })
end
M.batch_norm = M['nn.batch_norm']

M['nn.instance_norm'] = function(g, a, call)
  if not a.use_input_stats then return M.batch_norm(g, a, call) end
  local dtype, n = call.results[1].dtype, channels_of(g, a.input)
  return g:node('InstanceNormalization', { g:name(a.input), a.weight and g:name(a.weight) or filled(g, 1, n, dtype),
    a.bias and g:name(a.bias) or filled(g, 0, n, dtype) }, { epsilon = a.eps })
end
M.instance_norm = M['nn.instance_norm']

function M.layer_norm(g, a, call)
  local shape = g:plain(a.normalized_shape, 'the normalized shape')
  if type(shape) == 'number' then shape = { shape } end
  local scale = a.weight and g:name(a.weight) or g:constant(torch.ones(shape, { dtype = call.results[1].dtype }))
  return g:node('LayerNormalization', { g:name(a.input), scale, a.bias and g:name(a.bias) }, { axis = -#shape, epsilon = a.eps })
end

-- Each group is the only channel of an instance.
function M.group_norm(g, a, call)
  local dtype, shape = call.results[1].dtype, g:shape(a.input)
  local function zeros_and_ones(x) return filled(g, x, a.num_groups, dtype) end
  local x = g:node('Reshape', { g:name(a.input), g:list { 0, a.num_groups, -1 } })
  x = g:node('InstanceNormalization', { x, zeros_and_ones(1), zeros_and_ones(0) }, { epsilon = a.eps })
  x = g:reshape(x, shape)
  local wide = { channels_of(g, a.input) }
  for _ = 3, #shape do wide[#wide + 1] = 1 end
  if a.weight then x = g:node('Mul', { x, g:reshape(g:name(a.weight), wide) }) end
  if a.bias then x = g:node('Add', { x, g:reshape(g:name(a.bias), wide) }) end
  return x
end

function M.rms_norm(g, a, call)
  local dtype, axes = call.results[1].dtype, {}
  local n = type(a.normalized_shape) == 'number' and 1 or #a.normalized_shape
  for i = 1, n do axes[i] = i - n - 1 end
  local x = g:name(a.input)
  local mean = g:node('ReduceMean', { g:node('Mul', { x, x }), g:list(axes) }, { keepdims = 1 })
  local root = g:node('Sqrt', { g:node('Add', { mean, g:scalar(a.eps or torch.finfo(dtype).eps, dtype) }) })
  local y = g:node('Div', { x, root })
  return a.weight and g:node('Mul', { y, g:name(a.weight) }) or y
end

M['nn.local_response_norm'] = function(g, a)
  if a.size % 2 == 0 then g:fail('a window of %d channels: ONNX puts the middle of an even one elsewhere', a.size) end
  return g:node('LRN', { g:name(a.input) }, { alpha = a.alpha + 0.0, beta = a.beta + 0.0, bias = a.k + 0.0, size = a.size })
end

return M
