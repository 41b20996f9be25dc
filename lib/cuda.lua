-- cuda.lua - the parts of torch.cuda written in Lua: guards
-- (`local _ <close> = torch.cuda.device(1)`, or with a function to run inside), short forms of
-- properties and statistics, readable tables.

--[=[ arguments
enabled: Whether the scope or the scaler has an effect.
cache_enabled: Whether the converted weights are kept until the end of the scope.
fwd: Method forward of a custom `torch.autograd.Function`.
bwd: Method backward of a custom `torch.autograd.Function`.
cast_inputs: Dtype to which floating-point arguments are converted.
init_scale: Scale at the beginning.
growth_factor: Factor by which the scale grows.
backoff_factor: Factor by which the scale shrinks after infinite or NaN gradients.
growth_interval: Number of steps without infinite or NaN gradients after which the scale grows.
dtype: Dtype of the lower precision; float16 if absent.
device: GPU: a number from 0, `'cuda:1'` or a `torch.device`; the current one if absent.
cause: Cause of the copies: `'item'`, `'print'`, `'to'` or another one; all if absent.
tensor: Tensor on the GPU that becomes the current one.
cuda_graph: Graph that records the work.
pool: Memory pool of another graph, or `graph_pool_handle()`; a new one if absent.
stream: Stream that becomes the current one; nil changes nothing.
graph.stream: Stream of the capture; a side stream if absent.
kernel_source: CUDA C++ source text with the kernel.
kernel_name: Name of the kernel, with template arguments if it is a template: `'add<float>'`.
compute_capability: Architecture to compile for, such as `'90'`; the GPU's if absent.
cuda_include_dirs: Folders of the headers that the text includes.
nvcc_options: Options of the compiler, such as `{'-DN=4'}`.
new_state: State that `get_rng_state` returned.
new_states: States that `get_rng_state_all` returned.
get_device_name(): The name of a GPU.
initial_seed(): The seed of the current GPU's generator.
seed_all(): Seeds every GPU's generator with the same random number and returns it.
set_rng_state(): Restores the state of a GPU's generator.
set_rng_state_all(): Restores the states of all GPUs' generators.
memory_allocated(): The bytes that tensors on a GPU hold now; 0 without a GPU.
max_memory_allocated(): The maximum of `memory_allocated` since the start or `reset_peak_memory_stats`, in bytes.
memory_reserved(): The bytes of a GPU that the allocator holds for tensors and for reuse.
max_memory_reserved(): The maximum of `memory_reserved` since the start or `reset_peak_memory_stats`, in bytes.
memory_cached(): The older name of `memory_reserved`.
max_memory_cached(): The older name of `max_memory_reserved`.
amp.autocast(): `torch.autocast` for GPUs.
amp.GradScaler(): `torch.amp.GradScaler` for GPUs.
amp.custom_fwd(): `torch.amp.custom_fwd` for GPUs.
amp.custom_bwd(): `torch.amp.custom_bwd` for GPUs.
]=]

local torch = require 'torch'
local scopes = require 'torch.autograd.scope'
local cuda = torch.cuda
local summary = require 'torch.cuda_memory'
local declare = require 'torch.support.arguments'

-- ---- guards ----

local function nothing() end

-- Returns the guard, or calls fn and returns its results; the change is restored when fn ends, also
-- by an error.
local function scope(change, restore, fn, ...) return scopes.open('cuda', change, restore, fn, ...) end

--- Makes a GPU the current one: until the guard is closed, or while fn(...) runs. nil, or a
-- negative number, changes nothing.
function cuda.device(device, fn, ...)
  if device == nil or math.type(device) == 'integer' and device < 0 then return scope(nothing, nothing, fn, ...) end
  local previous
  return scope(function()
    previous = cuda.current_device()
    cuda.set_device(device)
  end, function() cuda.set_device(previous) end, fn, ...)
end

--- The same for the GPU that the tensor is on; a tensor on the CPU changes nothing.
function cuda.device_of(tensor, fn, ...)
  return cuda.device(tensor.is_cuda and tensor.device.index or -1, fn, ...)
end

--- Makes a stream, and its GPU, current: until the guard is closed, or while fn(...) runs.
function cuda.stream(stream, fn, ...)
  if stream == nil then return scope(nothing, nothing, fn, ...) end
  local device, previous
  return scope(function()
    device, previous = cuda.current_device(), cuda.current_stream(stream.device)
    cuda.set_stream(stream)
  end, function()
    cuda.set_stream(previous)
    cuda.set_device(device)
  end, fn, ...)
end

local capture_streams = {} -- by GPU index; created on first use

--- Captures the work of the current GPU into the CUDAGraph g until the guard is closed, or while
-- fn(...) runs, on a side stream unless one is given. pool: of another graph, or
-- graph_pool_handle(). An error drops the capture.
function cuda.graph(g, pool, stream, fn, ...)
  if not stream then
    local device = cuda.current_device()
    stream = capture_streams[device] or cuda.Stream()
    capture_streams[device] = stream
  end
  -- Queued work may use memory that the capture will use, and a collection must not run during the
  -- capture.
  cuda.synchronize(stream.device)
  collectgarbage()
  cuda.empty_cache()
  local guard = cuda.stream(stream)
  local function begin() g:capture_begin(pool) end
  local ok, message = pcall(begin)
  if not ok then
    scopes.close(guard)
    error(message, 0)
  end
  return scope(nothing, function(failure)
    local _ <close> = guard
    if failure then g:reset() else g:capture_end() end
  end, fn, ...)
end

declare.functions(cuda, [[
  device(device|integer? device)
  device_of(Tensor tensor)
  stream(Stream? stream)
  graph(CUDAGraph cuda_graph, value? pool, Stream? stream)
]], 'scope')

-- ---- kernels from text ----

--- Compiles a kernel from CUDA source text and returns a function that launches it:
-- `k {grid = {4, 1, 1}, block = {256, 1, 1}, args = {x, y, n}, shared_mem = 0, stream = s}`.
-- Arguments are tensors for pointers, and numbers and booleans, which are converted to the types of
-- the kernel's parameters. On a simulated GPU, the kernel's accesses to memory are checked: the call
-- waits for the kernel and raises an error for a race, a wrong barrier, or an access out of bounds.
function cuda._compile_kernel(...) return require 'torch.cuda.user_kernel'(...) end

declare.functions(cuda, [[
  _compile_kernel(string kernel_source, string kernel_name, string|integer? compute_capability, list? cuda_include_dirs, list? nvcc_options)
]])

-- ---- properties ----

function cuda.get_device_name(device) return cuda.get_device_properties(device).name end

--- The major and the minor number of the GPU's compute capability.
function cuda.get_device_capability(device)
  local properties = cuda.get_device_properties(device)
  return properties.major, properties.minor
end

--- Whether the GPU supports bfloat16: true for all; older ones compute in float32.
cuda.is_bf16_supported = cuda.is_available

-- ---- random numbers ----

--- Seeds the current GPU's generator, or (seed_all) the generators of all GPUs equally, from the
-- system's entropy; returns the seed.
function cuda.seed() return cuda.default_generator():seed() end

function cuda.seed_all()
  local seed = cuda.seed()
  cuda.manual_seed_all(seed)
  return seed
end

function cuda.initial_seed() return cuda.default_generator():initial_seed() end

--- The state of a GPU's generator: a uint8 tensor of 16 bytes on the CPU, as PyTorch's. device:
--- default 'cuda'.
function cuda.get_rng_state(device) return cuda.default_generator(device):get_state() end

function cuda.set_rng_state(state, device) cuda.default_generator(device):set_state(state) end

--- The states of all GPUs' generators, the first GPU's first; none without a GPU.
function cuda.get_rng_state_all()
  local states = {}
  for device = 0, cuda.device_count() - 1 do states[device + 1] = cuda.get_rng_state(device) end
  return states
end

function cuda.set_rng_state_all(states)
  for i, state in ipairs(states) do cuda.set_rng_state(state, i - 1) end
end

-- ---- memory ----

-- Bytes; 0 without a GPU.
for name, key in pairs {
  memory_allocated = 'allocated_bytes.all.current', max_memory_allocated = 'allocated_bytes.all.peak',
  memory_reserved = 'reserved_bytes.all.current', max_memory_reserved = 'reserved_bytes.all.peak',
} do
  cuda[name] = function(device) return cuda.memory_stats(device)[key] or 0 end
end
cuda.memory_cached, cuda.max_memory_cached = cuda.memory_reserved, cuda.max_memory_reserved
cuda.reset_max_memory_allocated, cuda.reset_max_memory_cached = cuda.reset_peak_memory_stats, cuda.reset_peak_memory_stats

cuda.memory_summary = summary.memory_summary

-- ---- copies ----

local Copies = { __name = 'torch.cuda.copies' }

-- Columns as wide as their content; the origins are on lines of their own if lines would be wider
-- than linewidth of set_printoptions.
function Copies:__tostring()
  local rows = { { 'copy', 'count', 'bytes', 'waited', 'cause', 'origin' } }
  for _, e in ipairs(self) do
    rows[#rows + 1] = { ('%s -> %s'):format(e.from, e.to), tostring(e.count), summary.size_text(e.bytes),
      ('%.3f ms'):format(e.seconds * 1e3), e.cause, e.origin }
  end
  rows[#rows + 1] = { 'total', tostring(self.count), summary.size_text(self.bytes), ('%.3f ms'):format(self.seconds * 1e3), '', '' }
  local widths, total = {}, 0
  for c = 1, 6 do
    widths[c] = 0
    for _, row in ipairs(rows) do widths[c] = math.max(widths[c], #row[c]) end
    total = total + widths[c] + 2
  end
  local format = ('%%-%ds  %%%ds  %%%ds  %%%ds  %%-%ds'):format(table.unpack(widths, 1, 5))
  local apart = total - 2 > torch.get_printoptions().linewidth
  local lines = {}
  for i, row in ipairs(rows) do
    local line = format:format(table.unpack(row, 1, 5))
    if not apart then line = line .. '  ' .. row[6] end
    lines[#lines + 1] = line:match '^(.-)%s*$'
    if apart and i > 1 and row[6] ~= '' then lines[#lines + 1] = '  ' .. row[6] end
  end
  return table.concat(lines, '\n')
end

local entries = cuda.copies

--- The ledger of copies between devices, of all causes or of one ('item', 'print', 'to', ...): a
-- list of entries {from, to, count, bytes, seconds, cause, origin, implicit} with the totals in
-- count, bytes, seconds.
function cuda.copies(cause) return setmetatable(entries(cause), Copies) end

declare.functions(cuda, [[
  get_device_name(value? device)
  get_device_capability(value? device)
  seed() seed_all() initial_seed()
  get_rng_state(value? device)
  set_rng_state(any new_state, value? device)
  get_rng_state_all()
  set_rng_state_all(tensors new_states)
  memory_allocated(value? device)
  max_memory_allocated(value? device)
  memory_reserved(value? device)
  max_memory_reserved(value? device)
  memory_cached(value? device)
  max_memory_cached(value? device)
  memory_summary(value? device, boolean abbreviated=false)
  copies(string? cause)
]])

-- ---- mixed precision: torch.amp for this kind of device ----

cuda.amp = {
  custom_fwd = function(fwd, cast_inputs) return torch.amp.custom_fwd(fwd, { device_type = 'cuda', cast_inputs = cast_inputs }) end,
  custom_bwd = function(bwd) return torch.amp.custom_bwd(bwd, { device_type = 'cuda' }) end,
  autocast = function(enabled, dtype, cache_enabled, ...) return torch.amp.autocast('cuda', dtype, enabled, cache_enabled, ...) end,
  GradScaler = function(...) return torch.amp.GradScaler('cuda', ...) end,
}
declare.functions(cuda.amp, 'autocast(boolean enabled=true, dtype? dtype, boolean? cache_enabled)', 'scope')
declare.functions(cuda.amp, [[
  custom_fwd(function? fwd, *, dtype? cast_inputs)
  custom_bwd(function? bwd)
  GradScaler(number init_scale=65536.0, number growth_factor=2.0, number backoff_factor=0.5, integer growth_interval=2000, boolean enabled=true)
]])

return cuda
