-- image.lua - utils.data.read_image(path, mode) and decode_image(bytes, mode): PNG and JPEG files
-- as uint8 tensors (channels, height, width), values 0 to 255, as torchvision.io names them.
--
-- Modes: 'unchanged' (the file's own channels; palettes become colours, inks too), 'gray',
-- 'gray_alpha', 'rgb', 'rgba'; or a table { mode = ... }. PNG values of 16 bits are scaled to 8. A
-- truncated or damaged file is an error. Uses torch._C.decode_image, which opens libpng and
-- TurboJPEG when the first image is read.

--[=[ arguments
input: Bytes of a PNG or JPEG file.
path: File.
mode: Channels of the result: `'unchanged'`, `'gray'`, `'gray_alpha'`, `'rgb'` or `'rgba'`.
max_bytes: Number of bytes above which a file is an error.
max_memory: Maximum memory in bytes.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local whole_file = require 'torch.files.whole_file'

local M = {}

local CHANNELS = { unchanged = 0, gray = 1, gray_alpha = 2, rgb = 3, rgba = 4 }

local function channels_of(what, mode)
  local channels = CHANNELS[mode or 'unchanged']
  if not channels then
    fail("%s(): mode must be 'unchanged', 'gray', 'gray_alpha', 'rgb' or 'rgba', got %s", what, tostring(mode))
  end
  return channels
end

-- The image, or nil and a message; max_memory (nil: 64 times the bytes, and at least 256 MB) bounds
-- its unpacked size.
local function decode(bytes, channels, max_memory)
  return torch._C.within_budget(#bytes, max_memory or nil, torch._C.decode_image, bytes, channels)
end

--- Decodes the content of a file. options: max_memory, the maximum memory of decoding in bytes; the
-- default is 64 times the size of the content, and at least 256 MB.
function M.decode_image(bytes, mode, options)
  local image, message = decode(bytes, channels_of('decode_image', mode), options.max_memory)
  if not image then fail('decode_image(): %s', message) end
  return image
end

--- Reads a file of at most 2^30 bytes, or options.max_bytes; max_memory as for decode_image.
function M.read_image(path, mode, options)
  local channels = channels_of('read_image', mode)
  local bytes = whole_file.read(path, options.max_bytes)
  local image, message = decode(bytes, channels, options.max_memory)
  if not image then fail('%s: %s', path, message) end
  return image
end

declare.functions(M, ([[
  decode_image(string input, string mode='unchanged', *, integer? max_memory)
  read_image(string path, string mode='unchanged', *, number max_bytes=%d, integer? max_memory)
]]):format(whole_file.MAX_BYTES), 'options')

return M
