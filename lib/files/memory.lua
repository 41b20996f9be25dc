-- memory.lua - torch.frombuffer and torch.from_file: tensors of the bytes of a string or of a file.

--[=[ arguments
shared: Whether writes to the tensor change the file.
size: Number of elements.
count: Number of elements; -1 for all.
offset: Number of bytes to skip at the beginning.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local C = torch._C

local M = {}

local function with_grad(tensor, requires_grad)
  return requires_grad and tensor:requires_grad_() or tensor
end

--- A tensor of one dimension from the bytes of a string. Strings are immutable, so the tensor has a
-- copy of the bytes, unlike PyTorch's.
-- @param buffer   the string
-- @param options  dtype (required), count (number of elements; -1: all), offset (bytes to skip, 0),
--   requires_grad
function M.frombuffer(buffer, dtype, count, offset, requires_grad)
  local size, length = torch.empty(0, { dtype = dtype }).itemsize, #buffer
  if length == 0 or count == 0 then fail('both buffer length (%d) and count (%d) must not be 0', length, count) end
  if offset < 0 or offset >= length then
    fail('offset (%d bytes) must be non-negative and no greater than buffer length (%d bytes) minus 1', offset, length)
  end
  if count < 0 then
    if (length - offset) % size ~= 0 then
      fail('buffer length (%d bytes) after offset (%d bytes) must be a multiple of element size (%d)', length - offset, offset, size)
    end
    count = (length - offset) // size
  elseif count > (length - offset) // size then
    fail('requested buffer length (%d * %d bytes) after offset (%d bytes) must not be greater than actual buffer length (%d bytes)',
      count, size, offset, length)
  end
  return with_grad(C.tensor_of_bytes(buffer, dtype, { count }, offset + 1), requires_grad)
end

--- A tensor of one dimension over the first elements of a mapped file: the system reads its pages
-- on access. Do not truncate the file while such a tensor exists: if a process reads a page beyond
-- the end of a mapped file, the system ends it (SIGBUS), and no error can be raised. A file that is
-- too short from the start is an error.
-- @param filename  the file
-- @param options  size (number of elements, 0), dtype, requires_grad, shared (false): with shared =
--   true, writes go to the file, which is created or extended if needed; otherwise the file does
--   not change
function M.from_file(path, shared, size, dtype, device, requires_grad)
  if device ~= nil and torch.device(device).type ~= 'cpu' then fail('from_file(): a file is mapped into memory of the CPU, not of %s', tostring(device)) end
  return with_grad(C.map_file(path, shared, size, dtype or torch.get_default_dtype()), requires_grad)
end

declare.functions(M, [[
  frombuffer(string buffer, *, dtype dtype, integer count=-1, integer offset=0, boolean requires_grad=false)
  from_file(string filename, boolean? shared, integer size=0, *, dtype? dtype, device? device, boolean requires_grad=false)
]])

return M
