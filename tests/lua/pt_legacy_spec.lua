-- torch.load of the files that PyTorch wrote before version 1.6, which are no zip archives (tests/files, made by its
-- generate.py): their values, their views, and what hostile and damaged ones come to.

local torch = require 'torch'
local nn = require 'torch.nn'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local stored = here .. '../files/'

local DEVICE = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local folder

local function write(content)
  local file = assert(io.open(folder .. '/x.pt', 'wb'))
  file:write(content)
  file:close()
  return folder .. '/x.pt'
end

local function read(name)
  local file = assert(io.open(stored .. name, 'rb'))
  local content = file:read 'a'
  file:close()
  return content
end

local function load(name, options) return torch.load(stored .. name, options) end

local function refused(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(tostring(got):find(message, 1, true), got)
end

setup(function() folder = process.run('mktemp -d'):gsub('\n', '') end)
teardown(function() process.run('rm -rf ' .. folder) end)

describe('a file of before PyTorch 1.6 #cpu', function()
  it('gives a tensor', function() assert.same({ 1, 1 }, load('legacy.pt'):tolist()) end)

  it('gives a checkpoint, in order', function()
    local net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    local optimizer = torch.optim.Adam(net:parameters(), { lr = 0.5 })
    local checkpoint, new = load 'checkpoint_legacy.pt', load 'checkpoint.pt'
    net:load_state_dict(checkpoint.model)
    optimizer:load_state_dict(checkpoint.optimizer)
    assert.equal(0.01, optimizer.param_groups[1].lr)
    assert.equal('0.weight', checkpoint.model[1])
    assert.same(new.model['0.weight']:tolist(), net[1].weight:tolist())
    assert.is_true(checkpoint.parameter.requires_grad)
    assert.is_true(checkpoint.parameter.is_leaf)
  end)

  it('has every dtype', function()
    local new, found = load 'dtypes.pt', load 'dtypes_legacy.pt'
    for name, values in pairs(new) do
      assert.equal(values.dtype, found[name].dtype)
      assert.same(values:tolist(), found[name]:tolist())
    end
  end)

  it('keeps views of one memory', function()
    local v = load 'views_legacy.pt'
    assert.same(torch.arange(12):view(3, 4):t():tolist(), v.transposed:tolist())
    assert.equal('torch.Size([0, 3])', tostring(v.empty.shape))
    assert.equal(7, v.scalar:item())
    v.all:fill_(9)
    assert.same({ 9, 9, 9 }, v.stepped:tolist())
    assert.equal(3, v.stepped:storage_offset())
  end)

  it('may have views of storages, and elements of a big-endian machine, which are little-endian all the same', function()
    local v = load 'storage_view.pt'
    assert.same({ 0, 1 }, v.first:tolist())
    assert.same({ 3, 4 }, v.part:tolist())
    v.part:fill_(5)
    assert.same({ 5, 5 }, v.same:tolist())
  end)

  it('may be a tar archive', function()
    local v = load 'tar.pt'
    assert.same({ 'weight', 'part', 'epoch' }, { v[1], v[2], v[3] })
    assert.same({ { 0, 1, 2 }, { 3, 4, 5 } }, v.weight:tolist())
    v.weight:add_(1)
    assert.same({ 4, 5, 6 }, v.part:tolist())
  end)

  it('map_location is called once for each storage', function()
    local seen = {}
    local v = load('views_legacy.pt', { map_location = function(storage, location)
      seen[#seen + 1] = location
      assert.equal(1, storage:dim())
    end })
    assert.same({ 'cpu', 'cpu', 'cpu' }, seen)
    assert.same({ 3, 5, 7 }, v.stepped:tolist())
    refused('map_location must return its argument', load, 'views_legacy.pt', function(storage) return storage:narrow(1, 1, 0) end)
  end)

  it('is refused, by name, when it would call', function()
    refused('torch.nn.modules.linear.Linear', load, 'module_legacy.pt')
    refused('posix.system', load, 'system_legacy.pt')
    assert.is_nil(io.open '/tmp/hostile')
  end)
end)

it('a file of before PyTorch 1.6 goes to a device, its views too', function()
  local v = load('views_legacy.pt', { map_location = DEVICE })
  assert.equal(torch.device(DEVICE).type, v.all.device.type)
  v.all:fill_(9)
  assert.same({ 9, 9, 9 }, v.stepped:tolist())
end)

describe('a hostile file of before PyTorch 1.6 #cpu', function()
  local MAGIC = '\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.'
  local function stream(value, keys, rest) return MAGIC .. '\x80\2M\xe9\3.\x80\2}.' .. value .. (keys or '\x80\2].') .. (rest or '') end
  local function tensor(numel, view)
    return '\x80\2ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpu\x8a\8'
      .. ('<i8'):pack(numel) .. (view or 'N') .. 'tQK\0K\2\x85K\1\x85\x89)tR.'
  end
  local keys, two = '\x80\2]X\1\0\0\0000a.', ('<i8ff'):pack(2, 1, 2)
  local function view(offset, length) return 'X\1\0\0\0v' .. 'J' .. ('<i4'):pack(offset) .. 'J' .. ('<i4'):pack(length) .. '\x87' end

  it('is read when nothing is wrong with it', function()
    assert.same({ 1, 2 }, torch.load(write(stream(tensor(2), keys, two))):tolist())
    assert.same({ 1, 2 }, torch.load(write(stream(tensor(2, view(0, 2)), keys, two .. 'what follows'))):tolist())
  end)

  for _, case in ipairs {
    { 'another protocol', MAGIC .. '\x80\2K\7.\x80\2}.', 'protocol 7' },
    { 'more elements than the file has', stream(tensor(1 << 40), keys, two), 'more than the file' },
    { 'elements whose bytes overflow', stream(tensor(math.maxinteger), keys, two), 'more than the file' },
    { 'fewer elements than promised', stream(tensor(3), keys, two), '2 elements where 3 are promised' },
    { 'an absurd number before the elements', stream(tensor(2), keys, ('<i8'):pack(math.maxinteger)), 'cut short' },
    { 'a negative number before the elements', stream(tensor(2), keys, ('<i8'):pack(-1)), 'cut short' },
    { 'storages without elements', stream(tensor(2)), "the elements of storage '0' are missing" },
    { 'a key of no storage', stream('\x80\2N.', keys, two), 'has no tensor' },
    { 'a key twice', stream(tensor(2), '\x80\2]X\1\0\0\0000aX\1\0\0\0000a.', two .. two), 'occurs twice' },
    { 'a view outside of its storage', stream(tensor(2, view(1, 2)), keys, two), 'a view of a storage' },
    { 'a tensor outside of its storage', stream(tensor(2, view(1, 1)), keys, two), 'does not fit its storage' },
    { 'keys that are no list', stream(tensor(2), '\x80\2K\1.', two), 'keys' },
    { 'pickles that do not end', stream(('\x80\2]') .. (']'):rep(200000), ''), 'cut short' },
  } do
    it('is refused: ' .. case[1], function() refused(case[3], torch.load, write(case[2])) end)
  end

  it('is refused: a tar archive of something else', function()
    local tar = read 'tar.pt'
    refused("without 'pickle'", torch.load, write((tar:gsub('pickle', 'pickly', 1))))
    refused('damaged or cut short', torch.load, write(tar:sub(1, 124) .. '77777777777' .. tar:sub(136)))
  end)
end)

describe('a damaged file of before PyTorch 1.6 #cpu', function()
  local function fails_cleanly(where)
    local ok, message = pcall(torch.load, where)
    assert.truthy(ok or type(message) == 'string', message)
    assert.falsy(not ok and (message:find('[ltensor', 1, true) or message:find '%.lua:%d+: attempt'), message)
    return not ok
  end

  for _, name in ipairs { 'views_legacy.pt', 'storage_view.pt' } do
    it('is an error at every length: ' .. name, function()
      local content = read(name)
      local changed <close> = assert(io.open(folder .. '/x.pt', 'wb'))
      for n = 0, #content - 1 do
        assert.is_true(fails_cleanly(folder .. '/x.pt'))
        refused(folder, torch.load, folder .. '/x.pt')
        changed:write(content:sub(n + 1, n + 1))
        changed:flush()
      end
      assert.is_not_nil(torch.load(folder .. '/x.pt'))
    end)
  end

  for _, name in ipairs { 'views_legacy.pt', 'storage_view.pt', 'tar.pt' } do
    it('is at most an error with any byte changed: ' .. name, function()
      local seed = os.time()
      math.randomseed(seed)
      local content = read(name)
      local where = write(content)
      local changed <close> = assert(io.open(where, 'r+b'))
      local function put(at, byte)
        changed:seek('set', at - 1)
        changed:write(string.char(byte))
        changed:flush()
      end
      for i = 1, name == 'tar.pt' and #content:match '.*[^\0]' or #content do
        put(i, content:byte(i) ~ math.random(255))
        local fine, message = pcall(fails_cleanly, where)
        assert.truthy(fine, ('seed %d, byte %d: %s'):format(seed, i, tostring(message)))
        put(i, content:byte(i))
      end
      assert.is_not_nil(torch.load(where))
    end)
  end
end)
