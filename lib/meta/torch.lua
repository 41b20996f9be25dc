---@meta
-- torch.lua - annotations for editors of the module except classes (modules.lua) and ops, which are
-- generated (ops.lua beside this file in an installation, build/meta/ops.lua after make). No
-- program loads it; help at the prompt shows its text.

---@class torch.Size: integer[]
---@class torch.dtype
---@class torch.device
---@field type string
---@field index integer?

---Ends a scope when it is closed: local _ <close> = torch.no_grad().
---@class torch.Guard

---@class torch
---@field float16 torch.dtype  16-bit float with 5 bits of exponent.
---@field bfloat16 torch.dtype  16-bit float with 8 bits of exponent.
---@field float32 torch.dtype  32-bit float.
---@field float64 torch.dtype  64-bit float.
---@field uint8 torch.dtype  8-bit unsigned integer.
---@field int8 torch.dtype  8-bit integer.
---@field int16 torch.dtype  16-bit integer.
---@field int32 torch.dtype  32-bit integer.
---@field int64 torch.dtype  64-bit integer.
---@field uint16 torch.dtype  16-bit unsigned integer.
---@field uint32 torch.dtype  32-bit unsigned integer.
---@field uint64 torch.dtype  64-bit unsigned integer.
---@field float8_e5m2 torch.dtype  8-bit float with 5 bits of exponent.
---@field float8_e4m3fn torch.dtype  8-bit float with 4 bits of exponent, without infinity.
---@field float8_e5m2fnuz torch.dtype  8-bit float with 5 bits of exponent, without infinity and negative zero.
---@field float8_e4m3fnuz torch.dtype  8-bit float with 4 bits of exponent, without infinity and negative zero.
---@field float8_e8m0fnu torch.dtype  8-bit power of two, for scales.
---@field bool torch.dtype  True or false, one byte.
---@field half torch.dtype  The same as float16.
---@field float torch.dtype  The same as float32.
---@field double torch.dtype  The same as float64.
---@field int torch.dtype  The same as int32.
---@field long torch.dtype  The same as int64.
---@field strided string  Layout of ordinary tensors.
---@field sparse_coo string  Layout of sparse tensors with a list of positions and values.
---@field sparse_csr string  Layout of sparse matrices row by row.
---@field sparse_csc string  Layout of sparse matrices column by column.
---@field pi number  The number pi.
---@field inf number  Infinity.
---@field nan number  Not a number.
---@field newaxis any  Index that inserts a dimension of size 1.
---@field __version__ string  Version of the library.
---@field short torch.dtype  The same as int16.
---@field complex32 torch.dtype  Complex number of two float16.
---@field complex64 torch.dtype  Complex number of two float32.
---@field complex128 torch.dtype  Complex number of two float64.
---@field chalf torch.dtype  The same as complex32.
---@field cfloat torch.dtype  The same as complex64.
---@field cdouble torch.dtype  The same as complex128.
---@field e number  Euler's number.
---@field contiguous_format string  Memory format: dimensions in order.
---@field preserve_format string  Memory format: that of the input.
---@field channels_last string  Memory format of images: channels are neighbours in memory.
---@field channels_last_3d string  Memory format of volumes: channels are neighbours in memory.
---@field default_generator torch.Generator  The CPU's default generator of random numbers.
---@field autograd table  Automatic differentiation.
---@field backends table  Settings of backends.
---@field cuda torch.cuda  GPUs.
---@field linalg table  Linear algebra.
---@field nn torch.nn  Neural networks.
---@field optim torch.optim  Optimizers.
---@field distributions torch.distributions  Probability distributions.
---@field utils table  Data sets, plots, logs and other tools.
local torch = {}

---@alias torch.Data number|boolean|torch.Data[]
---@alias torch.Options {dtype?: torch.dtype, device?: torch.device|string|integer, requires_grad?: boolean, pin_memory?: boolean}

---A tensor from a number, or from a table of numbers, nested by dimension.
---@param data torch.Data|torch.Tensor Numbers, or a tensor to copy.
---@param options? torch.Options dtype: Dtype of the tensor; it follows from the numbers if absent.
---@return torch.Tensor
function torch.tensor(data, options) end

---A tensor that shares the memory of another (the result of x:numpy()), or a float64, int64 or bool tensor from a table.
---@param array torch.Tensor|torch.Data[]
---@return torch.Tensor
function torch.from_numpy(array) end

---Whether the value is a tensor.
---@param obj any Any value.
---@return boolean
function torch.is_tensor(obj) end

---The library's name of the value's class, or Lua's type.
---@param obj any Any value.
---@return string
function torch.type(obj) end

---A device.
---@param type string|integer Name, such as 'cpu', 'cuda' or 'cuda:1', or number of a GPU.
---@param index? integer Number of the device, from 0, if `type` has none.
---@return torch.device
function torch.device(type, index) end

---Seeds the default generators of the CPU and of all GPUs; returns that of the CPU.
---@param seed integer Seed, any integer.
---@return torch.Generator
function torch.manual_seed(seed) end

---A generator of random numbers, for the argument `generator` of operations.
---@param device? torch.device|string Device of the random numbers; the CPU if absent.
---@return torch.Generator
function torch.Generator(device) end

---Seeds the default generator of the CPU with a random number and returns it.
---@return integer
function torch.seed() end

---The seed of the CPU's default generator.
---@return integer
function torch.initial_seed() end

---The state of the CPU's default generator: a uint8 tensor.
---@return torch.Tensor
function torch.get_rng_state() end

---Restores the state of the CPU's default generator.
---@param new_state torch.Tensor State that `get_rng_state` returned.
function torch.set_rng_state(new_state) end

---The value as a tensor: itself if it is one of this dtype and device, otherwise a copy.
---@param data torch.Data|torch.Tensor Numbers, or a tensor.
---@param options? torch.Options dtype: Dtype of the tensor; it follows from the numbers if absent.
---@return torch.Tensor
function torch.as_tensor(data, options) end

---A list of sizes that is printed as such and cannot be changed.
---@param sizes integer[] Sizes of the dimensions.
---@return torch.Size
function torch.Size(sizes) end

---The number of elements.
---@param input torch.Tensor Tensor.
---@return integer
function torch.numel(input) end

---Whether the dtype of the tensor is a float.
---@param input torch.Tensor Tensor.
---@return boolean
function torch.is_floating_point(input) end

---Whether the dtype of the tensor is complex.
---@param input torch.Tensor Tensor.
---@return boolean
function torch.is_complex(input) end

---Whether the tensor was made in inference mode.
---@param input torch.Tensor Tensor.
---@return boolean
function torch.is_inference(input) end

---Whether autograd records operations now.
---@return boolean
function torch.is_grad_enabled() end

---Whether inference mode is on.
---@return boolean
function torch.is_inference_mode_enabled() end

---The dtype of floating-point tensors that are made without one.
---@return torch.dtype
function torch.get_default_dtype() end

---Sets the dtype of floating-point tensors that are made without one.
---@param d torch.dtype Floating-point dtype; float32 at the beginning.
function torch.set_default_dtype(d) end

---The number of threads of operations on the CPU.
---@return integer
function torch.get_num_threads() end

---Sets the number of threads of operations on the CPU.
---@param num integer Number of threads, at least 1.
function torch.set_num_threads(num) end

---Sets how tensors are printed; options that are absent stay as they are, except sci_mode.
---@param precision? integer Digits after the point, 4.
---@param threshold? number Number of elements above which a summary is printed, 1000.
---@param edgeitems? integer Elements at each end of a summary, 3.
---@param linewidth? integer Characters of a line, 80.
---@param profile? string `'default'`, `'short'` or `'full'`.
---@param sci_mode? boolean Whether numbers have exponents; chosen by the values if absent.
function torch.set_printoptions(precision, threshold, edgeitems, linewidth, profile, sci_mode) end

---The options of set_printoptions, as a table.
---@return table
function torch.get_printoptions() end

---Sets whether operations must give the same bits in each run; an operation that cannot is an error.
---@param mode boolean Whether only deterministic algorithms are used.
---@param warn_only? boolean Whether such an operation is a warning instead of an error.
function torch.use_deterministic_algorithms(mode, warn_only) end

---Whether only deterministic algorithms are used.
---@return boolean
function torch.are_deterministic_algorithms_enabled() end

---Whether an operation without a deterministic algorithm is a warning instead of an error.
---@return boolean
function torch.is_deterministic_algorithms_warn_only_enabled() end

---Whether autocast is on.
---@param device_type? string Type of the device: 'cuda', the default, or 'cpu'.
---@return boolean
function torch.is_autocast_enabled(device_type) end

---The dtype to which autocast converts.
---@param device_type string Type of the device: 'cuda' or 'cpu'.
---@return torch.dtype
function torch.get_autocast_dtype(device_type) end

---Whether autocast keeps converted weights until the end of its scope.
---@return boolean
function torch.is_autocast_cache_enabled() end

---Drops the converted weights that autocast keeps.
function torch.clear_autocast_cache() end

---Seconds of a clock that never goes back, for measurements.
---@return number
function torch.time() end

---Writes tensors, and tables of them, to a file: safetensors, or by suffix NumPy's (.npy, .npz) or PyTorch's (.pt, .pth).
---@param object any
---@param path string
---@param options? {compressed?: boolean, max_shard_size?: integer|string}  of a .npz; of safetensors
function torch.save(object, path, options) end

---Reads files of torch.save, NumPy and PyTorch. Never runs code from the file.
---@param path string
---@param options? {map_location?: torch.device|string, mmap?: boolean}
---@return any
function torch.load(path, options) end

---A 1-dimensional tensor with a copy of the elements in a string.
---@param buffer string
---@param options {dtype: torch.dtype|string, count?: integer, offset?: integer, requires_grad?: boolean}  offset in bytes
---@return torch.Tensor
function torch.frombuffer(buffer, options) end

---A 1-dimensional tensor over the first elements of a mapped file. shared: writes to the tensor change the file.
---@param path string
---@param options? {size?: integer, shared?: boolean, dtype?: torch.dtype|string, requires_grad?: boolean}
---@return torch.Tensor
function torch.from_file(path, options) end

---A DLPack capsule over the tensor's memory, for other libraries in the same process.
---@param tensor torch.Tensor
---@return userdata
function torch.to_dlpack(tensor) end

---A tensor over the memory of a DLPack capsule, of an object with a method __dlpack__ that returns one, or of a tensor.
---@param object userdata|table
---@param options? {device?: torch.device|string, copy?: boolean}
---@return torch.Tensor
function torch.from_dlpack(object, options) end

---An Arrow capsule: the 1-dimensional tensor as a column for other libraries in the same process.
---@param tensor torch.Tensor
---@return userdata
function torch.to_arrow(tensor) end

---A tensor of an Arrow column: of a capsule, or of an object with a method __arrow_c_array__ that returns one. Read-only if it shares the column's memory.
---@param object userdata|table
---@return torch.Tensor
function torch.from_arrow(object) end

---A sparse COO tensor: value k has its position, from 1, in column k of indices; values at one position add up.
---@param indices torch.Tensor|table
---@param values? torch.Tensor|table
---@param size? integer[]|torch.Size
---@param options? {dtype?: torch.dtype, device?: torch.device|string, requires_grad?: boolean, is_coalesced?: boolean}
---@return torch.Tensor
function torch.sparse_coo_tensor(indices, values, size, options) end

---A sparse CSR matrix: the start of each row in the values, the columns of the values, the values.
---@param crow_indices torch.Tensor|table
---@param col_indices torch.Tensor|table
---@param values torch.Tensor|table
---@param size? integer[]|torch.Size
---@param options? {dtype?: torch.dtype, device?: torch.device|string, requires_grad?: boolean}
---@return torch.Tensor
function torch.sparse_csr_tensor(crow_indices, col_indices, values, size, options) end

---Records no gradients until the guard is closed, or while body runs; then returns the result of body.
---@generic T
---@param body fun(...): T
---@param ... any
---@return T
---@overload fun(): torch.Guard
function torch.no_grad(body, ...) end

---Records gradients in the scope, also inside of no_grad.
---@generic T
---@param body fun(...): T
---@param ... any
---@return T
---@overload fun(): torch.Guard
function torch.enable_grad(body, ...) end

---The limits of a floating dtype: bits, min, max, eps, tiny, smallest_normal, resolution.
---@param dtype? torch.dtype  the default dtype
function torch.finfo(dtype) end

---The limits of an integer dtype: bits, min, max.
---@param dtype torch.dtype
function torch.iinfo(dtype) end

---The i-th GPU (from 0), else the CPU.
---@param i? integer
---@return torch.device
function torch.try_gpu(i) end

---@return torch.device[]
function torch.try_all_gpus() end

---@class torch.Generator
---@field device torch.device  Device of the random numbers.
local Generator = {}

---Seeds the generator and returns it.
---@param seed integer Seed, any integer.
---@return torch.Generator
function Generator:manual_seed(seed) end

---Seeds the generator with a random number and returns it.
---@return integer
function Generator:seed() end

---The seed of the generator.
---@return integer
function Generator:initial_seed() end

---The state of the generator: a uint8 tensor.
---@return torch.Tensor
function Generator:get_state() end

---Restores the state of a generator.
---@param new_state torch.Tensor State that `get_state` returned.
---@return torch.Generator
function Generator:set_state(new_state) end

---@class torch.Tensor
local Tensor = {}

---The only element as a number.
---@return number|boolean
function Tensor:item() end

---The elements as a number or a nested table.
---@return torch.Data
function Tensor:tolist() end

---The sizes of all dimensions, or the size of one.
---@overload fun(self: torch.Tensor): torch.Size
---@param dim integer Dimension from 1; negative from the end.
---@return integer
function Tensor:size(dim) end

---The strides of all dimensions in elements, or the stride of one.
---@param dim? integer Dimension from 1; negative from the end.
---@return integer|integer[]
function Tensor:stride(dim) end

---The number of dimensions.
---@return integer
function Tensor:dim() end

---The number of dimensions.
---@return integer
function Tensor:ndimension() end

---The number of elements.
---@return integer
function Tensor:numel() end

---The number of elements.
---@return integer
function Tensor:nelement() end

---The bytes of an element.
---@return integer
function Tensor:element_size() end

---The number of elements of the storage before the first one.
---@return integer
function Tensor:storage_offset() end

---The address of the first element.
---@return integer
function Tensor:data_ptr() end

---Whether the elements are stored one after the other in the order of the dimensions, or in another memory format.
---@param memory_format? string Memory format, such as 'channels_last'.
---@return boolean
function Tensor:is_contiguous(memory_format) end

---Whether the memory is page-locked.
---@return boolean
function Tensor:is_pinned() end

---A copy in page-locked memory, from which copies to a GPU are faster.
---@return torch.Tensor
function Tensor:pin_memory() end

---Whether the dtype is a float.
---@return boolean
function Tensor:is_floating_point() end

---Whether the dtype is complex.
---@return boolean
function Tensor:is_complex() end

---Whether the tensor was made in inference mode.
---@return boolean
function Tensor:is_inference() end

---The number of the GPU, -1 for the CPU.
---@return integer
function Tensor:get_device() end

---The name of the tensor's type, such as 'torch.FloatTensor', or the tensor converted to another one.
---@param dtype? torch.dtype|string Dtype, or name of a type.
---@param non_blocking? boolean Whether a copy between pinned host memory and a GPU may return before it is complete.
---@return string|torch.Tensor
function Tensor:type(dtype, non_blocking) end

---A tensor from a number, or from a table of numbers, of this tensor's dtype and device.
---@param data torch.Data|torch.Tensor Numbers, or a tensor to copy.
---@param options? torch.Options dtype: Dtype of the tensor; that of this one if absent. device: Device of the tensor; that of this one if absent.
---@return torch.Tensor
function Tensor:new_tensor(data, options) end

---Keeps the memory of the tensor until the work that the stream has now is done.
---@param s userdata Stream, `torch.cuda.Stream`.
function Tensor:record_stream(s) end

---Makes backward store the gradient of this tensor in grad, although it is no leaf.
function Tensor:retain_grad() end

---Sets whether autograd records operations on this tensor; returns the tensor.
---@param on? boolean Whether it does; true if absent.
---@return torch.Tensor
function Tensor:requires_grad_(on) end

---Adds the gradients of this tensor to the leaves' grad.
---@param gradient? torch.Tensor
---@param options? {retain_graph?: boolean, create_graph?: boolean, inputs?: torch.Tensor[]}
function Tensor:backward(gradient, options) end

---The tensor's rows with their positions.
---@return fun(): integer, torch.Tensor
function Tensor:iter() end

---Stops the program here for the debugger: of an editor, of Jupyter, or of the terminal, where
---`debug>` reads commands (help lists them).
function breakpoint() end

return torch
