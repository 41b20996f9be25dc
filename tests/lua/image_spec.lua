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

describe('write_image #cpu', function()
  local write_image, encode_image = torch.utils.data.write_image, torch.utils.data.encode_image

  local function written(image, suffix, options)
    local path = os.tmpname()
    write_image(image, path .. suffix, options)
    local result = read_image(path .. suffix)
    os.remove(path .. suffix)
    os.remove(path)
    return result
  end

  it('writes PNG files of 1 to 4 channels without a change', function()
    torch.manual_seed(1)
    for channels = 1, 4 do
      local image = torch.randint(0, 256, { channels, 7, 10 }, { dtype = torch.uint8 })
      assert.is_true(torch.equal(image, written(image, '.png')))
      assert.is_true(torch.equal(image, decode_image(encode_image(image))))
    end
    local image = torch.randint(0, 256, { 64, 96 }, { dtype = torch.uint8 })
    assert.is_true(torch.equal(image:unsqueeze(1), written(image, '.PNG')))
    local turned = torch.randint(0, 256, { 3, 6, 4 }, { dtype = torch.uint8 }):permute(1, 3, 2) -- not contiguous
    assert.is_true(torch.equal(turned, written(turned, '.png')))
  end)

  it('writes JPEG files that are close, closer with a higher quality', function()
    local y, x = torch.meshgrid(torch.arange(32), torch.arange(48), { indexing = 'ij' })
    local image = torch.stack { x * 5, y * 8, (x + y) * 3 }:to(torch.uint8)
    local function distance(options) return (written(image, '.jpg', options):int() - image:int()):abs():max():item() end
    assert(distance() < 40 and distance { quality = 95 } < 12, distance { quality = 95 })
    assert(distance { quality = 95 } < distance { quality = 20 })
    assert.same({ 1, 32, 48 }, { table.unpack(written(image['1:1'], '.jpeg').shape) })
    assert(#encode_image(image, 'jpeg', { quality = 20 }) < #encode_image(image, 'jpeg', { quality = 95 }))
  end)

  it('multiplies floats from 0 to 1 by 255 and rounds', function()
    local image = torch.tensor { { { 0, 0.25, 0.5 }, { 0.75, 1, 1 / 255 } } }
    assert.same({ { { 0, 64, 128 }, { 191, 255, 1 } } }, written(image, '.png'):tolist())
    assert.same({ { { 0, 64, 128 }, { 191, 255, 1 } } }, written(image:double():requires_grad_(), '.png'):tolist())
    assert.same({ { { 0, 255 } } }, written(torch.tensor { { { -1e-7, 1 + 1e-7 } } }, '.png'):tolist()) -- rounding of a computation
  end)

  it('refuses other values, shapes and names, and states the remedy', function()
    local float = torch.rand(3, 4, 5)
    fails_with('floats must be from 0 to 1, got 0 to 255; divide values from 0 to 255 by 255, or call clamp(0, 1)', write_image,
      torch.tensor { { { 0., 255. } } }, 'x.png')
    fails_with('floats must be from 0 to 1, got nan; call nan_to_num() first', write_image, torch.tensor { { { 0 / 0, 1 } } }, 'x.png')
    fails_with('expected uint8, or floats from 0 to 1, got torch.int64; convert values from 0 to 255 with to(torch.uint8)', write_image,
      torch.zeros(3, 4, 5, { dtype = torch.int64 }), 'x.png')
    fails_with('got torch.Size([2, 3, 4, 5]); write the images of a batch one by one', write_image, torch.rand(2, 3, 4, 5), 'x.png')
    fails_with('a PNG file has 1 to 4 channels, got an image of shape torch.Size([8, 9, 3]); call permute(3, 1, 2) if the channels are last', write_image,
      torch.rand(8, 9, 3), 'x.png')
    fails_with('a JPEG file has 1 or 3 channels, got an image of shape torch.Size([4, 4, 5])', write_image, torch.rand(4, 4, 5), 'x.jpg')
    fails_with('expected an image with pixels, got shape torch.Size([3, 0, 5])', write_image, torch.rand(3, 0, 5), 'x.png')
    fails_with("the file's name must end in .png, .jpg or .jpeg, got 'x.gif'", write_image, float, 'x.gif')
    fails_with("argument 'input' must be a Tensor, not 'x.png'", write_image, 'x.png', float)
    fails_with('quality must be from 1 to 100, got 0', write_image, float, 'x.jpg', { quality = 0 })
    fails_with("format must be 'png' or 'jpeg', got gif", encode_image, float, 'gif')
    fails_with('/dev/null/x.png', write_image, float, '/dev/null/x.png')
    fails_with('JPEG: ', encode_image, torch.zeros(1, 1, 70000, { dtype = torch.uint8 }), 'jpeg')
  end)
end)
