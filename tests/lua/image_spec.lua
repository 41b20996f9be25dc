-- torch.utils.data.read_image: the values of PNG and JPEG files beside Pillow's, damaged files, missing libraries.

local read_image, decode_image = torch.utils.data.read_image, torch.utils.data.decode_image

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

local function fails(message, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert(err:find(message, 1, true), err)
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
    fails("mode must be 'unchanged', 'gray', 'gray_alpha', 'rgb' or 'rgba', got RGB", read_image, folder .. 'rgb.png', 'RGB')
    fails('unexpected keyword argument', read_image, folder .. 'rgb.png', { modes = 'rgb' })
    fails('a path expected, got nil', read_image)
    fails('a string of bytes expected, got table', decode_image, {})
  end)

  it('names the file that it cannot read', function()
    fails('/nonexistent.png: No such file', read_image, '/nonexistent.png')
    fails(folder .. 'images.lua: neither a PNG nor a JPEG file', read_image, folder .. 'images.lua')
    fails('promise.png: PNG: the data end early', read_image, folder .. 'promise.png')
    fails('short.png: PNG: ', read_image, folder .. 'short.png')
    fails('/tmp: Is a directory', read_image, '/tmp')
    fails('neither a PNG nor a JPEG file', decode_image, '')
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

  it('survives PNG files whose checksums fit their wrong bytes', function()
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

  it('survives JPEG files of which any byte is wrong', function()
    for _, name in ipairs { 'rgb.jpg', 'progressive.jpg', 'gray.jpg' } do
      local bytes = bytes_of(name)
      for at = 1, #bytes do
        local wrong = bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ (1 << at % 8)) .. bytes:sub(at + 1)
        local ok, image = pcall(decode_image, wrong)
        assert(ok and image:dim() == 3 or not ok and image:find 'JPEG', image)
      end
    end
  end)

  it('says what to install when a library is not there', function()
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
