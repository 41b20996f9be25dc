-- module.lua - part of ltensor-ffi.lua: the functions of the module that are not operations: autograd, settings,
-- optimizers, files, models.

local shared = ...
local ffi, core, torch, raise, check, op = shared.ffi, shared.core, shared.torch, shared.raise, shared.check, shared.op
local is_tensor, adopt, adopt_borrowed, to_list = shared.is_tensor, shared.adopt, shared.adopt_borrowed, shared.to_list
local dtype_of, to_dtype, to_device = shared.dtype_of, shared.to_dtype, shared.to_device

-- ---- autograd, random numbers, settings ---------------------------------------------------------

-- Calls f in a grad mode and restores the mode, also after an error.
local function in_grad_mode(on, f, ...)
  if type(f) ~= 'function' and not (getmetatable(f) or {}).__call then raise('%s expects a function: torch.no_grad(function() ... end)', on and 'enable_grad()' or 'no_grad()') end
  local before = core.lt_set_grad_enabled(on)
  local function finish(ok, ...)
    core.lt_set_grad_enabled(before)
    if not ok then error((...), 0) end
    return ...
  end
  return finish(pcall(f, ...))
end

function torch.no_grad(f, ...) return in_grad_mode(false, f, ...) end
function torch.enable_grad(f, ...) return in_grad_mode(true, f, ...) end
function torch.set_grad_enabled(on) core.lt_set_grad_enabled(on) end
function torch.is_grad_enabled() return core.lt_grad_enabled() end

torch.autograd = {}

--- The gradients of outputs by inputs, each a tensor or a list of tensors.
function torch.autograd.grad(outputs, inputs, options)
  options = options or {}
  outputs, inputs = is_tensor(outputs) and { outputs } or outputs, is_tensor(inputs) and { inputs } or inputs
  local given = is_tensor(options.grad_outputs) and { options.grad_outputs } or options.grad_outputs
  local keep, grads = {}, ffi.new('lt_tensor *[?]', #inputs)
  check(core.lt_grad(to_list(outputs, keep).v, #outputs, to_list(inputs, keep).v, #inputs, given and to_list(given, keep).v or nil,
    options.retain_graph or options.create_graph or false, options.create_graph or false, options.allow_unused or false, grads))
  local list = {}
  for i = 1, #inputs do list[i] = grads[i - 1] ~= nil and adopt(grads[i - 1]) or nil end
  return unpack(list, 1, #inputs)
end

function torch.manual_seed(seed) core.lt_manual_seed(seed) end
function torch.get_num_threads() return core.lt_get_num_threads() end
function torch.set_num_threads(n) check(core.lt_set_num_threads(n)) end
function torch.get_default_dtype() return dtype_of[tonumber(core.lt_get_default_dtype())] end
function torch.set_default_dtype(dtype) check(core.lt_set_default_dtype(to_dtype(dtype).code)) end
function torch.device(name) return to_device(name) end
torch.is_tensor, torch.__version__ = is_tensor, ffi.string(core.lt_version())

torch.cuda = {}
function torch.cuda.device_count() return core.lt_device_count 'LT_CUDA' end
function torch.cuda.is_available() return torch.cuda.device_count() > 0 end
function torch.cuda.synchronize(device) check(core.lt_device_synchronize(to_device(device or 'cuda').c)) end

function torch.full(size, value, options)
  if type(size) ~= 'table' or type(value) ~= 'number' then return op 'full'(size, value, options) end
  options = options or {}
  return op 'full'(size, value, { dtype = options.dtype or torch.get_default_dtype(), device = options.device, requires_grad = options.requires_grad })
end

-- ---- optimizers ---------------------------------------------------------------------------------

torch.optim = {}

-- A class over a fused operation. step(group, parameters, gradients, states): states(name) are tensors of a parameter's
-- state, zeros at first, for each parameter.
local function optimizer(name, defaults, step)
  local class = {}
  class.__index = class

  local function group_of(...)
    local group = { steps = 0, state = {} }
    for _, options in ipairs { defaults, ... } do
      for key, v in pairs(options) do
        if defaults[key] == nil and key ~= 'params' then raise("%s(): unknown argument '%s'", name, tostring(key)) end
        group[key] = v
      end
    end
    if is_tensor(group.params) then group.params = { group.params } end
    if type(group.params) ~= 'table' or not is_tensor(group.params[1]) then raise('%s(): parameters must be a list of Tensors', name) end
    return group
  end

  torch.optim[name] = function(parameters, options)
    local self, first = { param_groups = {} }, not is_tensor(parameters) and parameters[1]
    local groups = type(first) == 'table' and parameters or { { params = parameters } }
    for i, group in ipairs(groups) do self.param_groups[i] = group_of(options or {}, group) end
    return setmetatable(self, class)
  end

  function class.zero_grad(self)
    for _, group in ipairs(self.param_groups) do
      for _, p in ipairs(group.params) do p.grad = nil end
    end
  end

  local function step_group(group)
    local numbers, parameters, grads = {}, {}, {}
    for i, p in ipairs(group.params) do
      local grad = p.grad
      if grad then numbers[#numbers + 1], parameters[#parameters + 1], grads[#grads + 1] = i, p, grad end
    end
    if #numbers == 0 then return end
    group.steps = group.steps + 1
    step(group, parameters, grads, function(key)
      local list = {}
      for i, number in ipairs(numbers) do
        local state = group.state[number] or {}
        group.state[number], state[key] = state, state[key] or op 'zeros_like'(parameters[i])
        list[i] = state[key]
      end
      return list
    end)
  end

  function class.step(self)
    torch.no_grad(function()
      for _, group in ipairs(self.param_groups) do step_group(group) end
    end)
  end
end

optimizer('SGD', { lr = 0.001, momentum = 0, dampening = 0, weight_decay = 0, nesterov = false, maximize = false }, function(group, parameters, grads, states)
  op 'fused_sgd_'(parameters, grads, group.momentum ~= 0 and states 'momentum_buffer' or {}, group.lr, group.weight_decay, group.momentum,
    group.dampening, group.nesterov, group.maximize, group.steps == 1)
end)

local function adam(decoupled)
  return function(group, parameters, grads, states)
    op 'fused_adam_'(parameters, grads, states 'exp_avg', states 'exp_avg_sq', group.amsgrad and states 'max_exp_avg_sq' or {}, group.steps, group.lr,
      group.betas[1], group.betas[2], group.weight_decay, group.eps, decoupled, group.amsgrad, group.maximize)
  end
end
optimizer('Adam', { lr = 0.001, betas = { 0.9, 0.999 }, eps = 1e-8, weight_decay = 0, amsgrad = false, maximize = false }, adam(false))
optimizer('AdamW', { lr = 0.001, betas = { 0.9, 0.999 }, eps = 1e-8, weight_decay = 0.01, amsgrad = false, maximize = false }, adam(true))

-- ---- files and models ---------------------------------------------------------------------------

--- Writes a table of tensors by name to a safetensors file.
function torch.save(tensors, path)
  local names, list, keep = {}, {}, {}
  for name in pairs(tensors) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do list[i] = tensors[name] end
  check(core.lt_save(path, ffi.new('const char *[?]', math.max(#names, 1), names), to_list(list, keep).v, #names))
end

--- The tensors of a safetensors file by name.
function torch.load(path)
  local archive, tensors = ffi.new 'lt_archive *[1]', {}
  check(core.lt_load(path, archive))
  for i = 0, tonumber(core.lt_archive_count(archive[0])) - 1 do
    tensors[ffi.string(core.lt_archive_name(archive[0], i))] = adopt_borrowed(core.lt_archive_tensor(archive[0], i))
  end
  core.lt_archive_release(archive[0])
  return tensors
end

-- libltensor_lua contains an interpreter of Lua 5.4, whose functions have the names of LuaJIT's: RTLD_DEEPBIND binds
-- the library to its own, and ffi.load then finds it loaded.
local function open_models(path)
  local RTLD_NOW, RTLD_DEEPBIND = 2, 8
  local dlopen, dlerror = ffi.C.dlopen, ffi.C.dlerror -- before the call: finding a symbol resets dlerror
  if dlopen(path, RTLD_NOW + RTLD_DEEPBIND) == nil then error(ffi.string(dlerror()), 0) end
  return ffi.load(path)
end

local models -- the library, after the first model

local Model = {}
Model.__index = Model

--- The model of an ONNX file, a program of torch.export (.pt2) or a safetensors file with a graph, in evaluation mode.
-- path: the file, or its bytes: a string with a zero byte is the content of a file.
local function load_model(path)
  models = models or shared.open('libltensor_lua.so.' .. shared.soname, open_models)
  local out, is_content = ffi.new 'lt_model *[1]', type(path) == 'string' and path:find '%z'
  check(is_content and models.lt_model_load_memory(path, #path, out) or models.lt_model_load(path, out))
  return setmetatable({ handle = ffi.gc(out[0], models.lt_model_release) }, Model)
end

torch.onnx, torch.export = { load = load_model }, { load = load_model }

--- Runs the model: tensors in the order of the file; its outputs are the results.
function Model.__call(self, ...)
  local n_inputs, n_outputs = select('#', ...), models.lt_model_output_count(self.handle)
  local keep, outputs = {}, ffi.new('lt_tensor *[?]', math.max(n_outputs, 1))
  check(models.lt_model_run(self.handle, to_list({ ... }, keep).v, n_inputs, outputs, n_outputs))
  local results = {}
  for i = 1, n_outputs do results[i] = adopt(outputs[i - 1]) end
  return unpack(results, 1, n_outputs)
end

local function tensors_of(self, first, last)
  local list, names = {}, {}
  for i = first, last - 1 do
    list[#list + 1] = adopt_borrowed(models.lt_model_tensor(self.handle, i))
    names[#names + 1] = ffi.string(models.lt_model_tensor_name(self.handle, i))
  end
  return list, names
end

--- The parameters as a list of tensors, and their names.
function Model.parameters(self) return tensors_of(self, 0, models.lt_model_parameter_count(self.handle)) end

--- Parameters and buffers by name.
function Model.state_dict(self)
  local list, names = tensors_of(self, 0, models.lt_model_tensor_count(self.handle))
  local state = {}
  for i, name in ipairs(names) do state[name] = list[i] end
  return state
end

function Model.train(self, on)
  check(models.lt_model_set_training(self.handle, on ~= false))
  return self
end

function Model.eval(self) return self:train(false) end

--- Writes the model, or its parameters and buffers alone; the suffix selects the format.
function Model.save(self, path) check(models.lt_model_save(self.handle, path)) end
function Model.save_state(self, path) check(models.lt_model_save_state(self.handle, path)) end
function Model.load_state(self, path) check(models.lt_model_load_state(self.handle, path)) end

-- ---- the module ---------------------------------------------------------------------------------

-- A table whose functions are operations with one of these prefixes.
local function namespace(into, ...)
  local prefixes = { ... }
  return setmetatable(into, { __index = function(list, name)
    for _, prefix in ipairs(prefixes) do
      local f = type(name) == 'string' and op(prefix .. name)
      if f then
        rawset(list, name, f)
        return f
      end
    end
  end })
end

torch.nn = { functional = namespace({}, 'nn.functional.', '') }
for _, name in ipairs { 'linalg', 'fft', 'special' } do torch[name] = namespace({}, name .. '.') end
torch.masked = namespace({}, 'masked_')

-- Their results are several values, not a list.
for _, name in ipairs { 'meshgrid', 'broadcast_tensors' } do
  torch[name] = function(...) return unpack(op(name)(...)) end
end
return namespace(torch, '')
