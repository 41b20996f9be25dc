-- values.lua - writes conversions between dtypes, norms, distinct elements and parts of tensors.

local torch = require 'torch'

local M = {}

local casts = { bfloat16 = 'bfloat16', bool = 'bool', byte = 'uint8', cdouble = 'complex128', cfloat = 'complex64', char = 'int8', double = 'float64', float = 'float32',
  half = 'float16', int = 'int32', long = 'int64', short = 'int16' }
for name, dtype in pairs(casts) do
  M[name] = function(g, a, call) g:call_operator('to.dtype', { self = a.self, dtype = torch[dtype] }, { call.results[1] }) end
end

-- A program runs on the device of its inputs: only the dtype is converted.
function M.to(g, a, call)
  g:call_operator('to.dtype', { self = a.self, dtype = call.results[1].dtype, copy = a.copy or nil }, { call.results[1] })
end
function M.type(g, a, call) M.to(g, a, call) end
function M.type_as(g, a, call) M.to(g, a, call) end

-- One number is the end.
function M.arange(g, a, call)
  local start, last = a.start, a['end']
  if last == nil then start, last = 0, start end
  g:call_operator('arange.start_step', { start = start, ['end'] = last, step = a.step, dtype = call.results[1].dtype }, { call.results[1] })
end

-- ---- norms, distinct elements, parts ------------------------------------------------------------

function M.norm(g, a, call)
  if a.p ~= 'fro' then return false end
  local dims
  for i, dim in ipairs(a.dim or {}) do
    dims = dims or {}
    dims[i] = dim > 0 and dim - 1 or dim
  end
  g:call_operator('linalg_vector_norm.default', { self = a.self, ord = 2, dim = dims, keepdim = a.keepdim, dtype = a.dtype }, { call.results[1] })
end

function M.unique(g, a, call)
  local y = call.results[1]
  local inverse = a.return_inverse and call.results[2] or nil
  local counts = a.return_counts and call.results[inverse and 3 or 2] or nil
  local positions = g:made(y, torch.int64)
  local arguments = { self = a.self, sorted = a.sorted, return_inverse = inverse ~= nil, return_counts = counts ~= nil }
  if a.dim then arguments.dim = a.dim > 0 and a.dim - 1 or a.dim end
  g:call_operator(a.dim and 'unique_dim.default' or '_unique2.default', arguments, { y, positions, counts or g:made(positions) })
  if inverse then inverse.zero_name = positions.name_in_graph end
end

-- A number of dimensions: the last ones of one operand and the first ones of the other.
function M.tensordot(g, a, call)
  if not a.dims then return false end
  local last, first, n = {}, {}, #a.self.shape
  for i = 1, a.dims do last[i], first[i] = n - a.dims + i - 1, i - 1 end
  g:call_operator('tensordot.default', { self = a.self, other = a.other, dims_self = last, dims_other = first }, { call.results[1] })
end

-- The reader of `stft`, an operator with two forms, needs the padding.
function M.stft(g, a, call)
  local result = call.results[1]
  local arguments = {}
  for _, name in ipairs { 'self', 'n_fft', 'hop_length', 'win_length', 'window', 'center', 'pad_mode', 'normalized', 'onesided', 'return_complex' } do arguments[name] = a[name] end
  arguments.self = a.self or a.input
  if a.align_to_window then return false end
  g:call_operator('stft.center', arguments, { result })
end

-- Parts end before positions, which count from 1.
function M.tensor_split(g, a, call)
  local at, dim = a.indices_or_sections, a.dim > 0 and a.dim - 1 or a.dim
  if type(at) == 'number' then return g:call_operator('tensor_split.sections', { self = a.self, sections = at, dim = dim }, call.results) end
  local indices = {}
  for i, position in ipairs(at) do indices[i] = position > 0 and position - 1 or position end
  g:call_operator('tensor_split.indices', { self = a.self, indices = indices, dim = dim }, call.results)
end

return M
