-- fractional.lua - nn.functional.fractional_max_pool2d and 3d: max pools with windows at random
-- steps, for any output size (B. Graham 2014).

--[=[ arguments
fractional_max_pool2d_with_indices(): `fractional_max_pool2d` with `return_indices = true`.
fractional_max_pool3d_with_indices(): `fractional_max_pool3d` with `return_indices = true`.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local M = {}

-- One number for each of n dims.
local function each(what, name, value, n)
  if type(value) == 'number' then
    local list = {}
    for i = 1, n do list[i] = value end
    return list
  end
  kinds.check(what, name, value, 'table')
  if #value ~= n then fail('%s: %s must either be a single number, or a list of %d', what, name, n) end
  return value
end

-- Offsets of the windows along one dim, [batch, channels, out], from 0; samples [batch, channels]
-- are in [0, 1).
local function starts(samples, input, window, output)
  local last = samples:new_full({ samples:size(1), samples:size(2), 1 }, input - window):long()
  if output == 1 then return last end
  local alpha, s = (input - window) / (output - 1), samples:unsqueeze(-1)
  local steps = torch.arange(0, output - 1, { dtype = samples.dtype, device = samples.device })
  return torch.cat({ (((steps + s) * alpha):floor() - (s * alpha):floor()):long(), last }, -1)
end

local function define(n)
  local name = ('fractional_max_pool%dd'):format(n)

  -- The maxima and their positions in the flattened image.
  local function pool(o)
    local input = o.input
    if o.output_size == nil and o.output_ratio == nil then
      fail('%s requires specifying either an output_size or an output_ratio', name)
    end
    if input.ndim ~= n + 1 and input.ndim ~= n + 2 then
      fail('%s(): Expected %dD or %dD tensor, but got: %s', name, n + 1, n + 2, tostring(input.shape))
    end
    local alone = input.ndim == n + 1
    if alone then input = input:unsqueeze(1) end
    local window, sizes, total = each(name, 'kernel_size', o.kernel_size, n), {}, 1
    local ratio = o.output_size == nil and each(name, 'output_ratio', o.output_ratio, n)
    local output = o.output_size ~= nil and each(name, 'output_size', o.output_size, n) or {}
    for d = 1, n do
      sizes[d] = input:size(2 + d)
      if ratio then output[d] = math.floor(sizes[d] * ratio[d]) end
      if output[d] + window[d] - 1 > sizes[d] then
        fail('%s(): pool size (%d) too large relative to input size (%d) along dim %d', name, window[d], sizes[d], d)
      end
      total = total * sizes[d]
    end
    local batch, channels = input:size(1), input:size(2)
    local samples = o._random_samples or torch.rand(batch, channels, n, { dtype = input.dtype, device = input.device })
    -- The position of every element of every window: dims [batch, channels, out..., window...].
    local positions
    for d = 1, n do
      -- As in PyTorch, the samples of images start with the columns, the samples of volumes with
      -- the planes.
      local begin = starts(samples:select(-1, n == 2 and 3 - d or d), sizes[d], window[d], output[d])
      local at = begin:unsqueeze(-1) + torch.arange(0, window[d], { device = input.device })
      local shape = { batch, channels }
      for i = 1, n do shape[2 + i], shape[2 + n + i] = i == d and output[d] or 1, i == d and window[d] or 1 end
      at = at:reshape(shape)
      positions = positions and positions * sizes[d] + at or at
    end
    local flat, elements = { batch, channels }, 1
    for d = 1, n do flat[2 + d], elements = output[d], elements * window[d] end
    flat[#flat + 1] = elements
    positions = (positions + 1):reshape(flat)
    local values = input:reshape(batch, channels, total):gather(3, positions:flatten(3)):reshape(positions.shape)
    local best, which = values:max(-1)
    local where = positions:gather(-1, which:unsqueeze(-1)):squeeze(-1)
    if alone then return best:squeeze(1), where:squeeze(1), o.return_indices end
    return best, where, o.return_indices
  end

  local text = '%s(Tensor input, any kernel_size, any? output_size, any? output_ratio, boolean return_indices=false, Tensor? _random_samples)'
  --- Requires output_size, or output_ratio (numbers or one per dim); with return_indices also
  -- returns the positions, as for max_unpool.
  M[name] = declare.by_name(text:format(name), function(o)
    local values, positions, wanted = pool(o)
    if wanted then return values, positions end
    return values
  end)
  M[name .. '_with_indices'] = declare.by_name(text:format(name .. '_with_indices'), function(o)
    local values, positions = pool(o)
    return values, positions
  end)
end
define(2)
define(3)

return M
