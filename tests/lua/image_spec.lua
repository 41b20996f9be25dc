-- torch.utils.data.read_image: the values of PNG and JPEG files beside Pillow's, damaged files, missing libraries.

local read_image, decode_image = torch.utils.data.read_image, torch.utils.data.decode_image
local fails_with = require 'support.fails_with'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local folder = here .. '../files/'
local process = dofile(here .. 'support/process.lua')
local expected = dofile(folder .. 'images.lua')

local function bytes_of(name)
  local file = assert(io.open(folder .. name, 'rb'))
  local bytes = file:read 'a'
  file:close()
  return bytes
end

local function values_of(hex)
  local values = {}
  for pair in hex:gmatch '..' do values[#values + 1] = tonumber(pair, 16) end
  return torch.tensor(values, { dtype = torch.int64 })
end

describe('read_image #cpu', function()
  for name, modes in pairs(expected) do
    for mode, wanted in pairs(modes) do
      it(('finds in %s (%s) what Pillow finds'):format(name, mode), function()
        local image = read_image(folder .. name, mode)
        assert.equal(torch.uint8, image.dtype)
        assert.same(wanted[1], { image:size(1), image:size(2), image:size(3) })
        local difference = (image:to(torch.int64):reshape(-1) - values_of(wanted[2])):abs():max():item()
        -- The versions of libjpeg may round differently.
        assert(difference <= (name:find '%.jpg$' and 2 or 0), difference)
      end)
    end
  end

  it('takes the mode by name, and bytes for a file', function()
    local image = read_image(folder .. 'rgb.png', { mode = 'rgba' })
    assert.is_true(torch.equal(image, decode_image(bytes_of 'rgb.png', 'rgba')))
    assert.is_true(torch.equal(image:narrow(1, 1, 3), read_image(folder .. 'rgb.png')))
    fails_with("mode must be 'unchanged', 'gray', 'gray_alpha', 'rgb' or 'rgba', got RGB", read_image, folder .. 'rgb.png', 'RGB')
    fails_with('unexpected keyword argument', read_image, folder .. 'rgb.png', { modes = 'rgb' })
    fails_with("read_image() missing 1 required argument: 'path' (a string)", read_image)
    fails_with("argument 'input' must be a string, not a number", decode_image, 3)
  end)

  it('names the file that it cannot read', function()
    fails_with('/nonexistent.png: No such file', read_image, '/nonexistent.png')
    fails_with(folder .. 'images.lua: neither a PNG nor a JPEG file', read_image, folder .. 'images.lua')
    fails_with('promise.png: PNG: the data end early', read_image, folder .. 'promise.png')
    fails_with('short.png: PNG: ', read_image, folder .. 'short.png')
    fails_with('/tmp: Is a directory', read_image, '/tmp')
    fails_with('neither a PNG nor a JPEG file', decode_image, '')
  end)

  it('refuses images that are cut short, wherever', function()
    for _, name in ipairs { 'rgb.png', 'palette_transparent.png', 'interlaced.png', 'rgb.jpg', 'progressive.jpg', 'cmyk.jpg' } do
      local bytes = bytes_of(name)
      for length = 0, #bytes - 1 do
        assert(not pcall(decode_image, bytes:sub(1, length)), ('%s of %d bytes'):format(name, length))
      end
    end
  end)

  it('refuses PNG files of which any byte is wrong', function()
    for _, name in ipairs { 'rgb.png', 'palette_transparent.png', 'interlaced.png', 'gamma.png' } do
      local bytes = bytes_of(name)
      for at = 1, #bytes do
        local wrong = bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ (1 << at % 8)) .. bytes:sub(at + 1)
        assert(not pcall(decode_image, wrong), ('%s, byte %d'):format(name, at))
      end
    end
  end)

  it('read_image rejects PNG files with valid checksums over invalid data', function()
    local bytes = bytes_of 'palette_transparent.png'
    local at = 9
    while at < #bytes do
      local length = string.unpack('>I4', bytes, at)
      for inside = at + 8, at + 7 + length do
        for bit = 0, 7 do
          local wrong = bytes:sub(at + 4, inside - 1) .. string.char(bytes:byte(inside) ~ (1 << bit))
            .. bytes:sub(inside + 1, at + 7 + length)
          wrong = wrong .. ('>I4'):pack(torch._C.crc32(wrong))
          local ok, image = pcall(decode_image, bytes:sub(1, at + 3) .. wrong .. bytes:sub(at + 12 + length))
          assert(ok and image:dim() == 3 or not ok and image:find 'PNG: ', image)
        end
      end
      at = at + 12 + length
    end
  end)

  -- Headers that lie about the size: nothing, more than any memory, negative where a library reads 32 bits with a sign.
  it('read_image reports an invalid header for impossible sizes', function()
    local bytes = bytes_of 'rgb.png'
    local function png(width, height)
      local header = 'IHDR' .. ('>I4I4'):pack(width, height) .. bytes:sub(25, 29)
      return bytes:sub(1, 12) .. header .. ('>I4'):pack(torch._C.crc32(header)) .. bytes:sub(34)
    end
    assert.is_true(torch.equal(decode_image(bytes), decode_image(png(string.unpack('>I4I4', bytes, 17)))))
    for _, size in ipairs { { 0, 5 }, { 5, 0 }, { 0xD4D9D4B8, 22080 }, { 1 << 31, 1 }, { 0xFFFFFFFF, 0xFFFFFFFF } } do
      fails_with(('PNG: the file is damaged: its header has the size %d x %d, expected 1 to 2147483647 each'):format(size[1], size[2]), decode_image, png(size[1], size[2]))
    end
    fails_with('PNG: the header claims an image of 2147483647 x 2147483647 pixels, more than the 536870912 that are read',
      decode_image, png(0x7FFFFFFF, 0x7FFFFFFF))
    fails_with('PNG: the data end early', decode_image, png(20000, 20000))

    bytes = bytes_of 'rgb.jpg'
    local frame = assert(bytes:find '\xff[\xc0\xc2]\0') -- marker, length, bits, height, width
    local function jpeg(width, height) return bytes:sub(1, frame + 4) .. ('>I2I2'):pack(height, width) .. bytes:sub(frame + 9) end
    local height, width = string.unpack('>I2I2', bytes, frame + 5)
    assert.is_true(torch.equal(decode_image(bytes), decode_image(jpeg(width, height))))
    for _, size in ipairs { { 0, 5 }, { 5, 0 }, { 0, 0 } } do fails_with('JPEG: ', decode_image, jpeg(size[1], size[2])) end
    fails_with('JPEG: the header claims an image of 65500 x 65500 pixels', decode_image, jpeg(65500, 65500))
    fails_with('JPEG: the data end early', decode_image, jpeg(20000, 20000))
    fails_with('JPEG: ', decode_image, bytes:sub(1, frame - 1) .. bytes:sub(frame + 2 + string.unpack('>I2', bytes, frame + 2))) -- no frame
  end)

  it('survives JPEG files of which any byte is wrong', function()
    for _, name in ipairs { 'rgb.jpg', 'progressive.jpg', 'gray.jpg' } do
      local bytes = bytes_of(name)
      for at = 1, #bytes do
        local wrong = bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ (1 << at % 8)) .. bytes:sub(at + 1)
        local ok, image = pcall(decode_image, wrong)
        assert(ok and image:dim() == 3 or not ok and image:find 'JPEG' and not image:find ' %-%d', image)
      end
    end
  end)

  it('read_image names the package of a missing library', function()
    local own = io.open(here .. '../../lib/libpng16.so.16') -- the tarball has the libraries, and finds those first
    local folder_of_none = os.tmpname()
    os.remove(folder_of_none)
    assert(os.execute('mkdir ' .. folder_of_none))
    for _, case in ipairs { { 'rgb.png', 'libpng16.so.16' }, { 'rgb.jpg', 'libturbojpeg.so.0' } } do
      assert(os.execute(('printf x >%s/%s'):format(folder_of_none, case[2])))
      local code = ('print(pcall(torch.utils.data.read_image, [[%s]]))'):format(folder .. case[1])
      local output = process.run(('LD_LIBRARY_PATH=%s:"$LD_LIBRARY_PATH" %s --disable-cuda -e %s'):format(folder_of_none,
        process.quote(process.ltensor), process.quote(code)))
      if own then
        assert(output:find '^true', output)
      else
        assert(output:find(case[2], 1, true) and output:find('not found', 1, true), output)
      end
    end
    os.execute('rm -r ' .. folder_of_none)
    if own then own:close() end
  end)
end)
