-- convolution.lua - writes convolutions and pools in ONNX. Inputs without a batch get a batch of
-- one.

local torch = require 'torch'

local M = {}

-- A number, or a list, for each of n dimensions.
local function each(g, x, n)
  g:plain(x, 'a size of a window')
  if type(x) == 'number' then x = { x } end
  local list = {}
  for i = 1, n do list[i] = x[i] or x[1] end
  return list
end

local function pads_of(padding) return table.move(padding, 1, #padding, #padding + 1, table.move(padding, 1, #padding, 1, {})) end

-- Calls f(name) on the input with a batch dimension; removes it from the result if the input has
-- none.
local function with_batch(g, x, n, f)
  local name, alone = g:name(x), #x.shape == n + 1
  if not alone then return f(name) end
  local results = table.pack(f(g:node('Unsqueeze', { name, g:list { 0 } })))
  for i = 1, results.n do results[i] = g:node('Squeeze', { results[i], g:list { 0 } }) end
  return table.unpack(results, 1, results.n)
end

-- ---- convolutions -------------------------------------------------------------------------------

for n = 1, 3 do
  M[('conv%dd'):format(n)] = function(g, a)
    local attributes = { strides = each(g, a.stride, n), dilations = each(g, a.dilation, n), group = a.groups }
    if a.padding == 'same' then
      local kernel, pads = a.weight.shape, {}
      for i = 1, n do
        local total = attributes.dilations[i] * (kernel[i + 2] - 1)
        pads[i], pads[n + i] = total // 2, total - total // 2
      end
      attributes.pads = pads
    else
      attributes.pads = pads_of(each(g, a.padding == 'valid' and 0 or a.padding, n))
    end
    return with_batch(g, a.input, n, function(x) return g:node('Conv', { x, g:name(a.weight), a.bias and g:name(a.bias) }, attributes) end)
  end
  M[('conv_transpose%dd'):format(n)] = function(g, a)
    local attributes = { strides = each(g, a.stride, n), dilations = each(g, a.dilation, n), group = a.groups, pads = pads_of(each(g, a.padding, n)),
      output_padding = each(g, a.output_padding, n) }
    return with_batch(g, a.input, n, function(x) return g:node('ConvTranspose', { x, g:name(a.weight), a.bias and g:name(a.bias) }, attributes) end)
  end
end

-- ---- pools --------------------------------------------------------------------------------------

local function window(g, a, n)
  local kernel = each(g, a.kernel_size, n)
  return { kernel_shape = kernel, strides = a.stride and #a.stride > 0 and each(g, a.stride, n) or kernel, pads = pads_of(each(g, a.padding, n)),
    ceil_mode = a.ceil_mode and 1 or 0 }
end

-- The product of the last n sizes.
local function plane_size(g, shape, n)
  return g:map(function(...)
    local product = 1
    for _, s in ipairs { ... } do product = product * s end
    return product
  end, table.unpack(shape, #shape - n + 1))
end

-- Converts positions in the whole tensor to positions in a plane.
local function in_plane(g, places, shape, n)
  return g:from_positions(g:node('Mod', { places, g:number(plane_size(g, shape, n), torch.int64) }))
end

-- The sizes with the last n as one.
local function flat_planes(g, shape, n)
  local flat = table.move(shape, 1, #shape - n, 1, {})
  flat[#flat + 1] = plane_size(g, shape, n)
  return flat
end

for n = 1, 3 do
  local function max_pool(outputs)
    return function(g, a)
      local attributes = window(g, a, n)
      attributes.dilations = each(g, a.dilation, n)
      return with_batch(g, a.self, n, function(x)
        if outputs == 1 then return g:node('MaxPool', { x }, attributes) end
        local values, places = g:node('MaxPool', { x }, attributes, 2)
        return values, in_plane(g, places, g:shape(a.self), n)
      end)
    end
  end
  M[('max_pool%dd'):format(n)], M[('max_pool%dd_with_indices'):format(n)] = max_pool(1), max_pool(2)

  M[('avg_pool%dd'):format(n)] = function(g, a, call)
    local attributes = window(g, a, n)
    attributes.count_include_pad = (a.count_include_pad or a.divisor_override) and 1 or 0
    return with_batch(g, a.self, n, function(x)
      local y = g:node('AveragePool', { x }, attributes)
      if not a.divisor_override then return y end
      if a.ceil_mode then g:fail 'divisor_override with ceil_mode' end
      local count = 1
      for _, size in ipairs(attributes.kernel_shape) do count = count * size end
      return g:node('Mul', { y, g:scalar(count / a.divisor_override, call.results[1].dtype) })
    end)
  end

  -- The kernel of equal, disjoint windows that cover the input; nil if there is none.
  local function even(shape, output)
    local kernel = {}
    for i = 1, n do
      local size = shape[#shape - n + i]
      if math.type(size) ~= 'integer' or size % output[i] ~= 0 then return nil end
      kernel[i] = size // output[i]
    end
    return kernel
  end

  -- The [to, from] matrix that maps a vector to its means over PyTorch's windows.
  local function means(from, to)
    local matrix = torch.zeros(to, from)
    for i = 0, to - 1 do
      local first, last = i * from // to, ((i + 1) * from + to - 1) // to
      matrix:narrow(1, i + 1, 1):narrow(2, first + 1, last - first):fill_(1 / (last - first))
    end
    return matrix
  end

  M[('adaptive_avg_pool%dd'):format(n)] = function(g, a, call)
    local shape = g:shape(a.self)
    local result, output, all_one = g:shape(call.results[1]), {}, true
    for i = 1, n do
      output[i] = result[#result - n + i]
      all_one = all_one and output[i] == 1
    end
    if all_one then
      local axes = {}
      for i = 1, n do axes[i] = i - n - 1 end
      return g:node('ReduceMean', { g:name(a.self), g:list(axes) }, { keepdims = 1 })
    end
    g:plain(output, 'the size of the result')
    local kernel = even(shape, output)
    if kernel then
      return with_batch(g, a.self, n, function(x) return g:node('AveragePool', { x }, { kernel_shape = kernel, strides = kernel }) end)
    end
    if n == 3 then g:fail 'the sizes of a result of three dimensions must divide the sizes of the input' end
    g:plain(shape[#shape], 'a size')
    local dtype = call.results[1].dtype
    local y = g:node('MatMul', { g:name(a.self), g:constant(means(shape[#shape], output[n]):t():contiguous():to(dtype)) })
    if n == 1 then return y end
    return g:node('MatMul', { g:constant(means(g:plain(shape[#shape - 1], 'a size'), output[1]):to(dtype)), y })
  end

  -- (sum over the window of x^p)^(1/p), as the mean times the size of the window.
  M[('nn.lp_pool%dd'):format(n)] = function(g, a, call)
    local dtype, count = call.results[1].dtype, 1
    local attributes = window(g, { kernel_size = a.kernel_size, stride = a.stride, padding = 0, ceil_mode = a.ceil_mode }, n)
    attributes.count_include_pad = 1
    for _, size in ipairs(attributes.kernel_shape) do count = count * size end
    return with_batch(g, a.input, n, function(x)
      local mean = g:node('AveragePool', { g:node('Pow', { x, g:scalar(a.norm_type, dtype) }) }, attributes)
      local sum = g:node('Mul', { g:node('Mul', { g:node('Sign', { mean }), g:node('Abs', { mean }) }), g:scalar(count, dtype) })
      return g:node('Pow', { sum, g:scalar(1 / a.norm_type, dtype) })
    end)
  end

  M[('nn.max_unpool%dd'):format(n)] = function(g, a, call)
    local result, dtype = g:shape(call.results[1]), call.results[1].dtype
    local from = flat_planes(g, g:shape(a.input), n)
    local zeros = g:node('Expand', { g:scalar(0, dtype), g:integers(flat_planes(g, result, n)) })
    local stored = g:node('ScatterElements', { zeros, g:reshape(g:positions(a.indices), from), g:reshape(g:name(a.input), from) },
      { axis = #from - 1 })
    return g:reshape(stored, result)
  end

  M[('nn.adaptive_max_pool%dd'):format(n)] = function(g, a, call) return (M[('adaptive_max_pool%dd'):format(n)](g, a, call)) end
  M[('adaptive_max_pool%dd'):format(n)] = function(g, a, call)
    local shape, result = g:shape(a.self), g:shape(call.results[1])
    local kernel = even(shape, table.move(result, #result - n + 1, #result, 1, {}))
    if not kernel then g:fail 'the sizes of the result must divide the sizes of the input' end
    return with_batch(g, a.self, n, function(x)
      local values, places = g:node('MaxPool', { x }, { kernel_shape = kernel, strides = kernel }, 2)
      return values, in_plane(g, places, shape, n)
    end)
  end
end

-- ---- im2col and col2im --------------------------------------------------------------------------

-- For every channel, one-hot filters: filter k selects element k of a window.
local function picking(g, channels, kernel, dtype)
  local size = kernel[1] * kernel[2]
  return g:constant(torch.eye(size, { dtype = dtype }):view(size, 1, kernel[1], kernel[2]):tile { channels, 1, 1, 1 })
end

function M.im2col(g, a, call)
  local shape, kernel = g:shape(a.input), each(g, a.kernel_size, 2)
  if #shape ~= 4 then g:fail 'an input without a batch' end
  local channels = g:plain(shape[2], 'the number of channels')
  local y = g:node('Conv', { g:name(a.input), picking(g, channels, kernel, call.results[1].dtype) },
    { strides = each(g, a.stride, 2), dilations = each(g, a.dilation, 2), pads = pads_of(each(g, a.padding, 2)), group = channels })
  return g:reshape(y, g:shape(call.results[1]))
end

function M.col2im(g, a, call)
  local shape, kernel = g:shape(a.input), each(g, a.kernel_size, 2)
  if #shape ~= 3 then g:fail 'an input without a batch' end
  local stride, dilation, padding, size = each(g, a.stride, 2), each(g, a.dilation, 2), each(g, a.padding, 2), each(g, a.output_size, 2)
  local rows, extra = {}, {}
  for i = 1, 2 do
    local covered = dilation[i] * (kernel[i] - 1) + 1
    rows[i] = (size[i] + 2 * padding[i] - covered) // stride[i] + 1
    extra[i] = size[i] - ((rows[i] - 1) * stride[i] - 2 * padding[i] + covered)
  end
  local channels = g:plain(shape[2], 'the number of channels') // (kernel[1] * kernel[2])
  local x = g:reshape(g:name(a.input), { shape[1], shape[2], rows[1], rows[2] })
  return g:node('ConvTranspose', { x, picking(g, channels, kernel, call.results[1].dtype) },
    { strides = stride, dilations = dilation, pads = pads_of(padding), group = channels, output_padding = extra })
end

return M
