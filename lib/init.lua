-- init.lua - finishes the module torch when it is opened: the parts written in Lua, found when they are first
-- named, and the two functions of the book that make code run with any number of GPUs.

local torch = require 'torch'
local kinds = require 'torch.support.kinds'
local checked = require 'torch.support.checked'

-- Parts that are loaded at once, since they add methods or functions to torch itself.
torch.autograd = require 'torch.autograd'
require 'torch.cuda'
torch.backends = require 'torch.backends'
require 'torch.support.rows'
require 'torch.support.arrays'
require 'torch.support.argument_forms'
require('torch.support.scripted').install()
require 'torch.support.functions'
require 'torch.support.default_device'

local parts = { amp = true, audio = true, distributed = true, distributions = true, export = true, fft = true, func = true, hub = true, linalg = true,
  masked = true, nn = true, onnx = true, optim = true, profiler = true, random = true, serialization = 'files.safe_globals', signal = true, sparse = true, special = true, testing = true,
  utils = true, vision = true }

torch.preserve_format, torch.contiguous_format = 'preserve_format', 'contiguous_format'
torch.channels_last, torch.channels_last_3d = 'channels_last', 'channels_last_3d'
torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc = 'torch.strided', 'torch.sparse_coo', 'torch.sparse_csr', 'torch.sparse_csc'
torch.pi, torch.e, torch.inf, torch.nan = math.pi, math.exp(1), math.huge, 0 / 0

--- The i-th GPU (from 0), else the CPU.
function torch.try_gpu(i)
  i = i or 0
  if math.type(i) ~= 'integer' then kinds.check('try_gpu', 'i', i, 'integer') end
  if torch.cuda.device_count() >= i + 1 then return torch.device('cuda:' .. i) end
  return torch.device 'cpu'
end

--- All GPUs, or the CPU alone when there is none.
function torch.try_all_gpus()
  local devices = {}
  for i = 0, torch.cuda.device_count() - 1 do devices[#devices + 1] = torch.device('cuda:' .. i) end
  return #devices > 0 and devices or { torch.device 'cpu' }
end

-- Memory that is shared with other libraries.
function torch._C.methods.__dlpack__(self, options) return require('torch.utils.dlpack').export(self, options) end
function torch._C.methods.__dlpack_device__(self) return require('torch.utils.dlpack').device_of(self) end
function torch._C.methods.__arrow_c_array__(self) return require('torch.utils.arrow').to_arrow(self) end

-- Sparse tensors of other tensors; what makes them of tables and components.
torch._C.methods._nnz, torch._C.methods._indices, torch._C.methods._values = torch._C.nnz, torch._C.stored_indices, torch._C.stored_values
function torch._C.methods.to_sparse(self, ...) return require('torch.sparse.construct').to_sparse(self, ...) end
function torch._C.methods.to_sparse_coo(self) return require('torch.sparse.construct').to_sparse_coo(self) end
function torch._C.methods.to_sparse_csr(self, ...) return require('torch.sparse.construct').to_sparse_csr(self, ...) end
function torch._C.methods.to_sparse_csc(self, ...) return require('torch.sparse.construct').to_sparse_csc(self, ...) end
function torch.sparse_coo_tensor(...) return require('torch.sparse.construct').sparse_coo_tensor(...) end
function torch.sparse_csr_tensor(...) return require('torch.sparse.construct').sparse_csr_tensor(...) end
function torch.sparse_csc_tensor(...) return require('torch.sparse.construct').sparse_csc_tensor(...) end
function torch.sparse_compressed_tensor(...) return require('torch.sparse.construct').sparse_compressed_tensor(...) end

-- Methods that are written in Lua refuse what is no tensor, as those in C do.
for name, method in pairs(torch._C.methods) do
  if debug.getlocal(method, 1) then -- those in C have none
    torch._C.methods[name] = checked.method({ __classname = 'Tensor' }, name, method, torch.is_tensor, { ['numpy.options'] = 'named|boolean?', options = 'any?' })
  end
end

-- Objects in files; what does it is loaded when it is first needed.
function torch.save(...) return require('torch.files.serialization').save(...) end
function torch.load(...) return require('torch.files.serialization').load(...) end

--- Collects garbage and returns the memory of released tensors that the library keeps for later results to the system: the bytes of it.
-- On GPUs it is torch.cuda.empty_cache().
function torch.memory_trim()
  collectgarbage()
  return torch._C.memory_trim()
end

-- Memory that is shared with files and other libraries.
function torch.frombuffer(...) return require('torch.files.memory').frombuffer(...) end
function torch.from_file(...) return require('torch.files.memory').from_file(...) end
function torch.to_dlpack(...) return require('torch.utils.dlpack').to_dlpack(...) end
function torch.from_dlpack(...) return require('torch.utils.dlpack').from_dlpack(...) end
function torch.to_arrow(...) return require('torch.utils.arrow').to_arrow(...) end
function torch.from_arrow(...) return require('torch.utils.arrow').from_arrow(...) end

--- The limits of a floating dtype (by default the default dtype): bits, min, max, eps, tiny, smallest_normal, resolution.
function torch.finfo(...) return require('torch.support.type_info').finfo(...) end

--- The limits of an integer dtype: bits, min, max.
function torch.iinfo(...) return require('torch.support.type_info').iinfo(...) end

-- A function of samples as one of batches: torch.func has the rest.
function torch.vmap(...) return require('torch.func.vmap').vmap(...) end

-- Functions whose elementwise ops run together.
function torch.compile(...) return require 'torch.compile' (...) end

-- Eigenvalues of large matrices.
function torch.lobpcg(...) return require 'torch.linalg.lobpcg' (...) end

-- Mixed precision: torch.amp has the rest.
function torch.autocast(...) return require('torch.amp').autocast(...) end

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
