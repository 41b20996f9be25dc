-- cuda.lua - the parts of torch.cuda written in Lua: guards (`local _ <close> = torch.cuda.device(1)`, or with
-- a function to run inside), short forms of properties and statistics, readable tables.

local torch = require 'torch'
local options_of = require 'torch.support.options'
local kinds = require 'torch.support.kinds'
local scopes = require 'torch.autograd.scope'
local cuda = torch.cuda
local summary = require 'torch.cuda_memory'

-- ---- guards ----

local function nothing() end

-- The guard itself, or fn's results: what change() changes is restored when fn ends, also by an error.
local function scope(change, restore, fn, ...)
  kinds.check('guard', 'fn', fn, 'function?')
  return scopes.open('cuda', change, restore, fn, ...)
end

--- Makes a GPU the current one: until the guard is closed, or while fn(...) runs. nil, or a negative number,
-- changes nothing.
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
  kinds.check('device_of', 'tensor', tensor, 'Tensor')
  return cuda.device(tensor.is_cuda and tensor.device.index or nil, fn, ...)
end

--- Makes a stream, and its GPU, current: until the guard is closed, or while fn(...) runs.
function cuda.stream(stream, fn, ...)
  kinds.check('stream', 'stream', stream, 'Stream?')
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

local capture_streams = {} -- by the number of the GPU; made when first wanted

--- Captures into the CUDAGraph g what the current GPU is given until the guard is closed, or while fn(...) runs, on a
-- stream beside the default one. options: pool (of another graph, or graph_pool_handle()), stream. An error in
-- between drops what was captured.
function cuda.graph(g, options, fn, ...)
  if type(options) == 'function' then return cuda.graph(g, nil, options, fn, ...) end
  kinds.check('graph', 'g', g, 'CUDAGraph')
  options = options_of('graph', options, { pool = false, stream = false })
  local stream = options.stream
  if stream then kinds.check('graph', 'stream', stream, 'Stream') end
  if not stream then
    local device = cuda.current_device()
    stream = capture_streams[device] or cuda.Stream()
    capture_streams[device] = stream
  end
  -- What is queued may use what the capture will; garbage would be collected in its midst.
  cuda.synchronize(stream.device)
  collectgarbage()
  cuda.empty_cache()
  local guard = cuda.stream(stream)
  local function begin() g:capture_begin(options.pool or nil) end
  local ok, message = pcall(begin)
  if not ok then
    scopes.close(guard)
    error(message, 0)
  end
  kinds.check('graph', 'fn', fn, 'function?')
  return scope(nothing, function(failure)
    local _ <close> = guard
    if failure then g:reset() else g:capture_end() end
  end, fn, ...)
end

-- ---- properties ----

function cuda.get_device_name(device) return cuda.get_device_properties(device).name end

--- The major and the minor number of the GPU's compute capability.
function cuda.get_device_capability(device)
  local properties = cuda.get_device_properties(device)
  return properties.major, properties.minor
end

--- Whether the GPU computes in bfloat16: all do, older ones by way of float32.
cuda.is_bf16_supported = cuda.is_available

-- ---- random numbers ----

--- Seeds the current GPU's generator, or (seed_all) every GPU's alike, from the system's random numbers; gives the seed.
function cuda.seed() return cuda.default_generator():seed() end

function cuda.seed_all()
  local seed = cuda.seed()
  cuda.manual_seed_all(seed)
  return seed
end

function cuda.initial_seed() return cuda.default_generator():initial_seed() end

--- The state of a GPU's generator: a uint8 tensor of 16 bytes on the CPU, as PyTorch's. device: 'cuda' if not given.
function cuda.get_rng_state(device) return cuda.default_generator(device):get_state() end

function cuda.set_rng_state(state, device) cuda.default_generator(device):set_state(state) end

--- The states of all GPUs' generators, the first GPU's first; none without a GPU.
function cuda.get_rng_state_all()
  local states = {}
  for device = 0, cuda.device_count() - 1 do states[device + 1] = cuda.get_rng_state(device) end
  return states
end

function cuda.set_rng_state_all(states)
  kinds.check('set_rng_state_all', 'states', states, 'tensors')
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

function Copies:__tostring()
  local lines = { ('%-18s %8s %12s %12s  %-12s %s'):format('copy', 'count', 'bytes', 'waited', 'cause', 'origin') }
  for _, e in ipairs(self) do
    lines[#lines + 1] = ('%-18s %8d %12s %9.3f ms  %-12s %s'):format(('%s -> %s'):format(e.from, e.to), e.count,
      summary.size_text(e.bytes), e.seconds * 1e3, e.cause, e.origin)
  end
  lines[#lines + 1] = ('%-18s %8d %12s %9.3f ms'):format('total', self.count, summary.size_text(self.bytes), self.seconds * 1e3)
  return table.concat(lines, '\n')
end

local entries = cuda.copies

--- The ledger of copies between devices, of all causes or of one ('item', 'print', 'to', ...): a list of
-- entries {from, to, count, bytes, seconds, cause, origin, implicit} with the totals in count, bytes, seconds.
function cuda.copies(cause) return setmetatable(entries(cause), Copies) end

-- ---- mixed precision: torch.amp for this kind of device ----

-- The options of custom_fwd and custom_bwd, which may stand alone, with the kind of device.
local function for_cuda(wrap)
  return function(f, options)
    if options == nil and type(f) == 'table' then f, options = nil, f end
    local all = { device_type = 'cuda' }
    for name, value in pairs(options or {}) do all[name] = value end
    if f == nil then return wrap(all) end
    return wrap(f, all)
  end
end

cuda.amp = {
  custom_fwd = for_cuda(function(...) return torch.amp.custom_fwd(...) end),
  custom_bwd = for_cuda(function(...) return torch.amp.custom_bwd(...) end),
  autocast = function(...) return torch.amp.autocast('cuda', ...) end,
  GradScaler = function(options) return torch.amp.GradScaler('cuda', options) end,
}

return cuda
