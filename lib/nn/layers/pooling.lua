-- pooling.lua - pools: nn.MaxPool1d-3d, AvgPool1d-3d, LPPool1d-2d, the adaptive ones, and
-- MaxUnpool1d-3d. Each calls the op of its name; sizes are a number or one per dimension; stride
-- defaults to the window's size.

--[=[ arguments
stride: Step of the window: a number, or one for each spatial dimension; the size of the window if absent.
indices: Positions of the maxima, as `return_indices` gives them.
MaxPool1d(): The maximum of each window of sequences (N, C, L).
MaxPool2d(): The maximum of each window of images (N, C, H, W).
MaxPool3d(): The maximum of each window of volumes (N, C, D, H, W).
AvgPool1d(): The mean of each window of sequences (N, C, L).
AvgPool2d(): The mean of each window of images (N, C, H, W).
AvgPool3d(): The mean of each window of volumes (N, C, D, H, W).
LPPool1d(): The p-norm of each window of sequences.
LPPool2d(): The p-norm of each window of images.
LPPool3d(): The p-norm of each window of volumes.
AdaptiveAvgPool1d(): The mean of windows that give an output of a fixed length.
AdaptiveAvgPool2d(): The mean of windows that give an output of a fixed height and width.
AdaptiveAvgPool3d(): The mean of windows that give an output of a fixed size.
AdaptiveMaxPool1d(): The maximum of windows that give an output of a fixed length.
AdaptiveMaxPool2d(): The maximum of windows that give an output of a fixed height and width.
AdaptiveMaxPool3d(): The maximum of windows that give an output of a fixed size.
MaxUnpool1d(): Puts maxima back at their positions in sequences.
MaxUnpool2d(): Puts maxima back at their positions in images.
MaxUnpool3d(): Puts maxima back at their positions in volumes.
FractionalMaxPool2d(): The maximum of random windows of images, for an output of any smaller size.
FractionalMaxPool3d(): The maximum of random windows of volumes, for an output of any smaller size.
]=]

--[=[ examples
MaxPool1d
    nn.MaxPool1d(2)(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 3, 4])
AvgPool1d
    nn.AvgPool1d(2)(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 3, 4])
LPPool1d
    nn.LPPool1d(2, 2)(torch.ones(2, 3, 8)).shape
    --> torch.Size([2, 3, 4])
AdaptiveAvgPool1d
    nn.AdaptiveAvgPool1d(1)(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 3, 1])
AdaptiveMaxPool1d
    nn.AdaptiveMaxPool1d(2)(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 3, 2])
MaxUnpool1d
    values, positions = nn.MaxPool1d(2, {return_indices = true})(torch.rand(2, 3, 8))
    nn.MaxUnpool1d(2)(values, positions).shape
    --> torch.Size([2, 3, 8])
MaxPool2d
    nn.MaxPool2d(2)(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4])
AvgPool2d
    nn.AvgPool2d(2)(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4])
LPPool2d
    nn.LPPool2d(2, 2)(torch.ones(2, 3, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4])
AdaptiveAvgPool2d
    nn.AdaptiveAvgPool2d(1)(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 3, 1, 1])
AdaptiveMaxPool2d
    nn.AdaptiveMaxPool2d(2)(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 3, 2, 2])
MaxUnpool2d
    values, positions = nn.MaxPool2d(2, {return_indices = true})(torch.rand(2, 3, 8, 8))
    nn.MaxUnpool2d(2)(values, positions).shape
    --> torch.Size([2, 3, 8, 8])
FractionalMaxPool2d
    nn.FractionalMaxPool2d(2, {output_ratio = 0.5})(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4])
MaxPool3d
    nn.MaxPool3d(2)(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4, 4])
AvgPool3d
    nn.AvgPool3d(2)(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4, 4])
LPPool3d
    nn.LPPool3d(2, 2)(torch.ones(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4, 4])
AdaptiveAvgPool3d
    nn.AdaptiveAvgPool3d(1)(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 3, 1, 1, 1])
AdaptiveMaxPool3d
    nn.AdaptiveMaxPool3d(2)(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 3, 2, 2, 2])
MaxUnpool3d
    values, positions = nn.MaxPool3d(2, {return_indices = true})(torch.rand(2, 3, 8, 8, 8))
    nn.MaxUnpool3d(2)(values, positions).shape
    --> torch.Size([2, 3, 8, 8, 8])
FractionalMaxPool3d
    nn.FractionalMaxPool3d(2, {output_ratio = 0.5})(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 3, 4, 4, 4])
]=]

local torch = require 'torch'
local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local python = require 'torch.nn.python'

local M = {}

local function set(self, options, names)
  for name in names:gmatch '%S+' do self[name] = options[name] end
end

for n = 1, 3 do
  local name, op = ('MaxPool%dd'):format(n), ('max_pool%dd'):format(n)
  local names = 'kernel_size stride padding dilation return_indices ceil_mode'
  local read = declare.reader(name .. [[
    (sizes kernel_size, sizes? stride, sizes padding=0, sizes dilation=1, boolean return_indices=false,
      boolean ceil_mode=false)]])
  local class = Module:extend(name)
  function class:init(...)
    set(self, read(...), names)
    self.stride = self.stride or self.kernel_size
  end
  function class:forward(input)
    local call = torch[self.return_indices and op .. '_with_indices' or op]
    return call(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)
  end
  function class:extra_repr()
    return python.format('kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s', self.kernel_size, self.stride,
      self.padding, self.dilation, self.ceil_mode)
  end
  M[name] = class
end

for n = 1, 3 do
  local name, op = ('AvgPool%dd'):format(n), ('avg_pool%dd'):format(n)
  local names = 'kernel_size stride padding ceil_mode count_include_pad divisor_override'
  local read = declare.reader(name .. '(sizes kernel_size, sizes? stride, sizes padding=0, boolean ceil_mode=false, boolean count_include_pad=true'
    .. (n > 1 and ', integer? divisor_override)' or ')'))
  local class = Module:extend(name)
  function class:init(...)
    set(self, read(...), names)
    self.stride = self.stride or self.kernel_size
  end
  function class:forward(input)
    if n == 1 then
      return F[op](input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
    end
    return F[op](input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
      self.divisor_override)
  end
  function class:extra_repr()
    if n == 1 then
      local one = function(value) return type(value) == 'table' and value or { value } end
      return python.format('kernel_size=%s, stride=%s, padding=%s', one(self.kernel_size), one(self.stride), one(self.padding))
    end
    return python.format('kernel_size=%s, stride=%s, padding=%s', self.kernel_size, self.stride, self.padding)
  end
  M[name] = class
end

for n = 1, 3 do
  local name, op = ('LPPool%dd'):format(n), ('lp_pool%dd'):format(n)
  local read = declare.reader(name .. '(number norm_type, sizes kernel_size, sizes? stride, boolean ceil_mode=false)')
  local class = Module:extend(name)
  function class:init(...) set(self, read(...), 'norm_type kernel_size stride ceil_mode') end
  function class:forward(input)
    return F[op](input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
  end
  function class:extra_repr()
    return python.format('norm_type=%s, kernel_size=%s, stride=%s, ceil_mode=%s', self.norm_type, self.kernel_size,
      self.stride, self.ceil_mode)
  end
  M[name] = class
end

local function repr_of_size(size)
  if type(size) ~= 'table' then return tostring(size) end
  local list = {}
  for i, item in ipairs(size) do list[i] = item and tostring(item) or 'None' end
  return '(' .. table.concat(list, ', ') .. (#list == 1 and ',)' or ')')
end

for n = 1, 3 do
  for kind, prefix in pairs { Avg = 'adaptive_avg_pool', Max = 'adaptive_max_pool' } do
    local name, op = ('Adaptive%sPool%dd'):format(kind, n), ('%s%dd'):format(prefix, n)
    local read = declare.reader(name .. '(integer|table output_size' .. (kind == 'Max' and ', boolean return_indices=false)' or ')'))
    local class, pool = Module:extend(name), F[op]
    function class:init(...) set(self, read(...), 'output_size return_indices') end
    function class:forward(input)
      if self.return_indices then return pool(input, self.output_size, true) end
      return pool(input, self.output_size)
    end
    function class:extra_repr() return 'output_size=' .. repr_of_size(self.output_size) end
    M[name] = class
  end
end

for n = 1, 3 do
  local name, op = ('MaxUnpool%dd'):format(n), ('max_unpool%dd'):format(n)
  local read = declare.reader(name .. '(sizes kernel_size, sizes? stride, sizes padding=0)')
  local class = Module:extend(name)
  local function sizes(value)
    if type(value) == 'table' then return value end
    local list = {}
    for i = 1, n do list[i] = value end
    return list
  end
  function class:init(...)
    local options = read(...)
    self.kernel_size, self.padding = sizes(options.kernel_size), sizes(options.padding)
    self.stride = sizes(options.stride or options.kernel_size)
  end
  function class:forward(input, indices, output_size)
    if indices == nil then fail("%s.forward() missing 1 required positional argument: 'indices'", name) end
    local named = type(output_size) == 'table' and #output_size == 0
    if named then output_size = output_size.output_size end
    return F[op](input, indices, self.kernel_size, self.stride, self.padding, output_size)
  end
  function class:extra_repr()
    return python.format('kernel_size=%s, stride=%s, padding=%s', self.kernel_size, self.stride, self.padding)
  end
  M[name] = class
end

-- nn.FractionalMaxPool2d(kernel_size, {output_size =, output_ratio =, return_indices = false}), and
-- 3d: windows that begin at random steps; one of output_size and output_ratio.
for n = 2, 3 do
  local name = ('FractionalMaxPool%dd'):format(n)
  local names = 'kernel_size output_size output_ratio return_indices'
  local read = declare.reader(name .. [[
    (sizes kernel_size, integer|table? output_size, numbers? output_ratio, boolean return_indices=false,
      Tensor? _random_samples)]])
  local class = Module:extend(name)
  function class:init(...)
    local options = read(...)
    set(self, options, names)
    self:register_buffer('_random_samples', options._random_samples)
    if not self.output_size and not self.output_ratio then
      fail('%s requires specifying either an output size, or a pooling ratio', name)
    end
    if self.output_size and self.output_ratio then fail 'only one of output_size and output_ratio may be specified' end
    local ratio = self.output_ratio
    for _, value in ipairs(type(ratio) == 'table' and ratio or { ratio or nil }) do
      if not (value > 0 and value < 1) then fail('output_ratio must be between 0 and 1 (got %s)', python.repr(ratio)) end
    end
  end
  function class:forward(input)
    return F[('fractional_max_pool%dd'):format(n)](input, self.kernel_size, {
      output_size = self.output_size or nil, output_ratio = self.output_ratio or nil, return_indices = self.return_indices,
      _random_samples = self._random_samples,
    })
  end
  M[name] = class
end

return M
