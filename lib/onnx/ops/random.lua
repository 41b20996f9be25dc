-- random.lua - operators that draw. A node with a seed draws the same numbers in every call.

local torch = require 'torch'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'

local ops = {}

local function generator(node, device)
  local seed = node.attributes.seed
  if not seed then return nil end
  local g = torch.Generator(device)
  g:manual_seed(string.unpack('<I4', string.pack('<f', seed)))
  return g
end

local function dtype_of(node, like)
  local code = node.attributes.dtype
  if code then return tensors.dtype(code, "its attribute 'dtype'") end
  return like and like.dtype or torch.float32
end

local function uniform(node, sizes, dtype, device)
  local low, high = node.attributes.low or 0.0, node.attributes.high or 1.0
  return torch.empty(sizes, { dtype = dtype, device = device }):uniform_(low, high, { generator = generator(node, device) })
end

local function normal(node, sizes, dtype, device)
  local mean, scale = node.attributes.mean or 0.0, node.attributes.scale or 1.0
  return torch.empty(sizes, { dtype = dtype, device = device }):normal_(mean, scale, { generator = generator(node, device) })
end

local function drawn(draw)
  return { is_random = true, fn = function(node)
    return draw(node, node.attributes.shape or values.fail 'no shape', dtype_of(node), torch.device 'cpu')
  end }, { is_random = true, fn = function(node, x) return draw(node, values.sizes(x), dtype_of(node, x), x.device) end }
end

ops.RandomUniform, ops.RandomUniformLike = drawn(uniform)
ops.RandomNormal, ops.RandomNormalLike = drawn(normal)

ops.Bernoulli = { is_random = true, fn = function(node, x)
  return torch.bernoulli(x, { generator = generator(node, x.device) }):to(dtype_of(node, x))
end }

ops.Multinomial = { is_random = true, fn = function(node, x)
  local n = node.attributes.sample_size or 1
  local drawn_at = torch.multinomial(x:exp(), n, true, { generator = generator(node, x.device) })
  return (drawn_at - 1):to(tensors.dtype(node.attributes.dtype or 6, "its attribute 'dtype'"))
end }

return { [''] = ops }
