-- backward.lua - derivatives that core ATen has as operators: each is the gradient of the operator
-- that it belongs to, by autograd.

local torch = require 'torch'
local layers = require 'torch.export.ops.layers'
local common = require 'torch.export.ops.common'

local F = torch.nn.functional
local named = {}

-- The gradients of fn(inputs...) for the results' gradient; mask: which of them are wanted.
local function gradients(fn, inputs, grad, mask)
  return torch.enable_grad(function()
    local leaves, wanted, at = {}, {}, {}
    for i = 1, inputs.n or #inputs do
      local x = inputs[i]
      if x then
        leaves[i] = x:detach()
        if not mask or mask[i] then
          leaves[i]:requires_grad_()
          wanted[#wanted + 1], at[#wanted + 1] = leaves[i], i
        end
      end
    end
    local result = fn(table.unpack(leaves, 1, inputs.n or #inputs))
    local found, values = { torch.autograd.grad(result, wanted, grad) }, {}
    for k, i in ipairs(at) do values[i] = found[k] end
    return table.unpack(values, 1, inputs.n or #inputs)
  end)
end

local function of_self(forward)
  return function(a)
    return gradients(function(x) return forward(x, a) end, { a.self }, a.grad_output)
  end
end

named._adaptive_avg_pool2d_backward = of_self(function(x, a)
  return F.adaptive_avg_pool2d(x, { a.grad_output:size(-2), a.grad_output:size(-1) })
end)
named.avg_pool2d_backward = of_self(function(x, a)
  return F.avg_pool2d(x, a.kernel_size, common.listed(a.stride) or a.kernel_size, a.padding, a.ceil_mode, a.count_include_pad, a.divisor_override)
end)
named.max_pool2d_with_indices_backward = of_self(function(x, a)
  return F.max_pool2d(x, a.kernel_size, common.listed(a.stride) or a.kernel_size, a.padding, a.dilation, a.ceil_mode)
end)

function named.convolution_backward(a)
  local bias = a.output_mask[3] and torch.zeros({ a.transposed and a.weight:size(2) * a.groups or a.weight:size(1) }, { dtype = a.weight.dtype })
  return gradients(function(x, weight, b)
    return layers.named.convolution { input = x, weight = weight, bias = b, stride = a.stride, padding = a.padding, dilation = a.dilation, transposed = a.transposed,
      output_padding = a.output_padding, groups = a.groups }
  end, { a.input, a.weight, bias, n = 3 }, a.grad_output, a.output_mask)
end

-- Of y = normal * weight + bias, where normal = (x - mean) * scale over the dimensions `dims`: the
-- gradient of x for `grad`, the one of normal.
local function normalized_backward(grad, normal, scale, dims)
  return (grad - grad:mean(dims, true) - normal * (grad * normal):mean(dims, true)) * scale
end

function named.native_layer_norm_backward(a)
  local inner, outer, n = {}, {}, a.input:dim()
  for d = 1, n do table.insert(d > n - #a.normalized_shape and inner or outer, d) end
  local function summed(x) return #outer > 0 and x:sum(outer) or x end
  local normal = (a.input - a.mean) * a.rstd
  local grad = a.weight and a.grad_out * a.weight or a.grad_out
  local mask = a.output_mask
  return mask[1] and normalized_backward(grad, normal, a.rstd, inner) or nil, mask[2] and summed(a.grad_out * normal) or nil, mask[3] and summed(a.grad_out) or nil
end

function named.native_group_norm_backward(a)
  local N, C, groups, mask = a.N, a.C, a.group, a.output_mask
  local function grouped(x) return x:reshape { N, groups, -1 } end
  local mean, scale = a.mean:reshape { N, groups, 1 }, a.rstd:reshape { N, groups, 1 }
  local normal = (grouped(a.input) - mean) * scale
  local rows = a.grad_out:reshape { N, C, -1 }
  local grad = grouped(a.weight and rows * a.weight:view(1, C, 1) or rows)
  return mask[1] and normalized_backward(grad, normal, scale, { 3 }):reshape(a.input.shape) or nil,
    mask[2] and (rows * normal:reshape { N, C, -1 }):sum { 1, 3 } or nil, mask[3] and rows:sum { 1, 3 } or nil
end

function named.embedding_dense_backward(a)
  local padding = a.padding_idx
  return gradients(function(weight)
    return torch.embedding(weight, common.positions(a.indices), { padding_idx = padding >= 0 and padding + 1 or nil, scale_grad_by_freq = a.scale_grad_by_freq })
  end, { torch.zeros({ a.num_weights, a.grad_output:size(-1) }, { dtype = a.grad_output.dtype }) }, a.grad_output)
end

return { named = named }
