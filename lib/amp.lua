-- amp.lua - mixed precision: torch.autocast, torch.amp.GradScaler, and their names under
-- torch.cuda.amp and torch.cpu.amp.
--
-- local _ <close> = torch.autocast('cuda'), or torch.autocast('cuda', {dtype = torch.bfloat16},
-- function() ... end). In the scope, products and convolutions are computed in the lower precision,
-- operations that need more precision in float32.

--[=[ arguments
device_type: Type of the device: `'cuda'` or `'cpu'`.
enabled: Whether the scope or the scaler has an effect.
dtype: Dtype of the lower precision; by default float16 on GPUs and bfloat16 on the CPU.
cache_enabled: Whether the converted weights are kept until the end of the scope.
fwd: Method forward of a custom `torch.autograd.Function`.
bwd: Method backward of a custom `torch.autograd.Function`.
cast_inputs: Dtype to which floating-point arguments are converted.
init_scale: Scale at the beginning.
growth_factor: Factor by which the scale grows.
backoff_factor: Factor by which the scale shrinks after infinite or NaN gradients.
growth_interval: Number of steps without infinite or NaN gradients after which the scale grows.
outputs: Loss: a tensor, or a table of them.
new_factor: New factor.
new_interval: New number of steps.
optimizer: Optimizer with scaled gradients.
closure: Closure of the optimizer; it must be nil while the scaler is enabled.
device: Type of the device: `'cuda'` or `'cpu'`.
is_autocast_available(): Whether autocast supports this type of device.
GradScaler:get_scale(): The present scale.
GradScaler:get_growth_factor(): The factor by which the scale grows.
GradScaler:set_growth_factor(): Sets the factor by which the scale grows.
GradScaler:get_backoff_factor(): The factor by which the scale shrinks after infinite or NaN gradients.
GradScaler:set_backoff_factor(): Sets the factor by which the scale shrinks after infinite or NaN gradients.
GradScaler:get_growth_interval(): The number of steps without infinite or NaN gradients after which the scale grows.
GradScaler:set_growth_interval(): Sets the number of steps without infinite or NaN gradients after which the scale grows.
GradScaler:is_enabled(): Whether the scaler has an effect.
GradScaler:state_dict(): The state as a table, for a checkpoint.
GradScaler:load_state_dict(): Restores the state of a checkpoint.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'
local kinds = require 'torch.support.argument_kinds'
local scope = require 'torch.autograd.scope'

local amp = { __names = { autocast = true, GradScaler = true, custom_fwd = true, custom_bwd = true, is_autocast_available = true } }

-- ---- autocast -----------------------------------------------------------------------------------

local LOWER = { cpu = { 'torch.bfloat16', 'torch.float16' }, cuda = { 'torch.float16', 'torch.bfloat16' } }
local depth = 0

-- Whether autocast supports the dtype; warns if not, as PyTorch does before it disables autocast.
local function supports(kind, dtype)
  if dtype == nil then return true end
  for _, name in ipairs(LOWER[kind]) do
    if tostring(dtype) == name then return true end
  end
  torch._C.log_warning(('In %s autocast, but the target dtype is not supported. Disabling autocast.\n%s Autocast only supports dtypes of %s currently.')
    :format(kind:upper(), kind:upper(), table.concat(LOWER[kind], ', ')))
  return false
end

function amp.is_autocast_available(device_type) return LOWER[device_type] ~= nil end

-- Runs operations that a lower precision suits in it: until the guard is closed, or while body(...)
-- runs: autocast(device_type, {dtype =, enabled = true, cache_enabled = true}, body, ...).
function amp.autocast(device_type, asked, enabled, cache_enabled, body, ...)
  if not LOWER[device_type] then
    fail("User specified an unsupported autocast device_type '%s'", device_type)
  end
  if cache_enabled == nil then cache_enabled = torch.is_autocast_cache_enabled() end
  if enabled and not supports(device_type, asked) then enabled = false end
  local dtype = asked or (device_type == 'cpu' and torch.bfloat16 or torch.float16)
  local was_enabled, was_dtype, was_cached
  return scope.open('autocast', function()
    was_enabled, was_dtype, was_cached = torch._C.autocast_set(device_type, enabled, dtype, cache_enabled)
    depth = depth + 1
  end, function()
    torch._C.autocast_set(device_type, was_enabled, was_dtype, was_cached)
    depth = depth - 1
    if depth == 0 then torch.clear_autocast_cache() end
  end, body, ...)
end
declare.functions(amp, 'autocast(string device_type, dtype? dtype, boolean enabled=true, boolean? cache_enabled)', 'scope')

-- ---- custom Functions ---------------------------------------------------------------------------

-- State that forward stores in the context for backward: the dtype, and true if autocast was on.
local STATE = {}

-- Copies a value with its floating-point tensors on devices of this kind, except float64, cast to
-- `dtype`.
local function cast(value, kind, dtype)
  if torch.is_tensor(value) then
    local fits = value:is_floating_point() and value.device.type == kind and value.dtype ~= torch.float64
    return fits and value:to(dtype) or value
  end
  if not for_loops.is_plain(value) then return value end
  local copy = {}
  for key, entry in pairs(value) do copy[key] = cast(entry, kind, dtype) end
  return copy
end

local function check_device_type(what, kind)
  if not LOWER[kind] then fail("%s(): 'device_type' must be 'cpu' or 'cuda', got %s", what, kinds.described(kind)) end
end

--- Wraps forward of a custom Function for autocast on {device_type = 'cuda'} (or 'cpu').
--- - With {cast_inputs = dtype}, if autocast is enabled: casts the floating-point tensors of the
---   arguments (on that device, not float64; in tables, too) and runs forward without autocast.
--- - Otherwise forward runs unchanged; autocast, if enabled, applies to its operations.
--- - Without forward, returns a decorator.
function amp.custom_fwd(forward, kind, dtype)
  check_device_type('custom_fwd', kind)
  if not forward then return function(f) return amp.custom_fwd(f, { device_type = kind, cast_inputs = dtype }) end end
  return function(ctx, ...)
    local on = torch.is_autocast_enabled(kind)
    ctx[STATE] = { dtype = torch.get_autocast_dtype(kind), enabled = on and dtype == nil }
    if not on or dtype == nil then return forward(ctx, ...) end
    local inputs = table.pack(...)
    for i = 1, inputs.n do inputs[i] = cast(inputs[i], kind, dtype) end
    local _ <close> = amp.autocast(kind, { enabled = false })
    return forward(ctx, table.unpack(inputs, 1, inputs.n))
  end
end

--- backward of a custom Function with custom_fwd: it runs under the autocast state of forward.
function amp.custom_bwd(backward, kind)
  check_device_type('custom_bwd', kind)
  if not backward then return function(f) return amp.custom_bwd(f, { device_type = kind }) end end
  return function(ctx, ...)
    local state = ctx[STATE]
    if not state then fail 'custom_bwd: forward of the Function is not one of custom_fwd' end
    local _ <close> = amp.autocast(kind, state)
    return backward(ctx, ...)
  end
end

declare.functions(amp, [[
  is_autocast_available(string device_type)
  custom_fwd(function? fwd, *, string device_type, dtype? cast_inputs)
  custom_bwd(function? bwd, *, string device_type)
]])

-- ---- the loss's scale ---------------------------------------------------------------------------

local class = require 'torch.support.class'
local GradScaler = class.Object:extend('GradScaler')

-- States of an optimizer since the last update.
local READY, UNSCALED, STEPPED = 'ready', 'unscaled', 'stepped'

-- GradScaler(device, {init_scale = 65536, growth_factor = 2, backoff_factor = 0.5, growth_interval
-- = 2000, enabled = true}): scales the loss, so that gradients of float16 do not underflow, and
-- unscales the gradients before a step; skips the step if one of them is inf or nan.
function GradScaler:init(options)
  if options.growth_factor <= 1 then fail 'The growth factor must be > 1.0.' end
  if options.backoff_factor >= 1 then fail 'The backoff factor must be < 1.0.' end
  self.device, self.enabled = options.device, options.enabled
  self.scale_now, self.growth_factor, self.backoff_factor = options.init_scale, options.growth_factor, options.backoff_factor
  self.growth_interval, self.growth_tracker, self.optimizers = options.growth_interval, 0, {}
end
declare.named(GradScaler, [[
  init(self, device device='cuda', number init_scale=65536.0, number growth_factor=2.0, number backoff_factor=0.5,
    integer growth_interval=2000, boolean enabled=true)
]])

function GradScaler:is_enabled() return self.enabled end
function GradScaler:get_scale() return self.enabled and self.scale_now or 1.0 end
function GradScaler:get_growth_factor() return self.growth_factor end
function GradScaler:set_growth_factor(new_factor) self.growth_factor = new_factor end
function GradScaler:get_backoff_factor() return self.backoff_factor end
function GradScaler:set_backoff_factor(new_factor) self.backoff_factor = new_factor end
function GradScaler:get_growth_interval() return self.growth_interval end
function GradScaler:set_growth_interval(new_interval) self.growth_interval = new_interval end

-- A tensor, or a list of them, times the scale.
function GradScaler:scale(outputs)
  if not self.enabled then return outputs end
  if torch.is_tensor(outputs) then return outputs * self.scale_now end
  if type(outputs) ~= 'table' then fail 'outputs must be a Tensor or an iterable of Tensors' end
  local scaled = {}
  for key, output in pairs(outputs) do scaled[key] = self:scale(output) end
  return scaled
end

function GradScaler:state_of(optimizer)
  local state = self.optimizers[optimizer]
  if not state then
    state = { stage = READY }
    self.optimizers[optimizer] = state
  end
  return state
end

-- Divides the gradients, and reads once per device whether all are finite.
local function divide(optimizer, scale)
  local checks, graded = {}, false
  local _ <close> = torch.no_grad()
  for _, group in ipairs(optimizer.param_groups) do
    for _, parameter in ipairs(group.params) do
      local grad = parameter.grad
      if grad ~= nil then
        if grad.dtype == torch.float16 then fail 'Attempting to unscale FP16 gradients.' end
        graded = true
        grad:mul_(1 / scale)
        local device = tostring(grad.device)
        checks[device] = checks[device] or torch.zeros(1, { device = grad.device })
        checks[device]:add_((grad * 0):sum()) -- nan if an element is not finite
      end
    end
  end
  local finite = true
  for _, check in pairs(checks) do finite = finite and check:item() == 0 end
  return graded, finite
end

-- Divides an optimizer's gradients by the scale, before you read or clip them. Otherwise step does
-- it.
function GradScaler:unscale_(optimizer)
  if not self.enabled then return end
  local state = self:state_of(optimizer)
  if state.stage == UNSCALED then
    fail 'unscale_() has already been called on this optimizer since the last update().'
  elseif state.stage == STEPPED then
    fail 'unscale_() is being called after step().'
  end
  state.graded, state.finite = divide(optimizer, self.scale_now)
  state.stage = UNSCALED
end

-- Steps the optimizer unless a gradient is inf or nan. Returns the result of the step.
function GradScaler:step(optimizer, closure)
  if not self.enabled then return optimizer:step(closure) end
  if closure then fail 'Closure use is not currently supported if GradScaler is enabled.' end
  local state = self:state_of(optimizer)
  if state.stage == STEPPED then fail 'step() has already been called since the last update().' end
  if state.stage == READY then self:unscale_(optimizer) end
  if not state.graded then fail 'No inf checks were recorded for this optimizer.' end
  state.stage = STEPPED
  if state.finite then return optimizer:step() end
end

-- Call after the steps: reduces the scale if a gradient was not finite, and increases it after
-- growth_interval steps with finite ones.
function GradScaler:update(new_scale)
  if not self.enabled then return end
  if new_scale ~= nil then
    self.scale_now = torch.is_tensor(new_scale) and new_scale:item() or new_scale
  else
    local finite, checked = true, false
    for _, state in pairs(self.optimizers) do
      checked = checked or state.graded
      finite = finite and state.finite ~= false
    end
    if not checked then fail 'No inf checks were recorded prior to update.' end
    if not finite then
      self.scale_now, self.growth_tracker = self.scale_now * self.backoff_factor, 0
    else
      self.growth_tracker = self.growth_tracker + 1
      if self.growth_tracker == self.growth_interval then
        self.scale_now, self.growth_tracker = self.scale_now * self.growth_factor, 0
      end
    end
  end
  self.optimizers = {}
end

function GradScaler:state_dict()
  if not self.enabled then return {} end
  return { scale = self.scale_now, growth_factor = self.growth_factor, backoff_factor = self.backoff_factor,
    growth_interval = self.growth_interval, _growth_tracker = self.growth_tracker }
end

function GradScaler:load_state_dict(state_dict)
  local dict = state_dict
  if not self.enabled then return end
  if next(dict) == nil then
    fail 'The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.'
  end
  for _, name in ipairs { 'scale', 'growth_factor', 'backoff_factor', 'growth_interval', '_growth_tracker' } do
    kinds.check('load_state_dict', 'state_dict.' .. name, dict[name], 'number')
  end
  self.scale_now, self.growth_factor, self.backoff_factor = dict.scale, dict.growth_factor, dict.backoff_factor
  self.growth_interval, self.growth_tracker = dict.growth_interval, dict._growth_tracker
end

declare.methods(GradScaler, 'update(self, number|Tensor? new_scale)')
amp.GradScaler = GradScaler

return amp
