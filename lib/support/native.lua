-- native.lua - declares the functions and methods in C that read their arguments by hand (src/lua).

--[=[ arguments
warn_only: Whether an operation without a deterministic algorithm is a warning instead of an error.
]=]

local torch = require 'torch'
local arguments = require 'torch.support.arguments'

arguments.native(torch, [[
  is_tensor(any obj) type(any? obj) is_floating_point(Tensor input) is_complex(Tensor input) is_inference(Tensor input) numel(Tensor input)
  time() get_num_threads() set_num_threads(integer num) get_default_dtype() set_default_dtype(dtype d) get_printoptions()
  are_deterministic_algorithms_enabled() is_deterministic_algorithms_warn_only_enabled()
  get_rng_state() set_rng_state(Tensor new_state) manual_seed(integer seed) seed() initial_seed()
  is_grad_enabled() is_inference_mode_enabled() is_autocast_enabled(device|string? device_type) get_autocast_dtype(string device_type)
  is_autocast_cache_enabled() clear_autocast_cache()
  Generator(device? device) device(device type, integer? index)
]])
arguments.native(torch._C.methods, [[
  data_ptr(self) dim(self) ndimension(self) numel(self) nelement(self) element_size(self) get_device(self) storage_offset(self)
  is_complex(self) is_floating_point(self) is_inference(self) is_contiguous(self, string? memory_format) is_pinned(self, device? device)
  item(self) tolist(self) iter(self) size(self, integer? dim) stride(self, integer? dim) type(self, dtype? dtype, boolean? non_blocking)
  requires_grad_(self, boolean requires_grad=true) retain_grad(self) detach_(self) pin_memory(self, device? device)
  record_stream(self, Stream s)
]], 'Tensor', torch.is_tensor)
arguments.native(torch.cuda, [[
  is_available() device_count() is_simulated() current_device() set_device(device device) synchronize(device? device)
  can_device_access_peer(device device, device peer_device) get_device_properties(device? device) mem_get_info(device? device)
  memory_stats(device? device) reset_peak_memory_stats(device? device) empty_cache()
  set_per_process_memory_fraction(number fraction, device? device) manual_seed(integer seed) manual_seed_all(integer seed)
  default_generator(device? device) current_stream(device? device) default_stream(device? device) set_stream(Stream stream)
  reset_copies() show_copies(boolean on=true) set_sync_debug_mode(integer|string debug_mode) get_sync_debug_mode()
  graph_pool_handle() is_current_stream_capturing() Stream(device? device, integer priority=0)
  Event(boolean enable_timing=false, boolean blocking=false) CUDAGraph()
]])
for name, text in pairs {
  Generator = 'manual_seed(self, integer seed) seed(self) initial_seed(self) get_state(self) set_state(self, Tensor new_state)',
  Stream = 'synchronize(self) query(self) wait_stream(self, Stream stream) wait_event(self, userdata event) record_event(self, userdata? event)',
  Event = 'record(self, Stream? stream) synchronize(self) query(self) wait(self, Stream? stream) elapsed_time(self, userdata end_event)',
  CUDAGraph = 'capture_begin(self, value? pool) capture_end(self) replay(self) reset(self) pool(self)',
} do
  arguments.native(torch._C.methods_of(name), text, name, function(value) return torch.type(value) == name end)
end
arguments.describe(torch, [[
  tensor(any data, *, dtype? dtype, device? device, boolean requires_grad=false, boolean pin_memory=false)
  as_tensor(any data, *, dtype? dtype, device? device, boolean requires_grad=false, boolean pin_memory=false)
  Size(integers sizes)
]])
arguments.describe(torch._C.methods, [[
  new_tensor(self, any data, *, dtype? dtype, device? device, boolean requires_grad=false, boolean pin_memory=false)
]])
-- Functions in C that pass most calls on to the op of their name, which a library may lack.
for _, holder in ipairs { torch, torch._C.methods } do
  for _, name in ipairs { 'where', 'nonzero', 'complex' } do
    if holder[name] then arguments.ops[holder[name]] = name end
  end
end

-- Functions with options by name only.
arguments.functions(torch, 'use_deterministic_algorithms(boolean mode, *, boolean warn_only=false)', 'options')
arguments.functions(torch, [[
  set_printoptions(number? precision, number? threshold, number? edgeitems, number? linewidth, string? profile, boolean? sci_mode)
]], 'names')
