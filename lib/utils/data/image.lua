-- image.lua - utils.data.read_image(path, mode) and decode_image(bytes, mode): PNG and JPEG files
-- as uint8 tensors (channels, height, width), values 0 to 255, as torchvision.io names them;
-- write_image(image, path) and encode_image(image, format): the reverse.
--
-- Modes: 'unchanged' (the file's own channels; palettes become colours, inks too), 'gray',
-- 'gray_alpha', 'rgb', 'rgba'; or a table { mode = ... }. PNG values of 16 bits are scaled to 8. A
-- truncated or damaged file is an error. torch._C.decode_image and encode_image open
-- libpng and TurboJPEG when they are first called.

--[=[ arguments
decode_image.input: Bytes of a PNG or JPEG file.
encode_image.input: Image, of shape (C, H, W) or (H, W): uint8, or floats from 0 to 1.
write_image.input: Image, of shape (C, H, W) or (H, W): uint8, or floats from 0 to 1.
path: File.
filename: File to write; its suffix .png, .jpg or .jpeg selects the format.
format: Format of the file, `'png'` or `'jpeg'`.
quality: Quality of a JPEG file, from 1 to 100.
mode: Channels of the result: `'unchanged'`, `'gray'`, `'gray_alpha'`, `'rgb'` or `'rgba'`.
max_bytes: Number of bytes above which a file is an error.
max_memory: Maximum memory in bytes.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
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

-- ---- writing ------------------------------------------------------------------------------------

local SUFFIXES = { png = 'png', jpg = 'jpeg', jpeg = 'jpeg' }
local CHANNELS_OF = { png = { true, true, true, true }, jpeg = { true, false, true } }
local HALF_LEVEL = 0.5 / 255 -- values that exceed the range by less are rounded to its ends

-- The image as bytes (channels, height, width) on the host.
local function bytes_of(what, image, format)
  if image.ndim == 2 then image = image:unsqueeze(1) end
  if image.ndim ~= 3 then
    fail('%s(): expected an image of shape (C, H, W) or (H, W), got %s%s', what, tostring(image.shape),
      image.ndim == 4 and '; write the images of a batch one by one' or '')
  end
  if not CHANNELS_OF[format][image:size(1)] then
    local swapped = CHANNELS_OF[format][image:size(3)] and '; call permute(3, 1, 2) if the channels are last' or ''
    fail('%s(): a %s file has %s channels, got an image of shape %s%s', what, format == 'png' and 'PNG' or 'JPEG',
      format == 'png' and '1 to 4' or '1 or 3', tostring(image.shape), swapped)
  end
  if image:numel() == 0 then fail('%s(): expected an image with pixels, got shape %s', what, tostring(image.shape)) end
  image = image:detach():cpu()
  if image.dtype == torch.uint8 then return image end
  if not image:is_floating_point() then
    fail('%s(): expected uint8, or floats from 0 to 1, got %s; convert values from 0 to 255 with to(torch.uint8)', what, tostring(image.dtype))
  end
  image = image:float()
  local low, high = image:min():item(), image:max():item()
  if low ~= low then fail('%s(): floats must be from 0 to 1, got nan; call nan_to_num() first', what) end
  if low < -HALF_LEVEL or high > 1 + HALF_LEVEL then
    fail('%s(): floats must be from 0 to 1, got %.4g to %.4g; divide values from 0 to 255 by 255, or call clamp(0, 1)', what, low, high)
  end
  return (image * 255 + 0.5):clamp(0, 255):to(torch.uint8)
end

-- The bytes of a file, as a tensor.
local function encode(what, image, format, quality)
  if quality < 1 or quality > 100 then fail('%s(): quality must be from 1 to 100, got %d', what, quality) end
  local bytes, message = torch._C.encode_image(bytes_of(what, image, format), format, quality)
  if not bytes then fail('%s(): %s', what, message) end
  return torch._C.tensor_bytes(bytes)
end

--- Encodes an image, as write_image does; returns the bytes of the file. decode_image is the
--- reverse.
function M.encode_image(input, format, quality)
  local known = SUFFIXES[format]
  if not known then fail("encode_image(): format must be 'png' or 'jpeg', got %s", tostring(format)) end
  return encode('encode_image', input, known, quality)
end

--- Writes an image to a PNG or JPEG file, which appears complete or not at all. Floats from 0 to 1
--- are multiplied by 255 and rounded, as by torchvision's save_image. PNG files have 1 to 4 channels
--- (gray, gray and alpha, RGB, RGB and alpha) and keep the values; JPEG files have 1 or 3 and are
--- lossy.
function M.write_image(input, filename, quality)
  local suffix = filename:match '%.(%w+)$'
  local format = SUFFIXES[(suffix or ''):lower()]
  if not format then fail("write_image(): the file's name must end in .png, .jpg or .jpeg, got '%s'", filename) end
  outside.write_file(filename, encode('write_image', input, format, quality))
end

declare.functions(M, ([[
  decode_image(string input, string mode='unchanged', *, integer? max_memory)
  read_image(string path, string mode='unchanged', *, number max_bytes=%d, integer? max_memory)
]]):format(whole_file.MAX_BYTES), 'options')

declare.functions(M, [[
  encode_image(Tensor input, string format='png', *, integer quality=75)
  write_image(Tensor input, string filename, *, integer quality=75)
]])

return M
