---@meta
-- cuda.lua - the annotations of torch.cuda for editors and the reference: the functions and objects
-- that are written in C.

---@class torch.cuda
local cuda = {}

---@class torch.cuda.Stream
local Stream = {}

---@class torch.cuda.Event
local Event = {}

---@class torch.cuda.CUDAGraph
local CUDAGraph = {}

---Whether there is a GPU, real or simulated.
---@return boolean
function cuda.is_available() end

---The number of GPUs.
---@return integer
function cuda.device_count() end

---Whether the GPUs are simulated on the CPU.
---@return boolean
function cuda.is_simulated() end

---Whether the GPU computes in bfloat16: all do, older ones by way of float32.
---@return boolean
function cuda.is_bf16_supported() end

---The number of the current GPU, from 0.
---@return integer
function cuda.current_device() end

---Makes a GPU the current one.
---@param device torch.device|string|integer GPU: a number from 0, 'cuda:1' or a `torch.device`.
function cuda.set_device(device) end

---Waits until all work of a GPU is done.
---@param device? torch.device|string|integer GPU; the current one if absent.
function cuda.synchronize(device) end

---Whether a GPU can access the memory of another one directly.
---@param device torch.device|string|integer GPU that accesses.
---@param peer_device torch.device|string|integer GPU that has the memory.
---@return boolean
function cuda.can_device_access_peer(device, peer_device) end

---The properties of a GPU: name, major, minor, total_memory, multi_processor_count and others.
---@param device? torch.device|string|integer GPU; the current one if absent.
---@return table
function cuda.get_device_properties(device) end

---The free and the total bytes of a GPU's memory.
---@param device? torch.device|string|integer GPU; the current one if absent.
---@return integer, integer
function cuda.mem_get_info(device) end

---The counters of the allocator by PyTorch's names; an empty table without a GPU.
---@param device? torch.device|string|integer GPU; the current one if absent.
---@return table<string, integer>
function cuda.memory_stats(device) end

---Sets the maxima of memory_stats to the present values.
---@param device? torch.device|string|integer GPU; the current one if absent.
function cuda.reset_peak_memory_stats(device) end

---The older name of reset_peak_memory_stats.
---@param device? torch.device|string|integer GPU; the current one if absent.
function cuda.reset_max_memory_allocated(device) end

---The older name of reset_peak_memory_stats.
---@param device? torch.device|string|integer GPU; the current one if absent.
function cuda.reset_max_memory_cached(device) end

---Returns the memory that the allocator keeps for reuse to the GPU.
function cuda.empty_cache() end

---Sets the share of a GPU's memory that this process may use; more is an out-of-memory error.
---@param fraction number Share, from 0 to 1.
---@param device? torch.device|string|integer GPU; the current one if absent.
function cuda.set_per_process_memory_fraction(fraction, device) end

---Seeds the current GPU's default generator.
---@param seed integer Seed, any integer.
function cuda.manual_seed(seed) end

---Seeds the default generators of all GPUs.
---@param seed integer Seed, any integer.
function cuda.manual_seed_all(seed) end

---The default generator of a GPU.
---@param device? torch.device|string|integer GPU; the current one if absent.
---@return torch.Generator
function cuda.default_generator(device) end

---Forgets the copies that the ledger has counted.
function cuda.reset_copies() end

---Sets whether implicit copies between devices are reported.
---@param on? boolean Whether they are, true.
function cuda.show_copies(on) end

---Sets the reaction to implicit synchronization with a GPU.
---@param debug_mode integer|string 0 or 'default' for none, 1 or 'warn' for a warning, 2 or 'error' for an error.
function cuda.set_sync_debug_mode(debug_mode) end

---The mode of set_sync_debug_mode: 0, 1 or 2.
---@return integer
function cuda.get_sync_debug_mode() end

---A new stream: a queue of work on a GPU that runs beside others.
---@param device? torch.device|string|integer GPU; the current one if absent.
---@param priority? integer Priority, lower numbers first.
---@return torch.cuda.Stream
function cuda.Stream(device, priority) end

---The stream that receives a GPU's work now.
---@param device? torch.device|string|integer GPU; the current one if absent.
---@return torch.cuda.Stream
function cuda.current_stream(device) end

---The stream that receives a GPU's work at the beginning.
---@param device? torch.device|string|integer GPU; the current one if absent.
---@return torch.cuda.Stream
function cuda.default_stream(device) end

---Makes a stream the current one of its GPU.
---@param stream torch.cuda.Stream Stream.
function cuda.set_stream(stream) end

---A marker in a stream's work, to wait for or to measure with.
---@param enable_timing? boolean Whether `elapsed_time` can be called.
---@param blocking? boolean Has no effect: the device decides how to wait.
---@return torch.cuda.Event
function cuda.Event(enable_timing, blocking) end

---An empty graph, for work that is captured once and replayed.
---@return torch.cuda.CUDAGraph
function cuda.CUDAGraph() end

---The identifier of a new memory pool that several graphs share.
---@return any
function cuda.graph_pool_handle() end

---Whether the current stream's work is captured into a graph.
---@return boolean
function cuda.is_current_stream_capturing() end

---Waits until all work of the stream is done.
function Stream:synchronize() end

---Whether all work of the stream is done.
---@return boolean
function Stream:query() end

---Makes later work of this stream wait for the present work of another one.
---@param stream torch.cuda.Stream Stream to wait for.
function Stream:wait_stream(stream) end

---Makes later work of this stream wait for an event.
---@param event torch.cuda.Event Event to wait for.
function Stream:wait_event(event) end

---Records an event after the present work of the stream and returns it.
---@param event? torch.cuda.Event Event; a new one if absent.
---@return torch.cuda.Event
function Stream:record_event(event) end

---Records the event after the present work of a stream.
---@param stream? torch.cuda.Stream Stream; the current one if absent.
function Event:record(stream) end

---Waits until the recorded work is done.
function Event:synchronize() end

---Whether the recorded work is done.
---@return boolean
function Event:query() end

---Makes later work of a stream wait for the event.
---@param stream? torch.cuda.Stream Stream that waits; the current one if absent.
function Event:wait(stream) end

---The milliseconds from this event to a later one.
---@param end_event torch.cuda.Event Later event, also with `enable_timing`.
---@return number
function Event:elapsed_time(end_event) end

---Begins to capture the work of the current stream; `torch.cuda.graph` does it for a scope.
---@param pool? any Memory pool of another graph, or `graph_pool_handle()`; a new one if absent.
function CUDAGraph:capture_begin(pool) end

---Ends the capture.
function CUDAGraph:capture_end() end

---Runs the captured work again, on the same memory.
function CUDAGraph:replay() end

---Drops the captured work and its memory.
function CUDAGraph:reset() end

---The identifier of the graph's memory pool.
---@return any
function CUDAGraph:pool() end

return cuda
