-- torch.save and torch.load: round trips, what other programs write and read, damaged files, places.

local torch = require 'torch'
local nn = require 'torch.nn'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local DEVICE = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local folder

local function path(name) return folder .. '/' .. (name or 'x.safetensors') end

local function write(name, content)
  local file = assert(io.open(path(name), 'wb'))
  file:write(content)
  file:close()
end

local function read(name)
  local file = assert(io.open(path(name), 'rb'))
  local content = file:read 'a'
  file:close()
  return content
end

local function listing() return (process.run('ls -A ' .. folder)) end

-- A file as the format describes it.
local function file_of(header, elements) return ('<s8'):pack(header) .. (elements or '') end

local function round_trip(value, options)
  torch.save(value, path())
  return torch.load(path(), options)
end

local function same(expected, actual)
  assert.equal(expected.dtype, actual.dtype)
  assert.equal(tostring(expected.shape), tostring(actual.shape))
  assert.equal(tostring(expected.device), tostring(actual.device))
  assert.same(expected:tolist(), actual:tolist())
end

local function refused(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(tostring(got):find(message, 1, true), got)
  return got
end

setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
teardown(function() process.run('rm -rf ' .. folder) end)
before_each(function() process.run(('rm -rf %s/* %s/.[!.]*'):format(folder, folder)) end)

describe('a saved tensor', function()
  for _, name in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64' } do
    it('of ' .. name .. ' comes back', function()
      local x = torch.tensor({ { 0, 1, 2 }, { 3, 4, 100 } }, { dtype = torch.float32 }):to(torch[name]):to(DEVICE)
      same(x, round_trip(x))
    end)
  end

  it('may have no dimensions, or no elements', function()
    same(torch.tensor(1.5, { device = DEVICE }), round_trip(torch.tensor(1.5, { device = DEVICE })))
    local empty = torch.zeros({ 0, 3 }, { device = DEVICE })
    assert.equal('torch.Size([0, 3])', tostring(round_trip(empty).shape))
  end)

  it('may be a view', function()
    local x = torch.arange(12, { device = DEVICE }):reshape(3, 4)
    same(x:t(), round_trip(x:t()))
    same(x:narrow(2, 2, 2), round_trip(x:narrow(2, 2, 2)))
    same(x[2], round_trip(x[2]))
    same(torch.ones(1, { device = DEVICE }):expand(3, 2), round_trip(torch.ones(1, { device = DEVICE }):expand(3, 2)))
  end)

  it('keeps nan, infinities and requires_grad, not its graph', function()
    local x = torch.tensor({ torch.nan, torch.inf, -torch.inf, -0.0 }, { device = DEVICE, requires_grad = true })
    local y = round_trip(x * 1)
    assert.is_true(y.requires_grad)
    assert.is_true(y.is_leaf)
    assert.equal('nan', tostring(y[1]:item()):gsub('-', ''))
    assert.same({ math.huge, -math.huge }, y:detach():narrow(1, 2, 2):tolist())
    assert.is_false(round_trip(torch.ones(2)).requires_grad)
  end)

  it('of a GPU is entered into the ledger as a save', function()
    if DEVICE == 'cpu' then return end
    local x = torch.ones(3, { device = DEVICE })
    local before = torch.cuda.copies('save').bytes
    torch.save(x, path())
    assert.equal(before + 12, torch.cuda.copies('save').bytes)
  end)
end)

describe('a saved table #cpu', function()
  it('a saved table loads with equal contents', function()
    local value = { epoch = 3, loss = 0.1, done = false, name = 'a "b"\\\n\0\255é', [true] = 'yes', [2.5] = 'half',
      huge = math.huge, least = math.mininteger, list = { 1, 2, { 3 } }, empty = {} }
    local loaded = round_trip(value)
    assert.same(value, loaded)
    assert.equal('integer', math.type(loaded.epoch))
    assert.equal('float', math.type(round_trip { 1.0 }[1]))
  end)

  it('may hold tensors anywhere', function()
    local loaded = round_trip { torch.ones(2), { deep = { torch.zeros(1), w = torch.arange(3) } }, shape = torch.ones(2, 3).shape }
    assert.same({ 1, 1 }, loaded[1]:tolist())
    assert.same({ 0 }, loaded[2].deep[1]:tolist())
    assert.same({ 0, 1, 2 }, loaded[2].deep.w:tolist())
    assert.equal('torch.Size([2, 3])', tostring(loaded.shape))
    assert.equal('torch.Size', torch.type(loaded.shape))
  end)

  it('a saved table may contain tensors with names that collide or that the format does not allow', function()
    local value = { a = { b = torch.tensor(1) }, ['a.b'] = torch.tensor(2), ['\255'] = torch.tensor(3), [''] = torch.tensor(4),
      [1] = torch.tensor(5), ['1'] = torch.tensor(6), ['a.b#2'] = torch.tensor(7), __metadata__ = torch.tensor(8) }
    local loaded = round_trip(value)
    assert.equal(1, loaded.a.b:item())
    for key, number in pairs { ['a.b'] = 2, ['\255'] = 3, [''] = 4, [1] = 5, ['1'] = 6, ['a.b#2'] = 7, __metadata__ = 8 } do
      assert.equal(number, loaded[key]:item())
    end
  end)

  it('gives one tensor for one tensor', function()
    local x = torch.ones(2)
    local loaded = round_trip { x, x, { deep = x } }
    assert.is_true(rawequal(loaded[1], loaded[2]))
    assert.is_true(rawequal(loaded[1], loaded[3].deep))
  end)

  it('may be a single value', function()
    assert.equal('text', round_trip 'text')
    assert.is_false(round_trip(false))
    assert.same({}, round_trip {})
  end)

  it('is refused when it holds something else', function()
    refused("a function cannot be saved", torch.save, { f = print }, path())
    refused("(at 'a.f')", torch.save, { a = { f = print } }, path())
    refused('a Linear cannot be saved', torch.save, nn.Linear(2, 3), path())
    refused('its state_dict()', torch.save, nn.Linear(2, 3), path())
    refused('a key is a table', torch.save, { [{}] = 1 }, path())
    local circle = {}
    circle.self = circle
    refused("contains itself, which only a .pt file can hold (at 'self')", torch.save, circle, path())
    local deep = {}
    for _ = 1, 1000 do deep = { deep } end
    refused('nested deeper', torch.save, deep, path())
    assert.equal('', listing())
  end)
end)

describe('a state_dict', function()
  local function model() return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)):to(DEVICE) end

  it('is loaded into another model, in order', function()
    local a, b = model(), model()
    torch.save(a:state_dict(), path())
    local dict = torch.load(path())
    local names = {}
    for name, tensor in pairs(dict) do
      names[#names + 1] = name
      assert.is_true(torch.is_tensor(tensor))
    end
    local expected = {}
    for name in pairs(a:state_dict()) do expected[#expected + 1] = name end
    assert.same(expected, names)
    assert.equal('OrderedDict', torch.type(dict))
    b:load_state_dict(dict)
    local x = torch.ones({ 1, 4 }, { device = DEVICE })
    assert.same(a(x):tolist(), b(x):tolist())
  end)

  it('is a part of a checkpoint', function()
    local a, b = model(), model()
    local checkpoint = round_trip { model = a:state_dict(), epoch = 7 }
    assert.equal(7, checkpoint.epoch)
    b:load_state_dict(checkpoint.model)
    same(a:state_dict()['0.weight'], b:state_dict()['0.weight'])
  end)

  it('that was changed keeps the change', function()
    local dict = model():state_dict()
    dict.extra, dict['0.bias'] = torch.ones(1), nil
    local loaded = round_trip(dict)
    assert.is_nil(loaded['0.bias'])
    assert.same({ 1 }, loaded.extra:tolist())
  end)
end)

describe('map_location', function()
  it('is a device, a function or a table #cpu', function()
    torch.save({ x = torch.ones(2) }, path())
    for _, map in ipairs { 'cpu', torch.device 'cpu', { cpu = 'cpu' }, { ['cuda:0'] = 'cpu' }, function() end } do
      assert.same({ 1, 1 }, torch.load(path(), { map_location = map }).x:tolist())
    end
    local loaded = torch.load(path(), { map_location = function(tensor, location)
      assert.equal('cpu', location)
      return tensor * 2
    end })
    assert.same({ 2, 2 }, loaded.x:tolist())
    refused('returned a number', torch.load, path(), { map_location = function() return 1 end })
    refused('Invalid device string', torch.load, path(), { map_location = 'nowhere' })
    refused('unexpected keyword argument', torch.load, path(), { map = 'cpu' })
    assert.same({ 1, 1 }, torch.load(path(), 'cpu').x:tolist())
  end)

  it('takes tensors from a GPU that is not there #cpu', function()
    local text = 'tensor(\\"x\\", \\"cuda:64\\", false)'
    local header = '{"__metadata__":{"ltensor":"' .. text .. '"},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    write('x.safetensors', file_of(header, '\5'))
    refused("map_location='cpu'", torch.load, path())
    refused("deserialize object on", torch.load, path())
    assert.equal(5, torch.load(path(), { map_location = 'cpu' }):item())
    assert.equal(5, torch.load(path(), { map_location = { ['cuda:64'] = 'cpu' } }):item())
    assert.equal(5, torch.load(path(), { map_location = function(x) return x end }):item())
  end)

  it('takes tensors from and to a GPU', function()
    if DEVICE == 'cpu' then return end
    local x = torch.ones(2, { device = DEVICE })
    assert.equal('cpu', tostring(round_trip(x, { map_location = 'cpu' }).device))
    assert.equal(tostring(x.device), tostring(round_trip(x).device))
    assert.equal(tostring(x.device), tostring(round_trip(torch.ones(2), { map_location = DEVICE }).device))
  end)
end)

describe('the file #cpu', function()
  it('is one that other programs read: names, dtypes, offsets without gaps, aligned', function()
    torch.save({ a = torch.tensor({ 1, 2, 3 }, { dtype = torch.uint8 }), b = torch.tensor { 1.5 } }, path())
    local content = read()
    local header = ('<s8'):unpack(content)
    assert.equal(0, (8 + #header) % 8)
    assert.truthy(header:find('"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}', 1, true), header)
    assert.truthy(header:find('"a":{"dtype":"U8","shape":[3],"data_offsets":[4,7]}', 1, true), header)
    assert.equal(('<f'):pack(1.5) .. '\1\2\3', content:sub(9 + #header))
  end)

  it('of another program gives its tensors by name, in order', function()
    write('other.safetensors', file_of('{"__metadata__":{"format":"pt"},"w":{"dtype":"I16","shape":[2,1],"data_offsets":[3,7]},'
      .. '"\\u00e9":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},"e":{"dtype":"F64","shape":[0],"data_offsets":[7,7]}}  ',
      '\0\1\2' .. ('<i2i2'):pack(-1, 300)))
    local dict = torch.load(path 'other.safetensors')
    local names = {}
    for name in pairs(dict) do names[#names + 1] = name end
    assert.same({ 'é', 'w', 'e' }, names)
    assert.same({ { -1 }, { 300 } }, dict.w:tolist())
    assert.same({ false, true, true }, dict['é']:tolist())
    assert.equal(0, dict.e:numel())
  end)

  it('has no name of another format', function()
    for _, suffix in ipairs { 'h5', 'pkl', 'ONNX' } do
      refused('.safetensors', torch.save, torch.ones(1), path('x.' .. suffix))
    end
    for _, name in ipairs { 'x-file', 'mlp.params' } do
      torch.save(torch.ones(1), path(name))
      assert.equal(1, torch.load(path(name)):item())
    end
  end)

  it('of another format is named', function()
    for start, format in pairs { ['PK\3\4'] = 'zip', ['\x93NUMPX'] = 'not a safetensors file', ['\x89HDF'] = 'HDF5', ['hello, world'] = 'this is a text', ['\x89PNG\r\n'] = 'a PNG image', ['\8\8\x12\7pytorch'] = 'an ONNX model',
      ['RIFF\1\0\0\0WAVEfmt '] = 'a WAV sound file', ['\x1f\x8b\8\0'] = 'compressed by gzip', ['<!DOCTYPE html>'] = 'HTML',
      ['{"a": [1, 2, '] = 'a JSON text' } do
      write('x', start .. ('x'):rep(100))
      refused(format, torch.load, path 'x')
    end
  end)

  it('that is missing, or no file, is named', function()
    refused('/none.safetensors: No such file', torch.load, path 'none.safetensors')
    refused('Is a directory', torch.load, folder)
    refused('not a file', torch.save, 1, folder)
    refused('must be a string, got number', torch.load, 5)
    refused('must be a string, got nil', torch.save, torch.ones(1))
    refused('the bytes in memory: 3 bytes, too short for a safetensors file', torch.load, 'a\0b')
  end)
end)

describe('a damaged file #cpu', function()
  local function tensor(fields, elements)
    return file_of('{"x":{' .. fields .. '}}', elements)
  end

  it('is refused when cut anywhere', function()
    torch.save({ w = torch.ones(2, 3), n = 1 }, path())
    local content = read()
    for n = 0, #content - 1 do
      write('cut', content:sub(1, n))
      refused('/cut: ', torch.load, path 'cut')
    end
    write('long', content .. 'x')
    refused('25 bytes of elements, the header describes 24', torch.load, path 'long')
  end)

  it('is refused or read when any byte is another', function()
    torch.save({ w = torch.ones(2), n = { 1, 'a' } }, path())
    local content = read()
    for i = 1, #content do
      for _, byte in ipairs { '\0', '"', '}', '9', '\255' } do
        write('changed', content:sub(1, i - 1) .. byte .. content:sub(i + 1))
        local ok, message = pcall(torch.load, path 'changed')
        assert.truthy(ok or type(message) == 'string')
      end
    end
  end)

  local good = '"dtype":"F32","shape":[2],"data_offsets":[0,8]'
  local eight = ('x'):rep(8)
  local cases = {
    { 'an absurd header length', ('<I8'):pack(1 << 63) .. '{}', 'not a safetensors file' },
    { 'a header longer than the file', ('<I8'):pack(3) .. '{}', 'cut short' },
    { 'no header', ('<I8'):pack(0), 'not a JSON object' },
    { 'an array for a header', file_of '[]', 'not a JSON object' },
    { 'bad JSON', file_of '{"x":', 'not a JSON object' },
    { 'bytes after the JSON', file_of '{} {}', 'not a JSON object (error at byte 4)' },
    { 'zero bytes in the JSON', file_of '{}\0', 'not a JSON object' },
    { 'JSON nested too deep', file_of('{"x":' .. ('['):rep(100000)), 'not a JSON object' },
    { 'a tensor that is a number', file_of '{"x":1}', 'not an object' },
    { 'no dtype', tensor('"shape":[2],"data_offsets":[0,8]', eight), 'dtype, shape or data_offsets' },
    { 'two dtypes', tensor('"dtype":"U8",' .. good, eight), 'dtype occurs twice' },
    { 'an unknown dtype', tensor('"dtype":"F4","shape":[8],"data_offsets":[0,8]', eight), "type 'F4'" },
    { 'a shape of texts', tensor('"dtype":"F32","shape":["2"],"data_offsets":[0,8]', eight), 'not a whole number' },
    { 'a negative size', tensor('"dtype":"F32","shape":[-2],"data_offsets":[0,8]', eight), 'not a whole number' },
    { 'half a size', tensor('"dtype":"F32","shape":[1.5],"data_offsets":[0,8]', eight), 'not a whole number' },
    { 'an absurd size', tensor('"dtype":"F32","shape":[1e300],"data_offsets":[0,8]', eight), 'not a whole number' },
    { 'sizes that overflow', tensor('"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]', eight), 'too large' },
    { 'a size beyond the file', tensor('"dtype":"F32","shape":[4294967296],"data_offsets":[0,17179869184]', eight), 'cut short' },
    { 'many dimensions', tensor('"dtype":"U8","shape":[8' .. (',1'):rep(16) .. '],"data_offsets":[0,8]', eight), '16 dimensions' },
    { 'offsets that do not fit the shape', tensor('"dtype":"F32","shape":[2],"data_offsets":[0,4]', eight), 'needs 8 bytes' },
    { 'offsets backwards', tensor('"dtype":"F32","shape":[2],"data_offsets":[8,0]', eight), 'needs 8 bytes' },
    { 'negative offsets', tensor('"dtype":"F32","shape":[2],"data_offsets":[-8,0]', eight), 'two whole numbers' },
    { 'three offsets', tensor('"dtype":"F32","shape":[2],"data_offsets":[0,8,8]', eight), 'two whole numbers' },
    { 'a gap', tensor('"dtype":"F32","shape":[1],"data_offsets":[4,8]', eight), 'start at 4' },
    { 'tensors that overlap', file_of('{"x":{' .. good .. '},"y":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}', eight), 'expected 8' },
    { 'two tensors of one name', file_of('{"x":{' .. good .. '},"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}', eight), 'the name occurs twice' },
    { 'metadata twice', file_of '{"__metadata__":{},"__metadata__":{}}', 'occurs twice' },
    { 'metadata of numbers', file_of '{"__metadata__":{"a":1}}', 'not a text' },
    { 'metadata that is a text', file_of '{"__metadata__":"a"}', 'not an object' },
  }
  for _, case in ipairs(cases) do
    it('is refused: ' .. case[1], function()
      write('x.safetensors', case[2])
      refused(path() .. ': ', torch.load, path())
      refused(case[3], torch.load, path())
    end)
  end

  local structures = { '', '{', '{1}', '{1: 2', '{nan: 1}', '{1: 2,}', 'os.exit()', '\\"a', 'tensor(1)', 'ordered{1: 2}',
    'ordered{\\"a\\": 1, \\"a\\": 2}', 'size{1: 2.5}', '1 2', ('{1: '):rep(1000), 'tensor(\\"y\\", \\"cpu\\", false)' }
  for _, text in ipairs(structures) do
    it('is refused: tables as ' .. text:sub(1, 30), function()
      write('x.safetensors', file_of('{"__metadata__":{"ltensor":"' .. text .. '"}}'))
      refused("metadata 'ltensor' is damaged", torch.load, path())
    end)
  end
end)

describe('the content of a file #cpu', function()
  it('is loaded from a string as from the file, in every format', function()
    local value = { a = torch.arange(3), b = torch.ones(2, 2) }
    for _, name in ipairs { 'x.safetensors', 'x.pt', 'x.npz', 'x.npy' } do
      torch.save(name == 'x.npy' and value.a or value, path(name))
      local expected, given = torch.load(path(name)), torch.load(read(name))
      if name == 'x.npy' then expected, given = { a = expected, b = expected }, { a = given, b = given } end
      assert.is_true(torch.equal(expected.a, given.a) and torch.equal(expected.b, given.b))
      refused('needs the path of a file, not its content', torch.load, read(name), { mmap = true })
      local message = refused('the bytes in memory: ', torch.load, read(name):sub(1, -2))
      assert.falsy(message:find('\0', 1, true))
    end
  end)
end)

describe('saving #cpu', function()
  it('replaces a file, keeping its mode and links to it', function()
    torch.save(torch.zeros(1), path 'real')
    process.run(('chmod 640 %s; ln -s real %s'):format(path 'real', path 'link'))
    torch.save(torch.ones(1), path 'link')
    assert.equal(1, torch.load(path 'real'):item())
    assert.equal('640\n', (process.run('stat -c %a ' .. path 'real')))
    assert.equal('link\nreal\n', listing())
  end)

  it('a failed save reports the cause and keeps the previous file only', function()
    torch.save(torch.zeros(1), path())
    local before = read()
    -- The size of files is limited to a block, with the signal for it ignored: as a full disk.
    local script = ("print(pcall(require('torch').save, torch.ones(100000), %q))"):format(path())
    write('script.lua', script)
    local output = process.run(("trap '' XFSZ; ulimit -f 8; %s %s"):format(process.quote(process.ltensor), path 'script.lua'))
    assert.truthy(output:find('x.safetensors: File too large', 1, true), output)
    assert.equal(before, read())
    assert.equal('script.lua\nx.safetensors\n', listing())
  end)

  it('into a folder that is not there, or may not be written, is refused', function()
    refused('No such file', torch.save, torch.ones(1), path 'none/x')
    process.run(('mkdir %s; chmod 500 %s'):format(path 'locked', path 'locked'))
    local probe = io.open(path 'locked/probe', 'w')
    if probe then return probe:close() end -- root may write everywhere
    refused('Permission denied', torch.save, torch.ones(1), path 'locked/x')
  end)

  it('names the line of the caller', function()
    local message = refused('No such file', function() torch.save(1, path 'none/x') end)
    assert.truthy(message:find 'files_spec.lua:%d+: ', message)
    message = refused('cannot be saved', function() torch.save({ print }, path()) end)
    assert.truthy(message:find 'files_spec.lua:%d+: ', message)
  end)
end)
