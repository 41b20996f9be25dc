-- torch.frombuffer and torch.from_file: the elements of strings and of files. The messages are PyTorch's.

local torch = require 'torch'
local fails_with = require 'support.fails_with'

describe('frombuffer #cpu', function()
  local bytes = string.pack('<i4i4i4i4', 10, 20, 30, 40)
  local int32 = torch.int32

  it('reads the elements of a string', function()
    assert.same({ 10, 20, 30, 40 }, torch.frombuffer(bytes, { dtype = int32 }):tolist())
    assert.same({ 20, 30 }, torch.frombuffer(bytes, { dtype = int32, offset = 4, count = 2 }):tolist())
    assert.same({ 30, 40 }, torch.frombuffer(bytes, { dtype = 'int32', offset = 8, count = -1 }):tolist())
    assert.same({ 20 << 24 }, torch.frombuffer(bytes, { dtype = int32, offset = 1, count = 1 }):tolist())
    assert.same({ true, false, true }, torch.frombuffer('\2\0\255', { dtype = torch.bool }):tolist())
    local x = torch.frombuffer(string.pack('<ff', 1.5, -2), { dtype = torch.float32, requires_grad = true })
    assert.same({ 1.5, -2 }, x:tolist())
    assert.is_true(x.requires_grad)
  end)

  it('has a copy of them', function()
    local x = torch.frombuffer(bytes, { dtype = int32 })
    x:zero_()
    assert.equal(10, string.unpack('<i4', bytes))
  end)

  it('frombuffer rejects sizes and offsets beyond the buffer', function()
    local function refused(message, options, buffer) fails_with(message, torch.frombuffer, buffer or bytes, options) end
    refused("missing 1 required argument: 'dtype'", {})
    refused('both buffer length (16) and count (0) must not be 0', { dtype = int32, count = 0 })
    refused('both buffer length (0) and count (-1) must not be 0', { dtype = int32 }, '')
    refused('offset (16 bytes) must be non-negative and no greater than buffer length (16 bytes) minus 1', { dtype = int32, offset = 16 })
    refused('offset (-1 bytes) must be non-negative', { dtype = int32, offset = -1 })
    refused('buffer length (13 bytes) after offset (3 bytes) must be a multiple of element size (4)', { dtype = int32, offset = 3 })
    refused('requested buffer length (5 * 4 bytes) after offset (0 bytes) must not be greater than actual buffer length (16 bytes)',
      { dtype = int32, count = 5 })
    refused('must not be greater than actual buffer length', { dtype = int32, count = math.maxinteger })
    refused("unexpected keyword argument 'size'", { dtype = int32, size = 3 })
    fails_with("argument 'buffer' must be a string, not a number", torch.frombuffer, 3, { dtype = int32 })
    fails_with('only Tensors of floating point', function() torch.frombuffer(bytes, { dtype = int32, requires_grad = true }) end)
  end)
end)

describe('from_file #cpu', function()
  local path

  local function write(content)
    local file = assert(io.open(path, 'wb'))
    file:write(content)
    file:close()
  end

  local function read()
    local file = assert(io.open(path, 'rb'))
    local content = file:read 'a'
    file:close()
    return content
  end

  before_each(function()
    path = os.tmpname()
    write(string.pack('<ffff', 1, 2, 3, 4))
  end)
  after_each(function() os.remove(path) end)

  it('maps a file that stays as it is', function()
    local x = torch.from_file(path, { size = 3 })
    assert.same({ 1, 2, 3 }, x:tolist())
    assert.equal(torch.float32, x.dtype)
    x:mul_(10)
    assert.same({ 10, 20, 30 }, x:tolist())
    assert.equal(string.pack('<ffff', 1, 2, 3, 4), read())
    assert.same({ 1, 2, 3 }, torch.from_file(path, { size = 3 }):tolist())
    assert.equal(16, torch.from_file(path, { size = 16, dtype = torch.uint8 }):numel())
    assert.equal(0, torch.from_file(path):numel())
    assert.is_true(torch.from_file(path, { size = 1, requires_grad = true }).requires_grad)
  end)

  it('writes into a shared one', function()
    local x = torch.from_file(path, { size = 4, shared = true })
    local y = torch.from_file(path, { size = 4, shared = true })
    x:view(2, 2)[2]:fill_(7)
    assert.same({ 1, 2, 7, 7 }, y:tolist())
    assert.equal(string.pack('<ffff', 1, 2, 7, 7), read())
    x, y = nil, nil
    collectgarbage()
    collectgarbage()
    assert.equal(string.pack('<ffff', 1, 2, 7, 7), read())
  end)

  it('makes a shared one and lets it grow', function()
    local x = torch.from_file(path, { size = 6, shared = true })
    assert.same({ 1, 2, 3, 4, 0, 0 }, x:tolist())
    x[6] = 9
    assert.equal(string.pack('<ffffff', 1, 2, 3, 4, 0, 9), read())
    os.remove(path)
    torch.from_file(path, { size = 2, shared = true, dtype = torch.int16 }):fill_(5)
    assert.equal(string.pack('<i2i2', 5, 5), read())
  end)

  it('unmaps with the last tensor', function()
    local function mappings()
      local n = 0
      for line in io.lines '/proc/self/maps' do
        if line:find(path, 1, true) then n = n + 1 end
      end
      return n
    end
    local x = torch.from_file(path, { size = 4 })
    local view = x[{ { 2, 3 } }]
    assert.equal(1, mappings())
    x = nil
    collectgarbage()
    collectgarbage()
    assert.equal(1, mappings())
    assert.same({ 2, 3 }, view:tolist())
    view = nil
    collectgarbage()
    collectgarbage()
    assert.equal(0, mappings())
  end)

  it('from_file rejects invalid sizes', function()
    local function refused(message, where, options) fails_with(message, torch.from_file, where, options) end
    refused(('file <%s> size <16> is smaller than the required mapping size <20>'):format(path), path, { size = 5 })
    refused(('unable to open file <%sx> in read-only mode: No such file or directory (2)'):format(path), path .. 'x', { size = 1 })
    refused('unable to open file </> in read-write mode: Is a directory (21)', '/', { size = 1, shared = true })
    refused('unable to open file </nowhere/x> in read-write mode', '/nowhere/x', { size = 1, shared = true })
    refused('file </dev/zero> is not a regular file', '/dev/zero', { size = 1 })
    refused('size must not be negative, got -2', path, { size = -2 })
    refused('Storage size calculation overflowed', path, { size = math.maxinteger })
    refused(('unable to resize file <%s> to the right size: File too large (27)'):format(path), path, { size = 1 << 57, shared = true })
    refused('zero bytes', 'a\0b', { size = 1 })
    refused("unexpected keyword argument 'count'", path, { count = 1 })
    refused("argument 'size' must be an integer", path, { size = 1.5 })
    fails_with("argument 'filename' must be a string", torch.from_file, 3)
    assert.equal(16, #read())
    local made = path .. '.new'
    refused('File too large', made, { size = 1 << 57, shared = true })
    assert.is_nil(io.open(made)) -- what it made in vain is gone
  end)

  it('lets no byte be a bool that is none', function()
    write '\0\1\2\255'
    assert.same({ false, true, true, true }, torch.from_file(path, { size = 4, dtype = torch.bool }):tolist())
    fails_with(('file <%s> holds no elements of dtype bool: byte 3 is 2'):format(path), torch.from_file, path,
      { size = 4, dtype = torch.bool, shared = true })
    assert.equal('\0\1\2\255', read())
    assert.same({ false, true }, torch.from_file(path, { size = 2, dtype = torch.bool, shared = true }):tolist())
  end)
end)
