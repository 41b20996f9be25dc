-- lazy.lua - layers that infer the size of their input from the first one: nn.LazyLinear,
-- LazyConv1d-3d, LazyConvTranspose1d-3d, LazyBatchNorm1d-3d, LazyInstanceNorm1d-3d.
--
-- Before that, their parameters and buffers are objects of UninitializedParameter and
-- UninitializedBuffer with a device and a dtype. The first call creates them, and the layer becomes
-- one of the class of its name.

--[=[ arguments
options: Dtype and device of the parameter: `{dtype = ..., device = ...}`.
has_uninitialized_params(): Whether a parameter has no shape yet, because no input was seen.
LazyLinear(): `Linear` that finds in_features at its first input.
LazyConv1d(): `Conv1d` that finds in_channels at its first input.
LazyConv2d(): `Conv2d` that finds in_channels at its first input.
LazyConv3d(): `Conv3d` that finds in_channels at its first input.
LazyConvTranspose1d(): `ConvTranspose1d` that finds in_channels at its first input.
LazyConvTranspose2d(): `ConvTranspose2d` that finds in_channels at its first input.
LazyConvTranspose3d(): `ConvTranspose3d` that finds in_channels at its first input.
LazyBatchNorm1d(): `BatchNorm1d` that finds num_features at its first input.
LazyBatchNorm2d(): `BatchNorm2d` that finds num_features at its first input.
LazyBatchNorm3d(): `BatchNorm3d` that finds num_features at its first input.
LazyInstanceNorm1d(): `InstanceNorm1d` that finds num_features at its first input.
LazyInstanceNorm2d(): `InstanceNorm2d` that finds num_features at its first input.
LazyInstanceNorm3d(): `InstanceNorm3d` that finds num_features at its first input.
]=]

--[=[ examples
LazyConv1d
    nn.LazyConv1d(5, 3)(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 5, 6])
LazyConvTranspose1d
    nn.LazyConvTranspose1d(5, 3)(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 5, 10])
LazyBatchNorm1d
    net = nn.LazyBatchNorm1d()
    net(torch.rand(2, 3, 8));
    net.num_features
    --> 3
LazyInstanceNorm1d
    nn.LazyInstanceNorm1d()(torch.rand(2, 3, 8)).shape
    --> torch.Size([2, 3, 8])
LazyConv2d
    nn.LazyConv2d(5, 3)(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 5, 6, 6])
LazyConvTranspose2d
    nn.LazyConvTranspose2d(5, 3)(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 5, 10, 10])
LazyBatchNorm2d
    net = nn.LazyBatchNorm2d()
    net(torch.rand(2, 3, 8, 8));
    net.num_features
    --> 3
LazyInstanceNorm2d
    nn.LazyInstanceNorm2d()(torch.rand(2, 3, 8, 8)).shape
    --> torch.Size([2, 3, 8, 8])
LazyConv3d
    nn.LazyConv3d(5, 3)(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 5, 6, 6, 6])
LazyConvTranspose3d
    nn.LazyConvTranspose3d(5, 3)(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 5, 10, 10, 10])
LazyBatchNorm3d
    net = nn.LazyBatchNorm3d()
    net(torch.rand(2, 3, 8, 8, 8));
    net.num_features
    --> 3
LazyInstanceNorm3d
    nn.LazyInstanceNorm3d()(torch.rand(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 3, 8, 8, 8])
LazyLinear
    net = nn.LazyLinear(2)
    net(torch.zeros(4, 3));
    net.weight.shape
    --> torch.Size([2, 3])
UninitializedParameter
    torch.type(nn.LazyLinear(2).weight)
    --> 'UninitializedParameter'
UninitializedBuffer
    torch.type(nn.LazyBatchNorm1d().running_mean)
    --> 'UninitializedBuffer'
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local checked = require 'torch.support.argument_checks'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local Linear = require('torch.nn.layers.linear').Linear
local declare = require 'torch.support.arguments'
local convolutions = require 'torch.nn.layers.conv'
local norms = require 'torch.nn.layers.batchnorm'

local fields_of = class.fields

local M = {}

-- ---- uninitialized tensors ----------------------------------------------------------------------

local Unmade = class.Object:extend('Uninitialized')
local attributes = { shape = true, ndim = true, data = true, T = true, is_leaf = true }

-- Every field of a tensor is an error until the tensor is initialized.
local function guard(kind)
  local metatable = getmetatable(kind)
  local parent = metatable.__index
  metatable.__index = function(_, key)
    local value = parent[key]
    if value ~= nil or type(key) ~= 'string' then return value end
    if key == 'shape' then
      fail("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
        .. 'when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the '
        .. 'parameters before accessing their attributes.')
    end
    if attributes[key] or torch._C.methods[key] then
      fail('Attempted to use an uninitialized parameter in %s. This error happens when you are using a `LazyModule` or '
        .. 'explicitly manipulating `torch.nn.parameter.%s` objects. When using LazyModules Call `forward` with a dummy '
        .. 'batch to initialize the parameters before calling torch functions', key, kind.__classname)
    end
  end
end

function Unmade:init(options)
  kinds.check(self.__classname, 'options', options, 'table?')
  options = options or {}
  self.device = options.device and torch.device(options.device) or torch.get_default_device()
  self.dtype = options.dtype or torch.get_default_dtype()
  self.requires_grad = options.requires_grad ~= false
end

function Unmade:__tostring() return ('<%s>'):format(torch.type(self)) end

-- Applies a conversion of the module's tensors: device or dtype.
function Unmade:convert(fn)
  local like = fn(torch.empty(0, { device = self.device, dtype = self.dtype }))
  self.device, self.dtype = like.device, like.dtype
end

function Unmade:make(shape)
  -- Outside of inference mode, so that parameters created by a first call in it can be trained.
  local data = torch.inference_mode(false, torch.empty, shape, { device = self.device, dtype = self.dtype })
  if self.is_buffer then return data end
  self.made = Parameter(data, { requires_grad = self.requires_grad }) -- for optimizers that already refer to this object
  return self.made
end

-- A parameter of a lazy module before its first input, when it has no shape.
M.UninitializedParameter = Unmade:extend('UninitializedParameter')
-- A buffer of a lazy module before its first input, when it has no shape.
M.UninitializedBuffer = Unmade:extend('UninitializedBuffer')
M.UninitializedBuffer.is_buffer = true
guard(M.UninitializedParameter)
guard(M.UninitializedBuffer)

function Module.is_unmade(value) return Unmade:is_instance(value) end

-- ---- lazy layers --------------------------------------------------------------------------------

-- lazy(name, Base, read, setup, shapes): setup(self, options) fills in the settings with an input
-- size of 0;
-- shapes(self, input) sets the size from the first input and returns the shapes of the parameters,
-- by name.
local function lazy(name, Base, read, setup, shapes)
  local kind = Base:extend(name)

  function kind:init(...)
    local options = read(...)
    setup(self, options)
  end

  function kind:has_uninitialized_params()
    local fields = fields_of(self)
    for _, names in ipairs { fields._parameters, fields._buffers } do
      for _, key in ipairs(names) do
        if Unmade:is_instance(fields[key]) then return true end
      end
    end
    return false
  end

  local function make(self, all)
    local fields = fields_of(self)
    for key, shape in pairs(all) do
      if Unmade:is_instance(fields[key]) then fields[key] = fields[key]:make(shape) end
    end
  end

  -- If a state is loaded before the first call, it determines the shapes.
  function kind:_before_load(dict, prefix)
    if Base._before_load then Base._before_load(self, dict, prefix) end
    local all, fields = {}, fields_of(self)
    for _, names in ipairs { fields._parameters, fields._buffers } do
      for _, key in ipairs(names) do
        local value = dict[prefix .. key]
        if torch.is_tensor(value) then all[key] = value.shape end
      end
    end
    make(self, all)
  end

  -- Nothing to do before the first call, which initializes the parameters.
  function kind:reset_parameters() end

  function kind:forward(input, ...)
    if not kind:is_instance(self) then return Base.forward(self, input, ...) end -- it has become the regular layer
    checked.input(self, input)
    local fresh = self:has_uninitialized_params()
    make(self, shapes(self, input))
    debug.setmetatable(self, class.metatables[Base])
    if fresh then Base.reset_parameters(self) end
    return Base.forward(self, input, ...)
  end
  declare.methods(kind, 'forward(self, any input, any ...)')

  M[name] = kind
end

local function unmade(self, names, options)
  for _, key in ipairs(names) do
    self[key] = M.UninitializedParameter { device = options.device, dtype = options.dtype }
  end
end

local function weight_and_bias(self, options)
  unmade(self, { 'weight' }, options)
  if options.bias then unmade(self, { 'bias' }, options) else self:register_parameter('bias', nil) end
end

-- nn.LazyLinear(out_features, {bias = true})
lazy('LazyLinear', Linear, declare.reader 'LazyLinear(integer out_features, boolean bias=true, device? device, dtype? dtype)', function(self, options)
  self.in_features, self.out_features = 0, options.out_features
  weight_and_bias(self, options)
end, function(self, input)
  self.in_features = input:size(-1)
  return { weight = { self.out_features, self.in_features }, bias = { self.out_features } }
end)

-- nn.LazyConv2d(out_channels, kernel_size, ...), nn.LazyConvTranspose2d(out_channels, kernel_size,
-- ...)
for n = 1, 3 do
  for prefix, declaration in pairs {
    Conv = [[(integer out_channels, sizes kernel_size, sizes stride=1, sizes|string padding=0, sizes dilation=1,
      integer groups=1, boolean bias=true, string padding_mode='zeros', device? device, dtype? dtype)]],
    ConvTranspose = [[(integer out_channels, sizes kernel_size, sizes stride=1, sizes padding=0, sizes output_padding=0,
      integer groups=1, boolean bias=true, sizes dilation=1, string padding_mode='zeros', device? device, dtype? dtype)]],
  } do
    local name = ('Lazy%s%dd'):format(prefix, n)
    local read = declare.reader(name .. declaration)
    lazy(name, convolutions[('%s%dd'):format(prefix, n)], read, function(self, options)
      options.in_channels = 0
      self:setup(n, options)
      weight_and_bias(self, options)
    end, function(self, input)
      if input.ndim ~= n + 1 and input.ndim ~= n + 2 then
        fail('Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s', n + 1, n + 2, name,
          tostring(input.shape))
      end
      self.in_channels = input:size(input.ndim - n)
      if self.in_channels % self.groups ~= 0 then fail 'in_channels must be divisible by groups' end
      return { weight = self:weight_shape(), bias = { self.out_channels } }
    end)
  end
end

-- nn.LazyBatchNorm2d(eps, momentum, ...), nn.LazyInstanceNorm2d(eps, momentum, ...): PyTorch's lazy
-- instance norms are affine and track statistics by default, unlike its other instance norms.
for n = 1, 3 do
  for _, prefix in ipairs { 'BatchNorm', 'InstanceNorm' } do
    local name = ('Lazy%s%dd'):format(prefix, n)
    local read = declare.reader(name .. [[
      (number eps=1e-5, number|none momentum=0.1, boolean affine=true, boolean track_running_stats=true,
        device? device, dtype? dtype, *, boolean bias=true)]])
    lazy(name, norms[('%s%dd'):format(prefix, n)], read, function(self, options)
      options.num_features = 0
      self:setup(options)
      if options.affine then
        weight_and_bias(self, options)
      else
        self:register_parameter('weight', nil)
        self:register_parameter('bias', nil)
      end
      if not options.track_running_stats then return end
      for _, key in ipairs { 'running_mean', 'running_var' } do
        self:register_buffer(key, M.UninitializedBuffer { device = options.device, dtype = options.dtype })
      end
      self:register_buffer('num_batches_tracked', torch.tensor(0, { dtype = torch.long, device = options.device }))
    end, function(self, input)
      self.num_features = input:size(prefix == 'InstanceNorm' and input.ndim == n + 1 and 1 or 2)
      local shape = { self.num_features }
      return { weight = shape, bias = shape, running_mean = shape, running_var = shape }
    end)
  end
end

return M
