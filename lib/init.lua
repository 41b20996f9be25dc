-- init.lua - completes the module torch when it is opened: loads the parts written in Lua on first
-- use, and adds the book's two functions for code that runs with any number of GPUs.

--[=[ arguments
i: Number of the GPU, from 0.
]=]

local torch = require 'torch'
local arguments = require 'torch.support.arguments'

require 'torch.support.native'

-- Modules that are loaded at once, since they add methods or functions to torch itself.
torch.autograd = require 'torch.autograd'
require 'torch.cuda'
torch.backends = require 'torch.backends'
require 'torch.support.rows'
require 'torch.support.arrays'
require 'torch.support.argument_forms'
require('torch.support.scripted').install()
require 'torch.support.functions'
require 'torch.support.default_device'

local parts = { amp = true, audio = true, distributed = true, distributions = true, export = true, fft = true, func = true, hub = true, kernel = 'compile.kernel', library = 'library.library', linalg = true, lm = 'lm.lm',
  ao = 'quantized.ao', quantized = 'quantized.quantized',
  masked = true, nn = true, onnx = true, ops = 'library.ops', optim = true, profiler = true, random = true, serialization = 'files.safe_globals', signal = true, sparse = true, special = true, testing = true,
  threads = 'utils.threads', utils = true, vision = true }

torch.preserve_format, torch.contiguous_format = 'preserve_format', 'contiguous_format'
torch.channels_last, torch.channels_last_3d = 'channels_last', 'channels_last_3d'
torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc = 'torch.strided', 'torch.sparse_coo', 'torch.sparse_csr', 'torch.sparse_csc'
torch.pi, torch.e, torch.inf, torch.nan = math.pi, math.exp(1), math.huge, 0 / 0

--- The i-th GPU (from 0), otherwise the CPU.
function torch.try_gpu(i)
  if torch.cuda.device_count() >= i + 1 then return torch.device('cuda:' .. i) end
  return torch.device 'cpu'
end

--- All GPUs, or the CPU if there is none.
function torch.try_all_gpus()
  local devices = {}
  for i = 0, torch.cuda.device_count() - 1 do devices[#devices + 1] = torch.device('cuda:' .. i) end
  return #devices > 0 and devices or { torch.device 'cpu' }
end

-- Exchange of memory with other libraries.
torch._C.methods.__dlpack__ = arguments.from_file('torch.utils.dlpack', 'export')
torch._C.methods.__dlpack_device__ = arguments.from_file('torch.utils.dlpack', 'device_of')
torch._C.methods.__arrow_c_array__ = arguments.from_file('torch.utils.arrow', 'to_arrow')

-- Sparse tensors of other tensors; constructors from tables and components.
torch._C.methods._nnz, torch._C.methods._indices, torch._C.methods._values = torch._C.nnz, torch._C.stored_indices, torch._C.stored_values
for _, name in ipairs { 'to_sparse', 'to_sparse_coo', 'to_sparse_csr', 'to_sparse_csc' } do
  torch._C.methods[name] = arguments.from_file('torch.sparse.construct', name)
end

--- Collects garbage and returns the memory that the library keeps for later results to the system;
-- returns the number of bytes. For GPUs, use torch.cuda.empty_cache().
function torch.memory_trim()
  collectgarbage()
  return torch._C.memory_trim()
end

-- Functions in files of their own, which are loaded when they are first called.
for file, names in pairs {
  ['torch.sparse.construct'] = { 'sparse_coo_tensor', 'sparse_csr_tensor', 'sparse_csc_tensor', 'sparse_compressed_tensor' },
  ['torch.files.serialization'] = { 'save', 'load' }, ['torch.files.memory'] = { 'frombuffer', 'from_file' },
  ['torch.utils.dlpack'] = { 'to_dlpack', 'from_dlpack' }, ['torch.utils.arrow'] = { 'to_arrow', 'from_arrow' },
  ['torch.support.type_info'] = { 'finfo', 'iinfo' }, ['torch.func.vmap'] = { 'vmap' }, ['torch.amp'] = { 'autocast' },
} do
  for _, name in ipairs(names) do torch[name] = arguments.from_file(file, name) end
end
torch.compile, torch.lobpcg = arguments.from_file 'torch.compile', arguments.from_file 'torch.linalg.lobpcg'

arguments.functions(torch, 'try_gpu(integer i=0) try_all_gpus() memory_trim()')

-- The documentation of the ops, by name: for the program's help and completion.
function torch._docs() return require 'torch.ops_docs' end

setmetatable(torch, {
  __name = 'torch',
  __parts = parts,
  __index = function(_, name)
    local file = parts[name]
    if not file then return nil end
    local part = require('torch.' .. (file == true and name or file))
    rawset(torch, name, part)
    return part
  end,
})
