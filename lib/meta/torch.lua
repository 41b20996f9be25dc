---@meta
-- torch.lua - annotations for editors of the module except classes (modules.lua) and ops, which are generated
-- (ops.lua beside this file in an installation, build/meta/ops.lua after make). No program loads it.

---@class torch.Size: integer[]
---@class torch.dtype
---@class torch.Generator
---@class torch.device
---@field type string
---@field index integer?

---Ends a scope when it is closed: local _ <close> = torch.no_grad().
---@class torch.Guard

---@class torch
---@field float16 torch.dtype
---@field bfloat16 torch.dtype
---@field float32 torch.dtype
---@field float64 torch.dtype
---@field uint8 torch.dtype
---@field int8 torch.dtype
---@field int16 torch.dtype
---@field int32 torch.dtype
---@field int64 torch.dtype
---@field uint16 torch.dtype
---@field uint32 torch.dtype
---@field uint64 torch.dtype
---@field float8_e5m2 torch.dtype
---@field float8_e4m3fn torch.dtype
---@field float8_e5m2fnuz torch.dtype
---@field float8_e4m3fnuz torch.dtype
---@field float8_e8m0fnu torch.dtype
---@field bool torch.dtype
---@field half torch.dtype
---@field float torch.dtype
---@field double torch.dtype
---@field int torch.dtype
---@field long torch.dtype
---@field strided string
---@field sparse_coo string
---@field sparse_csr string
---@field sparse_csc string
---@field pi number
---@field inf number
---@field nan number
---@field newaxis any
---@field __version__ string
---@field autograd table
---@field backends table
---@field cuda table
---@field linalg table
---@field nn torch.nn
---@field optim torch.optim
---@field distributions torch.distributions
---@field utils table
local torch = {}

---@alias torch.Data number|boolean|torch.Data[]
---@alias torch.Options {dtype?: torch.dtype, device?: torch.device|string|integer, requires_grad?: boolean, pin_memory?: boolean}

---A tensor from a number, or from a table of numbers, nested by dimension.
---@param data torch.Data|torch.Tensor
---@param options? torch.Options
---@return torch.Tensor
function torch.tensor(data, options) end

---A tensor that shares the memory of another (the result of x:numpy()), or a float64, int64 or bool tensor from a table.
---@param array torch.Tensor|torch.Data[]
---@return torch.Tensor
function torch.from_numpy(array) end

---@param value any
---@return boolean
function torch.is_tensor(value) end

---The library's name of the value's class, or Lua's type.
---@param value any
---@return string
function torch.type(value) end

---@param name string
---@return torch.device
function torch.device(name) end

---@param seed integer
---@return torch.Generator
function torch.manual_seed(seed) end

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

---@class torch.Tensor
local Tensor = {}

---The only element as a number.
---@return number|boolean
function Tensor:item() end

---The elements as a number or a nested table.
---@return torch.Data
function Tensor:tolist() end

---@overload fun(self: torch.Tensor): torch.Size
---@param dim integer
---@return integer
function Tensor:size(dim) end

---@return integer
function Tensor:dim() end

---@return integer
function Tensor:numel() end

---@return boolean
function Tensor:is_contiguous() end

---@return boolean
function Tensor:is_floating_point() end

---@param on? boolean
---@return torch.Tensor
function Tensor:requires_grad_(on) end

---Adds the gradients of this tensor to the leaves' grad.
---@param gradient? torch.Tensor
---@param options? {retain_graph?: boolean, create_graph?: boolean, inputs?: torch.Tensor[]}
function Tensor:backward(gradient, options) end

---The tensor's rows with their positions.
---@return fun(): integer, torch.Tensor
function Tensor:iter() end

return torch
