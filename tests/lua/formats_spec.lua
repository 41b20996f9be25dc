-- torch.save and torch.load with the formats of NumPy (.npy, .npz) and PyTorch (.pt): files that those have written
-- (tests/files, made by its generate.py), round trips, and hostile files, which must be errors and never more.

local torch = require 'torch'
local nn = require 'torch.nn'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local stored = here .. '../files/'

local DEVICE = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local folder

local function path(name) return folder .. '/' .. name end

local function write(name, content)
  local file = assert(io.open(path(name), 'wb'))
  file:write(content)
  file:close()
  return path(name)
end

local function read(name)
  local file = assert(io.open(name, 'rb'))
  local content = file:read 'a'
  file:close()
  return content
end

local function load(name, options) return torch.load(stored .. name, options) end

local function round_trip(value, name, options)
  torch.save(value, path(name))
  return torch.load(path(name), options)
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

local function names_of(dict)
  local names = {}
  for name in pairs(dict) do names[#names + 1] = name end
  return names
end

setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
teardown(function() process.run('rm -rf ' .. folder) end)
before_each(function() process.run(('rm -rf %s/* %s/.[!.]*'):format(folder, folder)) end)

-- ---- NumPy -------------------------------------------------------------------------------------------------------

local numpy = { u1 = 'uint8', i1 = 'int8', i2 = 'int16', i4 = 'int32', i8 = 'int64', f2 = 'float16', f4 = 'float32',
  f8 = 'float64' }

describe('an array of NumPy #cpu', function()
  local expected = torch.arange(6):view(2, 3) - 1
  for code, name in pairs(numpy) do
    for _, order in ipairs(code:sub(2) == '1' and { 'byte' } or { 'little', 'big' }) do
      it(('of %s, %s'):format(name, order), function() same(expected:to(torch[name]), load(('%s_%s.npy'):format(order, code))) end)
    end
  end

  it('of bool', function() same(expected:ne(0), load 'byte_b1.npy') end)

  it("in Fortran's order, as a view", function()
    local x = load 'fortran.npy'
    same(torch.arange(24, { dtype = torch.float64 }):view(2, 3, 4), x)
    assert.same({ 1, 2, 6 }, { table.unpack(x:stride()) })
  end)

  it('without dimensions or elements', function()
    same(torch.tensor(2.5, { dtype = torch.float64 }), load 'scalar.npy')
    same(torch.zeros(0, 3), load 'empty.npy')
  end)

  it('of versions 2 and 3', function()
    same(expected + 1, load 'version2.npy')
    same(expected + 1, load 'version3.npy')
  end)

  it('is refused when ltensor has no such elements', function()
    refused("records ([('a', '<i4'), ('b', '<f8')])", load, 'records.npy')
    refused('Python objects', load, 'objects.npy')
  end)

  it('may have others behind it, as numpy.save writes several into one file: the first is given', function()
    local content = read(stored .. 'scalar.npy')
    assert.equal(2.5, torch.load(write('two.npy', content .. read(stored .. 'fortran.npy'))):item())
    assert.equal(2.5, torch.load(write('more.npy', content .. 'x')):item())
  end)

  it('may have its type written out', function()
    for word, dtype in pairs { float32 = torch.float32, ['<float64'] = torch.float64, int16 = torch.int16, bool = torch.bool, ['>f'] = torch.float32, ['?'] = torch.bool } do
      local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (0,), }\n"):format(word)
      assert.equal(dtype, torch.load(write('x.npy', '\x93NUMPY\1\0' .. ('<s2'):pack(header))).dtype, word)
    end
  end)

  it('an array of strings, objects or records is an error only when it is read', function()
    local dict = load 'texts.npz'
    assert.same({ 'numbers', 'last' }, names_of(dict))
    assert.same({ 1, 2 }, dict.numbers:tolist())
    assert.same({ 3 }, dict.last:tolist())
    refused("texts.npz, 'words.npy': elements of type '<U4', which ltensor does not have: an array of texts", function() return dict.words end)
    refused("texts.npz, 'objects.npy': an array of Python objects", function() return dict.objects end)
    refused("texts.npz, 'records.npy': an array of records", function() return dict.records end)
    assert.is_nil(dict.missing)
    dict.words = torch.ones(1)
    assert.same({ 1 }, dict.words:tolist())
  end)

  it('of an archive has its name, in order', function()
    local dict = load 'stored.npz'
    assert.same({ 'b', 'a', 'c' }, names_of(dict))
    same(torch.arange(3), dict.b)
    same(torch.ones(2, 2), dict.a)
    same(torch.tensor(true), dict.c)
    dict = load 'deflated.npz'
    same(torch.zeros({ 40, 50 }, { dtype = torch.float64 }), dict.zeros)
    same(torch.arange(100, { dtype = torch.int16 }), dict.counts)
  end)
end)

describe('a saved .npy', function()
  for _, name in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64' } do
    it('of ' .. name .. ' comes back', function()
      local x = torch.arange(6):view(2, 3):to(torch[name]):to(DEVICE)
      same(x, round_trip(x, 'x.npy', DEVICE))
      same(x:t(), round_trip(x:t(), 'x.npy', DEVICE))
      assert.equal('cpu', tostring(round_trip(x, 'x.npy').device))
    end)
  end

  it('a saved .npy equals the file of NumPy byte for byte #cpu', function()
    for _, name in ipairs { 'little_f4.npy', 'little_i8.npy', 'byte_b1.npy', 'scalar.npy', 'empty.npy' } do
      torch.save(load(name), path 'x.npy')
      assert.equal(read(stored .. name), read(path 'x.npy'))
    end
  end)

  it('holds one tensor that NumPy has #cpu', function()
    refused('holds one tensor', torch.save, { torch.ones(1) }, path 'x.npy')
    refused('NumPy has no torch.bfloat16', torch.save, torch.ones(1):bfloat16(), path 'x.npy')
    refused('tensors by name', torch.save, { torch.ones(1) }, path 'x.npz')
    refused('tensors by name', torch.save, { x = 1 }, path 'x.npz')
    refused('a table of tensors', torch.save, torch.ones(1), path 'x.npz')
    assert.equal('', (process.run('ls -A ' .. folder)))
  end)
end)

describe('a saved .npz', function()
  it('comes back', function()
    local x = torch.arange(6, { device = DEVICE }):view(2, 3)
    local dict = round_trip({ x = x, y = x:t():float(), ['a/b'] = torch.tensor(true) }, 'x.NPZ', DEVICE)
    assert.same({ 'a/b', 'x', 'y' }, names_of(dict))
    same(x, dict.x)
    same(x:t():float(), dict.y)
    same(torch.tensor(true, { device = DEVICE }), dict['a/b'])
    assert.same({}, names_of(round_trip({}, 'x.npz')))
  end)

  it('may be compressed', function()
    local x = { zeros = torch.zeros(300, 400, { device = DEVICE }), noise = torch.rand(50, { device = DEVICE }),
      none = torch.empty(0, 3, { device = DEVICE }) }
    torch.save(x, path 'x.npz', { compressed = true })
    assert.is_true(#read(path 'x.npz') < 4000)
    local dict = torch.load(path 'x.npz', { map_location = DEVICE })
    for name, tensor in pairs(x) do same(tensor, dict[name]) end
    refused("only '.npz' files can be compressed", torch.save, x, path 'x.pt', { compressed = true })
    os.remove(path 'x.npz')
  end)

  it('a state_dict in a .npz keeps its order #cpu', function()
    local net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    assert.same(names_of(net:state_dict()), names_of(round_trip(net:state_dict(), 'x.npz')))
  end)
end)

-- ---- PyTorch -----------------------------------------------------------------------------------------------------

describe('a file of PyTorch #cpu', function()
  it('gives a state_dict, in order', function()
    local net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    local dict = load 'state_dict.pt'
    assert.same(names_of(net:state_dict()), names_of(dict))
    net:load_state_dict(dict)
    same(dict['0.weight'], net:state_dict()['0.weight'])
    assert.equal(1, dict['1.num_batches_tracked']:item())
  end)

  it('gives a checkpoint with optimizer and scheduler', function()
    local net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    local optimizer = torch.optim.Adam(net:parameters(), { lr = 0.5 })
    local scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, { 3, 5 })
    local checkpoint = load 'checkpoint.pt'
    net:load_state_dict(checkpoint.model)
    optimizer:load_state_dict(checkpoint.optimizer)
    assert.equal(3, checkpoint.epoch)
    assert.equal(0.01, optimizer.param_groups[1].lr)
    same(checkpoint.optimizer.state[0].exp_avg, optimizer:state_dict().state[0].exp_avg)
    assert.same({ [3] = 1, [5] = 1 }, checkpoint.scheduler.milestones)
    assert.truthy(scheduler)
  end)

  it('keeps views of one memory', function()
    local v = load 'views.pt'
    local base = torch.arange(12, { dtype = torch.float32 })
    same(base, v.all)
    same(base:view(3, 4):t(), v.transposed)
    same(torch.tensor { 3.0, 5.0, 7.0 }, v.stepped)
    same(torch.ones(2, 3), v.expanded)
    same(torch.zeros(0, 3), v.empty)
    same(torch.tensor(7), v.scalar)
    v.all:fill_(9)
    assert.same({ 9, 9, 9 }, v.stepped:tolist())
    assert.same({ 2 }, { table.unpack(v.stepped:stride()) })
    assert.equal(3, v.stepped:storage_offset())
  end)

  it('has every dtype', function()
    local values = torch.tensor { 0, 1, 2, 100 }
    local found = load 'dtypes.pt'
    for _, name in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64' } do
      same(values:to(torch[name]), found[name])
    end
  end)

  for _, name in ipairs { 'values.pt', 'protocol4.pt' } do
    it('has other values: ' .. name, function()
      local v = load(name)
      assert.equal(2.0 ^ 70, v.big)
      assert.equal(-(1 << 40), v.wide)
      assert.equal(math.mininteger, v.least)
      assert.equal('a\255\0', v.bytes)
      assert.is_nil(v.none)
      assert.same({ [1] = 1, [3] = 'x', [4] = 2.5 }, v.list)
      assert.same({ 1, { 2, 3 } }, v.tuple)
      assert.equal('torch.Size([2, 3])', tostring(v.size))
      assert.equal(torch.bfloat16, v.dtype)
      assert.equal('cuda:1', tostring(v.device))
      assert.is_true(v['true'])
      assert.equal('é', v.text)
      assert.same({ a = { 1 } }, v.default)
      assert.same({ [1] = 5 }, v.none_at)
      assert.same({ 'z', 'a' }, names_of(v.ordered))
      assert.equal('x', v.numbered[3])
      assert.is_true(v.parameter.requires_grad)
      assert.is_true(v.parameter.is_leaf)
      assert.is_false(v.frozen.requires_grad)
      if name == 'values.pt' then assert.same({ 1, 1, 1 }, v.noted:tolist()) end
    end)
  end

  it('may be of a big-endian machine', function()
    same(load('little.pt').x, load('big.pt').x)
    assert.same({ 1.5, -2 }, load('big.pt').x:tolist())
  end)

  it('map_location selects the device of loaded tensors #cpu', function()
    local seen = {}
    local v = load('views.pt', { map_location = function(storage, location)
      seen[#seen + 1] = location
      assert.equal(1, storage:dim())
    end })
    assert.same({ 'cpu', 'cpu', 'cpu' }, seen)
    same(torch.tensor(7), v.scalar)
    refused('map_location must return its argument', load, 'views.pt', function(storage) return storage:narrow(1, 1, 0) end)
  end)

  it('is refused, by name, when it would call or is something else', function()
    refused('torch.nn.modules.linear.Linear', load, 'module.pt')
    refused('state_dict()', load, 'module.pt')
    refused('TorchScript', load, 'script.pt')
    refused("torch.save(model.state_dict(), 'weights.pt')", load, 'script.pt')
    refused('posix.system', load, 'system2.pt')
    refused('posix.system', load, 'system4.pt')
    refused('__builtin__.eval', load, 'eval.pt')
    assert.is_nil(io.open '/tmp/hostile')
  end)
end)

describe('a file of PyTorch on a device', function()
  it('goes there, its views too', function()
    local v = load('views.pt', { map_location = DEVICE })
    local base = torch.arange(12, { dtype = torch.float32, device = DEVICE })
    same(base:view(3, 4):t(), v.transposed)
    v.all:fill_(9)
    assert.same({ 9, 9, 9 }, v.stepped:tolist())
  end)
end)

describe('a saved .pt', function()
  it('a saved .pt loads with equal contents', function()
    local x = torch.arange(6, { device = DEVICE, dtype = torch.float32 })
    local parameter = torch.ones(2, { device = DEVICE, requires_grad = true })
    local v = round_trip({ x = x, view = x:view(2, 3):t(), lone = torch.arange(10, { device = DEVICE })[{ { 3, 6, 2 } }],
      expanded = torch.ones(1, { device = DEVICE }):expand(3, 2), empty = torch.zeros({ 0, 3 }, { device = DEVICE }),
      parameter = parameter, again = { parameter }, list = { 1, 2, 'x' }, [7] = 'seven', half = 2.5, huge = 1 << 40,
      infinite = math.huge, bytes = 'a\255\0', text = 'é', size = x.shape, dtype = torch.float16, no = false, none = {} }, 'x.pt')
    same(x, v.x)
    same(x:view(2, 3):t(), v.view)
    same(torch.tensor({ 2, 4 }, { device = DEVICE }), v.lone)
    same(torch.ones({ 3, 2 }, { device = DEVICE }), v.expanded)
    same(torch.zeros({ 0, 3 }, { device = DEVICE }), v.empty)
    assert.is_true(v.parameter.requires_grad)
    assert.is_true(rawequal(v.parameter, v.again[1]))
    assert.same({ 1, 2, 'x' }, v.list)
    assert.equal('seven', v[7])
    assert.equal(2.5, v.half)
    assert.equal(1 << 40, v.huge)
    assert.equal(math.huge, v.infinite)
    assert.equal('a\255\0', v.bytes)
    assert.equal('é', v.text)
    assert.equal('torch.Size([6])', tostring(v.size))
    assert.equal(torch.float16, v.dtype)
    assert.is_false(v.no)
    assert.same({}, v.none)
    v.x:fill_(9)
    assert.equal(9, v.view[1][1]:item())
    assert.equal(1, v.lone:stride(1))
  end)

  it('of every dtype comes back', function()
    for _, name in ipairs { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64' } do
      local x = torch.arange(6):view(2, 3):to(torch[name]):to(DEVICE)
      same(x, round_trip(x, 'x.pth'))
    end
  end)

  it('of a GPU is entered into the ledger as a save', function()
    if DEVICE == 'cpu' then return end
    local x = torch.ones(3, { device = DEVICE })
    local before = torch.cuda.copies('save').bytes
    torch.save(x, path 'x.pt')
    assert.equal(before + 12, torch.cuda.copies('save').bytes)
  end)

  it('may be a state_dict, or one value #cpu', function()
    local net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    local dict = round_trip(net:state_dict(), 'x.pt')
    assert.equal('OrderedDict', torch.type(dict))
    assert.same(names_of(net:state_dict()), names_of(dict))
    assert.equal('text', round_trip('text', 'x.pt'))
    assert.is_false(round_trip(false, 'x.pt'))
  end)

  it('may contain itself, and tables that it holds several times stay one #cpu', function()
    local circle = { 1, { name = 'inner' }, by_name = {} }
    circle.self, circle.by_name.parent, circle.again = circle, circle, circle[2]
    local list = { 'first' }
    list[2] = list
    circle.list = list
    local dict = nn.Linear(1, 1):state_dict()
    circle.dicts = { dict, dict }
    local loaded = round_trip(circle, 'x.pt')
    assert.equal(loaded, loaded.self)
    assert.equal(loaded, loaded.by_name.parent)
    assert.equal(loaded[2], loaded.again)
    assert.equal('inner', loaded.again.name)
    assert.equal(loaded.list, loaded.list[2])
    assert.equal(loaded.dicts[1], loaded.dicts[2])
    assert.equal('OrderedDict', torch.type(loaded.dicts[1]))
    local shared = {}
    for _ = 1, 60 do shared = { shared, shared } end -- 2^60 paths lead to the innermost table
    local again = round_trip(shared, 'x.pt')
    assert.equal(again[1], again[2])
    refused("contains itself, which only a .pt file can hold (at 'by_name.parent')", torch.save, circle, path 'x.safetensors')
  end)

  it('is refused when it holds something else #cpu', function()
    refused("a function cannot be saved", torch.save, { f = print }, path 'x.pt')
    refused('its state_dict()', torch.save, nn.Linear(2, 3), path 'x.pt')
    refused('a key is a table', torch.save, { [{}] = 1 }, path 'x.pt')
    local deep = {}
    for _ = 1, 1000 do deep = { deep } end
    refused('nested deeper', torch.save, deep, path 'x.pt')
    assert.equal('', (process.run('ls -A ' .. folder)))
  end)

  it('that fails leaves the old file #cpu', function()
    for _, name in ipairs { 'x.pt', 'x.npy', 'x.npz' } do
      torch.save(name == 'x.npy' and torch.zeros(1) or { x = torch.zeros(1) }, path(name))
      local before = read(path(name))
      local script = write('script.lua', ("local t = require('torch'); local x = t.ones(100000)\n"
        .. "print(pcall(t.save, %q == 'x.npy' and x or {x = x}, %q))"):format(name, path(name)))
      local output = process.run(("trap '' XFSZ; ulimit -f 8; %s %s"):format(process.quote(process.ltensor), script))
      assert.truthy(output:find(name .. ': File too large', 1, true), output)
      assert.equal(before, read(path(name)))
    end
    assert.equal('script.lua\nx.npy\nx.npz\nx.pt\n', (process.run('ls -A ' .. folder)))
  end)
end)

-- ---- hostile files -----------------------------------------------------------------------------------------------

local function npy(header, elements, version) return '\x93NUMPY' .. (version or '\1\0') .. ('<s2'):pack(header) .. (elements or '') end

describe('a hostile .npy #cpu', function()
  local eight = ('x'):rep(8)
  local function header(descr, order, shape)
    return ("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n"):format(descr, order, shape)
  end
  local cases = {
    { 'empty', '', 'too short' },
    { 'another file', ('x'):rep(100), 'not a NumPy array' },
    { 'a version to come', npy('', '', '\4\0'), 'version 4.0' },
    { 'a header longer than the file', '\x93NUMPY\1\0\255\255{}', 'cut short' },
    { 'an absurd header', '\x93NUMPY\2\0\255\255\255\255{}', 'a header of 4294967295 bytes' },
    { 'no dict', npy '[]', 'no dict' },
    { 'code in the header', npy "{'descr': __import__('os').system('true'), }", 'header is damaged' },
    { 'no shape', npy "{'descr': '<f4', 'fortran_order': False}", "no 'shape'" },
    { 'two shapes', npy(header("'<f4'", 'False', "(2,), 'shape': (2,)"), eight), 'header is damaged' },
    { 'an unknown field', npy(header("'<f4'", 'False', "(2,), 'more': (2,)"), eight), "has a 'more'" },
    { 'a negative size', npy(header("'<f4'", 'False', '(-2,)'), eight), 'shape' },
    { 'half a size', npy(header("'<f4'", 'False', '(2.5,)'), eight), 'shape' },
    { 'no tuple', npy(header("'<f4'", 'False', '(2)'), eight), 'shape' },
    { 'an absurd size', npy(header("'<f4'", 'False', '(99999999999999999999999,)'), eight), 'too large' },
    { 'sizes that overflow', npy(header("'<f4'", 'False', '(4294967296, 4294967296, 4294967296)'), eight), 'too large' },
    { 'a size beyond the file', npy(header("'<f4'", 'False', '(4294967296,)'), eight), 'cut short' },
    { 'many dimensions', npy(header("'<f4'", 'False', '(2,' .. ('1,'):rep(20) .. ')'), eight), '21 dimensions' },
    { 'no order', npy(header("'<f4'", 'Maybe', '(2,)'), eight), 'fortran_order' },
    { 'an unknown type', npy(header("'<x9'", 'False', '(2,)'), eight), "'<x9'" },
    { 'a type that is a number', npy(header('4', 'False', '(2,)'), eight), 'header is damaged' },
    { 'zero bytes in the type', npy(header("'<\0\0'", 'False', '(2,)'), eight), 'header is damaged' },
  }
  for _, case in ipairs(cases) do
    it('is refused: ' .. case[1], function() refused(case[3], torch.load, write('x.npy', case[2])) end)
  end
end)

-- The bytes of a PyTorch file with this pickle.
local function pickle_bytes(text, entries)
  local parts, directory, at = {}, {}, 0
  local function add(name, content)
    local fields = ('<I2I2I2I2I4I4I4I2I2'):pack(0, 0, 0, 0, torch._C.checksum(content, 0), #content, #content, #name, 0)
    parts[#parts + 1] = 'PK\3\4\20\0' .. fields .. name .. content
    directory[#directory + 1] = 'PK\1\2\20\0\20\0' .. fields .. ('<I2I2I2I4I4'):pack(0, 0, 0, 0, at) .. name
    at = at + #parts[#parts]
  end
  add('archive/data.pkl', text)
  for name, content in pairs(entries or {}) do add('archive/' .. name, content) end
  local listed = table.concat(directory)
  local finish = 'PK\5\6' .. ('<I2I2I2I2I4I4I2'):pack(0, 0, #directory, #directory, #listed, at, 0)
  return table.concat(parts) .. listed .. finish
end

local function pickled(text, entries) return write('x.pt', pickle_bytes(text, entries)) end

local function storage(class, key, numel)
  return ('(X\7\0\0\0storagectorch\n%s\nX\1\0\0\0%sX\3\0\0\0cpuJ%stQ'):format(class, key, ('<i4'):pack(numel))
end

local function tensor(source, rest) return '\x80\2ctorch._utils\n_rebuild_tensor_v2\n(' .. source .. rest .. 'tR.' end

describe('a hostile pickle #cpu', function()
  local eight = ('x'):rep(8)
  local layout = 'K\0K\2\x85K\1\x85\x89)'
  local floats = storage('FloatStorage', '0', 2)
  local cases = {
    { 'empty', '', 'cut short' },
    { 'no end', '\x80\2]', 'cut short' },
    { 'a string cut short', '\x80\2X\255\0\0\0abc.', 'cut short' },
    { 'an absurd string', '\x80\4\x8d\255\255\255\255\255\255\255\127abc.', 'cut short' },
    { 'a negative string', '\x80\2T\255\255\255\255abc.', 'cut short' },
    { 'an integer of many bytes', '\x80\2\x8b\0\1\0\0' .. ('\1'):rep(256) .. '.', 'an integer of 256 bytes' },
    { 'a call', '\x80\2cos\nsystem\n(X\4\0\0\0truetR.', 'refers to os.system' },
    { 'a call by STACK_GLOBAL', '\x80\4\x8c\2os\x8c\6system\x93\x8c\4true\x85R.', 'refers to os.system' },
    { 'an instance', '(ios\nsystem\n.', 'refers to os.system' },
    { 'an object', '\x80\2(ccollections\nOrderedDict\no.', 'OBJ' },
    { 'a new object', '\x80\2ctorch\nSize\n)\x81.', 'NEWOBJ' },
    { 'an extension', '\x80\2\x82\1.', 'EXT1' },
    { 'a name with zero bytes', '\x80\2cos\0\1\nsys\0tem\n.', 'refers to os' },
    { 'a call of a list', '\x80\2])R.', 'calls a list' },
    { 'a call of a number', '\x80\2K\1)R.', 'calls a number' },
    { 'a call of a storage type', '\x80\2ctorch\nFloatStorage\n)R.', 'calls a torch.FloatStorage' },
    { 'a call with no tuple', '\x80\2ctorch\nSize\nK\1R.', 'arguments of torch.Size' },
    { 'a call without arguments', '\x80\2ctorch._utils\n_rebuild_tensor_v2\n)R.', 'without a storage' },
    { 'a parameter of nothing', '\x80\2ctorch._utils\n_rebuild_parameter\n)R.', 'without a tensor' },
    { 'a class itself', '\x80\2ccollections\nOrderedDict\n.', 'holds collections.OrderedDict' },
    { 'a size of texts', '\x80\2ctorch\nSize\n(X\1\0\0\0at\x85R.', 'torch.Size' },
    { 'a state of a list', '\x80\2]}b.', 'sets the state of a list' },
    { 'an empty stack', '\x80\2.', 'leaves other than one value' },
    { 'a pop too many', '\x80\0020.', 'empty stack' },
    { 'a pop below the mark', '\x80\2(0000.', 'empty stack' },
    { 'no mark', '\x80\2e.', 'no mark' },
    { 'two values', '\x80\2NN.', 'leaves other than one value' },
    { 'bytes after the end', '\x80\2N.N', 'bytes follow' },
    { 'an unknown opcode', '\x80\2\xff.', 'opcode' },
    { 'an unknown protocol', '\x80\9N.', 'protocol 9' },
    { 'a value never made', '\x80\2h\5.', 'never stored' },
    { 'an append to a dict', '\x80\2}Na.', 'not a list' },
    { 'an item of a list', '\x80\2]NNs.', 'not a dict' },
    { 'a key without a value', '\x80\2}(K\1u.', 'without a value' },
    { 'a key that is a list', '\x80\2}]Ns.', 'a list as a key' },
    { 'a key that is a tuple of a list', '\x80\2}(]tNs.', 'a list as a key' },
    { 'two keys of one text', '\x80\2}(NK\1X\4\0\0\0NoneK\1NK\2u.', 'two keys None' },
    { 'names and numbers', '\x80\2ccollections\nOrderedDict\n)R(X\1\0\0\0aK\1K\1K\2u.', 'names and other keys' },
    { 'a circle', '\x80\2]q\0]q\1h\0ah\1a0h\0]q\2h\1aa.', 'leaves other' },
    { 'deep lists', '\x80\2' .. (']'):rep(1000) .. ('a'):rep(999) .. '.', 'deeper' },
    { 'many lists', '\x80\2' .. (']'):rep(1100000) .. '.', 'too large a stack' },
    { 'a storage from nothing', '\x80\2NQ.', 'a storage' },
    { 'a storage itself', '\x80\2' .. floats .. '.', 'holds a storage' },
    { 'a storage that is not there', tensor(storage('FloatStorage', '7', 2), layout), "no entry for storage '7'" },
    { 'a storage that is longer', tensor(storage('FloatStorage', '0', 1), layout), '8 bytes where 1' },
    { 'a storage that is shorter', tensor(storage('FloatStorage', '0', 0x7fffffff), layout), '8 bytes where' },
    { 'a storage of no type', tensor(storage('Size', '0', 2), layout), 'torch.Size' },
    { 'a storage of two types', '\x80\2]' .. tensor(floats, layout):sub(3, -2) .. 'a'
      .. tensor(storage('IntStorage', '0', 2), layout):sub(3, -2) .. 'a.', 'two types' },
    { 'an offset outside', tensor(floats, 'K\1K\2\x85K\1\x85\x89)'), 'does not fit its storage' },
    { 'a negative offset', tensor(floats, 'J\255\255\255\255K\2\x85K\1\x85\x89)'), 'does not fit its storage' },
    { 'a negative stride', tensor(floats, 'K\1K\2\x85J\255\255\255\255\x85\x89)'), 'strides' },
    { 'sizes that overflow', tensor(floats, 'K\0' .. ('\x8a\8' .. ('<i8'):pack(1 << 62)):rep(2) .. '\x86K\0K\0\x86\x89)'),
      'does not fit its storage' },
    { 'strides that overflow', tensor(floats, 'K\0K\4\x85\x8a\8' .. ('<i8'):pack(1 << 62) .. '\x85\x89)'), 'does not fit' },
    { 'sizes without strides', tensor(floats, 'K\0K\2\x85)\x89)'), 'does not fit' },
    { 'sizes of nothing', tensor(floats, 'K\0N)\x89)'), 'the sizes of a tensor' },
  }
  for _, case in ipairs(cases) do
    it('is refused: ' .. case[1], function()
      refused(case[3], torch.load, pickled(case[2], { ['data/0'] = eight }))
    end)
  end

  it('that copies one value again and again, to fill the memory, is refused', function()
    -- A dict of 1000 items, then 5000 copies of it in a list: 13 bytes each.
    local text = { '\x80\2]}q\0(' }
    for i = 1, 1000 do text[#text + 1] = 'M' .. ('<I2'):pack(i) .. 'K\1' end
    text[#text + 1] = 'u0ccollections\nCounter\nq\0010}q\2'
    text[#text + 1] = '0'
    text = table.concat(text) .. ('h\1h\0\x85Ra'):rep(5000) .. '.'
    refused('again and again', torch.load, pickled(text))
    local bytes = '\x80\2]c_codecs\nencode\nq\0000X' .. ('<s4'):pack(('x'):rep(10000)) .. 'X\6\0\0\0latin1\x86q\0010'
    refused('again and again', torch.load, pickled(bytes .. ('h\0h\1Ra'):rep(5000) .. '.'))
  end)

  it('may share lists as it likes', function()
    -- Each of 100 lists holds the one before twice: small here, 2^100 items for who copies them.
    local text = { '\x80\2]q\0' }
    for i = 1, 100 do text[#text + 1] = ('0](h%ch%ceq%c'):format(i - 1, i - 1, i) end
    local list = torch.load(pickled(table.concat(text) .. '.'))
    assert.is_true(rawequal(list[1], list[2]))
  end)

  it('with the bytes of a program is no more than an error', function()
    math.randomseed(7)
    local good = read(stored .. 'values.pt'):match 'PK\3\4.-(\x80\2}.*)'
    local where = pickled(('.'):rep(64))
    local changed <close> = assert(io.open(where, 'r+b'))
    for _ = 1, 3000 do
      local bytes = {}
      local start = math.random(#good - 61)
      for i = 1, 61 do bytes[i] = math.random() < 0.1 and string.char(math.random(0, 255)) or good:sub(start + i, start + i) end
      changed:seek 'set'
      changed:write(pickle_bytes('\x80\2' .. table.concat(bytes) .. '.'))
      changed:flush()
      local ok, message = pcall(torch.load, where)
      assert.truthy(ok or type(message) == 'string')
      assert.falsy(not ok and message:find('[ltensor', 1, true), message)
    end
  end)
end)

describe('a hostile archive #cpu', function()
  local function changed(name, f)
    local content = read(stored .. name)
    return write('x.npz', f(content))
  end
  -- Where the first entry of the directory stands in a file.
  local function directory_of(content) return content:find('PK\1\2', 1, true) end
  local function patch(content, at, bytes) return content:sub(1, at - 1) .. bytes .. content:sub(at + #bytes) end

  local cases = {
    { 'two entries of one place', function(s)
      local first = directory_of(s)
      local second = s:find('PK\1\2', first + 1, true)
      return patch(s, second + 42, s:sub(first + 42, first + 45))
    end, 'overlaps another entry' },
    { 'an entry of absurd size', function(s) return patch(s, directory_of(s) + 24, '\255\255\255\127') end, 'differs from the directory' },
    { 'an entry longer than its place', function(s) return patch(s, directory_of(s) + 20, '\255\255\255\127') end, 'overlaps another entry' },
    { 'an encrypted entry', function(s) return patch(s, directory_of(s) + 8, '\1') end, 'is encrypted' },
    { 'another compression', function(s) return patch(s, directory_of(s) + 10, '\12') end, 'method 12' },
    { 'another checksum', function(s) return patch(s, directory_of(s) + 16, '\1\2\3\4') end, 'differs from the directory' },
    { 'another name', function(s) return patch(s, directory_of(s) + 46, '?') end, 'another name' },
    { 'an entry that is no array', function(s) return (s:gsub('%.npy', '.txt')) end, 'is not an array' },
    { 'a directory elsewhere', function(s) return patch(s, #s - 5, '\0\0\0\0') end, 'directory' },
    { 'a promise of more entries', function(s) return patch(s, #s - 13, '\9\0\9\0') end, 'promises 9' },
    { 'several disks', function(s) return patch(s, #s - 17, '\1') end, 'several files' },
    { 'bytes after the end', function(s) return s .. 'more' end, 'without its directory' },
    { 'a comment with an end of its own', function(s) return s:sub(1, -3) .. '\22\0' .. 'PK\5\6' .. ('\0'):rep(18) end, 'directory' },
  }
  for _, case in ipairs(cases) do
    it('is refused: ' .. case[1], function() refused(case[3], torch.load, changed('stored.npz', case[2])) end)
  end

  it('an entry that unpacks to another size than declared is an error', function()
    for _, size in ipairs { 2000, 16000, 17000, 1 << 20 } do
      -- NumPy puts the size in front of an entry into a zip64 field, the first after the name.
      refused(size < 16128 and 'cut short' or size < 20000 and 'bytes follow' or 'cannot unpack', torch.load, changed('deflated.npz', function(s)
        local name = ('<I2'):unpack(s, 27)
        return patch(patch(s, directory_of(s) + 24, ('<I4'):pack(size)), 31 + name + 4, ('<I8'):pack(size))
      end))
    end
  end)

  it('of another kind is named', function()
    refused('this is a text', torch.load, write('x.npz', ('x'):rep(100)))
    refused('no zip archive', torch.load, write('x.npz', ('\1x'):rep(100)))
    refused('without its directory', torch.load, write('x.pt', 'PK\3\4' .. ('x'):rep(100)))
    refused('a pickle', torch.load, write('x.pkl', '\x80\4\x95' .. ('\0'):rep(100)))
  end)
end)

describe('a damaged file #cpu', function()
  local files = { 'little_f4.npy', 'fortran.npy', 'stored.npz', 'deflated.npz', 'little.pt', 'views.pt' }
  for _, name in ipairs(files) do
    -- The file stays open and is changed in place, which is much faster than making it anew.
    it('is an error at every length: ' .. name, function()
      local content = read(stored .. name)
      local changed <close> = assert(io.open(path('x' .. name:match '%..*'), 'wb'))
      for n = 0, #content - 1 do
        local ok, message = pcall(torch.load, path('x' .. name:match '%..*'))
        assert.falsy(ok)
        assert.truthy(type(message) == 'string' and message:find(folder, 1, true), message)
        assert.falsy(message:find('[ltensor', 1, true), message)
        changed:write(content:sub(n + 1, n + 1))
        changed:flush()
      end
      assert.is_not_nil(torch.load(path('x' .. name:match '%..*')))
    end)

    it('is at most an error with any byte changed: ' .. name, function()
      math.randomseed(1)
      local content = read(stored .. name)
      local where = write('x' .. name:match '%..*', content)
      local changed <close> = assert(io.open(where, 'r+b'))
      local function put(at, byte)
        changed:seek('set', at - 1)
        changed:write(string.char(byte))
        changed:flush()
      end
      for i = 1, #content do
        put(i, content:byte(i) ~ math.random(255))
        local ok, message = pcall(torch.load, where)
        put(i, content:byte(i))
        assert.truthy(ok or type(message) == 'string')
        assert.falsy(not ok and message:find('[ltensor', 1, true), message)
      end
      assert.is_not_nil(torch.load(where))
    end)
  end
end)
