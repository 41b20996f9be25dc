-- idx.lua - reads idx files (the format of MNIST and Fashion-MNIST), plain or gzipped, into uint8
-- tensors.
--
-- The format, big-endian: two zero bytes, the element type (8: unsigned byte), the number of
-- dimensions, the sizes as 32-bit integers, the elements. For a missing, damaged or other file,
-- functions return nil and a message that names it; they raise no error.

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'

local M = {}

local UNSIGNED_BYTE = 8
local MAX_DIMS = 8

local function big_endian(bytes, first)
  return bytes[first] << 24 | bytes[first + 1] << 16 | bytes[first + 2] << 8 | bytes[first + 3]
end

--- Reads one file.
-- @param path   the file
-- @param shape  optional: the sizes it must have, false for any ({false, 28, 28})
-- @param max_memory  optional: how many bytes it may unpack to; else 64 times its own, and at least
--   256 MB
-- @return a uint8 tensor, or nil and a message
function M.read(path, shape, max_memory)
  local bytes, message = torch._C.gunzip(path, max_memory)
  if not bytes then return nil, message end

  local function damaged(why, ...)
    return nil, path .. ': ' .. why:format(...)
  end

  local length = bytes:numel()
  if length < 4 then return damaged('%d bytes, too short for an idx file', length) end
  local magic = bytes:narrow(1, 1, 4):tolist()
  if magic[1] ~= 0 or magic[2] ~= 0 then return damaged 'not an idx file' end
  if magic[3] ~= UNSIGNED_BYTE then
    return damaged('elements of type 0x%02x, only unsigned bytes are read', magic[3])
  end
  local ndim = magic[4]
  if ndim < 1 or ndim > MAX_DIMS then return damaged('an idx file of %d dimensions', ndim) end
  local header = 4 + 4 * ndim
  if length < header then return damaged 'the header is cut short' end

  local sizes_bytes = bytes:narrow(1, 5, 4 * ndim):tolist()
  local sizes, elements = {}, 1
  for i = 1, ndim do
    sizes[i] = big_endian(sizes_bytes, 4 * i - 3)
    elements = elements * sizes[i]
    if elements > length then break end -- before the product can overflow
  end
  if elements ~= length - header then
    return damaged('got %d bytes of elements, expected %s', length - header, table.concat(sizes, ' x '))
  end
  for i, wanted in ipairs(shape or {}) do
    if #shape ~= ndim or (wanted and wanted ~= sizes[i]) then
      return damaged('sizes %s do not fit', table.concat(sizes, ' x '))
    end
  end
  return bytes:narrow(1, header + 1, elements):view(sizes)
end

return checked.functions(M)
