-- memory.lua - torch.frombuffer and torch.from_file: tensors of the bytes of a string or of a file.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local C = torch._C

local M = {}

local function with_grad(tensor, requires_grad)
  return requires_grad and tensor:requires_grad_() or tensor
end

--- A tensor of one dimension of the elements that a string holds, as they lie in memory. Strings do not change, so that,
-- unlike PyTorch's, the tensor has a copy of the bytes.
-- @param buffer   the string
-- @param options  dtype (required), count (of elements; -1: all that follow), offset (bytes to leave out, 0), requires_grad
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

--- A tensor of one dimension over the first elements of a file, which is mapped, not read: its pages come when they are
-- looked at. It must not become shorter while there is such a tensor: the system ends a process that reads a page behind the
-- end of a mapped file (SIGBUS), and no error can be raised in its place. A file that is shorter from the start is an error.
-- @param filename  the file
-- @param options  size (how many elements, 0), dtype, requires_grad, shared (false): with shared = true what is written
--   goes into the file, which is made or grows when it must; else the file is never changed
function M.from_file(path, shared, size, dtype, device, requires_grad)
  if device ~= nil and torch.device(device).type ~= 'cpu' then fail('from_file(): a file is mapped into memory of the CPU, not of %s', tostring(device)) end
  return with_grad(C.map_file(path, shared, size, dtype or torch.get_default_dtype()), requires_grad)
end

declare.functions(M, [[
  frombuffer(string buffer, *, dtype dtype, integer count=-1, integer offset=0, boolean requires_grad=false)
  from_file(string filename, boolean? shared, integer size=0, *, dtype? dtype, device? device, boolean requires_grad=false)
]])

return M
