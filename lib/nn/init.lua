-- init.lua - torch.nn.init: fills tensors in place with initial values. Every function returns its tensor
-- and records nothing for autograd. Formulas: Glorot & Bengio 2010 (xavier), He et al. 2015 (kaiming).

local torch = require 'torch'

local init = {}

local function without_grad(tensor, fn)
  torch.no_grad(function() fn(tensor) end)
  return tensor
end

function init.uniform_(tensor, a, b) return without_grad(tensor, function(t) t:uniform_(a or 0.0, b or 1.0) end) end
function init.normal_(tensor, mean, std) return without_grad(tensor, function(t) t:normal_(mean or 0.0, std or 1.0) end) end
function init.constant_(tensor, value) return without_grad(tensor, function(t) t:fill_(value) end) end
function init.ones_(tensor) return init.constant_(tensor, 1.0) end
function init.zeros_(tensor) return init.constant_(tensor, 0.0) end

function init.eye_(tensor)
  if tensor.ndim ~= 2 then error('Only tensors with 2 dimensions are supported', 2) end
  return without_grad(tensor, function(t)
    t:copy_(torch.eye(t:size(1), t:size(2), { device = t.device, dtype = t.dtype }))
  end)
end

local function fans(tensor)
  if tensor.ndim < 2 then
    error('Fan in and fan out can not be computed for tensor with fewer than 2 dimensions', 3)
  end
  local receptive_field = 1
  for d = 3, tensor.ndim do receptive_field = receptive_field * tensor:size(d) end
  return tensor:size(2) * receptive_field, tensor:size(1) * receptive_field
end

-- The recommended gain for a nonlinearity; param is leaky_relu's slope.
function init.calculate_gain(nonlinearity, param)
  local gains = { linear = 1, identity = 1, sigmoid = 1, tanh = 5 / 3, relu = math.sqrt(2), selu = 3 / 4 }
  if nonlinearity:match('^conv') then return 1 end
  if nonlinearity == 'leaky_relu' then
    local slope = param == nil and 0.01 or param
    return math.sqrt(2 / (1 + slope * slope))
  end
  if not gains[nonlinearity] then error('Unsupported nonlinearity ' .. tostring(nonlinearity), 2) end
  return gains[nonlinearity]
end

function init.xavier_uniform_(tensor, gain)
  local fan_in, fan_out = fans(tensor)
  local bound = (gain or 1) * math.sqrt(2 / (fan_in + fan_out)) * math.sqrt(3)
  return init.uniform_(tensor, -bound, bound)
end

function init.xavier_normal_(tensor, gain)
  local fan_in, fan_out = fans(tensor)
  return init.normal_(tensor, 0.0, (gain or 1) * math.sqrt(2 / (fan_in + fan_out)))
end

local function kaiming_std(tensor, options)
  options = options or {}
  for key in pairs(options) do
    if key ~= 'a' and key ~= 'mode' and key ~= 'nonlinearity' then
      error(("kaiming: unknown argument '%s'; it takes a, mode, nonlinearity"):format(tostring(key)), 3)
    end
  end
  local fan_in, fan_out = fans(tensor)
  local mode = options.mode or 'fan_in'
  if mode ~= 'fan_in' and mode ~= 'fan_out' then
    error(("Mode %s not supported, please use one of ['fan_in', 'fan_out']"):format(tostring(mode)), 3)
  end
  local gain = init.calculate_gain(options.nonlinearity or 'leaky_relu', options.a or 0)
  return gain / math.sqrt(mode == 'fan_in' and fan_in or fan_out)
end

-- options: {a = 0, mode = 'fan_in', nonlinearity = 'leaky_relu'}
function init.kaiming_uniform_(tensor, options)
  local bound = math.sqrt(3) * kaiming_std(tensor, options)
  return init.uniform_(tensor, -bound, bound)
end

function init.kaiming_normal_(tensor, options) return init.normal_(tensor, 0.0, kaiming_std(tensor, options)) end

return init
